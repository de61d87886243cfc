"""Questions that are built from a trace, single or as a series with a score.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")

The same trace, kind, and seed give the same question.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random

from lab.errors import (
    GraphError,
    argument_error,
    check_choice,
    check_integer,
    check_sequence,
    check_type,
    listing,
    quote,
)
from lab.traces.trace import Trace
from visual.exercises.answers import ExerciseTask
from visual.exercises.questions import Candidate, slots, taps
from visual.exercises.sheet import ExerciseSheet, Single
from visual.retired import RETIRED_NAMES, removal
from visual.scene.theme import Role

CANDIDATES: Mapping[str, Callable[[Trace], Iterator[Candidate]]] = {
    "overwritten": partial(slots, role=Role.OVERWRITTEN),
    "preserved": partial(slots, role=Role.PRESERVED),
    "taps": taps,
}


class Exercise(Single):
    """A question about a trace, as a widget.

    `kind` is "overwritten" or "preserved" (slots of a step) or "taps" (of a gradient). `seed`
    selects among all questions of the kind. Raises GraphError if the trace allows no such question.
    """

    def __init__(
        self, trace: Trace, kind: str = "overwritten", seed: int = 0, theme: str = "light"
    ) -> None:
        check_type("trace", trace, Trace, "a Trace, such as loop.trace()")
        check_choice("kind", kind, CANDIDATES)
        check_integer("seed", seed)
        candidates = list(CANDIDATES[kind](trace))
        if not candidates:
            raise GraphError(
                f"kind = {quote(kind)}: this trace allows no such question. Use the trace of the "
                "derivative of a loop."
            )
        of_gradients = [build for order, build in candidates if order]
        builders = of_gradients or [build for _, build in candidates]
        task = builders[Random(f"{kind} {seed}").randrange(len(builders))]()
        shown, revealed = (scene and scene.themed(theme) for scene in (task.shown, task.revealed))
        super().__init__(replace(task, shown=shown, revealed=revealed))


class Exercises(ExerciseSheet):
    """A series of questions with a score, as a widget.

    A right answer scores 2 points at the first try, 1 at the second try, and 0 later.
    """

    def __init__(self, members: Sequence[Single | ExerciseTask]) -> None:
        members = check_sequence("members", members, "a tuple of exercises")
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
        """Return a series: one exercise of each of the `kinds`, if the trace allows this kind.

        Raises GraphError if the trace allows no kind.
        """
        members, seed = [], check_integer("seed", seed)
        for number, kind in enumerate(
            check_sequence("kinds", kinds, f"some of {listing(CANDIDATES)}")
        ):
            with suppress(GraphError):
                members.append(Exercise(trace, kind, seed + number, theme))
        if not members:
            raise GraphError("trace: no question fits this trace. Pass the trace of a derivative.")
        return cls(members)
