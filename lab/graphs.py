"""Graphs with Scans in them: finding the Scans, and replacing them by ours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.errors import GraphError
from lab.scan import ScanParts, TapeScan, build_scan, is_scan, read_scan


def with_tapes(outputs: Sequence[Variable], rule: Any = None) -> dict[Variable, Variable]:
    """Copy the graph of `outputs` with a `TapeScan` in the place of every plain Scan.

    Returns the copy of every variable that had to change; the others are used as they
    are, so that the inputs of the graph stay the same.  The graph itself is not altered.
    """
    copies: dict[Variable, Variable] = {}
    for node in toposort(outputs):
        inputs = [copies.get(variable, variable) for variable in node.inputs]
        if is_scan(node) and _is_to_be_copied(node.op, rule):
            copy = build_scan(
                _with_inner_tapes(read_scan(node.op, inputs, node.outputs)), rule=rule
            )
        elif inputs != node.inputs:
            copy = node.clone_with_new_inputs(inputs)
        else:
            continue
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            new.name = old.name
            copies[old] = new
    return copies


def scan_nodes(outputs: Sequence[Variable]) -> list[Apply]:
    """All Scan nodes that `outputs` depend on, each after those that it depends on."""
    return [node for node in toposort(outputs) if is_scan(node)]


def require_scan(outputs: Sequence[Variable]) -> list[Apply]:
    """`scan_nodes`, or an error if there are none."""
    nodes = scan_nodes(outputs)
    if not nodes:
        raise GraphError(
            f"outputs = {[str(v) for v in outputs]}: there is no Scan in this graph. "
            "pytensor.scan makes none for a constant n_steps of 1; a lab.Loop always does."
        )
    return nodes


def _is_to_be_copied(op: Scan, rule: Any) -> bool:
    """Whether `op` is PyTensor's own, or a loop of ours that shall follow another rule."""
    if not isinstance(op, TapeScan):
        return True
    return rule is not None and op.rule is not rule and op.derivation is None


def _with_inner_tapes(parts: ScanParts) -> ScanParts:
    """`parts` with every Scan inside its step replaced as well."""
    copies = with_tapes([*parts.inner_outputs])
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
