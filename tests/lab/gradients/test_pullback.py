"""The pullback against finite differences, closed forms and PyTensor; and wrong ones exposed."""

from dataclasses import replace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given as given_examples
from hypothesis import strategies as st
from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedType, NullType
from pytensor.graph.replace import clone_replace
from pytensor.scan.op import Scan
from random_loops import costs, loops

import lab
from lab.checks import check
from lab.checks.check import value_at
from lab.errors import ArgumentError, BroadcastError, GradientError, GraphError
from lab.gradients.decisions import RULE, PullbackRule
from lab.loops import gallery
from lab.scans.node import LoopVariable, ScanParts, build_scan, inner_graph
from lab.scans.replacing import scan_nodes, with_tapes
from lab.tape import Kind, Tape
from lab.traces.run import run

OLD_UNTIL = tuple(map(int, pytensor.__version__.split(".")[:2])) < (3, 1)


@given_examples(st.data())
def test_random_loops_to_third_order(data):
    loop = data.draw(loops())
    of, cost = data.draw(costs(loop))
    graph = loop.build()
    wrt = data.draw(st.sampled_from([n for n in loop.variables if n != "flag"]))
    scalar = loop.cost(graph, cost, of)
    if not matters(scalar, graph.inputs[wrt], graph.given):
        return
    made = loop.derivative(3, wrt, cost, of, graph)
    for number in range(3):
        target = made.values[number]
        target = target.sum() if target.ndim else target
        check.gradient(target, made.wrt, made.values[number + 1], graph.given, tolerance=2e-7)


def matters(cost, wrt, given):
    """Whether the cost changes with any entry of `wrt`, measured on the cost only."""
    rng = np.random.default_rng(0)
    moved = given[wrt] + rng.uniform(0.01, 0.1, size=np.shape(given[wrt]))
    return value_at(cost, given) != value_at(cost, {**given, wrt: moved})


@given_examples(st.data())
def test_random_loops_as_pytensor_differentiates_them(data):
    loop = data.draw(loops())
    if "flag" in loop.variables:
        if OLD_UNTIL:
            return  # PyTensor 3.0's own gradient is wrong there
    else:  # finite differences know nothing of truncation, PyTensor does
        limit = data.draw(st.sampled_from([-1, -1, 1, 2, 3]))
        loop = replace(loop, truncate_gradient=limit)
    of, cost = data.draw(costs(loop))
    graph = loop.build()
    scalar = loop.cost(graph, cost, of)
    plain = without_tapes(scalar)
    for name, variable in graph.inputs.items():
        if name == "flag":
            continue
        theirs = pytensor.grad(plain, variable, disconnected_inputs="ignore")
        ours = pytensor.grad(scalar, variable, disconnected_inputs="ignore")
        a, b = value_at(ours, graph.given), value_at(theirs, graph.given)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def without_tapes(output):
    """The graph of `output` with PyTensor's own Scan in the place of every TapeScan."""
    (node,) = scan_nodes([output])
    plain = Scan(
        *inner_graph(node.op),
        node.op.info,
        name=node.op.name,
        truncate_gradient=node.op.truncate_gradient,
    )
    copy = plain.make_node(*node.inputs)
    return clone_replace(output, replace=dict(zip(node.outputs, copy.outputs, strict=True)))


# Wrong rules: the checker must object to each.

WRONG = {
    "accumulate at overwritten taps": PullbackRule(
        accumulates=lambda tape: tape.reads, replays=False
    ),
    "no accumulation": PullbackRule(accumulates=lambda tape: ()),
    "an unreversed sequence": PullbackRule(reverses=False),
}


def checked_to_third_order(rule):
    loop = gallery.loops["square"].with_steps(5)
    graph = loop.build()
    cost = loop.cost(graph, "sum")
    made = lab.derivative(cost, graph.inputs["x"], 3, rule=rule)
    for number in range(3):
        check.gradient(made.values[number], made.wrt, made.values[number + 1], graph.given)


def test_the_true_rule_passes():
    checked_to_third_order(RULE)


@pytest.mark.parametrize("name", WRONG)
def test_the_checker_objects_to_wrong_rules(name):
    with pytest.raises(check.WrongGradientError):
        checked_to_third_order(WRONG[name])


