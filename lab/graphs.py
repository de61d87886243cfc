"""Graphs with Scans in them: finding the Scans, and replacing them by ours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.errors import GraphError
from lab.scan import ScanParts, TapeScan, build_scan, inner_graph, is_scan, read_scan


def with_tapes(outputs: Sequence[Variable], rule: Any = None) -> dict[Variable, Variable]:
    """Copy the graph of `outputs` with a `TapeScan` in the place of every plain Scan.

    Returns the copy of every variable that had to change; the others are used as they are,
    so that the inputs of the graph stay the same.  The graph itself is not altered.  An
    OpFromGraph with a Scan in it is opened, since its gradient would be PyTensor's.
    """
    copies: dict[Variable, Variable] = {}
    for node in toposort(outputs):
        inputs = [copies.get(variable, variable) for variable in node.inputs]
        if is_scan(node) and _is_to_be_copied(node.op, rule):
            parts = _with_inner_tapes(read_scan(node.op, inputs, node.outputs), rule)
            results = build_scan(parts, rule=rule).outputs
        elif not is_scan(node) and _scans_in(node):
            results = _opened(node, inputs, rule)
        elif inputs != node.inputs:
            results = node.clone_with_new_inputs(inputs).outputs
        else:
            continue
        for old, new in zip(node.outputs, results, strict=True):
            if new.name is None:
                new.name = old.name
            copies[old] = new
    return copies


def _opened(node: Apply, inputs: Sequence[Variable], rule: Any) -> list[Variable]:
    """What an OpFromGraph computes, without the OpFromGraph, and with our Scans."""
    if not isinstance(node.op, OpFromGraph) or getattr(node.op, "pullback_overrides", None):
        raise GraphError(
            f"{node.op}: there is a Scan inside it, whose gradient is not ours to build."
        )
    arguments, results = inner_graph(node.op)
    copies = with_tapes(results, rule)
    replacements = dict(zip(arguments, inputs, strict=True))
    return clone_replace([copies.get(v, v) for v in results], replace=replacements)


def scan_nodes(outputs: Sequence[Variable]) -> list[Apply]:
    """All Scan nodes that `outputs` depend on, each after those that it depends on."""
    return [node for node in toposort(outputs) if is_scan(node)]


def require_scan(outputs: Sequence[Variable]) -> int:
    """How many Scans `outputs` depend on, those inside other operations included.

    Raises GraphError if there are none.
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
    if is_scan(node):
        return 1
    if not isinstance(node.op, HasInnerGraph):
        return 0
    return sum(_scans_in(inner) for inner in toposort(inner_graph(node.op)[1]))


def _is_to_be_copied(op: Scan, rule: Any) -> bool:
    """Whether `op` is PyTensor's own, or a loop of ours that shall follow another rule."""
    if not isinstance(op, TapeScan):
        return True
    return rule is not None and op.rule is not rule and op.derivation is None


def _with_inner_tapes(parts: ScanParts, rule: Any) -> ScanParts:
    """`parts` with every Scan inside its step replaced as well."""
    copies = with_tapes(parts.inner_outputs, rule)
    if not copies:
        return parts
    return replace(
        parts,
        until=copies.get(parts.until, parts.until) if parts.until is not None else None,
        variables=tuple(
            replace(v, inner_outputs=tuple(copies.get(o, o) for o in v.inner_outputs))
            for v in parts.variables
        ),
    )
