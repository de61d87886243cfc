"""The quantities of a loop on the eager tape, and on the tapes of its Scan and backward Scan."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.eager.records import Recording
from lab.errors import listing
from lab.notation import counted
from lab.traces.trace import ScanTrace, TapeTrace, Trace
from visual.layout.names import NamedScan
from visual.layout.table import Cell
from visual.pictures.eager.nodes import NodeEvents, node_events, node_label, node_name, value_cell
from visual.pictures.unrolled.graph import unrolling
from visual.pictures.unrolled.quantities import QuantityNode
from visual.scene.theme import Role

START = -1  # the row of the initial values


@dataclass(frozen=True)
class StoredQuantity:
    """A quantity with the cells of its value and its gradient.

    `name` is unique within a `TapeSide`. `row` is START, the number of a step, or the number of
    steps for a value after the loop.
    """

    name: str
    row: int
    cells: tuple[Cell, Cell | None]


@dataclass(frozen=True)
class TapeSide:
    """The quantities on one kind of tape: on the eager tape, or on the tapes of the Scans.

    Arrows are pairs of the names of quantities: the arrows between values, then the arrows between
    gradients. `sums` are sentences about the memory.
    """

    quantities: Sequence[StoredQuantity]
    arrows: tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]
    sums: Sequence[str]


# The eager tape.


def eager_side(recording: Recording, steps: int) -> TapeSide:
    """Return the values and gradients of the recording of a loop with a number of steps."""
    nodes = node_events(recording)
    first = next((n.record.number for n in nodes if n.record.step is not None), 0)
    quantities, arrows = list[StoredQuantity](), (list[tuple[str, str]](), list[tuple[str, str]]())
    for node in nodes:
        row = node.record.step
        if row is None:
            row = START if node.record.number <= first else steps
        quantities.append(_of_node(node, row))
        arrows[0].extend((node_name(parent), node.name) for parent in node.record.parents)
        sources = [sent.source for _, sent in node.received]
        arrows[1].extend((node_name(s), node.name) for s in sources if s is not None)
    gradients = (gradient for _, gradient in (quantity.cells for quantity in quantities))
    size = sum(g.value.nbytes for g in gradients if g is not None and g.value is not None)
    memory = (
        f"eager tape: {counted(len(nodes), 'node')}, {recording.bytes(0):,} bytes of values, "
        f"and an operation for each; {size:,} bytes of gradients"
    )
    return TapeSide(quantities, arrows, [memory])


def _of_node(node: NodeEvents, row: int) -> StoredQuantity:
    """Return the value and the total gradient of a node."""
    number, label, gradient = node.record.number, node_label(node.record), None
    role = Role.INPUT if node.is_start else Role.INTERMEDIATE
    value = value_cell(role, node.record.value, label, label, f"value of node {number}")
    if node.end is not None:
        role = Role.SEED if len(node.received) == node.is_seeded else Role.INTERMEDIATE
        role = Role.RESULT if node.is_start else role
        meaning, label = f"gradient of the result wrt {node.name}", f"dC/d{node.name}"
        key = f"gradient of node {number}"
        gradient = value_cell(role, node.end.total, meaning, label, key)
    return StoredQuantity(node.name, row, (value, gradient))


# The tapes of the Scan.


def scan_side(trace: Trace) -> TapeSide:
    """Return the initial values and the results of the steps of a loop, with gradients."""
    back = next(n for n, scan in enumerate(trace.scans) if scan.parent == 0)
    forward, backward = (NamedScan(trace, number) for number in (0, back))
    graph, last = unrolling(trace, (0, back)), trace.scans[0].steps - 1
    nodes = {number: node for number, node in enumerate(graph.nodes) if not node.lane.direct}
    values = {node.label: node for node in nodes.values() if node.lane.scan == 0}
    slots = {n: v.label for n, v in nodes.items() if v.lane.scan == 0 and v.lane.argument >= 0}
    names, gradients, of_inputs = dict[int, str](), dict[str, Cell](), list[StoredQuantity]()
    for number, node in nodes.items():
        tape = backward.scan.tape(node.lane.argument)
        if node.lane.scan == 0 or tape is None or tape.gradient_of is None:
            continue
        label, cell = forward.quantity_name(tape.gradient_of, node.index), _gradient(tape, node)
        names[number], gradients[label], value = label, cell, values.get(label)
        if value is not None and value.lane.argument < 0:
            names[number] = node.label
            if tape.used:
                row, given = START if node.step is None else last - node.step, Role.INPUT
                of_inputs.append(StoredQuantity(node.label, row, (_cell(value, given), cell)))
    quantities = list[StoredQuantity]()
    for label in slots.values():
        node = values[label]
        row, role = (node.step, Role.INTERMEDIATE) if node.step is not None else (START, Role.INPUT)
        cell = _cell(node, role, f", slot {node.row} of {node.lane.variable}")
        quantities.append(StoredQuantity(label, row, (cell, gradients.get(label))))
    value_arrows, gradient_arrows = (
        [(known[a], known[b]) for a, b in graph.edges if {a, b} <= known.keys()]
        for known in (slots, names)
    )
    sums = [*_sums(forward.scan, backward.scan)]
    return TapeSide([*quantities, *of_inputs], (value_arrows, gradient_arrows), sums)


def _cell(node: QuantityNode, role: Role, details: str = "") -> Cell:
    """Return a cell with the value of a node; the tooltip contains the `details`."""
    name, key = f"{node.label}{details}", f"{node.label} of the Scan"
    return Cell(role, name, node.value, label=node.label, key=key)


def _gradient(tape: TapeTrace, node: QuantityNode) -> Cell:
    """Return a cell with the gradient in a node. An initial gradient of zero is unneeded."""
    if tape.is_total:
        return _cell(node, Role.RESULT, ", to which every step adds")
    role = Role.UNNEEDED if node.role is Role.SEED and not node.value.any() else node.role
    details = f", slot {node.row} of {tape.name}" if tape.tape.reads else ""
    return _cell(node, role, details)


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    """Yield a sentence about the sizes of all tapes, and a sentence about the other arrays."""
    sizes, slots = list[int](), list[str]()
    for scan in (forward, backward):
        # All slots of each tape, even if a loop with `until` leaves some unused.
        allocated, used, size = Counter[str](), Counter[str](), 0
        for tape in scan.held:
            array = max(tape.initial, tape.final, key=len)
            allocated[tape.name] += len(array)
            used[tape.name] += len(tape.final)
            size += array.nbytes
        sizes.append(size)
        slots.append(
            listing(
                f"{counted(n, 'slot')} of {name}" + f" ({used[name]:,} used)" * (used[name] != n)
                for name, n in allocated.items()
            )
        )
    numbers = "{:,} bytes of numbers, {:,} bytes of gradients".format(*sizes)
    yield f"Scan: {slots[0]}, and for the backward pass {slots[1]}: {numbers}"
    names = (*(s.name for s in forward.sequences), *(p.name for p in forward.parameters))
    if names:
        yield f"only read, not counted: {listing(dict.fromkeys(names))}"
