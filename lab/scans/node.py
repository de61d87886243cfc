"""Read a Scan node as a list of loop variables, and build a Scan node from loop variables.

PyTensor stores the arguments of a Scan in flat lists.  The position of a variable in a list shows
its kind, which is one of seven.  Only this file computes such positions.  `read_scan` converts a
node to `ScanParts`, whose `LoopVariable`s have their own tapes, outer inputs and outputs, and inner
inputs and outputs.  `build_scan` converts parts to a node.

The new Scans are `TapeScan`s: their pullback is `lab.pullback`, and a derivative refers to the
`Derivation` that built it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import TYPE_CHECKING

from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.scan.op import Scan, ScanInfo
from pytensor.tensor.variable import TensorVariable

from lab.errors import GraphError, printable
from lab.notation import tap_symbol
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import as_tensor
from lab.scans.names import names_of_inputs, readable
from lab.tape import ONE_READ, ONE_WRITE, Kind, Tape

if TYPE_CHECKING:
    from pytensor.graph.fg import AbstractFunctionGraph

# The order of the arguments of a Scan.
STATES = (Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT)
OUTER_INPUTS = (Kind.SEQUENCE, *STATES, Kind.UNTRACED, Kind.NIT_SOT, Kind.PARAMETER)
OUTPUTS = (*STATES, Kind.NIT_SOT, Kind.UNTRACED)
UNINDEXED = (Kind.UNTRACED, Kind.PARAMETER)


@dataclass(frozen=True, eq=False)
class LoopVariable:
    """A loop variable: its variables in the outer graph and in the inner function.

    `outer_input` is the buffer with the initial values of a state, the sequence, or the parameter;
    for a nit-sot, it is the number of rows.  `outer_output` is the filled buffer.  Each read tap
    has an inner input, and each write tap has an inner output.  A parameter has a single slot,
    which every step reads.  An untraced state has a single slot, which every step replaces.
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
        """The outer output as a tensor: the buffer after the run."""
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
    """The parts of a Scan node; `variables` are in the order of its arguments."""

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
        """The name for readers: "gradient of square" for the operation grad_of_square."""
        return readable(self.name)

    def of_kind(self, *kinds: Kind) -> tuple[LoopVariable, ...]:
        """Return the variables of the given kinds, in the order of the node."""
        return tuple(variable for variable in self.variables if variable.kind in kinds)

    @property
    def node(self) -> Apply:
        """The node of the Scan, for parts that were read from a node."""
        return next(v.outer_output.owner for v in self.variables if v.outer_output is not None)

    @property
    def states(self) -> tuple[LoopVariable, ...]:
        """The states with a buffer: mit-mots, mit-sots, and sit-sots."""
        return self.of_kind(*STATES)

    @property
    def inner_inputs(self) -> list[Variable]:
        """All arguments of the step, in PyTensor's order."""
        return [v for part in self.variables for v in part.inner_inputs]

    @property
    def inner_outputs(self) -> list[Variable]:
        """All results of the step, in PyTensor's order, the until condition last."""
        results = [v for kind in OUTPUTS for part in self.of_kind(kind) for v in part.inner_outputs]
        return results if self.until is None else [*results, self.until]

    def with_results(self, results: Sequence[Variable]) -> "ScanParts":
        """Return a copy with new results of the step, in the order of `inner_outputs`."""
        new = dict(zip(self.inner_outputs, results, strict=True))
        variables = tuple(
            replace(v, inner_outputs=tuple(new[result] for result in v.inner_outputs))
            for v in self.variables
        )
        until = None if self.until is None else new[self.until]
        return replace(self, variables=variables, until=until)


