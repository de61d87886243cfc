"""A loop on the tapes of its Scan; the gradients on those of the Scan that goes back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.eager.records import Held
from lab.errors import listing
from lab.notation import Leaf, indexed, leaves_of
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan
from visual.pictures.eager.sides import START, Entry, Keys, Line, Side
from visual.pictures.eager.words import counted
from visual.scene.theme import Role


def scan_side(trace: Trace, shown: Sequence[int]) -> Side:
    """The tapes of a loop's Scan in the steps `shown`, and those of the Scan that goes back."""
    forward, backward = trace.scans[0], trace.scans[backward_number(trace)]
    _, notes = block_heading(NamedScan(trace, backward_number(trace)))
    notes = ["a slot for every step, laid out before the loop runs", *notes[1:]]
    side = Side("the tapes of its Scan", tuple(notes))
    tapes = forward.held
    side.rows[START] = [
        _slot_line(trace, tape, int(row), Role.INPUT) for tape in tapes for row in given_rows(tape)
    ]
    for step in shown:
        first, *others = [
            _slot_line(trace, tape, written_row(tape, step), Role.INTERMEDIATE) for tape in tapes
        ]
        mark = f"backward step {forward.steps - 1 - step}"
        reads = [_reading_line(trace, s, step) for s in forward.sequences]
        side.rows[step] = [replace(first, mark=mark), *others, *filter(None, reads)]
        kept, more = _slots(forward), _slots(backward)
        side.costs[step] = f"{kept:,} bytes of numbers, {more:,} more for the way back"
    for parameter in forward.parameters:
        side.rows[START].extend(_parameter_lines(trace, parameter))
    side.ways.extend(_ways(forward, shown))
    back = [forward.steps - 1 - step for step in shown]
    side.returns.extend(_ways(backward, back))
    side.sums.extend(_sums(forward, backward))
    return side


def backward_number(trace: Trace) -> int:
    """The number of the Scan that differentiates the loop."""
    return next(number for number, scan in enumerate(trace.scans) if scan.parent == 0)


def written_row(tape: TapeTrace, step: int) -> int:
    """The row of a loop's tape that a step writes."""
    (write,) = tape.writes
    return int(write.rows[step])


def given_rows(tape: TapeTrace) -> np.ndarray:
    """The rows of a loop's tape that hold initial values: no step writes them."""
    (write,) = tape.writes
    return np.setdiff1d(np.arange(len(tape.final)), write.rows)


def slot_keys(trace: Trace, tape: TapeTrace, row: int) -> Keys:
    """The keys of the value in a slot of the loop, and of its gradient."""
    index = _index(tape, row)
    value = NamedScan(trace, 0).cell_key(tape.name, index, row)
    number = backward_number(trace)
    found = gradient_slot(trace.scans[number], tape, row)
    if found is None:
        return Keys(value, f"gradient of {value}")
    other, there = found
    return Keys(value, NamedScan(trace, number).cell_key(other.name, _index(other, there), there))


def gradient_slot(backward: ScanTrace, tape: TapeTrace, row: int) -> tuple[TapeTrace, int] | None:
    """The tape and its row that hold the gradient of the value in a slot of the loop."""
    for other in backward.tapes:
        if other.gradient_of == tape.name and not other.is_total and other.axis is not None:
            rows = np.flatnonzero(other.axis.index == _index(tape, row))
            if len(rows):
                return other, int(rows[0])
    return None


def _slot_line(trace: Trace, tape: TapeTrace, row: int, role: Role) -> Line:
    keys = slot_keys(trace, tape, row)
    backward = NamedScan(trace, backward_number(trace))
    label = NamedScan(trace, 0).tape_label(tape, row)
    meaning = f"{label}, slot {row} of {tape.name}"
    value = Entry(Held(np.asarray(tape.final[row])), label, meaning, keys.value, role)
    found, gradient = gradient_slot(backward.scan, tape, row), None
    if found is not None:
        other, there = found
        label = backward.tape_label(other, there)
        meaning = f"{label}, slot {there} of {other.name}"
        held, role = Held(np.asarray(other.final[there])), _gradient_role(trace, other, there)
        gradient = Entry(held, label, meaning, keys.gradient, role)
    return Line(_slot(tape.name, _index(tape, row)), value, gradient)


def _reading_line(trace: Trace, sequence: SequenceTrace, step: int) -> Line | None:
    """What a step reads of a sequence, if the gradient by it was asked for."""
    found = reading_gradient(trace, sequence, step)
    if found is None or not found[0].used:
        return None
    tape, there = found
    backward, index = NamedScan(trace, backward_number(trace)), int(sequence.axis.index[step])
    label, keys = indexed(sequence.name, index), reading_keys(trace, sequence, step)
    value = Entry(Held(np.asarray(sequence.values[step])), label, label, keys.value, Role.INPUT)
    label = backward.tape_label(tape, there)
    whole = backward.whole_label(tape, there)
    meaning = label if label == whole else f"{label}, a part of {whole}"
    held = Held(np.asarray(tape.final[there]))
    gradient = Entry(held, label, meaning, keys.gradient, Role.RESULT)
    return Line(_share(tape, there), value, gradient)


