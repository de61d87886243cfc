"""Faulty rules of the pullback, each a different value of `PullbackRule`.

    >>> loop = gallery.loops["square"].with_steps(5)
    >>> print(lab.break_rule(loop, "accumulate-overwritten"))

The pullback follows any `PullbackRule`.  A faulty rule changes one choice of the correct rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from lab.errors import Registry
from lab.gradients.decisions import PullbackRule
from lab.scans.node import LoopVariable
from lab.tape import Kind


@dataclass(frozen=True)
class Mistake:
    """The description of a faulty rule: its name in `BROKEN`, and its title.

    `change` describes the difference from the correct rule, and `reason` justifies the correct
    rule.
    """

    name: str
    title: str
    change: str
    reason: str


@dataclass(frozen=True)
class BrokenRule(Mistake):
    """A faulty rule with its description."""

    rule: PullbackRule

    @property
    def mistake(self) -> Mistake:
        """The description of the rule as plain data."""
        return Mistake(self.name, self.title, self.change, self.reason)


def shortened(part: LoopVariable) -> TensorVariable:
    """Return the buffer of a state or output as if PyTensor had shortened it to its last rows.

    PyTensor's rewrite `scan_save_mem` stores one row more than the number of initial values, and
    does not shorten mit-mots.  Rows share a slot if their distance is a multiple of this number of
    rows; the slot contains the last row.  The result has all rows, because a Scan raises an error
    for a buffer with missing rows.
    """
    if part.kind is Kind.MIT_MOT:
        return part.filled
    rows = part.filled.shape[0]
    return part.filled[rows - 1 - (rows - 1 - pt.arange(rows)) % (part.tape.origin + 1)]


# Like PyTensor's pullback, a faulty rule replays no step; a replay would correct some errors.
_BROKEN = (
    BrokenRule(
        "accumulate-overwritten",
        "accumulate at overwritten taps",
        "If a step overwrites a slot, the faulty rule adds the contribution of the step to the old "
        "gradient in the slot, instead of replacing the old gradient.",
        "The old gradient belongs to the new value, and the step has already used it. No later "
        "step read the old value, so its gradient is the contribution of this step.",
        PullbackRule(accumulates=lambda tape: tape.reads, replays=False),
    ),
    BrokenRule(
        "never-accumulate",
        "never accumulate",
        "The faulty rule writes the contribution of a step and drops the old gradient in the slot.",
        "Several steps may read a value, and the cost may depend on it directly. The gradient of "
        "the value is the sum of all these contributions.",
        PullbackRule(accumulates=lambda tape: (), replays=False),
    ),
    BrokenRule(
        "unreversed-sequences",
        "pass forward values in their original order",
        "The first backward step reads the forward values of the first step instead of the last.",
        "The backward loop starts with the last step. It must differentiate every step at the "
        "values of that step.",
        PullbackRule(reverses=False, replays=False),
    ),
    BrokenRule(
        "shortened-buffer",
        "read forward values from a shortened buffer",
        "The faulty rule reads forward values from a buffer of only the last rows, as after "
        "scan_save_mem: later values have overwritten the earlier ones.",
        "The derivative of a step needs the values of that step. Therefore all rows must exist "
        "until the backward loop reads them. These rows are the memory that a gradient needs.",
        PullbackRule(recalls=shortened, replays=False),
    ),
    BrokenRule(
        "swapped-taps",
        "swap two taps",
        "A backward step swaps the values of the first two slots of its tape.",
        "The step expects the slots in the order of the taps. All slots have the same type and "
        "shape, so only the numbers show the error.",
        PullbackRule(binds=lambda tape: (*tape.reads[1::-1], *tape.reads[2:]), replays=False),
    ),
)
BROKEN = Registry("rule", {rule.name: rule for rule in _BROKEN})

_OPTIONS: Mapping[str, Mapping[str, object]] = {
    "accumulate-overwritten": {"taps": {"x": (-2, -1)}, "steps": 2, "order": 2},
    "never-accumulate": {"cost": "sum"},
    "unreversed-sequences": {"cost": "sum"},
}
# For each rule, options of a workbench that show a changed derivative.
EXAMPLES: Mapping[str, Mapping[str, object]] = {
    name: {"loop": "square", "order": 1, **_OPTIONS.get(name, {}), "rule": name} for name in BROKEN
}
