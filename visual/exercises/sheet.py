"""The widgets of questions, which a reader answers in a notebook, in a page, or in Python.

The trait `progress` of a sheet maps the text of each question to its result. The traits `points`
and `answered` are computed from `progress`.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets

from lab.errors import quote
from visual.backends.dark import style
from visual.backends.page import document
from visual.exercises.answers import AnswerVerdict, ExerciseTask
from visual.exercises.page import MODULE, STYLE, content
from visual.exercises.progress import AnswerRecord, load, path, save
from visual.scene.shapes import Scene
from visual.scene.theme import LIGHT
from visual.widgets.module import DARK
from visual.widgets.widget import Widget, in_notebook, save_page


class ExerciseSheet(Widget):
    """One or several questions as a widget, or as a page without Python.

    Observe the traits `points` (the score) and `answered` (the number of finished questions).
    """

    _esm = MODULE
    _css = f"{STYLE}{style()}\n{DARK}"
    content = traitlets.Unicode().tag(sync=True)
    progress = traitlets.Dict().tag(sync=True)
    points = traitlets.Int(read_only=True)
    answered = traitlets.Int(read_only=True)

    def __init__(self, *tasks: ExerciseTask) -> None:
        super().__init__()
        self.tasks = tasks
        self._update_score()

    @traitlets.default("content")
    def _content(self) -> str:
        return content(self.tasks)

    @traitlets.default("progress")
    def _stored_progress(self) -> dict[str, dict[str, object]]:
        records = load(path()) if in_notebook() else {}
        questions = {task.question for task in self.tasks}
        return {name: asdict(record) for name, record in records.items() if name in questions}

    @traitlets.validate("progress")
    def _validate_progress(self, proposal: Mapping[str, Any]) -> object:
        for name, data in proposal["value"].items():
            try:
                AnswerRecord(**data)
            except (TypeError, ValueError):
                raise traitlets.TraitError(
                    f"progress = {quote({name: data})}: expected tries, points from 0 to 2, and "
                    "done for each question."
                ) from None
        return proposal["value"]

    @traitlets.observe("progress")
    def _save_progress(self, change: Mapping[str, Any]) -> None:
        self._update_score()
        if in_notebook():
            old, new = change["old"], change["new"]
            changed = {n: AnswerRecord(**data) for n, data in new.items() if data != old.get(n)}
            save(changed, removed=old.keys() - new.keys())

    def _update_score(self) -> None:
        records = [AnswerRecord(**self.progress.get(task.question, {})) for task in self.tasks]
        self.set_trait("points", sum(record.points for record in records))
        self.set_trait("answered", sum(record.done for record in records))

    def text(self) -> str:
        """Return the questions and their pictures as plain text."""
        return "\n\n".join(task.text() for task in self.tasks)

    def page(self) -> str:
        """Return the questions and their score as an HTML page that loads no other file."""
        count = "Exercise" if len(self.tasks) == 1 else f"{len(self.tasks)} exercises"
        title = f"{count}: predict, then reveal"
        body = (
            f"<h1>{title}</h1>\n<p>Answer before you look. A right first answer scores 2 points, "
            f"a right second answer 1.</p>\n{self.content}"
        )
        shown = self.tasks[0].shown
        return document(title, shown.theme if shown else LIGHT, body, MODULE, STYLE)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self.page)

    @property
    def _title(self) -> str:
        return self.text().partition("\n")[0]

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        shown = next((task.shown for task in self.tasks if task.shown), None)
        script = f'<script type="module">{MODULE}</script>'
        return f"<style>{STYLE}</style>\n{self.content}\n{script}\n", self.text(), shown


class Single(ExerciseSheet):
    """A sheet with one `task`, which has the `question` and the pictures `shown` and `revealed`."""

    def __init__(self, task: ExerciseTask) -> None:
        super().__init__(task)
        self.task, self.question = task, task.question
        self.shown, self.revealed = task.shown, task.revealed

    def check(self, answer: object, tries: int = 1) -> AnswerVerdict:
        """Check an answer: a text, a number, or several numbers.

        `tries` is 1 for the first try, then 2, 3, …; a later try receives a clearer hint.
        """
        return self.task.check(answer, tries)
