"""The eager tape: closed forms, nested tapes, memory, indices, and errors."""

import copy
import functools
import gc
import math
import operator
import threading
import weakref

import numpy
import pytest
from eager.programs import jump
from fuzzing.outcomes import words_test
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import special

import lab
from lab.checks import check
from lab.eager import Node, grad, np, primitive, steps, unrolled, untake, value_of
from lab.eager import tape as tapes
from lab.errors import ArgumentError, GradientError
from lab.loops import gallery

A = numpy.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])


@pytest.fixture(autouse=True)
def _closed_tapes():
    yield
    assert tapes._ACTIVE == []  # no tape remains open


# --- derivatives of one number, against closed forms -------------------------------------


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_powers_at_zero_to_any_order(power):
    f = lambda x: x**power  # noqa: E731
    for order in range(5):
        assert f(0.0) == (math.factorial(power) if order == power else 0)
        f = grad(f)


def wave(x, y):
    return np.sin(x * y) * y


WAVE = 2 * 1.9 * math.cos(0.7 * 1.9) - 0.7 * 1.9**2 * math.sin(0.7 * 1.9)
SIXTH = functools.reduce(lambda f, _: grad(f), range(6), np.tanh)
DECAY = grad(lambda x: functools.reduce(lambda y, _: y * 0.9999, range(5_000), x))
T = math.tanh(0.4)
# A gradient, its arguments, and its exact value.
CLOSED = {
    "sixth of tanh": (SIXTH, (0.4,), -16 * T * (1 - T**2) * (17 - 60 * T**2 + 45 * T**4)),
    "wrt an exponent": (grad(operator.pow, 1), (2.0, 3.0), 8 * math.log(2)),
    "wrt an exponent, of 0": (grad(operator.pow, 1), (0.0, 2.0), 0),
    "exponent, then base": (grad(grad(operator.pow, 1)), (2.0, 3.0), 4 * (1 + 3 * math.log(2))),
    "base, then exponent": (grad(grad(operator.pow), 1), (2.0, 0.0), 0.5),
    "mixed": (grad(grad(wave, 0), 1), (0.7, 1.9), WAVE),
    "mixed, in the other order": (grad(grad(wave, 1), 0), (0.7, 1.9), WAVE),
    "two arguments": (grad(lambda x, y, z: x * y**2 + z, (2, 0)), (2.0, 3.0, 5.0), (1, 9)),
    "two arguments, twice": (
        grad(lambda x, y: sum(grad(lambda a, b: a * a * b, (0, 1))(x, y))), (2.0, 3.0), 6 + 4
    ),
    "a long loop": (DECAY, (1.0,), 0.9999**5_000),  # needs no recursion
    "a constant": (grad(lambda x: 2.0), (1.0,), 0),
    "an integer constant": (grad(lambda x: 3), (A,), numpy.zeros((2, 3))),
    "a sum of constants": (grad(lambda x: np.sum(A[0])), (A,), numpy.zeros((2, 3))),
    "branches": (grad(jump), (2.5,), 2 * 4.5 * 2 * 4.5**2),  # (2.5 + 2)⁴
    "copies": (grad(lambda x: copy.copy(x) * copy.deepcopy(x) ** 2), (3.0,), 27),
    "x · d(x²)/dy": (grad(lambda x: x * grad(lambda y: x * x)(2.0)), (3.0,), 0),
    "x + d(x²)/dy": (grad(lambda x: x + grad(lambda y: x * x)(2.0)), (3.0,), 1),
    # no confusion of perturbations: x · d(x·y)/dy = x², and x · d(x·y²)/dy = 2x³ at y = x
    "x·d(xy)/dy": (grad(lambda x: x * grad(lambda y: x * y)(2.0)), (3.0,), 6),
    "x·d(x+y)/dy": (grad(lambda x: x * grad(lambda y: x + y)(1.0)), (3.0,), 1),
    "x·d(xy²)/dy": (grad(grad(lambda x: x * grad(lambda y: x * y * y)(x))), (2.0,), 24),
}  # fmt: skip


