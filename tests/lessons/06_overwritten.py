from math import isclose

import numpy as np

from lab.reports.breaking.breakage import Effect

# x squared n times is x**(2**n), whose derivatives are known.
of_five = 32 * 31 * 30 * 0.95**29
assert round(of_five, 2) == 6723.84
truth = [4 * x0**3, 12 * x0**2, 24 * x0]


def replaced(values):
    """c₁ of two steps that are written out, without a tape."""
    first, second, third_ = values
    return (first * 2 * x1 + second) * 2 * x0 + third_


by = 1e-4 * np.eye(3)
at = np.array([a0, b0, c0])
rates = [(replaced(at + d) - replaced(at - d)) / 2e-4 for d in by]
made = [told[::-1] for told in Out.values() if isinstance(told, tuple)]  # by both rules
assert np.allclose(made[0], rates, rtol=1e-10)
spoiled = made[1]
assert isclose(spoiled[0], rates[0])
assert np.allclose(spoiled[1:], 2 * np.array(rates[1:]))
assert isclose(c1, 4 * x0 * x1)

assert [float(row.true) for row in breakage.rows] == [
    float(value) for value in twice.trace(order=3).outputs[1:]
]
assert np.allclose([float(row.true) for row in breakage.rows], truth, rtol=1e-12)
assert [row.effect for row in breakage.rows] == [Effect.RIGHT, Effect.RIGHT, Effect.WRONG]
assert isclose(float(breakage.rows[2].broken), 3 * truth[2], rel_tol=1e-12)
old_five = lab.break_rule(square.with_steps(5), "accumulate-overwritten", order=3)
assert round(float(old_five.rows[2].broken), 1) == 20171.5
parting = breakage.contrast.parting
assert breakage.true.scans[parting.scan].order == 2  # where a wrong number is first written
assert "visible at order 3" in str(
    lab.break_rule(gallery.loops["logistic"], "accumulate-overwritten", order=3)
)
# The cost x₁² + x₂² is x₀⁴ + x₀⁸; what the old rule gives, by the graph of PyTensor's own scan.
graph = twice.build()
cost, old = (graph.node.outputs[0][1:] ** 2).sum(), lab.BROKEN["accumulate-overwritten"].rule
for rule, value in ((None, 12 * x0**2 + 56 * x0**6), (old, 59.215)):
    options = {} if rule is None else {"rule": rule}
    of_squares = lab.derivative(cost, graph.inputs["x"], order=2, **options)
    found = lab.trace(of_squares.values, graph.given).outputs[2]
    assert isclose(float(found), value, rel_tol=1e-5)
assert isclose(12 * x0**2 + 56 * x0**6, 51.995, rel_tol=1e-5)

# Its third derivative in two parts, without a tape: x_t is x₀**m, and C′ = N·x₀**(N - 1).


def parts(n):
    """Through the x that Scan 4 reads, and through by_x; what two doublings make of the latter.

    C″ is the sum of by_x[t] times the rate of x_t, m·x₀**(m - 1), which Scan 4 makes of x.
    """
    powers, of_all = [2**t for t in range(n)], 2**n
    read = sum(of_all * (m - 1) * m * x0 ** (of_all - 3) for m in powers)
    put_out = sum(of_all * (of_all - 1 - m) * m * x0 ** (of_all - 3) for m in powers)
    return read, put_out


def by_hand(given, kept):
    """C‴ of two steps: `given` is what Scan 4's gradient says about by_x, `kept` stands for by_g.

    by_x = [2·g₁·by_g₀, 2·g₂·by_g₁] with g₂ = 1, g₁ = 2·x₁·g₂ and by_g₁ = 2·x₀·by_g₀.
    """
    of_x1 = 2 * given[0] * kept[0] * 2  # by_x₀ reads g₁, and g₁ reads x₁
    of_x0 = 2 * given[1] * 2 * kept[0]  # by_x₁ reads by_g₁, and by_g₁ reads x₀
    second_x1 = 2 * 1 * 2 * x0  # by_x₁: Scan 4 makes 2·x₀ of it, and that reads x₀
    return 2 * second_x1 + of_x0 + of_x1 * 2 * x0


for n, row in ((2, breakage.rows[2]), (5, old_five.rows[2])):
    read, put_out = parts(n)
    assert isclose(read + put_out, float(row.true), rel_tol=1e-12)
    assert isclose(3 * read, float(row.true), rel_tol=1e-12)
    assert isclose(read + 4 * put_out, float(row.broken), rel_tol=1e-12)
assert np.allclose(parts(2), (7.6, 15.2))
assert isclose(by_hand((1, 1.9), (1, 1.9)), 22.8)
assert isclose(by_hand((2, 3.8), (1, 1.9)), 38.0)  # one doubling is not enough
assert isclose(by_hand((2, 3.8), (2, 3.8)), 68.4)
for side, numbers in ((breakage.true, (1, 1.9)), (breakage.broken, (2, 3.8))):
    named = {tape.name: tape for scan in side.scans for tape in scan.tapes}
    for name in ("d3d2x", "d2dx"):  # of Scan 4's gradient; of Scan 3, which its gradient reads
        assert np.allclose(named[name].final[:2], numbers)

# What the text says of the tapes of two steps.
_, _, third_scan, fourth_scan = square.with_steps(2).trace(order=2).scans
assert np.allclose(third_scan.tapes[0].final, [1, 2 * x0, 4 * x0 * x1])
assert np.allclose(sorted(fourth_scan.tapes[0].initial), [0, 4 * x1, 4 * x0])
assert isclose(float(third_by(added)), of_five, rel_tol=1e-12)
assert isclose(float(third_by(lambda reads, writes: reads)), 3 * of_five, rel_tol=1e-12)
assert turn.check(added).is_right


def as_sets(reads, writes):
    return set(reads) - set(writes)


assert turn.check(as_sets).is_right
assert isclose(float(third_by(as_sets)), of_five, rel_tol=1e-12)
assert "old rule" in turn.check(lambda reads, writes: reads).reason
solve(of_b, 2 * 0.95, 1, 3.8, 3.43)
solve(sooner, "x₁² + x₂²", "x₂²", "x₁ + x₂")
