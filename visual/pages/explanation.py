"""An explanation as a page: one HTML file with the words of `lab.explain`, and pictures."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lab.equations.system import Role
from lab.errors import LabError
from lab.reports.explain.explanation import (
    FEW,
    Explanation,
    ScanReport,
    costs,
    fates,
    states,
    summary,
)
from lab.reports.explain.traps import Trap
from visual.backends.page import document, region
from visual.backends.page import picture as framed
from visual.backends.svg import text
from visual.pictures.connections import connections
from visual.pictures.taps import taps
from visual.scene.formats import as_report, write_whole
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES


def save_explanation(
    explanation: Explanation, path: str | os.PathLike[str], theme: str = "light"
) -> Path:
    """Write an explanation to `path`, as a page (.html) or as text (.txt)."""
    place = as_report(path, (".html", ".txt"), "an explanation can be .html or .txt")
    THEMES[theme]
    is_page = place.suffix.lower() == ".html"
    return write_whole(
        place, explanation_page(explanation, theme) if is_page else f"{explanation}\n"
    )


def explanation_page(explanation: Explanation, theme: str = "light") -> str:
    """The page of an explanation; its Scans are folded up if there are more than three."""
    title = f"The gradient of {explanation.cost} wrt {explanation.wrt}"
    body = [f"<h1>{text(title)}</h1>", _paragraph(summary(explanation))]
    body += _traps(explanation.traps, "h2")
    for scan in explanation.scans:
        body += _scan(scan, theme, len(explanation.scans) > FEW)
    if explanation.orders:
        try:
            picture = connections(explanation, theme, all=True)
            body += ["<h2>Which inputs get a gradient</h2>", _picture(picture, "connections")]
        except LabError:
            pass  # no Scan is differentiated, and there is nothing to draw
    body += map(_paragraph, costs(explanation))
    return document(title, THEMES[theme], "\n".join(body))


def _scan(scan: ScanReport, theme: str, folded: bool) -> Iterator[str]:
    """All about one Scan."""
    where = f", inside the step of {scan.inside}" if scan.inside else ""
    title = text(f"Scan {scan.number}: {scan.name}{where}")
    yield f"<details><summary>{title}</summary>" if folded else f"<h2>{title}</h2>"
    yield region(f"Equations of Scan {scan.number}", str(scan.system))
    yield from _list("What the states are", states(scan))
    found = scan.system.of_role(Role.STATE)
    tapes = {q.symbol: q.tape for q in found if q.dtype[0] in "fc"}
    if tapes:
        yield _picture(taps(tapes, 1, theme), f"the taps of Scan {scan.number}")
    if scan.outcomes:
        yield from _list("What becomes of the gradient of its inputs", fates(scan))
        yield from _list("What the gradient keeps", map(str, scan.stored))
    else:
        yield _paragraph("The gradient does not go through this Scan.")
    yield from _list("Where it stands", (line for stand in scan.stands for line in stand.told))
    if folded:
        yield from _traps(scan.traps, "h3")
        yield "</details>"


def _traps(traps: Iterable[Trap], heading: str) -> Iterator[str]:
    warnings = [str(trap) for trap in traps]
    if warnings:
        yield from _list("Traps", (f"⚠ {trap}" for trap in warnings), heading)


def _list(title: str, items: Iterable[str], heading: str = "h3") -> Iterator[str]:
    entries = list(items)
    if entries:
        yield f"<{heading}>{text(title)}</{heading}>"
        yield f"<ul>{''.join(f'<li>{text(item)}</li>' for item in entries)}</ul>"


def _paragraph(words: str) -> str:
    return f"<p>{text(words)}</p>"


def _picture(scene: Scene, name: str) -> str:
    return framed(scene.svg(), f"Picture: {name}")
