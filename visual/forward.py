"""The forward loop on top of a tape picture: values over time, and an arrow for every read."""

from collections.abc import Iterable

import numpy as np

from lab.formula import Leaf, leaves_of
from lab.spelling import Speller
from lab.trace import ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.columns import Timeline
from visual.layout import (
    BETWEEN,
    CELL,
    HEIGHT,
    LABELS,
    MARGIN,
    Canvas,
    Columns,
    gap_text,
    kind_text,
)
from visual.names import indexed
from visual.scene import Arrow, Box, Text, shortened
from visual.theme import Role
from visual.values import cell

LANE = HEIGHT + 34
Slot = tuple[str, int]


def draw_forward(
    canvas: Canvas,
    trace: Trace,
    number: int,
    columns: Columns,
    time: Timeline,
    around: int | None,
) -> None:
    """Draw the loop number `number` of the trace as lanes of cells, one for each variable."""
    scan = trace.scans[number]
    spell = Speller(scan)
    subtitles = [f"forward · {scan.steps} {'step' if scan.steps == 1 else 'steps'}"]
    if scan.stopped_early:
        subtitles[0] += " until its condition was met"
    subtitles += [f"{name} · {kind}" for name, kind in ((t.name, kind_text(t)) for t in scan.tapes)]
    if scan.untraced:
        subtitles.append(f"{', '.join(scan.untraced)} · untraced: replaced at every step, no tape")
    title = f"{number + 1} · {scan.name}"
    if len(scan.formulas) == 1:
        title += f": {spell.equation(scan.formulas[0])}"
    else:
        subtitles += [spell.equation(formula) for formula in scan.formulas]
    canvas.heading(title, subtitles)

    tops: dict[str, float] = {}
    slots = outputs_reached(trace, number)
    needed = _needed(scan, slots) if slots else None
    for name, sequences in _by_variable(scan.sequences).items():
        tops[name] = canvas.y
        _sequence_lane(canvas, number, name, sequences, columns, time, needed)
    for tape in (*scan.tapes, *scan.outputs):
        if any(tap < -1 for tap in tape.tape.reads):
            canvas.y += 22
        tops[tape.name] = canvas.y
        _state_lane(canvas, number, tape, columns, time, slots, needed)
    for step in range(scan.steps) if len(columns.left) > scan.steps else sorted(columns.left):
        if 0 <= step < scan.steps:  # a state's column is the step that computed it
            _draw_reads(canvas, scan, step, columns, time, tops)
    if scan.parameters:
        _parameter_lane(canvas, number, scan)
    canvas.y += 26


def _by_variable(sequences: Iterable[SequenceTrace]) -> dict[str, list[SequenceTrace]]:
    found: dict[str, list[SequenceTrace]] = {}
    for sequence in sequences:
        found.setdefault(sequence.axis.variable, []).append(sequence)
    return found


def outputs_reached(trace: Trace, number: int) -> set[Slot]:
    """The slots of a loop on which the cost acts directly: their first gradient is not 0."""
    found: set[Slot] = set()
    for scan in trace.scans:
        if scan.parent != number or scan.order != 1:
            continue
        for tape in scan.tapes:
            if tape.gradient_of is None or tape.axis is None:
                continue
            for row in _nonzero_rows(tape.initial):
                found.add((tape.gradient_of, int(tape.axis.index[row])))
        outputs = {output.name for output in trace.scans[number].outputs}
        for sequence in scan.sequences:
            name = sequence.axis.variable
            if name in outputs and sequence.name != name:  # not its value, but its gradient
                rows = _nonzero_rows(sequence.values)
                found |= {(name, int(sequence.axis.index[row])) for row in rows}
    return found


def _nonzero_rows(values: np.ndarray) -> list[int]:
    flat = values.reshape(len(values), -1) if len(values) else values
    return [int(row) for row in np.flatnonzero(np.any(flat != 0, axis=1))] if len(values) else []


def _needed(scan: ScanTrace, outputs: set[Slot]) -> set[Slot]:
    """All slots from which an arrow leads, step by step, to one of `outputs`."""
    needed = set(outputs)
    for step in reversed(range(scan.steps)):
        for formula in scan.formulas:
            if _slot(scan, formula.target, step) in needed:
                reads = (_slot(scan, leaf, step) for leaf in leaves_of(formula.expression))
                needed |= {slot for slot in reads if slot is not None}
    return needed


def _slot(scan: ScanTrace, leaf: Leaf, step: int) -> Slot | None:
    """The variable and index that a leaf of a formula stands for at a step."""
    variable = scan.variable(leaf)
    if isinstance(variable, TapeTrace) and leaf.tap is not None:
        return (variable.name, variable.tape.row(step, leaf.tap))
    if isinstance(variable, SequenceTrace):
        return (variable.axis.variable, int(variable.axis.index[step]))
    return None


