"""A strip of small tapes: all Scans of a trace, with a frame around the Scan drawn below."""

from collections.abc import Iterator, Sequence

import numpy as np

from lab.notation import ranges_text
from lab.tape import Kind
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, TapeTrace, Trace
from visual.layout.cells import full_text
from visual.layout.columns import Gap, column_of, timeline, with_gaps
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.unrolled.contributions import fed_places
from visual.pictures.unrolled.quantities import reached_rows
from visual.scene.combinators import Piece, above, beside, gap, over, shifted, sized
from visual.scene.shapes import (
    Box,
    Group,
    Shape,
    Text,
    folded,
    outline,
    shortened,
    text_width,
)
from visual.scene.theme import Role

NARROWEST, APART = 150.0, 24.0
HIGH = 70.0  # a card
MOST_CARDS, MOST_CELLS, MOST_TAPES = 8, 10, 3
TOP = 28.0  # of the cells in a card
ANOTHER = "scan=1 shows the first"
EVERYTHING = f"{ANOTHER}, all=True shows all"


def overview(
    trace: Trace,
    opened: int,
    hint: str = EVERYTHING,
    sheet: Sheet = SCREEN,
) -> Piece:
    """Draw the Scans in execution order, in lines of up to four.

    The `opened` Scan has a frame, and the Scans that it reads have a thin frame.  Of more than
    eight Scans, the strip shows both ends, the `opened` Scan, and the Scan that it differentiates.
    """
    scans = list(NamedScan.each(trace))
    shown = with_gaps(_chosen(trace, opened))
    left = len(scans) - sum(not isinstance(item, Gap) for item in shown)
    words = [f"{counted(len(scans), 'Scan')}{f', {left} of them folded' if left else ''}"]
    words[0] += " and their final tapes"
    words.append(f"below: Scan {opened + 1}")
    if len(scans) > 2 and (read := [n + 1 for n in feeding(scans[opened].scan)]):
        words[-1] += f", which reads {ranges_text(read)} (thin frames)"
    if option := sheet.hint(hint, ""):
        words.append(option)
    across = int((sheet.line + APART) / (NARROWEST + APART))
    wide = (sheet.line + APART) / across - APART
    cards = [
        _folded(item, wide) if isinstance(item, Gap) else card(scans[item], opened, wide)
        for item in shown
    ]
    lines = [
        beside(*cards[start : start + across], apart=APART)
        for start in range(0, len(cards), across)
    ]
    heads = folded(" · ".join(words), sheet.line, 12)
    texts = [Text(0, 12 + 17 * n, line, 12, muted=True) for n, line in enumerate(heads)]
    strip = above(sized(sheet.line, 5 + 17 * len(texts), *texts), *lines, apart=8)
    return over(gap(sheet.width - sheet.margin), shifted(strip, sheet.margin, 0))


def _chosen(trace: Trace, opened: int) -> Sequence[int]:
    count = len(trace.scans)
    if count <= MOST_CARDS:
        return range(count)
    parent = trace.scans[opened].parent
    return sorted({0, 1, count - 1, opened, *([] if parent is None else [parent])})


def feeding(scan: ScanTrace) -> list[int]:
    """Return the numbers of the Scans that compute arguments of a Scan."""
    return sorted({feed.scan for feed in scan.feeds})


def given_at(of: NamedScan) -> tuple[int, str] | None:
    """Return the moment when a Scan has all its arguments: the end of the last Scan it reads."""
    feeds = feeding(of.scan)
    last = NamedScan(of.trace, feeds[-1]) if feeds else of
    return last.moment(last.scan.steps - 1) if feeds and last.scan.steps else None


def goes_back(of: NamedScan) -> bool:
    """Return whether a Scan runs backward in time, as the gradient of a forward Scan does.

    The tangent of a gradient has no parent; it has the tapes and the direction of the gradient.
    """
    if of.parent is None:
        return any(tape.kind is Kind.MIT_MOT for tape in of.scan.tapes)
    return not goes_back(of.parent)


def _steps(of: NamedScan) -> str:
    """Return the number of steps, or the step if the run recorded only one of them."""
    first, steps = of.scan.first, of.scan.steps
    return f"step {first:,}" if first and steps == 1 else counted(steps, "step")


