"""Two runs in lockstep: by the correct rule and by a faulty rule, or of two loops.

With a faulty rule, rows that never differ appear once. Below each other row is the row of the
faulty run, and both versions of a sum play together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.notation import integers, number_text
from lab.reports.breaking.breakage import Breakage
from lab.reports.breaking.rules import EXAMPLES
from lab.traces.trace import Trace
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import MOST_COLUMNS
from visual.pictures.machine.content import (
    Ink,
    MachineContent,
    MachineEvent,
    Movement,
    PartGroup,
    Phrase,
    RuleEffect,
    SlotCell,
)
from visual.pictures.machine.stack import aligned, common_summary, moved_part, stacked

CLOSE = 1e-9  # the largest relative difference of equal numbers
SIGNS, LETTERS = ("✓", "✗"), ("A", "B")
UNCOLORED = (Ink.PLAIN, Ink.NAME, Ink.SIGN)
TWICE = (
    "The gradient of the old value equals that of the new one. ✗ adds the old content as well, "
    "and counts it twice."
)


def compared(first: Trace, second: Trace, entry: int | None = None) -> MachineContent:
    """Return the machine of two runs, one above the other on a common clock."""
    pairs = zip(_run_names(first), _run_names(second), strict=True)
    names = [(a, b) for n, (a, b) in enumerate(pairs) if n == 0 or a != b]
    parts = [", ".join(filter(None, name)) for name in zip(*names, strict=True)]
    title = " · ".join(f"{run}: {name}" for run, name in zip(LETTERS, parts, strict=True))
    machines = [machine_of(trace, entry=entry) for trace in (first, second)]
    return stacked(machines[0], machines[1], LETTERS, title)


def _run_names(trace: Trace) -> list[str]:
    """Return the name of a run and its properties: taps, steps, order, and initial values."""
    loop = trace.scans[0] if trace.scans else None
    if loop is None:
        return [""] * 5
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
    """Return the machine of the correct run, with the rows in which the faulty rule differs."""
    correct, faulty = machine_of(breakage.true, most=most), machine_of(breakage.broken, most=most)
    machine = _with_red_numbers(_with_faulty_rows(correct, faulty))
    mistake = _mistake(machine, breakage)
    if mistake.rule == "accumulate-overwritten" and mistake.first_wrong is not None:
        machine = _with_explanation(machine, mistake.first_wrong)
    return replace(machine, title=_title(breakage), mistake=mistake, runs=SIGNS)


def _with_explanation(machine: MachineContent, first: int) -> MachineContent:
    """Return a machine that explains both rules at its first wrong moment."""
    event = machine.events[first - 1]
    last = replace(event.groups[-1], reason=TWICE)
    explained = replace(event, groups=(*event.groups[:-1], last))
    return replace(
        machine, events=(*machine.events[: first - 1], explained, *machine.events[first:])
    )


def _with_red_numbers(machine: MachineContent) -> MachineContent:
    """Return a machine with red numbers; groups in which the faulty rule differs play last."""
    events = []
    for moment, event in enumerate(machine.events, start=1):
        wrong = {n for n, c in enumerate(machine.cells) if (c.wrong_from or moment + 1) <= moment}

        def rank(group: PartGroup, wrong: set[int] = wrong) -> tuple[bool, bool]:
            second = [part.target for part in group.parts if part.is_second]
            return bool(wrong & {*second}), bool(second)

        groups = map(_with_marks, sorted(event.groups, key=rank))
        events.append(replace(event, groups=tuple(groups)))
    return replace(machine, events=tuple(events))


def _with_marks(group: PartGroup) -> PartGroup:
    """Return a group with red numbers where the faulty rule is wrong."""
    correct = {part.sentence[0].text: part.sentence for part in group.parts if not part.is_second}
    parts = (
        replace(part, sentence=_with_red(part.sentence, correct[part.sentence[0].text]))
        if part.is_second and part.sentence[0].text in correct
        else part
        for part in group.parts
    )
    return replace(group, parts=tuple(parts))


def _with_red(faulty: tuple[Phrase, ...], correct: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Return the sentence of the faulty rule, with red numbers where the correct sentence differs.

    If the sums have different terms, only the written values are compared.
    """
    compared = len(faulty) if len(faulty) == len(correct) else 2
    pairs = zip(faulty[:compared], correct[:compared], strict=True)
    red = (
        replace(a, ink=Ink.WRONG) if a.ink not in UNCOLORED and _differ(a.full, b.full) else a
        for a, b in pairs
    )
    return (*red, *faulty[compared:])


