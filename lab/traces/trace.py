"""The reads and writes of every Scan of a graph, at every step, as frozen data.

    >>> trace = lab.trace(gradient, given={x0: 0.95})
    >>> trace.outputs[0], trace.scans[1].tapes[0].writes[0].values

A `Trace` is plain data: you can compare, copy, pickle, and draw it.  Unpickle only a trace that you
trust, because `pickle` runs code.  A `Derivative` contains the graph and methods such as `verify`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import NamedTuple

import numpy as np

from lab.gradients.decisions import ReadingGroup
from lab.gradients.symbols import ResultName
from lab.notation import PLAIN, Expression, Leaf, Number, Style, leaves_of, render, summands_of
from lab.records import cached_property, record_of_arrays
from lab.retired import RetiredAttribute
from lab.tape import Kind, Tape


@record_of_arrays
class Axis:
    """The meaning of the rows of an array: row i is ``variable[index[i]]``."""

    variable: str
    index: np.ndarray

    @cached_property
    def rows(self) -> Mapping[int, int]:
        """A map from each index to its row."""
        return {index: row for row, index in enumerate(self.index.tolist())}

    @property
    def direction(self) -> tuple[int, int]:
        """The first index, and the change of the index from row to row."""
        first, *others = self.index[:2].tolist() or [0]
        return first, others[0] - first if others else 1


@record_of_arrays
class Access:
    """All reads, or all writes, at one tap: a row and a value for each step."""

    tap: int
    rows: np.ndarray
    values: np.ndarray


@record_of_arrays
class TapeTrace:
    """A tape: its taps, its initial contents, and every read and write.

    `argument` is the number of the tape among the arguments of the Scan; formulas contain this
    number.  `unwritten` marks uninitialized rows of `initial`, whose values are stored as zeros.
    `axis` relates the rows to a quantity, if the quantity is known.  For a gradient,
    `gradient_of` is the name of the differentiated variable of the parent Scan.  `used` is true if
    the outputs depend on the filled tape.
    """

    name: str
    argument: int
    _: KW_ONLY
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

    @property
    def is_total(self) -> bool:
        """Whether the tape is the running sum of the gradient of a parameter."""
        return self.kind is Kind.SIT_SOT and self.gradient_of is not None

    @property
    def collects(self) -> bool:
        """Whether the tape accumulates all parts of the gradient of a state."""
        return bool(self.tape.reads) and not self.is_total

    def position(self, row: int) -> int:
        """Return the position of a row, as formulas write it: the row minus the origin."""
        return row - self.tape.origin

    def contents(self, step: int) -> np.ndarray:
        """Return the whole tape after `step`, or before the first step if `step` is -1."""
        held = self.initial.copy()
        for number in range(step + 1):
            for write in self.writes:
                held[write.rows[number]] = write.values[number]
        return held

    def last_write(self, row: int, step: int) -> tuple[Access, int] | None:
        """Return the `Access` and the step of the last write to a row before `step`, or None."""
        writes = [
            (access, int(steps[-1]))
            for access in self.writes
            if (steps := np.flatnonzero(access.rows[:step] == row)).size
        ]
        return max(writes, key=lambda write: write[1], default=None)

    def value_before(self, row: int, step: int) -> np.ndarray | None:
        """Return the value of a row before `step`; None if the row is uninitialized."""
        last = self.last_write(row, step)
        if last is not None:
            access, number = last
            return access.values[number]
        is_initialized = row < len(self.initial) and not self.unwritten[row]
        return self.initial[row] if is_initialized else None


@record_of_arrays
class SequenceTrace:
    """A sequence: the value that each step reads; `axis` relates steps to indices.

    A gradient reads values that its parent read or computed: `source` is the variable and the tap
    in the parent, and `group` is the kind of these values.  `now` is the index of the value
    that step 0 reads as ``u[t]``.
    """

    name: str
    argument: int
    values: np.ndarray
    _: KW_ONLY
    axis: Axis
    source: Leaf | None = None
    group: ReadingGroup | None = None
    now: int = 0

    @property
    def is_outer_gradient(self) -> bool:
        """Whether the values are gradients of an output, computed outside of the Scan."""
        return self.group is ReadingGroup.NIT_SOT_GRADIENT


@record_of_arrays
class ParameterTrace:
    """A parameter, whose value is the same at every step."""

    name: str
    argument: int
    value: np.ndarray


Source = int | Leaf | Number  # the number of another value of the step, an argument, or a constant


@record_of_arrays
class StepValue:
    """The result of an operation inside the step, for all steps.

    `values` are empty if they are too large, change their shape, or are uninitialized memory.
    `operation` is the name of the operation in formulas.  If it only changes the shape or type,
    `passes` is the number of the input whose entries it returns.  `repeats` is the number of the
    value of the parent's step that the operation computes again.
    """

    operation: str
    inputs: tuple[Source, ...]
    values: np.ndarray
    _: KW_ONLY
    passes: int | None = None
    repeats: int | None = None


@dataclass(frozen=True)
class StepResult:
    """A result of a step; `target` is a variable and its write tap, None for an until condition."""

    target: Leaf | None
    source: Source


@dataclass(frozen=True)
class Feed:
    """An edge between Scans: value `into` is computed from the tape of `argument` of Scan `scan`.

    `into` is the number of an argument of a later Scan, or of an output of the trace.  No other
    Scan is in between.  `rows` relates the rows of both values.  If an output has `more`, it is a
    sum with other terms, such as 5x₀ in the gradient of x[-1] + 5x₀²/2.
    """

    into: int
    scan: int
    argument: int
    more: bool = False
    rows: "tuple[FedRow, ...]" = ()


class FedRow(NamedTuple):
    """A row of a value, computed from row `source` of a tape.

    For a sequence, `row` is a step; None means all rows.  `is_summand` states whether the
    source is a term of a sum.
    """

    row: int | None
    source: int
    is_summand: bool


class Origin(NamedTuple):
    """A row of a filled tape that determines a value, either as a summand or in another way."""

    scan: int
    argument: int
    row: int
    is_summand: bool

    @property
    def slot_key(self) -> tuple[int, int, int]:
        """The Scan, argument, and row, which identify a slot."""
        return self.scan, self.argument, self.row


@dataclass(frozen=True)
class Formula:
    """An assignment of a step: `target` (a variable and its write tap) and the expression."""

    target: Leaf
    expression: Expression

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the expression, each once, from left to right."""
        return tuple(leaves_of(self.expression))

    @property
    def adds_old(self) -> bool:
        """Whether the old value of the slot is a term of the new value."""
        return self.target in summands_of(self.expression)

    def text(self, leaf: Callable[[Leaf], str], sign: str, style: Style = PLAIN) -> str:
        """Write the formula, such as ``x[t] = x[t−1]²``; `leaf` returns the text of a leaf."""
        return f"{leaf(self.target)} {sign} {render(self.expression, leaf, style)}"


