"""The same loop on the eager tape and on the tapes of its Scan, step by step.

The picture compares the values, the order of the backward pass, and the memory of an eager run and
of a run of the Scan. Each step has a forward moment and a backward moment. The backward moments
begin with the gradients of the values after the loop.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from lab.eager import grad, recording, unrolled
from lab.eager.records import Recording
from lab.errors import check_type, listing
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.loops.variables import RandomState, value_of
from lab.notation import counted
from lab.traces.trace import ScanTrace, Trace
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, shown_steps
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Line, Row, Table, TablePart
from visual.pictures.eager.nodes import NodeEvents, value_cell
from visual.pictures.unrolled.graph import QuantityNode, Unrolling
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

START = -1  # the row of the initial values
PARTS = (TablePart(narrow=120, wide=200, height=20, full=0.8, apart=20, bold=True),)
HEADS = (
    ("the eager tape", "a node for every operation"),
    ("gradients", "from bottom to top"),
    ("the Scan", "a slot for every step"),
    ("backward Scan", "gradients, from bottom to top"),
)
WORDS = {
    Role.INPUT: "",
    Role.INTERMEDIATE: "a value, or its gradient",
    Role.SEED: "direct gradient of the cost",
    Role.UNNEEDED: "0: the cost does not depend on it",
    Role.RESULT: "requested gradient",
}


@dataclass(frozen=True)
class TapeSide:
    """The quantities on one kind of tape: on the eager tape, or on the tapes of the Scans.

    `quantities` maps the number of a quantity to its row and its cells: cell 0 contains the value,
    and cell 1 the gradient, if any. A row is START for an initial value, the number of a step, or,
    for a value after the loop, the number of steps. `arrows` contains the arrows between values,
    then the arrows between gradients, as pairs of numbers. `sums` describe the memory.
    """

    quantities: Mapping[int, tuple[int, Mapping[int, Cell]]]
    arrows: Sequence[Sequence[tuple[int, int]]]
    sums: Sequence[str]


@picture_function
def two_tapes(
    loop: Loop, step: int | None = None, wrt: str | None = None, all: bool = False
) -> Scene:
    """Draw a loop and its first derivative on the eager tape, next to the tapes of its Scan.

    The cost is the last value of the first state, and `wrt` is the variable of the derivative
    (default: the first state). A picture of a loop with more than 12 steps shows both ends, and
    `step` with its neighbors. With `all`, all cells have their full width, in a picture of any
    width. Raises ArgumentError for an unknown variable, and for a loop that cannot be unrolled (see
    `lab.eager.unrolled`).
    """
    check_type("loop", loop, Loop, "a lab.Loop")
    unrolled(loop)  # raises an error before the runs
    trace = loop.trace(order=1, wrt=wrt)
    steps = trace.scans[0].steps
    variables = loop.variables
    number = 0 if wrt is None else [*variables].index(identifier(wrt))
    values = [value_of(v)[()] for v in variables.values() if not isinstance(v, RandomState)]
    recorded = recording(grad(unrolled(loop), number), *values)
    sides = eager_side(recorded, steps), scan_side(trace)
    title = f"{loop.name}: the eager tape, and the states and tapes of its Scan"
    sums = [sentence for side in sides for sentence in side.sums]
    return table_scene(
        Table([*_rows(title, sides, steps, step)], PARTS, label_width=84.0),
        WORDS,
        all=all,
        title=title,
        description=" ".join((title, *sums)),
        sentences=sums,
    )


def _rows(title: str, sides: Sequence[TapeSide], steps: int, step: int | None) -> Iterator[Row]:
    """Yield the initial values, the shown steps, and the values after the loop.

    A row contains the values and the gradients on the eager tape and in the Scan.
    """
    every = list[Edge]()  # the arrows between the quantities of each side
    for number, side in enumerate(sides):
        for kind, pairs in enumerate(side.arrows):
            for start, end in dict.fromkeys(pairs):
                if side.quantities.keys() >= {start, end}:
                    moment = _moment(side.quantities[end][0], steps, kind)
                    ends = (number, kind, start), (number, kind, end)
                    every.append(Edge(*ends, plain=not kind, moment=moment))
    line = "of the loop, from top to bottom, with equal numbers on both sides."
    yield Row(title=title, about=[f"{counted(steps, 'step')} {line}"])
    heads = {(0, n): head for n, head in enumerate(HEADS)}
    for item in (START, *shown_steps(steps, step), steps):
        if isinstance(item, Gap):
            yield Row(note=f"⋯ {counted(item.hidden, 'step')} hidden")
            continue
        columns = (_cells(side, n, item, steps) for n, side in enumerate(sides))
        lines = [Line([*a, *b], low=True) for a, b in zip_longest(*columns, fillvalue=())]
        if lines:
            lines[0] = replace(lines[0], heads=heads)
            ids = {cell.id for line in lines for cell in line.cells}
            edges = [edge for edge in every if ids & {edge.source, edge.target}]
            name = {START: "start", steps: "after"}.get(item, f"step {item:,}")
            yield Row(name, lines, edges)
            heads = {}


def _cells(side: TapeSide, place: int, row: int, steps: int) -> Iterator[Sequence[Cell]]:
    """Yield the cells of each quantity in a row of a side; `place` is the number of the side."""
    for number, (own, cells) in side.quantities.items():
        if own == row:
            named = ((n, replace(cell, id=(place, n, number))) for n, cell in cells.items())
            placed = ((n, replace(cell, column=(0, 2 * place + n))) for n, cell in named)
            yield [replace(cell, moment=_moment(row, steps, n)) for n, cell in placed]


def _moment(row: int, steps: int, is_gradient: int) -> Moment:
    """Return the moment of the values or gradients in a row; initial values have no moment."""
    if is_gradient:
        names = {START: "the start", steps: "the values after the loop"}
        return 2 * steps + 1 - row, f"gradients of {names.get(row, f'step {row:,}')}"
    if row == START:
        return None, ""
    return row, "after the loop" if row == steps else f"step {row:,} of the loop"


def eager_side(recording: Recording, steps: int) -> TapeSide:
    """Return the values and total gradients of the recording of a loop that runs `steps` steps."""
    nodes, size = NodeEvents.each(recording), 0
    quantities = dict[int, tuple[int, dict[int, Cell]]]()
    first = next((n.record.number for n in nodes if n.record.step is not None), 0)
    for node in nodes:
        number, row = node.record.number, node.record.step
        if row is None:
            row = START if number <= first else steps
        role, label = Role.INPUT if node.is_start else Role.INTERMEDIATE, node.label
        value = value_cell(role, node.record.value, label, label, f"value of node {number}")
        quantities[number] = row, {0: value}
        if node.end is not None:
            role = Role.SEED if len(node.received) == node.is_seeded else Role.INTERMEDIATE
            role = Role.RESULT if node.is_start else role
            meaning, key = f"gradient of the result wrt {node.name}", f"gradient of node {number}"
            label = f"dC/d{node.name}"
            gradient = value_cell(role, node.end.total, meaning, label, key, "dC/dn")
            size += 0 if gradient.value is None else gradient.value.nbytes
            quantities[number][1][1] = gradient
    pairs = [(node.record.number, each.source) for node in nodes for _, each in node.received]
    arrows = (
        [(parent, node.record.number) for node in nodes for parent in node.record.parents],
        [(source, number) for number, source in pairs if source is not None],
    )
    memory = (
        f"eager tape: {counted(len(nodes), 'node')}, {recording.bytes(0):,} bytes of values, "
        f"and an operation for each; {size:,} bytes of gradients"
    )
    return TapeSide(quantities, arrows, [memory])


def scan_side(trace: Trace) -> TapeSide:
    """Return the values on the tapes of a loop and its other values with a gradient."""
    back = next(n for n, scan in enumerate(trace.scans) if scan.parent == 0)
    forward, backward = (NamedScan(trace, number) for number in (0, back))
    graph, last = Unrolling(trace, (0, back)), trace.scans[0].steps - 1
    nodes = {number: node for number, node in enumerate(graph.nodes) if not node.lane.direct}
    values = {(v.lane.variable, v.index): n for n, v in nodes.items() if v.lane.scan == 0}
    owners, quantities = dict[int, int](), dict[int, tuple[int, dict[int, Cell]]]()
    for number, node in nodes.items():
        if node.lane.scan != 0 or node.lane.argument < 0:
            continue
        row, role = (node.step, Role.INTERMEDIATE) if node.step is not None else (START, Role.INPUT)
        cell = _cell(forward, node, role, f", slot {node.row} of {node.lane.variable}")
        quantities[number] = row, {0: cell}
    between_values = [pair for pair in graph.edges if quantities.keys() >= {*pair}]
    for number, node in nodes.items():
        tape = backward.scan.tape(node.lane.argument)
        if node.lane.scan == 0 or tape is None or tape.gradient_of is None:
            continue
        owner = values.get((tape.gradient_of, node.index))
        role = Role.UNNEEDED if node.role is Role.SEED and not node.value.any() else node.role
        details = f", slot {node.row} of {tape.name}" if tape.tape.reads else ""
        if tape.is_total:
            role, details = Role.RESULT, ", to which every step adds"
        gradient = _cell(backward, node, role, details)
        if owner in quantities:
            quantities[owner][1][1], owners[number] = gradient, owner
        elif owner is not None and tape.used:
            row = START if node.step is None else last - node.step
            value = _cell(forward, nodes[owner], Role.INPUT)
            quantities[number], owners[number] = (row, {0: value, 1: gradient}), number
    between = [(owners[a], owners[b]) for a, b in graph.edges if owners.keys() >= {a, b}]
    return TapeSide(quantities, [between_values, between], [*_sums(forward.scan, backward.scan)])


def _cell(named: NamedScan, node: QuantityNode, role: Role, details: str = "") -> Cell:
    """Return a cell with the value of a node of a Scan; the tooltip contains the `details`."""
    cell = Cell(role, f"{node.name}{details}", node.value, label=node.name)
    quantity = named.quantity(node.lane.variable)
    return replace(cell, key=f"{node.name} of the Scan", quantity=quantity)


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    """Yield a sentence about the sizes of all tapes, then a sentence about other arrays, if any."""
    sizes, slots = list[int](), list[str]()
    for scan in (forward, backward):
        # Count all slots of each tape, even slots that a loop with `until` leaves unused.
        allocated, used, size = Counter[str](), Counter[str](), 0
        for tape in scan.buffers:
            array = max(tape.initial, tape.final, key=len)
            allocated[tape.name] += len(array)
            used[tape.name] += len(tape.final)
            size += array.nbytes
        words = list[str]()
        for name, count in allocated.items():
            unused = f" ({used[name]:,} used)" * (used[name] != count)
            words.append(f"{counted(count, 'slot')} of {name}{unused}")
        sizes.append(size)
        slots.append(listing(words))
    numbers = "{:,} bytes of numbers, {:,} bytes of gradients".format(*sizes)
    yield f"Scan: {slots[0]}, and for the backward pass {slots[1]}: {numbers}"
    if names := (*(s.name for s in forward.sequences), *(p.name for p in forward.parameters)):
        yield f"only read, not counted: {listing(dict.fromkeys(names))}"
