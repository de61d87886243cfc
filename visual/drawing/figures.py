"""Eight figures about the loop that squares a number four times.

Figure 1 shows the loop, and figure 2 its gradient. Figure 3 shows the backward Scan as a loop over
a sequence, and figure 4 the gradients of that loop. Figure 5 shows the same gradients as second
partial derivatives of the first loop. Figure 6 shows the backward Scan. Figure 7 shows the backward
Scan with an external gradient for every step; only one of them is nonzero. Figure 8 shows the
accumulation of the second derivative.

A value is faded if no path of arrows leads from the value to a result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.errors import argument_error
from lab.loops.gallery import loops
from visual.drawing.catalogue import PictureKind
from visual.drawing.draw import cached_study
from visual.drawing.study import Study, choose
from visual.layout.sheet import Sheet
from visual.options import SHOWN
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


def figure(number: int, theme: str = "light", **paper: Any) -> Scene:
    """Draw figure `number` (1 to 8); `paper` has the options `width`, `steps`, and `no_legend`."""
    if isinstance(number, bool) or not isinstance(number, int) or number not in FIGURES:
        raise argument_error("number", number, f"expected 1 to {len(FIGURES)}.")
    chosen = FIGURES[number]

    def make(study: Study, sheet: Sheet) -> Scene:
        return unrolled(study.trace, scans=chosen.scans, all_direct=chosen.all_direct, sheet=sheet)

    kind = PictureKind(f"figure {number}", "", make, (SHOWN,))
    study = cached_study(loops[chosen.loop], choose(order=chosen.order, wrt=chosen.wrt))
    return kind.draw(study, **paper).themed(theme)
