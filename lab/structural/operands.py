"""Check the arguments of structural primitives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.errors import ArgumentError, check_integer, listing, quote
from lab.records import as_array, freeze

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
EXPECTED = "a NumPy array of numbers (for PyTensor variables, use pytensor.tensor)"
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


def read_only(a: Array) -> np.ndarray:
    """Return a read-only view of `a`, which may share memory with an input."""
    return freeze(np.asarray(a).view())


def form_of(name: str, value: np.ndarray) -> Form:
    """Return the form of an array."""
    return Form(name, value.shape, str(value.dtype))


def check_operands(
    primitive: str, names: Sequence[str], values: Sequence[object], kinds: Sequence[str]
) -> tuple[tuple[np.ndarray, ...], tuple[Form, ...]]:
    """Return the values as arrays of one dtype from `kinds`, and their forms.

    Python numbers and lists have no dtype.  They take the dtype of the other values; without
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
        raise ArgumentError(
            f"{primitive}: {listing(f'{n} is {d}' for n, d in typed.items())}; expected one dtype. "
            "Cast the arrays first."
        )
    wide = [(n, v) for n, v, a in given if _is_plain(v) and a.dtype.kind == "c"]
    default = "complex128" if wide and "complex128" in kinds else "float64"
    dtype = next(iter(typed.values()), default if default in kinds else kinds[0])
    if wide and dtype not in COMPLEX:
        name, value = wide[0]
        raise ArgumentError(
            f"{primitive}: {name} = {quote(value)} is complex, but {dtype} is expected."
        )
    checked = tuple(np.asarray(a, dtype) for a in arrays)
    return checked, tuple(form_of(n, a) for n, a in zip(names, checked, strict=True))


def _numbers(primitive: str, name: str, value: object) -> np.ndarray:
    array = as_array(f"{primitive}: {name}", value, EXPECTED)
    if array.dtype.kind == "b":
        raise ArgumentError(f"{primitive}: {name} = {quote(value)}: expected numbers.")
    return array


def _is_plain(value: object) -> bool:
    """Return whether `value` is a Python number or a list, without a dtype."""
    return not isinstance(value, np.ndarray | np.generic)


def check_mask(primitive: str, name: str, value: object) -> np.ndarray:
    """Return `value` as an array of booleans; raise ArgumentError for other dtypes."""
    condition = as_array(f"{primitive}: {name}", value, "an array of booleans")
    if condition.dtype != bool:
        raise ArgumentError(
            f"{primitive}: {name} = {quote(value)}: expected booleans, not {condition.dtype}."
        )
    return condition


def broadcast_shape(primitive: str, forms: Sequence[Form]) -> Shape:
    """Return the shape to which all forms broadcast."""
    try:
        return np.broadcast_shapes(*(form.shape for form in forms))
    except ValueError:
        raise ArgumentError(
            f"{primitive}: {listing(map(str, forms))}; expected shapes that broadcast, whose "
            "lengths along each axis are equal or 1."
        ) from None


def unbroadcast(value: np.ndarray, part: Form, full: Form) -> np.ndarray:
    """Sum `value`, in the form `full`, over the broadcast axes of `part`."""
    extra = tuple(range(full.ndim - part.ndim))
    pairs = zip(part.shape, full.shape[len(extra) :], strict=True)
    repeated = (len(extra) + n for n, (mine, all_) in enumerate(pairs) if mine == 1 != all_)
    axes = (*extra, *repeated)
    return value.sum(axis=axes, keepdims=True).squeeze(axis=extra) if axes else value


def check_axis(primitive: str, dim: object, form: Form) -> int:
    """Return `dim` as a nonnegative axis of an array of the given form."""
    number = check_integer(f"{primitive}: dim", dim)
    if form.ndim == 0:
        raise ArgumentError(
            f"{primitive}: dim = {dim}: {form.name} is a scalar; expected an array."
        )
    if not -form.ndim <= number < form.ndim:
        raise ArgumentError(
            f"{primitive}: dim = {dim}: {form.name} has {form.ndim} dimensions; expected "
            f"{-form.ndim} to {form.ndim - 1}."
        )
    return number % form.ndim


def check_form(primitive: str, name: str, value: object, like: Form) -> np.ndarray:
    """Return a tangent or cotangent as an array with the shape and dtype of `like`."""
    (array,), (form,) = check_operands(primitive, [name], [value], [like.dtype])
    if form.shape != like.shape:
        raise ArgumentError(f"{primitive}: {form}, but {like}.")
    return array
