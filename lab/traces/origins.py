"""From which rows of earlier Scans the rows of an array are computed, with no Scan in between.

A buffer of gradients is put together from zeros, seeds, and outputs of other Scans, by slices and
sums. `RowOrigins` follows these operations with sets of rows instead of numbers.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.records import reached
from lab.scans.operations import passed_on, plain_name
from lab.scans.slices import selected
from lab.traces.loop_run import Computed, Recording
from lab.traces.trace import FedRow, Feed

# How many inputs of an operation, from which one on, hold numbers that its result depends on.
NUMBERS = {
    "Shape": slice(0),
    "Shape_i": slice(0),
    "AllocEmpty": slice(0),
    "Alloc": slice(0, 1),
    "Second": slice(1, None),
    "Subtensor": slice(0, 1),
}


class RowOrigin(NamedTuple):
    """Row `row` of output `variable` of Scan `scan`; `is_summand` if it is added unchanged."""

    scan: int
    variable: int
    row: int
    is_summand: bool = True


Set = frozenset[RowOrigin]
NOTHING: Set = frozenset()


class RowOrigins:
    """The origins of rows, of the arrays of one graph.

    `filled` has the outputs of Scans by the number of the recording and of the variable, `values`
    the values of arrays. Origins of an array are a vector with a number for each row, or one number
    for all of it; `sets` has the sets of rows with these numbers.
    """

    def __init__(
        self,
        filled: Mapping[Variable, tuple[int, int]],
        recordings: Sequence[Recording],
        values: Mapping[Variable, Computed],
    ) -> None:
        self.filled, self.recordings, self.values = filled, recordings, values
        self.sets: list[Set] = [NOTHING]
        self.numbers: dict[Set, int] = {NOTHING: 0}
        self.known: dict[Variable, np.ndarray] = {}

    def of(self, variable: Variable) -> dict[int | None, Set]:
        """For each row the rows that it is computed from; for None, those of all rows alike."""
        found = self._of(variable)
        if not found.ndim:
            return {None if getattr(variable.type, "ndim", 0) else 0: self.sets[int(found)]}
        return {row: self.sets[number] for row, number in enumerate(found.tolist())}

    def _of(self, variable: Variable) -> np.ndarray:
        if variable not in self.known:
            self.known[variable] = self._compute(variable)
        return self.known[variable]

    def _number(self, rows: Set) -> int:
        if rows not in self.numbers:
            self.numbers[rows] = len(self.sets)
            self.sets.append(rows)
        return self.numbers[rows]

    def _compute(self, variable: Variable) -> np.ndarray:
        if variable in self.filled:
            scan, number = self.filled[variable]
            rows = range(self._length(scan, number))
            return np.array([self._number(frozenset([RowOrigin(scan, number, r)])) for r in rows])
        node = variable.owner
        if node is None:
            return np.array(0)
        inputs = node.inputs[NUMBERS.get(plain_name(node), slice(None))]
        if not any(self._of(v).any() for v in inputs):
            return np.array(0)
        try:
            found = self._exactly(node, variable)
        except (AttributeError, LookupError, ValueError, TypeError):  # or generators, lists
            found = None
        return self._changed(inputs) if found is None else found

    def _length(self, scan: int, number: int) -> int:
        recording = self.recordings[scan]
        part = recording.parts.variables[number]
        return recording.lengths.get(part, len(recording.final[part]))

    def _exactly(self, node: Apply, variable: Variable) -> np.ndarray | None:
        """Of operations that move rows, or add them; None for others."""
        if isinstance(node.op, Subtensor):
            whole = self._of(node.inputs[0])
            cut = selected(node, whole, self._constants(node)) if whole.ndim else whole
            is_row = variable.type.ndim < node.inputs[0].type.ndim and cut.size == 1
            return cut.reshape(()) if is_row else cut
        if isinstance(node.op, IncSubtensor):
            return self._filled(node, variable)
        if plain_name(node) == "Add":
            return self._added([self._in(v, variable) for v in node.inputs])
        if isinstance(node.op, DimShuffle):
            whole, order = self._of(node.inputs[0]), node.op.new_order
            return whole if not whole.ndim or order[:1] == (0,) else None
        same = passed_on(node, variable)
        return None if same is None else self._in(node.inputs[same], variable)

    def _in(self, part: Variable, whole: Variable) -> np.ndarray:
        """The origins of an operand along the rows of the result; ValueError if it has others."""
        found = self._of(part)
        if found.ndim and found.size > 1 and part.type.ndim != whole.type.ndim:
            raise ValueError
        return found.reshape(()) if found.size == 1 else found

    def _filled(self, node: Apply, variable: Variable) -> np.ndarray:
        base, value = node.inputs[:2]
        size = len(np.asarray(self.values[variable]))
        rows = selected(node, np.arange(size), self._constants(node))
        found = np.array(np.broadcast_to(self._of(base), size))
        added = self._of(value)
        if added.ndim and (len(added) != len(rows) or value.type.ndim != base.type.ndim):
            raise ValueError
        is_set = node.op.set_instead_of_inc
        found[rows] = added if is_set else self._added([found[rows], added])
        return found

    def _constants(self, node: Apply) -> Mapping[Variable, Computed]:
        found = {v: self.values[v] for v in node.inputs[1:] if v in self.values}
        found |= {v: v.data for v in node.inputs if isinstance(v, Constant)}
        return found

    def _added(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        whole, *others = np.broadcast_arrays(*parts)
        for part in others:
            pairs, inverse = np.unique(
                np.stack([whole.ravel(), part.ravel()]), axis=1, return_inverse=True
            )
            joined = [self._number(self.sets[a] | self.sets[b]) for a, b in pairs.T.tolist()]
            whole = np.array(joined, int)[inverse.ravel()].reshape(whole.shape)
        return whole

    def _changed(self, inputs: Iterable[Variable]) -> np.ndarray:
        """Everything that any other operation reads; none of it is a summand any more."""
        numbers = {number for v in inputs for number in self._of(v).ravel().tolist()}
        rows = {one._replace(is_summand=False) for number in numbers for one in self.sets[number]}
        return np.array(self._number(frozenset(rows)))


def feeds(
    made: Iterable[tuple[int, Variable]],
    rows: RowOrigins,
    values: Mapping[Variable, Computed] | None = None,
    first: int = 0,
) -> tuple[Feed, ...]:
    """What the numbered variables `made` are computed from, with no other Scan in between.

    Only numbers count: a Scan whose result merely tells how long a buffer must be feeds nothing.
    `filled` has, for the outputs of Scans, the number of the Scan and of its variable.  With all
    `values` it is told as well to which of them more is added.
    """
    found, filled = [], rows.filled
    for into, variable in made:
        more = added_to(variable, filled, values) if values is not None else set()
        origins = rows.of(variable)
        for v in sources(variable, filled):
            place = filled[v]
            pairs = tuple(
                FedRow(
                    None if number is None else number - first,
                    one.row - rows.recordings[one.scan].first,
                    one.is_summand,
                )
                for number, origin in origins.items()
                for one in sorted(origin, key=lambda one: one.row)
                if (one.scan, one.variable) == place
            )
            found.append(Feed(into, *place, v in more, pairs))
    return tuple(sorted(found, key=lambda feed: (feed.into, feed.scan, feed.variable)))


def added_to(
    variable: Variable, filled: Container[Variable], values: Mapping[Variable, Computed]
) -> set[Variable]:
    """Those of `filled` that are terms of `variable` beside others that no Scan has filled."""
    terms, others, waiting = set(), False, [variable]
    while waiting:
        found = waiting.pop()
        node = found.owner
        if found in filled:
            terms.add(found)
        elif node is not None and plain_name(node) == "Add":
            waiting += node.inputs
        elif node is not None and plain_name(node) in ("Sum", "Subtensor"):
            waiting.append(node.inputs[0])
        elif node is not None and (same := passed_on(node, found)) is not None:
            waiting.append(node.inputs[same])
        else:
            others |= found not in values or bool(np.any(np.asarray(values[found]) != 0))
    return terms if others else set()


def sources(variable: Variable, filled: Container[Variable]) -> list[Variable]:
    """Those of `filled` that `variable` is computed from, the nearest on every way."""

    def made_of(found: Variable) -> Sequence[Variable]:
        node = None if found in filled else found.owner
        return () if node is None else node.inputs[NUMBERS.get(plain_name(node), slice(None))]

    return [found for found in reached([variable], made_of) if found in filled]
