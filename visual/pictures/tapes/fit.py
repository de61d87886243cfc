"""How much of a tape picture is open: what fits on its sheet, 840 × 1,200 pixels by default.

`GIVEN_UP` says what goes where there is no room, `fitting` how much of it has to, and `block_of`
lays a Scan out by such a plan.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

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
from visual.pictures.tapes.block import CLOSE, ROOMY, SHORT, TIGHT, USUAL, Block
from visual.pictures.tapes.formulas import DETAILS
from visual.pictures.tapes.lanes import Lane, View

NARROWEST, IN_A_COLUMN, BARE = 80.0, 54.0, 46.0  # from column to column
PITCH = CELL + BETWEEN
FULL, BRIEF, NAMES = range(3)  # how much is told above the tapes, and of colours below
FEWEST = 1  # tape


@dataclass(frozen=True)
class Plan:
    """How much is shown: so much of formulas in `detail`, and above and `below` the tapes.

    With `both` the loop is open above its one derivative.  So many steps stand at both `ends` of a
    long loop, and so many `tapes`: None stands for all, no ends for one step.  Columns that are
    `slim` leave room for more of them; those of `results` are there also where no step touches one.
    """

    detail: str = DETAILS[0]
    both: bool = False
    top: int = FULL
    rows: int = ROOMY
    slim: bool = False
    below: int = FULL
    ends: int | None = None
    tapes: int | None = None
    results: bool = True
    fits: bool = True  # on its sheet


EVERYTHING = Plan(fits=False)
GIVEN_UP: tuple[tuple[str, Any], ...] = (  # from the first to the last
    *(("detail", detail) for detail in DETAILS[1:]),
    ("both", False),
    ("top", BRIEF),
    *(("rows", rows) for rows in (USUAL, CLOSE, SHORT)),
    ("slim", True),
    ("top", NAMES),
    ("below", BRIEF),
    ("rows", TIGHT),
    ("below", NAMES),
    *(("ends", ends) for ends in (3, 2, 1, 0)),
    *(("tapes", tapes) for tapes in (8, 4, 2)),
    ("results", False),
    ("tapes", FEWEST),
)


def fitting(most: Plan, fits: Callable[[Plan], bool]) -> Plan:
    """The plan that gives up as little as it has to; the last one where none fits.

    What has room again, since something dearer had to go, is given back.
    """
    tried = [most]
    for name, less in GIVEN_UP:
        tried.append(replace(tried[-1], **{name: less}))
    if fits(most):
        return most
    low, high = 0, len(tried) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(tried[middle]) else (middle, high)
    plan, gone = tried[high], {GIVEN_UP[high - 1][0]} - {"detail"}
    for before, (name, _) in zip(reversed(tried[:high]), reversed(GIVEN_UP[:high]), strict=True):
        more = replace(plan, **{name: getattr(before, name)})
        if more == plan or name in gone:
            continue
        if fits(more):
            plan = more
        elif name != "detail":  # a formula may be cut where it has two lines, and not where three
            gone.add(name)
    return plan


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


def _filled(columns: Collection[int], every: Collection[int]) -> list[int]:
    """The columns in order, and with them those that would be folded alone."""
    near, last = {*columns, min(every, default=0) - 1}, max((*columns, *every), default=0)
    near.add(last + 1)
    alone = {n for n in range(min(near) + 1, last + 1) if {n - 1, n + 1} <= near}
    return sorted({*columns, *alone}) if columns else []


def _trimmed(columns: Iterable[int], ends: int) -> list[int]:
    """The columns in order; of many so many at both `ends`, however many a step touches."""
    chosen = sorted(set(columns))
    return [*chosen[:ends], *chosen[-ends:]] if len(chosen) > 2 * ends else chosen


def _sizes(
    shown: Iterable[Sequence[int]],
    known: Iterable[Collection[int]],
    more: int,
    plan: Plan,
    sheet: Sheet,
) -> tuple[float, float, int] | None:
    """How wide cells are, how far apart, and how many of `more` columns find room beside them.

    None if the most columns that are `shown`, of those `known`, do not fit.
    """
    if not plan.fits:
        return CELL, BETWEEN, more
    columns, every = max(zip(shown, known, strict=True), key=lambda pair: len(pair[0]))
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
        if plan.results:
            (positions if in_own else found).update(map(of_rows, _results(named, tape)))
    sheet = view.sheet
    is_last = (plan.ends, plan.tapes) == (0, FEWEST) and not view.unfold[1:]
    for ends in (len(found | positions), *((3, 2, 1) if is_last else ())):
        shown = [_trimmed(chosen, ends) for chosen in (found, positions)]
        sizes = _sizes(shown, (every, places), len(totals), plan, sheet)
        if sizes is not None:
            break
    if sizes is None:
        return None
    filled = [_filled(*one) for one in zip(shown, (every, places), strict=True)]
    wider = _sizes(filled, (every, places), len(totals), plan, sheet)
    if wider is not None and wider[-1] == sizes[-1]:  # a fold of one takes the room of one
        shown, sizes = filled, wider
    cell, apart, beside = sizes
    columns, own = (
        place_columns(one, cell, apart, sheet.labels, every=known)
        for one, known in zip(shown, (every, places), strict=True)
    )
    lanes = tuple(
        Lane(scan, tape, columns, time, view.unfold, None if time.knows(tape.axis) else own)
        for tape in tapes
    )
    right = max([columns.right, *(lane.columns.right for lane in lanes)])
    edge = max(sheet.width - sheet.margin, 0 if plan.fits else right + len(totals) * (cell + apart))
    placed = tuple((tape, right + n * (cell + apart)) for n, tape in enumerate(totals[:beside]))
    return Block(named, columns, time, view, steps, lanes, placed, edge, not plan.fits, plan.rows)
