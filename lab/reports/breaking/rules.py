"""Faulty rules of the pullback, each a different value of `PullbackRule`.

    >>> loop = gallery.loops["square"].with_steps(5)
    >>> print(lab.break_rule(loop, "accumulate-overwritten"))

The pullback follows any `PullbackRule`.  A faulty rule changes one choice of the correct rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from lab.errors import Registry
from lab.gradients.decisions import PullbackRule
from lab.scans.node import LoopVariable
from lab.tape import Kind


@dataclass(frozen=True)
class Mistake:
    """The name of a faulty rule in `BROKEN`, its title, and its `change` of the correct rule.

    `lines`: correct assignment, faulty assignment, symbols; optional for your own rule.
    """

    name: str
    title: str
    change: str
    lines: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class BrokenRule(Mistake):
    """A faulty rule with its description."""

    rule: PullbackRule


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


# The symbols in the lines of the rules.
SLOT = "s[k]: slot k · g: contribution"
SLOTS = "s[j], s[k]: the first two slots that a step reads · v, w: the gradients that it uses"
STEPS = "v: value that backward step t of n reads · f[t]: value of forward step t"
BUFFER = "v: forward value in row k of its buffer · m: number of rows of the shortened buffer"

# Like PyTensor's pullback, a faulty rule replays no step; a replay would correct some errors.
_BROKEN = (
    BrokenRule(
        "accumulate-overwritten",
        "accumulate at overwritten taps",
        "If a step overwrites a slot, the faulty rule adds the contribution of the step to the old "
        "gradient in the slot, instead of replacing the old gradient.",
        PullbackRule(accumulates=lambda tape: tape.reads, replays=False),
        lines=("a value that the differentiated Scan replaces: s[k] ← g", "s[k] ← g + s[k]", SLOT),
    ),
    BrokenRule(
        "never-accumulate",
        "never accumulate",
        "The faulty rule writes the contribution of a step and drops the old gradient in the slot.",
        PullbackRule(accumulates=lambda tape: (), replays=False),
        lines=("a preserved value: s[k] ← g + s[k]", "s[k] ← g", SLOT),
    ),
    BrokenRule(
        "unreversed-sequences",
        "pass forward values in their original order",
        "The first backward step reads the forward values of the first step instead of the last.",
        PullbackRule(reverses=False, replays=False),
        lines=("forward values: v ← f[n−1−t]", "v ← f[t]", STEPS),
    ),
    BrokenRule(
        "shortened-buffer",
        "read forward values from a shortened buffer",
        "The faulty rule reads forward values from a buffer of only the last rows, as after "
        "scan_save_mem: later values have overwritten the earlier ones.",
        PullbackRule(recalls=shortened, replays=False),
        lines=("forward values: v ← buf[k]", "v ← buf[k mod m]", BUFFER),
    ),
    BrokenRule(
        "swapped-taps",
        "swap two taps",
        "A backward step swaps the values of the first two slots of its tape.",
        PullbackRule(binds=lambda tape: (*tape.reads[1::-1], *tape.reads[2:]), replays=False),
        lines=("two slots: v, w ← s[j], s[k]", "v, w ← s[k], s[j]", SLOTS),
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
