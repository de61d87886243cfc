from math import isclose

import numpy as np

from lab.reports.breaking.breakage import Effect

# x squared n times is x**(2**n), whose derivatives are known.
truth = [32 * 0.95**31, 32 * 31 * 0.95**30, 32 * 31 * 30 * 0.95**29]
assert round(truth[2], 2) == 6723.84
assert [len(square.trace(order=n).scans) for n in (0, 1, 2, 3)] == [1, 2, 4, 8]


def replaced(values):
    """c′ of two steps that are written out, without a tape."""
    first, second, third_ = values
    return (first * 2 * x1 + second) * 2 * x0 + third_


by = 1e-4 * np.eye(3)
at = np.array([a, b, c])
rates = [(replaced(at + d) - replaced(at - d)) / 2e-4 for d in by]
assert np.allclose(gradients(adds=False), rates, rtol=1e-10)
spoiled = gradients(adds=True)
assert isclose(spoiled[0], rates[0])
assert np.allclose(spoiled[1:], 2 * np.array(rates[1:]))
assert isclose(c_new, 4 * x0 * x1)

assert [float(row.true) for row in breakage.rows] == [
    float(value) for value in five.trace(order=3).outputs[1:]
]
assert np.allclose([float(row.true) for row in breakage.rows], truth, rtol=1e-12)
assert [row.effect for row in breakage.rows] == [Effect.RIGHT, Effect.RIGHT, Effect.WRONG]
assert isclose(float(breakage.rows[2].broken), 3 * truth[2], rel_tol=1e-12)
assert round(float(breakage.rows[2].broken), 1) == 20171.5
parting = breakage.contrast.parting
assert breakage.true.scans[parting.scan].order == 2  # where a wrong number is first written
assert isclose(third(broken), 3 * truth[2], rel_tol=1e-12)
assert isclose(third(mine), truth[2], rel_tol=1e-12)
assert "visible at order 3" in str(
    lab.break_rule(gallery.loops["logistic"], "accumulate-overwritten", order=3)
)

# What the text says of the tapes of two steps.
_, _, third_scan, fourth_scan = square.with_steps(2).trace(order=2).scans
assert np.allclose(third_scan.tapes[0].final, [1, 2 * x0, 4 * x0 * x1])
assert np.allclose(sorted(fourth_scan.tapes[0].initial), [0, 4 * x1, 4 * x0])
# Scan 5 differentiates Scan 4, and Scan 4 has external gradients out of Scan 3.
assert thrice.scans[4].parent == 3
assert np.count_nonzero(thrice.scans[1].tapes[0].initial) == 1
assert np.count_nonzero(thrice.scans[3].tapes[0].initial) == 4
assert buffer[3:-6:-1] == [13, 12, 11, 10] == buffer[:-1][::-1]
reads_at_four = {
    frozenset(scan.tapes[0].tape.reads)
    for scan in square.trace(order=4).scans
    if scan.name == "4-fold gradient of square"
}
assert reads_at_four == {frozenset({-1, 0})}

assert "dx reads at 0, 1 and writes at 1" in writes.question
solve(writes, "-1, 0", "0, 1", "-1", "1")
solve(fourth, "-1, 0", "0, 1", "-1")
solve(of_b, 2 * 0.95, 1, 3.8, 3.43)
solve(doubled, "that of a", "all three", "none")
solve(count, 8, 4, 3, 6)
solve(visible, 2, 1, 3)
solve(cryptic, len([13, 12, 11, 10]), 0, 3, 5)