def _with_faulty_rows(correct: MachineContent, faulty: MachineContent) -> MachineContent:
    """Return the correct run, with the faulty row below each row in which a number differs."""
    correct, faulty = aligned(correct, faulty)
    known = {_place(correct, cell): n for n, cell in enumerate(correct.cells)}
    equal = [known.get(_place(faulty, cell)) for cell in faulty.cells]
    starts = [
        None if n is None else _first_difference(correct.cells[n], cell)
        for n, cell in zip(equal, faulty.cells, strict=True)
    ]
    differing = {
        cell.row
        for cell, n, start in zip(faulty.cells, equal, starts, strict=True)
        if n is None or start is not None
    }
    names = {(row.scan, row.name): n for n, row in enumerate(correct.rows)}
    places = [(row.scan, n, False, n) for n, row in enumerate(correct.rows)]
    for n, row in enumerate(faulty.rows):
        if n in differing:
            places.append((row.scan, names.get((row.scan, row.name), len(names)), True, n))
    order = [(is_second, n) for _, _, is_second, n in sorted(places)]
    rows = tuple(
        replace(faulty.rows[n], name=f"✗ {faulty.rows[n].name}", is_second=True)
        if is_second
        else correct.rows[n]
        for is_second, n in order
    )
    cells = [replace(cell, row=order.index((False, cell.row))) for cell in correct.cells]
    numbers: list[int] = []
    for twin, cell, start in zip(equal, faulty.cells, starts, strict=True):
        numbers.append(len(cells) if twin is None or cell.row in differing else twin)
        if cell.row in differing:
            cells.append(replace(cell, row=order.index((True, cell.row)), wrong_from=start))
    events = tuple(
        replace(event, groups=tuple(_paired_groups(event, other, equal, numbers)))
        for event, other in zip(correct.events, faulty.events, strict=True)
    )
    scans = (*correct.scans, *faulty.scans[len(correct.scans) :])
    return replace(correct, rows=rows, cells=tuple(cells), scans=scans, events=events)


def _paired_groups(
    event: MachineEvent, other: MachineEvent, equal: Sequence[int | None], numbers: Sequence[int]
) -> Iterator[PartGroup]:
    """Yield the groups of the correct run, with the faulty sums in the same slots, then the rest.

    `equal` has the cell of the correct run for each cell of the faulty run, and `numbers` the cell
    that shows the faulty number.
    """
    own = {part.target for group in event.groups for part in group.parts}
    second = [
        [part for part in group.parts if numbers[part.target] != equal[part.target]]
        for group in other.groups
    ]
    filled = next((group.summary for group in other.groups), ())
    for group in event.groups:
        targets = {part.target for part in group.parts}
        pairs = [p for parts in second for p in parts if equal[p.target] in targets]
        faulty = tuple(moved_part(part, numbers) for part in pairs)
        summary = group.summary
        if faulty and filled != summary:
            summary = common_summary(SIGNS, (summary, filled))
        yield replace(group, parts=(*group.parts, *faulty), summary=summary)
    for group, parts in zip(other.groups, second, strict=True):
        rest = tuple(moved_part(p, numbers) for p in parts if equal[p.target] not in own)
        if rest:
            yield replace(group, parts=rest)


def _place(machine: MachineContent, cell: SlotCell) -> tuple[int, str, int, str]:
    row = machine.rows[cell.row]
    return row.scan, row.name, cell.column, cell.name


def _first_difference(correct: SlotCell, faulty: SlotCell) -> int | None:
    """Return the first moment at which the numbers of two cells differ, or None."""
    moments = sorted({key.moment for cell in (correct, faulty) for key in cell.keys})
    differing = (m for m in moments if _differ(correct.at(m).full, faulty.at(m).full))
    return next(differing, None)


def _differ(correct: str, faulty: str) -> bool:
    """Return whether two numbers differ by more than `CLOSE`, or whether two other texts differ."""
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
    true, faulty = (_number(value, entry) for value in (row.true, row.broken))
    return f"With the faulty rule, {name} is {faulty}, not {true}"


def _entry(breakage: Breakage) -> tuple[int, ...]:
    """Return the index of the entry with the largest error, which the table of results shows."""
    wrong = (row for row in breakage.rows if row.order == breakage.visible)
    row = next(wrong, breakage.rows[-1])
    if row.broken is None or row.broken.shape != row.true.shape or not row.true.size:
        return (0,) * row.true.ndim
    error = np.nan_to_num(np.abs(row.broken - row.true), nan=np.inf)
    return tuple(int(n) for n in np.unravel_index(np.argmax(error), error.shape))


def _entry_name(name: str, entry: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, entry))}]" if entry else name


def _ratio(true: np.ndarray, faulty: np.ndarray | None) -> str:
    """Return the ratio of two finite numbers in at most four digits, or an empty text."""
    if faulty is None or not (true and np.isfinite(faulty) and np.isfinite(true)):
        return ""
    return f"{float(faulty / true):.4g}"


def _mistake(machine: MachineContent, breakage: Breakage) -> RuleEffect:
    """Return the first wrong number, the first read of a wrong number, and the results."""
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    first = min(wrong.values(), default=None)
    read = next(_wrong_reads(machine, wrong), None) if wrong else None
    entry, table = _entry(breakage), []
    for row in breakage.rows:
        estimate = None if row.differences is None else row.differences.value
        texts = [_number(value, entry) for value in (row.true, row.broken, estimate)]
        ratio = _ratio(row.true[entry], None if row.broken is None else row.broken[entry])
        table.append((_entry_name(row.name, entry), *texts, ratio))
    rule = breakage.rule
    example = EXAMPLES.get(rule.name) if breakage.visible is None else None
    return RuleEffect(rule.name, rule.change, first, read, tuple(table), example)


def _wrong_reads(machine: MachineContent, wrong: Mapping[int, int]) -> Iterator[int]:
    """Yield the events that read a wrong number."""
    for moment, event in enumerate(machine.events, start=1):
        for part in (part for group in event.groups for part in group.parts):
            used = [cell for term in part.terms for cell in _cells(term)]
            if any(wrong.get(cell, moment) < moment for cell in used):
                yield moment


def _cells(term: Movement) -> Iterator[int]:
    yield from term.saved
    if term.source is not None:
        yield term.source


def _number(value: np.ndarray | None, entry: tuple[int, ...]) -> str:
    return "none" if value is None else f"{float(value[entry]):.6g}"
