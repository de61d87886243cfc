"""The dataflow of a run: every value that its Scans were given or made, and from what.

A slot of a tape holds several values, one after another.  Here each has a name of its own,
its slot and a version, and is computed once: the static single assignment form of the run.

    >>> found = flow(trace)
    >>> found.sources[found.latest(1, tape, row=0)]   # what dC/dx₄ was computed from
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

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
        made = handed_on(trace, number, variable, versions)
        index = variable.axis.index.tolist()
        giver = _giver(trace, number, variable.name)
        return lambda step: made.get(index[step]) or Value(giver, variable.name, -1, index[step])
    parameter = Value(_giver(trace, number, leaf.variable), leaf.variable, -1, 0)
    return lambda step: parameter


def adds_old(formula: Formula) -> bool:
    """Whether a write keeps what stood in its slot, as it is or as a term of a sum."""
    target, expression = formula.target, formula.expression
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
    return any(
        isinstance(term, Leaf) and (term.argument, term.tap) == (target.argument, target.tap)
        for term in terms
    )


def handed_on(
    trace: Trace,
    number: int,
    sequence: SequenceTrace,
    versions: Mapping[tuple[int, int, int], int],
) -> dict[int, Value]:
    """By index, the values of an earlier Scan's tape that a sequence of Scan `number` hands on.

    Empty for a sequence that was given from outside.
    """
    parent = trace.scans[number].parent
    while parent is not None:
        scan = trace.scans[parent]
        found: dict[int, Value] = {}
        for tape in (*scan.tapes, *scan.outputs):
            same_name = tape.name == sequence.name
            if same_name and tape.axis and tape.axis.variable == sequence.axis.variable:
                for row, index in enumerate(tape.axis.index.tolist()):
                    version = versions.get((parent, tape.argument, row), 0)
                    found[index] = Value(parent, tape.name, tape.argument, row, version)
        if found:
            return found
        parent = scan.parent
    return {}


def _giver(trace: Trace, number: int, name: str) -> int:
    """The first Scan in the line of descent of `number` that was given what is called `name`."""
    found, parent = number, trace.scans[number].parent
    while parent is not None:
        scan = trace.scans[parent]
        if name in {s.name for s in scan.sequences} | {p.name for p in scan.parameters}:
            found = parent
        parent = scan.parent
    return found
