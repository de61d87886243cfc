"""Test comparisons of pullbacks with finite differences, handwritten numbers, and faulty rules."""

from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import known_mistakes, scan, squares
from graphs.to_explain import OLD
from pytensor.scan.op import Scan

import lab
from lab.errors import ArgumentError
from lab.gradients.status import Disconnected
from lab.loops import gallery
from lab.reports.breaking.rules import BROKEN
from lab.reports.compare.compare import SIDES, compare, read_subject
from lab.reports.compare.comparison import Agreement
from lab.scans.node import TapeScan
from lab.traces.differences import contrast, far


@cache
def compare_mistake(name, order=2):
    return compare(*getattr(known_mistakes, name)(), order=order)


def row_of(comparison, wrt, order):
    return next(r for r in comparison.rows if (r.wrt, r.order) == (wrt, order))


@pytest.mark.parametrize("name", gallery.loops)
def test_both_pullbacks_agree_on_the_gallery(name):
    comparison = compare(gallery.loops[name], order=2)
    assert comparison.agree
    assert comparison.visible is None
    for row in comparison.rows:
        assert row.confirmed(row.ours) is not False
        assert row.confirmed(row.theirs) is not False
    # The loop rnn has too many entries for finite differences.
    assert name == "rnn" or any(row.confirmed(row.ours) for row in comparison.rows)
    assert comparison.contrast.first is None
    assert comparison.contrast.written
    assert comparison.contrast.unlike == ()
    assert "compute the same gradients" in str(comparison)


# Known mistakes.


def test_a_loop_with_a_stop_condition():
    comparison = compare_mistake("stops")
    expected = [2 * 1 * 3, 2 * 2 * 2, 2 * 3 * 1, 0, 0, 0]  # x is 1, 5, 14: three steps
    np.testing.assert_allclose(row_of(comparison, "u", 1).ours.value, expected)
    if not OLD:
        assert comparison.agree
        return
    row = row_of(comparison, "u", 1)
    assert row.verdict is Agreement.DIFFERENT
    assert (row.confirmed(row.ours), row.confirmed(row.theirs)) == (True, False)
    first = comparison.contrast.first
    # The last step reads u = 3; PyTensor starts with the next value.
    assert (first.step, float(first.true), float(first.broken)) == (0, 2 * 3.0, 2 * 4.0)
    assert "du" in str(comparison)


def test_a_delay_line_at_second_order():
    comparison = compare_mistake("delay_line")
    for order, expected in ((1, 3 * 0.5**2), (2, 6 * 0.5)):  # the cost is y0**3 + 8 + 27
        np.testing.assert_allclose(row_of(comparison, "y0", order).ours.value, expected)
    row = row_of(comparison, "y0", 2)
    assert comparison.different_rows == (row,)
    assert isinstance(row.theirs.status, Disconnected)
    assert float(row.theirs.value) == 0.0
    assert (row.confirmed(row.ours), row.confirmed(row.theirs)) == (True, False)
    # Both tapes of y have the same values, but PyTensor does not return its tape.
    assert comparison.contrast.first is None
    assert comparison.contrast.unlike == ()
    report = " ".join(str(comparison).split())
    assert "Finite differences agree with ours" in report
    assert "disconnected" in report


def test_two_undefined_sequences():
    comparison = compare_mistake("undefined_twice", order=1)
    assert row_of(comparison, "u", 1).verdict is Agreement.NEITHER
    row = row_of(comparison, "v", 1)
    assert row.verdict is Agreement.THEIRS_ONLY
    assert row.theirs.value.tolist() == [0, 0]
    assert row.confirmed(row.theirs) is False
    np.testing.assert_allclose(row.differences.value, [1, 2])
    assert "undefined" in str(row.ours.status)


def test_a_mit_mot_next_to_a_mit_sot():
    comparison = compare_mistake("mixed", order=1)
    assert [row.verdict for row in comparison.rows] == [Agreement.OURS_ONLY] * 2
    assert all(row.confirmed(row.ours) for row in comparison.rows)
    assert "AssertionError" in str(comparison.rows[0].theirs.status)
    assert "by our pullback only" in comparison.contrast.unlike[-1]


def test_truncated_gradients_have_no_finite_differences():
    comparison = compare_mistake("truncated")
    row = row_of(comparison, "w", 1)
    x2 = 0.8 * (0.8 * 0.9**2) ** 2
    x3 = 0.8 * x2**2
    # x4 = w·x3² and x3 = w·x2²: only the last two of four steps are differentiated.
    np.testing.assert_allclose(row.ours.value, x3**2 + 2 * 0.8 * x3 * x2**2)
    assert row.verdict is Agreement.SAME
    assert row.differences is None
    assert "cannot tell which gradient is correct" in " ".join(str(comparison).split())
    assert comparison.visible == 2


def wrong_pullback(op, inputs, outputs, output_gradients):
    rule = BROKEN["unreversed-sequences"].rule
    return list(lab.derive(op, inputs, outputs, output_gradients, rule).gradients)


