"""What the eleven phases of a pullback decided, as records that can be drawn and stored.

The live records (`StepCount` … `ReverseState`) hold PyTensor variables and are what
`lab.pullback` works with; `Derivation.record` is the same story as plain text in frozen
data, made when it is first asked for, comparable, and convertible to and from JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pytensor.graph.basic import Apply, Variable

from lab import records
from lab.gradients.status import Status, Undefined
from lab.records import cached_property
from lab.scans.node import LoopVariable, ScanParts
from lab.tape import Kind, Tape


@dataclass(frozen=True)
class PullbackRule:
    """The decisions of the pullback that can be got wrong, as values.

    `accumulates` tells at which read taps of a tape the gradient that later readers have
    left in the slot is added: at the preserved ones, since an overwritten value has no
    later readers.  `reverses` tells whether forward values are read last step first,
    `replays` whether values that a mit-mot has overwritten are computed once more, instead
    of being taken from the filled buffer.  `recalls` gives the array in which the values of a
    state or output are looked up: the buffer that the loop has filled.  `binds` tells in which
    order a backward step takes the read taps of its tape as arguments: that of the tape.
    `lab.reports.breaking.rules` has wrong values of these, each with what it does.
    """

    accumulates: Callable[[Tape], tuple[int, ...]] = lambda tape: tape.preserved
    reverses: bool = True
    replays: bool = True
    recalls: Callable[[LoopVariable], Variable] = lambda part: part.outer_output
    binds: Callable[[Tape], tuple[int, ...]] = lambda tape: tape.reads


RULE = PullbackRule()


@records.record
class ReadingGroup(StrEnum):
    """The five groups of reversed sequences of phase 7."""

    SEQUENCE = "forward sequence"
    TAPS = "value of a mit-mot or mit-sot"
    SIT_SOT = "value of a sit-sot"
    NIT_SOT_GRADIENT = "gradient of a nit-sot"
    RESULT = "result of the step, not computed again"


@dataclass(frozen=True, eq=False)
class StepCount:
    """Phase 1: the steps that the loop made, and those that the gradient goes back through."""

    made: Variable
    reversed: Variable
    source: str


@dataclass(frozen=True, eq=False)
class Task:
    """What every phase may look at: the loop, the gradients of its outputs, and the rule."""

    op: Any
    forward: ScanParts
    given: dict[Variable, Variable]
    steps: StepCount
    order: int
    rule: PullbackRule

    @property
    def exact(self) -> bool:
        """Whether the loop is one of ours, whose arrays are exactly as long as they must be.

        A truncated derivative leaves the slots of the steps that it does not go back to.
        """
        made_here = getattr(self.op, "derivation", None) is not None
        return made_here and self.forward.truncate_gradient == -1


@dataclass(frozen=True, eq=False)
class Classification:
    """Phase 2: variables whose results a gradient reaches, and the arguments it then reaches."""

    reached: dict[LoopVariable, Status]
    arguments: frozenset[Variable]


@dataclass(frozen=True, eq=False)
class StepGradients:
    """Phases 3 to 5: the derivative of one step.

    `signals` stand for the gradients of the results, `gradients` are those of the arguments
    in terms of them, `reused` the results that need not be computed again, `statuses` what
    became of every argument's gradient after all steps.
    """

    signals: dict[tuple[LoopVariable, int], Variable]
    gradients: dict[Variable, Variable]
    reused: dict[Variable, Variable]
    statuses: dict[Variable, Status]

    def undefined(self, part: LoopVariable) -> bool:
        """Whether the gradient of `part` is undefined."""
        return any(isinstance(self.statuses.get(v), Undefined) for v in part.inner_inputs)


@dataclass(frozen=True, eq=False)
class ReverseState:
    """Phases 6 and 8: the mit-mot that a state becomes."""

    state: LoopVariable
    variable: LoopVariable
    accumulated: tuple[int, ...]
    cleared: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reading:
    """Phase 7: a reversed sequence of the backward Scan, and the forward value that it brings."""

    group: ReadingGroup
    source: LoopVariable
    tap: int
    variable: LoopVariable
    slices: str


@dataclass(frozen=True, eq=False)
class Total:
    """Phase 9: the gradient of a sequence (one a step) or of a parameter (summed up)."""

    source: LoopVariable
    variable: LoopVariable


@records.record
class Verdict(StrEnum):
    """What a phase decided, where it is one of the decisions that make a gradient right."""

    NOTED = "noted"  # a fact that decides nothing
    ABSENT = "absent"
    READ = "read"
    REUSED = "reused"
    ACCUMULATED = "accumulated"
    OVERWRITTEN = "nothing added"
    CLEARED = "cleared"
    SUMMED = "summed up"
    PER_STEP = "one a step"
    CONNECTED = "connected"
    ZERO = "zero"
    DISCONNECTED = "disconnected"
    UNDEFINED = "undefined"
    UNTRACED = "untraced"


@records.record
@dataclass(frozen=True)
class Item:
    """One decision of a phase: what it is about, what was decided, and the expression built."""

    subject: str
    decision: str
    expression: str = ""
    verdict: Verdict = Verdict.NOTED


@records.record
@dataclass(frozen=True)
class Outcome:
    """What became of the gradient of one outer input, why, and where it is found.

    `kind` is None for the number of steps, which is no variable of the loop.
    """

    variable: str
    kind: Kind | None
    verdict: Verdict
    reason: str
    gradient: str = ""


@records.record
@dataclass(frozen=True)
class Phase:
    """One of the eleven phases, by the name that PyTensor's documentation gives it."""

    number: int
    name: str
    items: tuple[Item, ...]


