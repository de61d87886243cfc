"""The genealogy: a tree with an arrow from a Scan to each Scan that differentiates it.

A row of the tree contains the Scans of the same order. The sentences above the tree explain the
number of Scans: a derivative differentiates each Scan that the previous derivative depends on.
"""

from collections import Counter
from collections.abc import Iterable

from lab.equations.notes import result_notes
from lab.errors import listing
from lab.gradients.symbols import cost_symbol
from lab.notation import counted, render
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import NORM, heading, scene_with_legend
from visual.layout.cells import is_listed, values_text
from visual.layout.graphviz import draw_graph
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, above, gap, over, piece
from visual.scene.shapes import Box, Group, Scene, Text, folded, picture_function
from visual.scene.theme import Role

TITLE, LINE, HIGH, INDENT = 12, 11, 15, 8  # two font sizes; height and margin of a line
# The minimum and maximum width of a box, the distance between boxes, and the maximum in a row.
NARROWEST, WIDEST, APART, ACROSS = 112.0, 184.0, 12.0, 4
ARROWS = "an arrow leads from a Scan to the Scan that computes its gradient"
WORDS = {
    Role.INPUT: "forward loop",
    Role.INTERMEDIATE: "gradient, computed by an added Scan",
    Role.RESULT: "gradient, and a requested result",
}


@picture_function
def genealogy(trace: Trace, all: bool = False, sheet: Sheet = SCREEN) -> Scene:
    """Draw the Scans of a trace as a tree. Arrows lead from Scans to Scans that differentiate them.

    If the Scans of an order do not fit, the tree shows only the Scans that run last. With `all`,
    the picture has any size and shows all Scans. Raises LabError if pygraphviz is not installed.
    """
    orders, reasons = [scan.order for scan in trace.scans], explanation(trace)
    most = max(Counter(orders).values(), default=1)
    tree, dot = _tree(trace, most, sheet)
    while tree.envelope.width > sheet.line and most > 1 and not all:
        most -= 1
        tree, _ = _tree(trace, most, sheet)
    title = f"{counted(len(orders), 'Scan')}: which Scan differentiates which"
    head = heading(title, reasons, sheet)
    fed = {feed.into for feed in trace.feeds}
    results = [value for number, value in enumerate(trace.outputs) if number in fed]
    notes = [NORM] if any(value.ndim and not is_listed(value) for value in results) else []
    notes += [ARROWS] if any(orders) else []
    for order, count in sorted(Counter(orders).items()):
        if count > most:
            hidden = f"⋯ {counted(count - most, 'more Scan')} of order {order}"
            notes.append(f"{hidden}{sheet.hint('all=True shows them')}")
    return scene_with_legend(
        over(gap(sheet.line), above(head, tree)),
        WORDS,
        sheet=sheet,
        title=f"Genealogy of the Scans of a derivative of order {max(orders, default=0)}",
        description=" ".join(reasons) or "One loop, no derivative.",
        sentences=[*notes, *result_notes(trace)],
        dot=dot,
    )


def _tree(trace: Trace, most: int, sheet: Sheet) -> tuple[Piece, str]:
    """Return a tree with the last `most` Scans of each order, and the tree in the DOT language.

    The Scans of an order are in a row below the Scans that they differentiate.
    """
    orders = [scan.order for scan in trace.scans]
    shown = [n for n, order in enumerate(orders) if orders[n + 1 :].count(order) < most]
    width = min(max(sheet.line / ACROSS - APART, NARROWEST), WIDEST)
    edges = [
        (str(parent), str(n), orders[n] - orders[parent])
        for n in shown
        if (parent := trace.scans[n].parent) is not None and parent in shown
    ]
    boxes = {str(n): _box(trace, n, width) for n in shown}
    return draw_graph(boxes, edges, {str(n): str(orders[n]) for n in shown})


