"""The answers to the exam are right, and students do not receive them."""

import re

import numpy as np
import pytest
from sites import ROOT

import lab
from lab import gallery
from visual.cli.lessons import lessons

TEXT = (ROOT / "notebooks" / "site" / "exam_answers.md").read_text(encoding="utf-8")
ANSWERS = dict(re.findall(r"^\*\*(\d)\.\*\* (.*)$", TEXT, re.MULTILINE))


def test_every_question_has_an_answer():
    asked = re.findall(r"^\*\*(\d)\. .*?\((\d) points\)", exam(), re.MULTILINE)
    assert [number for number, _ in asked] == list(ANSWERS)
    assert f"{sum(int(points) for _, points in asked)} points" in exam()


def exam():
    return (ROOT / "notebooks" / "exam.md").read_text(encoding="utf-8")


def test_the_tapes():
    cubes = lab.Loop.from_text("x[t] = x[t-1]**3", {"x": 1.1}, n_steps=2)
    final = cubes.trace().scans[1].tapes[0].final[::-1]
    assert np.allclose(final, [9 * 1.1**8, 3 * 1.1**6, 1], rtol=1e-12)
    assert ", ".join(f"{value:.4g}" for value in final) in ANSWERS["1"]
    assert f"3·x₀² = {3 * 1.1**2:.2f}" in ANSWERS["1"]
    # C = x₁² + x₁⁴
    total = 2 * 0.81 + 4 * 0.81**3
    assert f"= {2 * 0.81:.2f}" in ANSWERS["2"]
    assert f"= {total:.4g}" in ANSWERS["2"]
    seeds = [2 * 0.81, 0, 1]
    squares = gallery.loops["square"].with_steps(3).trace(cost=seeds, at={"x": 0.9})
    assert squares.scans[1].tapes[0].final[::-1][1] == pytest.approx(total)


def test_taps_and_vectors():
    loop = lab.Loop.from_text("x[t] = x[t-1] + x[t-4]", {"x": [1.0] * 4}, n_steps=3)
    tape = loop.trace().scans[1].tapes[0].tape
    assert sorted(tape.reads) == [0, 1, 4]
    assert sorted(tape.writes) == [1, 4]
    assert "reads 0, 1, 4, preserves 0, and overwrites 1 and 4" in ANSWERS["3"]
    matrix = np.array([[1, 2], [0, 3]])
    by_h = [(matrix @ matrix @ unit).sum() for unit in np.eye(2)]  # by columns, without a transpose
    assert by_h == [1, 17]
    assert "[1, 17]" in ANSWERS["4"]


def test_orders_slots_and_memory():
    steps = [scan.node.op for scan in gallery.loops["square"].derivative(order=3).genealogy]
    assert f"{len(steps)} Scans with {len(set(steps))} distinct" in ANSWERS["5"]
    assert ANSWERS["6"].startswith("5,")
    assert "returns 10" in ANSWERS["6"]
    assert 1_000_000 * 8 == 8_000_000
    assert "8 MB" in ANSWERS["7"]
    assert (1000 + 1000) * 8 == 16_000
    assert "16 kB" in ANSWERS["7"]


def test_students_do_not_get_the_answers():
    assert "exam" in {path.stem for path in lessons()}
    assert not any("answers" in path.stem for path in lessons())
    assert "19.29" not in exam()
