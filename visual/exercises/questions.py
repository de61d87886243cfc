"""Questions about a trace: slots that a step overwrites or preserves, and taps of a gradient.

A candidate is the order of a Scan and a function that builds a question about the Scan. The taps of
the Scan determine the feedback.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lab.errors import listing
from lab.notation import integers
from lab.tape import Kind, Tape
from lab.traces.trace import TapeTrace, Trace
from visual.exercises.answers import ExerciseTask
from visual.layout.cells import values_text
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan, kind_text
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Head, Key, Line, Row, Table
from visual.pictures.machine.still import scene_of_step
from visual.pictures.tap_rules import conversions, role_of
from visual.pictures.taps import taps as taps_picture
from visual.scene.shapes import Scene
from visual.scene.theme import Role

Candidate = tuple[int, Callable[[], ExerciseTask]]
ENDS = 50  # questions are about the first and the last 50 steps
NEIGHBORS = 2  # feedback covers this many slots or taps beyond the outermost taps
REASONS = {
    Role.OVERWRITTEN: "it is read, and then replaced.",
    Role.PRESERVED: "it is read and preserved for later steps.",
    Role.INTERMEDIATE: "it is written, but not read before.",
    Role.UNNEEDED: "at that tap, the loop neither reads nor writes.",
}


def integers_or_none(numbers: tuple[int, ...]) -> str:
    """Return integers as text: ``−1, 0``, or ``none``."""
    return integers(*sorted(numbers)) or "none"


def _tapes(trace: Trace) -> Iterator[tuple[int, TapeTrace]]:
    """Yield pairs: the index of a Scan, and a tape of the Scan that is not a running total."""
    for number, scan in enumerate(trace.scans):
        yield from ((number, tape) for tape in scan.tapes if not tape.is_total)


def slots(trace: Trace, kind: str) -> Iterator[Candidate]:
    """Yield candidates for questions about the slots that are "overwritten" or "preserved"."""
    for number, tape in _tapes(trace):
        steps = trace.scans[number].steps if getattr(tape.tape, kind) else 0
        for step in sorted({*range(min(steps, ENDS)), *range(max(0, steps - ENDS), steps)}):
            task = partial(_slot_task, NamedScan(trace, number), step, tape, kind)
            yield trace.scans[number].order, task


def _slot_task(named: NamedScan, step: int, recorded: TapeTrace, kind: str) -> ExerciseTask:
    tape, is_overwritten = recorded.tape, kind == "overwritten"
    right = tape.positions(step, getattr(tape, kind))
    verb, meaning = ("overwrite", "") if is_overwritten else ("preserve", " (read and not change)")
    action = f"reads and {'writes' if is_overwritten else 'does not write'}"
    noun = "slot" if len(right) == 1 else "slots"
    touched = [tape.row(step, tap) for tap in tape.taps]
    first, last = min(touched) - NEIGHBORS, max(touched) + NEIGHBORS
    rows = range(max(0, first), min(len(recorded.initial), last + 1))
    return ExerciseTask(
        f"Which {noun} of {recorded.name} will step {step} of {named.scan.name} {verb}{meaning}?",
        "positions of slots, separated by commas",
        tuple(map(float, right)),
        hints=(
            f"Find the {noun} that the step {action}. The line above the tape lists the taps.",
            f"Tap t of a step is the slot at position step + t: here at {step} + t.",
        ),
        working=f"Step {step} reads at {_places(tape, step, tape.reads)} and writes at "
        f"{_places(tape, step, tape.writes)}. Therefore it {verb}s the {noun} at "
        f"{integers_or_none(right)}.",
        otherwise=f"Step {step} neither reads nor writes that position.",
        mistakes={
            position: f"Position {integers(position)} is tap {integers(position - step)} of this "
            f"step: {REASONS[role_of(tape, position - step)]}"
            for position in map(recorded.position, rows)
            if position not in right
        },
        shown=_tape_before(named, step, recorded, rows),
        revealed=scene_of_step(named.trace, named.number, step),
    )


def _tape_before(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Scene:
    """Draw `rows` of a tape before a step, below the saved values that the step reads.

    The picture omits the roles that the slots have in the step, because the question asks for them.
    """
    time = timeline(named.root.scan)
    reads = [
        f"{named.sequence_label(sequence, int(sequence.axis.index[step]))} = "
        f"{values_text(sequence.values[step])}"
        for sequence in named.scan.sequences
    ]
    lines = [f"{tape.name}: {kind_text(tape)}"]
    lines += [f"saved values that the step reads: {listing(reads)}"] if reads else []
    name, steps = named.numbered_name, f"step {step} (steps 0 to {named.scan.steps - 1})"
    cells, heads = list[Cell](), dict[Key, Head]()
    for row in rows:
        key, value = (0, column_of(tape, row, time)), tape.value_before(row, step)
        role = Role.UNWRITTEN if value is None else Role.INTERMEDIATE
        quantity, label = named.quantity(tape.name), named.slot_label(tape, row)
        cells.append(Cell(role, label, value, column=key, quantity=quantity))
        heads[key] = "", f"pos {integers(tape.position(row))}"
    columns = [column_of(tape, row, time) for row in range(len(tape.initial))]
    head = Row(title=f"{name}, {steps}", about=lines, more=name)
    content = [head, Row(lines=[Line(cells, heads=heads)])]
    every = range(min(columns), max(columns) + 1)
    table = Table(content, label_width=0.0, every=every)
    title, about = f"{tape.name}, step {step}", f"The slots of {tape.name} before step {step}."
    return table_scene(table, {}, title, about)


def _places(tape: Tape, step: int, taps: tuple[int, ...]) -> str:
    """Return taps with their positions in the buffer: ``tap 1 (position 3)``."""
    s = "" if len(taps) == 1 else "s"
    positions = integers_or_none(tape.positions(step, taps))
    return f"tap{s} {integers_or_none(taps)} (position{s} {positions})"


def taps(trace: Trace) -> Iterator[Candidate]:
    """Yield candidates for questions about the taps of a gradient's tape."""
    for number, tape in _tapes(trace):
        scan = trace.scans[number]
        if scan.parent is None or tape.kind is not Kind.MIT_MOT:
            continue
        for source in trace.scans[scan.parent].tapes:
            if source.name == tape.gradient_of and not source.is_total:
                for reads in (True, False):
                    yield scan.order, partial(_taps_task, source, tape.tape, reads)


