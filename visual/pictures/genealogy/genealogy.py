"""The genealogy: the Scans of a derivative, their parents, and the values that flow between them.

Each row is a Scan, indented by its order: first the loop, then the Scans that each derivative adds.
An arrow at the left leads from a Scan to the Scan that differentiates it. With `all`, an arrow at
the right leads from a Scan to those whose external gradients it computes.

The sentences above explain the number of Scans: a derivative differentiates each Scan on which the
value of the previous derivative depends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from lab.equations.spelling import result_words
from lab.errors import listing
from lab.tape import Kind
from lab.traces.trace import Feed, ScanTrace, TapeTrace, Trace
from visual.layout.canvas import finished, heading, kind_text
from visual.layout.cells import values_text
from visual.layout.graphviz import GraphEdge, GraphNode, dot_source
from visual.layout.gutters import tracks
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_trace, switch
from visual.pictures.genealogy.explanation import explanation, scan_numbers
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
NARROWEST, MOST_LINES, VALUE = 180, 2, 210  # widths of a row and a value; lines of a subject
ELLIPSIS = 14  # the width of an ellipsis at the end of a line
MOST_NUMBERS = 4  # an output with more shows its name only
TRACK, FIRST = 14.0, 13.0  # pixels between two tracks, and from a row to the first track
FEW = 12  # more Scans are folded: the first orders, and the last Scan of each order, are shown
WORDS = {
    Role.INPUT: "forward loop",
    Role.INTERMEDIATE: "gradient, computed by an added Scan",
    Role.RESULT: "requested result",
}
Span = tuple[float, float]


@picture_function
def genealogy(trace: Trace, all: bool = False, sheet: Sheet = SCREEN) -> Scene:
    """Draw the Scans of a trace, with arrows from each Scan to those that differentiate it.

    Of more than twelve Scans, higher orders show only their last one. With `all`, all Scans appear,
    with the values that flow between them and the tapes through which they flow.
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
    edges = [GraphEdge(_key(a), _key(b), label) for a, b, label in (*descents, *flows)]
    values = [(f"value {n}", *value) for n, value in enumerate(_values(trace))]
    labels = ["\n".join((_title(trace, s.number), *_lines(s))) for s in NamedScan.each(trace)]
    ranks = [str(scan.order) for scan in trace.scans]
    nodes = [GraphNode(_key(n), 200, 60, labels[n], ranks[n]) for n in range(count)]
    nodes += [GraphNode(key, 90, 40, f"{name}\n{value}") for key, name, value, _ in values]
    edges += [GraphEdge(_key(scan), key) for key, _, _, scans in values for scan in scans]
    return finished(
        over(gap(sheet.line), above(head, tree)),
        WORDS,
        sheet=sheet,
        title=f"Genealogy of the Scans of a derivative of order {order}",
        description=" ".join(explanation(trace)) or "One loop, no derivative.",
        said=[*(f"{note}{hint}" for note in _arrows(descents, drawn)), *result_words(trace)],
        close=True,
        dot=dot_source(nodes, edges),
    )


def _shown(trace: Trace, all: bool, few: int) -> list[int]:
    """Return the Scans that have a row, sorted by order."""
    scans = trace.scans
    numbers = sorted(range(len(scans)), key=lambda n: (scans[n].order, n))
    if all or len(scans) <= few:
        return numbers
    groups = [[*group] for _, group in groupby(numbers, lambda n: scans[n].order)]
    shown: list[int] = []
    for left, group in zip(range(len(groups) - 1, -1, -1), groups, strict=True):
        shown += group if len(shown) + len(group) + left <= few - few // 4 else group[-1:]
    return shown


def _tree(
    trace: Trace,
    shown: Sequence[int],
    descents: Sequence[tuple[int, int, str]],
    flows: Sequence[tuple[int, int, str]],
    all: bool,
    sheet: Sheet,
) -> Piece:
    """Return a row for every shown Scan, and the arrows on both sides."""
    scans, rows = trace.scans, dict.fromkeys(shown)
    down = [(a, b) for a, b, _ in descents if a in rows and b in rows]
    across = [(a, b) for a, b, _ in flows if a in rows and b in rows]
    place = {number: float(n) for n, number in enumerate(shown)}
    outside = _tracks(across, place)
    inside: dict[int, int] = {}  # the tracks at the left of every order
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
            rest = f"⋯ {counted(hidden, 'more Scan')} of order {order}"
            rest += sheet.hint("all=True shows them")
            parts.append(shifted(words(rest, 12, muted=True), lefts[order], 0))
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
    """Return a track for each row that arrows leave; all arrows from a row share its track."""
    spans: dict[int, Span] = {}
    for a, b in pairs:
        low, high = spans.get(a, (place[a], place[a]))
        spans[a] = min(low, place[b]), max(high, place[b])
    return tracks(spans)


