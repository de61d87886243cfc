"""Eight figures about the loop that squares a number four times.

1: forward loop. 2: its gradient. 3: the backward Scan as a loop over a sequence. 4: the gradients
of that loop. 5: the same with the names of the first loop, as second partial derivatives.
6: backward Scan. 7: backward Scan with one external gradient for every step; all except one are
zero. 8: the accumulation of the second derivative.

A value is faded if no path of arrows leads from it to a result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.errors import Registry, argument_error
from lab.loops.gallery import loops
from visual.drawing.paper import missing_width, on_paper, sheet, wider
from visual.options import NO_LEGEND, SHOWN, WIDTH
from visual.pictures.unrolled.unrolled import unrolled
from visual.scene.shapes import Scene


@dataclass(frozen=True)
class Figure:
    """The loop, the order, the input to differentiate with respect to, and the Scans to draw."""

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
    """Draw figure `number` (1 to 8); `paper` has the options `width`, `steps`, and `no_legend`."""
    if isinstance(number, bool) or not isinstance(number, int) or number not in FIGURES:
        raise argument_error("number", number, f"expected 1 to {len(FIGURES)}.")
    chosen, paper = FIGURES[number], {n: PAPER[n].check(value) for n, value in paper.items()}
    trace = loops[chosen.loop].trace(chosen.order, chosen.wrt)
    on = sheet(**paper)
    scene = unrolled(trace, scans=chosen.scans, all_direct=chosen.all_direct, sheet=on)
    scene = scene.themed(theme)
    width = paper.get("width")
    if width is None:
        return scene
    if pixels := missing_width(scene, width):
        least = wider(width, pixels).written
        raise argument_error("width", width.written, f"figure {number} needs at least {least}.")
    return on_paper(scene, width)
