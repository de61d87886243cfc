"""Where a Scan stands: ids against PyTensor's print, lines against this file, phases by name."""

import io
from inspect import getsourcelines

import pytensor
import pytensor.tensor as pt
import pytest
from graphs import to_explain
from pytensor.graph.traversal import ancestors

import lab
import visual
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


def printed(variable):
    """What PyTensor prints, line by line."""
    stream = io.StringIO()
    pytensor.dprint(variable, file=stream)
    return stream.getvalue().splitlines()


def line_with(lines, id):
    """The first line that has an id, which is where the thing itself stands."""
    return next(line for line in lines if id in line)


@pytest.fixture(scope="module")
def found():
    cost, x0 = graph()
    (report,) = lab.explain(cost, x0).scans
    return cost, x0, report.stands


def test_ids_are_those_of_the_print(found):
    cost, x0, (loop, back) = found
    forward, gradient = printed(cost), printed(lab.derivative(cost, x0).value)
    assert "Scan{loop," in line_with(forward, loop.id)
    assert "Scan{grad_of_loop," in line_with(gradient, back.id)
    for lines, stand, starts in (
        (forward, loop, ("SetSubtensor", "a ")),
        (gradient, back, ("Subtensor", "Subtensor", "Alloc", "a ")),
    ):
        for place, start in zip(stand.places, starts, strict=True):
            assert start in line_with(lines, place.outer)
            for id in place.inner:
                assert "-> [id" in line_with(lines, id)  # an argument, and what it is handed
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
    assert {place.phase for place in loop.places} == {0}
    assert {place.name: place.phase for place in back.places} == {
        "x0": 7, "dx0": 8, "da": 9, "a": 10,
    }  # fmt: skip
    node = scan_nodes([lab.derivative(cost, x0).value])[-1]
    phases = derivation_of(node).record.phases
    assert "x0" in str(phases[6])
    assert "dx0" in str(phases[7])
    assert "da" in str(phases[8])


def test_the_report_prints_the_three_together(found):
    cost, x0, stands = found
    words = " ".join(str(lab.explain(cost, x0)).split())
    for stand in stands:
        assert stand.id in words
        assert stand.printed in words
    assert "of phase 8: Build the backward Scan's mit-mots" in words


def test_what_is_not_in_the_print_has_no_place():
    cost, x0 = to_explain.once()  # PyTensor has no Scan there
    assert lab.explain(cost, x0).scans[0].stands == ()


def test_of_a_huge_graph_nothing_is_printed(monkeypatch):
    monkeypatch.setattr(of_print, "MOST", 1)
    cost, x0 = graph()
    assert of_print.printed_ids([cost]) == {}
    assert lab.explain(cost, x0).scans[0].stands == ()


def test_a_scan_of_a_trace_and_its_picture_tell_where_it_stands():
    cost, x0 = graph()
    derivative = lab.derivative(cost, x0)
    a = next(v for v in ancestors([cost]) if v.name == "a")
    trace = lab.trace(derivative, {x0: 0.5, a: 2.0})
    lines = printed(list(derivative.values))
    number = getsourcelines(graph)[1] + 2
    for scan, name in zip(trace.scans, ("Scan{loop", "Scan{grad_of_loop"), strict=True):
        id = scan.place.partition(",")[0]
        assert name in line_with(lines, id)
    assert trace.scans[0].place.endswith(f"made by test_places.py:{number}: xs = pytensor.scan(")
    for kind, order, name in (("tapes", 1, "2 · gradient"), ("ssa", 2, "1")):
        drawn = lab.derivative(cost, x0, order)
        given = {x0: 0.5, a: 2.0}
        svg = visual.draw(drawn, kind, given=given).svg()
        places = [scan.place.replace('"', "&quot;") for scan in lab.trace(drawn, given).scans]
        assert any(f">{name}" in svg and f": {place}, as pytensor" in svg for place in places)
    assert lab.trace(derivative, {x0: 0.5, a: 2.0}, rewritten=True).scans[0].place[:3] != "[id"