def test_a_state_that_forgets_a_length_is_refused():
    x, start = pt.dtensor3("x"), pt.constant(np.zeros((1, 10)))
    y = pytensor.scan(
        lambda x, before: x + before, sequences=x, outputs_info=[start], return_updates=False
    )
    with pytest.raises(BroadcastError, match="its length is 1"):
        lab.derivative(y.sum(), x, 1)


def test_the_adjoint_test_accepts_the_right_and_rejects_the_wrong():
    loop = gallery.loops["gap"]
    graph = loop.build()
    gradient = value_at(loop.derivative(1, graph=graph).value, graph.given)
    (x,) = graph.inputs.values()
    tangent = np.array([0.3, -0.2, 0.5])

    def moved(share):
        at = {**graph.given, x: graph.given[x] + share[0] * tangent}
        return value_at(graph.outputs["x"][-1], at)

    forward = check.finite_differences(moved, [0.0])  # J v
    one = [np.array([1.0])]
    assert check.adjoint([forward], one, [tangent], [gradient], 1e-9) < 1e-9
    with pytest.raises(check.WrongGradientError):
        check.adjoint([forward], one, [tangent], [gradient * 1.001], 1e-9)


# Mit-mots built by hand. Reading their filled buffer would give a wrong number.


def hand_built(reads, writes, step, length, steps):
    """A Scan with one mit-mot over a buffer that is an input of the graph."""
    buffer = pt.vector("buffer", shape=(length,))
    arguments = tuple(pt.dscalar(f"b{tap}") for tap in reads)
    results = step(*arguments)
    state = LoopVariable(Kind.MIT_MOT, "b", Tape(reads, writes), buffer, arguments, tuple(results))
    node = build_scan(ScanParts("made_by_hand", pt.constant(np.int64(steps)), (state,)))
    return buffer, node.outputs[0]


HAND_BUILT = {
    "nonlinear in an overwritten tap": ((0, 1), (1,), lambda a, b: [pt.sin(a) * b**2]),
    "reads what a later step overwrites": ((-1, 1), (0,), lambda a, b: [pt.sin(a) * pt.cos(b)]),
    "writes without reading": ((0,), (1,), lambda a: [pt.sin(a) + a**2]),
    "keeps its value and passes it on": ((-1, 0), (0, -1), lambda a, b: [a * b, a]),
}


@pytest.mark.parametrize("name", HAND_BUILT)
@pytest.mark.parametrize("extra", [0, 2])
def test_hand_built_mitmots_are_right(name, extra):
    reads, writes, step = HAND_BUILT[name]
    length = Tape(reads, writes).rows(3) + extra
    buffer, filled = hand_built(reads, writes, step, length, 3)
    values = np.linspace(0.3, 1.4, length)
    weights = np.linspace(1.0, -0.7, length)
    cost = (filled * weights).sum()
    given = {buffer: values}
    made = lab.derivative(cost, buffer, 2)
    check.gradient(cost, buffer, made.values[1], given)
    check.gradient(made.values[1].sum(), buffer, made.values[2], given)


def test_writing_below_everything_that_is_read_is_refused():
    buffer, filled = hand_built((0,), (-1,), lambda a: [a**2], 4, 3)
    with pytest.raises(GradientError, match="below its lowest read tap"):
        lab.derivative(filled.sum(), buffer, 1)


# Until, truncation, step counts.


def test_until_with_a_recurrent_state():
    """pymc-devs/pytensor #2217: x[t] = x[t-1] + u[t]**2 until x > 10, cost = sum of all x."""
    u = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    loop = lab.Loop(
        lambda x, u: (x + u**2, lab.until(x + u**2 > 10)),
        states=(lab.State("x", 0.0),),
        sequences=(lab.Sequence("u", u),),
    )
    gradient = loop.trace(order=1, wrt="u", cost="sum").outputs[1]
    made = 3  # 1, 5, 14: stopped
    wanted = [2 * u[i] * (made - i) if i < made else 0 for i in range(6)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-15)


