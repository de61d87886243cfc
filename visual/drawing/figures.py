"""Eight figures about one loop, squared four times, each from its loop and its cost alone.

1 the forward loop; 2 its gradient below it; 3 the gradient loop as a loop that reads a
sequence; 4 the gradients of that loop; 5 the same with the names of the first one, second
partial derivatives; 6 the gradient loop again; 7 with one external gradient for every step,
all but one of them zero; 8 the accumulation that gives the second derivative.

One rule decides what is washed out: that from which no arrow leads to a result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.errors import ArgumentError, Registry, quote
from lab.loops.gallery import loops
from visual.drawing.paper import lacking, on_paper, sheet, wider
from visual.options import NO_LEGEND, SHOWN, WIDTH
from visual.pictures.unrolled.unrolled import unrolled
from visual.scene.shapes import Scene


@dataclass(frozen=True)
class Figure:
    """Which loop is differentiated, how often and by what, and which of its Scans are drawn."""

    loop: str
    order: int = 1
    wrt: str | None = None
    scans: tuple[int, ...] = (1, 2)
    all_direct: bool = False


FIGURES: Mapping[int, Figure] = {
    1: Figure("square", scans=(1,)),
    2: Figure("square"),
    3: Figure("sequence", wrt="y", scans=(1,)),
    4: Figure("sequence", wrt="y"),
    5: Figure("square", order=2, scans=(2, 3)),
    6: Figure("square"),
    7: Figure("square", all_direct=True),
    8: Figure("square", order=2, scans=(1, 4), all_direct=True),
}


PAPER = Registry(
    "option",
    {choice.name: choice for choice in (WIDTH, SHOWN, NO_LEGEND)},
    "the options of a figure are {}.",
)


def figure(number: int, theme: str = "light", **paper: Any) -> Scene:
    """The figure with a number from 1 to 8, for a `paper` as pictures of loops are."""
    if isinstance(number, bool) or not isinstance(number, int) or number not in FIGURES:
        raise ArgumentError(f"number = {quote(number)}: expected 1 to {len(FIGURES)}.")
    chosen, paper = FIGURES[number], {n: PAPER[n].check(value) for n, value in paper.items()}
    trace = loops[chosen.loop].trace(chosen.order, chosen.wrt)
    direct, laid = chosen.all_direct, sheet(**paper)
    scene = unrolled(trace, scans=chosen.scans, all_direct=direct, sheet=laid).themed(theme)
    width = paper.get("width")
    if width is None:
        return scene
    if pixels := lacking(scene, width):
        least = wider(width, pixels).written
        raise ArgumentError(f"width = {width.written!r}: the figure {number} needs {least}.")
    return on_paper(scene, width)
