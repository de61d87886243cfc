"""Which rows of an array a part of it is, and which nobody has written, by the values of a run."""

from collections.abc import Container, Mapping
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.allocation import index_entries


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
