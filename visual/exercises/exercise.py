"""Questions as widgets: from a trace, from an author, or as a series with a score.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")
    >>> Question("What is 0.95 ** 16?", 0.44, "More than half is lost.", tolerance=0.01)
    >>> Question("Does the gradient grow?", "no", "1.9·x < 1 below x = 0.5.", choices=("yes", "no"))

Equal traces, kinds, and seeds select equal questions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random
from types import MappingProxyType

from lab import errors
from lab.errors import GraphError, Registry, argument_error, check_sequence, check_type, listing
from lab.traces.trace import Trace
from visual.exercises.answers import ExerciseTask
from visual.exercises.questions import Candidate, slots, taps
from visual.exercises.sheet import ExerciseSheet, Single
from visual.retired import RETIRED_NAMES, removal
from visual.scene.shapes import Scene

NUMBER = "a number; three digits are enough"
NUMBERS = "numbers, separated by commas (or by semicolons, after decimal commas)"
OF_SLOTS = {kind: partial(slots, kind=kind) for kind in ("overwritten", "preserved")}
CANDIDATES = Registry[Callable[[Trace], Iterator[Candidate]]]("kind", {**OF_SLOTS, "taps": taps})


class Exercise(Single):
    """A question about a trace, as a widget.

    `kind` is "overwritten" or "preserved" (slots of a step) or "taps" (of a gradient). `seed`
    selects a question of the kind, about a derivative if possible. Raises GraphError if the trace
    allows no such question, and ArgumentError for invalid arguments.
    """

    def __init__(
        self, trace: Trace, kind: str = "overwritten", seed: int = 0, theme: str = "light"
    ) -> None:
        check_type("trace", trace, Trace, "a Trace, such as loop.trace()")
        errors.check_integer("seed", seed)
        if not (candidates := list(CANDIDATES[kind](trace))):
            why = "this trace allows no such question. Use the trace of a derivative."
            raise GraphError(f"kind = {errors.quote(kind)}: {why}")
        builders = [b for order, b in candidates if order] or [b for _, b in candidates]
        task = builders[Random(f"{kind} {seed}").randrange(len(builders))]()
        shown, revealed = (scene and scene.themed(theme) for scene in (task.shown, task.revealed))
        super().__init__(replace(task, shown=shown, revealed=revealed))


class Question(Single):
    """A question, its answer, and the reason.

    `answer` is a number, a tuple of numbers in any order, or one of the `choices`. `why` explains
    the right answer. `hint` follows the first wrong try; a tuple contains a hint for each try.
    `mistakes` maps wrong answers to reasons. A number may differ by `tolerance` (default: 0 for
    integers, otherwise 0.5 % of the smallest magnitude above 0). `shown` is a picture of the
    question. Raises ArgumentError for invalid arguments.
    """

    def __init__(
        self,
        question: str,
        answer: float | str | tuple[float, ...],
        why: str,
        choices: tuple[str, ...] = (),
        hint: str | tuple[str, ...] = "",
        mistakes: Mapping[float | str, str] = MappingProxyType({}),
        tolerance: float | None = None,
        shown: Scene | None = None,
    ) -> None:
        for name, text in (("question", question), ("why", why)):
            if not isinstance(text, str) or not text.strip():
                raise argument_error(name, text, "expected a text, not empty.")
        hints = (hint,) if isinstance(hint, str) else hint
        hints = check_sequence("hint", hints, "a text, or several", str)
        check_type("mistakes", mistakes, Mapping, "a mapping from wrong answers to reasons")
        choices = check_sequence("choices", choices, "several texts")
        answers = answer if isinstance(answer, tuple) else (answer,)
        _check_answers(choices, answers, mistakes)
        if not (tolerance is None or (errors.is_finite_number(tolerance) and tolerance >= 0)):
            raise argument_error("tolerance", tolerance, "expected 0 or more.")

        def number(value: float | str) -> float:
            return float(choices.index(str(value)) + 1 if choices else value)

        right = tuple(map(number, answers))
        expected = "an integer" if isinstance(answer, int) else NUMBER
        expected = NUMBERS if len(right) > 1 else expected
        if tolerance is None:
            is_exact = all(map(float.is_integer, right))
            tolerance = 0.0 if is_exact else 0.005 * min(abs(value) for value in right if value)
        task = ExerciseTask(
            question,
            f"one of: {', '.join(choices)}" if choices else expected,
            right,
            hints,
            working=why,
            otherwise=f"Try another {'choice' if choices else 'number'}.",
            mistakes={number(n): reason for n, reason in mistakes.items()},
            tolerance=tolerance,
            choices=choices,
            is_set=len(right) > 1,
            shown=shown,
        )
        super().__init__(task)


def _check_answers(
    choices: tuple[str, ...], answers: tuple[object, ...], mistakes: Iterable[object]
) -> None:
    """Raise ArgumentError for invalid choices, and for an answer that is no choice (or number)."""
    for choice in choices:
        if not isinstance(choice, str) or not choice or choice != choice.strip():
            raise argument_error("choices", choice, "expected texts without spaces around them.")
        if choices.count(choice) > 1:
            raise argument_error("choices", choice, "the choice occurs more than once.")
    words = listing(map(repr, choices), "or") if choices else "a number, or one of the choices"
    for answer in (*answers, *mistakes):
        is_choice = isinstance(answer, str) and answer in choices
        if not (is_choice if choices else errors.is_finite_number(answer)):
            raise argument_error("answer", answer, f"expected {words}.")
    if not answers:
        raise argument_error("answer", (), "expected at least one number.")


class Exercises(ExerciseSheet):
    """A series of questions with a score, as a widget.

    A right answer scores 2 points at the first try, 1 at the second try, and 0 later. Raises
    ArgumentError unless `members` are exercises.
    """

    def __init__(self, members: Sequence[Single | ExerciseTask]) -> None:
        members = check_sequence("members", members, "exercises, or use Exercises.of(trace)")
        if not members or not all(isinstance(m, Single | ExerciseTask) for m in members):
            raise argument_error("members", members, "expected one or more exercises.")
        super().__init__(*(m.task if isinstance(m, Single) else m for m in members))

    def __getattr__(self, name: str) -> object:
        known = f"Exercises.{name}"
        instead = RETIRED_NAMES.get(known)
        raise AttributeError(removal(known, instead) if instead else f"{known} does not exist.")

    @classmethod
    def of(
        cls,
        trace: Trace,
        kinds: Iterable[str] = tuple(CANDIDATES),
        seed: int = 0,
        theme: str = "light",
    ) -> "Exercises":
        """Return a series with one exercise for each of the `kinds` that the trace allows.

        Raises GraphError if the trace allows no kind, and ArgumentError for invalid arguments.
        """
        members, seed = [], errors.check_integer("seed", seed)
        kinds = check_sequence("kinds", kinds, f"some of {listing(CANDIDATES)}")
        for number, kind in enumerate(kinds):
            with suppress(GraphError):
                members.append(Exercise(trace, kind, seed + number, theme))
        if not members:
            raise GraphError("trace: no question fits this trace. Pass the trace of a derivative.")
        return cls(members)
