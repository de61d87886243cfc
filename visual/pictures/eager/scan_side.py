"""The quantities of a loop on the tapes of its Scan, with the gradients of the backward Scan."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from lab.errors import listing
from lab.notation import counted
from lab.traces.trace import ScanTrace, TapeTrace, Trace
from visual.layout.names import NamedScan
from visual.layout.table import Cell
from visual.pictures.unrolled.graph import unrolling
from visual.pictures.unrolled.quantities import QuantityNode
from visual.scene.theme import Role

START = -1  # the row of the initial values


@dataclass(frozen=True)
class StoredQuantity:
    """A quantity with its value and its gradient. `name` is unique within a `TapeSide`."""

    name: str
    value: Cell
    gradient: Cell | None


@dataclass(frozen=True)
class TapeSide:
    """The quantities on one kind of tape: on the eager tape, or on the tapes of the Scans.

    The keys of `rows` are START, the numbers of steps, and one more number for the values after the
    loop. Arrows are pairs of the names of quantities: `value_arrows` connect values, and
    `gradient_arrows` connect gradients. `sums` are sentences about the memory.
    """

    rows: dict[int, list[StoredQuantity]] = field(default_factory=dict)
    value_arrows: list[tuple[str, str]] = field(default_factory=list)
    gradient_arrows: list[tuple[str, str]] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)

    def add(self, row: int, quantity: StoredQuantity) -> None:
        """Add a quantity to a row."""
        self.rows.setdefault(row, []).append(quantity)


def scan_side(trace: Trace, shown: Collection[int]) -> TapeSide:
    """Return the initial values and the results of the `shown` steps of a loop, with gradients."""
    back = next(n for n, scan in enumerate(trace.scans) if scan.parent == 0)
    forward, backward = (NamedScan(trace, number) for number in (0, back))
    graph, side, last = unrolling(trace, (0, back)), TapeSide(), trace.scans[0].steps - 1
    own = {n: node for n, node in enumerate(graph.nodes) if not node.lane.direct}
    values = {n: node for n, node in own.items() if node.lane.scan == 0}
    inputs = {v.label: v for v in values.values() if v.lane.argument < 0}
    slots = {n: v.label for n, v in values.items() if v.label not in inputs}
    gradients, names = list[tuple[str, TapeTrace, QuantityNode]](), dict[int, str]()
    for number, node in own.items():
        tape = backward.scan.tape(node.lane.argument)
        if number not in values and tape is not None and tape.gradient_of is not None:
            label = forward.quantity_name(tape.gradient_of, node.index)
            gradients.append((label, tape, node))
            names[number] = node.label if label in inputs else label
    cells = {label: _gradient(tape, node) for label, tape, node in gradients}
    for number, label in slots.items():
        node = values[number]
        row, role = (node.step, Role.INTERMEDIATE) if node.step is not None else (START, Role.INPUT)
        if row in (START, *shown):
            value = _cell(node, role, f", slot {node.row} of {node.lane.variable}")
            side.add(row, StoredQuantity(label, value, cells.get(label)))
    for label, tape, node in gradients:
        row = START if node.step is None else last - node.step
        if label in inputs and tape.used and row in (START, *shown):
            value = _cell(inputs[label], Role.INPUT)
            side.add(row, StoredQuantity(node.label, value, _gradient(tape, node)))
    side.value_arrows.extend((slots[a], slots[b]) for a, b in graph.edges if {a, b} <= slots.keys())
    side.gradient_arrows.extend(
        (names[a], names[b]) for a, b in graph.edges if {a, b} <= names.keys()
    )
    side.sums.extend(_sums(forward.scan, backward.scan))
    return side


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
    sizes = (sum(_allocated(tape).nbytes for tape in scan.held) for scan in (forward, backward))
    numbers = "{:,} bytes of numbers, {:,} bytes of gradients".format(*sizes)
    slots = _slots(forward.held), _slots(backward.held)
    yield f"Scan: {slots[0]}, and for the backward pass {slots[1]}: {numbers}"
    names = (*(s.name for s in forward.sequences), *(p.name for p in forward.parameters))
    if names:
        yield f"only read, not counted: {listing(dict.fromkeys(names))}"


def _allocated(tape: TapeTrace) -> np.ndarray:
    """Return the array with all slots of a tape, even if a loop with `until` leaves some unused."""
    return max(tape.initial, tape.final, key=len)


def _slots(tapes: Iterable[TapeTrace]) -> str:
    """Return ``21 slots of x (7 used)`` for every name. Tapes with the same name are added."""
    allocated, used = Counter[str](), Counter[str]()
    for tape in tapes:
        allocated[tape.name] += len(_allocated(tape))
        used[tape.name] += len(tape.final)
    return listing(
        f"{counted(count, 'slot')} of {name}"
        + ("" if used[name] == count else f" ({used[name]:,} used)")
        for name, count in allocated.items()
    )
