"""Only the correct answer of a puzzle has the tape that PyTensor computes."""

import re
from itertools import combinations

import jupytext
import numpy as np
import pytest
from sites import ROOT

import lab
import visual  # noqa: F401 (the notebook uses it)

CELLS = jupytext.read(ROOT / "notebooks" / "puzzles.md").cells
TEXTS = [c.source for c in CELLS if re.match(r"\*\*\d\.\*\*", c.source)]
QUESTIONS = [eval(c.source) for c in CELLS if "visual.Question(" in c.source]
POWERS = str.maketrans({"·": "*", "−": "-", "²": "**2", "³": "**3"})


def tape_of(step, start, steps, cost):
    """Return the gradients of all values; values that no step reads have the gradient 0."""
    text = step.translate(POWERS)
    reach = max(map(int, re.findall(r"\[t-(\d)\]", text)))
    given = start[-reach:] if reach > 1 else start[-1]
    loop = lab.Loop.from_text(f"x[t] = {text}", {"x": given}, n_steps=steps)
    weights = [float(len(start) + n in cost) for n in range(steps)]
    final = loop.trace(cost=weights).scans[1].tapes[0].final[::-1]
    return [0.0] * (len(start) - reach) + list(final)


def taps(form, count):
    """Yield the step for each choice of two taps, and the taps."""
    for pair in combinations(range(-count, 0), 2):
        yield form.format(*(f"x[t{tap}]" for tap in pair)), pair


def costs(first, steps):
    """Yield each choice of states for the cost."""
    for count in range(1, steps + 1):
        yield from combinations(range(first, first + steps), count)


STEPS_1, STEPS_4 = (QUESTIONS[n].task.choices for n in (0, 3))
CANDIDATES = [  # for each puzzle: the tape and the answer of each candidate
    [(lambda s=s: tape_of(s, [2.0], 2, [2]), s) for s in STEPS_1],
    [(lambda c=c: tape_of("3*x[t-1]", [1.0], 4, c), c) for c in costs(1, 4)],
    [(lambda s=s: tape_of(s, [1.0, 2.0, 3.0], 4, [6]), p) for s, p in taps("{} + {}", 3)],
    [(lambda s=s: tape_of(s, [1.0, 2.0], 4, [5]), s) for s in STEPS_4],
    [(lambda c=c: tape_of("x[t-2]*x[t-1]", [2.0, 1.0], 4, c), c) for c in costs(2, 4)],
    [(lambda s=s: tape_of(s, [1.0, 2.0, 1.0, 3.0], 5, [6, 8]), p) for s, p in taps("{}*{}", 4)],
]


@pytest.mark.parametrize("number", range(6))
def test_only_the_right_answer_has_the_tape(number):
    (row,) = re.findall(r"\| gradient \|(.*)\|", TEXTS[number])
    tape = [float(value.replace("−", "-")) for value in row.split("|")]
    for compute, answer in CANDIDATES[number]:
        is_right = bool(np.allclose(compute(), tape))
        verdict = QUESTIONS[number].check(answer)
        assert verdict.is_right == is_right, (answer, verdict)
    assert sum(QUESTIONS[number].check(answer).is_right for _, answer in CANDIDATES[number]) == 1
