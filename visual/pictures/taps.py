"""The taps of a loop variable and of its gradients, derivative after derivative.

A row is a step of a loop, the row below it a step of its gradient. A column is a time: below a slot
that a step reads or writes is the slot of its gradient, and arcs lead from a read to a write. The
step of a gradient moves through the same slots in the opposite direction: arcs are reversed and
taps change sign. Five rules below the picture convert an access to an access to the gradient.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import chain, pairwise

from lab.errors import ArgumentError, check_integer, listing, quote
from lab.gradients.decisions import symbol
from lab.notation import integers, tap_symbol
from lab.tape import Kind, Tape
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import finished, heading
from visual.layout.columns import Gap, with_gaps
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.scene.combinators import Piece, above, gap, over, sized
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Polyline,
    Scene,
    Shape,
    Text,
    fitted,
    moved,
    picture_function,
    shortened,
    text_width,
)
from visual.scene.theme import Role


class Use(StrEnum):
    """The access of a step to a slot."""

    OVERWRITTEN = "overwritten"
    PRESERVED = "preserved"
    WRITTEN = "written"
    UNTOUCHED = "untouched"

    @property
    def short(self) -> str:
        """The operations, in the order of the step."""
        return _OPERATIONS[self]


_OPERATIONS = {
    Use.OVERWRITTEN: "read, replaced",
    Use.PRESERVED: "read, kept",
    Use.WRITTEN: "written",
    Use.UNTOUCHED: "",
}


def use_of(tape: Tape, tap: int) -> Use:
    """Return the access of a step to the slot at `tap`."""
    if tap in tape.overwritten:
        return Use.OVERWRITTEN
    if tap in tape.preserved:
        return Use.PRESERVED
    return Use.WRITTEN if tap in tape.writes else Use.UNTOUCHED


class TapRule(Enum):
    """The access of a step to a slot, the access to its gradient that follows, and the reason."""

    READ = "written", "read", ""
    ADDED = "read and kept", "added to", "other steps can read the value, too"
    WRITTEN = "read by one step only", "written", "the slot holds no other contribution"
    NOT_ADDED = (
        "overwritten",
        "replaced",
        "the gradient of the old value replaces the gradient of the new value",
    )
    CLEARED = "written unread", "cleared", "the old value is lost"

    def sentence(self, slot: str, gradient: str) -> str:
        """Return the rule for a slot and its gradient, with the reason."""
        access, after, reason = self.value
        return f"{slot} was {access} → {gradient} is {after}{reason and f': {reason}'}"


@dataclass(frozen=True)
class Conversion:
    """A tap and the rule that converts it to a tap of the gradient; `signs` computes that tap."""

    tap: int
    signs: str
    rule: TapRule

    @property
    def words(self) -> str:
        """The rule in a sentence, without its reason."""
        access, after, _ = self.rule.value
        return f"{access} at {integers(self.tap)} → its gradient, at {self.signs}, is {after}"


def reverse(tape: Tape) -> Tape:
    """Return the tape of the gradient: `Tape.reverse`, and slots that are only cleared.

    If a mit-mot writes a slot that it does not read, the old value is lost. The pullback therefore
    writes zero to the gradient of that slot.
    """
    back = tape.reverse()
    return Tape(back.reads, back.writes + tuple(-tap for tap in cleared(tape)))


def cleared(tape: Tape) -> tuple[int, ...]:
    """Return the taps that a mit-mot writes and does not read."""
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
    return Conversion(tap, signs, TapRule.CLEARED if tap in cleared(tape) else TapRule.READ)


@dataclass(frozen=True)
class Generation:
    """The tape of a variable or of a gradient, with its name.

    `arcs` lead from a read tap to each tap that is computed from it, except from a tap to itself.
    `rules` are the conversions from the taps of `source`, if this is the gradient of `source`.
    """

    name: str
    tape: Tape
    arcs: tuple[tuple[int, int], ...]
    rules: tuple[Conversion, ...] = ()
    source: str = ""

    @staticmethod
    def of(tape: Tape, name: str) -> "Generation":
        """Return the tape of a variable; each write can depend on every read."""
        pairs = ((read, write) for read in tape.reads for write in tape.writes)
        return Generation(name, tape, tuple((r, w) for r, w in pairs if r != w))

    def gradient(self, order: int) -> "Generation":
        """Return the gradient, as a derivative of an `order`."""
        turned = tuple((-write, -read) for read, write in self.arcs)
        rules = conversions(self.tape)
        return Generation(symbol(order, self.name), reverse(self.tape), turned, rules, self.name)

    def content(self, tap: int) -> str:
        """Return the content of a slot: the gradient of a slot, or in a loop the tap itself."""
        return (
            f"gradient of {tap_symbol(self.source, -tap)}"
            if self.source
            else f"tap {integers(tap)}"
        )

    def does(self, tap: int) -> str:
        """Return the access of a step to a tap in a few words."""
        rules = [each.rule for each in self.rules if each.tap == -tap]
        if {TapRule.ADDED, TapRule.CLEARED} & {*rules}:
            return f"read, {rules[0].value[1]}"
        return use_of(self.tape, tap).short


HEIGHT, ARC, LINE, FOLDED, SMALL = 60, 24, 24, 6, 11
PITCH, NARROWEST, BETWEEN = 150, 43, 10  # of columns, which fill the sheet
LOOKS: Mapping[Use, Role] = {
    Use.OVERWRITTEN: Role.OVERWRITTEN,
    Use.PRESERVED: Role.PRESERVED,
    Use.WRITTEN: Role.INTERMEDIATE,
    Use.UNTOUCHED: Role.UNNEEDED,
}
WORDS: Mapping[Use, str] = {
    Use.OVERWRITTEN: "read, then replaced",
    Use.PRESERVED: "read, unchanged",
    Use.WRITTEN: "only written",
    Use.UNTOUCHED: "skipped by this step",
}
KINDS: Mapping[Kind, str] = {
    Kind.SIT_SOT: "one tap read, one written",
    Kind.MIT_SOT: "several taps read, one written",
    Kind.MIT_MOT: "several taps read, one or more written",
    Kind.NIT_SOT: "no tap read, one written",
}
ORDERS = 100

Tapes = Tape | Mapping[str, Tape] | Trace | ScanTrace


@picture_function
def taps(
    tapes: Tapes,
    orders: int = 2,
    name: str = "x",
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the taps of every variable in `tapes`, and of their gradients up to order `orders`.

    `tapes` is a tape with the name `name`, a mapping from names to tapes, a traced Scan, or a trace
    with its forward Scans. Variables with equal taps share a strip.
    """
    expected = f"a whole number, 0 to {ORDERS}"
    if not 0 <= check_integer("orders", orders, expected) <= ORDERS:
        raise ArgumentError(f"orders = {quote(orders)}: expected {expected}.")
    check_sheet(sheet)
    named, scans = _named(tapes, name), _generations(tapes)
    first = tapes.order if isinstance(tapes, ScanTrace) else 0
    return _drawn(named, scans, range(first + 1, first + orders + 1), sheet)


