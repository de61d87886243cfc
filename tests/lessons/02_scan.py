assert [str(call) for call in calls] == ["x0[t-1]"]
computed = lab.trace([xs], given={x0: 0.01}).outputs[0]
share, by_hand = 0.01, []
for _ in range(1000):
    share = share + 0.8 * share * (1 - share)
    by_hand.append(share)
check.compare(computed, by_hand, 1e-12)
rng, variable = np.random.default_rng(1), pt.dscalar("x")
noisy = pytensor.scan(
    lambda last: last + rng.normal(), outputs_info=[variable], n_steps=9, return_updates=False
)
constant = np.random.default_rng(1).normal()
check.compare(lab.trace([noisy], {variable: 0.0}).outputs[0], constant * np.arange(1, 10), 1e-12)

states, squares = [2.0], []
for value in (0.1, 0.2, 0.3):
    squares.append(states[-1] ** 2)
    states.append(0.9 * states[-1] + value)
check.compare(loop.trace().scans[0].tapes[0].final, states, 1e-14)
assert "y₁:  3.61 = 1.9²" in visual.machine(loop.trace(order=0), moment=2).text()
assert "y[t] = h[t−1]²" in str(loop.system())

line_values = lab.trace([good], {start: [1.0, 2.0]}).outputs[0]
assert list(line_values) == [3, 4, 5, 6, 7]
assert list(lab.trace([bad], {start: [1.0, 2.0]}).outputs[0]) == [0, 4, -4, 12, -20]
assert "x[t−2]·2" in str(lab.system(bad))
assert "x[t−1]·2" in str(lab.system(good))

u_, y_ = pt.dvector("u"), pt.dscalar("y0")
given = {u_: np.array([2.0, 7.0, 1.0, 8.0, 2.0]), y_: 0.25}
y = [0.25]
for t in range(3):
    y.append(0.5 * y[-1] + given[u_][t] * given[u_][t + 2])
check.compare(lab.trace([mine(u_, y_)], given).outputs[0], y[1:], 1e-14)
assert "u[t]·u[t+2]" in str(lab.system(mine(u_, y_)))
assert turn.check(run).is_right
assert "one row ahead" in turn.check(lambda u, y: system(u, y, 1)).reason

solve(called, 1, 1000, 0)
offered = swapped.task
solve(swapped, offered.solution, *(one for one in offered.choices if one != offered.solution))
