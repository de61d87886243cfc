"""What every Scan of a graph read and wrote, at every step, as frozen data.

    >>> trace = lab.trace(gradient, given={x0: 0.95})
    >>> trace.outputs[0], trace.scans[1].tapes[0].writes[0].values

A `Trace` is plain data: you can compare, copy, pickle, and draw it.  Unpickle only a trace that
you trust, because `pickle` runs code.  `Derivative` has the graph, and what needs it, as `verify`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lab.gradients.decisions import ReadingGroup
from lab.notation import Call, Expression, Leaf, Number, leaves_of
from lab.records import cached_property, record_of_arrays
from lab.retired import RetiredAttribute
from lab.scans.printed import Place
from lab.tape import Kind, Tape


@record_of_arrays
class Axis:
    """What the rows of an array stand for: row i is ``variable[index[i]]``."""

    variable: str
    index: np.ndarray

    @cached_property
    def rows(self) -> Mapping[int, int]:
        """The row in which an index stands."""
        return {index: row for row, index in enumerate(self.index.tolist())}


@record_of_arrays
class Access:
    """All reads, or all writes, at one tap: the rows and the values, one for each step.

    `before` is what stood in the rows before they were written (None for reads).
    """

    tap: int
    rows: np.ndarray
    values: np.ndarray
    before: np.ndarray | None = None


@record_of_arrays
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

    @property
    def is_total(self) -> bool:
        """Whether the tape only sums up, step by step, the gradient of a parameter."""
        return self.kind is Kind.SIT_SOT and self.gradient_of is not None

    @property
    def collects(self) -> bool:
        """Whether it is the tape of a state, in which all parts of a gradient come together."""
        return bool(self.tape.reads) and not self.is_total

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


@record_of_arrays
class Taken:
    """Of which Scan, and of which of its variables by number, step s reads row ``rows[s]``."""

    scan: int
    variable: int
    rows: np.ndarray


@record_of_arrays
class SequenceTrace:
    """One sequence: the value that each step read; `axis` tells of what, and at which index.

    A gradient reads what the loop that it differentiates had read or computed: `source` is
    that variable of the parent and its tap, `group` why it is read.  A loop may read what
    another loop has computed: `taken` tells from where.  What a loop calls its value at t is,
    at step 0, the one with the index `now`.
    """

    name: str
    argument: int
    values: np.ndarray
    axis: Axis
    source: Leaf | None = None
    group: ReadingGroup | None = None
    taken: Taken | None = None
    now: int = 0

    @property
    def is_outer_gradient(self) -> bool:
        """Whether it is the gradient of an output, which a derivative gets from outside."""
        return self.group is ReadingGroup.NIT_SOT_GRADIENT


@record_of_arrays
class ParameterTrace:
    """A value that every step reads."""

    name: str
    argument: int
    value: np.ndarray


Source = int | Leaf | Number  # another value of the step by its number, an argument, a constant


@record_of_arrays
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


@dataclass(frozen=True)
class StepResult:
    """What a step writes at a tap: `target` is a variable and its write tap.

    A target of None is the condition on which the loop stops.
    """

    target: Leaf | None
    source: Source


@dataclass(frozen=True)
class Feed:
    """The filled tape or output `variable` of Scan `scan`, which another value is computed from.

    `into` is the number of the argument of a Scan, or of an output of the trace, that is
    computed from it with no other Scan in between; `rows` are the rows of both.  An output may
    have `more` than what Scans give: something else is added, as 5x₀ to the gradient of
    x[-1] + 5x₀²/2.
    """

    into: int
    scan: int
    variable: int
    more: bool = False
    rows: "tuple[FedRow, ...]" = ()


class FedRow(NamedTuple):
    """`row` of a value is computed from row `source` of a tape; of a sequence, `row` is a step.

    `row` is None if all rows are; `is_summand` tells that the source is added unchanged.
    """

    row: int | None
    source: int
    is_summand: bool


@dataclass(frozen=True)
class Formula:
    """What a step writes: `target` (a variable and its write tap) and the expression."""

    target: Leaf
    expression: Expression

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the expression, each once, from left to right."""
        return tuple(leaves_of(self.expression))


