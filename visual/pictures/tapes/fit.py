"""How much of a tape picture is open: what fits on its sheet, 840 × 1,200 pixels by default.

Steps, tapes, columns and formulas fold, in that order of what is given up last to first; `plans`
says what is tried, `block_of` lays a Scan out by one of them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.canvas import BETWEEN, CELL, GAP, fold_width, numbers, place_columns
from visual.layout.columns import (
    Gap,
    Timeline,
    column_of,
    only_step,
    shown_steps,
    timeline,
    with_ends,
    with_gaps,
)
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
from visual.pictures.tapes.block import Block
from visual.pictures.tapes.lanes import Lane, View

NARROWEST, IN_A_COLUMN, BARE = 80.0, 54.0, 46.0  # from column to column
PITCH = CELL + BETWEEN


@dataclass(frozen=True)
class Plan:
    """How much is shown: of long loops so many steps at both `ends`, and so many `tapes`.

    None stands for all, no ends for one step.  With `both` the loop is open above its one
    derivative.  Rows that are `close` leave room for all steps in a picture that is low, more so
    those that are `short`, all but one, and columns that are `slim` for more of them.
    """

    both: bool = False
    ends: int | None = None
    tapes: int | None = None
    fits: bool = True  # on its sheet
    close: bool = False
    short: bool = False
    slim: bool = False
    roomy: bool = True  # between tapes, for factors on arrows


EVERYTHING, LEAST = Plan(fits=False), Plan(False, 1, 1)
SEVERAL = [  # steps are to be unfolded, at last without those at the ends
    Plan(False, ends, tapes, slim=slim)
    for ends in (1, 0)
    for tapes in (None, 8, 4, 2)
    for slim in (False, True)
]


def plans(pair: bool, sheet: Sheet) -> Iterator[Plan]:
    """What is tried, from the most to the least; of a `pair` with the loop open, if that fits."""
    if pair:
        yield from (Plan(True, ends) for ends in (None, 3))
    yield Plan()
    yield Plan(roomy=False)
    if sheet.is_low:
        yield Plan(close=True)
    yield from (Plan(short=True, slim=slim) for slim in (False, True))
    yield from (Plan(False, ends) for ends in (3, 2, 1))
    one_step = [Plan(False, 0, tapes) for tapes in (None, 2, 1)]
    if sheet.is_narrow or sheet.is_low:
        yield from one_step
    yield from (Plan(False, ends, tapes) for tapes in (8, 4, 2, 1) for ends in (2, 1))
    if not (sheet.is_narrow or sheet.is_low):
        yield from one_step


def steps_of(scan: ScanTrace, view: View, plan: Plan) -> list[int | Gap]:
    """The steps that are shown, and gaps."""
    if view.step is not None:
        return only_step(scan.steps, view.step)
    if view.sheet.steps is not None:
        return with_ends(view.sheet.steps_of(scan), scan.steps)
    if plan.ends == 0:
        return with_gaps({*view.unfold} & {*range(scan.steps)} or {0}, range(scan.steps))
    return shown_steps(scan.steps, view.unfold, plan.ends)


def _columns(
    scan: ScanTrace, tapes: Iterable[TapeTrace], time: Timeline, steps: Sequence[int]
) -> set[int]:
    """The columns of what steps read and write on the common time."""
    found: set[int] = set()
    for tape in tapes:
        if not tape.is_total and time.knows(tape.axis):
            found |= {column_of(tape, row, time) for row in _rows(tape, steps)}
    for sequence in scan.sequences:
        if time.knows(sequence.axis):
            index = (int(sequence.axis.index[step]) for step in steps)
            found |= {time.column(sequence.axis.variable, one) for one in index}
    return found


def _rows(tape: TapeTrace, steps: Sequence[int]) -> set[int]:
    """The rows of a tape that steps touch; the first of them without steps."""
    if not steps:
        return set(range(min(len(tape.initial), 6)))
    return {int(access.rows[step]) for access in (*tape.reads, *tape.writes) for step in steps}


def _results(named: NamedScan, tape: TapeTrace) -> set[int]:
    """The rows of a tape that are results, if they are not all of them."""
    if not named.scan.steps or named.parent is None or not named.is_passed_on(tape):
        return set()
    rows = named.wanted_rows(tape)
    return rows if len(rows) < len(tape.final) else set()


def _kept(named: NamedScan, most: int | None) -> list[TapeTrace]:
    """So many of the tapes, at first those that hold results."""
    tapes = [tape for tape in named.scan.tapes if not tape.is_total]
    first = sorted(tapes, key=lambda tape: not named.is_passed_on(tape))[:most]
    return [tape for tape in tapes if tape in first]


def _trimmed(columns: Iterable[int], ends: int) -> list[int]:
    """The columns in order; of many so many at both `ends`, however many a step touches."""
    chosen = sorted(set(columns))
    return [*chosen[:ends], *chosen[-ends:]] if len(chosen) > 2 * ends else chosen


def _sizes(
    columns: Sequence[int], every: Collection[int], more: int, plan: Plan, sheet: Sheet
) -> tuple[float, float, int] | None:
    """How wide cells are, how far apart, and how many of `more` columns find room beside them.

    None if the columns do not fit.
    """
    if not plan.fits:
        return CELL, BETWEEN, more
    narrowest = BARE if sheet.bare else IN_A_COLUMN if sheet.is_narrow or plan.slim else NARROWEST
    fold = fold_width(narrowest * CELL / PITCH)
    gaps = sum(isinstance(item, Gap) for item in with_gaps(columns, every))
    room = sheet.width - sheet.margin - sheet.labels - gaps * fold + BETWEEN * 0.6
    beside = max(0, min(more, int(room / narrowest) - len(columns)))
    count = max(1, len(columns) + beside)
    pitch = min(PITCH, room / count)
    if pitch < narrowest:
        return None
    if fold < GAP:  # folds become wider with the cells
        share = fold / narrowest
        pitch = min(PITCH, (room + gaps * fold) / (count + gaps * share))
    cell = int(pitch * CELL / PITCH)
    return cell, pitch - cell, beside


def block_of(named: NamedScan, view: View, plan: Plan) -> Block | None:
    """A Scan laid out by a plan; None if it is too wide."""
    scan, root = named.scan, named.root.scan
    common = timeline(root)
    time = Timeline({}) if view.buffer and scan.parent is not None else common
    steps = steps_of(scan, view, plan)
    tapes = _kept(named, plan.tapes)
    totals = [tape for tape in scan.tapes if tape.is_total]
    near = numbers(steps_of(scan, replace(view, step=None), plan))  # of one step, more is shown
    found = _columns(scan, (*tapes, *scan.outputs), common, near)
    if plan.both:
        found |= _columns(
            root,
            root.held,
            common,
            numbers(steps_of(root, View(view.unfold, sheet=view.sheet), plan)),
        )
    positions, every, places = set[int](), set[int](), set[int]()
    for tape in tapes:
        in_own = not time.knows(tape.axis)
        of_rows = tape.position if in_own else partial(column_of, tape, time=time)
        (places if in_own else every).update(map(of_rows, range(len(tape.final))))
        if in_own:
            positions |= {tape.position(row) for row in _rows(tape, near)}
        (positions if in_own else found).update(map(of_rows, _results(named, tape)))
    if plan.ends == 0:  # a fold of one column takes the room of that column
        found |= {n for n in every if {n - 1, n + 1} <= found}
    if plan.short and (len(steps) < 2 or len(steps) < scan.steps):
        return None  # it is there to show them all
    sheet, sizes, in_time, in_buffer = view.sheet, None, list[int](), list[int]()
    for ends in (3, 2, 1) if plan == LEAST else (len(found | positions),):
        in_time, in_buffer = (_trimmed(chosen, ends) for chosen in (found, positions))
        widest = max((in_time, every), (in_buffer, places), key=lambda pair: len(pair[0]))
        sizes = _sizes(*widest, len(totals), plan, sheet)
        if sizes is not None:
            break
    if sizes is None:
        return None
    cell, apart, beside = sizes
    columns, own = (
        place_columns(shown, cell, apart, sheet.labels, every=known)
        for shown, known in ((in_time, every), (in_buffer, places))
    )
    lanes = tuple(
        Lane(scan, tape, columns, time, view.unfold, None if time.knows(tape.axis) else own)
        for tape in tapes
    )
    right = max([columns.right, *(lane.columns.right for lane in lanes)])
    edge = max(sheet.width - sheet.margin, 0 if plan.fits else right + len(totals) * (cell + apart))
    placed = tuple((tape, right + n * (cell + apart)) for n, tape in enumerate(totals[:beside]))
    whole = (0, *view.unfold)[-1] if plan.short else None
    roomy = plan.roomy and not any(tape.initial[0].ndim for tape in tapes)
    return Block(
        named,
        columns,
        time,
        view,
        steps,
        lanes,
        placed,
        edge,
        not plan.fits,
        plan.close,
        whole,
        roomy,
    )
