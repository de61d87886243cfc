"""Functions of numpy on the eager tape: finite differences, numpy and autograd; containers."""

from collections import namedtuple

import numpy
import pytest
from eager.functions import ALONE, FUNCTIONS, LINALG, A, V

from lab.checks import check
from lab.eager import grad, np, recording, rules

EVERY = FUNCTIONS | ALONE | LINALG


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
    if key == "clip, by numpy's names":
        expected = numpy.clip(A, -0.5, 1.5) ** 2
    else:
        expected = function(numpy, *args)
    for found in (seen[0], function(np, *args)):
        value = getattr(found, "value", found)
        assert numpy.shape(value) == numpy.shape(expected)
        numpy.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("key", FUNCTIONS | LINALG)
def test_autograd_agrees(key):
    autograd = pytest.importorskip("autograd")
    function, args = EVERY[key]
    if key in WITHOUT_AUTOGRAD:
        pytest.skip("autograd has no rule for it")
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
    "positive",
    "flip",
    "copy",
    "sort",
    "sort, axis",
    "diagonal",
    "trace, offset",
}


def test_every_function_of_linalg_is_tried():
    registered = {f for f in rules.REGISTERED if getattr(f, "__module__", "") == "numpy.linalg"}
    assert {f.__name__ for f in registered} == {
        key.removeprefix("linalg.").split(",")[0] for key in LINALG
    }


# --- where there is no derivative, or it is easily lost ------------------------------------


def test_a_spread_of_one_entry_does_not_move():
    assert grad(lambda a: np.sum(np.std(a, axis=1)))(V[:, None]).tolist() == [[0], [0], [0]]
    assert grad(lambda a: np.std(a))(numpy.ones(3)).tolist() == [0, 0, 0]
    assert grad(grad(lambda x: np.std(x * np.ones(1))))(2.0) == 0
    assert grad(np.linalg.norm)(numpy.zeros(2)).tolist() == [0, 0]


def test_what_is_no_number_does_not_move():
    a = numpy.array([0.5, numpy.nan, numpy.inf])
    assert grad(lambda x: np.sum(np.nan_to_num(x + a)))(2.0) == 1


def test_products_with_zeros_have_the_gradient_of_the_others():
    assert grad(np.prod)(numpy.array([0.0, 2.0, 3.0])).tolist() == [6, 0, 0]
    assert grad(np.prod)(numpy.array([0.0, 2.0, 0.0])).tolist() == [0, 0, 0]
    second = grad(lambda a: grad(np.prod)(a)[0])
    assert second(numpy.array([0.0, 2.0, 0.0])).tolist() == [0, 0, 2]


def test_an_initial_value_shares_with_entries_that_tie():
    assert grad(lambda a: np.max(a, initial=3.0))(numpy.array([1.0, 3.0])).tolist() == [0, 0.5]
    assert grad(lambda a: np.max(a, initial=4.0))(numpy.array([1.0, 3.0])).tolist() == [0, 0]


def test_zeros_between_are_not_products_with_infinity():
    found = grad(lambda a: np.sum(np.tril(a)))(numpy.full((2, 2), numpy.inf))
    assert found.tolist() == [[1, 0], [1, 1]]


def test_sums_take_a_dtype():
    found = grad(lambda a: np.sum(a, dtype=float) * 2.0)(numpy.ones(3, "float32"))
    assert found.tolist() == [2, 2, 2]
    assert grad(lambda a: a.astype("float64").sum())(numpy.ones(3, "float32")).dtype == "float32"
    assert np.mean(numpy.ones(3), dtype="float32").dtype == "float32"


def test_whole_numbers_made_of_nodes_are_constants():
    assert grad(lambda a: np.sum(a * a.astype(int)))(numpy.array([1.5, 2.5])).tolist() == [1, 2]


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


# --- containers ----------------------------------------------------------------------------

Layer = namedtuple("Layer", "weights bias")


def network(layers, x):
    for layer in layers:
        x = np.tanh(layer["w"] @ x + layer["b"])
    return np.sum(x)


def test_gradients_have_the_form_of_the_argument():
    layers = [{"w": A, "b": V[:2]}, {"w": A[:, :2], "b": 0.3}]
    found = grad(network)(layers, V)
    for number, layer in enumerate(layers):
        assert found[number].keys() == layer.keys()
        for name in layer:

            def alone(x, number=number, name=name):
                given = [dict(layer) for layer in layers]
                given[number][name] = x
                return network(given, V)

            check.compare(found[number][name], grad(alone)(layer[name]), 1e-15)


def test_tuples_and_their_names():
    def f(layer, pair):
        return np.sum(layer.weights * layer.bias) * pair[0]

    (layer, pair) = grad(f, (0, 1))(Layer(V, 2.0), (3.0, 5.0))
    assert isinstance(layer, Layer)
    assert layer.weights.tolist() == [6, 6, 6]
    assert layer.bias == pytest.approx(3 * V.sum())
    assert pair == (pytest.approx(2 * V.sum()), 0)


def test_containers_to_second_order():
    def cost(p):
        return np.sum(np.sin(p["a"]) * p["b"][0]) + p["b"][1] ** 3

    p = {"a": V, "b": [1.5, 0.5]}
    second = grad(lambda p: np.sum(grad(cost)(p)["a"] * V) + grad(cost)(p)["b"][1])(p)
    numpy.testing.assert_allclose(second["a"], -np.sin(V) * 1.5 * V)
    assert second["b"] == [pytest.approx(np.sum(np.cos(V) * V)), pytest.approx(6 * 0.5)]


def test_several_arguments_at_once_or_alone():
    f = lambda x, y, z: x * y**2 + z  # noqa: E731
    assert grad(f, (2, 0))(2.0, 3.0, 5.0) == (1, 9)
    assert grad(f, [1])(2.0, 3.0, 5.0) == (12,)
    assert grad(lambda x, y: sum(grad(lambda a, b: a * a * b, (0, 1))(x, y)))(2.0, 3.0) == 6 + 4
    assert grad(lambda p: 1.0)([]) == []


def test_containers_are_recorded():
    run = recording(grad(lambda p: p[0] * p[1]), (2.0, 3.0))
    assert [node.operation for node in run.nodes] == ["", "", "multiply"]
    assert run.result.value.tolist() == [3, 2]
