"""What is asked of a learner: a question, its pictures, and an answer that is checked.

`visual.Exercise` makes questions of a trace, `visual.Question` has one that a person wrote.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError
from visual.answers import Form, Verdict, check_tries
from visual.asking import Task
from visual.files import as_path, write_whole
from visual.rerun import in_notebook


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
        from visual.exercise_page import to_page

        return to_page((self,))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from visual.exercise_page import excerpt

        return live(self) | {"text/html": excerpt(self), "text/plain": self.text()}


def widget_of(members: Sequence[Asked]) -> Any:
    """Questions, to be answered in a notebook one after another; needs anywidget."""
    try:
        from visual.exercise_widget import ExerciseWidget
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