def _generations(tapes: Tapes) -> Sequence[tuple[int, str, list[int]]]:
    """Return a forward Scan of a trace, its first backward Scan, and so on.

    Each entry has the number of the Scan, its name, and the other Scans with the same taps.
    """
    if not isinstance(tapes, Trace) or [scan.parent for scan in tapes.scans].count(None) != 1:
        return ()
    chain, through = [(1, tapes.scans[0].name, list[int]())], [0]
    while backward := [n for n, scan in enumerate(tapes.scans) if scan.parent in through]:
        first, *others = backward
        label = f"gradient through {(tapes.scans[first].parent or 0) + 1}"
        chain.append((first + 1, label, [n + 1 for n in others]))
        through = backward
    return chain


def _drawn(
    named: Mapping[Tape, tuple[str, ...]],
    scans: Sequence[tuple[int, str, list[int]]],
    orders: range,
    sheet: Sheet,
) -> Scene:
    """Draw all tapes, and their gradients of these `orders`."""
    lines = [[*_lineage(tape, names[0], orders)] for tape, names in named.items()]
    parts: list[Piece] = []
    for line, (tape, names) in zip(lines, named.items(), strict=True):
        notes = [] if parts or not orders else [_reversal(tape)]
        if names[1:]:
            notes.append(f"drawn for {names[0]}; equal taps: {listing(names[1:])}")
        if tape.kind is Kind.SEQUENCE and len(tape.reads) == 1:
            notes.append("PyTensor passes each tap as a sequence: a step reads each entry once.")
        title = f"{', '.join(names)} · {tape.kind}"
        head = heading(title if parts else f"{title}: what a step reads and writes", notes, sheet)
        parts.append(above(head, _strip(line, scans, sheet), apart=6))
    everything = ", ".join(chain.from_iterable(named.values()))
    drawn = above(*parts, apart=22)
    return finished(
        over(gap(sheet.line), drawn) if sheet.on_paper else drawn,  # else the page enlarges it
        {LOOKS[use]: WORDS[use] for use in Use},
        sheet=sheet,
        title=f"Taps of {everything}, and of their gradients up to {len(orders)} more orders",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        close=True,
        said=[
            *_rules(lines),
            *_kinds(chain.from_iterable(lines)),
            *filter(None, [" · ".join(_alike(scans[: len(orders) + 1]))]),
        ],
    )


