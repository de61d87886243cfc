"""Convert a run to a machine: `machine_of` arranges the events of a trace by cells and time."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from lab.equations.buffers import about_scan
from lab.equations.events.events import events
from lab.equations.events.records import Event, Read, Slot, SlotRole, Write
from lab.errors import GraphError, listing
from lab.records import cached_property
from lab.traces.program import Program
from lab.traces.trace import Trace
from visual.layout.columns import Gap
from visual.pictures.machine import columns, content
from visual.pictures.machine.columns import MOST_COLUMNS, Address, Columns, Tick
from visual.pictures.machine.content import MOST_LINES, MachineEvent, PartGroup, SlotCell
from visual.pictures.machine.parts import State, keys_of, part_of
from visual.pictures.machine.places import PlacedEvents
from visual.pictures.machine.wording import Wording

MOST_ROWS = 80  # the maximum number of tapes of a machine
Numbers = Sequence[int | None]  # the number of the event at each moment, or None for a rest
Index = Mapping[Address | None, int]  # the index of the cell of each value


def machine_of(
    trace: Trace,
    around: int | None = None,
    entry: int | None = None,
    most: int = MOST_COLUMNS,
    program: Program | None = None,
) -> content.MachineContent:
    """Return the machine of a run.

    A loop with more than `most` columns shows its ends and the columns near the time `around`.
    Cells of arrays show the entry with the index `entry`, or norms if `entry` is None. With the
    `program` of the run, each number refers to the instruction that computes the number. Raises
    GraphError for a run without Scans or steps, with more than `MOST_ROWS` tapes, or with numbers
    that a page cannot compute.
    """
    run = events(trace) if program is None else PlacedEvents(trace, program)
    shown = Run(Columns(trace, around, most), Wording(run, entry))
    clock = tuple(shown.ticks)
    index: Index = {place: n for n, place in enumerate(shown.columns.places)}
    steps = (event for event in shown.ticks.values() if event.step is not None)
    return content.MachineContent(
        title=columns.title_of(shown.wording, chain.from_iterable(map(shown.writes, steps))),
        scans=tuple(shown.scans(clock)),
        rows=shown.columns.rows,
        events=tuple(shown.event(tick, index) for tick in clock),
        cells=tuple(shown.cells(clock, shown.columns.shown)),
        times=shown.columns.shown,
        results=tuple(columns.results(shown.wording)),
    )


def check_row_count(count: int) -> None:
    """Raise GraphError if a machine has more than `MOST_ROWS` tapes."""
    if count > MOST_ROWS:
        raise GraphError(
            f"trace: the run has {count:,} tapes; the machine plays at most {MOST_ROWS}. Choose a "
            "lower order, or draw the tapes of one Scan."
        )


@dataclass(frozen=True, eq=False)
class Run:
    """The cells and the events of a run, for a machine of this run or of two runs."""

    columns: Columns
    wording: Wording

    def __post_init__(self) -> None:
        if not any(scan.steps for scan in self.columns.trace.scans):
            raise GraphError("trace: expected a run with at least one step of a Scan.")
        check_row_count(len(self.columns.rows))

    @cached_property
    def ticks(self) -> dict[Tick, Event]:
        """The shown events, by tick.

        A step that writes to no slot with a cell is hidden, unless the next event is shown or the
        step is the last event.
        """
        run, rows = self.wording.trace_events, self.columns.rows
        tapes = (place for place, (row, _) in self.columns.places.items() if not rows[row].taps)
        touched = sorted({n for place in tapes for n in run.moments(run.slot(*place))})
        shown = [n for n in touched if run[n - 1].step is None or self.writes(run[n - 1])]
        last = (n - 1 for n in shown if n > 1)
        played = [run[n - 1] for n in sorted({*shown, *last, len(run)})]
        return {(event.scan, -1 if event.step is None else event.step): event for event in played}

    def writes(self, event: Event) -> list[Write]:
        """Return the writes of an event to slots with cells."""
        return [write for write in event.writes if write.slot.key in self.columns.places]

    def scans(self, clock: Sequence[Tick], label: str = "") -> Iterator[content.ScanRows]:
        """Yield the `ScanRows` of each Scan.

        A derivative that writes later values first is backward. `label` is the sign of the run in
        the names of its Scans.
        """
        for number, scan in enumerate(self.columns.trace.scans):
            rows = (row for row in self.columns.rows if row.scan == number and not row.taps)
            times = next(([*row.times.values()] for row in rows if len(row.times) > 1), (0, 0))
            own = [n for n, tick in enumerate(clock) if tick[0] == number]
            yield content.ScanRows(
                number + 1,
                self.wording.named[number].scan_label,
                about_scan(self.wording.named[number], label),
                is_backward=scan.parent is not None and times[0] > times[-1],
                order=scan.order,
                events=range(own[0], own[-1] + 1) if own else range(0),
                taps="\n".join(f"{tape.name} {tape.tape}" for tape in scan.buffers),
                run=label,
            )

    def cells(self, clock: Sequence[Tick], times: Sequence[int | Gap]) -> Iterator[SlotCell]:
        """Yield the cells, with keys for the moments of `clock`.

        Column n shows the time `times[n]`. At a tick without an event, a cell has its resting role.
        """
        numbers = [0, *(self.ticks[tick].number if tick in self.ticks else None for tick in clock)]
        for place, (row, time) in self.columns.places.items():
            build = self._given if self.columns.rows[row].taps else self._slot
            yield build(place, (row, times.index(time)), numbers)

    def _slot(self, place: Address, at: tuple[int, int], numbers: Numbers) -> SlotCell:
        """Return the cell of a slot, in a row and a column."""
        slot, scan = self.wording.trace_events.slot(*place), self.columns.trace.scans[place[0]]
        tape, keys = scan.tape(slot.argument), keys_of(self.wording, self._states(slot, numbers))
        seed = tape.initial[slot.row : slot.row + 1] if tape and tape.tape.reads else ()
        has_seed = scan.parent is not None and bool(np.any(seed))
        return SlotCell(*at, slot.position, self.wording.quantity(slot), keys, has_seed)

    def _states(self, slot: Slot, numbers: Numbers) -> Iterator[State]:
        """Yield the state of a slot at each moment at which the role or the value may change."""
        run, past, value, resting = self.wording.trace_events, 0, None, SlotRole.EMPTY
        changes = sorted({0, *(number + d for number in run.moments(slot) for d in (0, 1))})
        for moment, number in enumerate(numbers):
            if number is None:
                if numbers[moment - 1] is not None:  # a rest begins
                    yield moment, resting, resting, value
            elif (count := bisect_right(changes, number)) > past:
                past, value = count, run.value(slot, number)
                resting = run.resting_role(slot, number)
                yield moment, run.role(slot, number), resting, value

    def _given(self, place: Address, at: tuple[int, int], numbers: Numbers) -> SlotCell:
        """Return the cell of a value of a sequence, which is empty until Scans have computed it."""
        scan, _, index = place
        tap = next(tap for tap in self.columns.rows[at[0]].taps if index in tap.axis.rows)
        reads = self.wording.trace_events.step(scan, tap.axis.rows[index]).reads
        read = next(read for read in reads if read.argument == tap.argument)
        starts = self.wording.trace_events.timeline.starts
        feeds = (f for f in self.columns.trace.scans[scan].feeds if f.into == tap.argument)
        first = max((starts[feed.scan + 1] - 1 for feed in feeds), default=0)
        start = next(n for n, number in enumerate(numbers) if (number or 0) >= first)
        rest = SlotRole.INTERMEDIATE if first else SlotRole.INPUT
        roles = (SlotRole.READ if n in self._readers[place] else rest for n in numbers)
        states = [(n, role, rest, read.value) for n, role in enumerate(roles) if n >= start]
        empty = [(0, SlotRole.EMPTY, SlotRole.EMPTY, None)] if start else []
        return SlotCell(*at, index, read.name, keys_of(self.wording, [*empty, *states]))

    @cached_property
    def _readers(self) -> Mapping[Address | None, set[int]]:
        """For each value, the numbers of the shown events that use it in a sum or a formula."""
        readers = defaultdict[Address | None, set[int]](set)
        for event in self.ticks.values():
            for write in self.writes(event):
                terms = [(*term.reads, term.source) for term in write.terms] or [write.reads]
                for read in chain(*terms) if write.role is not SlotRole.RESTORED else ():
                    if read is not None:
                        readers[self.columns.place_of(event.scan, read)].add(event.number)
        return readers

    def event(self, tick: Tick, index: Index) -> MachineEvent:
        """Return a shown event, or an event without groups for a rest or a hidden event."""
        event = self.ticks.get(tick)
        if event is None:
            scan, step = tick
            return MachineEvent(0, scan, None if step < 0 else step, (), "")
        groups, heading = tuple(self._groups(event, index)), f"Scan {event.scan + 1}"
        inside = "" if event.nested is None else "; this step contains Scans"
        heading += ": its tape is filled" if event.step is None else f", step {event.step}{inside}"
        heading += "" if groups else ": its slots are not shown"
        return MachineEvent(event.number, event.scan, event.step, groups, heading)

    def _groups(self, event: Event, index: Index) -> Iterator[PartGroup]:
        def cell_of(read: Read) -> int | None:
            """Return the index of the cell of a read value, or None for a value without a cell."""
            return index.get(self.columns.place_of(event.scan, read))

        parts = {  # the `Part` of each write to a shown slot
            write: part_of(self.wording, cell_of, event, write, index[write.slot.key])
            for write in self.writes(event)
            if event.step is not None or write.terms or np.any(write.new)
        }
        is_filling, groups = event.step is None, [list[Write]()]
        most = MOST_LINES // 2 if self.wording.sign else MOST_LINES  # two runs play together

        def is_single(write: Write) -> bool:
            """Return whether a write plays alone. Copies, restored values, and zeros do not."""
            is_sum = any(np.any(term.value) for term in write.terms)
            is_new = write.role is not SlotRole.RESTORED and (is_sum or not write.terms)
            return is_sum and len(write.terms) > 1 if is_filling else is_new

        for write in sorted(parts, key=is_single):  # writes that play alone play last
            lines = sum(len(parts[each].terms) for each in (*groups[-1], write))
            if groups[-1] and (is_single(write) or lines > most):
                groups.append([])
            groups[-1].append(write)
        for writes in groups if parts or is_filling else ():
            own = tuple(parts[write] for write in writes)
            if is_filling:
                has_equation = any(is_single(write) and not np.ndim(write.new) for write in writes)
                batch = writes if groups[1:] else []
                sentence = columns.filling_sentence(self.wording, event, batch)
                summary = () if has_equation else (sentence,)
                yield PartGroup(own, summary, self._origin(event))
            else:
                sums = sum(part.kind is content.PartKind.SUM for part in own)
                yield PartGroup(own, hides_factors=sums > 1)

    def _origin(self, event: Event) -> str:
        """Return a sentence about the origin of the initial values of a tape."""
        is_seeded = any(not self.wording.is_zero(write.new) for write in event.writes)
        named = self.wording.named[event.scan]
        words, order = [named.seeds], named.scan.order
        if not named.seeded_by():
            words += named.trace.names[order - 1 : order]
            words += ["(sum of entries)"] * bool(named.trace.outputs[order - 1].ndim)
            reads = [*dict.fromkeys(read.name for read in event.reads)]
            reads = reads if len(reads) < 4 else [reads[0], "…", reads[-1]]
            words += [f"(computed from {listing(reads)})"] * bool(reads)
        start = "Initial gradients" if is_seeded else "The steps add gradients"
        return f"{start}: {' '.join(words)}."
