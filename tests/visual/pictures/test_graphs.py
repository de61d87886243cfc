"""Compare step graphs and genealogies with the PyTensor graph: values, edges, and counts."""

import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pictures import arrows, box_at, boxes, drawings, through_boxes
from pygraphviz import AGraph
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Constant
from pytensor.graph.op import io_connection_pattern
from pytensor.graph.traversal import ancestors, toposort
from strange_loops import HOSTILE, trace_of
from twins import assert_twin

import lab
from lab.equations.numbers import array_of
from lab.gradients.decisions import decisions_of
from lab.loops import gallery
from lab.notation import Leaf, Number, leaves_of, number_text
from lab.records import find_reachable
from lab.scans.node import read_node
from lab.scans.replacing import scan_nodes
from lab.tape import Kind
from lab.traces.scan_of import ScanOf
from visual.pictures.genealogy import explanation, genealogy
from visual.pictures.stepgraph.nodes import StepNodes, value_at
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes
from visual.scene.shapes import Arrow, Box, Group, Text

TWINS = {
    "stepgraph-square-1": (stepgraph, "square", 1, {}),
    "stepgraph-rnn-1": (stepgraph, "rnn", 1, {"step": 1}),
    "stepgraph-logistic-2": (stepgraph, "logistic", 2, {"scan": 3}),
    "genealogy-square-2": (genealogy, "square", 2, {}),
    "genealogy-square-3": (genealogy, "square", 3, {}),
    "genealogy-fibonacci-2": (genealogy, "fibonacci", 2, {}),
}
EVERY = [(name, order) for name in gallery.loops for order in (1, 2)]


@pytest.mark.parametrize("name", TWINS)
def test_text_twins(name):
    draw, loop, order, options = TWINS[name]
    assert_twin(name, draw(trace_of(loop, order), **options))


def traced(name, order=1):
    """Return the derivative of a gallery loop, and its trace with the unused forward loop."""
    derivative = gallery.loops[name].derivative(order)
    return derivative, lab.trace(derivative, also=_loops_beside(derivative))


def matched(derivative, trace):
    """Return pairs of a ScanTrace and the parts of its node."""
    nodes = scan_nodes([*derivative.values, *_loops_beside(derivative)])
    given = [(node.op.name or "scan_fn").replace("grad_of_", "") for node in nodes]
    assert given == [scan.name.split(" of ")[-1] for scan in trace.scans]
    return [(scan, read_node(node)) for scan, node in zip(trace.scans, nodes, strict=True)]


def _loops_beside(derivative):
    """Return the forward loops of a derivative, used or not."""
    nodes = scan_nodes(list(derivative.values))
    derived = [n.op.derivation for n in nodes if n.op.derivation is not None]
    return [d.parent.outputs[0] for d in derived]


def evaluated(scan, parts, step):
    """Compute all variables of a step with a separate PyTensor function."""
    variables = list(dict.fromkeys(v for n in toposort(parts.inner_outputs) for v in n.outputs))
    arrays = [v for v in variables if hasattr(v.type, "dtype")]
    given = {}
    for number, part in enumerate(parts.variables):
        for tap, argument in part.reads if part.inner_inputs else ():
            variable = scan.variable(Leaf(part.name, tap, number))
            if part.kind is Kind.SEQUENCE:
                given[argument] = variable.values[step]
            elif part.kind is Kind.PARAMETER:
                given[argument] = variable.value
            elif part.kind.is_state:
                given[argument] = next(a for a in variable.reads if a.tap == tap).values[step]
    random = [v for p in parts.of_kind(Kind.UNTRACED) for v in p.inner_inputs]
    free = [v for v in arrays if not set(ancestors([v])).intersection(random)]
    mode = Mode("py", None)
    function = pytensor.function(list(given), free, mode=mode, on_unused_input="ignore")
    values = dict(zip(free, map(np.asarray, function(*given.values())), strict=True))
    return arrays, given | values


@pytest.mark.parametrize(("name", "order"), EVERY)
def test_values_edges_and_results_are_those_of_the_graph(name, order):
    derivative, trace = traced(name, order)
    for number, (_, parts) in enumerate(matched(derivative, trace)):
        check_scan(trace, number, parts)


