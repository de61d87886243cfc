"""Scans and buffers after rewriting: outcomes, rows, and PyTensor's own graphs."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan, squares, to_compile
from graphs.to_compile import GIVEN
from pytensor.compile import FunctionMaker, In, Mode, get_mode
from pytensor.compile.io import Out
from pytensor.graph.replace import vectorize_graph
from pytensor.scan.op import Scan

import lab
from lab.errors import ArgumentError, GradientError, GraphError
from lab.loops import gallery
from lab.reports.compile.buffers import Retention
from lab.reports.compile.compile import FUSION
from lab.reports.compile.compiled import NO_LOOP
from lab.reports.compile.rewriting import inputs_of, rewrite_graph
from lab.scans.node import read_node
from lab.scans.replacing import scan_nodes
from lab.tape import Kind

MODES = ["CVM", "NUMBA"]
R = Retention
MERGED = object()
# The numbers of Scans before and after, the merged Scans or the effect on a Scan that does not
# remain, and for every remaining buffer its number of rows and its retention.
LAST = {"CVM": [(2, R.LAST)], "NUMBA": [(1, R.NO_BUFFER)]}
TWO = {"CVM": [(2, R.LAST)] * 2, "NUMBA": [(1, R.NO_BUFFER)] * 2}
OUTPUT = {"CVM": [(2, R.LAST), (1, R.LAST)], "NUMBA": [(1, R.LAST), (1, R.NO_BUFFER)]}
HIDDEN = {"CVM": [(2, R.LAST), (2, R.STEP)], "NUMBA": [(1, R.NO_BUFFER), (1, R.STEPS_ONLY)]}
CASES = {
    "last": ((1, 1), None, LAST),
    "whole": ((1, 1), None, [(6, R.ALL)]),
    "last_two": ((1, 1), None, [(2, R.FEW)]),
    "third_of_ten": ((1, 1), None, [(4, R.ALL)]),
    "only_its_shape": ((1, 0), "removed: no result is used", []),
    "same_twice": ((2, 1), MERGED, LAST),
    "two_loops": ((2, 1), MERGED, TWO),
    "a_map": ((1, 0), "replaced by Mul, without a loop", []),
    "constant_inside": ((1, 1), None, LAST),
    "with_output": ((1, 1), None, OUTPUT),
    "hidden_state": ((1, 1), None, HIDDEN),
    "stops": ((1, 1), None, LAST),
    "unnamed": ((1, 1), None, LAST),
}


def given_for(outputs):
    return {v: GIVEN[v.name] for v in inputs_of(outputs) if v.name in GIVEN}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_outcomes_and_rows(name, mode):
    outputs = [to_compile.output_of(name)]
    result = lab.compiled(outputs, mode=mode, given=given_for(outputs))
    counts, effect, buffers = CASES[name]
    assert (result.original, len(result.after)) == counts
    effects = [rewrite.effect for rewrite in result.rewrites if rewrite.name == NO_LOOP]
    assert effects == ([effect] if isinstance(effect, str) else [])
    if effect is MERGED:
        assert result.after[0].sources == (1, 2)
    expected = buffers[mode] if isinstance(buffers, dict) else buffers
    assert sorted((b.stored.number, b.retention) for b in result.buffers) == sorted(expected)
    assert result.linker in str(result)
    ours = rewrite_graph(outputs, mode, FUSION)
    assert_equal_to_a_function(ours.after, outputs, mode)
    for report, parts in zip(result.after, map(read_node, ours.after), strict=True):
        assert report.stops_early == (parts.until is not None)
        kinds = [(v.kind, v.tape) for v in parts.variables if v.outer_output is not None]
        assert [(buffer.kind, buffer.tape) for buffer in report.buffers] == kinds


def signatures(nodes):
    """Return the layout, the outputs written over inputs, and the input shapes of each Scan."""
    shapes = [[getattr(v.type, "shape", None) for v in node.inputs] for node in nodes]
    written = [set(getattr(node.op, "destroy_map", {})) for node in nodes]
    return [node.op.info for node in nodes], written, shapes


def assert_equal_to_a_function(ours, outputs, mode):
    """Assert that PyTensor prepares the same Scans for a function, without compiling."""
    inputs, results = [In(v) for v in inputs_of(outputs)], [Out(v) for v in outputs]
    maker = FunctionMaker(inputs, results, mode=get_mode(mode), on_unused_input="ignore")
    assert signatures(ours) == signatures(scan_nodes(maker.fgraph.outputs))


def test_the_comparison_detects_another_function():
    outputs = [to_compile.output_of("last")]
    with pytest.raises(AssertionError):
        assert_equal_to_a_function(rewrite_graph(outputs, "CVM", FUSION).after, outputs, "NUMBA")


@pytest.mark.parametrize("mode", MODES)
def test_a_compiled_function(mode):
    """Apply the rewrites of a mode, and run the function without a compiler."""
    cost = to_compile.output_of("last_two")
    inputs = inputs_of([cost])
    rewrites = Mode("py", get_mode(mode).provided_optimizer)
    function = pytensor.function(inputs, cost, mode=rewrites)
    report = lab.compiled(function, given=given_for([cost]))
    assert [b.stored.number for b in report.buffers] == [2]
    assert (report.original, report.rewrites) == (0, ())
    unknown = lab.compiled(cost, mode="CVM").buffers[0].stored
    assert (unknown.number, str(unknown)) == (None, "min(1, n) + 1")
    plain = lab.compiled(inputs[0] * 2)
    assert (plain.original, plain.after) == (0, ())
    for wrong in ({"wrt": inputs[0]}, {"mode": "CVM"}):
        with pytest.raises(ArgumentError, match="expected none with a compiled function"):
            lab.compiled(function, **wrong)


def effects(report):
    """Map pairs (a part of the name of a rewrite, a Scan) to the effect of the rewrite."""
    return {(part, scan): r.effect for r in report.rewrites for part in PARTS if part in r.name
            for scan in r.scans}  # fmt: skip


PARTS = ("push_out_non_seq", "push_out_seq", "scan_merge", "inplace", "save_mem", "reduce_trace")


def test_operations_that_leave_the_step_are_named():
    """In x·√a + eᵘ, √a is the same at every step, and eᵘ needs no state."""
    u, x0, a = pt.dvector("u"), pt.dscalar("x0"), pt.dscalar("a")
    xs = scan(lambda u, x, a: x * pt.sqrt(a) + pt.exp(u), u, x0, a, n_steps=6, name="pushed")
    report = lab.compiled(xs[-1], mode="CVM")
    pushed = effects(report)
    assert pushed["push_out_non_seq", "pushed"].endswith(": Sqrt")
    assert pushed["push_out_seq", "pushed"].endswith(": Exp")
    assert "Exp" in str(report)
    shortening = {"save_mem", "reduce_trace"}
    assert {part for part, _ in effects(lab.compiled(SQUARE, mode="CVM"))} & shortening
    assert not {part for part, _ in effects(lab.compiled(SQUARE, "x", mode="CVM"))} & shortening


def test_a_scan_that_a_rewrite_copies_for_a_shape():
    x0 = pt.dmatrix("x0")
    xs = scan(lambda x: x0 @ x, outputs_info=[x0], n_steps=4)
    report = lab.compiled(pt.diag(xs[-1]).sum(), x0)
    assert {s for r in report.rewrites for s in r.scans} == {"scan_fn", "gradient of scan_fn"}


@pytest.mark.parametrize("name", ["square", "gap", "fibonacci"])
def test_the_gradient_requires_all_rows(name):
    loop = gallery.loops[name]
    report = lab.compiled(loop, loop.states[0].name, mode="CVM")
    is_linear = name == "fibonacci"  # its gradient needs no values
    for buffer in report.buffers:
        if buffer.kind in (Kind.SIT_SOT, Kind.MIT_SOT) and buffer.name in loop.variables:
            assert buffer.is_shortened == is_linear, buffer
            if not is_linear:
                assert buffer.stored.number == buffer.rows.number
    assert any(b.is_shortened for scan in report.alone for b in scan.buffers)
    assert ("only the gradient reads the others" in " ".join(str(report).split())) != is_linear


COST, Z = to_compile.output_of("last"), pt.zscalar("z")
X0, SQUARE = inputs_of([COST])[0], gallery.loops["square"]
COMPLEX = abs(scan(lambda v: v * X0, outputs_info=[Z], n_steps=3)[-1])
test_errors = error_test(
    (lambda: lab.compiled(COST, mode="FASTEST"), "mode = 'FASTEST'"),
    (lambda: lab.compiled(COST, given={X0: "much"}), "x0 = 'much': expected a number"),
    (lambda: lab.compiled(COST, given=3), "given = 3: expected a dict"),
    (lambda: lab.compiled(SQUARE, given={}), "given = {}: expected None; use loop.with_values"),
    (lambda: lab.compiled(COST, wrt=pt.dscalar("other")), GraphError, "does not depend"),
    (lambda: lab.compiled(COMPLEX, wrt=X0), GradientError, "wrt = x0: .* not build derivative 1"),
    (lambda: lab.compiled([COST, COST], wrt=X0), "one scalar"),
    (lambda: lab.compiled(SQUARE, wrt="z"), "expected one of x"),
    *((lambda s=subject: lab.compiled(s), "subject") for subject in (3, [], "square", [3])),
)


def test_scans_inside_a_blockwise_are_counted_as_in_a_real_function():
    x0, starts = pt.dscalar("x0"), pt.dvector("starts")
    xs = pytensor.scan(pt.sin, outputs_info=x0, n_steps=2, return_updates=False)
    cost = vectorize_graph(xs[-1], {x0: starts}).sum()
    rewrites = Mode("py", get_mode("CVM").provided_optimizer)  # C code would compile for seconds
    for outputs, wrt in (([cost], None), ([cost, pytensor.grad(cost, starts)], starts)):
        function = pytensor.function([starts], outputs, mode=rewrites)
        nodes = function.maker.fgraph.toposort()
        inside = sum(isinstance(getattr(node.op, "core_op", None), Scan) for node in nodes)
        assert inside == len(outputs)
        report = lab.compiled(cost, wrt=wrt, mode="CVM")
        assert (report.after, report.enclosing) == ((), ("Blockwise",) * inside)
        assert f"Scans inside Blockwise: {inside}" in report.summary
        assert lab.compiled(function).enclosing == report.enclosing
    assert "inside" not in lab.compiled(to_compile.output_of("last")).summary


STEPS = {"scan_fn": 2, "scan_fn2": 3}
STEPS |= {f"gradient of {name}": steps for name, steps in STEPS.items()}


def test_names_of_unnamed_loops_and_their_gradients():
    """Differentiate two loops of 2 and 3 steps."""
    x0 = pt.dscalar("x0")
    xs = pytensor.scan(pt.sin, outputs_info=x0, n_steps=2, return_updates=False)
    ys = pytensor.scan(pt.cos, outputs_info=xs[-1], n_steps=3, return_updates=False)
    cost = ys[-1]
    trace = lab.trace(lab.derivative(cost, x0), {x0: 0.5})
    assert {scan.name: scan.steps for scan in trace.scans} == STEPS
    theirs = lab.trace([cost, pytensor.grad(cost, x0)], {x0: 0.5})
    assert {scan.name: scan.steps for scan in theirs.scans} == STEPS
    report = lab.compiled(cost, wrt=x0, given={x0: 0.5})
    assert {scan.name: scan.steps.number for scan in report.after} == STEPS
    assert report.original == len(theirs.scans)
    reports = lab.explain(cost, x0).scans
    assert {scan.name: str(scan.system.steps) for scan in reports} == {
        name: str(lab.system(node).steps)
        for name, node in zip(("scan_fn", "scan_fn2"), scan_nodes([cost]), strict=True)
    }


@pytest.mark.parametrize("taps", [(0,), (0, 2), (1, -1), (-1, 0, 1)])
def test_steps_and_rows_equal_the_run_of_pytensor(taps):
    u, x, w = pt.dvector("u"), pt.dscalar("x"), pt.dscalar("w")
    xs = scan(
        lambda *read: read[-1] * read[-2] + sum(read[:-2]),
        sequences=[{"input": u, "taps": taps}],
        outputs_info=[x],
        non_sequences=[w],
    )
    given = {u: np.ones(8), x: 0.1, w: 0.9}
    steps = len(xs.eval(given, mode="FAST_COMPILE"))
    (forward, *_) = lab.compiled(xs.sum(), w, given=given).after
    assert forward.steps.number == steps
    assert forward.buffers[0].rows.number == forward.buffers[0].stored.number == steps + 1


def test_a_buffer_of_unknown_length_is_complete_or_shortened():
    """The sum of x[t] = x[t−3]·x[t−1] reads all rows, and its final value one row."""
    start, n = pt.dvector("start"), pt.iscalar("n")
    initial = {"initial": start, "taps": [-3, -1]}
    xs = scan(lambda x, y: x * y, outputs_info=[initial], n_steps=n)
    cases = [(xs.sum(), R.ALL), (xs[-1], R.LAST), (squares(n)[1][-150:], R.FEW)]
    cases += [(squares(steps)[1][-1], R.LAST) for steps in (100 - n, 50 - n, n - 200)]
    cases += [(squares(n)[1][n - 2], R.ALL)]
    buffers = [lab.compiled(output, mode="CVM").buffers[0] for output, _ in cases]
    assert [buffer.retention for buffer in buffers] == [retention for _, retention in cases]
    assert {buffer.stored.number for buffer in buffers} == {None}
    assert ")]; a := " in buffers[-1].readers[0]
