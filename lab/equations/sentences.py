"""What a step does, in sentences: what a slot held, what arrives in it, and why it is added.

    >>> sentences(Quantities(trace, 1), step=1)[0]
    'buf[2] held 0: nothing had arrived. The step adds buf[1]·2·x₂ (1.327·1.629), since …'

The reason is the rule of the reverse derivative: what a step of a loop read and did not replace has
other readers, whose parts are added; what it replaced has no later reader.
"""

from dataclasses import dataclass

import numpy as np

from lab.equations.factors import factor_of, rest_of, without_names
from lab.equations.numbers import digits_of_sum, value_of
from lab.equations.quantities import Quantities, index_of
from lab.equations.spelling import Speller
from lab.notation import Call, Leaf, Term, leaves_of, number_text, summands_of, text
from lab.traces.flow import adds_old
from lab.traces.touched import Touched
from lab.traces.trace import Formula, SequenceTrace, TapeTrace

FOUR = 4  # digits of a number
LONGEST_PRODUCT = 36  # letters; what is longer stands in the formula only


@dataclass(frozen=True)
class Arrival:
    """What comes from one slot to the slot that a formula writes, and what multiplies it.

    `factor` is None where that is no single factor, and `number` where it is none of numbers.
    """

    read: Leaf
    factor: Term | None
    number: float | None


@dataclass(frozen=True)
class Rest:
    """The terms of a sum in which nothing stands on a tape: written, and their sum."""

    written: str
    number: float | None


