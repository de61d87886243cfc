"""Two machines one above the other, on a common clock.

Scans with the same number run in lockstep: their events of the same step end at the same moment,
and a column shows what the same step computes. A run without such an event rests meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from visual.layout.columns import Gap, numbers, with_gaps
from visual.pictures.machine.content import (
    LINE,
    MachineContent,
    MachineEvent,
    Part,
    PartGroup,
    Phrase,
    SlotCell,
)

TOUCHED = ("overwritten", "preserved", "restored", "saved", "written")
Tick = tuple[int, int]  # a Scan and a step, -1 for the filling of its tapes


def aligned(first: MachineContent, second: MachineContent) -> tuple[MachineContent, MachineContent]:
    """Return both machines with the same columns and on a common clock.

    If only one run has an event, the other run gets an event without groups.
    """
    events = [_events(machine) for machine in (first, second)]
    ticks = sorted({*events[0], *events[1]})
    times = tuple(with_gaps({*numbers(first.times), *numbers(second.times)}))
    common = {tick: events[0].get(tick) or events[1][tick] for tick in ticks}
    return _on_clock(first, common, times), _on_clock(second, common, times)


def _events(machine: MachineContent) -> dict[Tick, MachineEvent]:
    """Return the events of a machine by their ticks."""
    return {(e.scan, -1 if e.step is None else e.step): e for e in machine.events}


def _on_clock(
    machine: MachineContent, common: Mapping[Tick, MachineEvent], times: tuple[int | Gap, ...]
) -> MachineContent:
    """Return a machine with the events of a clock, and with these columns."""
    own = {tick: moment for moment, tick in enumerate(_events(machine), start=1)}
    played = [
        machine.events[own[tick] - 1] if tick in own else replace(event, groups=())
        for tick, event in common.items()
    ]
    scans = []
    for scan in machine.scans:
        steps = [n for n, tick in enumerate(common) if tick[0] == scan.number]
        scans.append(replace(scan, events=range(steps[0], steps[-1] + 1) if steps else range(0)))

    def on_clock(cell: SlotCell) -> SlotCell:
        """Return a cell on the common clock; no step touches the cell while its run rests."""
        keys, last = [cell.keys[0]], 0
        for moment, tick in enumerate(common, start=1):
            last = own.get(tick, last)
            key = cell.at(last)
            role = "intermediate" if tick not in own and key.role in TOUCHED else key.role
            if (role, key.text) != (keys[-1].role, keys[-1].text):
                keys.append(replace(key, moment=moment, role=role))
        return replace(cell, column=times.index(machine.times[cell.column]), keys=tuple(keys))

    return replace(
        machine,
        scans=tuple(scans),
        cells=tuple(map(on_clock, machine.cells)),
        events=tuple(played),
        times=times,
    )


def stacked(
    first: MachineContent, second: MachineContent, runs: tuple[str, str], title: str
) -> MachineContent:
    """Return the machine of two runs; `runs` are their signs, as ``A`` and ``B``."""
    both = aligned(first, second)
    first, second = both
    scans, above = len(first.scans), len(first.rows)
    cell_numbers = range(len(first.cells), len(first.cells) + len(second.cells))
    rows = (replace(row, scan=row.scan + scans, is_second=True) for row in second.rows)
    moved_cells = (replace(cell, row=cell.row + above) for cell in second.cells)
    events = []
    for event, other in zip(first.events, second.events, strict=True):
        count = max(len(event.groups), len(other.groups))  # the last groups of both play together
        padded = [[*[None] * (count - len(e.groups)), *e.groups] for e in (event, other)]
        groups = tuple(_group(pair, runs, cell_numbers) for pair in zip(*padded, strict=True))
        scan = event.scan if event.groups else event.scan + scans
        events.append(replace(event, scan=scan, groups=groups))
    pairs = list(zip(runs, both, strict=True))
    return MachineContent(
        title,
        tuple(replace(scan, run=run) for run, machine in pairs for scan in machine.scans),
        (*first.rows, *rows),
        (*first.cells, *moved_cells),
        tuple(events),
        first.times,
        tuple((f"{run} {name}", value) for run, m in pairs for name, value in m.results),
        runs=runs,
    )


def _group(
    pair: Sequence[PartGroup | None], runs: tuple[str, str], cells: Sequence[int]
) -> PartGroup:
    """Return the sums of both runs, which play at the same time."""
    first, second = pair
    others = tuple(moved_part(part, cells) for part in second.parts) if second else ()
    reasons = [group.reason if group else "" for group in pair]
    both = [f"{run}: {reason}" for run, reason in zip(runs, reasons, strict=True) if reason]
    return PartGroup(
        (*(first.parts if first else ()), *others),
        common_summary(runs, [group.summary if group else () for group in pair]),
        reasons[0] if reasons[0] == reasons[1] else "  ".join(both),
        any(group.hides_factors for group in pair if group),
    )


def common_summary(
    runs: Sequence[str], summaries: Sequence[tuple[Phrase, ...]]
) -> tuple[Phrase, ...]:
    """Return the summaries of both runs, each in a line that begins with the sign of the run."""
    lines = [
        (Phrase(f"{run} "), *summary)
        for run, summary in zip(runs, summaries, strict=True)
        if summary
    ]
    return (*lines[0], LINE, *lines[1]) if len(lines) > 1 else lines[0] if lines else ()


def moved_part(part: Part, cells: Sequence[int]) -> Part:
    """Return a sum of the second run; `cells` has the new number of each of its cells."""
    terms = tuple(
        replace(
            term,
            source=None if term.source is None else cells[term.source],
            saved=tuple(cells[cell] for cell in term.saved),
        )
        for term in part.terms
    )
    return replace(part, target=cells[part.target], terms=terms, is_second=True)
