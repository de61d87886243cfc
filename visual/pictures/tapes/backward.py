"""The rows of one backward Scan in a tape picture.

A row is a step.  It shows, from top to bottom, the forward values that the step reads,
every tape after the step, and the gradients of sequences that come out; to the right the
running totals of the parameters' gradients, and below all of them the formulas.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lab.equations.quantities import index_of
from lab.errors import listing
from lab.notation import integers, leaves_of
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.canvas import column_header, gap_text
from visual.layout.cells import TWO_LINES, cell, thin_cell, thin_width, usual_width
from visual.layout.columns import Gap, column_of
from visual.layout.names import NamedScan, at_moment, listed
from visual.pictures.tapes.arrows import Places, step_arrows
from visual.pictures.tapes.block import HEIGHT, SMALL, Block
from visual.pictures.tapes.lanes import Lane, Slot
from visual.scene.combinators import Piece, envelope_of, grouped, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted, shortened
from visual.scene.theme import Role

THIN = 20  # a thin cell
HEADER, BAND, WIDE = 34, 28, 36  # what heads a cell, arrows under it, or from tape to tape


def rows(block: Block) -> Iterator[tuple[int | None, Piece]]:
    """The rows from the tapes before the first step to what they leave; with them their steps."""
    yield None, _initial(block)
    step = -1
    for item in block.steps:
        if isinstance(item, Gap):
            for lane in block.lanes:
                lane.skip()
            words = f"⋯ {item.hidden:,} {'step is' if item.hidden == 1 else 'steps are'} not shown"
            if block.view.sheet.steps is None:
                hint = block.view.sheet.hint(f"step={step + 1} shows step {step + 1}")
                fits = text_width(words + hint, 12) <= block.room - block.labels
                words += hint if fits else ""
            yield None, sized(block.room, 24, Text(block.labels, 14, words, 12, muted=True))
        else:
            step = item
            yield item, _step(block, item)
    yield None, at_end(block.named, _result(block))


def at_end(named: NamedScan, part: Piece) -> Piece:
    """What is seen from the last step of a Scan on, when one walks."""
    if not named.scan.steps or not part.shapes:
        return part
    number, moment = named.moment(named.scan.steps - 1)
    return grouped(part, Group((), step=number, moment=moment))


def _label(block: Block, label: str, y: float) -> Text:
    """The name of a row, in smaller letters where it is long."""
    size = 13 if text_width(label, 13, bold=True) <= block.labels - 12 else 11
    return Text(block.labels - 12, y, label, size, "end", bold=True)


# Rows


def _initial(block: Block) -> Piece:
    named, y = block.named, 0.0
    shapes: list[Shape] = [_label(block, "initial", HEADER + 18)]
    slots: list[Shape] = []
    named_columns = bool(block.totals)
    for tape, x in block.totals:
        shapes += _header(block, x, y, named.tape_label(tape, None), tape.name)
        slot = Slot(0, x, Role.INTERMEDIATE, tape.initial[0])
        slots.append(_slot(block, tape, slot, HEADER))
    for lane in block.lanes:
        for slot in lane.before():
            label = named.tape_label(lane.tape, slot.row) or lane.tape.name
            label = block.short(lane.tape, index_of(lane.tape, slot.row), label)
            position = f"pos {integers(lane.tape.position(slot.row))}"
            shapes += _header(block, slot.x, y, label, position)
            named_columns = named_columns or label != lane.tape.name
            slots.append(_slot(block, lane.tape, slot, y + HEADER))
        y += HEADER
        shapes += [*_gaps(lane, y), *_begins(block, lane, y)]
        y += HEIGHT + 6
    if not block.lanes:
        y = HEADER + HEIGHT + 6
    if named_columns:  # at first a slot holds less than what it is called
        shapes.append(Text(block.labels - 12, 14, "becomes", SMALL, "end", muted=True))
    return sized(block.room, y + 4, *shapes, *_at_start(block, slots))


def _begins(block: Block, lane: Lane, y: float) -> Iterator[Text]:
    """The source of what a tape begins with, if another Scan computed it; or its name."""
    named = block.named
    if named.parent is None or not named.seeded_by(lane.tape.argument):
        yield from _words(block, lane, y)
        return
    x, room = block.labels - 12, block.labels - block.view.sheet.margin - 12
    ways = [named.seeds, named.seeds.removeprefix("output of ")]
    fits = [told for told in ways if text_width(told, SMALL) <= room][:1]
    for n, line in enumerate([named.direct_label(lane.tape, None), *fits]):
        yield fitted(x, y + 32 + 13 * n, line, room, SMALL, "end", muted=True)


def _at_start(block: Block, slots: list[Shape]) -> list[Shape]:
    """What a derivative begins with is there when the step before its own first one is made."""
    first = next((step for step in block.steps if not isinstance(step, Gap)), None)
    before = -1 if first is None else block.named.moment(first)[0] - 1
    if before < 0 or block.named.parent is None:
        return slots
    number, step = at_moment(block.named.trace, before)
    _, moment = NamedScan(block.named.trace, number).moment(step)
    return [Group(tuple(slots), step=before, moment=moment)]


def _step(block: Block, step: int) -> Piece:
    scan, named = block.named.scan, block.named
    readings = [cell for s in scan.sequences for cell in _readings(block, s, step)]
    shapes, y = _in_lines(block, readings, 0.0)
    shapes.append(_label(block, f"step {step}", y + 18))
    places: Places = {}
    for tape, x in block.totals:
        written, read = tape.writes[0], tape.reads[0]
        row, value, old = int(written.rows[step]), written.values[step], read.values[step]
        shapes.append(_slot(block, tape, Slot(row, x, Role.OVERWRITTEN, value, old), y))
        places[tape.argument, row] = Box(x, y, block.columns.cell, HEIGHT, Role.OVERWRITTEN)
    for lane in block.lanes:
        for slot in lane.after(step):
            box = Box(slot.x, y, block.columns.cell, HEIGHT, slot.role)
            places[lane.tape.argument, slot.row] = box
            shapes.append(_slot(block, lane.tape, slot, y))
        shapes += [*_gaps(lane, y), *_words(block, lane, y, _positions(lane, step))]
        y += HEIGHT + (WIDE if block.is_roomy and lane is not block.lanes[-1] else BAND)
    if not block.lanes:
        y += HEIGHT + 4
    outputs = [
        _output(block, out, step, Role.RESULT if named.is_passed_on(out) else Role.UNNEEDED)
        for out in block.outputs
    ]
    arrows = [*step_arrows(block.spell, step, places)]
    if block.lanes:  # below the last tape, a label has room if there is one
        told = [envelope_of(shape).bottom for shape in arrows if not isinstance(shape, Arrow)]
        y = min(y, max([y - 10, *(bottom + (4 if block.is_roomy else -1) for bottom in told)]))
    more, y = _in_lines(block, outputs, y)
    return sized(block.room, y, *shapes, *more, *arrows)


def _result(block: Block) -> Piece:
    scan, named, y = block.named.scan, block.named, 0.0
    if scan.carries:  # its last row shows them
        return sized(block.room, 4)

    def passed_on(tape: TapeTrace) -> bool:
        return scan.parent is None or named.is_passed_on(tape)

    shapes: list[Shape] = []
    for tape, x in block.totals:
        if passed_on(tape):
            slot = Slot(len(tape.final) - 1, x, Role.RESULT, tape.final[-1])
            shapes.append(_slot(block, tape, slot, y))
    for lane in block.lanes:
        if passed_on(lane.tape):
            results = lane.result(named.wanted_rows(lane.tape))
            shapes += [_slot(block, lane.tape, slot, y) for slot in results]
            shapes += [*_gaps(lane, y), *_words(block, lane, y)]
            y += HEIGHT + 6
    if shapes and not y:
        y = HEIGHT + 6
    drawn = [*(lane.tape for lane in block.lanes), *(tape for tape, _ in block.totals)]
    left = [tape for tape in scan.tapes if tape not in drawn and passed_on(tape)]
    if left and scan.parent is not None:  # what has no room for its steps has some for its end
        more, y = _in_lines(block, [*_ends(block, left)], y)
        shapes += more
    for output in filter(passed_on, scan.outputs):
        steps = (n for n in range(scan.steps) if _column(block, output, n) is not None)
        found = [_output(block, output, step, Role.RESULT) for step in steps]
        more, y = _in_lines(block, found, y)
        shapes += more
    if shapes:
        shapes.append(_label(block, "result", 18))
    return sized(block.room, y + 4, *shapes)


# Cells


Thin = tuple[float | None, str, np.ndarray, Role, str, str]  # x, name, value, role, key, in short


def _in_lines(block: Block, cells: Sequence[Thin], y: float) -> tuple[list[Shape], float]:
    """Thin cells in as few lines as their columns allow, at most four; and where they end."""
    lines: list[dict[float, Thin]] = []
    hidden, cell = 0, block.columns.cell
    most = cell + block.apart - 4
    for one in cells:
        left = block.labels if one[0] is None else one[0]
        line = next((line for line in lines if left not in line), None)
        if line is None and len(lines) == 4:
            hidden += 1
            continue
        if line is None:
            lines.append(line := {})
        line[left] = one
    shapes: list[Shape] = []
    for line in lines:
        needed = {left: thin_width(one[2], one[-1]) for left, one in line.items()}
        width = thin_width if block.view.all else usual_width  # if all is open, all digits are
        widest = max(width(one[2], one[-1]) for one in line.values())
        high = TWO_LINES if widest > most else THIN  # the number below the name
        for left, (_, name, value, role, key, short) in line.items():
            wide = max(cell, min(needed[left], most))
            box = Box(left - (wide - cell) / 2, y, wide, high, role)
            shapes.append(thin_cell(box, value, name, None, key, short=short))
        y += high + 3
    if hidden:
        more = f"⋯ {hidden} more"
        shapes.append(Text(block.labels - 12, y - 9, more, SMALL, "end", muted=True))
    return shapes, y


def _header(block: Block, x: float, y: float, label: str, position: str) -> tuple[Text, Text]:
    return column_header(x, y, label, position, block.columns.cell, block.apart)


def _slot(block: Block, tape: TapeTrace, slot: Slot, y: float) -> Group:
    """A cell of a tape."""
    box = Box(slot.x, y, block.columns.cell, HEIGHT, slot.role)
    name, key = block.named.slot_label(tape, slot.row), block.named.row_key(tape, slot.row)
    return cell(box, slot.value, name, slot.old, key=key)


def _readings(block: Block, sequence: SequenceTrace, step: int) -> Iterator[Thin]:
    """Yield the value that a step reads of a sequence, above every slot that is computed from it.

    If no slot of a tape is, it stands in the column of its own time.
    """
    index, x = int(sequence.axis.index[step]), None
    key = block.named.cell_key(sequence.name, index, step)
    role = Role.SEED if sequence.is_outer_gradient else Role.READ
    label = block.named.sequence_label(sequence, index)
    short = block.short(sequence, index, label)
    if block.named.scan.parent is not None and block.time.knows(sequence.axis):
        x = block.columns.left.get(block.time.column(sequence.axis.variable, index))
    columns = [] if sequence.is_outer_gradient else list(_written_columns(block, sequence, step))
    if x is None and not columns and block.lanes:  # no common time: above what the step writes
        tape = block.lanes[0].tape
        x = block.lanes[0].shown.get(int(tape.writes[0].rows[step]))
    lefts: list[float | None] = [*columns] if columns else [x]
    for left in dict.fromkeys(lefts):
        yield left, label, sequence.values[step], role, key, short


def _written_columns(block: Block, sequence: SequenceTrace, step: int) -> Iterator[float]:
    """Yield the columns of the slots that a step computes from a sequence."""
    targets = {
        (formula.target.argument, formula.target.tap)
        for formula in block.named.scan.formulas
        if any(leaf.argument == sequence.argument for leaf in leaves_of(formula.expression))
    }
    for lane in block.lanes:
        for write in lane.tape.writes:
            row = int(write.rows[step])
            if (lane.tape.argument, write.tap) in targets and row in lane.shown:
                yield lane.shown[row]


def _output(block: Block, output: TapeTrace, step: int, role: Role) -> Thin:
    """The gradient of a sequence that a step puts out, in the column of its value."""
    index = int(output.axis.index[step]) if output.axis is not None else step
    key = block.named.cell_key(output.name, index, step)
    label, x = block.named.tape_label(output, step), _column(block, output, step)
    return x, label, output.final[step], role, key, block.short(output, index, label)


def _ends(block: Block, tapes: Iterable[TapeTrace]) -> Iterator[Thin]:
    """The results of tapes that are not drawn."""
    named = block.named
    for tape in tapes:
        for row in sorted(named.wanted_rows(tape)) if not tape.is_total else [len(tape.final) - 1]:
            x = None if tape.is_total else _column(block, tape, row)
            name, key = named.slot_label(tape, row), named.row_key(tape, row)
            index = None if tape.is_total else index_of(tape, row)
            short = block.short(tape, index, named.tape_label(tape, row))
            yield x, name, tape.final[row], Role.RESULT, key, short


def _column(block: Block, output: TapeTrace, step: int) -> float | None:
    known = block.time.knows(output.axis)
    return block.columns.left.get(column_of(output, step, block.time) if known else step)


def _gaps(lane: Lane, y: float) -> Iterator[Text]:
    for x, gap in lane.columns.gaps:
        yield gap_text(gap, x, y + HEIGHT / 2 + 4, lane.columns.cell)


def _words(block: Block, lane: Lane, y: float, positions: str = "") -> Iterator[Text]:
    """The name of a tape, if there are several, and the positions that a step touches."""
    lines = _in_room(block, positions) if positions else []
    if block.has_several:
        lines = [lane.tape.name, *lines]
    room = block.labels - block.view.sheet.margin - 12
    for number, line in enumerate(lines):
        words = fitted(
            block.labels - 12, y + 32 + 13 * number, line, room, SMALL, "end", muted=True
        )
        if words.content not in ("", "…"):
            yield words


def _in_room(block: Block, words: str) -> list[str]:
    """The positions read and written in two lines, if there is no room for them in one."""
    if shortened(words, block.labels - block.view.sheet.margin - 12, SMALL) == words:
        return [words]
    read, arrow, written = words.partition(" → ")
    return [read, f"→ {written}"] if arrow else []


def _positions(lane: Lane, step: int) -> str:
    """``pos 0 → 1``: the positions that a step only reads, and those that it writes."""
    read, written = _read_and_written(lane, step)
    return f"pos {listed(read, 'none')} → {listed(written, 'none')}"


def _read_and_written(lane: Lane, step: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    tape = lane.tape.tape
    read = tape.positions(step, tape.preserved or tape.reads)
    return read, tape.positions(step, tape.writes)


def positions_key(block: Block) -> str:
    """What the positions beside the first step that has them say; empty where there are none."""
    step = next((one for one in block.steps if not isinstance(one, Gap)), None)
    if step is None or not block.lanes:
        return ""
    lane = block.lanes[0]
    read, written = _read_and_written(lane, step)
    does = "keeps" if lane.tape.tape.preserved else "reads"
    slots = f"slot{'s' * (len(read) > 1)} {listing(map(integers, read))}"
    told = f"{does} {slots}, changes {listing(map(integers, written))}"
    return f"{_positions(lane, step)}: step {step} {told}"
