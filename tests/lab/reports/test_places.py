"""Locations of Scans: ids as in PyTensor's print, lines of this file, and names of phases."""

from dataclasses import replace
from inspect import getsourcelines

import pytensor
import pytensor.tensor as pt
import pytest
from graphs.prints import line_with, misplaced, printed
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


@pytest.fixture(scope="module")
def traced():
    """Derivatives of a loop, and of one in the step of another; with a trace, and the print."""
    cost, x0 = graph()
    a = next(v for v in ancestors([cost]) if v.name == "a")
    rows, start = pt.dmatrix("rows"), pt.dscalar("start")

    def row(values, total):
        return pytensor.scan(
            lambda v, acc: acc * pt.sin(v),
            sequences=[values],
            outputs_info=[total],
            return_updates=False,
            name="inner",
        )[-1]

    whole = pytensor.scan(
        row, sequences=[rows], outputs_info=[start], return_updates=False, name="outer"
    )[-1]
    found = []
    for of, by, order, given in (
        (cost, x0, 1, {x0: 0.5, a: 2.0}),
        (cost, x0, 2, {x0: 0.5, a: 2.0}),
        (whole, start, 1, {start: 0.5, rows: [[1.0, 2.0], [3.0, 4.0]]}),
    ):
        derivative = lab.derivative(of, by, order)
        run = lab.trace(derivative, given)
        found.append((derivative, given, run, printed(list(derivative.values))))
    return found


def test_every_variable_of_a_trace_stands_where_it_is_printed(traced):
    nested = 0
    for _, _, trace, lines in traced:
        for scan in trace.scans:
            assert list(misplaced(scan, lines)) == []
            for inner in (scan for step in scan.nested for scan in step.scans):
                assert list(misplaced(inner, lines)) == []
                nested += 1
    assert nested == 2 * 3  # a loop; and again with its gradient, for each of two rows
    scan = traced[0][2].scans[1]
    first, second, *rest = scan.places
    for wrong in ((second, first, *rest), (replace(first, inner=second.inner), second, *rest)):
        assert first.name in misplaced(replace(scan, places=tuple(wrong)), traced[0][3])


@pytest.mark.parametrize(
    "kind",
    ["tapes", "ssa", "stepgraph", "unrolled", "genealogy"],
)
def test_the_tooltip_of_a_scan_tells_where_its_variables_stand(traced, kind):
    derivative, given, trace, _ = traced[1]
    drawn = visual.draw(derivative, kind, given=given)
    titles = {getattr(shape, "title", "") for shape in (*drawn.walk(), *drawn.groups())}
    told = [title.partition(": ") for title in titles]
    assert {(called.split(" · ")[0], where) for called, _, where in told} & {
        (
            str(n),
            f"{scan.place}, as pytensor.dprint prints the outputs\n"
            + "\n".join(f"{place.name}: {place}" for place in scan.places),
        )
        for n, scan in enumerate(trace.scans, start=1)
    }


def test_what_is_rewritten_is_in_no_print(traced):
    cost, x0 = graph()
    a = next(v for v in ancestors([cost]) if v.name == "a")
    derivative = lab.derivative(cost, x0)
    for scan in lab.trace(derivative, {x0: 0.5, a: 2.0}, rewritten=True).scans:
        assert "[id" not in scan.place
        assert not any(place.printed for place in scan.places)
