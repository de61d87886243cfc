"""What the structural primitives accept, and what they say when they do not.

Shapes are checked as far as they are known: always for arrays, and for PyTensor variables as
far as their types tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index as whole
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable

from lab.errors import ArgumentError, listing
from lab.structural.backends import SYMBOLIC, Array, Backend, backend_of

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class Form:
    """The name, shape and dtype of an array; lengths that are not known are None."""

    name: str
    shape: Shape
    dtype: str

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.name} has shape {written(self.shape)}"


@dataclass(frozen=True, eq=False)
class Call:
    """The checked arguments of a primitive: arrays or variables of one dtype, and metadata."""

    primitive: str
    values: tuple[Array, ...]
    forms: tuple[Form, ...]
    output: Form
    metadata: Mapping[str, Any]
    backend: Backend


def written(shape: Shape) -> str:
    """A shape as numpy writes it, with ? for lengths that are not known."""
    lengths = ["?" if length is None else str(length) for length in shape]
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"


def quoted(value: Any) -> str:
    """`value` in an error message: in full if it is short."""
    if isinstance(value, Variable):
        return f"{value} ({value.type})"
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"{value.dtype} array of shape {written(value.shape)}"
    text = np.array2string(value) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def form(name: str, value: Array) -> Form:
    """The form of an array or a variable."""
    if isinstance(value, Variable):
        return Form(name, tuple(value.type.shape), value.type.dtype)
    return Form(name, value.shape, str(value.dtype))


def operands(
    primitive: str,
    names: Sequence[str],
    values: Sequence[Any],
    kinds: Sequence[str],
    metadata: Sequence[Any] = (),
) -> tuple[tuple[Array, ...], tuple[Form, ...], Backend]:
    """The values as arrays, or as variables if one of them is one, all of one dtype.

    Python numbers, and lists of them, have no dtype and take that of the others (float64 or
    complex128 among themselves).
    """
    backend = backend_of(*values, *metadata)
    arrays = [_array(primitive, name, v) for name, v in zip(names, values, strict=True)]
    dtype = _common_dtype(primitive, names, values, arrays, kinds)
    found = tuple(a if isinstance(a, Variable) else np.asarray(a, dtype) for a in arrays)
    if backend is SYMBOLIC:
        found = tuple(pt.as_tensor_variable(a) for a in found)
    return found, tuple(form(n, a) for n, a in zip(names, found, strict=True)), backend


def _array(primitive: str, name: str, value: Any) -> Array:
    if isinstance(value, Variable):
        if not hasattr(value.type, "shape") or not hasattr(value.type, "dtype"):
            raise ArgumentError(f"{primitive}: {name} = {quoted(value)}: expected a tensor.")
        return value
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{primitive}: {name} = {quoted(value)}: its rows differ.") from error
    if array.dtype.kind not in "iufc" or isinstance(value, bool):
        raise ArgumentError(f"{primitive}: {name} = {quoted(value)}: expected numbers.")
    return array


def _common_dtype(
    primitive: str,
    names: Sequence[str],
    values: Sequence[Any],
    arrays: Sequence[Array],
    kinds: Sequence[str],
) -> str:
    """The dtype of the arrays among the values; numbers and lists have none of their own."""
    named = list(zip(names, values, arrays, strict=True))
    typed = {n: form(n, a).dtype for n, v, a in named if not _is_plain(v)}
    plain = {n: a.dtype.kind for n, v, a in named if _is_plain(v)}
    default = "complex128" if "c" in plain.values() and "complex128" in kinds else "float64"
    dtype = next(iter(typed.values()), default)
    for name, other in typed.items():
        if other not in kinds:
            raise ArgumentError(f"{primitive}: {name} is {other}; expected {listing(kinds)}.")
        if other != dtype:
            raise ArgumentError(
                f"{primitive}: {listing(f'{n} is {d}' for n, d in typed.items())}; all must have "
                "one dtype, so cast them first."
            )
    for name, kind in plain.items():
        if kind == "c" and dtype not in COMPLEX:
            value = dict(zip(names, values, strict=True))[name]
            raise ArgumentError(
                f"{primitive}: {name} = {quoted(value)} is complex, but {dtype} is expected."
            )
    return dtype


def _is_plain(value: Any) -> bool:
    """Whether `value` is a Python number or a list, which has no dtype."""
    return not isinstance(value, np.ndarray | np.generic | Variable)


def mask(primitive: str, name: str, value: Any) -> Array:
    """`value` as an array, or a variable, of booleans."""
    found = value if isinstance(value, Variable) else np.asarray(value)
    dtype = str(found.type.dtype if isinstance(found, Variable) else found.dtype)
    if dtype != "bool":
        raise ArgumentError(
            f"{primitive}: {name} = {quoted(value)}: expected booleans, not {dtype}."
        )
    return found


def broadcast(primitive: str, forms: Sequence[Form]) -> Shape:
    """The shape that the forms have together, by numpy's rule."""
    ndim = max(f.ndim for f in forms)
    shape: list[int | None] = []
    for axis in range(-ndim, 0):
        lengths = [f.shape[axis] for f in forms if f.ndim >= -axis]
        long = list(dict.fromkeys(n for n in lengths if n is not None and n != 1))
        if len(long) > 1:
            raise ArgumentError(
                f"{primitive}: {listing(map(str, forms))}; they do not broadcast: axis {axis} is "
                f"{listing(long)} long, but lengths must be the same or 1."
            )
        shape.append(long[0] if long else None if None in lengths else 1)
    return tuple(shape)


