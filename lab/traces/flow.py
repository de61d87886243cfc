"""The dataflow of a run: every value, and the values from which it was computed.

A slot of a tape contains several values, one after another.  Here, each value has a name (slot and
version), and a step computes it once: the static single assignment form of the run.

    >>> values = flow(trace)
    >>> values.writes[values.latest(1, tape, row=0)].sources   # operands of dC/dx₄
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from lab.notation import Leaf
from lab.traces.scan_of import ScanOf, Value
from lab.traces.trace import Formula, SequenceTrace, TapeTrace, Trace


@dataclass(frozen=True, eq=False)
class SlotWrite:
    """The computation of a value: the step, the formula, and the operands.

    `old` is the replaced value; `sources` are the values of the leaves of the formula.
    """

    step: int
    formula: Formula
    sources: tuple[Value, ...]
    old: Value

    def reads(self, leaf: Leaf) -> Value:
        """Return the value of a leaf of the formula."""
        return self.sources[self.formula.leaves.index(leaf)]


@dataclass(frozen=True, eq=False)
class Flow:
    """The dataflow of a run.

    `writes` maps each written value to its `SlotWrite`.  `versions` maps each slot to the number of
    its writes.
    """

    writes: Mapping[Value, SlotWrite]
    versions: Mapping[tuple[int, int, int], int]

    def latest(self, scan: int, tape: TapeTrace, row: int) -> Value:
        """Return the final value in a row of a tape."""
        version = self.versions.get((scan, tape.argument, row), 0)
        return Value(scan, tape.name, tape.argument, row, version)

    def chain(self, scan: int, tape: TapeTrace, row: int) -> list[Value]:
        """Return all values of a row of a tape, one after another."""
        last = self.latest(scan, tape, row)
        return [last._replace(version=version) for version in range(last.version + 1)]


def flow(trace: Trace) -> Flow:
    """Return the dataflow of all Scans of a trace."""
    writes: dict[Value, SlotWrite] = {}
    versions: dict[tuple[int, int, int], int] = {}
    for of in ScanOf.each(trace):
        reader = partial(_reader, of, versions=versions)
        writers = [(f, reader(f.target), [*map(reader, f.leaves)]) for f in of.scan.formulas]
        for step in range(of.scan.steps):
            new_writes = [  # all reads come before all writes
                SlotWrite(step, formula, tuple(read(step) for read in reads), target(step))
                for formula, target, reads in writers
            ]
            for write in new_writes:
                old = write.old
                writes[old._replace(version=old.version + 1)] = write
                versions[old.scan, old.argument, old.row] = old.version + 1
    return Flow(writes, versions)


Reader = Callable[[int], Value]
Versions = Mapping[tuple[int, int, int], int]  # keys are Scan, argument, and row


def _reader(of: ScanOf, leaf: Leaf, versions: Versions) -> Reader:
    """Return a function that maps a step to the `Value` that a leaf reads."""
    variable = of.scan.variable(leaf)
    if isinstance(variable, TapeTrace) and leaf.tap is not None:
        first = variable.tape.row(0, leaf.tap)

        def of_tape(step: int) -> Value:
            row = first + step
            version = versions.get((of.number, leaf.argument, row), 0)
            return Value(of.number, leaf.variable, leaf.argument, row, version)

        return of_tape
    if isinstance(variable, SequenceTrace):
        slots = (of.value_read(variable, step) for step in range(of.scan.steps))
        read = [v._replace(version=versions.get((v.scan, v.argument, v.row), 0)) for v in slots]
        return read.__getitem__
    giver, _ = of.trace.first_holder(of.number, leaf.variable)
    return lambda step: Value(giver, leaf.variable, -1, 0)
