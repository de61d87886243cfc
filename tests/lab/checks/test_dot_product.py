"""Compare pushforward and pullback of a whole loop: <g, J v> = <J* g, v>."""

from dataclasses import replace

import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from hypothesis import given, settings
from hypothesis import strategies as st
from random_loops import loops

import lab
from lab.checks import check
from lab.errors import GradientError, GraphError
from lab.loops import gallery
from lab.reports.breaking.rules import BROKEN

DEFINED = [name for name in gallery.loops if name != "undefined"]


@pytest.mark.parametrize("name", DEFINED)
def test_the_loops_of_the_gallery(name):
    """Compare the products with each other, and J v with finite differences of the loop."""
    loop = gallery.loops[name]
    if name == "newton":  # the number of steps must not change
        loop = loop.with_values({"x": 2.9})
    test = lab.dot_product(loop)
    forward, backward = test.products
    assert forward == pytest.approx(backward, rel=1e-13)
    assert forward != 0
    assert [scan.order for scan in test.forward.scans] == [0]  # value and tangent in one loop
    assert [scan.order for scan in test.backward.scans] == [0, 1]
    graph = loop.build()
    sides = []
    for sign in (1, -1):
        moved = {
            graph.inputs[name]: graph.given[graph.inputs[name]] + sign * 1e-6 * v
            for name, v in test.tangents.items()
        }
        sides.append(check.value_at(graph.outputs[test.of], {**graph.given, **moved}))
    check.compare(test.tangent, (sides[0] - sides[1]) / 2e-6, 1e-7, "J v")


@settings(max_examples=8)
@given(loops(), st.integers(0, 2**16))
def test_random_loops(loop, seed):
    names = [name for name in loop.variables if name != "flag"]
    of = "out" if loop.outputs else None
    try:
        lab.dot_product(loop, wrt=names, of=of, seed=seed)
    except GraphError:  # the output does not depend on the inputs
        assert of is None


@pytest.mark.parametrize(
    ("rule", "name"), [("never-accumulate", "gap"), ("unreversed-sequences", "square")]
)
def test_wrong_rules_are_detected(rule, name):
    with pytest.raises(check.WrongGradientError, match="should be"):
        lab.dot_product(gallery.loops[name], rule=BROKEN[rule].rule)


def test_a_value_and_its_tangent_have_tapes_in_one_scan():
    (scan,) = lab.dot_product(gallery.loops["square"].with_steps(2)).forward.scans
    assert (scan.name, [tape.name for tape in scan.tapes]) == ("tangent of square", ["x", "dx"])
    assert [tape.unwritten.tolist() for tape in scan.tapes] == [[False, True, True]] * 2


SQUARE = gallery.loops["square"]
X, K, V = pt.dvector("x"), pt.lscalar("k"), pt.dscalar("v")
test_errors = error_test(
    (lambda: lab.dot_product(SQUARE, wrt=["y"]), "wrt = 'y': expected one of x"),
    (lambda: lab.dot_product(SQUARE, of="y"), "of = 'y': .* outputs are x"),
    (lambda: lab.dot_product(SQUARE, tangents={"y": 1.0}), "tangents = 'y': .* x"),
    (lambda: lab.dot_product(SQUARE, tangents={"x": [1.0]}), r"is \(1,\), but .*\(\)"),
    (lambda: lab.dot_product(SQUARE, cotangent=[1.0]), r"cotangent: .* be \(4,\)"),
    (lambda: lab.dot_product(replace(SQUARE, truncate_gradient=1)), "truncate_gradient = 1"),
    (lambda: lab.pushforward([X * 2], [X], []), r"tangents = \[\]: expected 1, one for"),
    (lambda: lab.pushforward([X * K], [K], [K]), "wrt = k"),
    (lambda: lab.pushforward([X * 2], [X], [pt.dmatrix()]), "expected type .* x"),
    (lambda: lab.pushforward([X * 2], [pt.dscalar("z")], [V]), GraphError, "depends on z"),
    (lambda: lab.pushforward([pt.jv(V, X)], [V], [V]), GradientError, "Jv wrt .* is undefined"),
)


def test_a_constant_exponent_needs_no_tangent():
    """At a negative x, x**p has no derivative wrt p, but it has a derivative wrt x."""
    x, v = pt.dscalar("x"), pt.dscalar("v")
    (ours,) = lab.pushforward([x**2], [x], [v])
    assert check.value_at(ours, {x: -3.0, v: 2.0}) == -12