@pytest.mark.parametrize(("gradient", "args", "expected"), CLOSED.values(), ids=CLOSED)
def test_closed_forms(gradient, args, expected):
    assert gradient(*args) == pytest.approx(expected, rel=1e-12)


# --- nested tapes ------------------------------------------------------------------------


def test_a_gradient_in_a_new_thread_is_nested():
    def f(x):
        results = []
        thread = threading.Thread(target=lambda: results.append(grad(lambda y: x * y)(2.0)))
        thread.start()
        thread.join()
        return x * results[0]

    assert grad(f)(3.0) == 6


def test_a_node_that_outlives_its_tape_is_a_constant():
    nodes = []

    def f(x):
        nodes.append(x * 2)
        return x * x

    grad(f)(3.0)
    (leaked,) = nodes
    assert value_of(leaked) == 6
    assert leaked * 2 == 12
    assert not isinstance(np.sin(leaked), Node)
    assert grad(lambda x: x * leaked)(1.0) == 6


# --- memory ------------------------------------------------------------------------------


def test_memory_is_freed_without_the_garbage_collector(request):
    gc.collect()
    gc.disable()  # so that only reference counts free memory
    request.addfinalizer(gc.enable)
    alive, nodes = [], []

    def f(x):
        for _ in range(3):
            x = np.tanh(x * 0.5)
            alive.append(weakref.ref(x))
        alive.append(weakref.ref(x.tape))
        return np.sum(x)

    def independent(x):
        alive.extend((weakref.ref(x), weakref.ref(x.tape)))
        nodes.append(x * 2)
        return 1.0

    grad(f)(numpy.ones(3))
    grad(lambda a: np.sum(grad(f)(a)))(numpy.ones(3))
    assert grad(independent)(3.0) == 0
    assert len(alive) == 10
    assert not any(reference() for reference in alive)
    assert (nodes[0] * 2, nodes[0].parent_operations) == (12, ())


def test_the_tape_is_emptied_while_it_is_read_backward():
    references, counts = [], []
    count = primitive(
        lambda x: x * 1.0,
        lambda y, x: [lambda g: counts.append(sum(r() is not None for r in references)) or g],
    )

    def f(x):
        for _ in range(4):
            x = count(x)
            references.append(weakref.ref(x))
        return x

    grad(f)(1.0)
    assert counts == [4, 4, 3, 2]  # `grad` refers to the last node until it returns


# --- sums of gradients -------------------------------------------------------------------


def test_mutating_add_mutates_and_is_a_primitive():
    old = numpy.zeros(2)
    assert tapes.mutating_add(old, numpy.array([1.0, 2.0])) is old
    assert tapes.mutating_add(old, tapes.Setter(0, 5.0)) is old
    assert old.tolist() == [6, 2]

    def f(x):
        into = tapes.mutating_add(numpy.zeros(3), untake(x, numpy.array([0, 2, 2])))
        return np.sum(into**2)  # x0² + (x1 + x2)²

    assert grad(f)(numpy.array([1.0, 2.0, 3.0])).tolist() == [2, 10, 10]


def test_the_caller_can_modify_the_gradient():
    for f in (np.sum, np.mean, lambda a: np.sum(a.T), lambda a: np.sum(a.ravel())):
        gradient = grad(f)(A)
        gradient[0, 0] = 7.0  # NumPy's broadcast views are read-only
        assert gradient[1, 2] != 7
    argument, total = numpy.ones(3), lambda a, b, c: np.sum((a + b + c + c[[0, 0, 0]]) * ones)
    for gradient in grad(total, (0, 1, 2))(argument, argument, argument):
        assert gradient[2] == 1
        gradient[:] = 7.0
    assert (argument == 1).all()


# --- indexing ----------------------------------------------------------------------------


