"""Where a run first meets a value: nan, infinity, one beyond a bound, or any that is looked for.

    >>> print(lab.first(trace, "nan"))
    nan is first met at step 0 of gradient of scan_fn, Scan 2 of 2:
      dC/dx₁·(0.5/sqrt(x₀)) = 0·inf = nan
    It came from step 0 of gradient of scan_fn:
      0.5/sqrt(x₀) = 0.5/0 = inf

Values are looked at in the order in which they were computed: what a Scan was given, then step by
step every operation; the backward Scans after the loop.  From what is met, the chain follows
those of its inputs that are not finite, to where they first were so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import NamedTuple

import numpy as np

from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller, untaken_words
from lab.errors import ArgumentError, LabError, expect, first_line, quoted, refused
from lab.gradients.derivative import Derivative
from lab.notation import Call, Expression, Leaf, Number, Term, leaves_of, number_text, text
from lab.records import freeze, record_of_arrays
from lab.reports.tables import paragraph
from lab.traces.scan_of import ScanOf
from lab.traces.touched import Touched
from lab.traces.trace import Feed, ScanTrace, SequenceTrace, Source, StepValue, TapeTrace, Trace
from lab.traces.tracing import trace as trace_of
from lab.traces.untaken import fitted, values_of, written
from lab.traces.window import earliest

Look = Callable[[np.ndarray], np.ndarray]  # which entries of an array are what is looked for
LONGEST = 12  # links of a chain
POWER_RULE = (
    "The power rule writes the derivative of xⁿ as n·xⁿ⁻¹, and so multiplies 0 by a negative power "
    "of x = 0. PyTensor's rewrites remove this product: use lab.trace(…, rewritten=True), or write "
    "x*x instead of x**2."
)
WHAT = '"nan", "inf", ">1e6" (beyond, in size), "=2", a number, or a function of an array'
ANSWER = "expected a function that returns, for an array, one True or False for each entry"


@record_of_arrays
class Operand:
    """An input of an operation: what it is called, and its value."""

    name: str
    value: np.ndarray


@record_of_arrays
class Met:
    """A value on the way: what makes it, of which inputs, and its first entry that is meant.

    `scan` is its Scan's number in the trace and `step` the step that made it; both are None for
    a value that was computed outside of all Scans.  Nothing made what was `given`.  `numbers`
    is the `operation` on the values of its inputs, empty where arrays take part.
    """

    scan: int | None
    step: int | None
    formula: str
    value: np.ndarray
    entry: tuple[int, ...]
    inputs: tuple[Operand, ...] = ()
    numbers: str = ""
    given: bool = False
    operation: str = ""

    def __str__(self) -> str:
        value = _number(self.value[self.entry])
        index = f"[{', '.join(map(str, self.entry))}] of " if self.entry else ""
        told = " = ".join([index + self.formula, *([self.numbers] * bool(self.numbers)), value])
        if self.given:
            return f"{told}, as it was given"
        if self.numbers or not self.inputs:
            return told
        return (
            f"{told}, where {'; '.join(f'{h.name} is {_in_words(h.value)}' for h in self.inputs)}"
        )


@dataclass(frozen=True)
class First:
    """The first value of a run that is `what` was looked for, and the `chain` that led there.

    Every link of the chain is an input of the one before it, or what that input came from.
    `told` explains known cases: a branch of `where` that was not taken, and a product with a
    negative power of 0.
    """

    what: str
    scans: tuple[str, ...]
    chain: tuple[Met, ...]
    told: tuple[str, ...] = ()

    @property
    def scan(self) -> int | None:
        """The number in the trace of the Scan that met it; None if that was outside of all."""
        return self.chain[0].scan

    @property
    def step(self) -> int | None:
        """The step that met it."""
        return self.chain[0].step

    def __str__(self) -> str:
        first, *others = self.chain
        of = "" if first.scan is None else f", Scan {first.scan + 1} of {len(self.scans)}"
        lines = [f"{self.what} is first met at {self._where(first)}{of}:", f"  {first}"]
        for met in others:
            lines += [f"It came from {self._where(met)}:", f"  {met}"]
        return "\n".join((*lines, *(line for told in self.told for line in paragraph(told))))

    def _where(self, met: Met) -> str:
        if met.scan is None:
            return "an operation outside of the Scans"
        return f"step {met.step} of {self.scans[met.scan]}"


def first(trace: Trace | Derivative, value: str | float | Look = "nan") -> First | None:
    """The first value of a run, forwards and then backwards, that is `value`; None if none is.

    Of a derivative, as of a loop that is too long for a trace, what its Scans write is looked
    through while PyTensor runs them, and only the steps around the one that is found are traced.

    `value` is ``"nan"``, ``"inf"``, ``">1e6"`` for what is larger than that in size, a number or
    ``"=2"`` for exactly that one, or a function that tells of every entry of an array whether it
    is meant.  Raises ArgumentError for anything else.
    """
    told = 'a Trace, as of lab.gallery.loops["square"].trace(), or a Derivative with its values'
    expect("trace", trace, (Trace, Derivative), told)
    name, look = _looked_for(value)
    if isinstance(trace, Derivative):
        found = earliest(trace.values, trace.given, look)
        if found is None:
            return None
        trace = trace_of(trace, keep=found)
    run = _Run(trace, look)
    place = next(run.met(), None)
    if place is None:
        return None
    chain: list[Met] = []
    while place is not None and len(chain) < LONGEST:
        cause = run.cause(place)
        if not chain or cause is None or run.is_operation(place):
            chain.append(run.told(place))
        place = cause
    steps = {(met.scan, met.step) for met in chain}
    words = zip(trace.untaken, untaken_words(trace), strict=True)
    known = tuple(
        word for one, word in words if (one.scan, one.step + trace.scans[one.scan].first) in steps
    )
    if any(_is_power_rule(*links) for links in pairwise(chain)):
        known += (POWER_RULE,)
    return First(name, tuple(scan.name for scan in trace.scans), tuple(chain), known)


def _is_power_rule(product: Met, power: Met) -> bool:
    """Whether a product is nan because its factor is 0 to a negative power."""
    if (product.operation, power.operation) != ("Mul", "Pow") or not power.inputs:
        return False
    base = np.broadcast_to(power.inputs[0].value, power.value.shape)[power.entry]
    return bool(np.isnan(product.value[product.entry]) and base == 0)


def _looked_for(value: object) -> tuple[str, Look]:
    """What is looked for, in words, and the function that finds it."""
    if callable(value):
        name = str(getattr(value, "__name__", "what was looked for")).replace("<lambda>", "it")
        return name, partial(_applied, value)
    if isinstance(value, str) and value in ("nan", "inf"):
        return value, np.isnan if value == "nan" else np.isinf
    try:
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise ValueError
        written = value if isinstance(value, str) else f"={value}"
        if written[:1] not in (">", "="):
            raise ValueError
        number = float(written[1:])
    except ValueError:
        raise ArgumentError(f"value = {quoted(value)}: expected {WHAT}.") from None
    if written.startswith(">"):
        return f"more than {number:g} in size", lambda values: np.abs(values) > number
    return f"{number:g}", lambda values: np.equal(values, number)


def _applied(look: Look, values: np.ndarray) -> np.ndarray:
    """What the user's function says of every entry; ArgumentError if it does not."""
    try:
        found = np.asarray(look(values))
    except LabError:
        raise
    except Exception as error:
        raise refused("value", look, f"{ANSWER}; it raised {first_line(error)}.") from error
    if found.shape != np.shape(values) or found.dtype != bool:
        raise refused("value", look, f"{ANSWER}; it returned {quoted(found)}.")
    return found


