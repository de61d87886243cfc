"""Programs, run line by line, compute PyTensor's results, also for other values."""

import numpy as np
import pytest
from graphs.programs import COMPUTED, computed, pairs

import lab
from lab.errors import GraphError
from lab.loops import gallery
from lab.notation import Binding, Call, Leaf, Let, Number, SharedTerm
from lab.traces.program import Instructions, program_of


def made(loop, order):
    graph = loop.build()
    derived = loop.derivative(order, graph=graph)
    return program_of(derived.values, derived.given, graph.node.outputs[:1])


def values(loop):
    return {name: value for name, value in loop.values.items() if value.dtype.kind == "f"}


def furthest(program, trace, given):
    """Return the largest difference between a run and its program, and the number of values."""
    found, away, count = np.array(computed(program.instructions.lines, given)), 0.0, 0
    for places, numbers in pairs(program.numbers, trace):
        off = np.abs(found[places] - numbers) / np.maximum(1, np.abs(numbers))
        away, count = max(away, float(np.max(off, initial=0))), count + numbers.size
    return away, count


@pytest.mark.parametrize("name", COMPUTED)
def test_a_program_makes_what_pytensor_makes(name):
    for order in (0, 1, 2, 3) if name in ("square", "gap") else (0, 2):
        loop, random = gallery.loops[name], np.random.default_rng(order)
        given = {n: v + 0.3 * random.normal(size=v.shape) for n, v in values(loop).items()}
        away, count = furthest(made(loop, order), loop.with_values(given).trace(order), given)
        assert away < 1e-9
        assert count > 20


def test_a_wrong_program_is_seen():
    loop = gallery.loops["gap"]
    program, trace = made(loop, 2), loop.trace(2)
    assert furthest(program, trace, values(loop))[0] < 1e-12
    place = next(n for n, line in enumerate(program.instructions.lines) if line[0] == "cos")
    program.instructions.lines[place] = ("sin", *program.instructions.lines[place][1:])
    assert furthest(program, trace, values(loop))[0] > 1e-3


WRONG = [("newton", "stops on a condition"), ("walk", "draws"), ("undefined", "jv")]


@pytest.mark.parametrize(("name", "words"), WRONG)
def test_what_is_no_straight_line_is_refused(name, words):
    with pytest.raises(GraphError, match=words):
        made(gallery.loops[name], 1)


def test_a_formula_is_computed_entry_by_entry():
    """Compare p v with NumPy, where p is aᵀ a v + 2 v and the product is an outer product."""
    given = {"a": np.array([[2.0, 3.0], [5.0, 7.0]]), "v": np.array([11.0, 13.0])}
    a, v = Leaf("a", None, -1), Leaf("v", None, -1)
    product = Call("Dot", (Call("transpose", (a,)), Call("Dot", (a, v))))
    total = Call("Add", (product, Call("Dot", (Number("2"), v))))
    formula = Let((Binding("p", total),), Call("outer", (SharedTerm("p"), v)))
    lines = Instructions()

    def read(leaf):
        array = given[leaf.variable]
        places = [lines.add("input", leaf.variable, n) for n in range(array.size)]
        return np.reshape(places, array.shape)

    places = lines.term(formula, read).astype(int)
    p = given["a"].T @ given["a"] @ given["v"] + 2 * given["v"]
    found = np.array(computed(lines.lines, given))[places]
    np.testing.assert_array_equal(found, np.outer(p, given["v"]))


def test_both_branches_are_computed():
    loop = lab.Loop.from_text("x[t] = where(x[t-1] > 1, x[t-1]/2, x[t-1]*3)", {"x": 0.5}, n_steps=4)
    program = made(loop, 1)
    for x in (0.5, 1.5):
        given = {"x": np.array(x)}
        assert furthest(program, loop.with_values(given).trace(1), given)[0] < 1e-12
