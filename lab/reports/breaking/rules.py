"""Rules of the pullback that can be broken, each as another value of the same recipe.

    >>> loop = gallery.loops["square"].with_steps(5)
    >>> print(lab.break_rule(loop, "accumulate-overwritten"))

The pullback follows a `PullbackRule` and knows nothing of right and wrong; a broken one
is made of the same decisions, taken differently.  What comes of it is told by `breakage`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from lab.errors import Registry
from lab.gradients.decisions import PullbackRule
from lab.scans.node import LoopVariable
from lab.tape import Kind, Tape


@dataclass(frozen=True)
class Mistake:
    """A decision of the pullback that can be got wrong, in words.

    `name` is short, for a command line; `title` says what a step does by the broken rule,
    `change` how that differs, and `reason` why the true rule is as it is.
    """

    name: str
    title: str
    change: str
    reason: str


@dataclass(frozen=True)
class BrokenRule(Mistake):
    """A mistake, and the recipe in which it is made."""

    rule: PullbackRule

    @property
    def mistake(self) -> Mistake:
        """The words alone, for a record."""
        return Mistake(self.name, self.title, self.change, self.reason)


def in_turns(filled: TensorVariable, kept: int) -> TensorVariable:
    """A buffer as it looks where `kept` slots are used in turns, laid out in full length.

    Row i shares its slot with all rows that are a multiple of `kept` away, and holds the last of
    them: a reader finds, without a complaint, whatever stands in the slot of the row that it asks
    for; a Scan that is given a buffer with missing rows stops.
    """
    last = filled.shape[0] - 1
    return filled[last - (last - pt.arange(filled.shape[0])) % kept]


def shortened(part: LoopVariable) -> TensorVariable:
    """The buffer of a state or output as it looks where only its last rows are kept.

    `scan_save_mem` leaves a state as many rows as it has initial values, and one more.  A mit-mot
    is never shortened.
    """
    is_kept = part.kind is Kind.MIT_MOT
    return part.filled if is_kept else in_turns(part.filled, part.tape.origin + 1)


def _first_two_swapped(tape: Tape) -> tuple[int, ...]:
    return (*tape.reads[1::-1], *tape.reads[2:])


# No loop of pytensor.scan needs a replay by the true rule.  By a broken one it may, and would
# then be mended in part, by another mistake's cure; PyTensor has no such thing.
_BROKEN = (
    BrokenRule(
        "accumulate-overwritten",
        "accumulate at overwritten taps, too",
        "Where a step has replaced the value that it read, the gradient that stands in that slot "
        "is added as well, as at any other tap.",
        "That gradient belongs to the new value, and the step has just passed it on. No later "
        "step has read the old value, so there is nothing to add: accumulation stops there.",
        PullbackRule(accumulates=lambda tape: tape.reads, replays=False),
    ),
    BrokenRule(
        "never-accumulate",
        "never accumulate",
        "A step writes its own share of a gradient and drops what stood in the slot.",
        "A value that several steps read, or that also enters the cost directly, gets a share of "
        "the gradient from each of them, and its gradient is the sum of all.",
        PullbackRule(accumulates=lambda tape: (), replays=False),
    ),
    BrokenRule(
        "unreversed-sequences",
        "hand forward values over unreversed",
        "The backward steps are given the values of the forward steps first step first.",
        "The backward loop undoes the last step first, so it needs last what the loop had first: "
        "every step must be differentiated at the values that it had itself.",
        PullbackRule(reverses=False, replays=False),
    ),
    BrokenRule(
        "shortened-buffer",
        "read forward values from a shortened buffer",
        "Forward values are looked up in a buffer that keeps only its last rows, as scan_save_mem "
        "leaves it: where an old row stood, a newer one stands now.",
        "A step is differentiated at the values that it had, so all of them must last until the "
        "backward loop comes by. That is the memory that a gradient costs.",
        PullbackRule(recalls=shortened, replays=False),
    ),
    BrokenRule(
        "swapped-taps",
        "swap two taps",
        "A backward step takes the first two slots of its tape in each other's place.",
        "The step was built for the slots in the order of the taps. All of them are gradients of "
        "one type and one shape, so that only the numbers can tell.",
        PullbackRule(binds=_first_two_swapped, replays=False),
    ),
)
BROKEN = Registry("rule", {rule.name: rule for rule in _BROKEN})

# For each rule, choices of a workbench with which the rule changes a derivative.
_CHANGED: Mapping[str, Mapping[str, object]] = {
    "accumulate-overwritten": {"taps": {"x": (-2, -1)}, "steps": 2, "order": 2},
    "never-accumulate": {"cost": "sum", "order": 1},
    "unreversed-sequences": {"cost": "sum", "order": 1},
    "shortened-buffer": {"order": 1},
    "swapped-taps": {"order": 1},
}
EXAMPLES: Mapping[str, Mapping[str, object]] = {
    name: {"loop": "square", **choices, "rule": name} for name, choices in _CHANGED.items()
}
