"""Follow slices in a graph to find the rows of an array that a variable contains.

For a sequence with several taps, a Scan receives several slices ``u[start:][:n]`` of one array.  A
backward loop reads the buffer of the forward loop as ``x[:-1][::-1]``.  `links` follows such a
chain of Subtensors, `cut_of` finds the row of step 0, and `is_cut_by_tap` recognizes the slices of
taps.  `axis_mover` applies a DimShuffle to several steps at once.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import Subtensor


def axis_mover(op: DimShuffle, first: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that applies `op` to the axes of an array from axis `first` on."""
    kept, dropped = sorted(op.shuffle), tuple(axis + first for axis in op.drop)
    order = (*range(first), *(kept.index(axis) + first for axis in op.shuffle))
    entry = (..., *(np.newaxis if axis == "x" else slice(None) for axis in op.new_order))
    return lambda array: array.squeeze(dropped).transpose(order)[entry]


def unwrap(bound: Variable) -> Variable:
    """Return the bound of a slice without conversions between tensors and scalars."""
    while bound.owner is not None and isinstance(
        bound.owner.op, ScalarFromTensor | TensorFromScalar
    ):
        (bound,) = bound.owner.inputs
    return bound


def constant_value(variable: Variable | None) -> int | None:
    """Return the value of a constant integer `variable`; None if it is not constant."""
    variable = None if variable is None else unwrap(variable)
    return int(variable.data) if isinstance(variable, Constant) else None


def index_parts(node: Apply) -> tuple[Variable, Variable | None, list[Variable | slice]]:
    """Return the base of a (possibly advanced) Subtensor or IncSubtensor, its value, and indices.

    The value is None for a Subtensor.  An index is a variable, or a `slice` of variables.
    """
    base, *rest = node.inputs
    value = rest.pop(0) if hasattr(node.op, "set_instead_of_inc") else None
    given = iter(rest)

    def bound(entry: object) -> Variable | None:
        return None if entry is None else next(given)  # None is an open end of a slice

    indices = [
        slice(bound(entry.start), bound(entry.stop), bound(entry.step))
        if isinstance(entry, slice)
        else next(given)
        for entry in getattr(node.op, "idx_list", (0,))
    ]
    return base, value, indices


@dataclass(frozen=True, eq=False)
class Link:
    """One of several nested Subtensors: `node` computes ``base[indices]``."""

    node: Apply
    base: Variable
    indices: list[Variable | slice]

    @property
    def rows(self) -> slice | None:
        """The slice that selects rows, or None without a slice for axis 0."""
        first = self.indices[0] if self.indices else None
        return first if isinstance(first, slice) else None

    @property
    def only_rows(self) -> slice | None:
        """The slice that selects rows, or None if the operation has several indices."""
        return self.rows if len(self.indices) == 1 else None


def links(array: Variable, known: Container[Variable] = ()) -> Iterator[Link]:
    """Yield the Subtensors by which `array` was cut, from the final Subtensor to the first.

    The iteration stops at an array in `known`, and at an array that is not a slice.
    """
    while array not in known and array.owner is not None:
        if not isinstance(array.owner.op, Subtensor):
            return
        base, _, indices = index_parts(array.owner)
        yield Link(array.owner, base, indices)
        array = base


@dataclass(frozen=True, eq=False)
class Cut:
    """Rows of an array: ``base[first + stride * t]`` is the value at step t.

    A negative `first` counts from the end, as in Python.
    """

    base: Variable
    first: int = 0
    stride: int = 1


def set_current_row(array: Variable, row: int) -> None:
    """Store the row of `array` that step 0 reads as the current value, ``u[t]``."""
    array.tag.now = row


def current_row(array: Variable) -> int:
    """Return the row of `array` that step 0 reads as the current value, ``u[t]`` (default: 0)."""
    return int(getattr(array.tag, "now", 0))


def is_cut_by_tap(array: Variable) -> bool:
    """Return whether `array` is a slice that PyTensor cuts from a sequence for a tap.

    Such a slice is ``u[start:]`` or ``u[start:stop]`` with an explicit start, which can be 0.  It
    may also be reversed and cut to the number of steps.
    """
    for link in links(array):
        rows = link.only_rows
        if rows is None:
            return False
        if rows.step is None and rows.start is not None:
            return next(links(link.base), None) is None
    return False


def cut_of(array: Variable) -> Cut:
    """Return the array from which slices cut `array`, and the rows that they select.

    A slice with a name counts as an array.  If the graph does not determine the rows, the base of
    the result is an intermediate slice, or `array` itself.
    """
    link = next(links(array), None)
    rows = None if link is None else link.only_rows
    if link is None or rows is None or (array.name and "[" not in array.name):
        return Cut(array)
    base = link.base
    step = 1 if rows.step is None else constant_value(rows.step)
    start = _start(base, rows, step)
    if step is None or start is None:
        return Cut(array)
    below = cut_of(base)
    first, stride = below.first + below.stride * start, below.stride * step
    if start < 0 and below.base is not base:  # `start` counts from the end of a slice
        return _reverse_rows(base, step) or Cut(base, start, step)
    if below.first < 0 <= first or (first < 0 <= below.first and start >= 0):
        return Cut(base, start, step)  # the rows would continue beyond the end of the array
    return Cut(below.base, first, stride)


def _start(base: Variable, rows: slice, step: int | None) -> int | None:
    """Return the first row that the slice `rows` of `base` selects, or None if it is unknown.

    A row that is counted from the end is negative.
    """
    if step is None or step == 0:
        return None
    if rows.start is None:
        return 0 if step > 0 else -1
    start = constant_value(rows.start)
    if start is None or start < 0:
        return None  # Python clips a start below the first row
    length = base.type.shape[0]
    if step < 0 and (length is None or start >= length):
        return None
    return start


def _reverse_rows(base: Variable, step: int) -> Cut | None:
    """Return the rows of ``base[::-1]``, where `base` is a slice such as ``x[:-1]``.

    Returns None if the distance of the first row from the end of the array is unknown.
    """
    link = next(links(base), None)
    rows = None if link is None else link.rows
    if link is None or rows is None or step != -1:
        return None
    if rows.step is not None and constant_value(rows.step) != 1:
        return None
    stop = 0 if rows.stop is None else constant_value(rows.stop)
    if stop is None or stop > 0 or (stop == 0 and rows.stop is not None):
        return None
    below = cut_of(link.base)
    return Cut(link.base, stop - 1, -1) if below.base is link.base else None


def select_rows(node: Apply, rows: np.ndarray, values: Mapping[Variable, object]) -> np.ndarray:
    """Return the entries of `rows` that the indices of a Subtensor or IncSubtensor select."""
    first = 1 if isinstance(node.op, Subtensor) else 2
    reader = Subtensor(node.op.idx_list)
    cell: list[np.ndarray | None] = [None]
    reader.perform(node, [rows, *(values[v] for v in node.inputs[first:])], [cell])
    return np.atleast_1d(np.asarray(cell[0]))