class _Place(NamedTuple):
    """A value of a step: an argument, an operation's result, or what is written to a target."""

    scan: int
    step: int
    source: Source
    is_target: bool = False


class _Output(NamedTuple):
    """A value of the trace's outputs, by its number."""

    number: int


class _Outer(NamedTuple):
    """The result of an operation outside of the Scans, by its number in `Trace.outside`."""

    fault: int


Place = _Place | _Output | _Outer


class _Run:
    """A run, and what is looked for in it."""

    def __init__(self, trace: Trace, look: Look) -> None:
        self.trace, self.look = trace, look

    def met(self) -> Iterator[Place]:
        """What is looked for: the first of each Scan, and of the outputs computed after it."""
        last = [
            max((feed.scan for feed in self.trace.feeds if feed.into == number), default=-1)
            for number in range(len(self.trace.outputs))
        ]
        for number in range(-1, len(self.trace.scans)):
            if number >= 0:
                yield from self._first_of(number)
            for output, after in enumerate(last):
                if after == number and self._entries(self.trace.outputs[output]).any():
                    yield _Output(output)

    def _first_of(self, number: int) -> Iterator[_Place]:
        """The earliest of one Scan; of one step, what it reads before what it makes."""
        scan, found = self.trace.scans[number], list[_Place]()
        used = _used(scan)
        for source, is_target in _sources(scan):
            values = _over_steps(scan, source, is_target)
            if values is None:
                continue
            entries = self._entries(values) & (used[source] if isinstance(source, int) else True)
            if (steps := _steps(entries)).any():
                found.append(_Place(number, int(np.argmax(steps)), source, is_target))
        if found:
            yield min(found, key=lambda place: place.step)

    def _entries(self, values: np.ndarray) -> np.ndarray:
        entries = np.asarray(self.look(values))
        if entries.shape != values.shape or entries.dtype != bool:
            raise ArgumentError(
                f"value = {quoted(self.look)}: expected a function from an array to True or False "
                f"for each of its entries, not {quoted(entries)}."
            )
        return entries

    def is_operation(self, place: Place) -> bool:
        """Whether something is computed there, and not only handed on."""
        if not isinstance(place, _Place) or place.is_target:
            return True
        if not isinstance(place.source, int):
            return False
        return self.trace.scans[place.scan].inside[place.source].passes is None

    def cause(self, place: Place) -> Place | None:
        """The input that is not finite, or where that came from."""
        if isinstance(place, _Outer):
            fault = self.trace.outside[place.fault]
            if fault.cause is not None:
                return _Outer(fault.cause)
            fed = (self._fed_into(*end) for end in fault.reaches)
            return next((found for found in fed if found is not None), None)
        if isinstance(place, _Output):
            return self._outer(None, place.number) or self._fed_into(None, place.number)
        scan, source = self.trace.scans[place.scan], place.source
        if place.is_target or not isinstance(source, Leaf):
            bad = [
                (not np.isnan(value).any(), number, each)  # nan before infinities
                for number, each in enumerate(_inputs(scan, place))
                if (value := _value(scan, each, place.step)) is not None
                and _not_finite(value).any()
            ]
            return place._replace(source=min(bad)[2], is_target=False) if bad else None
        variable = scan.variable(source)
        found = None
        if isinstance(variable, TapeTrace):
            row = next(a.rows[place.step] for a in variable.reads if a.tap == source.tap)
            found = self._written(place.scan, variable, int(row), place.step)
        elif isinstance(variable, SequenceTrace):
            reader, held = ScanOf(self.trace, place.scan).first_reader(variable)
            slot = reader.slot_at(held, int(variable.axis.index[place.step]))
            tape = self.trace.scans[slot.scan].tape(slot.argument)
            if tape is not None:
                found = self._written(slot.scan, tape, slot.row)
        end = place.scan, source.argument
        return found or self._outer(*end) or self._fed_into(*end)

    def _outer(self, scan: int | None, number: int) -> _Outer | None:
        """The operation outside of the Scans for which an argument or an output is not finite."""
        faults = enumerate(self.trace.outside)
        return next((_Outer(i) for i, fault in faults if (scan, number) in fault.reaches), None)

    def _fed_into(self, scan: int | None, number: int) -> Place | None:
        """As `_fed`, into an argument of a Scan, or of None into an output."""
        feeds = self.trace.feeds if scan is None else self.trace.scans[scan].feeds
        return self._fed(feeds, number)

    def _fed(self, feeds: tuple[Feed, ...], into: int) -> Place | None:
        """The first that is not finite on a tape from which a value outside is computed."""
        for feed in (feed for feed in feeds if feed.into == into):
            tape = self.trace.scans[feed.scan].tape(feed.variable)
            if tape is None:
                continue
            for write in tape.writes:
                bad = _steps(_not_finite(write.values))
                if bad.any():
                    return self._result(feed.scan, int(np.argmax(bad)), tape, write.tap)
        return None

    def _written(
        self, number: int, tape: TapeTrace, row: int, before: int | None = None
    ) -> Place | None:
        """Who wrote a row last, back to where the writes of that tap have not been finite since."""
        steps = self.trace.scans[number].steps if before is None else before
        last = Touched(tape, steps).last_write(row)
        if last is None:
            return None
        write, step = last
        finite = np.flatnonzero(~_steps(_not_finite(write.values[: step + 1])))
        since = min(step, int(finite[-1]) + 1) if finite.size else 0
        return self._result(number, since, tape, write.tap)

    def _result(self, number: int, step: int, tape: TapeTrace, tap: int) -> Place:
        """What a step writes to a tape: the operation that makes it, if its values were kept."""
        scan, target = self.trace.scans[number], Leaf(tape.name, tap, tape.argument)
        source = next((r.source for r in scan.results if r.target == target), None)
        if source is None or _value(scan, source, step) is None:
            return _Place(number, step, target, is_target=True)
        return _Place(number, step, source)

    def told(self, place: Place) -> Met:
        """A place as plain data."""
        if isinstance(place, _Output):
            value = self.trace.outputs[place.number]
            name = dict(enumerate(self.trace.names)).get(place.number)
            return Met(None, None, name or f"output {place.number}", value, self._entry(value))
        if isinstance(place, _Outer):
            fault = self.trace.outside[place.fault]
            operands = tuple(Operand(v.name, np.asarray(v.value)) for v in fault.inputs)
            numbers = _in_numbers(fault.operation, [v.value for v in operands]) if operands else ""
            entry = self._entry(fault.value)
            return Met(
                None, None, fault.formula, fault.value, entry, operands, numbers,
                operation=fault.operation,
            )  # fmt: skip
        scan, source = self.trace.scans[place.scan], place.source
        speller = Speller(Quantities(self.trace, place.scan))

        def called(expression: Expression) -> str:
            return text(expression, lambda leaf: speller.position(leaf, place.step))

        values = _over_steps(scan, source, place.is_target)
        assert values is not None  # or it had not been found
        value = freeze(values[place.step])
        met = Met(place.scan, scan.first + place.step, "", value, self._entry(value))
        if isinstance(source, Leaf) and not place.is_target:
            return replace(met, formula=called(source), given=self.cause(place) is None)
        inputs = tuple(
            Operand(called(written(scan, each)), freeze(held))
            for each in dict.fromkeys(_inputs(scan, place))
            if (held := _value(scan, each, place.step)) is not None
        )
        if not isinstance(source, int):
            (expression,) = (f.expression for f in scan.formulas if f.target == source)
            return replace(met, formula=called(expression), inputs=inputs)
        made = scan.inside[source]
        formula = called(Call(made.operation, tuple(written(scan, v, 1) for v in made.inputs)))
        numbers = _numbers(scan, place.step, made)
        return replace(
            met, formula=formula, inputs=inputs, numbers=numbers, operation=made.operation
        )

    def _entry(self, value: np.ndarray) -> tuple[int, ...]:
        """The first entry that is meant, or of a link what is not finite."""
        for entries in (self._entries(value), _not_finite(value)):
            if entries.any():
                return tuple(map(int, np.argwhere(entries)[0]))
        return (0,) * value.ndim


