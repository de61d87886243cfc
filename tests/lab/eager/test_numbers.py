"""Eager derivatives, compared with the Scan engine, finite differences, JAX, and autograd."""

import numpy
import pytest

import lab
from lab.checks import check
from lab.eager import grad, np, unrolled
from lab.loops import gallery

# --- unrolled loops, against the Scan engine ----------------------------------------------

SQUARE = gallery.loops["square"]
# The steps of the other loops call PyTensor's functions, or draw random numbers.
UNROLLED = [
    *(gallery.loops[n] for n in ("square", "sequence", "fibonacci", "coupled", "logistic")),
    *(gallery.loops[n] for n in ("window", "lookup", "delay")),
    gallery.loops["newton"].with_values({"x": 3.0, "a": 40.0}),  # has not converged
    SQUARE.with_taps({"x": (-3, -1)}).with_steps(5),
]


@pytest.mark.parametrize("loop", UNROLLED, ids=lambda loop: loop.name)
def test_derivatives_equal_the_derivatives_of_the_scan(loop):
    args = [value[()] for value in loop.values.values()]
    for argnum, wrt in enumerate(loop.values):
        if args[argnum].dtype.kind == "f":
            function = unrolled(loop)
            for order, expected in enumerate(loop.trace(order=2, wrt=wrt).outputs):
                check.compare(function(*args), expected, 1e-10, f"derivative {order} wrt {wrt}")
                function = grad(lambda *a, f=function: np.sum(f(*a)), argnum)


def test_a_loop_without_states_has_the_cost_of_its_output():
    sequences = (lab.Sequence("u", [1.0, 2.0]),)
    output = lab.Loop(lambda u: 3 * u**2, sequences=sequences, outputs=("y",))
    assert grad(unrolled(output))(numpy.array([1.0, 2.0])).tolist() == [0, 12]


# --- every rule, against finite differences ----------------------------------------------

A = numpy.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
B = numpy.array([[1.5, 0.2, -0.6], [-0.9, 0.8, 0.5]])
ROW, COLUMN = numpy.array([0.4, -0.8, 1.3]), numpy.array([[0.6], [-1.1]])
POSITIVE = numpy.abs(A) + 0.2
SMALL = A / 3
STACK = numpy.arange(24.0).reshape(2, 3, 4) / 10 - 1
U, V = numpy.array([0.5, -0.7]), numpy.array([0.2, 0.9, -0.3, 0.6])

UNARY = ("negative", "square", "absolute", "exp", "exp2", "expm1", "sin", "cos", "arctan")
UNARY += ("sinh", "cosh", "tanh")
OF_POSITIVE = ("sqrt", "reciprocal", "log", "log2", "log10", "log1p")
RULES = {
    **{name: (getattr(np, name), [A]) for name in UNARY},
    **{name: (getattr(np, name), [POSITIVE]) for name in OF_POSITIVE},
    **{name: (getattr(np, name), [SMALL]) for name in ("tan", "arcsin", "arccos")},
    "add, row": (np.add, [A, ROW]),
    "subtract, column": (np.subtract, [COLUMN, A]),
    "multiply, number": (np.multiply, [A, 1.7]),
    "multiply, row and column": (np.multiply, [ROW, COLUMN]),
    "divide": (np.divide, [A, POSITIVE]),
    "divide, row": (np.divide, [ROW, POSITIVE]),
    "power": (np.power, [POSITIVE, B]),
    "power, number": (np.power, [POSITIVE, -1.5]),
    "signs": (lambda a, b: (a + b) * (a - b) / (b**2 + 1) - -a, [A, B]),
    "signs, swapped": (lambda a: (2 + a) * (2 - a) + 3 / (a * a + 1) + 2.0**a, [A]),
    "signs, arrays to the left": (lambda a: (B + a) * (B - a) + B / (a * a + 1) + 2**a, [A]),
    "a power of arrays": (lambda a: a ** numpy.array([0, 1, 2]), [A]),
    "sum": (np.sum, [A]),
    "sum, axis": (lambda a: np.sum(a, 0), [A]),
    "sum, axes": (lambda a: np.sum(a, (0, -1)), [STACK]),
    "sum, keepdims": (lambda a: np.sum(a, axis=1, keepdims=True) * a, [A]),
    "mean": (lambda a: np.mean(a) * a, [A]),
    "mean, axis": (lambda a: a.mean(1), [STACK]),
    "mean, axes": (lambda a: np.mean(a, axis=(0, 2), keepdims=True) * a, [STACK]),
    "max": (lambda a: np.max(a) * a, [A]),
    "max, axis": (lambda a: np.max(a**2, axis=1), [A]),
    "min, keepdims": (lambda a: np.min(a, axis=0, keepdims=True) * a, [A]),
    "dot": (np.dot, [A, B.T]),
    "dot, vectors": (np.dot, [ROW, ROW + 1]),
    "dot, number": (np.dot, [A, 1.7]),
    "matmul, matrix and column": (np.matmul, [A, ROW]),
    "matmul, row and matrix": (np.matmul, [U, A]),
    "matmul, stack": (np.matmul, [STACK, V]),
    "matmul, row and stack": (np.matmul, [ROW, STACK]),
    "matmul, broadcast stacks": (np.matmul, [A, STACK]),
    "@": (lambda a, b: a @ b.T @ a, [A, B]),
    "@, array to the left": (lambda a: B.T @ a, [A]),
    "reshape": (lambda a: np.reshape(a, (3, 2)) @ a, [A]),
    "a.reshape": (lambda a: a.reshape(3, -1) * a.reshape((3, 2)), [A]),
    "ravel": (lambda a: a.ravel() ** 2, [A]),
    "transpose": (lambda a: a.T @ a, [A]),
    "swapaxes": (lambda a: np.swapaxes(a, 0, 1) ** 2, [STACK]),
    "broadcast_to": (lambda a: np.broadcast_to(a, (2, 2, 3)) ** 2, [ROW]),
    "where": (lambda a, b: np.where(a > 0, a * b, b**2), [A, B]),
    "where, number": (lambda a, x: np.where(B > 0, a, x) ** 2, [A, 1.7]),
    "where, safe": (lambda a: np.where(a > 0, np.log(np.where(a > 0, a, 1.0)), a), [A]),
    "clip": (lambda x, lo, hi: np.clip(x, lo, hi) ** 2, [A, numpy.array([-1.0, -0.3, 0.0]), 1.0]),
    "clip, one bound": (lambda x: np.clip(x, None, 0.5) ** 2, [A]),
    "maximum": (lambda a, b: np.maximum(a, b) ** 2, [A, ROW]),
    "minimum": (lambda a, x: np.minimum(a, x) ** 2, [A, 0.25]),
    "rows": (lambda a: sum(row * 2 * row for row in a), [A]),
}


