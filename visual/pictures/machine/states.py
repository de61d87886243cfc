"""The state of each cell while the sums of an event play one after the other.

A picture of a machine is a function of one number p. For example, p = 6 is the end of event 6, and
between 5 and 6, event 6 is in progress. `states` returns the role and the number of each cell for
all p. A still picture and the player show the same states.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import ceil

from lab.equations.events.records import SlotRole
from visual.pictures.machine.content import Key, MachineContent, MachineEvent, PartGroup, SlotCell

AFTER = 0.001  # the difference between p and a state that begins just after p
MOVED, ADDED = 0.45, 0.85  # the progress of a group when values arrive and when a sum is complete


@dataclass(frozen=True)
class Moment:
    """The present event at p, its number, the group of sums in progress, and the progress `share`.

    Before the first event, the number is 0, and the event and the group are None.
    """

    p: float
    number: int
    event: MachineEvent | None
    group: PartGroup | None
    share: float = 1.0


def locate(machine: MachineContent, p: float) -> Moment:
    """Return the moment at p. At the end of an event, the group is the final group of the event."""
    number = ceil(p - 1e-9)
    event = machine.events[number - 1] if number else None
    past = p - number + 1
    for group, start, end in spans(event) if event else ():
        if past <= end + 1e-9:
            return Moment(p, number, event, group, min(1.0, (past - start) / (end - start)))
    return Moment(p, number, event, None)


def near_scans(machine: MachineContent, number: int) -> set[int]:
    """Return the Scan of event `number`, and the Scans whose values the event reads."""
    lit = (cell.row for cell in machine.cells if cell.at(number).role.is_access)
    return {machine.events[number - 1].scan, *(machine.rows[row].scan for row in lit)}


def spans(event: MachineEvent) -> Iterator[tuple[PartGroup, float, float]]:
    """Yield each group with its start and its end, relative to the duration of the event."""
    past = list(accumulate((group.weight for group in event.groups), initial=0.0))
    ends = [*(time / event.weight for time in past[:-1]), 1.0]
    return zip(event.groups, ends, ends[1:], strict=False)


@lru_cache(maxsize=1)  # all layouts of a machine have the same states
def states(machine: MachineContent) -> list[tuple[Key, ...]]:
    """Return the keys of each cell. A key is valid from p = `moment` to the next key."""
    result: list[list[Key]] = [[cell.keys[0]] for cell in machine.cells]
    for moment, event in enumerate(machine.events, start=1):
        used = {n for part in event.parts for n in (part.target, *part.reads)}
        for number, (cell, keys) in enumerate(zip(machine.cells, result, strict=True)):
            current = cell.at(moment)
            is_old = current.moment <= moment - 1 and not current.role.is_access
            if is_old and number not in used:
                continue
            for start, key, role in _during(event, moment, number, cell):
                start = round(start, 4)
                while keys[-1].moment >= start and len(keys) > 1:  # this key would never be valid
                    keys.pop()
                key = replace(key, moment=start, role=role)
                if key != replace(keys[-1], moment=start):
                    keys.append(key)
    return [tuple(keys) for keys in result]


def _during(
    event: MachineEvent, moment: int, number: int, cell: SlotCell
) -> Iterator[tuple[float, Key, SlotRole]]:
    """Yield the start, the number, and the role of each state of a cell during an event.

    While no group uses the cell, it has its resting role: of the previous moment until a group has
    written the cell, or has read a cell that the event does not write; then of this moment.
    """
    value, new, is_used = cell.at(moment - 1), cell.at(moment), False
    yield moment - 1 + AFTER, value, value.resting
    if value.resting != new.resting and all(part.target != number for part in event.parts):
        value = replace(value, resting=new.resting)
    for group, start, end in spans(event):
        written = [part for part in group.parts if part.target == number]
        is_used = bool(written) or any(number in part.reads for part in group.parts)
        if is_used:
            yield moment - 1 + start + AFTER, value, new.role
            if written:
                share = ADDED if any(part.is_addition for part in written) else MOVED
                value = new
                yield moment - 1 + start + (end - start) * share, new, new.role
            yield moment - 1 + end + AFTER, value, value.resting
    is_past = not is_used and new.role.is_access and new.role is not SlotRole.WRITTEN
    yield moment, replace(new, is_past=is_past), new.role
