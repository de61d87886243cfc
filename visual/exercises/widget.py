"""Exercises as an anywidget: the same module as in the page, in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import anywidget
import traitlets

from visual.exercises.answers import Task
from visual.exercises.page import MODULE, STYLE, answer_data, content
from visual.exercises.progress import Answered, keep, load, path
from visual.widgets.rerun import made_in_cell


class ExerciseWidget(anywidget.AnyWidget):
    """Exercises that are answered in the notebook, without a kernel's help."""

    _esm = MODULE
    _css = STYLE
    content = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.List().tag(sync=True)
    progress = traitlets.Dict().tag(sync=True)

    def __init__(self, tasks: Sequence[Task], **others: object) -> None:
        answers = [answer_data(task.answer) for task in tasks]
        asked = {task.question for task in tasks}
        before = {name: asdict(one) for name, one in load(path()).items() if name in asked}
        super().__init__(content=content(tasks), answers=answers, progress=before, **others)
        made_in_cell(self)

    @traitlets.observe("progress")
    def _keep(self, change: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        old, new = change["old"] or {}, change["new"]
        changed = {n: Answered(**one) for n, one in new.items() if one != old.get(n)}
        keep(changed, without=old.keys() - new.keys())
