"""The taps picture: what becomes of a loop variable's taps, derivative after derivative.

A line of slots shows what one step reads and writes; the line below it shows the same for
the gradient.  A column is one moment, so that a tap and the tap that is made from it stand
one above the other: a gradient's step moves the other way, and its taps count that way.
Between the lines `conversions` tells for every tap which tap of the gradient it becomes, and by
which of four rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, pairwise

from lab.errors import ArgumentError, quoted, whole
from lab.notation import signed
from lab.tape import Kind, Tape
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import finished, heading
from visual.layout.columns import Gap, with_gaps
from visual.layout.names import listed
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    gap,
    grouped,
    over,
    piece,
    shifted,
    sized,
    words,
)
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    shortened,
    text_width,
)
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
    short: str
    signs: str
    reason: str = ""
    accented: bool = False

    @property
    def words(self) -> str:
        """The rule with its reason."""
        return self.short + self.reason


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
        short = f"overwritten at {at} → at {signs} the gradient of the new value is read, that of "
        short += "the old one takes its place"
        reason = "; nothing is added, since the old value went nowhere else"
        return Conversion(tap, short, signs, reason, accented=True)
    if use is Use.PRESERVED and -tap not in back.reads:
        short = f"read at {at}, by this step only → its gradient is written at {signs}"
        return Conversion(tap, short, signs, ", and not read")
    if use is Use.PRESERVED:
        short = f"read at {at}, and kept → its gradient is added at {signs}"
        reason = (
            ", so that is read and written: the cost and other steps leave their shares there, "
        )
        return Conversion(tap, short, signs, f"{reason}too")
    short = f"written at {at} → its gradient is read at {signs}"
    if tap not in cleared(tape):
        return Conversion(tap, short, signs)
    reason = ", and cleared: what stood there before was lost unread"
    return Conversion(tap, short, signs, reason, accented=True)


@dataclass(frozen=True)
class Sizes:
    """How wide a slot is, how far slots are apart, where they `start`, what words have `beside`.

    Where there are many slots, the picture is wider, so that words keep the `narrowest` room.
    """

    slot: float = 88
    pitch: float = 98
    start: float = 104
    beside: float = 28
    narrowest: float = 180


ON_A_SCREEN, IN_A_COLUMN = Sizes(), Sizes(34, 43, 66, 8, 120)
HEIGHT, FOLDED, ARROW, SMALL = 44, 6, 58, 11
MOMENTS = (
    "Each column is one moment. A gradient's step moves the other way than the step that it "
    "differentiates, and so do its taps."
)
LOOKS: Mapping[Use, Role] = {
    Use.OVERWRITTEN: Role.OVERWRITTEN,
    Use.PRESERVED: Role.PRESERVED,
    Use.WRITTEN: Role.INTERMEDIATE,
    Use.UNTOUCHED: Role.UNNEEDED,
}
WORDS: Mapping[Use, str] = {
    Use.OVERWRITTEN: "read, then replaced",
    Use.PRESERVED: "read, and left as it is",
    Use.WRITTEN: "only written",
    Use.UNTOUCHED: "passed over by this step",
}
ORDERS = 100

Tapes = Tape | Mapping[str, Tape] | Trace | ScanTrace


def taps(
    tapes: Tapes,
    orders: int = 2,
    theme: str = "light",
    name: str = "x",
    sheet: Sheet = SCREEN,
) -> Scene:
    """The taps of every variable in `tapes`, and of their gradients up to order `orders`.

    `tapes` is a tape (called `name`), tapes by name, a traced Scan, or a trace, of which the
    loops are taken that are no derivatives.  Variables with the same taps are drawn once.
    """
    expected = f"a whole number, 0 to {ORDERS}"
    if not 0 <= whole("orders", orders, expected) <= ORDERS:
        raise ArgumentError(f"orders = {quoted(orders)}: expected {expected}.")
    check_sheet(sheet)
    named = _named(tapes, name)
    scene = _drawn(named, orders, orders, theme, sheet)
    shown = orders
    folds = sheet.on_paper or isinstance(tapes, Trace)  # which has as many orders as it was given
    while folds and scene.height > sheet.height and shown:
        shown -= 1
        scene = _drawn(named, orders, shown, theme, sheet)
    return scene


def _drawn(
    named: Mapping[Tape, tuple[str, ...]], orders: int, shown: int, theme: str, sheet: Sheet
) -> Scene:
    """All tapes, and their gradients of the orders that are `shown`."""
    parts: list[Piece] = []
    for tape, names in named.items():
        lines = [] if parts else [MOMENTS]
        if tape.kind is Kind.SEQUENCE and len(tape.reads) == 1:
            lines.append("PyTensor makes a sequence of every tap: each slot is read once.")
        head = heading(f"{', '.join(names)} · {tape.kind}", lines, sheet)
        parts.append(above(head, _strip(tape, names[0], shown, sheet), apart=6))
    everything = ", ".join(chain.from_iterable(named.values()))
    return finished(
        above(*parts, apart=22),
        {LOOKS[use]: WORDS[use] for use in Use},
        sheet=sheet,
        title=f"Taps of {everything} and of the gradients up to order {orders}",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        theme=theme,
        said=[f"⋯ the gradients of orders above {shown} are not shown"] if shown < orders else [],
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


def _strip(tape: Tape, key: str, orders: int, sheet: Sheet) -> Piece:
    """One tape and its gradients from top to bottom, with the rules between them."""
    row, sizes = with_gaps(_moments(tape.taps)), IN_A_COLUMN if sheet.is_narrow else ON_A_SCREEN
    sizes = replace(sizes, start=0, narrowest=0) if sheet.bare else sizes
    pitch = (sheet.line - sizes.narrowest - sizes.beside - sizes.start) / len(row)
    if IN_A_COLUMN.pitch < pitch < sizes.pitch:
        sizes = replace(sizes, pitch=pitch, slot=pitch - sizes.pitch + sizes.slot)
    left = {m: sizes.start + n * sizes.pitch for n, m in enumerate(row) if not isinstance(m, Gap)}
    right = sizes.start + len(row) * sizes.pitch + sizes.beside
    room = max(sheet.line - right, sizes.narrowest)
    lines, told = [], set[str]()
    for order in range(orders + 1):
        sign = -1 if order % 2 else 1
        slots = (
            _fold(item.hidden, sizes.slot)
            if isinstance(item, Gap)
            else _slot(tape, order, sign * item, key, sizes)
            for item in row
        )
        about = [] if sheet.bare else [_about(tape, room, sizes.beside)]
        line = beside(_label(order, sizes), *slots, *about, apart=sizes.pitch - sizes.slot)
        lines.append(grouped(line, Group((), step=order, moment=f"order {order}")))
        if order < orders:
            middles = {sign * moment: x + sizes.slot / 2 for moment, x in left.items()}
            sentences = gap() if sheet.bare else shifted(_sentences(tape, room, told), right, 10)
            lines.append(_arrows(tape, middles, sentences))
            tape = reverse(tape)
    return above(*lines)


def _label(order: int, sizes: Sizes) -> Piece:
    what = ("forward", "backward")[order] if order < 2 else f"backward of {order - 1}"
    if not sizes.start:
        return gap(sizes.slot - sizes.pitch)
    room = sizes.start - (sizes.pitch - sizes.slot) - 2
    name = Text(room, 18, f"order {order}", 13, "end", bold=True)
    below = fitted(room, 34, what, room, SMALL, "end", muted=True)
    return sized(sizes.start - sizes.pitch + sizes.slot, HEIGHT, name, below)


def _fold(hidden: int, wide: float) -> Piece:
    mark = fitted(wide / 2, 26, f"⋯ {hidden:,} ⋯", wide + 8, SMALL, "middle", muted=True)
    return sized(wide, HEIGHT, mark)


def _slot(tape: Tape, order: int, tap: int, key: str, sizes: Sizes) -> Piece:
    use = use_of(tape, tap)
    role, middle, room = LOOKS[use], sizes.slot / 2, sizes.slot - 10
    inside: list[Shape] = [Box(0, 0, sizes.slot, HEIGHT, role)]
    if use is not Use.UNTOUCHED:
        told = text_width(use.short, SMALL) < sizes.slot
        number = shortened(signed(tap), room, 14, bold=True)
        y = 19 if told else HEIGHT / 2 + 5
        inside.append(Text(middle, y, number, 14, "middle", bold=True, role=role))
        if told:
            inside.append(Text(middle, 35, use.short, SMALL, "middle", role=role))
    title = f"tap {signed(tap)}, order {order}: {WORDS[use]}"
    return piece(Group(tuple(inside), cell=f"{key}:order {order}:{tap}", title=title))


def _about(tape: Tape, room: float, apart: float) -> Piece:
    """What a step does, beside its slots."""
    first = f"{tape.kind}: reads {listed(tape.reads)} · writes {listed(tape.writes)}"
    second = f"overwrites {listed(tape.overwritten)} · preserves {listed(tape.preserved)}"
    lines = [
        *(words(line, 12.5, bold=True) for line in folded(first, room, 12.5, bold=True)),
        *(words(line, 12, muted=True) for line in folded(second, room, 12)),
    ]
    return over(gap(0, HEIGHT), shifted(above(*lines, apart=1), apart, 6))


def _sentences(tape: Tape, room: float, told: set[str]) -> Piece:
    """A sentence for every tap that is made from one of `tape`; `told` are reasons that were."""
    lines = []
    for rule in conversions(tape):
        said = rule.short if rule.reason in told else rule.words
        told.add(rule.reason)
        lines.append(above(*(words(line, 12) for line in folded(said, room, 12)), apart=2))
    return above(*lines, apart=5)


def _arrows(tape: Tape, middles: Mapping[int, float], sentences: Piece) -> Piece:
    """An arrow for every tap that is made from one of `tape`, beside sentences that tell why."""
    bottom = max(ARROW, sentences.envelope.bottom + 12)
    shapes: list[Shape] = []
    for rule in conversions(tape):
        x = middles[rule.tap]
        room = min((abs(x - o) for o in middles.values() if o != x), default=ON_A_SCREEN.pitch)
        if room > ON_A_SCREEN.pitch / 2:
            signs = shortened(rule.signs, room - 26, SMALL, mono=True)
            shapes.append(Text(x + 8, ARROW / 2 + 6, signs, SMALL, mono=True, muted=True))
        shapes.append(Arrow(((x, 3), (x, bottom - 3)), accent=rule.accented))
    return over(gap(0, bottom), piece(*shapes), sentences)


def _moments(taps: Sequence[int]) -> list[int]:
    """All moments from the first to the last; of long stretches without a tap, none."""
    shown = set(taps)
    for before, after in pairwise(taps):
        if after - before <= FOLDED:
            shown |= set(range(before, after))
    return sorted(shown)
