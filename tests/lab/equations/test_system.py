"""Run printed systems in NumPy, and compare the results with the Scans."""

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan
from hypothesis import Phase, given, settings
from oracles import FromTheEnd, Series, equations_of, run_printed
from random_loops import loops
from strange_loops import HOSTILE, LOOPS, formulas_at

import lab
from lab.equations.system import VariableRole
from lab.errors import GraphError
from lab.loops import gallery
from lab.scans.replacing import scan_nodes
from lab.tape import Kind

CERTAIN = [name for name in gallery.loops if name != "walk"]


def quantities_of(loop):
    """Return the initial values and the inputs of a loop, each from index 0."""
    found = {s.name: Series(s.first_values) for s in loop.states}
    found |= {s.name: Series(s.values) for s in loop.sequences}
    found |= {name: Series([]) for name in loop.outputs}
    return found | {p.name: p.value for p in loop.parameters}


def disagreements(loop, printed, tolerance=1e-12):
    """Values that the printed equations give and the loop's own trace does not."""
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
    """Their coefficients have more digits than the six of a formula."""
    assert list(disagreements(loop, str(loop.system()), 1e-4)) == []


@pytest.mark.parametrize(("right", "wrong"), [("t−1", "t−2"), ("·", " + "), ("u[t+2]", "u[t+1]")])
def test_the_reader_sees_a_wrong_equation(right, wrong):
    text = "x[t-1]*0.5 + x[t-2]*u[t]*u[t+2]"
    loop = lab.Loop.from_text(text, {"x": [0.3, 0.6]}, {"u": [0.5, 1.5, 2.5, 3.5]})
    printed = str(loop.system())
    assert list(disagreements(loop, printed)) == []
    assert list(disagreements(loop, printed.replace(right, wrong)))


def derived(loop, order, **choice):
    """Return the trace of a derivative, and the system of every Scan in it."""
    graph = loop.build()
    made = loop.derivative(order, graph=graph, **choice)
    trace = lab.trace(made.values, graph.given, graph.node.outputs[:1])
    nodes = scan_nodes([*made.values, *graph.node.outputs[:1]])
    return trace, [lab.system(node) for node in nodes]


def first_of(tape):
    """Return the index of row 0: of a value, or of a position on the tape of a gradient."""
    return -tape.tape.origin if tape.kind is Kind.MIT_MOT else 0


def backward_disagreements(loop, order, change=str, **choice):
    """Yield names of Scans and of tapes whose final values differ from the printed system.

    Each system is changed by `change`, and starts from the buffers of its Scan.
    """
    trace, systems = derived(loop, order, **choice)
    known = {s.name: Series(s.values) for s in loop.sequences}
    for scan_trace, system in zip(trace.scans, systems, strict=True):
        printed = change(str(system))
        buffers = re.findall(r"(buf\w*), the whole buffer of (\w+),", printed)
        called = {state: buffer for buffer, state in buffers}
        own = {q.argument: called.get(q.symbol, q.symbol) for q in system.quantities}
        read = dict(known)
        for tape in scan_trace.tapes:
            read[own[tape.argument]] = Series(tape.initial, first_of(tape))
        for tape in scan_trace.outputs:
            read[own[tape.argument]] = Series([])
        read |= {own[p.argument]: p.value for p in scan_trace.parameters}
        run_printed(printed, read, scan_trace.steps)
        for tape in (*scan_trace.tapes, *scan_trace.outputs):
            rows = [read[own[tape.argument]][i + first_of(tape)] for i in range(len(tape.final))]
            if not np.allclose(np.array(rows), tape.final, rtol=1e-11, atol=1e-13):
                yield scan_trace.name, tape.name
            known[tape.name] = Series(tape.final)


@pytest.mark.parametrize("name", CERTAIN)
def test_derivatives_are_systems_too(name):
    """A graph of order 2 also contains the Scans of order 1."""
    assert list(backward_disagreements(gallery.loops[name], 2)) == []


@pytest.mark.parametrize("wrt", ["W", "U", "x"])
def test_products_of_matrices_are_written_without_columns(wrt):
    """With a matrix, PyTensor uses columns instead of vectors, and transposes twice."""
    loop = gallery.loops["rnn"]
    assert list(backward_disagreements(loop, 1, wrt=wrt)) == []
    for system in derived(loop, 3, wrt=wrt)[1]:
        assert "None" not in str(system)
        assert "ᵀ)ᵀ" not in str(system)


