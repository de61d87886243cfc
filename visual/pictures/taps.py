"""The taps picture: what becomes of a loop variable's taps, derivative after derivative.

A line of slots shows what one step reads and writes; the line below it shows the same for
the gradient.  A column is one moment, so that a tap and the tap that is made from it stand
one above the other: a gradient's step moves the other way, and its taps count that way.
Beside every arrow stands what becomes of the tap, and the word for the rule, of which there are
five; `conversions` has them, in sentences as well.
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
from visual.layout.names import counted, listed
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    gap,
    grouped,
    over,
    piece,
    sized,
)
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
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


class Rule(StrEnum):
    """What becomes of a tap's gradient: the word for it, and why."""

    READ = "read: the gradient of what was made"
    ADDED = (
        "added: the cost and other steps leave their shares there, too, so it is read and written"
    )
    WRITTEN = "written: each step has a slot of its own, so nothing is added"
    NOT_ADDED = (
        "not added: the step overwrote the old value, which went nowhere else; its gradient takes "
        "the place of the new value's"
    )
    CLEARED = "cleared: what stood there before was lost unread"

    @property
    def word(self) -> str:
        """The word for it: before the colon."""
        return self.value.partition(":")[0]


@dataclass(frozen=True)
class Conversion:
    """One tap and the rule by which a tap of the gradient is made from it; `signs` calculates it.

    `accented` marks the rules in which a gradient ends.
    """

    tap: int
    signs: str
    rule: Rule

    @property
    def accented(self) -> bool:
        """Whether a gradient ends there."""
        return self.rule in (Rule.NOT_ADDED, Rule.CLEARED)

    @property
    def words(self) -> str:
        """The rule in a sentence, with its reason."""
        does = {
            Rule.READ: "written at {} → its gradient is read at {}",
            Rule.ADDED: "read at {}, and kept → its gradient is added at {}",
            Rule.WRITTEN: "read at {}, by this step only → its gradient is written at {}",
            Rule.NOT_ADDED: "overwritten at {} → its gradient is written at {}, and not added",
            Rule.CLEARED: "written at {} → its gradient is read at {}, and cleared",
        }[self.rule].format(signed(self.tap), self.signs)
        reason = self.rule.value.partition(": ")[2]
        return does if self.rule is Rule.READ else f"{does}; {reason}"


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
    signs = f"−({signed(tap)}) = {signed(-tap)}" if tap else "−0 = 0"
    use = use_of(tape, tap)
    if use is Use.OVERWRITTEN:
        return Conversion(tap, signs, Rule.NOT_ADDED)
    if use is Use.PRESERVED:
        return Conversion(tap, signs, Rule.ADDED if -tap in back.reads else Rule.WRITTEN)
    return Conversion(tap, signs, Rule.CLEARED if tap in cleared(tape) else Rule.READ)


@dataclass(frozen=True)
class Sizes:
    """How wide a slot is, how far slots are apart, where they `start`, and a kind `beside` them.

    Where there are many slots, the picture is wider, so that kinds keep the `narrowest` room.
    """

    slot: float = 88
    pitch: float = 98
    start: float = 124
    beside: float = 28
    narrowest: float = 70


