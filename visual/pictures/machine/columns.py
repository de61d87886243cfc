"""The rows and the columns of a machine: the slots that have cells, and all names and results.

`Columns` selects the rows and columns. The functions below return the title, the names of rows and
Scans, the results, and the sentence about a filled tape.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events.records import Event, Read
from lab.equations.quantities import Quantities
from lab.notation import integers
from lab.records import cached_property
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.columns import Gap, TimeColumns, column_of, timeline, with_gaps
from visual.pictures.machine.content import (
    LISTED,
    Ink,
    MachineEvent,
    PartKind,
    Phrase,
    ScanRows,
    SlotCell,
    TapeRow,
)
from visual.pictures.machine.places import Places
from visual.pictures.machine.wording import Wording

MOST_COLUMNS, ENDS, ENDS_ALONE = 12, 3, 4
# The Scan, argument, and row of a slot; or the Scan, argument, and time index of a given value.
Address = tuple[int, int, int]
MOST_FACTOR = 8  # the most characters of a factor in a title
MOST_LISTED = 12  # the most entries of a result as text
INDEX = "₀₁₂₃₄₅₆₇₈₉"


@dataclass(frozen=True, eq=False)
class Columns:
    """The rows and columns of a run; a long loop shows its ends and the columns near `around`."""

    trace: Trace
    around: int | None = None
    most: int = MOST_COLUMNS

    @cached_property
    def named(self) -> tuple[Quantities, ...]:
        """The names of the quantities of each Scan."""
        return tuple(Quantities.each(self.trace))

    @cached_property
    def tapes(self) -> list[tuple[int, TapeTrace]]:
        """The tapes that a result needs, with the index of their Scan."""
        return [
            (number, tape)
            for number, scan in enumerate(self.trace.scans)
            for tape in sorted(scan.held, key=lambda tape: not tape.tape.reads)
            if tape.used or tape.collects or scan.parent is None
        ]

    @cached_property
    def sequences(self) -> dict[tuple[int, str], SequenceTrace]:
        """The sequences with cells, by Scan and name; of several taps, the first.

        The values are given, not computed by a Scan, and have up to `LISTED` numbers.
        """
        result: dict[tuple[int, str], SequenceTrace] = {}
        for number, scan in enumerate(self.trace.scans):
            computed = {feed.into for feed in scan.feeds}
            for sequence in scan.sequences if scan.parent is None and scan.steps else ():
                if sequence.argument not in computed and sequence.values[0].size <= LISTED:
                    result.setdefault((number, sequence.axis.variable), sequence)
        return result

    @cached_property
    def given(self) -> dict[Address, tuple[int, int]]:
        """For each value of these sequences, a step that reads it and the argument of its tap."""
        return {
            (number, first.argument, int(index)): (step, sequence.argument)
            for (number, name), first in self.sequences.items()
            for sequence in self.trace.scans[number].sequences
            if sequence.axis.variable == name
            for step, index in enumerate(sequence.axis.index)
        }

    def address(self, number: int, read: Read) -> Address | None:
        """Return the address of a value that Scan `number` reads, or None if it has no cell."""
        if read.slot is not None:
            return read.slot.scan, read.slot.argument, read.slot.row
        tapped = self.trace.scans[number].sequences
        sequence = next((each for each in tapped if each.argument == read.argument), None)
        if sequence is None or read.index is None:
            return None
        reader, held = self.named[number].first_reader(sequence)
        name = held.axis.variable if isinstance(held, SequenceTrace) else ""
        first = self.sequences.get((reader.number, name))
        return None if first is None else (reader.number, first.argument, read.index)

    @cached_property
    def given_times(self) -> dict[Address, int]:
        """The column of every given value: step t reads the value in column t at tap 0."""
        columns = {}
        firsts = {(n, first.argument): first for (n, _), first in self.sequences.items()}
        for number, argument, index in self.given:
            order, now = firsts[number, argument].axis.index, firsts[number, argument].now
            is_reversed = len(order) > 1 and order[1] < order[0]
            column = int(order[0]) - index if is_reversed else index - now
            columns[number, argument, index] = column
        return columns

    @cached_property
    def rows(self) -> list[tuple[int, TapeTrace | SequenceTrace]]:
        """The tapes and below them the sequences of each Scan, with the index of the Scan."""
        return sorted(
            [*self.tapes, *((n, first) for (n, _), first in self.sequences.items())],
            key=lambda row: (row[0], isinstance(row[1], SequenceTrace)),
        )

    @cached_property
    def times(self) -> dict[Address, int]:
        """The column in time of every slot; initial values have negative columns."""
        columns: dict[Address, int] = {}
        times: dict[int, TimeColumns] = {}
        for number, tape in self.tapes:
            root = self.named[number].root
            time = times.setdefault(root.number, self._timeline(root))
            if not tape.is_total:
                for row in range(len(tape.final)):
                    columns[number, tape.argument, row] = column_of(tape, row, time)
        for number, tape in self.tapes:
            if tape.is_total:
                columns |= self._total_columns(number, tape, columns)
        return columns

    def _timeline(self, root: Quantities) -> TimeColumns:
        """Return the columns of a loop; gradients of a sequence are below the values."""
        starts = {n: s.now for (number, n), s in self.sequences.items() if number == root.number}
        return TimeColumns(timeline(root.scan).starts | starts)

    def _total_columns(
        self, number: int, tape: TapeTrace, known: Mapping[Address, int]
    ) -> dict[Address, int]:
        """Return the columns of a running total: the columns of the slots that the steps write."""
        scan, columns = self.trace.scans[number], []
        main = next((t for t in scan.tapes if not t.is_total and t.tape.writes), None)
        for step in range(scan.steps):
            row = main.tape.row(step, main.tape.writes[0]) if main else step
            address = (number, main.argument, row) if main else (number, -1, row)
            columns.append(known.get(address, scan.steps - 1 - step))
        way = columns[0] - columns[1] if len(columns) > 1 else 1
        whole = [columns[0] + way, *columns] if columns else [0]
        return {(number, tape.argument, row): c for row, c in enumerate(whole[: len(tape.final)])}

    @cached_property
    def shown(self) -> tuple[int | Gap, ...]:
        """The shown columns and the gaps, in order."""
        every = sorted({*self.times.values(), *self.given_times.values()})
        if len(every) <= self.most:
            return tuple(every)
        every = sorted({*self.times.values()})
        ends = ENDS_ALONE if self.around is None else ENDS
        ends = max(1, min(ends, (self.most - 1) // 2))
        columns = {*every[:ends], *every[-ends:]}
        if self.around is not None:
            columns |= {self.around - 1, self.around, self.around + 1} & {*every}
        return tuple(with_gaps(columns))

    @cached_property
    def places(self) -> dict[Address, tuple[int, int]]:
        """The row and the column of every slot and every given value that has a cell."""
        order = {column: n for n, column in enumerate(self.shown)}
        rows = {(number, each.argument): n for n, (number, each) in enumerate(self.rows)}
        times = {**self.times, **self.given_times}
        found = [(rows[slot[:2]], slot) for slot, time in times.items() if time in order]
        return {slot: (row, order[times[slot]]) for row, slot in sorted(found)}

    @cached_property
    def numbers(self) -> dict[Address, int]:
        """For each slot that has a cell, the index of the cell."""
        return {slot: n for n, slot in enumerate(self.places)}

    def runs_backward(self, number: int) -> bool:
        """Return whether later steps of a Scan write values of earlier times."""
        for scan, tape in self.tapes:
            slots = [(scan, tape.argument, row) for row in range(len(tape.final))]
            if scan == number and len(slots) > 1:
                return self.times[slots[0]] > self.times[slots[-1]]
        return False


def title_of(trace: Trace, factor: str) -> str:
    """Return the title of a machine; `factor` is the result of `common_factor`."""
    order = max(scan.order for scan in trace.scans)
    if not order:
        return f"{trace.scans[0].name}: each step computes new values from earlier values"
    if order > 1:
        return f"{len(trace.scans)} Scans: each derivative differentiates all earlier Scans"
    if factor == "1":
        return "Each backward step adds to the gradients of earlier values"
    return f"Each backward step multiplies by {factor or 'the local derivative'} and adds"


def common_factor(
    played: Iterable[MachineEvent], cells: Sequence[SlotCell], rows: Sequence[TapeRow]
) -> str:
    """Return the factor that all sums share, without time indices, as ``2·x``.

    The result is empty if the factors differ, or if the shared factor is too long for a title.
    """
    factors = set()
    for part in (part for event in played for group in event.groups for part in group.parts):
        for term in part.terms if part.kind is PartKind.SUM else ():
            factor = term.symbol if term.factor and len(part.terms) == 1 else ""
            for saved in (cells[n] for n in term.saved):
                factor = factor.replace(saved.name, rows[saved.row].name)
            factors.add(factor)
    factor = factors.pop() if len(factors) == 1 else ""
    # A time index remains if the machine does not show the slot of a saved value.
    is_general = not set(factor) & set(INDEX)
    return factor if is_general and len(factor) <= MOST_FACTOR else ""


def tape_row(wording: Wording, scan: int, tape: TapeTrace | SequenceTrace) -> TapeRow:
    """Return the row of a tape or a sequence; `scan` is the index of its Scan."""
    named = wording.named[scan]
    if isinstance(tape, SequenceTrace):
        return TapeRow(scan + 1, tape.axis.variable, named.row_name(tape), is_low=True)
    name = named.whole_label(tape, None) if tape.collects else ""
    return TapeRow(scan + 1, tape.name, name or named.row_name(tape), not tape.tape.reads)


def scan_rows(
    wording: Wording, columns: Columns, played: Sequence[MachineEvent]
) -> Iterator[ScanRows]:
    """Yield a `ScanRows` for each Scan, with its name, its direction, its taps, and its events."""
    for number, scan in enumerate(columns.trace.scans):
        own = [n for n, event in enumerate(played) if event.scan == number + 1]
        taps = "; ".join(
            f"{tape.name} reads {integers(*tape.tape.reads) or 'nothing'}, "
            f"writes {integers(*tape.tape.writes)}"
            for tape in scan.held
        )
        yield ScanRows(
            number + 1,
            wording.scan_name(number),
            f"{scan.name} {scan.id}".strip(),
            scan.parent is not None and columns.runs_backward(number),
            scan.order,
            range(own[0], own[-1] + 1) if own else range(0),
            taps,
        )


def results(
    trace: Trace, wording: Wording, places: Places | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each named output, and the pieces of the text of its value."""
    numbers = () if places is None else places.program.numbers.outputs
    for n, (name, value) in enumerate(zip(trace.names, trace.outputs, strict=False)):
        if name:
            if places is not None:
                places.store(value, numbers[n])
            yield name, tuple(_pieces(wording, value))