def indices(shape):
    """Return indices of all kinds, also with repeated entries, and masks."""
    masks = arrays.arrays(bool, st.sampled_from([shape, shape[:1]]))
    basic = arrays.basic_indices(shape, allow_newaxis=True)
    lists = arrays.integer_array_indices(shape).map(lambda index: tuple(i.tolist() for i in index))
    return st.one_of(basic, arrays.integer_array_indices(shape), lists, masks)


@settings(max_examples=60)
@given(st.data())
def test_the_gradient_of_an_index_adds_to_the_selected_entries(data):
    """The gradient of Σ w·a[index] wrt a adds each w to the entry that the index selects."""
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=4))
    index = data.draw(indices(shape))
    positions = numpy.arange(math.prod(shape)).reshape(shape)[index]
    weights = numpy.random.default_rng(0).normal(size=numpy.shape(positions))
    expected = numpy.zeros(shape)
    for position, weight in zip(numpy.ravel(positions), numpy.ravel(weights), strict=True):
        expected.reshape(-1)[position] += weight
    actual = grad(lambda a: np.sum(a[index] * weights))(numpy.ones(shape))
    check.compare(actual, expected, 1e-13)


@given(indices((2, 3)))
def test_indexing_to_second_order(index):
    check.eager_gradients(lambda a: np.sin(a[index]) * np.cos(2 * a[index]), A)


# --- lifting functions -------------------------------------------------------------------


def test_a_custom_forward_pass():
    """Differentiate Newton's root through its equation, not through its loop."""

    def root(a):
        x = a
        for _ in range(60):
            x = (x + a / x) / 2
        return x

    def forward_pass(a):
        x = lifted(a)
        return x, [lambda g: g / (2 * x)]

    lifted = tapes.D(root, forward_pass)
    assert grad(lifted)(2.0) == pytest.approx(0.5 / math.sqrt(2))
    assert grad(grad(lifted))(2.0) == pytest.approx(-0.25 * 2**-1.5)
    check.eager_gradients(lifted, 2.0, orders=3)


WRONG = {
    "a wrong factor": lambda y, x: [lambda g: g * 2 * np.cos(x)],
    "a wrong sign": lambda y, x: [lambda g: -g * np.cos(x)],
    "a function of the result": lambda y, x: [lambda g: g * np.cos(y)],
    "a wrong shape": lambda y, x: [lambda g: np.sum(g * np.cos(x))],
    "correct to order 1": lambda y, x: [lambda g: g * numpy.cos(value_of(x))],
    "not linear in g": lambda y, x: [lambda g: g * g * np.cos(x)],
}


@pytest.mark.parametrize("maker", WRONG.values(), ids=WRONG.keys())
def test_the_checker_catches_a_wrong_rule(maker):
    correct = primitive(numpy.sin, lambda y, x: [lambda g: g * np.cos(x)])
    check.eager_gradients(correct, A, orders=3)
    with pytest.raises(check.WrongGradientError):
        check.eager_gradients(primitive(numpy.sin, maker), A)


def test_nodes_are_shown_and_compared_by_value():
    texts = []

    def f(x):
        assert x == 3.0
        assert x != 2
        assert 2 < x <= 3
        assert x in {x}
        texts.append((repr(x), f"{x:.2f}", str(np.max(x * ones))))
        return numpy.float64(2.0) * x

    assert grad(f)(3.0) == 2
    assert texts == [("Node(np.float64(3.0))", "3.00", "Node(np.float64(3.0))")]


ones = numpy.ones(3)
TRUNCATED = lab.Loop(lambda x: x**2, (lab.State("x", 1.0),), truncate_gradient=2, n_steps=3)
MATRIX, MASKED = A.view(numpy.matrix), numpy.ma.array(ones, mask=[0, 1, 0])
scaled = primitive(lambda x, k: x * k, lambda y, x, k: [lambda g: g])
listless = primitive(numpy.sin, lambda y, x: lambda g: g)


def joined(a):
    return np.sum(np.concatenate([a, a]))


