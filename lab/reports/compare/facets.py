"""Two backward Scans of the same Scan, aspect by aspect: steps, tapes, what they read and keep.

What belongs together is told by what it is the gradient of, or what it brings; places among
the arguments, which may differ, do not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pytensor.graph.basic import Apply

from lab.gradients.decisions import decisions_of
from lab.notation import signed
from lab.scans.node import read_node
from lab.scans.slices import sliced
from lab.tape import Kind, Tape
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace

Key = tuple[str | int, ...]


class Aspect(StrEnum):
    """What of a backward Scan is held against the other one."""

    STEPS = "steps"
    TAPE = "tape"
    READS = "reads"
    TAKES = "takes"
    DTYPE = "dtype"


@dataclass(frozen=True)
class Facet:
    """One aspect of one variable, on both sides; empty where a side has no counterpart.

    `harmless` tells of a difference behind which the numbers are the same.
    """

    subject: str
    aspect: Aspect
    ours: str
    theirs: str
    harmless: bool = False

    @property
    def differs(self) -> bool:
        """Whether it is not the same on both sides."""
        return self.ours != self.theirs


@dataclass(frozen=True, eq=False)
class _Held:
    """A variable of a backward Scan: what is told of it, its dtype in the step, and its run."""

    name: str
    told: str
    dtype: str
    run: TapeTrace | SequenceTrace | ParameterTrace


Told = dict[Aspect, dict[Key, list[_Held]]]


def _told(node: Apply, scan: ScanTrace) -> Told:
    """The variables of a Scan by what they hold the gradient of, bring or are."""
    parts, keys = read_node(node).variables, _keys(node)
    found: Told = {aspect: {} for aspect in Aspect}
    for run in sorted(scan.variables, key=lambda variable: variable.argument):
        part, aspect, told = parts[run.argument], Aspect.TAKES, run.name
        if isinstance(run, TapeTrace):
            aspect, told = Aspect.TAPE, taps_text(run.kind, run.tape)
        elif isinstance(run, SequenceTrace):
            aspect, told = Aspect.READS, f"{run.name}{sliced(part.outer_input)}"
        dtype = str((part.inner_inputs or part.inner_outputs)[0].type.dtype)
        alike = found[aspect].setdefault(keys[run.argument], [])
        if aspect is Aspect.TAKES:  # an argument that is given twice is told once
            alike.clear()
        alike.append(_Held(run.name, told, dtype, run))
    return found


def _keys(node: Apply) -> list[Key]:
    """What every argument of a Scan belongs to, in terms of the loop that it comes from."""
    d = decisions_of(node.op)
    if d is None:
        return [(place,) for place in range(len(node.inputs) - 1)]
    forward = list(zip(d.forward.variables, _keys(d.parent), strict=True))
    known = dict(forward)
    held = {r.variable: r.state for r in d.states} | {t.variable: t.source for t in d.totals}
    read = {r.variable: (r.group, r.source) for r in d.readings}
    outer = {part.outer_input: key for part, key in forward}
    found: list[Key] = []
    for place, part in enumerate(d.backward.variables):
        if part in held:
            found.append(("gradient", *known[held[part]]))
        elif part in read:
            group, source = read[part]
            found.append(("given" if "gradient" in group else "value", *known[source]))
        elif part.outer_input in outer:
            found.append(("value", *outer[part.outer_input]))
        else:
            found.append(("alone", place, len(node.inputs)))
    return found


def facets(
    ours: Apply, theirs: Apply, our_scan: ScanTrace, their_scan: ScanTrace
) -> tuple[Facet, ...]:
    """All aspects of two backward Scans that differentiate the same."""
    first, second = _told(ours, our_scan), _told(theirs, their_scan)
    found = [Facet("", Aspect.STEPS, str(our_scan.steps), str(their_scan.steps))]
    for aspect in Aspect:
        for key in dict.fromkeys([*first[aspect], *second[aspect]]):
            found += _pairs(aspect, first[aspect].get(key, []), second[aspect].get(key, []))
    return tuple(found)


def _pairs(aspect: Aspect, ours: list[_Held], theirs: list[_Held]) -> Iterator[Facet]:
    """Each of ours beside the one of theirs that is the same, or the next that is left."""
    waiting = list(theirs)
    for one in ours:
        twin = next((t for t in waiting if _is_same(one, t)), waiting[0] if waiting else None)
        if twin is None:
            harmless = aspect is Aspect.TAKES
            yield Facet(one.name, aspect, one.told, "", harmless)
            continue
        waiting.remove(twin)
        yield Facet(one.name, aspect, one.told, twin.told, _is_same(one, twin))
        if aspect is not Aspect.TAKES:
            yield Facet(one.name, Aspect.DTYPE, one.dtype, twin.dtype)
    for twin in waiting:
        yield Facet(twin.name, aspect, "", twin.told, harmless=aspect is not Aspect.TAPE)


def _is_same(one: _Held, twin: _Held) -> bool:
    """Whether tapes differ in the order of their taps alone, and sequences have the same values."""
    if isinstance(one.run, TapeTrace) and isinstance(twin.run, TapeTrace):
        mine, its = one.run.tape, twin.run.tape
        reads, writes = {*mine.reads} == {*its.reads}, {*mine.writes} == {*its.writes}
        return one.run.kind is twin.run.kind and reads and writes
    if isinstance(one.run, SequenceTrace) and isinstance(twin.run, SequenceTrace):
        values, others = one.run.values, twin.run.values
        return np.array_equal(values, others, equal_nan=values.dtype.kind in "fc")
    return True


def taps_text(kind: Kind, tape: Tape) -> str:
    """``mit-mot, reads 0, 1, writes 1``."""
    if kind is Kind.NIT_SOT:
        return "nit-sot"
    return f"{kind}, reads {signed(*tape.reads)}, writes {signed(*tape.writes)}"
