"""What is asked of a learner: a question, its pictures, and an answer that is checked.

`visual.Exercise` makes questions of a trace, `visual.Question` has one that a person wrote.

Predict, then reveal: exercises made from any trace.

    >>> exercise = Exercise(gallery.loops["square"].trace(order=2), "overwritten")
    >>> exercise.question, exercise.check("2")

An `Exercise` is a value: the same trace, kind and seed give the same question.  `Exercises`
are several of them, with a score, and a page that needs no Python.

A question of one's own, for a lesson: its answer is checked like that of an exercise.

>>> Question("What is 0.95 ** 16?", 0.44, "Half of it is gone.", tolerance=0.01)
>>> Question(
...     "Does the gradient grow?",
...     "no",
...     "Every step multiplies it by 1.9 x, which is less than 1 from x = 0.5 on.",
...     choices=("yes", "no"),
... )
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from lab.errors import ArgumentError, GraphError, LabError, listing
from lab.traces.trace import Trace
from visual.exercises.answers import Answer, Form, Mistake, Verdict, check_tries
from visual.exercises.kinds import Ask, Candidate, Task, slots
from visual.exercises.slots_and_numbers import arrivals, numbers
from visual.exercises.taps_and_scans import scans, taps
from visual.scene.formats import Picture, as_path, write_whole
from visual.widgets.rerun import in_notebook


class Asked:
    """A question that can be answered in Python, in a notebook, and in a page without Python.

    Shown in a notebook, it can be answered there.
    """

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        raise NotImplementedError

    @property
    def form(self) -> Form:
        """The kind of answer that is expected."""
        return self.task.answer.form

    def check(self, answer: Any, tries: int = 1) -> Verdict:
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

    def widget(self) -> Any:
        """The question to be answered in a notebook."""
        return widget_of((self,))

    def page(self) -> str:
        """The question as a page of HTML that works without Python."""
        from visual.exercises.page import to_page

        return to_page((self,))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from visual.exercises.page import excerpt

        return live(self) | {"text/html": excerpt(self), "text/plain": self.text()}


def widget_of(members: Sequence[Asked]) -> Any:
    """Questions, to be answered in a notebook one after another; needs anywidget."""
    try:
        from visual.exercises.widget import ExerciseWidget
    except ImportError:
        raise LabError(
            "widget: anywidget is not installed; pip install anywidget, or use save(…)."
        ) from None
    return ExerciseWidget(members)


def live(asked: Any) -> dict[str, Any]:
    """What a notebook needs to show the widget of `asked`; nothing where there is no notebook."""
    if not in_notebook():
        return {}
    found = asked.widget()._repr_mimebundle_()
    return dict(found[0] if isinstance(found, tuple) else found)


def save_page(path: str | os.PathLike[str], asked: Any) -> Path:
    """Write the page of a question, or of several, to `path`, which ends in .html."""
    path = as_path(path)
    if path.suffix.lower() != ".html":
        raise ArgumentError(f"path = {str(path)!r}: a page of exercises ends in .html.")
    return write_whole(path, asked.page())


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
        from visual.exercises.page import to_page

        return to_page(self.members)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from visual.exercises.page import score_text, sheet

        words = score_text(self)
        if self.current is not None:
            words = f"{self.current.text()}\n{words}"
        return live(self) | {"text/html": sheet(self), "text/plain": words}


Given = float | str | tuple[float, ...]


@dataclass(frozen=True)
class Question(Asked):
    """A question, its answer, and why it is right.

    `answer` is a number, a tuple of numbers in any order, or one of the `choices`.  `why` is said
    when the question is answered, `hint` after a first wrong try, and `mistakes` holds reasons for
    certain wrong answers.  Numbers may differ by `tolerance`, an absolute distance: unless it is
    given, half a percent, and nothing for whole numbers.  `shown` is drawn with the question,
    `revealed` with the answer.
    """

    question: str
    answer: Given
    why: str
    choices: tuple[str, ...] = ()
    hint: str = ""
    mistakes: Mapping[float | str, str] = field(default_factory=dict, hash=False)
    tolerance: float | None = None
    shown: Picture | None = field(default=None, repr=False)
    revealed: Picture | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._check_words()
        if isinstance(self.choices, str):
            raise ArgumentError(f"choices = {self.choices!r:.60}: expected several texts.")
        object.__setattr__(self, "choices", tuple(self.choices))
        if self.choices:
            self._check_choices()
            return
        numbers = self.answer if isinstance(self.answer, tuple) else (self.answer,)
        for number in (*numbers, *self.mistakes):
            if not _is_finite(number):
                raise ArgumentError(
                    f"answer = {number!r:.60}: expected a number, or one of the choices."
                )
        if not numbers:
            raise ArgumentError("answer = (): expected a number at least.")
        if self.tolerance is not None and not (_is_finite(self.tolerance) and self.tolerance >= 0):
            raise ArgumentError(f"tolerance = {self.tolerance!r:.60}: expected 0 or more.")

    def _check_words(self) -> None:
        for name in ("question", "why"):
            words = getattr(self, name)
            if not isinstance(words, str) or not words.strip():
                raise ArgumentError(f"{name} = {words!r:.60}: expected a text, not empty.")
        if not isinstance(self.hint, str):
            raise ArgumentError(f"hint = {self.hint!r:.60}: expected a text.")
        if not isinstance(self.mistakes, Mapping):
            raise ArgumentError(
                f"mistakes = {self.mistakes!r:.60}: expected reasons by wrong answers."
            )

    def _check_choices(self) -> None:
        for choice in self.choices:
            if not isinstance(choice, str) or not choice or choice != choice.strip():
                raise ArgumentError(
                    f"choices: {choice!r:.60} is none; expected texts without spaces around them."
                )
            if self.choices.count(choice) > 1:
                raise ArgumentError(f"choices: {choice!r:.60} is there more than once.")
        for answer in (self.answer, *self.mistakes):
            if answer not in self.choices:
                told = ", ".join(map(repr, self.choices))
                raise ArgumentError(f"answer = {answer!r:.60}: expected one of {told}.")

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
            rule=self.hint,
            working=self.why,
            otherwise="It is another answer." if self.choices else "It is another number.",
            incomplete="That is right, but something is missing.",
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


def _is_finite(number: object) -> bool:
    """Whether it is a real number that a page can compare with: True, nan and infinity are none."""
    try:
        return isinstance(number, Real) and not isinstance(number, bool) and isfinite(float(number))
    except OverflowError:
        return False
