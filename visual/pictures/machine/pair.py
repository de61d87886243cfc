"""Two runs in lockstep: runs of two loops, or the runs of the correct rule and of a faulty rule.

On the common clock, events of the same step of Scans with the same number end at the same moment,
and a column shows the results of one step. A run with fewer events in a step waits. A row with the
same numbers in the correct and the faulty run appears once. If the numbers differ, the row of the
faulty run is below the correct row, and both versions of a sum play together.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TypeVar

import numpy as np

from lab.equations.events.events import events
from lab.notation import integers, number_text
from lab.reports.breaking.breakage import Breakage
from lab.traces.trace import Trace
from visual.layout.columns import numbers, with_gaps
from visual.pictures.machine import content
from visual.pictures.machine.build import Index, Run
from visual.pictures.machine.columns import Address, Columns, Row, results
from visual.pictures.machine.content import Ink, Number, Part, PartGroup, SlotCell
from visual.pictures.machine.effect import effect_of
from visual.pictures.machine.wording import Wording

CLOSE = 1e-9  # the maximum relative difference between numbers that count as equal
SIGNS, LETTERS = ("✓", "✗"), ("A", "B")
E = TypeVar("E", bound=content.Equation)


def compare_runs(first: Trace, second: Trace, entry: int | None = None) -> content.MachineContent:
    """Return the machine of two runs, one above the other on a common clock."""
    runs = _run(first, LETTERS[0], entry), _run(second, LETTERS[1], entry)
    pairs = enumerate(zip(_run_texts(first), _run_texts(second), strict=True))
    differing = [pair for n, pair in pairs if n == 0 or pair[0] != pair[1]]
    names = (", ".join(filter(None, texts)) for texts in zip(*differing, strict=True))
    title = " · ".join(f"{run}: {name}" for run, name in zip(LETTERS, names, strict=True))
    values = [(f"{run.wording.sign} {n}", v) for run in runs for n, v in results(run.wording)]
    return replace(_in_lockstep(*runs), title=title, results=tuple(values))


def _run(trace: Trace, sign: str, entry: int | None = None) -> Run:
    """Return a run for a machine of two runs. Its sentences begin with `sign`."""
    return Run(Columns(trace), Wording(events(trace), entry, sign))


def _run_texts(trace: Trace) -> list[str]:
    """Return texts for the title: the name, taps, steps, order, and initial values of a run."""
    loop, tapes = trace.scans[0], [t for t in trace.scans[0].tapes if t.tape.reads]
    starts = [f"{t.name}₀ = {number_text(t.initial[0])}" for t in tapes if not t.initial[0].ndim]
    return [
        loop.name,
        "; ".join(f"taps {integers(*t.tape.reads)}" for t in tapes),
        f"{loop.steps} steps",
        f"order {max(scan.order for scan in trace.scans)}",
        "; ".join(starts),
    ]


def pair_of(breakage: Breakage) -> content.MachineContent:
    """Return a machine with the correct run and with the differing rows of the faulty run."""
    runs = _run(breakage.true, SIGNS[0]), _run(breakage.broken, SIGNS[1])
    machine = _in_lockstep(*runs, is_faulty=True)
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    played = tuple(_ranked(machine.events, wrong))
    numbered = [*enumerate(played, start=1)]
    red = (moment for moment, event in numbered if any(map(_has_wrong, event.groups)))
    first_read = (moment for moment, e in numbered if any(g.reads_wrong for g in e.groups))
    mistake, title = effect_of(
        breakage, min((*wrong.values(), *red), default=None), next(first_read, None)
    )
    values = tuple(results(runs[0].wording))
    return replace(machine, title=title, events=played, results=values, mistake=mistake)


def _ranked(
    played: Iterable[content.MachineEvent], wrong: Mapping[int, int]
) -> Iterator[content.MachineEvent]:
    """Yield the events. Groups with wrong numbers play after all others.

    `wrong` maps each wrong cell to the first moment with a wrong number.
    """
    for moment, event in enumerate(played, start=1):
        ranked = []
        for group in event.groups:
            second = [part.target for part in group.parts if part.is_second]
            writes_wrong = any(wrong.get(cell, moment + 1) <= moment for cell in second)
            reads = (wrong.get(n, moment) < moment for part in group.parts for n in part.reads)
            rank = writes_wrong or _has_wrong(group), bool(second)
            ranked.append((rank, replace(group, reads_wrong=any(reads))))
        ranked.sort(key=lambda pair: pair[0])
        yield replace(event, groups=tuple(group for _, group in ranked))


def _has_wrong(group: PartGroup) -> bool:
    """Return whether a sentence of a group contains a wrong number."""
    lines = (line for part in group.parts for line in (part, *part.by_entry))
    return any(piece.ink is Ink.WRONG for line in lines for piece in line.sentence)


def _mark_wrong(line: E, correct: content.Equation | None, value: np.ndarray | None) -> E:
    """Return an equation of the faulty run, in which the numbers that differ are red.

    If the equations have different counts of numbers, only the written `value` is compared.
    """
    own = [piece for piece in line.sentence if isinstance(piece, Number)]
    other = [p.array for p in correct.sentence if isinstance(p, Number)] if correct else []
    compared = zip(own, other if len(own) == len(other) else [value], strict=False)
    red = [id(number) for number, true in compared if differ(true, number.array)]
    sentence = (replace(p, ink=Ink.WRONG) if id(p) in red else p for p in line.sentence)
    return replace(line, sentence=tuple(sentence))


def _in_lockstep(first: Run, second: Run, is_faulty: bool = False) -> content.MachineContent:
    """Return the machine of two runs, without a title and without results.

    By default, all rows of the second run are below the first run, and a group contains the reasons
    of both runs. If the second run `is_faulty`, only its rows with a different number are shown,
    each below the row of the first run with the same Scan and name.
    """
    runs, signs = (first, second), (first.wording.sign, second.wording.sign)
    clock = sorted({*first.ticks, *second.ticks})
    times = tuple(with_gaps(time for run in runs for time in numbers(run.columns.shown)))
    cells = [*first.cells(clock, times)]
    others = [*_with_twins(runs, cells, second.cells(clock, times), is_faulty)]
    # A faulty run has the Scans of the first run. Otherwise, its Scans follow those of the first.
    before = 0 if is_faulty else len(first.columns.trace.scans)
    labels, mark = (("", ""), f"{signs[1]} ") if is_faulty else (signs, "")
    shown = {c.row for twin, c in others if twin is None or c.wrong_from is not None or before}
    rows = _rows_of(first, second, shown, before, mark)
    row_numbers = {key: n for n, key in enumerate(rows)}
    cells = [replace(cell, row=row_numbers[0, cell.row]) for cell in cells]
    index: Index = {place: n for n, place in enumerate(first.columns.places)}
    other_index: dict[Address | None, int] = {}
    twins: dict[int, int | None] = {}  # the twin of each cell of the second run
    for place, (twin, cell) in zip(second.columns.places, others, strict=True):
        number = twin
        if (1, cell.row) in rows:
            number = len(cells)
            cells.append(replace(cell, row=row_numbers[1, cell.row]))
        assert number is not None  # a cell of a hidden row has a twin
        other_index[place], twins[number] = number, twin
    events = []
    for moment, tick in enumerate(clock, start=1):
        event, other = first.event(tick, index), second.event(tick, other_index)
        value_of = (lambda n, m=moment: cells[n].at(m).array) if is_faulty else None
        groups = tuple(_pairs(event.groups, other.groups, twins, signs, value_of))
        scan = event.scan if event.groups else other.scan + before
        events.append(replace(event if tick in first.ticks else other, scan=scan, groups=groups))
    scans, others_scans = ([*r.scans(clock, label)] for r, label in zip(runs, labels, strict=True))
    return content.MachineContent(
        title="",
        runs=signs,
        rows=tuple(rows.values()),
        cells=tuple(cells),
        scans=(*scans, *(() if is_faulty else others_scans)),
        events=tuple(events),
        times=times,
    )


def _rows_of(
    first: Run, second: Run, shown: Container[int], before: int, mark: str
) -> dict[tuple[int, int], Row]:
    """Return all rows of the first run and the `shown` rows of the second run, from top to bottom.

    The keys are the number of the run, 0 or 1, and the number of the row in this run. The Scans of
    the second run follow `before` Scans. `mark` precedes the names of its rows. Each of these rows
    is below the row of the same Scan and name, or below all rows of its Scan.
    """
    own = first.columns.rows
    numbers = {(row.scan, row.name): n for n, row in enumerate(own)}
    ranked = {(row.scan, n, 0, n): row for n, row in enumerate(own)}
    for n, row in enumerate(second.columns.rows):
        if n in shown:
            scan = row.scan + before
            above = numbers.get((scan, row.name), len(own))
            row = replace(row, scan=scan, name=mark + row.name, is_second=True)
            ranked[scan, above, 1, n] = row
    return {key[2:]: ranked[key] for key in sorted(ranked)}


def _with_twins(
    runs: tuple[Run, Run], cells: Sequence[SlotCell], others: Iterable[SlotCell], is_faulty: bool
) -> Iterator[tuple[int | None, SlotCell]]:
    """Yield a pair for each cell of the second run: its twin, and the cell.

    The twin is the index of the cell of the first run in the same column of the same row, or None.
    Two rows are the same if their Scans and names are equal. For a faulty run, the names of the
    cells must also be equal, and the yielded cells contain the moment of their first wrong number.
    """

    def place(run: Run, cell: SlotCell) -> tuple[object, ...]:
        """Return a key that is equal for twins."""
        row = run.columns.rows[cell.row]
        return row.scan, row.name, cell.column, cell.name if is_faulty else ""

    known = {place(runs[0], cell): n for n, cell in enumerate(cells)}
    for cell in others:
        twin = known.get(place(runs[1], cell))
        if is_faulty and twin is not None:
            pair = cells[twin], cell
            moments = sorted({int(key.moment) for each in pair for key in each.keys})
            wrong = (m for m in moments if differ(*(each.at(m).array for each in pair)))
            cell = replace(cell, wrong_from=next(wrong, None))
        yield twin, cell


def differ(correct: np.ndarray | None, faulty: np.ndarray | None) -> bool:
    """Return whether two values differ. The relative error of an entry must exceed `CLOSE`."""
    if correct is None or faulty is None or correct.size != faulty.size:
        return correct is not faulty
    return not np.allclose(correct.ravel(), faulty.ravel(), rtol=CLOSE, atol=0, equal_nan=True)


def _pairs(
    groups: Sequence[PartGroup],
    others: Sequence[PartGroup],
    twins: Mapping[int, int | None],
    runs: tuple[str, str],
    value_of: Callable[[int], np.ndarray | None] | None,
) -> Iterator[PartGroup]:
    """Yield groups with the unpaired sums of the second run, then the groups of the first run.

    A sum of the second run plays together with the sum of the first run in the same slot. `twins`
    maps each cell of the second run to its twin. A cell that is its own twin is not drawn again.
    For a faulty run, `value_of` returns the value of a cell, and wrong numbers become red.
    """
    owners: dict[int | None, tuple[PartGroup | None, Part | None]] = {
        part.target: (group, part) for group in groups for part in group.parts
    }

    def paired_with(group: PartGroup | None, other: PartGroup) -> tuple[Part, ...]:
        """Return the parts of `other` that play with `group`; for None, the unpaired parts."""
        paired, is_filling = list[Part](), other.summary and len(groups) == len(others) == 1
        for part in other.parts:
            twin = twins[part.target]
            owner, correct = owners.get(twin, (None, None))
            if twin != part.target and (groups[0] if is_filling else owner) is group:
                if value_of is not None and twin is not None:
                    value, lines = value_of(twin), correct.by_entry if correct else repeat(None)
                    entries = repeat(None) if value is None else np.ravel(value)
                    by_entry = tuple(map(_mark_wrong, part.by_entry, lines, entries))
                    part = replace(_mark_wrong(part, correct, value), by_entry=by_entry)
                paired.append(replace(part, is_second=True))
        return tuple(paired)

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
        if value_of is None and other.reasons != group.reasons:
            reason = "  ".join(f"{run}: {each.reasons}" for run, each in both if each.reasons)
        texts = [[line[1:] for line in lines] for lines in (summary, other.summary)]  # no signs
        if texts[0] != texts[1]:  # a value that is copied in one run can be a sum in the other run
            summary = (*summary, *other.summary) if all(texts) else ()
        parts = (*group.parts, *(part for _, added in paired for part in added))
        yield replace(group, parts=parts, summary=summary, reason=reason)
