"""A walk through rewrites as a file: a page that can be searched, words, or the picture of one."""

import os
from pathlib import Path

from lab.errors import listing
from lab.reports.compile.walk import Walk
from visual.backends.page import document, picture, region
from visual.backends.svg import text
from visual.pictures.rewriting import one, rewrites
from visual.scene.formats import MOVING, SUFFIXES, as_report, write_whole
from visual.scene.theme import THEMES

WRITTEN = (".html", ".txt")
SEARCH = """\
const field = document.querySelector("input"), told = document.querySelector("output");
const steps = [...document.querySelectorAll("section")];
const find = () => {
  const asked = field.value.toLowerCase();
  for (const step of steps) step.hidden = !step.textContent.toLowerCase().includes(asked);
  told.textContent = `${steps.filter((step) => !step.hidden).length} of ${steps.length}`;
};
field.addEventListener("input", find);
find();
"""
FIELD = '<p><label>Find <input type="search" aria-controls="steps"></label> <output></output></p>'


def save_rewrites(
    walk: Walk, path: str | os.PathLike[str], rewrite: int = 1, theme: str = "light"
) -> Path:
    """Write a walk to `path`: a page with every step (.html), words (.txt), or the picture of one.

    Raises ArgumentError for another suffix, or a path that cannot be written.
    """
    allowed = [*WRITTEN, *(s for s in SUFFIXES if s not in (*WRITTEN, *MOVING, ".dot"))]
    place = as_report(path, allowed, f"a walk can be {listing(allowed)}")
    scene = rewrites(walk, rewrite, theme)
    match place.suffix.lower():
        case ".txt":
            return write_whole(place, f"{walk}\n")
        case ".html":
            return write_whole(place, rewrites_page(walk, theme))
    return scene.save(place)


def rewrites_page(walk: Walk, theme: str = "light") -> str:
    """The page: every rewrite with both sides, and a field that finds those that tell of a word."""
    title = "From the graph as written to the one that runs"
    body = [f"<h1>{text(title)}</h1>", f"<p>{text(walk.told)}</p>", FIELD, '<div id="steps">']
    body[2:2] = [f"<p>{text(told)}</p>" for told in walk.left]
    for number, step in enumerate(walk.steps, start=1):
        name = f"{number} · {step.rewrite}"
        inside = picture(one(step, number, theme).svg(), f"Picture: {name}")
        twin = (
            f"<details><summary>As text</summary>{region(f'In words: {name}', str(step))}</details>"
        )
        body.append(f"<section><h2>{text(name)}: {text(step.title)}</h2>{inside}{twin}</section>")
    return document(title, THEMES[theme], "\n".join([*body, "</div>"]), SEARCH)
