"""Build and recognize the buffers of states, and determine the rows of arrays.

The buffer of a state is ``set_subtensor(empty(n_steps + k)[:k], initial)``: k initial values, then
a row for each step.  The functions up to `rows_of_buffer` build such buffers, recognize them in a
graph, and return their initial values and numbers of rows.  `unwritten_rows` and `rows_of` need the
values of a run.
"""

from collections.abc import Container, Mapping

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.variable import TensorVariable

from lab.scans.slices import constant_value, index_parts, links, select_rows, unwrap


def as_tensor(variable: object) -> TensorVariable:
    """Return `variable` as a tensor; raise AssertionError for another type."""
    assert isinstance(variable, TensorVariable), f"{variable} is no tensor"
    return variable


def is_empty(variable: Variable) -> bool:
    """Return whether `variable` is newly allocated, uninitialized memory."""
    return variable.owner is not None and isinstance(variable.owner.op, AllocEmpty)


def is_set(node: Apply | None) -> bool:
    """Return whether a node replaces entries of an array."""
    if node is None or not isinstance(node.op, IncSubtensor):
        return False
    return bool(node.op.set_instead_of_inc)


def fills_new_buffer(node: Apply | None) -> bool:
    """Return whether a node writes rows of a newly allocated buffer."""
    return node is not None and is_set(node) and is_empty(node.inputs[0])


def fresh_buffer(initial: Variable, n_steps: int | Variable) -> TensorVariable:
    """Return a buffer with the rows of `initial`, then an uninitialized row for each step.

    For k initial values, the buffer is ``set_subtensor(empty(n_steps + k)[:k], initial)``, but its
    graph does not read ``empty(n_steps + k)[:k]``.
    """
    reach, *shape = initial.type.shape
    rows = (n_steps if isinstance(n_steps, int) else as_tensor(n_steps)) + reach
    lengths = [as_tensor(initial).shape[n] if s is None else s for n, s in enumerate(shape, 1)]
    empty = AllocEmpty(initial.type.dtype)(rows, *lengths)
    first = [slice(None, 0, None)]
    buffer = IncSubtensor(first, set_instead_of_inc=True)(empty, initial, np.int64(reach))
    return as_tensor(buffer)


def is_freshly_allocated(buffer: Variable, n_steps: Variable, reach: int) -> bool:
    """Return whether `buffer` has exactly `reach` initial values and a row for each step.

    The result is true only for a graph like ``set_subtensor(empty(n_steps + k)[:k], initial)``,
    which PyTensor builds for a state.
    """
    node = buffer.owner
    if not fills_new_buffer(node):
        return False
    empty, initial, *_ = node.inputs
    stop = _stop_of(node)
    if stop is None or not _has_rows(initial, reach):
        return False
    size = empty.owner.inputs[0]
    known, steps = constant_value(size), constant_value(n_steps)
    if known is not None and steps is not None:
        return known == steps + reach
    terms = size.owner.inputs if size.owner is not None else []
    return len(terms) == 2 and _are_equal(terms[0], n_steps) and _are_equal(terms[1], stop)


def initial_of(buffer: Variable) -> Variable:
    """Return the initial values written to `buffer`, or `buffer` itself without such a write."""
    return buffer.owner.inputs[1] if fills_new_buffer(buffer.owner) else buffer


def is_cut_to(sequence: Variable, n_steps: Variable) -> bool:
    """Return whether the graph shows that `sequence` has exactly `n_steps` rows."""
    steps, rows = constant_value(n_steps), sequence.type.shape[0]
    if steps is not None and rows is not None:
        return steps == rows
    link = next(links(sequence), None)
    if link is None or link.rows is None or link.rows.start is not None:
        return False
    stop, step = link.rows.stop, link.rows.step
    return stop is not None and step is None and _are_equal(stop, n_steps)  # such as u[:n_steps]


def rows_of_buffer(buffer: Variable) -> int | Variable | None:
    """Return the number of rows of `buffer`: an integer, a variable, or None if unknown."""
    if buffer.type.ndim and buffer.type.shape[0] is not None:
        return int(buffer.type.shape[0])
    node = buffer.owner
    if node is None:
        return None
    if isinstance(node.op, IncSubtensor):
        return rows_of_buffer(node.inputs[0])
    if isinstance(node.op, AllocEmpty | Alloc):
        size = node.inputs[0 if isinstance(node.op, AllocEmpty) else 1]
        known = constant_value(size)
        return size if known is None else known
    if isinstance(node.op, Subtensor) and (stop := _stop_of(node)) is not None:
        cut, whole = constant_value(stop), rows_of_buffer(node.inputs[0])
        return min(cut, whole) if cut is not None and isinstance(whole, int) else cut
    return None


def _stop_of(node: Apply) -> Variable | None:
    """Return the `stop` of a Subtensor or IncSubtensor with the only index ``[:stop]``, or None."""
    *_, indices = index_parts(node)
    match indices:
        case [slice(start=None, step=None, stop=stop)]:
            return stop
    return None


def _has_rows(initial: Variable, count: int) -> bool:
    """Return whether `initial` has `count` rows, or is the slice ``[:count]`` of an array."""
    if initial.type.ndim == 0:  # a number, broadcast over all rows
        return False
    if initial.type.shape[0] is not None:
        return initial.type.shape[0] == count
    node = initial.owner
    cut = node is not None and isinstance(node.op, Subtensor)
    return cut and constant_value(_stop_of(node)) == count


def _are_equal(first: Variable, second: Variable) -> bool:
    """Return whether two integers are the same variable or the same number."""
    known = constant_value(first)
    same = unwrap(first) is unwrap(second)
    return same or (known is not None and known == constant_value(second))


def unwritten_rows(buffer: Variable, values: Mapping[Variable, object]) -> np.ndarray:
    """Return a mask of the rows of `buffer` that are uninitialized memory."""
    node = buffer.owner
    if is_empty(buffer):
        return np.ones(_length(buffer, values), dtype=bool)
    if is_set(node):
        mask = unwritten_rows(node.inputs[0], values)
        if mask.any():
            # Applied to row numbers, the indices of the write select the written rows.
            mask[select_rows(node, np.arange(len(mask)), values)] = False
        return mask
    return np.zeros(_length(buffer, values), dtype=bool)


def rows_of(
    variable: Variable, values: Mapping[Variable, object], known: Container[Variable] = ()
) -> tuple[Variable, np.ndarray]:
    """Return the array from which slices cut `variable`, and the indices of the selected rows.

    The search stops at the first array in `known`.
    """
    chain = list(links(variable, known))
    base = chain[-1].base if chain else variable
    rows = np.arange(_length(base, values))
    for link in reversed(chain):
        try:
            rows = select_rows(link.node, rows, values)
        except IndexError:  # the index also selects columns
            return variable, np.arange(_length(variable, values))
    return base, rows


def _length(array: Variable, values: Mapping[Variable, object]) -> int:
    return len(np.asarray(values[array]))
