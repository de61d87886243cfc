"""Scales from bottom to top: what numbers they hold, where one stands, and names of curves."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from lab.notation import number_text
from visual.scene.fonts import text_width
from visual.scene.shapes import Polyline, Shape, Text

ROOM, SMALL = 46.0, 11.0  # for a label
MOST_TICKS = 4
BETWEEN, LEADER = 13.0, 16.0  # lines of names; from the end of a curve to its name
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, of values divided by `unit`, or of their decimal logarithms.

    On a log axis zeros stand at the bottom, one decade below everything else.
    """

    low: float
    high: float
    unit: float = 1.0
    log: bool = False

    def at(self, values: np.ndarray) -> np.ndarray:
        """Where values stand, from 0 to 1; nan for what has no place."""
        with np.errstate(divide="ignore", invalid="ignore"):
            held = np.log10(values) if self.log else values / self.unit
        if self.log:
            held = np.where(values == 0, self.low, held)
        shares = (np.where(np.isfinite(held), held, np.nan) - self.low) / (self.high - self.low)
        return 0.06 + 0.88 * shares

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round numbers of the scale, where they stand, and how they are written."""
        step = nice((self.high - self.low) / MOST_TICKS, whole=self.log)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        numbers = [round(number * step, 15) for number in range(first, last + 1)]
        for number, words in zip(numbers, self._labels(numbers), strict=True):
            yield 0.06 + 0.88 * (number - self.low) / (self.high - self.low), words

    def _labels(self, numbers: list[float]) -> list[str]:
        """With digits that tell neighbours apart, or, without room, what is beyond the first."""
        if self.log:
            return ["10" + str(round(number)).translate(SUPERSCRIPTS) for number in numbers]
        for digits in range(4, 16):
            words = [short_text(number * self.unit, digits) for number in numbers]
            if len(set(words)) == len(words):
                break
        fits = max(text_width(w, SMALL) for w in words or [""]) <= ROOM
        if fits or len(numbers) < 2 or not numbers[0]:  # beyond 0, nothing is shorter
            return words
        beyond = [short_text((number - numbers[0]) * self.unit, 2) for number in numbers]
        return [short_text(numbers[0] * self.unit, 3), *(f"… +{w}" for w in beyond[1:])]


def short_text(value: float, digits: int) -> str:
    """A number with so many digits, with an exponent where that is shorter."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return min(number_text(value, digits), f"{mantissa}e{int(exponent)}", key=len)


def nice(length: float, whole: bool = False) -> float:
    """The smallest of 1, 2, 5, 10 … that is no smaller than `length`; `whole`, at least 1."""
    power = 10.0 ** math.floor(math.log10(length))
    found = next(m * power for m in (1, 2, 5, 10) if m * power >= length * (1 - 1e-9))
    return max(1.0, found) if whole else found


def whole_ticks(first: int, last: int, most: float) -> range:
    """Round whole numbers from `first` to `last`, at most so many."""
    step = int(nice(max(1.0, (last - first) / most), whole=True))
    return range(-(-first // step) * step, last + 1, step)


def scale_of(series: Sequence[np.ndarray], log: bool = False) -> Scale:
    """The scale that holds all finite values of `series`, and on a log axis all positive ones."""
    values = np.concatenate([*series, np.zeros(0)])
    values, zeros = values[np.isfinite(values)], bool((values == 0).any())
    if log:
        ends = np.log10(_ends(values[values > 0], 1.0))
        low, high = math.floor(ends[0] + 1e-9), math.ceil(ends[1] - 1e-9)
        return Scale(low - zeros, max(high, low + 1), log=True)  # with room for the marks of zeros
    low, high = _ends(values, 0.0)
    largest = max(abs(low), abs(high))
    unit = 10.0 ** max(math.floor(math.log10(largest)), -300) if largest else 1.0
    low, high = low / unit, high / unit
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        room = abs(high) / 2 or 1.0
        low, high = low - room, high + room
    return Scale(low, high, unit)


def _ends(values: np.ndarray, otherwise: float) -> np.ndarray:
    return np.array([values.min(), values.max()] if len(values) else [otherwise] * 2)


def named_ends(
    ends: Iterable[tuple[tuple[float, float], str]], right: float, bottom: float
) -> Iterator[Shape]:
    """What curves are called that end there, one below the other at the right, joined to them."""
    ends = sorted(ends, key=lambda end: end[0][1])
    lows = accumulate((y for (_, y), _ in ends), lambda above_it, y: max(y, above_it + BETWEEN))
    clear = accumulate((bottom, *reversed([*lows])), lambda below, y: min(y, below - BETWEEN))
    for ((x, own), name), y in zip(ends, reversed([*clear][1:]), strict=True):
        if (x, y) != (right - LEADER, own):
            yield Polyline(((x + 3, own), (right - 3, y)), faded=True)
        yield Text(right, y + 4, name, SMALL)
