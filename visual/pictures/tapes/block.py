"""The part of a tape picture that shows one Scan: its steps, its tapes, and their columns.

`block_of` chooses the steps and lays out the columns.  All rules depend on the width of the sheet
only: if the columns of all steps do not fit, they become narrower, then only both ends of the loop
and the requested steps are shown.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from string import ascii_lowercase

from lab.equations.spelling import Speller
from lab.notation import subscript, value_symbol
from lab.records import cached_property
from lab.traces.trace import Formula, ScanTrace, SequenceTrace, TapeTrace
from visual.layout.canvas import BETWEEN, CELL, GAP, Columns, fold_width, numbers, place_columns
from visual.layout.columns import (
    Gap,
    Timeline,
    column_of,
    shown_steps,
    timeline,
    with_ends,
    with_gaps,
)
from visual.layout.names import NamedScan, counted
from visual.pictures.tapes.lanes import Lane, View
from visual.scene.fonts import text_width

HEIGHT, SMALL = 40, 11  # of a cell, and of letters
PITCH = CELL + BETWEEN
NARROWEST, SLIM = 80.0, 54.0  # from column to column


@dataclass(frozen=True, eq=False)
class Block:
    """A Scan, with the steps and tapes that are shown, and the columns of their cells."""

    named: NamedScan
    columns: Columns
    time: Timeline
    view: View
    steps: Sequence[int | Gap]
    lanes: tuple[Lane, ...]
    totals: tuple[tuple[TapeTrace, float], ...]
    room: float  # up to which x it may reach

    @property
    def is_roomy(self) -> bool:
        """Whether factors, of numbers, have room on the arrows between tapes."""
        return not any(lane.tape.initial[0].ndim for lane in self.lanes)

    @property
    def labels(self) -> float:
        """The left edge of the columns."""
        return self.view.sheet.labels

    @property
    def apart(self) -> float:
        """The distance of two cells."""
        return self.columns.cell * 0.22

    @cached_property
    def spell(self) -> Speller:
        """The writer of its formulas."""
        return Speller(self.named)

    @cached_property
    def told(self) -> Callable[[int, int], tuple[str, str]]:
        """Formula number n at a step, in symbols and in numbers; both are computed once."""
        known, spell = self.formulas, self.spell
        return cache(lambda n, step: (spell.at(known[n], step), spell.numbers(known[n], step)))

    @property
    def has_several(self) -> bool:
        """Whether its rows have more than one tape."""
        return len(self.lanes) > 1

    @cached_property
    def in_short(self) -> dict[int, tuple[str, str]]:
        """For each variable whose name is too wide for its cells, a short name and the name."""
        named, scan, room = self.named, self.named.scan, self.columns.cell + self.apart - 4
        known: list[TapeTrace | SequenceTrace]
        known = [*scan.tapes, *self.outputs, *scan.sequences]
        names: dict[str, list[str]] = {}
        for variable in known:
            wholes = names.setdefault(variable.name, [])
            wholes += [named.row_name(variable)] * (named.row_name(variable) not in wholes)
        found = {}
        for variable in known:
            longest = 0 if variable.axis is None else int(max(variable.axis.index, default=0))
            whole, wholes, is_tape = (
                named.row_name(variable),
                names[variable.name],
                variable in scan.tapes,
            )
            letter = ascii_lowercase[wholes.index(whole)] if len(wholes) > 1 else ""
            own, last = (
                f"{variable.name}{letter}",
                "" if variable.axis is None else subscript(longest),
            )
            widths = [text_width(f"{name}{last}", SMALL, mono=not is_tape) for name in (own, whole)]
            if widths[0] < widths[1] > room - (0 if is_tape else 10):
                found[variable.argument] = own, whole
        return found

    @property
    def told_in_short(self) -> list[str]:
        """The line below the picture that explains the short names."""
        told = ", ".join(dict.fromkeys(" is ".join(pair) for pair in self.in_short.values()))
        return [f"in short: {told}"] * bool(told)

    def short(self, variable: TapeTrace | SequenceTrace, index: int | None, label: str) -> str:
        """The label of a cell, or the short name of its variable."""
        found = self.in_short.get(variable.argument)
        return value_symbol(found[0], index) if found else label

    @cached_property
    def outputs(self) -> list[TapeTrace]:
        """The outputs that are drawn: with `all`, also those that no result needs."""
        outputs = self.named.scan.outputs
        return [o for o in outputs if self.view.all or self.named.is_passed_on(o)]

    @cached_property
    def formulas(self) -> list[Formula]:
        """The formulas of what is drawn."""
        scan = self.named.scan
        left = {output.argument for output in scan.outputs if output not in self.outputs}
        return [formula for formula in scan.formulas if formula.target.argument not in left]

    @property
    def hidden(self) -> str:
        """The parts of the Scan that are not drawn, in words."""
        scan = self.named.scan
        totals = [tape for tape in scan.tapes if tape.is_total]
        counts = (
            (len(totals) - len(self.totals), "more running total"),
            (len(scan.outputs) - len(self.outputs), "unwanted output"),
        )
        told = [counted(n, word) for n, word in counts if n > 0]
        more = self.view.sheet.hint("all=True shows everything")
        return f"⋯ {', '.join(told)}{more}" if told else ""


@dataclass(frozen=True)
class Plan:
    """The number of steps at both `ends` of a loop, None for all that are usual, 0 for one step.

    Columns are at least `narrowest` pixels apart.  Those of `results` are there although no shown
    step touches them.  Of more columns than twice `most`, so many remain at each end.
    """

    ends: int | None
    narrowest: float
    results: bool = True
    most: int | None = None


PLANS = (  # the first whose columns fit is used; the last always is
    *(Plan(ends, narrowest) for ends in (None, 3, 2, 1) for narrowest in (NARROWEST, SLIM)),
    *(Plan(0, SLIM, results, most) for results in (True, False) for most in (None, 3, 2)),
    Plan(0, 0.0, False, 1),
)


def block_of(named: NamedScan, view: View, both: bool = False) -> Block:
    """Lay out a Scan on the sheet; with `both`, in columns that its loop shares."""
    if view.all:
        block = _block(named, view, Plan(None, PITCH), both)
        assert block is not None  # it may be as wide as it needs
        return block
    return next(filter(None, (_block(named, view, plan, both) for plan in PLANS)))


def _block(named: NamedScan, view: View, plan: Plan, both: bool) -> Block | None:
    """A Scan laid out by a plan; None if it is too wide."""
    scan, root, time = named.scan, named.root.scan, timeline(named.root.scan)
    tapes = [tape for tape in scan.tapes if not tape.is_total]
    totals = [tape for tape in scan.tapes if tape.is_total]
    steps = _steps(scan, view, plan)
    near = numbers(steps)
    found = _columns(scan, (*tapes, *scan.outputs), time, near)
    if both:
        ends = _steps(root, replace(view, requested=()), plan)
        found |= _columns(root, root.held, time, numbers(ends))
    positions, every, places = set[int](), set[int](), set[int]()
    for tape in tapes:
        in_own = not time.knows(tape.axis)
        of_rows = tape.position if in_own else partial(column_of, tape, time=time)
        (places if in_own else every).update(map(of_rows, range(len(tape.final))))
        if in_own:
            positions |= {tape.position(row) for row in _rows(tape, near)}
        if plan.results:
            (positions if in_own else found).update(map(of_rows, _results(named, tape)))
    shown = [_trimmed(chosen, plan.most) for chosen in (found, positions)]
    sizes = _sizes(shown, (every, places), len(totals), plan, view)
    if sizes is None:
        return None
    filled = [_filled(*one) for one in zip(shown, (every, places), strict=True)]
    wider = _sizes(filled, (every, places), len(totals), plan, view)
    if wider is not None and wider[-1] == sizes[-1]:  # a fold of one takes the room of one
        shown, sizes = filled, wider
    cell, apart, beside = sizes
    sheet = view.sheet
    columns, own = (
        place_columns(one, cell, apart, sheet.labels, every=known)
        for one, known in zip(shown, (every, places), strict=True)
    )
    lanes = tuple(
        Lane(scan, tape, columns if time.knows(tape.axis) else own, time) for tape in tapes
    )
    right = max([columns.right, *(lane.columns.right for lane in lanes)])
    edge = max(sheet.width - sheet.margin, right + len(totals) * (cell + apart) if view.all else 0)
    placed = tuple((tape, right + n * (cell + apart)) for n, tape in enumerate(totals[:beside]))
    return Block(named, columns, time, view, steps, lanes, placed, edge)


def _steps(scan: ScanTrace, view: View, plan: Plan) -> list[int | Gap]:
    """The steps that are shown, and gaps."""
    if view.sheet.steps is not None:
        return with_ends(view.sheet.steps_of(scan), scan.steps)
    if plan.ends == 0:
        return with_gaps({*view.requested[-1:]} & {*range(scan.steps)} or {0}, range(scan.steps))
    return shown_steps(scan.steps, view.requested, plan.ends)


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


def _filled(columns: Collection[int], every: Collection[int]) -> list[int]:
    """The columns in order, and with them those that would be folded alone."""
    near, last = {*columns, min(every, default=0) - 1}, max((*columns, *every), default=0)
    near.add(last + 1)
    alone = {n for n in range(min(near) + 1, last + 1) if {n - 1, n + 1} <= near}
    return sorted({*columns, *alone}) if columns else []


def _trimmed(columns: Iterable[int], most: int | None) -> list[int]:
    """The columns in order; of many, `most` at both ends, however many a step touches."""
    chosen = sorted(set(columns))
    if most is None or len(chosen) <= 2 * most:
        return chosen
    return [*chosen[:most], *chosen[-most:]]


def _sizes(
    shown: Iterable[Sequence[int]],
    known: Iterable[Collection[int]],
    more: int,
    plan: Plan,
    view: View,
) -> tuple[float, float, int] | None:
    """How wide cells are, how far apart, and how many of `more` columns fit next to them.

    None if the most columns that are `shown`, of those `known`, do not fit.
    """
    if view.all:
        return CELL, BETWEEN, more
    columns, every = max(zip(shown, known, strict=True), key=lambda pair: len(pair[0]))
    sheet, narrowest = view.sheet, plan.narrowest
    fold = fold_width(max(narrowest, SLIM) * CELL / PITCH)
    gaps = sum(isinstance(item, Gap) for item in with_gaps(columns, every))
    room = sheet.width - sheet.margin - sheet.labels - gaps * fold + BETWEEN * 0.6
    beside = max(0, min(more, int(room / max(narrowest, SLIM)) - len(columns)))
    count = max(1, len(columns) + beside)
    pitch = min(PITCH, room / count)
    if pitch < narrowest:
        return None
    if fold < GAP:  # folds become wider with the cells
        share = fold / max(narrowest, SLIM)
        pitch = min(PITCH, (room + gaps * fold) / (count + gaps * share))
    cell = int(pitch * CELL / PITCH)
    return cell, pitch - cell, beside