@dataclass(frozen=True, eq=False)
class StepOf:
    """Step number `step` of a Scan: what its formulas read, write and add up."""

    named: Quantities
    step: int

    @property
    def spell(self) -> Speller:
        """Writes its formulas."""
        return Speller(self.named)

    def touched(self, tape: TapeTrace) -> Touched:
        """What the step does to one tape."""
        return Touched(tape, self.step)

    def row(self, leaf: Leaf) -> int:
        """The row of a tape that a leaf stands for."""
        tape = self.tape(leaf)
        return tape.tape.row(self.step, leaf.tap or 0) if tape.tape.reads else self.step

    def tape(self, leaf: Leaf) -> TapeTrace:
        """The tape of a leaf; LookupError for what has none."""
        tape = self.named.scan.tape(leaf.argument)
        if tape is None:
            raise LookupError(leaf)
        return tape

    def value(self, leaf: Leaf) -> np.ndarray | None:
        """What a leaf is when the step reads it."""
        return self.spell.value(leaf, self.step)

    def made(self, formula: Formula) -> np.ndarray:
        """What a formula makes."""
        return self.made_at(self.tape(formula.target), self.row(formula.target))

    def made_at(self, tape: TapeTrace, row: int) -> np.ndarray:
        """What the step writes into a row."""
        return self.touched(tape).written[row].values[self.step]

    def arrivals(self, formula: Formula) -> list[Arrival]:
        """What comes to the slot that a formula writes from every slot that it reads."""
        leaves = filter(self.is_held, leaves_of(formula.expression))
        return [self.arrival(formula, leaf) for leaf in leaves]

    def brought(self, formula: Formula) -> list[Arrival]:
        """What comes from other slots."""
        return [a for a in self.arrivals(formula) if _slot(a.read) != _slot(formula.target)]

    def rest(self, formula: Formula) -> Rest | None:
        """What a formula adds that comes from no slot, but from what the step reads besides."""
        body = without_names(formula.expression)
        whole = None if body is None else rest_of(body, self.is_held)
        if whole is None:
            return None
        written = text(whole, lambda leaf: self.spell.position(leaf, self.step))
        return Rest(written, self._worth(whole))

    def _worth(self, term: Term) -> float | None:
        """What a term is worth at this step; None where arrays take part."""
        used: dict[Leaf, float] = {}
        for leaf in leaves_of(term):
            value = self.value(leaf)
            if value is None or value.ndim:
                return None
            used[leaf] = float(value)
        return value_of(term, used.__getitem__)

    def is_held(self, leaf: Leaf) -> bool:
        """Whether a leaf stands for a slot of a tape."""
        return self.named.scan.tape(leaf.argument) is not None

    @property
    def step_above(self) -> int | None:
        """The step of the parent that this one goes back through."""
        parent = self.named.parent
        step = -1 if parent is None else parent.scan.steps - 1 - self.step
        return step if step >= 0 else None

    def arrival(self, formula: Formula, leaf: Leaf) -> Arrival:
        """What comes to the slot that a formula writes from one that it reads."""
        is_linear = self.named.scan.parent is not None  # a loop may do anything with its values
        factor = factor_of(formula.expression, leaf) if is_linear else None
        of_numbers = factor is not None and self._worth(leaf) is not None
        return Arrival(leaf, factor, self._worth(factor) if factor and of_numbers else None)

    def factor(self, arrival: Arrival) -> str:
        """``2·x₁``, or in parentheses where it is a sum; empty where there is no factor."""
        whole = self.product(arrival, "")
        return whole.removeprefix("·") if whole else ""

    def becomes(self, formula: Formula, read: Leaf, called: str = "▢") -> str:
        """``Wᵀ @ (▢·(1 − h₄²))``: what becomes of a slot ▢ in a formula."""
        return " + ".join(
            text(t, lambda leaf: called if leaf == read else self.spell.position(leaf, self.step))
            for t in self._terms(formula)
            if read in leaves_of(t)
        )

    def added(self, formula: Formula) -> str:
        """``outer(buf[0]·(1 − h₄²), h₃)``: all that a formula makes, but what the slot held."""
        return " + ".join(
            text(t, lambda leaf: self.spell.position(leaf, self.step))
            for t in self._terms(formula)
            if not self._is_old(t, formula)
        )

    def worth_added(self, formula: Formula) -> float | None:
        """What that is worth; None where arrays take part."""
        terms = (term for term in self._terms(formula) if not self._is_old(term, formula))
        return self._worth(Call("Add", tuple(terms)))

    def keeps(self, formula: Formula) -> bool:
        """Whether it adds to what its slot held, on a tape or in a running total."""
        return any(self._is_old(term, formula) for term in self._terms(formula))

    def _is_old(self, term: Term, formula: Formula) -> bool:
        if not isinstance(term, Leaf) or term.argument != formula.target.argument:
            return False
        return self.tape(term).is_total or term.tap == formula.target.tap

    def _terms(self, formula: Formula) -> tuple[Term, ...]:
        return summands_of(without_names(formula.expression) or formula.expression)

    def product(self, arrival: Arrival, read: str | None = None) -> str:
        """``buf[0]·2·x₁``, or with another name for the slot; empty where there is no factor."""
        if arrival.factor is None:
            return ""

        def position(leaf: Leaf) -> str:
            renamed = read if leaf == arrival.read else None
            return self.spell.position(leaf, self.step) if renamed is None else renamed

        return text(Call("Mul", (arrival.read, arrival.factor)), position)

    @property
    def main(self) -> Formula:
        """The formula that most slots come together in: first on tapes, then in totals."""

        def rank(formula: Formula) -> tuple[bool, bool, int]:
            tape = self.tape(formula.target)
            values = (self.value(arrival.read) for arrival in self.arrivals(formula))
            full = sum(bool(np.any(value != 0)) for value in values if value is not None)
            return bool(tape.tape.reads) and not tape.is_total, adds_old(formula), full

        return max(self.named.scan.formulas, key=rank)


def sentences(named: Quantities, step: int) -> tuple[str, ...]:
    """All that a step writes, a text for each, first of what most comes together in."""
    one = StepOf(named, step)
    return tuple(sentence(one, formula) for formula in by_rank(one))


def by_rank(one: StepOf) -> list[Formula]:
    """The formulas of a step, first the one that most comes together in."""
    return sorted(one.named.scan.formulas, key=lambda formula: formula is not one.main)


def _slot(leaf: Leaf) -> tuple[int, int | None]:
    return leaf.argument, leaf.tap


