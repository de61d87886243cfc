"""Predict, then reveal: questions made from any trace, to be answered one by one or as a series.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")

The same trace, kind and seed give the same question.  `Exercises` are several of them, with a
score, and a page that needs no Python.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
from random import Random
from types import MappingProxyType

from lab.errors import (
    GraphError,
    argument_error,
    check_choice,
    check_integer,
    check_sequence,
    listing,
    quote,
)
from lab.traces.trace import Trace
from visual.exercises.answers import Task, Verdict
from visual.exercises.progress import MOST, Answered
from visual.exercises.questions import Candidate, numbers, slots, taps
from visual.exercises.sheet import Asked, Sheet, Single
from visual.pictures.taps import Use


class Ask(StrEnum):
    """The kinds of exercises."""

    OVERWRITTEN = "overwritten"
    PRESERVED = "preserved"
    TAPS = "taps"
    NUMBER = "number"


CANDIDATES: Mapping[Ask, Callable[[Trace], Iterator[Candidate]]] = MappingProxyType(
    {
        Ask.OVERWRITTEN: partial(slots, use=Use.OVERWRITTEN),
        Ask.PRESERVED: partial(slots, use=Use.PRESERVED),
        Ask.TAPS: taps,
        Ask.NUMBER: numbers,
    }
)


class Exercise(Single):
    """A question about a trace, as a widget.

    `kind` is "overwritten" or "preserved" (which slots a step overwrites, or keeps), "taps"
    (those of a gradient) or "number" (what a step writes).  `seed` chooses among all
    questions of that kind.  Raises GraphError if the trace allows none.

    `points`, up to 2, and `answered`, 1 when it is done, can be observed.
    """

    def __init__(
        self, trace: Trace, kind: str = "overwritten", seed: int = 0, theme: str = "light"
    ) -> None:
        super().__init__(_task(trace, kind, seed, theme))


def _task(trace: Trace, kind: str, seed: int, theme: str) -> Task:
    """The question of an exercise; the same for the same trace, kind and seed."""
    if not isinstance(trace, Trace):
        raise argument_error("trace", trace, "expected a Trace, as of loop.trace().")
    check_choice("kind", kind, Ask)
    check_integer("seed", seed)
    candidates = list(CANDIDATES[Ask(kind)](trace))
    derivatives = [make for order, make in candidates if order] or [make for _, make in candidates]
    if not candidates:
        raise GraphError(
            f"kind = {quote(kind)}: this trace allows no such question. The trace of a "
            "derivative of a loop of single numbers allows all."
        )
    task = derivatives[Random(f"{kind} {seed}").randrange(len(derivatives))]()
    shown, revealed = (scene and scene.themed(theme) for scene in (task.shown, task.revealed))
    return replace(task, shown=shown, revealed=revealed)


class Exercises(Sheet):
    """Several exercises, one after another, and what was scored with them, as a widget.

    A right first try scores 2 points, a right second try 1, and later ones none; a wrong answer
    can be tried again.  `answer` and `skip` do in Python what is done on the page.

    `points`, and `answered`, how many are done, can be observed.
    """

    call = "exercises.answer"

    def __init__(self, members: Sequence[Asked]) -> None:
        if not isinstance(members, list | tuple) or not members:
            raise argument_error("members", members, "expected a tuple of exercises.")
        if not all(isinstance(member, Asked) for member in members):
            raise argument_error("members", members, "expected exercises only.")
        self.members = tuple(members)
        super().__init__(*(member.task for member in members))

    @classmethod
    def of(
        cls, trace: Trace, kinds: Iterable[str] = tuple(Ask), seed: int = 0, theme: str = "light"
    ) -> "Exercises":
        """An exercise of every kind that the trace allows."""
        members, seed = [], check_integer("seed", seed)
        for place, kind in enumerate(check_sequence("kinds", kinds, f"some of {listing(Ask)}")):
            try:
                members.append(Exercise(trace, kind, seed + place, theme))
            except GraphError:
                continue
        if not members:
            raise GraphError("trace: it allows no exercise; that of a derivative allows some.")
        return cls(members)

    @property
    def current(self) -> Asked | None:
        """The first exercise that is not done; None after the last one."""
        pairs = zip(self.members, self._each, strict=True)
        return next((member for member, found in pairs if not found.done), None)

    @property
    def tries(self) -> int:
        """The wrong tries at the present exercise."""
        return next((found.tries for found in self._each if not found.done), 0)

    @property
    def most(self) -> int:
        """The points that can be reached."""
        return MOST * len(self.members)

    @property
    def score(self) -> str:
        """How far the series has come."""
        count = len(self.members)
        return f"{self.points} of {self.most} points; {self.answered} of {count} answered."

    def answer(self, given: object) -> Verdict:
        """The verdict on an answer to the present exercise, which is done if it is right."""
        if self.current is None:
            raise argument_error("answer", given, "all exercises are done; see `again`.")
        tries = self.tries
        verdict = self.current.check(given, tries + 1)
        if verdict.is_right:
            self._note(Answered(tries, max(0, MOST - tries), True))
        elif verdict.outcome.is_try:
            self._note(Answered(tries + 1))
        return verdict

    def skip(self) -> None:
        """Leave the present exercise without points."""
        self._note(Answered(self.tries, 0, True))

    def _note(self, found: Answered) -> None:
        if self.current is not None:
            self.progress = {**self.progress, self.current.question: asdict(found)}

    def again(self) -> None:
        """Begin anew."""
        self.progress = {}

    def text(self) -> str:
        """The present question and the score as plain text."""
        return f"{self.current.text()}\n{self.score}" if self.current else self.score
