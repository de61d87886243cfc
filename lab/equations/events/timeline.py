"""List the accesses to all slots in the order of the events, and determine the roles of slots."""

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from lab.equations.events.records import Slot, SlotRole
from lab.records import cached_in_record, cached_property
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, TapeTrace, Trace

Key = tuple[int, int, int]  # the Scan, argument, and row of a slot


class Touch(NamedTuple):
    """An access to a slot by the event with the number `event`.

    `role` is the role of the slot in this event; None if the event fills the slot before step 0.
    `continues` states whether another Scan reads the slot as an initial value or as a gradient.
    """

    event: int
    role: SlotRole | None
    continues: bool = False


CHANGES = (SlotRole.WRITTEN, SlotRole.OVERWRITTEN)


@dataclass(frozen=True, eq=False)
class Timeline:
    """The numbers of all events, the accesses to all slots, and the role of a slot at a moment.

    The events of all Scans have numbers from 1, in the order of execution.
    """

    trace: Trace

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of the first event of each Scan, and the number after the last event."""
        pairs = zip(self.trace.scans, self.filled, strict=True)
        return tuple(accumulate((scan.steps + filled for scan, filled in pairs), initial=1))

    def event_number(self, scan: int, step: int) -> int:
        """Return the number of the event of step `step` in Scan `scan`."""
        return self.starts[scan] + self.filled[scan] + step

    @cached_property
    def filled(self) -> tuple[bool, ...]:
        """For each Scan, whether an event fills its tapes with gradients or outputs of Scans."""
        return tuple(
            scan.parent is not None
            or any(f.rows and any(f.into == t.argument for t in scan.tapes) for f in scan.feeds)
            for scan in self.trace.scans
        )

    def filling(self, scan: int) -> int | None:
        """Return the number of the event that fills the tapes of Scan `scan`, or None."""
        return self.starts[scan] if self.filled[scan] else None

    def locate(self, number: int) -> tuple[int, int | None]:
        """Return the Scan and the step of event `number`; the step of a filling is None."""
        scan = bisect(self.starts, number) - 1
        return scan, None if number == self.filling(scan) else number - self.event_number(scan, 0)

    def touches(self, slot: Slot) -> list[Touch]:
        """Return all accesses to a slot in the order of the events."""
        return _touches_of(self.trace).get(slot.key, [])

    def all_touches(self) -> Iterator[tuple[Key, Touch]]:
        """Yield each access to a slot with the key of the slot, Scan by Scan."""
        for number, scan in enumerate(self.trace.scans):
            filling, named = self.filling(number), ScanOf(self.trace, number)
            for tape in scan.buffers:
                roles = step_roles(scan, tape)
                for step in range(scan.steps):
                    event = self.event_number(number, step)
                    for row, role in roles(step).items():
                        yield (number, tape.argument, row), Touch(event, role)
                if filling is None or not tape.tape.reads:
                    continue
                for row in np.flatnonzero(~tape.unwritten).tolist():
                    yield (number, tape.argument, row), Touch(filling, None)
                    for origin in named.origins(tape.argument, row):
                        yield origin.slot_key, Touch(filling, SlotRole.SAVED, True)
            needed = _needed_arguments(scan)
            for sequence in scan.sequences:
                for step in range(scan.steps if sequence.argument in needed else 0):
                    event = self.event_number(number, step)
                    for origin in named.origins(sequence.argument, step):
                        continues = sequence.is_outer_gradient
                        yield origin.slot_key, Touch(event, SlotRole.SAVED, continues)

    def resting_role(self, slot: Slot, moment: int) -> SlotRole:
        """Return the role of a slot after event `moment` and before the next event."""
        touches, scan = self.touches(slot), self.trace.scans[slot.scan]
        before = [touch.role for touch in touches if touch.event <= moment]
        later = [touch.role for touch in touches if touch.event > moment]
        is_used = slot.key in self._results or any(touch.continues for touch in touches)
        is_result = is_used and not any(role in CHANGES for role in later)
        if not any(role in (*CHANGES, SlotRole.RESTORED) for role in before):  # an initial value
            tape = scan.tape(slot.argument)
            assert tape is not None, f"{slot}: a slot of this trace has a tape"
            is_unfilled = self.filled[slot.scan] and None not in before
            if is_unfilled or slot.row >= len(tape.initial) or tape.unwritten[slot.row]:
                return SlotRole.EMPTY
            has_arrived = slot.row in scan.arrived(tape)  # written by steps that were not recorded
            if scan.parent is None and not has_arrived:
                return SlotRole.INPUT
            is_zero = not np.any(tape.initial[slot.row])
            # An initial gradient is a result only if no step of its own Scan reads it later.
            is_result &= not later or ({*later} == {SlotRole.SAVED} and not is_zero)
            if later and not is_result and not has_arrived:
                return SlotRole.PENDING if is_zero else SlotRole.SEED
        if is_result:  # no later step changes the value that another Scan or an output uses
            return SlotRole.RESULT
        return SlotRole.INTERMEDIATE if later else SlotRole.DONE

    @cached_property
    def _results(self) -> frozenset[Key]:
        """The slots from which the trace computes outputs, without another Scan in between."""
        origins = self.trace.origins[-1].values()
        return frozenset(origin.slot_key for each in origins for origin in each)


@cached_in_record
def _touches_of(trace: Trace) -> Mapping[Key, list[Touch]]:
    """Return a map from the key of each slot to its accesses in the order of the events."""
    touched: dict[Key, list[Touch]] = {}
    for key, touch in Timeline(trace).all_touches():
        touched.setdefault(key, []).append(touch)
    for touches in touched.values():
        touches.sort(key=lambda touch: touch.event)
    return touched


def step_roles(scan: ScanTrace, tape: TapeTrace) -> Callable[[int], dict[int, SlotRole]]:
    """Return a function that maps a step to the roles of the rows that the step touches."""
    formulas = (f for f in scan.formulas if f.target.argument == tape.argument)
    restored = {f.target.tap for f in formulas if f.expression == f.target}

    def roles_at(step: int) -> dict[int, SlotRole]:
        roles = {int(access.rows[step]): SlotRole.PRESERVED for access in tape.reads}
        for access in tape.writes:
            row = int(access.rows[step])
            changed = SlotRole.RESTORED if access.tap in restored else SlotRole.OVERWRITTEN
            roles[row] = changed if row in roles else SlotRole.WRITTEN
        return roles

    return roles_at


def _needed_arguments(scan: ScanTrace) -> set[int]:
    """Return the arguments that a step reads to compute values on which the outputs depend.

    PyTensor's backward Scan also computes gradients that were not requested.  An argument that only
    these gradients need is excluded.
    """
    arguments = {argument.argument for argument in scan.sequences}
    needed = [t.argument for t in scan.buffers if t.used or t.collects]
    if not {*needed} <= {formula.target.argument for formula in scan.formulas}:
        return arguments  # without the formula of a value, all arguments may be needed
    formulas = (formula for formula in scan.formulas if formula.target.argument in needed)
    return {leaf.argument for formula in formulas for leaf in formula.leaves}