def sentence(one: StepOf, formula: Formula) -> str:
    """What a formula writes at a step, and why."""
    tape, place = one.tape(formula.target), one.spell.position(formula.target, one.step)
    made = one.made(formula)
    if one.named.scan.parent is None:
        here = f"Step {one.step} of Scan {one.named.number + 1}"
        return f"{here} makes {place}{_with(' = ', made)}{_sources(one, formula)}."
    if tape.is_total:
        held = _with(" held ", tape.reads[0].values[one.step])
        now = f"{held} and holds{_with(' ', made)} now" if held else ""
        does = "adds" if one.keeps(formula) else "makes of it"
        return f"{place}{now}: the step {does} {one.added(formula)}."
    if not tape.tape.reads:
        number = _with(" = ", made) or f" = {one.added(formula)}"
        return f"{place}{number} comes out; no other step adds to it."
    brought = one.brought(formula)
    if adds_old(formula) and brought:
        rest = one.rest(formula)
        terms = terms_of(one, formula, brought, rest)
        digits = FOUR if terms is None else digits_of_sum(float(one.made(formula)), terms)
        held = _held(one, tape, one.row(formula.target), digits or FOUR)
        parts = [_part(one, formula, arrival, digits or FOUR) for arrival in brought]
        if rest is not None:
            number = "" if rest.number is None else f" ({number_text(rest.number, digits or FOUR)})"
            parts.append(f"{rest.written}{number}")
        since = _reason(one, formula, [arrival.read for arrival in brought])
        number = _with(" " if digits else " about ", made)
        leaves = f"; it leaves{number}" if number else ""
        return f"{place} held{held}. The step adds {joined(parts)}{since}{leaves}."
    written = "is handed on as it is" if adds_old(formula) else "is written anew"
    return f"{place}{_with(' = ', made)} {written}; nothing is added{_rule(one, formula)}."


def _sources(one: StepOf, formula: Formula) -> str:
    """Of a loop: what a value is made from, and which step had made that."""
    told = []
    for leaf in leaves_of(formula.expression):
        variable, origin = one.named.scan.variable(leaf), "given"
        if isinstance(variable, TapeTrace) and leaf.tap is not None:
            last = one.touched(variable).last_write(one.row(leaf))
            here = f"Scan {one.named.number + 1}"
            origin = origin if last is None else f"made by step {last[1]} of {here}"
        elif not isinstance(variable, SequenceTrace):
            continue
        elif variable.taken is not None:
            origin = f"made by Scan {variable.taken.scan + 1}"
        name = one.spell.position(leaf, one.step)
        told.append(f"{name}{_with(' = ', one.value(leaf))} ({origin})")
    return f" from {joined(told)}" if told else ""


def terms_of(
    one: StepOf, formula: Formula, brought: list[Arrival], rest: Rest | None
) -> list[tuple[float, ...]] | None:
    """The products that a slot becomes the sum of: what it held, what comes; None of arrays."""
    tape, made = one.tape(formula.target), one.made(formula)
    before = one.touched(tape).before(one.row(formula.target))
    numbers = [(one.value(arrival.read), arrival.number) for arrival in brought]
    known = [(float(v), n) for v, n in numbers if v is not None and n is not None and not v.ndim]
    if before is None or before.ndim or made.ndim or len(known) < len(numbers):
        return None
    if rest and rest.number is None:
        return None
    return [(float(before),), *known, *([(rest.number,)] if rest and rest.number else [])]


