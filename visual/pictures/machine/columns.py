"""The tapes and the columns in time of a machine, and the row and the column of each slot."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.equations.quantities import Quantities
from lab.records import cached_property
from lab.traces.trace import TapeTrace, Trace
from visual.layout.columns import Gap, TimeColumns, column_of, timeline, with_gaps

MOST_COLUMNS, ENDS, ENDS_ALONE = 12, 3, 4
Address = tuple[int, int, int]  # Scan, argument, and row of a slot


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
    def times(self) -> dict[Address, int]:
        """The column in time of every slot; initial values have negative columns."""
        columns: dict[Address, int] = {}
        times: dict[int, TimeColumns] = {}
        for number, tape in self.tapes:
            root = self.named[number].root
            time = times.setdefault(root.number, timeline(root.scan))
            if not tape.is_total:
                for row in range(len(tape.final)):
                    columns[number, tape.argument, row] = column_of(tape, row, time)
        for number, tape in self.tapes:
            if tape.is_total:
                columns |= self._total_columns(number, tape, columns)
        return columns

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
        every = sorted(set(self.times.values()))
        if len(every) <= self.most:
            return tuple(every)
        ends = ENDS_ALONE if self.around is None else ENDS
        ends = max(1, min(ends, (self.most - 1) // 2))
        columns = {*every[:ends], *every[-ends:]}
        if self.around is not None:
            columns |= {self.around - 1, self.around, self.around + 1} & {*every}
        return tuple(with_gaps(columns))

    @cached_property
    def places(self) -> dict[Address, tuple[int, int]]:
        """The row and the column of every slot that has a cell."""
        order = {column: n for n, column in enumerate(self.shown)}
        places = {}
        for row, (number, tape) in enumerate(self.tapes):
            for index in range(len(tape.final)):
                slot = number, tape.argument, index
                if self.times[slot] in order:
                    places[slot] = row, order[self.times[slot]]
        return places

    @cached_property
    def numbers(self) -> dict[Address, int]:
        """The index of the cell of each slot with a cell."""
        return {slot: n for n, slot in enumerate(self.places)}

    def runs_backward(self, number: int) -> bool:
        """Return whether later steps of a Scan write values of earlier times."""
        for scan, tape in self.tapes:
            slots = [(scan, tape.argument, row) for row in range(len(tape.final))]
            if scan == number and len(slots) > 1:
                return self.times[slots[0]] > self.times[slots[-1]]
        return False
