from math import isclose, prod

from lab.checks import check

sizes = {kept.name: kept.bytes for kept in explained.scans[0].saved}
assert sizes["x"] == sizes["gradient of x"] == 8 * 1_000_001
assert sizes["gradient of r"] >= 8 * 1_000_000
summed = gallery.loops["fibonacci"].build()
kept_of_sum = lab.explain(summed.node.outputs[0][-1], summed.inputs["x"]).scans[0].saved
assert [kept.name for kept in kept_of_sum] == ["gradient of x"]

peaks = []
for keep in (False, True):
    tracemalloc.start()
    once(keep)
    peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
assert 4.0 < peaks[1] < 4.3
assert peaks[0] < 0.2
ends = [forwards(np.linspace(0.1, 0.9, 1000) + by, 5, False)[0] for by in (1e-7, -1e-7)]
_, few_kept = forwards(np.linspace(0.1, 0.9, 1000), 5, True)
check.compare(backwards(few_kept, np.ones(1000)), (ends[0] - ends[1]) / 2e-7, 1e-5)

# How the last state moves with the first, by differences.
up, down = (forwards(0.2 + by, 6, False)[0] for by in (1e-6, -1e-6))
assert isclose(x, forwards(0.2, 6, False)[0])
assert isclose(dx, (up - down) / 2e-6, rel_tol=1e-6)


def sum_of_states(r):
    """The sum of the six states that follow 0.2."""
    value, total = 0.2, 0.0
    for _ in range(6):
        value = r * value * (1 - value)
        total += value
    return total


by_r = (sum_of_states(3.7 + 1e-6) - sum_of_states(3.7 - 1e-6)) / 2e-6
forward = lab.trace(changes, graph.given).outputs[0].sum()
assert isclose(forward, by_r, rel_tol=1e-7)
assert f"{by_r:.4f}" == "0.5562"
assert isclose(lab.trace(lab.derivative(states.sum(), r), graph.given).outputs[1], forward)

square = replace(gallery.loops["square"], truncate_gradient=2)
assert float(square.trace().outputs[1]) == 0


def by_limit(limit):
    """The gradient by r of the last `limit` steps: the states before them held fixed."""
    x, slope = [0.2], 0.0
    for _ in range(6):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    for value in x[6 - limit : 6]:
        slope = slope * 3.7 * (1 - 2 * value) + value * (1 - value)
    return slope


for limit in (1, 2, 3, 4, 5, 6):
    found = replace(logistic, truncate_gradient=limit).trace(wrt="r").outputs[1]
    assert isclose(float(found), by_limit(limit), rel_tol=1e-10)
told = {1: 0.2499, 3: 0.2119, 5: 0.3562, 6: 0.2809}
assert {limit: round(by_limit(limit), 4) for limit in told} == told
x, slopes = 0.3, []
for _ in range(100):
    slopes.append(3.7 * (1 - 2 * x))
    x = 3.7 * x * (1 - x)
assert isclose(mine(0.3), prod(slopes), rel_tol=1e-9)
assert turn.check(mine).is_right
assert not turn.check(lambda x: slope_of(x, 99)).is_right

solve(memory, 8, 1, 0, 16)
solve(sums, 0, 1, 2)
