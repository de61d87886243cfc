"""A question of one's own, for a lesson: its answer is checked like that of an exercise.

>>> Question("What is 0.95 ** 16?", 0.44, "Half of it is gone.", tolerance=0.01)
>>> Question(
...     "Does the gradient grow?",
...     "no",
...     "Every step multiplies it by 1.9 x, which is less than 1 from x = 0.5 on.",
...     choices=("yes", "no"),
... )
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from types import MappingProxyType

from lab.errors import ArgumentError, quoted, several
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.sheet import Single
from visual.scene.shapes import Scene

Given = float | str | tuple[float, ...]


@dataclass(frozen=True)
class Written:
    """What a person wrote, checked; see `Question`."""

    question: str
    answer: Given
    why: str
    choices: tuple[str, ...]
    hint: str | tuple[str, ...]
    mistakes: Mapping[float | str, str]
    tolerance: float | None
    shown: Scene | None
    revealed: Scene | None

    def __post_init__(self) -> None:
        self._check_words()
        object.__setattr__(self, "choices", several("choices", self.choices, "several texts"))
        if self.choices:
            self._check_choices()
            return
        numbers = self.answer if isinstance(self.answer, tuple) else (self.answer,)
        for number in (*numbers, *self.mistakes):
            if not _is_finite(number):
                raise ArgumentError(
                    f"answer = {quoted(number)}: expected a number, or one of the choices."
                )
        if not numbers:
            raise ArgumentError("answer = (): expected a number at least.")
        if self.tolerance is not None and not (_is_finite(self.tolerance) and self.tolerance >= 0):
            raise ArgumentError(f"tolerance = {quoted(self.tolerance)}: expected 0 or more.")

    def _check_words(self) -> None:
        for name in ("question", "why"):
            words = getattr(self, name)
            if not isinstance(words, str) or not words.strip():
                raise ArgumentError(f"{name} = {quoted(words)}: expected a text, not empty.")
        if not all(isinstance(hint, str) for hint in self._hints):
            raise ArgumentError(f"hint = {quoted(self.hint)}: expected a text, or several.")
        if not isinstance(self.mistakes, Mapping):
            raise ArgumentError(
                f"mistakes = {quoted(self.mistakes)}: expected reasons by wrong answers."
            )

    def _check_choices(self) -> None:
        for choice in self.choices:
            if not isinstance(choice, str) or not choice or choice != choice.strip():
                raise ArgumentError(
                    f"choices: {quoted(choice)} is none; expected texts without spaces around them."
                )
            if self.choices.count(choice) > 1:
                raise ArgumentError(f"choices: {quoted(choice)} is there more than once.")
        for answer in (self.answer, *self.mistakes):
            if answer not in self.choices:
                told = ", ".join(map(repr, self.choices))
                raise ArgumentError(f"answer = {quoted(answer)}: expected one of {told}.")

    @property
    def _hints(self) -> tuple[str, ...]:
        return self.hint if isinstance(self.hint, tuple) else (self.hint,)

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        return Task(self.question, self.shown, self.revealed, self._answer())

    def _answer(self) -> Answer:
        given = self.answer if isinstance(self.answer, tuple) else (self.answer,)
        right = tuple(map(self._number, given))
        form = Form.NUMBERS if len(right) > 1 else Form.NUMBER
        if form is Form.NUMBER and isinstance(self.answer, int):
            form = Form.COUNT
        return Answer(
            Form.CHOICE if self.choices else form,
            right,
            hints=self._hints,
            working=self.why,
            otherwise="It is another answer." if self.choices else "It is another number.",
            incomplete="Not all of it: something is missing.",
            mistakes=tuple(
                Mistake(self._number(wrong), why) for wrong, why in self.mistakes.items()
            ),
            tolerance=self._distance(right),
            choices=self.choices,
        )

    def _number(self, given: float | str) -> float:
        """A choice counts by its place, from 1."""
        return float(self.choices.index(str(given)) + 1 if self.choices else given)

    def _distance(self, right: tuple[float, ...]) -> float:
        if self.tolerance is not None:
            return self.tolerance
        if all(number.is_integer() for number in right):
            return 0.0
        return 0.005 * min(abs(number) for number in right if number)


class Question(Single):
    """A question, its answer, and why it is right.

    `answer` is a number, a tuple of numbers in any order, or one of the `choices`.  `why` is said
    when the question is answered, `hint` after a first wrong try, or of several one after each, and
    `mistakes` holds reasons for certain wrong answers.  Numbers may differ by `tolerance`, an
    absolute distance: unless it is given, half a percent, and nothing for whole numbers.  The
    question is drawn with `shown`, the answer with `revealed`.
    """

    def __init__(
        self,
        question: str,
        answer: Given,
        why: str,
        choices: tuple[str, ...] = (),
        hint: str | tuple[str, ...] = "",
        mistakes: Mapping[float | str, str] = MappingProxyType({}),
        tolerance: float | None = None,
        shown: Scene | None = None,
        revealed: Scene | None = None,
    ) -> None:
        about = (question, answer, why, choices, hint, mistakes, tolerance, shown, revealed)
        super().__init__(Written(*about).task)


def _is_finite(number: object) -> bool:
    """Whether it is a real number that a page can compare with: True, nan and infinity are none."""
    try:
        return isinstance(number, Real) and not isinstance(number, bool) and isfinite(float(number))
    except OverflowError:
        return False
