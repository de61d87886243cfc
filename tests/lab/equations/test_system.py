"""Run printed systems in NumPy, and compare the results with the Scans."""

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan
from hypothesis import Phase, given, settings
from oracles import FromTheEnd, Series, backward_disagreements, equations_of, run_printed
from random_loops import loops
from strange_loops import HOSTILE, LOOPS

import lab
from lab.equations.system import VariableRole
from lab.errors import GraphError
from lab.loops import gallery
from lab.scans.replacing import scan_nodes

CERTAIN = [name for name in gallery.loops if name != "walk"]


def quantities_of(loop):
    """Return the initial values and the inputs of a loop, with indices from 0."""
    found = {s.name: Series(s.first_values) for s in loop.states}
    found |= {s.name: Series(s.values) for s in loop.sequences}
    found |= {name: Series([]) for name in loop.outputs}
    return found | {p.name: p.value for p in loop.parameters}


def disagreements(loop, printed, tolerance=1e-12):
    """Yield the values for which the printed equations and the trace differ."""
    known = quantities_of(loop)
    made = run_printed(printed, known, loop.steps)
    scan = loop.trace(order=0).scans[0]
    assert made == scan.steps
    for tape in (*scan.tapes, *scan.outputs):
        for row, value in enumerate(tape.final):
            if not np.allclose(known[tape.name][row], value, rtol=tolerance, atol=tolerance):
                yield tape.name, row


@pytest.mark.parametrize("name", CERTAIN)
def test_what_is_printed_is_what_the_loop_computes(name):
    loop = gallery.loops[name]
    assert list(disagreements(loop, str(loop.system()))) == []


@settings(max_examples=10, deadline=None, phases=(Phase.generate,))
@given(loop=loops())
def test_random_loops(loop):
    """A formula prints six digits of a coefficient."""
    assert list(disagreements(loop, str(loop.system()), 1e-4)) == []


@pytest.mark.parametrize(("right", "wrong"), [("t−1", "t−2"), ("·", " + "), ("u[t+2]", "u[t+1]")])
def test_the_reader_sees_a_wrong_equation(right, wrong):
    text = "x[t-1]*0.5 + x[t-2]*u[t]*u[t+2]"
    loop = lab.Loop.from_text(text, {"x": [0.3, 0.6]}, {"u": [0.5, 1.5, 2.5, 3.5]})
    printed = str(loop.system())
    assert list(disagreements(loop, printed)) == []
    assert list(disagreements(loop, printed.replace(right, wrong)))


@pytest.mark.parametrize("name", CERTAIN)
def test_derivatives_are_systems_too(name):
    """A graph of order 2 also contains the Scans of order 1."""
    assert list(backward_disagreements(gallery.loops[name], 2)) == []


def test_the_form_of_the_document():
    """x[t] depends on x[t−1], x[t−2], u[t], u[t+4] and w, as in PyTensor's documentation."""
    x, u, w = pt.dvector("x"), pt.dvector("u"), pt.dscalar("w")
    xs = scan(
        lambda now, later, older, newer, w: (
            newer * w + older * now + pt.exp(later) / (1 + older**2)
        ),
        sequences=[{"input": u, "taps": [0, 4]}],
        outputs_info=[{"initial": x, "taps": [-2, -1]}],
        non_sequences=[w],
    )
    printed = str(lab.system(xs))
    (pair,), told, starts = equations_of(printed)
    for term in ("x[t−1]", "x[t−2]", "u[t]", "u[t+4]", "w"):
        assert term in pair[1]
    assert told == "for steps 0 to n−1"
    assert starts == {"x": "_k+2", "u": "_k"}
    values = np.linspace(0.1, 0.9, 8)
    known = {"x": Series([0.3, 0.6]), "u": Series(values), "w": np.float64(0.7)}
    run_printed(printed, known, 4)
    f = pytensor.function([x, u, w], xs, mode="FAST_COMPILE")
    assert [known["x"][2 + k] for k in range(4)] == pytest.approx(f([0.3, 0.6], values, 0.7))


