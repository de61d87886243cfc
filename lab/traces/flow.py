"""The dataflow of a run: every value that its Scans were given or made, and from what.

A slot of a tape holds several values, one after another.  Here each has a name of its own,
its slot and a version, and is computed once: the static single assignment form of the run.

    >>> values = flow(trace)
    >>> values.writes[values.latest(1, tape, row=0)].sources   # what dC/dx₄ was computed from
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from lab.notation import Leaf, summands_of
from lab.traces.scan_of import ScanOf, Value
from lab.traces.trace import Formula, SequenceTrace, TapeTrace, Trace


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
        return self.formula.leaves

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
    for of in ScanOf.each(trace):
        reader = partial(_reader, of, versions=versions)
        makers = [(f, reader(f.target), [*map(reader, f.leaves)]) for f in of.scan.formulas]
        for step in range(of.scan.steps):
            made = [  # it reads all before it writes
                Write(step, formula, tuple(read(step) for read in reads), target(step))
                for formula, target, reads in makers
            ]
            for write in made:
                old = write.old
                writes[old._replace(version=old.version + 1)] = write
                versions[old.scan, old.argument, old.row] = old.version + 1
    return Flow(writes, versions)


Reader = Callable[[int], Value]
Versions = Mapping[tuple[int, int, int], int]  # by Scan, argument and row


def _reader(of: ScanOf, leaf: Leaf, versions: Versions) -> Reader:
    """A function from a step to the value that a leaf stands for."""
    variable = of.scan.variable(leaf)
    if isinstance(variable, TapeTrace) and leaf.tap is not None:
        first = variable.tape.row(0, leaf.tap)

        def of_tape(step: int) -> Value:
            row = first + step
            version = versions.get((of.number, leaf.argument, row), 0)
            return Value(of.number, leaf.variable, leaf.argument, row, version)

        return of_tape
    if isinstance(variable, SequenceTrace):
        return values_read(of, variable, versions).__getitem__
    parameter = parameter_of(of, leaf.variable)
    return lambda step: parameter


def values_read(of: ScanOf, sequence: SequenceTrace, versions: Versions) -> list[Value]:
    """What a sequence brings to every step."""
    reader, held = of.first_reader(sequence)
    slots = (reader.slot_at(held, index) for index in sequence.axis.index.tolist())
    return [v._replace(version=versions.get((v.scan, v.argument, v.row), 0)) for v in slots]


def adds_old(formula: Formula) -> bool:
    """Whether a write keeps what stood in its slot, as it is or as a term of a sum."""
    target = formula.target
    return any(
        isinstance(term, Leaf) and (term.argument, term.tap) == (target.argument, target.tap)
        for term in summands_of(formula.expression)
    )


def parameter_of(of: ScanOf, name: str) -> Value:
    """A parameter, of the first Scan in the line of descent of one that has it."""
    giver, parent = of.number, of.parent
    while parent is not None:
        if name in {parameter.name for parameter in parent.scan.parameters}:
            giver = parent.number
        parent = parent.parent
    return Value(giver, name, -1, 0)
