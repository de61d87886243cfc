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
from math import isfinite
from numbers import Real
from types import MappingProxyType

from lab.errors import ArgumentError, check_sequence, quote
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.sheet import Single
from visual.scene.shapes import Scene

Given = float | str | tuple[float, ...]


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
        hints = hint if isinstance(hint, tuple) else (hint,)
        _check_words({"question": question, "why": why}, hints)
        if not isinstance(mistakes, Mapping):
            raise ArgumentError(f"mistakes = {quote(mistakes)}: expected reasons by wrong answers.")
        choices = check_sequence("choices", choices, "several texts")
        if choices:
            _check_choices(choices, (answer, *mistakes))
        else:
            _check_numbers(answer, mistakes, tolerance)

        def number(given: float | str) -> float:  # a choice counts by its place, from 1
            return float(choices.index(str(given)) + 1 if choices else given)

        right = tuple(map(number, answer if isinstance(answer, tuple) else (answer,)))
        form = Form.CHOICE if choices else Form.COUNT if isinstance(answer, int) else Form.NUMBER
        told = Answer(
            Form.NUMBERS if len(right) > 1 else form,
            right,
            hints=hints,
            working=why,
            otherwise="It is another answer." if choices else "It is another number.",
            incomplete="Not all of it: something is missing.",
            mistakes=tuple(Mistake(number(wrong), told) for wrong, told in mistakes.items()),
            tolerance=_near(right) if tolerance is None else tolerance,
            choices=choices,
        )
        super().__init__(Task(question, shown, revealed, told))


def _check_words(texts: Mapping[str, object], hints: tuple[object, ...]) -> None:
    for name, words in texts.items():
        if not isinstance(words, str) or not words.strip():
            raise ArgumentError(f"{name} = {quote(words)}: expected a text, not empty.")
    for hint in hints:
        if not isinstance(hint, str):
            raise ArgumentError(f"hint = {quote(hint)}: expected a text, or several.")


def _check_choices(choices: tuple[str, ...], answers: tuple[object, ...]) -> None:
    for choice in choices:
        if not isinstance(choice, str) or not choice or choice != choice.strip():
            raise ArgumentError(
                f"choices: {quote(choice)} is none; expected texts without spaces around them."
            )
        if choices.count(choice) > 1:
            raise ArgumentError(f"choices: {quote(choice)} is there more than once.")
    for answer in answers:
        if answer not in choices:
            told = ", ".join(map(repr, choices))
            raise ArgumentError(f"answer = {quote(answer)}: expected one of {told}.")


def _check_numbers(
    answer: Given, mistakes: Mapping[float | str, str], tolerance: float | None
) -> None:
    numbers = answer if isinstance(answer, tuple) else (answer,)
    for number in (*numbers, *mistakes):
        if not _is_finite(number):
            raise ArgumentError(
                f"answer = {quote(number)}: expected a number, or one of the choices."
            )
    if not numbers:
        raise ArgumentError("answer = (): expected a number at least.")
    if tolerance is not None and not (_is_finite(tolerance) and tolerance >= 0):
        raise ArgumentError(f"tolerance = {quote(tolerance)}: expected 0 or more.")


def _near(right: tuple[float, ...]) -> float:
    """How far off an answer may be, unless that is said."""
    if all(number.is_integer() for number in right):
        return 0.0
    return 0.005 * min(abs(number) for number in right if number)


def _is_finite(number: object) -> bool:
    """Whether it is a real number that a page can compare with: True, nan and infinity are none."""
    try:
        return isinstance(number, Real) and not isinstance(number, bool) and isfinite(float(number))
    except OverflowError:
        return False
