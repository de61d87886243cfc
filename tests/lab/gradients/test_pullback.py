"""The pullback, compared with finite differences, closed forms, and PyTensor."""

from dataclasses import replace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan, squares
from graphs.to_explain import GRAPHS
from hypothesis import given as given_examples
from hypothesis import strategies as st
from oracles import check_orders
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.scan.op import Scan
from pytensor.tensor.type import TensorType
from random_loops import costs, loops
from strange_loops import LOOPS

import lab
from lab.checks import check
from lab.checks.check import value_at
from lab.errors import ArgumentError, BroadcastError, GradientError, GraphError
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.reports.breaking.rules import BROKEN
from lab.scans.node import LoopVariable, ScanParts, TapeScan, build_scan
from lab.scans.replacing import scan_nodes, with_plain, with_tapes
from lab.tape import Kind, Tape
from lab.traces.run import run

OLD_UNTIL = tuple(map(int, pytensor.__version__.split(".")[:2])) < (3, 1)


@given_examples(st.data())
def test_random_loops_to_third_order(data):
    loop = data.draw(loops())
    of, cost = data.draw(costs(loop))
    graph = loop.build()
    wrt = graph.inputs[data.draw(st.sampled_from([n for n in loop.variables if n != "flag"]))]
    scalar = loop.cost(graph, cost, of)
    given = graph.given
    moved = given[wrt] + np.random.default_rng(0).uniform(0.01, 0.1, size=np.shape(given[wrt]))
    if value_at(scalar, given) != value_at(scalar, {**given, wrt: moved}):
        check_orders(scalar, wrt, given, data.draw(st.sampled_from([1, 2, 2, 3])), 2e-7)


@given_examples(st.data())
def test_random_loops_have_the_gradients_of_pytensor(data):
    loop = data.draw(loops())
    if "flag" in loop.variables:
        if OLD_UNTIL:
            return  # PyTensor 3.0 computes a wrong gradient
    else:  # PyTensor truncates, but finite differences do not
        limit = data.draw(st.sampled_from([-1, -1, 1, 2, 3]))
        loop = replace(loop, truncate_gradient=limit)
    of, cost = data.draw(costs(loop))
    graph = loop.build()
    scalar = loop.cost(graph, cost, of)
    (plain,) = with_plain([scalar])
    assert type(scan_nodes([plain])[0].op) is Scan
    for name, variable in graph.inputs.items():
        if name == "flag":
            continue
        theirs = pytensor.grad(plain, variable, disconnected_inputs="ignore")
        ours = pytensor.grad(scalar, variable, disconnected_inputs="ignore")
        a, b = value_at(ours, graph.given), value_at(theirs, graph.given)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_the_checker_rejects_only_wrong_rules():
    loop = gallery.loops["square"].with_steps(5)
    graph = loop.build()
    cost, x = loop.cost(graph, "sum"), graph.inputs["x"]
    check_orders(cost, x, graph.given, 3)
    for name in ("accumulate-overwritten", "never-accumulate", "unreversed-sequences"):
        with pytest.raises(check.WrongGradientError):
            check_orders(cost, x, graph.given, 3, rule=BROKEN[name].rule)


def test_the_adjoint_test_accepts_only_correct_products():
    """Compare <g, J v> with <Jᵀ g, v> for a matrix J."""
    jacobian, v, g = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0.3, -0.2]), np.array([2.0, 5])
    assert check.adjoint([jacobian @ v], [g], [v], [jacobian.T @ g], 1e-9) < 1e-12
    with pytest.raises(check.WrongGradientError):
        check.adjoint([jacobian @ v], [g], [v], [jacobian.T @ g * 1.001], 1e-9)


# Graphs that `lab.Loop` does not build: each function returns a cost, an input, and values.


def mit_mot(reads, writes, step, extra=0):
    """Return a model with a mit-mot; the buffer is an input, and has `extra` rows at the end."""

    def model():
        length = Tape(reads, writes).rows(3) + extra
        buffer = pt.vector("buffer", shape=(length,))
        arguments = tuple(pt.dscalar(f"b{tap}") for tap in reads)
        state = LoopVariable(
            Kind.MIT_MOT, "b", Tape(reads, writes), buffer, arguments, tuple(step(*arguments))
        )
        node = build_scan(ScanParts("by_hand", pt.constant(np.int64(3)), (state,)))
        cost = (node.outputs[0] * np.linspace(1.0, -0.7, length)).sum()
        return cost, buffer, {buffer: np.linspace(0.3, 1.4, length)}

    return model


