"""The picture of a question about a step: one tape before the step, and the values it reads."""

from collections.abc import Sequence
from dataclasses import replace

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

WIDTH, HEIGHT, APART, GAP = 104.0, 44.0, 8.0, 30.0
LETTERS = 13.0
LONGEST = 290.0  # width of a saved value's numbers


def tape_before(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Scene:
    """Draw `rows` of a tape before a step, below the saved values that the step reads.

    No slot has the role that the step will give it: this is the question.
    """
    titles = heading(
        f"{named.number + 1} · {named.called}, step {step} (steps 0 to {named.scan.steps - 1})",
        [f"{tape.name}: {kind_text(tape)}"],
        more=named.whereabouts,
    )
    whole = above(titles, *_saved_values(named, step), _slots(named, step, tape, rows), apart=12)
    shapes, scales = on_one_scale(told_apart(whole.shapes))
    legend = "; ".join([*(n for n in notes(shapes) if n != FOLDS), *scale_words(scales)])
    whole = replace(whole, placed=((0.0, 0.0, shapes),))
    lines = folded(legend, SCREEN.line, LETTERS - 1) if legend else []
    whole = above(whole, *map(note, lines), apart=6)
    return scene(
        whole, f"{tape.name}, step {step}", f"The slots of {tape.name} before step {step}."
    )


def _saved_values(named: NamedScan, step: int) -> list[Piece]:
    """Return the values of other Scans that the step reads, in lines of the sheet's width."""
    lines: list[Piece] = []
    for sequence in named.scan.sequences:
        box = _saved_value(named, sequence, step)
        longer = beside(lines[-1], box, apart=APART) if lines else box
        if lines and longer.envelope.width <= SCREEN.line:
            lines[-1] = longer
        else:
            lines.append(box)
    return lines


def _saved_value(named: NamedScan, sequence: SequenceTrace, step: int) -> Piece:
    value = sequence.values[step]
    name = named.sequence_label(sequence, int(sequence.axis.index[step]))
    role = Role.SEED if sequence.is_outer_gradient else Role.READ
    label = shortened(f"reads {name} = {values_text(value)}", LONGEST, LETTERS)
    box = framed(words(label, LETTERS, bold=not value.ndim, role=role), role, 5)
    return grouped(box, Group((), title=f"{name} = {full_text(value)}"))


def _slots(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Piece:
    """Return the slots in the order of time, with their positions above them."""
    time, touched = timeline(named.root.scan), Touched(tape, step)
    columns = {column_of(tape, row, time): row for row in rows}
    every = [column_of(tape, row, time) for row in range(len(tape.initial))]
    width = min(WIDTH, (SCREEN.line - 2 * GAP) / len(rows) - APART)
    pieces = []
    for item in with_gaps([min(every) - 1, *columns, max(every) + 1]):
        if isinstance(item, Gap):
            hidden = f"{counted(item.hidden, 'slot')} that are not shown"
            mark = Text(GAP / 2, HEIGHT / 2 + 5, f"⋯{item.hidden:,}", LETTERS, "middle", muted=True)
            pieces.append(sized(GAP, HEIGHT, replace(mark, title=hidden)))
        elif item in columns:
            row = columns[item]
            value = touched.before(row)
            role = Role.UNWRITTEN if value is None else Role.INTERMEDIATE
            position = words(f"pos {integers(tape.position(row))}", LETTERS - 1, muted=True)
            box = cell(Box(0, 0, width, HEIGHT, role), value, named.slot_label(tape, row))
            pieces.append(above(position, sized(width, HEIGHT, box), apart=3, align=0.5))
    title = words(f"{tape.name}, before the step", LETTERS, muted=True)
    return above(title, beside(*pieces, apart=APART, align=1.0), apart=6)
