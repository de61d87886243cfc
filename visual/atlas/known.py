"""What is known of a few runs of a loop: which instruction has made a number, or an equation.

Start with `Known`: a number as it is printed in several runs is the `Slot` of the instruction
whose result it was every time.  An `Equation` chooses its digits by itself (see
`lab.equations.numbers`), and is known as a whole.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from lab.equations.entries import Entry
from lab.equations.numbers import digits_of_sum
from lab.equations.quantities import Quantities
from lab.equations.sentences import Arrival, StepOf, sentence, terms_of
from lab.equations.story import Stories
from lab.errors import GraphError
from lab.notation import Expression, Leaf, leaves_of, number_text, text
from lab.records import cached_property
from lab.traces.flow import Value, adds_old
from lab.traces.program import Instructions, Program, pairs
from lab.traces.trace import Formula, Trace
from visual.layout.cells import entry_text

MARK, FIRST = "\ue000", "\ue100"  # for the leaves of a formula, while it is written
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
APART = re.compile(r"(?<=·)\((-[\d.e+-]+)\)|(?<![^\W\d_])\((-[\d.e+-]+)\)(?=·)")  # a factor
EXACT, ENTRIES = -12, -6  # instead of digits: those of tooltips, which end without zeros
EXACTLY = 1e-12  # of a number: how far off what was divided and multiplied may be
GAP = "\u00a0"  # between a norm and a shape, which there is not room for everywhere
FACTOR = 104  # four digits, and parentheses where it is negative
LETTERS = 200  # and so many of them, with as many of four digits as they have room for
STYLES = (4, EXACT, ENTRIES)


class Slot(NamedTuple):
    """A number: the place of the instruction that makes it, and with how many digits."""

    place: int
    digits: int


class Words(NamedTuple):
    """Some words of an equation, by its number."""

    equation: int
    first: int
    end: int


Part = str | None | Slot | Words
Parts = list[Part]


def printed(value: float, digits: int) -> str:
    """A number as a picture has it: with so many digits, or by `EXACT`, `ENTRIES`, `LETTERS`."""
    if digits == EXACT:
        return repr(float(value) or 0.0)
    if digits > LETTERS:
        written = (number_text(value, some) for some in (4, 3))
        return next((w for w in written if len(w) <= digits - LETTERS), number_text(value, 2))
    return entry_text(value) if digits == ENTRIES else number_text(value, digits)


class Known:
    """The values of a program in several runs, and which of its places has which of them."""

    def __init__(self, program: Program, runs: Sequence[Trace]) -> None:
        self.program, self.runs = program, runs
        self._values: dict[int, list[float]] = {}
        self.scales: list[tuple[int | None, Sequence[float]]] = []  # that wait to be written
        self.equations: list[Equation] = []
        for number, run in enumerate(runs):
            for places, values in pairs(program.numbers, run):
                self._learn(places.ravel().tolist(), number, values.ravel().tolist())
                if values.ndim:
                    self._norms(number, places, values)
        self._formulas()

    @cached_property
    def _sorted(self) -> list[tuple[list[float], int]]:
        """The values of all runs, and where they are."""
        every = len(self.runs)
        return sorted((values, at) for at, values in self._values.items() if len(values) == every)

    @cached_property
    def _first(self) -> list[float]:
        return [values[0] for values, _ in self._sorted]

    def contributions(self, value: Value) -> None:
        """Learn what a value contributes to results, which its story tells."""
        for (_, share), *of_runs in zip(
            self._places.shares(value), *(one.shares(value) for one in self._stories), strict=True
        ):
            number = self._places.number(value)
            if number is None or number.ndim:
                return
            at = self.program.instructions.add("Mul", int(share), int(number))
            for run, (_, factor) in enumerate(of_runs):
                told = self._stories[run].number(value)
                self._learn([at], run, [factor * float(0.0 if told is None else told)])
        self.__dict__.pop("_sorted", None)
        self.__dict__.pop("_first", None)

    @cached_property
    def _stories(self) -> list[Stories]:
        return [Stories(run) for run in self.runs]

    @cached_property
    def _places(self) -> "PlaceStories":
        return PlaceStories(self.program.numbers, self.program.instructions)

    def _learn(self, places: Sequence[int], run: int, values: Sequence[float]) -> None:
        for place, value in zip(places, values, strict=True):
            known = self._values.setdefault(place, [])
            if len(known) == run:
                known.append(value)

    def _norms(self, run: int, places: np.ndarray, values: np.ndarray) -> None:
        """Of arrays, those are printed."""
        add = self.program.instructions.add
        for one, value in zip((places, *places), (values, *values), strict=True):
            if value.ndim and value.size:
                squares = [add("Sqr", int(place)) for place in one.ravel()]
                norm = add("sqrt", add("Add", *squares))
                self._learn([norm], run, [float(np.sqrt(np.sum(value**2)))])

    def _formulas(self) -> None:
        """What multiplies a slot on its way, which is nowhere in a run; and the equations."""
        for number, scan in enumerate(self.program.numbers.scans):
            places = Quantities(self.program.numbers, number)
            of_runs = [Quantities(run, number) for run in self.runs]
            for step in range(scan.steps):
                steps = [StepOf(named, step) for named in of_runs]
                for formula in scan.formulas:
                    self._formula(formula, StepOf(places, step), steps)

    def _formula(self, formula: Formula, places: StepOf, steps: Sequence[StepOf]) -> None:
        place = partial(_place, places)
        arrivals = [step.arrivals(formula) for step in steps]
        for alike in zip(*arrivals, strict=True):
            if alike[0].factor is not None and all(one.number is not None for one in alike):
                at = self.program.instructions.term(alike[0].factor, place)
                for run, one in enumerate(alike):
                    self._learn([at], run, [one.number or 0.0])
        written = [step.spell.numbers(formula, step.step) for step in steps]
        if all(written):
            left = int(places.made(formula))
            self.equations.append(Equation(left, formula.expression, place, written))
        elif entries := [*filter(None, (step.spell.entry(formula, step.step) for step in steps))]:
            self._entry(formula, places, entries)
        if adds_old(formula) and places.named.parent is not None:
            self._sentence(formula, places, steps)

    def _entry(self, formula: Formula, places: StepOf, entries: Sequence[Entry]) -> None:
        """The entry of an array that is worked out."""
        first = entries[0]

        def place(leaf: Leaf) -> int:
            whole, index = first.parts[leaf]
            values = places.value(whole)
            if values is None:
                raise GraphError(f"{leaf.variable} is no number.")
            return int(values[index])

        if len(entries) == len(self.runs):
            left = int(places.made(formula)[first.index])
            written = [entry.written for entry in entries]
            self.equations.append(Equation(left, first.term, place, written))

    def _sentence(self, formula: Formula, places: StepOf, steps: Sequence[StepOf]) -> None:
        """What is told of a sum, with as many digits as make it true."""
        sums = [terms_of(s, formula, s.brought(formula), s.rest(formula)) for s in steps]
        known = [terms for terms in sums if terms]
        if len(known) < len(steps) or len({*map(len, known)}) > 1 or len(known[0]) < 2:
            return
        flat = [[factor for term in terms for factor in term] for terms in known]
        made = [float(step.made(formula)) for step in steps]
        digits = [digits_of_sum(left, terms) for left, terms in zip(made, known, strict=True)]
        told = [sentence(step, formula) for step in steps]
        held = places.touched(places.tape(formula.target)).before(places.row(formula.target))
        at, place = [0 if held is None else int(held)], partial(_place, places)
        for arrival in places.brought(formula):
            if arrival.factor is not None:
                at += [place(arrival.read), self.program.instructions.term(arrival.factor, place)]
        if len(at) == len(flat[0]) and None not in digits:  # there is no rest besides
            shape = [len(term) for term in known[0]]
            left = int(places.made(formula))
            self.equations.append(Sentence(left, at, shape, told, flat, digits))

    def slot(self, tokens: Sequence[str]) -> Slot | None:
        """The place whose value is printed so in all runs, and how."""
        near = None
        for values, place in self._within([(float(t), _unit(t)) for t in tokens]):
            pairs = [*zip(values, tokens, strict=True)]
            for style in (*STYLES, LETTERS + max(map(len, tokens)), 3, 2):
                if all(printed(v, style) == token for v, token in pairs):
                    return Slot(place, style)
            near = near or Slot(place, 4)
        return near

    def _within(self, middles: Sequence[tuple[float, float]]) -> Iterator[tuple[list[float], int]]:
        """The places whose values are, in every run, not further from these than so much."""
        (middle, away), first = middles[0], self._first
        some = slice(bisect_left(first, middle - away), bisect_right(first, middle + away))
        for values, place in self._sorted[some]:
            if all(abs(v - m) <= away for v, (m, away) in zip(values, middles, strict=True)):
                yield values, place

    def place(self, values: Sequence[float]) -> int | None:
        """The place that has these values in all runs; None if there is none."""
        if len(set(values)) == 1 and np.isfinite(values[0]):
            return self.program.instructions.add("constant", values[0])
        found = self._within([(value, EXACTLY * abs(value)) for value in values])
        return next((place for _, place in found), None)

    def scale(self, places: Sequence[int | None], values: Sequence[float]) -> int | None:
        """The place of what the full colour of patches stands for; None if one is not known."""
        known = [place for place in dict.fromkeys(places) if place is not None]
        at = None if None in places else self.program.instructions.add("largest", *known)
        self.scales.append((at, values))
        return at

    def written_scale(self, tokens: Sequence[str]) -> Slot | None:
        """The first of the scales that wait which is printed so, and waits no more.

        They are written in the order in which they were found, and several may be one number.
        """
        for number, (place, values) in enumerate(self.scales):
            if [*map(number_text, values)] == [*tokens]:
                del self.scales[number]
                return None if place is None else Slot(place, 4)
        return None

    def parts(self, words: Sequence[str]) -> Parts:
        """A word of several runs as its letters and its slots by turns."""
        is_scale = words[0].startswith("±")  # the same while the same entry is the largest
        if len(set(words)) == 1 and not is_scale:
            return [words[0]]
        written, words = words, [APART.sub(r"\1\2", word) for word in words]
        if {word.count("‖") for word in words} == {2} and any(word[-1] == "‖" for word in words):
            words = [word[: word.rfind("‖") + 1] for word in words]  # some lack room for the shape
        letters = [NUMBER.split(word) for word in words]
        if len({"".join(one).replace(GAP, "") for one in letters}) > 1:
            return [words[0] if any("…" in word for word in words) else None]
        parts: Parts = [letters[0][0]]
        tokens = zip(*map(NUMBER.findall, words), strict=True)
        for token, (before, after) in zip(tokens, pairwise(letters[0]), strict=True):
            multiplied = _is_factor((before, after), token, written)
            multiplied = multiplied and words[0] != before + token[0]
            if len(set(token)) == 1 and not is_scale:
                parts += [_apart(token[0], multiplied), after]
                continue
            slot = (self.written_scale if is_scale else self.slot)(token)
            if slot is not None and slot.digits == 4 and multiplied:
                slot = Slot(slot.place, FACTOR)
            parts += [slot, after]
        return parts


def _is_factor(around: tuple[str, str], token: Sequence[str], written: Sequence[str]) -> bool:
    """Whether a number gets parentheses where it is negative, as a factor that is not the first.

    What was written shows it if it was negative there, else what stands around it.
    """
    runs = zip(token, written, strict=True)
    shown = [f"({number})" in one for number, one in runs if number[0] == "-"]
    before, after = around
    is_first = before[-1:] == "(" and after[:1] == "·"
    return all(shown) if shown else not is_first and "·" in (before[-1:], after[:1])


def _apart(number: str, multiplied: bool) -> str:
    """A number, in parentheses where it is a factor and negative."""
    return f"({number})" if multiplied and number.startswith("-") else number


def _unit(token: str) -> float:
    """Half a unit of the last digit of a number, and a little more."""
    mantissa, _, exponent = token.partition("e")
    return 0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _place(places: StepOf, leaf: Leaf) -> int:
    value = places.value(leaf)
    if value is None or value.ndim:
        raise GraphError(f"{leaf.variable} is no number.")
    return int(value)


@dataclass(frozen=True, eq=False)
class PlaceStories(Stories):
    """The stories of places instead of numbers: their shares are places, too."""

    instructions: Instructions

    @property
    def whole(self) -> float:
        """The place of 1."""
        return self.instructions.add("constant", 1.0)

    def times(self, share: float, one: StepOf, arrival: Arrival) -> float:
        """The place of a product."""
        assert arrival.factor is not None
        factor = self.instructions.term(arrival.factor, partial(_place, one))
        return self.instructions.add("Mul", int(share), factor)

    def total(self, parts: Sequence[float]) -> float:
        """The place of a sum."""
        return self.instructions.add("Add", *map(int, parts)) if parts else 0


class Equation:
    """An equation in numbers: what is left of it, and what is right, as text and to compute."""

    def __init__(
        self, left: int, right: Expression, place: Callable[[Leaf], int], written: Sequence[str]
    ) -> None:
        self.words = [one.split(" ") for one in written]
        self.left, self.leaves = left, leaves_of(right)
        self.places = [place(leaf) for leaf in self.leaves]
        self.number = {leaf: number for number, leaf in enumerate(self.leaves)}
        self.right = [*self._parts(right)]
        self.computed = Instructions()
        self.computed.term(right, lambda leaf: self.computed.add("input", "", self.number[leaf]))

    def _parts(self, right: Expression) -> Iterator[str | tuple[int, bool]]:
        """Words and slots by turns; of a slot, whether a minus gets parentheses around it.

        That is seen by writing both.
        """
        plain, signed = (
            re.split(f"{sign}{MARK}(.)", text(right, partial(self._mark, sign)))
            for sign in ("", "-")
        )
        opened = False
        for words, other, mark in zip(plain[::2], signed[::2], [*plain[1::2], ""], strict=True):
            yield words
            if mark:
                opened = (other.removeprefix(")") if opened else other) == f"{words}("
                yield ord(mark) - ord(FIRST), opened

    def _mark(self, sign: str, leaf: Leaf) -> str:
        return f"{sign}{MARK}{chr(ord(FIRST) + self.number[leaf])}"

    def data(self, at: Callable[[int], int]) -> list[object]:
        """For a page, which has the instructions elsewhere."""
        told = isinstance(self, Sentence)
        return [at(self.left), [at(p) for p in self.places], self.right, self.computed.lines, told]


class Sentence(Equation):
    """What is told of a sum: ``buf[1] held 0. The step adds buf[0]·2·x₃ (1·1.327), …``."""

    def __init__(
        self,
        left: int,
        places: list[int],
        shape: Sequence[int],
        told: Sequence[str],
        factors: Sequence[Sequence[float]],
        digits: Sequence[int | None],
    ) -> None:
        self.words = [one.split(" ") for one in told]
        self.left, self.places = left, places
        firsts = {*accumulate(shape, initial=0)}  # of a product: others get parentheses
        self.right = [*self._told(told, factors, digits, firsts)]
        self.computed = Instructions()
        slots = iter(range(len(places)))
        terms = [[self.computed.add("input", "", next(slots)) for _ in range(n)] for n in shape]
        self.computed.add("Add", *(self.computed.add("Mul", *term) for term in terms))

    def _told(
        self,
        told: Sequence[str],
        factors: Sequence[Sequence[float]],
        digits: Sequence[int | None],
        firsts: set[int],
    ) -> Iterator[str | tuple[int, bool]]:
        """Words and slots by turns; -1 is what the sum makes, which comes last."""
        plain = [APART.sub(r"\1\2", one) for one in told]
        words, tokens = NUMBER.split(plain[0]), [*zip(*map(NUMBER.findall, plain), strict=False)]
        numbers = [*zip(*factors, strict=True)]
        waiting = [*range(len(numbers))]
        for count, token in enumerate(tokens):
            yield words[count]
            pairs = [(n, zip(numbers[n], digits, token, strict=True)) for n in waiting]
            fits = [n for n, one in pairs if all(number_text(v, d or 4) == t for v, d, t in one)]
            if count == len(tokens) - 1:
                yield -1, False
            elif fits and (len(set(token)) > 1 or len(waiting) == len(numbers)):
                waiting.remove(fits[0])
                yield fits[0], fits[0] not in firsts
            else:
                yield _apart(token[0], f"({token[0]})" in told[0])
        yield words[-1]