def check_scan(trace, number, parts):
    """Compare a Scan of a trace, and its picture, with the parts of its node."""
    scan = trace.scans[number]
    step = scan.steps // 2
    arrays, values = evaluated(scan, parts, step)
    places = {v: i for i, v in enumerate(arrays)}
    arguments = {
        argument: (i, tap if part.kind.is_state else None)
        for i, part in enumerate(parts.variables)
        for tap, argument in (part.reads if part.inner_inputs else ())
    }

    def same(source, variable):
        if isinstance(source, Number):
            return isinstance(variable, Constant) and is_written(source.written, variable.data)
        if isinstance(source, Leaf):
            return arguments.get(variable) == (source.argument, source.tap)
        return places.get(variable) == source

    assert len(scan.inside) == len(arrays)
    for value, variable in zip(scan.inside, arrays, strict=True):
        inputs = zip(value.inputs, variable.owner.inputs, strict=True)
        assert all(same(source, v) for source, v in inputs), value
        if variable in values:
            np.testing.assert_array_equal(value.values[step], values[variable])
    written = [
        (i, tap, result)
        for i, part in enumerate(parts.variables)
        if part.kind.is_state or part.kind is Kind.NIT_SOT
        for tap, result in part.writes
    ]
    for result, (i, tap, variable) in zip(scan.results, written, strict=False):
        assert (result.target.argument, result.target.tap) == (i, tap)
        assert same(result.source, variable)
    assert len(scan.results) == len(written) + (parts.until is not None)


def is_written(words, data):
    """Return whether a written number equals a constant to six digits."""
    if not isinstance(data, np.ndarray) or data.size != 1 or data.dtype.kind not in "iuf":
        return True
    return float(words) == pytest.approx(data.item(), rel=1e-5)


@pytest.mark.parametrize("wrong", ["value", "input", "constant", "result"])
def test_the_check_sees_what_is_wrong(wrong):
    derivative, trace = traced("square")
    (_, parts) = matched(derivative, trace)[1]
    check_scan(trace, 1, parts)
    scan = trace.scans[1]
    inside, results = list(scan.inside), scan.results
    if wrong == "value":
        inside[2] = replace(inside[2], values=inside[2].values + 1e-9)
    elif wrong == "input":
        inside[3] = replace(inside[3], inputs=inside[3].inputs[::-1])
    elif wrong == "constant":
        inside[2] = replace(inside[2], inputs=(inside[2].inputs[0], inside[2].inputs[0]))
    else:
        results = (replace(results[0], source=3),)
    broken = replace(scan, inside=tuple(inside), results=results)
    with pytest.raises(AssertionError):
        check_scan(replace(trace, scans=(trace.scans[0], broken)), 1, parts)


@pytest.mark.parametrize(("name", "order"), EVERY)
def test_boxes_and_arrows_of_a_step_are_its_nodes_and_edges(name, order):
    """Each box contains its value, and each arrow joins the boxes of a node and of its reader."""
    trace = trace_of(name, order)
    for number, scan in enumerate(trace.scans):
        nodes, step = StepNodes(ScanOf(trace, number)), scan.steps // 2
        scene = stepgraph(trace, number + 1, step)
        groups = [s for s in scene.shapes if isinstance(s, Group) and s.cell]
        if len(groups) < len(nodes.nodes):  # shared values did not fit
            nodes = StepNodes(ScanOf(trace, number), shared=False)
        around = {}
        for node, group in zip(nodes.nodes, groups, strict=True):
            around[node.place] = next(s for s in group.shapes if isinstance(s, Box))
            value = nodes.value(node.place, step)
            if value is not None:
                texts = " ".join(s.content for s in group.shapes if isinstance(s, Text))
                entries = [*map(number_text, value.ravel())]
                norm = number_text(np.linalg.norm(value))
                assert all(entry in texts for entry in entries) or norm in texts
        edges = [(before.place, node.place) for node in nodes.nodes for before in node.inputs]
        drawn = [s.points for s in scene.shapes if isinstance(s, Arrow)]
        for ends, points in zip(edges, drawn, strict=True):
            for key, (x, y) in zip(ends, (points[0], points[-1]), strict=True):
                box = around[key]
                assert box.x - 1 <= x <= box.x + box.width + 1
                assert box.y - 1 <= y <= box.y + box.height + 1


