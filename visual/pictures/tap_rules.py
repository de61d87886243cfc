"""The rules that convert the taps of a loop variable to the taps of its gradient.

The steps of a gradient run through the slots in the opposite direction: reads become writes, writes
become reads, and taps change sign. An access is a read, a write, or both. Five rules convert an
access of a step of the loop to an access of a step of the gradient.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum

from lab.gradients.decisions import symbol
from lab.notation import integers
from lab.tape import Kind, Tape


class Use(StrEnum):
    """The access of a step to a slot: its reads and writes in the order of execution."""

    OVERWRITTEN = "read, replaced"
    PRESERVED = "read, preserved"
    WRITTEN = "written"
    UNTOUCHED = ""


def use_of(tape: Tape, tap: int) -> Use:
    """Return the access of a step to the slot at `tap`."""
    if tap in tape.overwritten:
        return Use.OVERWRITTEN
    if tap in tape.preserved:
        return Use.PRESERVED
    return Use.WRITTEN if tap in tape.writes else Use.UNTOUCHED


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


@dataclass(frozen=True)
class Conversion:
    """The rule that applies at a tap. `signs` is the equation of the tap of the gradient."""

    tap: int
    signs: str
    rule: TapRule

    @property
    def words(self) -> str:
        """A sentence with the accesses of the loop and of the gradient, without a reason."""
        access, after, _ = self.rule.value
        return f"{access} at {integers(self.tap)} → its gradient, at {self.signs}, is {after}"


def reverse(tape: Tape) -> Tape:
    """Return the tape of the gradient: `Tape.reverse` plus writes to the slots that a step clears.

    If a mit-mot writes a slot without reading the slot, the old value is lost. The pullback
    therefore writes zero to the gradient of the slot.
    """
    back = tape.reverse()
    return Tape(back.reads, back.writes + tuple(-tap for tap in cleared_taps(tape)))


def cleared_taps(tape: Tape) -> tuple[int, ...]:
    """Return the taps that a mit-mot writes without reading them."""
    if tape.kind is not Kind.MIT_MOT:
        return ()
    return tuple(tap for tap in tape.writes if tap not in tape.reads)


def conversions(tape: Tape) -> tuple[Conversion, ...]:
    """Return the rule for every tap, in the order of the taps."""
    back = reverse(tape)
    return tuple(_conversion(tape, back, tap) for tap in tape.taps)


def _conversion(tape: Tape, back: Tape, tap: int) -> Conversion:
    signs = f"−({integers(tap)}) = {integers(-tap)}" if tap else "−0 = 0"
    use = use_of(tape, tap)
    if use is Use.OVERWRITTEN:
        return Conversion(tap, signs, TapRule.NOT_ADDED)
    if use is Use.PRESERVED:
        return Conversion(tap, signs, TapRule.ADDED if -tap in back.reads else TapRule.WRITTEN)
    return Conversion(tap, signs, TapRule.CLEARED if tap in cleared_taps(tape) else TapRule.READ)


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
    rules: tuple[Conversion, ...] = ()

    @staticmethod
    def of_variable(tape: Tape, name: str) -> "Generation":
        """Return the first generation, in which every write depends on every read."""
        pairs = ((read, write) for read in tape.reads for write in tape.writes)
        return Generation(name, tape, tuple((r, w) for r, w in pairs if r != w))

    def gradient(self, order: int) -> "Generation":
        """Return the next generation: the gradient of this `order`."""
        arcs = tuple((-write, -read) for read, write in self.arcs)
        rules = conversions(self.tape)
        return Generation(symbol(order, self.name), reverse(self.tape), arcs, rules)

    def access(self, tap: int) -> str:
        """Describe the access of a step at a tap in a few words."""
        rules = [each.rule for each in self.rules if each.tap == -tap]
        if {TapRule.ADDED, TapRule.CLEARED} & {*rules}:
            return f"read, {rules[0].value[1]}"
        return use_of(self.tape, tap).value
