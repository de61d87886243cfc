"""Does the end remember the beginning?  How much each value of a state moves the later ones.

    >>> print(lab.influence(gallery.loops["rnn"].derivative()))
    ‖dh₄/dh₀‖ = 0.1556: the farther back, the smaller; a step multiplies by 0.628 in the mean.

A value changes, and all values before it stay: dx_t/dx_s is 0 for t < s, and the identity for
t = s.  One pass computes all columns,

    D[t] = Σ_k J_k[t] D[t−k],

where J_k[t] is the derivative of the step that makes x_t by the x_{t−k} that it reads.  After
Bengio, Simard and Frasconi, "Learning long-term dependencies with gradient descent is difficult".
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
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
from lab.gradients.derivative import Derivative
from lab.gradients.exchange import our_pullback
from lab.gradients.status import Undefined, is_continuous, pytensor_gradients, status_of
from lab.notation import number_text, value_symbol
from lab.progress import Progress
from lab.records import cached_property, freeze, record_of_arrays
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, build_scan, outer_outputs, read_node
from lab.scans.replacing import scan_nodes
from lab.tape import Kind, Tape
from lab.traces.run import Ready, Values, checked_values, run
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ParameterTrace, SequenceTrace, TapeTrace, Trace
from lab.traces.tracing import trace as trace_of

MOST_ENTRIES = 4_000_000  # of all derivatives together
FEWEST, PLACES, MOST = 2, 200, 5_000  # rows, and columns
STEADY, LITTLE = 1.05, 0.01  # how far apart sizes are that stay the same; what is next to nothing


@record_of_arrays
class Cut:
    """A parameter, and what of its gradient is lost by ``truncate_gradient=k``.

    ``errors[k − 1]`` is how far the truncated gradient is from the whole one, as a share of that.
    """

    name: str
    errors: np.ndarray

    @property
    def enough(self) -> int:
        """The smallest k from which on the error stays within a hundredth."""
        (large,) = np.nonzero(~(self.errors <= LITTLE))
        return int(large[-1]) + 2 if large.size else 1


@record_of_arrays
class Influence:
    """How much the values of the state `by` move those of the state `of`, in Scan `scan`, a loop.

    ``values[i, j]`` is the derivative of the value number ``rows[i]`` of `of` by the value number
    ``columns[j]`` of `by`: a number, or of arrays a matrix over their entries.  ``last[j]`` is the
    size of the derivative of the last value of `of` by the value number ``index[j]`` of `by`, and
    `cuts` are the errors of truncation, for the parameters that have a gradient.
    """

    loop: str
    scan: int
    of: str
    by: str
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    index: np.ndarray
    last: np.ndarray
    cuts: tuple[Cut, ...] = ()

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)  # type: ignore[call-overload]

    def __str__(self) -> str:
        return "\n".join(self.told)

    @property
    def is_scalar(self) -> bool:
        """Whether both states are numbers, so that influence has a sign."""
        return self.values.ndim == 2

    @cached_property
    def sizes(self) -> np.ndarray:
        """The derivatives; of arrays how many times larger a change can become: spectral norms."""
        return self.values if self.is_scalar else _norms(self.values)

    @property
    def steps(self) -> int:
        """From the first value to the last."""
        return int(self.index[-1] - self.index[0])

    @property
    def rate(self) -> float:
        """What every step back multiplies the influence on the end by, in the geometric mean."""
        return float(abs(self.last[0]) ** (1 / self.steps)) if self.steps else 1.0

    @property
    def reach(self) -> int | None:
        """So many steps before the end, and farther, influence stays below 1 %; None if nowhere."""
        (large,) = np.nonzero(~(np.abs(self.last) < LITTLE))
        if not large.size or large[0] == 0:
            return None if large.size else 0
        return int(self.index[-1] - self.index[large[0] - 1])

    def called(self, of: int | str, by: int | str) -> str:
        """``dx₃/dx₁``, and of arrays ``‖dh₃/dh₁‖``."""
        name = f"d{value_symbol(self.of, of)}/d{value_symbol(self.by, by)}"
        return name if self.is_scalar else f"‖{name}‖"

    @property
    def told(self) -> tuple[str, ...]:
        """What is read off, in sentences."""
        return tuple(self._told())

    def _told(self) -> Iterator[str]:
        name = self.called(int(self.rows[-1]), int(self.index[0]))
        found, sizes = f"{name} = {number_text(self.last[0])}", np.abs(self.last)
        if not self.last[0]:
            yield f"{found}: nothing of the beginning reaches the end."
        elif not np.isfinite(sizes).all():
            yield f"{found}: the influence has exploded."
        elif sizes.max() <= STEADY * sizes.min():
            yield f"{found}: it stays about the same, over {self.steps:,} steps."
        elif not (_falls(sizes) or _falls(sizes[::-1])):
            ends = f"{number_text(sizes.min())} and {number_text(sizes.max())}"
            yield f"{found}: on the way back it goes up and down, between {ends}."
        else:
            what = "larger" if _falls(sizes) else "smaller"
            far = "; it explodes" if sizes[0] > 1 / LITTLE else ""
            far = "; it vanishes" if sizes[0] < LITTLE else far
            mean = f"a step multiplies by {self.rate:.3g} in the mean"
            yield f"{found}: the farther back, the {what}; {mean}{far}."
        if self.reach is not None:
            steps = f"{self.reach:,} step{'s' * (self.reach > 1)}"
            yield f"What lies {steps} or more before the end moves it by less than 1 %."
        for cut in self.cuts:
            least, steps = f"truncate_gradient = {cut.enough:,}", f"{len(cut.errors):,} steps"
            if cut.enough < len(cut.errors):
                yield f"{least} of {steps} gives the gradient of {cut.name} within 1 %."
            else:
                yield f"The gradient of {cut.name} needs all of the {steps}, to be within 1 %."


def _falls(sizes: np.ndarray) -> bool:
    return bool((np.diff(sizes) <= 0).all())


def influence(
    derivative: Derivative,
    of: str | None = None,
    by: str | None = None,
    scan: int = 1,
    most: int = PLACES,
    trace: Trace | None = None,
    given: Values | None = None,
) -> Influence:
    """How much every value of the state `by` moves every later one of the state `of`.

    Both are states of the loop that is Scan `scan` of the derivative, counted from 1, or that this
    one differentiates: `of` is the first with real numbers, `by` the same, unless they are named.
    Of more than `most` values, and of large arrays, some have a row and a column, at equal
    distances.  Unless there is a `trace` of the derivative, or of a window of it, it is run, with
    the values `given` as in `lab.trace`.

    Raises GraphError for a loop without such a state, GradientError where its step has no
    derivative, ArgumentError for a trace of something else.
    """
    told = 'a Derivative, as of lab.gallery.loops["rnn"].derivative()'
    check_type("derivative", derivative, Derivative, told)
    nodes = scan_nodes(derivative.values)
    if check_integer("scan", scan) not in range(1, len(nodes) + 1):
        raise argument_error("scan", scan, f"the Scans of this derivative are 1 to {len(nodes)}.")
    if not FEWEST <= check_integer("most", most) <= MOST:
        raise argument_error("most", most, f"expected {FEWEST} to {MOST:,}.")
    known = {**derivative.given, **checked_values({} if given is None else given)}
    parts = [read_node(node) for node in nodes]
    if trace is None:
        trace = trace_of(derivative, known)
    names = [part.called for part in parts]
    check_type("trace", trace, Trace, "a Trace of the derivative")
    if [one.name.partition(", from step")[0] for one in trace.scans] != names:
        raise argument_error("trace", trace, f"expected one of {listing(names)}.")
    number = ScanOf(trace, scan - 1).root.number
    steps = _Steps(trace, number, parts[number], known)
    names = [tape.name for tape in steps.states]
    listed = f"the states of {steps.scan.name} that hold real numbers are {{}}."
    if not names:
        told = "no state of it holds real numbers, and no value moves a later one"
        raise GraphError(f"{steps.scan.name}: {told}.")
    if not steps.scan.steps:
        raise GraphError(f"{steps.scan.name}: it makes no step, and no value moves another.")
    first = names[0] if of is None else check_choice("of", of, names, listed)
    second = first if by is None else check_choice("by", by, names, listed)
    with np.errstate(all="ignore"):
        return steps.influence(names.index(first), names.index(second), most)


class _Read(NamedTuple):
    """What a step reads: the state by its place among those that move, and the tap."""

    state: int
    tap: int


class _Steps:
    """The steps of a loop, each differentiated where the run has been."""

    def __init__(self, trace: Trace, number: int, parts: ScanParts, given: Values) -> None:
        self.number, self.scan = number, trace.scans[number]
        self.parts, self.given = parts, dict(given)
        self.backward = next((one for one in trace.scans if one.parent == number), None)
        ordered = self.parts.variables
        self.states = [
            tape
            for tape in self.scan.tapes
            if tape.kind is not Kind.MIT_MOT and is_continuous(ordered[tape.argument].outer_input)
        ]
        self.made = [as_tensor(ordered[tape.argument].inner_outputs[0]) for tape in self.states]
        self.reach = max((tape.tape.origin for tape in self.states), default=0)
        self.entries = [int(np.prod(tape.initial.shape[1:])) for tape in self.states]

    def influence(self, of: int, by: int, most: int) -> Influence:
        """That of the state number `by` on the state number `of`."""
        ends, starts = self._index(of), self._index(by)
        each = max(1, self.entries[of] * self.entries[by])
        most = max(FEWEST, min(most, int((MOST_ENTRIES / each) ** 0.5)))
        rows, columns, near = _spread(len(ends), most), _spread(len(starts), most), len(starts)
        near_end = np.union1d(_spread(near, most), np.arange(max(0, near - most), near))
        factors = self._factors()
        values = self._forwards(factors, of, by, rows, columns)
        (last,) = self._forwards(factors, of, by, np.array([len(ends) - 1]), near_end)
        if self.states[of].initial.ndim == self.states[by].initial.ndim == 1:
            values, last = values[..., 0, 0], last[..., 0, 0]
        return Influence(
            self.scan.name,
            self.number + 1,
            self.states[of].name,
            self.states[by].name,
            freeze(ends[rows]),
            freeze(starts[columns]),
            freeze(values),
            freeze(starts[near_end]),
            freeze(last if last.ndim == 1 else _norms(last)),
            tuple(self._cuts()),
        )

    def _index(self, state: int) -> np.ndarray:
        """The numbers of all values of a state: of those that are given, and of one a step."""
        tape = self.states[state]
        rows = np.arange(tape.tape.origin + self.scan.steps)
        return rows if tape.axis is None else tape.axis.index[rows]

    def _cuts(self) -> Iterator[Cut]:
        """The running totals of the backward Scan are what every truncation would leave."""
        if self.backward is None or self.scan.first or self.backward.first:
            return  # of a window nothing is told: the other steps have a part of the gradient, too
        for tape in self.backward.tapes:
            totals = tape.writes[0].values.reshape(self.backward.steps, -1).astype("float64")
            if tape.is_total and totals.size and np.isfinite(totals[-1]).all():
                size = np.linalg.norm(totals[-1])
                lost = np.linalg.norm(totals - totals[-1], axis=1)
                yield Cut(str(tape.gradient_of), freeze(lost / size if size else lost))

    def _factors(self) -> dict[tuple[int, _Read], np.ndarray]:
        """The matrices J: of each state by each value that it is made of, one for every step."""
        output_cotangents, filled = self._transposed()
        found: dict[tuple[int, _Read], np.ndarray] = {}
        ready = Ready()
        for state, entries in enumerate(self.entries):
            for entry in range(entries):
                for number, cotangent in enumerate(output_cotangents):
                    one = np.zeros(self.states[number].initial.shape[1:], cotangent.type.dtype)
                    one.reshape(-1)[entry if number == state else slice(0)] = 1
                    self.given[cotangent] = one
                values, _ = run(list(filled.values()), self.given, record=False, ready=ready)
                for read, variable in filled.items():
                    shape = self.scan.steps, entries, self.entries[read.state]
                    matrices = found.setdefault((state, read), np.zeros(shape))
                    matrices[:, entry] = np.asarray(values[variable]).reshape(shape[0], shape[2])
        return {key: matrices for key, matrices in found.items() if matrices.any()}

    def _transposed(self) -> tuple[list[Variable], dict[_Read, Variable]]:
        """The cotangents of what all steps read, from output_cotangents: those of what they make.

        It is a Scan whose steps do not depend on one another: what they read was recorded.
        """
        variables, reads = [], dict[_Read, Variable]()
        places = {tape.argument: place for place, tape in enumerate(self.states)}
        held = {v.argument: v for v in self.scan.variables}
        for number, part in enumerate(self.parts.variables):
            known = held.get(number)
            if isinstance(known, SequenceTrace):
                variables.append(self._given(part, known.values))
            elif isinstance(known, ParameterTrace):
                variables.append(self._given(part, known.value))
            elif isinstance(known, TapeTrace) and part.kind.is_state:
                for (tap, argument), access in zip(part.reads, known.reads, strict=True):
                    like = LoopVariable(
                        Kind.SEQUENCE, part.name, SEQUENCE, part.outer_input, (argument,)
                    )
                    variables.append(self._given(like, access.values))
                    if number in places:
                        reads[_Read(places[number], tap)] = argument
            elif part.kind is not Kind.NIT_SOT:
                variables.append(part)  # what is no array, as generators
        output_cotangents, cost = [], pt.constant(0.0)
        for made in self.made:
            inner, cotangent = made.type(), made.type()
            output_cotangents.append(cotangent)
            variables.append(
                LoopVariable(Kind.PARAMETER, "cotangent", SEQUENCE, cotangent, (inner,))
            )
            cost = cost + (made * inner).sum()
        with our_pullback():
            gradients = dict(zip(reads, pytensor_gradients(cost, [*reads.values()]), strict=True))
        outputs = {}
        for read, gradient in gradients.items():
            status = status_of(gradient)
            if isinstance(status, Undefined):
                raise GradientError(f"{self.scan.name}: its step has no derivative: {status}")
            if isinstance(gradient, TensorVariable):
                n_steps = pt.constant(self.scan.steps)
                part = LoopVariable(Kind.NIT_SOT, "moved", Tape((), (0,)), n_steps, (), (gradient,))
                outputs[read] = part
                variables.append(part)
        parts = ScanParts(
            self.parts.name, pt.constant(self.scan.steps), tuple(variables), mode=self.parts.mode
        )
        filled = outer_outputs(parts, build_scan(parts))
        return output_cotangents, {read: filled[part] for read, part in outputs.items()}

    def _given(self, part: LoopVariable, values: np.ndarray) -> LoopVariable:
        """A variable of a loop with values that are known."""
        row = part.inner_inputs[0].type.shape  # whose axes of length 1 PyTensor wants outside, too
        rows = (None,) * (values.ndim - len(row))
        outer = pt.tensor(dtype=values.dtype, shape=(*rows, *row))
        self.given[outer] = values
        return replace(part, outer_input=outer)

    def _forwards(
        self,
        factors: Mapping[tuple[int, _Read], np.ndarray],
        of: int,
        by: int,
        rows: np.ndarray,
        columns: np.ndarray,
    ) -> np.ndarray:
        """The derivatives in some rows and columns, which are numbers of the states' rows.

        All values that the same step makes, or that are given so long before it, come together.
        """
        wide, tape_of, tape_by = self.entries[by], self.states[of].tape, self.states[by].tape
        kept = {row - tape_of.origin: place for place, row in enumerate(rows.tolist())}
        moved = {row - tape_by.origin: place for place, row in enumerate(columns.tolist())}
        values = np.zeros((len(rows), len(columns), self.entries[of], wide))
        past: deque[list[np.ndarray]] = deque(maxlen=max(1, self.reach))
        for step in self._progress():
            now = [np.zeros((len(columns), entries, wide)) for entries in self.entries]
            for (state, read), matrices in factors.items() if step >= 0 else ():
                now[state] += matrices[step] @ past[read.tap][read.state]
            if step in moved:
                now[by][moved[step]] = np.eye(wide)
            if step in kept:
                values[kept[step]] = now[of]
            past.append(now)
        return values

    def _progress(self) -> Iterator[int]:
        """The steps, and before them those that would have made what is given."""
        with Progress() as progress:
            progress.expect(1)
            for step in progress.steps("influence", self.reach + self.scan.steps):
                yield step - self.reach


SEQUENCE = Tape((0,), ())


def _spread(length: int, most: int) -> np.ndarray:
    """Of so many things at most so many, at equal distances, first and last among them."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(int))


def _norms(matrices: np.ndarray) -> np.ndarray:
    """Spectral norms; infinite, or nan, where entries are."""
    odd = ~np.isfinite(matrices).all(axis=(-2, -1))
    norms = np.linalg.norm(np.where(odd[..., None, None], 0, matrices), 2, axis=(-2, -1))
    return np.where(odd, np.where(np.isnan(matrices).any(axis=(-2, -1)), np.nan, np.inf), norms)
