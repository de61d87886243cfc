"""Errors of the structural primitives."""

import re

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test

from lab import structural
from lab.errors import ArgumentError
from lab.structural import primitives

A = np.arange(6.0).reshape(2, 3)
V = A[0]
YES = np.array([True, False, True])

# A call, the start of its message, and a later part.
REFUSED = [
    (lambda: structural.where(YES, V, np.ones(2)), "where: condition has shape (3,)", "broadcast"),
    (lambda: structural.where(YES, V, V.astype("float32")), "where: x is float64 and y", "dtype"),
    (lambda: structural.where(YES, np.arange(3), V), "where: x has dtype int64", "float32"),
    (lambda: structural.where(YES, V, 1j), "where: y = 1j is complex", "float64 is expected"),
    (lambda: structural.where([1, 0], 1, 2), "where: condition = [1, 0]", "booleans"),
    (lambda: structural.where(YES, "x", 2), "where: x = 'x': expected a NumPy array", ""),
    (lambda: structural.where(YES, pt.dvector("v"), 2.0), "where: x = v", "pytensor.tensor"),
    (lambda: structural.where(YES, [[1], [1, 2]], 2), "where: x = [[1], [1, 2]]", "expected"),
    (lambda: structural.cat([A, A[:, :2]], 0), "cat: inputs[0] has shape (2, 3)", "dim = 0"),
    (lambda: structural.cat([A, V], 0), "cat: inputs[0] has shape (2, 3)", "dimensions"),
    (lambda: structural.cat([A, A], 2), "cat: dim = 2: inputs[0] has 2 dim", "expected -2 to 1"),
    (lambda: structural.cat([np.array(1.0)], 0), "cat: dim = 0: inputs[0] is a scalar", ""),
    (lambda: structural.cat([], 0), "cat: inputs = []: expected at least one", ""),
    (lambda: structural.cat(A, 0), "cat: inputs = array(", "tuple or a list"),
    (lambda: structural.narrow(A, 1, 4, 0), "narrow: start = 4: a has shape (2, 3)", "0 to 3"),
    (lambda: structural.narrow(A, 0, 1, 2), "narrow: length = 2: a has shape (2, 3)", "0 to 1"),
    (lambda: structural.narrow(A, 0, 1, -1), "narrow: length = -1", "0 to 1"),
    (lambda: structural.narrow(V, 0, 0.5, 1), "narrow: start = 0.5", "integer"),
    (lambda: structural.clamp(V, 2.0, V), "clamp: lo[0] = 2.0 and hi[0] = 0.0", "lo ≤ hi"),
    (lambda: structural.clamp(V + 1j, 0, 1), "clamp: x has dtype complex128", "float32 or float64"),
    (lambda: structural.clamp(True, 0, 1), "clamp: x = True: expected numbers", ""),
    (lambda: structural.set_subtensor(A, A[:1], 2), "set_subtensor: i = 2: y has 1 rows", "all of"),
    (lambda: structural.set_subtensor([1.0], [2.0], 0), "set_subtensor: x = [1.0]", "rows"),
    (lambda: primitives["narrow"].forward(A, dim=0), "narrow: metadata = dim: expec", "start"),
    (lambda: primitives["clamp"].forward(A, 0), "clamp: inputs: expected x", "2"),
    (lambda: primitives["cat"].jvp([V, V], [V], dim=0), "cat: tangents: ", "1"),
    (lambda: primitives["clamp"].jvp((V, 0.0, 1.0), (V, V, 0.0)), "clamp: the tangent of lo", "()"),
    (
        lambda: primitives["where"].transpose(V + 0j, (V, V), condition=YES),
        "where: the cotangent of the output has dtype complex128",
        "float64",
    ),
    (lambda: structural.vjp(lambda x: 3.0, [V]), "function: it returned 3.0", ""),
    (
        lambda: structural.vjp(lambda x: structural.where(np.asarray(x), x, x), [V]),
        "a chain consists of where, cat, narrow, and clamp only",
        "",
    ),
]
test_errors = error_test(
    *((call, f"^{re.escape(start)}.*{re.escape(rest)}") for call, start, rest in REFUSED)
)


def test_an_unknown_primitive_is_a_key_error():
    with pytest.raises(
        KeyError, match="the primitives are where, cat, narrow, and clamp"
    ) as caught:
        primitives["x" * 1000]
    assert isinstance(caught.value, ArgumentError)
    assert len(str(caught.value)) < 150
    assert 5 not in primitives


def test_two_recordings_do_not_mix():
    kept = []
    structural.vjp(lambda x: kept.append(x) or structural.narrow(x, 0, 0, 1), [V])
    with pytest.raises(ArgumentError, match="expected values of one chain"):
        structural.vjp(lambda x: structural.cat([x, kept[0]], 0), [V])
