"""Find the Scans of a graph, and replace them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.errors import GraphError
from lab.scans.disguised import is_batched, open_batch, with_single_step
from lab.scans.node import TapeScan, build_scan, copy_graph, is_scan, read_scan


def with_tapes(outputs: Sequence[Variable], rule: object | None = None) -> list[Variable]:
    """Return copies of `outputs` in which a `TapeScan` replaces each plain Scan.

    If `rule` is not None, the new Scans follow it, and also replace loops with another rule.
    The graph itself is not modified, and outputs without Scans are returned unchanged.  An
    OpFromGraph that contains a Scan is inlined; otherwise PyTensor would differentiate the Scan.
    Raises GraphError for a Scan in an operation that cannot be inlined.
    """

    def wanted(op: Scan) -> bool:
        """Return whether `op` is a plain Scan, or a loop that does not follow `rule`."""
        if not isinstance(op, TapeScan):
            return True
        return rule is not None and op.rule is not rule and op.derivation is None

    return _Copier(TapeScan, wanted, rule).copy(outputs)


def with_plain(outputs: Sequence[Variable]) -> list[Variable]:
    """Return `outputs` with PyTensor's Scan for every `TapeScan`; see `with_tapes`."""
    return _Copier(Scan, lambda op: isinstance(op, TapeScan)).copy(outputs)


def as_scans(outputs: Sequence[Variable]) -> list[Variable]:
    """Return `outputs` with plain Scans for batched Scans and single steps.

    A batched Scan becomes a single Scan.  In a graph without Scans, a step that ``pytensor.scan``
    called once becomes a Scan of one step.
    """
    nodes = list(toposort(outputs))
    if any(map(is_batched, nodes)):
        return _Copier(Scan, lambda _: False).copy(outputs)
    return list(outputs) if any(map(_scans_in, nodes)) else with_single_step(outputs)


@dataclass(frozen=True)
class _Copier:
    """A copier of graphs; the copy of each Scan for which `wanted` is true has class `kind`."""

    kind: type[Scan]
    wanted: Callable[[Scan], bool]
    rule: object | None = None

    def copy(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Return copies of `outputs`; outputs that do not change are returned themselves."""
        copies: dict[Variable, Variable] = {}
        for node in toposort(outputs):
            inputs = [copies.get(variable, variable) for variable in node.inputs]
            if is_batched(node):
                results = open_batch(node, inputs, self.kind)
            elif is_scan(node) and self.wanted(node.op):
                parts = read_scan(node.op, inputs, node.outputs)
                parts = parts.with_results(self.copy(parts.inner_outputs))  # Scans inside, too
                results = build_scan(parts, rule=self.rule, kind=self.kind).outputs
            elif self.kind is TapeScan and not is_scan(node) and _scans_in(node):
                results = self._inline(node, inputs)
            elif inputs != node.inputs:
                results = node.clone_with_new_inputs(inputs).outputs
            else:
                continue
            for old, new in zip(node.outputs, results, strict=True):
                if new.name is None:
                    new.name = old.name
                if backtrace := getattr(old.tag, "trace", None):  # the source lines
                    new.tag.trace = backtrace
                copies[old] = new
        return [copies.get(variable, variable) for variable in outputs]

    def _inline(self, node: Apply, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the results of an OpFromGraph on `inputs`, inlined and with converted Scans."""
        if not isinstance(node.op, OpFromGraph) or getattr(node.op, "pullback_overrides", None):
            reason = "contains a Scan and a custom gradient, which Scantape cannot replace."
            raise GraphError(f"{node.op} {reason}")
        arguments, results = copy_graph(node.op.fgraph)
        replacements = dict(zip(arguments, inputs, strict=True))
        return clone_replace(self.copy(results), replace=replacements)


def scan_nodes(outputs: Sequence[Variable]) -> list[Apply]:
    """Return all Scan nodes of a graph, in topological order."""
    return [node for node in toposort(outputs) if is_scan(node)]


def enclosed_scans(outputs: Sequence[Variable]) -> dict[Apply, int]:
    """Map each operation that contains Scans, such as a Blockwise, to the number of its Scans."""
    counts = {node: _scans_in(node) for node in toposort(outputs) if not is_scan(node)}
    return {node: count for node, count in counts.items() if count}


def require_scan(outputs: Sequence[Variable]) -> int:
    """Return the number of Scans in a graph, including Scans inside other operations.

    Raises GraphError for a graph without Scans; `as_scans` converts a single step to a Scan.
    """
    count = sum(_scans_in(node) for node in toposort(outputs))
    if not count:
        raise GraphError(
            f"outputs = {[str(v) for v in outputs]}: there is no Scan in this graph. "
            "pytensor.scan builds no Scan for a constant n_steps of 1; a lab.Loop builds it."
        )
    return count


def _scans_in(node: Apply) -> int:
    """Return 1 for a Scan, batched or not, or the number of Scans inside another operation."""
    if is_scan(node) or is_batched(node):
        return 1
    if not isinstance(node.op, HasInnerGraph):
        return 0
    return sum(_scans_in(inner) for inner in toposort(copy_graph(node.op.fgraph)[1]))
