"""The tape picture: the slots that every backward step reads, overwrites, and preserves.

A first derivative has its loop on top, and below it the tape of its gradient.  For a higher order,
all Scans are on top as small tapes, and one of them is open below.  There a row is a step and
shows its tapes after that step: the old value struck through where it was overwritten, an arrow
from each slot that was read, and below it the formula, in symbols and in numbers.  Time runs from
left to right everywhere, so that the work of a backward loop moves leftwards.
"""

from dataclasses import replace

from lab.equations.spelling import result_words, untaken_words
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import Columns, finished
from visual.layout.cells import values_text
from visual.layout.columns import Steps, one_or_more, timeline
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan, seeds_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of, switch
from visual.pictures.tapes.backward import at_end, positions_key, rows
from visual.pictures.tapes.block import Block, block_of
from visual.pictures.tapes.formulas import with_formulas
from visual.pictures.tapes.forward import forward_block
from visual.pictures.tapes.lanes import View
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import Piece, above, gap, shifted, sized
from visual.scene.shapes import Scene, Text, fitted, folded, picture_function


@picture_function
def tapes(
    trace: Trace,
    step: Steps = None,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the tapes of a trace, 840 pixels wide or as wide as `sheet`, and as high as they need.

    A loop alone is open, and so are a loop and its one derivative.  Of more Scans one is, number
    `scan`, or else the one that holds the result; the others are above it as small tapes.  If not
    all steps fit in the width, both ends of the loop are shown, and the steps next to `step`, or
    to several.  With `all`, everything is open, in a picture of any size.
    """
    of_trace(trace)
    check_sheet(sheet)
    number = opened(trace, scan, [n for n, one in enumerate(trace.scans) if has_tape(one)])
    requested = one_or_more("step", step)
    for one in requested:
        if not switch("all", all):
            step_of(trace.scans[number], one)
    said = (*result_words(trace), *untaken_words(trace))
    shown = range(len(trace.scans)) if switch("all", all) else [number]
    view = View(requested, all, sheet, said, seeds_of(trace, shown))
    if all:
        part, width = _everything(trace, view)
        return _finished(trace, part, width, view)
    named = NamedScan(trace, number)
    pair = scan is None and [one.parent for one in trace.scans] == [None, 0]
    block, top = block_of(named, view, pair), list[Piece]()
    if not pair and len(trace.scans) > 1:
        top.append(overview(trace, number, sheet=sheet))
    if pair or not has_tape(named.scan):
        top.append(_loop(named.root if pair else named, block.columns, view))
    if has_tape(named.scan):
        top.append(_scan(block))
    view = replace(view, said=(*view.said, *block.told_in_short))
    return _finished(trace, above(*top, apart=20), sheet.width, view)


def _everything(trace: Trace, view: View) -> tuple[Piece, float]:
    """All Scans below one another, and the width of the picture."""
    parts, right = [], view.sheet.width - view.sheet.margin
    for named in NamedScan.each(trace):
        block = block_of(named, view)
        right = max(right, block.room)
        open_scan = has_tape(named.scan)
        parts.append(_scan(block) if open_scan else _loop(named, block.columns, view))
    return above(*parts, apart=30), right + view.sheet.margin


def _scan(block: Block) -> Piece:
    """The rows of a Scan with their formulas, below its heading."""
    return above(_heading(block), with_formulas(block, rows(block)))


def _loop(named: NamedScan, columns: Columns, view: View) -> Piece:
    """A loop as values over time."""
    time = timeline(named.root.scan)
    return forward_block(named, columns, time, view.sheet, faded=view.all)


def _heading(block: Block) -> Piece:
    """The title of a Scan, and the lines below it."""
    named, sheet, every = block.named, block.view.sheet, block.view.all
    title, lines = block_heading(named, block.outputs, in_short=not every)
    if not every:
        lines = ["; ".join(filter(None, [*lines, positions_key(block)]))]
    titles = folded(title, sheet.line, 16, bold=True)
    told = [part for line in (*lines, block.hidden) for part in folded(line, sheet.line, 12)]
    texts = [
        Text(sheet.margin, 16 + 21 * n, line, 16, bold=True, title=named.whereabouts)
        for n, line in enumerate(titles)
    ]
    top = 16 + 21 * (len(titles) - 1)
    texts += [
        fitted(sheet.margin, top + 18 * n, line, sheet.line, 12, muted=True)
        for n, line in enumerate(filter(None, told), start=1)
    ]
    return sized(sheet.width - sheet.margin, texts[-1].y + 10, *texts)


def has_tape(scan: ScanTrace) -> bool:
    """Whether its steps are shown: they write over a tape, as all derivatives may, or carry one."""
    return (
        scan.parent is not None
        or scan.carries
        or any(tape.kind is Kind.MIT_MOT for tape in scan.tapes)
    )


def _finished(trace: Trace, part: Piece, width: float, view: View) -> Scene:
    """The picture with the results in numbers, and the legend."""
    sheet = view.sheet
    results = at_end(NamedScan(trace, len(trace.scans) - 1), _results(trace, sheet))
    names = ", ".join(f"{scan.name} ({scan.steps} steps)" for scan in trace.scans)
    order = max(scan.order for scan in trace.scans)
    return finished(
        shifted(above(part, results, apart=8), 0, max(4, sheet.margin - 8)),
        None,
        sheet=sheet,
        width=width,
        title=f"Tapes of {trace.scans[0].name}, derivative of order {order}",
        description=f"What every step reads, overwrites and leaves, in {names}.",
        said=view.said,
        close=True,
        seeds=view.seeds,
    )


def _results(trace: Trace, sheet: Sheet) -> Piece:
    """What was asked for, in numbers."""
    named = zip(trace.names, trace.outputs, strict=True)
    told = " · ".join(f"{name} = {values_text(value)}" for name, value in named if name)
    if not told:
        return gap()
    lines = folded(told, sheet.line - 70, 13)
    lines = [*lines[:2], f"⋯ {len(lines) - 2} more lines"] if len(lines) > 3 else lines
    texts = [Text(sheet.margin + 70, 13 + 18 * n, line, 13) for n, line in enumerate(lines)]
    head = Text(sheet.margin, 13, "Results", 13, bold=True)
    return sized(sheet.width - sheet.margin, 18 * len(lines) + 14, head, *texts)
