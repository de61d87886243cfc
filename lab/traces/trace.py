"""What every Scan of a graph read and wrote, at every step, as frozen data.

    >>> trace = lab.trace(gradient, given={x0: 0.95})
    >>> trace.outputs[0], trace.scans[1].tapes[0].writes[0].values

A `Trace` is plain data: it can be compared, copied, pickled, stored as JSON, and drawn.  What
needs the graph is asked of the `Derivative` that has it, as `Derivative.verify`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab import records
from lab.errors import ArgumentError, listing
from lab.expression import Expression, Leaf, Number, calls_of, leaves_of
from lab.gradients.decisions import ReadingGroup
from lab.records import cached_property, same
from lab.tape import Kind, Tape


@records.record
@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows of an array stand for: row i is ``variable[index[i]]``."""

    variable: str
    index: np.ndarray

    __eq__ = same

    @cached_property
    def rows(self) -> Mapping[int, int]:
        """The row in which an index stands."""
        return {index: row for row, index in enumerate(self.index.tolist())}


@records.record
@dataclass(frozen=True, eq=False)
class Access:
    """All reads, or all writes, at one tap: the rows and the values, one for each step.

    `before` is what stood in the rows before they were written (None for reads).
    """

    tap: int
    rows: np.ndarray
    values: np.ndarray
    before: np.ndarray | None = None

    __eq__ = same


@records.record
@dataclass(frozen=True, eq=False)
class TapeTrace:
    """One tape: its taps, its initial contents, and every read and write.

    `argument` is its number among the Scan's arguments, by which formulas refer to it.
    `unwritten` marks the rows of `initial` that were allocated and never filled; zeros stand
    for them.  `axis`
    tells which quantity a row belongs to, if it is known.  `gradient_of` names the variable
    of the parent loop whose gradient the tape holds.  `used` tells whether the filled tape
    goes on to the result.
    """

    name: str
    argument: int
    kind: Kind
    tape: Tape
    initial: np.ndarray
    unwritten: np.ndarray
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    final: np.ndarray
    axis: Axis | None = None
    gradient_of: str | None = None
    used: bool = True

    __eq__ = same

    @property
    def is_total(self) -> bool:
        """Whether the tape only sums up, step by step, the gradient of a parameter."""
        return self.kind is Kind.SIT_SOT and self.gradient_of is not None

    def position(self, row: int) -> int:
        """The position of a row of the array."""
        return row - self.tape.origin

    def contents(self, step: int) -> np.ndarray:
        """The whole tape after `step`; before the first step for -1."""
        held = self.initial.copy()
        for number in range(step + 1):
            for write in self.writes:
                held[write.rows[number]] = write.values[number]
        return held


@records.record
@dataclass(frozen=True, eq=False)
class Taken:
    """Of which Scan, and of which of its variables by number, step s reads row ``rows[s]``."""

    scan: int
    variable: int
    rows: np.ndarray

    __eq__ = same


@records.record
@dataclass(frozen=True, eq=False)
class SequenceTrace:
    """One sequence: the value that each step read; `axis` tells of what, and at which index.

    A gradient reads what the loop that it differentiates had read or computed: `source` is
    that variable of the parent and its tap, `group` why it is read.  A loop may read what
    another loop has computed: `taken` tells from where.
    """

    name: str
    argument: int
    values: np.ndarray
    axis: Axis
    source: Leaf | None = None
    group: ReadingGroup | None = None
    taken: "Taken | None" = None

    __eq__ = same


@records.record
@dataclass(frozen=True, eq=False)
class ParameterTrace:
    """A value that every step reads."""

    name: str
    argument: int
    value: np.ndarray

    __eq__ = same


ALGORITHMS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")  # of numpy's generators
Source = int | Leaf | Number  # another value of the step by its number, an argument, a constant


@records.record
@dataclass(frozen=True, eq=False)
class StepValue:
    """What one operation inside the step computed, over all steps.

    `values` are empty if they are too many, change their shape, or hold unwritten memory.
    `operation` is its name as in a formula.  `passes` is the input whose numbers it hands on
    as they are, for one that only changes shape or type.  `repeats` is the number of the
    value of the parent's step that is computed here once more, from the same values.
    """

    operation: str
    inputs: tuple[Source, ...]
    values: np.ndarray
    passes: int | None = None
    repeats: int | None = None

    __eq__ = same


@records.record
@dataclass(frozen=True)
class StepResult:
    """What a step writes at a tap: `target` is a variable and its write tap.

    A target of None is the condition on which the loop stops.
    """

    target: Leaf | None
    source: Source


