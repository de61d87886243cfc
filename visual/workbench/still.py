"""A workbench without a kernel: a page of machines, one machine, or its picture."""

from visual.player.page import Page
from visual.workbench.state import Bench, LoopBench

ORDERS = (1, 2, 3)
TOLD = (
    "<p class='scantape-without'>In a notebook, this is a workbench on which you can change "
    "everything, including the loop. {} <code>make start</code> opens the lessons with it.</p>\n"
)


def still(bench: Bench, shown: str) -> str:
    """Return the bench, `shown` as HTML, for a page that needs no Python."""
    page = page_of(bench)
    if page is not None:
        return TOLD.format("Here, values, taps, and orders can be chosen.") + page.fragment()
    return TOLD.format("Here is its picture.") + shown


def page_of(bench: Bench) -> Page | None:
    """Return the machines of a loop with few choices as a page; None for other benches."""
    if not isinstance(bench, LoopBench) or set(bench.choices) - {"view", "cost"}:
        return None
    if bench.state.view != "machine":
        return None
    return Page([bench.loop], orders=ORDERS, costs=[bench.state.cost])
