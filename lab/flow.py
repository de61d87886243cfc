"""The dataflow of a run: every value that its Scans were given or made, and from what.

A slot of a tape holds several values, one after another.  Here each has a name of its own,
its slot and a version, and is computed once: the static single assignment form of the run.

    >>> found = flow(trace)
    >>> found.sources[found.latest(1, tape, row=0)]   # what dC/dx₄ was computed from
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lab.derivation import ReadingGroup
from lab.expression import Call, Leaf, leaves_of
from lab.trace import Formula, ScanTrace, SequenceTrace, TapeTrace, Trace


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


def _step(scan: ScanTrace, step: int, readers: Mapping[Leaf, Reader]) -> Iterator[Write]:
    for formula in scan.formulas:
        sources = tuple(readers[leaf](step) for leaf in _distinct(formula))
        yield Write(step, formula, sources, readers[formula.target](step))


def _distinct(formula: Formula) -> tuple[Leaf, ...]:
    return tuple(dict.fromkeys(leaves_of(formula.expression)))


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


Maker = tuple[int, TapeTrace]


def maker(trace: Trace, number: int, sequence: SequenceTrace) -> Maker | None:
    """The Scan and the tape that made what a sequence of Scan `number` brings.

    None for what was given from outside, as a loop's own sequences are, or the gradient of an
    output.
    """
    parent = trace.scans[number].parent
    if parent is None or sequence.source is None or is_outer_gradient(sequence):
        return None
    variable = trace.scans[parent].variable(sequence.source)
    if isinstance(variable, SequenceTrace):
        return maker(trace, parent, variable)
    return (parent, variable) if isinstance(variable, TapeTrace) else None


def is_outer_gradient(sequence: SequenceTrace) -> bool:
    """Whether a derivative reads the gradient of an output, which comes in from outside."""
    return sequence.group is ReadingGroup.NIT_SOT_GRADIENT


def values_read(
    trace: Trace,
    number: int,
    sequence: SequenceTrace,
    versions: Mapping[tuple[int, int, int], int],
) -> list[Value]:
    """What a sequence of Scan `number` brings to every step."""
    indices = sequence.axis.index.tolist()
    made = maker(trace, number, sequence)
    if made is None:
        giver, name = _first_reader(trace, number, sequence)
        return [Value(giver, name, -1, index) for index in indices]
    scan, tape = made
    rows = {index: row for row, index in enumerate(tape.axis.index.tolist())} if tape.axis else {}
    found = (rows.get(index, index) for index in indices)
    return [
        Value(scan, tape.name, tape.argument, row, versions.get((scan, tape.argument, row), 0))
        for row in found
    ]


def _first_reader(trace: Trace, number: int, sequence: SequenceTrace) -> tuple[int, str]:
    """The first Scan in the line of descent that was given what a sequence brings."""
    parent = trace.scans[number].parent
    if parent is not None and sequence.source is not None and not is_outer_gradient(sequence):
        variable = trace.scans[parent].variable(sequence.source)
        if isinstance(variable, SequenceTrace):
            return _first_reader(trace, parent, variable)
    return number, sequence.name


def adds_old(formula: Formula) -> bool:
    """Whether a write keeps what stood in its slot, as it is or as a term of a sum."""
    target, expression = formula.target, formula.expression
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
    return any(
        isinstance(term, Leaf) and (term.argument, term.tap) == (target.argument, target.tap)
        for term in terms
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
