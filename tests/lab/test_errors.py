"""Errors name the argument, quote the value, and list the allowed values."""

from functools import partial

import numpy as np
import pytensor.tensor as pt
from fuzzing.outcomes import message_of, words_test
from graphs import scan, squares
from pytensor.compile.builders import OpFromGraph

import lab
from lab import Loop, Parameter, Sequence, State
from lab.scans.replacing import scan_nodes

ONE, TWO = State("x", 1.0), State("x", np.ones(2))
MASKED = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [False, True, False, False])


def loop(step=lambda x: x, *states, n_steps=2, **options):
    return Loop(step, states or (ONE,), n_steps=n_steps, **options)


def square(**changes):
    return Loop(lambda x: x**2, **({"states": (State("x", 0.95),), "n_steps": 4} | changes))


X0, XS = squares()
N, V = pt.iscalar("n"), pt.dvector("v")
DELAYED = scan(lambda a: a * 2, outputs_info=[{"initial": V, "taps": [-2]}], n_steps=2)
NESTED = scan(
    lambda x, n: scan(lambda y: y * y, outputs_info=[x], n_steps=n)[-1],
    outputs_info=[X0],
    non_sequences=[N],
    n_steps=2,
)


def complex_graph(function, transform=lambda values: values):
    z = pt.zscalar("z")
    values = scan(lambda v: v * v, outputs_info=[z], n_steps=3)
    return function(transform(values[-1]), z)


def derive_all(node):
    return lab.derive(node.op, node.inputs, node.outputs, [pt.ones_like(v) for v in node.outputs])


def short_sequence():
    step, u = lambda x, u: x * u[0] * u[1], Sequence("u", [1.0, 2.0], taps=(0, 1))
    return loop(step, ONE, sequences=(u,), n_steps=3)


# A call, and the parts of its message.
test_invalid_input_raises_one_sentence = words_test(
    (lambda: State("x", 1.0, taps=(-1, 2)), "state x", "[-1, 2]", "below 0"),
    (lambda: State("x", [1.0, 2.0], taps=(-3, -1)), "state x", "expected 3 values", "got 2"),
    (lambda: State("x", 1 + 2j), "state x", "(1+2j)", "real"),
    (lambda: Sequence("u", MASKED), "sequence u", "masked_array", "filled"),
    (lambda: lab.RandomState("rng", -1), "seed", "-1"),
    # Loops.
    (lambda: square().with_taps({"x": (-(10**9),)}), "state x", "[-1000000000]", "1,000,000 steps"),
    (lambda: square(parameters=(Parameter("x", 1.0),)), "'x'", "only once"),
    (lambda: square(states=(State("", 1.0),)), "''", "1 to 500"),
    (lambda: square(states=State("x", 1.0)), "states", "tuple of State"),
    (lambda: square(n_steps=0), "n_steps = 0", "at least 1"),
    (lambda: square(n_steps=None), "n_steps = None", "needs a number of steps"),
    (lambda: square(n_steps=Parameter("n", 3.7)), "n_steps = 3.7", "integer"),
    (lambda: square(truncate_gradient=0), "truncate_gradient = 0", "-1"),
    (short_sequence, "sequence u", "2 values", "for 1 step,", "runs 3", "2 more"),
    # Steps.
    (lambda: loop(3.0), "step = 3.0", "function"),
    (lambda: loop(lambda x: (x, x)).build(), "step returned 2 values", "expected 1"),
    (lambda: loop(lambda x: None).build(), "step returned None", "x", "expected a tensor"),
    (
        lambda: loop(lambda x: x * 1.5, State("x", np.int64(1))).build(),
        "returned dtype float64 for x, expected int64. Start with a value of dtype float64,",
    ),
    (lambda: loop(lambda x: x.sum(), TWO).build(), "step returned the shape ()", "expected (2,)"),
    (lambda: loop(lambda x: x[0] + x[1]).build(), "step", "x as 1 value", "failed"),
    # Derivatives and traces.
    (lambda: square().trace(cost="first"), "cost = 'first'", "last", "sum"),
    (lambda: square().trace(cost=[1, 2, 3, np.ma.masked]), "cost", "filled"),
    (lambda: lab.derivative(X0**2, X0), "no Scan"),
    (lambda: complex_graph(lab.derivative, abs), "wrt = z", "complex128"),
    (lambda: complex_graph(lab.explain), "complex128", "real"),
    (lambda: complex_graph(lambda c, _: derive_all(scan_nodes([c])[0])), "step", "complex128"),
    (lambda: lab.trace(XS[-1], {}), "given", "no value for x0"),
    (lambda: lab.trace(XS[-1], {"x0": 1.0}), "given", "'x0'", "expected a PyTensor variable"),
    (lambda: lab.trace(squares(N)[1], {N: 2.5}), "given", "n", "2.5"),
    (lambda: lab.trace(squares(N)[1], {N: -2}), "n_steps of scan_fn = -2", "at least 0"),
    (lambda: lab.trace(squares(N)[1], {N: 0}, keep="last"), "n_steps of", "= 0", "at least 1"),
    (lambda: lab.compiled(XS[-1], X0, given={XS: [0.5]}), "given", "got a computed variable"),
    (lambda: lab.trace(DELAYED, {V: [0.5]}, keep="last"), "v has 1 initial", "taps are reads -2"),
    (lambda: lab.trace(NESTED, {X0: 0.5, N: -1}), "a Scan in its step: scan_fn: n_steps = -1"),
    (lambda: lab.eager.grad(np.sum)(MASKED), "masked", "filled"),
    longest=320,
)


def test_an_error_names_the_operation_that_fails():
    """Neither a Scan of 0 steps nor a Scan in the step is the cause."""
    (start, xs), eighth = squares(N), OpFromGraph([V], [V[7]])
    steps = scan(lambda x, v: x + eighth(v), outputs_info=[X0], non_sequences=[V], n_steps=2)
    in_step = "scan_fn: OpFromGraph{inline=False} in its step: Subtensor{i}: IndexError"
    for graph, first in ((xs.sum() + V[7], "Subtensor"), (steps[-1], in_step)):
        given = {start: 1.0, N: 0, X0: 1.0, V: [1.0, 2.0]}
        assert message_of(partial(lab.trace, graph, given)).startswith(first)
