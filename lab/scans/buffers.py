"""Buffers as PyTensor allocates, fills and cuts them: how many rows an array is known to have.

The buffer of a state is ``set_subtensor(empty(n_steps + k)[:k], initial)``, k initial values and
room for one value a step.  This file makes such buffers, and knows them when it sees them.

Which rows of an array a part of it is, and which nobody has written, by the values of a run.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import Alloc, AllocEmpty, ScalarFromTensor
from pytensor.tensor.subtensor import IncSubtensor, Subtensor


def constant_value(variable: Variable) -> int | None:
    """The number that an integer `variable` is known to be, or None."""
    if isinstance(variable, Constant):
        return int(variable.data)
    return None


def fresh_buffer(initial: Variable, n_steps: int | Variable) -> Variable:
    """`initial`, one row for each initial value, and room for one row a step behind it.

    That is ``set_subtensor(empty(n_steps + k)[:k], initial)`` for k initial values, without
    the read that it would contain.
    """
    reach, *shape = initial.type.shape
    empty = AllocEmpty(initial.type.dtype)(n_steps + reach, *shape)
    first = [slice(None, 0, None)]
    return IncSubtensor(first, set_instead_of_inc=True)(empty, initial, np.int64(reach))


def is_freshly_allocated(buffer: Variable, n_steps: Variable, reach: int) -> bool:
    """Whether `buffer` is `reach` initial values, and room for one value a step behind them.

    PyTensor makes the buffers of states so: ``set_subtensor(empty(n_steps + k)[:k], initial)``.
    """
    node = buffer.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
        return False
    empty, initial, *bounds = node.inputs
    if empty.owner is None or not isinstance(empty.owner.op, AllocEmpty):
        return False
    if not _cuts_off(node.op.idx_list) or len(bounds) != 1 or not _has_rows(initial, reach):
        return False
    size = empty.owner.inputs[0]
    known, steps = constant_value(size), constant_value(n_steps)
    if known is not None and steps is not None:
        return known == steps + reach
    terms = size.owner.inputs if size.owner is not None else []
    return len(terms) == 2 and _same(terms[0], n_steps) and _same(terms[1], bounds[0])


def is_cut_to(sequence: Variable, n_steps: Variable) -> bool:
    """Whether `sequence` is known to have exactly `n_steps` rows."""
    steps, rows = constant_value(n_steps), sequence.type.shape[0]
    if steps is not None and rows is not None:
        return steps == rows
    node = sequence.owner
    if node is None or not isinstance(node.op, Subtensor) or not _cuts_off(node.op.idx_list[:1]):
        return False
    return _same(node.inputs[1], n_steps)  # as in u[:n_steps]


def rows_of_buffer(buffer: Variable) -> int | Variable | None:
    """How many rows a `buffer` has: a number, the variable that says it, or None if neither.

    PyTensor allocates a buffer empty and writes the initial values into it.
    """
    if buffer.type.ndim and buffer.type.shape[0] is not None:
        return int(buffer.type.shape[0])
    node = buffer.owner
    if node is None:
        return None
    if isinstance(node.op, IncSubtensor):
        return rows_of_buffer(node.inputs[0])
    if isinstance(node.op, AllocEmpty):
        return _number_or_self(node.inputs[0])
    if isinstance(node.op, Alloc):
        return _number_or_self(node.inputs[1])
    if isinstance(node.op, Subtensor) and _cuts_off(node.op.idx_list):
        cut, whole = constant_value(_unwrapped(node.inputs[1])), rows_of_buffer(node.inputs[0])
        return min(cut, whole) if cut is not None and isinstance(whole, int) else cut
    return None


def _number_or_self(size: Variable) -> int | Variable:
    known = constant_value(size)
    return size if known is None else known


def destroys(node: Apply) -> set[int]:
    """The numbers of the outputs that `node` writes over what it was handed."""
    return set(getattr(node.op, "destroy_map", {}))


def index_entries(node: Apply) -> tuple[Any, ...]:
    """The indices of a Subtensor or IncSubtensor: None in a slice is open, all else is an input."""
    return tuple(node.op.idx_list)


def _cuts_off(indices: Sequence[Any]) -> bool:
    """Whether the indices of a Subtensor are ``[:stop]`` and no more."""
    (index,) = indices if len(indices) == 1 else (None,)
    if not isinstance(index, slice) or index.stop is None:
        return False
    return index.start is None and index.step is None


def _has_rows(initial: Variable, count: int) -> bool:
    """Whether `initial` is known to have `count` rows, or cut to no more than that."""
    if initial.type.ndim == 0:  # one number, written to as many rows as there are
        return False
    if initial.type.shape[0] is not None:
        return initial.type.shape[0] == count
    node = initial.owner
    cut = node is not None and isinstance(node.op, Subtensor) and _cuts_off(node.op.idx_list)
    return cut and constant_value(_unwrapped(node.inputs[1])) == count


def _same(first: Variable, second: Variable) -> bool:
    """Whether two integers are the same variable, or the same number."""
    first, second = _unwrapped(first), _unwrapped(second)
    known = constant_value(first)
    return first is second or (known is not None and known == constant_value(second))


def _unwrapped(bound: Variable) -> Variable:
    """The tensor that the bound of a slice was made from."""
    wrapped = bound.owner is not None and isinstance(bound.owner.op, ScalarFromTensor)
    return bound.owner.inputs[0] if wrapped else bound


def unwritten_rows(buffer: Variable, values: Mapping[Variable, Any]) -> np.ndarray:
    """Which rows of `buffer` nobody has written: memory that was allocated empty."""
    node = buffer.owner
    if node is not None and isinstance(node.op, AllocEmpty):
        return np.ones(len(values[buffer]), dtype=bool)
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        mask = unwritten_rows(node.inputs[0], values)
        if mask.any():
            # The same write once more, into a list of row numbers, tells what it touched.
            marked = _index_with(node, np.arange(len(mask)), values)
            mask[marked] = False
        return mask
    return np.zeros(len(values[buffer]), dtype=bool)


def rows_of(
    variable: Variable, values: Mapping[Variable, Any], known: Container[Variable] = ()
) -> tuple[Variable, np.ndarray]:
    """The array that `variable` was cut from by slices, and which of its rows it holds.

    The search stops at the first array that is among the `known` ones.
    """
    asked, chain = variable, []
    while variable not in known and _is_cut(variable):
        chain.append(variable.owner)
        variable = variable.owner.inputs[0]
    rows = np.arange(len(values[variable]))
    for node in reversed(chain):
        try:
            rows = _index_with(node, rows, values)
        except IndexError:  # the cut goes across columns, too
            return asked, np.arange(len(values[asked]))
    return variable, rows


def _is_cut(variable: Variable) -> bool:
    """Whether `variable` is a part of another, chosen by an index."""
    return variable.owner is not None and isinstance(variable.owner.op, Subtensor)


def _index_with(node: Apply, rows: np.ndarray, values: Mapping[Variable, Any]) -> np.ndarray:
    """What the indices of `node`, a read or a write of a part, select from `rows`."""
    first = 1 if isinstance(node.op, Subtensor) else 2
    reader = Subtensor(index_entries(node))
    cell: list[Any] = [None]
    reader.perform(node, [rows, *(values[v] for v in node.inputs[first:])], [cell])
    return np.atleast_1d(cell[0])