@records.record
@dataclass(frozen=True)
class Feed:
    """The filled tape or output `variable` of Scan `scan`, as what another value is made of.

    `into` is the number of the argument of a Scan, or of an output of the trace, that is
    computed from its numbers with no other Scan in between.
    """

    into: int
    scan: int
    variable: int


@records.record
@dataclass(frozen=True)
class Formula:
    """What a step writes: `target` (a variable and its write tap) and the expression."""

    target: Leaf
    expression: Expression


@records.record
@dataclass(frozen=True, eq=False)
class ScanTrace:
    """One Scan: its variables over all steps.

    `order` is 0 for a loop and k for a Scan that a k-th derivative made; `parent` is the
    index in the trace of the Scan that this one differentiates.  `inside` are the operations
    of the step, each after those that it uses, `results` what it writes, one for every write
    tap in the order of the arguments, and `formulas` the same as mathematics; `feeds` are the
    Scans that its arguments come from.
    """

    name: str
    steps: int
    order: int
    parent: int | None
    tapes: tuple[TapeTrace, ...]
    sequences: tuple[SequenceTrace, ...]
    parameters: tuple[ParameterTrace, ...]
    outputs: tuple[TapeTrace, ...]
    untraced: tuple[str, ...]
    inside: tuple[StepValue, ...]
    results: tuple[StepResult, ...] = ()
    feeds: tuple[Feed, ...] = ()
    stopped_early: bool = False
    formulas: tuple[Formula, ...] = ()

    __eq__ = same

    @property
    def variables(self) -> "Iterator[TapeTrace | SequenceTrace | ParameterTrace]":
        """All variables that have values: sequences, tapes, outputs, parameters."""
        for group in (self.sequences, self.tapes, self.outputs, self.parameters):
            yield from group

    def variable(self, leaf: Leaf) -> "TapeTrace | SequenceTrace | ParameterTrace | None":
        """The variable that a leaf of a formula reads or writes."""
        return next((v for v in self.variables if v.argument == leaf.argument), None)

    @property
    def held(self) -> "tuple[TapeTrace, ...]":
        """All that the steps write: tapes and outputs, in the order of the arguments."""
        return tuple(sorted((*self.tapes, *self.outputs), key=lambda tape: tape.argument))

    @property
    def targets(self) -> list[Leaf]:
        """What a step writes: every tape at every write tap, in the order of the arguments."""
        return [
            Leaf(tape.name, write.tap, tape.argument) for tape in self.held for write in tape.writes
        ]

    def reads(self, leaf: Leaf) -> bool:
        """Whether a step reads what `leaf` stands for: a variable of this name and number."""
        variable = self.variable(leaf)
        if variable is None:
            return leaf.variable in self.untraced
        if variable.name != leaf.variable:
            return False
        taps = variable.tape.taps if isinstance(variable, TapeTrace) else (None,)
        return leaf.tap in taps


@records.record
@dataclass(frozen=True)
class Generator:
    """A random generator, by the algorithm and the state with which a run began."""

    algorithm: str
    state: str

    @classmethod
    def of(cls, generator: np.random.Generator) -> "Generator":
        """The present state of `generator`."""
        state = generator.bit_generator.state
        return cls(state["bit_generator"], json.dumps(state, default=np.ndarray.tolist))

    @property
    def is_known(self) -> bool:
        """Whether there is such a generator, and it can be in this state."""
        if self.algorithm not in ALGORITHMS:
            return False
        try:
            return bool(self.value)
        except Exception:  # whatever numpy makes of a state that is none
            return False

    @property
    def value(self) -> np.random.Generator:
        """A generator in this state."""
        bits = getattr(np.random, self.algorithm)()
        bits.state = json.loads(self.state)
        return np.random.Generator(bits)


@records.record
@dataclass(frozen=True, eq=False)
class Input:
    """An input of the graph, and what it was given."""

    name: str
    given: np.ndarray | Generator

    __eq__ = same

    @property
    def value(self) -> np.ndarray | np.random.Generator:
        """What it was given, as a graph takes it."""
        return self.given.value if isinstance(self.given, Generator) else self.given


