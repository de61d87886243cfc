"""The static form of a workbench: a page of machines, a machine, or its picture."""

from visual.player.page import Page
from visual.workbench.state import Bench, LoopBench

ORDERS = (1, 2, 3)
NOTE = (
    "<p class='scantape-without'>In a notebook, you can change everything in this workbench, "
    "including the loop. {} <code>make start</code> opens the lessons in a notebook.</p>\n"
)


def still(bench: Bench, shown: str) -> str:
    """Return the HTML of a bench for readers without Python.

    `shown` is the HTML of the machine or the picture of the bench.
    """
    page = page_of(bench)
    if page is not None:
        return (
            NOTE.format("On this page, you can choose values, taps, and orders.") + page.fragment()
        )
    return NOTE.format("This page shows the picture.") + shown


def page_of(bench: Bench) -> Page | None:
    """Return a page if the bench shows the machine of a loop with a named cost, otherwise None.

    The result is also None if any other choice differs from the loop.
    """
    if not isinstance(bench, LoopBench) or set(bench.choices) - {"view", "cost"}:
        return None
    if bench.state.view != "machine" or not isinstance(bench.state.cost, str):
        return None
    return Page([bench.loop], orders=ORDERS, costs=[bench.state.cost])
