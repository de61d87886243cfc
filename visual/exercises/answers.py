"""What is asked, what a person answers, whether it is right, and why.

    >>> answer.check("pos 2")
    Verdict(outcome=<Outcome.WRONG: 'wrong'>, reason='Position 2 is read at tap 0 and kept. …')

A `Task` is a question with its pictures and its `Answer`, which is plain data, so that a page
without Python can check it in the same way.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real

from lab.errors import ArgumentError, quote
from visual.scene.shapes import Scene

LONGEST = 120
MARKS = re.compile(r"\b(?:positions?|pos|slots?|taps?|steps?|buf|and|scans?)\b|[\[\](),;=]", re.I)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?", re.I)


class Outcome(StrEnum):
    """What becomes of an answer."""

    RIGHT = "right"
    WRONG = "wrong"
    UNREADABLE = "not understood"

    @property
    def is_try(self) -> bool:
        """Whether it counts as a try: what was not understood does not."""
        return self is not Outcome.UNREADABLE


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the reason in words."""

    outcome: Outcome
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.outcome is Outcome.RIGHT

    def __str__(self) -> str:
        return f"{self.outcome.value.capitalize()}. {self.reason}"


class Form(StrEnum):
    """The kind of an answer; the value tells what to type, without an example that might be it."""

    SLOTS = "positions of slots, with commas between them"
    TAPS = "taps, with commas between them"
    NUMBER = "a number with a decimal point; three digits will do"
    COUNT = "a whole number"
    NUMBERS = "numbers, with commas between them"
    CHOICE = "one of the answers offered"

    @property
    def is_set(self) -> bool:
        """Whether the answer can be several numbers."""
        return self in (Form.SLOTS, Form.TAPS, Form.NUMBERS)


@dataclass(frozen=True)
class Mistake:
    """A number that is wrong, and why."""

    value: float
    reason: str


@dataclass(frozen=True)
class Answer:
    """The right numbers, and what is said about others.

    A single number may differ by `tolerance`.  `hints` are how to find the answer, one said after
    each wrong try; `working` is the rule with the numbers in, said when the answer is right and
    after every further wrong try.  `incomplete` is said of an answer in which nothing is wrong but
    something missing; `otherwise` of numbers that no mistake explains, and `together` of several
    numbers, written as in ``-2,-1``.  `cells` are the answers that clicks on cells give, `beside`
    what is said of other cells.  Where there are `choices`, the answer is one of them, or its
    number, from 1.
    """

    form: Form
    right: tuple[float, ...]
    hints: tuple[str, ...]
    working: str
    otherwise: str
    incomplete: str = ""
    mistakes: tuple[Mistake, ...] = ()
    tolerance: float = 0.0
    cells: Mapping[str, int] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    together: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()

    def check(self, given: object, tries: int = 1) -> Verdict:
        """The verdict on what a person typed, a number, several, or the key of a cell."""
        if isinstance(given, str) and given in self.beside:
            return Verdict(Outcome.WRONG, self._explained(self.beside[given], tries))
        if isinstance(given, str) and given in self.cells:
            given = self.cells[given]
        if isinstance(given, str) and given.strip() in self.choices:
            given = self.choices.index(given.strip()) + 1
        numbers = read_numbers(given)
        if not numbers or (len(numbers) > 1 and not self.form.is_set):
            return Verdict(Outcome.UNREADABLE, f"Expected {self.expected}.")
        found = self.together.get(",".join(f"{value:g}" for value in sorted(set(numbers))))
        if found is not None:
            return Verdict(Outcome.WRONG, self._explained(found, tries))
        wrong = next((value for value in numbers if not self._holds(value)), None)
        if wrong is not None:
            return Verdict(Outcome.WRONG, self._explained(self._reason(wrong), tries))
        if not all(any(self._near(value, right) for value in numbers) for right in self.right):
            return Verdict(Outcome.WRONG, self._explained(self.incomplete, tries))
        return Verdict(Outcome.RIGHT, self.working)

    @property
    def expected(self) -> str:
        """What to answer, in words."""
        return f"one of: {', '.join(self.choices)}" if self.choices else self.form.value

    @property
    def told(self) -> str:
        """The right answer, as one would give it."""
        if self.choices:
            return self.choices[int(self.right[0]) - 1]
        return ", ".join(map(self._written, sorted(map(float, self.right))))

    def _written(self, value: float) -> str:
        """A number with as many digits as make it right."""
        short = f"{value:.0f}" if value.is_integer() else f"{value:.6g}"
        return short if abs(float(short) - value) <= self.tolerance else repr(value)

    def _holds(self, value: float) -> bool:
        return any(self._near(value, right) for right in self.right)

    def _near(self, value: float, right: float) -> bool:
        return abs(value - right) <= self.tolerance

    def _reason(self, value: float) -> str:
        near = (m.reason for m in self.mistakes if self._near(value, m.value))
        return next(near, self.otherwise)

    def _explained(self, reason: str, tries: int) -> str:
        hint = self.hints[tries - 1] if tries <= len(self.hints) else self.working
        return f"{reason} {hint}".rstrip()


@dataclass(frozen=True, eq=False)
class Task:
    """A question, the picture that goes with it, the picture of the answer, and the answer.

    Questions of a lesson's own may have no pictures.
    """

    question: str
    shown: Scene | None
    revealed: Scene | None
    answer: Answer


def read_numbers(given: object) -> tuple[float, ...]:
    """All numbers of an answer; none if it holds anything else."""
    if isinstance(given, str):
        if len(given) > LONGEST:
            return ()
        words = MARKS.sub(" ", given.replace("−", "-")).split()
        if not all(NUMBER.fullmatch(word) and word.isascii() for word in words):
            return ()
        return tuple(map(float, words))
    items = tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)
    numbers = [item for item in items if isinstance(item, Real)]
    if len(items) > LONGEST or len(numbers) < len(items):
        return ()
    try:
        return tuple(map(float, numbers))
    except OverflowError:
        return ()


def check_tries(tries: int) -> None:
    """Raise ArgumentError unless `tries` counts tries."""
    if isinstance(tries, bool) or not isinstance(tries, int) or tries < 1:
        raise ArgumentError(f"tries = {quote(tries)}: expected 1 for the first try, then 2, 3, …")
