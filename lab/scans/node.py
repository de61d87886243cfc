"""A Scan node as a list of loop variables, and back again.

PyTensor keeps the arguments of a Scan in flat lists, in which seven kinds of variables
are told apart by counting.  This file is the only one that counts: `read_scan` turns a
node into `ScanParts`, in which every `LoopVariable` holds its own tape, its outer input
and output and its inner inputs and outputs; `build_scan` turns parts into a node.

The nodes that it builds are `TapeScan`: Scans whose reverse derivative is ours, and
which remember the `Derivation` that made them.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import compress, islice, repeat
from typing import TYPE_CHECKING, ClassVar
from weakref import finalize

from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph, Op, io_connection_pattern
from pytensor.graph.replace import clone_replace
from pytensor.scan.op import Scan, ScanInfo
from pytensor.tensor.variable import TensorVariable

from lab.errors import GraphError, printable
from lab.notation import tap_symbol
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import as_tensor
from lab.scans.names import found_names, readable
from lab.tape import Kind, Tape

if TYPE_CHECKING:
    from pytensor.graph.fg import AbstractFunctionGraph

# The orders in which a Scan lists its arguments; all else follows from these.
OUTER_INPUTS: tuple[Kind, ...] = (
    Kind.SEQUENCE,
    Kind.MIT_MOT,
    Kind.MIT_SOT,
    Kind.SIT_SOT,
    Kind.UNTRACED,
    Kind.NIT_SOT,
    Kind.PARAMETER,
)
INNER_INPUTS: tuple[Kind, ...] = tuple(kind for kind in OUTER_INPUTS if kind is not Kind.NIT_SOT)
UNINDEXED = (Kind.UNTRACED, Kind.PARAMETER)
OUTPUTS = (Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT, Kind.UNTRACED)


@dataclass(frozen=True, eq=False)
class LoopVariable:
    """One variable of a loop, seen from outside and from inside.

    `outer_input` is the buffer with its initial values, the sequence, the parameter, or
    for a nit-sot the number of rows; `outer_output` the filled buffer.  There is one inner
    input for each read tap, and one inner output for each write tap.  A parameter reads the
    same slot at every step; an untraced state has a single slot, which is replaced.
    """

    kind: Kind
    name: str
    tape: Tape
    outer_input: Variable
    inner_inputs: tuple[Variable, ...] = ()
    inner_outputs: tuple[Variable, ...] = ()
    outer_output: Variable | None = None

    @property
    def filled(self) -> TensorVariable:
        """The outer output of a variable that has one: a buffer that the loop has filled."""
        return as_tensor(self.outer_output)

    @property
    def reads(self) -> tuple[tuple[int, Variable], ...]:
        """Pairs of read tap and inner input."""
        return tuple(zip(self.tape.reads, self.inner_inputs, strict=True))

    @property
    def writes(self) -> tuple[tuple[int, Variable], ...]:
        """Pairs of write tap and inner output."""
        return tuple(zip(self.tape.writes, self.inner_outputs, strict=True))


@dataclass(frozen=True, eq=False)
class ScanParts:
    """A Scan node, taken apart; its `variables` are in the order of the arguments of the node."""

    name: str
    n_steps: TensorVariable
    variables: tuple[LoopVariable, ...]
    until: Variable | None = None
    truncate_gradient: int = -1
    mode: Mode | None = None

    def __post_init__(self) -> None:
        ordered = tuple(v for kind in OUTER_INPUTS for v in self.of_kind(kind))
        object.__setattr__(self, "variables", ordered)

    @property
    def called(self) -> str:
        """What people call it: see `readable`.  `name` is that of its operation."""
        return readable(self.name)

    def of_kind(self, *kinds: Kind) -> tuple[LoopVariable, ...]:
        """The variables of the given kinds, in the order of the node."""
        return tuple(variable for variable in self.variables if variable.kind in kinds)

    @property
    def states(self) -> tuple[LoopVariable, ...]:
        """The variables that feed back through a buffer."""
        return tuple(variable for variable in self.variables if variable.kind.is_state)

    @property
    def inner_inputs(self) -> list[Variable]:
        """All arguments of the step, in PyTensor's order."""
        return [
            v for kind in INNER_INPUTS for part in self.of_kind(kind) for v in part.inner_inputs
        ]

    @property
    def inner_outputs(self) -> list[Variable]:
        """All results of the step, in PyTensor's order, the until condition last."""
        results = [v for kind in OUTPUTS for part in self.of_kind(kind) for v in part.inner_outputs]
        return results if self.until is None else [*results, self.until]

    def with_results(self, made: Mapping[Variable, Variable]) -> "ScanParts":
        """The same with other results of the step; those of which nothing is `made` stay."""
        variables = tuple(
            replace(v, inner_outputs=tuple(made.get(one, one) for one in v.inner_outputs))
            for v in self.variables
        )
        until = None if self.until is None else made.get(self.until, self.until)
        return replace(self, variables=variables, until=until)

    @property
    def outer_inputs(self) -> list[Variable]:
        """All arguments of the node, in PyTensor's order."""
        return [self.n_steps, *(variable.outer_input for variable in self.variables)]


