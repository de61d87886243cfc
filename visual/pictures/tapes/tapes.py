"""The tape picture: what every backward step reads, overwrites and leaves.

A first derivative has its loop on top, and below it the tape of its gradient.  Of a higher one
all Scans stand on top as small tapes, and one of them is open below.  There a row is a step and
shows its tapes after that step: the old value struck through where it was overwritten, an arrow
from what was read, and below it the formula, then the same formula in numbers.  Time runs from
left to right everywhere, so that the work of a backward loop moves leftwards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import inf

from lab.equations.spelling import result_words, untaken_words
from lab.errors import ArgumentError, quoted
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import Columns, finished, numbers
from visual.layout.cells import values_text
from visual.layout.columns import Unfold, one_or_more, timeline
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan, seeds_of
from visual.layout.sheet import CLICK, SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of, switch, whole_or_none
from visual.pictures.tapes.backward import at_end, fold_of_tapes, positions_key, rows
from visual.pictures.tapes.block import CLOSE, Block
from visual.pictures.tapes.fit import BRIEF, EVERYTHING, FULL, NAMES, Plan, block_of, fitting
from visual.pictures.tapes.formulas import DETAILS, is_cut, with_formulas
from visual.pictures.tapes.forward import forward_block
from visual.pictures.tapes.lanes import View
from visual.pictures.unrolled.overview import HIGH, LOW, NAME, overview
from visual.scene.combinators import Piece, above, envelope_of, gap, over, piece, shifted, sized
from visual.scene.shapes import Scene, Text, fitted, folded, of_run, walk

Row = tuple[int | None, Piece]
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
    can_be_folded = view.sheet.opened_by == CLICK and view.step is None
    if view.unfold and view.usual is None and can_be_folded:
        picture, plan = _fitted(trace, replace(view, unfold=()), number, pair, theme)
        usual = frozenset(numbers(picture.shown(plan).steps))
        view = replace(view, usual=usual)
    picture, plan = _fitted(trace, view, number, pair, theme)
    if view.unfold[1:] and not picture.fits(plan):
        return _open(trace, replace(view, unfold=view.unfold[1:]), number, pair, theme)
    return picture.drawn(plan)


def _fitted(
    trace: Trace, view: View, number: int, pair: bool, theme: str
) -> tuple["_Picture", Plan]:
    """The picture with one Scan open, and how much of it there is room for."""
    several = bool(view.unfold[1:])
    if several:  # a step that is opened closes no other, as long as their columns find room
        view = replace(view, sheet=replace(view.sheet, height=inf))
    picture = _Picture(trace, NamedScan(trace, number), view, theme)
    most = Plan(
        detail=DETAILS[-1 if view.sheet.bare else 0],
        both=pair,
        top=BRIEF if view.sheet.is_low else FULL,
        ends=1 if several else None,
    )
    return picture, fitting(most, picture.fits)


class _Picture:
    """The picture with one Scan open, by any plan; what plans have in common is drawn once."""

    def __init__(self, trace: Trace, named: NamedScan, view: View, theme: str) -> None:
        self.trace, self.named, self.view, self.theme = trace, named, view, theme
        self.block, self.strip = cache(self._block), cache(self._strip)
        self.begun = dict[object, tuple[list[Row], Iterator[Row]]]()
        self.scenes = dict[object, Scene]()
        self.least = dict[int, float]()

    def fits(self, plan: Plan) -> bool:
        """Whether it has room for a plan; formulas that are cut stand better below all steps."""
        block, height = (
            self.block(replace(plan, detail="", top=FULL, below=FULL)),
            self.view.sheet.height,
        )
        if (
            block is None
            or sum(part.envelope.height for _, part in self._rows(block, height)) > height
        ):
            return False
        body = self._body(block, plan)
        least = self.least.get(plan.below, 0.0)  # what stands below it is nearly always as high
        if body.envelope.bottom + least > height:
            return False
        if plan.detail in ("lines", "line") and any(map(is_cut, walk(body.shapes))):
            return False
        return self.drawn(plan).height <= height

    def drawn(self, plan: Plan) -> Scene:
        """The picture by a plan whose columns have room."""
        block = self.shown(plan)
        key = (block.layout, plan.detail, plan.both, plan.top, plan.below)
        if key not in self.scenes:
            body = self._body(block, plan)
            view = replace(self.view, said=(*self.view.said, *block.told_in_short))
            drawn = _finished(self.trace, body, view.sheet.width, view, self.theme, plan.below)
            least = drawn.height - body.envelope.bottom
            self.least[plan.below] = min(least, self.least.get(plan.below, least))
            self.scenes[key] = drawn
        return self.scenes[key]

    def shown(self, plan: Plan) -> Block:
        """What is open by a plan whose columns have room."""
        block = self.block(replace(plan, detail="", top=FULL, below=FULL))
        assert block is not None
        return block

    def _block(self, plan: Plan) -> Block | None:
        return block_of(self.named, self.view, plan)

    def _strip(self, told: int) -> Piece:
        tall = (HIGH, LOW, NAME)[told]
        return overview(self.trace, self.named.number, sheet=self.view.sheet, tall=tall)

    def _rows(self, block: Block, most: float = inf) -> list[Row]:
        """The rows of a Scan, as many as there is room for and one more."""
        found, others = self.begun.setdefault(block.layout, ([], rows(block)))
        while sum(part.envelope.height for _, part in found) <= most:
            if (row := next(others, None)) is None:
                break
            found.append(row)
        return found

    def _body(self, block: Block, plan: Plan) -> Piece:
        """The strip of Scans or the loop, and the Scan that is open."""
        sheet, named, top = self.view.sheet, self.named, list[Piece]()
        if not (plan.both or len(self.trace.scans) == 1 or sheet.bare):
            top.append(self.strip(plan.top))
        if plan.both or not has_tape(named.scan):
            top.append(_loop(named.root if plan.both else named, block.columns, plan, sheet))
        if not has_tape(named.scan):
            return above(*top, gap(), apart=20)
        body = with_formulas(block, self._rows(block), plan.detail)
        return above(
            *top, above(_heading(block, plan.top), body), apart=9 if plan.rows >= CLOSE else 20
        )


def _everything(trace: Trace, view: View) -> tuple[Piece, float]:
    """All Scans below one another, with all their formulas."""
    parts, right = [], view.sheet.width - view.sheet.margin
    for named in NamedScan.each(trace):
        block = block_of(named, view, EVERYTHING)
        assert block is not None  # there is room for everything
        right = max(right, block.room)
        if has_tape(named.scan):
            heading = _heading(block, FULL)
            parts.append(above(heading, with_formulas(block, rows(block), DETAILS[0])))
        else:
            parts.append(_loop(named, block.columns, EVERYTHING, view.sheet))
    return above(*parts, apart=30), right + view.sheet.margin


def _loop(named: NamedScan, columns: Columns, plan: Plan, sheet: Sheet) -> Piece:
    """A loop that is open."""
    most = plan.tapes if plan.fits else None
    time = timeline(named.root.scan)
    return forward_block(named, columns, time, sheet, most, faded=not plan.fits)


def _heading(block: Block, told: int) -> Piece:
    """What a Scan is, in a title and up to three lines, or in one; or in all of them."""
    named, sheet = block.named, block.view.sheet
    if sheet.bare:
        return gap()
    title, lines = block_heading(named, block.outputs, in_short=not block.idle)
    said = [part for line in lines for part in folded(line, sheet.line, 12)]
    if not block.idle:
        said = _in_lines(lines, sheet.line, 3 if told == FULL else 1)
        for more in (block.opens, positions_key(block)):  # if it takes no line of its own
            longer = folded(f"{' '.join(said)}; {more}", sheet.line, 12)
            said = longer if more and len(longer) == len(said) else said
    titles = folded(title, sheet.line, 16, bold=True)[: None if block.idle else 2]
    if told != FULL and len(titles) > 1:
        titles = folded(title.partition(":")[0], sheet.line, 16, bold=True)[:1]
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


def _in_lines(parts: Sequence[str], room: float, most: int) -> list[str]:
    """As many parts of a sentence as there are lines for; the first one, whatever it needs."""
    shown = [folded("; ".join(parts[:n]), room, 12) for n in range(1, len(parts) + 1)]
    return next((lines for lines in reversed(shown) if len(lines) <= most), shown[0])


def has_tape(scan: ScanTrace) -> bool:
    """Whether its steps are shown: they write over a tape, as all derivatives may, or carry one."""
    return (
        scan.parent is not None
        or scan.carries
        or any(tape.kind is Kind.MIT_MOT for tape in scan.tapes)
    )


def _finished(
    trace: Trace, part: Piece, width: float, view: View, theme: str, below: int = FULL
) -> Scene:
    """The picture with the results in numbers, and the legend, or so much of it."""
    sheet = replace(view.sheet, legend=view.sheet.legend and below < NAMES)
    results = at_end(NamedScan(trace, len(trace.scans) - 1), _results(trace, sheet))
    if below == NAMES and view.sheet.legend and not sheet.bare:
        results = over(results, _legend_is(sheet, results))
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
        in_words=below >= BRIEF,
    )


def _legend_is(sheet: Sheet, results: Piece) -> Piece:
    """Where the legend is that has no room, beside the results, or nothing where there is none."""
    told = Text(
        sheet.width - sheet.margin,
        13,
        "⋯ what colours mean: in a higher picture",
        11,
        "end",
        muted=True,
    )
    free = not any(envelope_of(shape).meets(envelope_of(told)) for shape in results.shapes)
    return piece(told) if free else gap()


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
