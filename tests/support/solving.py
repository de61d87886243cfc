"""Functions for the checks of a lesson, which run in its kernel after the last cell.

A check file, such as ``tests/lessons/01_loop.py``, runs in the namespace of its lesson.
"""

import json

import numpy as np

from visual.exercises.answers import AnswerOutcome
from visual.exercises.sheet import Single

_solved = set()


def solve(exercise, right, *wrong):
    """Check that `right` is right and that each answer in `wrong` is wrong, with a reason."""
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


def rates(function, at, by=1e-6):
    """Estimate the derivative of `function` wrt each entry of `at`, by central differences."""
    at = np.array(at, dtype=float)
    moves = [move.reshape(at.shape) for move in by * np.eye(at.size)]
    slopes = [(function(at + move) - function(at - move)) / (2 * by) for move in moves]
    return np.reshape(slopes, at.shape)


def report(names):
    """Print, as JSON, the exercises of a lesson by name and whether they were solved."""
    asked = {name: value for name, value in names.items() if isinstance(value, Single)}
    shown = {name: id(value) in _solved for name, value in asked.items() if name[0] != "_"}
    print(json.dumps(shown))
