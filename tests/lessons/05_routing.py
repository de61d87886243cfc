def estimate(function, inputs, g):
    """Estimate the gradient of sum(g * function) wrt each input."""
    return [
        rates(lambda x, n=n: g @ function(*inputs[:n], x, *inputs[n + 1 :]), value)
        for n, value in enumerate(inputs)
    ]


assert (J == [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]).all()
(gradient_of_a,) = estimate(lambda a: a[1:3], [a], np.array([10.0, 20.0]))
check.compare(gradient_of_a, [0, 10, 20, 0, 0], 1e-8)

# d(x₁ + x₂)/dx₀ for x₁ = √x₀ − 0.5 = 0 and x₂ = −0.5: 1/(2√x₀).
trapped = rooted.trace(cost="sum")
assert np.isnan(trapped.outputs[1])
(note,) = lab.first(trapped).explanations
assert note.startswith("At step 1 of ")
check.compare(safe.trace(cost="sum").outputs[1], 1 / (2 * 0.25**0.5), 1e-12)


def overwrite(tape, y):
    result = np.array(tape)
    result[2] = y[0]
    return result


def compare_all(actual, expected, tolerance=1e-8):
    for mine, theirs in zip(actual, expected, strict=True):
        check.compare(np.reshape(mine, np.shape(theirs)), theirs, tolerance)


g = np.array([10.0, 20.0, 30.0, 40.0])
assert (after == overwrite(row, y)).all()
compare_all(estimate(overwrite, [row, y], g), pullback(g))


def reading_step(row):
    result = np.array(row)
    result[2] = 3 * row[2] + 5 * row[1]
    return result


(gradient_of_row,) = estimate(reading_step, [row], np.array([10.0, 20.0, 30.0, 40.0]))
check.compare(np.array(transposed), gradient_of_row, 1e-8)

bounds = [np.array([0.2, 1.5, -0.3]), np.array([0.0]), np.array([1.0])]
g = np.array([10.0, 20.0, 30.0])
expected = estimate(np.clip, bounds, g)
ours = structural.vjp(clamp, [np.array([0.2, 1.5, -0.3]), lo, hi])[1](g)
compare_all(expected, ours)

before, newest = np.array([1.0, 2.0, 3.0]), np.array([4.0])
g = np.array([10.0, 20.0, 30.0])
shifted = estimate(lambda w, y: np.append(w[1:], y), [before, newest], g)
assert turn.check(back).is_right
assert "moved" in turn.check(lambda g: ([g[0], g[1], 0.0], [g[2]])).reason
compare_all(back(g), shifted)

solve(cut, "[0, 10, 20, 0, 0]", "[10, 20]", "[10, 20, 0, 0, 0]")
solve(clamped, 20, 60, 0, 30, 10)