def test_truncation_goes_back_so_many_steps_only():
    loop = lab.Loop(
        lambda x, w: w * x,
        states=(lab.State("x", 2.0),),
        parameters=(lab.Parameter("w", 3.0),),
        n_steps=5,
        truncate_gradient=2,
    )
    # x5 = 2·w**5; of its five factors w only the last two are differentiated: 2 · x4.
    assert loop.trace(order=1, wrt="w").outputs[1] == 2 * 2 * 3.0**4
    assert loop.trace(order=1, wrt="x").outputs[1] == 0.0


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_symbolic_step_counts(steps):
    n, x0, u = pt.iscalar("n"), pt.dvector("x0"), pt.dmatrix("u")
    xs = pytensor.scan(
        lambda u, x: x * u, sequences=[u], outputs_info=[x0], n_steps=n, return_updates=False
    )
    cost = xs.sum()
    given = {n: steps, x0: np.array([1.0, 2.0]), u: np.arange(1.0, 9).reshape(4, 2)}
    for wrt in (x0, u):
        made = lab.derivative(cost, wrt, 2)
        assert value_at(made.values[1], given).shape == given[wrt].shape
        check.gradient(cost, wrt, made.values[1], given)
        check.gradient(made.values[1].sum(), wrt, made.values[2], given)


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_truncated_derivatives_can_be_differentiated(limit):
    """Every derivative goes back `limit` steps; the rest is differentiated exactly."""
    loop = lab.Loop(
        lambda x, w: w * x * x,
        states=(lab.State("x", 0.9),),
        parameters=(lab.Parameter("w", 0.8),),
        n_steps=4,
        truncate_gradient=limit,
    )
    graph = loop.build()
    made = loop.derivative(1, "w", "last", graph=graph)
    backward = scan_nodes([made.value])[-1]
    tape, total = backward.outputs
    derivation = lab.derive(
        backward.op, backward.inputs, backward.outputs, [pt.zeros_like(tape), pt.ones_like(total)]
    )
    sequence = backward.inputs[1]
    values, _ = run(backward.inputs, graph.given, record=False)
    given = {v: values[v] for v in backward.inputs}

    def at(moved):
        return value_at(total.sum(), {**given, sequence: moved})

    wanted = check.finite_differences(at, given[sequence])
    np.testing.assert_allclose(value_at(derivation.gradients[1], given), wanted, rtol=1e-8)


# Buffers and sequences that are not as long as the loop.


def sitsot(buffer, steps, step, until=None):
    argument = pt.dscalar("x")
    result = step(argument)
    state = LoopVariable(Kind.SIT_SOT, "x", Tape((-1,), (0,)), buffer, (argument,), (result,))
    condition = None if until is None else until(result)
    return build_scan(ScanParts("by_hand", pt.constant(np.int64(steps)), (state,), condition))


@pytest.mark.parametrize("until", [None, lambda x: x < 0.3])
@pytest.mark.parametrize("rows", [5, 6, 9])
def test_buffers_that_are_too_long(rows, until):
    x0 = pt.dscalar("x0")
    buffer = pt.set_subtensor(pt.empty((rows,))[:1], x0)
    node = sitsot(buffer, 4, lambda x: x * x + 0.1 * x, until)
    cost = (node.outputs[0] * pt.constant(np.linspace(1, 2, 9))[: node.outputs[0].shape[0]]).sum()
    made = lab.derivative(cost, x0, 2)
    check.gradient(cost, x0, made.values[1], {x0: 0.9})
    check.gradient(made.values[1], x0, made.values[2], {x0: 0.9})


@pytest.mark.parametrize("rows", [5, 7])
def test_rows_that_are_written_over_have_no_gradient(rows):
    b = pt.dvector("b")
    buffer = pt.set_subtensor(pt.empty((rows,))[:rows], b)
    node = sitsot(buffer, 4, lambda x: x * x)
    cost = node.outputs[0].sum()
    given = {b: np.linspace(0.5, 0.9, rows)}
    made = lab.derivative(cost, b, 1)
    check.gradient(cost, b, made.values[1], given)
    assert not value_at(made.values[1], given)[1:].any()


def test_a_buffer_that_is_too_short_is_refused():
    b = pt.dvector("b")
    node = sitsot(b, 4, lambda x: 0.7 * x)
    made = lab.derivative((node.outputs[0] ** 2).sum(), b, 1)
    with pytest.raises(GraphError, match="fewer rows than its loop uses"):
        value_at(made.value, {b: np.full(4, 0.3)})


