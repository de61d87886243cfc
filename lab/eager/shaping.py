"""Define functions that reduce, copy, reshape, and index arrays, with their gradients.

`broadcast_to` and `unbroadcast` are transposes of each other, and so are `take` and `untake`.  The
gradients of products need `swapaxes` and `transpose`.  If several entries equal a maximum or
minimum, its derivative does not exist.  By convention, these entries divide the gradient equally.
"""

import operator
from collections.abc import Sequence

import numpy

from lab.eager.tape import Function, Gradients, Setter, Value, primitive, register, value_of

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None  # None selects all axes


def shape_of(x: object) -> Shape:
    """Return the shape of the value of `x`."""
    value = value_of(x)
    if type(value) is float:  # ten times faster than numpy.shape
        return ()
    return value.shape if hasattr(value, "shape") else numpy.shape(value)


def unbroadcast(g: Value, shape: Shape) -> Value:
    """Return the sum of the gradient `g` over the broadcast axes of an operand with `shape`."""
    if shape_of(g) == shape:
        return g
    extra = len(shape_of(g)) - len(shape)
    stretched = tuple(
        axis
        for axis, length in enumerate(shape_of(g))
        if axis < extra or (shape[axis - extra] == 1 and length != 1)
    )
    return reshape(sum(g, stretched), shape) if stretched else reshape(g, shape)


def kept_shape(shape: Shape, axis: Axis) -> Shape:
    """Return `shape` with length 1 along `axis`."""
    if axis is None:
        return (1,) * len(shape)
    reduced = {a % len(shape) for a in (axis if isinstance(axis, Sequence) else (axis,))}
    return tuple(1 if a in reduced else length for a, length in enumerate(shape))


def sum_gradient(y: Value, a: Value, axis: Axis = None, *, keepdims: object = False) -> Gradients:
    """Return the gradient function of a sum: it broadcasts g to the shape of a."""
    shape = shape_of(a)
    if axis is None:
        return [lambda g: broadcast_to(g, shape)]
    return [lambda g: broadcast_to(reshape(g, kept_shape(shape, axis)), shape)]


def _mean_gradient(y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False) -> Gradients:
    """Return the gradient function of a mean, a sum divided by the number of its terms."""
    (of_sum,) = sum_gradient(y, a, axis, keepdims=keepdims)
    assert of_sum is not None, "a sum has a gradient"
    count = numpy.size(value_of(a)) / max(1, numpy.size(value_of(y)))
    return [lambda g: of_sum(g) / count]


def _extreme_gradient(
    y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False
) -> Gradients:
    """Return the gradient function of an extreme: g, divided equally among the extreme entries."""
    kept = kept_shape(shape_of(a), axis)
    extreme = value_of(a) == numpy.reshape(value_of(y), kept)
    shares = extreme / numpy.sum(extreme, axis=axis, keepdims=True)
    return [lambda g: reshape(g, kept) * shares]


reshape: Function = register(numpy.reshape, lambda y, a, shape: [lambda g: reshape(g, shape_of(a))])
ravel = register(numpy.ravel, lambda y, a: [lambda g: reshape(g, shape_of(a))])
broadcast_to = register(
    numpy.broadcast_to, lambda y, a, shape: [lambda g: unbroadcast(g, shape_of(a))]
)
sum = register(numpy.sum, sum_gradient)
mean = register(numpy.mean, _mean_gradient)
for _theirs in (numpy.max, numpy.min, numpy.amax, numpy.amin):
    register(_theirs, _extreme_gradient)
transpose: Function = register(numpy.transpose, lambda y, a: [transpose])
swapaxes: Function = register(
    numpy.swapaxes, lambda y, a, axis1, axis2: [lambda g: swapaxes(g, axis1, axis2)]
)


#: The entries ``a[index]``; their gradient is a `Setter`, which is zero outside of these entries.
take: Function = primitive(
    operator.getitem, lambda y, a, index: [lambda g: untake(g, index)], "take"
)

#: A gradient that is `x` at `index` and zero elsewhere, stored without the zeros.
untake: Function = primitive(
    lambda x, index: Setter(index, x), lambda y, x, index: [lambda g: take(g, index)], "untake"
)
