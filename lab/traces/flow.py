"""The dataflow of a run: every value that its Scans were given or made, and from what.

A slot of a tape holds several values, one after another.  Here each has a name of its own,
its slot and a version, and is computed once: the static single assignment form of the run.

    >>> found = flow(trace)
    >>> found.sources[found.latest(1, tape, row=0)]   # what dC/dx₄ was computed from
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lab.expression import Leaf, leaves_of, summands_of
from lab.gradients.decisions import ReadingGroup
from lab.traces.trace import Formula, ScanTrace, SequenceTrace, TapeTrace, Trace


class Value(NamedTuple):
    """One value of a run: what the Scan number `scan` held in a row of a variable.

    `argument` is the variable's number in that Scan, or -1 for what it was given: then `row`
    is the index in time of a sequence's value.  Version 0 of a slot is what stood in it
    before the loop, and every write makes the next one.
    """

    scan: int
    variable: str
    argument: int
    row: int
    version: int = 0


@dataclass(frozen=True, eq=False)
class Write:
    """How a value came about: at which step, by which formula, from which values.

    `old` is the value that it replaced, `sources` are all that the formula reads.
    """

    step: int
    formula: Formula
    sources: tuple[Value, ...]
    old: Value

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """What the formula reads, in the order of `sources`."""
        return _distinct(self.formula)

    def reads(self, leaf: Leaf) -> Value:
        """The value that a leaf of the formula stands for."""
        return self.sources[self.leaves.index(leaf)]


@dataclass(frozen=True, eq=False)
class Flow:
    """The writes of a run, by the value that they made, and how many each slot has seen."""

    writes: Mapping[Value, Write]
    versions: Mapping[tuple[int, int, int], int]

    def latest(self, scan: int, tape: TapeTrace, row: int) -> Value:
        """The value that a run leaves in a row of a tape."""
        version = self.versions.get((scan, tape.argument, row), 0)
        return Value(scan, tape.name, tape.argument, row, version)

    def chain(self, scan: int, tape: TapeTrace, row: int) -> list[Value]:
        """All values that a row of a tape holds, one after another."""
        last = self.latest(scan, tape, row)
        return [last._replace(version=version) for version in range(last.version + 1)]


def flow(trace: Trace) -> Flow:
    """The dataflow of all Scans of a trace."""
    writes: dict[Value, Write] = {}
    versions: dict[tuple[int, int, int], int] = {}
    for number, scan in enumerate(trace.scans):
        readers = {
            leaf: _reader(trace, number, leaf, versions)
            for formula in scan.formulas
            for leaf in (formula.target, *_distinct(formula))
        }
        for step in range(scan.steps):
            made = list(_step(scan, step, readers))
            for write in made:  # all reads of a step come before its writes
                old = write.old
                writes[old._replace(version=old.version + 1)] = write
                versions[old.scan, old.argument, old.row] = old.version + 1
    return Flow(writes, versions)


Reader = Callable[[int], Value]
Held = tuple[int, TapeTrace | SequenceTrace]


def _step(scan: ScanTrace, step: int, readers: Mapping[Leaf, Reader]) -> Iterator[Write]:
    for formula in scan.formulas:
        sources = tuple(readers[leaf](step) for leaf in _distinct(formula))
        yield Write(step, formula, sources, readers[formula.target](step))


def _distinct(formula: Formula) -> tuple[Leaf, ...]:
    return tuple(leaves_of(formula.expression))


def _reader(
    trace: Trace, number: int, leaf: Leaf, versions: Mapping[tuple[int, int, int], int]
) -> Reader:
    """A function from a step to the value that a leaf stands for."""
    variable = trace.scans[number].variable(leaf)
    if isinstance(variable, TapeTrace) and leaf.tap is not None:
        first = variable.tape.row(0, leaf.tap)

        def of_tape(step: int) -> Value:
            row = first + step
            version = versions.get((number, leaf.argument, row), 0)
            return Value(number, leaf.variable, leaf.argument, row, version)

        return of_tape
    if isinstance(variable, SequenceTrace):
        return values_read(trace, number, variable, versions).__getitem__
    parameter = Value(_giver(trace, number, leaf.variable), leaf.variable, -1, 0)
    return lambda step: parameter


def is_outer_gradient(sequence: SequenceTrace) -> bool:
    """Whether a derivative reads the gradient of an output, which comes in from outside."""
    return sequence.group is ReadingGroup.NIT_SOT_GRADIENT


def first_reader(trace: Trace, number: int, sequence: SequenceTrace) -> Held:
    """Whose values a sequence of Scan `number` brings: the Scan, and its tape or own sequence.

    A derivative reads what its parent has made, or had read itself.  What was given from
    outside, or is the gradient of an output, belongs to the first Scan that reads it.
    """
    parent = trace.scans[number].parent
    if parent is None or sequence.source is None or is_outer_gradient(sequence):
        return number, sequence
    variable = trace.scans[parent].variable(sequence.source)
    if isinstance(variable, SequenceTrace):
        return first_reader(trace, parent, variable)
    return (parent, variable) if isinstance(variable, TapeTrace) else (number, sequence)


def values_read(
    trace: Trace,
    number: int,
    sequence: SequenceTrace,
    versions: Mapping[tuple[int, int, int], int],
) -> list[Value]:
    """What a sequence of Scan `number` brings to every step."""
    indices = sequence.axis.index.tolist()
    scan, held = first_reader(trace, number, sequence)
    found = (slot_at(trace, scan, held, index) for index in indices)
    return [
        Value(*place, versions.get((place.scan, place.argument, place.row), 0)) for place in found
    ]


class Slot(NamedTuple):
    """A row of a tape, or an index of a sequence that was given (then `argument` is -1)."""

    scan: int
    variable: str
    argument: int
    row: int


def slot_at(trace: Trace, number: int, held: TapeTrace | SequenceTrace, index: int) -> Slot:
    """Where the value of a variable of Scan `number` stands that has an index in time."""
    if isinstance(held, SequenceTrace):
        scan, first = first_reader(trace, number, held)
        if not isinstance(first, SequenceTrace):
            return slot_at(trace, scan, first, index)
        if first.taken is None:
            return Slot(scan, first.name, -1, index)
        made = trace.scans[first.taken.scan].variable(Leaf("", None, first.taken.variable))
        step = first.axis.rows.get(index)
        if step is None or not isinstance(made, TapeTrace):
            return Slot(scan, first.name, -1, index)
        row = int(first.taken.rows[step])
        return Slot(first.taken.scan, made.name, made.argument, row)
    row = held.axis.rows.get(index, index) if held.axis is not None else index
    return Slot(number, held.name, held.argument, row)


def adds_old(formula: Formula) -> bool:
    """Whether a write keeps what stood in its slot, as it is or as a term of a sum."""
    target = formula.target
    return any(
        isinstance(term, Leaf) and (term.argument, term.tap) == (target.argument, target.tap)
        for term in summands_of(formula.expression)
    )


def _giver(trace: Trace, number: int, name: str) -> int:
    """The first Scan in the line of descent of `number` that has a parameter called `name`."""
    found, parent = number, trace.scans[number].parent
    while parent is not None:
        scan = trace.scans[parent]
        if name in {parameter.name for parameter in scan.parameters}:
            found = parent
        parent = scan.parent
    return found