def _held(one: StepOf, tape: TapeTrace, row: int, digits: int) -> str:
    """What a slot held, and how all of that had got there."""
    ways, step = [], one.step
    while (last := Touched(tape, step).last_write(row)) is not None:
        access, step = last
        earlier = StepOf(one.named, step)
        target = (tape.argument, access.tap)
        formula = next(f for f in one.named.scan.formulas if _slot(f.target) == target)
        if brought := earlier.brought(formula):
            names = [_whose(one.named, earlier.tape(a.read), earlier.row(a.read)) for a in brought]
            through = f" through {joined(names)}" if all(names) else ""
            ways.append(f"arrived{through} at step {step} of Scan {one.named.number + 1}")
        if not adds_old(formula):
            break
    else:
        if np.any(tape.initial[row] != 0):
            direct = one.named.direct_label(tape, row) if tape.gradient_of is not None else ""
            scans = joined([f"Scan {n + 1}" for n in one.named.seeded_by(tape.argument)])
            origin = f"came from {scans}" if scans else "was there from the start"
            ways.append(f"{origin}{direct and f' as {direct}'}")
    if not ways:
        return " 0: nothing had arrived"
    number = _with(" ", one.touched(tape).before(row), digits)
    return f"{f'{number}, which' if number else ' what'} {joined(ways[::-1])}"


def _part(one: StepOf, formula: Formula, arrival: Arrival, digits: int) -> str:
    """``buf[0]·2·x₁ (1.9·1.805)``, without numbers where there are none."""
    value, product = one.value(arrival.read), one.product(arrival)
    if arrival.number is None or value is None:
        return one.becomes(formula, arrival.read, one.spell.position(arrival.read, one.step))
    factor = number_text(arrival.number, digits)
    factor = f"({factor})" if factor.startswith("-") else factor
    numbers = f"{number_text(value, digits)}·{factor}"
    return f"{product} ({numbers})" if len(product) <= LONGEST_PRODUCT else numbers


def _reason(one: StepOf, formula: Formula, reads: list[Leaf]) -> str:
    """``since x₂ went into x₃ at step 2 of Scan 1``; empty unless the loop's formulas say so."""
    parent, step = one.named.parent, one.step_above
    if parent is None or step is None:
        return ""
    held = _origin(one, formula.target)
    names = []
    for read in reads:
        into = _origin(one, read)
        uses = (
            held in {_place(parent, leaf, step) for leaf in leaves_of(above.expression)}
            for above in parent.scan.formulas
            if _place(parent, above.target, step) == into
        )
        if None in (*held, *into) or not any(uses):
            return ""
        names.append(parent.quantity_name(*into))
    name = parent.quantity_name(*held)
    return f", since {name} went into {joined(names)} at step {step} of Scan {parent.number + 1}"


def _origin(one: StepOf, leaf: Leaf) -> tuple[str, int | None]:
    """The quantity of the parent whose gradient stands in a slot: a variable, and its index."""
    tape = one.tape(leaf)
    return tape.gradient_of or "", index_of(tape, one.row(leaf))


def _place(named: Quantities, leaf: Leaf, step: int) -> tuple[str, int | None]:
    """A variable, and the index in time of what a leaf stands for at a step."""
    variable = named.scan.variable(leaf)
    if not isinstance(variable, TapeTrace) or leaf.tap is None:
        return leaf.variable, None
    return leaf.variable, index_of(variable, StepOf(named, step).row(leaf))


def _whose(named: Quantities, tape: TapeTrace, row: int) -> str:
    """The quantity whose gradient a row holds."""
    index = index_of(tape, row)
    if named.parent is None or tape.gradient_of is None or index is None:
        return ""
    return named.parent.quantity_name(tape.gradient_of, index)


def _rule(one: StepOf, formula: Formula) -> str:
    """Why nothing is added where a slot is overwritten."""
    parent, step = one.named.parent, one.step_above
    gradient_of, tap = one.tape(formula.target).gradient_of, -(formula.target.tap or 0)
    if parent is None or step is None:
        return ""
    for above in parent.scan.tapes:
        if above.name == gradient_of and tap in above.tape.overwritten:
            place = parent.place(above, above.tape.row(step, tap))
            return (
                f", for step {step} of Scan {parent.number + 1} replaced what stood in its "
                f"{place}: no later step read the old value"
            )
    return ""


def joined(parts: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _with(before: str, value: np.ndarray | None, digits: int = FOUR) -> str:
    """A number, with what stands before it; nothing of an array."""
    return "" if value is None or value.ndim else f"{before}{number_text(value, digits)}"
