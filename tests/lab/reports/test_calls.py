"""Canonical arguments, the words for them, and few steps, against PyTensor's own Scans."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan
from hypothesis import Phase, given, settings
from random_loops import loops
from twins import assert_twin

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.loops.scan_call import scan_call
from lab.scans.node import read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import cut_of
from lab.tape import Kind, Tape
from lab.traces.run import run
from visual.scene.shapes import Arrow, Group


def theirs(loop):
    """PyTensor's own Scan for a loop, its values, and what it returns by name."""
    call = scan_call(loop)
    results = call.results()
    (node,) = scan_nodes([v for v in results.values() if hasattr(v.type, "dtype")])
    return node, call.given, results


def layout(node):
    """The variables of a Scan in its order: what tells two Scans of the same loop apart."""
    parts = read_node(node)
    return [
        (v.kind, v.name, v.tape, len(v.inner_inputs), len(v.inner_outputs), starts(v))
        for v in parts.variables
        if v.kind is not Kind.NIT_SOT  # PyTensor does not know its name
    ]


def starts(variable):
    """Of a sequence, at which row of the given array it starts."""
    return cut_of(variable.outer_input).first if variable.kind is Kind.SEQUENCE else None


@pytest.mark.parametrize("name", gallery.loops)
def test_our_scan_is_laid_out_like_pytensors(name):
    loop = gallery.loops[name]
    ours, (node, _, _) = loop.build().node, theirs(loop)
    assert layout(ours) == layout(node)
    assert ours.op.info == node.op.info
    assert ours.op.truncate_gradient == node.op.truncate_gradient
    assert len(ours.inputs) == len(node.inputs)


@pytest.mark.parametrize("name", [n for n in gallery.loops if n != "walk"])
def test_both_scans_compute_the_same(name):
    loop = gallery.loops[name]
    _, given_, results = theirs(loop)
    graph = loop.build()
    for result, variable in results.items():
        found = lab.trace(variable, given_).outputs[0]
        assert np.array_equal(found, lab.trace(graph.outputs[result], graph.given).outputs[0])


@settings(max_examples=8, deadline=None, phases=(Phase.generate,))
@given(loop=loops())
def test_random_loops_are_laid_out_like_pytensors(loop):
    if loop.steps == 1:
        assert lab.canonical(loop).inputs == ()
        return
    node, _, _ = theirs(loop)
    assert layout(loop.build().node) == layout(node)


def test_the_comparison_sees_another_layout():
    loop = gallery.loops["window"]
    node, _, _ = theirs(loop)
    assert layout(loop.with_taps({"u": (1, 0, -1)}).build().node) != layout(node)
    assert layout(gallery.loops["square"].build().node) != layout(node)


@pytest.mark.parametrize("name", gallery.loops)
def test_what_is_told_of_the_arguments_is_what_the_scan_has(name):
    loop = gallery.loops[name]
    found = lab.canonical(loop)
    node, given_, _ = theirs(loop)
    assert found.called == 1
    assert len(found.inputs) == len(node.inputs)
    assert len(found.outputs) == len(node.outputs)
    sequences = [item for item in found.inputs if item.kind is Kind.SEQUENCE]
    values = {v.name: np.asarray(x) for v, x in given_.items() if hasattr(v.type, "dtype")}
    for item, variable in zip(sequences, node.inputs[1:], strict=False):
        compiled = run([variable], dict_of(node, values))[0][variable]
        plain = eval(item.outer.replace("[:n]", f"[:{loop.steps}]"), dict(values))
        assert np.array_equal(plain, compiled)
    for out, variable in zip(found.outputs, node.outputs, strict=True):
        if out.kind is not Kind.UNTRACED and name != "newton":
            rows = len(run([variable], dict_of(node, values, loop))[0][variable])
            assert out.rows in (f"{rows} rows", *symbolic(rows - loop.steps))


def symbolic(more):
    return (f"n + {more} rows",) if more else ("n rows",)


def dict_of(node, values, loop=None):
    """The inputs of the graph of a Scan, with values of those names."""
    found = pytensor.graph.traversal.explicit_graph_inputs(node.inputs)
    generators = {r.name: np.random.default_rng(r.seed) for r in loop.random} if loop else {}
    known = {**values, **generators}
    return {v: known[v.name] for v in found if v.name in known}


