"""Predict, then reveal: questions made from any trace, to be answered one by one or as a series.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")

An `Exercise` is a value: the same trace, kind and seed give the same question.  `Exercises`
are several of them, with a score, and a page that needs no Python.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING

from lab.errors import ArgumentError, GraphError, LabError, listing, one_of, quoted, several, whole
from lab.traces.trace import Trace
from visual.exercises.answers import Form, Task, Verdict, check_tries
from visual.exercises.candidates import Candidate
from visual.exercises.page import fragment, to_page
from visual.exercises.slots_and_numbers import numbers, slots
from visual.exercises.taps import taps
from visual.pictures.taps import Use
from visual.scene.formats import as_path, write_whole
from visual.scene.shapes import Scene
from visual.widgets.rerun import bundle

if TYPE_CHECKING:
    from visual.exercises.widget import ExerciseWidget


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


class Sheet:
    """One question or several, to be answered in a notebook, or in a page without Python."""

    call = "exercise.check"  # how it is answered where no script runs

    @property
    def score(self) -> str:
        """How far it has come; a single question has no score."""
        return ""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The questions, with pictures and answers."""
        raise NotImplementedError

    def text(self) -> str:
        """What is asked now, as plain text."""
        raise NotImplementedError

    def widget(self) -> "ExerciseWidget":
        """The questions, to be answered in a notebook one after another; needs anywidget."""
        try:
            from visual.exercises.widget import ExerciseWidget
        except ImportError:
            raise LabError(
                "widget: anywidget is not installed; pip install anywidget, or use save(…)."
            ) from None
        return ExerciseWidget(self.tasks)

    def page(self) -> str:
        """The questions on a page of HTML, which checks answers by itself and loads nothing."""
        return to_page(self.tasks)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        path = as_path(path)
        if path.suffix.lower() != ".html":
            raise ArgumentError(f"path = {quoted(str(path))}: a page of exercises ends in .html.")
        return write_whole(path, self.page())

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        html = fragment(self.tasks, self.call, self.score)
        shown = next((task.shown for task in self.tasks if task.shown), None)
        return bundle(lambda: self.widget()._repr_mimebundle_(), html, self.text(), shown)


class Asked(Sheet):
    """A question: an `Exercise`, or a `Question` that a person wrote."""

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        raise NotImplementedError

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The one question."""
        return (self.task,)

    @property
    def form(self) -> Form:
        """The kind of answer that is expected."""
        return self.task.answer.form

    def check(self, answer: object, tries: int = 1) -> Verdict:
        """Whether an answer is right, and why.

        `answer` is what a person typed, a number, several numbers, or the key of a cell.  The
        first wrong try (`tries` = 1) is told why it is wrong, and the rule; the second and
        later ones are also told what the rule gives here.
        """
        check_tries(tries)
        return self.task.answer.check(answer, tries)

    def text(self) -> str:
        """The question and its picture as plain text."""
        task = self.task
        picture = f"\n\n{task.shown.text()}" if task.shown else ""
        return f"{task.question}\n({task.answer.expected})" + picture


@dataclass(frozen=True)
class Exercise(Asked):
    """A question about a trace.

    `kind` is "overwritten" or "preserved" (which slots a step overwrites, or keeps), "taps"
    (those of a gradient) or "number" (what a step writes).  `seed` chooses among all
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
                f"trace = {quoted(self.trace)}: expected a Trace, as of loop.trace()."
            )
        one_of("kind", self.kind, Ask)
        whole("seed", self.seed)
        candidates = list(CANDIDATES[Ask(self.kind)](self.trace))
        derivatives = [c for c in candidates if c.order] or candidates
        if not candidates:
            raise GraphError(
                f"kind = {quoted(self.kind)}: this trace allows no such question. The trace of a "
                "derivative of a loop of single numbers allows all."
            )
        chosen = derivatives[Random(f"{self.kind} {self.seed}").randrange(len(derivatives))]
        object.__setattr__(self, "_task", chosen.make(self.theme))

    @property
    def question(self) -> str:
        """The question in words."""
        return self._task.question

    @property
    def shown(self) -> Scene | None:
        """The picture that goes with the question."""
        return self._task.shown

    @property
    def revealed(self) -> Scene | None:
        """The picture of the answer."""
        return self._task.revealed

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        return self._task


@dataclass(frozen=True)
class Exercises(Sheet):
    """Several exercises, one after another, and what was scored with them.

    `answer` and `skip` return the next state; a right first try scores 2 points, a right
    second try 1, and later ones none.  A wrong answer can be tried again.

        >>> exercises, verdict = exercises.answer("2")
    """

    call = "exercises.answer"
    members: tuple[Asked, ...]
    number: int = 0
    tries: int = 0
    points: int = 0

    def __post_init__(self) -> None:
        members = self.members
        if not isinstance(members, list | tuple) or not members:
            raise ArgumentError(f"members = {quoted(members)}: expected a tuple of exercises.")
        if not all(isinstance(member, Asked) for member in members):
            raise ArgumentError(f"members = {quoted(members)}: expected exercises only.")
        object.__setattr__(self, "members", tuple(members))

    @classmethod
    def of(
        cls, trace: Trace, kinds: Iterable[str] = tuple(Ask), seed: int = 0, theme: str = "light"
    ) -> "Exercises":
        """An exercise of every kind that the trace allows."""
        members, seed = [], whole("seed", seed)
        for place, kind in enumerate(several("kinds", kinds, f"some of {listing(Ask)}")):
            try:
                members.append(Exercise(trace, kind, seed + place, theme))
            except GraphError:
                continue
        if not members:
            raise GraphError("trace: it allows no exercise; that of a derivative allows some.")
        return cls(tuple(members))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All questions."""
        return tuple(member.task for member in self.members)

    @property
    def current(self) -> Asked | None:
        """The exercise to be answered; None after the last one."""
        return self.members[self.number] if self.number < len(self.members) else None

    @property
    def most(self) -> int:
        """The points that can be reached."""
        return 2 * len(self.members)

    @property
    def score(self) -> str:
        """How far the series has come."""
        done, count = self.number, len(self.members)
        return f"{self.points} of {self.most} points; {done} of {count} answered."

    def answer(self, given: object) -> tuple["Exercises", Verdict]:
        """What becomes of the series by an answer, and the verdict on it."""
        if self.current is None:
            raise ArgumentError(f"answer = {quoted(given)}: all exercises are done; see `again`.")
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

    def text(self) -> str:
        """The present question and the score as plain text."""
        return f"{self.current.text()}\n{self.score}" if self.current else self.score
