"""List the events of a run with `events`.

The event of a step contains the slots that the step reads, preserves, and overwrites.

>>> events = lab.events(gallery.loops["square"].trace())
>>> events[5].writes[0].terms[0].text
'buf[0]·2·x₃'
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import overload

import numpy as np

from lab.equations.events.build import Builder
from lab.equations.events.records import Event, Read, Slot, SlotRole, Write
from lab.equations.events.timeline import Timeline, Touch
from lab.equations.quantities import Quantities
from lab.equations.tables import ReportTable
from lab.errors import KindError, argument_error, check_integer
from lab.notation import number_text
from lab.records import cached_in_record, cached_property
from lab.traces.trace import TapeTrace, Trace

# Functions that list the events of other recordings, by the class of the recording.
OTHERS: dict[type, Callable[[object], "EventSequence"]] = {}
WIDTH = 100  # characters of a line of the printed table
MOST_COMPUTED = 2_000  # events of a trace that stay in memory
MOST = 40  # largest number of events in the printed table, half of them from each end
HEADER = ("event", "Scan", "step", "role", "slot", "old", "new", "formula")


@overload
def events(trace: Trace) -> "Events": ...
@overload
def events(trace: object) -> "EventSequence": ...
def events(trace: object) -> "EventSequence":
    """Return the events of `trace`: the reads, preserved and overwritten slots, and sums of steps.

    `trace` is a Trace or a recording of `lab.eager`. If the tapes of a Scan start with gradients or
    with outputs of Scans, one event fills them before step 0. The events of a recording are
    appended nodes and sent gradients. Raise KindError for other objects.
    """
    if isinstance(trace, Trace):
        return Events(trace, _computed_events(trace))
    if type(trace) not in OTHERS:
        expected = "a Trace, such as loop.trace() returns, or an eager recording"
        raise argument_error("trace", trace, f"expected {expected}.", KindError)
    return OTHERS[type(trace)](trace)


@cached_in_record
def _computed_events(trace: Trace) -> dict[int, Event]:
    """Return the cache of a trace, which maps the number of an event to the computed event."""
    return {}


class EventSequence(Sequence[Event]):
    """Events in order; the event with index k has the number k + 1, and ends at moment k + 1."""

    _event: Callable[[int], Event]  # returns the event with a given number

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        numbers = range(1, len(self) + 1)[index]
        return self._event(numbers) if isinstance(numbers, int) else [*map(self._event, numbers)]

    def role(self, slot: Slot, moment: int) -> SlotRole:
        """Return the role of `slot` at `moment`, which depends on earlier and later events.

        Moment k is the end of event number k; moment 0 precedes all events.
        """
        check_integer("moment", moment, f"a moment of this run, 0 to {len(self)}", 0, len(self))
        roles = (touch.role for touch in self.touches(slot) if touch.event == moment)
        return next(filter(None, roles), None) or self.resting_role(slot, moment)

    @abstractmethod
    def resting_role(self, slot: Slot, moment: int) -> SlotRole:
        """Return the role of `slot` after event `moment` and before the next event."""

    @abstractmethod
    def touches(self, slot: Slot) -> list[Touch]:
        """Return all accesses to `slot` in the order of the events."""

    @property
    @abstractmethod
    def slots(self) -> tuple[Slot, ...]:
        """All slots of the run."""

    def __str__(self) -> str:
        return "\n".join(_table(self).lines(WIDTH))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} events)"

    def rows(self) -> list[dict[str, object]]:
        """Return one dictionary for each slot that an event touches and each value that it reads.

        The keys are scan (from 1), step (None for the filling of a tape), tape, position, row,
        quantity, role, old, and new.  The roles are "preserved", "overwritten", "written", and
        "read".  The row of a read value is its index in the sequence, or its row in the source.
        If a step reads a sequence at several taps, the tapes of its gradients share a name; the
        column quantity distinguishes them, as ∂₁C/∂u₀ and ∂₂C/∂u₁.
        """
        return [row for event in self for row in event.rows()]


class EventList(EventSequence):
    """Events of an eager recording; the accesses to slots are computed from the events."""

    def __init__(self, listed: tuple[Event, ...]) -> None:
        self._listed = listed
        self._event = lambda number: listed[number - 1]

    def __len__(self) -> int:
        return len(self._listed)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All slots in the order of their first write."""
        return tuple(dict.fromkeys(write.slot for event in self for write in event.writes))

    def resting_role(self, slot: Slot, moment: int) -> SlotRole:
        """Return the role of `slot` after event `moment` and before the next event."""
        touches = self.touches(slot)
        if not touches or touches[0].event > moment:
            return SlotRole.EMPTY
        if touches[-1].event > moment:
            return SlotRole.INTERMEDIATE
        is_read = any(touch.role is SlotRole.PRESERVED for touch in touches)
        return SlotRole.DONE if is_read else SlotRole.RESULT

    def touches(self, slot: Slot) -> list[Touch]:
        """Return all accesses to `slot` in the order of the events."""
        return self._touches.get(slot, [])

    @cached_property
    def _touches(self) -> dict[Slot | None, list[Touch]]:
        touched: dict[Slot | None, list[Touch]] = {}
        for event in self:
            accesses: tuple[Read | Write, ...] = (*event.writes, *event.reads)
            for access in accesses:
                touched.setdefault(access.slot, []).append(Touch(event.number, access.role))
        return touched


