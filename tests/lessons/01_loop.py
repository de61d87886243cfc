from math import isclose

from lab.checks import check

assert x == [0.95, 0.9025, 0.81450625, 0.6634204312890625, 0.44012666865176564]
assert isclose(gradient, 16 * 0.95**15, rel_tol=1e-14)
assert isclose(float(trace.outputs[1]), 16 * 0.95**15, rel_tol=1e-14)


def backward(values):
    result = 1.0
    for value in values:
        result *= 2 * value
    return result


for place, found in enumerate(by_x):  # every x of the backward loop, moved a little
    moved = [[x[i] + (i == place) * by for i in range(4)] for by in (1e-6, -1e-6)]
    assert isclose(found, (backward(moved[0]) - backward(moved[1])) / 2e-6, rel_tol=1e-8)
assert [round(value, 2) for value in by_x] == [7.8, 8.21, 9.1, 11.17]
assert isclose(second, 240 * 0.95**14, rel_tol=1e-12)
assert isclose(mine, 27 * 0.9**26, rel_tol=1e-13)
check.compare(cubes.trace().outputs[1], mine, 1e-12)

solve(growth, "0.0074", "0.001", "0.0004")
solve(kept, 1000, 1, 4, 1001)
solve(last, 0, 1)
# The question names a step: step s of four overwrites position s + 1.
step = int(slot.question.split("step ")[1][0])
solve(slot, step + 1, step)
step = int(number.question.split("step ")[1][0])
from_elsewhere = [1.1 ** (2**n) for n in range(4)]
found = backward(from_elsewhere[3 - step :])  # the steps up to this one, and no further
solve(number, found, -found, 1.1 * found)
