"""A loop on the eager tape and on the tapes of its Scan: what each keeps for every step.

Both are brought into one form, a `Side`, so that they can be drawn beside each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lab.eager.records import Held, Memory, NodeRecord, Recording, Sent
from lab.errors import listing
from lab.expression import Leaf, leaves_of
from lab.trace import ScanTrace, TapeTrace, Trace
from visual.headings import block_heading
from visual.names import cell_key, tape_label, wanted_rows
from visual.node_words import (
    counted,
    memory_words,
    node_label,
    node_name,
    ordinal,
    value_key,
)
from visual.tape_story import NodeStory, story
from visual.theme import Role

START = -1  # the row of what is there before the first step


@dataclass(frozen=True)
class Entry:
    """A value or a gradient: what stands in its box."""

    held: Held
    label: str
    meaning: str
    key: str
    role: Role


@dataclass(frozen=True)
class Line:
    """A quantity with its value and its gradient; `name` tells it from the others of its side."""

    name: str
    value: Entry | None
    gradient: Entry | None
    mark: str = ""


@dataclass(frozen=True)
class Side:
    """What one kind of tape keeps: lines for every row, and in which order it goes back.

    The rows are START, the steps, and one more for what is made after the last step.  `ways`
    lead from the names of lines to those of what was made of them, `returns` are the ways of
    gradients.  `costs` are for rows, `sums` for the whole.
    """

    title: str
    notes: tuple[str, ...]
    rows: dict[int, list[Line]] = field(default_factory=dict)
    ways: list[tuple[str, str]] = field(default_factory=list)
    returns: list[tuple[str, str]] = field(default_factory=list)
    costs: dict[int, str] = field(default_factory=dict)
    sums: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Keys:
    """Under which keys the Scan knows the value and the gradient of a node."""

    value: str
    gradient: str


def eager_side(recording: Recording, known: Mapping[int, Keys]) -> Side:
    """The eager tape of a loop; `known` are the nodes that the Scan has a slot for."""
    side = Side("the eager tape", ("a node for every operation, written while the loop runs",))
    steps = [node.step for node in recording.on(0) if node.step is not None]
    last = max(steps, default=-1)
    first = next((n.number for n in recording.on(0) if n.step is not None), 0)
    rows: dict[int, list[NodeRecord]] = {}
    for told in story(recording).nodes:
        node = told.record
        before = START if node.number <= first else last + 1
        row = before if node.step is None else node.step
        side.rows.setdefault(row, []).append(_node_line(told, known))
        rows.setdefault(row, []).append(node)
        side.ways.extend((node_name(p), node_name(node.number)) for p in set(node.parents))
    sent = (event for event in recording.events if isinstance(event, Sent))
    pairs = dict.fromkeys((event.source, event.target) for event in sent)
    side.returns.extend((node_name(source), node_name(target)) for source, target in pairs)
    for row, nodes in rows.items():
        side.costs[row] = memory_words(_memory(nodes))
    side.sums.append(f"{counted(len(recording.nodes), 'node')}, kept until the way back:")
    side.sums.append(memory_words(recording.memory(0)))
    return side


def _memory(nodes: Sequence[NodeRecord]) -> Memory:
    return Memory(sum(n.numbers for n in nodes), sum(n.bookkeeping for n in nodes))


def _node_line(told: NodeStory, known: Mapping[int, Keys]) -> Line:
    node, name = told.record, node_name(told.number)
    keys = known.get(node.number)
    if keys is None:
        keys = Keys(value_key(node.number), f"gradient of node {node.number}")
    role = Role.INTERMEDIATE if node.operation else Role.INPUT
    value = Entry(node.value, node_label(node), node_label(node), keys.value, role)
    gradient = None
    if told.total is not None:
        role = Role.OVERWRITTEN if told.total.formed else Role.PRESERVED
        if any(arrival.source is None for arrival in told.arrivals):
            role = Role.SEED
        role = role if node.operation else Role.RESULT
        meaning = f"gradient of the result by {name}"
        gradient = Entry(told.total.total, f"dC/d{name}", meaning, keys.gradient, role)
    mark = f"off {ordinal(told.order)}" if told.popped is not None else ""
    return Line(name, value, gradient, mark)


def scan_side(trace: Trace) -> Side:
    """The tapes of a loop's Scan, and those of the Scan that differentiates it."""
    forward, backward = trace.scans[0], trace.scans[backward_number(trace)]
    _, notes = block_heading(trace, backward_number(trace))
    notes = ["a slot for every step, laid out before the loop runs", *notes[1:]]
    side = Side("the tapes of its Scan", tuple(notes))
    for tape in (*forward.tapes, *forward.outputs):
        for row in range(len(tape.final)):
            side.rows.setdefault(step_of(tape, row), []).append(
                _slot_line(trace, forward, backward, tape, row)
            )
    for step in range(forward.steps):
        first, *others = side.rows[step]
        mark = f"backward step {forward.steps - 1 - step}"
        side.rows[step] = [replace(first, mark=mark), *others]
        side.costs[step] = f"{_slots(forward):,} + {_slots(backward):,} bytes of numbers"
    side.ways.extend(_ways(forward, forward))
    side.returns.extend(_ways(backward, forward))
    side.sums.extend(_sums(forward, backward))
    return side


