"""The genealogy: the Scans of a derivative, which differentiates which, and what flows.

A row is a Scan, and how far it stands to the right is its order: the loop first, then the Scan that
the first derivative adds, then those of the second.  Arrows at the left go from what is
differentiated to the Scan that does it.  Where all is told, arrows at the right go from a Scan to
those whose external gradients it computes.

Above stands in sentences why there are so many Scans: every Scan that the derivative before is
computed by is differentiated once, if that derivative's value went through it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from lab.equations.spelling import result_words
from lab.errors import listing
from lab.notation import Leaf, primes, render
from lab.records import find_reachable
from lab.tape import Kind
from lab.traces.trace import Feed, ScanTrace, Source, TapeTrace, Trace
from visual.layout.canvas import finished, heading, kind_text
from visual.layout.cells import values_text
from visual.layout.graphviz import Edge, Node, dot_source
from visual.layout.gutters import tracks
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_trace, switch
from visual.scene.combinators import Piece, above, cropped, gap, named, over, shifted, sized, words
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    picture_function,
    text_width,
)
from visual.scene.theme import Role

TITLE, LINE, SPACE = 13, 11, 16
NARROWEST, MOST_LINES, VALUE = 180, 2, 210  # of a row; of one matter in it; a value at its right
MOST_NUMBERS = 4  # of an output
TRACK, FIRST = 14.0, 13.0  # pixels between two tracks, and from a row to the first one
FEW = 12  # Scans that are all shown; of more, those of the first orders and the last one of each
WORDS = {
    Role.INPUT: "forward loop",
    Role.INTERMEDIATE: "gradient, computed by an added Scan",
    Role.RESULT: "requested result",
}
Span = tuple[float, float]


@picture_function
def genealogy(trace: Trace, all: bool = False, sheet: Sheet = SCREEN) -> Scene:
    """The Scans of a trace, and which of them differentiates which.

    Of more than twelve those of the higher orders are folded, but for the last of each order; with
    `all` none is, and arrows and words tell what flows between them, through which tapes.
    """
    check_trace(trace)
    check_sheet(sheet)
    shown = _shown(trace, switch("all", all), FEW)
    order, count = max(scan.order for scan in trace.scans), len(trace.scans)
    descents, flows = [*_descents(trace)], [*_flows(trace)]
    head = heading(f"{counted(count, 'Scan')}: where they come from", explanation(trace), sheet)
    drawn = flows if all else []
    tree = cropped(_tree(trace, shown, descents, drawn, all, sheet), sheet.margin)
    more = "all=True shows what flows between them"
    hint = sheet.hint(more) if len(trace.scans) > 1 and not all else ""
    edges = [Edge(_key(a), _key(b), label) for a, b, label in (*descents, *flows)]
    values = [(f"value {n}", *value) for n, value in enumerate(_values(trace))]
    labels = ["\n".join((_title(trace, s.number), *_lines(s))) for s in NamedScan.each(trace)]
    ranks = [str(scan.order) for scan in trace.scans]
    nodes = [Node(_key(n), 200, 60, labels[n], ranks[n]) for n in range(count)]
    nodes += [Node(key, 90, 40, f"{name}\n{told}") for key, name, told, _ in values]
    edges += [Edge(_key(scan), key) for key, _, _, scans in values for scan in scans]
    return finished(
        over(gap(sheet.line), above(head, tree)),
        WORDS,
        sheet=sheet,
        title=f"Genealogy of the Scans of a derivative of order {order}",
        description=" ".join(explanation(trace)) or "One loop, no derivative.",
        said=[*(f"{told}{hint}" for told in _arrows(descents, drawn)), *result_words(trace)],
        close=True,
        dot=dot_source(nodes, edges),
    )


def _shown(trace: Trace, all: bool, few: int) -> list[int]:
    """The Scans that have a row, by their orders."""
    scans = trace.scans
    numbers = sorted(range(len(scans)), key=lambda n: (scans[n].order, n))
    if all or len(scans) <= few:
        return numbers
    groups = [[*group] for _, group in groupby(numbers, lambda n: scans[n].order)]
    found: list[int] = []
    for left, group in zip(range(len(groups) - 1, -1, -1), groups, strict=True):
        found += group if len(found) + len(group) + left <= few - few // 4 else group[-1:]
    return found


def _tree(
    trace: Trace,
    shown: Sequence[int],
    descents: Sequence[tuple[int, int, str]],
    flows: Sequence[tuple[int, int, str]],
    all: bool,
    sheet: Sheet,
) -> Piece:
    """A row for every Scan that is shown, and arrows on both sides."""
    scans, rows = trace.scans, dict.fromkeys(shown)
    down = [(a, b) for a, b, _ in descents if a in rows and b in rows]
    across = [(a, b) for a, b, _ in flows if a in rows and b in rows]
    place = {number: float(n) for n, number in enumerate(shown)}
    outside = _tracks(across, place)
    inside: dict[int, int] = {}  # at the left of every order
    for order in {scans[a].order for a, _ in down}:
        inside |= _tracks([(a, b) for a, b in down if scans[a].order == order], place)
    lefts, left = dict[int, float](), sheet.margin
    for order in sorted({scans[n].order for n in shown}):
        taken = [inside[n] + 1 for n in inside if scans[n].order == order]
        left += FIRST + TRACK * max(taken, default=1)
        lefts[order] = left
    gutter = FIRST + TRACK * (max(outside.values(), default=-1) + 1)
    right = max(sheet.width - sheet.margin - gutter, left + NARROWEST)
    parts = []
    for n, number in enumerate(shown):
        order = scans[number].order
        part = _row(trace, number, right - lefts[order], all)
        parts.append(shifted(named(part, _key(number)), lefts[order], 0))
        last = n + 1 == len(shown) or scans[shown[n + 1]].order > order
        hidden = sum(scan.order == order for scan in scans) - sum(
            scans[m].order == order for m in shown
        )
        if last and hidden:
            told = f"⋯ {counted(hidden, 'more Scan')} of order {order}"
            told += sheet.hint("all=True shows them")
            parts.append(shifted(words(told, 12, muted=True), lefts[order], 0))
    tree = above(*(over(gap(right), part) for part in parts), apart=8 if sheet.on_paper else 12)
    ends = tree.anchors
    arrows: list[Shape] = []
    for a, b in down:
        start, end = ends[_key(a)], ends[_key(b)]
        x = start.left - FIRST - TRACK * inside[a]
        arrows.append(_arrow(start.left, start.bottom - 10, x, end.top + 15, end.left - 1, True))
    for b in dict.fromkeys(b for _, b in across):
        sources = [a for a, target in across if target == b]
        for n, a in enumerate(sorted(sources, key=outside.__getitem__), start=1):
            start, end = ends[_key(a)], ends[_key(b)]
            y = end.top + (end.height - 16) * n / (len(sources) + 1)
            x = right + FIRST + TRACK * outside[a]
            arrows.append(_arrow(right, start.bottom - 8, x, y, right + 1, False))
    return over(tree, sized(right + gutter, 0, *arrows))


def _tracks(pairs: Sequence[tuple[int, int]], place: Mapping[int, float]) -> dict[int, int]:
    """A track for everything that an arrow leaves, from its row to the last that it goes to."""
    spans: dict[int, Span] = {}
    for a, b in pairs:
        low, high = spans.get(a, (place[a], place[a]))
        spans[a] = min(low, place[b]), max(high, place[b])
    return tracks(spans)


def _arrow(x0: float, y0: float, x: float, y1: float, x1: float, accent: bool) -> Arrow:
    return Arrow(((x0, y0), (x, y0), (x, y1), (x1, y1)), accent=accent, straight=True)


def _row(trace: Trace, number: int, wide: float, whole: bool) -> Piece:
    """A Scan: what it is, what was asked for of it, and on the `whole` what it reads and makes."""
    scan = trace.scans[number]
    role = Role.INPUT if scan.parent is None else Role.INTERMEDIATE
    values = [_value(value, wide / 2) for value in _values(trace) if value[2][-1] == number]
    beside = above(*values, apart=4)
    room = wide - 20 - (beside.envelope.width + 14 if values else 0)
    title = folded(_title(trace, number), room, TITLE, bold=True)[:MOST_LINES]
    shapes: list[Shape] = [
        Text(10, 19 + SPACE * n, line, TITLE, bold=True, role=role) for n, line in enumerate(title)
    ]
    y = 19.0 + SPACE * (len(title) - 1)
    named = NamedScan(trace, number)
    for matter in filter(None, _lines(named) if whole else [_short(named)]):
        lines = folded(matter, room, LINE)
        cut = len(lines) > MOST_LINES
        for n, line in enumerate(lines[:MOST_LINES], start=1):
            y += SPACE
            told = f"{line} …" if cut and n == MOST_LINES else line
            shapes.append(Text(10, y, told, LINE, role=role, title=matter if cut else ""))
    high = max(y + 9, beside.envelope.height + 12)
    box = Box(0, 0, wide, high, role)
    sheet = Group((box, *shapes), cell=_key(number), title=named.whereabouts)
    where = wide - beside.envelope.width - 8, (high - beside.envelope.height) / 2
    return over(sized(wide, high, sheet), shifted(beside, *where))


def _value(value: tuple[str, str, tuple[int, ...]], most: float) -> Piece:
    """What was asked for: its name, and the number; in a row that has so much room for it."""
    name, told, scans = value
    if len(scans) > 1:
        name += f", from {listing(n + 1 for n in scans)}"
    wide = min(VALUE, most, max(text_width(name, 12, bold=True), text_width(told, 12)) + 18)
    lines = [
        fitted(9, 16, name, wide - 16, 12, bold=True, role=Role.RESULT),
        fitted(9, 33, told, wide - 16, 12, role=Role.RESULT),
    ]
    return sized(
        wide, 42, Group((Box(0, 0, wide, 42, Role.RESULT), *lines), title=f"{name} = {told}")
    )


def _values(trace: Trace) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """What was asked for: its name, its value, and the Scans that it is taken from."""
    for number, (name, value) in enumerate(zip(trace.names, trace.outputs, strict=True)):
        scans = {feed.scan for feed in trace.feeds if feed.into == number}
        if name and scans:
            yield name, values_text(value), tuple(sorted(scans))


def _title(trace: Trace, number: int) -> str:
    return f"{number + 1} · {NamedScan(trace, number).called}"


def _short(named: NamedScan) -> str:
    """The order and the steps of a Scan, and from which others something comes in."""
    scan = named.scan
    told = [counted(scan.steps, "step")]
    if scan.parent is not None:
        told = [f"order {scan.order}", *told, f"differentiates {scan.parent + 1}"]
    for gradients, does in ((True, "adds gradients from"), (False, "reads values of")):
        feeds = {feed.scan for feed in scan.feeds if _is_gradient(scan, feed) is gradients}
        others = sorted(feeds - {scan.parent})
        if others:
            told.append(f"{does} {_numbers(others)}")
    return " · ".join(told)


def _lines(named: NamedScan) -> Iterator[str]:
    """What stands in the row of a Scan: a line for each matter.

    Tapes of several Scans may have one name, as a part of a gradient has that of the whole: all
    are called by what they hold.
    """
    scan = named.scan
    steps = counted(scan.steps, "step")
    if scan.parent is not None:
        steps = f"order {scan.order} · {steps} · differentiates {scan.parent + 1}, "
        steps += f"goes on through {listing(deduplicated(_through(named)))}"
    yield steps
    told = [
        f"{named.row_name(tape)}: {kind_text(tape)}" for tape in scan.tapes if not tape.is_total
    ]
    totals = [tape for tape in scan.tapes if tape.is_total]
    for word, names in (
        ("sums up", [named.row_name(t) for t in totals if t.used]),
        ("puts out", [_put_out(named, t) for t in scan.outputs if t.used]),
        ("unused", [named.row_name(t) for t in (*totals, *scan.outputs) if not t.used]),
        ("untraced", list(scan.untraced)),
    ):
        if names:
            told.append(f"{word} {listing(deduplicated(names))}")
    yield "; ".join(told)
    read = _fed(named, gradients=False)
    told = [f"reads {'; '.join(read)}"] if read else []
    if scan.parent is not None:
        given = _fed(named, gradients=True)
        told.append(f"external gradients: {'; '.join(given) or 'from the cost alone'}")
    yield " · ".join(told)


def _fed(named: NamedScan, gradients: bool) -> list[str]:
    """What comes from other Scans, external gradients or other values: ``x of 1``."""
    sources: dict[str, dict[int, None]] = {}
    for feed in named.scan.feeds:
        if _is_gradient(named.scan, feed) is gradients:
            name = _variable_name(named.trace, feed)
            sources.setdefault(name, {})[feed.scan + 1] = None
    return [f"{name} of {listing(numbers)}" for name, numbers in sources.items()]


def _is_gradient(scan: ScanTrace, feed: Feed) -> bool:
    """Whether what comes in is a gradient from outside, not a value."""
    for tape in scan.tapes:
        if tape.argument == feed.into:
            return tape.gradient_of is not None
    return any(s.argument == feed.into and s.is_outer_gradient for s in scan.sequences)


def _descents(trace: Trace) -> Iterator[tuple[int, int, str]]:
    """From every Scan to those that differentiate it."""
    for number, scan in enumerate(trace.scans):
        if scan.parent is not None:
            yield (
                scan.parent,
                number,
                f"through {listing(deduplicated(_through(NamedScan(trace, number))))}",
            )


def _flows(trace: Trace) -> Iterator[tuple[int, int, str]]:
    """From every Scan to those whose external gradients, or arguments, it computes."""
    for number, scan in enumerate(trace.scans):
        names: dict[int, list[str]] = {}
        for feed in scan.feeds:
            if scan.parent is None or _is_gradient(scan, feed):
                name = _variable_name(trace, feed)
                names.setdefault(feed.scan, []).append(name)
        what = "values" if scan.parent is None else "external gradients"
        for source, listed in names.items():
            yield source, number, f"{what}: {listing(dict.fromkeys(listed))}"


def _arrows(*drawn: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    """What the arrows mean that are drawn, at the left and at the right."""
    descents, flows = drawn
    if descents:
        yield "an arrow at the left leads to the Scan that differentiates this one"
    if flows:
        what = dict.fromkeys(label.partition(":")[0] for *_, label in flows)
        yield f"an arrow at the right leads to a Scan that gets {listing(what)} from it"


def _put_out(named: NamedScan, tape: TapeTrace) -> str:
    """An output, with its values in the order of time if they are few: ``dC/du = [1, 2]``."""
    if tape.axis is None or tape.final.ndim > 1 or len(tape.final) > MOST_NUMBERS:
        return named.row_name(tape)
    return f"{named.row_name(tape)} = {values_text(tape.final[np.argsort(tape.axis.index)])}"


def through(scan: ScanTrace) -> tuple[str, ...]:
    """The inputs of its parent whose gradients by this Scan go on to the result."""
    tapes = scan.held
    return tuple(t.gradient_of for t in tapes if t.used and t.gradient_of is not None)


def _through(named: NamedScan) -> list[str]:
    """The same, by what they hold."""
    above = named.parent
    return [above.quantity_name(one, None) for one in through(named.scan)] if above else []


def _variable_name(trace: Trace, feed: Feed) -> str:
    maker = NamedScan(trace, feed.scan)
    made = (v for v in maker.scan.held if v.argument == feed.variable)
    return next(map(maker.row_name, made), str(Kind.UNTRACED))


def _key(number: int) -> str:
    return f"scan {number}"


def computed_by(trace: Trace, output: int) -> frozenset[int]:
    """The Scans of which some number goes into an output of the trace."""

    def before(place: tuple[int, int]) -> list[tuple[int, int]]:
        scan = trace.scans[place[0]]
        needed = _arguments(scan, place[1])
        return [(feed.scan, feed.variable) for feed in scan.feeds if feed.into in needed]

    last = ((feed.scan, feed.variable) for feed in trace.feeds if feed.into == output)
    return frozenset(number for number, _ in find_reachable(last, before))


def _arguments(scan: ScanTrace, variable: int) -> set[int]:
    """The arguments of a Scan that its filled `variable` depends on, by way of all steps."""

    def before(source: Source) -> Iterable[Source]:
        if isinstance(source, int):
            return scan.inside[source].inputs
        own = source.argument if isinstance(source, Leaf) else None
        return [r.source for r in scan.results if r.target and r.target.argument == own]

    start: list[Source] = [Leaf("", None, variable)]
    found = find_reachable(start, before)
    return {source.argument for source in found if isinstance(source, Leaf)}


def explanation(trace: Trace) -> list[str]:
    """A sentence for every order: how many Scans it adds, and why; and how many differ."""
    orders = max([scan.order for scan in trace.scans] + [_last_order(trace)])
    sentences = [_sentence(trace, order) for order in range(1, orders + 1)]
    return [*sentences, _counts(trace, orders)] if orders else []


def _counts(trace: Trace, orders: int) -> str:
    """The numbers of Scans and of distinct step functions of each order."""
    steps = [
        [_step_function(scan) for scan in trace.scans if scan.order == order]
        for order in range(orders + 1)
    ]
    scans, distinct = (", ".join(str(len(kind(s))) for s in steps) for kind in (list, set))
    return f"Scans of order 0 to {orders}: {scans}. Distinct step functions: {distinct}."


def _step_function(scan: ScanTrace) -> tuple[object, ...]:
    """The taps and formulas of a Scan without the names of its variables."""
    tapes = [(tape.argument, tape.kind, tape.tape) for tape in scan.held]
    formulas = [
        (f.target.argument, f.target.tap, render(f.expression, lambda v: f"{v.argument}[{v.tap}]"))
        for f in scan.formulas
    ]
    return (*tapes, *formulas)


def _last_order(trace: Trace) -> int:
    """The order of the last output, if the outputs are a cost and its derivatives."""
    names = [name.split(" = ")[0] for name in trace.names]
    wanted = [f"C{primes(order)}" for order in range(len(names))]
    return len(names) - 1 if names == wanted and names else 0


def _sentence(trace: Trace, order: int) -> str:
    before = [i for i, scan in enumerate(trace.scans) if scan.order < order]
    new: dict[int, list[int]] = {}  # by the number of the parent
    for number, scan in enumerate(trace.scans):
        if scan.order == order and scan.parent is not None:
            new.setdefault(scan.parent, []).append(number)
    value, last = f"C{primes(order)}", f"C{primes(order - 1)}"
    if not new:
        return _nothing_new(trace, order, before)
    count = sum(map(len, new.values()))
    total = f"{len(before)} + {count} = {len(before) + count}"
    pairs = listing(
        f"{listing(n + 1 for n in numbers)} from {parent + 1}"
        for parent, numbers in sorted(new.items())
    )
    if len(before) == 1:
        return f"{last} is computed by one Scan. {value} differentiates it ({pairs}): {total}."
    if set(new) == set(before):
        return (
            f"{last} is computed by {len(before)} Scans ({_numbers(before)}). {value} "
            f"differentiates each of them ({pairs}): {total}."
        )
    rest = [n for n in before if n not in new]
    return (
        f"Of the {len(before)} Scans so far ({_numbers(before)}), {value} differentiates "
        f"{_numbers(new)} ({pairs}), but not {_numbers(rest)}, through which no gradient of "
        f"{last} goes back: {total}."
    )


def _nothing_new(trace: Trace, order: int, before: list[int]) -> str:
    value, last = f"C{primes(order)}", f"C{primes(order - 1)}"
    known = _last_order(trace) >= order
    zero = known and not np.any(trace.outputs[order])
    start = f"{value} needs no new Scan"
    if zero:
        start = f"{value} = {values_text(trace.outputs[order])} without a new Scan"
    if not known:
        return f"{start}."
    used = computed_by(trace, order - 1)
    loops = [n for n in before if trace.scans[n].order == 0]
    if used.isdisjoint(loops):
        how = f"{last} is computed by {_scans(used)}" if used else f"{last} is computed by no Scan"
        return (
            f"{start}: {how}, and no value of {_scans(loops)} goes into it, since the step is "
            f"linear: its derivative does not hold the state. {len(before)} + 0 = {len(before)}."
        )
    return f"{start}: no gradient of {last} goes back through {_scans(used)}."


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(n + 1) for n in sorted(numbers))


def _scans(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return f"{'Scan' if len(listed) == 1 else 'Scans'} {_numbers(listed)}"


def deduplicated(names: Iterable[str]) -> Iterator[str]:
    """``x`` once, or with how often it stands there: ``x (2 taps)``."""
    listed = list(names)
    for name in dict.fromkeys(listed):
        count = listed.count(name)
        yield f"{name} ({count} times)" if count > 1 else name
