"""Eight figures about the loop that squares a number four times.

Figure 1 shows the loop, and figure 2 its gradient. Figure 3 shows the backward Scan as a loop over
a sequence, and figure 4 the gradients of that loop. Figure 5 shows the same gradients as second
partial derivatives of the first loop. Figure 6 shows the backward Scan. Figure 7 shows the backward
Scan with an external gradient for every step; only one external gradient is nonzero. Figure 8
shows the accumulation of the second derivative.

A value is faded if no path of arrows leads from the value to a result.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from lab.errors import argument_error
from lab.loops.gallery import loops
from visual.drawing.catalogue import PictureKind, of_trace
from visual.drawing.study import study_of
from visual.options import SHOWN
from visual.pictures.unrolled.unrolled import unrolled_scans
from visual.scene.shapes import Scene

# For each figure: the loop, the options of its derivative, and the arguments of `unrolled_scans`.
FIGURES: Mapping[int, tuple[str, dict[str, Any], dict[str, Any]]] = {
    1: ("square", {}, {"scans": (1,)}),
    2: ("square", {}, {"scans": (1, 2)}),
    3: ("sequence", {"wrt": "y"}, {"scans": (1,)}),
    4: ("sequence", {"wrt": "y"}, {"scans": (1, 2)}),
    5: ("square", {"order": 2}, {"scans": (2, 3)}),
    6: ("square", {}, {"scans": (1, 2)}),
    7: ("square", {}, {"scans": (1, 2), "all_direct": True}),
    8: ("square", {"order": 2}, {"scans": (1, 4), "all_direct": True}),
}


def figure(number: int, theme: str = "light", **paper: Any) -> Scene:
    """Draw figure `number` (1 to 8); `paper` accepts `width`, `steps`, and `no_legend`."""
    if isinstance(number, bool) or not isinstance(number, int) or number not in FIGURES:
        raise argument_error("number", number, f"expected 1 to {len(FIGURES)}.")
    loop, about, arguments = FIGURES[number]
    draw = of_trace(partial(unrolled_scans, **arguments))
    kind = PictureKind(f"figure {number}", "", draw, (SHOWN,))
    return kind.draw(study_of(loops[loop], **about), **paper).themed(theme)