def _arrow(x0: float, y0: float, x: float, y1: float, x1: float, accent: bool) -> Arrow:
    return Arrow(((x0, y0), (x, y0), (x, y1), (x1, y1)), accent=accent, straight=True)


def _row(trace: Trace, number: int, wide: float, whole: bool) -> Piece:
    """Return the row of a Scan with its results; the `whole` row lists its inputs and outputs."""
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
    for subject in filter(None, _lines(named) if whole else [_short(named)]):
        lines = folded(subject, room - ELLIPSIS, LINE)
        cut = len(lines) > MOST_LINES
        for n, line in enumerate(lines[:MOST_LINES], start=1):
            y += SPACE
            shown = f"{line} …" if cut and n == MOST_LINES else line
            shapes.append(Text(10, y, shown, LINE, role=role, title=subject if cut else ""))
    high = max(y + 9, beside.envelope.height + 12)
    box = Box(0, 0, wide, high, role)
    sheet = Group((box, *shapes), cell=_key(number), title=named.whereabouts)
    where = wide - beside.envelope.width - 8, (high - beside.envelope.height) / 2
    return over(sized(wide, high, sheet), shifted(beside, *where))


def _value(value: tuple[str, str, tuple[int, ...]], most: float) -> Piece:
    """Return a result of the trace with its name, at most `most` pixels wide."""
    name, content, scans = value
    if len(scans) > 1:
        name += f", from {listing(n + 1 for n in scans)}"
    wide = min(VALUE, most, max(text_width(name, 12, bold=True), text_width(content, 12)) + 18)
    lines = [
        fitted(9, 16, name, wide - 16, 12, bold=True, role=Role.RESULT),
        fitted(9, 33, content, wide - 16, 12, role=Role.RESULT),
    ]
    return sized(
        wide, 42, Group((Box(0, 0, wide, 42, Role.RESULT), *lines), title=f"{name} = {content}")
    )