def _box(trace: Trace, number: int, width: float) -> Piece:
    """Return the box of a Scan with its title, its order, and its number of steps.

    Further lines contain the Scans whose results the Scan reads, except for its parent, and the
    requested results that the Scan completes.
    """
    last = {feed.into: feed.scan for feed in sorted(trace.feeds, key=lambda feed: feed.scan)}
    pairs = enumerate(zip(trace.names, trace.outputs, strict=True))
    results = [f"{n} = {values_text(v)}" for k, (n, v) in pairs if n and last.get(k) == number]
    of, scan = NamedScan(trace, number), trace.scans[number]
    lines, role = [of.numbered_name, counted(scan.steps, "step")], Role.INPUT
    if scan.parent is not None:
        lines[1] = f"order {scan.order} · {lines[1]}"
        role = Role.RESULT if results else Role.INTERMEDIATE
    if others := {feed.scan for feed in scan.feeds} - {scan.parent}:
        lines.append(f"reads results of {_numbers(others)}")
    room, texts = width - 2 * INDENT, list[Text]()
    for line in (*lines, *results):
        size, is_bold = TITLE if not texts else LINE, not texts or line in results
        for part in folded(line, room, size, bold=is_bold):
            y = 18 + HIGH * len(texts)
            texts.append(Text(INDENT, y, part, size, bold=is_bold, role=role))
    box = Box(0, 0, width, 11 + HIGH * len(texts), role)
    return piece(Group((box, *texts), cell=f"scan {number}", title=of.numbered_name))


def explanation(trace: Trace) -> list[str]:
    """Return a sentence about the new Scans of each order, and a sentence with the counts."""
    is_series = all(name.symbol == cost_symbol(n) for n, name in enumerate(trace.names))
    last = (len(trace.names) - 1) * is_series  # the order of the final output, or 0 if unknown
    orders = max([last, *(scan.order for scan in trace.scans)])
    steps = [[_step_function(s) for s in trace.scans if s.order == n] for n in range(orders + 1)]
    scans, distinct = (", ".join(str(len(kind(s))) for s in steps) for kind in (list, set))
    counts = f"Scans of order 0 to {orders}: {scans}. Distinct step functions: {distinct}."
    return [*(_sentence(trace, n) for n in range(1, orders + 1)), *[counts] * bool(orders)]


def _sentence(trace: Trace, order: int) -> str:
    """Return a sentence about the Scans that the derivative of an order adds."""
    before = [n for n, scan in enumerate(trace.scans) if scan.order < order]
    new: dict[int, list[int]] = {}  # the new Scans, by the number of the parent
    for number, scan in enumerate(trace.scans):
        if scan.order == order and scan.parent is not None:
            new.setdefault(scan.parent, []).append(number)
    value, last, count = cost_symbol(order), cost_symbol(order - 1), sum(map(len, new.values()))
    total = f"{len(before)} + {count} = {len(before) + count}"
    if not new:
        reason = f"no gradient of {last} goes back through a Scan"
        return f"{value} needs no new Scan: {reason}. {total}."
    pairs = listing(f"{_numbers(scans)} from {parent + 1}" for parent, scans in sorted(new.items()))
    if len(before) == 1:
        return f"{last} is computed by one Scan. {value} differentiates it ({pairs}): {total}."
    rest = _numbers(set(before) - set(new))
    which = "each of them" if not rest else _numbers(new)
    but = rest and f", but not {rest}, through which no gradient of {last} goes back"
    return (
        f"{last} is computed by {len(before)} Scans ({_numbers(before)}). {value} differentiates "
        f"{which} ({pairs}){but}: {total}."
    )


def _numbers(scans: Iterable[int]) -> str:
    """Return the numbers of Scans in ascending order, from 1: ``1, 3``."""
    return ", ".join(str(n + 1) for n in sorted(scans))


def _step_function(scan: ScanTrace) -> tuple[object, ...]:
    """Return the taps and formulas of a Scan, without the names of variables."""
    tapes = [(tape.argument, tape.kind, tape.tape) for tape in scan.buffers]
    formulas = [
        (f.target.argument, f.target.tap, render(f.expression, lambda v: f"{v.argument}[{v.tap}]"))
        for f in scan.formulas
    ]
    return (*tapes, *formulas)
