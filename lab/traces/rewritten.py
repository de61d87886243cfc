"""Apply PyTensor's rewrites to a graph and to its steps, so that the Scans can still be traced.

Before compilation, PyTensor canonicalizes and stabilizes a graph, which often avoids nan.  Further
rewrites of the mode FAST_RUN can cause nan again; this module does not apply them.  The rewritten
Scans keep their tapes, names, and derivations.
"""

from collections.abc import Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import graph_inputs, toposort

from lab.errors import GraphError, first_line
from lab.gradients.decisions import relation_of
from lab.scans.node import TapeScan, build_scan, is_scan, label, read_scan, variable_names

PASSES = ("canonicalize", "stabilize")
LEFT_OUT = ("scan", "inplace", "local_inplace_setsubtensor")


def rewrite_scans(outputs: Sequence[Variable]) -> tuple[list[Variable], dict[Apply, Apply]]:
    """Return the rewritten graph of `outputs`, and the original node of each of its Scans."""
    origins: dict[Apply, Apply] = {}
    copies: dict[Variable, Variable] = {}
    for node in toposort(outputs):
        inputs = [copies.get(variable, variable) for variable in node.inputs]
        if is_scan(node):
            copy = _copy_loop(node, inputs)
            origins[copy] = node
        else:
            copy = node.clone_with_new_inputs(inputs)
        copies |= zip(node.outputs, copy.outputs, strict=True)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            new.name = old.name
    results = [copies.get(v, v) for v in outputs]
    graph = FunctionGraph(list(graph_inputs(results)), results, clone=False)
    try:
        rewrite_graph(graph, include=PASSES, exclude=LEFT_OUT)
    except Exception as error:  # rewrites raise many types
        message = f"rewritten = True: PyTensor's rewriting failed: {first_line(error)}"
        raise GraphError(message) from error
    return list(graph.outputs), origins


def _copy_loop(node: Apply, inputs: Sequence[Variable]) -> Apply:
    """Return a Scan with the labels and the rewritten step of `node`, on other `inputs`."""
    parts = read_scan(node.op, inputs, node.outputs)
    parts = parts.with_results(rewrite_scans(parts.inner_outputs)[0])
    rule = node.op.rule if isinstance(node.op, TapeScan) else None
    new = build_scan(parts, rule, type(node.op))
    label(new.op, variable_names(node.op), relation_of(node.op))
    return new