def card(of: NamedScan, opened: int, wide: float) -> Piece:
    """Draw a Scan with its tapes after the last step; a slot appears with its last write."""
    is_open = of.number == opened
    frame: list[Shape] = [Box(0, 0, wide, HIGH, Role.PANEL)]
    is_read = len(of.trace.scans) > 2 and of.number in feeding(of.trace.scans[opened])
    lines = 2 if is_open else int(is_read)
    frame += [outline(n, n, wide - 2 * n, HIGH - 2 * n) for n in range(lines)]
    called = f"{of.number + 1} · {of.called}"
    size = 12 if text_width(called, 12, bold=is_open) <= wide - 20 else 11
    title = Text(10, 19, shortened(called, wide - 16, size, bold=is_open), size, bold=is_open)
    steps = f"{'←' if goes_back(of) else '→'} {_steps(of)}"
    tapes = [tape for tape in of.scan.held if not tape.is_total] or list(of.scan.held)
    words = Text(wide - 10, 62, steps, 11, "end", muted=True)
    cells: list[Shape] = []
    high, inner = 18 / min(max(len(tapes), 1), MOST_TAPES), wide - 20
    if len(tapes) > MOST_TAPES:
        more = Text(
            wide - 10, 41, f"+{len(tapes) - MOST_TAPES}", 11, "end", muted=True, title="tapes"
        )
        cells.append(more)
        inner -= more.width + 4
    for number, tape in enumerate(tapes[:MOST_TAPES]):
        cells += _small(of, tape, TOP + number * high, high - 2 * (len(tapes) > 1), inner)
    shapes = (*frame, title, words, *cells)
    return sized(wide, HIGH, Group(shapes, cell=f"scan:{of.number + 1}", title=of.whereabouts))


def _small(of: NamedScan, tape: TapeTrace, y: float, high: float, inner: float) -> Iterator[Shape]:
    """Yield the slots of a tape in order of time; of a long tape, the slots at both ends."""
    time = timeline(of.root.scan)
    size = len(tape.final)
    rows: list[int] = [*range(size)]
    if size > MOST_CELLS:
        rows = [*range(5), *range(size - 4, size)]
    rows.sort(key=lambda row: column_of(tape, row, time))
    room = 24 if size > MOST_CELLS else 0
    wide = min(26.0, (inner - room) / len(rows)) if rows else 0
    for place, row in enumerate(rows):
        x = 10 + place * wide + (room if place >= len(rows) // 2 else 0)
        if room and place == len(rows) // 2 and y == TOP:  # for all tapes
            yield Text(x - room / 2, TOP + 13, "⋯", 11, "middle", muted=True)
        title = f"{of.slot_label(tape, row)} = {full_text(tape.final[row])}"
        box = Box(x, y, wide - 3, high, _role(of, tape, row))
        step, moment = given_at(of) or (None, "")
        if writers := [int(n) for w in tape.writes for n in np.flatnonzero(w.rows == row)[-1:]]:
            step, moment = of.moment(max(writers))
        yield Group((box,), step, of.row_key(tape, row), title, moment)


def _role(of: NamedScan, tape: TapeTrace, row: int) -> Role:
    """Return the role of a row of a tape after the last step."""
    if of.parent is None:
        return Role.INPUT if row < tape.tape.origin else Role.INTERMEDIATE
    is_result = of.is_passed_on(tape) and row in of.wanted_rows(tape)
    return Role.RESULT if is_result else Role.INTERMEDIATE


def outputs_reached(of: ScanOf) -> set[tuple[str, int]]:
    """Return the slots of a loop with a nonzero direct gradient of the cost."""
    fed = fed_places(of.trace)
    return {
        (tape.name, int(tape.axis.index[row]))
        for tape in of.scan.held
        if tape.axis is not None
        for row in reached_rows(of, tape, fed)
    }


def _folded(gap: Gap, wide: float) -> Piece:
    """Draw a card for the Scans that are not shown."""
    lines = folded(f"⋯ {counted(gap.hidden, 'Scan')} hidden", wide - 20, 12)
    texts = [Text(10, HIGH / 2 - 5 + 17 * n, line, 12, muted=True) for n, line in enumerate(lines)]
    return sized(wide, HIGH, *texts)
