"""What the structural primitives refuse, in one sentence."""

import numpy as np
import pytensor.tensor as pt
import pytest

from lab import structural
from lab.errors import ArgumentError
from lab.structural import primitives

A = np.arange(6.0).reshape(2, 3)
V = A[0]
YES = np.array([True, False, True])

# a call, the start of its message, and later parts
REFUSED = {
    "where: three lengths": (
        lambda: structural.where(YES, V, np.ones(2)),
        r"where: condition has shape (3,), x has shape (3,), and y has shape (2,)",
        "they do not broadcast: axis -1 is 3 and 2 long, but lengths must be the same or 1",
    ),
    "where: dtypes": (
        lambda: structural.where(YES, V, V.astype("float32")),
        "where: x is float64 and y is float32",
        "all must have one dtype, so cast them first",
    ),
    "where: integers": (
        lambda: structural.where(YES, np.arange(3), np.arange(3)),
        "where: x has dtype int64",
        "expected float32, float64, complex64, or complex128",
    ),
    "where: complex number": (
        lambda: structural.where(YES, V, 1j),
        "where: y = 1j is complex",
        "float64 is expected",
    ),
    "cat: lengths": (
        lambda: structural.cat([A, A[:, :2]], 0),
        "cat: inputs[0] has shape (2, 3), but inputs[1] has shape (2, 2)",
        "apart from dim = 0 they must be the same",
    ),
    "cat: dimensions": (
        lambda: structural.cat([A, V], 0),
        "cat: inputs[0] has shape (2, 3), but inputs[1] has shape (3,)",
        "all need the same number of dimensions",
    ),
    "cat: axis": (
        lambda: structural.cat([A, A], 2),
        "cat: dim = 2: inputs[0] has 2 dimensions",
        "expected -2 to 1",
    ),
    "cat: numbers": (
        lambda: structural.cat([np.array(1.0), np.array(2.0)], 0),
        "cat: dim = 0: inputs[0] is a scalar",
        "",
    ),
    "narrow: start": (
        lambda: structural.narrow(A, 1, 4, 0),
        "narrow: start = 4: a has shape (2, 3)",
        "along dim = 1 expected 0 to 3",
    ),
    "narrow: length": (
        lambda: structural.narrow(A, 0, 1, 2),
        "narrow: length = 2: a has shape (2, 3)",
        "from start = 1 along dim = 0 expected 0 to 1",
    ),
    "narrow: negative length": (
        lambda: structural.narrow(A, 0, 1, -1),
        "narrow: length = -1",
        "expected 0 or more",
    ),
    "narrow: axis": (
        lambda: structural.narrow(V, -2, 0, 1),
        "narrow: dim = -2: a has 1 dimensions",
        "expected -1 to 0",
    ),
    "narrow: half a start": (
        lambda: structural.narrow(V, 0, 0.5, 1),
        "narrow: start = 0.5",
        "expected an integer",
    ),
    "clamp: bounds": (
        lambda: structural.clamp(V, 2.0, np.array([3.0, 1.0, 2.0])),
        "clamp: lo[1] = 2.0 and hi[1] = 1.0",
        "expected bounds with lo ≤ hi everywhere",
    ),
    "clamp: complex": (
        lambda: structural.clamp(V + 1j, V + 1j, V + 1j),
        "clamp: x has dtype complex128",
        "expected float32 or float64",
    ),
    "set_subtensor": (
        lambda: structural.set_subtensor(A, A[:1], 2),
        "set_subtensor: i = 2: y has 1 rows and x has 2",
        "all of y within x",
    ),
}
ODD = {
    "cat: nothing": (lambda: structural.cat([], 0), "cat: inputs = []: expected at least one"),
    "cat: an array": (lambda: structural.cat(A, 0), "cat: inputs = float64 array of shape (2, 3)"),
    "where: numbers": (lambda: structural.where([1, 0], 1, 2), "where: condition = [1, 0]"),
    "where: text": (lambda: structural.where(YES, "x", 2), "where: x = 'x': expected numbers"),
    "where: nothing": (lambda: structural.where(YES, None, 2), "where: x = None: expected numb"),
    "where: a variable": (
        lambda: structural.where(YES, pt.dvector("v"), 2.0),
        "where: x = v: expected a NumPy array. For PyTensor variables, use pytensor.tensor",
    ),
    "where: ragged": (lambda: structural.where(YES, [[1], [1, 2]], 2), "where: x = [[1], [1, 2]]"),
    "clamp: truth": (lambda: structural.clamp(True, 0, 1), "clamp: x = True: expected numbers"),
    "metadata": (lambda: primitives["narrow"].forward(A, dim=0), "narrow: metadata = dim: expec"),
    "inputs": (lambda: primitives["clamp"].forward(A, 0), "clamp: inputs: there are 2; expected x"),
    "an array of inputs": (lambda: primitives["cat"].linearize(A, dim=0), "cat: inputs: expected"),
    "tangents": (
        lambda: primitives["cat"].jvp([V, V], [V], dim=0),
        "cat: tangents: there are 1 for 2 inputs",
    ),
    "a tangent's shape": (
        lambda: primitives["clamp"].jvp((V, 0.0, 1.0), (V, V, 0.0)),
        "clamp: the tangent of lo has shape (3,), but lo has shape ()",
    ),
    "a cotangent's shape": (
        lambda: primitives["narrow"].transpose(V, (V,), dim=0, start=0, length=2),
        "narrow: the cotangent has shape (3,), but the output has shape (2,)",
    ),
    "a cotangent's dtype": (
        lambda: primitives["where"].transpose(V + 0j, (V, V), condition=YES),
        "where: the cotangent is complex128, but the output is float64",
    ),
    "no chain": (lambda: structural.vjp(lambda x: 3.0, [V]), "function: it returned 3.0"),
    "numpy in a chain": (
        lambda: structural.vjp(lambda x: structural.where(np.asarray(x), x, x), [V]),
        "a chain consists of where, cat, narrow and clamp only",
    ),
    "a list to write into": (
        lambda: structural.set_subtensor([1.0], [2.0], 0),
        "set_subtensor: x = [1.0]: expected rows",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arrays_are_refused(name):
    call, start, rest = REFUSED[name]
    with pytest.raises(ArgumentError) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(start)
    assert rest in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("name", ODD)
def test_odd_arguments_are_refused(name):
    call, start = ODD[name]
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize("name", ["nope", "", 5, None, "x" * 1000])
def test_a_primitive_that_is_not_there(name):
    """Refused as Python refuses a key, in one short sentence."""
    with pytest.raises(KeyError) as caught:
        primitives[name]
    assert isinstance(caught.value, ArgumentError)
    message = str(caught.value)
    assert message.startswith("primitive = ")
    assert message.endswith("the primitives are where, cat, narrow, and clamp.")
    assert len(message) < 150
    assert name not in primitives


def test_two_recordings_do_not_mix():
    kept = []
    structural.vjp(lambda x: kept.append(x) or structural.narrow(x, 0, 0, 1), [V])
    with pytest.raises(ArgumentError, match="belong to two chains"):
        structural.vjp(lambda x: structural.cat([x, kept[0]], 0), [V])