@pytest.mark.parametrize(("name", "right", "wrong"), [("rnn", "Wᵀ", "W"), ("gap", "cos", "sin")])
def test_a_wrong_equation_of_a_derivative_is_seen(name, right, wrong):
    def change(printed):
        return printed.replace(right, wrong)

    assert list(backward_disagreements(gallery.loops[name], 1, change))


STEPS = {
    "sum": lambda x: x * x.sum(),
    "product": lambda x: x * pt.prod(x),
    "softmax by hand": lambda x: x / pt.exp(x).sum(),
    "reversed": lambda x: x[::-1] * 0.5,
    "shifted": lambda x: x + x[1:].sum(),
    "comparison": lambda x: x + (x > 0.6) * 0.5,
    "choice": lambda x: pt.switch(x >= 0.6, x * 0.5, x - 0.1),
    "difference of differences": lambda x: x - (x.sum() - (x - 0.1)),
    "quotient of quotients": lambda x: x / (2.0 / (x + 1.0)),
    "power of a power": lambda x: (x**2.5) ** 1.5,
    "negation": lambda x: -(x + 1.0) * 0.1,
    "matrix": lambda x: x @ pt.outer(x, x),
    "truncation": lambda x: x + pt.cast(x * 3, "int64"),
    "first": lambda x: x * x[0],
    "last two": lambda x: x * x[-2:].prod(),
}


@pytest.mark.parametrize("name", STEPS)
def test_systems_of_strange_steps(name):
    loop = lab.Loop(STEPS[name], states=(lab.State("x", np.array([0.4, 0.7, 0.9])),), n_steps=2)
    assert list(backward_disagreements(loop, 1, cost="sum")) == []


GROWING = {
    "products": lambda a, b: a * b,
    "sums": lambda a, b: a + b,
    "differences": lambda a, b: a - b,
    "quotients": lambda a, b: a / b,
    "powers": lambda a, b: (a * b) ** 0.5,
}


def growing(join, times):
    """Each result reads the last two; the expanded formula grows like Fibonacci's numbers."""

    def step(x):
        before, last = x, pt.sin(x)
        for _ in range(times):
            before, last = last, join(before, last)
        return last

    return lab.Loop(step, states=(lab.State("x", 0.9),), n_steps=2)


@pytest.mark.filterwarnings("ignore:overflow")  # of quotients
@pytest.mark.parametrize("name", GROWING)
def test_formulas_that_double_with_every_line_are_written(name):
    """With 60 lines, PyTensor's simplification and the full formula would not end."""
    trace = growing(GROWING[name], 60).trace(order=1)
    for number in range(len(trace.scans)):
        assert all(formula for formula, _ in formulas_at(trace, number, 0))
    assert list(backward_disagreements(growing(GROWING[name], 4), 1)) == []


# The loop, its order, the Scan, and the formulas of step 0.
FORMULAS = [
    ("square", 1, 1, ["buf[1] ← buf[0]·2·x₃ + buf[1]"]),
    (
        "square",
        2,
        2,
        ["buf[0] ← buf[−1]·2·x₀ + buf[0]", "buf[−1] ← buf[−1]", "∂C′/∂x₀ = buf[−1]·2·dC/dx₁"],
    ),
    ("fibonacci", 0, 0, ["x₂ = x₀ + x₁"]),
    ("gap", 0, 0, ["x₃ = sin(x₀) + x₂·x₀"]),
    ("window", 0, 0, ["x₁ = x₀ + u₁·(u₀ + u₂)"]),
    ("rnn", 0, 0, ["h₁ = tanh(W @ h₀ + U @ x₀)"]),
    ("extra", 0, 0, ["x₁ = exp(x₀·w)", "cube₀ = exp(x₀·w)³"]),
    ("lookup", 0, 0, ["x₁ = x₀·table[k₀]"]),
    ("logistic", 0, 0, ["x₁ = x₀·r·(1 − x₀)"]),
    ("newton", 0, 0, ["x₁ = 0.5·(x₀ + a/x₀)"]),
]


@pytest.mark.parametrize(("name", "order", "scan", "formulas"), FORMULAS)
def test_formulas_of_a_step(name, order, scan, formulas):
    written = formulas_at(gallery.loops[name].trace(order=order), scan, 0)
    assert [formula for formula, _ in written] == formulas


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
    """Also if another loop reads it from its end, a result counts from its first initial value."""
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