@pytest.mark.parametrize(("function", "args"), RULES.values(), ids=RULES.keys())
def test_every_rule_to_second_order(function, args):
    for argnum in range(len(args)):
        check.eager_gradients(function, *args, argnum=argnum)


def test_every_function_has_a_case():
    tested = {getattr(np, key.split(",")[0], None) for key in RULES}
    assert [name for name in np.__all__ if getattr(np, name) not in tested] == ["amax", "amin"]


def test_ties_share_the_gradient_and_clip_passes_it_at_the_bounds():
    tied = numpy.array([1.0, 3.0, 3.0])
    assert grad(np.max)(tied).tolist() == [0, 0.5, 0.5]
    assert grad(np.maximum)(2.0, 2.0) == 0.5
    assert grad(np.minimum, 1)(2.0, 2.0) == 0.5
    assert grad(np.absolute)(0.0) == 0
    for argnum, expected in ((0, 1), (1, 0), (2, 0)):
        assert grad(np.clip, argnum)(2.0, 2.0, 3.0) == expected


# --- random programs, against JAX and autograd -----------------------------------------------

SMOOTH = ["sin", "cos", "tanh", "exp", "square", "arctan", "abs", "negative"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "where"]
MATRIX = ["matmul", "transpose", "row sums", "stretch", "pick", "limits", "reshape"]


def program(seed, length=14):
    """Return a random function from a 3×3 matrix to a number, for NumPy and its replacements."""
    rng = numpy.random.default_rng(seed)
    kinds = rng.choice(SMOOTH + BINARY + MATRIX, length)
    picks = rng.integers(0, 1 << 30, (length, 2))
    constants = rng.normal(size=(length, 3, 3))

    def run(xp, x):
        xs = [x]
        for kind, (first, second), c in zip(kinds, picks, constants, strict=True):
            a, b = xs[first % len(xs)], xs[second % len(xs)]
            xs.append(0.9 * xp.tanh(_operation(xp, kind, a, b, c)) + 0.1 * a)
        return xp.sum(xs[-1] * xs[-2]) + xp.mean(xs[length // 2]) + xp.max(xs[-3] * x)

    return run


def _operation(xp, kind, a, b, c):
    table = {
        "divide": lambda: a / (2 + xp.square(b)),
        "maximum": lambda: xp.maximum(a, b + c),
        "where": lambda: xp.where(c > 0, a * c, b),
        "matmul": lambda: a @ (b * c),
        "transpose": lambda: xp.transpose(a) - c,
        "row sums": lambda: a + xp.sum(b * c, axis=1, keepdims=True),
        "stretch": lambda: b * xp.broadcast_to(xp.mean(a, axis=0, keepdims=True), (3, 3)),
        "pick": lambda: a[numpy.array([0, 0, 2])] * b[:, ::-1],
        "limits": lambda: xp.clip(a, -0.5, 0.5) * c + b,
        "reshape": lambda: xp.reshape(xp.reshape(a, (9,))[::-1], (3, 3)) * c,
    }
    if kind in table:
        return table[kind]()
    return getattr(xp, kind)(*((a,) if kind in SMOOTH else (a, b)))


def both_orders(grad, xp, run, x, v):
    """Return the gradient, and the gradient of its inner product with v."""
    first = grad(lambda x: run(xp, x))
    return first(x), grad(lambda x: xp.sum(first(x) * v))(x)


X, DIRECTION = numpy.random.default_rng(7).normal(size=(2, 3, 3))


def with_autograd(run):
    autograd = pytest.importorskip("autograd")
    return both_orders(autograd.grad, autograd.numpy, run, X, DIRECTION)


def with_jax(run):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return both_orders(jax.grad, jax.numpy, run, jax.numpy.asarray(X), DIRECTION)


ORACLES = [
    pytest.param(with_autograd, range(40), 14, id="autograd"),
    pytest.param(with_jax, range(3), 9, id="jax"),  # JAX compiles every operation
]


@pytest.mark.parametrize(("oracle", "seeds", "length"), ORACLES)
def test_random_programs(oracle, seeds, length):
    for seed in seeds:
        run = program(seed, length)
        actual = both_orders(grad, np, run, X, DIRECTION)
        for order, (ours, theirs) in enumerate(zip(actual, oracle(run), strict=True), 1):
            check.compare(ours, theirs, 1e-11, f"program {seed}, derivative {order}")