@records.record
@dataclass(frozen=True)
class DerivationRecord:
    """A derivation as plain data: the Scan, its derivative, the eleven phases, and the outcome.

    `outcomes` has one entry for every outer input of the forward Scan after the number of
    steps, in its order.
    """

    forward: str
    backward: str
    order: int
    phases: tuple[Phase, ...]
    outcomes: tuple[Outcome, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.backward}: the derivative of {self.forward}, order {self.order}"]
        for phase in self.phases:
            lines.append(f"{phase.number}. {phase.name}")
            for item in phase.items:
                text = f"   {item.subject}: {item.decision}"
                lines.append(f"{text}: {item.expression}" if item.expression else text)
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Derivation:
    """One reverse derivative of one Scan: what was differentiated, how, and the result.

    `gradients` has one entry for every outer input of the forward Scan, in its order;
    `node` is the backward Scan, or None where no gradient had to be computed.
    """

    forward: ScanParts
    backward: ScanParts
    order: int
    steps: StepCount
    classes: Classification
    step: StepGradients
    states: tuple[ReverseState, ...]
    readings: tuple[Reading, ...]
    totals: tuple[Total, ...]
    node: Apply | None = None
    gradients: tuple[Variable, ...] = ()

    @property
    def parent(self) -> Apply:
        """The node that was differentiated."""
        found = (v.outer_output.owner for v in self.forward.variables if v.outer_output is not None)
        return next(found)

    @property
    def sources(self) -> dict[LoopVariable, LoopVariable]:
        """For every backward variable the forward one that it reads, or holds the gradient of."""
        built: dict[LoopVariable, LoopVariable] = {r.variable: r.source for r in self.readings}
        built |= {reverse.variable: reverse.state for reverse in self.states}
        return built | {total.variable: total.source for total in self.totals}

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of the gradient of every outer input but the number of steps, and why."""
        from lab.gradients.outcomes import outcomes  # which reads this module's records

        return outcomes(self)

    @cached_property
    def record(self) -> DerivationRecord:
        """The eleven phases as plain data."""
        from lab.gradients.phases import record  # which reads this module's records

        return record(self)

    def to_json(self) -> Any:
        """`record` as plain dicts, lists, strings and numbers; `lab.records.from_json` reads it."""
        return records.to_json(self.record)

    def __str__(self) -> str:
        return str(self.record)


def symbol(order: int, name: str) -> str:
    """The name of the gradient of `name`: ``dx`` at order 1, ``d2x``, ``d2dx`` … after it."""
    return f"d{order}{name}" if order > 1 else f"d{name}"