def _label(canvas: Canvas, name: str, y: float) -> None:
    short = shortened(name, LABELS - MARGIN - 14, 13)
    title = name if short != name else ""
    canvas.add(Text(LABELS - 12, y, short, 13, "end", bold=True, title=title))


def _gaps(canvas: Canvas, columns: Columns, height: float) -> None:
    for x, gap in columns.gaps:
        canvas.add(gap_text(gap, x, canvas.y + height / 2 + 4))


def _sequence_lane(
    canvas: Canvas,
    number: int,
    name: str,
    sequences: list[SequenceTrace],
    columns: Columns,
    time: Timeline,
    needed: set[Slot] | None,
) -> None:
    _label(canvas, name, canvas.y + HEIGHT / 2 + 4)
    drawn: set[int] = set()
    for sequence in sequences:
        for step, index in enumerate(sequence.axis.index.tolist()):
            column = time.column(name, index)
            if index in drawn or not columns.has(column):
                continue
            drawn.add(index)
            wanted = needed is None or (name, index) in needed
            role = Role.INPUT if wanted else Role.UNNEEDED
            box = Box(columns.left[column], canvas.y, CELL, HEIGHT, role)
            canvas.roles.append(box.role)
            label = indexed(name, index)
            canvas.add(
                cell(box, sequence.values[step], label, key=f"{number}:{name}:{index}", label=label)
            )
    _gaps(canvas, columns, HEIGHT)
    canvas.y += LANE


def _state_lane(
    canvas: Canvas,
    number: int,
    tape: TapeTrace,
    columns: Columns,
    time: Timeline,
    outputs: set[Slot],
    needed: set[Slot] | None,
) -> None:
    _label(canvas, tape.name, canvas.y + HEIGHT / 2 + 4)
    for row in range(len(tape.final)):
        index = int(tape.axis.index[row]) if tape.axis is not None else row
        column = time.column(tape.name, index)
        if not columns.has(column):
            continue
        slot = (tape.name, index)
        role = Role.INPUT if row < tape.tape.origin else Role.INTERMEDIATE
        if slot in outputs:
            role = Role.SEED
        elif needed is not None and slot not in needed:
            role = Role.UNNEEDED
        box = Box(columns.left[column], canvas.y, CELL, HEIGHT, role)
        canvas.roles.append(role)
        label = indexed(tape.name, index)
        canvas.add(
            cell(box, tape.final[row], label, key=f"{number}:{tape.name}:{index}", label=label)
        )
    _gaps(canvas, columns, HEIGHT)
    canvas.y += LANE


def _draw_reads(
    canvas: Canvas,
    scan: ScanTrace,
    step: int,
    columns: Columns,
    time: Timeline,
    tops: dict[str, float],
) -> None:
    """An arrow from every value that a step reads to every value that it computes from it."""
    for formula in scan.formulas:
        target = _slot(scan, formula.target, step)
        for leaf in dict.fromkeys(leaves_of(formula.expression)):
            source = _slot(scan, leaf, step)
            if source is None or target is None:
                continue
            x0 = columns.left.get(time.column(*source))
            x1 = columns.left.get(time.column(*target))
            if x0 is not None and x1 is not None:
                canvas.add(_read_arrow((x0, tops[source[0]]), (x1, tops[target[0]])))


def _read_arrow(source: tuple[float, float], target: tuple[float, float]) -> Arrow:
    """From cell to cell: straight to the neighbour, over the others, or to another lane."""
    (x0, y0), (x1, y1) = source, target
    if y0 == y1 and 0 < x1 - x0 <= CELL + BETWEEN:
        return Arrow(((x0 + CELL, y0 + HEIGHT / 2), (x1 - 1, y1 + HEIGHT / 2)))
    out, into = x0 + CELL / 2, x1 + CELL / 2
    if y0 == y1:
        return Arrow(((out, y0), (out, y0 - 24), (into - 8, y1 - 24), (into - 8, y1 - 1)))
    into += 6 if x0 == x1 else -6 if x0 < x1 else 18  # arrows from all sides find room
    if y1 > y0:
        return Arrow(((out, y0 + HEIGHT), (into, y1 - 1)), faint=True)
    return Arrow(((out, y0), (into, y1 + HEIGHT + 1)), faint=True)


def _parameter_lane(canvas: Canvas, number: int, scan: ScanTrace) -> None:
    _label(canvas, "parameters", canvas.y + HEIGHT / 2 + 4)
    x: float = LABELS
    for parameter in scan.parameters:
        box = Box(x, canvas.y, CELL, HEIGHT, Role.INPUT)
        canvas.roles.append(box.role)
        key = f"{number}:{parameter.name}:parameter"
        canvas.add(cell(box, parameter.value, parameter.name, key=key, label=parameter.name))
        x += CELL + BETWEEN
    canvas.right = max(canvas.right, x)
    canvas.y += LANE
