"""`lab.our_pullback` applies to any graph in one thread, until its block ends."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Barrier

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan, squares
from pytensor import config
from pytensor.gradient import DisconnectedInputError
from pytensor.scan.op import Scan

import lab
from lab.checks.check import value_at
from lab.checks.finite_differences import differences
from lab.scans.node import TapeScan
from lab.scans.replacing import scan_nodes


@pytest.fixture(autouse=True)
def _restored():
    """Check that each test restores the methods of both classes."""
    before = [(op.pullback, op.connection_pattern) for op in (Scan, TapeScan)]
    yield
    assert before == [(op.pullback, op.connection_pattern) for op in (Scan, TapeScan)]


def kinds(gradient):
    return {type(node.op) for node in scan_nodes([gradient])}


def test_grad_uses_our_pullback_to_any_order():
    x0, xs = squares()
    with lab.our_pullback():
        first = pytensor.grad(pt.exp(xs[-1]), x0)
    assert scan_nodes([first])[-1].op.derivation.order == 1
    second = pytensor.grad(first, x0)  # graphs that exist keep our pullback
    backward = [node for node in scan_nodes([second]) if isinstance(node.op, TapeScan)]
    assert {node.op.derivation.order for node in backward} >= {1, 2}
    derivative = lab.derivative(pt.exp(xs[-1]), x0, 2)
    for mine, ours in zip((first, second), derivative.values[1:], strict=True):
        given = {x0: 0.9}
        assert value_at(mine, given) == pytest.approx(value_at(ours, given), rel=1e-12)
    trace = lab.trace(first, {x0: 0.9})
    assert [one.order for one in trace.scans] == [0, 1]
    assert trace.scans[1].parent == 0


def test_the_initial_values_of_a_delay_line_have_a_gradient():
    x0, u = pt.dvector("x0"), pt.dvector("u")
    xs = scan(lambda u, x: x * u, sequences=[u], outputs_info=[{"initial": x0, "taps": [-3]}])
    buffer = xs.owner.inputs[0]  # the initial values precede the computed values
    cost, given = (buffer**2).sum(), {x0: np.array([0.5, 1.5, 2.5]), u: np.array([2.0, 3.0])}
    with lab.our_pullback():
        gradient = pytensor.grad(cost, x0)
    estimate = differences(lambda value: value_at(cost, {**given, x0: value}), given[x0])
    assert estimate.admits(value_at(gradient, given))
    pattern = xs.owner.inputs[0].owner.op.connection_pattern(xs.owner.inputs[0].owner)
    assert pattern == Scan.connection_pattern(buffer.owner.op, buffer.owner)


def test_an_initial_value_that_no_step_reads_is_disconnected_as_in_pytensor():
    x0, y0 = pt.dscalar("x0"), pt.dscalar("y0")
    xs, ys = scan(lambda x, y: (pt.sin(x), 2 * x), outputs_info=[x0, y0], n_steps=3)
    cost = (xs * ys).sum()
    for _ in range(2):
        with pytest.raises(DisconnectedInputError):
            pytensor.grad(cost, y0)
        with lab.our_pullback():
            with pytest.raises(DisconnectedInputError):
                pytensor.grad(cost, y0)
            gradient = pytensor.grad(cost, x0)
    estimate = differences(lambda value: value_at(cost, {x0: value, y0: 5.0}), 0.4)
    assert estimate.admits(value_at(gradient, {x0: 0.4, y0: 5.0}))


def test_the_pullback_is_restored_after_an_exception():
    x0, xs = squares()
    with pytest.raises(ZeroDivisionError), lab.our_pullback(), lab.our_pullback():
        _ = 1 / 0
    assert TapeScan not in kinds(pytensor.grad(xs[-1], x0))


def test_compare_and_our_pullback_do_not_disturb_each_other():
    x0, xs = squares()
    with lab.our_pullback():
        comparison = lab.compare(xs[-1], x0, {x0: 0.9})
        assert comparison.agree
        assert "PyTensor" in str(comparison)
        assert TapeScan in kinds(pytensor.grad(xs[-1], x0))


def test_a_thread_has_its_own_pullback():
    both, limit = Barrier(8, timeout=60), config.traceback__limit

    def build(number):
        results = []
        for _ in range(5):
            x0, xs = squares()
            both.wait()
            with lab.our_pullback() if number % 2 else nullcontext():
                results.append(kinds(pytensor.grad(xs[-1], x0)))
        return results

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(build, range(8)))
    assert results[1::2] == [[{Scan, TapeScan}] * 5] * 4
    assert results[::2] == [[{Scan}] * 5] * 4
    assert config.traceback__limit == limit
