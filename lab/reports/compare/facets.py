"""Two backward Scans of the same Scan, aspect by aspect: steps, tapes, what they read and keep.

What belongs together is told by what it is the gradient of, or what it brings; places among
the arguments, which may differ, do not count.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pytensor.graph.basic import Apply

from lab import records
from lab.gradients.decisions import decisions_of
from lab.notation import signed
from lab.scans.node import LoopVariable, outer_inputs, read_scan
from lab.scans.slices import sliced
from lab.tape import Kind, Tape
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace

Key = tuple[str | int, ...]


@records.stored
class Aspect(StrEnum):
    """What of a backward Scan is held against the other one."""

    STEPS = "steps"
    TAPE = "tape"
    READS = "reads"
    TAKES = "takes"
    DTYPE = "dtype"


@records.record
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
class _Side:
    """A backward Scan with its run, and what each of its variables belongs to."""

    scan: ScanTrace
    parts: dict[int, LoopVariable]
    keys: dict[int, Key]

    @classmethod
    def of(cls, node: Apply, scan: ScanTrace) -> "_Side":
        parts = outer_inputs(read_scan(node.op, node.inputs, node.outputs))
        return cls(scan, dict(enumerate(parts)), dict(enumerate(_keys(node))))

    def tapes(self) -> dict[Key, TapeTrace]:
        """The tapes by what they hold the gradient of."""
        return {self.keys[t.argument]: t for t in self.scan.held}

    def sequences(self) -> dict[Key, list[SequenceTrace]]:
        """The sequences by what they bring."""
        found: dict[Key, list[SequenceTrace]] = {}
        for sequence in self.scan.sequences:
            found.setdefault(self.keys[sequence.argument], []).append(sequence)
        return found

    def parameters(self) -> dict[Key, LoopVariable]:
        """The parameters by what they are."""
        return {
            self.keys[place]: part
            for place, part in self.parts.items()
            if part.kind is Kind.PARAMETER
        }

    def dtype(self, argument: int) -> str:
        """The dtype of a variable inside."""
        part = self.parts[argument]
        return str((part.inner_inputs or part.inner_outputs)[0].type.dtype)


def _keys(node: Apply) -> list[Key]:
    """What every argument of a Scan belongs to, in terms of the loop that it comes from."""
    d = decisions_of(node.op)
    if d is None:
        return [(place,) for place in range(len(node.inputs) - 1)]
    forward = list(zip(outer_inputs(d.forward), _keys(d.parent), strict=True))
    known = dict(forward)
    held = {r.variable: r.state for r in d.states} | {t.variable: t.source for t in d.totals}
    read = {r.variable: (r.group, r.source) for r in d.readings}
    outer = {part.outer_input: key for part, key in forward}
    found: list[Key] = []
    for place, part in enumerate(outer_inputs(d.backward)):
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
    first, second = _Side.of(ours, our_scan), _Side.of(theirs, their_scan)
    found = [Facet("", Aspect.STEPS, str(our_scan.steps), str(their_scan.steps))]
    found += _tapes(first, second)
    found += _sequences(first, second)
    found += _parameters(first, second)
    return tuple(found)


def _tapes(first: _Side, second: _Side) -> Iterator[Facet]:
    ours, theirs = first.tapes(), second.tapes()
    for key in _both(ours, theirs):
        tape, twin = ours.get(key), theirs.get(key)
        name = (tape or twin).name  # type: ignore[union-attr]  # one of them is there
        mine, its = (taps_text(t.kind, t.tape) if t is not None else "" for t in (tape, twin))
        yield Facet(name, Aspect.TAPE, mine, its, harmless=_same_taps(tape, twin))
        if tape is not None and twin is not None:
            dtypes = first.dtype(tape.argument), second.dtype(twin.argument)
            yield Facet(name, Aspect.DTYPE, *dtypes)


def _same_taps(tape: TapeTrace | None, twin: TapeTrace | None) -> bool:
    """Whether two tapes differ in the order of their taps alone."""
    if tape is None or twin is None or tape.kind is not twin.kind:
        return False
    pairs = ((tape.tape.reads, twin.tape.reads), (tape.tape.writes, twin.tape.writes))
    return all(set(a) == set(b) for a, b in pairs)


def taps_text(kind: Kind, tape: Tape) -> str:
    """``mit-mot, reads 0, 1, writes 1``."""
    if kind is Kind.NIT_SOT:
        return "nit-sot"
    return f"{kind}, reads {signed(*tape.reads)}, writes {signed(*tape.writes)}"


def _sequences(first: _Side, second: _Side) -> Iterator[Facet]:
    ours, theirs = first.sequences(), second.sequences()
    for key in _both(ours, theirs):
        waiting = list(theirs.get(key, []))
        for sequence in ours.get(key, []):
            equal = (other for other in waiting if _same_values(sequence, other))
            twin = next(equal, waiting[0] if waiting else None)
            if twin is not None:
                waiting.remove(twin)
            told = _cut(first, sequence), "" if twin is None else _cut(second, twin)
            same = twin is not None and _same_values(sequence, twin)
            yield Facet(sequence.name, Aspect.READS, *told, harmless=same)
            if twin is not None:
                dtypes = first.dtype(sequence.argument), second.dtype(twin.argument)
                yield Facet(sequence.name, Aspect.DTYPE, *dtypes)
        for twin in waiting:
            yield Facet(twin.name, Aspect.READS, "", _cut(second, twin), harmless=True)


def _same_values(first: SequenceTrace, second: SequenceTrace) -> bool:
    return first.values.shape == second.values.shape and np.array_equal(
        first.values, second.values, equal_nan=first.values.dtype.kind in "fc"
    )


def _cut(side: _Side, sequence: SequenceTrace) -> str:
    return f"{sequence.name}{sliced(side.parts[sequence.argument].outer_input)}"


def _parameters(first: _Side, second: _Side) -> Iterator[Facet]:
    ours, theirs = first.parameters(), second.parameters()
    for key in _both(ours, theirs):
        mine, its = (side[key].name if key in side else "" for side in (ours, theirs))
        yield Facet(mine or its, Aspect.TAKES, mine, its, harmless=True)


def _both(ours: Mapping[Key, object], theirs: Mapping[Key, object]) -> list[Key]:
    return list(dict.fromkeys([*ours, *theirs]))
