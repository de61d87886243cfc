"""Programs, run line by line, compute PyTensor's results, also for other values."""

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs.programs import COMPUTED, compute, pairs

import lab
from lab.errors import GraphError
from lab.loops import gallery
from lab.notation import Call, Leaf, Let, Number, SharedTerm
from lab.traces.program import Instructions, program_of


def program_for(loop, order):
    graph = loop.build()
    derivative = loop.derivative(order, graph=graph)
    return program_of(derivative.values, derivative.given, graph.node.outputs[:1])


def values(loop):
    return {name: value for name, value in loop.values.items() if value.dtype.kind == "f"}


def largest_error(program, trace, given):
    """Return the largest difference between a run and its program, and the number of values."""
    actual, largest, count = np.array(compute(program.instructions.lines, given)), 0.0, 0
    for indices, numbers in pairs(program.numbers, trace):
        errors = np.abs(actual[indices] - numbers) / np.maximum(1, np.abs(numbers))
        largest, count = max(largest, float(np.max(errors, initial=0))), count + numbers.size
    return largest, count


@pytest.mark.parametrize("name", COMPUTED)
def test_a_program_computes_the_values_of_pytensor(name):
    for order in (0, 1, 2, 3) if name in ("square", "gap") else (0, 2):
        loop, random = gallery.loops[name], np.random.default_rng(order)
        given = {n: v + 0.3 * random.normal(size=v.shape) for n, v in values(loop).items()}
        trace = loop.with_values(given).trace(order)
        error, count = largest_error(program_for(loop, order), trace, given)
        assert error < 1e-9
        assert count > 20


def test_a_wrong_program_is_detected():
    loop = gallery.loops["gap"]
    program, trace = program_for(loop, 2), loop.trace(2)
    assert largest_error(program, trace, values(loop))[0] < 1e-12
    index = next(n for n, line in enumerate(program.instructions.lines) if line[0] == "cos")
    program.instructions.lines[index] = ("sin", *program.instructions.lines[index][1:])
    assert largest_error(program, trace, values(loop))[0] > 1e-3


SINGLE = lab.Loop(lambda x: x**2, (lab.State("x", np.float32(0.7)),), n_steps=2)
test_loops_without_a_fixed_program_raise_errors = error_test(
    (lambda: program_for(gallery.loops["walk"], 1), GraphError, "draws"),
    (lambda: program_for(SINGLE, 1), GraphError, "float32"),
)


def test_a_formula_is_computed_entry_by_entry():
    """Compare the outer product of p and v with NumPy, where p = aᵀ a v + 2 v."""
    given = {"a": np.array([[2.0, 3.0], [5.0, 7.0]]), "v": np.array([11.0, 13.0])}
    a, v = Leaf("a", None, -1), Leaf("v", None, -1)
    product = Call("Dot", (Call("transpose", (a,)), Call("Dot", (a, v))))
    total = Call("Add", (product, Call("Dot", (Number("2"), v))))
    formula = Let((("p", total),), Call("outer", (SharedTerm("p"), v)))
    lines = Instructions()
    assert lines.add("Add", 0, 0) == 0  # a sum of zeros is the constant 0

    def read(leaf):
        array = given[leaf.variable]
        places = [lines.add("input", leaf.variable, n) for n in range(array.size)]
        return np.reshape(places, array.shape)

    places = lines.term(formula, read).astype(int)
    p = given["a"].T @ given["a"] @ given["v"] + 2 * given["v"]
    actual = np.array(compute(lines.lines, given))[places]
    np.testing.assert_array_equal(actual, np.outer(p, given["v"]))


STEPS = {
    "branches": lambda x: pt.switch(x > 1, x / 2, x * 3),
    "sign": lambda x: abs(x) * x,
    "order of a sum": lambda x: x * pt.add(pt.constant(1e16), pt.constant(1.0), pt.constant(-1e16)),
    "mask": lambda x: pt.switch(pt.as_tensor([2, 0]).astype("bool"), x * x, x),
    "integer": lambda x: pt.mean(x) + pt.set_subtensor(x[0], 2) * x.shape[0],
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_with_integers_and_signs_are_computed(name):
    loop = lab.Loop(STEPS[name], (lab.State("x", [0.5, -0.7]),), n_steps=3)
    program = program_for(loop, 1)
    for x in ([0.5, -0.7], [1.5, 0.2]):
        given = {"x": np.array(x)}
        assert largest_error(program, loop.with_values(given).trace(1), given)[0] < 1e-12
