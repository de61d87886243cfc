"""The reader of symbols: `test_every_scene` compares all pictures of a run with it."""

import pytest
from pictures.checkers import conflicts

import visual
from lab.loops import gallery

KINDS = ("tapes", "unrolled", "ssa")


def test_the_values_are_those_of_a_loop_by_hand():
    square = gallery.loops["square"]
    wrong, known = conflicts(
        (f"{kind} {order}", visual.draw(square, kind, order=order).svg())
        for kind in KINDS
        for order in (1, 2)
    )
    assert wrong == []
    x = [0.95**2**i for i in range(5)]
    for i, symbol in enumerate(("x₀", "x₁", "x₂", "x₃", "x₄")):
        told = [float(value) for value in known[symbol].values()]
        assert len(told) >= 2
        assert told == pytest.approx([x[i]] * len(told))
    told = [float(value) for value in known["dC/dx₁"].values()]
    assert told
    assert told == pytest.approx([8 * x[3] * x[2] * x[1]] * len(told))


def test_the_reader_detects_a_conflict():
    cell = "<title>x₁ = 0.9025</title>"
    assert conflicts([("tapes", cell), ("ssa", "<title>x₁ = 0.9025 (3)</title>")])[0] == []
    assert conflicts([("tapes", cell), ("ssa", "<title>x₁ = 0.8145</title>")])[0]
    assert conflicts([("tapes", cell + "<title>x₁ = 0.8</title>")])[0]