class Events(EventSequence):
    """The events of a trace, computed on demand and stored in `computed` by number."""

    def __init__(self, trace: Trace, computed: dict[int, Event] | None = None) -> None:
        self.trace = trace
        self.timeline = Timeline(trace)
        self._computed: dict[int, Event] = {} if computed is None else computed
        self._slot = cache(self._name_slot)
        self._builders = [Builder(named, self._slot) for named in Quantities.each(trace)]

    def __len__(self) -> int:
        return self.timeline.starts[-1] - 1

    def step(self, scan: int, step: int) -> Event:
        """Return the event of step number `step` of the Scan with the index `scan`."""
        return self._event(self.timeline.event_number(scan, step))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All slots of all tapes and outputs, in the order of Scans, arguments, and rows."""
        return tuple(
            self.slot(number, tape.argument, row)
            for number, scan in enumerate(self.trace.scans)
            for tape in scan.buffers
            for row in range(len(tape.final))
        )

    def slot(self, scan: int, argument: int, row: int) -> Slot:
        """Return the slot in `row` of tape number `argument`; raise LookupError if none exists."""
        if not 0 <= row < len(self._tape(scan, argument).final):
            raise LookupError((scan, argument, row))
        return self._slot(scan, argument, row)

    def resting_role(self, slot: Slot, moment: int) -> SlotRole:
        """Return the role of `slot` after event `moment` and before the next event."""
        return self.timeline.resting_role(slot, moment)

    def touches(self, slot: Slot) -> list[Touch]:
        """Return all accesses to `slot` in the order of the events."""
        return self.timeline.touches(slot)

    def tap_role(self, scan: int, step: int, argument: int, tap: int) -> SlotRole:
        """Return the role of the slot at `tap` of a tape in a step.

        A running total counts as a single slot, although the Scan stores the totals of all steps
        until PyTensor compiles the Scan.
        """
        tape = self._tape(scan, argument)
        if tape.is_total:
            return SlotRole.OVERWRITTEN
        slot = self.slot(scan, argument, tape.tape.row(step, tap))
        return self.role(slot, self.timeline.event_number(scan, step))

    def results(self, scan: int, tape: TapeTrace) -> list[int]:
        """Return the rows of a tape of a Scan that are results at the end of the run."""
        slots = (self.slot(scan, tape.argument, row) for row in range(len(tape.final)))
        return [s.row for s in slots if self.resting_role(s, len(self)) is SlotRole.RESULT]

    def value(self, slot: Slot, moment: int) -> np.ndarray | None:
        """Return the value in `slot` at `moment`, or None for an empty slot."""
        filling = self.timeline.filling(slot.scan)
        if filling is not None and moment < filling:
            return None
        steps = moment + 1 - self.timeline.event_number(slot.scan, 0)
        last = min(max(0, steps), self.trace.scans[slot.scan].steps)
        return self._tape(slot.scan, slot.argument).value_before(slot.row, last)

    def moments(self, slot: Slot) -> tuple[int, ...]:
        """Return the numbers of all events, in any Scan, that read or write a slot."""
        return tuple(dict.fromkeys(touch.event for touch in self.touches(slot)))

    def _tape(self, scan: int, argument: int) -> TapeTrace:
        tape = self.trace.scans[scan].tape(argument)
        if tape is None:
            raise LookupError(argument)
        return tape

    def _event(self, number: int) -> Event:
        event = self._computed.get(number)
        if event is None:
            event = self._compute(number)
            if len(self._computed) >= MOST_COMPUTED:
                self._computed.clear()
            self._computed[number] = event
        return event

    def _compute(self, number: int) -> Event:
        scan, step = self.timeline.locate(number)
        return self._builders[scan].event(number, step)

    def _name_slot(self, scan: int, argument: int, row: int) -> Slot:
        named, tape = self._builders[scan].named, self._tape(scan, argument)
        label_of_row = named.tape_label(tape, row)
        total = named.whole_label(tape, row) if tape.collects else ""
        in_time = named.scan.parent is None or not tape.tape.reads
        place = named.place(tape, row)
        label = tape.name if tape.is_total else label_of_row if in_time else place
        names = {"quantity": total or label_of_row, "label": label, "place": place}
        return Slot(scan, argument, row, tape=tape.name, position=tape.position(row), **names)


def _table(events: Sequence[Event]) -> ReportTable:
    """Return a table of the slots that each event preserves or writes."""
    shown, rows = [*events[: MOST // 2], *events[-MOST // 2 :]], list[tuple[str, ...]]()
    for number, event in enumerate(shown if len(events) > MOST else events):
        if len(events) > MOST and number == MOST // 2:
            rows.append(("…", "", "", f"{len(events) - MOST:,} more", "", "", "", ""))
        step = "fill" if event.step is None else str(event.step)
        cells = [
            (read.role.value, str(read.slot or read.name), "", _number(read.value), "")
            for read in event.reads
            if read.role is SlotRole.PRESERVED
        ]
        for write in event.writes:
            if event.step is not None or np.any(write.new):
                old = "" if write.role is SlotRole.WRITTEN else _number(write.old)
                new = _number(write.new)
                cells.append((write.role.value, str(write.slot), old, new, write.formula))
        nothing = ("", "", "", "", "nothing but zeros" if event.step is None else "")
        first, *others = cells or [nothing]
        rows.append((str(event.number), str(event.scan + 1), step, *first))
        rows += (("", "", "", *each) for each in others)
    return ReportTable(HEADER, tuple(rows))


def _number(value: np.ndarray | None) -> str:
    """Write a number, the shape of an array, or the text in a node of an eager tape."""
    if value is None or value.dtype.kind == "U":
        return "" if value is None else str(value)
    return number_text(value) if not value.ndim else f"[{'×'.join(map(str, value.shape))}]"
