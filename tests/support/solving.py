"""Functions for the checks of a lesson, which run in its kernel after the last cell.

A check file, such as ``tests/lessons/01_loop.py``, runs in the namespace of its lesson.
"""

import json

import numpy as np

from visual.exercises.answers import AnswerOutcome
from visual.exercises.sheet import Single

_solved = set()


def solve(exercise, right, *wrong):
    """Check that `right` is correct, and that each answer in `wrong` is wrong, with a reason."""
    verdict = exercise.check(right)
    assert verdict.is_right, f"{exercise.task.question} {right!r}: {verdict}"
    assert verdict.reason, exercise.task.question
    assert wrong, f"{exercise.task.question}: no wrong answer is tried"
    for answer in wrong:
        verdict = exercise.check(answer)
        assert verdict.outcome is AnswerOutcome.WRONG, (
            f"{exercise.task.question} {answer!r}: {verdict}"
        )
        assert len(verdict.reason) > 10, f"{answer!r} gets no reason"
    _solved.add(id(exercise))


def rates(function, point, step=1e-6):
    """Estimate the derivative of `function` wrt each entry of `point`, by central differences."""
    point = np.array(point, dtype=float)
    moves = [move.reshape(point.shape) for move in step * np.eye(point.size)]
    slopes = [(function(point + move) - function(point - move)) / (2 * step) for move in moves]
    return np.reshape(slopes, point.shape)


def report(names):
    """Print, as JSON, the exercises of a lesson by name and whether they were solved."""
    exercises = {name: value for name, value in names.items() if isinstance(value, Single)}
    solved = {name: id(value) in _solved for name, value in exercises.items() if name[0] != "_"}
    print(json.dumps(solved))
