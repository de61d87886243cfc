"""The few array operations that routing needs: on numpy arrays, and on PyTensor variables.

Both backends have the same methods, so that every rule is written once.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.raise_op import Assert

# A numpy array, or a PyTensor variable; PyTensor has no types that a checker could read.
Array = Any

# Blocks of this many elements stay in the processor's cache between three passes over them.
BLOCK = 1 << 15


class Backend(Protocol):
    """What `Eager` and `Symbolic` have in common."""

    def overlay(self, base: Array, *layers: tuple[Array, Array]) -> Array:
        """`base`, and over it, in turn, each layer's value where its mask is true."""

    def route(self, value: Array, *masks: Array) -> tuple[Array, ...]:
        """For each mask, `value` where it is true, zero elsewhere (also where `value` is nan)."""

    def clip(self, x: Array, lo: Array, hi: Array) -> Array:
        """The nearest number between lo and hi."""

    def regions(self, x: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """Whether x < lo, whether x > hi, and whether x is one of the two."""

    def join(self, inputs: Sequence[Array], axis: int) -> Array:
        """The inputs one behind the other."""

    def part(self, a: Array, axis: int, start: Any, length: Any, known: bool) -> Array:
        """`length` entries from `start`; `known` tells that there are as many."""

    def scatter(self, value: Array, like: Array, axis: int, start: Any, length: Any) -> Array:
        """Zeros in the shape of `like`, and `value` in the place of that part."""

    def total(self, value: Array, shape: Sequence[int | None], axes: tuple[int, ...]) -> Array:
        """The sum over `axes`, in `shape`."""

    def size(self, a: Array, axis: int) -> Any:
        """How many entries there are along an axis."""

    def zeros_like(self, a: Array) -> Array:
        """Zeros."""

    def sealed(self, a: Array) -> Array:
        """`a`, such that nobody writes into it by mistake."""


class Eager:
    """On numpy arrays, at once."""

    def overlay(self, base: Array, *layers: tuple[Array, Array]) -> Array:
        """`base`, and over it, in turn, each layer's value where its mask is true.

        ``numpy.where`` decides element by element, which takes three times as long on a mixed
        mask as the same choice made with the bits of the numbers.
        """
        arrays = [base, *(array for layer in layers for array in layer)]
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        flat = _flattened(shape, *arrays)
        if flat is None or base.dtype.kind == "c" or np.prod(shape) < BLOCK:
            for mask, value in layers:
                base = np.where(mask, value, base)
            return base
        result = np.empty(shape, base.dtype)
        into = result.reshape(-1)
        for block, (held, *rest) in _blocks(into.size, flat):
            for mask, value in zip(rest[::2], rest[1::2], strict=True):
                count = np.count_nonzero(mask)
                if count in (0, mask.size):  # masks often come in long runs
                    held = value if count else held
                else:
                    held = _choose(mask, value, held)
            into[block] = held
        return result

    def route(self, value: Array, *masks: Array) -> tuple[Array, ...]:
        """For each mask, `value` where it is true, zero elsewhere (also where `value` is nan)."""
        flat = _flattened(value.shape, value, *masks)
        if flat is None or value.dtype.kind == "c" or value.size < BLOCK:
            zero = np.zeros((), value.dtype)
            return tuple(np.where(mask, value, zero) for mask in masks)
        results = tuple(np.zeros(value.shape, value.dtype) for _ in masks)
        into = [result.reshape(-1) for result in results]
        for block, (values, *chosen) in _blocks(value.size, flat):
            for target, mask in zip(into, chosen, strict=True):
                count = np.count_nonzero(mask)
                if count == mask.size:
                    target[block] = values
                elif count:
                    _keep(mask, values, target[block])
        return results

    def clip(self, x: Array, lo: Array, hi: Array) -> Array:
        """The nearest number between lo and hi."""
        return np.asarray(np.clip(x, lo, hi))

    def regions(self, x: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """Whether x < lo, whether x > hi, and whether x is one of the two."""
        shape = np.broadcast_shapes(x.shape, lo.shape, hi.shape)
        flat = _flattened(shape, x, lo, hi)
        if flat is None:
            return x < lo, x > hi, (x == lo) | (x == hi)
        below, above, surface = (np.empty(shape, dtype=bool) for _ in range(3))
        targets = [region.reshape(-1) for region in (below, above, surface)]
        for block, (value, low, high) in _blocks(below.size, flat):
            first, second, third = (target[block] for target in targets)
            np.less(value, low, out=first)
            np.greater(value, high, out=second)
            np.equal(value, low, out=third)
            third |= value == high
        return below, above, surface

    def join(self, inputs: Sequence[Array], axis: int) -> Array:
        """The inputs one behind the other."""
        return np.concatenate(inputs, axis=axis)

    def part(self, a: Array, axis: int, start: Any, length: Any, known: bool) -> Array:
        """`length` entries from `start`: a view."""
        return a[_place(axis, start, length)]

    def scatter(self, value: Array, like: Array, axis: int, start: Any, length: Any) -> Array:
        """Zeros in the shape of `like`, and `value` in the place of that part."""
        result = np.zeros(like.shape, value.dtype)
        result[_place(axis, start, length)] = value
        return result

    def total(self, value: Array, shape: Sequence[int | None], axes: tuple[int, ...]) -> Array:
        """The sum over `axes`, in `shape`."""
        return np.asarray(value.sum(axis=axes)).reshape(tuple(shape)) if axes else value

    def size(self, a: Array, axis: int) -> Any:
        """How many entries there are along an axis."""
        return a.shape[axis]

    def zeros_like(self, a: Array) -> Array:
        """Zeros, which take no memory."""
        return np.broadcast_to(np.zeros((), a.dtype), a.shape)

    def sealed(self, a: Array) -> Array:
        """A view of `a` that cannot be written; some results share memory with an input."""
        view = np.asarray(a).view()
        view.flags.writeable = False
        return view


class Symbolic:
    """On PyTensor variables: every method adds to the graph."""

    def overlay(self, base: Array, *layers: tuple[Array, Array]) -> Array:
        """`base`, and over it, in turn, each layer's value where its mask is true."""
        for mask, value in layers:
            base = pt.switch(mask, value, base)
        return base

    def route(self, value: Array, *masks: Array) -> tuple[Array, ...]:
        """For each mask, `value` where it is true, zero elsewhere."""
        value = pt.as_tensor_variable(value)
        zero = np.zeros((), value.type.dtype)
        return tuple(pt.switch(mask, value, zero) for mask in masks)

    def clip(self, x: Array, lo: Array, hi: Array) -> Array:
        """The nearest number between lo and hi."""
        return pt.clip(x, lo, hi)

    def regions(self, x: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """Whether x < lo, whether x > hi, and whether x is one of the two."""
        return x < lo, x > hi, pt.eq(x, lo) | pt.eq(x, hi)

    def join(self, inputs: Sequence[Array], axis: int) -> Array:
        """The inputs one behind the other."""
        return pt.concatenate(inputs, axis=axis)

    def part(self, a: Array, axis: int, start: Any, length: Any, known: bool) -> Array:
        """`length` entries from `start`; the graph refuses to run if there are fewer."""
        a = pt.as_tensor_variable(a)
        found = a[_place(axis, start, length)]
        return found if known else pt.specify_shape(found, _along(a.type.ndim, axis, length))

    def scatter(self, value: Array, like: Array, axis: int, start: Any, length: Any) -> Array:
        """Zeros in the shape of `like`, and `value` in the place of that part."""
        value = pt.as_tensor_variable(value)
        zeros = pt.zeros_like(like, dtype=value.type.dtype)
        return pt.set_subtensor(zeros[_place(axis, start, length)], value)

    def total(self, value: Array, shape: Sequence[int | None], axes: tuple[int, ...]) -> Array:
        """The sum over `axes`, in `shape`."""
        if not axes:
            return value
        summed = value.sum(axis=axes, keepdims=True)
        extra = range(value.type.ndim - len(shape))
        return summed.squeeze(axis=tuple(extra)) if extra else summed

    def size(self, a: Array, axis: int) -> Any:
        """How many entries there are along an axis: a number where it is known."""
        known = a.type.shape[axis]
        return a.shape[axis] if known is None else known

    def zeros_like(self, a: Array) -> Array:
        """Zeros."""
        return pt.zeros_like(a)

    def sealed(self, a: Array) -> Array:
        """`a`; a variable cannot be written."""
        return a

    def whole(self, number: Any) -> Array:
        """A whole number, with a sign and 64 bits."""
        return pt.cast(pt.as_tensor_variable(number), "int64")

    def all(self, a: Array) -> Array:
        """Whether all entries are true."""
        return pt.all(a)

    def ensure(self, value: Array, condition: Array, message: str) -> Array:
        """`value`, in a graph that refuses to run where the condition fails."""
        return Assert(message)(value, condition)


EAGER, SYMBOLIC = Eager(), Symbolic()


def backend_of(*values: Any) -> Eager | Symbolic:
    """Symbolic if one of the values is a PyTensor variable."""
    return SYMBOLIC if any(isinstance(value, Variable) for value in values) else EAGER


def _place(axis: int, start: Any, length: Any) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, start + length))


def _along(ndim: int, axis: int, length: Any) -> list[Any]:
    return [length if number == axis else None for number in range(ndim)]


def _bits(a: np.ndarray) -> np.ndarray:
    return a.view(f"i{a.dtype.itemsize}")


def _choose(mask: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``y ^ ((x ^ y) & ones)``, where -True has all bits set: exact for nan and infinities."""
    chosen = (_bits(x) ^ _bits(y)) & -mask.view(np.int8)
    return (chosen ^ _bits(y)).view(x.dtype)


def _keep(mask: np.ndarray, x: np.ndarray, into: np.ndarray) -> None:
    """``x & ones``."""
    np.bitwise_and(_bits(x), -mask.view(np.int8), out=_bits(into))


def _flattened(shape: tuple[int, ...], *arrays: np.ndarray) -> list[np.ndarray] | None:
    """The arrays as rows of numbers without copying, if each has that shape or is one number."""
    if all(a.size == 1 or (a.shape == shape and a.flags.c_contiguous) for a in arrays):
        return [a.reshape(-1) for a in arrays]
    return None


def _blocks(size: int, flat: Sequence[np.ndarray]) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Slices of so many elements that the cache can hold, and the parts of `flat` there."""
    for start in range(0, size, BLOCK):
        block = slice(start, start + BLOCK)
        yield block, [a if a.size == 1 else a[block] for a in flat]