def summed_axes(part: Form, output: Form) -> tuple[int, ...]:
    """The axes of the output along which `part` was repeated."""
    extra = output.ndim - part.ndim
    repeated = (
        extra + axis
        for axis, (ours, all_) in enumerate(zip(part.shape, output.shape[extra:], strict=True))
        if ours == 1 and all_ != 1
    )
    return (*range(extra), *repeated)


def axis_of(primitive: str, dim: Any, ndim: int, what: str) -> int:
    """`dim` as an axis that counts from the front."""
    number = whole_number(primitive, "dim", dim)
    if ndim == 0:
        raise ArgumentError(f"{primitive}: dim = {dim}: {what} is a number without dimensions.")
    if not -ndim <= number < ndim:
        raise ArgumentError(
            f"{primitive}: dim = {dim}: {what} has {ndim} dimensions; expected {-ndim} to "
            f"{ndim - 1}."
        )
    return number % ndim


def whole_number(primitive: str, name: str, value: Any) -> int:
    """`value` as an int."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{primitive}: {name} = {quoted(value)}: expected a whole number.")
    try:
        return whole(value)
    except TypeError:
        raise ArgumentError(
            f"{primitive}: {name} = {quoted(value)}: expected a whole number."
        ) from None


def count(primitive: str, name: str, value: Any) -> Any:
    """`value` as an int, or as a variable that holds one."""
    if isinstance(value, Constant):
        value = value.data
    if not isinstance(value, Variable):
        return whole_number(primitive, name, value)
    if value.type.ndim or value.type.dtype[0] not in "iu":
        raise ArgumentError(f"{primitive}: {name} = {quoted(value)}: expected a whole number.")
    return value


def fitting(primitive: str, name: str, value: Any, like: Form) -> Array:
    """`value`, a tangent or a cotangent, which must have the form of `like`."""
    plain = _is_plain(value)
    found = _array(primitive, name, value)
    if plain and not (found.dtype.kind == "c" and like.dtype not in COMPLEX):
        found = np.asarray(found, like.dtype)
    found_form = form(name, found)
    if found_form.dtype != like.dtype:
        raise ArgumentError(
            f"{primitive}: {name} is {found_form.dtype}, but {like.name} is {like.dtype}."
        )
    pairs = zip(found_form.shape, like.shape, strict=False)
    if found_form.ndim != like.ndim or any(a != b and None not in (a, b) for a, b in pairs):
        raise ArgumentError(f"{primitive}: {found_form}, but {like}.")
    return found
