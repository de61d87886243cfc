"""Compare step graphs and genealogies with the PyTensor graph: values, edges, and counts."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pygraphviz import AGraph
from strange_loops import HOSTILE, trace_of

import lab
from lab.equations.numbers import array_of
from lab.loops import gallery
from lab.notation import leaves_of
from lab.records import find_reachable
from lab.traces.faults import value_at_step
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Formula
from visual.pictures.genealogy import genealogy
from visual.pictures.stepgraph.nodes import StepNodes
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes

EVERY = [(name, order) for name in gallery.loops for order in (1, 2)]


@pytest.mark.parametrize(
    "name",
    [HOSTILE, 'a"]; evil [label="b', "back\\", "\\N\\G", "two\nlines", "</table>", "\x1b\u202e"],
)
def test_hostile_names_are_labels_and_nothing_else(name):
    """PyTensor accepts names that a loop rejects."""
    scenes = []
    for x0 in (pt.dscalar(name), pt.dscalar("x")):
        xs = pytensor.scan(pt.tanh, outputs_info=[x0], n_steps=3, return_updates=False)
        trace = lab.trace(lab.derivative(xs[-1], x0, order=2), {x0: 0.5})
        graphs = (stepgraph(trace, number, 2) for number in range(1, 1 + len(trace.scans)))
        scenes.append((genealogy(trace), *graphs))
    for scene, twin in zip(*scenes, strict=True):
        ElementTree.fromstring(scene.svg())
        assert not re.search("<script|\x1b|\u202e", scene.svg())
        nodes = AGraph(string=scene.dot).nodes()
        assert sorted(nodes) == sorted(AGraph(string=twin.dot).nodes())
        assert set(nodes) == {f"n{i}" for i in range(len(nodes))}


@pytest.mark.parametrize(("name", "order"), [*EVERY, ("coupled", 3), ("newton", 3)])
def test_each_result_is_computed_from_its_inputs_in_the_picture(name, order):
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
        computed = array_of(node.term, lambda leaf: quantities.value(leaf, scan.steps - 1))
        formula = Formula(node.place.target, node.term)
        recorded = value_at_step(scan, formula, scan.steps - 1)
        if computed is not None and not np.allclose(computed, recorded, rtol=1e-5, atol=1e-12):
            wrong.append(node.place)
        needed = find_reachable(
            [node.place.source], lambda s: scan.inside[s].inputs if isinstance(s, int) else ()
        )
        reached = find_reachable([node], lambda n: n.inputs)
        wrong += [n.place for n in reached if n.term is None and n.place not in needed]
        argument_places = {before.place for before in node.inputs}
        others = (leaf for leaf in leaves_of(node.term) if leaf not in argument_places)
        wrong += [leaf for leaf in others if not quantities.is_total(leaf)]
    return wrong


def test_a_wrong_result_is_detected():
    trace = trace_of("coupled")
    quantities, scan = StepNodes(ScanOf(trace, 1)), trace.scans[1]
    first, second, *rest = quantities.results
    for wrong in (replace(first, term=second.term), replace(first, inputs=first.inputs[1:])):
        broken = StepNodes(ScanOf(trace, 1))
        broken.results = (wrong, second, *rest)
        assert wrong_results(broken, scan)


@pytest.mark.parametrize("name", ["square", "gap", "rnn", "extra", "coupled"])
def test_arguments_and_results_have_the_keys_of_the_tapes(name):
    trace = trace_of(name, 2)
    known = {group.cell for group in tapes(trace, all=True).groups()}
    for number, scan in enumerate(trace.scans, start=1):
        keys = {group.cell for group in stepgraph(trace, number).groups() if group.cell}
        keys -= {key for key in keys if re.fullmatch(r"\d+:node \d+", key)}
        written = {(r.target.argument, r.target.tap) for r in scan.results if r.target}
        assert len(keys & known) >= len(written)
        assert [key for key in keys - known if re.match(r"\d+:d", key)] == []
