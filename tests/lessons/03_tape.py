from math import isclose

import numpy as np


def states_from(start, steps=4):
    """The states of the loop in closed form."""
    return [start ** (2**k) for k in range(steps + 1)]


def rate(cost, start=0.95, by=1e-6):
    """How fast a cost of all states changes with the start: a central difference."""
    up, down = cost(states_from(start + by)), cost(states_from(start - by))
    return (up - down) / (2 * by)


powers = [2**k * 0.95 ** (2**k - 1) for k in (1, 2, 3, 4)]  # of x**2, x**4, x**8 and x**16
assert np.allclose(gradients, powers, rtol=1e-13)
summed = square.trace(cost="sum")
assert isclose(float(summed.outputs[1]), sum(powers), rel_tol=1e-13)
assert isclose(rate(lambda s: sum(s[1:])), sum(powers), rel_tol=1e-8)
assert isclose(float(sparse.outputs[1]), powers[1] + powers[3], rel_tol=1e-13)
# The slot of x1 is made of its external gradient and of what came through x2.
finished = summed.scans[1].tapes[0].final[::-1]
assert round(float(finished[1]), 3) == 9.647
assert round(float(finished[2]), 3) == 4.79

assert list(sparse.scans[1].tapes[0].initial) == [1, 0, 1, 0, 0]
zeros = square.trace(cost="last").scans[1].tapes[0]
read = {access.tap: access.values for access in zeros.reads}
assert list(read[1]) == [0, 0, 0, 0]  # a zero is read by every step, as any other number


def distance(states):
    return sum((state - want) ** 2 for state, want in zip(states[1:4], wanted, strict=True))


assert isclose(mine(0.95)[0], rate(distance), rel_tol=1e-7)
assert turn.check(mine).is_right
assert "2·(x − w)" in turn.check(lambda x: of_differences(x, times=1)).reason

solve(steps_made, 10, 4, 16)
assert "step 1 of gradient of square write at position 2" in number.question
made = 2 * x[3] * 2 * x[2] + 1
solve(number, made, made - 1, 1, -made)
