"""Puzzles: each has one answer, by brute force, and its tape is the tape of PyTensor's loop."""

import re
from itertools import combinations

import numpy as np
import pytest

import lab
import visual
from visual.exercises.answers import AnswerOutcome
from visual.exercises.puzzles import PUZZLES, RULES, Missing, Puzzle


def traced(puzzle):
    """Return the tape of the same loop in PyTensor."""
    names = [f"x[t{tap}]" for tap in puzzle.taps]
    text = puzzle.rule.text.format(*names).translate({ord("·"): "*", ord("−"): "-"})
    for raised, number in (("²", "2"), ("³", "3")):
        text = text.replace(raised, f"**{number}")
    given = max(-tap for tap in puzzle.taps)
    start = list(puzzle.start[-given:])
    start = start[0] if len(start) == 1 and puzzle.taps == (-1,) else start
    loop = lab.Loop.from_text(f"x[t] = {text}", {"x": start}, n_steps=puzzle.steps)
    first = len(puzzle.start)
    cost = [float(first + n in puzzle.costs) for n in range(puzzle.steps)]
    return list(loop.trace(cost=cost).scans[1].tapes[0].final[::-1]), len(puzzle.start) - given


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_the_tape_is_the_tape_of_the_loop(puzzle):
    found, unread = traced(puzzle)
    assert np.allclose(puzzle.tape()[unread:], found)
    assert puzzle.tape()[:unread] == [0] * unread


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_one_answer_is_right(puzzle):
    given, arity = len(puzzle.start), len(puzzle.taps)
    others = {
        Missing.STEP: [{"rule": rule} for rule in RULES[arity]],
        Missing.TAPS: [{"taps": taps} for taps in combinations(range(-given, 0), arity)],
        Missing.COST: [
            {"cost": cost}
            for count in range(1, puzzle.steps + 1)
            for cost in combinations(range(given, given + puzzle.steps), count)
        ],
    }[puzzle.missing]
    fitting = [one for one in others if Puzzle(**{**vars(puzzle), **one}).tape() == puzzle.tape()]
    assert len(fitting) == 1
    (right,) = fitting[0].values()
    for one in others:
        (value,) = one.values()
        is_step = puzzle.missing is Missing.STEP
        verdict = puzzle.task.check(1 + RULES[arity].index(value) if is_step else value)
        assert verdict.is_right == (value == right)
        if not verdict.is_right:
            told = re.search(r"would contain (\S+) instead of (\S+)\. ", verdict.reason)
            assert told, verdict.reason
            assert told[1] != told[2]


def test_the_hints_come_in_steps_and_the_answer_last():
    puzzle = next(p for p in PUZZLES if p.missing is Missing.TAPS)
    said = [puzzle.task.check("-1", tries).reason for tries in (1, 2, 3)]
    assert len(set(said)) == 3
    assert "Backward:" not in said[0] + said[1]
    assert "Backward:" in said[2]
    assert puzzle.task.check("-9").outcome is AnswerOutcome.WRONG


def test_six_puzzles_are_one_page(tmp_path):
    page = visual.puzzles().save(tmp_path / "puzzles.html").read_text()
    assert page.count('class="exercise"') == 6
    assert len(page) < 70_000
    assert sorted(puzzle.missing for puzzle in PUZZLES) == sorted([*Missing] * 2)
