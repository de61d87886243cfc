def after_weeks(start, weeks=6):
    for _ in range(weeks):
        start += 0.8 * start * (1 - start)
    return start


assert isclose(x[6], after_weeks(0.01), rel_tol=1e-14)
assert isclose(gradient, rates(after_weeks, 0.01), rel_tol=1e-8)
assert round(gradient) == 24
# Slot k contains the derivative of the last state wrt state k.
slopes = [rates(lambda start, k=k: after_weeks(start, 6 - k), x[k]) for k in range(7)]
assert np.allclose(tape, slopes, rtol=1e-8)
assert np.allclose(town.trace().scans[1].tapes[0].final[::-1], slopes, rtol=1e-8)

assert isclose(mine(0.9)[0], 27 * 0.9**26, rel_tol=1e-13)
assert turn.check(mine).is_right
assert not turn.check(lambda x: [value * 1.001 for value in mine(x)]).is_right
solve(
    mistake,
    "it used the local derivative at x = 0 for every step",
    "it left out the last step",
    "it multiplied in the wrong order",
)
