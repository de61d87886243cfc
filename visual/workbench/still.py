"""A workbench without a kernel: what can be chosen beforehand as an atlas, or its picture."""

from visual.atlas.atlas import Atlas
from visual.widgets.page import fragment
from visual.workbench.state import Bench, LoopBench

VIEWS, ORDERS = ("unrolled", "tapes", "taps", "genealogy", "stepgraph"), (1, 2)
TOLD = (
    "<p class='scantape-without'>In a notebook, this is a workbench on which all can be changed, "
    "down to the loop itself. Here is {}. <code>make start</code> opens the lessons with it.</p>\n"
)


def still(bench: Bench) -> str:
    """The bench as HTML for a page that needs no Python."""
    atlas = atlas_of(bench)
    if atlas is None:
        return TOLD.format("its picture") + fragment(bench.picture)
    return TOLD.format("what can be chosen without Python") + atlas.fragment()


def atlas_of(bench: Bench) -> Atlas | None:
    """The bench of a loop, on which little is chosen, as pictures drawn beforehand."""
    if not isinstance(bench, LoopBench) or set(bench.choices) - {"view", "cost"}:
        return None
    views = tuple(dict.fromkeys((bench.state.view, *VIEWS)))
    return Atlas([bench.loop], orders=ORDERS, costs=[bench.state.cost], views=views)
