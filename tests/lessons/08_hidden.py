from lab.reports.breaking.breakage import Effect

x0 = 0.95
of_five = 32 * 31 * 30 * x0**29
truth = [4 * x0**3, 12 * x0**2, 24 * x0]  # of x⁴
assert np.allclose([float(row.true) for row in broken.rows], truth, rtol=1e-12)
assert [row.effect for row in broken.rows] == [Effect.RIGHT, Effect.RIGHT, Effect.WRONG]
assert isclose(float(broken.rows[2].broken), 3 * truth[2], rel_tol=1e-12)

# The outputs ∂C′/∂x of Scan 3 are correct: Scan 4 begins with 4·x₀ and 4·x₁, by both rules.
for side in (broken.true, broken.broken):
    begins = sorted(side.scans[3].tapes[0].initial)
    assert np.allclose(begins, [0, 4 * x0**2, 4 * x0])

# The cost x₁² + x₂² is x₀⁴ + x₀⁸. The graph of PyTensor's scan computes the values of the old rule.
graph = twice.build()
cost, old = (graph.node.outputs[0][1:] ** 2).sum(), lab.BROKEN["accumulate-overwritten"].rule
for rule, value in ((None, 12 * x0**2 + 56 * x0**6), (old, 59.215)):
    options = {} if rule is None else {"rule": rule}
    of_squares = lab.derivative(cost, graph.inputs["x"], order=2, **options)
    second = lab.trace(of_squares.values, graph.given).outputs[2]
    assert isclose(float(second), value, rel_tol=1e-5)

for side, shown in ((broken.true, ("7.6", "7.6", "4")), (broken.broken, ("7.6", "30.4", "16"))):
    text = visual.machine(side, moment=visual.machine(side).content.moments).text()
    for name, value in zip(("∂₁C″/∂x₀", "∂₂C″/∂x₀", "∂₃C″/∂x₁"), shown, strict=True):
        assert f"{name} = {value} (" in text

# Two taps: x₄ = x₀²·x₁³; the second derivative differentiates the sum of both first derivatives.
q, p = 0.9, 0.95
expected = [2 * p**3 + 6 * q * p**2, 6 * q * p**2 + 6 * q**2 * p]
assert np.allclose(sooner_broken.rows[1].true, expected, rtol=1e-12)
assert not np.allclose(sooner_broken.rows[1].broken, expected, rtol=0.1)
assert sooner_broken.rows[0].effect is Effect.RIGHT
moment = visual.machine(sooner_broken, moment=10).text()
assert "Scan 3, step 1" in moment
assert "∂₂C′/∂x₂:  0.855 = 1 × 0.855" in moment
assert "∂₂C′/∂x₂:  1.71 = 2 × 0.855" in moment

assert first_wrong(5, [32 * x0**31, 32 * 31 * x0**30, 20171.5]) == 3
assert first_wrong(5, [32 * x0**31, 32 * 31 * x0**30, of_five]) == 0
assert turn.check(first_wrong).is_right
assert not turn.check(lambda steps, claimed: 3).is_right
solve(sooner, "x₁² + x₂²", "x₂²", "x₁ + x₂")