@record_of_arrays
class ScanTrace:
    """A Scan: its variables over all steps.

    `order` is 0 for a loop and k for a Scan of a k-th derivative; `parent` is the index of the Scan
    that it differentiates.  `inside` are the operations of the step in topological order.
    `results` are the results of the step for all write taps, in the order of the arguments, and
    then the until condition.  `formulas` are the results for the write taps in mathematical form.
    `feeds` link its arguments to the tapes and Scan outputs from which they are computed.  If the
    step contains Scans, `nested` contains a trace for each step of a loop of at most 500 steps.
    `first` is the number of the first recorded step.  `is_pushforward` is True for a loop that also
    computes tangents or power series.  ``pytensor.dprint`` prints `printed`, and `id` if known.
    """

    base_name: str
    steps: int
    _: KW_ONLY
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
    nested: "tuple[Trace, ...]" = ()
    first: int = 0
    is_pushforward: bool = False
    id: str = ""
    printed: str = ""

    @property
    def name(self) -> str:
        """The name of the Scan, with the first recorded step if earlier steps were not recorded."""
        return self.base_name + (f", from step {self.first:,}" if self.first else "")

    @property
    def variables(self) -> Iterator[TapeTrace | SequenceTrace | ParameterTrace]:
        """All variables with values: sequences, tapes, outputs, parameters."""
        for group in (self.sequences, self.tapes, self.outputs, self.parameters):
            yield from group

    def variable(self, leaf: Leaf) -> TapeTrace | SequenceTrace | ParameterTrace | None:
        """Return the variable that a leaf of a formula reads or writes, or None."""
        return self._by_argument.get(leaf.argument)

    @cached_property
    def _by_argument(self) -> "Mapping[int, TapeTrace | SequenceTrace | ParameterTrace]":
        return {v.argument: v for v in reversed(list(self.variables))}

    @property
    def buffers(self) -> tuple[TapeTrace, ...]:
        """The tapes and outputs, in the order of the arguments."""
        return tuple(sorted((*self.tapes, *self.outputs), key=lambda tape: tape.argument))

    def tape(self, argument: int) -> TapeTrace | None:
        """Return the tape or output that has the number `argument` in the Scan; None for others."""
        variable = self._by_argument.get(argument)
        return variable if isinstance(variable, TapeTrace) else None

    def is_reading(self, argument: int) -> bool:
        """Return whether an argument is a sequence of forward values, not of gradients."""
        return any(s.argument == argument and not s.is_outer_gradient for s in self.sequences)

    def arrived(self, tape: TapeTrace) -> set[int]:
        """Return the rows of a tape that were written before the first recorded step."""
        firsts = [int(write.rows[0]) for write in tape.writes if self.steps]
        return {row for n in firsts for row in range(max(0, n - self.first), n)}


@dataclass(frozen=True)
class Generator:
    """A random generator: its algorithm, and its state at the start of a run."""

    algorithm: str
    state: str

    @classmethod
    def of(cls, generator: np.random.Generator) -> "Generator":
        """Return the current state of `generator`."""
        state = generator.bit_generator.state
        return cls(state["bit_generator"], json.dumps(state, default=np.ndarray.tolist))

    @property
    def value(self) -> np.random.Generator:
        """A new generator in this state."""
        bits = getattr(np.random, self.algorithm)()
        bits.state = json.loads(self.state)
        return np.random.Generator(bits)


