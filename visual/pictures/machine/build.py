"""A run as a machine: `machine_of` arranges the events of a trace by cells and time.

`lab.events` decides all roles and sums.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np

from lab.equations.events.events import Events, events
from lab.equations.events.records import Event as RunEvent
from lab.equations.events.records import Read, Slot, SlotRole, Write
from lab.equations.events.records import Term as RunTerm
from lab.errors import GraphError
from lab.traces.program import Program
from lab.traces.trace import SequenceTrace, Trace
from visual.layout.cells import full_text
from visual.pictures.machine.columns import (
    MOST_COLUMNS,
    Address,
    Columns,
    filling_sentence,
    results,
    scan_rows,
    tape_row,
    title_of,
)
from visual.pictures.machine.content import (
    Key,
    MachineContent,
    MachineEvent,
    Movement,
    Part,
    PartGroup,
    PartKind,
    SlotCell,
)
from visual.pictures.machine.places import PlacedEvents
from visual.pictures.machine.wording import Wording

MOST_ROWS = 80  # the most tapes of a machine
# A state of a slot: its first moment, the role of the slot, and the value in the slot.
State = tuple[int, SlotRole, np.ndarray | None]


def machine_of(
    trace: Trace,
    around: int | None = None,
    entry: int | None = None,
    most: int = MOST_COLUMNS,
    program: Program | None = None,
) -> MachineContent:
    """Return the machine of a run.

    A loop with more than `most` columns shows its ends and the columns near the time `around`.
    Cells of arrays show the entry with the index `entry`, or norms if `entry` is None. With the
    `program` of the run, each number refers to the instruction that computes the number. Raises
    GraphError for a run without Scans or steps, with more than `MOST_ROWS` tapes, or with numbers
    that a page cannot compute.
    """
    if not any(scan.steps for scan in trace.scans):
        raise GraphError("trace: expected a run with at least one step of a Scan.")
    run = events(trace) if program is None else PlacedEvents(trace, program)
    columns = Columns(trace, around, most)
    if len(columns.rows) > MOST_ROWS:
        raise GraphError(
            f"trace: the run has {len(columns.rows):,} tapes; the machine plays at most "
            f"{MOST_ROWS}. Choose a lower order, or draw the tapes of one Scan."
        )
    return _Builder(trace, run, columns, Wording(run, entry)).machine()


@dataclass(frozen=True, eq=False)
class _Builder:
    trace: Trace
    events: Events
    columns: Columns
    wording: Wording

    def machine(self) -> MachineContent:
        """Return the machine. Only the last event of a series of hidden events remains."""
        every = groupby(self._events(), lambda event: bool(event.groups))
        played = [each for is_shown, series in every for each in [*series][0 if is_shown else -1 :]]
        cells = tuple(self._cell(place, played) for place in self.columns.places)
        rows = tuple(tape_row(self.wording, row) for row in self.columns.rows)
        return MachineContent(
            title=title_of(self.trace, played, cells, rows),
            scans=tuple(scan_rows(self.wording, self.columns, played)),
            rows=rows,
            cells=cells,
            events=tuple(played),
            times=self.columns.shown,
            results=tuple(results(self.wording)),
        )

    # Cells.

    def _cell(self, place: Address, played: Sequence[MachineEvent]) -> SlotCell:
        """Return the cell of a slot, or of a given value of a sequence."""
        row, column = self.columns.places[place]
        if taps := self.columns.rows[row].taps:
            return self._given_cell(place, taps, played)
        slot, scan = self.events.slot(*place), self.trace.scans[place[0]]
        keys = keys_of(self.wording, self._states(slot, [event.number for event in played]))
        has_seed = any(
            scan.parent is not None and np.any(tape.initial[slot.row : slot.row + 1])
            for tape in scan.tapes
            if tape.argument == slot.argument and tape.tape.reads
        )
        name = self.wording.quantity(slot)
        return SlotCell(row, column, slot.position, name, keys, has_seed)

    def _given_cell(
        self, place: Address, taps: Sequence[SequenceTrace], played: Sequence[MachineEvent]
    ) -> SlotCell:
        """Return the cell of a value of a sequence, which has the taps `taps`."""
        number, (scan, _, index) = self.columns.numbers[place], place
        tap = next(tap for tap in taps if index in tap.axis.rows)
        reads = self.events.step(scan, tap.axis.rows[index]).reads
        read = next(read for read in reads if read.argument == tap.argument)
        used = [False, *(any(number in part.reads for part in event.parts) for event in played)]
        roles = (SlotRole.READ if is_read else SlotRole.INPUT for is_read in used)
        states = ((moment, role, read.value) for moment, role in enumerate(roles))
        keys = keys_of(self.wording, states)
        return SlotCell(*self.columns.places[place], index, read.name, keys)

    def _states(self, slot: Slot, numbers: Sequence[int]) -> Iterator[State]:
        """Yield the state of a slot at each moment at which the role or the value may change.

        `numbers` are the event numbers of the shown events.
        """
        changes = {number + d for number in self.events.moments(slot) for d in (0, 1)}
        for moment in sorted({0, *(bisect_left(numbers, number) + 1 for number in changes)}):
            if moment <= len(numbers):
                number = numbers[moment - 1] if moment else 0
                value = self.events.value(slot, number)
                yield moment, self.events.role(slot, number), value

    # Events.

    def _events(self) -> Iterator[MachineEvent]:
        """Yield the shown events. An event that changes only hidden slots has no groups."""
        for number in self._shown_events():
            event = self.events[number - 1]
            groups = tuple(self._groups(event))
            heading = self.wording.heading(event)
            heading = heading if groups else f"{heading}: its slots are not shown"
            yield MachineEvent(number, event.scan + 1, event.step, groups, heading)

    def _shown_events(self) -> list[int]:
        """Return the numbers of events that touch a shown slot or end a series of hidden events."""
        total, columns = len(self.events), self.columns
        tapes = [row for row in columns.rows if not row.taps]
        slots = [place for row in tapes for place in row.addresses]
        if columns.places.keys() >= {*slots}:
            return list(range(1, total + 1))
        shown = [self.events.slot(*place) for place in slots if place in columns.places]
        touched = {n for slot in shown for n in self.events.moments(slot)}
        last = {n - 1 for n in touched if n > 1} | {total}
        return sorted(touched | last)

    def _groups(self, event: RunEvent) -> Iterator[PartGroup]:
        parts: dict[Write, Part] = {}  # the `Part` of each write to a shown slot
        for write in event.writes:
            slot, cell_of = write.slot, partial(self.columns.cell_of, event.scan)
            target = self.columns.numbers.get((slot.scan, slot.argument, slot.row))
            is_shown = event.step is not None or write.terms or np.any(write.new)
            if target is not None and is_shown:
                parts[write] = part_of(self.wording, cell_of, event, write, target)
        if event.step is None:
            summary = (filling_sentence(self.wording, event),)
            named = self.wording.named[event.scan]
            order = named.scan.order
            cost = () if named.seeded_by() else self.trace.names[order - 1 : order]
            origin = " ".join([named.seeds, *cost])
            is_seeded = any(np.any(write.new) for write in event.writes)
            reason = f"{'Initial gradients' if is_seeded else 'The steps add gradients'}: {origin}."
            yield PartGroup(tuple(parts.values()), summary, reason)
            return
        loud = [
            write
            for write in parts
            if write.kind is not SlotRole.RESTORED
            and (not write.terms or any(np.any(term.value) for term in write.terms))
        ]
        if quiet := [write for write in parts if write not in loud]:
            zeros = sum(parts[write].kind is PartKind.SUM for write in quiet)
            together = tuple(parts[write] for write in quiet)
            yield PartGroup(together, hides_factors=zeros > 1)
        for write in loud:  # after `quiet`: the words of the final group end the event
            yield PartGroup((parts[write],))


def keys_of(wording: Wording, states: Iterable[State]) -> tuple[Key, ...]:
    """Return the keys of a cell. A state that looks like the previous state gets no key."""
    keys: list[Key] = []
    for moment, role, value in states:
        full = "" if value is None else full_text(value)
        key = Key(moment, role.value, wording.number(value), full, wording.entries(value))
        if not keys or replace(key, moment=keys[-1].moment, full=keys[-1].full) != keys[-1]:
            keys.append(key)
    return tuple(keys)


CellOf = Callable[[Read], int | None]  # returns the index of the cell of a read value, or None


def part_of(wording: Wording, cell_of: CellOf, event: RunEvent, write: Write, target: int) -> Part:
    """Return the `Part` that shows a write to the cell `target`.

    `cell_of` returns the index of the cell of a read value, or None for a value without a cell.
    """
    kind = PartKind.SUM if write.terms else PartKind.FORMULA
    if write.kind is SlotRole.RESTORED:
        kind = PartKind.RESTORED
    if event.step is None:
        kind = PartKind.FILL
    equation = wording.equation(event, write)
    terms = () if kind is PartKind.RESTORED else tuple(_terms(wording, cell_of, write, target))
    return Part(
        kind,
        target,
        "" if write.old is None else wording.number(write.old),
        wording.number(write.new),
        write.adds_old and write.old is not None,
        terms,
        equation.sentence,
        equation.exact,
        formula=write.formula,
        check=equation.check,
        by_entry=tuple(each.equation(event, write) for each in wording.each(write.new)),
        reason=wording.reason(event, write),
    )


def _terms(wording: Wording, cell_of: CellOf, write: Write, target: int) -> Iterator[Movement]:
    """Yield a `Movement` for each term of a sum, or for each slot that a formula reads.

    A `Movement` of a formula has no factor and does not start in the target cell. The first
    `Movement` of a formula has the cells of the given values that the formula reads.
    """
    for term in write.terms:
        yield _term(wording, cell_of, term)
    if write.terms:
        return
    reads = {read: n for read in write.reads if (n := cell_of(read)) not in (None, target)}
    saved = tuple(dict.fromkeys(n for read, n in reads.items() if read.slot is None))
    product = wording.number(write.new)
    for read, cell in reads.items():
        if read.slot is not None:
            yield Movement(cell, wording.number(read.value), product=product, saved=saved)
            saved = ()
    if saved:
        yield Movement(None, "", product=product, saved=saved)


def _term(wording: Wording, cell_of: CellOf, term: RunTerm) -> Movement:
    source = term.source
    cell = None if source is None else cell_of(source)
    factor = term.factor
    if source is None or factor is None or np.shape(factor) not in ((), np.shape(source.value)):
        factor = None
    has_factor = wording.scalar(factor) is not None
    reads = (read for read in term.reads if read is not source)
    saved = dict.fromkeys(n for n in map(cell_of, reads) if n is not None)
    return Movement(
        cell,
        wording.number(source.value) if source is not None and cell is not None else "",
        wording.number(factor) if has_factor else "",
        term.symbols if has_factor or cell is None else "",
        wording.number(term.value),
        tuple(saved),
    )
