"""Run printed systems in NumPy, and compare the results with the Scans."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan, squares
from hypothesis import Phase, given, settings
from oracles import Series, backward_disagreements, run_printed
from random_loops import loops
from strange_loops import HOSTILE, LOOPS
from twins import assert_twin

import lab
from lab.equations.system import VariableRole
from lab.errors import GraphError
from lab.loops import gallery
from lab.scans.replacing import scan_nodes

CERTAIN = [name for name in gallery.loops if name != "walk"]


def disagreements(loop, printed, tolerance=1e-12):
    """Yield the tape and the row of each value that differs between the equations and the trace."""
    known = {p.name: p.value for p in loop.parameters}
    known |= {s.name: Series(s.first_values) for s in loop.states}
    known |= {s.name: Series(s.values) for s in loop.sequences}
    known |= {name: Series([]) for name in loop.outputs}
    steps = run_printed(printed, known, loop.steps)
    scan = loop.trace(order=0).scans[0]
    assert steps == scan.steps
    for tape in (*scan.tapes, *scan.outputs):
        for row, value in enumerate(tape.final):
            if not np.allclose(known[tape.name][row], value, rtol=tolerance, atol=tolerance):
                yield tape.name, row


@settings(max_examples=10, deadline=None, phases=(Phase.generate,))
@given(loop=loops())
def test_random_loops(loop):
    """Formulas show six digits of a coefficient; therefore, the tolerance is larger."""
    assert list(disagreements(loop, str(loop.system()), 1e-4)) == []


@pytest.mark.parametrize(("right", "wrong"), [("t−1", "t−2"), ("·", " + "), ("u[t+2]", "u[t+1]")])
def test_a_wrong_equation_is_detected(right, wrong):
    text = "x[t-1]*0.5 + x[t-2]*u[t]*u[t+2]"
    loop = lab.Loop.from_text(text, {"x": [0.3, 0.6]}, {"u": [0.5, 1.5, 2.5, 3.5]})
    printed = str(loop.system())
    assert list(disagreements(loop, printed)) == []
    assert list(disagreements(loop, printed.replace(right, wrong)))


@pytest.mark.parametrize("name", CERTAIN)
def test_printed_equations_compute_the_values_of_loops_and_derivatives(name):
    """A graph of order 2 also contains the Scans of orders 0 and 1."""
    assert list(backward_disagreements(gallery.loops[name], 2)) == []


def document():
    """Build the loop of PyTensor's documentation. It reads two taps of x, two of u, and w."""
    x, u, w = pt.dvector("x"), pt.dvector("u"), pt.dscalar("w")
    xs = scan(
        lambda now, later, older, newer, w: (
            newer * w + older * now + pt.exp(later) / (1 + older**2)
        ),
        sequences=[{"input": u, "taps": [0, 4]}],
        outputs_info=[{"initial": x, "taps": [-2, -1]}],
        non_sequences=[w],
    )
    values = np.linspace(0.1, 0.9, 8)
    known = {"x": Series([0.3, 0.6]), "u": Series(values), "w": np.float64(0.7)}
    return xs, {x: [0.3, 0.6], u: values, w: 0.7}, known


def parts_of_sequences():
    """Build a loop that reads sequences from their end. The second is exp(u) from row k."""
    u, x0, n, k = pt.dvector("u"), pt.dscalar("x0"), pt.lscalar("n"), pt.lscalar("k")
    xs = scan(
        lambda now, later, other, x: x + now * later**2 + other,
        sequences=[{"input": u, "taps": [0, 2]}, pt.exp(u)[k:]],
        outputs_info=[x0],
        n_steps=n,
        go_backwards=True,
    )
    values = np.linspace(0.1, 0.9, 6)
    known = {"x": Series([0.4]), "u": values, "s": np.exp(values)[3:]}
    return xs, {u: values, x0: 0.4, n: 3, k: 3}, known


