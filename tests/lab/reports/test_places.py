"""Locations of Scans: ids as in PyTensor's print, lines of this file, and names of phases."""

from inspect import getsourcelines

import pytensor
import pytensor.tensor as pt
import pytest
from graphs.prints import line_with, printed

import lab
from lab.gradients.derivation import derivation_of
from lab.scans import printed as of_print
from lab.scans.replacing import scan_nodes


def graph():
    x0, a = pt.dscalar("x0"), pt.dscalar("a")
    xs = pytensor.scan(
        lambda x, a: pt.sin(x) * a,
        outputs_info=[x0],
        non_sequences=[a],
        n_steps=3,
        return_updates=False,
        name="loop",
    )
    return xs[-1], x0


@pytest.fixture(scope="module")
def found():
    cost, x0 = graph()
    (report,) = lab.explain(cost, x0).scans
    return cost, x0, report.locations


def test_ids_are_those_of_the_print(found):
    cost, x0, (loop, back) = found
    forward, gradient = printed(cost), printed(lab.derivative(cost, x0).value)
    assert "Scan{loop," in line_with(forward, loop.id)
    assert "Scan{grad_of_loop," in line_with(gradient, back.id)
    for lines, stand, starts in (
        (forward, loop, ("SetSubtensor", "a ")),
        (gradient, back, ("Subtensor", "Subtensor", "Alloc", "a ")),
    ):
        arrays = [place for place in stand.places if place.outer]
        for place, start in zip(arrays, starts, strict=True):
            assert start in line_with(lines, place.outer)
            for id in place.inner:
                assert "-> [id" in line_with(lines, id)  # an argument and its outer variable
    assert "Scan" not in line_with(forward, loop.places[0].outer)


def test_the_line_is_that_of_the_call(found):
    _, _, (loop, back) = found
    lines, first = getsourcelines(graph)
    number = first + next(n for n, line in enumerate(lines) if "pytensor.scan(" in line)
    assert loop.line == f"test_places.py:{number}: xs = pytensor.scan("
    assert loop.places[1].line.startswith(f"test_places.py:{first + 1}: x0, a = ")
    assert back.line == ""  # nobody wrote it


def test_the_phase_is_that_which_the_derivation_tells(found):
    cost, x0, (loop, back) = found
    assert {place.phase for place in loop.places} == {""}
    node = scan_nodes([lab.derivative(cost, x0).value])[-1]
    phases = derivation_of(node).record.phases
    decided = {"x0": 7, "dx0": 8, "da": 9, "a": 10}
    assert {place.name: place.phase for place in back.places} == {
        name: f"{number}: {phases[number - 1].name}" for name, number in decided.items()
    }
    for name in ("x0", "dx0", "da"):  # and the phase mentions it
        assert name in str(phases[decided[name] - 1])


def test_of_a_huge_graph_nothing_is_printed(monkeypatch):
    monkeypatch.setattr(of_print, "MAX_PRINTED", 1)
    cost, x0 = graph()
    assert of_print.printed_ids([cost]) == {}
    assert lab.explain(cost, x0).scans[0].locations == ()
