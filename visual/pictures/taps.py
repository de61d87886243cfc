"""The taps of a loop variable and of its gradients, derivative after derivative.

A row is a step of a loop, and the next row is a step of the gradient. A column is a time: below a
slot that a step reads or writes is the slot of its gradient. Bows lead from reads to writes. The
text below the picture has the rules (`tap_rules`) that convert an access of the loop to an access
of the gradient.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise

from lab.errors import argument_error, check_integer, listing
from lab.notation import integers, tap_symbol
from lab.tape import Kind, Tape
from lab.traces.trace import ScanTrace, Trace
from visual.layout.arrows import Edge
from visual.layout.placing import table_scene
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.pictures.tap_rules import Generation, TapRule, Use, use_of
from visual.scene.shapes import Group, Scene, picture_function
from visual.scene.theme import Role

FOLDED = 6  # the longest distance of two taps without a fold
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
DerivedScans = Sequence[tuple[int, str]]  # number and name


@picture_function
def taps(tapes: Tapes, orders: int = 2, name: str = "x", sheet: Sheet = SCREEN) -> Scene:
    """Draw the taps of every variable in `tapes`, and of their gradients up to order `orders`.

    `tapes` is a tape with the name `name`, a mapping from names to tapes, a traced Scan, or a trace
    with its forward Scans. Variables with equal taps share a strip.
    """
    expected = f"an integer, 0 to {ORDERS}"
    if not 0 <= check_integer("orders", orders, expected) <= ORDERS:
        raise argument_error("orders", orders, f"expected {expected}.")
    check_sheet(sheet)
    named, scans = _named(tapes, name), _generations(tapes)
    first = tapes.order if isinstance(tapes, ScanTrace) else 0
    later = range(first + 1, first + orders + 1)
    strips = [[*_lineage(tape, names[0], later)] for tape, names in named.items()]
    everything = ", ".join(chain.from_iterable(named.values()))
    return table_scene(
        TapsTable([*named.values()], strips, scans),
        {LOOKS[use]: WORDS[use] for use in Use},
        sheet=sheet,
        title=f"Taps of {everything}, and of their gradients up to {orders} more orders",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        sentences=[*_rules(strips), *_kinds(chain.from_iterable(strips))],
    )


class TapsTable(Table):
    """A strip for each tape, with a row for each of its gradients; a column is a time."""

    parts = (TablePart(narrow=43, wide=150, height=44, full=0.9, apart=24),)

    def __init__(
        self,
        names: Sequence[tuple[str, ...]],
        strips: Sequence[Sequence[Generation]],
        scans: DerivedScans,
    ) -> None:
        self.names, self.strips, self.scans = names, strips, scans

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the times of all slots."""
        return ({(0, time) for strip in self.strips for time in _times(strip[0].tape.taps)},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield a heading for every strip, and its rows."""
        for number, (names, strip) in enumerate(zip(self.names, self.strips, strict=True)):
            tape = strip[0].tape
            notes = [] if number or not strip[1:] else [_reversal(tape)]
            if names[1:]:
                notes.append(f"drawn for {names[0]}; equal taps: {listing(names[1:])}")
            title = f"{', '.join(names)} · {tape.kind}"
            title = title if number else f"{title}: what a step reads and writes"
            yield Row(heading=TableHeading(title, notes))
            for order, each in enumerate(strip):
                yield self._row(number, order, each)

    def _row(self, number: int, order: int, each: Generation) -> Row:
        """Return a step, with bows from the slots that it reads to the slots that it writes."""
        first, sign = self.strips[number][0], -1 if order % 2 else 1
        cells: list[tuple[Key | None, Cell]] = []
        for time in _times(first.tape.taps):
            tap = sign * time
            use, name = use_of(each.tape, tap), tap_symbol(each.name, tap)
            access = each.access(tap)
            cell = Cell(
                LOOKS[use],
                f"{name}, tap {integers(tap)}: {access or WORDS[use]}",
                None,
                key=f"{first.name}:order {order}:{tap}",
                label="" if use is Use.UNTOUCHED else name,
                lines=(access,),
                id=(number, order, time),
            )
            cells.append(((0, time), cell))
        heads = {key: Head(_time_name(key[1]), "") for key, _ in cells if key}
        label, note = each.name, "its gradient" if order else ""
        if order < len(self.scans):
            label, note = f"Scan {self.scans[order][0]}", self.scans[order][1]
        steps = f"{'← steps' if order % 2 else 'steps →'} · {each.tape.kind}"
        line = Line(cells, [*filter(None, [note]), steps], {} if order else heads)
        edges = [
            Edge(
                (number, order, sign * read),
                (number, order, sign * write),
                over=not order,
                title=f"{tap_symbol(each.name, read)} goes into {tap_symbol(each.name, write)}",
            )
            for read, write in each.arcs
        ]
        return Row(label, [line], edges, moment=Group((), order, moment=each.name))


def _time_name(time: int) -> str:
    """Return ``t−3``, ``t``, or ``t+1``."""
    return f"t{integers(time) if time <= 0 else f'+{time}'}" if time else "t"


def _generations(tapes: Tapes) -> DerivedScans:
    """Return a forward Scan of a trace, its first backward Scan, and so on."""
    if not isinstance(tapes, Trace) or [scan.parent for scan in tapes.scans].count(None) != 1:
        return ()
    chain, through = [(1, tapes.scans[0].name)], [0]
    while backward := [n for n, scan in enumerate(tapes.scans) if scan.parent in through]:
        label = f"gradient through {(tapes.scans[backward[0]].parent or 0) + 1}"
        chain.append((backward[0] + 1, label))
        through = backward
    return chain


def _reversal(tape: Tape) -> str:
    """Explain why taps change sign, with the first tap that is not 0 as an example."""
    tap = next(filter(None, tape.taps), 0)
    old, new = (tap_symbol("", each)[1:-1] for each in (tap, -tap))
    example = f" ({old} becomes {new})" if tap else ""
    return (
        "Below a slot is the slot of its gradient, whose steps run in the opposite direction: taps "
        f"change sign{example}."
    )


def _lineage(tape: Tape, name: str, orders: range) -> Iterator[Generation]:
    """Yield a tape, its gradient, the gradient of its gradient, and so on."""
    generation = Generation.of_variable(tape, name)
    yield generation
    for order in orders:
        generation = generation.gradient(order)
        yield generation


def _kinds(generations: Iterable[Generation]) -> list[str]:
    """Explain the kinds of the tapes."""
    occurring = {each.tape.kind for each in generations}
    kinds = " · ".join(f"{kind}: {words}" for kind, words in KINDS.items() if kind in occurring)
    return [kinds] if kinds else []


def _rules(lines: Iterable[Sequence[Generation]]) -> list[str]:
    """Return a sentence for each rule that applies, about the first slot with this rule."""
    sentences: dict[TapRule, str] = {}
    for line in lines:
        for before, after in pairwise(line):
            for each in after.rules:
                names = tap_symbol(before.name, each.tap), tap_symbol(after.name, -each.tap)
                sentences.setdefault(each.rule, each.rule.sentence(*names))
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
        raise argument_error("tapes", tapes, "expected a Tape, Tapes by name, or a Trace.")
    names_of: dict[Tape, tuple[str, ...]] = {}
    for each, tape in pairs:
        names = names_of.get(tape, ())
        names_of[tape] = names if each in names else (*names, str(each))
    return names_of


def _times(taps: Sequence[int]) -> list[int]:
    """Return the times from the first to the last tap, without the times in long gaps."""
    shown = set(taps)
    for before, after in pairwise(taps):
        if after - before <= FOLDED:
            shown |= set(range(before, after))
    return sorted(shown)
