"""The instructions with which a page recomputes the numbers of a machine.

The *place* of a number is the index of its instruction in the program of the run. The program has
the same events as the run, with places instead of values. `PlacedEvents` pairs each event of the
run with its event of the program.
"""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import Event, Slot, Term
from lab.errors import GraphError
from lab.traces.program import Program
from lab.traces.trace import Trace

Key = tuple[int, int | None]  # the argument and the tap of a read value


class NumberStyle(StrEnum):
    """The notation of a number."""

    PLAIN = "plain"
    FACTOR = "factor"  # with parentheses if the number is negative
    NORM = "norm"  # the norm of an array, between double bars


class Numeral(str):
    """A number as printed, with the place of the instruction that computes it.

    Numerals of different instructions are not equal, and no `Numeral` equals a plain text.
    """

    place: int
    style: NumberStyle

    def __new__(cls, text: str, place: int, style: NumberStyle = NumberStyle.PLAIN) -> "Numeral":
        """Return `text` as a `Numeral`."""
        numeral = super().__new__(cls, text)
        numeral.place, numeral.style = place, style
        return numeral

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and getattr(other, "place", None) == self.place

    def __ne__(self, other: object) -> bool:  # `str.__ne__` compares only the texts
        return not self == other

    __hash__ = str.__hash__


class PlacedEvents(Events):
    """The events of a run, with the places of the values in a program that computes the run."""

    def __init__(self, trace: Trace, program: Program) -> None:
        super().__init__(trace)
        self.program, self.twins = program, Events(program.numbers)
        # By the `id` of a value: the value and its places.
        self.known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for value, places in zip(trace.outputs, program.numbers.outputs, strict=True):
            self._store(value, places)

    def place(self, value: np.ndarray, entry: int | None = None) -> int | None:
        """Return the place of a number, of an entry, or of a norm; None if the value has none."""
        _, places = self.known.get(id(value), (None, None))
        if places is None:
            return None
        if places.ndim and entry is None:
            return self.program.instructions.norm(places)
        return int(places.ravel()[entry or 0])

    def value(self, slot: Slot, moment: int) -> np.ndarray | None:
        """Return the value in `slot` at `moment`, or None for an empty slot."""
        value = super().value(slot, moment)
        self._store(value, self.twins.value(slot, moment))
        return value

    def _store(self, value: np.ndarray | None, places: np.ndarray | None) -> None:
        """Store the places of a float value. Other values are constants in the page."""
        if value is not None and places is not None and np.asarray(value).dtype.kind == "f":
            if np.shape(value) != np.shape(places):
                raise GraphError("With other values, arrays of this run have other shapes.")
            self.known[id(value)] = value, np.asarray(places)

    def _compute(self, number: int) -> Event:
        """Return an event, and store the places of its values."""
        event, twin = super()._compute(number), self.twins[number - 1]
        for n, read in enumerate(event.reads):
            if event.step is not None:
                self._store(read.value, twin.reads[n].value)
            elif read.slot is not None:  # the value is an output of another Scan
                tape = self.program.numbers.scans[read.slot.scan].tape(read.slot.argument)
                self._store(read.value, None if tape is None else tape.final[read.slot.row])
        for write, twin_write in zip(event.writes, twin.writes, strict=True):
            self._store(write.old, twin_write.old)
            self._store(write.new, twin_write.new)
        leaves = {(read.argument, read.tap): read.value for read in event.reads}
        for write in event.writes:
            unknown = (term for term in write.terms if id(term.value) not in self.known)
            left = [term for term in unknown if not self._store_term(term, leaves)]
            if len(left) > 1:
                raise GraphError(f"{write.slot}: a page cannot separate the terms of this sum.")
            for term in left:  # the term is the new value minus all other terms
                others = [other.value for other in write.terms if other is not term]
                others += [write.old] if write.adds_old and write.old is not None else []
                places = self._places(write.new)
                for other in others:
                    places = self.program.instructions.each("Sub", places, self._places(other))
                self._store(term.value, places)
        return event

    def _store_term(self, term: Term, leaves: Mapping[Key, np.ndarray]) -> bool:
        """Store the places of a term. Return whether the term has a usable expression."""
        instructions = self.program.instructions
        if term.expression is None:
            return False
        try:
            places = instructions.term(
                term.expression, lambda leaf: self._places(leaves[leaf.argument, leaf.tap])
            )
        except GraphError:
            if term.factor is not None:
                raise
            return False
        if term.factor is not None and term.source is not None:
            self._store(term.factor, places)
            places = instructions.each("Mul", self._places(term.source.value), places)
        self._store(term.value, places)
        return True

    def _places(self, value: np.ndarray) -> np.ndarray:
        """Return the places of a value. Add constants for a value without places."""
        if id(value) in self.known:
            return self.known[id(value)][1]
        return self.program.instructions.each("constant", np.asarray(value, float))