def test_what_a_sequence_was_cut_from():
    u, x0, n, k = pt.dvector("u"), pt.dscalar("x0"), pt.lscalar("n"), pt.lscalar("k")
    xs = scan(
        lambda now, later, other, x: x + now * later**2 + other,
        sequences=[{"input": u, "taps": [0, 2]}, pt.exp(u)[k:]],
        outputs_info=[x0],
        n_steps=n,
        go_backwards=True,
    )
    system = lab.system(xs)
    printed = str(system)
    assert "u₋₃₋ₖ" in printed
    assert "u₋₁₋ₖ" in printed
    assert "n = n" not in printed
    (letter,) = {q.symbol for q in system.of_role(VariableRole.SEQUENCE)} - {"u"}
    told = re.search(rf"{letter} = (.*)", printed)[1]
    assert told == "exp(u[k:])"
    assert f"{letter}₋₁₋ₖ" in printed
    values = np.linspace(0.1, 0.9, 6)
    known = {"x": Series([0.4]), "u": FromTheEnd(values)}
    known[letter] = FromTheEnd(np.exp(values)[3:])
    run_printed(printed, known, 3)
    f = pytensor.function([u, x0, n, k], xs, mode="FAST_COMPILE")
    assert [known["x"][1 + k] for k in range(3)] == pytest.approx(f(values, 0.4, 3, 3))


@pytest.mark.parametrize("steps", [3, None])
def test_the_results_of_a_loop_read_from_their_end(steps):
    """The indices of results start at the first initial value, also for a reversed sequence."""
    x0, n = pt.dscalar("x0"), pt.lscalar("n")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=steps or n, name="first")
    ys = scan(lambda x, y: x * y, sequences=[xs[::-1]], outputs_info=[pt.ones(())], name="second")
    system = lab.system(next(node for node in scan_nodes([ys]) if node.op.name == "second"))
    (line,) = system.lines()
    if steps is None:
        assert line == "v[t] = v[t−1]·s[t]"
        assert "s = …" in str(system)
        return
    assert line == "v[t] = v[t−1]·x₃₋ₖ"
    known = {"v": Series([1.0]), "x": Series([0.5, 0.25, 0.0625, 0.00390625])}
    run_printed(str(system), known, 3)
    f = pytensor.function([x0], ys, mode="FAST_COMPILE")
    assert [known["v"][1 + k] for k in range(3)] == f(0.5).tolist()


def test_symbols_by_role():
    walk, extra = gallery.loops["walk"].system(), gallery.loops["extra"].system()
    first, second, x0, n = pt.dvector("u"), pt.dvector("u"), pt.dscalar("x0"), pt.lscalar("n")
    xs = scan(lambda a, b, x: x + a * b, sequences=[first, second], outputs_info=[x0])
    _, ys = scan(lambda x: (x * 2, x**3), outputs_info=[x0, None], n_steps=n)
    cases = [
        (walk, VariableRole.NON_NUMERIC, ["rng"]),
        (extra, VariableRole.OUTPUT, ["cube"]),
        (extra, VariableRole.PARAMETER, ["w"]),
        (lab.system(xs), VariableRole.SEQUENCE, ["u", "u2"]),  # two arrays with the same name
        (lab.system(ys), VariableRole.OUTPUT, ["v"]),  # not n, the number of steps
    ]
    for system, role, symbols in cases:
        assert [q.symbol for q in system.of_role(role)] == symbols
    for words in ("x₀ = 1", "normal(0, 1)", "1 state and 1 non-numeric state"):
        assert words in str(walk)


def test_latex_has_the_same_terms():
    system = gallery.loops["rnn"].system()
    assert system.latex() == (
        "\\begin{aligned}\n"
        r"h[t] &= \tanh\left(W\,h[t-1] + U\,x[t]\right) && \text{steps 0 to 3} \\" + "\n"
        r"h_{0} &= [0.1, -0.2, 0.3]" + "\n"
        r"\end{aligned}"
    )
    bundle = system._repr_mimebundle_()
    assert bundle["text/plain"] == str(system)
    assert bundle["text/latex"] == system._repr_latex_()
    assert bundle["text/latex"].startswith("$\\displaystyle \\begin{aligned}")


@pytest.mark.parametrize("name", list(LOOPS))
def test_strange_loops_have_a_system(name):
    system = LOOPS[name].system()
    assert len(system.lines()) >= 1
    assert str(system)
    latex = system.latex()
    assert latex.count("{") == latex.count("}")
    if name == "hostile name":
        assert "$" not in latex
        assert HOSTILE.replace("&", r"\&") in latex


X0 = pt.dscalar("x0")
XS = scan(lambda x: x**2, outputs_info=[X0], n_steps=3)
test_a_system_needs_one_scan = error_test(
    (
        lambda: lab.system(scan(lambda x, y: x + y, sequences=[XS], outputs_info=[X0])),
        GraphError,
        "2 Scans",
    ),
    (lambda: lab.system(X0 * 2), GraphError, "no Scan"),
    (lambda: lab.system(3), "expected a Scan's node"),
)