def _reversal(tape: Tape) -> str:
    """Explain the sign of taps, at the first tap whose sign changes."""
    tap = next(filter(None, tape.taps), 0)
    above, below = (tap_symbol("", each)[1:-1] for each in (tap, -tap))
    example = f" ({above} becomes {below})" if tap else ""
    return f"The steps of a gradient run in the opposite direction: taps change sign{example}."


def _lineage(tape: Tape, name: str, orders: range) -> Iterator[Generation]:
    """Yield a tape, its gradient, the gradient of its gradient, and so on."""
    generation = Generation.of(tape, name)
    yield generation
    for order in orders:
        generation = generation.gradient(order)
        yield generation


def _kinds(generations: Iterable[Generation]) -> list[str]:
    """Explain the kinds of the tapes."""
    drawn = {each.tape.kind for each in generations}
    kinds = " · ".join(f"{kind}: {words}" for kind, words in KINDS.items() if kind in drawn)
    return [kinds] if kinds else []


def _alike(scans: Sequence[tuple[int, str, list[int]]]) -> Iterator[str]:
    """Yield the Scans that have the taps of a drawn Scan."""
    for number, _, others in scans:
        if others:
            several, have = ("s", "have") if others[1:] else ("", "has")
            yield f"Scan{several} {listing(map(str, others))} {have} the taps of Scan {number}"


def _rules(lines: Iterable[Sequence[Generation]]) -> list[str]:
    """Return each rule that applies, for the first slot that it applies to."""
    sentences: dict[TapRule, str] = {}
    for line in lines:
        for before, after in pairwise(line):
            for each in after.rules:
                slot, gradient = (
                    tap_symbol(before.name, each.tap),
                    tap_symbol(after.name, -each.tap),
                )
                sentences.setdefault(each.rule, each.rule.sentence(slot, gradient))
    return [sentences[rule] for rule in TapRule if rule in sentences]


def _named(tapes: Tapes, name: str) -> dict[Tape, tuple[str, ...]]:
    """Return the names of the variables with equal tapes."""
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
            pairs += [(tape.name, tape.tape) for tape in scan.held]
            pairs += [(sequence.name, Tape((0,), ())) for sequence in scan.sequences]
    if not pairs or not all(isinstance(tape, Tape) for _, tape in pairs):
        raise ArgumentError(f"tapes = {quote(tapes)}: expected a Tape, Tapes by name, or a Trace.")
    names_of: dict[Tape, tuple[str, ...]] = {}
    for each, tape in pairs:
        names = names_of.get(tape, ())
        names_of[tape] = names if each in names else (*names, str(each))
    return names_of


def _strip(
    generations: Sequence[Generation], scans: Sequence[tuple[int, str, list[int]]], sheet: Sheet
) -> Piece:
    """Draw a tape and its gradients from top to bottom, with lines between their slots."""
    row = with_gaps(_moments(generations[0].tape.taps))
    start = min(126, sheet.labels)
    pitch = max(NARROWEST, min(PITCH, (sheet.line - start) / len(row)))
    slot = pitch - BETWEEN
    left = {m: start + n * pitch for n, m in enumerate(row) if not isinstance(m, Gap)}
    folds = {start + n * pitch: m.hidden for n, m in enumerate(row) if isinstance(m, Gap)}
    heads = [
        Text(x + slot / 2, 12, f"t{integers(m) if m <= 0 else f'+{m}'}" if m else "t", 12, "middle")
        for m, x in left.items()
    ]
    time = Text(start - BETWEEN - 2, 12, "time →", SMALL, "end", muted=True)
    shapes: list[Shape] = [*heads, time]
    y = 20.0
    for order, each in enumerate(generations):
        middles = {(-m if order % 2 else m): x + slot / 2 for m, x in left.items()}
        arcs = _arcs(each, middles, order > 0)
        y += ARC if arcs and not order else 0
        inside: list[Shape] = [moved(arc, 0, y + HEIGHT * (order > 0)) for arc in arcs]
        cells = [_slot(each, order, tap, generations[0].name, slot) for tap in middles]
        inside += [moved(c, x, y) for c, x in zip(cells, left.values(), strict=True)]
        inside += [_fold(hidden, x, y, slot) for x, hidden in folds.items()]
        inside += _label(each, order, scans, start - BETWEEN - 2, y)
        shapes.append(Group(tuple(inside), step=order, moment=each.name))
        bottom, y = y + HEIGHT, y + HEIGHT + (ARC if arcs and order else 0) + LINE
        if each is not generations[-1]:
            ends = [middles[tap] for tap in each.tape.taps]
            shapes += [Polyline(((x, bottom + 3), (x, y - 3)), faint=True) for x in ends]
    return sized(start + len(row) * pitch - BETWEEN, y - LINE, *shapes)


