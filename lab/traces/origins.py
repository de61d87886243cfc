"""Find the rows of earlier Scans from which the rows of an array are computed.

A buffer of gradients is built from zeros, seeds, and outputs of other Scans, by slices and sums.
`RowOrigins` evaluates these operations on sets of rows instead of numbers.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.records import find_reachable
from lab.scans.node import LoopVariable
from lab.scans.operations import plain_name, unchanged_input
from lab.scans.slices import select_rows
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


PAIRS, BUNDLES = 1 << 40, 1 << 60  # smallest numbers that identify a sum and a bundle


class RowOrigins:
    """The origins of rows of the arrays of a graph.

    `filled` maps outputs of Scans to the numbers of the recording and of the variable; `values`
    contains the values of arrays.  An origin is a number, which identifies a row of an output, a
    sum of two origins, or a bundle of all origins that another operation combines.  The number 0
    means that no Scan contributes.  The origins of an array are a vector with a number for each
    row, or a single number for all rows.
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
        self.bundles: list[np.ndarray] = []

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
            plain = numbers < PAIRS
            parts = [(rows[plain], numbers[plain], is_summand[plain])]
            pairs = (numbers >= PAIRS) & (numbers < BUNDLES)
            for side in self.pairs[:, numbers[pairs] - PAIRS]:
                parts.append((rows[pairs], side, is_summand[pairs]))
            for row, number in zip(rows[~plain & ~pairs], numbers[~plain & ~pairs], strict=True):
                inside = self.bundles[number - BUNDLES]
                parts.append((np.full(len(inside), row), inside, np.zeros(len(inside), bool)))
            rows, numbers, is_summand = map(np.concatenate, zip(*parts, strict=True))
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
        return self._bundle_inputs(inputs) if exact is None else exact

    def _recorded(self, output: Variable) -> tuple[ScanRecording, LoopVariable]:
        """Return the recording and the loop variable of an output of a Scan."""
        scan, number = self.filled[output]
        return self.recordings[scan], self.recordings[scan].parts.variables[number]

    def _exactly(self, node: Apply, variable: Variable) -> np.ndarray | None:
        """Return the origins if the operation of `variable` only moves or adds rows, else None."""
        if isinstance(node.op, Subtensor):
            whole = self._of(node.inputs[0])
            cut = select_rows(node, whole, self._constants(node)) if whole.ndim else whole
            is_row = variable.type.ndim < node.inputs[0].type.ndim and cut.size == 1
            return cut.reshape(()) if is_row else cut
        if isinstance(node.op, IncSubtensor):
            return self._filled(node, variable)
        if plain_name(node) == "Add":
            return self._added([self._operand_origins(v, variable) for v in node.inputs])
        if plain_name(node) == "Join":
            return self._joined(node)
        if isinstance(node.op, DimShuffle):
            whole, order = self._of(node.inputs[0]), node.op.new_order
            return whole if not whole.ndim or order[:1] == (0,) else None
        same = unchanged_input(node, variable)
        return None if same is None else self._operand_origins(node.inputs[same], variable)

    def _joined(self, node: Apply) -> np.ndarray:
        """Return the origins of joined rows; raise ValueError for arrays that share their rows."""
        known = self._constants(node) | {v: self.values[v] for v in node.inputs if v in self.values}
        is_input = not hasattr(node.op, "axis")  # PyTensor before 3.3
        if (known[node.inputs[0]] if is_input else node.op.axis) != 0:
            raise ValueError
        parts = node.inputs[is_input:]
        return np.concatenate([np.broadcast_to(self._of(v), len(known[v])) for v in parts])

    def _operand_origins(self, part: Variable, whole: Variable) -> np.ndarray:
        """Return the origins of `part`; raise ValueError unless its rows are rows of `whole`."""
        number = self._of(part)
        if number.ndim and number.size > 1 and part.type.ndim != whole.type.ndim:
            raise ValueError
        return number.reshape(()) if number.size == 1 else number

    def _filled(self, node: Apply, variable: Variable) -> np.ndarray:
        base, value = node.inputs[:2]
        size = len(np.asarray(self.values[variable]))
        rows = select_rows(node, np.arange(size), self._constants(node))
        numbers = np.array(np.broadcast_to(self._of(base), size))
        added = self._of(value)
        if added.ndim and (len(added) != len(rows) or value.type.ndim != base.type.ndim):
            raise ValueError
        is_set = node.op.set_instead_of_inc
        numbers[rows] = added if is_set else self._added([numbers[rows], added])
        return numbers

    def _constants(self, node: Apply) -> dict[Variable, Computed]:
        constants = {v: self.values[v] for v in node.inputs[1:] if v in self.values}
        constants |= {v: v.data for v in node.inputs if isinstance(v, Constant)}
        return constants

    def _added(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        whole, *others = np.broadcast_arrays(*parts)
        for part in others:
            both = (whole != 0) & (part != 0)
            start, pairs = self.pairs.shape[1], np.stack([whole[both], part[both]])
            self.pairs = np.concatenate([self.pairs, pairs], axis=1)
            whole = np.where(whole == 0, part, whole)
            whole[both] = PAIRS + start + np.arange(pairs.shape[1])
        return whole

    def _bundle_inputs(self, inputs: Iterable[Variable]) -> np.ndarray:
        """Combine the origins of all inputs into a new bundle, and return its number.

        The origins in a bundle do not count as summands.
        """
        self.bundles.append(np.unique(np.concatenate([self._of(v).ravel() for v in inputs])))
        return np.array(BUNDLES + len(self.bundles) - 1)


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
    return tuple(sorted(all_feeds, key=lambda feed: (feed.into, feed.scan, feed.argument)))


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