Pullback = Callable[
    [Scan, Sequence[Variable], Sequence[Variable], Sequence[Variable]], list[Variable]
]


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of a Scan beside what it computes.

    `names` are those of its loop variables in the order of `OUTER_INPUTS`, `derivation` is the
    `lab.Derivation` that built it; None for a loop that is no derivative.
    """

    names: tuple[str, ...] = ()
    derivation: object | None = None


class TapeScan(Scan):
    """A Scan whose reverse derivative is built by `lab.pullback`; otherwise PyTensor's own.

    `rule` is the `PullbackRule` that its own derivative will follow.
    """

    _pullback: ClassVar[Pullback]
    labels: Labels = Labels()
    rule: object | None = None
    _connected: tuple[object, list[list[bool]]] | None = None  # of which graph, and its pattern

    @property
    def derivation(self) -> object | None:
        """The `lab.Derivation` that built it; None for a loop that is no derivative."""
        return self.labels.derivation

    @classmethod
    def differentiated_by(cls, pullback: Pullback) -> Pullback:
        """Decorator: the function that builds the reverse derivative of these Scans."""
        cls._pullback = pullback
        return pullback

    def pullback(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable]:
        """The gradients of all inputs; see `lab.pullback`."""
        return self._pullback(inputs, outputs, output_gradients)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Which input reaches which output, initial values included.

        PyTensor's own pattern leaves out that a buffer holds its initial values, and so
        loses derivatives with regard to the start of a delay line.
        """
        if self._connected is None or self._connected[0] is not self.fgraph:
            self._connected = self.fgraph, self._connections(node)
        return self._connected[1]

    def _connections(self, node: Apply) -> list[list[bool]]:
        """As in PyTensor's, whose time grows with the cube of the number of states."""
        inside = io_connection_pattern(self.inner_inputs, self.inner_outputs)
        places = self.get_oinp_iinp_iout_oout_mappings()
        read = [0] * len(node.outputs)  # of each result, the arguments that one step reads, as bits
        argument_of = {i: k for k, rows in places["inner_inp_from_outer_inp"].items() for i in rows}
        result_of = {i: k for k, made in places["inner_out_from_outer_out"].items() for i in made}
        for row, connected in enumerate(inside):
            for column in compress(range(len(connected)), connected):
                if column in result_of:  # not what the loop stops by
                    read[result_of[column]] |= 1 << argument_of[row]
        states = {i: result for result, i in places["outer_inp_from_outer_out"].items() if i >= 0}
        reached = [_reached(result, read, states) for result in range(len(read))]
        for index in range(self.info.n_mit_mot + self.info.n_mit_sot + self.info.n_sit_sot):
            reached[index] |= 1 << (1 + self.info.n_seqs + index)
        return [
            [bool(bits >> argument & 1) for bits in reached] for argument in range(len(node.inputs))
        ]


def with_initial_values(op: Scan, pattern: list[list[bool]]) -> list[list[bool]]:
    """The connection pattern of a Scan, with what PyTensor's own leaves out.

    A buffer holds its initial values; without them, derivatives with regard to the start of a
    delay line are lost.  A start that no step reads stays as PyTensor has it: what `scan` returns
    does not show it, and whoever asks `grad` for it is told.  PyTensor remembers its pattern, so
    this is another one.
    """
    pattern = [list(row) for row in pattern]
    for index in range(op.info.n_mit_mot + op.info.n_mit_sot + op.info.n_sit_sot):
        row = pattern[1 + op.info.n_seqs + index]
        row[index] = index < op.info.n_mit_mot or any(row)
    return pattern