def variable_steps(steps, wrt_sequence=False):
    """Return a model whose number of steps is an input."""

    def model():
        n, x0, u = pt.iscalar("n"), pt.dvector("x0"), pt.dmatrix("u")
        xs = scan(lambda u, x: x * u, sequences=[u], outputs_info=[x0], n_steps=n)
        given = {n: steps, x0: np.array([1.0, 2.0]), u: np.arange(1.0, 9).reshape(4, 2)}
        return xs.sum(), u if wrt_sequence else x0, given

    return model


def sit_sot(buffer, steps, step, until=None):
    argument = pt.dscalar("x")
    result = step(argument)
    state = LoopVariable(Kind.SIT_SOT, "x", Tape((-1,), (0,)), buffer, (argument,), (result,))
    condition = None if until is None else until(result)
    return build_scan(ScanParts("by_hand", pt.constant(np.int64(steps)), (state,), condition))


def long_buffer(rows, until=None, initial=1):
    """Return a model of 4 steps over `rows` rows; the first `initial` rows have values."""

    def model():
        b = pt.dvector("b")
        buffer = pt.set_subtensor(pt.empty((rows,))[:initial], b)
        xs = sit_sot(buffer, 4, lambda x: x * x + 0.1 * x, until).outputs[0]
        cost = (xs * pt.constant(np.linspace(1, 2, 9))[: xs.shape[0]]).sum()
        return cost, b, {b: np.linspace(0.8, 0.6, initial)}  # stops after 3 steps

    return model


def long_sequence(cut, steps):
    """Return a model over a sequence that has more entries than the loop has steps."""

    def model():
        u, n, a, x = pt.dvector("u"), pt.lscalar("n"), pt.dscalar("a"), pt.dscalar("x")
        buffer = pt.set_subtensor(pt.empty((n + 1,))[:1], 0.7)
        parts = (
            LoopVariable(Kind.SEQUENCE, "u", Tape((0,), ()), cut(u, n), (a,)),
            LoopVariable(Kind.SIT_SOT, "x", Tape((-1,), (0,)), buffer, (x,), (a * a * x,)),
        )
        cost = build_scan(ScanParts("by_hand", n, parts)).outputs[0].sum()
        return cost, u, {u: np.linspace(0.5, 1.5, 9), n: steps}

    return model