def _label(
    each: Generation,
    order: int,
    scans: Sequence[tuple[int, str, list[int]]],
    room: float,
    y: float,
) -> Iterator[Text]:
    """Yield the Scan of a row, the direction of its steps, and the kind of its tape."""
    label, below = each.name, "its gradient" if order else ""
    if order < len(scans):
        label, below = f"Scan {scans[order][0]}", scans[order][1]
    steps, kind = "← steps" if order % 2 else "steps →", each.tape.kind
    yield fitted(room, y + 18, label, room, SMALL + 1, "end", bold=True)
    lines = (below, f"{steps} · {kind}")
    for n, line in enumerate(filter(None, lines)):
        yield fitted(room, y + 34 + 16 * n, line, room, SMALL, "end", muted=True)


def _fold(hidden: int, x: float, y: float, wide: float) -> Text:
    text = f"⋯ {hidden:,} ⋯"
    return fitted(x + wide / 2, y + 34, text, wide + 8, SMALL, "middle", muted=True)


def _slot(each: Generation, order: int, tap: int, key: str, wide: float) -> Group:
    """Draw a slot, with the access of a step to it."""
    use, access, name = use_of(each.tape, tap), each.does(tap), tap_symbol(each.name, tap)
    role, room = LOOKS[use], wide - 10
    inside: list[Shape] = [Box(0, 0, wide, HEIGHT, role)]
    if use is not Use.UNTOUCHED:
        lines, content = [shortened(name, room, 13, bold=True), access], each.content(tap)
        if text_width("read, added to", SMALL) > room:
            fits = text_width(name, SMALL, bold=True) <= room
            lines = [name, content] if fits and not order else [name if fits else integers(tap)]
        elif text_width(content, SMALL) <= room:
            lines.insert(1, content)
        y = 20 + 9 * (3 - len(lines))
        first = SMALL if text_width(lines[0], 13, bold=True) > room else 13
        for n, words in enumerate(lines):
            size = SMALL if n else first
            inside.append(Text(wide / 2, y + 16 * n, words, size, "middle", bold=not n, role=role))
    title = f"{name}, tap {integers(tap)}: {access or WORDS[use]}"
    return Group(tuple(inside), cell=f"{key}:order {order}:{tap}", title=title)


def _arcs(each: Generation, middles: Mapping[int, float], below: bool) -> list[Group]:
    """Return arcs from reads to writes, above the first row and `below` the others."""
    arcs, sign = list[Group](), 1 if below else -1
    longest = max((abs(write - read) for read, write in each.arcs), default=1)
    for read, write in each.arcs:
        aside = 8 if middles[read] < middles[write] else -8
        start, end = middles[read] + aside, middles[write] - aside
        high = sign * ARC * (0.7 + 0.5 * abs(write - read) / longest)
        curve = ((start, 2.0 * sign), (start, high), (end, high), (end, 3.0 * sign))
        title = f"{tap_symbol(each.name, read)} goes into {tap_symbol(each.name, write)}"
        arcs.append(Group((Arrow(curve, accent=below),), title=title))
    return arcs


def _moments(taps: Sequence[int]) -> list[int]:
    """Return all times from the first to the last tap, without long gaps."""
    shown = set(taps)
    for before, after in pairwise(taps):
        if after - before <= FOLDED:
            shown |= set(range(before, after))
    return sorted(shown)
