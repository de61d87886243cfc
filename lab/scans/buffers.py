"""Buffers as PyTensor allocates, fills and cuts them: how many rows they have, and which.

The buffer of a state is ``set_subtensor(empty(n_steps + k)[:k], initial)``, k initial values and
room for one value a step.  The first half of this file makes such buffers, and knows them when it
sees them, by the graph alone.  The second half asks the values of a run which rows nobody has
written, and which rows of an array a part of it is.
"""

from collections.abc import Container, Mapping

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.variable import TensorVariable

from lab.scans.slices import constant_value, index_parts, links, selected, unwrapped


def as_tensor(variable: object) -> TensorVariable:
    """`variable`, which is known to be a tensor."""
    assert isinstance(variable, TensorVariable), f"{variable} is no tensor"
    return variable


def fresh_buffer(initial: Variable, n_steps: int | Variable) -> TensorVariable:
    """`initial`, one row for each initial value, and room for one row a step behind it.

    That is ``set_subtensor(empty(n_steps + k)[:k], initial)`` for k initial values, without
    the read that it would contain.
    """
    reach, *shape = initial.type.shape
    rows = (n_steps if isinstance(n_steps, int) else as_tensor(n_steps)) + reach
    lengths = [as_tensor(initial).shape[n] if s is None else s for n, s in enumerate(shape, 1)]
    empty = AllocEmpty(initial.type.dtype)(rows, *lengths)
    first = [slice(None, 0, None)]
    made = IncSubtensor(first, set_instead_of_inc=True)(empty, initial, np.int64(reach))
    return as_tensor(made)


def is_freshly_allocated(buffer: Variable, n_steps: Variable, reach: int) -> bool:
    """Whether `buffer` is `reach` initial values, and room for one value a step behind them.

    PyTensor makes the buffers of states so: ``set_subtensor(empty(n_steps + k)[:k], initial)``.
    """
    node = buffer.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
        return False
    empty, initial, _ = index_parts(node)
    stop = _cut_off_at(node)
    if empty.owner is None or not isinstance(empty.owner.op, AllocEmpty) or stop is None:
        return False
    if initial is None or not _has_rows(initial, reach):
        return False
    size = empty.owner.inputs[0]
    known, steps = constant_value(size), constant_value(n_steps)
    if known is not None and steps is not None:
        return known == steps + reach
    terms = size.owner.inputs if size.owner is not None else []
    return len(terms) == 2 and _same(terms[0], n_steps) and _same(terms[1], stop)


def initial_of(buffer: Variable) -> Variable:
    """The initial values that were written to `buffer`, or the buffer as it is."""
    node = buffer.owner
    if node is None or not isinstance(node.op, IncSubtensor):
        return buffer
    empty = node.inputs[0].owner
    return node.inputs[1] if empty is not None and isinstance(empty.op, AllocEmpty) else buffer


def is_cut_to(sequence: Variable, n_steps: Variable) -> bool:
    """Whether `sequence` is known to have exactly `n_steps` rows."""
    steps, rows = constant_value(n_steps), sequence.type.shape[0]
    if steps is not None and rows is not None:
        return steps == rows
    link = next(links(sequence), None)
    if link is None or link.rows is None or link.rows.start is not None:
        return False
    stop, step = link.rows.stop, link.rows.step
    return stop is not None and step is None and _same(stop, n_steps)  # as in u[:n_steps]


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
    if isinstance(node.op, AllocEmpty | Alloc):
        size = node.inputs[0 if isinstance(node.op, AllocEmpty) else 1]
        known = constant_value(size)
        return size if known is None else known
    if isinstance(node.op, Subtensor) and (stop := _cut_off_at(node)) is not None:
        cut, whole = constant_value(stop), rows_of_buffer(node.inputs[0])
        return min(cut, whole) if cut is not None and isinstance(whole, int) else cut
    return None


def _cut_off_at(node: Apply) -> Variable | None:
    """The `stop` of a Subtensor or IncSubtensor whose indices are ``[:stop]`` and no more."""
    *_, indices = index_parts(node)
    match indices:
        case [slice(start=None, step=None, stop=stop)]:
            return stop
    return None


def _has_rows(initial: Variable, count: int) -> bool:
    """Whether `initial` is known to have `count` rows, or cut to no more than that."""
    if initial.type.ndim == 0:  # one number, written to as many rows as there are
        return False
    if initial.type.shape[0] is not None:
        return initial.type.shape[0] == count
    node = initial.owner
    cut = node is not None and isinstance(node.op, Subtensor)
    return cut and constant_value(_cut_off_at(node)) == count


def _same(first: Variable, second: Variable) -> bool:
    """Whether two integers are the same variable, or the same number."""
    known = constant_value(first)
    same = unwrapped(first) is unwrapped(second)
    return same or (known is not None and known == constant_value(second))


def unwritten_rows(buffer: Variable, values: Mapping[Variable, object]) -> np.ndarray:
    """Which rows of `buffer` nobody has written: memory that was allocated empty."""
    node = buffer.owner
    if node is not None and isinstance(node.op, AllocEmpty):
        return np.ones(_length(buffer, values), dtype=bool)
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        mask = unwritten_rows(node.inputs[0], values)
        if mask.any():
            # The same write once more, into a list of row numbers, tells what it touched.
            marked = selected(node, np.arange(len(mask)), values)
            mask[marked] = False
        return mask
    return np.zeros(_length(buffer, values), dtype=bool)


def rows_of(
    variable: Variable, values: Mapping[Variable, object], known: Container[Variable] = ()
) -> tuple[Variable, np.ndarray]:
    """The array that `variable` was cut from by slices, and which of its rows it holds.

    The search stops at the first array that is among the `known` ones.
    """
    chain = list(links(variable, known))
    base = chain[-1].base if chain else variable
    rows = np.arange(_length(base, values))
    for link in reversed(chain):
        try:
            rows = selected(link.node, rows, values)
        except IndexError:  # the cut goes across columns, too
            return variable, np.arange(_length(variable, values))
    return base, rows


def _length(array: Variable, values: Mapping[Variable, object]) -> int:
    return len(np.asarray(values[array]))
