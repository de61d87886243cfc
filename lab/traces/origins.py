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

from lab.records import find_reachable
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


PAIRS, BUNDLES = 1 << 40, 1 << 60  # the first numbers of pairs, and of bundles


class RowOrigins:
    """The origins of rows, of the arrays of one graph.

    `filled` has the outputs of Scans by the number of the recording and of the variable, `values`
    the values of arrays. Every row of an output has a number, and so has every pair of origins that
    is added up, and every bundle of origins that another operation changes; 0 is nothing. The
    origins of an array are a vector with a number for each row, or one number for all of it.
    """

    def __init__(
        self,
        filled: Mapping[Variable, tuple[int, int]],
        recordings: Sequence[Recording],
        values: Mapping[Variable, Computed],
    ) -> None:
        self.filled, self.recordings, self.values = filled, recordings, values
        self.known: dict[Variable, np.ndarray] = {}
        self.starts: dict[Variable, int] = {}  # the numbers of the first rows of outputs
        self.next = 1
        self.pairs = np.zeros((2, 0), int)
        self.bundles: list[np.ndarray] = []

    def of(self, variable: Variable, limit: int, first: int = 0) -> "Origins":
        """The origins of the rows from `first` on, at most `limit` of them."""
        numbers = self._of(variable)
        numbers = numbers[first : first + limit] if numbers.ndim else numbers.reshape(1)
        rows, is_summand = np.arange(len(numbers)), np.ones(len(numbers), bool)
        while np.any(numbers >= PAIRS):
            plain = numbers < PAIRS
            found = [(rows[plain], numbers[plain], is_summand[plain])]
            pairs = (numbers >= PAIRS) & (numbers < BUNDLES)
            for side in self.pairs[:, numbers[pairs] - PAIRS]:
                found.append((rows[pairs], side, is_summand[pairs]))
            for row, number in zip(rows[~plain & ~pairs], numbers[~plain & ~pairs], strict=True):
                inside = self.bundles[number - BUNDLES]
                found.append((np.full(len(inside), row), inside, np.zeros(len(inside), bool)))
            rows, numbers, is_summand = map(np.concatenate, zip(*found, strict=True))
        return Origins(rows, numbers, is_summand, bool(self._of(variable).ndim))

    def _of(self, variable: Variable) -> np.ndarray:
        if variable not in self.known:
            self.known[variable] = self._compute(variable)
        return self.known[variable]

    def _compute(self, variable: Variable) -> np.ndarray:
        if variable in self.filled:
            length = self.length(variable)
            self.starts[variable], self.next = self.next, self.next + length
            return self.starts[variable] + np.arange(length)
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

    def start(self, variable: Variable) -> int:
        """The number of the first row of an output."""
        self._of(variable)
        return self.starts[variable]

    def length(self, variable: Variable) -> int:
        """The number of rows of an output, of which a window may have been kept."""
        scan, number = self.filled[variable]
        recording = self.recordings[scan]
        part = recording.parts.variables[number]
        return recording.lengths.get(part, len(recording.final[part]))

    def kept(self, variable: Variable) -> tuple[int, int]:
        """The first row of an output that was kept, and how many were."""
        scan, number = self.filled[variable]
        recording = self.recordings[scan]
        return recording.first, len(recording.final[recording.parts.variables[number]])

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
            both = (whole != 0) & (part != 0)
            start, pairs = self.pairs.shape[1], np.stack([whole[both], part[both]])
            self.pairs = np.concatenate([self.pairs, pairs], axis=1)
            whole = np.where(whole == 0, part, whole)
            whole[both] = PAIRS + start + np.arange(pairs.shape[1])
        return whole

    def _changed(self, inputs: Iterable[Variable]) -> np.ndarray:
        """Everything that any other operation reads; none of it is a summand any more."""
        self.bundles.append(np.unique(np.concatenate([self._of(v).ravel() for v in inputs])))
        return np.array(BUNDLES + len(self.bundles) - 1)


class Origins(NamedTuple):
    """Rows of an array, and the numbers of the rows that they are computed from.

    Without `has_rows` all rows of the array have the origins of row 0.
    """

    rows: np.ndarray
    numbers: np.ndarray
    is_summand: np.ndarray
    has_rows: bool

    def within(self, start: int, first: int, count: int, is_array: bool) -> tuple[FedRow, ...]:
        """Those from `count` rows of an output, from `first` on; its rows count from `start`."""
        source = self.numbers - start - first
        inside = np.flatnonzero((source >= 0) & (source < count))
        found = zip(self.rows[inside], source[inside], self.is_summand[inside], strict=True)
        all_rows = is_array and not self.has_rows
        told = {(None if all_rows else int(r), int(s), bool(exact)) for r, s, exact in found}
        return tuple(FedRow(*one) for one in sorted(told, key=lambda one: (one[0] or 0, one[1:])))


def feeds(
    made: Iterable[tuple[int, Variable, int]],
    rows: RowOrigins,
    values: Mapping[Variable, Computed] | None = None,
    first: int = 0,
) -> tuple[Feed, ...]:
    """What the numbered variables `made` are computed from, with no other Scan in between.

    Only numbers count: a Scan whose result merely tells how long a buffer must be feeds nothing.
    Of each variable the rows from `first` on were kept, as many as stand behind it.  With all
    `values` it is told as well to which of them more is added.
    """
    found = []
    for into, variable, count in made:
        more = added_to(variable, rows.filled, values) if values is not None else set()
        is_array = bool(getattr(variable.type, "ndim", 0))
        for v in sources(variable, rows.filled):
            origins = rows.of(variable, count, first)
            fed = origins.within(rows.start(v), *rows.kept(v), is_array)
            found.append(Feed(into, *rows.filled[v], v in more, fed))
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

    return [found for found in find_reachable([variable], made_of) if found in filled]
