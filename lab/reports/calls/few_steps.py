"""Loops of 1 step, of none, and of fewer: when there is no Scan at all, and what comes out.

    >>> print(few_steps(gallery.loops["logistic"]))

For a constant `n_steps` of 1 PyTensor makes no Scan: the step stands once in the outer
graph.  A loop of 0 steps is a Scan whose results are empty.  A negative number of steps
once meant to go backwards; today it is an error of the run.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytensor
from pytensor.graph.basic import Variable

from lab.equations.reading import system
from lab.equations.system import System
from lab.errors import ArgumentError, expect, first_line
from lab.gradients.decisions import decisions_of
from lab.gradients.status import pytensor_gradient
from lab.gradients.verify import mode_named
from lab.loops.declaration import BY
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.loops.text.source import one_named
from lab.notation import number_text, signed
from lab.reports.calls.canonical import written
from lab.scans.replacing import scan_nodes
from lab.traces.run import run

STEPS = (-1, 0, 1, 2)
WHY = {
    -1: "negative steps: history; PyTensor builds the graph, which fails when it is run",
    0: "0 steps: a Scan that never calls its step; every result is empty, every sum of it 0",
    1: "a constant 1: no Scan, the step itself stands in the graph",
    2: "from 2 steps on: a Scan, whose gradient is a Scan",
}


@dataclass(frozen=True)
class StepsCase:
    """What PyTensor makes of a number of steps.

    `scans` are those in the graph of the value and of its gradient; `value` and `gradient`
    are None where the run failed, for the reason in `error`.
    """

    n_steps: int
    scans: tuple[int, int]
    shape: tuple[int, ...] | None
    value: np.ndarray | None
    gradient: np.ndarray | None
    error: str = ""


@dataclass(frozen=True, eq=False)
class FewSteps:
    """One loop at few steps in PyTensor, and its single step as a graph and as our Scan.

    `step` is the cost as the outer graph has it for one step, `step_gradient` its gradient;
    `scan` and `scan_gradient` are the systems of the Scans that a `lab.Loop` builds for the
    same step; `agrees` is the largest difference of their numbers.
    """

    name: str
    wrt: str
    cases: tuple[StepsCase, ...]
    step: str
    step_gradient: str
    scan: System
    scan_gradient: System | None
    agrees: float

    def __str__(self) -> str:
        lines = [f"{self.name}: the sum over its steps, and its gradient wrt {self.wrt}", ""]
        lines.append("n_steps  Scans      results   sum       gradient")
        for case in self.cases:
            steps = signed(case.n_steps)
            scans = f"{case.scans[0]} and {case.scans[1]}"
            if case.error:
                lines.append(f"{steps:>7}  {scans:9}  {case.error}")
            else:
                value, gradient = _shown(case.value), _shown(case.gradient)
                lines.append(f"{steps:>7}  {scans:9}  {case.shape!s:8}  {value:8}  {gradient}")
        lines += ["", *(f"  {WHY[case.n_steps]}" for case in self.cases), ""]
        lines += ["one step in PyTensor", f"  sum = {self.step}"]
        lines += [f"  gradient = {self.step_gradient}"]
        lines += ["one step as a lab.Loop, which is always a Scan"]
        lines += [f"  {line}" for line in self.scan.lines()]
        if self.scan_gradient is not None:
            lines += [f"  {line}" for line in self.scan_gradient.lines()]
        return "\n".join([*lines, f"the largest difference of their numbers: {self.agrees:g}"])


def few_steps(loop: Loop, wrt: str | None = None, mode: str = "FAST_COMPILE") -> FewSteps:
    """What PyTensor makes of `loop` for −1, 0, 1 and 2 steps, run in a compilation `mode`.

    The cost is the sum of the first state or output over all steps, `wrt` the first variable
    unless named.  Raises ArgumentError for a loop that stops by itself, whose number of steps
    is not what is asked about, or without enough values for 2 steps.
    """
    expect("loop", loop, Loop, "a lab.Loop")
    wrt = one_named("wrt", wrt, loop.valued, BY)
    mode_named(mode)
    for sequence in loop.sequences:
        if sequence.steps < max(STEPS):
            raise ArgumentError(f"values of sequence {sequence.name}: they last for 1 step only.")
    if loop.build().stops_early:
        raise ArgumentError(f"{loop.name}: it stops by itself; n_steps is only its limit.")
    cases = tuple(_case(loop, wrt, steps, mode) for steps in STEPS)
    (_, *plain), given = _sum(loop, wrt, 1)
    ours = replace(loop, n_steps=1)
    graph = ours.build()
    made = ours.derivative(1, wrt, "sum", graph=graph)
    nodes = scan_nodes([made.value])
    values = run(plain, given)[0]
    theirs = [np.asarray(values[v]) for v in plain]
    values = run(list(made.values), graph.given)[0]
    numbers = [np.asarray(values[v]) for v in made.values]
    back = [node for node in nodes if decisions_of(node.op) is not None]
    return FewSteps(
        name=loop.name,
        wrt=wrt,
        cases=cases,
        step=written(plain[0]),
        step_gradient=written(plain[1]),
        scan=system(graph.node),
        scan_gradient=system(back[-1]) if back else None,
        agrees=max(
            float(np.max(np.abs(its - our), initial=0.0))
            for its, our in zip(theirs, numbers, strict=True)
        ),
    )


def _sum(loop: Loop, wrt: str, steps: int) -> tuple[list[Variable], dict[Variable, object]]:
    """A loop's first result, its sum over all steps and its gradient; and what to run it with."""
    call = scan_call(loop)
    made = pytensor.scan(**{**call.arguments, "n_steps": steps})
    cost = made[0].sum()
    return [made[0], cost, pytensor_gradient(cost, call.inputs[wrt])], dict(call.given)


def _case(loop: Loop, wrt: str, steps: int, mode: str) -> StepsCase:
    outputs, given = _sum(loop, wrt, steps)
    scans = (len(scan_nodes(outputs[1:2])), len(scan_nodes(outputs[2:])))
    try:
        run_ = pytensor.function(list(given), outputs, mode=mode, on_unused_input="ignore")
        results, value, gradient = run_(*given.values())
    except (IndexError, ValueError) as error:
        return StepsCase(steps, scans, None, None, None, first_line(error))
    return StepsCase(steps, scans, np.shape(results), np.asarray(value), np.asarray(gradient))


def _shown(value: np.ndarray | None) -> str:
    if value is None:
        return ""
    return number_text(value) if value.ndim == 0 else f"of shape {value.shape}"
