"""Graphs with Scans in them: finding the Scans, and replacing them by ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.errors import GraphError
from lab.scans.disguised import is_batched, opened_batch, with_single_step
from lab.scans.node import TapeScan, build_scan, inner_graph, is_scan, read_scan


def with_tapes(outputs: Sequence[Variable], rule: object | None = None) -> dict[Variable, Variable]:
    """Copy the graph of `outputs` with a `TapeScan` in the place of every plain Scan.

    Returns the copy of every variable that had to change; the others are used as they are,
    so that the inputs of the graph stay the same.  The graph itself is not altered.  An
    OpFromGraph with a Scan in it is opened, since its gradient would be PyTensor's.
    """

    def wanted(op: Scan) -> bool:
        """Whether it is PyTensor's own, or a loop of ours that shall follow another rule."""
        if not isinstance(op, TapeScan):
            return True
        return rule is not None and op.rule is not rule and op.derivation is None

    return _Copying(TapeScan, wanted, rule).of(outputs)


def with_plain(outputs: Sequence[Variable]) -> dict[Variable, Variable]:
    """The opposite: PyTensor's own Scans in the place of ours, which it then differentiates.

    An OpFromGraph is left as it is.
    """
    return _Copying(Scan, lambda op: isinstance(op, TapeScan)).of(outputs)


def as_scans(outputs: Sequence[Variable]) -> list[Variable]:
    """`outputs`, with a Scan in the place of what PyTensor writes otherwise.

    That is one over all entries of a batch, each of which was to run one of its own; and, in a
    graph without any Scan, one for a step that ``pytensor.scan`` was to make once.
    """
    nodes = list(toposort(outputs))
    if any(map(is_batched, nodes)):
        copies = _Copying(Scan, lambda _: False).of(outputs)
        return [copies.get(variable, variable) for variable in outputs]
    return list(outputs) if any(map(_scans_in, nodes)) else with_single_step(outputs)


@dataclass(frozen=True)
class _Copying:
    """Copying of graphs, in which those Scans that are `wanted` become Scans of a `kind`."""

    kind: type[Scan]
    wanted: Callable[[Scan], bool]
    rule: object | None = None

    def of(self, outputs: Sequence[Variable]) -> dict[Variable, Variable]:
        """The copy of every variable that had to change."""
        copies: dict[Variable, Variable] = {}
        for node in toposort(outputs):
            inputs = [copies.get(variable, variable) for variable in node.inputs]
            if is_batched(node):
                results = opened_batch(node, inputs, self.kind)
            elif is_scan(node) and self.wanted(node.op):
                parts = read_scan(node.op, inputs, node.outputs)
                parts = parts.with_results(self.of(parts.inner_outputs))  # Scans inside as well
                results = build_scan(parts, rule=self.rule, kind=self.kind).outputs
            elif self.kind is TapeScan and not is_scan(node) and _scans_in(node):
                results = self._opened(node, inputs)
            elif inputs != node.inputs:
                results = node.clone_with_new_inputs(inputs).outputs
            else:
                continue
            for old, new in zip(node.outputs, results, strict=True):
                if new.name is None:
                    new.name = old.name
                if made_at := getattr(old.tag, "trace", None):  # the lines of code
                    new.tag.trace = made_at
                copies[old] = new
        return copies

    def _opened(self, node: Apply, inputs: Sequence[Variable]) -> list[Variable]:
        """What an OpFromGraph computes, without the OpFromGraph, and with our Scans."""
        if not isinstance(node.op, OpFromGraph) or getattr(node.op, "pullback_overrides", None):
            raise GraphError(
                f"{node.op}: there is a Scan inside it, whose gradient is not ours to build."
            )
        arguments, results = inner_graph(node.op)
        copies = self.of(results)
        replacements = dict(zip(arguments, inputs, strict=True))
        return clone_replace([copies.get(v, v) for v in results], replace=replacements)


def scan_nodes(outputs: Sequence[Variable]) -> list[Apply]:
    """All Scan nodes that `outputs` depend on, each after those that it depends on."""
    return [node for node in toposort(outputs) if is_scan(node)]


def enclosed_scans(outputs: Sequence[Variable]) -> dict[Apply, int]:
    """Count the Scans inside each other operation, such as Blockwise, that contains any."""
    counts = {node: _scans_in(node) for node in toposort(outputs) if not is_scan(node)}
    return {node: count for node, count in counts.items() if count}


def require_scan(outputs: Sequence[Variable]) -> int:
    """How many Scans `outputs` depend on, those inside other operations included.

    Raises GraphError if there are none; a single step is one after `as_scans`.
    """
    count = sum(_scans_in(node) for node in toposort(outputs))
    if not count:
        raise GraphError(
            f"outputs = {[str(v) for v in outputs]}: there is no Scan in this graph. "
            "pytensor.scan makes none for a constant n_steps of 1; a lab.Loop always does."
        )
    return count


def _scans_in(node: Apply) -> int:
    """1 for a Scan; for another operation with a graph inside, the Scans in there."""
    if is_scan(node) or is_batched(node):
        return 1
    if not isinstance(node.op, HasInnerGraph):
        return 0
    return sum(_scans_in(inner) for inner in toposort(inner_graph(node.op)[1]))
