from math import isclose, sin

from lab.checks import check

assert [str(call) for call in calls] == ["x0[t-1]"]
first = lab.trace([xs], given={x0: 0.5}).outputs[0]
by_hand = [0.5]
for _ in range(1000):
    by_hand.append(sin(by_hand[-1]))
check.compare(first, by_hand[1:], 1e-12)
noise = lab.trace([noisy], given={x0: 0.0}).outputs[0]
constant = np.random.default_rng(1).normal()
check.compare(noise, constant * np.arange(1, 1001), 1e-12)
assert f"x0[t] = {constant:.6f} + x0[t−1]" in str(lab.system(noisy))

states, made = [1.0], []
for value in (0.1, 0.2, 0.3):
    made.append(states[-1] ** 2)
    states.append(0.9 * states[-1] + value)
check.compare(loop.trace().scans[0].tapes[0].final, states, 1e-14)
assert "x[t] = x[t−1]·w + u[t]" in str(loop.system())
assert isclose(states[2], 1.1)

check.compare(
    lab.trace([ds], given={start: np.array([1.0, 3.0])}).outputs[0], [-2.0, 5.0, -7.0], 1e-14
)

given = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0])
sums = pytensor.scan(
    ahead,
    sequences=[{"input": u, "taps": [0, 4]}],
    outputs_info=[x0],
    return_updates=False,
)
summed = lab.trace(sums, given={u: given, x0: 0.0}).outputs[0]
assert summed.shape == (6,)
check.compare(summed, np.cumsum([given[t] * given[t + 4] for t in range(6)]), 1e-13)
assert [item.outer for item in found.inputs[1:3]] == ["u[0:-4][:n]", "u[4:][:n]"]
assert found.called == 1

told = str(lab.vocabulary(loop))
for words in ("running total", "du: nit-sot", "dx: mit-mot, reads 0, 1", "dx: mit-mot, writes 1"):
    assert words in told
by_steps = {case.n_steps: case for case in few.cases}
assert by_steps[1].scans == (0, 0)
assert by_steps[-1].error
assert by_steps[0].shape == (0,)
assert float(by_steps[0].value) == float(by_steps[0].gradient) == 0
assert isclose(float(by_steps[1].value), 3.7 * 0.2 * 0.8)
assert isclose(float(by_steps[1].gradient), 3.7 * (1 - 2 * 0.2))

root = [3.0]
while len(root) < 2 or abs(root[-1] - root[-2]) >= 1e-9:
    root.append((root[-1] + 2 / root[-1]) / 2)
assert len(tape) == len(root) == 7
check.compare(tape, root, 1e-14)
assert newton.scans[0].steps - 1 == 5
assert isclose(float(walk.outputs[1]), 0.9**5)

signals = np.array([2.0, 7.0, 1.0, 8.0, 2.0])
y = [0.25]
for t in range(3):
    y.append(0.5 * y[-1] + signals[t] * signals[t + 2])
check.compare(lab.trace([ys], given={signal: signals, y0: 0.25}).outputs[0], y[1:], 1e-14)
assert "u[t]·u[t+2]" in str(lab.system(ys))

solve(called, 1, 1000, 0)
solve(drawn, 1, 1000)
solve(swapped, -2, 2)
solve(rows, 6, 10, 5, 2)
solve(single, 0, 1)
solve(stopped, 5, 6, 4, 19)
solve(random, 0.9**5, 0.9, 4.5, 1)
