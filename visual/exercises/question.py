"""A question that an author writes, for a lesson.

>>> Question("What is 0.95 ** 16?", 0.44, "More than half is lost.", tolerance=0.01)
>>> Question("Does the gradient grow?", "no", "1.9·x < 1 below x = 0.5.", choices=("yes", "no"))
"""

from collections.abc import Mapping
from types import MappingProxyType

from lab.errors import (
    ArgumentError,
    argument_error,
    check_sequence,
    check_type,
    is_finite_number,
    listing,
    quote,
)
from visual.exercises.answers import Answer, ExerciseTask
from visual.exercises.sheet import Single
from visual.scene.shapes import Scene

NUMBER = "a number; three digits are enough"
NUMBERS = "numbers, separated by commas (or by semicolons, after decimal commas)"
Given = float | str | tuple[float, ...]


class Question(Single):
    """A question, its answer, and the reason.

    `answer` is a number, a tuple of numbers in any order, or one of the `choices`. `why` explains
    the right answer. `hint` follows the first wrong try; a tuple has a hint for each try.
    `mistakes` maps wrong answers to reasons. A number may differ by `tolerance` (default: 0 for
    integers, otherwise 0.5 % of the smallest magnitude above 0). `shown` is a picture of the
    question, and `revealed` a picture of the answer. Raises ArgumentError for invalid arguments.
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
        for name, text in (("question", question), ("why", why)):
            if not isinstance(text, str) or not text.strip():
                raise argument_error(name, text, "expected a text, not empty.")
        hints = (hint,) if isinstance(hint, str) else hint
        hints = check_sequence("hint", hints, "a text, or several", str)
        check_type("mistakes", mistakes, Mapping, "a mapping from wrong answers to reasons")
        choices = check_sequence("choices", choices, "several texts")
        answers = answer if isinstance(answer, tuple) else (answer,)
        if choices:
            _check_choices(choices, (*answers, *mistakes))
        else:
            _check_numbers(answers, mistakes, tolerance)

        def number(value: float | str) -> float:
            return float(choices.index(str(value)) + 1 if choices else value)

        right = tuple(map(number, answers))
        expected = "an integer" if isinstance(answer, int) else NUMBER
        expected = NUMBERS if len(right) > 1 else expected
        expected = f"one of: {', '.join(choices)}" if choices else expected
        if tolerance is None:
            nearest = min((abs(value) for value in right if value), default=0.0)
            is_exact = all(value.is_integer() for value in right)
            tolerance = 0.0 if is_exact else 0.005 * nearest
        checked = Answer(
            expected,
            right,
            hints=hints,
            working=why,
            otherwise="Try another choice." if choices else "Try another number.",
            mistakes={number(n): reason for n, reason in mistakes.items()},
            tolerance=tolerance,
            choices=choices,
            is_set=len(right) > 1,
        )
        super().__init__(ExerciseTask(question, shown, revealed, checked))


def _check_choices(choices: tuple[str, ...], answers: tuple[object, ...]) -> None:
    for choice in choices:
        if not isinstance(choice, str) or not choice or choice != choice.strip():
            raise ArgumentError(
                f"choices: {quote(choice)}: expected texts without spaces around them."
            )
        if choices.count(choice) > 1:
            raise ArgumentError(f"choices: {quote(choice)} occurs more than once.")
    for answer in answers:
        if answer not in choices:
            raise argument_error("answer", answer, f"expected {listing(map(repr, choices), 'or')}.")


def _check_numbers(
    answers: tuple[object, ...], mistakes: Mapping[float | str, str], tolerance: float | None
) -> None:
    for number in (*answers, *mistakes):
        if not is_finite_number(number):
            raise argument_error("answer", number, "expected a number, or one of the choices.")
    if not answers:
        raise ArgumentError("answer = (): expected at least one number.")
    if tolerance is not None and not (is_finite_number(tolerance) and tolerance >= 0):
        raise argument_error("tolerance", tolerance, "expected 0 or more.")
