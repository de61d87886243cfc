"""The step that ``pytensor.scan`` was to make once, as a Scan of one step.

Of a constant n_steps of 1 PyTensor makes no Scan: what the step computes stands in the graph as it
is.  PyTensor notes for every variable by which calls it was made, and so which of them that was.
"""

from collections.abc import Sequence
from pathlib import PurePath

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.scan import basic

from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape

MAKER, SINGLE = PurePath(basic.__file__), "single step"


def with_single_step(outputs: Sequence[Variable]) -> list[Variable]:
    """`outputs`, with a Scan of one step in the place of what a call of ``scan`` computed.

    They are as they were where no such call is known.  What the step was handed are parameters of
    the Scan, states among them: nothing tells which of its results would have come back.
    """
    nodes = list(toposort(outputs))
    step = [node for node in nodes if _is_of_step(node)]
    inside = {v for node in step for v in node.outputs}
    outside = [v for node in nodes if node not in step for v in node.inputs]
    used = {*outside, *outputs}
    results = [v for node in step for v in node.outputs if v in used]
    if not results:
        return list(outputs)
    given = [v for node in step for v in node.inputs]
    handed = [v for v in dict.fromkeys(given) if v not in inside and not isinstance(v, Constant)]
    arguments = {v: v.type(name=v.name) for v in handed}
    made = clone_replace(results, replace=arguments)
    one = pt.constant(1, dtype="int64")
    variables = [
        LoopVariable(Kind.NIT_SOT, v.name or f"y{n}", Tape((), (0,)), one, (), (result,))
        for n, (v, result) in enumerate(zip(results, made, strict=True), start=1)
    ]
    variables += [
        LoopVariable(Kind.PARAMETER, v.name or f"p{n}", Tape((0,), ()), v, (argument,))
        for n, (v, argument) in enumerate(arguments.items(), start=1)
    ]
    node = build_scan(ScanParts(SINGLE, as_tensor(one), tuple(variables)), kind=basic.Scan)
    rows = {old: as_tensor(new)[0] for old, new in zip(results, node.outputs, strict=True)}
    return clone_replace(list(outputs), replace=rows)


def _is_of_step(node: Apply) -> bool:
    """Whether a node was made by a function that ``pytensor.scan`` called."""
    for trace in getattr(node.outputs[0].tag, "trace", ()):
        for number, frame in enumerate(trace[:-1]):
            path, _, name, _ = frame
            if name == "scan" and PurePath(path) == MAKER and trace[number + 1][0] != path:
                return True
    return False
