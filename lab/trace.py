"""What every Scan of a graph read and wrote, at every step, as frozen data.

    >>> trace = lab.trace(gradient, given={x0: 0.95})
    >>> trace.outputs[0], trace.scans[1].tapes[0].writes[0].values

A `Trace` knows nothing of PyTensor any more: it can be compared, stored as JSON, and
drawn.  Only `verify` and the formulas look back at the graph that it was made from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import ancestors

from lab import run as running
from lab import storing
from lab.arrays import freeze, same
from lab.errors import ArgumentError, LabError
from lab.formula import Expression, Leaf, formulas
from lab.scan import LoopVariable, ScanParts, outer_inputs, require_scan
from lab.tape import Kind, Tape


@storing.record
@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows of an array stand for: row i is ``variable[index[i]]``."""

    variable: str
    index: np.ndarray

    __eq__ = same


@storing.record
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


@storing.record
@dataclass(frozen=True, eq=False)
class TapeTrace:
    """One tape: its taps, its initial contents, and every read and write.

    `unwritten` marks the rows of `initial` that were allocated and never filled.  `axis`
    tells which quantity a row belongs to, if it is known.  `gradient_of` names the variable
    of the parent loop whose gradient the tape holds.  `used` tells whether the filled tape
    goes on to the result.
    """

    name: str
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


@storing.record
@dataclass(frozen=True, eq=False)
class SequenceTrace:
    """One sequence: the value that each step read; `axis` tells of what, and at which index."""

    name: str
    values: np.ndarray
    axis: Axis

    __eq__ = same


@storing.record
@dataclass(frozen=True, eq=False)
class ParameterTrace:
    """A value that every step reads."""

    name: str
    value: np.ndarray

    __eq__ = same


@storing.record
@dataclass(frozen=True, eq=False)
class StepValue:
    """What one operation inside the step computed, over all steps.

    `inputs` are indices into the step's values, or names of its arguments and constants.
    """

    operation: str
    inputs: tuple[int | str, ...]
    values: np.ndarray

    __eq__ = same


@storing.record
@dataclass(frozen=True)
class Formula:
    """What a step writes: `target` (a variable and its write tap) and the expression."""

    target: Leaf
    expression: Expression


