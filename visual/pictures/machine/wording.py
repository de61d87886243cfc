"""The sentences of a machine: each sum in the digits and colors of its cells, and its reason.

    4.790 ≈ 2.327 × 1.629 + 1
    x₃ = x₂² reads x₂ (step 2 of Scan 1).

An equation has the sign ``=`` if the printed numbers agree to half a unit of the last digit,
otherwise ``≈``.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.events.events import Events, EventSequence
from lab.equations.events.records import Event, Read, Slot, SlotRole, Write
from lab.equations.numbers import DIGITS, as_printed, holds, value_of
from lab.equations.quantities import Quantities, index_of
from lab.notation import Call, Expression, Leaf, leaves_of, number_text, render
from lab.records import cached_property
from visual.pictures.machine.content import LISTED, MOST_ENTRIES, Equation, Ink, Phrase
from visual.pictures.machine.places import NumberStyle, Numeral, PlacedEvents, check_of

FOUR = 4  # the digits of a number in a cell
LONGEST = 48  # the most characters of a formula in a reason
MOST_FACTORS = 2  # the most factors in a reason
MARK = "\ue000"  # a private-use character before and after the number of a leaf in a formula
INKS = {SlotRole.PRESERVED: Ink.PRESERVED, SlotRole.OVERWRITTEN: Ink.OLD, SlotRole.READ: Ink.SAVED}


def parenthesize(number: str) -> str:
    """Return the text of a number, in parentheses if the number is negative, as in ``2 × (-1)``."""
    return f"({number})" if number.startswith("-") else number


@dataclass(frozen=True, eq=False)
class Operand:
    """A number on the right side of an equation: a leaf of the expression and its value."""

    leaf: Leaf
    value: np.ndarray
    ink: Ink
    style: NumberStyle = NumberStyle.FACTOR


RightSide = tuple[Expression, list[str | Operand]]  # an expression, and its text in pieces


@dataclass(frozen=True, eq=False)
class Wording:
    """The sentences of a run. For an array, they show the entry with the index `entry`.

    If `entry` is None, they show the norm.
    """

    events: EventSequence
    entry: int | None = None

    @property
    def run(self) -> Events:
        """The events of a trace. For an eager recording, the assertion fails."""
        assert isinstance(self.events, Events)
        return self.events

    @cached_property
    def named(self) -> tuple[Quantities, ...]:
        """For each Scan, the names of its quantities."""
        return tuple(Quantities.each(self.run.trace))

    def heading(self, event: Event) -> str:
        """Return the name of an event: ``Scan 2, step 1``, or ``Scan 2: its tape is filled``."""
        scan = f"Scan {event.scan + 1}"
        if event.step is None:
            return f"{scan}: its tape is filled"
        inside = "" if event.nested is None else "; this step contains Scans"
        return f"{scan}, step {event.step}{inside}"

    def _index(self, value: np.ndarray, entry: int | None = None) -> int | None:
        """Return the index of the entry that represents an array, or None if its norm does."""
        entry = self.entry if entry is None else entry
        if not np.ndim(value):
            return 0
        return None if entry is None or entry >= np.size(value) else entry

    def number(self, value: np.ndarray | None, entry: int | None = None) -> str:
        """Return the text of a value in its cell: a number, an entry of an array, or a norm."""
        if value is None:
            return ""
        index = self._index(value, entry)
        if index is None:
            size = number_text(np.linalg.norm(np.asarray(value, float)), FOUR - 1)
            return self._numeral(f"‖{size}‖", value, None, NumberStyle.NORM)
        return self._numeral(number_text(np.ravel(value)[index]), value, index)

    def _numeral(
        self,
        text: str,
        value: np.ndarray,
        entry: int | None,
        style: NumberStyle = NumberStyle.PLAIN,
    ) -> str:
        """Return a number as text, with its place if the events are `PlacedEvents`."""
        events = self.events
        place = events.place(value, entry) if isinstance(events, PlacedEvents) else None
        return text if place is None else Numeral(text, place, style)

    def entries(self, value: np.ndarray | None) -> tuple[str, ...]:
        """Return the numbers of a small array as texts, or () for other values or with `entry`."""
        if value is None or self.entry is not None or not 1 < np.size(value) <= MOST_ENTRIES:
            return ()
        return tuple(self.number(value, n) for n in range(np.size(value)))

    def each(self, value: np.ndarray) -> list["Wording"]:
        """Return a `Wording` for each entry of an array, if the cell lists the entries."""
        is_listed = self.entry is None and 1 < np.size(value) <= LISTED
        return [replace(self, entry=n) for n in range(np.size(value))] if is_listed else []

    def scalar(self, value: np.ndarray | None) -> float | None:
        """Return the number that represents a value, or None if the norm of an array does."""
        if value is None or (index := self._index(value)) is None:
            return None
        return np.ravel(value)[index].item()

    def ink(self, event: Event, read: Read | None) -> Ink:
        """Return the color of a value that a sum reads."""
        if read is None:
            return Ink.SAVED
        is_same = any(w.kind is SlotRole.RESTORED and w.slot == read.slot for w in event.writes)
        return Ink.PRESERVED if is_same else INKS.get(read.role, Ink.SAVED)

    def quantity(self, slot: Slot) -> str:
        """Return the quantity in a slot: ``dC/dx₂``, or the partial sum ``dC/dw so far``."""
        tape = self.run.trace.scans[slot.scan].tape(slot.argument)
        is_partial = tape is not None and tape.is_total and slot.row + 1 < len(tape.final)
        return f"{slot.quantity} so far" if is_partial else slot.quantity

    def _bracket(self, value: np.ndarray) -> str:
        """Return the index of the shown entry of an array, such as ``[1]``, or "" without one."""
        index = self._index(value)
        if index is None or not np.ndim(value):
            return ""
        return f"[{', '.join(str(n) for n in np.unravel_index(index, value.shape))}]"

    def _left(self, write: Write) -> tuple[Phrase, Phrase]:
        """Return the left side of a sentence: the quantity, and the new value.

        The ink of a new value is `WRITTEN` unless the step has read the old value.
        """
        inks = {SlotRole.WRITTEN: Ink.WRITTEN, SlotRole.RESTORED: Ink.PRESERVED}
        ink = inks.get(write.kind, Ink.OVERWRITTEN)
        name = f"{self.quantity(write.slot)}{self._bracket(write.new)}:  "
        return Phrase(name, Ink.NAME), Phrase(self.number(write.new), ink)

    def equation(self, event: Event, write: Write) -> Equation:
        """Return the equation of a write: a sum, a formula, or a value that is written back."""
        if write.kind is SlotRole.RESTORED:
            return Equation((*self._left(write), Phrase(" is written back unchanged")))
        right = self._sum(event, write) if write.terms else self._formula(event, write)
        expression, pieces = right or (None, [])
        operands = [piece for piece in pieces if isinstance(piece, Operand)]
        numbers = {operand.leaf: self.scalar(operand.value) for operand in operands}
        new = self.scalar(write.new)
        if expression is None or new is None or None in numbers.values():
            return self._in_symbols(event, write)
        known = {leaf: number for leaf, number in numbers.items() if number is not None}
        is_finite = all(map(np.isfinite, map(float, known.values())))

        def right_value(digits: int) -> float | None:
            """Return the value of the right side for numbers that are printed with `digits`."""
            texts = {leaf: number_text(number, digits) for leaf, number in known.items()}
            values = (
                {leaf: as_printed(text) for leaf, text in texts.items()} if is_finite else known
            )
            return value_of(expression, values.__getitem__)

        def right_phrases(digits: int) -> Iterator[Phrase]:
            """Yield the texts and the numbers of the right side, with this number of digits."""
            for piece in pieces:
                if isinstance(piece, str):
                    yield Phrase(piece)
                    continue
                text, value = number_text(known[piece.leaf], digits), piece.value
                text = text if piece.style is NumberStyle.PLAIN else parenthesize(text)
                numeral = self._numeral(text, value, self._index(value), piece.style)
                yield Phrase(numeral, piece.ink)

        result = number_text(new)
        digits = next((d for d in DIGITS if holds(result, right_value(d))), None)
        left = self._left(write)
        sign = Phrase(" = " if digits == FOUR else " ≈ ", Ink.SIGN)
        exact = "".join(phrase.text for phrase in right_phrases(digits or DIGITS[-1]))
        leaves = {operands[n].leaf: n for n in reversed(range(len(operands)))}
        return Equation(
            (*left, sign, *right_phrases(FOUR)),
            f"{left[0].text.rstrip(': ')} = {result} {'=' if digits else '≈'} {exact}",
            check_of(expression, leaves) if isinstance(self.events, PlacedEvents) else (),
        )

    def _sum(self, event: Event, write: Write) -> RightSide | None:
        """Return the right side of a sum as products of numbers, or None for products of arrays."""
        products: list[list[tuple[np.ndarray, Ink]]] = []
        for term in write.terms:
            factor, source, ink = term.factor, term.source, self.ink(event, term.source)
            if factor is None and term.reads and np.ndim(write.new):
                return None  # the numbers of one entry do not explain a product of arrays
            if factor is None or source is None:
                products.append([(term.value, ink)])
            elif term.symbols == "1":
                products.append([(source.value, ink)])
            elif np.shape(factor) in ((), np.shape(source.value)):
                products.append([(source.value, ink), (factor, Ink.SAVED)])
            else:
                return None
        if write.adds_old and write.old is not None:
            products.append([(write.old, Ink.OLD)])
        calls, pieces, count = list[Call](), list[str | Operand](), itertools.count()
        for product in products:
            leaves = [Leaf("", None, next(count)) for _ in product]
            for n, (leaf, (value, ink)) in enumerate(zip(leaves, product, strict=True)):
                pieces += [" × " if n else " + "] if pieces else []
                style = NumberStyle.FACTOR if pieces else NumberStyle.PLAIN
                pieces.append(Operand(leaf, value, ink, style))
            calls.append(Call("Mul", tuple(leaves)))
        return Call("Add", tuple(calls)), pieces

    def _formula(self, event: Event, write: Write) -> RightSide | None:
        """Return the right side of a forward write in numbers, or None if it reads arrays."""
        expression = self._expression(event, write)
        if expression is None or any(np.ndim(read.value) for read in write.reads):
            return None
        reads = zip(leaves_of(expression), write.reads, strict=False)
        operands = [Operand(leaf, r.value, INKS.get(r.role, Ink.SAVED)) for leaf, r in reads]
        numbers = {operand.leaf: f"{MARK}{n}{MARK}" for n, operand in enumerate(operands)}
        line = render(expression, numbers.__getitem__)
        pieces = [  # texts and numbers alternate
            operands[int(piece)] if n % 2 else piece for n, piece in enumerate(line.split(MARK))
        ]
        return expression, [piece for piece in pieces if piece]

    def _expression(self, event: Event, write: Write) -> Expression | None:
        """Return the formula of a write, whose leaves are the reads, or None for filling a tape."""
        target = write.slot.argument, write.tap
        formulas = () if event.step is None else self.run.trace.scans[event.scan].formulas
        return next(
            (f.expression for f in formulas if (f.target.argument, f.target.tap) == target), None
        )

    def _in_symbols(self, event: Event, write: Write) -> Equation:
        """Return the equation of a write with symbols instead of the numbers of the right side."""
        left, expression = self._left(write), self._expression(event, write)
        if expression is None:
            return Equation(left)
        names = {
            leaf: read.name if read.slot is None else read.slot.quantity
            for leaf, read in zip(leaves_of(expression), write.reads, strict=True)
        }
        right, bracket = render(expression, names.__getitem__), self._bracket(write.new)
        right = f"({right}){bracket}" if bracket else right
        sign = " = " if bracket or not np.ndim(write.new) else " is the norm of "
        return Equation((*left, Phrase(sign), Phrase(right)), write.formula)

    def reason(self, event: Event, write: Write) -> str:
        """Return the reason for a write, such as the forward step that the write differentiates."""
        if event.step is None:
            return ""
        named = self.named[event.scan]
        parent, formula = named.parent, write.formula.replace(" ← ", " = ")
        if parent is None:
            return f"{formula}."
        step, tape = parent.scan.steps - 1 - event.step, named.scan.tape(write.slot.argument)
        if step < 0 or tape is None:
            return ""
        scan = f"Scan {parent.number + 1}"
        index = None if tape.is_total else index_of(tape, write.slot.row)
        quantity = parent.quantity_name(tape.gradient_of, index) if tape.gradient_of else ""
        if write.kind is SlotRole.RESTORED:
            return (
                f"Step {step} of {scan} adds to {quantity or 'a slot'}: the gradient of the old "
                "value equals that of the new value, and no later step read the old value."
            )
        readers = [
            w
            for w in self.run.step(parent.number, step).writes
            if any(quantity in (r.name, r.slot and r.slot.quantity) for r in w.reads)
        ]
        if not quantity or not readers:
            return ""
        others = ""
        if write.adds_old and write.old is not None and np.any(write.old):
            others = f" The old value contains the contributions of other readers of {quantity}."
            if np.array_equal(write.old, tape.initial[write.slot.row]):
                others = f" The old value is the direct contribution to {write.slot.quantity}."
        others += _local_derivatives(write)
        formula = readers[0].formula.replace(" ← ", " = ")
        if len(readers) == 1 and parent.parent is None and len(formula) <= LONGEST:
            return f"{formula} reads {quantity} (step {step} of {scan}).{others}"
        names = ", ".join(w.slot.quantity for w in readers[:3]) + (", …" if readers[3:] else "")
        return f"Step {step} of {scan} reads {quantity} to compute {names}.{others}"


def _local_derivatives(write: Write) -> str:
    """Return a sentence with the local derivatives of a sum, or "" for constants or many terms."""
    terms = [term for term in write.terms if term.factor is not None]
    symbols = [*dict.fromkeys(term.symbols for term in terms if leaves_of(term.expression))]
    if not 0 < len(symbols) <= MOST_FACTORS or sum(map(len, symbols)) > LONGEST:
        return ""
    return f" Local derivative{'s' * (len(symbols) > 1)}: {', '.join(symbols)}."
