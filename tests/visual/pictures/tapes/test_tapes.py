"""Tapes and their SSA form: every number is a number of the trace; and text twins."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytensor.tensor as pt
import pytest
from pictures import arrows, box_at, boxes, cell_groups, meets, pieces, words_of
from strange_loops import trace_of
from twins import assert_twin

import lab
import visual
from lab import check
from lab.loops import gallery
from lab.notation import number_text
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape
from visual.layout.names import NamedScan
from visual.scene.shapes import Arrow, Box, Text
from visual.scene.theme import Role

OF_CUBE = {"order": 1, "wrt": "w", "of": "cube", "cost": "sum"}
BARE = {"no_legend": True}  # `pictures.checkers` compares legends with roles
TWINS = {
    "square-1": ("square", 3, "tapes", {"order": 1}),
    "fibonacci-1": ("fibonacci", 3, "tapes", {"order": 1, **BARE}),
    "extra-w": ("extra", 2, "tapes", {**OF_CUBE, **BARE}),
    "window-u": ("window", 2, "tapes", {"order": 1, "wrt": "u"}),
    "all-square-2": ("square", 2, "tapes", {"order": 2, "all": True, **BARE}),
    "unrolled-square-2": ("square", 2, "unrolled", {"order": 2}),
    "unrolled-gap-1": ("gap", 3, "unrolled", {"order": 1, **BARE}),
    "unrolled-extra-w": ("extra", 2, "unrolled", {**OF_CUBE, **BARE}),
    "unrolled-coupled-0": ("coupled", 2, "unrolled", {"order": 0, **BARE}),
    "unrolled-rnn-1": ("rnn", 2, "unrolled", {"order": 1, **BARE}),
    "unrolled-walk-1": ("walk", 2, "unrolled", {"order": 1, **BARE}),
    "unrolled-fibonacci-1": ("fibonacci", 3, "unrolled", {"order": 1, **BARE}),  # no factors
    "unrolled-weights-1": ("square", 3, "unrolled", {"order": 1, "cost": [1.0, 0.0, 2.0], **BARE}),
    "unrolled-truncated-1": ("truncated", 3, "unrolled", {"order": 1, **BARE}),
    "taylor-square-2": ("square", 2, "tapes", {"order": 2, "mode": "taylor", **BARE}),
    "narrow-coupled-2": ("coupled", 3, "tapes", {"order": 2, "width": 360, **BARE}),
    "ssa-square-2": ("square", 2, "ssa", {"order": 2}),
    "ssa-coupled-2": ("coupled", 2, "ssa", {"order": 2, **BARE}),
    "stepgraph-rnn-1": ("rnn", 4, "stepgraph", {"order": 1, "step": 1}),
    "stepgraph-logistic-2": ("logistic", 6, "stepgraph", {"order": 2, "scan": 3, **BARE}),
    "stepgraph-gap-3": ("gap", 5, "stepgraph", {"order": 3, **BARE}),
    "stepgraph-coupled-2": ("coupled", 3, "stepgraph", {"order": 2, **BARE}),
    "stepgraph-newton-1": ("newton", 20, "stepgraph", {"order": 1, **BARE}),
    "genealogy-square-4": ("square", 4, "genealogy", {"order": 4}),  # of eight Scans, two
    "genealogy-coupled-3": ("coupled", 3, "genealogy", {"order": 3, **BARE}),
    "genealogy-fibonacci-2": ("fibonacci", 6, "genealogy", {"order": 2}),
    "ssa-letters": ("letters", 3, "ssa", {}),  # slots have other letters than variables
}
DRAWN = {
    **gallery.loops,
    "letters": lab.Loop.from_text("a = a*d", {"a": 0.5}, {}, {"d": 2.0}, n_steps=3),
    "truncated": lab.Loop.from_text("x = x*x", {"x": 0.9}, n_steps=5, truncate_gradient=2),
}


@pytest.mark.parametrize("name", TWINS)
def test_text_twins(name):
    loop, n_steps, picture, options = TWINS[name]
    assert_twin(name, visual.draw(DRAWN[loop].with_steps(n_steps), picture, **options))


def test_a_missing_arrow_changes_the_twin():
    scene = visual.genealogy(trace_of("square"))
    (arrow,) = arrows(scene)
    assert_twin("genealogy-square-1", scene)
    without = replace(scene, shapes=tuple(shape for shape in scene.walk() if shape != arrow))
    with pytest.raises(AssertionError):
        assert_twin("genealogy-square-1", without)


def expected_values(trace, key, moment, role):
    """Yield the values that a cell may show, from the reads and writes of the trace."""
    _, name, index = key.split(":")
    steps_before = 0
    for scan in trace.scans:
        step = None if moment is None else moment - steps_before
        steps_before += scan.steps
        for tape in (tape for tape in (*scan.tapes, *scan.outputs) if tape.name == name):
            known = [] if tape.axis is None else tape.axis.index.tolist()
            if not index.startswith("r") and int(index) not in known:
                continue
            row = int(index[1:]) if index.startswith("r") else known.index(int(index))
            if scan.parent is None or role is Role.READ or not tape.tape.reads:
                yield tape.final[row]
            elif step is None:
                yield from (tape.initial[row], tape.final[row])
            elif step < scan.steps:
                yield tape.contents(max(step, -1))[row]  # -1: the initial contents
        for sequence in scan.sequences:
            if name in (sequence.name, sequence.axis.variable) and index.isdigit():
                yield from sequence.values[sequence.axis.index == int(index)]
        yield from (p.value for p in scan.parameters if p.name == name)


@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("options", [{}, {"all": True}], ids=str)
def test_every_number_in_a_picture_is_a_number_of_the_trace(name, order, options):
    """Compare all cells: forward values, seeds, gradients at each step, and results."""
    trace = trace_of(name, order)
    groups = cell_groups(visual.tapes(trace, **options))
    groups = [each for each in groups if not each[0].cell.startswith("scan:")]  # no cards
    assert len(groups) > 20
    for group, step, role in groups:
        values = list(expected_values(trace, group.cell, step, role))
        assert values, group.cell
        words = words_of(group.shapes)
        if values[0].ndim:
            norms = {number_text(np.linalg.norm(v)) for v in values}
            assert any(n in text for n in norms for text in words), group.title
            continue
        value_text = group.title.split(" = ", 1)[1].split(" (before")[0]
        assert value_text in {repr(v.item()) for v in values}, group.title
        forms = {number_text(v) for v in values}  # with more digits if neighbors look the same
        forms |= {f"{form}…" for form in forms}
        forms |= {f"{v:.{digits}g}" for v in values for digits in (5, 6, 7)}
        assert forms & set(words), group.title


def test_expected_values_exclude_wrong_numbers():
    trace = trace_of("square", 1)
    key, moment, role = "0:dx:3", 4, Role.OVERWRITTEN  # the first backward step
    assert [float(v) for v in expected_values(trace, key, moment, role)] == [2 * 0.6634204312890625]


def test_uninitialized_memory_has_no_number():
    start, a = pt.dvector("start"), pt.dscalar("a")
    buffer = pt.set_subtensor(pt.empty((5,))[:1], start)
    state = LoopVariable(Kind.MIT_MOT, "b", Tape((0,), (1,)), buffer, (a,), (a * 2,))
    node = build_scan(ScanParts("by_hand", pt.constant(np.int64(4)), (state,)))
    trace = lab.trace(node.outputs[0], {start: [3.0]})
    assert trace.scans[0].tapes[0].unwritten.tolist() == [False, True, True, True, True]
    scene = visual.tapes(trace)
    blank = [group for group, _, role in cell_groups(scene) if role is Role.UNWRITTEN]
    assert {"not written yet" in group.title for group in blank} == {True}
    assert "in buffer order" in scene.text()


def test_the_total_that_was_requested_has_a_column():
    """Of seven running totals, two fit; the last total is the result."""
    start, values = {"x": [0.1, 0.2]}, dict.fromkeys("abcdefg", 0.2)
    text = "x[t] = (a + b + c + d + e + f)*x[t-1] + g*tanh(x[t-2])"
    loop = lab.Loop.from_text(text, start, {}, values, n_steps=7)
    scene = visual.draw(loop, "tapes", order=2, wrt="g")
    heads = {s.content for s in scene.walk() if isinstance(s, Text)} & {"d2a", "d2g"}
    assert heads == {"d2g"}


@cache
def window_of(name, cost):
    """Return a trace of steps 5 to 7 of 20; PyTensor compiles the other steps once."""
    loop = gallery.loops[name].with_steps(20)
    return lab.trace(loop.derivative(1, cost=cost), keep=slice(5, 8))


@pytest.mark.usefixtures("fast_compile")
@pytest.mark.parametrize("picture", [visual.tapes, visual.unrolled])
@pytest.mark.parametrize(("name", "cost"), [("logistic", "last"), ("gap", "last"), ("gap", "sum")])
def test_values_of_steps_before_a_window_are_not_seeds(picture, name, cost):
    """The cost reads all states, or only the last state, which a picture of steps 5 to 7 hides."""
    trace = window_of(name, cost)
    scene = picture(trace)
    seeds = [s for s in scene.walk() if isinstance(s, Box) and s.role is Role.SEED]
    assert bool(seeds) == (cost == "sum")
    last = max(tape.final.shape[0] for tape in trace.scans[0].tapes)
    assert len(seeds) < last * 2


def test_all_values_of_a_window_have_arrows_from_the_values_that_they_read(fast_compile):
    """Each step of gap reads two of its three earlier values."""
    scene = visual.tapes(window_of("gap", "last"))
    groups = [g for g in scene.groups() if any(isinstance(s, Arrow) for s in g.shapes)]
    assert Counter(g.step for g in groups if g.step in range(3)) == {0: 2, 1: 2, 2: 2}


def factors_on_arrows(scene):
    """Return each factor in a label, with the arrows that cross the label."""
    chips = [g.shapes for g in scene.groups() if len(g.shapes) == 2]
    return [
        (text.content, [a for a in arrows(scene) if any(meets(p, box, 0) for p in pieces(a))])
        for box, text in chips
        if isinstance(box, Box) and box.role is Role.PANEL and text.content.startswith("·")
    ]


@pytest.mark.parametrize("size", [{}, {"width": "85mm"}])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["coupled", "gap", "rnn", "newton", "extra"])
def test_each_factor_is_on_one_arrow(name, order, size):
    factors = factors_on_arrows(visual.draw(gallery.loops[name], "tapes", order=order, **size))
    assert [factor for factor, arrows in factors if len(arrows) != 1] == []


def test_factors_on_arrows_compute_the_new_numbers():
    """A new number is the old number plus, for each incoming arrow, the factor times its source."""
    scene, sums = visual.tapes(trace_of("coupled", 1)), {}
    all_boxes = boxes(scene)
    groups = (g for g in scene.groups() if g.cell and " = " in g.title)
    numbers = {id(group.shapes[0]): words_of(group.shapes) for group in groups}
    for factor, (arrow,) in factors_on_arrows(scene):
        start, end = (id(box_at(arrow.points[n], all_boxes)) for n in (0, -1))
        sums.setdefault(end, []).append(float(factor[1:].strip("()")) * float(numbers[start][0]))
    assert sorted(map(len, sums.values())) == [1] * 3 + [2] * 6  # arrows to totals, and to slots
    for slot, parts in sums.items():
        new, old = map(float, numbers[slot])
        assert new == pytest.approx(old + sum(parts), rel=2e-3)


def test_a_factor_on_two_arrows_is_detected():
    scene = visual.tapes(trace_of("coupled", 1))
    (x, y), *_ = next(arrow for _, (arrow,) in factors_on_arrows(scene)).points
    added = Arrow(((x - 200, y + 10), (x + 200, y + 10)))
    crossed = replace(scene, shapes=(*scene.shapes, added))
    assert any(len(arrow) == 2 for _, arrow in factors_on_arrows(crossed))


@pytest.mark.parametrize(("name", "parameter"), [("newton", "a"), ("coupled", "birth")])
def test_the_numbered_parts_of_a_gradient_add_up_to_the_gradient(name, parameter):
    """The derivative of the first derivative wrt the parameter is the sum of all parts."""
    loop = gallery.loops[name]
    trace = loop.trace(order=2)
    part = re.compile(rf"∂[₁-₉]C′/∂{parameter}")
    parts = [
        float(tape.final[-1])
        for named in NamedScan.each(trace)
        for tape in named.scan.buffers
        if part.fullmatch(named.tape_label(tape, None))
    ]
    assert len(parts) > 1

    def slope(value):
        return float(loop.with_values({parameter: value}).trace(order=1).outputs[1])

    (point,) = [p.value for p in trace.scans[0].parameters if p.name == parameter]
    estimate = check.finite_differences(slope, float(point))
    assert sum(parts) == pytest.approx(float(estimate), rel=1e-4, abs=1e-9)
