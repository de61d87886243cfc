"""Find the rows of earlier Scans from which the rows of an array are computed.

A buffer of gradients is built from zeros, seeds, and outputs of other Scans, by slices and sums.
`RowOrigins` evaluates these operations on sets of rows instead of numbers.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from lab.records import find_reachable
from lab.scans.node import LoopVariable
from lab.scans.operations import plain_name, unchanged_input
from lab.scans.slices import index_parts, select_rows
from lab.traces.loop_run import Computed, ScanRecording
from lab.traces.trace import FedRow, Feed

# The inputs of an operation that determine the values of its result, not only its shape.
NUMBERS = {
    "Shape": slice(0),
    "Shape_i": slice(0),
    "AllocEmpty": slice(0),
    "Alloc": slice(0, 1),
    "Second": slice(1, None),
    "Subtensor": slice(0, 1),
}

PAIRS, FACTOR = 1 << 40, 1 << 62  # the smallest number of a pair; the bit of a factor


class RowOrigins:
    """The origins of rows of the arrays of a graph.

    `filled` maps outputs of Scans to the numbers of the recording and of the variable; `values`
    contains the values of arrays.  An origin is a number, which identifies a row of an output or a
    pair of origins.  The bit `FACTOR` marks an origin that is not a summand.  0 stands for no
    contribution.  The origins of an array are a vector with a number for each row, or a
    single number for all rows.
    """

    def __init__(
        self,
        filled: Mapping[Variable, tuple[int, int]],
        recordings: Sequence[ScanRecording],
        values: Mapping[Variable, Computed],
    ) -> None:
        self.filled, self.recordings, self.values = filled, recordings, values
        self.known: dict[Variable, np.ndarray] = {}
        self.starts: dict[Variable, int] = {}  # the number of the first row of each output
        self.next = 1
        self.pairs = np.zeros((2, 0), int)

    def _list(
        self, variable: Variable, count: int, first: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the row, the number, and the flag `is_summand` of each origin as three arrays.

        The rows are at most `count` rows of `variable`, starting at row `first`.
        """
        numbers = self._of(variable)
        numbers = numbers[first : first + count] if numbers.ndim else numbers.reshape(1)
        rows, is_summand = np.arange(len(numbers)), np.ones(len(numbers), bool)
        while np.any(numbers >= PAIRS):
            is_summand, numbers = is_summand & (numbers < FACTOR), numbers & ~FACTOR
            is_pair = numbers >= PAIRS
            order = np.concatenate([np.flatnonzero(~is_pair), *[np.flatnonzero(is_pair)] * 2])
            rows, is_summand = rows[order], is_summand[order]
            sides = self.pairs[:, numbers[is_pair] - PAIRS]
            numbers = np.concatenate([numbers[~is_pair], *sides])
        return rows, numbers, is_summand

    def fed_rows(
        self, variable: Variable, count: int, first: int, outputs: Iterable[Variable]
    ) -> Iterator[tuple[FedRow, ...]]:
        """Yield, for each of the `outputs`, the recorded rows that determine rows of `variable`.

        At most `count` rows of `variable` are searched, starting at row `first`.  If all rows of an
        array have the same origins, the result has row None.
        """
        rows, numbers, is_summand = self._list(variable, count, first)
        has_no_rows = bool(getattr(variable.type, "ndim", 0)) and not self._of(variable).ndim
        for output in outputs:
            self._of(output)  # assigns the number of its first row
            recording, part = self._recorded(output)
            source = numbers - self.starts[output] - recording.first
            inside = np.flatnonzero((source >= 0) & (source < len(recording.final[part])))
            entries = np.stack([rows * (not has_no_rows), source, is_summand])[:, inside]
            fed, starts, flags = np.unique(entries, axis=1)
            numbered = [None] * len(fed) if has_no_rows else fed.tolist()
            yield tuple(map(FedRow, numbered, starts.tolist(), flags.astype(bool).tolist()))

    def _of(self, variable: Variable) -> np.ndarray:
        if variable not in self.known:
            self.known[variable] = self._compute(variable)
        return self.known[variable]

    def _compute(self, variable: Variable) -> np.ndarray:
        if variable in self.filled:
            recording, part = self._recorded(variable)
            length = recording.lengths.get(part, len(recording.final[part]))
            self.starts[variable], self.next = self.next, self.next + length
            return self.starts[variable] + np.arange(length)
        node = variable.owner
        if node is None:
            return np.array(0)
        inputs = node.inputs[NUMBERS.get(plain_name(node), slice(None))]
        if not any(self._of(v).any() for v in inputs):
            return np.array(0)
        try:
            exact = self._exactly(node, variable)
        except (AttributeError, LookupError, ValueError, TypeError):  # of generators and lists
            exact = None
        return self._combined(inputs) if exact is None else exact

    def _recorded(self, output: Variable) -> tuple[ScanRecording, LoopVariable]:
        """Return the recording and the loop variable of an output of a Scan."""
        scan, number = self.filled[output]
        return self.recordings[scan], self.recordings[scan].parts.variables[number]

    def _exactly(self, node: Apply, variable: Variable) -> np.ndarray | None:
        """Return the origins if each row of `variable` has its own origins, otherwise None."""
        name, array = plain_name(node), node.inputs[0]
        if hasattr(node.op, "set_instead_of_inc"):
            return self._filled(node, variable)
        if hasattr(node.op, "idx_list"):
            whole, has_columns = self._of(array), len(index_parts(node)[2]) > 1
            cut = select_rows(node, whole, self._node_values(node)) if whole.ndim else whole
            is_row = variable.type.ndim < array.type.ndim and cut.size == 1
            return _as_factors(cut.reshape(()) if is_row else cut, has_columns)
        if name in ("Join", "Split"):
            return self._joined(node, variable)
        if isinstance(node.op, DimShuffle):
            whole, order = self._of(array), node.op.new_order
            return whole if not whole.ndim or order[:1] == (0,) else None
        if (same := unchanged_input(node, variable)) is not None:
            return self._operand_origins(node.inputs[same], variable)
        if name != "Add" and not isinstance(node.op, Elemwise):  # a sum of one row is an Add
            return None
        whole = self._added([self._operand_origins(v, variable) for v in node.inputs])
        return _as_factors(whole, name != "Add")

    def _joined(self, node: Apply, variable: Variable) -> np.ndarray:
        """Return the origins of the rows of joined arrays, or of a part of split rows."""
        known, inputs, is_split = (
            self._node_values(node),
            [*node.inputs],
            plain_name(node) == "Split",
        )
        is_input = not hasattr(node.op, "axis")  # PyTensor before 3.3
        if (known[inputs.pop(is_split)] if is_input else node.op.axis) != 0:
            raise ValueError
        if is_split:
            ends = np.cumsum(known[inputs[1]])
            return np.split(self._of(inputs[0]), ends)[node.outputs.index(variable)]
        return np.concatenate([np.broadcast_to(self._of(v), len(known[v])) for v in inputs])

    def _operand_origins(self, part: Variable, whole: Variable) -> np.ndarray:
        """Return the origins of `part`; raise ValueError unless its rows are rows of `whole`."""
        number = self._of(part)
        if number.size == 1:
            return number.reshape(())
        is_moved = plain_name(whole.owner) == "Reshape" and len(number) != len(self.values[whole])
        if is_moved or part.type.ndim != whole.type.ndim:
            raise ValueError
        return number

    def _filled(self, node: Apply, variable: Variable) -> np.ndarray:
        base, value = node.inputs[:2]
        size = len(np.asarray(self.values[variable]))
        has_columns = len(index_parts(node)[2]) > 1
        rows = select_rows(node, np.arange(size), self._node_values(node))
        numbers = np.array(np.broadcast_to(self._of(base), size))
        added = self._of(value)
        is_aligned = added.shape == rows.shape and value.type.ndim == base.type.ndim
        if (added.ndim and not is_aligned) or len(np.unique(rows)) < len(rows):
            raise ValueError
        is_set = node.op.set_instead_of_inc and not has_columns
        whole = added if is_set else self._added([numbers[rows], added])
        numbers[rows] = _as_factors(whole, has_columns)
        return numbers

    def _node_values(self, node: Apply) -> Mapping[Variable, Computed]:
        known = {v: self.values[v] for v in node.inputs if v in self.values}
        return known | {v: v.data for v in node.inputs if isinstance(v, Constant)}

    def _added(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        whole, *others = np.broadcast_arrays(*parts)
        for part in others:
            both = (whole != 0) & (part != 0)
            start, pairs = self.pairs.shape[1], np.stack([whole[both], part[both]])
            self.pairs = np.concatenate([self.pairs, pairs], axis=1)
            whole = np.where(whole == 0, part, whole)
            whole[both] = PAIRS + start + np.arange(pairs.shape[1])
        return whole

    def _combined(self, inputs: Iterable[Variable]) -> np.ndarray:
        """Combine the origins of all inputs into a single origin, which is no summand."""
        numbers = np.unique(np.concatenate([self._of(v).ravel() for v in inputs]))
        while len(numbers) > 1:
            half, odd = divmod(len(numbers), 2)
            pairs = self._added([numbers[odd : odd + half], numbers[odd + half :]])
            numbers = np.concatenate([numbers[:odd], pairs])
        return _as_factors(numbers[0], True)


def _as_factors(numbers: np.ndarray, are_factors: bool) -> np.ndarray:
    """Return `numbers`; if they `are_factors`, mark them with the bit `FACTOR`."""
    return np.where(numbers == 0, 0, numbers | FACTOR) if are_factors else numbers


def feeds(
    targets: Iterable[tuple[int, Variable, int]],
    rows: RowOrigins,
    values: Mapping[Variable, Computed] | None = None,
    first: int = 0,
) -> tuple[Feed, ...]:
    """Return a feed for each Scan output from which a target is computed without another Scan.

    A target is the number of a variable, the variable, and the number of its recorded rows,
    starting at `first`.  A Scan that determines only the length of a buffer is no feed.  With
    `values`, the field `more` of a feed shows whether the variable is a sum with other terms.
    """
    all_feeds = []
    for into, variable, count in targets:
        more = added_to(variable, rows.filled, values) if values is not None else set()
        outputs = sources(variable, rows.filled)
        fed_rows = rows.fed_rows(variable, count, first, outputs)
        for output, fed in zip(outputs, fed_rows, strict=True):
            all_feeds.append(Feed(into, *rows.filled[output], output in more, fed))
    return tuple(sorted(all_feeds, key=lambda feed: (feed.into, feed.scan, feed.variable)))


def added_to(
    variable: Variable, filled: Container[Variable], values: Mapping[Variable, Computed]
) -> set[Variable]:
    """Return the `filled` variables to which the sum `variable` adds other, nonzero terms."""
    terms, others, waiting = set(), False, [variable]
    while waiting:
        term = waiting.pop()
        node = term.owner
        if term in filled:
            terms.add(term)
        elif node is not None and plain_name(node) == "Add":
            waiting += node.inputs
        elif node is not None and plain_name(node) in ("Sum", "Subtensor"):
            waiting.append(node.inputs[0])
        elif node is not None and (same := unchanged_input(node, term)) is not None:
            waiting.append(node.inputs[same])
        else:
            others |= term not in values or bool(np.any(np.asarray(values[term]) != 0))
    return terms if others else set()


def sources(variable: Variable, filled: Container[Variable]) -> list[Variable]:
    """Return the nearest `filled` variables from which `variable` is computed."""

    def inputs_of(variable: Variable) -> Sequence[Variable]:
        node = None if variable in filled else variable.owner
        return () if node is None else node.inputs[NUMBERS.get(plain_name(node), slice(None))]

    return [source for source in find_reachable([variable], inputs_of) if source in filled]
