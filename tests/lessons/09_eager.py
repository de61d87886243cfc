assert isclose(float(grad(jump)(2.5)), 4 * 4.5**3, rel_tol=1e-14)
assert isclose(rates(jump, 2.5), 364.5, rel_tol=1e-7)
run = recording(grad(jump), 2.5)
assert len(run.nodes) == 4
assert visual.eager(run).text().count("182.25") == 2  # both contributions to n₁: half of 364.5

# The tape of four squares: 2·x₀ · 2·x₁ · 2·x₂ · 2·x₃.
states = [0.95 ** (2**n) for n in range(4)]
assert isclose(prod(2 * state for state in states), 16 * 0.95**15, rel_tol=1e-14)
assert any(
    isclose(value, 16 * 0.95**15, rel_tol=1e-12)
    for value in Out.values()
    if isinstance(value, float)
)

assert float(both(3.0)) == 9
assert float(grad(both)(3.0)) == 6
assert isclose(rates(both, 3.0), 6, rel_tol=1e-7)
assert (y.gradient, x.gradient) == (3, 1 + 3)  # the inner call left 1 in x, the outer adds 3
tape = []
x, y = Number(3.0), Number(1.0)
backward(x * y)
assert x.gradient == 1
x.gradient = 0.0
backward(x * Number(y.gradient))
assert x.gradient == 3

values = [0.5]
for _ in range(3):
    values.append(values[-1] ** 2 + values[-1])
assert isclose(gradient_of(0.5), prod(2 * value + 1 for value in values[:3]), rel_tol=1e-13)
assert turn.check(gradient_of).is_right
assert not turn.check(lambda x: gradient_of(0.5)).is_right

solve(confused, 1, 3, 0, 2)
