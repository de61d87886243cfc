"""Compare `lab.canonical` with the Scans that PyTensor builds."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from hypothesis import Phase, given, settings
from random_loops import loops
from twins import assert_twin

import lab
from lab.loops import gallery
from lab.loops.scan_call import scan_call
from lab.scans.node import read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import cut_of
from lab.tape import Kind
from lab.traces.run import run


def theirs(loop):
    """Return PyTensor's own Scan for a loop, the values of its inputs, and its results by name."""
    call = scan_call(loop)
    results = call.results()
    (node,) = scan_nodes([v for v in results.values() if hasattr(v.type, "dtype")])
    return node, call.given, results


def layout(node):
    """Return the variables of a Scan in its order, as values that can be compared."""
    parts = read_node(node)
    return [
        (v.kind, v.name, v.tape, len(v.inner_inputs), len(v.inner_outputs),
         cut_of(v.outer_input).first if v.kind is Kind.SEQUENCE else None)
        for v in parts.variables
        if v.kind is not Kind.NIT_SOT  # PyTensor gives outputs no names
    ]  # fmt: skip


@pytest.mark.parametrize("name", gallery.loops)
def test_our_scan_equals_the_scan_of_pytensor(name):
    """Compare the layout, the attributes, and the results."""
    loop = gallery.loops[name]
    graph, (node, given_, results) = loop.build(), theirs(loop)
    assert layout(graph.node) == layout(node)
    assert graph.node.op.info == node.op.info
    assert graph.node.op.truncate_gradient == node.op.truncate_gradient
    assert len(graph.node.inputs) == len(node.inputs)
    for result, variable in results.items() if name != "walk" else ():
        actual = lab.trace(graph.outputs[result], graph.given).outputs[0]
        assert np.array_equal(actual, lab.trace(variable, given_).outputs[0])


@settings(max_examples=8, deadline=None, phases=(Phase.generate,))
@given(loop=loops())
def test_random_loops_equal_the_scans_of_pytensor(loop):
    if loop.steps == 1:
        assert lab.canonical(loop).inputs == ()
        return
    node, _, _ = theirs(loop)
    assert layout(loop.build().node) == layout(node)


def test_the_comparison_detects_another_layout():
    loop = gallery.loops["window"]
    node, _, _ = theirs(loop)
    assert layout(loop.with_taps({"u": (1, 0, -1)}).build().node) != layout(node)
    assert layout(gallery.loops["square"].build().node) != layout(node)


@pytest.mark.parametrize("name", gallery.loops)
def test_a_report_lists_the_arguments_of_the_scan(name):
    """Compare the printed expressions with values, and the printed numbers with the Scan."""
    loop = gallery.loops[name]
    report = lab.canonical(loop)
    node, given_, _ = theirs(loop)
    parts = read_node(node)
    assert report.calls == 1
    assert (len(report.inputs), len(report.outputs)) == (len(node.inputs), len(node.outputs))
    values = {v.name: np.asarray(x) for v, x in given_.items() if hasattr(v.type, "dtype")}
    for item in report.inputs[1:]:
        variable = node.inputs[item.number]
        (part,) = (v for v in parts.variables if v.outer_input is variable)
        assert (part.name, part.kind) == (item.name, item.kind)
        assert [parts.inner_inputs[number] for number in item.inner] == [*part.inner_inputs]
        if item.kind is Kind.SEQUENCE:
            compiled = run([variable], values_of(node, values))[0][variable]
            plain = eval(item.outer.replace("[:n]", f"[:{loop.steps}]"), dict(values))
            assert np.array_equal(plain, compiled)
    for item in report.outputs:
        variable = node.outputs[item.number]
        (part,) = (v for v in parts.variables if v.outer_output is variable)
        assert part.kind is item.kind
        assert [parts.inner_outputs[number] for number in item.inner] == [*part.inner_outputs]
        if item.kind is not Kind.UNTRACED and name != "newton":
            rows = len(run([variable], values_of(node, values, loop))[0][variable])
            more = rows - loop.steps
            assert item.outer in (f"{rows} rows", f"n + {more} rows" if more else "n rows")
    words = {(item.name, item.word) for item in (*report.inputs, *report.outputs)}
    for kind, variables in (("", loop.states), ("non-numeric ", loop.random)):
        for variable in variables:
            assert {(variable.name, f"{kind}{end} state") for end in ("input", "output")} <= words


def values_of(node, values, loop=None):
    """Map the inputs of a Scan's graph to the values with the same names."""
    inputs = pytensor.graph.traversal.explicit_graph_inputs(node.inputs)
    generators = {r.name: np.random.default_rng(r.seed) for r in loop.random} if loop else {}
    known = {**values, **generators}
    return {v: known[v.name] for v in inputs if v.name in known}


W, X0, F = pt.dscalar("w"), pt.dscalar("x0"), pt.fscalar("f")
test_errors = error_test(
    (lambda: lab.canonical(lambda x: x, outputs_info=[X0]), "raised an error"),
    (lambda: lab.canonical(lambda x: x * W, outputs_info=[F], n_steps=3), "starts as float32, but"),
    (lambda: lab.canonical(3), "expected a Loop"),
    (lambda: lab.canonical(gallery.loops["square"], n_steps=3), "n_steps: expected none"),
)


@pytest.mark.parametrize("name", ["gap", "lookup"])
def test_reports_as_text(name):
    """The sums and gradients of few steps in the golden texts were derived by hand."""
    assert_twin(f"canonical-{name}", lab.canonical(gallery.loops[name]))


def test_loops_without_a_section_on_few_steps():
    short = gallery.loops["sequence"].with_steps(1).with_values({"y": [0.5]})
    for loop in (gallery.loops["newton"], short):
        assert lab.canonical(loop).few_steps is None
