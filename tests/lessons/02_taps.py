import numpy as np

assert x == [1, 1, 2, 3, 5, 8, 13, 21]


def last(start, step):
    """The last of six more values; a loop of its own, without the lesson's."""
    values = list(start)
    for _ in range(step[1]):
        values.append(step[0](values))
    return values[-1]


def moved(values, function):
    """How fast `function` changes with each of `values`: central differences."""
    by = 1e-6 * np.eye(len(values))
    values = np.array(values, dtype=float)
    return [(function(values + d) - function(values - d)) / 2e-6 for d in by]


def fibonacci_number(n):
    return round(((1 + 5**0.5) / 2) ** n / 5**0.5)


# x7 changes with x[k] as Fibonacci's numbers: 8, 13, 8, 5, 3, 2, 1, 1.
fib_tape = [8, *(fibonacci_number(n) for n in (7, 6, 5, 4, 3, 2, 1))]
assert fib_tape == [8, 13, 8, 5, 3, 2, 1, 1]
adding = (lambda values: values[-2] + values[-1], 6)
assert np.allclose(moved([1, 1], lambda v: last(v, adding)), [8, 13], rtol=1e-8)
assert list(gallery.loops["fibonacci"].trace().scans[1].tapes[0].final[::-1]) == fib_tape


calving = (lambda values: values[-3] + values[-1], 5)
assert last([1, 1, 1], calving) == 9
assert np.allclose(mine([1, 1, 1])[:3], moved([1, 1, 1], lambda v: last(v, calving)), rtol=1e-8)
assert turn.check(mine).is_right
assert not turn.check(lambda x: mine(x)[1:]).is_right
for factor in range(3):  # the values given are no part of it
    assert not turn.check(lambda x, n=factor: [x[n] * v for v in mine(x)]).is_right
assert "Fibonacci's tape" in turn.check(lambda x: fib_tape).reason

solve(first, 13, 8, 5, 21, 1)
solve(reads, "0, 1, 3", "1, 3", "-1, -3, 0")
