"""Questions as widgets and as HTML. A reader answers in a notebook, in a page, or in Python.

The trait `progress` of a sheet maps the text of each question to its result. From `progress`, the
sheet computes the traits `points` (the score) and `answered` (the number of finished questions).
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets

from lab.errors import quote
from visual.backends.dark import style
from visual.backends.page import document, embedded, in_script, region
from visual.backends.svg import text
from visual.exercises.answers import AnswerVerdict, ExerciseTask
from visual.exercises.progress import AnswerRecord, load, save
from visual.scene.shapes import Scene
from visual.scene.theme import LIGHT
from visual.widgets.widget import DARK_NOTEBOOK, SavedAsPage, Widget, bundle, in_notebook

FILE = Path(__file__).with_name("exercise.js")
MODULE = bundle(FILE)  # the script that checks answers in a page
STYLE = FILE.with_suffix(".css").read_text(encoding="utf-8")


class ExerciseSheet(SavedAsPage, Widget):
    """One or several questions as a widget, or as a page without Python."""

    _esm = MODULE
    _css = f"{STYLE}{style()}\n{DARK_NOTEBOOK}"
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
        """Return the HTML of the questions and the score, with the answers as JSON."""
        calls = [f"exercises.tasks[{n}].check" for n in range(len(self.tasks))]
        calls = calls if self.tasks[1:] else ["exercise.check"]
        questions = "\n".join(map(_section, self.tasks, calls))
        answers = in_script([task.page_data for task in self.tasks])
        return (
            f'<div data-exercises>{questions}\n<div class="scored"><p class="score" role="status">'
            '</p>\n<p><button type="button" class="again">Start again</button> '
            '<button type="button" class="export">Save the score as a file</button></p></div>\n'
            f'<script type="application/json">{answers}</script></div>'
        )

    @traitlets.default("progress")
    def _stored_progress(self) -> dict[str, dict[str, object]]:
        records = load() if in_notebook() else {}
        questions = {task.question for task in self.tasks}
        return {name: asdict(record) for name, record in records.items() if name in questions}

    @traitlets.validate("progress")
    def _validate_progress(self, proposal: Mapping[str, Any]) -> object:
        for name, data in proposal["value"].items():
            try:
                AnswerRecord(**data)
            except (TypeError, ValueError):
                why = "expected tries, points from 0 to 2, and done for each question."
                raise traitlets.TraitError(f"progress = {quote({name: data})}: {why}") from None
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

    @property
    def _title(self) -> str:
        return self.text().partition("\n")[0]

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        shown = next((task.shown for task in self.tasks if task.shown), None)
        return embedded(self.content, MODULE, STYLE), self.text(), shown


class Single(ExerciseSheet):
    """A sheet with one `task`; its `question`, `shown`, and `revealed` are also attributes here."""

    def __init__(self, task: ExerciseTask) -> None:
        super().__init__(task)
        self.task, self.question = task, task.question
        self.shown, self.revealed = task.shown, task.revealed

    def check(self, answer: object, tries: int = 1) -> AnswerVerdict:
        """Return the verdict on an answer, as `check` of the task does."""
        return self.task.check(answer, tries)


def _section(task: ExerciseTask, call: str) -> str:
    """Return the HTML of a question; without JavaScript, it names the `call` that checks."""
    field = (
        f"<label>Your answer: {text(task.expected)} "
        '<input name="answer" autocomplete="off" spellcheck="false"></label>'
    )
    if task.choices:
        radios = "".join(
            f'<label><input type="radio" name="answer" value="{number}"> {text(choice)}</label>'
            for number, choice in enumerate(task.choices, 1)
        )
        field = f"<fieldset><legend>Your answer</legend>{radios}</fieldset>"
    return (
        '<section class="exercise" aria-label="Question">\n<p class="number">Question</p>\n'
        f'<p class="question">{text(task.question)}</p>\n'
        f"{_picture(task.shown, 'shown', 'Picture of question')}"
        f"<p class='call'>Without JavaScript, answer in Python with <code>{call}(…)</code>: "
        f"{text(task.expected)}.</p><form>{field}"
        '<button type="submit">Check</button>'
        '<button type="button" class="show">Show the answer</button></form>\n'
        '<p class="verdict" role="status"></p>\n'
        f"{_picture(task.revealed, 'revealed', 'Answer to question', hidden='')}"
        "</section>"
    )


def _picture(picture: Scene | None, use: str, name: str, **attributes: str) -> str:
    if picture is None:
        return ""
    classes = f"picture {use} {picture.theme.name}"
    return region(name, picture.svg(), "div", **{"class": classes}, **attributes) + "\n"
