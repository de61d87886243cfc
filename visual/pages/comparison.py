"""A comparison as a file: a page with words, picture and script, or one of these alone."""

import os
from pathlib import Path

from lab.errors import listing
from lab.reports.compare.comparison import Comparison
from visual.backends.page import document, picture, region
from visual.backends.svg import text
from visual.pictures.comparing import comparing
from visual.scene.formats import MOVING, SUFFIXES, as_report, write_whole
from visual.scene.theme import THEMES

WRITTEN = (".py", ".html", ".txt")


def save_comparison(
    comparison: Comparison, path: str | os.PathLike[str], theme: str = "light"
) -> Path:
    """Write a comparison to `path`: its script (.py), a page (.html), words (.txt), or a picture.

    Raises ArgumentError for another suffix, or a path that cannot be written.
    """
    allowed = [*WRITTEN, *(s for s in SUFFIXES if s not in (*WRITTEN, *MOVING, ".dot"))]
    place = as_report(path, allowed, f"a comparison can be {listing(allowed)}")
    THEMES[theme]
    match place.suffix.lower():
        case ".py":
            return write_whole(place, comparison.report())
        case ".txt":
            return write_whole(place, f"{comparison}\n")
        case ".html":
            return write_whole(place, comparison_page(comparison, theme))
    return comparing(comparison, theme).save(place)


def comparison_page(comparison: Comparison, theme: str = "light") -> str:
    """The page: the picture, the words, and the script for a maintainer."""
    scene = comparing(comparison, theme)
    body = [
        f"<h1>{text(scene.title)}</h1>",
        f"<p>{text(scene.description)}</p>",
        picture(scene.svg()),
        _folded("In words", str(comparison)),
        _folded("As a script for a maintainer", comparison.report()),
    ]
    return document(scene.title, THEMES[theme], "\n".join(body))


def _folded(title: str, told: str) -> str:
    return f"<details><summary>{text(title)}</summary>\n{region(title, told)}</details>"
