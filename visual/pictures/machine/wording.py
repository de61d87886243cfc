"""The sentences of a machine: each sum in the digits and colors of its cells, and its reason.

    4.790 ≈ 2.327 × 1.629 + 1
    x₃ = x₂² reads x₂ (step 2 of Scan 1).

An equation has ``=`` if it holds to half a unit of its last digit as printed, else ``≈``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import Event, Read, Role, Write, WriteKind
from lab.equations.numbers import digits_of_sum
from lab.equations.quantities import Quantities, cost_name
from lab.equations.spelling import Speller
from lab.notation import leaves_of, number_text, text
from lab.records import cached_property
from lab.traces.trace import Formula, TapeTrace
from visual.pictures.machine.content import Ink, Piece

FOUR = 4  # digits of a number in a cell
LONGEST = 48  # characters of a formula in a reason
MARK, END = "\ue000", "\ue001"  # private-use characters: where a value stands in a formula
INKS = {Role.PRESERVED: Ink.PRESERVED, Role.OVERWRITTEN: Ink.OLD, Role.READ: Ink.SAVED}


def shown(value: np.ndarray | None, entry: int | None = None, digits: int = FOUR) -> str:
    """Return the text of a value in a cell: a number, one entry of an array, or its norm."""
    if value is None:
        return ""
    value = np.asarray(value)
    if value.ndim == 0:
        return number_text(value, digits)
    if entry is not None and entry < value.size:
        return number_text(value.ravel()[entry], digits)
    return f"‖{number_text(np.linalg.norm(np.asarray(value, float)), digits - 1)}‖"


def bracketed(number: str) -> str:
    """Return a number as a factor or a later term: negative ones in parentheses."""
    return f"({number})" if number.startswith("-") else number


@dataclass(frozen=True, eq=False)
class Wording:
    """The sentences of one run; `entry` is the entry of arrays that numbers follow."""

    events: Events
    entry: int | None = None

    @cached_property
    def named(self) -> tuple[Quantities, ...]:
        """The names of the quantities of each Scan."""
        return tuple(Quantities.each(self.events.trace))

    def scan_name(self, scan: int) -> str:
        """Return ``square`` or ``gradient of C′ through 1`` for the Scan with an index."""
        named = self.named[scan]
        if named.parent is None:
            return named.scan.name
        cost = cost_name(named.scan.order)
        several = any(scan.order > 1 for scan in self.events.trace.scans)
        return f"∇{cost} through {named.parent.number + 1}" if several else f"gradient of {cost}"

    def heading(self, event: Event) -> str:
        """Return ``Scan 2, step 1``, or that its tape is filled."""
        scan = f"Scan {event.scan + 1}"
        return f"{scan}: its tape is filled" if event.step is None else f"{scan}, step {event.step}"

    def formula_of(self, event: Event, write: Write) -> Formula | None:
        """Return the formula by which a step writes a slot."""
        formulas = self.events.trace.scans[event.scan].formulas
        target = write.slot.argument, write.tap
        return next((f for f in formulas if (f.target.argument, f.target.tap) == target), None)

    def number(self, value: np.ndarray | None, digits: int = FOUR) -> str:
        """Return a value as its cell shows it."""
        return shown(value, self.entry, digits)

    def scalar(self, value: np.ndarray | None) -> float | None:
        """Return the number that a cell shows; None for the norm of an array."""
        if value is None or (
            np.ndim(value) and (self.entry is None or self.entry >= np.size(value))
        ):
            return None
        return float(np.ravel(value)[self.entry or 0 if np.ndim(value) else 0])

    def ink(self, event: Event, read: Read | None) -> Ink:
        """Return the color of a value that a sum reads."""
        if read is None:
            return Ink.SAVED
        kept = any(w.kind is WriteKind.RESTORED and w.slot == read.slot for w in event.writes)
        return Ink.PRESERVED if kept else INKS.get(read.role, Ink.SAVED)

    def factors(self, event: Event, write: Write) -> list[list[tuple[float, Ink]]] | None:
        """Return the sum as products of numbers with their colors; None if it is not one."""
        products: list[list[tuple[float, Ink]]] = []
        for term in write.terms:
            value = self.scalar(term.value)
            if value is None:
                return None
            factor, source = term.factor, term.source
            if factor is None or source is None:
                products.append([(value, self.ink(event, source))])
                continue
            pair = self.scalar(source.value), self.scalar(factor)
            if None in pair or np.shape(factor) not in ((), np.shape(source.value)):
                return None
            ink = self.ink(event, source)
            products.append([(float(pair[0] or 0), ink), (float(pair[1] or 0), Ink.SAVED)])
        old = self.scalar(write.old)
        if write.adds_old and old is not None:
            products.append([(old, Ink.OLD)])
        return products

    def sum_of(self, event: Event, write: Write) -> tuple[tuple[Piece, ...], str]:
        """Return the sentence of a write, and the same with as many digits as make it exact."""
        name = Piece(f"{write.slot.quantity}:  ", Ink.NAME)
        if write.kind is WriteKind.RESTORED:
            value = Piece(self.number(write.new), Ink.PRESERVED)
            return (name, value, Piece(" is written back unchanged")), ""
        products = self.factors(event, write)
        new = self.scalar(write.new)
        if not write.terms or products is None or new is None:
            return self._formula(event, write, name)
        numbers = [[number for number, _ in product] for product in products]
        digits = digits_of_sum(new, numbers)
        pieces = [name, Piece(self.number(write.new), Ink.WRITTEN)]
        pieces.append(Piece(" = " if digits == FOUR else " ≈ "))
        pieces += self._products(products, FOUR)
        sign = "=" if digits else "≈"
        right = "".join(piece.text for piece in self._products(products, digits or 17))
        return tuple(pieces), f"{write.slot.quantity} = {self.number(write.new)} {sign} {right}"

    def _products(self, products: list[list[tuple[float, Ink]]], digits: int) -> Iterator[Piece]:
        for n, product in enumerate(products):
            if n:
                yield Piece(" + ")
            for k, (number, ink) in enumerate(product):
                if k:
                    yield Piece(" × ")
                written = number_text(number, digits)
                yield Piece(bracketed(written) if n or k else written, ink)

    def _formula(self, event: Event, write: Write, name: Piece) -> tuple[tuple[Piece, ...], str]:
        """Return the formula of a forward write in numbers, or of arrays in symbols."""
        formula = self.formula_of(event, write)
        new = Piece(self.number(write.new), Ink.WRITTEN)
        if formula is None or event.step is None:
            return (name, new), ""
        values = dict(zip(leaves_of(formula.expression), write.reads, strict=False))
        is_array = np.ndim(write.new) or any(np.ndim(read.value) for read in values.values())
        if is_array:
            right = write.formula.partition("←")[2].strip() or write.formula
            norm = " is the norm of " if np.ndim(write.new) and self.entry is None else " = "
            return (name, new, Piece(norm), Piece(right)), write.formula
        spelled = Speller(self.named[event.scan]).numbers(formula, event.step)
        marks = {leaf: n for n, leaf in enumerate(values)}
        line = text(formula.expression, lambda leaf: f"{MARK}{marks[leaf]}{END}")
        pieces = [name, new, Piece(" = " if self._holds(spelled) else " ≈ ")]
        pieces += self._filled(line, list(values.values()))
        return tuple(pieces), f"{write.slot.quantity} = {spelled}" if spelled else ""

    def _holds(self, spelled: str) -> bool:
        """Whether four digits make an equation true: no number of it needed more."""
        return " = " in spelled and all(
            sum(c.isdigit() for c in word.lstrip("-0.")) <= FOUR
            for word in spelled.replace("(", " ").replace(")", " ").replace("·", " ").split()
        )

    def _filled(self, line: str, reads: Sequence[Read]) -> Iterator[Piece]:
        for n, chunk in enumerate(line.split(MARK)):
            mark, _, rest = chunk.partition(END) if n else ("", "", chunk)
            if mark:
                read = reads[int(mark)]
                yield Piece(bracketed(self.number(read.value)), INKS.get(read.role, Ink.SAVED))
            if rest:
                yield Piece(rest)

    def reason(self, event: Event, write: Write) -> str:
        """Return why a backward step writes this: the forward step that it passes back through."""
        if event.step is None:
            return ""
        named = self.named[event.scan]
        parent = named.parent
        if parent is None:
            return f"{write.formula.replace(' ← ', ' = ')}."
        step = parent.scan.steps - 1 - event.step
        tape = named.scan.tape(write.slot.argument)
        if step < 0 or tape is None:
            return ""
        scan = f"Scan {parent.number + 1}"
        if write.kind is WriteKind.RESTORED:
            return (
                f"Step {step} of {scan} adds to this slot: the gradient of the old value equals "
                "that of the new one, and no later step read the old value."
            )
        held = self._quantity(parent, tape, write.slot.row)
        readers = [w for w in self.events.step(parent.number, step).writes if _reads(w, held)]
        if not held or not readers:
            return ""
        formula = readers[0].formula.replace(" ← ", " = ")
        if len(readers) == 1 and parent.parent is None and len(formula) <= LONGEST:
            return f"{formula} reads {held} (step {step} of {scan})."
        written = [w.slot.quantity for w in readers]
        names = ", ".join(written[:3]) + (", …" if len(written) > 3 else "")
        return f"Step {step} of {scan} reads {held} to compute {names}."

    def _quantity(self, parent: Quantities, tape: TapeTrace, row: int) -> str:
        """Return the quantity of the parent whose gradient a slot accumulates."""
        if tape.gradient_of is None:
            return ""
        return parent.quantity_name(
            tape.gradient_of, None if tape.is_total else index_at(tape, row)
        )


def index_at(tape: TapeTrace, row: int) -> int | None:
    """Return the index in time of a row."""
    return None if tape.axis is None else int(tape.axis.index[row])


def _reads(write: Write, name: str) -> bool:
    return any(
        name in (read.name, "" if read.slot is None else read.slot.quantity) for read in write.reads
    )