def _sources(scan: ScanTrace) -> Iterator[tuple[Source, bool]]:
    """All values of a step, what it reads before what it makes; and whether they are targets."""
    for variable in scan.variables:
        taps = [a.tap for a in variable.reads] if isinstance(variable, TapeTrace) else [None]
        yield from ((Leaf(variable.name, tap, variable.argument), False) for tap in taps)
    yield from ((number, False) for number in range(len(scan.inside)))
    yield from ((target, True) for target in scan.targets)


def _inputs(scan: ScanTrace, place: _Place) -> Sequence[Source]:
    """What a value of a step is computed from."""
    if isinstance(place.source, int):
        return scan.inside[place.source].inputs
    formulas = (f.expression for f in scan.formulas if f.target == place.source)
    return leaves_of(next(formulas, None))


def _used(scan: ScanTrace) -> list[np.ndarray]:
    """Which entries, at which steps, of what is computed are used: not what a `where` drops."""
    used = [np.zeros(made.values.shape, dtype=bool) for made in scan.inside]
    for result in scan.results:
        if isinstance(result.source, int):
            used[result.source][...] = True
    for number, made in reversed(list(enumerate(scan.inside))):
        kept, dropped = used[number], None  # where the first branch of a `where` is not taken
        if made.operation == "where" and (chosen := values_of(scan, made.inputs[0])) is not None:
            dropped = ~np.asarray(chosen, dtype=bool)
        for place, source in enumerate(made.inputs):
            if not isinstance(source, int) or not len(used[source]):
                continue
            taken = kept
            if dropped is not None and place and len(kept):
                taken = kept & fitted(dropped if place == 2 else ~dropped, kept)
            if (dropped is None and made.passes is None) or taken.shape != used[source].shape:
                by_step = _steps(taken) if len(kept) else np.ones(scan.steps, dtype=bool)
                taken = fitted(by_step, used[source])
            used[source] |= taken
    return used


