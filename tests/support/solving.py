"""What a lesson's checks call, in the lesson's own kernel, after its last cell.

A check file, ``tests/lessons/01_loop.py``, is run among the names of its lesson.
"""

import json

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


def report(names):
    """The exercises of a lesson by name, and which of them were solved; printed as JSON."""
    asked = {name: value for name, value in names.items() if isinstance(value, Single)}
    shown = {name: id(value) in _solved for name, value in asked.items() if name[0] != "_"}
    print(json.dumps(shown))
