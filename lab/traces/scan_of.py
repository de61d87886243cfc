"""One Scan of a trace beside the others: what it differentiates, reads of them, and passes on.

``ScanOf(trace, 1).root`` is the loop that the second Scan of a trace is a derivative of.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from lab.records import cached_property
from lab.tape import Kind
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace, Trace


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


@dataclass(frozen=True)
class ScanOf:
    """Scan `number` of a trace, with all that can be told of it only beside the others."""

    trace: Trace
    number: int

    @classmethod
    def each(cls, trace: Trace) -> Iterator[Self]:
        """All Scans of a trace, in the order in which they ran."""
        return (cls(trace, number) for number in range(len(trace.scans)))

    @property
    def scan(self) -> ScanTrace:
        """Its variables over all steps."""
        return self.trace.scans[self.number]

    @cached_property
    def parent(self) -> Self | None:
        """The Scan that it differentiates."""
        number = self.scan.parent
        return None if number is None else type(self)(self.trace, number)

    @cached_property
    def root(self) -> Self:
        """The loop that it is a derivative of, or itself."""
        parent = self.parent
        return self if parent is None else parent.root

    def first_reader(self, sequence: SequenceTrace) -> tuple[Self, TapeTrace | SequenceTrace]:
        """Whose values a sequence brings: the Scan, and its tape or own sequence.

        A derivative reads what its parent has made, or had read itself.  What was given from
        outside, or is the gradient of an output, belongs to the first Scan that reads it.
        """
        parent = self.parent
        if parent is None or sequence.source is None or sequence.is_outer_gradient:
            return self, sequence
        variable = parent.scan.variable(sequence.source)
        if isinstance(variable, SequenceTrace):
            return parent.first_reader(variable)
        return (parent, variable) if isinstance(variable, TapeTrace) else (self, sequence)

    def slot_at(self, held: TapeTrace | SequenceTrace, index: int) -> Value:
        """Where the value of one of its variables stands that has an index in time; version 0."""
        if isinstance(held, TapeTrace):
            row = held.axis.rows.get(index, index) if held.axis is not None else index
            return Value(self.number, held.name, held.argument, row)
        reader, first = self.first_reader(held)
        if not isinstance(first, SequenceTrace):
            return reader.slot_at(first, index)
        step = first.axis.rows.get(index)
        if first.taken is not None and step is not None:
            filled = self.trace.scans[first.taken.scan].tape(first.taken.variable)
            if filled is not None:
                row = int(first.taken.rows[step])
                return Value(first.taken.scan, filled.name, filled.argument, row)
        return Value(reader.number, first.name, -1, index)

    def wanted_rows(self, tape: TapeTrace) -> set[int]:
        """The rows of a gradient that go on to the result: of a state, of its initial values."""
        size = len(tape.final)
        for source in self.parent.scan.tapes if self.parent is not None else ():
            if source.name == tape.gradient_of and source.kind is not Kind.MIT_MOT:
                return {size - 1 - row for row in range(source.tape.origin)}
        return set(range(size))

    def share(self, tape: TapeTrace) -> int | None:
        """Which of several such parts it is, from 1, or 0 where there is no other."""
        return self.trace.shares.get((self.number, tape.argument))

    def is_passed_on(self, tape: TapeTrace) -> bool:
        """Whether a filled tape is a gradient that was asked for, or a part of one elsewhere."""
        place = self.number, tape.argument
        if any((feed.scan, feed.variable) == place for feed in self.trace.feeds):
            return True
        return any(
            (feed.scan, feed.variable) == place and not scan.is_reading(feed.into)
            for scan in self.trace.scans
            for feed in scan.feeds
        )
