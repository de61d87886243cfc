"""The tape picture: what every backward step reads, overwrites and leaves.

A first derivative has its loop on top, and below it the tape of its gradient.  Of a higher one
all Scans stand on top as small tapes, and one of them is open below.  There a row is a step and
shows its tapes after that step: the old value struck through where it was overwritten, an arrow
from what was read, and below it the formula, then the same formula in numbers.  Time runs from
left to right everywhere, so that the work of a backward loop moves leftwards.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from math import inf

from lab.equations.spelling import result_words, untaken_words
from lab.errors import ArgumentError, quoted
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import Columns, finished
from visual.layout.cells import values_text
from visual.layout.columns import Unfold, one_or_more, timeline
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan, seeds_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of, switch, whole_or_none
from visual.pictures.tapes.backward import at_end, fold_of_tapes, positions_key, rows
from visual.pictures.tapes.block import Block
from visual.pictures.tapes.fit import EVERYTHING, SEVERAL, Plan, block_of, plans
from visual.pictures.tapes.formulas import DETAILS, is_cut, with_formulas
from visual.pictures.tapes.forward import forward_block
from visual.pictures.tapes.lanes import View
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import Piece, above, gap, shifted, sized
from visual.scene.shapes import Scene, Text, fitted, folded, of_run, walk

PARTS_LINE = "below each value: what came from the cost directly + what came through later steps"
PARTS_OF_ARRAYS = "; of arrays the norms of both parts, which do not add up"


@of_run
def tapes(
    trace: Trace,
    theme: str = "light",
    unfold: Unfold = None,
    step: int | None = None,
    buffer: bool = False,
    contributions: bool = False,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The tape picture of a trace, 840 pixels wide and at most 1,200 high, or as `sheet` says.

    A loop alone is open, and so are a loop and its one derivative.  Of more Scans one is, number
    `scan`, or else the one that holds the result; the others stand above it as small tapes.
    What has no room is folded, and a word tells so: steps (those next to `unfold` are shown, and of
    several the last whose columns find room), tapes, formulas.  With `all` everything is open, in a
    picture of any size.  With `step` only the row of that step is drawn.  With `buffer` the tapes
    stand in the order of their buffers, from the lowest position to the highest, instead of that of
    time.  With `contributions` every cell tells how much of its value came from the cost directly,
    and how much through later steps.
    """
    of_trace(trace)
    check_sheet(sheet)
    number = opened(trace, scan, [n for n, one in enumerate(trace.scans) if has_tape(one)])
    buffer, contributions = switch("buffer", buffer), switch("contributions", contributions)
    step, unfolded = whole_or_none("step", step), one_or_more("unfold", unfold)
    if step is not None and switch("all", all):
        last = max(one.steps for one in trace.scans) - 1
        if step not in range(last + 1):
            raise ArgumentError(f"step = {quoted(step)}: the loops of this trace make 0 to {last}.")
    elif step is not None:
        step_of(trace.scans[number], step)
    unfolded = unfolded or (() if step is None else (step,))
    said = (*result_words(trace), *untaken_words(trace))
    shown = range(len(trace.scans)) if switch("all", all) else [number]
    seeds = seeds_of(trace, shown)
    view = View(unfolded, step, buffer, contributions, sheet, said, seeds)
    pair = scan is None and [one.parent for one in trace.scans] == [None, 0]
    if all:
        part, width = _everything(trace, view)
        return _finished(trace, part, width, view, theme)
    return _open(trace, view, number, pair, theme)


def _open(trace: Trace, view: View, number: int, pair: bool, theme: str) -> Scene:
    """The picture with one Scan open, or with a `pair`, that shows the most of those that fit."""
    named, sheet = NamedScan(trace, number), view.sheet
    tried, cards, said = list[Piece](), list[Piece](), view.said
    known = set[tuple[bool, tuple[object, ...]]]()  # of short loops many plans are one
    fewer = replace(view, unfold=view.unfold[1:])
    if fewer.unfold:  # a step that is opened closes no other, as long as their columns find room
        sheet = replace(sheet, height=inf)
        view = replace(view, sheet=sheet)
    for plan in SEVERAL if fewer.unfold else plans(pair, sheet):
        block = block_of(named, view, plan)
        if block is None or (plan.both, block.layout) in known:
            continue
        known.add((plan.both, block.layout))
        if not (plan.both or len(trace.scans) == 1 or sheet.bare):
            cards = cards or [overview(trace, number, sheet=sheet)]
        top = [] if plan.both else [*cards]
        apart = 9 if plan.close else 20
        if plan.both or not has_tape(named.scan):
            loop = named.root if plan.both else named
            top.append(_loop(loop, block.columns, plan, sheet))
        bodies = _bodies(block) if has_tape(named.scan) else iter([gap()])
        least = next(bodies)
        tried.append(above(*top, least, apart=apart))
        if tried[-1].envelope.bottom > sheet.height:  # and results and legend come to it
            continue
        view = replace(view, said=(*said, *block.told_in_short))
        drawn = _finished(trace, tried[-1], sheet.width, view, theme)
        if drawn.height > sheet.height:
            continue
        for body in bodies:
            if drawn.height - least.envelope.height + body.envelope.height <= sheet.height:
                fuller = _finished(trace, above(*top, body, apart=apart), sheet.width, view, theme)
                if fuller.height <= sheet.height:
                    return fuller
        return drawn
    if fewer.unfold:
        return _open(trace, fewer, number, pair, theme)
    every = (_finished(trace, part, sheet.width, view, theme) for part in tried)
    return min(every, key=lambda one: one.height)  # the last plan is never too wide


