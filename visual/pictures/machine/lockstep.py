"""A single machine with the rows of two machines, which run on a common clock.

Scans with the same number run in lockstep: their events of the same step end at the same moment,
and a column shows the results of the same step. A run without an event of this step rests.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from visual.layout.columns import Gap, numbers, with_gaps
from visual.pictures.machine.content import (
    MachineContent,
    MachineEvent,
    Part,
    PartGroup,
    Phrase,
    SlotCell,
)
from visual.pictures.machine.states import resting_role

Tick = tuple[int, int]  # the number of a Scan and a step; -1 is the filling of its tapes
# For each cell of the second machine, the index of its twin: the cell of the first machine in the
# same place, or None.
Twins = Sequence[int | None]


def align(first: MachineContent, second: MachineContent) -> tuple[MachineContent, MachineContent]:
    """Return both machines with the same columns and on a common clock.

    If only one run has an event, the other run gets an event without groups.
    """
    common = dict(sorted({**_ticks(second), **_ticks(first)}.items()))
    times = tuple(with_gaps({*numbers(first.times), *numbers(second.times)}))
    return _on_clock(first, common, times), _on_clock(second, common, times)


def _ticks(machine: MachineContent) -> dict[Tick, MachineEvent]:
    """Return the events of a machine by tick."""
    return {(e.scan, -1 if e.step is None else e.step): e for e in machine.events}


def _on_clock(
    machine: MachineContent, common: Mapping[Tick, MachineEvent], times: tuple[int | Gap, ...]
) -> MachineContent:
    """Return a machine with the columns `times` and with an event for each tick of `common`."""
    own = _ticks(machine)
    order = [*own]
    played = [own.get(tick, replace(event, groups=())) for tick, event in common.items()]
    scans = []
    for scan in machine.scans:
        steps = [n for n, tick in enumerate(common) if tick[0] == scan.number]
        scans.append(replace(scan, events=range(steps[0], steps[-1] + 1) if steps else range(0)))

    def on_clock(cell: SlotCell) -> SlotCell:
        """Return a cell on the common clock. While the run rests, the cell has its resting role."""
        keys, key = [cell.keys[0]], cell.keys[0]
        for moment, tick in enumerate(common, start=1):
            key = replace(key, role=resting_role(key.role))
            if tick in own:
                key = cell.at(order.index(tick) + 1)
            if (key.role, key.text) != (keys[-1].role, keys[-1].text):
                keys.append(replace(key, moment=moment))
        return replace(cell, column=times.index(machine.times[cell.column]), keys=tuple(keys))

    return replace(
        machine,
        scans=tuple(scans),
        cells=tuple(map(on_clock, machine.cells)),
        events=tuple(played),
        times=times,
    )


def merge(
    first: MachineContent,
    second: MachineContent,
    runs: tuple[str, str],
    twins: Twins,
    shown: Collection[int],
    below: int = 0,
) -> MachineContent:
    """Return one machine for two machines on a common clock, whose signs are `runs`.

    Of the second machine, the result contains only the rows `shown`. Every cell of another row has
    a twin with the same numbers. A row of the second machine is below the row of the same Scan with
    the same name. If `below` is the number of Scans of the first machine, all rows of the second
    machine are below the first machine.
    """
    names = {(row.scan, row.name): n for n, row in enumerate(first.rows)}
    moved_rows = [replace(row, scan=row.scan + below, is_second=True) for row in second.rows]
    places = {(False, n): (row.scan, n) for n, row in enumerate(first.rows)}
    for n in shown:
        row = moved_rows[n]
        places[True, n] = row.scan, names.get((row.scan, row.name), len(names))
    order = sorted(places, key=lambda row: (*places[row], *row))
    cells = [replace(cell, row=order.index((False, cell.row))) for cell in first.cells]
    targets: list[int] = []
    for twin, cell in zip(twins, second.cells, strict=True):
        if cell.row in shown:
            targets.append(len(cells))
            cells.append(replace(cell, row=order.index((True, cell.row))))
        else:
            assert twin is not None  # each cell of a row that is not in `shown` has a twin
            targets.append(twin)
    pairing = _Pairing(runs, twins, targets, has_both_reasons=below > 0)
    events = [
        replace(
            event,
            scan=event.scan if event.groups else other.scan + below,
            groups=tuple(pairing.groups(event, other)),
        )
        for event, other in zip(first.events, second.events, strict=True)
    ]
    return replace(
        first,
        runs=runs,
        rows=tuple((first.rows, moved_rows)[is_second][n] for is_second, n in order),
        cells=tuple(cells),
        scans=(*first.scans, *second.scans[len(first.scans) - below :]),
        events=tuple(events),
    )


@dataclass(frozen=True)
class _Pairing:
    """The groups that contain the sums of both runs.

    `targets` has the new index of each cell of the second run. If `has_both_reasons`, a group has
    the reasons of both runs, otherwise only the reason of the first run.
    """

    runs: tuple[str, str]
    twins: Twins
    targets: Sequence[int]
    has_both_reasons: bool

    def groups(self, event: MachineEvent, other: MachineEvent) -> Iterator[PartGroup]:
        """Yield groups with the unpaired sums of the second run, then the groups of the first run.

        A sum of the second run plays together with the sum of the first run in the same slot.
        """
        groups = [_signed(group, self.runs[0]) for group in event.groups]
        owners = {part.target: n for n, group in enumerate(groups) for part in group.parts}
        pairs: list[list[tuple[PartGroup, Part]]] = [[] for _ in groups]
        for group in (_signed(group, self.runs[1]) for group in other.groups):
            rest = []
            for part in group.parts:
                twin, moved = self.twins[part.target], self._moved(part)
                owner = None if twin is None else owners.get(twin)
                if group.summary and groups:
                    owner = 0  # both events fill tapes
                if twin == moved.target:
                    continue
                if owner is None:
                    rest.append(moved)
                else:
                    pairs[owner].append((group, moved))
            if rest:
                yield replace(group, parts=tuple(rest))
        for group, others in zip(groups, pairs, strict=True):
            yield self._pair(group, others[0][0], [part for _, part in others]) if others else group

    def _pair(self, group: PartGroup, other: PartGroup, others: Sequence[Part]) -> PartGroup:
        """Return `group` with the sums `others` from the group `other` of the second run."""
        both = [*zip(self.runs, (group, other), strict=True)]
        reason, summary = group.reason, group.summary
        if self.has_both_reasons and other.reason != reason:
            reason = "  ".join(f"{run}: {each.reason}" for run, each in both if each.reason)
        if other.summary != summary:
            summary = tuple((Phrase(f"{run} "), *line) for run, g in both for line in g.summary)
        return replace(group, parts=(*group.parts, *others), summary=summary, reason=reason)

    def _moved(self, part: Part) -> Part:
        """Return a sum of the second run with the new indices of its cells."""
        terms = tuple(
            replace(
                term,
                source=None if term.source is None else self.targets[term.source],
                saved=tuple(self.targets[cell] for cell in term.saved),
            )
            for term in part.terms
        )
        return replace(part, target=self.targets[part.target], terms=terms, is_second=True)


def _signed(group: PartGroup, run: str) -> PartGroup:
    """Return a group in which the sentence of each sum begins with the sign of its run."""
    sign = Phrase(f"{run} ")

    def signed(part: Part) -> Part:
        entries = tuple((sign, *pieces) for pieces in part.by_entry)
        return replace(part, sentence=(sign, *part.sentence), by_entry=entries)

    return replace(group, parts=tuple(map(signed, group.parts)))
