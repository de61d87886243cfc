"""Functions that move entries to other places, which their gradients take back from there.

For nearly all of them it is enough to ask numpy where the entries go (`_moving`).
"""

import numpy

from lab.eager.routing import select
from lab.eager.rules import composed, rule
from lab.eager.shaping import ravel, reshape, shape_of, sum, swapaxes, take
from lab.eager.tape import Function, Gradients, Operand, Plain, Value, value_of
from lab.errors import one_of


def _moving(theirs: Plain) -> Function:
    """A function of numpy that moves entries, repeats them, leaves some out, puts zeros between.

    It is asked where they go by an array of their numbers, from 1, so that 0 stands for zero.
    """

    @composed(theirs)
    def moved(a: object, *args: object, **kwargs: object) -> Value | list[Value]:
        numbers = numpy.arange(1, numpy.size(value_of(a)) + 1).reshape(shape_of(a))
        places = theirs(numbers, *args, **kwargs)
        if isinstance(places, list | tuple):
            return [_entries(a, part) for part in places]
        return _entries(a, places)

    return moved


def _entries(a: object, numbers: numpy.ndarray) -> Value:
    """The entries of `a` with these numbers, from 1; zero for 0."""
    if not numpy.size(value_of(a)):
        return numpy.zeros(numbers.shape)
    entries, lacking = take(ravel(a), numpy.maximum(numbers - 1, 0)), numbers == 0
    return select(lacking, 0.0, entries) if lacking.any() else entries


flip = _moving(numpy.flip)
_padded = _moving(numpy.pad)
diagonal = _moving(numpy.diagonal)
moveaxis = _moving(numpy.moveaxis)
for _theirs in (
    *(numpy.repeat, numpy.tile, numpy.roll, numpy.rot90, numpy.fliplr, numpy.flipud, numpy.copy),
    *(numpy.rollaxis, numpy.diag, numpy.tril, numpy.triu),
    *(numpy.split, numpy.array_split, numpy.vsplit, numpy.hsplit, numpy.dsplit),
    *(numpy.fft.fftshift, numpy.fft.ifftshift),
):
    _moving(_theirs)


@composed(numpy.pad)
def pad(array: object, pad_width: object, mode: str = "constant") -> Value:
    """`array` with zeros around it, or with its own entries again; see `numpy.pad`."""
    repeating = "constant", "edge", "reflect", "symmetric", "wrap"
    return _padded(array, pad_width, one_of("mode", mode, repeating))


@composed(numpy.trace)
def trace(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Value:
    """The sum of a diagonal, in the plane of two axes."""
    return sum(diagonal(a, offset, axis1, axis2), -1)


@composed(numpy.diff)
def diff(a: Value, n: int = 1, axis: int = -1) -> Value:
    """Each entry minus the one before it along `axis`, n times over."""
    for _ in range(n):
        along = swapaxes(a, axis, 0)
        a = swapaxes(along[1:] - along[:-1], 0, axis)
    return a


def _ordered(a: object, axis: int | None, places: Plain) -> Value:
    """The entries of `a` along `axis`, of all together for None, in the order of their `places`."""
    if axis is None:
        return _ordered(ravel(a), 0, places)
    numbers = numpy.arange(1, numpy.size(value_of(a)) + 1).reshape(shape_of(a))
    return _entries(a, numpy.take_along_axis(numbers, places(value_of(a), axis), axis))


@composed(numpy.sort)
def sort(a: object, axis: int | None = -1) -> Value:
    """The entries in ascending order along `axis`; of all together for None."""
    return _ordered(a, axis, lambda values, axis: numpy.argsort(values, axis, kind="stable"))


@composed(numpy.partition)
def partition(a: object, kth: Operand, axis: int | None = -1) -> Value:
    """The entries, smaller ones before the `kth` and larger ones after it, along `axis`."""
    return _ordered(a, axis, lambda values, axis: numpy.argpartition(values, kth, axis))


def _cumsum_gradient(y: Value, a: Value, axis: int | None = None) -> Gradients:
    """The gradient: every entry gets the sum of what came for it and for those after it."""
    shape, along = shape_of(a), 0 if axis is None else axis
    return [lambda g: reshape(flip(cumsum(flip(g, along), along), along), shape)]


cumsum: Function = rule(numpy.cumsum, _cumsum_gradient)
