"""The gallery's loops, written as plain Python for the eager tape: the last value of each."""

import numpy
from scipy import special

from lab.eager import np, primitive

#: J_v(x); its derivative by x is (J_{v-1} - J_{v+1}) / 2, in which it stays within itself.
bessel = primitive(
    special.jv,
    lambda y, v, x: [None, lambda g: g * (bessel(v - 1, x) - bessel(v + 1, x)) / 2],
    "jv",
)


def square(x):
    for _ in range(4):
        x = x**2
    return x


def sequence(z, y):
    for t in range(4):
        z = 2 * y[t] * z
    return z


def fibonacci(x):
    older, newer = x
    for _ in range(6):
        older, newer = newer, older + newer
    return newer


def gap(x):
    values = [x[0], x[1], x[2]]
    for _ in range(5):
        values.append(np.sin(values[-3]) + values[-1] * values[-3])
    return values[-1]


def coupled(prey, hunters, birth):
    for _ in range(3):
        caught = prey * hunters
        prey, hunters = prey + 0.1 * (birth * prey - caught), hunters + 0.1 * (caught - hunters)
    return prey


def logistic(x, r):
    for _ in range(6):
        x = r * x * (1 - x)
    return x


def rnn(h, x, W, U):  # noqa: N803 (matrices)
    for t in range(4):
        h = np.tanh(W @ h + U @ x[t])
    return np.sum(h)


def window(x, u):
    for t in range(4):
        x = x + u[t + 1] * (u[t] + u[t + 2])
    return x


def extra(x, w):
    for _ in range(4):
        x = np.exp(w * x)
    return x


def newton(x, a):
    for _ in range(20):
        before, x = x, (x + a / x) / 2
        if abs(x - before) < 1e-9:
            break
    return x


def walk(x):
    rng = numpy.random.default_rng(1)
    for _ in range(5):
        x = x * 0.9 + rng.normal(0, 1)
    return x


def lookup(x, k, table):
    for t in range(4):
        x = x * table[k[t]]
    return x


def undefined(x, v):
    for t in range(3):
        x = bessel(v[t], x)
    return x


def delay(x, u):
    values = [x[0], x[1], x[2]]
    for t in range(5):
        values.append(values[-3] * u[t])
    return values[-1]


EAGER = {
    f.__name__: f
    for f in (
        *(square, sequence, fibonacci, gap, coupled, logistic, rnn, window, extra),
        *(newton, walk, lookup, undefined, delay),
    )
}
