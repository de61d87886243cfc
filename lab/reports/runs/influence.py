"""Report the influence of every value of a state on the later values.

    >>> print(lab.influence(gallery.loops["rnn"].derivative()))
    ‖dh₄/dh₀‖ = 0.1556. Influence shrinks with distance: ×0.628 per step (geometric mean).

The derivative dx_t/dx_s treats all values before x_s as constants: it is 0 for t < s, and the
identity for t = s.  One pass computes all columns,

    D[t] = Σ_k J_k[t] D[t−k],

where J_k[t] is the derivative of the step that computes x_t wrt x_{t−k}.  After Bengio, Simard and
Frasconi, "Learning long-term dependencies with gradient descent is difficult".
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, replace
from itertools import islice

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import toposort
from pytensor.tensor.variable import TensorVariable

from lab.errors import (
    GradientError,
    GraphError,
    argument_error,
    check_choice,
    check_integer,
    check_type,
    listing,
)
from lab.gradients.decisions import scan_names
from lab.gradients.derivative import Derivative
from lab.gradients.exchange import our_pullback
from lab.gradients.status import Undefined, is_continuous, pytensor_gradients, status_of
from lab.gradients.symbols import derivative_symbol
from lab.notation import counted, number_text, value_symbol
from lab.progress import Progress
from lab.records import cached_property, freeze, record_of_arrays
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, build_scan, outer_outputs, read_node
from lab.scans.replacing import scan_nodes
from lab.tape import ONE_READ, ONE_WRITE, Kind
from lab.traces.run import Evaluator, Values, checked_values, run
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ParameterTrace, SequenceTrace, TapeTrace, Trace
from lab.traces.tracing import trace as trace_of

MOST_ENTRIES = 4_000_000  # largest number of entries of all derivatives together
BATCH = 64  # largest number of unit cotangents in one run
MOST = 200  # largest number of rows and of columns of the result
MOST_WORK = 4e9  # largest number of multiplications, which take a few seconds
STEADY = 1.05  # largest ratio of two sizes that count as equal
Read = tuple[int, int]  # the number of a state, and the tap at which a step reads it
LITTLE = 0.01  # sizes below it count as vanished, and sizes above its inverse as exploded


@record_of_arrays
class Influence:
    """The derivatives of state `of` wrt earlier values of state `by`, for the loop Scan `scan`.

    ``values[i, j]`` is the derivative of value ``rows[i]`` of `of` wrt value ``columns[j]`` of
    `by`: a number for scalars, and a matrix over all pairs of entries for arrays.  For a long loop,
    ``values[i, j]`` is the largest derivative of a block.  The block contains the values from
    ``rows[i]`` up to the next row and from ``columns[j]`` up to the next column.  Matrices are
    compared by their largest entries, and nan is larger than infinity.  ``last[j]`` is the
    derivative (for arrays, its spectral norm) of the last value of `of`, value `end`, wrt value
    ``index[j]`` of `by`.  `index` contains the numbers of all values of `by`; for a very long loop,
    only of the last values, and of other values at equal distances.
    """

    _: KW_ONLY
    loop: str
    scan: int
    of: str
    by: str
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    end: int
    index: np.ndarray
    last: np.ndarray

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)  # type: ignore[call-overload]

    def __str__(self) -> str:
        return "\n".join(self.summary())

    @property
    def is_scalar(self) -> bool:
        """Whether both states are scalars, whose influence has a sign."""
        return self.values.ndim == 2

    @cached_property
    def sizes(self) -> np.ndarray:
        """The derivatives of scalars, or the spectral norms of the derivatives of arrays.

        A spectral norm is the largest ratio of the change of the later value to the change of the
        earlier value.
        """
        return self.values if self.is_scalar else _norms(self.values)

    @property
    def steps(self) -> int:
        """The number of steps from the first value to the last."""
        return int(self.index[-1] - self.index[0])

    @property
    def rate(self) -> float:
        """The factor by which the influence changes per step, as a geometric mean."""
        return float(abs(self.last[0]) ** (1 / self.steps)) if self.steps else 1.0

    @property
    def reach(self) -> int | None:
        """The smallest distance from which on every influence is below 1 %, or None."""
        (large,) = np.nonzero(~(np.abs(self.last) < LITTLE))
        if not large.size or large[0] == 0:
            return None if large.size else 0
        return int(self.index[-1] - self.index[large[0] - 1])

    def derivative_label(self, of: int | str, by: int | str) -> str:
        """Return the label of a derivative: ``dx₃/dx₁``, or ``‖dh₃/dh₁‖`` for arrays."""
        name = derivative_symbol(value_symbol(self.of, of), value_symbol(self.by, by))
        return name if self.is_scalar else f"‖{name}‖"

    def summary(self) -> Iterator[str]:
        """Yield the sentences of the summary."""
        name = self.derivative_label(self.end, int(self.index[0]))
        result, sizes = f"{name} = {number_text(self.last[0])}.", np.abs(self.last)
        if not self.last[0]:
            yield f"{result} A small change of the first value has no first-order effect."
        elif not np.isfinite(sizes).all():
            yield f"{result} The influence is not finite."
        elif sizes.max() <= STEADY * sizes.min():
            yield f"{result} Influence is about constant over {self.steps:,} steps."
        elif not (_falls(sizes) or _falls(sizes[::-1])):
            ends = f"{number_text(sizes.min())} and {number_text(sizes.max())}"
            yield f"{result} Influence varies with distance between {ends}."
        else:
            change = "grows" if _falls(sizes) else "shrinks"
            verdict = " It explodes." if sizes[0] > 1 / LITTLE else ""
            verdict = " It vanishes." if sizes[0] < LITTLE else verdict
            mean = f"×{self.rate:.3g} per step (geometric mean)"
            yield f"{result} Influence {change} with distance: {mean}.{verdict}"
        if np.isfinite(sizes).all() and not np.isfinite(self.sizes).all():
            yield f"Some derivatives of earlier values of {self.of} are nan or infinite."
        if self.reach is not None:
            steps = counted(self.reach, "step")
            yield f"Values {steps} or more before the end change the last value by less than 1 %."
        if len(self.index) <= self.steps:  # derivatives wrt some values are missing
            columns = f"{len(self.index):,} of {self.steps + 1:,} values of {self.by}"
            yield f"The loop is very long: derivatives wrt {columns} were computed."


def _falls(sizes: np.ndarray) -> bool:
    return bool((np.diff(sizes) <= 0).all())


def influence(
    derivative: Derivative,
    of: str | None = None,
    by: str | None = None,
    scan: int = 1,
    trace: Trace | None = None,
    given: Values | None = None,
) -> Influence:
    """Return the derivatives of every value of the state `of` wrt every value of the state `by`.

    Both are states of a loop: Scan number `scan` of the derivative, counted from 1, or the loop
    from which this Scan was derived.  `of` defaults to the first real state, and `by` to `of`.  For
    more than 200 values, and for large arrays, an entry of the result is the largest derivative of
    a block of pairs.  `trace` is the trace of the derivative, or of some of its steps; by default,
    the derivative runs with the values `given`.

    Raises GraphError for a loop without a real state or without steps, GradientError if its step
    has no derivative, and ArgumentError for other invalid arguments.
    """
    check_type("derivative", derivative, Derivative,
           'a Derivative, such as lab.gallery.loops["rnn"].derivative()')  # fmt: skip
    nodes = scan_nodes(derivative.values)
    check_integer("scan", scan, f"a Scan of this derivative, 1 to {len(nodes)}", 1, len(nodes))
    known = {**derivative.given, **checked_values({} if given is None else given)}
    if trace is None:
        trace = trace_of(derivative, known)
    loops = scan_names(nodes)
    check_type("trace", trace, Trace, "a Trace of the derivative")
    if tuple(each.base_name for each in trace.scans) != loops:
        raise argument_error("trace", trace, f"expected a trace of {listing(loops)}.")
    number = ScanOf(trace, scan - 1).root.number
    steps = _Steps(trace, number, read_node(nodes[number]), known)
    names = [tape.name for tape in steps.states]
    listed = f"the real states of {steps.scan.name} are {{}}."
    if not names:
        raise GraphError(f"{steps.scan.name}: no state is real. Choose a loop with a real state.")
    if not steps.scan.steps:
        raise GraphError(f"{steps.scan.name}: the loop runs 0 steps. Increase n_steps.")
    first = names[0] if of is None else check_choice("of", of, names, listed)
    second = first if by is None else check_choice("by", by, names, listed)
    with np.errstate(all="ignore"):
        return steps.influence(names.index(first), names.index(second))


class _Steps:
    """The derivatives of the steps of Scan `number`, at the values that `trace` recorded."""

    def __init__(self, trace: Trace, number: int, parts: ScanParts, given: Values) -> None:
        self.number, self.scan = number, trace.scans[number]
        self.parts, self.given = parts, dict(given)
        ordered = self.parts.variables
        self.states = [
            tape
            for tape in self.scan.tapes
            if tape.kind is not Kind.MIT_MOT and is_continuous(ordered[tape.argument].outer_input)
        ]
        self.results = [as_tensor(ordered[tape.argument].inner_outputs[0]) for tape in self.states]
        self.reach = max((tape.tape.origin for tape in self.states), default=0)
        self.entries = [int(np.prod(tape.initial.shape[1:])) for tape in self.states]

    def influence(self, of: int, by: int) -> Influence:
        """Return the `Influence` of the state number `by` on the state number `of`."""
        ends, starts, factors = self._index(of), self._index(by), self._factors()
        entries, wide = self.entries[of], self.entries[by]
        most = max(2, min(MOST, int((MOST_ENTRIES / max(1, entries * wide)) ** 0.5)))
        columns = np.arange(len(starts))
        products = sum(matrices[0].size for matrices in factors.values())
        if len(starts) * len(ends) * wide * (20 * entries + products) > MOST_WORK:
            spread = np.linspace(0, columns[-1], most).round().astype(int)
            columns = np.union1d(spread, columns[-most:])
        rows, blocks = _block_starts(len(ends), most), _block_starts(len(columns), most)
        begins = columns - self.states[by].tape.origin
        derivatives = self._derivatives(factors, of, by, begins)
        heights, shape = np.diff([*rows, len(ends)]), (entries, len(columns), wide)
        values, last = _largest(derivatives, heights, blocks, shape)
        if self.states[of].initial.ndim == self.states[by].initial.ndim == 1:
            values, last = values[..., 0, 0], last[..., 0, 0]
        return Influence(
            loop=self.scan.name,
            scan=self.number + 1,
            of=self.states[of].name,
            by=self.states[by].name,
            rows=freeze(ends[rows]),
            columns=freeze(starts[columns[blocks]]),
            values=freeze(values),
            end=int(ends[-1]),
            index=freeze(starts[columns]),
            last=freeze(last if last.ndim == 1 else _norms(last)),
        )

    def _index(self, state: int) -> np.ndarray:
        """Return the time indices of all values of a state, including its initial values."""
        tape = self.states[state]
        rows = np.arange(tape.tape.origin + self.scan.steps)
        return rows if tape.axis is None else tape.axis.index[rows]

    def _factors(self) -> dict[tuple[int, Read], np.ndarray]:
        """Map each pair of a state and a read to the matrices J of all steps."""
        output_cotangents, filled = self._transposed()
        steps, sizes = self.scan.steps, self.entries
        factors = {
            (state, read): np.zeros((steps, sizes[state], sizes[read[0]])) for state, read in filled
        }
        evaluator, size = Evaluator(), max(1, min(BATCH, max(self.entries)))
        for first in range(0, max(self.entries), size):
            for state, cotangents in enumerate(output_cotangents):
                units = np.eye(first + size, sizes[state], dtype=cotangents.type.dtype)[first:]
                shape = self.states[state].initial.shape[1:]
                self.given[cotangents] = units.reshape(size, *shape)
            values, _ = run(list(filled.values()), self.given, record=False, evaluator=evaluator)
            for key, matrices in factors.items():
                rows = np.asarray(values[filled[key]]).reshape(steps, -1, matrices.shape[2])
                part = matrices[:, first : first + size]
                part[...] = rows[:, : part.shape[1]]
        return {key: matrices for key, matrices in factors.items() if matrices.any()}

    def _transposed(self) -> tuple[list[TensorVariable], dict[tuple[int, Read], Variable]]:
        """Return an input for the cotangent of each state, and the cotangents of the step's reads.

        One Scan computes the cotangents of the reads, with a row per step.  Its steps are
        independent, because they read recorded values.
        """
        variables, reads, n_steps = [], dict[Read, Variable](), pt.constant(self.scan.steps)
        places = {tape.argument: place for place, tape in enumerate(self.states)}
        records = {v.argument: v for v in self.scan.variables}
        for number, part in enumerate(self.parts.variables):
            known = records.get(number)
            if isinstance(known, SequenceTrace | ParameterTrace):
                values = known.values if isinstance(known, SequenceTrace) else known.value
                variables.append(self._recorded_variable(part, values))
            elif isinstance(known, TapeTrace) and part.kind.is_state:
                for (tap, argument), access in zip(part.reads, known.reads, strict=True):
                    like = LoopVariable(
                        Kind.SEQUENCE, part.name, ONE_READ, part.outer_input, (argument,)
                    )
                    variables.append(self._recorded_variable(like, access.values))
                    if number in places:
                        reads[places[number], tap] = argument
            elif part.kind is not Kind.NIT_SOT:
                variables.append(part)  # for example, a generator
        output_cotangents, outputs = [], dict[tuple[int, Read], LoopVariable]()
        for state, result in enumerate(self.results):
            several = pt.tensor(dtype=result.type.dtype, shape=(None, *result.type.shape))
            inner, cotangent = several.type(), result.type()
            output_cotangents.append(several)
            part = LoopVariable(Kind.PARAMETER, "cotangents", ONE_READ, several, (inner,))
            variables.append(part)
            with our_pullback():  # one result at a time, because 0 × infinity is nan
                gradients = pytensor_gradients((result * cotangent).sum(), [*reads.values()])
            for read, gradient in zip(reads, gradients, strict=True):
                status = status_of(gradient)
                if isinstance(status, Undefined):
                    raise GradientError(f"{self.scan.name}: its step has no derivative: {status}")
                if isinstance(gradient, TensorVariable):
                    results = (vectorize_graph(_with_switches(gradient), {cotangent: inner}),)
                    part = LoopVariable(Kind.NIT_SOT, "gradient", ONE_WRITE, n_steps, (), results)
                    outputs[state, read] = part
                    variables.append(part)
        parts = ScanParts(self.parts.name, n_steps, tuple(variables), mode=self.parts.mode)
        filled = outer_outputs(parts, build_scan(parts))
        return output_cotangents, {key: filled[part] for key, part in outputs.items()}

    def _recorded_variable(self, part: LoopVariable, values: np.ndarray) -> LoopVariable:
        """Return a copy of `part` whose outer input has the recorded `values`."""
        # PyTensor requires that the type of the outer input also states axes of length 1.
        row = part.inner_inputs[0].type.shape
        rows = (None,) * (values.ndim - len(row))
        outer = pt.tensor(dtype=values.dtype, shape=(*rows, *row))
        self.given[outer] = values
        return replace(part, outer_input=outer)

    def _derivatives(
        self, factors: Mapping[tuple[int, Read], np.ndarray], of: int, by: int, begins: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield the derivatives of each value of `of` wrt values of the state `by`.

        `begins` are the steps that write these values of `by`, negative for initial values.  The
        axes are the entry of `of`, the step in `begins`, and the entry of `by`.  Derivatives wrt
        later values are omitted.
        """
        wide, first = self.entries[by], -self.states[of].tape.origin
        past: deque[list[np.ndarray]] = deque(maxlen=max(1, self.reach))
        with Progress() as progress:
            progress.expect(1)
            for number in progress.steps("influence", self.reach + self.scan.steps):
                step = number - self.reach  # negative for initial values
                begun = int(np.searchsorted(begins, step, "right"))
                now = [np.zeros((entries, begun, wide)) for entries in self.entries]
                for (state, (source, tap)), matrices in factors.items() if step >= 0 else ():
                    earlier = past[tap][source]
                    now[state][:, : earlier.shape[1]] += np.tensordot(matrices[step], earlier, 1)
                if begun and begins[begun - 1] == step:
                    now[by][:, begun - 1] = np.eye(wide)
                past.append(now)
                if step >= first:
                    yield now[of]