@records.record
@dataclass(frozen=True, eq=False)
class Trace:
    """The run of a graph: the values asked for, and every Scan in the order in which they ran.

    `names` are those of `outputs`, empty where a value has none; `feeds` tells from which
    Scans they are computed, `inputs` from which values of the graph's inputs, in their order.
    """

    outputs: tuple[np.ndarray, ...]
    scans: tuple[ScanTrace, ...]
    names: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    inputs: tuple[Input, ...] = ()

    __eq__ = same

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        return records.to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trace":
        """The inverse of `to_json`.

        Raises ArgumentError for what is no stored trace, and for one that does not hold
        together; the message names the place, as in ``scans[1].tapes[0].reads``.
        """
        stored = records.from_json(data)
        if not isinstance(stored, cls):
            raise ArgumentError(f"from_json: this is a {type(stored).__name__}, not a Trace.")
        check_trace(stored)
        return stored


def check_trace(trace: Trace) -> None:
    """Whether what a trace tells fits together, so that it can be drawn.

    Raises ArgumentError with the first place that does not.  Values are free; everything else
    follows from the taps, the steps and the shapes.
    """
    for place, what in _faults(trace):
        raise ArgumentError(f"from_json: Trace, {place}: {what}.")


Fault = tuple[str, str]


def _faults(trace: Trace) -> Iterator[Fault]:
    if len(trace.names) != len(trace.outputs):
        yield "names", f"{len(trace.names)} names for {len(trace.outputs)} outputs"
    if not trace.scans:
        yield "scans", "a trace has at least one"
    for number, scan in enumerate(trace.scans):
        for place, what in _scan_faults(scan, number, trace.scans):
            yield f"scans[{number}].{place}", what
    yield from _feed_faults(trace.feeds, range(len(trace.outputs)), trace.scans)
    for number, source in enumerate(trace.inputs):
        if isinstance(source.given, Generator) and not source.given.is_known:
            yield f"inputs[{number}].given", "numpy has no such generator"


def _feed_faults(
    feeds: Sequence[Feed], targets: range | set[int], scans: Sequence[ScanTrace]
) -> Iterator[Fault]:
    for number, feed in enumerate(feeds):
        known = 0 <= feed.scan < len(scans)
        if feed.into not in targets:
            yield f"feeds[{number}].into", f"there is no {feed.into}"
        elif not known or _tape(scans[feed.scan], feed.variable) is None:
            yield f"feeds[{number}]", f"Scan {feed.scan} has no tape {feed.variable}"


def _scan_faults(scan: ScanTrace, number: int, scans: Sequence[ScanTrace]) -> Iterator[Fault]:
    if scan.steps < 0 or scan.order < 0:
        yield "steps", "it cannot be below 0"
        return
    if scan.parent is not None and not 0 <= scan.parent < number:
        yield "parent", f"{scan.parent} is no Scan before this one"
        return
    parent = None if scan.parent is None else scans[scan.parent]
    arguments = [v.argument for v in scan.variables]
    if len(set(arguments)) < len(arguments) or min(arguments, default=0) < 0:
        yield "tapes", "every variable has a number of its own, from 0"
        return
    for group, tapes in (("tapes", scan.tapes), ("outputs", scan.outputs)):
        for index, tape in enumerate(tapes):
            for place, what in _tape_faults(tape, scan.steps, group == "tapes"):
                yield f"{group}[{index}].{place}", what
            of_parent = parent is not None and any(
                v.name == tape.gradient_of for v in parent.variables
            )
            if tape.gradient_of is not None and not of_parent:
                yield f"{group}[{index}].gradient_of", "the parent has no such variable"
    for index, sequence in enumerate(scan.sequences):
        for place, what in _sequence_faults(sequence, scan.steps, parent, scans[:number]):
            yield f"sequences[{index}].{place}", what
    before = scans[:number]
    yield from _feed_faults(scan.feeds, set(arguments), before)
    yield from _step_faults(scan, parent)
    yield from _formula_faults(scan)


def _tape(scan: ScanTrace, argument: int) -> TapeTrace | None:
    return next((tape for tape in scan.held if tape.argument == argument), None)


def _is_source(source: Source, scan: ScanTrace, number: int) -> bool:
    """Whether operation `number` of a step can use `source`."""
    if isinstance(source, Leaf):
        return source.argument == -1 or scan.reads(source)
    return isinstance(source, Number) or 0 <= source < number


