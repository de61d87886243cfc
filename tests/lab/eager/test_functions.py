"""Functions of numpy on the eager tape: finite differences, numpy and autograd."""

import numpy
import pytest
from eager.functions import ALONE, FUNCTIONS, V

from lab.checks import check
from lab.eager import grad, np

EVERY = FUNCTIONS | ALONE


@pytest.mark.parametrize("key", EVERY)
def test_every_rule_to_second_order(key):
    function, args = EVERY[key]
    for argnum in range(len(args)):
        check.eager_gradients(lambda *a: function(np, *a), *args, argnum=argnum)


@pytest.mark.parametrize("key", EVERY)
def test_numbers_are_numpys_with_nodes_and_without(key):
    function, args = EVERY[key]
    seen = []

    def noting(*given):
        seen.append(function(np, *given))
        return np.sum(seen[0] * 1.0)

    grad(noting)(*args)
    expected = function(numpy, *args)
    for found in (seen[0], function(np, *args)):
        value = getattr(found, "value", found)
        assert numpy.shape(value) == numpy.shape(expected)
        numpy.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("key", FUNCTIONS)
def test_autograd_agrees(key):
    autograd = pytest.importorskip("autograd")
    function, args = EVERY[key]
    if key in WITHOUT_AUTOGRAD:
        pytest.skip("autograd lacks a rule for it")
    weights = numpy.random.default_rng(0).uniform(0.5, 1.5, numpy.shape(function(numpy, *args)))
    for argnum in range(len(args)):

        def first(lift, np, x, argnum=argnum):
            def cost(x):
                given = [*args[:argnum], x, *args[argnum + 1 :]]
                return np.sum(function(np, *given) ** 2 * weights)

            return lift(cost)(x)

        along = numpy.cos(numpy.arange(numpy.size(args[argnum]))).reshape(numpy.shape(args[argnum]))
        for order in (1, 2):
            found = []
            for lift, xp in ((grad, np), (autograd.grad, autograd.numpy)):
                one = lambda x, lift=lift, xp=xp: first(lift, xp, x)  # noqa: E731
                two = lift(lambda x, one=one, xp=xp, v=along: xp.sum(one(x) * v))
                found.append((one if order == 1 else two)(args[argnum]))
            check.compare(found[0], found[1], 1e-10, f"{key}: derivative {order} by {argnum}")


#: What it refuses, or gives as nan: initial=, zeros, a length of 1, and rules that it lacks.
WITHOUT_AUTOGRAD = {
    "sum, initial",
    "max, initial",
    "min, initial",
    "std, one entry",
    "prod, zeros",
    "clip, by numpy's names",
    "swapaxes, by numpy's names",
    "divmod",
}


# --- undefined derivatives, and derivatives that are easily lost --------------------------


def test_a_spread_of_one_entry_does_not_move():
    assert grad(lambda a: np.sum(np.std(a, axis=1)))(V[:, None]).tolist() == [[0], [0], [0]]
    assert grad(lambda a: np.std(a))(numpy.ones(3)).tolist() == [0, 0, 0]
    assert grad(grad(lambda x: np.std(x * np.ones(1))))(2.0) == 0


def test_products_with_zeros_have_the_gradient_of_the_others():
    assert grad(np.prod)(numpy.array([0.0, 2.0, 3.0])).tolist() == [6, 0, 0]
    assert grad(np.prod)(numpy.array([0.0, 2.0, 0.0])).tolist() == [0, 0, 0]
    second = grad(lambda a: grad(np.prod)(a)[0])
    assert second(numpy.array([0.0, 2.0, 0.0])).tolist() == [0, 0, 2]


def test_an_initial_value_shares_with_entries_that_tie():
    assert grad(lambda a: np.max(a, initial=3.0))(numpy.array([1.0, 3.0])).tolist() == [0, 0.5]
    assert grad(lambda a: np.max(a, initial=4.0))(numpy.array([1.0, 3.0])).tolist() == [0, 0]


def test_sums_take_a_dtype():
    found = grad(lambda a: np.sum(a, dtype=float) * 2.0)(numpy.ones(3, "float32"))
    assert found.tolist() == [2, 2, 2]
    assert np.mean(numpy.ones(3), dtype="float32").dtype == "float32"


def test_without_nodes_every_option_is_numpys():
    mask = numpy.array([True, False, True])
    assert np.sum(V, where=mask) == numpy.sum(V, where=mask)
    assert np.mean(V, where=mask) == numpy.mean(V, where=mask)
    assert np.where(mask)[0].tolist() == [0, 2]


def test_attributes_of_nodes_are_asked_for_as_ever():
    def f(x):
        assert not hasattr(x, "tolist")
        assert not hasattr(x, "nothing_like_that")
        return x

    assert grad(f)(1.0) == 1


def test_several_arguments_at_once_or_alone():
    f = lambda x, y, z: x * y**2 + z  # noqa: E731
    assert grad(f, (2, 0))(2.0, 3.0, 5.0) == (1, 9)
    assert grad(f, [1])(2.0, 3.0, 5.0) == (12,)
    assert grad(lambda x, y: sum(grad(lambda a, b: a * a * b, (0, 1))(x, y)))(2.0, 3.0) == 6 + 4
