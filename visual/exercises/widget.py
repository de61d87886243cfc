"""Exercises as an anywidget: the same module as in the page, in a notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from visual.exercises.page import MODULE, STYLE, answer_data, content
from visual.widgets.rerun import made_in_cell

if TYPE_CHECKING:
    from visual.exercises.exercise import Asked


class ExerciseWidget(anywidget.AnyWidget):
    """Exercises that are answered in the notebook, without a kernel's help."""

    _esm = MODULE
    _css = STYLE
    content = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.List().tag(sync=True)

    def __init__(self, exercises: Sequence["Asked"], **others: Any) -> None:
        made = [answer_data(exercise.task.answer) for exercise in exercises]
        super().__init__(content=content(exercises), answers=made, **others)
        made_in_cell(self)
