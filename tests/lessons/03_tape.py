def states_from(start, steps=4):
    """Return the states of the loop in closed form."""
    return [start ** (2**k) for k in range(steps + 1)]


def rate(cost):
    """Estimate the derivative of a cost of all states wrt the initial value."""
    return rates(lambda start: cost(states_from(start)), 0.95)


powers = [2**k * 0.95 ** (2**k - 1) for k in (1, 2, 3, 4)]  # of x**2, x**4, x**8 and x**16
assert isclose(tape[0], sum(powers), rel_tol=1e-13)
summed = square.trace(cost="sum")
assert isclose(float(summed.outputs[1]), sum(powers), rel_tol=1e-13)
finished = summed.scans[1].tapes[0].final[::-1]
assert round(float(finished[3]), 3) == 2.327


def seventh(first, second):
    pair = first, second
    for _ in range(6):
        pair = pair[1], sum(pair)
    return pair[1]


assert fibonacci[:2] == [seventh(1, 0), seventh(0, 1)]
assert fibonacci[1:4] == [13, 8, 5]
assert list(gallery.loops["fibonacci"].trace().scans[1].tapes[0].final[::-1]) == fibonacci


def squared_errors(states):
    measured = (0.9, 0.8, 0.7)
    return sum((state - value) ** 2 for state, value in zip(states[1:4], measured, strict=True))


assert isclose(mine(0.95)[0], rate(squared_errors), rel_tol=1e-7)
assert turn.check(mine).is_right
assert "derivative of e²" in turn.check(lambda x: of_errors(x, factor=1)).reason

solve(both, 13, 8, 5, 21, 1)
