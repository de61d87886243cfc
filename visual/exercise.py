"""Predict, then reveal: exercises made from any trace.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")

An `Exercise` is a value: the same trace, kind and seed give the same question.  `Exercises`
are several of them, with a score, and a page that needs no Python.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from lab.errors import ArgumentError, GraphError, listing
from lab.trace import Trace
from visual.answers import Verdict
from visual.asked import Asked, live, save_page, widget_of
from visual.asking import Ask, Candidate, Task, slots
from visual.asking_numbers import arrivals, numbers
from visual.asking_orders import scans, taps
from visual.files import Picture

ASKED: Mapping[Ask, Callable[[Trace], Iterator[Candidate]]] = MappingProxyType(
    {
        Ask.OVERWRITTEN: lambda trace: slots(trace, Ask.OVERWRITTEN),
        Ask.PRESERVED: lambda trace: slots(trace, Ask.PRESERVED),
        Ask.TAPS: taps,
        Ask.NUMBER: numbers,
        Ask.ARRIVAL: arrivals,
        Ask.SCANS: scans,
    }
)


@dataclass(frozen=True)
class Exercise(Asked):
    """A question about a trace.

    `kind` is "overwritten" or "preserved" (which slots a step overwrites, or keeps), "taps"
    (those of a gradient), "number" (what a step writes), "arrival" (at which step a seed comes
    to the gradient of the start) or "scans" (how many there are).  `seed` chooses among all
    questions of that kind.  Raises GraphError if the trace allows none.
    """

    trace: Trace = field(repr=False)
    kind: str = "overwritten"
    seed: int = 0
    theme: str = "light"
    _task: Task = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.trace, Trace):
            raise ArgumentError(
                f"trace = {self.trace!r:.60}: expected a Trace, as of loop.trace()."
            )
        if self.kind not in list(Ask):
            raise ArgumentError(f"kind = {self.kind!r:.60}: expected {listing(Ask)}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ArgumentError(f"seed = {self.seed!r:.60}: expected a whole number.")
        found = list(ASKED[Ask(self.kind)](self.trace))
        derivatives = [c for c in found if c.order] or found
        if not found:
            raise GraphError(
                f"kind = {self.kind!r}: this trace allows no such question. The trace of a "
                "derivative of a loop of single numbers allows all."
            )
        chosen = derivatives[Random(f"{self.kind} {self.seed}").randrange(len(derivatives))]
        object.__setattr__(self, "_task", chosen.make(self.theme))

    @property
    def question(self) -> str:
        """The question in words."""
        return self._task.question

    @property
    def shown(self) -> Picture | None:
        """The picture that goes with the question."""
        return self._task.shown

    @property
    def revealed(self) -> Picture | None:
        """The picture of the answer."""
        return self._task.revealed

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        return self._task


@dataclass(frozen=True)
class Exercises:
    """Several exercises, one after another, and what was scored with them.

    `answer` and `skip` return the next state; a right first try scores 2 points, a right
    second try 1, and later ones none.  A wrong answer can be tried again.

        >>> exercises, verdict = exercises.answer("2")
    """

    members: tuple[Asked, ...]
    number: int = 0
    tries: int = 0
    points: int = 0

    def __post_init__(self) -> None:
        members = self.members
        if not isinstance(members, list | tuple) or not members:
            raise ArgumentError(f"members = {members!r:.60}: expected a tuple of exercises.")
        if not all(isinstance(member, Asked) for member in members):
            raise ArgumentError(f"members = {members!r:.60}: expected exercises only.")
        object.__setattr__(self, "members", tuple(members))

    @classmethod
    def of(
        cls, trace: Trace, kinds: Iterable[str] = tuple(Ask), seed: int = 0, theme: str = "light"
    ) -> "Exercises":
        """An exercise of every kind that the trace allows."""
        members = []
        for place, kind in enumerate(kinds):
            try:
                members.append(Exercise(trace, kind, seed + place, theme))
            except GraphError:
                continue
        if not members:
            raise GraphError("trace: it allows no exercise; that of a derivative allows some.")
        return cls(tuple(members))

    @property
    def current(self) -> Asked | None:
        """The exercise to be answered; None after the last one."""
        return self.members[self.number] if self.number < len(self.members) else None

    @property
    def most(self) -> int:
        """The points that can be reached."""
        return 2 * len(self.members)

    def answer(self, given: Any) -> tuple["Exercises", Verdict]:
        """What becomes of the series by an answer, and the verdict on it."""
        if self.current is None:
            raise ArgumentError(f"answer = {given!r:.60}: all exercises are done; see `again`.")
        verdict = self.current.check(given, self.tries + 1)
        if verdict.is_right:
            earned = max(0, 2 - self.tries)
            return replace(self.skip(), points=self.points + earned), verdict
        counted = verdict.outcome.is_try
        return replace(self, tries=self.tries + counted), verdict

    def skip(self) -> "Exercises":
        """The series at the next exercise, without points for this one."""
        return replace(self, number=min(self.number + 1, len(self.members)), tries=0)

    def again(self) -> "Exercises":
        """The series at its beginning."""
        return Exercises(self.members)

    def widget(self) -> Any:
        """All questions, to be answered in a notebook; needs anywidget."""
        return widget_of(self.members)

    def page(self) -> str:
        """All questions on one page of HTML, which checks answers by itself and loads nothing."""
        from visual.exercise_page import to_page

        return to_page(self.members)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from visual.exercise_page import score_text, sheet

        words = score_text(self)
        if self.current is not None:
            words = f"{self.current.text()}\n{words}"
        return live(self) | {"text/html": sheet(self), "text/plain": words}
