"""The rows, the columns, the names, and the results of a machine.

`Columns` selects the values that have cells, and their rows and columns. The functions below return
the title, the results, and the sentence about a filled tape.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np

from lab.equations.buffers import access_of
from lab.equations.events.records import Event, Read, Write
from lab.equations.factors import ONE
from lab.equations.quantities import Quantities
from lab.notation import render
from lab.records import cached_property
from lab.traces.trace import ScanTrace, SequenceTrace, Trace
from visual.layout.columns import Gap, TimeColumns, column_of, timeline, with_gaps
from visual.pictures.machine.content import LISTED, Ink, Phrase, TapeRow
from visual.pictures.machine.wording import Wording

MOST_COLUMNS, ENDS, ENDS_ALONE = 12, 3, 4
# The Scan, argument, and row of a slot; or the Scan, argument, and time index of a given value.
Address = tuple[int, int, int]
Tick = tuple[int, int]  # the Scan and the step of an event; the step -1 is the filling of tapes
MOST_FACTOR = 8  # the maximum number of characters of a factor in a title
MOST_LISTED = 12  # the maximum number of entries of a result as text


@dataclass(frozen=True)
class Row(TapeRow):
    """A row with the argument of its variable, and with the times of its values.

    A time determines the column of a value. The keys of `times` are the rows of the tape, or the
    time indices of the sequence. `taps` are all taps of a sequence, and empty for a tape.
    """

    _: KW_ONLY
    argument: int
    times: Mapping[int, int] = field(compare=False)
    taps: tuple[SequenceTrace, ...] = field(default=(), compare=False)


@dataclass(frozen=True, eq=False)
class Columns:
    """The rows and columns of a run. A long loop shows its ends and the columns near `around`."""

    trace: Trace
    around: int | None = None
    most: int = MOST_COLUMNS

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of each Scan: tapes, except for unused tapes of derivatives, then sequences."""
        return tuple(row for named in Quantities.each(self.trace) for row in _rows(named))

    @cached_property
    def addresses(self) -> dict[Address, tuple[int, int]]:
        """The row and the time of every slot and every given value."""
        return {
            (row.scan, row.argument, key): (number, time)
            for number, row in enumerate(self.rows)
            for key, time in row.times.items()
        }

    @cached_property
    def shown(self) -> tuple[int | Gap, ...]:
        """The times of the shown columns, and the gaps between them, in order."""
        for rows in (self.rows, [row for row in self.rows if not row.taps]):
            every = sorted({time for row in rows for time in row.times.values()})
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
        """The row and the time of every slot and every given value that has a cell."""
        return {place: each for place, each in self.addresses.items() if each[1] in self.shown}

    def place_of(self, number: int, read: Read) -> Address | None:
        """Return the address of a value that Scan `number` reads; None if no row has the value."""
        if read.slot is not None:
            return read.slot.key
        sequences = self.trace.scans[number].sequences
        sequence = next((each for each in sequences if each.argument == read.argument), None)
        if sequence is None or read.index is None:
            return None
        reader, tap = Quantities(self.trace, number).first_reader(sequence)
        rows = (row for row in self.rows if row.scan == reader.number and tap in row.taps)
        return next(((reader.number, row.argument, read.index) for row in rows), None)


def _rows(named: Quantities) -> Iterator[Row]:
    """Yield the rows of a Scan. Gradients of a sequence have the times of its values.

    At tap 0, step t reads the value of a sequence at time t.
    """
    scan = named.scan
    starts = {taps[0].axis.variable: taps[0].now for taps in given_sequences(named.root)}
    time = TimeColumns(timeline(named.root.scan).starts | starts)
    tapes = [t for t in scan.buffers if t.used or t.collects or scan.parent is None]
    parts = [tape for tape in tapes if not tape.is_total]
    times = {t.argument: {n: column_of(t, n, time) for n in range(len(t.final))} for t in parts}
    for tape in sorted(tapes, key=lambda tape: not tape.tape.reads):
        total = _total_times(scan, times, len(tape.final)) if tape.is_total else None
        name = named.whole_label(tape, None) if tape.collects else ""
        shown = named.number, tape.name, name or named.variable_label(tape), not tape.tape.reads
        row = Row(*shown, argument=tape.argument, times=total or times[tape.argument])
        yield replace(row, access=access_of(named, tape))
    for taps in given_sequences(named):
        order, now = taps[0].axis.index, taps[0].now
        is_reversed = scan.parent is None and len(order) > 1 and order[1] < order[0]
        every = sorted({index for tap in taps for index in tap.axis.rows})
        given = {n: int(order[0]) - n if is_reversed else n - now for n in every}
        shown = named.number, taps[0].axis.variable, named.variable_label(taps[0]), True
        yield Row(*shown, argument=taps[0].argument, times=given, taps=taps)


