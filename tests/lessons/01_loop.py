from math import isclose

assert x == [0.95, 0.9025, 0.81450625, 0.6634204312890625, 0.44012666865176564]
assert isclose(gradient, 16 * 0.95**15, rel_tol=1e-14)
assert isclose(float(trace.outputs[1]), 16 * 0.95**15, rel_tol=1e-14)
assert isclose(tape[0], 16 * 0.95**15, rel_tol=1e-14)

assert isclose(mine(0.9)[0], 27 * 0.9**26, rel_tol=1e-13)
assert turn.check(mine).is_right
assert not turn.check(lambda x: [value * 1.001 for value in mine(x)]).is_right

solve(growth, "0.0074", "0.001", "0.0004")
# The question names a step: step s of four overwrites position s + 1.
step = int(number.question.split("step ")[1][0])
from_elsewhere = [1.1 ** (2**n) for n in range(4)]
found = 1.0
for value in from_elsewhere[3 - step :]:  # the steps up to this one, and no further
    found *= 2 * value
solve(number, found, -found, 1.1 * found)
