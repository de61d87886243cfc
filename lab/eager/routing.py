"""Operations that only route entries: where, clip and concatenate, and those made of them.

Their gradients are routed the same way back, by what `lab.structural` routes with: `kept` and
`part` take nodes as they take arrays, since numpy's functions do.  Conditions and axes are
metadata and never differentiated.  The primitives of `lab.structural` themselves are not called:
their checks (one dtype, the exact form of every cotangent, PyTensor's variables) take two to three
times as long as all else.  A test holds both beside each other.
"""

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import DTypeLike

from lab.eager.rules import REGISTERED, composed, holds_node
from lab.eager.shaping import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    ravel,
    shape_of,
    transpose,
    unbroadcast,
)
from lab.eager.tape import Function, Gradients, Node, Value, primitive, value_of
from lab.errors import ArgumentError, GradientError, quoted
from lab.structural.arrays import kept, part


def _where_gradient(z: Value, condition: numpy.ndarray, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g where the condition holds, dy = g elsewhere."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(kept(condition, g), x_shape),
        lambda g: unbroadcast(kept(~condition, g), y_shape),
    ]


#: `where` for a condition that is an array of truth values.
select = primitive(numpy.where, _where_gradient)


def _clip_gradient(z: Value, x: Value, lo: Value, hi: Value) -> Gradients:
    """The gradients: dlo = g where x < lo, dhi = g where x > hi, dx = g elsewhere.

    On a bound itself there is no derivative; the gradient goes to x.
    """
    shapes = shape_of(x), shape_of(lo), shape_of(hi)
    below, above = numpy.less(value_of(x), value_of(lo)), numpy.greater(value_of(x), value_of(hi))
    return [
        lambda g: unbroadcast(kept(~(below | above), g), shapes[0]),
        lambda g: unbroadcast(kept(below, g), shapes[1]),
        lambda g: unbroadcast(kept(above, g), shapes[2]),
    ]


_clip = primitive(numpy.clip, _clip_gradient)


def _concatenate_gradient(y: Value, axis: int, *arrays: object) -> Gradients:
    """The gradients: of each array, its own part of g."""
    axis %= len(shape_of(y))
    lengths = [shape_of(array)[axis] for array in arrays]
    starts = numpy.cumsum([0, *lengths[:-1]]).tolist()
    places = zip(starts, lengths, strict=True)
    return [None, *(lambda g, s=s, n=n: part(g, axis, s, n) for s, n in places)]


_concatenated = primitive(
    lambda axis, *arrays: numpy.concatenate(arrays, axis), _concatenate_gradient, "concatenate"
)


def where(
    condition: object, x: object = None, y: object = None
) -> Value | tuple[numpy.ndarray, ...]:
    """`x` where the condition holds, `y` elsewhere, broadcast; the places alone without them."""
    if x is None or y is None:
        return numpy.where(value_of(condition))
    return select(numpy.asarray(value_of(condition), bool), x, y)


def clip(
    x: object, lo: object = None, hi: object = None, a_min: object = None, a_max: object = None
) -> Value:
    """`x`, but at least `lo` and at most `hi`, which numpy calls a_min and a_max; None is no bound.

    Raises ArgumentError if lo > hi, which leaves nothing between them.
    """
    lo, hi = (a_min if lo is None else lo), (a_max if hi is None else hi)
    lo = -numpy.inf if lo is None else lo
    hi = numpy.inf if hi is None else hi
    if numpy.any(value_of(lo) > value_of(hi)):
        raise ArgumentError(f"lo = {value_of(lo)}, hi = {value_of(hi)}: lo may not exceed hi.")
    return _clip(x, lo, hi)


@composed(numpy.select)
def choose(condlist: Sequence[object], choicelist: Sequence[object], default: object = 0) -> Value:
    """Of every entry the choice whose condition is the first to hold, `default` if none does."""
    chosen: Value = array(default)
    for condition, entries in [*zip(condlist, choicelist, strict=True)][::-1]:
        chosen = select(numpy.asarray(value_of(condition), bool), entries, chosen)
    return chosen


@composed(numpy.concatenate)
def concatenate(arrays: Sequence[object], axis: int | None = 0) -> Value:
    """The arrays one after the other along `axis`; all their entries in a row for None."""
    if axis is None:
        return _concatenated(0, *map(ravel, arrays))
    return _concatenated(axis, *arrays)


@composed(numpy.stack)
def stack(arrays: Sequence[object], axis: int = 0) -> Value:
    """Arrays of one shape, side by side along a new axis."""
    return _concatenated(axis, *(expand_dims(array, axis) for array in arrays))


@composed(numpy.vstack)
def vstack(arrays: Sequence[object]) -> Value:
    """The arrays, each at least a row, one below the other."""
    return _concatenated(0, *map(atleast_2d, arrays))


@composed(numpy.hstack)
def hstack(arrays: Sequence[object]) -> Value:
    """The arrays side by side: numbers and rows in one row."""
    rows = [*map(atleast_1d, arrays)]
    return _concatenated(0 if len(shape_of(rows[0])) == 1 else 1, *rows)


@composed(numpy.dstack)
def dstack(arrays: Sequence[object]) -> Value:
    """The arrays one behind the other along the third axis."""
    return _concatenated(2, *map(atleast_3d, arrays))


@composed(numpy.column_stack)
def column_stack(arrays: Sequence[object]) -> Value:
    """The arrays side by side: numbers and rows as columns."""
    flat = (atleast_2d(a) if len(shape_of(a)) < 2 else transpose(a) for a in arrays)
    return transpose(_concatenated(0, *flat))


@composed(numpy.append)
def append(arr: object, values: object, axis: int | None = None) -> Value:
    """`values` after `arr`, along `axis`; all entries in a row for None."""
    return concatenate([array(arr), array(values)], axis)


def array(entries: object, dtype: DTypeLike | None = None) -> Value:
    """An array of numbers, nodes, or lists of them.

    Raises GradientError if nodes would have to be cast to another dtype.
    """
    if isinstance(entries, Node):
        nodes: Value = entries
    elif isinstance(entries, list | tuple) and holds_node(entries):
        nodes = stack([array(entry) for entry in entries])
    else:
        return numpy.array(value_of(entries), dtype)
    if dtype is not None and value_of(nodes).dtype != dtype:
        raise GradientError(f"dtype = {dtype}: nodes keep theirs, {value_of(nodes).dtype}.")
    return nodes


class Joined:
    """What ``np.r_[a, 2.0, b]`` and ``np.c_[a, b]`` are made by: `join`, of all that is listed."""

    def __init__(self, theirs: Any, join: Function) -> None:
        self.theirs, self.join = theirs, join

    def __getitem__(self, parts: object) -> Value:
        listed = parts if isinstance(parts, tuple) else (parts,)
        if not holds_node(listed):
            return self.theirs[parts]
        if isinstance(listed[0], str):
            raise GradientError(f"{quoted(listed[0])}: with nodes, only arrays can be joined.")
        return self.join([numpy.r_[p] if isinstance(p, slice) else array(p) for p in listed])


REGISTERED.update({numpy.where: where, numpy.clip: clip, numpy.array: array})
REGISTERED[numpy.r_] = Joined(numpy.r_, lambda parts: concatenate([*map(atleast_1d, parts)]))
REGISTERED[numpy.c_] = Joined(numpy.c_, column_stack)
