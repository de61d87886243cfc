"""Two runs in lockstep: by the correct rule and by a faulty rule, or of two loops.

With a faulty rule, rows that never differ appear once. Each other row has a second row below it,
and both versions of a sum play together. If the rule changes the tapes, its whole run appears below
the correct run, as for two loops.
"""

from collections.abc import Iterator, Mapping
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
    Movement,
    PartGroup,
    Phrase,
    RuleEffect,
    SlotCell,
    TapeRow,
)
from visual.pictures.machine.stack import moved_part, stacked

CLOSE = 1e-9  # relative: results of both rules that differ by less are equal
SIGNS, LETTERS = ("✓", "✗"), ("A", "B")
UNCOLORED = (Ink.PLAIN, Ink.NAME, Ink.SIGN)
TWICE = (
    "The gradient of the old value equals that of the new one. ✗ adds the old content as well, "
    "and counts it twice."
)


def compared(first: Trace, second: Trace, entry: int | None = None) -> MachineContent:
    """Return the machine of two runs, one above the other on a common clock."""
    pairs = zip(_named(first), _named(second), strict=True)
    names = [(a, b) for n, (a, b) in enumerate(pairs) if n == 0 or a != b]
    parts = [", ".join(filter(None, name)) for name in zip(*names, strict=True)]
    title = " · ".join(f"{run}: {name}" for run, name in zip(LETTERS, parts, strict=True))
    machines = [machine_of(trace, entry=entry) for trace in (first, second)]
    return stacked(machines[0], machines[1], LETTERS, title)


def _named(trace: Trace) -> list[str]:
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
    places = [[(c.row, c.column, c.name) for c in each.cells] for each in (correct, faulty)]
    both = _paired_rows if places[0] == places[1] and _alike(correct, faulty) else _both
    machine = _marked(_differences_last(both(correct, faulty)))
    mistake = _mistake(machine, breakage)
    if mistake.rule == "accumulate-overwritten" and mistake.first_wrong is not None:
        machine = _explained(machine, mistake.first_wrong)
    return replace(machine, title=_title(breakage), mistake=mistake, runs=SIGNS)


def _explained(machine: MachineContent, first: int) -> MachineContent:
    """Return a machine that explains both rules at its first wrong moment."""
    event = machine.events[first - 1]
    last = replace(event.groups[-1], reason=TWICE)
    explained = replace(event, groups=(*event.groups[:-1], last))
    return replace(
        machine, events=(*machine.events[: first - 1], explained, *machine.events[first:])
    )


def _differences_last(machine: MachineContent) -> MachineContent:
    """Return a machine whose events end with a group in which the faulty rule differs, if any."""
    events = []
    for moment, event in enumerate(machine.events, start=1):
        wrong = {n for n, c in enumerate(machine.cells) if (c.wrong_from or moment + 1) <= moment}

        def key(group: PartGroup, wrong: set[int] = wrong) -> tuple[bool, bool]:
            second = [part.target for part in group.parts if part.is_second]
            return bool(wrong & {*second}), bool(second)

        events.append(replace(event, groups=tuple(sorted(event.groups, key=key))))
    return replace(machine, events=tuple(events))


def _marked(machine: MachineContent) -> MachineContent:
    """Return a machine in whose sentences the wrong numbers of the faulty rule are red."""
    events = [
        replace(event, groups=tuple(_with_marks(group) for group in event.groups))
        for event in machine.events
    ]
    return replace(machine, events=tuple(events))


def _with_marks(group: PartGroup) -> PartGroup:
    correct = {part.sentence[0].text: part.sentence for part in group.parts if not part.is_second}
    marked = (
        replace(part, sentence=_with_red(part.sentence, correct[part.sentence[0].text]))
        if part.is_second and part.sentence[0].text in correct
        else part
        for part in group.parts
    )
    return replace(group, parts=tuple(marked))