def _reached(result: int, read: Sequence[int], states: Mapping[int, int]) -> int:
    """The arguments, as bits, that reach a result in any number of steps; `states` by argument."""
    found, waiting = 0, [result]
    while waiting:
        new = read[waiting.pop()] & ~found
        found |= new
        while new:
            argument = new.bit_length() - 1
            new ^= 1 << argument
            if argument in states:
                waiting.append(states[argument])
    return found


# PyTensor's own Scans have no room for labels.  They are told apart by identity, since two that
# are equal may stand for different loops.
_LABELS: dict[int, Labels] = {}


def label(op: Scan, labels: Labels) -> None:
    """Note what is known of `op`, whoever has made it."""
    if isinstance(op, TapeScan):
        op.labels = labels
        return
    if id(op) not in _LABELS:
        finalize(op, _LABELS.pop, id(op))
    _LABELS[id(op)] = labels


def labels_of(op: Op) -> Labels:
    """What is known of `op`, which may be nothing."""
    return op.labels if isinstance(op, TapeScan) else _LABELS.get(id(op), Labels())


def read_again(
    parts: ScanParts, op: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> ScanParts:
    """The same as `read_scan`, with the step of `parts`, those of an equal `op`."""
    names = labels_of(op).names or found_names([v.kind for v in parts.variables], inputs[1:])
    filled = iter(outputs)
    made = {v: next(filled) for kind in OUTPUTS for v in parts.of_kind(kind)}
    variables = tuple(
        replace(part, name=name, outer_input=outer, outer_output=made.get(part))
        for part, name, outer in zip(parts.variables, names, inputs[1:], strict=True)
    )
    return replace(parts, n_steps=as_tensor(inputs[0]), variables=variables)


def read_scan(op: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> ScanParts:
    """Take a Scan apart: `op` applied to the outer `inputs`, with the outer `outputs`."""
    info: ScanInfo = op.info
    inner_inputs, inner_outputs = inner_graph(op)
    tapes: dict[Kind, list[Tape]] = {
        Kind.SEQUENCE: [Tape((0,), ())] * info.n_seqs,
        Kind.MIT_MOT: [
            Tape(reads, writes)
            for reads, writes in zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
        ],
        Kind.MIT_SOT: [Tape(reads, (0,)) for reads in info.mit_sot_in_slices],
        Kind.SIT_SOT: [Tape(reads, (0,)) for reads in info.sit_sot_in_slices],
        Kind.UNTRACED: [Tape((-1,), (0,))] * info.n_untraced_sit_sot,
        Kind.NIT_SOT: [Tape((), (0,))] * info.n_nit_sot,
        Kind.PARAMETER: [Tape((0,), ())] * info.n_non_seqs,
    }
    kinds = [kind for kind in OUTER_INPUTS for _ in tapes[kind]]
    names = iter(labels_of(op).names or found_names(kinds, inputs[1:]))
    inner, made = iter(inner_inputs), iter(inner_outputs)
    outer, filled = iter(inputs[1:]), iter(outputs)
    read = {k: [tuple(islice(inner, len(t.reads))) for t in tapes[k]] for k in INNER_INPUTS}
    written = {
        k: [(tuple(islice(made, len(t.writes))), next(filled)) for t in tapes[k]] for k in OUTPUTS
    }
    nothing = repeat(((), None))
    variables = tuple(
        LoopVariable(kind, next(names), tape, next(outer), arguments, *results)
        for kind in OUTER_INPUTS
        for tape, arguments, results in zip(
            tapes[kind], read.get(kind, repeat(())), written.get(kind, nothing), strict=False
        )
    )
    for variable in variables:
        for tap, argument in variable.reads:
            argument.name = (
                variable.name if variable.kind in UNINDEXED else tap_symbol(variable.name, tap)
            )

    return ScanParts(
        name=printable(op.name or "scan_fn"),
        n_steps=as_tensor(inputs[0]),
        variables=variables,
        until=next(made) if info.as_while else None,
        truncate_gradient=op.truncate_gradient,
        mode=op.mode,
    )


def read_node(node: Apply) -> ScanParts:
    """Take the Scan of a node apart."""
    return read_scan(node.op, node.inputs, node.outputs)


def build_scan(parts: ScanParts, rule: object | None = None, kind: type[Scan] = TapeScan) -> Apply:
    """The node for `parts`, whose outer outputs need not be given; of PyTensor's `kind` or ours."""
    tapes = {kind: [v.tape for v in parts.of_kind(kind)] for kind in OUTER_INPUTS}
    for variable in parts.of_kind(Kind.MIT_MOT):
        if not variable.tape.reads:
            raise GraphError(f"{parts.called}: {variable.name} reads no tap; PyTensor needs one.")
    info = ScanInfo(
        n_seqs=len(tapes[Kind.SEQUENCE]),
        mit_mot_in_slices=tuple(tape.reads for tape in tapes[Kind.MIT_MOT]),
        mit_mot_out_slices=tuple(tape.writes for tape in tapes[Kind.MIT_MOT]),
        mit_sot_in_slices=tuple(tape.reads for tape in tapes[Kind.MIT_SOT]),
        sit_sot_in_slices=tuple(tape.reads for tape in tapes[Kind.SIT_SOT]),
        n_nit_sot=len(tapes[Kind.NIT_SOT]),
        n_untraced_sit_sot=len(tapes[Kind.UNTRACED]),
        n_non_seqs=len(tapes[Kind.PARAMETER]),
        as_while=parts.until is not None,
    )
    op = kind(
        parts.inner_inputs,
        parts.inner_outputs,
        info,
        mode=parts.mode,
        truncate_gradient=parts.truncate_gradient,
        name=parts.name,
    )
    label(op, Labels(tuple(v.name for v in parts.variables)))
    if isinstance(op, TapeScan):
        op.rule = rule
    return op.make_node(*parts.outer_inputs)


def apply_again(op: TapeScan, parts: ScanParts) -> Apply:
    """The node for `parts`, whose step is that of `op`: a Scan of its own, with its own labels."""
    again = op.clone()  # which PyTensor 3.1 and later leave out, since there it is frozen
    again = copy(op) if again is op else again
    label(again, Labels(tuple(v.name for v in parts.variables)))
    return again.make_node(*parts.outer_inputs)


def outer_outputs(parts: ScanParts, node: Apply) -> dict[LoopVariable, Variable]:
    """The outer output of every variable that has one, in the `node` built from `parts`."""
    made = [v for kind in OUTPUTS for v in parts.of_kind(kind)]
    return dict(zip(made, node.outputs, strict=True))


def inner_graph(op: HasInnerGraph) -> tuple[list[Variable], list[Variable]]:
    """The graph inside `op`, a Scan's step for example, on fresh arguments of its own."""
    return fresh_graph(op.fgraph)


def fresh_graph(inside: "AbstractFunctionGraph") -> tuple[list[Variable], list[Variable]]:
    """The arguments and results of a graph like `inside`."""
    with without_backtraces():
        if hasattr(inside, "unfreeze"):  # PyTensor 3.1 and later freeze inner graphs
            graph = inside.unfreeze()
            return list(graph.inputs), list(graph.outputs)
        arguments = [variable.type() for variable in inside.inputs]
        replacements = dict(zip(inside.inputs, arguments, strict=True))
        return arguments, clone_replace(inside.outputs, replace=replacements)


def inner_connections(parts: ScanParts) -> dict[Variable, set[Variable]]:
    """For every result of the step, the arguments that it depends on differentiably."""
    pattern = io_connection_pattern(parts.inner_inputs, parts.inner_outputs)
    return {
        result: {
            argument
            for argument, row in zip(parts.inner_inputs, pattern, strict=True)
            if row[index]
        }
        for index, result in enumerate(parts.inner_outputs)
    }


def is_scan(node: Apply | None) -> bool:
    """Whether `node` applies a Scan."""
    return node is not None and isinstance(node.op, Scan)


def stops_by_itself(node: Apply) -> bool:
    """Whether the Scan of `node` ends on a condition."""
    return bool(node.op.info.as_while)


def scan_name(op: Scan) -> str:
    """What people call the Scan of `op`; PyTensor calls one without a name ``scan_fn``."""
    return readable(printable(op.name or "scan_fn"))
