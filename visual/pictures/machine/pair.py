"""Two runs in lockstep: runs of two loops, or the runs of the correct rule and of a faulty rule.

A row with the same numbers in the correct and the faulty run appears once. Below each other row is
the row of the faulty run, and both versions of a sum play together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.equations.events.events import events
from lab.notation import integers, number_text
from lab.reports.breaking.breakage import Breakage, precise
from lab.reports.breaking.rules import EXAMPLES
from lab.traces.trace import Trace
from visual.pictures.machine.build import Run
from visual.pictures.machine.columns import Columns, results
from visual.pictures.machine.content import (
    Ink,
    MachineContent,
    MachineEvent,
    Part,
    Phrase,
    RuleEffect,
)
from visual.pictures.machine.lockstep import in_lockstep
from visual.pictures.machine.wording import Wording

SIGNS, LETTERS = ("✓", "✗"), ("A", "B")
UNCOLORED = (Ink.PLAIN, Ink.NAME, Ink.SIGN)


def compare_runs(first: Trace, second: Trace, entry: int | None = None) -> MachineContent:
    """Return the machine of two runs, one above the other on a common clock."""
    runs = _run(first, LETTERS[0], entry), _run(second, LETTERS[1], entry)
    pairs = enumerate(zip(_run_texts(first), _run_texts(second), strict=True))
    differing = [pair for n, pair in pairs if n == 0 or pair[0] != pair[1]]
    names = (", ".join(filter(None, texts)) for texts in zip(*differing, strict=True))
    title = " · ".join(f"{run}: {name}" for run, name in zip(LETTERS, names, strict=True))
    values = [(f"{run.wording.sign} {n}", v) for run in runs for n, v in results(run.wording)]
    return replace(in_lockstep(*runs), title=title, results=tuple(values))


def _run(trace: Trace, sign: str, entry: int | None = None) -> Run:
    """Return a run of a machine of two runs."""
    return Run(Columns(trace), Wording(events(trace), entry, sign))


def _run_texts(trace: Trace) -> list[str]:
    """Return texts for the title: the name, taps, steps, order, and initial values of a run."""
    loop = trace.scans[0]
    tapes = [t for t in loop.tapes if t.tape.reads]
    starts = [f"{t.name}₀ = {number_text(t.initial[0])}" for t in tapes if not t.initial[0].ndim]
    return [
        loop.name,
        "; ".join(f"taps {integers(*t.tape.reads)}" for t in tapes),
        f"{loop.steps} steps",
        f"order {max(scan.order for scan in trace.scans)}",
        "; ".join(starts),
    ]


def pair_of(breakage: Breakage) -> MachineContent:
    """Return a machine with the correct run and with the differing rows of the faulty run."""
    runs = _run(breakage.true, SIGNS[0]), _run(breakage.broken, SIGNS[1])
    machine = in_lockstep(*runs, is_faulty=True)
    wrong = {n: c.wrong_from for n, c in enumerate(machine.cells) if c.wrong_from is not None}
    played, table = _with_red_numbers(machine.events, wrong), tuple(_table(breakage))
    mistake = RuleEffect(
        breakage.rule.name,
        breakage.rule.change,
        first_wrong=min(wrong.values(), default=None),
        first_read=next(_wrong_reads(machine.events, wrong), None),
        table=table,
        example=EXAMPLES.get(breakage.rule.name) if breakage.visible is None else None,
    )
    title, values = _title(breakage, table), tuple(results(runs[0].wording))
    return replace(machine, title=title, events=tuple(played), results=values, mistake=mistake)


def _with_red_numbers(
    played: Iterable[MachineEvent], wrong: Mapping[int, int]
) -> Iterator[MachineEvent]:
    """Yield the events with red wrong numbers. Groups with wrong numbers play after all others.

    `wrong` has the first moment with a wrong number, by cell.
    """
    for moment, event in enumerate(played, start=1):
        ranked = []
        for group in event.groups:
            second = [part.target for part in group.parts if part.is_second]
            is_wrong = any(wrong.get(cell, moment + 1) <= moment for cell in second)
            correct = {p.sentence[1].text: p.sentence for p in group.parts if not p.is_second}
            parts = tuple(_with_red(part, correct) for part in group.parts)
            ranked.append(((is_wrong, bool(second)), replace(group, parts=parts)))
        ranked.sort(key=lambda pair: pair[0])
        yield replace(event, groups=tuple(group for _, group in ranked))


def _with_red(part: Part, correct: Mapping[str, Sequence[Phrase]]) -> Part:
    """Return a sum of the faulty run. The numbers that differ from the correct run are red.

    `correct` has the sentences of the correct run by quantity. If two sentences have different
    numbers of pieces, only their written values are compared.
    """
    faulty, other = part.sentence, correct.get(part.sentence[1].text, ())
    if not part.is_second or not other:
        return part
    compared = len(faulty) if len(faulty) == len(other) else 3
    red = (
        replace(a, ink=Ink.WRONG) if a.ink not in UNCOLORED and a.text != b.text else a
        for a, b in zip(faulty[:compared], other, strict=False)
    )
    return replace(part, sentence=(*red, *faulty[compared:]))


def _wrong_reads(events: Iterable[MachineEvent], wrong: Mapping[int, int]) -> Iterator[int]:
    """Yield the moments of the events that read a wrong number."""
    for moment, event in enumerate(events, start=1):
        used = {cell for part in event.parts for cell in part.reads}
        if any(wrong.get(cell, moment) < moment for cell in used):
            yield moment


def _title(breakage: Breakage, table: Sequence[tuple[str, ...]]) -> str:
    """Return the title, which compares the first wrong derivative with the correct one."""
    if breakage.visible is None:
        return f"The faulty rule changes no derivative of this loop up to order {len(table)}"
    name, correct, faulty, _, ratio = table[breakage.visible - 1]
    if breakage.rows[breakage.visible - 1].broken is None:
        return f"With the faulty rule, {name} cannot be computed"
    if ratio and "[" not in name:
        return f"With the faulty rule, {name} is {ratio} times its value"
    return f"With the faulty rule, {name} is {faulty}, not {correct}"


def _table(breakage: Breakage) -> Iterator[tuple[str, ...]]:
    """Yield the rows of `RuleEffect.table`. For an array, they show the entry at `_entry`."""
    entry = _entry(breakage)
    index = f"[{', '.join(map(str, entry))}]" if entry else ""
    for row in breakage.rows:
        estimate = None if row.differences is None else row.differences.value
        values = (row.true, row.broken, estimate)
        true, faulty, _ = shown = [None if each is None else each[entry] for each in values]
        ratio = ""
        if true and faulty is not None and np.isfinite(true) and np.isfinite(faulty):
            ratio = f"{float(faulty / true):.4g}"
        yield f"{row.name}{index}", *map(precise, shown), ratio


def _entry(breakage: Breakage) -> tuple[int, ...]:
    """Return the index of the entry with the largest error."""
    row = breakage.rows[-1 if breakage.visible is None else breakage.visible - 1]
    if row.broken is None or row.broken.shape != row.true.shape or not row.true.size:
        return (0,) * row.true.ndim
    error = np.nan_to_num(np.abs(row.broken - row.true), nan=np.inf)
    return tuple(int(n) for n in np.unravel_index(np.argmax(error), error.shape))