def _with_red(faulty: tuple[Phrase, ...], correct: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Return the sentence of the faulty rule, with red numbers where the correct one differs.

    Of two sums with different terms, only the written values, after the names, are compared.
    """
    compared = len(faulty) if len(faulty) == len(correct) else 2
    pairs = zip(faulty[:compared], correct[:compared], strict=True)
    red = (
        replace(a, ink=Ink.WRONG) if a.text != b.text and a.ink not in UNCOLORED else a
        for a, b in pairs
    )
    return (*red, *faulty[compared:])


def _alike(correct: MachineContent, faulty: MachineContent) -> bool:
    """Return whether both runs have the same events, which write the same slots."""
    pairs = zip(correct.events, faulty.events, strict=False)
    return len(correct.events) == len(faulty.events) and all(
        {part.target for group in a.groups for part in group.parts}
        >= {part.target for group in b.groups for part in group.parts}
        for a, b in pairs
    )


def _both(correct: MachineContent, faulty: MachineContent) -> MachineContent:
    """Combine both runs, Scan by Scan; a number is wrong if the correct one of its name differs."""
    both, own = stacked(correct, faulty, SIGNS, ""), len(correct.cells)
    known = {_place(both, cell): n for n, cell in enumerate(both.cells[:own])}
    cells, twins, starts = list(both.cells[:own]), dict[int, int](), dict[int, int | None]()
    for number, cell in enumerate(both.cells[own:], start=own):
        twins[number] = known.get(_place(both, cell), -1)
        twin = twins[number]
        starts[number] = None if twin < 0 else _first_difference(both.cells[twin], cell)
    differing = {
        both.rows[both.cells[number].row].scan
        for number, start in starts.items()
        if start is not None or twins[number] < 0
    }
    shown = [n for n, row in enumerate(both.rows) if not row.is_second or row.scan in differing]
    shown.sort(key=lambda n: (both.scans[both.rows[n].scan - 1].number, both.rows[n].is_second))
    for number, start in starts.items():
        cell = both.cells[number]
        if both.rows[cell.row].scan in differing:
            twins[number] = len(cells)
            cells.append(replace(cell, wrong_from=start))
    events = tuple(
        replace(event, groups=tuple(_with_twins(group, own, twins) for group in event.groups))
        for event in both.events
    )
    cells = [replace(cell, row=shown.index(cell.row)) for cell in cells]
    scans = tuple(replace(s, run="") if s.run == SIGNS[0] else s for s in both.scans)
    rows = tuple(both.rows[n] for n in shown)
    return replace(both, rows=rows, cells=tuple(cells), scans=scans, events=events)


def _with_twins(group: PartGroup, own: int, twins: Mapping[int, int]) -> PartGroup:
    """Return a group without the second run's sums in rows that appear once."""
    first = [part for part in group.parts if not part.is_second]
    second = [moved_part(part, twins) for part in group.parts if part.is_second]
    return replace(group, parts=(*first, *(part for part in second if part.target >= own)))


def _place(machine: MachineContent, cell: SlotCell) -> tuple[int, str, str]:
    row = machine.rows[cell.row]
    return machine.scans[row.scan - 1].number, row.name, cell.name


def _paired_rows(correct: MachineContent, faulty: MachineContent) -> MachineContent:
    """Return the correct run, with a second row below each row in which a number differs."""
    starts = [_first_difference(a, b) for a, b in zip(correct.cells, faulty.cells, strict=True)]
    doubled = sorted({c.row for c, start in zip(correct.cells, starts, strict=True) if start})
    rows, row_of, twin_row = list[TapeRow](), dict[int, int](), dict[int, int]()
    for number, row in enumerate(correct.rows):
        row_of[number] = len(rows)
        rows.append(row)
        if number in doubled:
            twin_row[number] = len(rows)
            rows.append(replace(row, name=f"✗ {row.name}", is_second=True))
    cells = [replace(cell, row=row_of[cell.row]) for cell in correct.cells]
    twins: dict[int, int] = {}
    for number, (cell, start) in enumerate(zip(faulty.cells, starts, strict=True)):
        if cell.row in twin_row:
            twins[number] = len(cells)
            cells.append(replace(cell, row=twin_row[cell.row], wrong_from=start))
    events = tuple(
        replace(event, groups=tuple(_paired(group, other.groups, twins) for group in event.groups))
        for event, other in zip(correct.events, faulty.events, strict=True)
    )
    return replace(correct, rows=tuple(rows), cells=tuple(cells), events=events)


def _first_difference(correct: SlotCell, faulty: SlotCell) -> int | None:
    """Return the first moment at which the numbers of two cells differ, or None."""
    moments = sorted({key.moment for cell in (correct, faulty) for key in cell.keys})
    for moment in moments:
        pair = correct.at(moment).full, faulty.at(moment).full
        if pair[0] != pair[1] and not _are_close(*pair):
            return moment
    return None


def _are_close(correct: str, faulty: str) -> bool:
    try:
        return bool(np.isclose(float(correct), float(faulty), rtol=CLOSE, atol=0, equal_nan=True))
    except ValueError:  # an array, or an empty cell
        return False


def _paired(group: PartGroup, others: tuple[PartGroup, ...], twins: Mapping[int, int]) -> PartGroup:
    """Return a group with the sums of the faulty rule in the same slots."""
    by_target = {part.target: part for other in others for part in other.parts}
    targets = [part.target for part in group.parts if part.target in twins]
    pairs = [by_target[target] for target in targets if target in by_target]
    return replace(group, parts=(*group.parts, *(moved_part(part, twins) for part in pairs)))


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
    """Return the index of the entry that the table shows: where the faulty rule errs most."""
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
    """Return the first wrong number, the first event that reads one, and the table of results."""
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    first = min(wrong.values(), default=None)
    read = next(_wrong_reads(machine, wrong), None) if wrong else None
    entry, table = _entry(breakage), []
    for row in breakage.rows:
        near = None if row.differences is None else row.differences.value
        shown = [_number(value, entry) for value in (row.true, row.broken, near)]
        ratio = _ratio(row.true[entry], None if row.broken is None else row.broken[entry])
        table.append((_entry_name(row.name, entry), *shown, ratio))
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
