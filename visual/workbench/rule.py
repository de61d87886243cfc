"""A rule of the pullback that is broken on the workbench: what comes of it, and in words.

The truth is computed once for every loop and choice, and every broken rule is held against it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pytensor.graph.basic import Variable

from lab.gradients.derivative import Derivative
from lab.loops.loop import Loop
from lab.reports.breaking.breakage import Breakage, Effect, Truth, precise
from lab.reports.breaking.rules import BROKEN
from visual.drawing.draw import studied
from visual.drawing.study import Choice, Frozen, choose

TRUE = "true"
BROKEN_RULE = "broken rule"  # the tab that shows what a broken rule does
LEAST = 3  # orders that are compared in any case: one mistake shows from the third on
REMEMBERED = 16


def compared_up_to(order: int) -> int:
    """Up to which order the rules are compared, if derivatives of `order` are asked for."""
    return max(order, LEAST)


def breakage_of(loop: Loop, rule: str, order: int, **chosen: Any) -> Breakage:
    """What a broken rule does to a loop's derivatives; `chosen` as in `visual.draw`."""
    return _broken(_truth(loop, choose(order=compared_up_to(order), **chosen)), rule)


def breakage_of_graph(made: Derivative, given: Mapping[Variable, Any], rule: str) -> Breakage:
    """What a broken rule does to the derivatives of a graph."""
    values = tuple((v, Frozen.of(v.name or "", value)) for v, value in given.items())
    return _broken(_truth_of_graph(made, values), rule)


@lru_cache(maxsize=REMEMBERED)
def _truth(loop: Loop, choice: Choice) -> Truth:
    study = studied(loop, choice)
    return Truth(study.derivative, study.given)


@lru_cache(maxsize=REMEMBERED)
def _truth_of_graph(made: Derivative, values: tuple[tuple[Variable, Frozen], ...]) -> Truth:
    return Truth(made, {variable: frozen.value for variable, frozen in values})


@lru_cache(maxsize=REMEMBERED)
def _broken(truth: Truth, rule: str) -> Breakage:
    return truth.broken_by(rule)


def rules() -> list[list[str]]:
    """The rules that can be chosen, by what they are called."""
    return [[TRUE, "the true one"], *([name, rule.title] for name, rule in BROKEN.items())]


def told(breakage: Breakage) -> str:
    """What a broken rule does, and which derivatives are wrong by it, in two sentences."""
    visible, orders = breakage.visible, f"orders 1 to {breakage.rows[-1].order}"
    if visible is None:
        return f"{breakage.rule.change} All {orders} are right all the same."
    row = breakage.rows[visible - 1]
    kind = "refused" if row.effect is Effect.REFUSED else "wrong"
    found = f"Of the {orders}, the first {kind} one is {visible}"
    if row.broken is not None and not row.true.ndim and not row.broken.ndim:
        found = f"{found}: {precise(row.broken)} instead of {precise(row.true)}"
    return f"{breakage.rule.change} {found}."