def _over_steps(scan: ScanTrace, source: Source, is_target: bool) -> np.ndarray | None:
    """The values of a source over all steps, or of a target; None where they were not kept."""
    if not is_target or not isinstance(source, Leaf):
        return values_of(scan, source)
    tape = scan.tape(source.argument)
    writes = () if tape is None else tape.writes
    return next((w.values for w in writes if w.tap == source.tap), None)


def _value(scan: ScanTrace, source: Source, step: int) -> np.ndarray | None:
    values = values_of(scan, source)
    return None if values is None else values[step]


def _not_finite(values: np.ndarray) -> np.ndarray:
    is_inexact = values.dtype.kind in "fc"
    return ~np.isfinite(values) if is_inexact else np.zeros(values.shape, dtype=bool)


def _steps(entries: np.ndarray) -> np.ndarray:
    """At which steps any entry is True."""
    return np.any(entries, axis=tuple(range(1, entries.ndim)))


def _numbers(scan: ScanTrace, step: int, made: StepValue) -> str:
    """An operation on the values of its inputs; empty where arrays take part."""
    return _in_numbers(
        made.operation,
        [v if isinstance(v, Number) else _value(scan, v, step) for v in made.inputs],
    )


def _in_numbers(operation: str, inputs: Sequence[Number | np.ndarray | None]) -> str:
    """An operation on numbers; empty where arrays take part."""
    numbers = list[Term]()
    for value in inputs:
        if value is None or (not isinstance(value, Number) and value.ndim):
            return ""
        numbers.append(value if isinstance(value, Number) else Number(_number(value)))
    return text(Call(operation, tuple(numbers)), lambda leaf: "")


def _number(value: np.ndarray) -> str:
    return number_text(value).removeprefix("⚠ ")


def _in_words(value: np.ndarray) -> str:
    """A number, or the shape of an array and what of it is not finite."""
    if not value.ndim:
        return _number(value)
    bad = np.argwhere(_not_finite(value))
    worst = f" with {_number(value[tuple(bad[0])])} at {bad[0].tolist()}" if len(bad) else ""
    return f"an array {'×'.join(map(str, value.shape))}{worst}"