@pytest.mark.parametrize(("name", "order"), [*EVERY, ("square", 3), ("coupled", 3)])
def test_feeds_are_the_connections_of_the_graph(name, order):
    derivative, trace = traced(name, order)
    pairs = matched(derivative, trace)
    filled = {
        v.outer_output: (i, j)
        for i, (_, parts) in enumerate(pairs)
        for j, v in enumerate(parts.variables)
        if v.outer_output is not None
    }

    def connected(variable):
        near = [v for v in ancestors([variable], blockers=set(filled)) if v in filled]
        if not near:
            return set()
        pattern = io_connection_pattern(near, [variable])
        return {filled[v] for v, (yes,) in zip(near, pattern, strict=True) if yes}

    for scan, parts in pairs:
        for i, part in enumerate(parts.variables):
            if part.kind is not Kind.NIT_SOT:
                found = {(f.scan, f.variable) for f in scan.feeds if f.into == i}
                assert found == connected(part.outer_input), (scan.name, part.name)
    for i, output in enumerate(derivative.values):
        assert {(f.scan, f.variable) for f in trace.feeds if f.into == i} == connected(output)


@pytest.mark.parametrize("name", ["square", "coupled", "window", "walk"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_arrows_of_the_genealogy_are_those_of_the_trace(name, order):
    trace = trace_of(name, order)
    scene = genealogy(trace, all=True)
    assert through_boxes(scene) == []
    rows = {g.shapes[0]: g.cell for g in scene.groups() if g.cell}
    found = [tuple(rows[box_at(a.points[n], rows)] for n in (0, -1)) for a in arrows(scene)]
    parents = [(scan.parent, n) for n, scan in enumerate(trace.scans) if scan.parent is not None]
    assert found == [(f"scan {parent}", f"scan {n}") for parent, n in parents]


def test_of_many_scans_the_last_of_each_order_are_drawn():
    """Orders 0 to 4 have 1, 1, 2, 4, and 8 Scans; the picture shows the last two of the 8."""
    trace = trace_of("square", 4)
    scene = genealogy(trace)
    assert scene.width <= 840
    assert "⋯ 6 more Scans of order 4: all=True shows them" in scene.text()
    assert "16 · ∇C‴ through 1" in scene.text()
    assert "14 · " not in scene.text()
    assert "more Scans" not in genealogy(trace, all=True).text()


@pytest.mark.parametrize("name", gallery.loops)
def test_the_numbers_of_scans_and_of_step_functions(name):
    """Oracle: the operations, which PyTensor compares by their taps and inner functions."""
    loop = gallery.loops[name]
    derivative = loop.derivative(3)
    by_order = {order: [] for order in range(4)}
    for node in scan_nodes([*derivative.values]):
        made = decisions_of(node.op)
        by_order[made.order if made is not None else 0].append(node.op)
    counts, distinct = (
        ", ".join(str(len(kind(ops)) or int(not order)) for order, ops in by_order.items())
        for kind in (list, set)
    )
    total = sum(len(ops) or int(not order) for order, ops in by_order.items())
    *_, whole, told = explanation(trace_of(name, 3))
    assert whole.endswith(f"= {total}.")
    assert told == f"Scans of order 0 to 3: {counts}. Distinct step functions: {distinct}."


@pytest.mark.parametrize(
    "name",
    [HOSTILE, 'a"]; evil [label="b', "back\\", "\\N\\G", "two\nlines", "</table>", "\x00\x1b"],
)
def test_hostile_names_are_labels_and_nothing_else(name):
    """PyTensor accepts names that a loop does not."""
    found = []
    for x0 in (pt.dscalar(name), pt.dscalar("x")):
        xs = pytensor.scan(pt.tanh, outputs_info=[x0], n_steps=3, return_updates=False)
        found.append(drawings(lab.trace(lab.derivative(xs[-1], x0, order=2), {x0: 0.5})))
    for scene, twin in zip(*found, strict=True):
        ElementTree.fromstring(scene.svg())
        assert "<script" not in scene.svg()
        nodes = AGraph(string=scene.dot).nodes()
        assert sorted(nodes) == sorted(AGraph(string=twin.dot).nodes())
        assert set(nodes) == {f"n{i}" for i in range(len(nodes))}


@pytest.mark.parametrize(("name", "order"), [*EVERY, ("coupled", 3), ("newton", 3)])
def test_what_is_shared_makes_what_the_run_has_recorded(name, order):
    """Evaluate each result from its inputs in the picture; the picture has no other inputs."""
    trace = trace_of(name, order)
    for number in range(len(trace.scans)):
        for shared in (True, False):
            quantities = StepNodes(ScanOf(trace, number), shared=shared)
            assert wrong_results(quantities, trace.scans[number]) == []


def wrong_results(quantities, scan):
    """Return results with a wrong value, and inputs that a result does not need."""
    wrong = []
    for node in quantities.results:
        if node.term is None:  # the stop condition
            continue
        made = array_of(node.term, lambda leaf: quantities.value(leaf, scan.steps - 1))
        recorded = value_at(scan, node.place, scan.steps - 1)
        if made is not None and not np.allclose(made, recorded, rtol=1e-5, atol=1e-12):
            wrong.append(node.place)
        needed = find_reachable(
            [node.place.source], lambda s: scan.inside[s].inputs if isinstance(s, int) else ()
        )
        drawn = find_reachable([node], lambda n: n.inputs)
        wrong += [n.place for n in drawn if n.is_argument and n.place not in needed]
        told = {before.place for before in node.inputs}
        untold = (leaf for leaf in leaves_of(node.term) if leaf not in told)
        wrong += [leaf for leaf in untold if not quantities.is_total(leaf)]
    return wrong


def test_a_result_that_is_drawn_wrongly_is_seen():
    trace = trace_of("coupled")
    quantities, scan = StepNodes(ScanOf(trace, 1)), trace.scans[1]
    first, second, *rest = quantities.results
    for wrong in (replace(first, term=second.term), replace(first, inputs=first.inputs[1:])):
        broken = StepNodes(ScanOf(trace, 1))
        broken.results = (wrong, second, *rest)
        assert wrong_results(broken, scan)


def test_without_pygraphviz_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(lab.LabError, match="pip install pygraphviz"):
        stepgraph(trace_of("square"))


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton"])
def test_by_default_a_step_that_is_read_at_a_glance_receives_a_nonzero_gradient(name):
    """The heading explains the step, and its boxes are arguments, results, and a shared value."""
    for order in (1, 2, 3):
        trace = trace_of(name, order)
        scan, scene = trace.scans[-1], stepgraph(trace)
        step = int(re.search(r": step (\d+) as a graph", scene.text())[1])
        read = {leaf for f in scan.formulas for leaf in leaves_of(f.expression)}
        assert len(boxes(scene)) <= min(15, len(read) + len(scan.results) + 1)
        assert scene.height <= 700
        assert any(access.values[step].any() for tape in scan.tapes for access in tape.reads[:1])
        reason = f"step {step} combines two nonzero slots"
        assert (reason in scene.text()) == (step > 0)
        assert reason not in stepgraph(trace, step=step).text()
        if order > 1 and name != "rnn":  # C′ does not depend on the last value: step 0 reads 0
            assert step == 1
            assert not any(access.values[0].any() for t in scan.tapes for access in t.reads[:1])


@pytest.mark.parametrize("name", ["square", "gap", "rnn", "extra", "coupled"])
def test_the_keys_of_arguments_and_results_are_those_of_the_tapes(name):
    trace = trace_of(name, 2)
    known = {group.cell for group in tapes(trace, all=True).groups()}
    for number, scan in enumerate(trace.scans, start=1):
        keys = {group.cell for group in stepgraph(trace, number).groups() if group.cell}
        keys -= {key for key in keys if re.fullmatch(r"\d+:node \d+", key)}
        written = {(r.target.argument, r.target.tap) for r in scan.results if r.target}
        assert len(keys & known) >= len(written)
        assert [key for key in keys - known if re.match(r"\d+:d", key)] == []
