"""Two machines one above the other, on a common clock.

Events of the same step of Scans with the same number end at the same moment; columns hold what the
same step computes. A run without such an event rests meanwhile.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.records import cached_property
from visual.pictures.machine.content import (
    LINE,
    MachineContent,
    MachineEvent,
    Part,
    PartGroup,
    Phrase,
    ScanRows,
    SlotCell,
)

TOUCHED = ("overwritten", "preserved", "restored", "saved", "written")
Tick = tuple[int, int]  # a Scan and a step, -1 for the filling of its tapes


def stacked(
    first: MachineContent, second: MachineContent, runs: tuple[str, str], title: str
) -> MachineContent:
    """Return the machine of two runs; `runs` are their signs, as ``A`` and ``B``."""
    return _Stack(first, second, runs).machine(title)


@dataclass(frozen=True, eq=False)
class _Stack:
    first: MachineContent
    second: MachineContent
    runs: tuple[str, str]

    def machine(self, title: str) -> MachineContent:
        below, both = len(self.first.rows), (self.first, self.second)
        scans, cells = len(self.first.scans), len(self.first.cells)
        events = tuple(self._event(tick, cells) for tick in self.ticks)
        return MachineContent(
            title,
            tuple(self._scans()),
            (
                *self.first.rows,
                *(replace(r, scan=r.scan + scans, is_second=True) for r in self.second.rows),
            ),
            tuple(self._cell(c, m, n * below) for n, m in enumerate(both) for c in m.cells),
            events,
            self.times,
            tuple(
                (f"{run} {name}", value)
                for run, machine in zip(self.runs, both, strict=True)
                for name, value in machine.results
            ),
            runs=self.runs,
        )

    @cached_property
    def times(self) -> tuple[int | None, ...]:
        """The columns of either run, and None between two that are no neighbors."""
        times = {t for machine in (self.first, self.second) for t in machine.times if t is not None}
        items: list[int | None] = []
        for time in sorted(times):
            if items and items[-1] is not None and time > items[-1] + 1:
                items.append(None)
            items.append(time)
        return tuple(items)

    @cached_property
    def ticks(self) -> list[Tick]:
        """The common clock: all steps of either run."""
        return sorted({*self._own(self.first), *self._own(self.second)})

    def _own(self, machine: MachineContent) -> dict[Tick, int]:
        """Return the moment of every tick of a run."""
        return {
            (event.scan, -1 if event.step is None else event.step): moment
            for moment, event in enumerate(machine.events, start=1)
        }

    def _scans(self) -> Iterator[ScanRows]:
        for run, machine in zip(self.runs, (self.first, self.second), strict=True):
            for scan in machine.scans:
                own = [n for n, tick in enumerate(self.ticks) if tick[0] == scan.number]
                events = range(own[0], own[-1] + 1) if own else range(0)
                yield replace(scan, run=run, events=events)

    def _cell(self, cell: SlotCell, machine: MachineContent, below: int) -> SlotCell:
        """Return a cell on the common clock; while its run rests, no step touches it."""
        own, keys, last = self._own(machine), [cell.keys[0]], 0
        for moment, tick in enumerate(self.ticks, start=1):
            last = own.get(tick, last)
            key = cell.at(last)
            role = "intermediate" if tick not in own and key.role in TOUCHED else key.role
            if (role, key.text) != (keys[-1].role, keys[-1].text):
                keys.append(replace(key, moment=moment, role=role))
        column = self.times.index(machine.times[cell.column])
        return replace(cell, row=cell.row + below, column=column, keys=tuple(keys))

    def _event(self, tick: Tick, cells: int) -> MachineEvent:
        """Return the events of both runs at a tick, or that of the one that has it."""
        events = [
            machine.events[own[tick] - 1] if tick in own else None
            for machine in (self.first, self.second)
            for own in [self._own(machine)]
        ]
        event = events[0] or events[1]
        assert event is not None  # each tick is an event of a run
        groups = [each.groups if each else () for each in events]
        count = max(map(len, groups))  # at the end of the event, both runs are explained
        padded = [[*[None] * (count - len(each)), *each] for each in groups]
        pairs = list(zip(*padded, strict=True))
        scan = event.scan if events[0] else event.scan + len(self.first.scans)
        return replace(event, scan=scan, groups=tuple(self._group(pair, cells) for pair in pairs))

    def _group(self, pair: Sequence[PartGroup | None], cells: int) -> PartGroup:
        """Return the sums of both runs, which are played at the same time."""
        first, second = pair
        moved = tuple(moved_part(part, cells) for part in second.parts) if second else ()
        summaries = [g.summary if g else () for g in pair]
        lines = [
            (Phrase(f"{run} "), *summary)
            for run, summary in zip(self.runs, summaries, strict=True)
            if summary
        ]
        reasons = [g.reason if g else "" for g in pair]
        both = [f"{run}: {r}" for run, r in zip(self.runs, reasons, strict=True) if r]
        summary = (*lines[0], LINE, *lines[1]) if len(lines) > 1 else lines[0] if lines else ()
        reason = reasons[0] if reasons[0] == reasons[1] else "  ".join(both)
        return PartGroup((*(first.parts if first else ()), *moved), summary, reason)


def moved_part(part: Part, by: int | Mapping[int, int]) -> Part:
    """Return a sum of the second run between cells with other numbers."""

    def moved(cell: int) -> int:
        return cell + by if isinstance(by, int) else by.get(cell, cell)

    terms = tuple(
        replace(
            term,
            source=None if term.source is None else moved(term.source),
            saved=tuple(map(moved, term.saved)),
        )
        for term in part.terms
    )
    return replace(part, target=moved(part.target), terms=terms, is_second=True)
