"""`lab.explain` reports sizes and traps; each trap is tested on graphs with it and without it."""

import re

import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan, squares
from graphs.to_explain import GRAPHS
from pytensor.printing import debugprint
from twins import assert_twin

import lab
from lab.gradients.status import Connected, Disconnected, Undefined
from lab.loops import gallery
from lab.reports.explain.traps import FINDERS, traps
from lab.scans.replacing import scan_nodes


def graph(name):
    """Return the cost of a graph, and the variable to differentiate."""
    return GRAPHS[name][0]()


def traps_in(name):
    cost, wrt = graph(name)
    return [trap for node in scan_nodes([cost]) for trap in traps(node, wrt)]


def test_every_trap_has_a_graph():
    names = {trap for _, trap, _ in (case for case in GRAPHS.values() if len(case) > 1)}
    finders = {find.__name__ for find in FINDERS}
    assert names | {"until_in_old_pytensor"} == finders | {"gradient_of_output"}


@pytest.mark.parametrize("name", GRAPHS)
def test_traps(name):
    _, *expected = GRAPHS[name]
    actual = traps_in(name)
    assert [trap.name for trap in actual] == expected[:1]
    assert all(trap.scan in ("scan_fn", "by hand") for trap in actual)
    assert all(expected[1] in trap.message for trap in actual)
    if name in ("on one side", "backwards"):
        return
    explanation = lab.explain(*graph(name))
    assert explanation.traps == tuple(actual)
    assert ("⚠" in str(explanation)) == bool(expected)


@pytest.mark.parametrize(
    ("version", "has_trap"), [("3.0.7", True), ("3.1.0", True), ("3.1.1", False)]
)
def test_until_is_a_trap_only_in_old_versions(version, has_trap, monkeypatch):
    monkeypatch.setattr(pytensor, "__version__", version)
    assert bool(traps_in("stops on a sequence")) == has_trap


# Sizes, and numbers of Scans.


@pytest.mark.parametrize("name", ["rnn", "gap", "coupled", "extra", "window", "lookup", "delay"])
def test_reported_sizes_equal_the_sizes_of_the_arrays(name):
    loop = gallery.loops[name]
    explanation = explanation_of(loop, "sum")
    trace = loop.trace(order=1, wrt=loop.states[0].name, cost="sum")
    sizes = {tape.name: tape.final.nbytes for tape in trace.scans[0].tapes}
    for backward in trace.scans[1:]:
        sizes |= {f"gradient of {tape.gradient_of}": tape.final.nbytes for tape in backward.buffers}
    saved = {item.name: item for item in explanation.scans[0].saved}
    assert 0 < len(saved) == len(explanation.scans[0].saved)
    for name, item in saved.items():
        assert item.bytes == sizes[name.partition("[")[0]], item  # such as gradient of u[t+1]


def test_a_truncated_gradient_stores_the_rows_of_its_own_steps():
    x, a = pt.dscalar("x"), pt.dscalar("a")
    options = {"n_steps": 6, "truncate_gradient": 2}
    xs = scan(lambda x, a: a * x, outputs_info=[x], non_sequences=[a], **options)
    trace = lab.trace(lab.derivative(xs[-1], a), {x: 0.5, a: 1.1})
    sizes = sorted(tape.final.nbytes for each in trace.scans for tape in each.buffers)
    assert sorted(array.bytes for array in lab.explain(xs[-1], a).saved) == sizes


def explanation_of(loop, cost="last"):
    graph = loop.build()
    return lab.explain(loop.cost(graph, cost), graph.inputs[loop.states[0].name])


# Graphs without a gradient, or without a Scan.


def test_a_graph_without_a_scan_is_explained():
    x0 = pt.dscalar("x0")
    explanation = lab.explain(x0**2, x0)
    assert explanation.scans == ()
    assert explanation.status == Connected()
    assert "The graph contains no Scan" in str(explanation).replace("\n", " ")
    assert isinstance(lab.explain(x0**2, pt.dscalar("other")).status, Disconnected)