def _total_times(
    scan: ScanTrace, known: Mapping[int, Mapping[int, int]], count: int
) -> dict[int, int]:
    """Return the times of a running total: the times of the slots that the same steps write."""
    main = next((t for t in scan.tapes if not t.is_total and t.tape.writes), None)
    times = known.get(main.argument, {}) if main else {}
    rows = [main.tape.row(n, main.tape.writes[0]) if main else n for n in range(scan.steps)]
    columns = [times.get(row, scan.steps - 1 - step) for step, row in enumerate(rows)]
    way = columns[0] - columns[1] if len(columns) > 1 else 1
    whole = [columns[0] + way, *columns] if columns else [0]
    return dict(enumerate(whole[:count]))


def given_sequences(named: Quantities) -> list[tuple[SequenceTrace, ...]]:
    """Return the taps of each sequence whose values have cells: few entries, and not all in slots.

    A derivative has cells only for gradients of outputs; the forward loop has the other values.
    """
    taps: dict[str, tuple[SequenceTrace, ...]] = {}
    for sequence in named.scan.sequences if named.scan.steps else ():
        is_given = named.parent is None or sequence.is_outer_gradient
        is_shown = is_given and sequence.values[0].size <= LISTED
        if is_shown and not all(named.origin_read(sequence, n) for n in range(named.scan.steps)):
            name = sequence.axis.variable
            taps[name] = (*taps.get(name, ()), sequence)
    return [*taps.values()]


def title_of(wording: Wording, writes: Iterable[Write]) -> str:
    """Return the title of a machine that shows these writes of steps.

    The title of a first derivative contains the factor of all sums. The factor has no time indices:
    ``2·x``. If the factors differ, or if the shared factor is too long for a title, the title
    contains "the local derivative".
    """
    trace = wording.trace_events.trace
    order = max(scan.order for scan in trace.scans)
    if not order:
        return f"{trace.scans[0].name}: each step computes new values from earlier values"
    if order > 1:
        return f"{len(trace.scans)} Scans: each derivative differentiates all earlier Scans"
    sums = [write.terms for write in writes if write.terms]
    terms = [term for term, *more in sums if not more and wording.scalar(term.factor) is not None]
    factors = {term.expression for term in terms if term.expression is not None}
    if len(terms) == len(sums) and factors == {ONE}:
        return "Each backward step adds to the gradients of earlier values"
    names = {render(factor, lambda leaf: leaf.variable) for factor in factors}
    factor = names.pop() if len(terms) == len(sums) and len(names) == 1 else ""
    factor = factor if 0 < len(factor) <= MOST_FACTOR else "the local derivative"
    return f"Each backward step multiplies by {factor} and adds"


def results(wording: Wording) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each named output with the pieces of the text of its value."""
    trace = wording.trace_events.trace
    for name, value in zip(trace.names, trace.outputs, strict=False):
        if name:
            yield name, tuple(_pieces(wording, value, MOST_LISTED))


def _pieces(wording: Wording, value: np.ndarray, most: int) -> Iterator[str]:
    """Yield the pieces of the text of a value: a number, a short vector, or a norm and a shape."""
    if value.ndim != 1 or len(value) > most:
        yield wording.number(value)
        if value.ndim:
            yield f" ({'×'.join(map(str, value.shape))})"
        return
    for entry in range(len(value)):
        yield ", " if entry else "["
        yield replace(wording, entry=entry).number(value)
    yield "]"


def filling_sentence(wording: Wording, event: Event, batch: Sequence[Write]) -> tuple[Phrase, ...]:
    """Return the sentence of a filled tape: the first nonzero values, or the values of a batch."""
    changing = [w for w in event.writes if not wording.is_zero(w.new)]
    nonzero = batch or [w for w in event.writes if np.any(w.new)] or changing
    verb = " starts with" if nonzero else ""
    start = " ".join(filter(None, [wording.sign, f"Tape of Scan {event.scan + 1}{verb}:  "]))
    pieces, most = [Phrase(start, Ink.NAME)], 2 if wording.sign else 3  # two runs need two lines
    for n, write in enumerate(nonzero[:most]):
        pieces.append(Phrase(", " if n else ""))
        pieces.append(Phrase(f"{write.slot.quantity} = ", Ink.NAME))
        pieces += [Phrase(text, Ink.OLD) for text in _pieces(wording, write.new, LISTED)]
    if not nonzero:
        return (*pieces, Phrase("all slots start at 0"))
    rest = f" and {len(nonzero) - most} more" if len(nonzero) > most else ""
    zeros = not batch and len(nonzero) < len(event.writes) and {*changing} <= {*nonzero}
    return (*pieces, Phrase(rest + ("; all others are 0" if zeros else "")))
