"""How the taps of a gradient come about, tap by tap, in words.

`conversions` tells for every tap of a tape which tap of its reverse it becomes, and by which
of four rules.
"""

from dataclasses import dataclass
from enum import StrEnum

from lab.tape import Kind, Tape
from visual.names import signed


class Use(StrEnum):
    """What a step does with a slot."""

    OVERWRITTEN = "overwritten"
    PRESERVED = "preserved"
    WRITTEN = "written"
    UNTOUCHED = "untouched"

    @property
    def short(self) -> str:
        """The operations, in the order in which a step makes them."""
        return _OPERATIONS[self]


_OPERATIONS = {
    Use.OVERWRITTEN: "read, replaced",
    Use.PRESERVED: "read, kept",
    Use.WRITTEN: "written",
    Use.UNTOUCHED: "",
}


def use_of(tape: Tape, tap: int) -> Use:
    """What a step does with the slot at `tap`."""
    if tap in tape.overwritten:
        return Use.OVERWRITTEN
    if tap in tape.preserved:
        return Use.PRESERVED
    return Use.WRITTEN if tap in tape.writes else Use.UNTOUCHED


@dataclass(frozen=True)
class Conversion:
    """One tap and the rule by which a tap of the gradient is made from it.

    `signs` is the rule as a calculation; `accented` marks the rules in which a gradient ends.
    """

    tap: int
    words: str
    signs: str
    accented: bool = False


def reverse(tape: Tape) -> Tape:
    """The tape that the gradient really has: `Tape.reverse`, and slots that are only cleared.

    What stood in a slot that a mit-mot writes without having read it is lost, so that the
    pullback writes a zero in the place of its gradient.
    """
    back = tape.reverse()
    return Tape(back.reads, back.writes + tuple(-tap for tap in cleared(tape)))


def cleared(tape: Tape) -> tuple[int, ...]:
    """The taps at which a mit-mot writes without having read."""
    if tape.kind is not Kind.MIT_MOT:
        return ()
    return tuple(tap for tap in tape.writes if tap not in tape.reads)


def conversions(tape: Tape) -> tuple[Conversion, ...]:
    """The rule for every tap, in the order of the taps."""
    back = reverse(tape)
    return tuple(_conversion(tape, back, tap) for tap in tape.taps)


def _conversion(tape: Tape, back: Tape, tap: int) -> Conversion:
    at, there = signed(tap), signed(-tap)
    signs = f"−({at}) = {there}" if tap else "−0 = 0"
    use = use_of(tape, tap)
    if use is Use.OVERWRITTEN:
        words = (
            f"overwritten at {at} → at {signs} the gradient of the new value is read, that of the "
            "old one takes its place; nothing is added, since the old value went nowhere else"
        )
        return Conversion(tap, words, signs, accented=True)
    if use is Use.PRESERVED and -tap not in back.reads:
        words = (
            f"read at {at}, by this step only → its gradient is written at {signs}, and not read"
        )
        return Conversion(tap, words, signs)
    if use is Use.PRESERVED:
        words = (
            f"read at {at}, and kept → its gradient is added at {signs}, so that is read and "
            "written: the cost and other steps leave their shares there, too"
        )
        return Conversion(tap, words, signs)
    words = f"written at {at} → its gradient is read at {signs}"
    if tap in cleared(tape):
        words += ", and cleared: what stood there before was lost unread"
    return Conversion(tap, words, signs, accented=tap in cleared(tape))
