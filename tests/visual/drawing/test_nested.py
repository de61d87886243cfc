"""Scans inside steps, drawn: every kind, the ways in and back, and a workbench on the way."""

import pytest
from graphs.nested import three_levels, two_levels

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.options import INSIDE
from visual.workbench.controls import changed
from visual.workbench.workbench import Workbench

KINDS = [kind.name for kind in PICTURES.values() if INSIDE in kind.options]


@pytest.fixture(scope="module")
def graph():
    cost, x0, a = two_levels()
    return lab.derivative(cost, x0), {x0: 0.5, a: 0.9}


def ways(scene):
    """The paths that can be clicked."""
    return {group.cell for group in scene.groups() if (group.cell or "").startswith("inside:")}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_shows_the_scans_inside_a_step(graph, kind):
    derivative, given = graph
    outer = visual.draw(derivative, kind, given=given)
    inner = visual.draw(derivative, kind, given=given, inside=(2, 1))
    assert {"inside:2,0", "inside:2,1", "inside:2,2"} <= ways(outer)
    assert ways(inner) == {"inside:", "inside:2,0", "inside:2,1", "inside:2,2"}
    assert inner.title.startswith("Inside step 1 of 2 · gradient of outer: ")
    assert "inner" in inner.text()
    assert inner.width <= 840
    assert inner.height <= 1200


def test_another_step_has_other_numbers(graph):
    derivative, given = graph
    texts = {visual.draw(derivative, given=given, inside=(1, s)).text() for s in range(3)}
    assert len(texts) == 3
    assert any("2.261" in text for text in texts)  # sin(1.3773…)·0.9 + 1.3773…


def test_an_operation_that_is_a_scan_opens(graph):
    derivative, given = graph
    folded = visual.draw(derivative, "stepgraph", given=given, scan=1, step=2)
    (box,) = (g for g in folded.groups() if g.cell == "inside:1,2" and len(g.title) == 1)
    assert f"{box.title} := inner(x0" in folded.text()
    step = visual.draw(derivative, "stepgraph", given=given, scan=1, step=2, all=True)
    assert "inside:1,2" in ways(step)
    titles = {g.cell: g.title for g in step.groups() if g.title.startswith("inner")}
    assert set(titles) == {"inside:1,2"}


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ((2,), "expected a Scan's number and a step's"),
        ((3, 0), "inside = 3: the Scans of this trace are"),
        ((1, 3), "inside = 3: outer runs steps 0 to 2"),
        ((1, 0, 1, 0), "1 · inner has no Scan in its step"),
        ("a", "inside = 'a'"),
    ],
)
def test_ways_that_there_are_not(graph, path, told):
    derivative, given = graph
    with pytest.raises(ArgumentError, match=told):
        visual.draw(derivative, given=given, inside=path)


def test_a_loop_without_scans_in_its_step_has_no_ways():
    scene = visual.draw(gallery.loops["square"])
    assert not ways(scene)
    with pytest.raises(ArgumentError, match="has no Scan in its step"):
        visual.draw(gallery.loops["square"], inside=(1, 0))


def test_a_workbench_follows_three_levels_and_back():
    cost, x0, a = three_levels()
    bench = Workbench(cost, x0, {x0: 0.5, a: 0.9}, view="tapes")._bench
    titles = []
    for path in ("2,1", "2,1,2,0", "2,1", ""):
        assert f"inside:{path}" in ways(bench.picture)
        bench = changed(bench, ["options", "inside"], path)
        titles.append(bench.picture.title.partition(":")[0])
    assert titles == [
        "Inside step 1 of 2 · gradient of outer",
        "Inside step 0 of 2 · gradient of inner",
        "Inside step 1 of 2 · gradient of outer",
        "Tapes of outer, derivative of order 1",
    ]
    bench = changed(changed(bench, ["options", "inside"], "2,1"), ["view"], "stepgraph")
    assert bench.picture.title.startswith("Inside step 1 of 2 · gradient of outer: Step ")
    assert not changed(bench, ["view"], "taps").state.options
