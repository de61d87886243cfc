"""Numbers in texts, followed to what has made them, so that a page can make them anew.

    >>> followed([texts_of(picture.svg()) for picture in pictures], known)   # of the same loop
    {9: [Slot(place=3, digits=4)], …}

The pictures are of a few values of a loop.  What is written in them differs in its numbers alone,
and each stands for the instruction of the run's program whose result it was every time.  So
whatever prints numbers can be followed, and nothing has to tell how it does.  An equation chooses
its digits by itself (see `lab.equations.numbers`) and is followed as a whole.  What no instruction
makes is None.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lab.equations.numbers import digits_of_sum
from lab.equations.quantities import Quantities
from lab.equations.sentences import Arrival, StepOf, sentence, terms_of
from lab.equations.story import Stories
from lab.errors import GraphError
from lab.notation import Expression, Leaf, leaves_of, number_text, text
from lab.records import cached_property
from lab.traces.flow import Value, adds_old
from lab.traces.program import Instruction, Instructions, Program, pairs
from lab.traces.trace import Formula, Trace

MARK, FIRST = "\ue000", "\ue100"  # for the leaves of a formula, while it is written
TEXTS = re.compile(r"<(?:text|title|desc)\b[^>]*>([^<]*)<")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
APART = re.compile(r"(?<=·)\((-[\d.e+-]+)\)|(?<![^\W\d_])\((-[\d.e+-]+)\)(?=·)")  # a factor
EXACT, ENTRIES = -12, -6  # instead of digits: those of tooltips, which end without zeros
FACTOR = 104  # four digits, and parentheses where it is negative
STYLES = (4, EXACT, ENTRIES, 3, 2)


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
    """A number as a picture has it: with so many digits, or by `EXACT` and `ENTRIES`."""
    if digits == EXACT:
        return repr(float(value))
    return f"{value:.6g}" if digits == ENTRIES else number_text(value, digits)


def texts_of(svg: str) -> list[str]:
    """All that is written in a picture, in the order of its elements."""
    return [html.unescape(one) for one in TEXTS.findall(svg)]


class Known:
    """The values of a program in several runs, and which of its places has which of them."""

    def __init__(self, program: Program, runs: Sequence[Trace]) -> None:
        self.program, self.runs = program, runs
        self._values: dict[int, list[float]] = {}
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
        for one, value in zip((places, *places), (values, *values), strict=True):
            if value.ndim and value.size:
                squares = [
                    self.program.instructions.add("Sqr", int(place)) for place in one.ravel()
                ]
                norm = self.program.instructions.add(
                    "sqrt", self.program.instructions.add("Add", *squares)
                )
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
        if adds_old(formula) and places.named.parent is not None:
            self._sentence(formula, places, steps)

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
        bounds = [(float(t) - _unit(t), float(t) + _unit(t)) for t in tokens]
        low, high = bounds[0]
        found = self._sorted[bisect_left(self._first, low) : bisect_right(self._first, high)]
        near = None
        for values, place in found:
            if all(low <= v <= high for v, (low, high) in zip(values, bounds, strict=True)):
                pairs = [*zip(values, tokens, strict=True)]
                for style in STYLES:
                    if all(printed(v, style) == token for v, token in pairs):
                        return Slot(place, style)
                near = near or Slot(place, 4)
        return near

    def parts(self, words: Sequence[str]) -> Parts:
        """A word of several runs as its letters and its slots by turns."""
        if len(set(words)) == 1:
            return [words[0]]
        words = [APART.sub(r"\1\2", word) for word in words]
        letters = [NUMBER.split(word) for word in words]
        if any(one != letters[0] for one in letters) or letters[0][0] == "±":  # the largest of some
            return [words[0] if any("…" in word for word in words) else None]
        parts: Parts = [letters[0][0]]
        tokens = zip(*map(NUMBER.findall, words), strict=True)
        for token, (before, after) in zip(tokens, pairwise(letters[0]), strict=True):
            multiplied = after[:1] == "·" or (before[-1:] == "·" and words[0] != before + token[0])
            if len(set(token)) == 1:
                parts += [_apart(token[0], multiplied), after]
                continue
            slot = self.slot(token)
            if slot is not None and slot.digits == 4 and multiplied:
                slot = Slot(slot.place, FACTOR)
            parts += [slot, after]
        return parts


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
        self.right = [*self._told(told, factors, digits)]
        self.computed = Instructions()
        slots = iter(range(len(places)))
        terms = [[self.computed.add("input", "", next(slots)) for _ in range(n)] for n in shape]
        self.computed.add("Add", *(self.computed.add("Mul", *term) for term in terms))

    def _told(
        self,
        told: Sequence[str],
        factors: Sequence[Sequence[float]],
        digits: Sequence[int | None],
    ) -> Iterator[str | tuple[int, bool]]:
        """Words and slots by turns; -1 is what the sum makes, which comes last."""
        plain = [APART.sub(r"\1\2", one) for one in told]
        words, tokens = NUMBER.split(plain[0]), [*zip(*map(NUMBER.findall, plain), strict=False)]
        numbers = [*zip(*factors, strict=True)]
        waiting = [*range(len(numbers))]
        for count, token in enumerate(tokens):
            yield words[count]
            multiplied = "·" in (words[count][-1:], words[count + 1][:1])
            pairs = [(n, zip(numbers[n], digits, token, strict=True)) for n in waiting]
            fits = [n for n, one in pairs if all(number_text(v, d or 4) == t for v, d, t in one)]
            if count == len(tokens) - 1:
                yield -1, False
            elif fits and (len(set(token)) > 1 or len(waiting) == len(numbers)):
                waiting.remove(fits[0])
                yield fits[0], multiplied
            else:
                yield _apart(token[0], multiplied)
        yield words[-1]


def followed(texts: Sequence[Sequence[str]], known: Known) -> dict[int, Parts]:
    """The texts of the first run that have other numbers in others, as parts.

    Words may stand in another line where numbers are longer.  Parts are words, a slot, or an
    equation and which of its words.  GraphError if it is more than numbers that differs.
    """
    streams = [[word for one in run for word in one.split(" ")] for run in texts]
    if len({*map(len, streams)}) > 1:
        raise GraphError(
            "With other values this picture says other things, not only other numbers."
        )
    in_equation = _equations(streams, known)
    found: dict[int, Parts] = {}
    start = 0
    for number, one in enumerate(texts[0]):
        parts: Parts = []
        count = len(one.split(" "))
        for at in range(start, start + count):
            words = [stream[at] for stream in streams]
            parts += [in_equation[at]] if at in in_equation else known.parts(words)
            parts.append(" " if at < start + count - 1 else "")
        start += count
        if any(not isinstance(part, str) for part in parts):
            found[number] = _joined(parts)
    return found


def _equations(streams: Sequence[Sequence[str]], known: Known) -> dict[int, Part]:
    """Which words are those of an equation: its number, and that of the word."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(streams[0]):
        places.setdefault(word, []).append(at)
    found: dict[int, Part] = {}
    for number, equation in enumerate(known.equations):
        count = len(equation.words[0])
        for at in places.get(equation.words[0][0], ()):
            pairs = zip(streams, equation.words, strict=True)
            if all(list(stream[at : at + count]) == words for stream, words in pairs):
                found |= {at + word: Words(number, word, word + 1) for word in range(count)}
    return found