def test_wrong_pullbacks_are_detected():
    """Finite differences detect the wrong side, and also two sides that are equally wrong."""
    with patch.object(TapeScan, "pullback", wrong_pullback):
        ours = compare(gallery.loops["square"], order=1, cost="sum")
        with patch.object(Scan, "pullback", wrong_pullback):
            both = compare(gallery.loops["square"], order=1, cost="sum")
    with patch.object(Scan, "pullback", wrong_pullback):
        theirs = compare(gallery.loops["square"], order=1, cost="sum")
    (row,) = theirs.different_rows
    assert (row.confirmed(row.ours), row.confirmed(row.theirs)) == (True, False)
    first = theirs.contrast.first  # the last step is differentiated first, and reads x₃, not x₀
    assert first.step == 0
    np.testing.assert_allclose([first.true, first.broken], [1 + 2 * 0.95**8, 1 + 2 * 0.95])
    (row,) = ours.different_rows
    assert (row.confirmed(row.ours), row.confirmed(row.theirs)) == (False, True)
    assert "Finite differences agree with PyTensor's" in " ".join(str(ours).split())
    (row,) = both.rows
    assert both.agree
    assert (row.confirmed(row.ours), row.confirmed(row.theirs)) == (False, False)
    assert "✗" in str(both)


def test_inputs_of_known_shape_have_default_values():
    x0, xs = squares()
    default = float(read_subject(xs[-1], x0, None, "last", None)[2][x0])
    assert compare(xs[-1]).rows[0].ours.value == pytest.approx(8 * default**7)
    u = pt.dvector("u")
    with pytest.raises(ArgumentError, match=r"no value for u"):
        compare(scan(lambda u: u**2, sequences=[u]).sum())


def test_two_scans_with_one_name_are_compared():
    x0, xs = squares()
    ys = scan(lambda x, y: y * x, sequences=[xs], outputs_info=[pt.ones(())])
    comparison = compare(ys[-1], x0, {x0: 0.9}, order=2)
    assert comparison.agree
    assert [s.name for s in comparison.ours.scans if s.parent is None] == ["scan_fn", "scan_fn2"]
    assert (comparison.contrast.first, comparison.contrast.unlike) == (None, ())


X, XS = squares()
SQUARE, K = gallery.loops["square"], pt.iscalar("k")
test_errors = error_test(
    (lambda: compare(XS), "expected a scalar cost"),
    (lambda: compare(XS[-1].owner), "expected a scalar cost or a loop"),
    (lambda: compare(XS[-1], order=0), "order = 0"),
    (lambda: compare(XS[-1], given=3), "given = 3"),
    (lambda: compare(XS[-1], cost="sum"), "cost = 'sum': expected last"),
    (lambda: compare(XS[-1], of="last"), "of = 'last': expected None"),
    (lambda: compare(XS[-1], "x0"), "wrt = 'x0': expected PyTensor variables"),
    (lambda: compare(XS[-1], K, {}), "expected a real floating-point variable"),
    (lambda: compare(XS[-1], [X, X]), "wrt: x0 occurs more than once"),
    (lambda: compare(XS[-1], [X, XS], {X: 0.5}), "is computed from x0"),
    (lambda: compare(XS[-1], X, {X: 0.5, XS: [1.0, 2, 3]}), "got a computed variable"),
    (lambda: compare(SQUARE, [["x"]]), "wrt = "),
    (lambda: compare(SQUARE, "y"), "wrt = 'y'"),
    (lambda: compare(SQUARE, cost=[1, 2]), "4 weights, one per step, got 2"),
    (lambda: compare(SQUARE, cost=[1, np.nan, 1, 1]), "or a finite weight per step"),
)


# Comparisons of values and tapes.


INF, NAN = np.inf, np.nan
EQUAL = [([INF, 1.0], [INF, 1.0]), ([NAN, 1.0], [NAN, 1.0 + 1e-12]), ([1.0, 1e-12], [1.0, 0.0])]
EQUAL += [([True, False], [True, False])]
DIFFERENT = [([INF, 1.0], [1.0, 1.0]), ([INF, 1.0], [-INF, 1.0]), ([INF, 1.0], [INF, 2.0])]
DIFFERENT += [([NAN, 1.0], [NAN, 2.0]), ([NAN, 1.0], [0.0, 1.0]), ([True, False], [True, True])]
DIFFERENT += [([3, 4], [3, 5])]


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [*((*pair, False) for pair in EQUAL), *((*pair, True) for pair in DIFFERENT)],
)
def test_infinite_values_hide_no_difference(first, second, differ):
    assert far(np.array([first]), np.array([second])).tolist() == [differ]


def test_tapes_are_matched_by_identity_and_not_by_position():
    trace = gallery.loops["coupled"].trace(order=2)
    reordered = replace(
        trace,
        scans=tuple(replace(s, tapes=s.tapes[::-1], outputs=s.outputs[::-1]) for s in trace.scans),
    )
    result = contrast(trace, reordered, SIDES)
    assert (result.first, result.differing, result.unlike) == (None, 0, ())
