"""Exercises as an anywidget: the same module as in the page, in a notebook."""

from collections.abc import Sequence

import anywidget
import traitlets

from visual.exercises.answers import Task
from visual.exercises.page import MODULE, STYLE, answer_data, content
from visual.widgets.rerun import made_in_cell


class ExerciseWidget(anywidget.AnyWidget):
    """Exercises that are answered in the notebook, without a kernel's help."""

    _esm = MODULE
    _css = STYLE
    content = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.List().tag(sync=True)

    def __init__(self, tasks: Sequence[Task], **others: object) -> None:
        answers = [answer_data(task.answer) for task in tasks]
        super().__init__(content=content(tasks), answers=answers, **others)
        made_in_cell(self)