# A call, its error, and words of the message.
test_errors = words_test(
    (lambda: grad(lambda x: x * x)(3), ArgumentError, "argument 0 of <lambda> = 3", "3.0"),
    (lambda: grad(np.sum)(numpy.arange(3)), ArgumentError, "array([0, 1, 2])", "float array"),
    (lambda: grad(np.sum)([1.0, 2.0]), ArgumentError, "= [1.0, 2.0]", "argnum=(0, 1)"),
    (lambda: grad(np.sum)(MATRIX), ArgumentError, "= matrix([[ 0.3", "np.asarray"),
    (lambda: grad(lambda x: np.sum(x * MATRIX))(A.T), ArgumentError, "multiply", "asarray"),
    (lambda: grad(lambda x: np.sum(x + MASKED))(ones), ArgumentError, "result of add", "masked"),
    (lambda: grad(np.sum)(True), ArgumentError, "True", "real number"),
    (lambda: grad(np.add, (0, 0)), ArgumentError, "argnum = (0, 0)", "distinct numbers"),
    (lambda: grad(lambda x, y: x, 2)(1.0, 2.0), ArgumentError, "argnum = 2", "2 positional"),
    (lambda: grad(np.sum, -1), ArgumentError, "argnum = -1", "from 0"),
    (lambda: primitive(5, print), ArgumentError, "function = 5"),
    (lambda: tapes.D(numpy.sin, 6), ArgumentError, "forward_pass = 6"),
    (lambda: unrolled(5), ArgumentError, "loop = 5", "lab.Loop"),
    (lambda: steps(1.5), ArgumentError, "count = 1.5", "integer"),
    (lambda: unrolled(gallery.loops["walk"]), ArgumentError, "random", "rng"),
    (lambda: unrolled(TRUNCATED), ArgumentError, "truncate_gradient = 2"),
    (lambda: unrolled(gallery.loops["logistic"])(0.2), ArgumentError, "values = (0.2,)", "x and r"),
    (lambda: grad(unrolled(gallery.loops["extra"]))(0.2, 0.5), GradientError, "Node(", "PyTensor"),
    (lambda: grad(lambda a: np.sum(a, where=a > 0))(ones), GradientError, "does not accept"),
    (lambda: grad(lambda a: np.dot(a, ones))(ones[None, None]), GradientError, "np.matmul"),
    (lambda: grad(np.tanh)(ones), ArgumentError, "one real number", "tanh returned", "shape (3,)"),
    (lambda: grad(lambda x: x * 1j)(1.0), ArgumentError, "complex128"),
    (lambda: grad(lambda x: x > 0)(1.0), ArgumentError, "one real number", "bool"),
    (lambda: grad(lambda a: a.__setitem__(0, 1.0))(ones), GradientError, "[0] = …", "in place"),
    (lambda: grad(lambda x: abs(x * 1j))(2.0), GradientError, "<lambda>", "complex numbers"),
    (lambda: grad(lambda x: ones.__iadd__(x))(1.0), GradientError, "numpy.add", "a = a + b"),
    (lambda: grad(lambda x: numpy.array([x, x]))(1.0), GradientError, "Node(", "lab.eager.np"),
    (lambda: grad(joined)(ones), GradientError, "numpy.concatenate has no gra", "eager.primitive"),
    (lambda: grad(special.erf)(1.0), GradientError, "erf has no gradient rule"),
    (lambda: grad(lambda a: numpy.add.reduce(a))(ones), GradientError, "numpy.add.reduce"),
    (lambda: grad(math.sin)(1.0), GradientError, "Node(np.float64(1.0))", "not registered"),
    (lambda: grad(lambda x: np.sum(a=x))(1.0), GradientError, "sum: a =", "keyword"),
    (lambda: grad(scaled, 1)(1.0, 2.0), GradientError, "<lambda>: argument 1 = Node(", "value_of"),
    (lambda: grad(listless)(1.0), ArgumentError, "gradient_maker of sin", "list"),
    (lambda: grad(lambda x: np.clip(x, 2.0, 1.0))(1.5), ArgumentError, "lo = 2.0, hi = 1.0"),
    longest=400,
)