class TapeScan(Scan):
    """PyTensor's Scan, but with `lab.pullback` as its pullback.

    `rule` is the `PullbackRule` that its derivative follows.  `derivation` is the `Derivation` that
    built this Scan; None if the Scan is not a derivative.
    """

    rule: object | None = None
    derivation: object | None = None
    _connected: tuple[object, list[list[bool]]] | None = None  # an inner graph and its pattern

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return a matrix whose element [i][j] is True if input i affects output j.

        In contrast to PyTensor's pattern, the initial values in a buffer affect the filled buffer.
        """
        if self._connected is None or self._connected[0] is not self.fgraph:
            pattern = with_initial_values(self, super().connection_pattern(node), unread=True)
            self._connected = self.fgraph, pattern
        return self._connected[1]


def with_initial_values(
    op: Scan, pattern: list[list[bool]], unread: bool = False
) -> list[list[bool]]:
    """Return PyTensor's connection pattern of a Scan, with the initial values connected.

    After the loop, a buffer still contains its initial values.  PyTensor's pattern lacks this
    connection and therefore loses derivatives wrt the initial values of a delay line.  Unless
    `unread` is true, an initial value that no step reads stays disconnected, because the result of
    `scan` does not contain it.  The result is a copy, because PyTensor caches its pattern.
    """
    pattern, info = [list(row) for row in pattern], op.info
    for index in range(info.n_mit_mot + info.n_mit_sot + info.n_sit_sot):
        row = pattern[1 + info.n_seqs + index]
        row[index] = unread or index < info.n_mit_mot or any(row)
    return pattern


def label(op: Scan, names: tuple[str, ...], derivation: object | None = None) -> None:
    """Attach the names of the loop variables and the `Derivation` to a Scan of any class.

    The names are in the order of `OUTER_INPUTS`.
    """
    vars(op).update(variable_names=names, derivation=derivation)


def variable_names(op: Op) -> tuple[str, ...]:
    """Return the names that `label` attached to `op`, or an empty tuple."""
    return tuple(vars(op).get("variable_names", ()))


def read_scan(op: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> ScanParts:
    """Return the parts of the Scan `op` with the outer `inputs` and the outer `outputs`."""
    info: ScanInfo = op.info
    inner_inputs, inner_outputs = copy_graph(op.fgraph)
    tapes: dict[Kind, list[Tape]] = {
        Kind.SEQUENCE: [ONE_READ] * info.n_seqs,
        Kind.MIT_MOT: [
            Tape(reads, writes)
            for reads, writes in zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
        ],
        Kind.MIT_SOT: [Tape(reads, (0,)) for reads in info.mit_sot_in_slices],
        Kind.SIT_SOT: [Tape(reads, (0,)) for reads in info.sit_sot_in_slices],
        Kind.UNTRACED: [Tape((-1,), (0,))] * info.n_untraced_sit_sot,
        Kind.NIT_SOT: [ONE_WRITE] * info.n_nit_sot,
        Kind.PARAMETER: [ONE_READ] * info.n_non_seqs,
    }
    kinds = [kind for kind in OUTER_INPUTS for _ in tapes[kind]]
    names = iter(variable_names(op) or names_of_inputs(kinds, inputs[1:]))
    inner, results_of_step = iter(inner_inputs), iter(inner_outputs)
    outer, filled = iter(inputs[1:]), iter(outputs)
    written = {
        k: [(tuple(islice(results_of_step, len(t.writes))), next(filled)) for t in tapes[k]]
        for k in OUTPUTS
    }
    nothing = repeat(((), None))
    variables = tuple(
        LoopVariable(
            kind, next(names), tape, next(outer), tuple(islice(inner, len(tape.reads))), *results
        )
        for kind in OUTER_INPUTS
        for tape, results in zip(tapes[kind], written.get(kind, nothing), strict=False)
    )
    for v in variables:
        for tap, argument in v.reads:
            argument.name = v.name if v.kind in UNINDEXED else tap_symbol(v.name, tap)
            argument.tag.declared = v.name
    return ScanParts(
        name=printable(op.name or "scan_fn"),
        n_steps=as_tensor(inputs[0]),
        variables=variables,
        until=next(results_of_step) if info.as_while else None,
        truncate_gradient=op.truncate_gradient,
        mode=op.mode,
    )


def read_node(node: Apply) -> ScanParts:
    """Return the parts of a Scan node."""
    return read_scan(node.op, node.inputs, node.outputs)


def build_scan(parts: ScanParts, rule: object | None = None, kind: type[Scan] = TapeScan) -> Apply:
    """Build a Scan node of class `kind` from `parts`; ignore their outer outputs.

    Raises GraphError for a mit-mot without a read tap.
    """
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
    label(op, tuple(v.name for v in parts.variables))
    if isinstance(op, TapeScan):
        op.rule = rule
    return op.make_node(parts.n_steps, *(variable.outer_input for variable in parts.variables))


def outer_outputs(parts: ScanParts, node: Apply) -> dict[LoopVariable, Variable]:
    """Map every variable of `parts` that has an outer output to that output of `node`."""
    variables = [v for kind in OUTPUTS for v in parts.of_kind(kind)]
    return dict(zip(variables, node.outputs, strict=True))


def copy_graph(inside: "AbstractFunctionGraph") -> tuple[list[Variable], list[Variable]]:
    """Return the arguments and results of a copy of an inner graph."""
    with without_backtraces():
        if hasattr(inside, "unfreeze"):  # PyTensor 3.1 and later freeze inner graphs
            graph = inside.unfreeze()
            return list(graph.inputs), list(graph.outputs)
        arguments = [variable.type() for variable in inside.inputs]
        replacements = dict(zip(inside.inputs, arguments, strict=True))
        return arguments, clone_replace(inside.outputs, replace=replacements)


def is_scan(node: Apply | None) -> bool:
    """Return whether `node` applies a Scan."""
    return node is not None and isinstance(node.op, Scan)