@record_of_arrays
class ScanTrace:
    """One Scan: its variables over all steps.

    `order` is 0 for a loop and k for a Scan that a k-th derivative made; `parent` is the
    index in the trace of the Scan that this one differentiates.  `inside` are the operations
    of the step, each after those that it uses, `results` what it writes, one for every write
    tap in the order of the arguments, and `formulas` the same as mathematics; `feeds` are the
    Scans that its arguments come from.  `nested` has a trace of every step whose graph has
    Scans in it, those of a loop of more than 500 steps aside.  Of a run of which a window was kept,
    `first` is the number of its first step.  `place` is where it stands in what
    ``pytensor.dprint`` prints of the outputs, and the line of a person's code that made it;
    `places` have the same of each of its variables, by their numbers.
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
    nested: "tuple[Trace, ...]" = ()
    first: int = 0
    place: str = ""
    places: tuple[Place, ...] = ()

    @property
    def variables(self) -> Iterator[TapeTrace | SequenceTrace | ParameterTrace]:
        """All variables that have values: sequences, tapes, outputs, parameters."""
        for group in (self.sequences, self.tapes, self.outputs, self.parameters):
            yield from group

    def variable(self, leaf: Leaf) -> TapeTrace | SequenceTrace | ParameterTrace | None:
        """The variable that a leaf of a formula reads or writes."""
        return self._by_argument.get(leaf.argument)

    @cached_property
    def _by_argument(self) -> "Mapping[int, TapeTrace | SequenceTrace | ParameterTrace]":
        return {v.argument: v for v in reversed(list(self.variables))}

    @property
    def held(self) -> tuple[TapeTrace, ...]:
        """All that the steps write: tapes and outputs, in the order of the arguments."""
        return tuple(sorted((*self.tapes, *self.outputs), key=lambda tape: tape.argument))

    @property
    def carries(self) -> bool:
        """Whether it is a loop that carries tangents, or coefficients, beside its values."""
        made = self.name.startswith(("tangent of ", "series of ")) and self.parent is None
        return made and all(tape.kind is not Kind.MIT_MOT for tape in self.tapes)

    def tape(self, argument: int) -> TapeTrace | None:
        """The tape or output with a number among the arguments."""
        variable = self._by_argument.get(argument)
        return variable if isinstance(variable, TapeTrace) else None

    def is_reading(self, argument: int) -> bool:
        """Whether an argument brings values to read, as opposed to gradients to add to."""
        return any(s.argument == argument and not s.is_outer_gradient for s in self.sequences)

    def arrived(self, tape: TapeTrace) -> set[int]:
        """The rows of a tape that steps before the first one that was kept have written."""
        firsts = [int(write.rows[0]) for write in tape.writes if self.steps]
        return {row for n in firsts for row in range(max(0, n - self.first), n)}

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
            return leaf.variable in self.untraced and leaf.tap is None
        if variable.name != leaf.variable:
            return False
        taps = variable.tape.taps if isinstance(variable, TapeTrace) else (None, 0)
        return leaf.tap in taps


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
    def value(self) -> np.random.Generator:
        """A generator in this state."""
        bits = getattr(np.random, self.algorithm)()
        bits.state = json.loads(self.state)
        return np.random.Generator(bits)


@record_of_arrays
class Input:
    """An input of the graph, and what it was given."""

    name: str
    given: np.ndarray | Generator

    @property
    def value(self) -> np.ndarray | np.random.Generator:
        """What it was given, as a graph takes it."""
        return self.given.value if isinstance(self.given, Generator) else self.given


@dataclass(frozen=True)
class Untaken:
    """A branch that a `where` did not take, and whose gradient is nan all the same, as 0·∞ is.

    Step `step` of Scan `scan` is the first that computes such a `product`, for the gradient of
    `branch`.  That is what step `forward_step` of Scan `forward` did not take, where it is known.
    """

    scan: int
    step: int
    product: Expression
    branch: Expression
    forward: int | None = None
    forward_step: int | None = None

    @property
    def operation(self) -> str:
        """The name of the operation that made nan of a zero."""
        return self.product.name if isinstance(self.product, Call) else ""


@record_of_arrays
class OuterFault:
    """An operation outside of all Scans that computes nan or infinity from other values.

    `inputs` are its inputs, called by their formulas.
    `cause` is the fault from which one of its inputs comes, as its number in `Trace.outside`;
    `reaches` are the values that are not finite for this reason: arguments of Scans, as the number
    of the Scan and of the argument, and outputs of the trace, as None and the number of the output.
    """

    operation: str
    formula: str
    inputs: tuple[Input, ...]
    value: np.ndarray
    cause: int | None
    reaches: tuple[tuple[int | None, int], ...]


@record_of_arrays
class Trace:
    """The run of a graph: the values asked for, and every Scan in the order in which they ran.

    `names` are those of `outputs`, empty where a value has none; `feeds` tells from which
    Scans they are computed, `inputs` from which values of the graph's inputs, in their order;
    `untaken` are the branches that were not taken and yet made nan of gradients, `outside` the
    operations outside of the Scans that compute nan or infinity.  Where a window of steps was kept,
    `backend` is what PyTensor ran the others by.
    """

    outputs: tuple[np.ndarray, ...]
    scans: tuple[ScanTrace, ...]
    names: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    inputs: tuple[Input, ...] = ()
    untaken: tuple[Untaken, ...] = ()
    backend: str = ""
    outside: tuple[OuterFault, ...] = ()

    to_json, from_json = RetiredAttribute(), RetiredAttribute()

    def __repr__(self) -> str:
        counted = enumerate(self.scans, 1)  # two may have the same name
        told = [f"{number} · {scan.name}: {scan.steps} steps" for number, scan in counted]
        told += [f"the others by PyTensor, {self.backend}"] if self.backend else []
        return f"Trace({', '.join(told)})"

    @cached_property
    def shares(self) -> Mapping[tuple[int, int], int]:
        """Which tapes hold a part of a gradient, to be added up elsewhere, by Scan and argument.

        The parts of one gradient are counted from 1; the only one there is has the number 0.
        A tape that collects them is a part itself if more is added to what it gives.
        """
        more = {(feed.scan, feed.variable) for feed in self.feeds if feed.more}
        alike: dict[tuple[int, int, str], list[tuple[int, TapeTrace]]] = {}
        for number, scan in enumerate(self.scans):
            for tape in scan.held:
                if scan.parent is not None and tape.gradient_of is not None:
                    key = (scan.order, *self._origin(scan.parent, tape.gradient_of))
                    alike.setdefault(key, []).append((number, tape))
        found: dict[tuple[int, int], int] = {}
        for tapes in alike.values():  # the tape of a state collects all parts
            parts = [(n, tape.argument) for n, tape in tapes if not tape.collects]
            whole = [(n, tape.argument) for n, tape in tapes if tape.collects]
            added = more & {*parts, *whole}
            if len(tapes) > 1 or added:
                several = len(parts) > 1 or bool(added)
                found |= {part: i * several for i, part in enumerate(parts, start=1)}
                found |= {part: len(parts) + 1 for part in whole if part in added}
        return found

    def _origin(self, number: int, name: str) -> tuple[int, str]:
        """The Scan that had a variable of Scan `number` first, and what it calls it."""
        scan = self.scans[number]
        if scan.parent is None:
            return number, name
        above = self.scans[scan.parent]
        if any(parameter.name == name for parameter in above.parameters):
            return self._origin(scan.parent, name)
        for sequence in scan.sequences:
            if sequence.name == name and sequence.source and not sequence.is_outer_gradient:
                source = above.variable(sequence.source)
                return (number, name) if source is None else self._origin(scan.parent, source.name)
        return number, name