def _tape_faults(tape: TapeTrace, steps: int, is_state: bool) -> Iterator[Fault]:
    kinds = (tape.tape.kind, Kind.MIT_MOT)
    if tape.kind.is_state is not is_state or tape.kind not in kinds:
        yield "kind", f"taps that {tape.tape} make no {tape.kind}"
        return
    if tape.initial.ndim < 1 or tape.final.ndim < 1 or tape.initial.dtype != tape.final.dtype:
        yield "initial", "initial and final are the rows of one array"
        return
    length, row = len(tape.initial), tape.initial.shape[1:]
    if steps and tape.final.shape[1:] != row:
        yield "final", f"its rows are not those of initial, {row}"
    if tape.unwritten.shape != (length,) or tape.unwritten.dtype != bool:
        yield "unwritten", f"expected {length} truth values"
    for name, accesses, taps in (
        ("reads", tape.reads, tape.tape.reads),
        ("writes", tape.writes, tape.tape.writes),
    ):
        if tuple(access.tap for access in accesses) != taps:
            yield name, f"expected the taps {listing(taps)}"
            continue
        for index, access in enumerate(accesses):
            first = tape.tape.row(0, access.tap)
            expected = (np.arange(steps) + first) % max(1, length)
            if access.rows.shape != (steps,) or not np.array_equal(access.rows, expected):
                yield f"{name}[{index}].rows", "these are not the rows of its tap"
            held = [access.values] if name == "reads" else [access.values, access.before]
            if any(v is None or (steps and v.shape != (steps, *row)) for v in held):
                yield f"{name}[{index}].values", f"expected {steps} rows of shape {row}"
    if tape.axis is not None and not _counts(tape.axis.index, length):
        yield "axis.index", f"expected {length} whole numbers"


def _counts(index: np.ndarray, length: int) -> bool:
    """Whether `index` has a whole number for each of `length` rows."""
    return index.shape == (length,) and index.dtype.kind == "i"


def _sequence_faults(
    sequence: SequenceTrace, steps: int, parent: ScanTrace | None, before: Sequence[ScanTrace]
) -> Iterator[Fault]:
    if sequence.values.ndim < 1 or len(sequence.values) != steps:
        yield "values", f"expected a row for each of {steps} steps"
    if not _counts(sequence.axis.index, steps):
        yield "axis.index", f"expected {steps} whole numbers"
    source, taken = sequence.source, sequence.taken
    if source is not None and (parent is None or parent.variable(source) is None):
        yield "source", "the parent has no such variable"
    if (source is None) is not (sequence.group is None):
        yield "group", "it goes with source"
    if taken is not None:
        made = _tape(before[taken.scan], taken.variable) if 0 <= taken.scan < len(before) else None
        if made is None:
            yield "taken", f"Scan {taken.scan} has no tape {taken.variable}"
            return
        inside = (taken.rows >= 0) & (taken.rows < len(made.final))
        if not _counts(taken.rows, steps) or not inside.all():
            yield "taken.rows", f"expected {steps} rows of {made.name}"


def _step_faults(scan: ScanTrace, parent: ScanTrace | None) -> Iterator[Fault]:
    known = 0 if parent is None else len(parent.inside)
    for number, value in enumerate(scan.inside):
        place = f"inside[{number}]"
        if value.values.size and len(value.values) != scan.steps:
            yield f"{place}.values", f"expected a row for each of {scan.steps} steps, or none"
        if not all(_is_source(source, scan, number) for source in value.inputs):
            yield f"{place}.inputs", "an operation uses arguments, constants and earlier ones"
        if value.passes is not None and not 0 <= value.passes < len(value.inputs):
            yield f"{place}.passes", f"it has no input {value.passes}"
        if value.repeats is not None and not 0 <= value.repeats < known:
            yield f"{place}.repeats", f"the parent's step has no operation {value.repeats}"
    targets = [result.target for result in scan.results if result.target is not None]
    if targets != scan.targets or len(scan.results) - len(targets) > 1:
        yield "results", "expected one for every write tap, and at most one condition"
    for number, result in enumerate(scan.results):
        if not _is_source(result.source, scan, len(scan.inside)):
            yield f"results[{number}].source", "there is no such value"


def _formula_faults(scan: ScanTrace) -> Iterator[Fault]:
    if [formula.target for formula in scan.formulas] != scan.targets:
        yield "formulas", "expected one for every write tap"
    for number, formula in enumerate(scan.formulas):
        place = f"formulas[{number}].expression"
        if not all(
            leaf.argument == -1 or scan.reads(leaf) for leaf in leaves_of(formula.expression)
        ):
            yield place, "it reads what the step does not read"
        for call in calls_of(formula.expression):
            if not call.is_whole:
                yield place, f"{call.name} of {len(call.arguments)} arguments"