def test_memory_that_nobody_wrote_is_not_read():
    b = pt.dvector("b")
    xs = pytensor.scan(
        lambda p, q: p + q,
        outputs_info=[{"initial": b, "taps": [-3, -1]}],
        n_steps=5,
        return_updates=False,
    )
    assert lab.trace(xs, {b: [0.3, 0.7, 0.1]}).outputs[0].shape == (5,)
    with pytest.raises(ArgumentError, match="pass 3 initial values"):
        lab.trace(xs, {b: [0.3, 0.7]})


@pytest.mark.parametrize("cut", [lambda u, n: u[n:], lambda u, n: u[::n], lambda u, n: u])
def test_sequences_that_are_longer_than_the_loop(cut):
    u, n, a, x = pt.dvector("u"), pt.lscalar("n"), pt.dscalar("a"), pt.dscalar("x")
    buffer = pt.set_subtensor(pt.empty((n + 1,))[:1], 0.7)
    parts = (
        LoopVariable(Kind.SEQUENCE, "u", Tape((0,), ()), cut(u, n), (a,)),
        LoopVariable(Kind.SIT_SOT, "x", Tape((-1,), (0,)), buffer, (x,), (a * a * x,)),
    )
    cost = build_scan(ScanParts("by_hand", n, parts)).outputs[0].sum()
    for steps in (1, 2):
        given = {u: np.linspace(0.5, 1.5, 9), n: steps}
        made = lab.derivative(cost, u, 1)
        check.gradient(cost, u, made.value, given)


@pytest.mark.parametrize(
    ("reads", "length", "says"), [((1, 2), 6, "has positive read taps only"), ((0, 1), 2, "need 4")]
)
def test_mitmots_that_pytensor_would_misplace_are_refused_when_run(reads, length, says):
    buffer, filled = hand_built(reads, (1,), lambda a, b: [a * b], length, 3)
    with pytest.raises(ArgumentError, match=says):
        value_at(filled, {buffer: np.ones(length)})


def test_scans_inside_other_operations_are_ours_as_well():
    """PyTensor would lose the contribution of the inner loop's first value."""
    x0, u = pt.dscalar("x0"), pt.dvector("u")
    a, v = pt.dscalar("a"), pt.dvector("v")
    inner = pytensor.scan(lambda _, b: b * b, sequences=[v], outputs_info=[a], return_updates=False)
    hidden = OpFromGraph([a, v], [inner.owner.inputs[0].sum() * a])
    xs = pytensor.scan(
        lambda x: x * x, outputs_info=[hidden(x0, u)], n_steps=2, return_updates=False
    )
    made = lab.derivative(xs[-1], x0, 2)
    given = {x0: 0.8, u: np.full(3, 0.5)}
    check.gradient(xs[-1], x0, made.values[1], given)
    check.gradient(made.values[1], x0, made.values[2], given)


# Gradients that are not numbers.


def gradients_of(step, outputs_info, sequences=(), wanted=0, **options):
    """Our gradients of all inputs of a Scan, for the gradient of a single output."""
    results = pytensor.scan(
        step, sequences=list(sequences), outputs_info=outputs_info, return_updates=False, **options
    )
    results = results if isinstance(results, list) else [results]
    node = scan_nodes(results)[0]
    given = [
        pt.ones_like(v) if i == wanted else DisconnectedType()() for i, v in enumerate(node.outputs)
    ]
    return node, lab.pullback(node.op, node.inputs, node.outputs, given)