def backward_number(trace: Trace) -> int:
    """The number of the Scan that differentiates the loop."""
    return next(number for number, scan in enumerate(trace.scans) if scan.parent == 0)


def step_of(tape: TapeTrace, row: int) -> int:
    """The step that writes a row of a tape; START for an initial value."""
    (write,) = tape.writes
    steps = np.flatnonzero(write.rows == row)
    return int(steps[0]) if len(steps) else START


def slot_keys(trace: Trace, tape: TapeTrace, row: int) -> Keys:
    """The keys of the value in a slot of the loop, and of its gradient."""
    index = _index(tape, row)
    value = cell_key(trace, 0, tape.name, index, row)
    number = backward_number(trace)
    found = gradient_slot(trace.scans[number], tape, row)
    if found is None:
        return Keys(value, f"gradient of {value}")
    other, there = found
    return Keys(value, cell_key(trace, number, other.name, _index(other, there), there))


def gradient_slot(backward: ScanTrace, tape: TapeTrace, row: int) -> tuple[TapeTrace, int] | None:
    """The tape and its row that hold the gradient of the value in a slot of the loop."""
    for other in backward.tapes:
        if other.gradient_of == tape.name and not other.is_total and other.axis is not None:
            rows = np.flatnonzero(other.axis.index == _index(tape, row))
            if len(rows):
                return other, int(rows[0])
    return None


def _slot_line(
    trace: Trace, forward: ScanTrace, backward: ScanTrace, tape: TapeTrace, row: int
) -> Line:
    keys = slot_keys(trace, tape, row)
    label = tape_label(trace, forward, tape, row)
    role = Role.INPUT if step_of(tape, row) == START else Role.INTERMEDIATE
    meaning = f"{label}, slot {row} of {tape.name}"
    value = Entry(Held(np.asarray(tape.final[row])), label, meaning, keys.value, role)
    found, gradient = gradient_slot(backward, tape, row), None
    if found is not None:
        other, there = found
        label = tape_label(trace, backward, other, there)
        meaning = f"{label}, slot {there} of {other.name}"
        held, role = Held(np.asarray(other.final[there])), _gradient_role(trace, other, there)
        gradient = Entry(held, label, meaning, keys.gradient, role)
    return Line(_slot(tape.name, _index(tape, row)), value, gradient)


def _gradient_role(trace: Trace, tape: TapeTrace, row: int) -> Role:
    if tape.used and row in wanted_rows(trace, backward_number(trace), tape):
        return Role.RESULT
    written = any(row in write.rows for write in tape.writes)
    return Role.OVERWRITTEN if written else Role.SEED


def _ways(scan: ScanTrace, named: ScanTrace) -> Iterator[tuple[str, str]]:
    """From every slot that a formula reads to the one that it writes, in the loop's names."""
    for formula in scan.formulas:
        target = scan.variable(formula.target)
        for step in range(scan.steps):
            end = _slot_of(scan, target, formula.target, step)
            for leaf in dict.fromkeys(leaves_of(formula.expression)):
                start = _slot_of(scan, scan.variable(leaf), leaf, step)
                if start and end and start != end:
                    yield start, end


def _slot_of(scan: ScanTrace, tape: object, leaf: Leaf, step: int) -> str:
    """The name of the line that a leaf reads or writes; empty for what has none."""
    if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.is_total:
        return ""
    row = tape.tape.row(step, leaf.tap)
    if scan.parent is None:
        return _slot(tape.name, _index(tape, row))
    return "" if tape not in scan.tapes else _slot(tape.gradient_of or "", _index(tape, row))


def _slot(name: str, index: int) -> str:
    return f"{name}[{index}]"


def _index(tape: TapeTrace, row: int) -> int:
    return row if tape.axis is None else int(tape.axis.index[row])


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    states = [*forward.tapes, *forward.outputs]
    gradients = [*backward.tapes, *backward.outputs]
    kept, more = (sum(tape.final.nbytes for tape in group) for group in (states, gradients))
    yield f"kept until the way back: {listing(_spell(tape) for tape in states)}"
    yield f"for the way back: {listing(_spell(tape) for tape in gradients)}"
    yield f"{kept:,} + {more:,} bytes of numbers, none of bookkeeping for a step"


def _spell(tape: TapeTrace) -> str:
    return f"{counted(len(tape.final), 'slot')} of {tape.name}"


def _slots(scan: ScanTrace) -> int:
    """The bytes of the slots that a step writes."""
    return sum(tape.final[0].nbytes for tape in (*scan.tapes, *scan.outputs))