@storing.record
@dataclass(frozen=True, eq=False)
class ScanTrace:
    """One Scan: its variables over all steps.

    `order` is 0 for a loop and k for a Scan that a k-th derivative made; `parent` is the
    index in the trace of the Scan that this one differentiates.
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
    stopped_early: bool = False
    live: Any = field(default=None, repr=False, compare=False)

    __eq__ = same

    def variable(self, leaf: Leaf) -> "TapeTrace | SequenceTrace | ParameterTrace | None":
        """The variable that a leaf of a formula reads or writes."""
        ordered = (*self.sequences, *self.tapes, *[None] * len(self.untraced), *self.outputs)
        if 0 <= leaf.argument < len(ordered):
            return ordered[leaf.argument]
        return next((p for p in self.parameters if p.name == leaf.variable), None)

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """One formula for every tap that a step writes, in the order of the tapes."""
        return self.live() if self.live is not None else ()


@storing.record
@dataclass(frozen=True, eq=False)
class Trace:
    """The run of a graph: the values asked for, and every Scan in the order in which they ran."""

    outputs: tuple[np.ndarray, ...]
    scans: tuple[ScanTrace, ...]
    live: Any = field(default=None, repr=False, compare=False)

    __eq__ = same

    def verify(self, mode: str = "FAST_COMPILE") -> float:
        """The largest difference to the same graph, compiled and run by PyTensor.

        Differences are absolute, and relative where values exceed 1.  `mode` is a PyTensor
        compilation mode.  Raises LabError for a trace that was read from JSON, which has no
        graph.
        """
        if self.live is None:
            raise LabError("verify: this trace was read from JSON and has no graph to compile.")
        outputs, given = self.live
        return running.compare_with_compiled(outputs, given, self.outputs, mode)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        return storing.to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trace":
        """The inverse of `to_json`."""
        found = storing.from_json(data)
        if not isinstance(found, cls):
            raise ArgumentError("from_json: this is not a stored trace.")
        return found


def trace(
    outputs: Variable | Sequence[Variable],
    given: Mapping[Variable, Any],
    also: Iterable[Variable] = (),
) -> Trace:
    """Run the graph of `outputs` uncompiled and note what its Scans read and write.

    `given` has a value for every input; `also` are further variables to run, whose Scans
    shall be in the trace.  A run of more than a second shows its progress and can be
    interrupted.  Raises GraphError if there is no Scan, ArgumentError if a value is missing
    or of the wrong type, or a sequence is too short.
    """
    asked = [outputs] if isinstance(outputs, Variable) else list(outputs)
    for variable in given:
        if not isinstance(variable, Variable):
            raise ArgumentError(f"given: {variable!r} is not a PyTensor variable.")
    extra = list(also)
    require_scan([*asked, *extra])
    values, recordings = running.run([*asked, *extra], given)
    index = {recording.node: number for number, recording in enumerate(recordings)}
    used = set(ancestors(asked))
    scans: list[ScanTrace] = []
    axes: dict[Variable, Axis] = {}
    for recording in recordings:
        scans.append(_scan_trace(recording, values, index, axes, used))
    results = tuple(freeze(np.array(values[v])) for v in asked)
    return Trace(results, tuple(scans), live=(asked, dict(given)))


def _scan_trace(
    recording: running.Recording,
    values: Mapping[Variable, Any],
    index: Mapping[Apply, int],
    axes: dict[Variable, Axis],
    used: set[Variable],
) -> ScanTrace:
    parts, node = recording.parts, recording.node
    derivation = getattr(node.op, "derivation", None)
    sources = derivation.sources if derivation is not None else {}
    parent = index.get(derivation.parent) if derivation is not None else None

    tapes, outputs, sequences = [], [], []
    for position, part in enumerate(outer_inputs(parts)):
        if part.kind is Kind.SEQUENCE:
            (read,) = recording.reads[part]
            axis = _sequence_axis(part, read.rows, values, axes)
            axes[part.outer_input] = axis
            sequences.append(SequenceTrace(part.name, freeze(read.values), _cut(axis, read.rows)))
            continue
        if not part.kind.is_state and part.kind is not Kind.NIT_SOT:
            continue
        source = sources.get(position)
        tape = _tape_trace(recording, part, values, source, used)
        axis = _tape_axis(part, tape, source, recording, axes)
        if axis is not None:
            axes[part.outer_output] = axis
            tape = replace(tape, axis=axis)
        (outputs if part.kind is Kind.NIT_SOT else tapes).append(tape)

    parameters = tuple(
        ParameterTrace(part.name, freeze(np.array(values[part.outer_input])))
        for part in parts.of_kind(Kind.PARAMETER)
        if hasattr(part.outer_input.type, "dtype")
    )
    return ScanTrace(
        name=parts.name,
        steps=recording.steps,
        order=derivation.order if derivation is not None else 0,
        parent=parent,
        tapes=tuple(tapes),
        sequences=tuple(sequences),
        parameters=parameters,
        outputs=tuple(outputs),
        untraced=tuple(part.name for part in parts.of_kind(Kind.UNTRACED)),
        inside=_inside(recording),
        stopped_early=recording.steps < int(values[parts.n_steps]),
        live=lambda: _formulas(parts),
    )


def _tape_trace(
    recording: running.Recording,
    part: LoopVariable,
    values: Mapping[Variable, Any],
    source: LoopVariable | None,
    used: set[Variable],
) -> TapeTrace:
    final = np.array(recording.final[part])
    if part in recording.initial:
        initial = recording.initial[part]
        unwritten = running.unwritten_rows(part.outer_input, values)
    else:
        initial = np.zeros_like(final)
        unwritten = np.ones(len(final), dtype=bool)

    def accesses(found: Iterable[running.Access]) -> tuple[Access, ...]:
        return tuple(
            Access(a.tap, freeze(a.rows), freeze(a.values), None if a.before is None else freeze(a.before))
            for a in found
        )

    return TapeTrace(
        name=part.name,
        kind=part.kind,
        tape=part.tape,
        initial=freeze(initial),
        unwritten=freeze(unwritten),
        reads=accesses(recording.reads.get(part, ())),
        writes=accesses(recording.writes.get(part, ())),
        final=freeze(final),
        gradient_of=source.name if source is not None else None,
        used=part.outer_output in used,
    )


def _sequence_axis(
    part: LoopVariable,
    rows: np.ndarray,
    values: Mapping[Variable, Any],
    axes: Mapping[Variable, Axis],
) -> Axis:
    """Of which array the sequence was cut, and at which of its indices."""
    array, found = running.rows_of(part.outer_input, values)
    known = axes.get(array)
    if known is not None:
        return Axis(part.name, freeze(known.index[found]))
    name = array.name if array.name else part.name
    return Axis(name if array.owner is None else part.name, freeze(found))


def _cut(axis: Axis, rows: np.ndarray) -> Axis:
    return Axis(axis.variable, freeze(axis.index[rows]))


def _tape_axis(
    part: LoopVariable,
    tape: TapeTrace,
    source: LoopVariable | None,
    recording: running.Recording,
    axes: Mapping[Variable, Axis],
) -> Axis | None:
    """What the rows of a tape belong to.

    The rows of a loop's own state are its values in time.  A gradient's tape holds, last
    first, the gradients of the rows of its parent's tape; the gradients of a sequence come
    out in the order of the backward steps.
    """
    rows = len(tape.initial)
    if source is None:
        if part.kind is Kind.MIT_MOT:
            return None
        return Axis(part.name, freeze(np.arange(rows)))
    if source.kind is Kind.PARAMETER:
        return None
    known = axes.get(source.outer_output if source.kind.is_state else source.outer_input)
    if known is None or len(known.index) < rows:
        return None
    return Axis(known.variable, freeze(known.index[:rows][::-1]))


def _inside(recording: running.Recording) -> tuple[StepValue, ...]:
    numbers: dict[Variable, int | str] = {
        v: str(v) for v in recording.parts.inner_inputs
    }
    found = []
    for variable, values in recording.inside.items():
        node = variable.owner
        inputs = tuple(
            str(v.data) if isinstance(v, Constant) else numbers.get(v, str(v)) for v in node.inputs
        )
        numbers[variable] = len(found)
        operation = str(getattr(node.op, "scalar_op", node.op))
        found.append(StepValue(operation, inputs, freeze(values)))
    return tuple(found)


def _formulas(parts: ScanParts) -> tuple[Formula, ...]:
    """The formulas of everything that a step writes, simplified."""
    leaves = {}
    for number, part in enumerate(outer_inputs(parts)):
        for tap, argument in part.reads if part.inner_inputs else ():
            leaves[argument] = Leaf(part.name, tap if part.kind.is_state else None, number)
    written = [
        (Leaf(part.name, tap, number), result)
        for number, part in enumerate(outer_inputs(parts))
        if part.kind.is_state or part.kind is Kind.NIT_SOT
        for tap, result in part.writes
    ]
    expressions = formulas([result for _, result in written], leaves)
    return tuple(
        Formula(target, expression)
        for (target, _), expression in zip(written, expressions, strict=True)
    )
