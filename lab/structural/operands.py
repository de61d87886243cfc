"""Check the arguments of structural primitives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.errors import ArgumentError, argument_error, check_integer, listing, quote
from lab.records import as_array, freeze

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
EXPECTED = "a NumPy array of numbers (for PyTensor variables, use pytensor.tensor)"
Shape = tuple[int, ...]
Array = Any  # an array, or a recorded value of a chain


def read_only(a: Array) -> np.ndarray:
    """Return a read-only view of `a`, which may share memory with an input."""
    return freeze(np.asarray(a).view())


def check_operands(
    primitive: str, names: Sequence[str], values: Sequence[object], kinds: Sequence[str]
) -> tuple[np.ndarray, ...]:
    """Return the values as arrays of one dtype from `kinds`, or raise ArgumentError.

    Python numbers and lists have no dtype.  They receive the dtype of the other values; without
    other values, they become float64 or complex128.
    """
    arrays = [_numbers(primitive, name, v) for name, v in zip(names, values, strict=True)]
    given = list(zip(names, values, arrays, strict=True))
    typed = {name: str(a.dtype) for name, value, a in given if not _is_plain(value)}
    for name, other in typed.items():
        if other not in kinds:
            expected = listing(kinds, "or")
            raise ArgumentError(f"{primitive}: {name} has dtype {other}; expected {expected}.")
    if len({*typed.values()}) > 1:
        dtypes = listing(f"{n} is {d}" for n, d in typed.items())
        raise ArgumentError(f"{primitive}: {dtypes}; expected one dtype. Cast the arrays first.")
    wide = [(n, v) for n, v, a in given if _is_plain(v) and a.dtype.kind == "c"]
    default = "complex128" if wide and "complex128" in kinds else "float64"
    dtype = next(iter(typed.values()), default if default in kinds else kinds[0])
    if wide and dtype not in COMPLEX:
        name, value = wide[0]
        raise ArgumentError(f"{primitive}: {name} = {quote(value)} is complex; expected {dtype}.")
    return tuple(np.asarray(a, dtype) for a in arrays)


def _numbers(primitive: str, name: str, value: object) -> np.ndarray:
    array = as_array(f"{primitive}: {name}", value, EXPECTED)
    if array.dtype.kind == "b":
        raise ArgumentError(f"{primitive}: {name} = {quote(value)}: expected numbers.")
    return array


def _is_plain(value: object) -> bool:
    """Return whether `value` is a Python number or a list, without a dtype."""
    return not isinstance(value, np.ndarray | np.generic)


def check_broadcasting(primitive: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise ArgumentError unless all named arrays broadcast to one shape."""
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = listing(f"{name} has shape {array.shape}" for name, array in arrays.items())
        raise ArgumentError(
            f"{primitive}: {shapes}; expected shapes that broadcast, whose lengths along each "
            "axis are equal or 1."
        ) from None


def unbroadcast(value: np.ndarray, shape: Shape) -> np.ndarray:
    """Sum `value` over the axes along which an array of the given shape was broadcast."""
    extra = tuple(range(value.ndim - len(shape)))
    pairs = enumerate(zip(shape, value.shape[len(extra) :], strict=True), len(extra))
    axes = (*extra, *(axis for axis, (part, full) in pairs if part == 1 != full))
    return value.sum(axis=axes, keepdims=True).squeeze(axis=extra) if axes else value


def check_axis(primitive: str, dim: object, name: str, ndim: int) -> int:
    """Return `dim` as a nonnegative axis of an array with `ndim` axes, or raise ArgumentError."""
    number = check_integer(f"{primitive}: dim", dim)
    if ndim == 0:
        raise ArgumentError(f"{primitive}: dim = {dim}: {name} is a scalar; expected an array.")
    if not -ndim <= number < ndim:
        reason = f"{name} has {ndim} dimensions; expected {-ndim} to {ndim - 1}."
        raise argument_error(f"{primitive}: dim", dim, reason)
    return number % ndim
