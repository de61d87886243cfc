"""Checks of the arguments of structural primitives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from lab import errors
from lab.errors import ArgumentError, check_integer, listing
from lab.records import check_unmasked

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
Shape = tuple[int, ...]
Array = Any  # an array, or a recorded value of a chain


@dataclass(frozen=True)
class Form:
    """The name, shape, and dtype of an array."""

    name: str
    shape: Shape
    dtype: str

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.name} has shape {self.shape}"


def sealed(a: Array) -> np.ndarray:
    """Return a read-only view of `a`: some results share memory with an input."""
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view


def quoted(value: object) -> str:
    """Quote `value` in an error message; a long array is quoted by its shape."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"{value.dtype} array of shape {value.shape}"
    return errors.quote(value)


def refused(primitive: str, name: str, value: object, why: str) -> ArgumentError:
    """Return an error that quotes an argument."""
    return ArgumentError(f"{primitive}: {name} = {quoted(value)}: {why}.")


def form(name: str, value: np.ndarray) -> Form:
    """Return the form of an array."""
    return Form(name, value.shape, str(value.dtype))


def operands(
    primitive: str, names: Sequence[str], values: Sequence[object], kinds: Sequence[str]
) -> tuple[tuple[np.ndarray, ...], tuple[Form, ...]]:
    """Return the values as arrays of one dtype.

    Python numbers, and lists of them, have no dtype and take that of the others (float64 or
    complex128 among themselves).
    """
    arrays = [_array(primitive, name, v) for name, v in zip(names, values, strict=True)]
    given = list(zip(names, values, arrays, strict=True))
    typed = {name: str(a.dtype) for name, value, a in given if not _is_plain(value)}
    for name, other in typed.items():
        if other not in kinds:
            expected = listing(kinds, "or")
            raise ArgumentError(f"{primitive}: {name} has dtype {other}; expected {expected}.")
    if len({*typed.values()}) > 1:
        raise ArgumentError(
            f"{primitive}: {listing(f'{n} is {d}' for n, d in typed.items())}; all must have "
            "one dtype, so cast them first."
        )
    wide = [(n, v) for n, v, a in given if _is_plain(v) and a.dtype.kind == "c"]
    default = "complex128" if wide and "complex128" in kinds else "float64"
    dtype = next(iter(typed.values()), default if default in kinds else kinds[0])
    if wide and dtype not in COMPLEX:
        name, value = wide[0]
        raise ArgumentError(
            f"{primitive}: {name} = {quoted(value)} is complex, but {dtype} is expected."
        )
    checked = tuple(np.asarray(a, dtype) for a in arrays)
    return checked, tuple(form(n, a) for n, a in zip(names, checked, strict=True))


def _array(primitive: str, name: str, value: object) -> np.ndarray:
    check_unmasked(f"{primitive}: {name}", value)
    array = _as_array(primitive, name, value)
    if array.dtype.kind not in "iufc" or isinstance(value, bool):
        raise refused(primitive, name, value, "expected numbers")
    return array


def _as_array(primitive: str, name: str, value: object) -> np.ndarray:
    if isinstance(value, Variable):
        raise refused(
            primitive,
            name,
            value,
            "expected a NumPy array. For PyTensor variables, use pytensor.tensor",
        )
    try:
        return np.asarray(value)
    except Exception as error:  # too little memory, or an error of the object
        is_ragged = isinstance(error, ValueError)
        why = "its rows differ" if is_ragged else "expected numbers"
        raise refused(primitive, name, value, why) from error


def _is_plain(value: object) -> bool:
    """Return whether `value` is a Python number or a list, without a dtype."""
    return not isinstance(value, np.ndarray | np.generic)


def mask(primitive: str, name: str, value: object) -> np.ndarray:
    """Return `value` as an array of booleans."""
    condition = _as_array(primitive, name, value)
    if condition.dtype != bool:
        raise refused(primitive, name, value, f"expected booleans, not {condition.dtype}")
    return condition


def broadcast(primitive: str, forms: Sequence[Form]) -> Shape:
    """Return the broadcast shape of the forms."""
    shape: list[int] = []
    for axis in range(-max(f.ndim for f in forms), 0):
        lengths = [f.shape[axis] for f in forms if f.ndim >= -axis]
        long = list(dict.fromkeys(n for n in lengths if n != 1))
        if len(long) > 1:
            raise ArgumentError(
                f"{primitive}: {listing(map(str, forms))}; they do not broadcast: axis {axis} is "
                f"{listing(long)} long, but lengths must be the same or 1."
            )
        shape.append(long[0] if long else 1)
    return tuple(shape)


def unbroadcast(value: np.ndarray, part: Form, full: Form) -> np.ndarray:
    """Sum `value`, in the form `full`, over the broadcast axes of `part`."""
    extra = tuple(range(full.ndim - part.ndim))
    pairs = zip(part.shape, full.shape[len(extra) :], strict=True)
    repeated = (len(extra) + n for n, (mine, all_) in enumerate(pairs) if mine == 1 != all_)
    axes = (*extra, *repeated)
    return value.sum(axis=axes, keepdims=True).squeeze(axis=extra) if axes else value


def axis_of(primitive: str, dim: object, ndim: int, what: str) -> int:
    """Return `dim` as a nonnegative axis."""
    number = check_integer(f"{primitive}: dim", dim)
    if ndim == 0:
        raise ArgumentError(f"{primitive}: dim = {dim}: {what} is a scalar; expected an array.")
    if not -ndim <= number < ndim:
        raise ArgumentError(
            f"{primitive}: dim = {dim}: {what} has {ndim} dimensions; expected {-ndim} to "
            f"{ndim - 1}."
        )
    return number % ndim


def fitting(primitive: str, name: str, value: object, like: Form) -> np.ndarray:
    """Return a tangent or cotangent as an array, which must have the form of `like`."""
    (array,), (its,) = operands(primitive, [name], [value], [like.dtype])
    if its.shape != like.shape:
        raise ArgumentError(f"{primitive}: {its}, but {like}.")
    return array