def test_a_sequence_with_two_taps():
    """In the document u and u[4:]; in PyTensor u[0:-4] and u[4:], cut to the shorter."""
    u, x0, w = pt.dvector("u"), pt.dscalar("x0"), pt.dscalar("w")
    found = lab.canonical(
        lambda now, later, x: x + now * later * w,
        sequences=[{"input": u, "taps": [0, 4]}],
        outputs_info=[x0],
    )
    _, first, second, state, parameter = found.inputs
    assert (first.outer, second.outer) == ("u[0:-4][:n]", "u[4:][:n]")
    assert (first.inner, second.inner) == (("u[t]",), ("u[t+4]",))
    assert (first.note, second.note) == ("in older texts u[0:]", "in older texts u[4:]")
    assert state.outer == "a buffer of n + 1 rows"
    assert state.note == "row 0 filled with x0"
    assert parameter.note == "found in the step"
    assert found.called_with == ("u[t]", "u[t+4]", "x0[t−1]")
    (out,) = found.outputs
    assert out.returned == "returned from row 1 on"
    printed = str(found)
    assert "as many as the shortest sequence   (filled in)" in printed
    assert "called once" in printed


@pytest.mark.parametrize("name", gallery.loops)
def test_the_picture_tells_the_same(name):
    found = lab.canonical(gallery.loops[name])
    scene = visual.canonical(found)
    whole = scene.text() + " ".join(s.title for s in scene.shapes if isinstance(s, Group))
    for item in found.inputs:
        assert item.outer in whole
        assert all(inner in whole for inner in item.inner)
    for said in found.given:
        assert said.value in whole
    arrows = sum(isinstance(shape, Arrow) for shape in scene.shapes)
    assert arrows == len(found.inputs) + sum(bool(item.inner) for item in found.inputs)


def test_the_picture_of_two_taps():
    assert_twin("canonical-window", visual.canonical(lab.canonical(gallery.loops["window"])))
    one = lab.canonical(gallery.loops["square"].with_steps(1))
    assert "no Scan" in visual.canonical(one).text()


def test_the_picture_of_a_loop_is_that_of_its_call_and_others_are_refused():
    loop = gallery.loops["window"]
    assert visual.canonical(loop).svg() == visual.canonical(lab.canonical(loop)).svg()
    with pytest.raises(ArgumentError, match=r"subject = 3: expected what lab\.canonical found"):
        visual.canonical(3)


def test_mit_sots_come_before_sit_sots():
    x, y = pt.dvector("x"), pt.dscalar("y")
    found = lab.canonical(
        lambda y, older, newer: (y + older, older + newer * y),
        outputs_info=[y, {"initial": x, "taps": [-2, -1]}],
        n_steps=3,
    )
    assert [item.name for item in found.inputs[1:]] == ["x", "y"]
    assert [out.name for out in found.outputs] == ["x", "y"]
    assert found.outputs[0].returned == "returned from row 2 on"


def test_no_scan_for_one_step():
    found = lab.canonical(gallery.loops["square"].with_steps(1))
    assert found.inputs == ()
    assert found.outputs == ()
    assert "no Scan" in str(found)


def test_what_pytensor_refuses():
    x0 = pt.dscalar("x0")
    with pytest.raises(ArgumentError, match="refused this"):
        lab.canonical(lambda x: x, outputs_info=[x0])
    with pytest.raises(ArgumentError, match="starts as float32, but its step makes float64"):
        lab.canonical(lambda x: x * x0, outputs_info=[pt.fscalar("f")], n_steps=3)
    with pytest.raises(ArgumentError, match="expected a Loop"):
        lab.canonical(3)
    with pytest.raises(ArgumentError, match="n_steps"):
        lab.canonical(gallery.loops["square"], n_steps=3)


# The words.


@pytest.mark.parametrize("name", gallery.loops)
def test_words_point_at_the_places_that_the_node_has(name):
    loop = gallery.loops[name]
    graph = loop.build()
    parts = read_node(graph.node)
    by_name = {}
    for entry in lab.vocabulary(loop).entries:
        by_name.setdefault(entry.variable, []).append(entry)
        where, number = entry.outer.split()
        if where == "input":
            made = graph.node.inputs[int(number)]
            assert entry.variable in {v.name for v in parts.variables if v.outer_input is made}
        else:
            made = graph.node.outputs[int(number)]
            assert entry.variable in {v.name for v in parts.variables if v.outer_output is made}
        where, first = entry.inner.split()[:2]
        inner = (parts.inner_inputs if where == "argument" else parts.inner_outputs)[int(first)]
        part = next(v for v in parts.variables if inner in (*v.inner_inputs, *v.inner_outputs))
        assert part.name == entry.variable or where == "result"
    for state in loop.states:
        words = [entry.word for entry in by_name[state.name]]
        assert words == ["input state", "output state"]
    for random in loop.random:
        assert [e.word for e in by_name[random.name]] == [
            "non-numeric input state",
            "non-numeric output state",
        ]


