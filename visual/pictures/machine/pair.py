"""Two runs of one graph in lockstep: by the correct rule and by a faulty one.

Rows that never differ are drawn once.  Each other row has a second one below it, for the faulty
rule, and each sum in it is played together with its counterpart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from lab.errors import GraphError
from lab.reports.breaking.breakage import Breakage
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import MOST_COLUMNS
from visual.pictures.machine.content import Cell, Group, Machine, Mistake, Part, Row, Term

MOST_RATIOS = 4
CLOSE = 1e-9  # relative: results of both rules that differ by less are equal


def pair_of(breakage: Breakage, most: int = MOST_COLUMNS) -> Machine:
    """Return the machine of the correct run, with a second row where the faulty rule differs.

    Raises GraphError if the faulty rule changes the structure of the run.
    """
    correct, faulty = machine_of(breakage.true, most=most), machine_of(breakage.broken, most=most)
    places = [[(c.row, c.column, c.name) for c in each.cells] for each in (correct, faulty)]
    if places[0] != places[1] or len(correct.events) != len(faulty.events):
        raise GraphError(
            f"rule = {breakage.rule.name!r}: the faulty rule gives the Scans other tapes, and the "
            "two runs cannot be drawn in lockstep. Print the report of lab.break_rule instead."
        )
    starts = [_first_difference(a, b) for a, b in zip(correct.cells, faulty.cells, strict=True)]
    doubled = sorted({c.row for c, start in zip(correct.cells, starts, strict=True) if start})
    rows, row_of, twin_row = list[Row](), dict[int, int](), dict[int, int]()
    for number, row in enumerate(correct.rows):
        row_of[number] = len(rows)
        rows.append(row)
        if number in doubled:
            twin_row[number] = len(rows)
            rows.append(replace(row, name=f"✗ {row.name}", is_faulty=True))
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
    both = replace(correct, rows=tuple(rows), cells=tuple(cells), events=events)
    mistake = _mistake(both, breakage)
    return replace(both, title=_title(breakage), mistake=mistake)


def _first_difference(correct: Cell, faulty: Cell) -> int | None:
    """The first moment at which two cells hold different numbers."""
    moments = sorted({key.moment for cell in (correct, faulty) for key in cell.keys})
    for moment in moments:
        pair = correct.at(moment).full, faulty.at(moment).full
        if pair[0] != pair[1] and not _are_close(*pair):
            return moment
    return None


def _are_close(correct: str, faulty: str) -> bool:
    try:
        return bool(np.isclose(float(correct), float(faulty), rtol=CLOSE, atol=0, equal_nan=True))
    except ValueError:  # an array, or no number yet
        return False


def _paired(group: Group, others: tuple[Group, ...], twins: Mapping[int, int]) -> Group:
    """A group with the sums of the faulty rule in the same slots."""
    found = {part.target: part for other in others for part in other.parts}
    pairs = [found[p.target] for p in group.parts if p.target in twins and p.target in found]
    return replace(group, parts=(*group.parts, *(_moved(part, twins) for part in pairs)))


def _moved(part: Part, twins: Mapping[int, int]) -> Part:
    """A sum of the faulty run, between the cells of its own rows where it has some."""
    terms = tuple(
        replace(
            term,
            source=None if term.source is None else twins.get(term.source, term.source),
            saved=tuple(twins.get(cell, cell) for cell in term.saved),
        )
        for term in part.terms
    )
    return replace(part, target=twins[part.target], terms=terms, is_faulty=True)


def _title(breakage: Breakage) -> str:
    if breakage.visible is None:
        orders = len(breakage.rows)
        return f"The faulty rule changes no derivative of this loop up to order {orders}"
    row = next(row for row in breakage.rows if row.order == breakage.visible)
    if row.broken is None:
        return f"With the faulty rule, {row.name} cannot be computed"
    if not row.true.ndim and (ratio := _ratio(row.true, row.broken)):
        return f"With the faulty rule, {row.name} is {ratio} times its value"
    return f"With the faulty rule, {row.name} is {_number(row.broken)}, not {_number(row.true)}"


def _ratio(true: np.ndarray, faulty: np.ndarray | None) -> str:
    """The ratios of up to four numbers, in at most four digits; empty where there is none."""
    if faulty is None or faulty.shape != true.shape or true.size > MOST_RATIOS:
        return ""
    if not (np.all(true) and np.isfinite(faulty).all() and np.isfinite(true).all()):
        return ""
    return ", ".join(f"{ratio:.4g}" for ratio in np.ravel(faulty / true))


def _mistake(machine: Machine, breakage: Breakage) -> Mistake:
    """Where the rule shows first, where a wrong number is read first, and all results."""
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    first = min(wrong.values(), default=None)
    read = next(_wrong_reads(machine, wrong), None) if wrong else None
    table = []
    for row in breakage.rows:
        numbers = (row.true, row.broken, None if row.differences is None else row.differences.value)
        shown = [_number(value) for value in numbers]
        table.append((row.name, *shown, _ratio(row.true, row.broken)))
    return Mistake(breakage.rule.name, breakage.rule.change, first, read, tuple(table))


def _wrong_reads(machine: Machine, wrong: Mapping[int, int]) -> Iterator[int]:
    """The events in which a step reads a number that is wrong already."""
    for moment, event in enumerate(machine.events, start=1):
        for part in (part for group in event.groups for part in group.parts):
            used = [cell for term in part.terms for cell in _cells(term)]
            if any(wrong.get(cell, moment) < moment for cell in used):
                yield moment


def _cells(term: Term) -> Iterator[int]:
    yield from term.saved
    if term.source is not None:
        yield term.source


def _number(value: np.ndarray | None) -> str:
    if value is None:
        return "none"
    return f"{float(value):.6g}" if value.ndim == 0 else np.array2string(value, precision=4)
