from math import isclose, prod

from lab.checks import check

powers = [0.95 ** (2**n) for n in range(5)]
assert isclose(float(grad(jump)(2.5)), 4 * 4.5**3, rel_tol=1e-14)
assert isclose((jump(2.5 + 1e-6) - jump(2.5 - 1e-6)) / 2e-6, 364.5, rel_tol=1e-7)
assert isclose(float(grad(lambda x: (((x**2) ** 2) ** 2) ** 2)(0.95)), 16 * 0.95**15, rel_tol=1e-14)
run = recording(grad(jump), 2.5)
assert len(run.nodes) == 4
drawn = visual.eager(run).text()
assert drawn.count("182.25") == 2  # each share of n₁, half of what is 364.5
assert isclose(2 * powers[0] * prod(2 * v for v in powers[1:4]), 16 * 0.95**15, rel_tol=1e-14)

assert float(both(3.0)) == 9
assert float(grad(both)(3.0)) == 6
check.compare([(both(3 + 1e-6) - both(3 - 1e-6)) / 2e-6], [6.0], 1e-7)
assert [tape.priority for tape in recording(grad(both), 3.0).tapes] == [1, 2]
# On one tape: the inner way back left a 1 at x, the outer one adds a 3.
assert (y.gradient, x.gradient) == (3, 1 + 3)


def affine(x, a, b):
    for _ in range(1000):
        x = a * x + b
    return x


by_x = recording(grad(affine), 1.0, 0.999, 0.1)
assert len(by_x.nodes) - 1 == 2000
sides = visual.two_tapes(gallery.loops["square"]).text()
assert "no bookkeeping that grows with the steps" in sides
assert sides.count("40 bytes of numbers") == sides.count("40 bytes of gradients") == 2

values = [0.5]
for _ in range(3):
    values.append(values[-1] ** 2 + values[-1])
assert isclose(gradient_of(0.5), prod(2 * value + 1 for value in values[:3]), rel_tol=1e-13)
assert turn.check(gradient_of).is_right
assert not turn.check(lambda x: gradient_of(0.5)).is_right

solve(slope, 4 * 4.5**3, 410.0625, 62.5, 4)
solve(nodes, 2000, 1000, 1001, 2001, 2003, 3003, 3)