def test_the_order_of_results_with_a_generator_and_an_output():
    """Outputs that feed nothing back come before generators among the results."""

    def step(x, rng):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        return x * 0.5 + draw, draw, rng

    loop = lab.Loop(
        step,
        states=(lab.State("x", 1.0),),
        outputs=("draw",),
        random=(lab.RandomState("rng", 1),),
        n_steps=3,
    )
    words = {(e.variable, e.word): e for e in lab.vocabulary(loop).entries}
    node = loop.build().node
    assert words["draw", "output"].outer == "output 1"
    assert words["rng", "non-numeric output state"].outer == "output 2"
    assert not hasattr(node.outputs[2].type, "dtype")
    assert [o.name for o in lab.canonical(loop).outputs][2] == "rng"


def test_words_for_gradients():
    entries = {(e.variable, e.word): e for e in lab.vocabulary(gallery.loops["gap"]).entries}
    assert entries["x", "input state"].slices == "x[t−3], x[t−1]"
    assert entries["x", "input state"].inner == "argument 0 to 1"
    assert entries["x", "input state"].gradient == "dx: mit-mot, writes 3, 1"
    assert entries["x", "output state"].gradient == "dx: mit-mot, reads 0, 3, 1"
    trace = gallery.loops["gap"].trace(order=1)
    assert trace.scans[1].tapes[0].tape == Tape((0, 3, 1), (3, 1))
    (k,) = (e for e in lab.vocabulary(gallery.loops["lookup"]).entries if e.variable == "k")
    assert k.gradient == "no gradient: whole numbers"
    words = lab.vocabulary(gallery.loops["walk"])
    assert "_slices" in str(words)


# Few steps.


def test_one_step_is_no_scan_and_gives_the_same():
    found = lab.few_steps(gallery.loops["logistic"])
    minus, none, one, two = found.cases
    assert (minus.scans, none.scans, one.scans, two.scans) == ((1, 2), (1, 2), (0, 0), (1, 2))
    assert "negative" in minus.error
    assert minus.value is None
    assert (none.shape, none.value, none.gradient) == ((0,), 0, 0)
    x, r = 0.2, 3.7
    first = r * x * (1 - x)
    assert one.value == pytest.approx(first)
    assert one.gradient == pytest.approx(r * (1 - 2 * x))
    assert two.value == pytest.approx(first + r * first * (1 - first))
    assert two.gradient == pytest.approx(r * (1 - 2 * x) * (1 + r * (1 - 2 * first)))
    assert found.agrees < 1e-15
    assert found.step == "r·x·(1 − x)"
    printed = str(found)
    assert "no Scan" in printed
    assert "x[t] = x[t−1]·r·(1 − x[t−1])" in printed
    assert "x₀₋ₖ" in printed


def test_one_step_of_a_sequence_and_by_a_parameter():
    found = lab.few_steps(gallery.loops["window"], wrt="u")
    assert found.step == "x + u[1]·(u[0] + u[2])"
    assert found.cases[2].gradient.tolist() == [1.0, 2.0, 1.0, 0, 0, 0]
    assert found.agrees == 0


def test_few_steps_are_refused():
    with pytest.raises(ArgumentError, match="stops by itself"):
        lab.few_steps(gallery.loops["newton"])
    with pytest.raises(ArgumentError, match="wrt = 'q'"):
        lab.few_steps(gallery.loops["square"], wrt="q")
    short = gallery.loops["sequence"].with_steps(1).with_values({"y": [0.5]})
    with pytest.raises(ArgumentError, match="1 step only"):
        lab.few_steps(short)


@pytest.mark.parametrize(("steps", "told"), [(0, "every result is empty"), (-2, "backwards")])
def test_a_loop_says_why_it_makes_a_step(steps, told):
    with pytest.raises(ArgumentError, match=told):
        gallery.loops["square"].with_steps(steps)


def test_negative_steps_fail_in_pytensor_only_when_they_are_run():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=-1)
    f = pytensor.function([x0], xs, mode="FAST_COMPILE")
    with pytest.raises(IndexError, match="negative number of step"):
        f(0.9)
