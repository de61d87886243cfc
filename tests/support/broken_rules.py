"""Faulty rules of the pullback, and the correct derivatives."""

from functools import cache

from lab.gradients.decisions import PullbackRule
from lab.loops import gallery
from lab.reports.breaking.breakage import Truth
from lab.reports.breaking.rules import BrokenRule
from lab.tape import Kind

X0, STEPS = 0.95, 5
SQUARE = gallery.loops["square"].with_steps(STEPS)
CUT = BrokenRule(
    "missing-rows",
    "read from a buffer with missing rows",
    "The buffer has the last two rows only.",
    "The rule reads all rows.",
    PullbackRule(
        recalls=lambda part: (
            part.outer_output if part.kind is Kind.MIT_MOT else part.outer_output[-2:]
        )
    ),
)


@cache
def truth_of(name, order, cost="last"):
    loop = SQUARE if name == "square" else gallery.loops[name]
    graph = loop.build()
    return Truth(loop.derivative(order, cost=cost, graph=graph), graph.given)
