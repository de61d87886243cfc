"""Self-contained HTML pages, for pictures, reports, and other content.

The content security policy of a page lists the hashes of the style and the scripts, and forbids all
other code. Therefore, a browser never runs code that the name of a variable contains.
"""

import json
import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from visual.backends.svg import text
from visual.scene.formats import report_path, write_whole
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES, Theme

if TYPE_CHECKING:
    from lab.reports.tables import Report

STYLE = """\
:root{{color-scheme:{scheme}}}
body{{margin:0 auto;padding:1rem;background:{background};color:{text}}}
body{{font:1rem/1.5 system-ui,sans-serif}}
h1{{font-size:1.4rem;line-height:1.25;overflow-wrap:anywhere}}
h2{{font-size:1.2rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}}
h3{{font-size:1rem;margin:1.2rem 0 .3rem}}
p,ul{{max-width:50rem}}
.picture,pre{{overflow-x:auto}}
.picture:focus-visible,pre:focus-visible,summary:focus-visible{{outline:3px solid {arrow}}}
.picture svg{{display:block;max-width:none}}
pre{{font:.8rem/1.4 'DejaVu Sans Mono',Menlo,Consolas,monospace}}
summary{{cursor:pointer}}
@media print{{
body{{padding:0;background:#fff;color:#000}}
.picture{{overflow:visible;print-color-adjust:exact;-webkit-print-color-adjust:exact}}
.picture svg{{max-width:100%;height:auto}}
details{{display:none}}
}}
"""
TABLES = """\
table{border-collapse:collapse}
td:not(:last-child){white-space:nowrap}
th,td{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}
th{font-weight:600;border-bottom:1px solid}
.table{overflow-x:auto}
"""


def document(title: str, theme: Theme, body: str, script: str = "", more: str = "") -> str:
    """Return a page with the HTML `body`, the ES module `script`, and the style sheet `more`."""
    style = more + STYLE.format(scheme="dark" if theme.name == "dark" else "light", **vars(theme))
    allowed = f"default-src 'none'; style-src {source_hash(style)}"
    if script:
        allowed += f"; script-src {source_hash(script)}"
        # A browser ends a script at the first </script, even inside a string.
        script = f'<script type="module">{script}</script>\n'
    allowed += "; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}\n</main>\n{script}</body>\n</html>\n"
    )


def embedded(body: str, module: str, style: str) -> str:
    """Return the HTML `body`, its style sheet, and its ES module as a part of another page."""
    return f'<style>{style}</style>\n{body}\n<script type="module">{module}</script>\n'


def region(label: str, inside: str, tag: str = "pre", **attributes: str) -> str:
    """Return an element that scrolls by keyboard; in a pre element, `inside` is text, not HTML."""
    own = "".join(f' {name}="{value}"' for name, value in attributes.items())
    inside = text(inside) if tag == "pre" else inside
    return f'<{tag}{own} role="region" aria-label="{text(label)}" tabindex="0">{inside}</{tag}>'


def picture(svg: str, label: str = "Picture") -> str:
    """Return an HTML element that contains `svg` and can scroll."""
    return region(label, svg, "div", **{"class": "picture"})


def in_script(data: object) -> str:
    """Return data as JSON for a script element, with each < escaped."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def source_hash(source: str) -> str:
    """Return the hash that allows an inline style or script in a content security policy."""
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


def to_page(scene: Scene) -> str:
    """Return an HTML page with the title, description, SVG, and text version of a scene."""
    title = f"As text: {scene.title}"
    return document(
        scene.title,
        scene.theme,
        f"<h1>{text(scene.title)}</h1>\n<p>{text(scene.description)}</p>\n{picture(scene.svg())}\n"
        f"<details><summary>{text(title)}</summary>\n{region(title, scene.text())}</details>",
    )


def save_report(report: "Report", path: str | os.PathLike[str], theme: str = "light") -> Path:
    """Write `report` as a page (.html) or as text (.txt) to `path`, and return the path.

    Raises ArgumentError for another suffix, an unknown theme, or a path that cannot be written.
    """
    place = report_path(path, (".html", ".txt"), "expected a file that ends in .html or .txt")
    colors = THEMES[theme]
    content = f"{report}\n"
    if place.suffix.lower() == ".html":
        from lab.reports.tables import as_html  # only reports need this module

        section = report.document
        content = document(section.title, colors, as_html(section, level=1), more=TABLES)
    return write_whole(place, content)
