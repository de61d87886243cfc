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
assert np.allclose(gradients(adds=False)[::-1], rates, rtol=1e-10)
spoiled = gradients(adds=True)[::-1]
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

# What the text says of the tapes of two steps.
_, _, third_scan, fourth_scan = square.with_steps(2).trace(order=2).scans
assert np.allclose(third_scan.tapes[0].final, [1, 2 * x0, 4 * x0 * x1])
assert np.allclose(sorted(fourth_scan.tapes[0].initial), [0, 4 * x1, 4 * x0])
assert isclose(float(third_by(added)), of_five, rel_tol=1e-12)
assert isclose(float(third_by(lambda reads, writes: reads)), 3 * of_five, rel_tol=1e-12)
assert turn.check(added).is_right
assert "old rule" in turn.check(lambda reads, writes: reads).reason
solve(of_b, 2 * 0.95, 1, 3.8, 3.43)
solve(sooner, "x₁² + x₂²", "x₂", "x₁ + x₂")