def reversed_results(steps=3):
    """Build a loop over the reversed results of another loop; index 0 is the initial value."""
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=steps, name="first")
    ys = scan(lambda x, y: x * y, sequences=[xs[::-1]], outputs_info=[pt.ones(())], name="second")
    return ys, {x0: 0.5}, {"v": Series([1.0]), "x": Series([0.5, 0.25, 0.0625, 0.00390625])}


SYSTEMS = {"document": document, "parts": parts_of_sequences, "reversed": reversed_results}


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_of_graphs(name):
    """Run the equations, and compare their values with PyTensor's."""
    xs, given_, known = SYSTEMS[name]()
    system = lab.system(scan_nodes([xs])[-1])
    assert_twin(f"system-{name}", system)
    f = pytensor.function([*given_], xs, mode="FAST_COMPILE")
    expected = f(*given_.values())
    state = next(iter(known))
    first = known[state].count
    run_printed(str(system), known, len(expected))
    actual = [known[state][first + k] for k in range(len(expected))]
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_results_have_no_index_if_the_number_of_steps_is_unknown():
    system = lab.system(scan_nodes([reversed_results(pt.lscalar("n"))[0]])[-1])
    assert system.lines() == ("v[t] = v[t−1]·s[t]",)
    assert "s = …" in str(system)


def test_symbols_by_role():
    walk, extra = gallery.loops["walk"].system(), gallery.loops["extra"].system()
    (first, second, w), x0, n = map(pt.dvector, "uuw"), pt.dscalar("x0"), pt.lscalar("n")
    others = {"sequences": [first, second, pt.exp(first)], "non_sequences": [w[0], pt.exp(x0)]}
    xs = scan(lambda a, b, c, x, p, q: x * p + a * b * c * q, outputs_info=[x0], **others)
    _, ys = scan(lambda x: (x * 2, x**3), outputs_info=[x0, None], n_steps=n)
    cases = [
        (walk, VariableRole.NON_NUMERIC, ["rng"]),
        (extra, VariableRole.OUTPUT, ["cube"]),
        (extra, VariableRole.PARAMETER, ["w"]),
        (lab.system(xs), VariableRole.SEQUENCE, ["u", "u2", "s"]),  # two arrays named u
        (lab.system(xs), VariableRole.PARAMETER, ["p", "p2"]),  # unnamed values
        (lab.system(ys), VariableRole.OUTPUT, ["v"]),  # not n, the number of steps
    ]
    for system, role, symbols in cases:
        assert [q.symbol for q in system.of_role(role)] == symbols
    given_ = {first: [0.5], second: [0.7], w: [0.9], x0: 1.0}
    trace = lab.trace(lab.derivative(xs[-1], x0), given_)
    leaves = trace.scans[0].formulas[0].leaves
    assert sorted(leaf.variable for leaf in leaves) == ["p", "p2", "s", "u", "u2", "x"]
    for words in ("x₀ = 1", "normal(0, 1)", "1 state and 1 non-numeric state"):
        assert words in str(walk)


def test_latex_has_the_same_terms():
    system = gallery.loops["rnn"].system()
    assert_twin("latex-rnn", system.latex())
    latex = f"$\\displaystyle {system.latex()}$"
    assert system._repr_mimebundle_() == {"text/latex": latex, "text/plain": str(system)}


@pytest.mark.parametrize("name", list(LOOPS))
def test_strange_loops_have_a_system(name):
    system = LOOPS[name].system()
    assert str(system).count("\n  for ") == 1 <= len(system.lines())
    latex = system.latex()
    assert latex.count("{") == latex.count("}")
    if name == "hostile name":
        assert "$" not in latex
        assert HOSTILE.replace("&", r"\&") in latex


X0, XS = squares()
TWO = scan(lambda x, y: x + y, sequences=[XS], outputs_info=[X0])
test_a_system_needs_one_scan = error_test(
    (lambda: lab.system(TWO), GraphError, "2 Scans"),
    (lambda: lab.system(X0 * 2), GraphError, "no Scan"),
    (lambda: lab.system(3), "expected a Scan's node"),
)
