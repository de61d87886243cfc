"""An entry of a formula of arrays, worked out: numpy says what it is, and what its sum makes."""

import numpy as np
import pytest
from oracles import computed, is_true

from lab.equations.entries import entry_of
from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller
from lab.loops import gallery
from lab.notation import Binding, Call, Leaf, Let, Named, Number, text

RANDOM = np.random.default_rng(5)
M, N, V, W, S = (Leaf(name, None, place) for place, name in enumerate("MNVWS"))
VALUES = {
    M: RANDOM.normal(size=(3, 2)),
    N: RANDOM.normal(size=(2, 3)),
    V: RANDOM.normal(size=2),
    W: RANDOM.normal(size=3),
    S: np.asarray(RANDOM.normal()),
}


def call(name, *arguments):
    return Call(name, arguments)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call("Dot", M, V), VALUES[M] @ VALUES[V]),
        (call("Dot", W, M), VALUES[W] @ VALUES[M]),
        (call("Dot", M, N), VALUES[M] @ VALUES[N]),
        (call("Dot", V, V), VALUES[V] @ VALUES[V]),
        (call("Dot", M, N, M), VALUES[M] @ VALUES[N] @ VALUES[M]),
        (call("Dot", call("transpose", M), W), VALUES[M].T @ VALUES[W]),
        (call("outer", W, V), np.outer(VALUES[W], VALUES[V])),
        (call("Add", call("outer", W, V), M), np.outer(VALUES[W], VALUES[V]) + VALUES[M]),
        (call("Mul", M, V), VALUES[M] * VALUES[V]),  # of a row, to every row
        (call("Sub", S, call("tanh", V)), VALUES[S] - np.tanh(VALUES[V])),
        (call("Pow", call("Dot", N, W), Number("2")), (VALUES[N] @ VALUES[W]) ** 2),
        (
            Let((Binding("a", call("Dot", M, V)),), call("Mul", Named("a"), Named("a"))),
            (VALUES[M] @ VALUES[V]) ** 2,
        ),
    ],
)
def test_every_entry_is_that_of_numpy(expression, expected):
    for index in np.ndindex(expected.shape):
        entry = entry_of(expression, VALUES.__getitem__, index)
        numbers = {leaf: VALUES[whole][at] for leaf, (whole, at) in entry.parts.items()}
        assert all(np.ndim(number) == 0 for number in numbers.values())
        told = text(entry.term, lambda leaf, numbers=numbers: repr(float(numbers[leaf])))
        np.testing.assert_allclose(computed(told, {}), expected[index], rtol=1e-12)


@pytest.mark.parametrize(
    "expression", [call("sum", M), call("at", V, S), call("Dot", M, call("inv", N))]
)
def test_what_mixes_entries_otherwise_has_none(expression):
    assert entry_of(expression, VALUES.__getitem__, (0,)) is None


def test_a_long_sum_and_what_is_no_array_have_none():
    long = {M: np.ones((3, 50)), V: np.ones(50)}
    assert entry_of(call("Dot", M, V), long.__getitem__, (0,)) is None
    assert entry_of(M, {M: None}.__getitem__, (0, 0)) is None


def entries_of(order):
    """Every first entry of the recurrent network, with what it is an entry of."""
    trace = gallery.loops["rnn"].trace(order)
    for number, scan in enumerate(trace.scans):
        spell = Speller(Quantities(trace, number))
        for step in range(scan.steps):
            for formula in scan.formulas:
                yield number, step, spell.position(formula.target, step), spell.entry(formula, step)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_they_are_true_as_they_are_printed(order):
    found = [entry.written for *_, entry in entries_of(order)]
    assert len(found) >= 4
    assert [written for written in found if " ≈ " in written or not is_true(written)] == []
    wrong = found[0].replace(found[0][2], "7", 1)
    assert not is_true(wrong)


def test_the_entries_of_the_network_are_those_of_its_chain_rule():
    """By hand: a = (1 − h²)·g goes back by Wᵀ, and leaves a hᵀ, a xᵀ and Uᵀ a."""
    loop = gallery.loops["rnn"]
    weights = {p.name: np.asarray(p.value) for p in loop.parameters}
    x, h = np.asarray(loop.sequences[0].values), [np.asarray(loop.states[0].initial)]
    for row in x[:4]:
        h.append(np.tanh(weights["W"] @ h[-1] + weights["U"] @ row))
    g, total = np.ones(3), {"W": np.zeros((3, 3)), "U": np.zeros((3, 2))}
    told = {(step, place): entry for scan, step, place, entry in entries_of(1) if scan == 1}
    for step, t in enumerate((3, 2, 1, 0)):
        a = g * (1 - h[t + 1] ** 2)
        total["W"] += np.outer(a, h[t])
        total["U"] += np.outer(a, x[t])
        g = weights["W"].T @ a
        expected = {
            f"buf[{step + 1}]": g[0],
            "dW": total["W"][0, 0],
            "dU": total["U"][0, 0],
            f"dC/dx{'₀₁₂₃'[t]}": (weights["U"].T @ a)[0],
        }
        for place, value in expected.items():
            made = told[step, place].written.partition(" = ")[0]
            assert float(made) == pytest.approx(value, rel=5e-4), (step, place)
    assert {entry.label for entry in told.values()} == {"entry [0]", "entry [0, 0]"}
