"""What a page needs to compute the numbers of a picture anew, from other values of its loop.

The picture is drawn for a few values besides its own.  The texts that then differ are `Texts`, in
which every number stands for the one instruction of the run's program that has made it every time:
so whatever prints numbers can be followed, and nothing has to tell how.  A number that no
instruction makes raises GraphError, which says that the page cannot compute it.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace

import numpy as np

from lab.equations.quantities import Quantities
from lab.equations.sentences import StepOf
from lab.equations.numbers import DIGITS
from lab.errors import GraphError
from lab.notation import Expression, Leaf, leaves_of, number_text, text
from lab.traces.flow import adds_old
from lab.traces.program import Program, program_of
from lab.traces.trace import Trace

TEXTS = re.compile(r"<(?:text|title|desc)\b[^>]*>([^<]*)<")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e-?\d+)?")
NEAR = (1.031, 0.957, 1.0173)  # times the values of the loop, and of its entries more and more
SLOT = "\ue000"  # before the number of a slot, while a formula is written
FULL, SIX = 12, 6  # digits of numbers in tooltips, which end without zeros
EXACT, ENTRIES = -FULL, -SIX  # how a slot tells of them


def printed(value: float, digits: int) -> str:
    """A number as a picture has it: with so many digits, or by `EXACT` and `ENTRIES`."""
    if digits == EXACT:
        return repr(float(value))
    return f"{value:.6g}" if digits == ENTRIES else number_text(value, digits)


def pairs(numbers: object, run: object) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The places and the values of all arrays of numbers, of two traces of the same run."""
    if isinstance(run, np.ndarray):
        if run.dtype.kind in "fb" and isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
            yield numbers.astype(int), run.astype(float)
    elif isinstance(run, tuple) and isinstance(numbers, tuple):
        for one, other in zip(numbers, run, strict=True):
            yield from pairs(one, other)
    elif is_dataclass(run) and type(run) is type(numbers):
        for field in fields(run):
            yield from pairs(getattr(numbers, field.name), getattr(run, field.name))


class Found:
    """The values of a program in several runs, and which place has which of them."""

    def __init__(self, program: Program, runs: Sequence[Trace]) -> None:
        self.program, self.runs = program, runs
        self.values: dict[int, list[float]] = {}
        for number, run in enumerate(runs):
            for places, values in pairs(program.numbers, run):
                for place, value in zip(places.ravel().tolist(), values.ravel().tolist()):
                    self._know(place, number, value)
                if values.ndim:
                    self._norms(number, places, values)
        self._factors()
        self.by_text: dict[tuple[str, ...], tuple[int, int]] = {}
        for digits in (*reversed(DIGITS[1:]), 2, 3, ENTRIES, EXACT, 4):
            for place, known in self.values.items():
                if len(known) == len(runs):
                    self.by_text[tuple(printed(v, digits) for v in known)] = (place, digits)

    def _know(self, place: int, run: int, value: float) -> None:
        known = self.values.setdefault(place, [])
        if len(known) == run:
            known.append(value)

    def _norms(self, run: int, places: np.ndarray, values: np.ndarray) -> None:
        """Of arrays, those are printed."""
        for one, value in zip((places, *places), (values, *values), strict=True):
            if value.ndim and value.size:
                squares = [self.program.add("Sqr", int(place)) for place in one.ravel()]
                norm = self.program.add("sqrt", self.program.add("Add", *squares))
                self._know(norm, run, float(np.sqrt(np.sum(value**2))))

    def _factors(self) -> None:
        """What multiplies a slot on its way, and the products, which are nowhere in a run."""
        for number, run in enumerate(self.runs):
            for scan in range(len(run.scans)):
                named = Quantities(run, scan), Quantities(self.program.numbers, scan)
                for step in range(run.scans[scan].steps):
                    self._factors_at(number, *(StepOf(one, step) for one in named))

    def _factors_at(self, run: int, one: StepOf, places: StepOf) -> None:
        def place(leaf: Leaf) -> int:
            value = places.value(leaf)
            if value is None or value.ndim:
                raise GraphError(f"{leaf.variable} is no number.")
            return int(value)

        for formula in one.named.scan.formulas:
            for arrival in one.arrivals(formula):
                if arrival.number is not None and arrival.factor is not None:
                    at = self.program.term(arrival.factor, place)
                    self._know(at, run, arrival.number)

    def slot(self, tokens: tuple[str, ...]) -> tuple[int, int]:
        """The place whose value is printed so in all runs, and with how many digits."""
        if tokens not in self.by_text:
            raise GraphError(f"{tokens[0]} is computed for the picture alone.")
        return self.by_text[tokens]

    def template(self, texts: Sequence[str]) -> list[object] | None:
        """A text as its words and its slots by turns; None for one that is always the same."""
        if len(set(texts)) == 1:
            return None
        words = [NUMBER.split(one) for one in texts]
        if any(one != words[0] for one in words):
            raise GraphError(f"{texts[0]!r}: with other values it has other words.")
        tokens = zip(*map(NUMBER.findall, texts), strict=True)
        parts: list[object] = [words[0][0]]
        for token, after in zip(tokens, words[0][1:], strict=True):
            if len(set(token)) == 1:
                parts[-1] = f"{parts[-1]}{token[0]}{after}"
            else:
                parts += [list(self.slot(token)), after]
        return parts


def texts_of(svg: str) -> list[str]:
    """All that is written in a picture, in the order of its elements."""
    return [html.unescape(one) for one in TEXTS.findall(svg)]
