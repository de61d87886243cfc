"""The taps of a loop variable and of its gradients, derivative after derivative.

A row is a step of a loop, and the next row is a step of its gradient. A column is a time: the slot
of a gradient is below the slot of its value. Curved arrows lead from reads to writes. The text
below the picture explains the rules (`tap_rules`) that convert a read or a write of the loop to a
read or a write of the gradient.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from lab.errors import argument_error, check_integer, listing
from lab.notation import integers, shifted, tap_symbol
from lab.tape import ONE_READ, Kind, Tape
from lab.traces.trace import Trace
from visual.layout.arrows import Edge
from visual.layout.placing import table_scene
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Cell, Head, Key, Line, Row, Table, TablePart
from visual.pictures.tap_rules import Generation, TapRule, generations, role_of
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

LONGEST = 6  # the maximum distance between two taps without a gap
WORDS: Mapping[Role, str] = {
    Role.OVERWRITTEN: "read, then replaced",
    Role.PRESERVED: "read, unchanged",
    Role.INTERMEDIATE: "only written",
    Role.UNNEEDED: "skipped by this step",
}
KINDS: Mapping[Kind, str] = {
    Kind.SIT_SOT: "one tap read, one written",
    Kind.MIT_SOT: "several taps read, one written",
    Kind.MIT_MOT: "several taps read, one or more written",
    Kind.NIT_SOT: "no tap read, one written",
}
ORDERS = 100
PARTS = (TablePart(narrow=43, wide=150, height=44, full=0.9, apart=24),)

Tapes = Tape | Mapping[str, Tape] | Trace


@picture_function
def taps(tapes: Tapes, orders: int = 2, name: str = "x", sheet: Sheet = SCREEN) -> Scene:
    """Draw the taps of every variable in `tapes`, and of their gradients up to order `orders`.

    `tapes` is a tape for a variable `name`, a mapping from names to tapes, or a trace with tapes in
    its forward Scans. Variables with equal taps share a strip. Raises ArgumentError for invalid
    `tapes`, and for orders outside 0 to 100.
    """
    check_integer("orders", orders, f"an integer, 0 to {ORDERS}", 0, ORDERS)
    named = _named(tapes, name)
    strips = {names: [*generations(tape, names[0], orders)] for tape, names in named.items()}
    everything = ", ".join(chain.from_iterable(named.values()))
    rules: dict[TapRule, str] = {}  # a sentence about the first slot with this rule
    for before, after in chain.from_iterable(map(pairwise, strips.values())):
        for tap, rule in after.rules.items():
            slots = tap_symbol(before.name, tap), tap_symbol(after.name, -tap)
            rules.setdefault(rule, rule.sentence(*slots))
    occurring = {each.tape.kind for strip in strips.values() for each in strip}
    kinds = (f"{kind}: {words}" for kind, words in KINDS.items() if kind in occurring)
    return table_scene(
        Table([*_rows(strips)], PARTS),
        WORDS,
        sheet=sheet,
        title=f"Taps of {everything}, and of their gradients up to order {orders}",
        description="; ".join(f"{', '.join(names)}: {tape}" for tape, names in named.items()),
        sentences=[*(rules[rule] for rule in TapRule if rule in rules), " · ".join(kinds)],
    )


def _rows(strips: Mapping[tuple[str, ...], Sequence[Generation]]) -> Iterator[Row]:
    """Yield the heading of each strip, then a row for its tape and a row for each gradient.

    The keys of `strips` are the names of the variables with the same tape.
    """
    for number, (names, strip) in enumerate(strips.items()):
        tape = strip[0].tape
        notes = [] if number or not strip[1:] else [_reversal(tape)]
        if names[1:]:
            notes.append(f"drawn for {names[0]}; equal taps: {listing(names[1:])}")
        title = f"{', '.join(names)} · {tape.kind}"
        title = title if number else f"{title}: what a step reads and writes"
        yield Row(title=title, about=notes)
        for order, each in enumerate(strip):
            yield _row(number, order, each, strip[0])


def _row(number: int, order: int, each: Generation, first: Generation) -> Row:
    """Return the slots of a step, with curved arrows from reads to writes."""
    sign = (-1) ** order
    cells, heads = list[Cell](), dict[Key, Head]()
    times = {*first.tape.taps}  # the taps, and the times between taps at most `LONGEST` apart
    for before, after in pairwise(first.tape.taps):
        times |= {*range(before, after)} if after - before <= LONGEST else set()
    for time in sorted(times):
        tap, id = sign * time, (number, order, time)
        role, access = role_of(each.tape, tap), each.access(tap)
        name = tap_symbol(each.name, tap)
        title = f"{name}, tap {integers(tap)}: {access or WORDS[role]}"
        key = f"{first.name}:order {order}:{tap}"
        label = "" if role is Role.UNNEEDED else name
        cell = Cell(role, title, None, column=(0, time), key=key, label=label, id=id)
        cells.append(replace(cell, lines=(access,)))
        if not order:
            offset = integers(time) if time < 0 else f"+{time}" * (time > 0)
            heads[0, time] = f"t{offset}", ""
    steps = f"{'← steps' if order % 2 else 'steps →'} · {each.tape.kind}"
    line = Line(cells, [*["its gradient"] * bool(order), steps], heads)
    edges = list[Edge]()
    for arc in each.arcs:
        source, target = ((number, order, sign * tap) for tap in arc)
        title = " goes into ".join(tap_symbol(each.name, tap) for tap in arc)
        edges.append(Edge(source, target, over=not order, title=title))
    return Row(each.name, [line], edges, moment=(order, each.name))


def _reversal(tape: Tape) -> str:
    """Return a sentence about the change of signs, with the first nonzero tap as an example."""
    tap = next(filter(None, tape.taps), 0)
    old, new = (shifted("t", each) for each in (tap, -tap))
    example = f" ({old} becomes {new})" if tap else ""
    return (
        "Below a slot is the slot of its gradient, whose steps run in the opposite direction: taps "
        f"change sign{example}."
    )


def _named(tapes: Tapes, name: str) -> dict[Tape, tuple[str, ...]]:
    """Return each different tape with the names of its variables."""
    pairs: list[tuple[str, Tape]] = []
    if isinstance(tapes, Tape):
        pairs = [(name, tapes)]
    elif isinstance(tapes, Mapping):
        pairs = list(tapes.items())
    elif isinstance(tapes, Trace):
        for scan in (scan for scan in tapes.scans if scan.parent is None):
            pairs += [(tape.name, tape.tape) for tape in scan.buffers]
            pairs += [(sequence.name, ONE_READ) for sequence in scan.sequences]
    if not pairs or not all(isinstance(tape, Tape) for _, tape in pairs):
        raise argument_error("tapes", tapes, "expected a Tape, Tapes by name, or a Trace.")
    return {tape: tuple(dict.fromkeys(str(n) for n, t in pairs if t == tape)) for _, tape in pairs}
