"""Calls of structural primitives, random or fixed, and their results by NumPy."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")


@dataclass(frozen=True)
class Case:
    """A call of the primitive `name`."""

    name: str
    inputs: tuple[Any, ...]
    metadata: dict[str, Any] = field(default_factory=dict)


def reference(case, inputs=None):
    """Return the output of NumPy's functions."""
    values = case.inputs if inputs is None else inputs
    if case.name == "where":
        return np.where(case.metadata["condition"], *values)
    if case.name == "cat":
        return np.concatenate(values, axis=case.metadata["dim"])
    if case.name == "narrow":
        start = case.metadata["start"]
        rows = range(start, start + case.metadata["length"])
        return np.take(values[0], rows, axis=case.metadata["dim"])
    x, lo, hi = values
    return np.minimum(np.maximum(x, lo), hi)


def reference_tangent(case, tangents):
    """Return the tangent: NumPy's linear function, or for clamp the tangent of the active input."""
    if case.name != "clamp":
        return reference(case, tangents)
    x, lo, hi = case.inputs
    dx, dlo, dhi = tangents
    return (x < lo) * dlo + (x > hi) * dhi + ((lo <= x) & (x <= hi)) * dx


def reference_gradients(case, cotangent):
    """Return the gradients: inner products of the cotangent and the tangents of basis vectors."""
    dtype = np.asarray(cotangent).dtype
    gradients, tangents = ([np.zeros(np.shape(v), dtype) for v in case.inputs] for _ in "ab")
    for gradient, tangent in zip(gradients, tangents, strict=True):
        for index in np.ndindex(gradient.shape):
            tangent[index] = 1
            gradient[index] = np.sum(reference_tangent(case, tangents) * cotangent)
            tangent[index] = 0
    return gradients


def inner(first, second):
    """Return the real Frobenius inner product of two lists of arrays, in double precision."""
    total = 0.0
    for a, b in zip(map(np.asarray, first), map(np.asarray, second), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        total += np.vdot(a.astype(complex), b).real
    return total


def noise(rng, shape, dtype):
    """Return an array of random numbers; a complex dtype selects complex numbers."""
    numbers = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * rng.normal(size=shape)
    return np.asarray(numbers, dtype=dtype)


@st.composite
def shapes(draw, count):
    """Return `count` shapes that broadcast."""
    full = draw(st.lists(st.integers(0, 3), max_size=3))
    result = []
    for _ in range(count):
        part = full[draw(st.integers(0, len(full))) :]
        result.append(tuple(1 if draw(st.booleans()) else length for length in part))
    return result


@st.composite
def cases(draw, names=("where", "cat", "narrow", "clamp"), dtypes=REAL + COMPLEX):
    """Return a random call; the inputs of clamp are not near its bounds."""
    name = draw(st.sampled_from(names))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    dtype = draw(st.sampled_from([d for d in dtypes if name != "clamp" or d in REAL]))
    if name == "where":
        mask, x, y = draw(shapes(3))
        condition = rng.integers(2, size=mask).astype(bool)
        inputs = (noise(rng, x, dtype), noise(rng, y, dtype))
        return Case(name, inputs, {"condition": condition})
    if name == "clamp":
        x, lo, hi = draw(shapes(3))
        near = [rng.uniform(-0.3, 0.3, size=shape) for shape in (x, lo, hi)]
        values = (near[0] + rng.choice([-2, 0, 2], size=x), near[1] - 1, near[2] + 1)
        return Case(name, tuple(np.asarray(v, dtype=dtype) for v in values))
    shape = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    if name == "narrow":
        start = draw(st.integers(0, shape[dim]))
        length = draw(st.integers(0, shape[dim] - start))
        metadata = {"dim": dim, "start": start, "length": length}
        return Case(name, (noise(rng, shape, dtype),), metadata)
    inputs = []
    for _ in range(draw(st.integers(1, 4))):
        shape[dim] = draw(st.integers(0, 3))
        inputs.append(noise(rng, shape, dtype))
    return Case(name, tuple(inputs), {"dim": dim})
