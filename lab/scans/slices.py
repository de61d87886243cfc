"""What an argument of a Scan was made of: the array that it was cut from, and which rows.

A sequence that is read at several taps comes to the Scan as several arrays, cut from one;
a state comes as a buffer into which its initial values were written.

How an argument of a Scan was cut out of an array, as Python would write it.
"""

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from pytensor.graph.basic import Constant, Variable

from lab.scans.operations import index_parts, plain_name


@dataclass(frozen=True, eq=False)
class Cut:
    """An array, of which row `first` + `way`·t is meant; from its end if `first` is negative.

    That is how Python counts rows, so ``base[first + way * t]`` is the value at step t.
    """

    base: Variable
    first: int = 0
    way: int = 1


def is_cut_by_tap(array: Variable) -> bool:
    """Whether `array` was cut out as PyTensor does it for the tap of a sequence.

    That is ``u[start:]`` or ``u[start:stop]`` with the start written down even where it is 0,
    then perhaps reversed, and cut to the number of steps.
    """
    node = array.owner
    while node is not None and plain_name(node) == "Subtensor":
        base, _, indices = index_parts(node)
        (index,) = indices if len(indices) == 1 else (None,)
        if not isinstance(index, slice):
            return False
        if index.step is None and index.start is not None:
            return base.owner is None or plain_name(base.owner) != "Subtensor"
        array, node = base, base.owner
    return False


def cut_of(array: Variable) -> Cut:
    """The array that `array` was cut from, as far as the rows can be told without numbers."""
    node = array.owner
    if node is None or plain_name(node) != "Subtensor" or (array.name and "[" not in array.name):
        return Cut(array)
    base, _, indices = index_parts(node)
    (index,) = indices if len(indices) == 1 else (None,)
    if not isinstance(index, slice):
        return Cut(array)
    step = 1 if index.step is None else _known(index.step)
    start = _start(base, index, step)
    if step is None or start is None:
        return Cut(array)
    below = cut_of(base)
    first, way = below.first + below.way * start, below.way * step
    if start < 0 and below.base is not base:  # from the end of something that was cut itself
        return _from_behind(base, step) or Cut(base, start, step)
    if below.first < 0 <= first or (first < 0 <= below.first and start >= 0):
        return Cut(base, start, step)  # it would run over the end
    return Cut(below.base, first, way)


def _start(base: Variable, index: slice, step: int | None) -> int | None:
    """The row at which a slice begins, below 0 if counted from the end; None if unknown."""
    if step is None or step == 0:
        return None
    if index.start is None:
        return 0 if step > 0 else -1
    start = _known(index.start)
    if start is None or start < 0:
        return None  # a slice that begins before its array begins is cut off
    rows = base.type.shape[0]
    if step < 0 and (rows is None or start >= rows):
        return None
    return start


def _from_behind(base: Variable, step: int) -> Cut | None:
    """The reverse of what was cut off at a known number of rows before the end, or nowhere."""
    node = base.owner
    if node is None or step != -1:
        return None
    array, _, (index, *_) = index_parts(node)
    if index.step is not None and _known(index.step) != 1:
        return None
    stop = 0 if index.stop is None else _known(index.stop)
    if stop is None or stop > 0 or (stop == 0 and index.stop is not None):
        return None
    below = cut_of(array)
    return Cut(array, stop - 1, -1) if below.base is array else None


def _known(bound: Variable) -> int | None:
    """The number that the bound of a slice is known to be."""
    while bound.owner is not None and plain_name(bound.owner) in (
        "ScalarFromTensor",
        "TensorFromScalar",
    ):
        (bound,) = bound.owner.inputs
    return int(bound.data) if isinstance(bound, Constant) else None


def initial_of(buffer: Variable) -> Variable:
    """The initial values that were written to `buffer`, or the buffer as it is."""
    node = buffer.owner
    if node is None or plain_name(node) != "IncSubtensor":
        return buffer
    empty = node.inputs[0].owner
    is_fresh = empty is not None and plain_name(empty) == "AllocEmpty"
    return node.inputs[1] if is_fresh else buffer


WRAPPED = ("ScalarFromTensor", "TensorFromScalar")


def sliced(variable: Variable, known: Container[Variable] = ()) -> str:
    """``[:-1][::-1]``: the cuts between an array and `variable`, the last one at the end.

    The search for the array ends at the first of the `known` ones.  A bound that only a run
    can tell is written as …; whatever else is done to the array is not told.
    """
    cuts: list[str] = []
    while variable not in known and variable.owner is not None:
        name = plain_name(variable.owner)
        if name == "Subtensor":
            base, _, indices = index_parts(variable.owner)
            cut = f"[{', '.join(map(_index, indices))}]"
            cuts += [cut] if cut != "[:]" else []
        elif name in ("DimShuffle", "Reshape", "SpecifyShape"):
            base = variable.owner.inputs[0]
        else:
            break
        variable = base
    return "".join(reversed(cuts))


def before_end(variable: Variable, array: Variable) -> int | None:
    """How many rows before the last one of `array` a reversed cut of it begins; None if unknown.

    That is 0 for ``array[::-1]`` and -1 for ``array[:-1][::-1]``.
    """
    cuts: list[slice] = []
    while variable is not array:
        if variable.owner is None or plain_name(variable.owner) != "Subtensor":
            return None
        variable, _, indices = index_parts(variable.owner)
        if not indices or not isinstance(indices[0], slice):
            return None
        cuts.append(indices[0])
    found = 0
    for cut in reversed(cuts):
        if _bound(cut.step) == "-1":
            return found if cut.start is None else None
        stop = _bound(cut.stop)
        if stop and not stop.startswith("-"):
            return None
        found += int(stop or 0)
    return None


def _index(index: Any) -> str:
    if not isinstance(index, slice):
        return _bound(index)
    step = "" if index.step is None or _bound(index.step) == "1" else f":{_bound(index.step)}"
    start = _bound(index.start)
    return f"{'' if start == '0' and step == '' else start}:{_bound(index.stop)}{step}"


def _bound(bound: Variable | None) -> str:
    while bound is not None and bound.owner is not None and plain_name(bound.owner) in WRAPPED:
        (bound,) = bound.owner.inputs
    if bound is None:
        return ""
    return str(int(bound.data)) if isinstance(bound, Constant) else "…"
