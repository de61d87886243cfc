"""The rows of one backward Scan in a tape picture.

A row is a step.  It shows, from top to bottom, the forward values that the step reads,
every tape after the step, and the gradients of sequences that come out; to the right the
running totals of the parameters' gradients, and below all of them the formulas.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.equations.quantities import index_of
from lab.errors import listing
from lab.notation import leaves_of, signed
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.canvas import FOLDED, column_header, gap_text
from visual.layout.cells import TWO_LINES, cell, thin_cell, thin_width, usual_width
from visual.layout.columns import WINDOW, Gap, column_of
from visual.layout.names import NamedScan, at_moment, listed
from visual.layout.sheet import CLICK
from visual.pictures.tapes.arrows import Places, step_arrows
from visual.pictures.tapes.block import CLOSE, LOW, SMALL, TIGHT, Block
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
            if block.folds:
                clicked = _steps(step + 1, step + min(item.hidden, WINDOW))
                how = f"unfold={step + 1} opens it", f"a click opens {clicked}"
                words += block.view.sheet.hint(*how)
            text = Text(block.labels, 14, words, 12, muted=True)
            yield None, as_row(block, 24, _fold(text, step=step + 1) if block.folds else text)
        else:
            step = item
            if step in block.opened:
                told = f"fold {_steps(step, block.opened[step])} again"
                text = Text(block.labels, 14, told, 12, muted=True)
                yield None, as_row(block, 24, _fold(text, step=step, title=FOLDED))
            yield item, _in_short(block, item) if block.is_short(item) else _step(block, item)
    yield None, at_end(block.named, _result(block))


def at_end(named: NamedScan, part: Piece) -> Piece:
    """What is seen from the last step of a Scan on, when one walks."""
    if not named.scan.steps or not part.shapes:
        return part
    number, moment = named.moment(named.scan.steps - 1)
    return grouped(part, Group((), step=number, moment=moment))


def _steps(first: int, last: int) -> str:
    return f"steps {first} to {last}" if last > first else f"step {first}"


def _fold(*words: Shape, step: int, title: str = "") -> Group:
    return Group(words, cell=f"unfold:{step}", title=title or f"opened at step {step}")


def fold_of_tapes(block: Block, words: Sequence[Text]) -> Sequence[Shape]:
    """What tells that tapes are left out; a click, where one can be, opens a step with all."""
    tapes = [tape for tape in block.named.scan.tapes if not tape.is_total]
    steps = [step for step in block.steps if not isinstance(step, Gap)]
    can_be = block.view.sheet.opened_by == CLICK and block.view.step is None and steps
    return [_fold(*words, step=steps[0])] if can_be and len(block.lanes) < len(tapes) else words


def opens_alone(block: Block, step: int, text: Text) -> Shape:
    """A word that opens a step in a picture of its own, where there is one who can."""
    if block.view.sheet.opened_by != CLICK or block.view.sheet.bare:
        return text
    moment, called = block.named.moment(step)
    return Group((text,), cell=f"moment:{moment}", title=f"{called}, alone and large")


def as_row(block: Block, height: float, *shapes: Shape) -> Piece:
    """Shapes in the room of a row, if it is bare without its names."""
    if block.view.sheet.bare:
        shapes = tuple(s for s in shapes if not isinstance(s, Text) or s.left >= block.labels)
    return sized(block.room, height, *shapes)


def _label(block: Block, label: str, y: float, low: bool = False) -> Text:
    """The name of a row; that of its first tape stands beside it, if both have but one line."""
    if low and block.has_several:
        return Text(block.view.sheet.margin, y, label, 13, bold=True)
    size = 13 if text_width(label, 13, bold=True) <= block.labels - 12 else 11
    return Text(block.labels - 12, y, label, size, "end", bold=True)


# Rows


def _initial(block: Block) -> Piece:
    named, y, low = block.named, 0.0, block.line == LOW
    shapes: list[Shape] = [_label(block, "initial", HEADER + (15 if low else 18), low)]
    slots: list[Shape] = []
    named_columns = bool(block.totals)
    for tape, x in block.totals:
        shapes += _header(block, x, y, named.tape_label(tape, None), tape.name)
        slot = Slot(0, x, Role.INTERMEDIATE, tape.initial[0])
        slots.append(_slot(block, tape, slot, HEADER, block.line))
    for lane in block.lanes:
        own = lane.columns is not block.lanes[0].columns
        header = HEADER if own or block.rows < TIGHT or lane is block.lanes[0] else 0
        for slot in lane.before():
            label = named.tape_label(lane.tape, slot.row) or lane.tape.name
            label = block.short(lane.tape, index_of(lane.tape, slot.row), label)
            position = f"pos {signed(lane.tape.position(slot.row))}"
            position = "" if block.view.sheet.bare else position
            shapes += _header(block, slot.x, y, label, position) if header else ()
            named_columns = named_columns or label != lane.tape.name
            slots.append(_slot(block, lane.tape, slot, y + header, block.line))
        y += header
        shapes += [*_gaps(block, lane, y, block.line), *_begins(block, lane, y, header)]
        y += block.line + (6 if header else 4)
    if not block.lanes:
        y = HEADER + block.line + 6
    if named_columns:  # at first a slot holds less than what it is called
        shapes.append(Text(block.labels - 12, 14, "becomes", SMALL, "end", muted=True))
    return as_row(block, y + 4, *shapes, *_at_start(block, slots))


def _begins(block: Block, lane: Lane, y: float, header: float) -> Iterator[Text]:
    """Yield the name of a tape, or the origin of its initial values: ``output of Scan 3``."""
    named, low = block.named, block.line == LOW
    is_fed = named.parent is not None and named.seeded_by(lane.tape.argument)
    if not is_fed or low:
        yield from _words(block, lane, y, low=low)
    if is_fed and header and not block.view.sheet.bare:
        x, room = block.labels - 12, block.labels - block.view.sheet.margin - 12
        whole, brief = f"seeds {named.seeds}", named.seeds.removeprefix("output of ")
        ways = [whole, named.seeds, brief] if low else [named.seeds, brief]
        fits = [told for told in ways if text_width(told, SMALL) <= room][:1]
        lines = fits if low else [named.direct_label(lane.tape, None), *fits]
        for n, line in enumerate(lines):
            yield fitted(x, y + (-7 if low else 32 + 13 * n), line, room, SMALL, "end", muted=True)


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
    low = block.rows == TIGHT
    shapes.append(
        opens_alone(block, step, _label(block, f"step {step}", y + (21 if low else 18), low))
    )
    if block.closes == step:  # where its row, which was opened alone of all, was a line before
        at = block.view.sheet.margin, y + (36 if low and block.has_several else 18)
        fold = Text(*at, "fold", SMALL, muted=True)
        shapes.append(Group((fold,), cell=f"row:{step}", title=FOLDED))
    places: Places = {}
    for tape, x in block.totals:
        written, read = tape.writes[0], tape.reads[0]
        row, value, old = int(written.rows[step]), written.values[step], read.values[step]
        shapes.append(_slot(block, tape, Slot(row, x, Role.OVERWRITTEN, value, old), y))
        places[tape.argument, row] = Box(x, y, block.columns.cell, block.height, Role.OVERWRITTEN)
    for lane in block.lanes:
        for slot in lane.after(step):
            box = Box(slot.x, y, block.columns.cell, block.height, slot.role)
            places[lane.tape.argument, slot.row] = box
            shapes.append(_slot(block, lane.tape, slot, y))
        pos = "" if low and block.has_several else _positions(lane, step)
        shapes += [*_gaps(block, lane, y), *_words(block, lane, y + 6 * low, pos, low=not pos)]
        band = WIDE if block.is_roomy and lane is not block.lanes[-1] else BAND
        y += block.height + (4 if block.rows == TIGHT else band - 2 * (block.rows == CLOSE))
    if not block.lanes:
        y += block.height + 4
    outputs = [
        _output(block, out, step, Role.RESULT if named.is_passed_on(out) else Role.UNNEEDED)
        for out in block.outputs
    ]
    arrows = list[Shape]()
    if block.rows < TIGHT:
        arrows += step_arrows(block.spell, step, places, not block.view.sheet.bare)
    if block.lanes and block.rows < TIGHT:  # below the last tape, a label has room if there is one
        told = [envelope_of(shape).bottom for shape in arrows if not isinstance(shape, Arrow)]
        y = min(y, max([y - 10, *(bottom + (4 if block.is_roomy else -1) for bottom in told)]))
    more, y = _in_lines(block, outputs, y)
    return as_row(block, y, *shapes, *more, *arrows)


def _in_short(block: Block, step: int) -> Piece:
    """The tapes after a step, a line for each; its name opens it."""
    shapes, y = list[Shape](), 0.0
    for tape, x in block.totals:
        access = tape.writes[0]
        slot = Slot(int(access.rows[step]), x, Role.OVERWRITTEN, access.values[step])
        shapes.append(_slot(block, tape, slot, y, LOW))
    for lane in block.lanes:
        slots = (replace(slot, old=None) for slot in lane.after(step))
        shapes += [_slot(block, lane.tape, slot, y, LOW) for slot in slots]
        shapes += [*_gaps(block, lane, y, LOW), *_words(block, lane, y, low=True)]
        y += LOW + 4
    label = _label(block, f"step {step}", 15, low=True)
    name = Group((label,), cell=f"row:{step}", title="opened, alone of all rows")
    return as_row(block, max(y, LOW + 4) + 2, *shapes, name)


def _result(block: Block) -> Piece:
    scan, named, y = block.named.scan, block.named, 0.0
    if scan.carries:  # its last row shows them
        return as_row(block, 4)

    def passed_on(tape: TapeTrace) -> bool:
        return scan.parent is None or named.is_passed_on(tape)

    shapes: list[Shape] = []
    low = block.line == LOW
    for tape, x in block.totals:
        if passed_on(tape):
            slot = Slot(len(tape.final) - 1, x, Role.RESULT, tape.final[-1])
            shapes.append(_slot(block, tape, slot, y, block.line))
    for lane in block.lanes:
        if passed_on(lane.tape):
            results = lane.result(named.wanted_rows(lane.tape))
            shapes += [_slot(block, lane.tape, slot, y, block.line) for slot in results]
            shapes += [*_gaps(block, lane, y, block.line), *_words(block, lane, y, low=low)]
            y += block.line + 6
    if shapes and not y:
        y = block.line + 6
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
        shapes.append(_label(block, "result", 15 if low else 18, low))
    return as_row(block, y + 4, *shapes)


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
        width = thin_width if block.idle else usual_width  # if all is open, all digits are
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


def _slot(
    block: Block, tape: TapeTrace, slot: Slot, y: float, height: float | None = None
) -> Group:
    """A cell of a tape."""
    box = Box(slot.x, y, block.columns.cell, height or block.height, slot.role)
    parts = slot.parts if block.view.contributions and box.height > LOW else None
    name, key = block.named.slot_label(tape, slot.row), block.named.row_key(tape, slot.row)
    return cell(box, slot.value, name, slot.old, None, key, parts=parts)


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


def _gaps(block: Block, lane: Lane, y: float, height: float | None = None) -> Iterator[Shape]:
    for x, gap in lane.columns.gaps:
        text = gap_text(gap, x, y + (height or block.height) / 2 + 4, block.columns.cell)
        hidden = lane.columns.folded(x, gap)
        step = lane.first_of(hidden, block.steps, next(iter(block.folds), None))
        yield text if step is None else _fold(text, step=step)


def _words(
    block: Block, lane: Lane, y: float, positions: str = "", low: bool = False
) -> Iterator[Text]:
    """Which tape a lane shows, if there are several, and what a step does to it."""
    lines = _in_room(block, positions) if positions and not block.view.sheet.bare else []
    if block.has_several:
        lines = [lane.tape.name, *lines]
    taken = 60 if low and lane is block.lanes[0] else 12  # by the name of the row, beside it
    room = block.labels - block.view.sheet.margin - taken
    for number, line in enumerate(lines):
        baseline = y + (15 if low else 32) + 13 * number
        words = fitted(block.labels - 12, baseline, line, room, SMALL, "end", muted=True)
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
    whole = (one for one in block.steps if not (isinstance(one, Gap) or block.is_short(one)))
    step = next(whole, None)
    if step is None or not block.lanes:
        return ""
    lane = block.lanes[0]
    read, written = _read_and_written(lane, step)
    does = "keeps" if lane.tape.tape.preserved else "reads"
    slots = f"slot{'s' * (len(read) > 1)} {listing(map(signed, read))}"
    told = f"{does} {slots}, changes {listing(map(signed, written))}"
    return f"{_positions(lane, step)}: step {step} {told}"