def reading_gradient(
    trace: Trace, sequence: SequenceTrace, step: int
) -> tuple[TapeTrace, int] | None:
    """The output and its row that hold the gradient by what a step reads of a sequence."""
    backward, there = trace.scans[backward_number(trace)], trace.scans[0].steps - 1 - step
    for tape in backward.outputs:
        if tape.gradient_of == sequence.name and _index(tape, there) == sequence.axis.index[step]:
            return tape, there
    return None


def reading_keys(trace: Trace, sequence: SequenceTrace, step: int) -> Keys:
    """The keys of what a step reads of a sequence, and of the gradient by it."""
    index = int(sequence.axis.index[step])
    value = NamedScan(trace, 0).cell_key(sequence.name, index, step)
    found = reading_gradient(trace, sequence, step)
    if found is None:
        return Keys(value, f"gradient of {value}")
    own = NamedScan(trace, backward_number(trace)).cell_key(found[0].name, index, found[1])
    return Keys(value, f"{own} in step {step}")


def _parameter_lines(trace: Trace, parameter: ParameterTrace) -> Iterator[Line]:
    """A parameter, if the gradient by it was asked for: the running total of the steps."""
    backward = NamedScan(trace, backward_number(trace))
    for tape in backward.scan.tapes:
        if tape.is_total and tape.gradient_of == parameter.name and tape.used:
            name, keys = parameter.name, parameter_keys(trace, parameter.name)
            value = Entry(Held(parameter.value), name, name, keys.value, Role.INPUT)
            label = backward.tape_label(tape, None)
            held = Held(np.asarray(tape.final[-1]))
            meaning = f"{label}, to which every step adds"
            gradient = Entry(held, label, meaning, keys.gradient, Role.RESULT)
            yield Line(name, value, gradient, "every step adds")


def parameter_keys(trace: Trace, name: str) -> Keys:
    """The keys of a parameter and of the gradient by it."""
    return Keys(f"0:{name}:value", f"0:{name}:total of the gradient")


def _gradient_role(trace: Trace, tape: TapeTrace, row: int) -> Role:
    if tape.used and row in NamedScan(trace, backward_number(trace)).wanted_rows(tape):
        return Role.RESULT
    if any(row in write.rows for write in tape.writes):
        return Role.INTERMEDIATE
    return Role.SEED if np.any(tape.final[row] != 0) else Role.UNNEEDED


def _ways(scan: ScanTrace, steps: Iterable[int]) -> Iterator[tuple[str, str]]:
    """From every slot that a formula reads to the one that it writes, in the loop's names."""
    steps = list(steps)
    for formula in scan.formulas:
        leaves = tuple(dict.fromkeys(leaves_of(formula.expression)))
        for step in steps:
            end = _slot_of(scan, formula.target, step)
            for leaf in leaves:
                start = _slot_of(scan, leaf, step)
                if start and end and start != end:
                    yield start, end


def _slot_of(scan: ScanTrace, leaf: Leaf, step: int) -> str:
    """The name of the line that a leaf reads or writes; empty for what has none."""
    tape = scan.variable(leaf)
    if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.is_total:
        return ""
    if any(tape is output for output in scan.outputs) and scan.parent is not None:
        return _share(tape, step)
    row = tape.tape.row(step, leaf.tap)
    return _slot(tape.gradient_of or tape.name, _index(tape, row))


def _share(tape: TapeTrace, row: int) -> str:
    """The name of the line of a sequence's gradient, one for each tap."""
    return f"{_slot(tape.gradient_of or tape.name, _index(tape, row))} of {tape.argument}"


def _slot(name: str, index: int) -> str:
    return f"{name}[{index}]"


def _index(tape: TapeTrace, row: int) -> int:
    return row if tape.axis is None else int(tape.axis.index[row])


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    states = [*forward.tapes, *forward.outputs]
    gradients = [*backward.tapes, *backward.outputs]
    kept, more = (sum(_laid_out(tape).nbytes for tape in group) for group in (states, gradients))
    yield f"kept until the way back: {_spelled(states)}"
    yield f"for the way back: {_spelled(gradients)}"
    yield f"{kept:,} bytes of numbers, and {more:,} more for the way back"
    yield "no bookkeeping that grows with the steps"


def _laid_out(tape: TapeTrace) -> np.ndarray:
    """All the slots of a tape: a loop that stops early leaves some unused."""
    return max(tape.initial, tape.final, key=len)


def _spelled(tapes: Iterable[TapeTrace]) -> str:
    """``21 slots of x (7 used)``, for every name; a sequence has one tape for each tap."""
    laid_out: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for tape in tapes:
        laid_out[tape.name] += len(_laid_out(tape))
        used[tape.name] += len(tape.final)
    return listing(
        f"{counted(count, 'slot')} of {name}"
        + ("" if used[name] == count else f" ({used[name]:,} used)")
        for name, count in laid_out.items()
    )


def _slots(scan: ScanTrace) -> int:
    """The bytes of the slots that a step writes."""
    return sum(tape.final[0].nbytes for tape in scan.held)
