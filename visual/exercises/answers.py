"""Questions and answers as plain data, checked in Python and in pages without Python.

>>> task.check("pos 2")
Wrong. Position 2 is tap 0 of this step: …
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from numbers import Real
from typing import ClassVar

import numpy as np

from lab.errors import check_integer, quote
from visual.scene.shapes import Scene

TRY = "the number of the try, from 1"
LONGEST = 120  # the maximum number of characters in a text, or of numbers in another answer
NAMES = re.compile(r"\b(?:positions?|pos|slots?|taps?|steps?|buf|and|scans?)\b|[\[\](),;=]", re.I)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?", re.I)
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


class AnswerOutcome(StrEnum):
    """The outcome of a check. Only the outcome WRONG counts as a wrong try."""

    RIGHT = "right"
    WRONG = "wrong"
    UNREADABLE = "not understood"


@dataclass(frozen=True, repr=False)
class AnswerVerdict:
    """The outcome of a check, and the reason. A notebook shows a verdict as text."""

    outcome: AnswerOutcome
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.outcome is AnswerOutcome.RIGHT

    def __repr__(self) -> str:
        is_unreadable = self.outcome is AnswerOutcome.UNREADABLE
        return self.reason if is_unreadable else f"{self.outcome.value.capitalize()}. {self.reason}"


@dataclass(frozen=True)
class ExerciseTask:
    """A question, the `right` numbers, the feedback to wrong answers, and two pictures.

    `expected` is the instruction for the reader. If not `is_set`, an answer is a single number. An
    answer may differ from a number by `tolerance`. The feedback to each wrong try ends with the
    next hint, and after the last hint with `working`. `working` also explains a right answer.
    `mistakes` maps wrong numbers to feedback, and `otherwise` is the feedback to all other wrong
    numbers. With `choices`, an answer is a choice or its number (from 1). `shown` is a picture of
    the question, and `revealed` a picture of the answer.
    """

    question: str
    expected: str
    right: tuple[float, ...]
    hints: tuple[str, ...]
    working: str
    otherwise: str
    mistakes: Mapping[float, str] = field(default_factory=dict)
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()
    is_set: bool = True
    shown: Scene | None = field(default=None, compare=False)
    revealed: Scene | None = field(default=None, compare=False)
    incomplete: ClassVar[str] = "The answer is right but incomplete."

    def check(self, answer: object, tries: int = 1) -> AnswerVerdict:
        """Return the verdict on an answer: a text, a number, or several numbers.

        `tries` is 1 for the first try, then 2, 3, …; a later try receives a clearer hint. Raises
        ArgumentError for other `tries`.
        """
        check_integer("tries", tries, TRY, least=1)
        typed = answer.strip() if isinstance(answer, str) else quote(answer)
        if typed in self.choices:  # a choice can be a number
            answer = self.choices.index(typed) + 1
        values = read_numbers(answer, self.is_set)
        if not values or (len(values) > 1 and not self.is_set):
            return AnswerVerdict(AnswerOutcome.UNREADABLE, f"Expected {self.expected}.")
        wrong = next((value for value in values if not self._near(value, self.right)), None)
        if wrong is None and all(self._near(number, values) for number in self.right):
            return AnswerVerdict(AnswerOutcome.RIGHT, self.working)
        known = [] if wrong is None else self._near(wrong, self.mistakes)
        otherwise = self.incomplete if wrong is None else self.otherwise
        mistake = next(map(self.mistakes.get, known), otherwise)
        hint = self.hints[tries - 1] if tries <= len(self.hints) else self.working
        return AnswerVerdict(AnswerOutcome.WRONG, f"{mistake} {hint}".rstrip())

    def _near(self, value: float, numbers: Iterable[float]) -> list[float]:
        """Return the numbers that differ from `value` by at most the tolerance."""
        return [number for number in numbers if abs(value - number) <= self.tolerance]

    @property
    def solution(self) -> str:
        """The right answer as text."""
        if self.choices:
            return self.choices[int(self.right[0]) - 1]
        return ", ".join(map(self._digits, sorted(map(float, self.right))))

    def _digits(self, value: float) -> str:
        """Return a number as text: six digits if the tolerance permits, otherwise all digits."""
        short = f"{value:.0f}" if value.is_integer() else f"{value:.6g}"
        return short if self._near(float(short), [value]) else repr(value)

    @property
    def page_data(self) -> dict[str, object]:
        """The answer and the feedback as data for ``exercise.js``."""
        texts = {"solution": self.solution, "incomplete": self.incomplete}
        data = vars(self) | texts | {"mistakes": [*map(list, self.mistakes.items())]}
        return {n: data[n] for n in data if n not in ("question", "shown", "revealed")}

    def text(self) -> str:
        """Return the question and its picture as plain text."""
        picture = f"\n\n{self.shown.text()}" if self.shown else ""
        return f"{self.question}\n({self.expected}){picture}"


def read_numbers(answer: object, is_set: bool = True) -> tuple[float, ...]:
    """Return all numbers of an answer, or no numbers if the answer is invalid or too long.

    An answer is a number, a list, tuple, set, array, or generator of numbers, or a text of numbers
    and words such as "pos". In a text, a comma between digits is a decimal comma if one number is
    expected (not `is_set`), or if semicolons separate the numbers.
    """
    if isinstance(answer, str):
        if len(answer) > LONGEST:
            return ()
        if not is_set or ";" in answer:
            answer = DECIMAL_COMMA.sub(".", answer)
        words = NAMES.sub(" ", answer.replace("−", "-")).split()
        if not all(NUMBER.fullmatch(word) and word.isascii() for word in words):
            return ()
        return tuple(map(float, words))
    try:
        values = tuple(islice(flatten(answer), LONGEST + 1))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return ()
    return values if len(values) <= LONGEST else ()


def flatten(values: object) -> Iterator[float]:
    """Yield the numbers of nested iterables (sets: sorted); raise TypeError for other values."""
    if hasattr(values, "__array__"):
        values = np.asarray(values).tolist()
    if isinstance(values, Real):
        yield float(values)
    elif isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        for value in sorted(values) if isinstance(values, set | frozenset) else values:
            yield from flatten(value)
    else:
        raise TypeError(f"{quote(values)}: expected numbers.")
