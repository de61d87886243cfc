"""How an argument of a Scan was cut out of an array, as Python would write it."""

from collections.abc import Container
from typing import Any

from pytensor.graph.basic import Constant, Variable

from lab.operations import index_parts, plain_name

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