def _joined(parts: Parts) -> Parts:
    """The same parts, with letters together, and the words of an equation."""
    found: Parts = []
    for part in parts:
        match [*found, ""], part:
            case [*_, str(before), _], str(letters):
                found[-1] = before + letters
            case [*_, Words() as before, " ", _], Words() as after if _goes_on(before, after):
                found[-2:] = [Words(before.equation, before.first, after.end)]
            case _ if part != "":
                found.append(part)
    return found


def _goes_on(before: Words, after: Words) -> bool:
    return (before.equation, before.end) == (after.equation, after.first)


def data(
    known: Known, texts: Mapping[int, Parts], stories: Mapping[int, Parts]
) -> dict[str, object]:
    """What a page gets: the instructions that it needs, and what is written of their numbers."""
    parts = [part for one in (*texts.values(), *stories.values()) for part in one]
    used = sorted({part.equation for part in parts if isinstance(part, Words)})
    equations = [known.equations[number] for number in used]
    wanted = {part.place for part in parts if isinstance(part, Slot)}
    for equation in equations:
        wanted |= {equation.left, *equation.places}
    lines, waiting = known.program.instructions.lines, [*wanted]
    while waiting:  # what they are computed from
        name, *operands = lines[waiting.pop()]
        fresh = set() if name in ("constant", "input") else {*map(int, operands)} - wanted
        wanted |= fresh
        waiting += fresh
    at = {place: number for number, place in enumerate(sorted(wanted))}

    def packed(place: int) -> Instruction:
        name, *operands = lines[place]
        is_given = name in ("constant", "input")
        return (name, *(one if is_given else at[int(one)] for one in operands))

    def filled(part: Part) -> Part:
        match part:
            case Slot(place, digits):
                return Slot(at[place], digits)
            case Words(equation, first, end):
                return Words(used.index(equation), first, end)
        return part

    return {
        "lines": [packed(place) for place in at],
        "equations": [equation.data(at.__getitem__) for equation in equations],
        "texts": [[n, [*map(filled, one)]] for n, one in texts.items()],
        "stories": [[n, [*map(filled, one)]] for n, one in stories.items()],
    }