def test_a_missing_gradient_is_explained():
    (cost, _), w = graph("of input"), pt.dscalar("w")
    explanation = lab.explain(cost, w)
    assert isinstance(explanation.status, Disconnected)
    assert "Result: disconnected: the cost does not depend on it." in str(explanation)
    assert "Memory" not in str(explanation)
    assert "does not pass through this Scan" in str(explanation)
    (scan,) = lab.explain(w**2 + pytensor.gradient.disconnected_grad(cost), w).scans
    assert (scan.outcomes, scan.saved) == ((), ())  # no backward Scan
    loop = gallery.loops["undefined"]
    built = loop.build()
    explanation = lab.explain(loop.cost(built), built.inputs["v"])
    assert isinstance(explanation.status, Undefined)
    assert [str(o.verdict) for o in explanation.scans[0].outcomes] == ["undefined", "connected"]
    assert re.search(r"v\[t\] +undefined +.*jv", str(explanation))


def test_a_scan_that_cannot_be_differentiated_is_explained():
    """The state has length 1, but its type allows any length: every pullback fails."""
    explanation = lab.explain(*graph("start of one"))
    assert isinstance(explanation.status, Undefined)
    assert "the length of a dimension is 1" in str(explanation).replace("\n", " ")
    assert len(explanation.scans) == 1


def test_a_loop_of_many_steps_is_explained_at_once():
    """No report writes the name of each value, and the number of steps keeps all its digits."""
    xs = scan(pt.sin, outputs_info=[X0], n_steps=10**12 + 1)
    assert "steps 0 to 1000000000000\n" in str(lab.explain(xs[-1], X0))


X0, XS = squares()
test_errors = error_test(
    (lambda: lab.explain(3, X0), "cost = 3"),
    (lambda: lab.explain(X0**2, None), "wrt = None"),
    (lambda: lab.explain(XS, X0), "expected a scalar"),
)


def test_many_scans_are_summarized():
    x = x0 = pt.dscalar("x")
    for number in range(20):
        x = scan(lambda x: pt.sin(x), outputs_info=[x], n_steps=3, name=f"part{number}")[-1]
    explanation = lab.explain(x, x0)
    printed = str(explanation)
    assert len(explanation.scans) == 20
    assert len(printed.splitlines()) < 40
    assert "part19" in printed
    assert "x[t] = " not in printed
    assert "sin(" in str(explanation.scans[7])


@pytest.mark.parametrize("name", ["gap", "logistic", "lookup"])
def test_reports_as_text(name):
    """The arrays of `logistic` have 6 + 1 rows; the integers k of `lookup` have no gradient."""
    assert_twin(f"explain-{name}", explanation_of(gallery.loops[name]))


def test_reports_are_narrow_and_short():
    for loop in gallery.loops.values():
        printed = str(explanation_of(loop))
        lines = printed.splitlines()
        assert len(lines) <= 50
        assert max(map(len, lines)) <= 110
        assert ("(n + 1) × 8 bytes" in printed) == ("  n ≤ 20" in lines)  # newton stops early


def test_a_scan_has_the_line_that_built_it():
    x0 = pt.dscalar("x0")
    xs = pytensor.scan(pt.sin, outputs_info=[x0], n_steps=3, return_updates=False)
    (scan,) = lab.explain(xs[-1], x0).scans
    assert re.fullmatch(r"test_explain.py:\d+: xs = pytensor.scan\(pt.sin, .*", scan.line)
    assert scan.line in " ".join(str(scan).split())
    assert explanation_of(gallery.loops["square"]).scans[0].line == ""  # the gallery built it


def test_details_have_the_ids_of_pytensors_print():
    x = pt.dscalar("x")
    xs = pytensor.scan(
        lambda x: x**2, outputs_info=[x], n_steps=4, return_updates=False, name="mine"
    )
    cost = xs.sum()

    def printed(outputs, name):
        text = debugprint(outputs, file="str")
        return re.search(rf"Scan\{{{name}, .*?\}} (\[id \w+\])", text)[1]

    explanation = lab.explain(cost, x)
    assert explanation.scans[0].id == printed(cost, "mine") == "[id C]"
    assert "[id C]" in str(explanation.details)
    assert "test_explain.py" in str(explanation.details)
    derivative = lab.derivative(cost, x)
    ids = [scan.id for scan in lab.trace(derivative, {x: 0.9}).scans]
    assert ids == [printed(list(derivative.values), name) for name in ("mine", "grad_of_mine")]
