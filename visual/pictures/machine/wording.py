"""The sentences below a machine: the equation and the reason of each write.

    4.790 ≈ 2.327 × 1.629 + 1
    x₃ = x₂² reads x₂ (step 2 of Scan 1).

An equation shows the digits and the colors of the cells. Its sign is ``=`` if the printed numbers
agree to half a unit of the last digit, otherwise ``≈``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from lab.equations.events.events import Events, EventSequence
from lab.equations.events.records import Event, Read, Slot, SlotRole, Write
from lab.equations.factors import ONE
from lab.equations.numbers import DIGITS, as_printed, holds, value_of
from lab.equations.quantities import Quantities, index_of
from lab.notation import PLAIN, Call, Expression, Leaf, leaves_of, number_text, parenthesize, pieces
from lab.records import cached_property
from lab.traces.program import Instructions
from visual.pictures.machine.content import MOST_ENTRIES, MOST_LINES, Equation, Ink, Number, Phrase
from visual.pictures.machine.places import NumberStyle, Numeral, PlacedEvents

CELL_DIGITS = 4  # the digits of a number in a cell
LONGEST = 48  # the maximum number of characters of a formula in a reason
MOST_FACTORS, LONGEST_FACTORS = 3, 66  # the maximum numbers of factors and of their characters
IN_SUMS = replace(PLAIN, operators={"Add": " + ", "Mul": " × "})
INKS = {SlotRole.PRESERVED: Ink.PRESERVED, SlotRole.OVERWRITTEN: Ink.OLD, SlotRole.READ: Ink.SAVED}
NEW_INKS = {SlotRole.WRITTEN: Ink.WRITTEN, SlotRole.RESTORED: Ink.PRESERVED}


@dataclass(frozen=True, eq=False)
class Operand:
    """A number on the right side of an equation: a leaf of the expression and its value."""

    leaf: Leaf
    value: np.ndarray
    ink: Ink
    term: int = 0  # the index of its summand; the old value follows the terms


# The right side of an equation; the expression is None if numbers cannot explain the equation.
RightSide = tuple[Expression | None, dict[Leaf, Operand]]


@dataclass(frozen=True, eq=False)
class Wording:
    """The sentences of a run. For an array, they show the entry with the index `entry`.

    If `entry` is None, they show the norm. In a machine of two runs, the sentences begin with the
    `sign` of the run.
    """

    events: EventSequence
    entry: int | None = None
    sign: str = ""

    @property
    def trace_events(self) -> Events:
        """The events of a trace. Raises AssertionError for an eager recording."""
        assert isinstance(self.events, Events)
        return self.events

    @cached_property
    def named(self) -> tuple[Quantities, ...]:
        """For each Scan, the names of its quantities."""
        return tuple(Quantities.each(self.trace_events.trace))

    def _index(self, value: np.ndarray) -> int | None:
        """Return the index of the entry that represents an array, or None for its norm."""
        if not np.ndim(value):
            return 0
        return None if self.entry is None or self.entry >= np.size(value) else self.entry

    def shown(self, value: np.ndarray) -> np.ndarray:
        """Return the entry that represents an array, or the array itself for its norm."""
        index = self._index(value)
        return value if index is None else np.asarray(np.ravel(value)[index])

    def number(self, value: np.ndarray | None) -> str:
        """Return the text of a value in its cell: a number, an entry of an array, or a norm."""
        if value is None:
            return ""
        if np.ndim(shown := self.shown(value)):
            size = number_text(np.linalg.norm(np.abs(value)), CELL_DIGITS - 1)
            return self._numeral(f"‖{size}‖", value, NumberStyle.NORM)
        return self._numeral(number_text(shown), value, NumberStyle.PLAIN)

    def _numeral(self, text: str, value: np.ndarray, style: NumberStyle) -> str:
        """Return a number as text, with its place if the events are `PlacedEvents`."""
        run = self.events
        place = run.place(value, self._index(value)) if isinstance(run, PlacedEvents) else None
        return text if place is None else Numeral(text, place, style)

    def is_zero(self, value: np.ndarray) -> bool:
        """Return whether a value is 0; in a page, whether it is 0 for all given values."""
        texts = [each.number(value) for each in self.each(value) or [self]]
        return not np.any(value) and not any(getattr(t, "place", 0) for t in texts)  # place 0: 0

    def each(self, value: np.ndarray | None, most: int = MOST_ENTRIES) -> list["Wording"]:
        """Return a `Wording` for each entry of an array with 2 to `most` entries; otherwise []."""
        size = 0 if value is None or self.entry is not None else np.size(value)
        return [replace(self, entry=n) for n in range(size)] if 1 < size <= most else []

    def scalar(self, value: np.ndarray | None) -> float | None:
        """Return the number that represents a value; None for a norm or a complex number."""
        if value is None or np.iscomplexobj(value) or np.ndim(shown := self.shown(value)):
            return None
        return shown.item()

    def ink(self, event: Event, read: Read | None) -> Ink:
        """Return the ink of a value that a sum reads."""
        if read is None:
            return Ink.SAVED
        is_same = any(w.role is SlotRole.RESTORED and w.slot == read.slot for w in event.writes)
        return Ink.PRESERVED if is_same else INKS.get(read.role, Ink.SAVED)

    def quantity(self, slot: Slot) -> str:
        """Return the quantity in a slot: ``dC/dx₂``, or the partial sum ``dC/dw so far``."""
        tape = self.trace_events.trace.scans[slot.scan].tape(slot.argument)
        is_partial = tape is not None and tape.is_total and slot.row + 1 < len(tape.final)
        return f"{slot.quantity} so far" if is_partial else slot.quantity

    def _bracket(self, value: np.ndarray) -> str:
        """Return the index of the shown entry of an array, such as ``[1]``, or "" without one."""
        index = self._index(value)
        if index is None or not np.ndim(value):
            return ""
        return f"[{', '.join(str(n) for n in np.unravel_index(index, value.shape))}]"

    def _left(self, write: Write) -> tuple[Phrase, ...]:
        """Return the left side of a sentence: the sign, if any, the quantity, and the new value.

        The ink of a new value is `WRITTEN` unless the step has read the old value.
        """
        ink = NEW_INKS.get(write.role, Ink.OVERWRITTEN)
        sign = (Phrase(f"{self.sign} "),) if self.sign else ()
        name = f"{self.quantity(write.slot)}{self._bracket(write.new)}:  "
        number = Number(self.number(write.new), ink, array=self.shown(write.new))
        return *sign, Phrase(name, Ink.NAME), number

    def equation(self, event: Event, write: Write) -> Equation:
        """Return the equation of a write: a sum, a formula, or a value that is written back."""
        if write.role is SlotRole.RESTORED:
            return Equation((*self._left(write), Phrase(" is written back unchanged")))
        expression, operands = (self._sum if write.terms else self._formula)(event, write)
        values = {leaf: self.scalar(operand.value) for leaf, operand in operands.items()}
        numbers = {leaf: number for leaf, number in values.items() if number is not None}
        new = self.scalar(write.new)
        if expression is None or new is None or len(numbers) < len(operands):
            return self._in_symbols(write)
        written = list[Operand]()  # a formula can contain a number more than once

        def mark(leaf: Leaf) -> str:
            written.append(operands[leaf])
            return "0"

        line: list[str | Operand] = [*pieces(expression, mark, IN_SUMS if write.terms else PLAIN)]
        line[1::2] = written
        short = line
        if (more := len(write.terms) - MOST_LINES + 1) > 1:  # a long sum
            first = [operand for operand in operands.values() if operand.term < MOST_LINES - 1]
            old = (" + ", [*operands.values()][-1]) if write.adds_old else ()
            short = [*line[: 2 * len(first)], f" + … {more} more terms", *old]
        finite = numbers if all(map(np.isfinite, map(float, numbers.values()))) else {}

        def right_value(digits: int) -> float | None:
            """Return the value of the right side for numbers that are printed with `digits`."""
            printed = {leaf: as_printed(n, digits) for leaf, n in finite.items()}
            return value_of(expression, (numbers | printed).__getitem__)

        def right_phrases(digits: int, line: Iterable[str | Operand]) -> Iterator[Phrase]:
            """Yield the texts and the numbers of the right side, with this number of digits."""
            for n, piece in enumerate(line):  # a sum starts with an empty text and an operand
                if isinstance(piece, Operand):
                    text = number_text(numbers[piece.leaf], digits)
                    style = NumberStyle.PLAIN if n == 1 and write.terms else NumberStyle.FACTOR
                    text = text if style is NumberStyle.PLAIN else parenthesize(text)
                    text = self._numeral(text, piece.value, style)
                    yield Number(text, piece.ink, array=self.shown(piece.value))
                elif piece:
                    yield Phrase(piece)

        digits = next((d for d in DIGITS if holds(new, right_value(d))), None)
        left, equal, close = self._left(write), Phrase(" = ", Ink.SIGN), Phrase(" ≈ ", Ink.SIGN)
        sign = equal if digits == CELL_DIGITS else close
        sentence = *left, sign, *right_phrases(CELL_DIGITS, short)
        if isinstance(left[-1].text, Numeral):
            constants = {leaf: ("constant", as_printed(number)) for leaf, number in numbers.items()}
            texts = ((operand.leaf, self.number(operand.value)) for operand in operands.values())
            inputs = {n: ("input", "", t.place) for n, t in texts if isinstance(t, Numeral)}
            right, reads = Instructions(), dict[Leaf, tuple[Any, ...]]({**constants, **inputs})
            right.term(expression, lambda leaf: right.add(*reads[leaf]))
            return Equation(sentence, check=tuple(right.lines))
        exact = right_phrases(digits or DIGITS[0 if right_value(4) is None else -1], line)
        return Equation(sentence, (*left, equal if digits else close, *exact))

    def _sum(self, event: Event, write: Write) -> RightSide:
        """Return a sum as products of numbers, or (None, {}) for a product of arrays."""
        products: list[list[tuple[np.ndarray, Ink]]] = []
        for term in write.terms:
            factor, source, ink = term.factor, term.source, self.ink(event, term.source)
            if factor is None and term.reads and np.ndim(write.new):
                return None, {}  # the numbers of one entry do not explain a product of arrays
            if factor is None or source is None:
                products.append([(term.value, Ink.PLAIN)])
            elif term.expression == ONE:
                products.append([(source.value, ink)])
            elif np.shape(factor) in ((), np.shape(source.value)):
                products.append([(source.value, ink), (factor, Ink.SAVED)])
            else:
                return None, {}
        if write.adds_old and write.old is not None:
            products.append([(write.old, Ink.OLD)])
        leaves = (Leaf("", None, n) for n in count())
        sides = [[Operand(next(leaves), *f, n) for f in each] for n, each in enumerate(products)]
        calls = (Call("Mul", tuple(operand.leaf for operand in product)) for product in sides)
        return Call("Add", tuple(calls)), {o.leaf: o for product in sides for o in product}

    def _formula(self, event: Event, write: Write) -> RightSide:
        """Return the formula of a forward write with its numbers; (None, {}) if it reads arrays."""
        if write.expression is None or any(np.ndim(read.value) for read in write.reads):
            return None, {}
        reads = zip(leaves_of(write.expression), write.reads, strict=True)
        operands = {leaf: Operand(leaf, r.value, INKS.get(r.role, Ink.SAVED)) for leaf, r in reads}
        return write.expression, operands

    def _in_symbols(self, write: Write) -> Equation:
        """Return the equation of a write with symbols instead of the numbers of the right side."""
        left = self._left(write)
        if write.expression is None:
            return Equation(left)
        reads = zip(leaves_of(write.expression), write.reads, strict=True)
        names = {leaf: r.slot.quantity if r.slot else r.name for leaf, r in reads}
        right = "".join(pieces(write.expression, names.__getitem__))
        bracket = self._bracket(write.new)
        right = f"({right}){bracket}" if bracket else right
        sign = " = " if bracket or not np.ndim(write.new) else " is the norm of "
        return Equation((*left, Phrase(sign), Phrase(right)), (Phrase(write.formula),))

    def reason(self, event: Event, write: Write) -> str:
        """Return the reason for a write, such as the differentiated forward step, or ""."""
        if event.step is None:
            return ""
        named = self.named[event.scan]
        parent = named.parent
        if parent is None:
            return f"{write.equation}."
        step, tape = parent.scan.steps - 1 - event.step, named.scan.tape(write.slot.argument)
        if step < 0 or tape is None:
            return ""
        scan = f"Scan {parent.number + 1}"
        index = None if tape.is_total else index_of(tape, write.slot.row)
        quantity = parent.quantity_name(tape.gradient_of, index) if tape.gradient_of else ""
        if write.role is SlotRole.RESTORED:
            adds = f"adds to {quantity or 'a slot'}: new = old + …, and no later step reads old."
            return f"Step {step} of {scan} {adds} The gradient of old is the gradient of new."
        held = parent.scan.buffers if parent.parent else ()
        unused = {tape.argument for tape in held if not (tape.used or tape.collects)}
        readers = [
            w
            for w in self.trace_events.step(parent.number, step).writes
            if w.slot.argument not in unused
            and any(r.variable == tape.gradient_of and r.index in (None, index) for r in w.reads)
        ]
        if not quantity or not readers:
            return ""
        others = ""
        # In a page, compare places instead of values: the reader can change the values.
        run = self.events.twins if isinstance(self.events, PlacedEvents) else self.trace_events
        old = run[event.number - 1].write(write.slot.argument, write.tap).old
        if write.adds_old and old is not None and np.any(old):
            seed = run.value(write.slot, run.timeline.event_number(event.scan, 0) - 1)
            start = "The old value contains " + "a seed, and " * bool(np.any(seed))
            others = f" {start}contributions of other readers of {quantity}."
            if seed is not None and np.array_equal(old, seed):
                others = f" The old value is a seed: {named.seeds}."
        elif write.adds_old and write.old is not None and write.old.ndim == 0:
            others = " The old value is 0."
        others += _local_derivatives(write, tape.is_total)
        if len(readers) == 1 and parent.parent is None and len(readers[0].equation) <= LONGEST:
            return f"{readers[0].equation} reads {quantity} (step {step} of {scan}).{others}"
        names = ", ".join(w.slot.quantity for w in readers[:3]) + (", …" if readers[3:] else "")
        does = f"adds to {names}" if names == quantity else f"reads {quantity} to compute {names}"
        return f"Step {step} of {scan} {does}.{others}"


def _local_derivatives(write: Write, is_total: bool) -> str:
    """Return a sentence with the local derivatives of a sum; "" for long or unnamed factors."""
    terms = [term for term in write.terms if term.factor is not None]
    # In a running total, the factor 1 can belong to the old value.
    named = (t for t in terms if leaves_of(t.expression) or (t.expression == ONE and not is_total))
    symbols = [*dict.fromkeys(term.symbols for term in named)] * (len(terms) == len(write.terms))
    if not 0 < len(symbols) <= MOST_FACTORS or sum(map(len, symbols)) > LONGEST_FACTORS:
        return ""
    return f" Local derivative{'s' * (len(symbols) > 1)}: {', '.join(symbols)}."
