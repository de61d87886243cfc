"""A machine of two runs on a common clock.

Scans with the same number run in lockstep: their events of the same step end at the same moment,
and a column shows the results of the same step. A run without an event of this step rests.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from visual.layout.columns import numbers, with_gaps
from visual.pictures.machine.build import Index, Run
from visual.pictures.machine.columns import Address, scan_rows
from visual.pictures.machine.content import MachineContent, Part, PartGroup, Phrase, SlotCell

CLOSE = 1e-9  # the largest relative difference between numbers that count as equal


def in_lockstep(first: Run, second: Run, is_faulty: bool = False) -> MachineContent:
    """Return the machine of two runs, without a title and without results.

    All rows of the second run are below the first run, and a group has the reasons of both runs. If
    the second run `is_faulty`, it has only the rows with a number that differs from the first run,
    each below the row of the same Scan with the same name.
    """
    runs, below = (first, second), 0 if is_faulty else len(first.columns.trace.scans)
    signs = first.wording.sign, second.wording.sign
    clock = sorted({*first.ticks, *second.ticks})
    times = tuple(with_gaps(time for run in runs for time in numbers(run.columns.shown)))
    cells = [*first.cells(clock, times)]
    others = [*_with_twins(runs, cells, second.cells(clock, times), is_faulty)]
    differing = {c.row for twin, c in others if twin is None or c.wrong_from is not None}
    # For each row, by the number of its run and its own number: its Scan, and the row above it.
    order = {(0, n): (row.scan, n) for n, row in enumerate(first.rows)}
    names = {(row.scan, row.name): n for n, row in enumerate(first.rows)}
    for n, row in enumerate(second.rows):
        if n in differing or not is_faulty:
            order[1, n] = row.scan + below, names.get((row.scan + below, row.name), len(first.rows))
    places = sorted(order, key=lambda place: (order[place], place))
    cells = [replace(cell, row=places.index((0, cell.row))) for cell in cells]
    index: Index = {place: n for n, place in enumerate(first.columns.places)}
    other_index: dict[Address | None, int] = {}
    twins: dict[int, int | None] = {}  # the twin of each cell of the second run
    for place, (twin, cell) in zip(second.columns.places, others, strict=True):
        number = twin
        if (1, cell.row) in order:
            number = len(cells)
            cells.append(replace(cell, row=places.index((1, cell.row))))
        assert number is not None  # a cell of a hidden row has a twin
        other_index[place], twins[number] = number, twin
    events = []
    for tick in clock:
        event, other = first.event(tick, index), second.event(tick, other_index)
        pairs = _pairs(event.groups, other.groups, twins, signs, below > 0)
        scan = event.scan if event.groups else other.scan + below
        named = event if tick in first.ticks else other
        events.append(replace(named, scan=scan, groups=tuple(pairs)))
    mark = f"{signs[1]} " if is_faulty else ""
    moved = [
        replace(row, scan=row.scan + below, name=mark + row.name, is_second=True)
        for row in second.rows
    ]
    scans = [
        [*scan_rows(run.wording, run.columns, clock, "" if is_faulty else run.wording.sign)]
        for run in runs
    ]
    return MachineContent(
        title="",
        runs=signs,
        rows=tuple((first.rows, moved)[run][n] for run, n in places),
        cells=tuple(cells),
        scans=(*scans[0], *scans[1][len(scans[0]) - below :]),
        events=tuple(events),
        times=times,
    )


def _with_twins(
    runs: tuple[Run, Run], cells: Sequence[SlotCell], others: Iterable[SlotCell], is_faulty: bool
) -> Iterator[tuple[int | None, SlotCell]]:
    """Yield each cell of the second run after its twin.

    The twin is the index of the cell of the first run in the same column of the same row, or None.
    Two rows are the same if their Scans and names are equal. For a faulty run, the names of the
    cells must also be equal, and the yielded cells have the moment of their first wrong number.
    """

    def place(run: Run, cell: SlotCell) -> tuple[object, ...]:
        """Return a key that is equal for twins."""
        row = run.rows[cell.row]
        return row.scan, row.name, cell.column, cell.name if is_faulty else ""

    known = {place(runs[0], cell): n for n, cell in enumerate(cells)}
    for cell in others:
        twin = known.get(place(runs[1], cell))
        start = _first_difference(cells[twin], cell) if is_faulty and twin is not None else None
        yield twin, replace(cell, wrong_from=start)


def _first_difference(correct: SlotCell, faulty: SlotCell) -> int | None:
    """Return the first moment at which the numbers of two cells differ, or None."""
    moments = sorted({int(key.moment) for cell in (correct, faulty) for key in cell.keys})
    return next((m for m in moments if _differ(correct.at(m).full, faulty.at(m).full)), None)


def _differ(correct: str, faulty: str) -> bool:
    """Return whether two texts differ. Numbers differ if the relative error exceeds `CLOSE`."""
    try:
        return not np.isclose(float(correct), float(faulty), rtol=CLOSE, atol=0, equal_nan=True)
    except ValueError:  # an array, or an empty cell
        return correct != faulty


def _pairs(
    groups: Sequence[PartGroup],
    others: Sequence[PartGroup],
    twins: Mapping[int, int | None],
    runs: tuple[str, str],
    has_both_reasons: bool,
) -> Iterator[PartGroup]:
    """Yield groups with the unpaired sums of the second run, then the groups of the first run.

    A sum of the second run plays together with the sum of the first run in the same slot. `twins`
    has the twin of each cell of the second run. A cell that is its own twin is not drawn again.
    """
    owners: dict[int | None, PartGroup] = {
        part.target: group for group in groups for part in group.parts
    }

    def paired_with(group: PartGroup | None, other: PartGroup) -> tuple[Part, ...]:
        """Return the parts of `other` that play with `group`; for None, the unpaired parts."""
        is_filling = other.summary and groups  # both events fill tapes
        return tuple(
            replace(part, is_second=True)
            for part in other.parts
            if twins[part.target] != part.target
            and (groups[0] if is_filling else owners.get(twins[part.target])) is group
        )

    for other in others:
        if rest := paired_with(None, other):
            yield replace(other, parts=rest)
    for group in groups:
        paired = [(other, parts) for other in others if (parts := paired_with(group, other))]
        if not paired:
            yield group
            continue
        other, reason, summary = paired[0][0], group.reason, group.summary
        both = [*zip(runs, (group, other), strict=True)]
        if has_both_reasons and other.reasons != group.reasons:
            reason = "  ".join(f"{run}: {each.reasons}" for run, each in both if each.reasons)
        if other.summary != summary:
            summary = tuple((Phrase(f"{run} "), *line) for run, g in both for line in g.summary)
        parts = (*group.parts, *(part for _, added in paired for part in added))
        yield replace(group, parts=parts, summary=summary, reason=reason)
