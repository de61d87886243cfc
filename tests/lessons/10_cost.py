sizes = {array.name: array.bytes for array in report.scans[0].saved}
assert sizes["x"] == sizes["gradient of x"] == 8 * 1_000_001
assert sizes["gradient of r"] >= 8 * 1_000_000
summed = gallery.loops["fibonacci"].build()
saved_of_sum = lab.explain(summed.node.outputs[0][-1], summed.inputs["x"]).scans[0].saved
assert [array.name for array in saved_of_sum] == ["gradient of x"]

assert isclose(x, forward(0.2, 6, False)[0])
assert isclose(dx, rates(lambda x: forward(float(x), 6, False)[0], 0.2), rel_tol=1e-6)
assert isclose(backward(forward(0.2, 6, True)[1], 1.0), dx, rel_tol=1e-12)

# The gradient after the rewrite: wrong, without an error.
assert isclose(float(result.gradient), 16 * 0.95**15, rel_tol=1e-12)
assert f"{float(result.gradient):.3f}" == "7.413"
assert float(result.late) == 1

state, slopes = 0.3, []
for _ in range(100):
    slopes.append(3.7 * (1 - 2 * state))
    state = 3.7 * state * (1 - state)
assert isclose(mine(0.3), prod(slopes), rel_tol=1e-9)
assert turn.check(mine).is_right
assert not turn.check(lambda x: slope_of(x, 99)).is_right

solve(memory, 8, 1, 0, 16)
solve(sums, 0, 1, 2)