def _taps_task(source: TapeTrace, gradient: Tape, reads: bool) -> ExerciseTask:
    tape = source.tape
    right = gradient.reads if reads else gradient.writes
    verb = "read" if reads else "write"
    every = (*gradient.taps, *tape.taps)
    rule = (
        "The backward step reads a gradient where the loop wrote a value. Where the loop read a "
        "value, the step adds to the gradient, and therefore also reads the slot."
        if reads
        else "The backward step writes a gradient where the loop read a value. Where the loop only "
        "wrote, the step only reads."
    )
    return ExerciseTask(
        f"{source.name} reads at {integers_or_none(tape.reads)} and writes at "
        f"{integers_or_none(tape.writes)}. At which taps does the step of its gradient {verb}?",
        "taps, separated by commas",
        tuple(map(float, right)),
        hints=(
            f"In the backward loop, every tap changes its sign. {rule}",
            f"Tap by tap: {'; '.join(r.sentence_at(tap) for tap, r in conversions(tape).items())}.",
        ),
        working=f"The step of the gradient {verb}s at {integers_or_none(right)}.",
        otherwise=f"No tap of {source.name} becomes this tap.",
        mistakes={
            tap: _tap_reason(tape, tap, reads)
            for tap in range(min(every) - NEIGHBORS, max(every) + NEIGHBORS + 1)
            if tap not in right
        },
        shown=taps_picture(tape, 0, source.name),
        revealed=taps_picture(tape, 1, source.name),
    )


def _tap_reason(tape: Tape, tap: int, reads: bool) -> str:
    """Explain why the step of a gradient does not read (or, if not `reads`, write) at a tap."""
    if not reads and -tap in tape.writes:
        return f"At {integers(-tap)} the loop only writes. The gradient is read at {integers(tap)}."
    if tap in tape.taps:
        return f"{integers(tap)} is a tap of the loop. The tap of its gradient has another sign."
    return f"At {integers(-tap)}, the loop neither reads nor writes."
