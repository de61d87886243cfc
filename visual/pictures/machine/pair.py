"""Two runs in lockstep: runs of two loops, or the runs of the correct rule and of a faulty rule.

A row with the same numbers in the correct and the faulty run appears once. Below each other row is
the row of the faulty run, and both versions of a sum play together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.notation import integers, number_text
from lab.reports.breaking.breakage import Breakage, precise
from lab.reports.breaking.rules import EXAMPLES
from lab.traces.trace import Trace
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import MOST_COLUMNS
from visual.pictures.machine.content import (
    Ink,
    MachineContent,
    Part,
    PartGroup,
    Phrase,
    RuleEffect,
    SlotCell,
    TapeRow,
)
from visual.pictures.machine.lockstep import align, merge

CLOSE = 1e-9  # the largest relative difference between numbers that count as equal
SIGNS, LETTERS = ("✓", "✗"), ("A", "B")
UNCOLORED = (Ink.PLAIN, Ink.NAME, Ink.SIGN)


def compare_runs(first: Trace, second: Trace, entry: int | None = None) -> MachineContent:
    """Return the machine of two runs, one above the other on a common clock."""
    pairs = zip(_run_names(first), _run_names(second), strict=True)
    names = [pair for n, pair in enumerate(pairs) if n == 0 or pair[0] != pair[1]]
    parts = [", ".join(filter(None, name)) for name in zip(*names, strict=True)]
    machines = []
    for run, trace in zip(LETTERS, (first, second), strict=True):
        machine = machine_of(trace, entry=entry)
        scans = tuple(replace(scan, run=run) for scan in machine.scans)
        results = tuple((f"{run} {name}", value) for name, value in machine.results)
        machines.append(replace(machine, scans=scans, results=results))
    a, b = align(*machines)
    twins = _twins(a, b, lambda row, cell: (row.scan, row.name, cell.column))
    return replace(
        merge(a, b, LETTERS, twins, range(len(b.rows)), below=len(a.scans)),
        title=" · ".join(f"{run}: {name}" for run, name in zip(LETTERS, parts, strict=True)),
        results=(*a.results, *b.results),
    )


def _run_names(trace: Trace) -> list[str]:
    """Return texts for the title: the name, taps, steps, order, and initial values of a run."""
    if not trace.scans:
        return [""] * 5
    loop = trace.scans[0]
    tapes = [t for t in loop.tapes if t.tape.reads]
    starts = [f"{t.name}₀ = {number_text(t.initial[0])}" for t in tapes if not t.initial[0].ndim]
    return [
        loop.name,
        "; ".join(f"taps {integers(*t.tape.reads)}" for t in tapes),
        f"{loop.steps} steps",
        f"order {max(scan.order for scan in trace.scans)}",
        "; ".join(starts),
    ]


def pair_of(breakage: Breakage, most: int = MOST_COLUMNS) -> MachineContent:
    """Return a machine with the correct run and with the differing rows of the faulty run."""
    runs = (machine_of(run, most=most) for run in (breakage.true, breakage.broken))
    machine = _with_red_numbers(_with_faulty_rows(*align(*runs)))
    return replace(machine, title=_title(breakage), mistake=_mistake(machine, breakage))


def _twins(
    first: MachineContent, second: MachineContent, place: Callable[[TapeRow, SlotCell], object]
) -> list[int | None]:
    """Return the twin of each cell of `second`: the cell of `first` in the same place, or None."""
    known = {place(first.rows[cell.row], cell): n for n, cell in enumerate(first.cells)}
    return [known.get(place(second.rows[cell.row], cell)) for cell in second.cells]


def _with_red_numbers(machine: MachineContent) -> MachineContent:
    """Return a machine with red wrong numbers. Groups with wrong numbers play after all others."""
    events = []
    for moment, event in enumerate(machine.events, start=1):
        wrong = {n for n, c in enumerate(machine.cells) if (c.wrong_from or moment + 1) <= moment}

        def rank(group: PartGroup, wrong: set[int] = wrong) -> tuple[bool, bool]:
            second = {part.target for part in group.parts if part.is_second}
            return bool(wrong & second), bool(second)

        groups = []
        for group in sorted(event.groups, key=rank):
            correct = {p.sentence[1].text: p.sentence for p in group.parts if not p.is_second}
            parts = tuple(_with_red(part, correct) for part in group.parts)
            groups.append(replace(group, parts=parts))
        events.append(replace(event, groups=tuple(groups)))
    return replace(machine, events=tuple(events))


def _with_red(part: Part, correct: Mapping[str, Sequence[Phrase]]) -> Part:
    """Return a sum of the faulty run. The numbers that differ from the correct run are red.

    `correct` has the sentences of the correct run by quantity. If two sentences have different
    numbers of pieces, only their written values are compared.
    """
    faulty, other = part.sentence, correct.get(part.sentence[1].text, ())
    if not part.is_second or not other:
        return part
    compared = len(faulty) if len(faulty) == len(other) else 3
    red = (
        replace(a, ink=Ink.WRONG) if a.ink not in UNCOLORED and a.text != b.text else a
        for a, b in zip(faulty[:compared], other, strict=False)
    )
    return replace(part, sentence=(*red, *faulty[compared:]))


def _with_faulty_rows(correct: MachineContent, faulty: MachineContent) -> MachineContent:
    """Return the correct machine with the faulty row below each row in which a number differs."""
    twins = _twins(correct, faulty, lambda row, cell: (row.scan, row.name, cell.column, cell.name))
    cells = []
    for cell, twin in zip(faulty.cells, twins, strict=True):
        start = None if twin is None else _first_difference(correct.cells[twin], cell)
        cells.append(replace(cell, wrong_from=start))
    differing = {
        cell.row
        for cell, twin in zip(cells, twins, strict=True)
        if twin is None or cell.wrong_from is not None
    }
    faulty = replace(faulty, cells=tuple(cells))
    both = merge(correct, faulty, SIGNS, twins, differing)
    rows = (replace(row, name=f"✗ {row.name}") if row.is_second else row for row in both.rows)
    return replace(both, rows=tuple(rows))


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


def _title(breakage: Breakage) -> str:
    if breakage.visible is None:
        orders = len(breakage.rows)
        return f"The faulty rule changes no derivative of this loop up to order {orders}"
    row = next(row for row in breakage.rows if row.order == breakage.visible)
    entry = _entry(breakage)
    name = _entry_name(row.name, entry)
    if row.broken is None:
        return f"With the faulty rule, {name} cannot be computed"
    if not entry and (ratio := _ratio(row.true, row.broken)):
        return f"With the faulty rule, {name} is {ratio} times its value"
    true, faulty = (precise(value[entry]) for value in (row.true, row.broken))
    return f"With the faulty rule, {name} is {faulty}, not {true}"


def _entry(breakage: Breakage) -> tuple[int, ...]:
    """Return the index of the entry with the largest error. The results show only this entry."""
    wrong = (row for row in breakage.rows if row.order == breakage.visible)
    row = next(wrong, breakage.rows[-1])
    if row.broken is None or row.broken.shape != row.true.shape or not row.true.size:
        return (0,) * row.true.ndim
    error = np.nan_to_num(np.abs(row.broken - row.true), nan=np.inf)
    return tuple(int(n) for n in np.unravel_index(np.argmax(error), error.shape))


def _entry_name(name: str, entry: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, entry))}]" if entry else name


def _ratio(true: np.ndarray, faulty: np.ndarray | None) -> str:
    """Return the ratio of the faulty to the true number. Empty if the ratio is not finite."""
    if faulty is None or not (true and np.isfinite(faulty) and np.isfinite(true)):
        return ""
    return f"{float(faulty / true):.4g}"


def _mistake(machine: MachineContent, breakage: Breakage) -> RuleEffect:
    """Return the effect of the faulty rule on the machine and on the results."""
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    entry, table = _entry(breakage), []
    for row in breakage.rows:
        estimate = None if row.differences is None else row.differences.value
        values = [
            each if each is None else each[entry] for each in (row.true, row.broken, estimate)
        ]
        ratio = _ratio(row.true[entry], values[1])
        table.append((_entry_name(row.name, entry), *map(precise, values), ratio))
    rule = breakage.rule
    return RuleEffect(
        rule.name,
        rule.change,
        first_wrong=min(wrong.values(), default=None),
        first_read=next(_wrong_reads(machine, wrong), None),
        table=tuple(table),
        example=EXAMPLES.get(rule.name) if breakage.visible is None else None,
    )


def _wrong_reads(machine: MachineContent, wrong: Mapping[int, int]) -> Iterator[int]:
    """Yield the moments of the events that read a wrong number."""
    for moment, event in enumerate(machine.events, start=1):
        used = {cell for part in event.parts for cell in part.reads}
        if any(wrong.get(cell, moment) < moment for cell in used):
            yield moment
