"""Find the first value of a run that is nan, infinite, beyond a bound, or equal to a number.

    >>> print(lab.first(trace, "nan"))
    First nan: step 0 of gradient of scan_fn, Scan 2 of 2
      dC/dx₁·(0.5/sqrt(x₀)) = 0·inf = nan
    Cause: step 0 of gradient of scan_fn
      0.5/sqrt(x₀) = 0.5/0 = inf

The search examines values in the order of computation: the inputs of a Scan, then the operations of
each step, then the backward Scans.  The chain of causes leads from a value that is not finite to
the input that is not finite, from there to its input that is not finite, and so on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import NamedTuple

import numpy as np

from lab.equations.quantities import Quantities
from lab.equations.tables import paragraph
from lab.errors import argument_error, check_type, shorten
from lab.gradients.derivative import Derivative
from lab.notation import Call, Expression, Leaf, Number, Term, number_text, render
from lab.records import freeze, record_of_arrays
from lab.reports.runs.branches import lost_branches
from lab.reports.tables import WIDTH
from lab.traces.faults import not_finite, value_at_step, value_formula, values_of
from lab.traces.scan_of import ScanOf
from lab.traces.trace import (
    Formula,
    Input,
    OuterFault,
    ScanTrace,
    SequenceTrace,
    Source,
    TapeTrace,
    Trace,
)
from lab.traces.tracing import trace as trace_of
from lab.traces.window import earliest

Look = Callable[[np.ndarray], np.ndarray]  # True for the entries that match the search
LONGEST = 12  # largest number of entries in a chain of causes
MOST_CHARACTERS = 160  # largest length of a printed formula
POWER_RULE = (
    "The power rule writes the derivative of xⁿ as n·xⁿ⁻¹, and multiplies 0 by a negative power "
    "of x = 0. PyTensor's rewrites remove this product: use lab.trace(…, rewritten=True), or write "
    "x*x instead of x**2."
)
WHAT = '"nan", "inf", ">1e6" (a larger magnitude), "=2", or a number'


@record_of_arrays
class Occurrence:
    """A value in a chain of causes, with the operation and the inputs that produced it.

    `scan` is the number of the Scan in the trace, and `step` the step that computes the value; both
    are None outside of the Scans.  `entry` is the index of the first matching entry, or else of the
    first nonfinite entry.  `given` is true if the value is an input of the graph.  `numbers` is the
    formula with numbers; it is empty if an input is an array.  `operation` is the name of the
    operation.
    """

    formula: str
    value: np.ndarray
    entry: tuple[int, ...]
    _: KW_ONLY
    scan: int | None = None
    step: int | None = None
    inputs: tuple[Input, ...] = ()
    numbers: str = ""
    given: bool = False
    operation: str = ""

    def __str__(self) -> str:
        value = _number(self.value[self.entry])
        index = f"[{', '.join(map(str, self.entry))}] of " if self.entry else ""
        parts = [index + self.formula, *([self.numbers] * bool(self.numbers)), value]
        line = " = ".join(shorten(part, MOST_CHARACTERS) for part in parts)
        if self.given:
            return f"{line}, an input of the graph"
        if self.numbers or not self.inputs:
            return line
        named = (
            f"{shorten(v.name, MOST_CHARACTERS)} is {_value_text(np.asarray(v.value))}"
            for v in self.inputs
        )
        return f"{line}, where {'; '.join(named)}"


@dataclass(frozen=True)
class First:
    """The first value of a run that matches `what`, and its causes.

    ``chain[0]`` is the value.  Each later entry is a non-finite input of the entry before it, or
    the operation that computes this input.  `explanations` describe two known cases: the gradient
    of an unselected branch of `where`, and a product with a negative power of 0.
    """

    what: str
    scans: tuple[str, ...]
    chain: tuple[Occurrence, ...]
    explanations: tuple[str, ...] = ()

    @property
    def scan(self) -> int | None:
        """The number of the Scan in the trace; None outside of the Scans."""
        return self.chain[0].scan

    @property
    def step(self) -> int | None:
        """The step that computes the value; None outside of the Scans."""
        return self.chain[0].step

    def __str__(self) -> str:
        first, *others = self.chain
        lines = [f"First {self.what}: {self._location(first)}", f"  {first}"]
        for cause in others:
            lines += [f"Cause: {self._location(cause)}", f"  {cause}"]
        lines += [line for each in self.explanations for line in paragraph(each, WIDTH)]
        return "\n".join(lines)

    def _location(self, value: Occurrence) -> str:
        if value.scan is None:
            return "an operation outside of the Scans"
        return f"step {value.step} of Scan {value.scan + 1} ({self.scans[value.scan]})"


def first(trace: Trace | Derivative, value: str | float = "nan") -> First | None:
    """Return the first value of a run that matches `value`, and its causes; None without a match.

    The search examines the loop, and then the backward Scans.  If a loop is too long for a trace,
    pass a Derivative: PyTensor runs the graph, and only the steps around the first match are
    traced.

    `value` is ``"nan"``, ``"inf"``, ``">1e6"`` for larger absolute values, or a number or ``"=2"``
    for an exact value.

    Raises ArgumentError for another `trace` or `value`.
    """
    expected = 'a Trace, such as lab.gallery.loops["square"].trace(), or a Derivative with values'
    check_type("trace", trace, (Trace, Derivative), expected)
    name, look = _parse_search(value)
    if isinstance(trace, Derivative):
        window = earliest(trace.values, trace.given, look)
        if window is None:
            return None
        trace = trace_of(trace, keep=window)
    run = _Run(trace, look)
    place = next(run.matches(), None)
    if place is None:
        return None
    chain: list[Occurrence] = []
    while place is not None and len(chain) < LONGEST:
        cause = run.cause(place)
        if not chain or cause is None or run.is_operation(place):
            chain.append(run.occurrence(place))
        place = cause
    steps = {(link.scan, link.step or 0) for link in chain if link.scan is not None}
    branches: dict[str, str] = {}
    for branch, note in (each for step in sorted(steps) for each in lost_branches(trace, *step)):
        branches.setdefault(branch, note)
    known = tuple(branches.values())
    if any(_is_power_rule(*links) for links in pairwise(chain)):
        known += (POWER_RULE,)
    return First(name, tuple(scan.name for scan in trace.scans), tuple(chain), known)


def nan_notes(trace: Trace) -> tuple[str, ...]:
    """Return the known reasons for the first nan of a run; empty if no output is nan."""
    is_nan = any(np.isnan(value).any() for value in trace.outputs if value.dtype.kind in "fc")
    result = first(trace) if is_nan else None
    return () if result is None else result.explanations


def _is_power_rule(product: Occurrence, power: Occurrence) -> bool:
    """Return whether a product is nan because a factor is 0 to a negative power."""
    if (product.operation, power.operation) != ("Mul", "Pow") or not power.inputs:
        return False
    base = np.broadcast_to(np.asarray(power.inputs[0].value), power.value.shape)[power.entry]
    return bool(np.isnan(product.value[product.entry]) and base == 0)


def _parse_search(value: object) -> tuple[str, Look]:
    """Return the description of the search, and a function that marks matching entries."""
    if isinstance(value, str) and value in ("nan", "inf"):
        return value, np.isnan if value == "nan" else np.isinf
    try:
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise ValueError
        written = value if isinstance(value, str) else f"={value}"
        if written[:1] not in (">", "="):
            raise ValueError
        number = float(written[1:])
        if np.isnan(number):  # > and = are false for nan
            raise ValueError
    except ValueError:
        raise argument_error("value", value, f"expected {WHAT}.") from None
    if written.startswith(">"):
        return f"absolute value above {number:g}", lambda values: np.abs(values) > number
    return f"{number:g}", lambda values: np.equal(values, number)


class _Place(NamedTuple):
    """The value of an argument, operation, or formula `source` at `step` of Scan number `scan`."""

    scan: int
    step: int
    source: Source | Formula


class _Output(NamedTuple):
    """Output `number` of the trace."""

    number: int


Place = _Place | _Output | OuterFault


class _Run:
    """The search in a trace for entries that `look` marks."""

    def __init__(self, trace: Trace, look: Look) -> None:
        self.trace, self.look = trace, look

    def matches(self) -> Iterator[Place]:
        """Yield the first match of each Scan, and then the matching outputs without later Scans."""
        last = [
            max((feed.scan for feed in self.trace.feeds if feed.into == number), default=-1)
            for number in range(len(self.trace.outputs))
        ]
        for number in range(-1, len(self.trace.scans)):
            if number >= 0:
                yield from self._first_of(number)
            for output, after in enumerate(last):
                if after == number and self.look(self.trace.outputs[output]).any():
                    yield _Output(output)

    def _first_of(self, number: int) -> Iterator[_Place]:
        """Yield the first match of Scan `number`; within a step, arguments come before results."""
        scan, places = self.trace.scans[number], list[_Place]()
        used = _used(scan)
        for source in _sources(scan):
            values = values_of(scan, source)
            if values is None:
                continue
            entries = self.look(values) & (used[source] if isinstance(source, int) else True)
            if (steps := _steps(entries)).any():
                places.append(_Place(number, int(np.argmax(steps)), source))
        if places:
            yield min(places, key=lambda place: place.step)

    def is_operation(self, place: Place) -> bool:
        """Return whether an operation or formula computes `place` and does not only pass it on."""
        if isinstance(place, _Place) and isinstance(place.source, int):
            return self.trace.scans[place.scan].inside[place.source].passes is None
        return not isinstance(place, _Place) or isinstance(place.source, Formula)

    def cause(self, place: Place) -> Place | None:
        """Return the place from which a nonfinite value reached `place`, or None."""
        if isinstance(place, OuterFault):
            if place.cause is not None:
                return self.trace.outside[place.cause]
            sources = (self._first_on_tape(*end) for end in place.reaches)
            return next((source for source in sources if source is not None), None)
        if isinstance(place, _Output):
            return self._outer(None, place.number) or self._first_on_tape(None, place.number)
        scan, source = self.trace.scans[place.scan], place.source
        if not isinstance(source, Leaf):
            bad = [
                (not np.isnan(value).any(), number, each)  # nan before infinities
                for number, each in enumerate(_inputs(scan, source))
                if (value := value_at_step(scan, each, place.step)) is not None
                and not_finite(value).any()
            ]
            return place._replace(source=min(bad)[2]) if bad else None
        variable = scan.variable(source)
        write = None
        if isinstance(variable, TapeTrace):
            row = next(a.rows[place.step] for a in variable.reads if a.tap == source.tap)
            write = self._written(place.scan, variable, int(row), place.step)
        elif isinstance(variable, SequenceTrace):
            slot = ScanOf(self.trace, place.scan).value_read(variable, place.step)
            tape = self.trace.scans[slot.scan].tape(slot.argument)
            if tape is not None:
                write = self._written(slot.scan, tape, slot.row)
        end = place.scan, source.argument
        return write or self._outer(*end) or self._first_on_tape(*end)

    def _outer(self, scan: int | None, number: int) -> OuterFault | None:
        """Return the fault outside of Scans that makes an argument or output non-finite, if any."""
        return next((f for f in self.trace.outside if (scan, number) in f.reaches), None)

    def _first_on_tape(self, scan: int | None, into: int) -> Place | None:
        """Return the place of the first non-finite value on the tapes that determine an argument.

        `into` is the number of an argument of Scan `scan`, or of an output if `scan` is None.
        """
        feeds = self.trace.feeds if scan is None else self.trace.scans[scan].feeds
        for feed in (feed for feed in feeds if feed.into == into):
            tape = self.trace.scans[feed.scan].tape(feed.argument)
            if tape is None:
                continue
            for write in tape.writes:
                bad = _steps(not_finite(write.values))
                if bad.any():
                    return self._result(feed.scan, int(np.argmax(bad)), tape, write.tap)
        return None

    def _written(
        self, number: int, tape: TapeTrace, row: int, before: int | None = None
    ) -> Place | None:
        """Return the place of the write from which the value in a row originates, or None.

        This is the last write of the row.  If this write and the writes directly before it at the
        same tap are not finite, return the first of these consecutive writes.
        """
        steps = self.trace.scans[number].steps if before is None else before
        last = tape.last_write(row, steps)
        if last is None:
            return None
        write, step = last
        finite = np.flatnonzero(~_steps(not_finite(write.values[: step + 1])))
        since = min(step, int(finite[-1]) + 1) if finite.size else 0
        return self._result(number, since, tape, write.tap)

    def _result(self, number: int, step: int, tape: TapeTrace, tap: int) -> Place:
        """Return the place of the written value: its operation if recorded, or else its formula."""
        scan, target = self.trace.scans[number], Leaf(tape.name, tap, tape.argument)
        source = next(result.source for result in scan.results if result.target == target)
        if value_at_step(scan, source, step) is not None:
            return _Place(number, step, source)
        return _Place(number, step, next(f for f in scan.formulas if f.target == target))

    def occurrence(self, place: Place) -> Occurrence:
        """Return the value at `place` with its formula, its operation, and its inputs."""
        if isinstance(place, _Output):
            value = self.trace.outputs[place.number]
            name = dict(enumerate(self.trace.names)).get(place.number) or f"output {place.number}"
            return Occurrence(name, value, self._entry(value))
        if isinstance(place, OuterFault):
            inputs, operation = place.inputs, place.operation
            arrays = [np.asarray(v.value) for v in inputs]
            numbers = _in_numbers(operation, arrays) if inputs else ""
            record = Occurrence(place.formula, place.value, self._entry(place.value))
            return replace(record, inputs=inputs, numbers=numbers, operation=operation)
        scan, source = self.trace.scans[place.scan], place.source
        named = Quantities(self.trace, place.scan)

        def called(expression: Expression) -> str:
            return render(expression, lambda leaf: named.leaf_at(leaf, place.step))

        computed, step = value_at_step(scan, source, place.step), scan.first + place.step
        assert computed is not None
        record = Occurrence("", freeze(computed), self._entry(computed), scan=place.scan, step=step)
        if isinstance(source, Leaf):
            return replace(record, formula=called(source), given=self.cause(place) is None)
        inputs = tuple(
            Input(called(value_formula(scan, each)), freeze(value_))
            for each in dict.fromkeys(_inputs(scan, source))
            if (value_ := value_at_step(scan, each, place.step)) is not None
        )
        if isinstance(source, Formula):
            return replace(record, formula=called(source.expression), inputs=inputs)
        assert isinstance(source, int), "a constant has no place"
        node = scan.inside[source]
        operands = tuple(value_formula(scan, v, 1) for v in node.inputs)
        formula = called(Call(node.operation, operands))
        values_of_inputs = ((v, value_at_step(scan, v, place.step)) for v in node.inputs)
        arguments = [v if isinstance(v, Number) else value for v, value in values_of_inputs]
        numbers, operation = _in_numbers(node.operation, arguments), node.operation
        return replace(record, formula=formula, inputs=inputs, numbers=numbers, operation=operation)

    def _entry(self, value: np.ndarray) -> tuple[int, ...]:
        """Return the index of an entry: the first matching, or else the first nonfinite, or 0."""
        for entries in (self.look(value), not_finite(value)):
            if entries.any():
                return tuple(map(int, np.argwhere(entries)[0]))
        return (0,) * value.ndim


def _sources(scan: ScanTrace) -> Iterator[Source | Formula]:
    """Yield the source of each value of a step: arguments, operations, and results."""
    for variable in scan.variables:
        taps = [a.tap for a in variable.reads] if isinstance(variable, TapeTrace) else [None]
        yield from (Leaf(variable.name, tap, variable.argument) for tap in taps)
    yield from range(len(scan.inside))
    yield from scan.formulas


def _inputs(scan: ScanTrace, source: int | Number | Formula) -> tuple[Source, ...]:
    """Return the inputs of an operation or a formula; a constant has none."""
    if isinstance(source, Formula):
        return source.leaves
    return scan.inside[source].inputs if isinstance(source, int) else ()


def _used(scan: ScanTrace) -> list[np.ndarray]:
    """Return a mask for each operation: the entries, at all steps, on which a result depends.

    A result does not depend on entries that a `where` rejects.
    """
    used = [np.zeros(each.values.shape, dtype=bool) for each in scan.inside]
    for result in scan.results:
        if isinstance(result.source, int):
            used[result.source][...] = True
    for number, operation in reversed(list(enumerate(scan.inside))):
        is_where = operation.operation == "where"
        chosen = values_of(scan, operation.inputs[0]) if is_where else None
        # The entries whose first branch a `where` rejects.
        kept, dropped = used[number], None if chosen is None else ~np.asarray(chosen, dtype=bool)
        for place, source in enumerate(operation.inputs):
            if not isinstance(source, int) or not len(used[source]):
                continue
            taken = kept
            if dropped is not None and place and len(kept):
                taken = kept & _fit(dropped if place == 2 else ~dropped, kept)
            if (dropped is None and operation.passes is None) or taken.shape != used[source].shape:
                by_step = _steps(taken) if len(kept) else np.ones(scan.steps, dtype=bool)
                taken = _fit(by_step, used[source])
            used[source] |= taken
    return used


def _fit(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Broadcast `mask` to the shape of `values`, or else mark all entries of the marked steps."""
    for each in (mask, _steps(mask)):
        axes = tuple(range(1, 1 + values.ndim - each.ndim))
        try:
            return np.broadcast_to(np.expand_dims(each, axes), values.shape)
        except ValueError:
            continue
    raise AssertionError("a mask of steps fits all values")


def _steps(entries: np.ndarray) -> np.ndarray:
    """Return a mask of the steps at which an entry is True."""
    return np.any(entries, axis=tuple(range(1, entries.ndim)))


def _in_numbers(operation: str, inputs: Sequence[Number | np.ndarray | None]) -> str:
    """Write an operation with numbers; return "" if an input is an array or unknown."""
    numbers = list[Term]()
    for value in inputs:
        if value is None or (not isinstance(value, Number) and value.ndim):
            return ""
        numbers.append(value if isinstance(value, Number) else Number(_number(value)))
    return render(Call(operation, tuple(numbers)), lambda leaf: "")


def _number(value: np.ndarray) -> str:
    return number_text(value, mark="")


def _value_text(value: np.ndarray) -> str:
    """Write a number; for an array, the shape and the first entry that is not finite."""
    if not value.ndim:
        return _number(value)
    bad = np.argwhere(not_finite(value))
    worst = f" with {_number(value[tuple(bad[0])])} at {bad[0].tolist()}" if len(bad) else ""
    return f"an array {'×'.join(map(str, value.shape))}{worst}"
