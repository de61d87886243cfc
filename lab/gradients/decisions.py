"""The results of single phases of a pullback, in terms of PyTensor variables.

They are `StepCount`, `Classification`, `StepGradients`, `ReverseState`, and `Reading`.  A
`Relation` contains the pairs of variables of both Scans; `lab.gradients.derivation.Derivation` is a
`Relation` with the results of all phases.  A `PullbackRule` contains the choices in which a faulty
pullback differs from the correct pullback.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan
from pytensor.tensor.variable import TensorVariable

from lab.errors import printable
from lab.gradients.status import Status, Undefined
from lab.scans.names import readable, split_name, unique_names
from lab.scans.node import LoopVariable, ScanParts
from lab.scans.replacing import scan_nodes
from lab.tape import Kind, Tape


@dataclass(frozen=True)
class PullbackRule:
    """The choices in which a faulty pullback differs from the correct pullback.

    The default values are correct; `lab.reports.breaking.rules` contains faulty values.

    `accumulates` maps a tape to the read taps at which a backward step adds its contribution to the
    old value of the slot.  The correct taps are the preserved taps, because later forward steps
    read preserved values only.  If `reverses` is true, a backward loop reads the forward values
    from the last step to the first.  If `replays` is true, the pullback recomputes values that a
    mit-mot has overwritten.  `recalls` maps a state or output to the array of its forward values;
    the correct array is the filled buffer.  `binds` maps a tape to the order in which its read taps
    become arguments of a backward step; the correct order is the order of the tape.
    """

    accumulates: Callable[[Tape], tuple[int, ...]] = lambda tape: tape.preserved
    reverses: bool = True
    replays: bool = True
    recalls: Callable[[LoopVariable], TensorVariable] = lambda part: part.filled
    binds: Callable[[Tape], tuple[int, ...]] = lambda tape: tape.reads


RULE = PullbackRule()


class ReadingGroup(StrEnum):
    """The five kinds of values that a backward step reads from reversed sequences (phase 7)."""

    SEQUENCE = "forward sequence"
    TAPS = "value of a mit-mot or mit-sot"
    SIT_SOT = "value of a sit-sot"
    NIT_SOT_GRADIENT = "gradient of a nit-sot"
    RESULT = "result of the step, not recomputed"


# The groups of the values that a step reads, and of outputs that only a backward step reads.
GROUPS = {
    Kind.SEQUENCE: ReadingGroup.SEQUENCE,
    Kind.SIT_SOT: ReadingGroup.SIT_SOT,
    Kind.MIT_SOT: ReadingGroup.TAPS,
    Kind.MIT_MOT: ReadingGroup.TAPS,
    Kind.NIT_SOT: ReadingGroup.RESULT,
    Kind.UNTRACED: ReadingGroup.RESULT,
}


@dataclass(frozen=True, eq=False)
class StepCount:
    """Phase 1: the numbers of forward and backward steps; `source` describes their origin."""

    forward: TensorVariable
    backward: TensorVariable
    source: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """The arguments of every phase: the loop, the gradients of its outputs, and the rule.

    `given` maps each output of the loop to the gradient with respect to the output.
    """

    op: Scan
    forward: ScanParts
    given: dict[Variable, Variable]
    steps: StepCount
    order: int
    rule: PullbackRule

    @property
    def exact(self) -> bool:
        """Whether all arrays of the loop have exactly the rows that its steps read or write.

        This holds for derivatives that this package has built, unless they are truncated.
        """
        is_derivative = relation_of(self.op) is not None
        return is_derivative and self.forward.truncate_gradient == -1


@dataclass(frozen=True, eq=False)
class Classification:
    """Phase 2: the variables that a gradient reaches, with the status of the gradient.

    `arguments` are the arguments of the step that receive a gradient.
    """

    reached: dict[LoopVariable, Status]
    arguments: frozenset[Variable]


@dataclass(frozen=True, eq=False)
class StepGradients:
    """Phases 3 to 5: the derivative of one step.

    `output_cotangents` are placeholders for the gradients of the results, and `gradients` are the
    gradients of the arguments as expressions in these placeholders.  `reused` maps results that
    the backward step reads to their placeholders.  `statuses` maps the arguments to the statuses of
    their gradients after all steps.
    """

    output_cotangents: dict[tuple[LoopVariable, int], TensorVariable]
    gradients: dict[Variable, Variable]
    reused: dict[Variable, Variable]
    statuses: dict[Variable, Status]

    def undefined(self, part: LoopVariable) -> bool:
        """Return whether the gradient of `part` is undefined."""
        return any(isinstance(self.statuses.get(v), Undefined) for v in part.inner_inputs)


@dataclass(frozen=True, eq=False)
class BackwardVariable:
    """A `variable` of the backward Scan with values or gradients of the forward variable `source`.

    In phase 9, the variable contains the gradient of a sequence (a value per step) or of a
    parameter (a sum).
    """

    source: LoopVariable
    variable: LoopVariable


@dataclass(frozen=True, eq=False)
class ReverseState(BackwardVariable):
    """Phases 6 and 8: the mit-mot `variable` that contains the gradients of the state `source`.

    At the read taps `accumulated` of the state, a backward step adds its contribution to the old
    value.  At the taps `cleared` of the mit-mot, a backward step writes 0.
    """

    accumulated: tuple[int, ...]
    cleared: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reading(BackwardVariable):
    """Phase 7: a reversed sequence with the values of the forward variable `source` at `tap`.

    `slices` are the slices that select the rows, as text.
    """

    group: ReadingGroup
    tap: int
    slices: str


@dataclass(frozen=True, eq=False)
class Relation:
    """The relation of a backward Scan to the forward Scan that it differentiates.

    `order` is the order of the derivative. Each variable of the backward Scan that contains
    gradients or values of a forward variable is in `states`, `readings`, or `totals`.
    """

    forward: ScanParts
    backward: ScanParts
    order: int
    _: KW_ONLY
    states: tuple[BackwardVariable, ...]
    readings: tuple[Reading, ...]
    totals: tuple[BackwardVariable, ...]

    @property
    def parent(self) -> Apply:
        """The node of the forward Scan."""
        return self.forward.node

    @property
    def sources(self) -> dict[LoopVariable, LoopVariable]:
        """A map from each backward variable to the forward variable of its values or gradients."""
        built = (*self.readings, *self.states, *self.totals)
        return {each.variable: each.source for each in built}


def relation_of(op: Op) -> Relation | None:
    """Return the relation of a Scan to its forward Scan; None unless our pullback built it."""
    relation = vars(op).get("derivation")
    return relation if isinstance(relation, Relation) else None


def scan_names(nodes: Sequence[Apply]) -> tuple[str, ...]:
    """Return a name for each Scan in `nodes`, which are in topological order.

    Loops with equal names receive numbers, as in ``scan_fn2``.  The name of a derivative contains
    the name of its loop.  PyTensor names a derivative by the plain name of its loop, without a
    number.  The derivative receives the number if it reads only one loop of this name, without
    another Scan in between.
    """
    plain = {node: printable(node.op.name or "scan_fn") for node in nodes}
    loops = [node for node in nodes if not split_name(plain[node])[0]]
    names = dict(zip(loops, unique_names([plain[loop] for loop in loops]), strict=True))

    def name_of(node: Apply) -> str:
        base = split_name(plain[node])[1]
        loop = _loop_of(node, [loop for loop in loops if plain[loop] == base])
        return readable(plain[node], base if loop is None else names[loop])

    return tuple(map(name_of, nodes))


def _loop_of(node: Apply, loops: Sequence[Apply]) -> Apply | None:
    """Return the loop that a derivative differentiates; None if the loop is unknown.

    If the derivation of a derivative is unknown, its loop is the only one of `loops` on which it
    depends without another Scan in between.
    """
    while (relation := relation_of(node.op)) is not None:
        node = relation.parent
    if node in loops:
        return node
    outputs = {v for scan in scan_nodes(node.inputs) for v in scan.outputs}
    sources = {variable.owner for variable in ancestors(node.inputs, blockers=outputs)}
    owners = [loop for loop in loops if loop in sources]
    return owners[0] if len(owners) == 1 else None
