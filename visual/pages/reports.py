"""Write a report to a file: a page (.html) or text (.txt)."""

import os
from pathlib import Path

from lab.reports.tables import Report, as_html
from visual.backends.page import document
from visual.scene.formats import as_report, write_whole
from visual.scene.theme import THEMES

STYLE = """\
table{border-collapse:collapse}
td:not(:last-child){white-space:nowrap}
th,td{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}
th{font-weight:600;border-bottom:1px solid}
.table{overflow-x:auto}
"""


def save_report(report: Report, path: str | os.PathLike[str], theme: str = "light") -> Path:
    """Write `report` to `path`, and return the path.

    Raises ArgumentError for a suffix other than .html and .txt, or a path that cannot be written.
    """
    place = as_report(path, (".html", ".txt"), "expected a file that ends in .html or .txt")
    colors = THEMES[theme]
    content = f"{report}\n"
    if place.suffix.lower() == ".html":
        section = report.document
        content = document(section.title, colors, as_html(section, level=1), more=STYLE)
    return write_whole(place, content)