def _values(trace: Trace) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield name, value, and Scans of each result of the trace."""
    for number, (name, value) in enumerate(zip(trace.names, trace.outputs, strict=True)):
        scans = {feed.scan for feed in trace.feeds if feed.into == number}
        if name and scans:
            yield name, values_text(value), tuple(sorted(scans))


def _title(trace: Trace, number: int) -> str:
    return f"{number + 1} · {NamedScan(trace, number).called}"


def _short(named: NamedScan) -> str:
    """Return the order and the steps of a Scan, and the Scans from which it gets values."""
    scan = named.scan
    parts = [counted(scan.steps, "step")]
    if scan.parent is not None:
        parts = [f"order {scan.order}", *parts, f"differentiates {scan.parent + 1}"]
    for gradients, action in ((True, "adds gradients from"), (False, "reads values of")):
        feeds = {feed.scan for feed in scan.feeds if _is_gradient(scan, feed) is gradients}
        others = sorted(feeds - {scan.parent})
        if others:
            parts.append(f"{action} {scan_numbers(others)}")
    return " · ".join(parts)


def _lines(named: NamedScan) -> Iterator[str]:
    """Yield the lines in the row of a Scan: steps, tapes, and inputs.

    Tapes have the names of their quantities, since tapes of different Scans can have the same name.
    """
    scan = named.scan
    steps = counted(scan.steps, "step")
    if scan.parent is not None:
        steps = f"order {scan.order} · {steps} · differentiates {scan.parent + 1}, "
        steps += f"continues through {listing(deduplicated(_through(named)))}"
    yield steps
    parts = [
        f"{named.row_name(tape)}: {kind_text(tape)}" for tape in scan.tapes if not tape.is_total
    ]
    totals = [tape for tape in scan.tapes if tape.is_total]
    for word, names in (
        ("sums", [named.row_name(t) for t in totals if t.used]),
        ("returns", [_output(named, t) for t in scan.outputs if t.used]),
        ("unused", [named.row_name(t) for t in (*totals, *scan.outputs) if not t.used]),
        ("untraced", list(scan.untraced)),
    ):
        if names:
            parts.append(f"{word} {listing(deduplicated(names))}")
    yield "; ".join(parts)
    read = _inputs(named, gradients=False)
    parts = [f"reads {'; '.join(read)}"] if read else []
    if scan.parent is not None:
        given = _inputs(named, gradients=True)
        parts.append(f"external gradients: {'; '.join(given) or 'from the cost alone'}")
    yield " · ".join(parts)


def _inputs(named: NamedScan, gradients: bool) -> list[str]:
    """Return the inputs from other Scans, external gradients or values, as ``x of 1``."""
    sources: dict[str, dict[int, None]] = {}
    for feed in named.scan.feeds:
        if _is_gradient(named.scan, feed) is gradients:
            name = _variable_name(named.trace, feed)
            sources.setdefault(name, {})[feed.scan + 1] = None
    return [f"{name} of {listing(numbers)}" for name, numbers in sources.items()]


def _is_gradient(scan: ScanTrace, feed: Feed) -> bool:
    """Return whether an input of a Scan is an external gradient."""
    for tape in scan.tapes:
        if tape.argument == feed.into:
            return tape.gradient_of is not None
    return any(s.argument == feed.into and s.is_outer_gradient for s in scan.sequences)


def _descents(trace: Trace) -> Iterator[tuple[int, int, str]]:
    """Yield each Scan, the Scan that differentiates it, and the inputs in between."""
    for number, scan in enumerate(trace.scans):
        if scan.parent is not None:
            yield (
                scan.parent,
                number,
                f"through {listing(deduplicated(_through(NamedScan(trace, number))))}",
            )


def _flows(trace: Trace) -> Iterator[tuple[int, int, str]]:
    """Yield each Scan, a Scan that gets gradients or values from it, and their names."""
    for number, scan in enumerate(trace.scans):
        names: dict[int, list[str]] = {}
        for feed in scan.feeds:
            if scan.parent is None or _is_gradient(scan, feed):
                name = _variable_name(trace, feed)
                names.setdefault(feed.scan, []).append(name)
        kind = "values" if scan.parent is None else "external gradients"
        for source, listed in names.items():
            yield source, number, f"{kind}: {listing(dict.fromkeys(listed))}"


def _arrows(*drawn: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    """Yield the meanings of the drawn arrows, at the left and at the right."""
    descents, flows = drawn
    if descents:
        yield "an arrow at the left leads to the Scan that differentiates this one"
    if flows:
        kinds = dict.fromkeys(label.partition(":")[0] for *_, label in flows)
        yield f"an arrow at the right leads to a Scan that gets {listing(kinds)} from it"


def _output(named: NamedScan, tape: TapeTrace) -> str:
    """Return an output, with its values in time order if they are few: ``dC/du = [1, 2]``."""
    if tape.axis is None or tape.final.ndim > 1 or len(tape.final) > MOST_NUMBERS:
        return named.row_name(tape)
    return f"{named.row_name(tape)} = {values_text(tape.final[np.argsort(tape.axis.index)])}"


def through(scan: ScanTrace) -> tuple[str, ...]:
    """Return the inputs of its parent whose gradients contribute to the result."""
    tapes = scan.held
    return tuple(t.gradient_of for t in tapes if t.used and t.gradient_of is not None)


def _through(named: NamedScan) -> list[str]:
    """Return the same inputs by the names of their quantities."""
    parent = named.parent
    if parent is None:
        return []
    return [parent.quantity_name(variable, None) for variable in through(named.scan)]


def _variable_name(trace: Trace, feed: Feed) -> str:
    source = NamedScan(trace, feed.scan)
    tapes = (tape for tape in source.scan.held if tape.argument == feed.variable)
    return next(map(source.row_name, tapes), str(Kind.UNTRACED))


def _key(number: int) -> str:
    return f"scan {number}"


def deduplicated(names: Iterable[str]) -> Iterator[str]:
    """Yield each name once, with its count if it occurs several times: ``x (2 times)``."""
    listed = list(names)
    for name in dict.fromkeys(listed):
        count = listed.count(name)
        yield f"{name} ({count} times)" if count > 1 else name