MODELS = {
    "nonlinear in an overwritten tap": mit_mot((0, 1), (1,), lambda a, b: [pt.sin(a) * b**2]),
    "reads before an overwrite": mit_mot((-1, 1), (0,), lambda a, b: [pt.sin(a) * pt.cos(b)], 2),
    "writes without reading": mit_mot((0,), (1,), lambda a: [pt.sin(a) + a**2], 2),
    "preserves a value": mit_mot((-1, 0), (0, -1), lambda a, b: [a * b, a], 2),
    **{f"{steps} steps wrt a state": variable_steps(steps) for steps in (0, 1, 4)},
    **{f"{steps} steps wrt a sequence": variable_steps(steps, True) for steps in (0, 1, 4)},
    **{f"{rows} rows for 4 steps": long_buffer(rows) for rows in (5, 6, 9)},
    **{f"{rows} rows, until": long_buffer(rows, lambda x: x < 0.5) for rows in (5, 6, 9)},
    **{f"{rows} initial values for 4 steps": long_buffer(rows, None, rows) for rows in (5, 7)},
    **{f"{n} of {n} rows, until": long_buffer(n, lambda x: x < 0.5, n) for n in (5, 7)},
    "a sequence from row n": long_sequence(lambda u, n: u[n:], 2),
    "a sequence with a stride": long_sequence(lambda u, n: u[::n], 2),
    "a long sequence": long_sequence(lambda u, n: u, 1),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_to_second_order(name):
    check_orders(*MODELS[name]())


def test_a_loop_that_stops_early_has_gradients_of_whole_arrays():
    """The loop xₖ = x₀·u₁·…·uₖ stops at x₄ = 0.8⁴. For C = Σ xₖ, dC/duₖ is Σ xᵢ/uₖ with i ≥ k."""
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(lambda u, x: (x * u, lab.until(x * u < 0.5)), sequences=[u], outputs_info=[x0])
    (node,) = scan_nodes([xs])
    ones = [pt.ones_like(v) for v in node.outputs]
    gradients = lab.pullback(node.op, node.inputs, node.outputs, ones)
    given, xs = {u: np.full(6, 0.8), x0: 1.0}, 0.8 ** np.arange(5)
    expected = [*(xs[k:].sum() / 0.8 for k in range(1, 5)), 0, 0]
    np.testing.assert_allclose(value_at(gradients[1], given), expected)
    initial = value_at(gradients[2], given)
    assert initial.shape == (7,)
    np.testing.assert_allclose(initial[0], xs.sum())


def test_single_precision():
    """Compare with the same loop in double precision."""
    values = np.array([0.3, 0.9])
    results = []
    for dtype in ("float32", "float64"):
        x, w = pt.vector("x", dtype=dtype), pt.vector("w", dtype=dtype)
        xs = scan(lambda x, w: pt.tanh(w * x), outputs_info=[x], non_sequences=[w], n_steps=3)
        given = {x: values.astype(dtype), w: values[::-1].astype(dtype)}
        results.append(lab.trace(lab.derivative(xs.sum(), w, 2), given).outputs)
    for single, double in zip(*results, strict=True):
        assert (single.dtype, double.dtype) == ("float32", "float64")
        np.testing.assert_allclose(single, double, rtol=2e-6)


# Truncation and counters.


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_truncated_derivatives_can_be_differentiated(limit):
    """Differentiate a truncated gradient; the truncated steps count as constants."""
    truncated = {"n_steps": 4, "truncate_gradient": limit}
    loop = lab.Loop.from_text("w*x*x", {"x": 0.9}, {}, {"w": 0.8}, **truncated)
    graph = loop.build()
    backward = scan_nodes([loop.derivative(1, "w", "last", graph=graph).value])[-1]
    tape, total = backward.outputs
    derivation = lab.derive(
        backward.op, backward.inputs, backward.outputs, [pt.zeros_like(tape), pt.ones_like(total)]
    )
    sequence = backward.inputs[1]
    values, _ = run(backward.inputs, graph.given, record=False)
    given = {v: values[v] for v in backward.inputs}
    check.gradient(total.sum(), sequence, derivation.gradients[1], given, 1e-8)


def test_an_integer_state_has_no_gradient_but_can_be_a_factor():
    loop = lab.Loop.from_text("k = k + k; x = x*k", {"k": np.int64(1), "x": 2.0}, n_steps=4)
    assert loop.trace(order=1, wrt="x", of="x").outputs[1] == 1 * 2 * 4 * 8


# Errors, and gradients that are not numbers.


def without_a_number_of_steps():
    node = sit_sot(pt.dvector("b"), 4, lambda x: 0.7 * x)
    inputs = [disconnected_type(), *node.inputs[1:]]
    return lab.pullback(node.op, inputs, node.outputs, node.outputs)


def short_buffer():
    b = pt.dvector("b")
    node = sit_sot(b, 4, lambda x: 0.7 * x)
    derivative = lab.derivative((node.outputs[0] ** 2).sum(), b, 1)
    return value_at(derivative.value, {b: np.full(4, 0.3)})


def two_of_three_values():
    b = pt.dvector("b")
    start = {"initial": b, "taps": [-3, -1]}
    xs = scan(lambda p, q: p + q, outputs_info=[start], n_steps=5)
    assert lab.trace(xs, {b: [0.3, 0.7, 0.1]}).outputs[0].shape == (5,)
    return lab.trace(xs, {b: [0.3, 0.7]})


def misplaced(reads, extra):
    """Run a mit-mot with a buffer for which PyTensor would choose another first row."""
    cost, _, given = mit_mot(reads, (1,), lambda a, b: [a * b], extra)()
    return value_at(cost, given)


def random_factor(wrt):
    def step(x, u, rng):
        next_rng, draw = pt.random.normal(0, 1, rng=rng, return_next_rng=True)
        return x * draw + u, next_rng

    loop = lab.Loop(
        step,
        states=(lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", [1.0, 2.0, 3.0]),),
        random=(lab.RandomState("rng", 3),),
    )
    return loop.derivative(1, wrt)


growing_state, *_ = GRAPHS["start of one"]  # and a trap, which `lab.explain` reports
WRITES_BELOW = mit_mot((0,), (-1,), lambda a: [a**2])
test_errors = error_test(
    (lambda: lab.derivative(*growing_state()), BroadcastError, "the length of a dimension is 1"),
    (lambda: lab.derivative(*WRITES_BELOW()[:2]), GradientError, "below its lowest read tap"),
    (without_a_number_of_steps, ArgumentError, "expected the number of steps, an integer"),
    (short_buffer, GraphError, "fewer rows than its loop uses"),
    (two_of_three_values, ArgumentError, "pass 3 initial values"),
    (lambda: misplaced((1, 2), 2), ArgumentError, "has positive read taps only"),
    (lambda: misplaced((0, 1), -2), ArgumentError, "need 4"),
    (lambda: random_factor("x"), GradientError, "untraced"),
    (lambda: random_factor("u"), GradientError, "untraced"),
)


U, X, Y = pt.dvector("u"), pt.dscalar("x"), pt.dscalar("y")
undefined = pytensor.gradient.undefined_grad
# Arguments of a Scan, and the types of the gradients of its first two inputs.
TYPES = {
    "a sequence read by an undefined state": (
        {"step": lambda u, x: undefined(x) + u, "sequences": [U], "outputs_info": [X]},
        (NullType, NullType),
    ),
    "a state that does not reach the output": (
        {"step": lambda x, y: [x * 2, y * 3], "outputs_info": [X, Y], "n_steps": 3},
        (TensorType, DisconnectedType),
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_of_gradients(name):
    """Pass a gradient for the first output of the Scan only."""
    arguments, types = TYPES[name]
    results = scan(**arguments)
    node = scan_nodes(results if isinstance(results, list) else [results])[0]
    first, *others = node.outputs
    given = [pt.ones_like(first), *(DisconnectedType()() for _ in others)]
    gradients = lab.pullback(node.op, node.inputs, node.outputs, given)
    for gradient, kind in zip(gradients[1:3], types, strict=True):
        assert isinstance(gradient.type, kind)


@pytest.mark.parametrize("name", [*gallery.loops, *LOOPS])
def test_the_outcomes_equal_the_outcomes_of_pytensor(name):
    """Compare connected, disconnected, and undefined gradients with PyTensor's pullback."""
    loop = gallery.loops[name] if name in gallery.loops else LOOPS[name]
    node = loop.build().node
    given = [
        pt.ones_like(v) if "float" in getattr(v.type, "dtype", "") else disconnected_type()
        for v in node.outputs
    ]
    theirs = Scan.pullback(node.op, node.inputs, node.outputs, given)[1:]
    record = lab.derive(node.op, node.inputs, node.outputs, given).record
    assert len(theirs) == len(record.outcomes)
    for outcome, gradient in zip(record.outcomes, theirs, strict=True):
        if isinstance(gradient.type, DisconnectedType):
            kinds = {Verdict.DISCONNECTED}
        elif isinstance(gradient.type, NullType):
            kinds = {Verdict.UNDEFINED, Verdict.UNTRACED}
        else:
            kinds = {Verdict.CONNECTED, Verdict.ZERO}
        if outcome.kind is Kind.UNTRACED:  # PyTensor may call it disconnected
            kinds = {Verdict.UNTRACED}
        assert outcome.verdict in kinds, outcome


# The graph, and the record.


CALLS = {
    "derivative": lambda cost, wrt, given: lab.derivative(cost, wrt, 2),
    "trace": lambda cost, wrt, given: lab.trace(cost, given),
    "compare": lambda cost, wrt, given: lab.compare(cost, wrt, given, order=2),
    "compiled, Numba": lambda cost, wrt, given: lab.compiled(cost, wrt, "NUMBA"),
    "compiled, C": lambda cost, wrt, given: lab.compiled(cost, wrt, "CVM", given),
    "system": lambda cost, wrt, given: lab.system(cost),
    "explain": lambda cost, wrt, given: lab.explain(cost, wrt),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_call_alters_the_users_graph(name):
    x0, xs = squares()
    cost = (xs**2).sum()
    (node,) = scan_nodes([cost])

    def state():
        graphs = [cost, *node.op.fgraph.outputs]
        printed = [pytensor.dprint(v, file="str", id_type="", print_type=True) for v in graphs]
        types = {type(n.op) for n in scan_nodes([pytensor.grad(cost, x0)])}
        return printed, set(vars(node.op)), scan_nodes([cost]), types

    before = state()
    assert before[-1] == {Scan}
    CALLS[name](cost, x0, {x0: 0.9})
    assert state() == before
    assert "pullback" in vars(TapeScan)
    assert type(scan_nodes(with_tapes([cost]))[0].op) is TapeScan
