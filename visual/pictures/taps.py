"""The taps picture: what becomes of a loop variable's taps, derivative after derivative.

A line of slots shows what one step reads and writes; the line below it shows the same for
the gradient.  A column is one moment, so that a tap and the tap that is made from it stand
one above the other: a gradient's step moves to the left, and its taps count to the left.
Between the lines `conversions` tells for every tap which tap of the gradient it becomes, and by
which of four rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise
from textwrap import wrap

from lab.errors import ArgumentError, quoted, whole
from lab.notation import signed
from lab.tape import Kind, Tape
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import LABELS, MARGIN, Canvas
from visual.layout.names import listed
from visual.scene.shapes import Arrow, Box, Group, Scene, Text, shortened
from visual.scene.theme import Role


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


SLOT, PITCH, HEIGHT, RULE = 88, 112, 44, 17
FOLDED, LINE, ARROW = 6, 84, 58
LOOKS: Mapping[Use, Role] = {
    Use.OVERWRITTEN: Role.OVERWRITTEN,
    Use.PRESERVED: Role.PRESERVED,
    Use.WRITTEN: Role.INTERMEDIATE,
    Use.UNTOUCHED: Role.UNNEEDED,
}
WORDS: Mapping[Use, str] = {
    Use.OVERWRITTEN: "read, then replaced",
    Use.PRESERVED: "read, and kept for later steps",
    Use.WRITTEN: "only written",
    Use.UNTOUCHED: "passed over by this step",
}
ORDERS = 100

Tapes = Tape | Mapping[str, Tape] | Trace | ScanTrace


def taps(tapes: Tapes, orders: int = 2, theme: str = "light", name: str = "x") -> Scene:
    """The taps of every variable in `tapes`, and of their gradients up to order `orders`.

    `tapes` is a tape (called `name`), tapes by name, a traced Scan, or a trace, of which the
    loops are taken that are no derivatives.  Variables with the same taps are drawn once.
    """
    expected = f"a whole number, 0 to {ORDERS}"
    if not 0 <= whole("orders", orders, expected) <= ORDERS:
        raise ArgumentError(f"orders = {quoted(orders)}: expected {expected}.")
    canvas = Canvas()
    used: set[Use] = set()
    named = _named(tapes, name)
    for tape, names in named.items():
        used |= _Strip(canvas, tape, names).draw(whole("orders", orders))
    everything = ", ".join(chain.from_iterable(named.values()))
    return canvas.finished(
        {LOOKS[use]: WORDS[use] for use in Use if use in used},
        width=canvas.right + MARGIN,
        title=f"Taps of {everything} and of the gradients up to order {orders}",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        theme=theme,
    )


def _named(tapes: Tapes, name: str) -> dict[Tape, tuple[str, ...]]:
    """The names of the variables that have the same tape."""
    pairs: list[tuple[str, Tape]] = []
    if isinstance(tapes, Tape):
        pairs = [(name, tapes)]
    elif isinstance(tapes, Mapping):
        pairs = list(tapes.items())
    elif isinstance(tapes, Trace | ScanTrace):
        scans = [tapes] if isinstance(tapes, ScanTrace) else tapes.scans
        for scan in scans:
            if scan.parent is not None and scan is not tapes:
                continue
            pairs += [(sequence.name, Tape((0,), ())) for sequence in scan.sequences]
            pairs += [(tape.name, tape.tape) for tape in scan.held]
    if not pairs or not all(isinstance(tape, Tape) for _, tape in pairs):
        raise ArgumentError(f"tapes = {quoted(tapes)}: expected a Tape, Tapes by name, or a Trace.")
    names_of: dict[Tape, tuple[str, ...]] = {}
    for called, tape in pairs:
        names = names_of.get(tape, ())
        names_of[tape] = names if called in names else (*names, str(called))
    return names_of


class _Strip:
    """One tape and its gradients, drawn from top to bottom."""

    def __init__(self, canvas: Canvas, tape: Tape, names: Sequence[str]) -> None:
        self.canvas, self.tape, self.names = canvas, tape, names
        self.used: set[Use] = set()
        self.left: dict[int, float] = {}
        self.folds: list[tuple[float, int]] = []
        x: float = LABELS
        previous = None
        for moment in _moments(tape.taps):
            if previous is not None and moment > previous + 1:
                self.folds.append((x, moment - previous - 1))
                x += PITCH
            self.left[moment] = x
            x += PITCH
            previous = moment
        self.rules_left = x + 12

    def draw(self, orders: int) -> set[Use]:
        """All lines of slots, with the rules between them; which uses occur."""
        lines = []
        if not self.canvas.shapes:
            lines.append(
                "Each column is one moment. A gradient's step moves to the left, so that its taps "
                "count to the left."
            )
        if self.tape.kind is Kind.SEQUENCE and len(self.tape.reads) == 1:
            lines.append("PyTensor makes a sequence of every tap: each slot is read once.")
        self.canvas.heading(f"{', '.join(self.names)} · {self.tape.kind}", lines)
        self.canvas.y += 6
        tape = self.tape
        for order in range(orders + 1):
            start = len(self.canvas.shapes)
            self._slots(tape, order)
            self.canvas.group(start, order, f"order {order}")
            if order < orders:
                self._rules(tape, order)
                tape = reverse(tape)
        self.canvas.y += 38
        return self.used

    def _slots(self, tape: Tape, order: int) -> None:
        canvas, sign = self.canvas, -1 if order % 2 else 1
        canvas.row_label(f"order {order}", canvas.y + 18)
        what = ("forward", "backward")[order] if order < 2 else f"backward of {order - 1}"
        canvas.small_label(what, canvas.y + 34)
        for moment, x in self.left.items():
            self._slot(tape, order, sign * moment, x)
        for x, hidden in self.folds:
            middle = x + SLOT / 2
            words = f"⋯ {hidden:,} ⋯"
            canvas.add(Text(middle, canvas.y + 26, words, 10.5, "middle", muted=True))
        canvas.y += 18
        words = f"{tape.kind}: reads {listed(tape.reads)} · writes {listed(tape.writes)}"
        canvas.text(self.rules_left, words, 12.5, bold=True)
        canvas.y += 16
        words = f"overwrites {listed(tape.overwritten)} · preserves {listed(tape.preserved)}"
        canvas.text(self.rules_left, words, 12, muted=True)
        canvas.y += HEIGHT - 34

    def _slot(self, tape: Tape, order: int, tap: int, x: float) -> None:
        canvas, use = self.canvas, use_of(tape, tap)
        self.used.add(use)
        role = LOOKS[use]
        middle = x + SLOT / 2
        box = Box(x, canvas.y, SLOT, HEIGHT, role)
        inside: list[Text] = []
        if use is not Use.UNTOUCHED:
            number = shortened(signed(tap), SLOT - 10, 14, bold=True)
            inside.append(Text(middle, canvas.y + 19, number, 14, "middle", bold=True, role=role))
            inside.append(Text(middle, canvas.y + 35, use.short, 10.5, "middle", role=role))
        title = f"tap {signed(tap)}, order {order}: {WORDS[use]}"
        key = f"{self.names[0]}:order {order}:{tap}"
        canvas.add(Group((box, *inside), cell=key, title=title))

    def _rules(self, tape: Tape, order: int) -> None:
        """An arrow and a sentence for every tap that is made from one of `tape`."""
        canvas, sign = self.canvas, -1 if order % 2 else 1
        top = canvas.y
        y = top + 22
        for rule in conversions(tape):
            x = self.left[sign * rule.tap] + SLOT / 2
            short = shortened(rule.signs, PITCH - 12, 10.5, mono=True)
            canvas.write(Text(x + 8, top + ARROW / 2 + 6, short, 10.5, mono=True, muted=True))
            for line in wrap(rule.words, LINE, subsequent_indent="    "):
                indent = 14 if line.startswith(" ") else 0
                canvas.y = y
                canvas.text(self.rules_left + indent, line.strip(), 12)
                y += RULE
            y += 3
        bottom = max(top + ARROW, y)
        for rule in conversions(tape):
            x = self.left[sign * rule.tap] + SLOT / 2
            canvas.add(Arrow(((x, top + 3), (x, bottom - 3)), accent=rule.accented))
        canvas.y = bottom


def _moments(taps: Sequence[int]) -> list[int]:
    """All moments from the first to the last; of long stretches without a tap, none."""
    shown = set(taps)
    for before, after in pairwise(taps):
        if after - before <= FOLDED:
            shown |= set(range(before, after))
    return sorted(shown)