UNDEFINED = {
    "two sequences": lambda u, v: (
        pytensor.gradient.undefined_grad(u) * pytensor.gradient.undefined_grad(v)
    ),  # PyTensor returns zeros for the second one
    "a sequence read by an undefined state": lambda u, x: pytensor.gradient.undefined_grad(x) + u,
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_gradients(name):
    u, v, x0 = pt.dvector("u"), pt.dvector("v"), pt.dscalar("x0")
    start, sequences = (None, [u, v]) if name == "two sequences" else (x0, [u])
    _, gradients = gradients_of(UNDEFINED[name], [start], sequences)
    assert [isinstance(g.type, NullType) for g in gradients[1:3]] == [True, True]


def test_a_gradient_through_an_untraced_state_is_undefined():
    loop = lab.Loop(
        lambda x, u, rng: random_factor(x, u, rng),
        states=(lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", [1.0, 2.0, 3.0]),),
        random=(lab.RandomState("rng", 3),),
    )
    for wrt in ("x", "u"):
        with pytest.raises(GradientError, match="untraced"):
            loop.derivative(1, wrt)


def random_factor(x, u, rng):
    next_rng, draw = pt.random.normal(0, 1, rng=rng, return_next_rng=True)
    return x * draw + u, next_rng


def test_what_does_not_reach_the_output_is_disconnected():
    x0, y0 = pt.dscalar("x0"), pt.dscalar("y0")
    _, gradients = gradients_of(lambda x, y: [x * 2, y * 3], [x0, y0], n_steps=3)
    disconnected = [isinstance(g.type, DisconnectedType) for g in gradients[1:3]]
    assert disconnected == [False, True]


def test_one_expression_returned_twice():
    x0 = pt.dscalar("x0")

    def twice(x, y):
        new = pt.sin(x * y)
        return new, new

    xs, ys = pytensor.scan(twice, outputs_info=[x0, x0 * 2], n_steps=3, return_updates=False)
    cost = xs[-1] + 3 * ys[-1] * ys[0]
    made = lab.derivative(cost, x0, 2)
    check.gradient(cost, x0, made.values[1], {x0: 0.6})
    check.gradient(made.values[1], x0, made.values[2], {x0: 0.6})


def test_an_integer_state_has_no_gradient_but_may_count():
    loop = lab.Loop(
        lambda k, x: (k + 1, x * k),
        states=(lab.State("k", np.int64(1)), lab.State("x", 2.0)),
        n_steps=4,
    )
    assert loop.trace(order=1, wrt="x", of="x").outputs[1] == 24.0


def test_the_users_graph_is_not_altered():
    x0 = pt.dscalar("x0")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x0], n_steps=3, return_updates=False)
    last = xs[-1]
    before = pytensor.dprint(last, file="str", id_type="")
    lab.derivative(last, x0, 2)
    assert pytensor.dprint(last, file="str", id_type="") == before
    assert type(scan_nodes([last])[0].op).__name__ == "Scan"
    assert type(scan_nodes([with_tapes([last])[last]])[0].op).__name__ == "TapeScan"


def test_delay_lines_at_second_order():
    """PyTensor: silently 0, as it holds the initial values to be unconnected."""
    loop = lab.Loop(
        lambda x, u: x * u,
        states=(lab.State("x", [0.5, 1.5], taps=(-2,)),),
        sequences=(lab.Sequence("u", [2.0, 3.0, 4.0]),),
    )
    graph = loop.build()
    cost = (graph.outputs["x"] ** 2).sum()
    made = lab.derivative(cost, graph.inputs["x"], 2)
    # x2 = 2·x0, x3 = 3·x1, x4 = 4·x2 = 8·x0: cost = 4·x0² + 9·x1² + 64·x0²
    np.testing.assert_allclose(value_at(made.values[1], graph.given), [2 * 68 * 0.5, 2 * 9 * 1.5])
    np.testing.assert_allclose(value_at(made.values[2], graph.given), [2 * 68, 2 * 9])


# The record.


def test_the_derivation_tells_all_eleven_phases():
    made = gallery.loops["rnn"].derivative(1)
    derivation = scan_nodes([made.value])[-1].op.derivation
    record = derivation.record
    assert [phase.number for phase in record.phases] == list(range(1, 12))
    assert all(phase.items for phase in record.phases)
    words = str(record)
    assert "sit-sot (-1) → (0) becomes mit-mot (0, 1) → (1)" in words
    assert "forward result reused" in words
    assert "h[3::-1]" in words


def test_the_genealogy_of_the_second_derivative():
    tree = gallery.loops["square"].derivative(2).genealogy
    parents = [
        tree.index(next(t for t in tree if t.node is d.parent)) if d.parent else None for d in tree
    ]
    assert parents == [None, 0, 1, 0]
    assert [d.order for d in tree] == [0, 1, 2, 2]
