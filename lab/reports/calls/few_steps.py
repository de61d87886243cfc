"""Compare the graphs of a loop with −1, 0, 1, and 2 steps.

For a constant `n_steps` of 1 PyTensor builds no Scan: it inserts the step into the outer graph.  A
loop of 0 steps is a Scan with empty results.  In older versions a negative number of steps meant to
run backward; today it is an error of the run.
"""

import numpy as np
import pytensor

from lab.gradients.status import pytensor_gradient
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.notation import integers
from lab.reports.breaking.breakage import precise
from lab.reports.calls.written import written
from lab.reports.tables import ReportTable, Section
from lab.scans.replacing import scan_nodes
from lab.traces.run import run

MEANINGS = {
    -1: "PyTensor builds the graph, and raises IndexError when it runs",
    0: "the step never runs: every result is empty, every sum 0",
    1: "no Scan: a constant 1 inserts the step into the outer graph",
    2: "a Scan, whose gradient is a Scan",
}
HEADER = ("n_steps", "Scans", "in gradient", "rows", "sum", "gradient", "meaning")


def few_steps(loop: Loop) -> Section | None:
    """Return a section on the graphs of `loop` for few steps.

    The cost is the sum of the first result, and the gradient is wrt the first variable.  None for a
    loop that stops on a condition, or whose sequences are too short.
    """
    lengths = [sequence.steps for sequence in loop.sequences]
    if not loop.valued or min(lengths, default=2) < max(MEANINGS) or loop.build().stops_early:
        return None
    wrt, rows = next(iter(loop.valued)), []
    single: tuple[str, ...] = ()
    for steps, meaning in MEANINGS.items():
        call = scan_call(loop)
        results = pytensor.scan(**{**call.arguments, "n_steps": steps})[0]
        cost = results.sum()
        gradient = pytensor_gradient(cost, call.inputs[wrt])
        scans = (f"{len(scan_nodes([v]))}" for v in (cost, gradient))
        if steps == 1:
            single = (
                f"One step: sum = {written(cost)}",
                f"Its gradient wrt {wrt} = {written(gradient)}",
            )
        cells: tuple[str, ...] = ("–", "", "")
        if steps >= 0:
            values = run([results, cost, gradient], call.given)[0]
            cells = (f"{len(np.asarray(values[results]))}",
                     *(precise(np.asarray(values[v])) for v in (cost, gradient)))  # fmt: skip
        rows.append((integers(steps), *scans, *cells, meaning))
    title = f"Few steps: the sum of the results, and its gradient wrt {wrt}"
    return Section(title, (ReportTable(HEADER, tuple(rows)), *single))
