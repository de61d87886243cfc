factors = 2 * np.array(x[:4])
assert np.allclose(direct, rates(lambda values: prod(2 * values), x[:4]), rtol=1e-8)
# The product of the factors of all later steps
assert np.allclose(dC1_d_dC_dx, [prod(factors[:n]) for n in range(5)], rtol=1e-12)
third_scan = square.trace(order=2).scans[2]
assert [f"{value:.4g}" for value in third_scan.tapes[0].final] == [f"{g:.4g}" for g in dC1_d_dC_dx]
assert isclose(dC1_dx[0], 240 * 0.95**14, rel_tol=1e-12)
assert [steps.index(step) + 1 for step in steps] == [1, 2, 3, 2, 3, 6, 3, 2]
assert sorted(map(steps.count, set(steps))) == [1, 1, 3, 3]

assert turn.check(mine).is_right
states, slopes = (0.9, 0.9**3, 0.9**9), (9 * 0.9**24, 3 * 0.9**18, 1)  # of x₃ = x₁⁹ = x₂³
before = (1, 3 * 0.9**2, 9 * 0.9**8)  # derivatives of x₀, x₁, and x₂ wrt x₀
begins = [6 * x * g * slope for x, g, slope in zip(states, slopes, before, strict=True)]
assert all(map(isclose, mine(0.9), begins))
assert len(mine(0.9)) == 3
assert turn.check(lambda x: [*mine(x), 0.0]).is_right  # the 0 of the last state is optional
assert not turn.check(lambda x: [*mine(x), 1.0]).is_right
tape = [*mine(0.9), 0]
for t in (2, 1, 0):  # Scan 4 computes the second derivative of x²⁷
    tape[t] += 3 * states[t] ** 2 * tape[t + 1]
assert isclose(tape[0], 27 * 26 * 0.9**25, rel_tol=1e-12)
assert "after all steps" in turn.check(lambda _: tape).reason
assert "tape of Scan 2" in turn.check(lambda _: [27 * 0.9**26, *slopes]).reason
without_factor = [6 * x * g for x, g in zip(states, slopes, strict=True)]
assert "dC1_d_dC_dx[k] is missing" in turn.check(lambda _: without_factor).reason

solve(first, 11.17, 12.5, 0)
assert f"{direct[3] + 2 * x[3] * 0:.4g}" == "11.17"
