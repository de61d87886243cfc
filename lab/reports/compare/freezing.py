"""A cost whose loops have truncate_gradient, as a function that their gradients are those of.

A truncated gradient goes back k steps and no further: it is the derivative of the cost if what
the older steps computed stays as it is.  So those steps are replaced by what they gave, and a
loop of the last k goes on from there; finite differences of that tell whether a gradient is right.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort

from lab.scans.buffers import as_tensor, fresh_buffer
from lab.scans.node import LoopVariable, ScanParts, build_scan, is_scan, outer_outputs, read_scan
from lab.tape import Kind
from lab.traces.run import Values, run

KNOWN = (Kind.SEQUENCE, Kind.SIT_SOT, Kind.MIT_SOT, Kind.NIT_SOT, Kind.PARAMETER)


def frozen(cost: Variable, given: Values) -> Variable | None:
    """The cost with the older steps of truncated loops as they are for what is `given`.

    None if a loop stops by itself, shortens its buffers, or has tapes of other kinds.
    """
    nodes = [node for node in toposort([cost]) if is_scan(node)]
    nodes = [node for node in nodes if node.op.truncate_gradient != -1]
    values, _ = run([cost, *(v for node in nodes for v in node.outputs)], given, record=False)
    copies: dict[Variable, Variable] = {}
    for node in nodes:
        inputs = clone_replace(node.inputs, copies) if copies else node.inputs
        parts = read_scan(node.op, inputs, node.outputs)
        made = int(values[node.inputs[0]])
        older = made - parts.truncate_gradient
        if older <= 0:
            continue
        full = [
            (part, np.asarray(values[part.filled]))
            for part in parts.variables
            if part.outer_output is not None and part.kind in KNOWN
        ]
        if (
            parts.until is not None
            or any(part.kind not in KNOWN for part in parts.variables)
            or any(len(rows) != part.tape.origin + made for part, rows in full)
        ):
            return None
        copies |= _newest(parts, older, dict(full))
    return clone_replace([cost], copies)[0] if copies else cost


def _newest(
    parts: ScanParts, older: int, full: Mapping[LoopVariable, np.ndarray]
) -> dict[Variable, Variable]:
    """What stands for the outputs of a loop whose `older` steps gave the rows of `full`."""
    steps = pt.constant(np.int64(parts.truncate_gradient))
    given: dict[LoopVariable, Variable] = {}  # the rows before those of the newest steps
    places: dict[LoopVariable, LoopVariable] = {}
    for part in parts.variables:
        start = part.outer_input
        if part.kind is Kind.SEQUENCE:
            start = as_tensor(start)[older:]
        elif part.kind is Kind.NIT_SOT:
            start, given[part] = steps, pt.constant(full[part][:older])
        elif part.kind is not Kind.PARAMETER:
            reach = part.tape.origin
            known = pt.constant(full[part][reach : reach + older])
            given[part] = pt.concatenate([as_tensor(start)[:reach], known])
            rows = pt.specify_shape(as_tensor(given[part])[older:], (reach, *full[part].shape[1:]))
            start = fresh_buffer(rows, steps)
        places[replace(part, outer_input=start)] = part
    rest = replace(parts, n_steps=steps, variables=tuple(places), truncate_gradient=-1)
    filled = outer_outputs(rest, build_scan(rest))
    return {
        places[part].filled: pt.concatenate(
            [given[places[part]], as_tensor(rows)[part.tape.origin :]]
        )
        for part, rows in filled.items()
    }
