"""The rules that convert the taps of a loop variable to the taps of its gradient.

The steps of a gradient run through the slots in the opposite direction: reads become writes, writes
become reads, and taps change sign. An access is a read, a write, or both. Five rules convert an
access of a step of the loop to an access of a step of the gradient.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from lab.gradients.symbols import gradient_name
from lab.notation import integers
from lab.tape import Tape
from visual.scene.theme import Role

# The accesses of a step to a slot: reads and writes in the order of execution, by role.
ACCESSES: Mapping[Role, str] = {
    Role.OVERWRITTEN: "read, replaced",
    Role.PRESERVED: "read, preserved",
    Role.INTERMEDIATE: "written",
    Role.UNNEEDED: "",
}


def role_of(tape: Tape, tap: int) -> Role:
    """Return the role of the slot at `tap`: one of `ACCESSES`."""
    if tap in tape.overwritten:
        return Role.OVERWRITTEN
    if tap in tape.preserved:
        return Role.PRESERVED
    return Role.INTERMEDIATE if tap in tape.writes else Role.UNNEEDED


class TapRule(Enum):
    """A rule: the access to a slot, the access to the gradient of the slot, and the reason."""

    READ = "written", "read", ""
    ADDED = "read and preserved", "added to", "other steps can read the value, too"
    WRITTEN = "read by one step only", "written", "the slot holds no other contribution"
    NOT_ADDED = (
        "overwritten",
        "replaced",
        "the gradient of the old value replaces the gradient of the new value",
    )
    CLEARED = "written unread", "cleared", "the old value is lost"

    def sentence(self, slot: str, gradient: str) -> str:
        """Return the rule as a sentence about a slot and its gradient, with the reason."""
        access, after, reason = self.value
        return f"{slot} was {access} → {gradient} is {after}{reason and f': {reason}'}"

    def sentence_at(self, tap: int) -> str:
        """Return the rule as a sentence about a tap of the loop, without the reason."""
        access, after, _ = self.value
        signs = f"−({integers(tap)}) = {integers(-tap)}" if tap else "−0 = 0"
        return f"{access} at {integers(tap)} → its gradient, at {signs}, is {after}"


def conversions(tape: Tape) -> dict[int, TapRule]:
    """Return the rule for every tap, in the order of the taps."""
    back = tape.reverse()

    def rule(tap: int) -> TapRule:
        if tap in tape.overwritten:
            return TapRule.NOT_ADDED
        if tap in tape.preserved:
            return TapRule.ADDED if -tap in back.reads else TapRule.WRITTEN
        return TapRule.CLEARED if tap in tape.cleared else TapRule.READ

    return {tap: rule(tap) for tap in tape.taps}


@dataclass(frozen=True)
class Generation:
    """The tape of a variable or of one of its gradients, with the name of the quantity.

    `arcs` are pairs of different taps: a tap that a step reads, and a tap at which the step writes
    a value that depends on the read value. `rules` are the conversions from the taps of the
    previous generation; a variable has no rules.
    """

    name: str
    tape: Tape
    arcs: tuple[tuple[int, int], ...]
    rules: Mapping[int, TapRule] = field(default_factory=dict)

    def access(self, tap: int) -> str:
        """Return the access of a step at a tap as text, such as ``read, added to``."""
        rule = self.rules.get(-tap)
        if rule in (TapRule.ADDED, TapRule.CLEARED):
            return f"read, {rule.value[1]}"
        return ACCESSES[role_of(self.tape, tap)]


def generations(tape: Tape, name: str, orders: int) -> Iterator[Generation]:
    """Yield the tape of a variable, of its gradient, of the gradient of its gradient, and so on.

    In the first tape, every write depends on every read.
    """
    arcs = tuple((r, w) for r in tape.reads for w in tape.writes if r != w)
    rules: Mapping[int, TapRule] = {}
    for order in range(orders + 1):
        name = gradient_name(order, name) if order else name
        yield Generation(name, tape, arcs, rules)
        arcs = tuple((-write, -read) for read, write in arcs)
        rules, tape = conversions(tape), tape.reverse()
