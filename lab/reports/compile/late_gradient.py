"""Take the gradient of a loop after its buffers were shortened.

The gradient of a loop reads the values of all steps.  Rewriting shortens a buffer whose rows
nothing reads, and later steps then overwrite the earlier rows.  PyTensor's gradient of such a graph
counts the remaining rows, runs as many steps, and returns a wrong number without a warning.  This
happens if a graph is taken out of a compiled function and then differentiated.
"""

import numpy as np
from pytensor.graph.basic import Variable

from lab.checks.check import value_at
from lab.errors import first_line
from lab.gradients.decisions import scan_names
from lab.gradients.derivative import derivative
from lab.gradients.status import pytensor_gradient
from lab.reports.compile.compiled import BackwardSteps, LateGradient, ScanAfter
from lab.reports.compile.rewriting import Rewriting
from lab.traces.run import Values, run

# Rewrites for a linker, not applied here: operations that they create have no gradient.
FOR_LINKER = ("fusion", "inplace", "scan_inner_graph", "scan_sit_sot_to_untraced")


def late_gradient(
    cost: Variable, wrt: Variable, given: Values, late: Rewriting, after: tuple[ScanAfter, ...]
) -> LateGradient:
    """Take the gradient of `cost`, and of its rewritten copy `late`, whose Scans are `after`.

    `given` has values for all inputs of the graph.
    """
    copies = dict(late.inputs)
    values: Values = {copies[v]: value for v, value in given.items() if v in copies}
    result, error, scans = None, "", []
    try:
        gradient = pytensor_gradient(late.graph.outputs[0], copies[wrt])
        results, recordings = run([gradient], values)
        result = np.asarray(results[gradient])
        steps = {recording.node: recording.steps for recording in recordings}
        names = dict(zip(steps, scan_names([*steps]), strict=True))
        runs = {names[node]: count for node, count in steps.items()}
        for node, scan in zip(late.after, after, strict=True):
            count, needed = runs.get(f"gradient of {names.get(node)}"), scan.steps.number
            if count is not None and needed is not None and count != needed:
                scans.append(BackwardSteps(f"gradient of {names[node]}", count, needed))
    except Exception as problem:  # any error of PyTensor, or of the run
        error = first_line(problem)
    right = np.asarray(value_at(derivative(cost, wrt).value, given))
    return LateGradient(right, result, error, tuple(scans))