def _pieces(wording: Wording, value: np.ndarray) -> Iterator[str]:
    """Yield the pieces of the text of a number, of a short vector, or of a norm and a shape."""
    if value.ndim == 1 and len(value) <= MOST_LISTED:
        for entry in range(len(value)):
            yield ", " if entry else "["
            yield wording.number(value, entry=entry)
        yield "]"
    else:
        yield wording.number(value)
        if value.ndim:
            yield f" ({'×'.join(map(str, value.shape))})"


def filling_sentence(wording: Wording, event: Event) -> tuple[Phrase, ...]:
    """Return the sentence of the event that fills a tape, with its nonzero initial gradients."""
    nonzero = [w for w in event.writes if np.any(w.new)]
    pieces = [Phrase(f"Tape of Scan {event.scan + 1}:  ", Ink.NAME)]
    for n, write in enumerate(nonzero[:3]):
        pieces.append(Phrase(", " if n else ""))
        pieces.append(Phrase(f"{write.slot.quantity} = ", Ink.NAME))
        entries = wording.entries(write.new)
        is_short = 0 < len(entries) <= LISTED
        for k, number in enumerate(entries if is_short else [wording.number(write.new)]):
            pieces.append(Phrase(("[" if is_short else "") if k == 0 else ", "))
            pieces.append(Phrase(number, Ink.OLD))
        pieces.append(Phrase("]" if is_short else ""))
    if not nonzero:
        return (*pieces, Phrase("all slots start at 0"))
    rest = f" and {len(nonzero) - 3} more" if len(nonzero) > 3 else ""
    zeros = len(nonzero) < len(event.writes)
    return (*pieces, Phrase(rest + ("; all other slots start at 0" if zeros else "")))
