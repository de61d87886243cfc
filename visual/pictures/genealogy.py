"""The genealogy: the Scans of a derivative, which differentiates which, and what flows.

A row is an order: the loop on top, the Scans that the first derivative adds below it, then
those of the second.  Arrows down say what is differentiated and through which input; arrows
within a row say whose results are the external gradients of another Scan.

Above stands in sentences why there are so many Scans: every Scan that the derivative before is
computed by is differentiated once, if that derivative's value went through it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.errors import listing
from lab.notation import prime
from lab.tape import Kind
from lab.traces.trace import Feed, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.choices import of_trace
from visual.layout.canvas import MARGIN, Canvas, kind_text
from visual.layout.cards import Entry, Look, arrows
from visual.layout.cells import values_text
from visual.layout.graphviz import Edge, Layout, Node, dot_source, lay_out
from visual.layout.names import counted
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, folded, text_width
from visual.scene.theme import Role

TITLE, LINE, LABEL = 13, 11.5, 10.5
WIDEST, SPACE = 320, 17
MOST_LABELS = 4  # Scans, up to which the arrows are labelled; more would run into the labels
BETWEEN_ROWS, MOST_BETWEEN = 40, 80

ARROWS = (
    "arrow down: is differentiated; “through” names the inputs whose gradients go on to the result",
    "arrow to the side: external gradients for another Scan, or a value that was asked for",
)
LOOP = Entry(Role.INPUT, "the loop itself")
GRADIENT = Entry(Role.INTERMEDIATE, "a gradient, by a Scan that a derivative added")
VALUE = Entry(Role.RESULT, "what was asked for")


@dataclass(frozen=True)
class Sheet:
    """A box with a title and lines of text."""

    entry: Entry
    title: str
    lines: tuple[str, ...]
    order: int

    @property
    def titles(self) -> list[str]:
        """The title in as many lines as it needs."""
        return folded(self.title, WIDEST, TITLE, bold=True)

    @property
    def width(self) -> float:
        """As wide as the widest line, up to a limit."""
        wide = [text_width(line, TITLE, bold=True) for line in self.titles]
        wide += [text_width(line, LINE) for line in self.lines]
        return min(max(wide), WIDEST) + 20

    @property
    def height(self) -> float:
        """One line below the other."""
        return 14 + SPACE * (len(self.titles) + len(self.lines))

    def shapes(self, x: float, y: float, cell: str) -> Group:
        """The sheet with its upper left corner at a place."""
        role, room, titles = self.entry.role, self.width - 18, self.titles
        shapes: list[Shape] = [Box(x, y, self.width, self.height, role)]
        for number, line in enumerate(titles):
            top = y + 19 + SPACE * number
            shapes.append(Text(x + 10, top, line, TITLE, bold=True, role=role))
        for number, line in enumerate(self.lines, start=len(titles)):
            shapes.append(fitted(x + 10, y + 19 + SPACE * number, line, room, LINE, role=role))
        return Group(tuple(shapes), cell=cell, title=self.title)


def genealogy(trace: Trace, theme: str = "light") -> Scene:
    """The Scans of a trace, which of them differentiates which, and what flows between them."""
    of_trace(trace)
    sheets = _sheets(trace)
    looks = {
        **dict.fromkeys(_descents(trace), Look.ACCENT),
        **dict.fromkeys(_flows(trace), Look.PLAIN),
        **dict.fromkeys(_values(trace), Look.FAINT),
    }
    edges = list(looks)
    nodes = [
        Node(k, s.width, s.height, "\n".join((s.title, *s.lines)), rank=str(s.order))
        for k, s in sheets.items()
    ]
    canvas = Canvas()
    order = max(scan.order for scan in trace.scans)
    count = len(trace.scans)
    title = f"{counted(count, 'Scan')}: where they come from"
    canvas.heading(title, explanation(trace))
    canvas.y += 14
    between = min(BETWEEN_ROWS + 2 * count, MOST_BETWEEN)
    layout = lay_out(nodes, edges, between)
    _draw(canvas, layout, sheets, looks)
    width = max(canvas.right, layout.width + MARGIN) + MARGIN
    words = {sheet.entry.role: sheet.entry.words for sheet in sheets.values()}
    canvas.y += layout.height + 28
    return canvas.finished(
        words,
        width=width,
        title=f"Genealogy of the Scans of a derivative of order {order}",
        description=" ".join(explanation(trace)) or "One loop, no derivative.",
        theme=theme,
        said=ARROWS if edges else (),
        dot=dot_source(nodes, edges, between),
    )


def _draw(
    canvas: Canvas, layout: Layout, sheets: Mapping[str, Sheet], edges: Mapping[Edge, Look]
) -> None:
    boxes = {
        k: Box(*layout.corners[k], sheet.width, sheet.height, sheet.entry.role)
        for k, sheet in sheets.items()
    }
    canvas.add(*arrows(layout, canvas.y, list(edges), boxes, list(edges.values())))
    for number, (k, sheet) in enumerate(sheets.items()):
        x, y = layout.corners[k]
        canvas.add(sheet.shapes(x + MARGIN, y + canvas.y, f"scan {number}"))
    for edge, place in zip(edges, layout.labels, strict=True):
        if place is not None:
            x, y, room = place[0] + MARGIN, place[1] + canvas.y + 4, edge.room[0] - 6
            canvas.add(fitted(x, y, edge.label, room, LABEL, "middle", muted=True))


def _sheets(trace: Trace) -> dict[str, Sheet]:
    """The boxes: one for every Scan, one for every value that was asked for."""
    sheets = {}
    for number, scan in enumerate(trace.scans):
        entry = LOOP if scan.parent is None else GRADIENT
        title = f"{number + 1} · {scan.name}"
        sheets[_scan_key(number)] = Sheet(
            entry, title, tuple(_lines(scan, trace.scans)), scan.order
        )
    for number, (name, value) in enumerate(zip(trace.names, trace.outputs, strict=True)):
        feeds = [feed for feed in trace.feeds if feed.into == number]
        if name and feeds:
            order = max(trace.scans[feed.scan].order for feed in feeds)
            sheets[_value_key(number)] = Sheet(VALUE, name, (values_text(value),), order)
    return sheets


def _lines(scan: ScanTrace, scans: Sequence[ScanTrace]) -> Iterator[str]:
    """What stands in the box of a Scan."""
    steps = counted(scan.steps, "step")
    yield steps if scan.parent is None else f"order {scan.order} · {steps}"
    if scan.parent is not None and len(scans) > MOST_LABELS:
        yield f"differentiates {scan.parent + 1}, goes on through {_through(scan)}"
    for tape in scan.tapes:
        if not tape.is_total:
            yield f"{tape.name}: {kind_text(tape)}"
    totals = [tape for tape in scan.tapes if tape.is_total]
    for word, names in (
        ("sums up", [t.name for t in totals if t.used]),
        ("puts out", [t.name for t in scan.outputs if t.used]),
        ("unused", [t.name for t in (*totals, *scan.outputs) if not t.used]),
        ("untraced", list(scan.untraced)),
    ):
        if names:
            yield f"{word} {listing(deduplicated(names))}"
    read = _fed(scan, scans, gradients=False)
    if read:
        yield f"reads {'; '.join(read)}"
    if scan.parent is not None:
        given = _fed(scan, scans, gradients=True)
        yield f"external gradients: {'; '.join(given) or 'from the cost alone'}"


def _fed(scan: ScanTrace, scans: Sequence[ScanTrace], gradients: bool) -> list[str]:
    """What comes from other Scans, external gradients or other values: ``x of 1``."""
    sources: dict[str, dict[int, None]] = {}
    for feed in scan.feeds:
        if _is_gradient(scan, feed) is gradients:
            name = _variable_name(scans[feed.scan], feed.variable)
            sources.setdefault(name, {})[feed.scan + 1] = None
    return [f"{name} of {listing(numbers)}" for name, numbers in sources.items()]


def _is_gradient(scan: ScanTrace, feed: Feed) -> bool:
    """Whether what comes in is a gradient from outside, not a value."""
    for tape in scan.tapes:
        if tape.argument == feed.into:
            return tape.gradient_of is not None
    return any(s.argument == feed.into and s.is_outer_gradient for s in scan.sequences)


def _descents(trace: Trace) -> Iterator[Edge]:
    """From every Scan to those that differentiate it."""
    for number, scan in enumerate(trace.scans):
        if scan.parent is not None:
            label, room = f"through {_through(scan)}", (0.0, 0.0)
            if len(trace.scans) <= MOST_LABELS:
                room = (min(text_width(label, LABEL), WIDEST) + 8, 16)
            yield Edge(_scan_key(scan.parent), _scan_key(number), label, room)


def _flows(trace: Trace) -> Iterator[Edge]:
    """From every Scan to those whose external gradients, or arguments, it computes."""
    for number, scan in enumerate(trace.scans):
        names: dict[int, list[str]] = {}
        for feed in scan.feeds:
            if scan.parent is None or _is_gradient(scan, feed):
                name = _variable_name(trace.scans[feed.scan], feed.variable)
                names.setdefault(feed.scan, []).append(name)
        what = "values" if scan.parent is None else "external gradients"
        for source, listed in names.items():
            label = f"{what}: {listing(dict.fromkeys(listed))}"
            yield Edge(_scan_key(source), _scan_key(number), label)


def _values(trace: Trace) -> Iterator[Edge]:
    """From the Scans to the values that are taken from them."""
    for number, name in enumerate(trace.names):
        sources = {feed.scan: None for feed in trace.feeds if feed.into == number}
        if name:
            yield from (Edge(_scan_key(scan), _value_key(number)) for scan in sources)


def _through(scan: ScanTrace) -> str:
    return listing(deduplicated(through(scan)))


def through(scan: ScanTrace) -> tuple[str, ...]:
    """The inputs of its parent whose gradients by this Scan go on to the result."""
    tapes = scan.held
    return tuple(t.gradient_of for t in tapes if t.used and t.gradient_of is not None)


def _variable_name(scan: ScanTrace, argument: int) -> str:
    variables: tuple[TapeTrace | SequenceTrace, ...] = scan.held
    return next((v.name for v in variables if v.argument == argument), str(Kind.UNTRACED))


def _scan_key(number: int) -> str:
    return f"scan {number}"


def _value_key(number: int) -> str:
    return f"value {number}"


def computed_by(trace: Trace, output: int) -> frozenset[int]:
    """The Scans of which some number goes into an output of the trace."""
    waiting = [(feed.scan, feed.variable) for feed in trace.feeds if feed.into == output]
    seen: set[tuple[int, int]] = set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        number, variable = place
        needed = _arguments(trace.scans[number], variable)
        waiting += [
            (feed.scan, feed.variable) for feed in trace.scans[number].feeds if feed.into in needed
        ]
    return frozenset(number for number, _ in seen)


def _arguments(scan: ScanTrace, variable: int) -> set[int]:
    """The arguments of a Scan that its filled `variable` depends on, by way of all steps."""
    reached, waiting = set[int](), [variable]
    while waiting:
        argument = waiting.pop()
        if argument in reached:
            continue
        reached.add(argument)
        sources = [r.source for r in scan.results if r.target and r.target.argument == argument]
        inner = set[int]()
        while sources:
            source = sources.pop()
            if isinstance(source, int):
                if source not in inner:
                    inner.add(source)
                    sources += scan.inside[source].inputs
            elif hasattr(source, "argument"):
                waiting.append(source.argument)
    return reached


def explanation(trace: Trace) -> list[str]:
    """A sentence for every order: how many Scans it adds, and why."""
    orders = max([scan.order for scan in trace.scans] + [_last_order(trace)])
    return [_sentence(trace, order) for order in range(1, orders + 1)]


def _last_order(trace: Trace) -> int:
    """The order of the last output, if the outputs are a cost and its derivatives."""
    names = [name.split(" = ")[0] for name in trace.names]
    wanted = [f"C{prime(order)}" for order in range(len(names))]
    return len(names) - 1 if names == wanted and names else 0


def _sentence(trace: Trace, order: int) -> str:
    before = [i for i, scan in enumerate(trace.scans) if scan.order < order]
    new: dict[int, list[int]] = {}  # by the number of the parent
    for number, scan in enumerate(trace.scans):
        if scan.order == order and scan.parent is not None:
            new.setdefault(scan.parent, []).append(number)
    value, last = f"C{prime(order)}", f"C{prime(order - 1)}"
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
    value, last = f"C{prime(order)}", f"C{prime(order - 1)}"
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