def _block_starts(length: int, most: int) -> np.ndarray:
    """Return the first indices of at most `most` blocks of about equal length."""
    count = min(length, most)
    return np.arange(count) * length // count


def _largest(
    derivatives: Iterator[np.ndarray],
    heights: np.ndarray,
    blocks: np.ndarray,
    shape: tuple[int, int, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest of the derivatives in each block, and all derivatives of the last value.

    `heights` are the numbers of rows of the blocks, and `blocks` their first columns.  `shape` is
    the shape of the derivatives of the last value; earlier values can have fewer derivatives.
    """
    largest = []
    for height in heights.tolist():
        sizes, chosen = np.zeros(shape[1]), np.zeros(shape)
        for new in islice(derivatives, height):
            size = np.abs(new).max(axis=(0, 2), initial=0.0)
            known = sizes[: len(size)]
            (better,) = np.nonzero(~(size <= known) & ~np.isnan(known))
            sizes[better], chosen[:, better] = size[better], new[:, better]
        parts = np.split(sizes, blocks[1:])  # argmax returns the index of a nan
        places = blocks + np.array([np.argmax(part) for part in parts])
        largest.append(chosen[:, places])
    return np.moveaxis(np.array(largest), 1, 2), np.moveaxis(new, 1, 0)


def _with_switches(result: Variable) -> Variable:
    """Return a result with `switch` for `ifelse`, which PyTensor cannot vectorize."""
    copies = dict[Variable, Variable]()
    for node in toposort([result]):
        inputs, results = [copies.get(v, v) for v in node.inputs], node.outputs
        if type(node.op).__name__ == "IfElse":  # its module depends on the version of PyTensor
            count = len(results)
            pairs = zip(inputs[1 : count + 1], inputs[count + 1 :], strict=True)
            results = [pt.switch(inputs[0], *pair) for pair in pairs]
        elif inputs != node.inputs:
            results = node.clone_with_new_inputs(inputs).outputs
        copies.update(zip(node.outputs, results, strict=True))
    return copies.get(result, result)


def _norms(matrices: np.ndarray) -> np.ndarray:
    """Return the spectral norms of a stack of matrices; inf or nan for an entry inf or nan."""
    norms = np.abs(matrices).max(axis=(-2, -1), initial=0.0)  # nan is the largest
    plain = np.isfinite(norms) & (norms != 0)
    norms[plain] = np.linalg.norm(matrices[plain], 2, axis=(-2, -1))
    return norms
