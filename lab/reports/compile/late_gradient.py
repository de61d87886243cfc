"""Take the gradient of a loop after its buffers were shortened, and report what it loses.

The gradient of a loop reads the values of all steps.  Rewriting shortens a buffer whose rows
nothing reads, and later steps then overwrite the earlier rows.  PyTensor's gradient of such a graph
counts the remaining rows, runs as many steps, and returns a wrong number without a warning.  This
happens if a graph is taken out of a compiled function and then differentiated.
"""

from collections.abc import Iterator

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors

from lab.checks.check import value_at
from lab.errors import first_line
from lab.gradients.decisions import ReadingGroup, decisions_of, scan_names
from lab.gradients.derivative import derivative
from lab.gradients.status import pytensor_gradient
from lab.records import find_reachable
from lab.reports.compile.compiled import BackwardSteps, LateGradient, LostRows, ScanAfter
from lab.reports.compile.rewriting import Rewriting
from lab.scans.node import LoopVariable, ScanParts, outer_outputs
from lab.scans.replacing import scan_nodes
from lab.tape import Kind
from lab.traces.run import Values, run

# Rewrites for a linker, not applied here: operations that they create have no gradient.
FOR_LINKER = ("fusion", "inplace", "scan_inner_graph", "scan_sit_sot_to_untraced")


def late_gradient(
    cost: Variable, wrt: Variable, given: Values, late: Rewriting, after: tuple[ScanAfter, ...]
) -> LateGradient:
    """Take the gradient of `cost`, and of the rewritten copy `late`, whose Scans are `after`.

    `given` has values for all inputs of the graph.
    """
    copies = dict(late.inputs)
    values: Values = {copies[v]: value for v, value in given.items() if v in copies}
    result, error, scans = None, "", []
    try:
        gradient = pytensor_gradient(late.graph.outputs[0], copies[wrt])
        found, recordings = run([gradient], values)
        result = np.asarray(found[gradient])
        nodes = [recording.node for recording in recordings]
        names = dict(zip(nodes, scan_names(nodes), strict=True))
        pairs = zip(late.after, after, strict=True)
        steps = {f"gradient of {names[v]}": s.steps.number for v, s in pairs if v in names}
        for recording in recordings:
            name = names[recording.node]
            needed = steps.get(name)
            if needed is not None and recording.steps != needed:
                scans.append(BackwardSteps(name, recording.steps, needed))
    except Exception as problem:  # any error of PyTensor, or of the run
        error = first_line(problem)
    right = np.asarray(value_at(derivative(cost, wrt).value, given))
    return LateGradient(right, result, error, tuple(scans), tuple(_lost_rows(cost, wrt, after)))


def _lost_rows(cost: Variable, wrt: Variable, after: tuple[ScanAfter, ...]) -> Iterator[LostRows]:
    """Yield the rows that the gradient reads of every buffer that it reads."""
    derived = derivative(cost, wrt)
    loops = scan_nodes([derived.values[0]])
    for node in scan_nodes([derived.value]):
        decisions = decisions_of(node.op)
        if decisions is None or decisions.parent not in loops:
            continue
        number = loops.index(decisions.parent) + 1
        buffers = {b.name: b for scan in after if number in scan.sources for b in scan.buffers}
        needed = _needed(node, decisions.backward, derived.value)
        taps: dict[str, set[int]] = {}
        for reading in decisions.readings:
            is_forward = reading.group is not ReadingGroup.NIT_SOT_GRADIENT
            is_forward &= reading.source.kind is not Kind.SEQUENCE
            if is_forward and reading.variable.name in needed:
                taps.setdefault(reading.source.name, set()).add(reading.tap)
        for name, read in taps.items():
            ring = buffers[name].ring if name in buffers else None
            if ring is not None:
                rows = {step + ring.initial + tap for step in range(ring.steps) for tap in read}
                yield LostRows(buffers[name], tuple(sorted(rows)))


def _needed(node: Apply, parts: ScanParts, result: Variable) -> set[str]:
    """Return the variables of a Scan on which `result` depends."""
    used = set(ancestors([result]))

    def read_by(part: LoopVariable) -> list[LoopVariable]:
        inside = set(ancestors(part.inner_outputs))
        return [p for p in parts.variables if not inside.isdisjoint(p.inner_inputs)]

    filled = outer_outputs(parts, node).items()
    return {
        part.name for part in find_reachable((p for p, rows in filled if rows in used), read_by)
    }
