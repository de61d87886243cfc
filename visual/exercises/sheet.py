"""Questions as a widget: one or several, answered in a notebook, in a page, or in Python.

What was answered is `progress`, by questions, wherever that was: `points` and `answered` follow it.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets

from lab.errors import quote
from visual.backends.dark import style
from visual.exercises.answers import Task, Verdict, check_tries
from visual.exercises.page import STYLE, answer_data, content, fragment, source, to_page
from visual.exercises.progress import Answered, as_answered, keep, load, path
from visual.scene.shapes import Scene
from visual.widgets.module import DARK
from visual.widgets.widget import Widget, in_notebook, save_page


class Sheet(Widget):
    """One question or several, to be answered in a notebook, or in a page without Python.

    `points` are what was scored, and `answered` how many questions are done: traits to observe.
    """

    call = "exercise.check"  # how it is answered where no script runs
    _esm = source()
    _css = f"{STYLE}{style()}\n{DARK}"
    content = traitlets.Unicode().tag(sync=True)
    answers = traitlets.List().tag(sync=True)
    progress = traitlets.Dict().tag(sync=True)
    points = traitlets.Int(read_only=True)
    answered = traitlets.Int(read_only=True)

    def __init__(self, *tasks: Task) -> None:
        super().__init__()
        self.tasks = tasks

    @traitlets.default("content")
    def _content(self) -> str:
        return content(self.tasks)

    @traitlets.default("answers")
    def _answers(self) -> list[dict[str, object]]:
        return [answer_data(task.answer) for task in self.tasks]

    @traitlets.default("progress")
    def _before(self) -> dict[str, dict[str, object]]:
        """What a notebook's file has of these questions."""
        found = load(path()) if in_notebook() else {}
        asked = {task.question for task in self.tasks}
        return {name: asdict(one) for name, one in found.items() if name in asked}

    @traitlets.validate("progress")
    def _is_progress(self, proposal: Mapping[str, Any]) -> object:
        for name, told in proposal["value"].items():
            try:
                as_answered(told)
            except (TypeError, ValueError, AttributeError):
                raise traitlets.TraitError(
                    f"progress = {quote({name: told})}: expected tries, points from 0 to 2, and "
                    "whether it is done, by questions."
                ) from None
        return proposal["value"]

    @traitlets.observe("progress")
    def _keep(self, change: Mapping[str, Any]) -> None:
        self.set_trait("points", self._points())
        self.set_trait("answered", self._answered())
        if in_notebook():
            old, new = change["old"] or {}, change["new"]
            changed = {n: Answered(**one) for n, one in new.items() if one != old.get(n)}
            keep(changed, without=old.keys() - new.keys())

    @traitlets.default("points")
    def _points(self) -> int:
        return sum(one.points for one in self._each)

    @traitlets.default("answered")
    def _answered(self) -> int:
        return sum(one.done for one in self._each)

    @property
    def _each(self) -> list[Answered]:
        """What was answered to each question."""
        return [Answered(**self.progress.get(task.question, {})) for task in self.tasks]

    @property
    def score(self) -> str:
        """How far it has come; a single question has no score."""
        return ""

    def text(self) -> str:
        """What is asked now, as plain text."""
        raise NotImplementedError

    def page(self) -> str:
        """The questions on a page of HTML, which checks answers by itself and loads nothing."""
        return to_page(self.tasks)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self.page)

    @property
    def _title(self) -> str:
        return self.text().partition("\n")[0]

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        shown = next((task.shown for task in self.tasks if task.shown), None)
        return fragment(self.tasks, self.call, self.score), self.text(), shown


class Asked:
    """A question, whoever made it."""

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        raise NotImplementedError

    @property
    def question(self) -> str:
        """The question in words."""
        return self.task.question

    @property
    def shown(self) -> Scene | None:
        """The picture that goes with the question."""
        return self.task.shown

    @property
    def revealed(self) -> Scene | None:
        """The picture of the answer."""
        return self.task.revealed

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


class Single(Asked, Sheet):
    """A question on a sheet of its own."""

    @property
    def task(self) -> Task:
        """Question, pictures and answer, as the page needs them."""
        (task,) = self.tasks
        return task
