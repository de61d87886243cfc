"""The picture of a question about a step: one tape before it, and the values that it reads."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lab.notation import integers
from lab.traces.touched import Touched
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.canvas import heading, kind_text, note
from visual.layout.cells import cell, full_text, on_one_scale, told_apart, values_text
from visual.layout.columns import Gap, column_of, timeline, with_gaps
from visual.layout.legend import FOLDS, notes, scale_words
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN
from visual.scene.combinators import Piece, above, beside, framed, grouped, scene, sized, words
from visual.scene.shapes import Box, Group, Scene, Text, folded, shortened
from visual.scene.theme import Role

WIDEST, HIGH, APART, FOLD = 104.0, 44.0, 8.0, 30.0
LETTERS = 13.0
LONGEST = 290.0  # of the numbers of a value that the step reads


def tape_before(
    named: NamedScan,
    step: int,
    tape: TapeTrace,
    rows: Sequence[int],
    formula: str = "",
) -> Scene:
    """Draw some rows of a tape before a step; no role says what the step does to them.

    Above them are the saved values that the step reads, below them the `formula`, if any.  Each
    cell has its key, so that a click on it can be an answer.
    """
    scan = named.scan
    titles = heading(
        f"{named.number + 1} · {named.called}, step {step} (steps 0 to {scan.steps - 1})",
        [f"{tape.name}: {kind_text(tape)}"],
        more=named.whereabouts,
    )
    parts = [titles, *_readings(named, step), _tape(named, step, tape, rows)]
    parts += [words(formula, LETTERS + 2, mono=True)] * bool(formula)
    whole = above(*parts, apart=12)
    shapes, scales = on_one_scale(told_apart(whole.shapes))
    said = "; ".join([*(n for n in notes(shapes) if n != FOLDS), *scale_words(scales)])
    whole = replace(whole, placed=((0.0, 0.0, shapes),))
    lines = folded(said, SCREEN.line, LETTERS - 1) if said else []
    whole = above(whole, *map(note, lines), apart=6)
    told = f"The slots of {tape.name} before step {step}."
    return scene(whole, f"{tape.name}, step {step}", told)


def _readings(named: NamedScan, step: int) -> list[Piece]:
    """The values of other Scans that the step reads, in as many lines as they take."""
    lines: list[Piece] = []
    for sequence in named.scan.sequences:
        box = _reading(named, sequence, step)
        longer = beside(lines[-1], box, apart=APART) if lines else box
        if lines and longer.envelope.width <= SCREEN.line:
            lines[-1] = longer
        else:
            lines.append(box)
    return lines


def _reading(named: NamedScan, sequence: SequenceTrace, step: int) -> Piece:
    index, value = int(sequence.axis.index[step]), sequence.values[step]
    name = named.sequence_label(sequence, index)
    role = Role.SEED if sequence.is_outer_gradient else Role.READ
    told = shortened(f"reads {name} = {values_text(value)}", LONGEST, LETTERS)
    box = framed(words(told, LETTERS, bold=not value.ndim, role=role), role, 5)
    key = named.cell_key(sequence.name, index, step)
    return grouped(box, Group((), cell=key, title=f"{name} = {full_text(value)}"))


def _tape(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Piece:
    """The rows in the order of time, with their positions above them."""
    time, touched = timeline(named.root.scan), Touched(tape, step)
    columns = {column_of(tape, row, time): row for row in rows}
    every = [column_of(tape, row, time) for row in range(len(tape.initial))]
    items = with_gaps([min(every) - 1, *columns, max(every) + 1])
    slots = [item for item in items if isinstance(item, Gap) or item in columns]
    width = min(WIDEST, (SCREEN.line - 2 * FOLD) / len(rows) - APART)
    parts = [words(f"{tape.name}, before the step", LETTERS, muted=True)]
    row = beside(
        *(
            _fold(item)
            if isinstance(item, Gap)
            else _slot(named, tape, columns[item], width, touched.before(columns[item]))
            for item in slots
        ),
        apart=APART,
        align=1.0,
    )
    return above(*parts, row, apart=6)


def _slot(
    named: NamedScan, tape: TapeTrace, row: int, width: float, value: np.ndarray | None
) -> Piece:
    role = Role.UNWRITTEN if value is None else Role.INTERMEDIATE
    label = words(f"pos {integers(tape.position(row))}", LETTERS - 1, muted=True)
    key, name = named.row_key(tape, row), named.slot_label(tape, row)
    box = cell(Box(0, 0, width, HIGH, role), value, name, key=key)
    return above(label, sized(width, HIGH, box), apart=3, align=0.5)


def _fold(hidden: Gap) -> Piece:
    told = f"{counted(hidden.hidden, 'slot')} that are not shown"
    mark = Text(FOLD / 2, HIGH / 2 + 5, f"⋯{hidden.hidden:,}", LETTERS, "middle", muted=True)
    return sized(FOLD, HIGH, replace(mark, title=told))
