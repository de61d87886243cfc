"""A single machine with the rows of two machines, which run on a common clock.

Scans with the same number run in lockstep: their events of the same step end at the same moment,
and a column shows the results of the same step. A run without an event of this step rests.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

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

    The result contains only the rows `shown` of the second machine. Every cell of another row has
    a twin with the same numbers. A row of the second machine is below the row of the same Scan with
    the same name. If `below` is the number of Scans of the first machine, all rows of the second
    machine are below the first machine. A group then has the reasons of both runs.
    """
    count, names = len(first.rows), {(r.scan, r.name): n for n, r in enumerate(first.rows)}
    moved = (replace(row, scan=row.scan + below, is_second=True) for row in second.rows)
    rows = [*first.rows, *moved]

    def place(number: int) -> tuple[int, int, int]:
        """Return the position of a row: its Scan, its twin in the first machine, its number."""
        scan, name = rows[number].scan, rows[number].name
        return scan, number if number < count else names.get((scan, name), count), number

    order = sorted([*range(count), *(count + n for n in shown)], key=place)
    cells = [replace(cell, row=order.index(cell.row)) for cell in first.cells]
    targets: dict[int, int | None] = {}  # the twin of each cell of the second machine
    indices = []  # the new index of each cell of the second machine
    for twin, cell in zip(twins, second.cells, strict=True):
        index = twin
        if cell.row in shown:
            index = len(cells)
            cells.append(replace(cell, row=order.index(count + cell.row)))
        assert index is not None  # each cell of a row that is not in `shown` has a twin
        indices.append(index)
        targets[index] = twin
    events = []
    for event, other in zip(first.events, second.events, strict=True):
        groups = [_of_run(group, runs[0], range(len(cells))) for group in event.groups]
        others = [_of_run(group, runs[1], indices, is_second=True) for group in other.groups]
        scan = event.scan if groups else other.scan + below
        pairs = _pairs(groups, others, targets, runs, has_both_reasons=below > 0)
        events.append(replace(event, scan=scan, groups=tuple(pairs)))
    return replace(
        first,
        runs=runs,
        rows=tuple(rows[n] for n in order),
        cells=tuple(cells),
        scans=(*first.scans, *second.scans[len(first.scans) - below :]),
        events=tuple(events),
    )


def _of_run(
    group: PartGroup, run: str, indices: Sequence[int], is_second: bool = False
) -> PartGroup:
    """Return a group of a run: its sentences begin with the sign of the run.

    `indices` has the new index of each cell.
    """
    sign, parts = Phrase(f"{run} "), list[Part]()
    for part in group.parts:
        terms = []
        for term in part.terms:
            source = None if term.source is None else indices[term.source]
            terms.append(replace(term, source=source, saved=tuple(indices[n] for n in term.saved)))
        by_entry = tuple(replace(e, sentence=(sign, *e.sentence)) for e in part.by_entry)
        sentence, target = (sign, *part.sentence), indices[part.target]
        part = replace(part, sentence=sentence, by_entry=by_entry, is_second=is_second)
        parts.append(replace(part, target=target, terms=tuple(terms)))
    return replace(group, parts=tuple(parts))


def _pairs(
    groups: Sequence[PartGroup],
    others: Sequence[PartGroup],
    twins: Mapping[int, int | None],
    runs: tuple[str, str],
    has_both_reasons: bool,
) -> Iterator[PartGroup]:
    """Yield groups with the unpaired sums of the second run, then the groups of the first run.

    A sum of the second run plays together with the sum of the first run in the same slot. `twins`
    has the twin of each cell of the second run. A cell that is its own twin is not drawn again.
    """
    owners = {part.target: n for n, group in enumerate(groups) for part in group.parts}
    pairs: list[list[tuple[PartGroup, Part]]] = [[] for _ in groups]
    for other in others:
        rest = []
        for part in other.parts:
            twin = twins[part.target]
            owner = None if twin is None else owners.get(twin)
            if twin == part.target:
                continue
            if other.summary and groups:  # both events fill tapes
                owner = 0
            if owner is None:
                rest.append(part)
            else:
                pairs[owner].append((other, part))
        if rest:
            yield replace(other, parts=tuple(rest))
    for group, paired in zip(groups, pairs, strict=True):
        if not paired:
            yield group
            continue
        other, reason, summary = paired[0][0], group.reason, group.summary
        both = [*zip(runs, (group, other), strict=True)]
        if has_both_reasons and other.reasons != group.reasons:
            reason = "  ".join(f"{run}: {each.reasons}" for run, each in both if each.reasons)
        if other.summary != summary:
            summary = tuple((Phrase(f"{run} "), *line) for run, g in both for line in g.summary)
        parts = (*group.parts, *(part for _, part in paired))
        yield replace(group, parts=parts, summary=summary, reason=reason)