ON_A_SCREEN, IN_A_COLUMN = Sizes(), Sizes(34, 43, 66, 8, 60)
HEIGHT, FOLDED, ARROW, SMALL = 44, 6, 58, 11
MOMENTS = (
    "A number is a tap: 0 is now, −1 one step ago, 1 one step ahead. Each column is one moment. A "
    "gradient's steps go the other way than those it differentiates, and so do its taps."
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
KINDS: Mapping[Kind, str] = {
    Kind.SIT_SOT: "one tap read, one written",
    Kind.MIT_SOT: "several taps read, one written",
    Kind.MIT_MOT: "several taps read, one or more written",
    Kind.NIT_SOT: "no tap read, one written",
}
ORDERS = 100
OTHERS = [("its gradient", "")]

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
    named, scans = _named(tapes, name), _generations(tapes)
    scene = _drawn(named, scans, orders, orders, theme, sheet)
    shown = orders
    folds = sheet.on_paper or isinstance(tapes, Trace)  # which has as many orders as it was given
    while folds and scene.height > sheet.height and shown:
        shown -= 1
        scene = _drawn(named, scans, orders, shown, theme, sheet)
    return scene


def _generations(tapes: Tapes) -> Sequence[tuple[str, str]]:
    """The loop of a trace, what goes back through it, what goes back through that, and so on.

    Several Scans of a derivative go back through the same one, and have the same taps.
    """
    if not isinstance(tapes, Trace) or [scan.parent for scan in tapes.scans].count(None) != 1:
        return ()
    told, through = [("Scan 1", tapes.scans[0].name)], [0]
    while made := [n for n, scan in enumerate(tapes.scans) if scan.parent in through]:
        whose = sorted({tapes.scans[number].parent or 0 for number in made})
        words = f"Scan{'s' if made[1:] else ''} {listed(n + 1 for n in made)}"
        told.append((words, f"back through {listed(n + 1 for n in whose)}"))
        through = made
    return told


def _drawn(
    named: Mapping[Tape, tuple[str, ...]],
    scans: Sequence[tuple[str, str]],
    orders: int,
    shown: int,
    theme: str,
    sheet: Sheet,
) -> Scene:
    """All tapes, and so many of their gradients as are `shown`."""
    parts: list[Piece] = []
    for tape, names in named.items():
        lines = [] if parts else [MOMENTS]
        if tape.kind is Kind.SEQUENCE and len(tape.reads) == 1:
            lines.append("PyTensor makes a sequence of every tap: each slot is read once.")
        head = heading(f"{', '.join(names)} · {tape.kind}", lines, sheet)
        parts.append(above(head, _strip(tape, names[0], scans, shown, sheet), apart=6))
    everything = ", ".join(chain.from_iterable(named.values()))
    more = f"{counted(orders - shown, 'gradient')} of these gradients not shown"
    return finished(
        above(*parts, apart=22),
        {LOOKS[use]: WORDS[use] for use in Use},
        sheet=sheet,
        title=f"Taps of {everything} and of their gradients, one of the other, {orders} times",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        theme=theme,
        said=[
            *_rules(named, shown),
            *([f"⋯ {more}"] if shown < orders else []),
            *_kinds(named, shown),
        ],
    )


def _kinds(named: Mapping[Tape, tuple[str, ...]], orders: int) -> list[str]:
    """The kinds that occur, in plain words."""
    found = set[Kind]()
    for tape in named:
        for _ in range(orders + 1):
            found.add(tape.kind)
            tape = reverse(tape)
    told = " · ".join(f"{kind}: {words}" for kind, words in KINDS.items() if kind in found)
    return [told] if told else []


def _rules(named: Mapping[Tape, tuple[str, ...]], orders: int) -> list[str]:
    """The rules that occur."""
    found = set[Rule]()
    for tape in named:
        for _ in range(orders):
            found |= {each.rule for each in conversions(tape)}
            tape = reverse(tape)
    return [rule for rule in Rule if rule in found]


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


def _strip(
    tape: Tape, key: str, scans: Sequence[tuple[str, str]], orders: int, sheet: Sheet
) -> Piece:
    """One tape and its gradients from top to bottom, and between them what becomes of taps."""
    row, sizes = with_gaps(_moments(tape.taps)), IN_A_COLUMN if sheet.is_narrow else ON_A_SCREEN
    sizes = replace(sizes, start=0, narrowest=0) if sheet.bare else sizes
    pitch = (sheet.line - sizes.narrowest - sizes.beside - sizes.start) / len(row)
    if IN_A_COLUMN.pitch < pitch < sizes.pitch:
        sizes = replace(sizes, pitch=pitch, slot=pitch - sizes.pitch + sizes.slot)
    left = {m: sizes.start + n * sizes.pitch for n, m in enumerate(row) if not isinstance(m, Gap)}
    lines = []
    for order in range(orders + 1):
        sign = -1 if order % 2 else 1
        slots = (
            _fold(item.hidden, sizes.slot)
            if isinstance(item, Gap)
            else _slot(tape, order, sign * item, key, sizes)
            for item in row
        )
        kind = Text(sizes.beside, 19, tape.kind, 13, bold=True)
        about = [] if sheet.bare else [over(gap(0, HEIGHT), piece(kind))]
        named = [*scans, *OTHERS * orders] if scans else [("the tape", ""), *OTHERS * orders]
        label = _label(*named[order], sizes)
        line = beside(label, *slots, *about, apart=sizes.pitch - sizes.slot)
        lines.append(grouped(line, Group((), step=order, moment=named[order][0])))
        if order < orders:
            middles = {sign * moment: x + sizes.slot / 2 for moment, x in left.items()}
            lines.append(_arrows(tape, middles))
            tape = reverse(tape)
    return above(*lines)


def _label(told: str, below: str, sizes: Sizes) -> Piece:
    """Whose taps a line of slots shows."""
    if not sizes.start:
        return gap(sizes.slot - sizes.pitch)
    room = sizes.start - (sizes.pitch - sizes.slot) - 2
    name = fitted(room, 18, told, room, SMALL + 1, "end", bold=True)
    under = [fitted(room, 34, below, room, SMALL, "end", muted=True)] if below else []
    return sized(sizes.start - sizes.pitch + sizes.slot, HEIGHT, name, *under)


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
    title = f"tap {signed(tap)}: {WORDS[use]}"
    return piece(Group(tuple(inside), cell=f"{key}:order {order}:{tap}", title=title))


def _arrows(tape: Tape, middles: Mapping[int, float]) -> Piece:
    """An arrow for every tap that is made from one of `tape`, with the word for the rule."""
    shapes: list[Shape] = []
    for each in conversions(tape):
        x = middles[each.tap]
        room = min((abs(x - o) for o in middles.values() if o != x), default=ON_A_SCREEN.pitch)
        drawn: list[Shape] = [Arrow(((x, 3), (x, ARROW - 3)), accent=each.accented)]
        if room > ON_A_SCREEN.pitch / 2:
            signs = shortened(each.signs, room - 26, SMALL, mono=True)
            drawn += [
                Text(x + 8, ARROW / 2 - 3, signs, SMALL, mono=True, muted=True),
                Text(x + 8, ARROW / 2 + 13, each.rule.word, SMALL),
            ]
        shapes.append(Group(tuple(drawn), title=each.words))
    return over(gap(0, ARROW), piece(*shapes))


def _moments(taps: Sequence[int]) -> list[int]:
    """All moments from the first to the last; of long stretches without a tap, none."""
    shown = set(taps)
    for before, after in pairwise(taps):
        if after - before <= FOLDED:
            shown |= set(range(before, after))
    return sorted(shown)
