"""Compare the graphs of a loop with −1, 0, 1 and 2 steps.

For a constant `n_steps` of 1 PyTensor builds no Scan: it inserts the step into the outer graph.  A
loop of 0 steps is a Scan with empty results.  In older versions a negative number of steps meant to
run backward; today it is an error of the run.
"""

from dataclasses import dataclass

import numpy as np
import pytensor

from lab.gradients.status import pytensor_gradient
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.notation import integers, number_text
from lab.reports.calls.written import written
from lab.reports.tables import Section, Table
from lab.scans.replacing import scan_nodes
from lab.traces.run import run

STEPS = (-1, 0, 1, 2)


@dataclass(frozen=True)
class StepsCase:
    """A loop with `n_steps`: Scans in the graphs of its sum and of the gradient, and their values.

    The results have the length `rows`.  Where the run fails, `rows` and the values are None.
    """

    n_steps: int
    scans: tuple[int, int]
    rows: int | None = None
    sum: str = ""
    gradient: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """All fields as text, and the meaning of the number of steps."""
        scans, rows = (f"{n}" for n in self.scans), "–" if self.rows is None else f"{self.rows}"
        meaning = MEANINGS.get(self.n_steps, "a Scan, whose gradient is a Scan")
        return (integers(self.n_steps), *scans, rows, self.sum, self.gradient, meaning)


MEANINGS = {
    -1: "PyTensor builds the graph, and raises IndexError when it runs",
    0: "the step never runs: every result is empty, every sum 0",
    1: "no Scan: a constant 1 inserts the step into the outer graph",
}


@dataclass(frozen=True)
class FewSteps:
    """PyTensor's graphs of a loop with −1, 0, 1 and 2 steps; `step` is the sum for one step."""

    wrt: str
    cases: tuple[StepsCase, ...]
    step: str
    gradient: str

    @property
    def section(self) -> Section:
        """The section of the report."""
        header = ("n_steps", "Scans", "in gradient", "rows", "sum", "gradient", "meaning")
        lines = f"One step: sum = {self.step}", f"Its gradient wrt {self.wrt} = {self.gradient}"
        table = Table(header, tuple(case.cells for case in self.cases))
        return Section(
            f"Few steps: the sum of the results, and its gradient wrt {self.wrt}", (table, *lines)
        )


def few_steps(loop: Loop) -> FewSteps | None:
    """Return the graphs of `loop` for few steps, with the sum of its first result as the cost.

    The gradient is wrt the first variable.  None for a loop that stops on a condition, or whose
    sequences are too short.
    """
    lengths = [sequence.steps for sequence in loop.sequences]
    if not loop.valued or min(lengths, default=2) < max(STEPS) or loop.build().stops_early:
        return None
    wrt = next(iter(loop.valued))
    step = gradient = ""
    cases = []
    for steps in STEPS:
        call = scan_call(loop)
        results = pytensor.scan(**{**call.arguments, "n_steps": steps})[0]
        cost = results.sum()
        derivative = pytensor_gradient(cost, call.inputs[wrt])
        scans = len(scan_nodes([cost])), len(scan_nodes([derivative]))
        if steps == 1:
            step, gradient = written(cost), written(derivative)
        if steps < 0:
            cases.append(StepsCase(steps, scans))
            continue
        values = run([results, cost, derivative], call.given)[0]
        rows = len(np.asarray(values[results]))
        cases.append(
            StepsCase(steps, scans, rows, *map(_shown, (values[cost], values[derivative])))
        )
    return FewSteps(wrt, tuple(cases), step, gradient)


def _shown(value: object) -> str:
    array = np.asarray(value)
    return number_text(array) if array.ndim == 0 else f"of shape {array.shape}"
