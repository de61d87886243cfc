"""Terms that a formula uses twice have a name, and each function visits them only once."""

import pickle

import pytest
from fuzzing.outcomes import error_test

import lab
from lab.gradients.symbols import cost_symbol
from lab.loops import gallery
from lab.notation import LATEX, MAX_CHARACTERS, Call, Leaf, Let, calls_of, leaves_of, render
from lab.scans.names import readable
from lab.scans.replacing import scan_nodes
from lab.scans.shared_terms import MAX_DEPTH, name_parts

X = Leaf("x", -1, 0)


def nested(times):
    """Apply s ← sin(s)·cos(s) to x repeatedly; each time, the size of the tree doubles."""
    term = X
    for _ in range(times):
        term = Call("Mul", (Call("sin", (term,)), Call("cos", (term,))))
    return term


def as_text(term):
    return render(term, lambda leaf: leaf.variable)


def test_a_repeated_term_is_defined_once_if_that_is_shorter():
    assert as_text(name_parts(nested(2))) == "sin(a)·cos(a); a := sin(x)·cos(x)"
    assert as_text(name_parts(nested(1))) == "sin(x)·cos(x)"
    short = Call("exp", (X,))
    assert isinstance(name_parts(Call("Add", (short, short))), Call)
    assert as_text(name_parts(nested(2), taken={"a", "b"})).startswith("sin(c)·cos(c)")
    assert render(name_parts(nested(2)), lambda leaf: leaf.variable, LATEX).count(r":=") == 1


def test_parts_do_not_have_the_names_of_steps():
    leaves = [Leaf(f"v{number}", -1, 0) for number in range(60)]
    parts = [Call("exp", (Call("sin", (leaf,)),)) for leaf in leaves]
    term = name_parts(Call("Add", tuple(Call("Mul", (part, part, part)) for part in parts)))
    names = {name for name, _ in term.bindings}
    assert len(names) == len(parts)
    assert {"a", "j", "m", "a2"} <= names
    assert not {name for name in names if name[0] in "kt"}


@pytest.mark.parametrize("times", [50, 1000])
def test_every_walk_visits_each_operation_once(times):
    term = name_parts(nested(times))
    assert len(term.bindings) == times - 1
    assert len(calls_of(term)) == 3 * times
    assert leaves_of(term) == [X]
    spelled = []
    text = render(term, lambda leaf: spelled.append(leaf) or leaf.variable)
    more = int(text.rpartition("(")[2].split()[0].replace(",", ""))
    assert len(text) < MAX_CHARACTERS + 60
    assert more + sum(text.count(f) for f in ("sin(", "cos(", "·")) == 3 * times
    assert len(spelled) <= 2
    assert pickle.loads(pickle.dumps(term)) == term
    assert hash(term) == hash(name_parts(nested(times)))


def test_a_deep_chain_is_cut_into_pieces():
    chain = X
    for _ in range(3000):
        chain = Call("sin", (chain,))
    term = name_parts(chain)
    assert isinstance(term, Let)
    assert len(term.bindings) == 3000 // (MAX_DEPTH + 1)
    assert len(calls_of(term)) == 3000
    assert as_text(term).endswith("more operations)")


def with_parameter(value):
    return lab.Loop(lambda x: x * x, [lab.State("x", 0.5)], n_steps=lab.Parameter("n", value))


SQUARE = gallery.loops["square"]
test_too_many_scans_or_steps_raise_errors = error_test(
    (lambda: SQUARE.trace(order=15), "^order = 15: .* at most 16,384 Scans"),
    (lambda: SQUARE.trace(order=10**12), "^order = 10{12}: .* at most 16,384 Scans"),
    (lambda: with_parameter(1e30), r"^n_steps = 1.*GB"),
    (lambda: with_parameter(3).trace(at={"n": 1e30}), r"^n_steps = 1.*GB"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("grad_of_grad_of_square", "gradient of the gradient of square"),
        ("grad_of_grad_of_grad_of_square", "3-fold gradient of square"),
        ("grad_of_" * 12 + "square", "12-fold gradient of square"),
        ("grad_of_replay_of_gap", "gradient of the replay of gap"),
        ("tangent_of_gap", "tangent of gap"),
        ("grad_of_", "grad_of_"),  # a user's name that would become empty
        ("graduate", "graduate"),
    ],
)
def test_readable_names(name, expected):
    assert readable(name) == expected


def reports(name):
    """Yield reports on a loop whose state has a `name` that the name of its parameter contains."""
    variables = (lab.State(name, 0.7),), (lab.Sequence("u", [0.1, 0.2, 0.3]),)
    parameters = (lab.Parameter(f"q{name}", 0.9),)
    loop = lab.Loop(lambda **v: v[name] ** 2 * v["u"] + v[f"q{name}"], *variables, parameters)
    yield from (lab.canonical(loop), lab.compiled(loop, wrt=name))
    derived = loop.derivative(2, cost=[1, -2, -1])
    yield derived.names
    yield from (node.op.derivation for node in scan_nodes([derived.value])[1:])
    yield lab.explain(derived.values[0], derived.wrt)


@pytest.mark.parametrize("name", ["a-b", "x = 1", "x[0]", "[id A]", "x0", "a + -1·b", "n[-1]"])
def test_no_report_changes_a_name(name):
    for text, same in zip(reports(name), reports("ж" * len(name)), strict=True):
        assert str(text).split() == str(same).replace("ж" * len(name), name).split()


def test_symbols_of_derivatives_of_the_cost():
    assert [*map(cost_symbol, (0, 1, 2, 3, 4, 12))] == ["C", "C′", "C″", "C‴", "C⁗", "C⁽¹²⁾"]
