"""Relate a Scan of a trace to the other Scans of the trace.

``ScanOf(trace, 1).root`` is the loop from which the second Scan of a trace was derived.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from lab.records import cached_property
from lab.tape import Kind
from lab.traces.trace import Origin, ScanTrace, SequenceTrace, TapeTrace, Trace


class Value(NamedTuple):
    """A value of a run: the entry of Scan number `scan` in a row of a variable.

    `argument` is the number of the variable in that Scan, or -1 for a value from outside of all
    Scans.  The `row` of such a value is the time index in its sequence.  Version 0 of a slot is its
    initial value, and every write creates the next version.
    """

    scan: int
    variable: str
    argument: int
    row: int
    version: int = 0


@dataclass(frozen=True)
class ScanOf:
    """Scan `number` of a trace, with properties that depend on other Scans."""

    trace: Trace
    number: int

    @classmethod
    def each(cls, trace: Trace) -> Iterator[Self]:
        """Yield all Scans of a trace, in the order of execution."""
        return (cls(trace, number) for number in range(len(trace.scans)))

    @property
    def scan(self) -> ScanTrace:
        """The data of the Scan."""
        return self.trace.scans[self.number]

    @cached_property
    def parent(self) -> Self | None:
        """The Scan that this Scan differentiates, or None for a loop."""
        number = self.scan.parent
        return None if number is None else type(self)(self.trace, number)

    @cached_property
    def root(self) -> Self:
        """The loop from which the Scan was derived, or the Scan itself."""
        parent = self.parent
        return self if parent is None else parent.root

    def first_reader(self, sequence: SequenceTrace) -> tuple[Self, TapeTrace | SequenceTrace]:
        """Return the Scan that computes or first reads a sequence, and its tape or sequence.

        A derivative reads values that its parent computed or read.  For values from outside of all
        Scans, and for the gradient of an output, the result is the first Scan that reads them.
        """
        parent = self.parent
        if parent is None or sequence.source is None or sequence.is_outer_gradient:
            return self, sequence
        variable = parent.scan.variable(sequence.source)
        if isinstance(variable, SequenceTrace):
            return parent.first_reader(variable)
        return (parent, variable) if isinstance(variable, TapeTrace) else (self, sequence)

    def origins(self, argument: int, row: int) -> list[Origin]:
        """Return the origins of a row of a tape, or of the value of a sequence at step `row`."""
        known = self.trace.origins[self.number]
        return [*known.get((argument, row), ()), *known.get((argument, None), ())]

    def origin_read(self, sequence: SequenceTrace, step: int) -> Origin | None:
        """Return the slot whose value a step reads through a sequence, or None."""
        origins = self.origins(sequence.argument, step)
        if len(origins) != 1 or not origins[0].is_summand:
            return None
        scan, argument, row, _ = origins[0]
        tape, value = self.trace.scans[scan].tape(argument), sequence.values[step]
        is_same = tape is not None and np.array_equal(tape.final[row], value, equal_nan=True)
        return origins[0] if is_same else None  # otherwise, the value has another term

    def value_read(self, sequence: SequenceTrace, step: int) -> Value:
        """Return the value that a step reads through a sequence; its version is 0."""
        origin = self.origin_read(sequence, step)
        reader, first = self.first_reader(sequence)
        index = int(sequence.axis.index[step])
        if origin is not None and (tape := self.trace.scans[origin.scan].tape(origin.argument)):
            return Value(origin.scan, tape.name, origin.argument, origin.row)
        if isinstance(first, SequenceTrace):
            return Value(reader.number, first.name, -1, index)
        row = index if first.axis is None else first.axis.rows.get(index, index)
        return Value(reader.number, first.name, first.argument, row)

    def wanted_rows(self, tape: TapeTrace) -> set[int]:
        """Return the rows of a gradient's tape that contain gradients of initial values.

        For the gradient of a mit-mot, and for any other tape, return all rows.
        """
        size = len(tape.final)
        for source in self.parent.scan.tapes if self.parent is not None else ():
            if source.name == tape.gradient_of and source.kind is not Kind.MIT_MOT:
                return {size - 1 - row for row in range(source.tape.origin)}
        return set(range(size))

    def part_number(self, tape: TapeTrace) -> int | None:
        """Return the number of a tape in `Trace.part_numbers`; None unless it contains a part."""
        return self.trace.part_numbers.get((self.number, tape.argument))

    def is_passed_on(self, tape: TapeTrace) -> bool:
        """Return whether an output of the trace or a gradient of another Scan depends on a tape."""
        gradients = (f for s in self.trace.scans for f in s.feeds if not s.is_reading(f.into))
        places = ((feed.scan, feed.argument) for feed in (*self.trace.feeds, *gradients))
        return (self.number, tape.argument) in places