@record_of_arrays
class Input:
    """An input of the graph and its value."""

    name: str
    given: np.ndarray | Generator

    @property
    def value(self) -> np.ndarray | np.random.Generator:
        """The value as an array, or as a new generator in the recorded state."""
        return self.given.value if isinstance(self.given, Generator) else self.given


@record_of_arrays
class OuterFault:
    """An operation outside of all Scans that computes nan without nan, or inf from finite inputs.

    The names of its `inputs` are their formulas.  `cause` is the index in `Trace.outside` of the
    fault on which an input depends.  `reaches` lists the values that are not finite because of the
    fault, as pairs of numbers: a Scan and its argument, or None and an output of the trace.
    """

    operation: str
    formula: str
    inputs: tuple[Input, ...]
    _: KW_ONLY
    value: np.ndarray
    cause: int | None
    reaches: tuple[tuple[int | None, int], ...]


@record_of_arrays
class Trace:
    """The run of a graph: its outputs, and every Scan in the order of execution.

    `names` are the names of `outputs`, possibly empty.  `feeds` link each output to the tapes and
    Scan outputs from which it is computed.  `inputs` are the values of the graph's inputs.
    `outside` are the operations outside of Scans that compute nan or infinity.  `backend` is
    PyTensor's backend for the steps that were not recorded.
    """

    outputs: tuple[np.ndarray, ...]
    scans: tuple[ScanTrace, ...]
    _: KW_ONLY
    names: tuple[ResultName, ...] = ()
    feeds: tuple[Feed, ...] = ()
    inputs: tuple[Input, ...] = ()
    backend: str = ""
    outside: tuple[OuterFault, ...] = ()

    to_json, from_json, untaken = RetiredAttribute(), RetiredAttribute(), RetiredAttribute()

    def __getstate__(self) -> dict[str, object]:
        """Return the fields for a pickle, without caches, such as the events of the trace."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        counted = enumerate(self.scans, 1)  # numbers distinguish equal names
        labels = [f"{number} · {scan.name}: {scan.steps} steps" for number, scan in counted]
        labels += [f"other steps by PyTensor, {self.backend}"] if self.backend else []
        return f"Trace({', '.join(labels)})"

    @cached_property
    def origins(self) -> tuple[Mapping[tuple[int, int | None], list[Origin]], ...]:
        """The origins of the arguments of each Scan, and last, the origins of the outputs.

        The keys are the number of the argument or output, and the row, which is None for all rows.
        """
        origins: list[dict[tuple[int, int | None], list[Origin]]] = []
        for feeds in (*(scan.feeds for scan in self.scans), self.feeds):
            origins.append({})
            for feed in feeds:
                tape = self.scans[feed.scan].tape(feed.argument)
                for row in feed.rows if tape is not None else ():
                    origin = Origin(feed.scan, feed.argument, row.source, row.is_summand)
                    origins[-1].setdefault((feed.into, row.row), []).append(origin)
        return tuple(origins)

    @cached_property
    def part_numbers(self) -> Mapping[tuple[int, int], int]:
        """The Scan and argument of each tape with a part of a gradient, and the part's number.

        The parts of a gradient have the numbers 1, 2, …; an only part has the number 0.  A tape
        that accumulates all parts has no number, except if the graph adds more terms to it.
        """
        more = {(feed.scan, feed.argument) for feed in self.feeds if feed.more}
        alike: dict[tuple[int, int, str], dict[tuple[int, int], bool]] = {}
        for number, scan in enumerate(self.scans):
            for tape in scan.buffers:
                if scan.parent is not None and tape.gradient_of is not None:
                    key = (scan.order, *self.first_holder(scan.parent, tape.gradient_of))
                    alike.setdefault(key, {})[number, tape.argument] = tape.collects
        numbers: dict[tuple[int, int], int] = {}
        for tapes in alike.values():  # True for the tape of a state, which accumulates all parts
            ordered = sorted(tapes, key=tapes.__getitem__)
            parts = [tape for tape in ordered if not tapes[tape] or tape in more]
            has_more = not more.isdisjoint(tapes)
            if len(tapes) > 1 or has_more:
                is_numbered = len(parts) > 1 or has_more
                numbers |= {tape: n if is_numbered else 0 for n, tape in enumerate(parts, start=1)}
        return numbers

    def first_holder(self, number: int, name: str) -> tuple[int, str]:
        """Return the Scan that first contains a variable, and the name of the variable there.

        The search goes from Scan `number` to its parent, and so on.
        """
        scan = self.scans[number]
        if scan.parent is None:
            return number, name
        above = self.scans[scan.parent]
        if any(parameter.name == name for parameter in above.parameters):
            return self.first_holder(scan.parent, name)
        for sequence in scan.sequences:
            if sequence.name == name and sequence.source and not sequence.is_outer_gradient:
                source = above.variable(sequence.source)
                if source is not None:
                    return self.first_holder(scan.parent, source.name)
        return number, name