def _bodies(block: Block) -> Iterator[Piece]:
    """A Scan without the formulas of its steps, then with most of them, then with fewer."""
    drawn, heading = [*rows(block)], _heading(block)
    *most, least = DETAILS
    for detail in (least, *(most if not block.view.sheet.bare else ())):
        body = above(heading, with_formulas(block, drawn, detail))
        if detail not in ("lines", "line") or not any(map(is_cut, walk(body.shapes))):
            yield body  # else every formula stands once, and whole, below all steps


def _everything(trace: Trace, view: View) -> tuple[Piece, float]:
    """All Scans below one another, with all their formulas."""
    parts, right = [], view.sheet.width - view.sheet.margin
    for named in NamedScan.each(trace):
        block = block_of(named, view, EVERYTHING)
        assert block is not None  # there is room for everything
        right = max(right, block.room)
        if has_tape(named.scan):
            heading = _heading(block, whole=True)
            parts.append(above(heading, with_formulas(block, rows(block), DETAILS[0])))
        else:
            parts.append(_loop(named, block.columns, EVERYTHING, view.sheet))
    return above(*parts, apart=30), right + view.sheet.margin


def _loop(named: NamedScan, columns: Columns, plan: Plan, sheet: Sheet) -> Piece:
    """A loop that is open."""
    most = plan.tapes if plan.fits else None
    time = timeline(named.root.scan)
    return forward_block(named, columns, time, sheet, most, faded=not plan.fits)


def _heading(block: Block, whole: bool = False) -> Piece:
    """What a Scan is, in a title and up to three lines."""
    named, sheet = block.named, block.view.sheet
    if sheet.bare:
        return gap()
    title, lines = block_heading(named, block.outputs, in_short=not whole)
    told = lines if whole else ["; ".join(lines)]
    said = [part for line in told for part in folded(line, sheet.line, 12)]
    if (key := positions_key(block)) and not whole:  # if it takes no line of its own
        more = folded(f"{told[0]}; {key}", sheet.line, 12)
        said = more if len(more) == len(said) else said
    if sheet.is_low and not whole:  # whole parts of it, as many as find room in a line
        kept = [f"{one}{block.opens}" for one in accumulate(lines, "{}; {}".format)]
        said = [one for one in kept if folded(one, sheet.line, 12) == [one]][-1:]
        said = said or folded(lines[0], sheet.line, 12)
    elif len(said) > 3 and not whole:
        said = [*said[:2], f"⋯ {len(said) - 2} more lines{sheet.all_shows('them')}"]
    titles = folded(title, sheet.line, 16, bold=True)[: None if whole else 2]
    texts = [
        Text(sheet.margin, 16 + 21 * n, line, 16, bold=True, title=named.whereabouts)
        for n, line in enumerate(titles)
    ]
    top = 16 + 21 * (len(titles) - 1)
    hidden = folded(block.hidden, sheet.line, 12) if block.hidden else []
    texts += [
        fitted(sheet.margin, top + 18 * (n + 1), line, sheet.line, 12, muted=True)
        for n, line in enumerate([*said, *hidden])
    ]
    top += 18 * len([*said, *hidden])
    shapes = [*texts[: len(texts) - len(hidden)], *fold_of_tapes(block, texts[-len(hidden) :])]
    return sized(sheet.width - sheet.margin, top + 10, *(shapes if hidden else texts))


def has_tape(scan: ScanTrace) -> bool:
    """Whether its steps are shown: they write over a tape, as all derivatives may, or carry one."""
    return (
        scan.parent is not None
        or scan.carries
        or any(tape.kind is Kind.MIT_MOT for tape in scan.tapes)
    )


def _finished(trace: Trace, part: Piece, width: float, view: View, theme: str) -> Scene:
    """The picture with the results in numbers, and the legend."""
    sheet = view.sheet
    results = at_end(NamedScan(trace, len(trace.scans) - 1), _results(trace, sheet))
    whole = shifted(above(part, results, apart=8), 0, max(4, sheet.margin - 8))
    arrays = any(tape.initial.ndim > 1 for scan in trace.scans for tape in scan.tapes)
    parts = PARTS_LINE + (PARTS_OF_ARRAYS if arrays else "")
    names = ", ".join(f"{scan.name} ({scan.steps} steps)" for scan in trace.scans)
    order = max(scan.order for scan in trace.scans)
    return finished(
        whole,
        None,
        sheet=sheet,
        width=width,
        title=f"Tapes of {trace.scans[0].name}, derivative of order {order}",
        description=f"What every step reads, overwrites and leaves, in {names}.",
        theme=theme,
        said=[
            *([parts] if view.contributions else ()),
            *view.said,
        ],
        close=True,
        seeds=view.seeds,
    )


def _results(trace: Trace, sheet: Sheet) -> Piece:
    """What was asked for, in numbers."""
    named = zip(trace.names, trace.outputs, strict=True)
    told = " · ".join(f"{name} = {values_text(value)}" for name, value in named if name)
    if not told or sheet.bare:
        return gap()
    lines = folded(told, sheet.line - 70, 13)
    lines = [*lines[:2], f"⋯ {len(lines) - 2} more lines"] if len(lines) > 3 else lines
    texts = [Text(sheet.margin + 70, 13 + 18 * n, line, 13) for n, line in enumerate(lines)]
    head = Text(sheet.margin, 13, "Results", 13, bold=True)
    return sized(sheet.width - sheet.margin, 18 * len(lines) + 14, head, *texts)
