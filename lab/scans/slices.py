"""Cuts: which rows of which array a variable is, as the graph tells it.

A sequence that is read at several taps comes to a Scan as several arrays, cut from one by
``u[start:][:n]``; a backward loop reads what the forward loop left by ``x[:-1][::-1]``.  `links`
walks such a chain of Subtensors; all else here asks something of it: where step 0 begins
(`cut_of`), whether PyTensor cut it for a tap (`is_cut_by_tap`), how Python would write it
(`sliced`), how far from the end a reversal begins (`before_end`).
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

SHAPING = (DimShuffle, Reshape, SpecifyShape)  # these leave the numbers as they are


def unwrapped(bound: Variable) -> Variable:
    """The tensor that the bound of a slice was made from."""
    while bound.owner is not None and isinstance(
        bound.owner.op, ScalarFromTensor | TensorFromScalar
    ):
        (bound,) = bound.owner.inputs
    return bound


def constant_value(variable: Variable | None) -> int | None:
    """The number that an integer `variable` is known to be, or None."""
    variable = None if variable is None else unwrapped(variable)
    return int(variable.data) if isinstance(variable, Constant) else None


def index_parts(node: Apply) -> tuple[Variable, Variable | None, list[Variable | slice]]:
    """What a Subtensor or IncSubtensor indexes, what it puts there, and the indices.

    An index is a variable, or a `slice` of variables.
    """
    base, *rest = node.inputs
    value = rest.pop(0) if isinstance(node.op, IncSubtensor) else None
    given = iter(rest)

    def bound(entry: object) -> Variable | None:
        return None if entry is None else next(given)  # in a slice, None is open

    indices = [
        slice(bound(entry.start), bound(entry.stop), bound(entry.step))
        if isinstance(entry, slice)
        else next(given)
        for entry in node.op.idx_list
    ]
    return base, value, indices


@dataclass(frozen=True, eq=False)
class Link:
    """One Subtensor of a chain: the array `base`, of which `node` takes a part by `indices`."""

    node: Apply
    base: Variable
    indices: list[Variable | slice]

    @property
    def rows(self) -> slice | None:
        """The slice that chooses the rows; None if a number, or nothing, does."""
        first = self.indices[0] if self.indices else None
        return first if isinstance(first, slice) else None

    @property
    def only_rows(self) -> slice | None:
        """The slice that chooses the rows, if it is the only index."""
        return self.rows if len(self.indices) == 1 else None


def links(
    array: Variable, known: Container[Variable] = (), through: tuple[type[Op], ...] = ()
) -> Iterator[Link]:
    """The cuts by which `array` was made, the last one first.

    The walk ends at the first array that is among the `known` ones, or was not cut; operations
    of the classes `through` are passed over.
    """
    while array not in known and (node := array.owner) is not None:
        if isinstance(node.op, Subtensor):
            base, _, indices = index_parts(node)
            yield Link(node, base, indices)
        elif not isinstance(node.op, through):
            return
        array = node.inputs[0]


@dataclass(frozen=True, eq=False)
class Cut:
    """An array, of which row `first` + `way`·t is meant; from its end if `first` is negative.

    That is how Python counts rows, so ``base[first + way * t]`` is the value at step t.
    """

    base: Variable
    first: int = 0
    way: int = 1


def call_now(array: Variable, row: int) -> None:
    """Remembers which row of an array of values step 0 of a loop calls its value at t."""
    array.tag.now = row


def now_of(array: Variable) -> int:
    """Which row of an array step 0 calls its value at t; the first, where nobody has told."""
    return int(getattr(array.tag, "now", 0))


def is_cut_by_tap(array: Variable) -> bool:
    """Whether `array` was cut out as PyTensor does it for the tap of a sequence.

    That is ``u[start:]`` or ``u[start:stop]`` with the start written down even where it is 0,
    then perhaps reversed, and cut to the number of steps.
    """
    for link in links(array):
        rows = link.only_rows
        if rows is None:
            return False
        if rows.step is None and rows.start is not None:
            return next(links(link.base), None) is None
    return False


def cut_of(array: Variable) -> Cut:
    """The array that `array` was cut from, as far as the rows can be told without numbers."""
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
    first, way = below.first + below.way * start, below.way * step
    if start < 0 and below.base is not base:  # from the end of something that was cut itself
        return _from_behind(base, step) or Cut(base, start, step)
    if below.first < 0 <= first or (first < 0 <= below.first and start >= 0):
        return Cut(base, start, step)  # it would run over the end
    return Cut(below.base, first, way)


def _start(base: Variable, rows: slice, step: int | None) -> int | None:
    """The row at which a slice begins, below 0 if counted from the end; None if unknown."""
    if step is None or step == 0:
        return None
    if rows.start is None:
        return 0 if step > 0 else -1
    start = constant_value(rows.start)
    if start is None or start < 0:
        return None  # a slice that begins before its array begins is cut off
    length = base.type.shape[0]
    if step < 0 and (length is None or start >= length):
        return None
    return start


def _from_behind(base: Variable, step: int) -> Cut | None:
    """The reverse of what was cut off at a known number of rows before the end, or nowhere."""
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


def sliced(variable: Variable) -> str:
    """``[:-1][::-1]``: the cuts between an array and `variable`, the last one at the end.

    A bound that only a run can tell is written as …; what else is done to the array is not told.
    """
    cuts = [f"[{', '.join(map(_index, link.indices))}]" for link in links(variable, (), SHAPING)]
    return "".join(cut for cut in reversed(cuts) if cut != "[:]")


def _index(index: Variable | slice) -> str:
    if not isinstance(index, slice):
        return _bound(index)
    step = "" if index.step is None or _bound(index.step) == "1" else f":{_bound(index.step)}"
    start = _bound(index.start)
    return f"{'' if start == '0' and step == '' else start}:{_bound(index.stop)}{step}"


def _bound(bound: Variable | None) -> str:
    if bound is None:
        return ""
    known = constant_value(bound)
    return "…" if known is None else str(known)


def before_end(variable: Variable, array: Variable) -> int | None:
    """How many rows before the last one of `array` a reversed cut of it begins; None if unknown.

    That is 0 for ``array[::-1]`` and -1 for ``array[:-1][::-1]``.
    """
    chain = list(links(variable, (array,)))
    cuts = [link.rows for link in chain if link.rows is not None]
    if not chain or chain[-1].base is not array or len(cuts) < len(chain):
        return None
    end = 0
    for rows in reversed(cuts):
        if constant_value(rows.step) == -1:
            return end if rows.start is None else None
        stop = constant_value(rows.stop)
        if rows.stop is not None and (stop is None or stop >= 0):
            return None
        end += stop or 0
    return None


def selected(node: Apply, rows: np.ndarray, values: Mapping[Variable, object]) -> np.ndarray:
    """What the indices of `node`, a read or a write of a part, select from `rows`."""
    first = 1 if isinstance(node.op, Subtensor) else 2
    reader = Subtensor(node.op.idx_list)
    cell: list[np.ndarray | None] = [None]
    reader.perform(node, [rows, *(values[v] for v in node.inputs[first:])], [cell])
    return np.atleast_1d(np.asarray(cell[0]))
