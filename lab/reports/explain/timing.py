"""How long the steps of a gradient's Scans take, compiled: a profile, as ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pytensor
from pytensor.compile import Mode
from pytensor.graph.basic import Variable

from lab.errors import GraphError, first_line
from lab.gradients.verify import mode_named
from lab.scans.node import is_scan, scan_name
from lab.traces.run import Values, run

SECONDS, CALLS = 0.2, 3  # how long, and how often at least, the function is called


@dataclass(frozen=True)
class StepTime:
    """The `seconds` that a compiled Scan took, and which `share` of the whole call that was.

    `times` is how long one of its steps takes beside a step of the first loop.
    """

    scan: str
    steps: int
    seconds: float
    share: float
    times: float

    def __str__(self) -> str:
        step = self.seconds / max(1, self.steps)
        than = "" if self.times == 1 else f", {self.times:.2g} times that of the first Scan"
        return (
            f"Compiled, {self.scan} takes {step * 1e6:.3g} µs a step{than}: {self.share:.0%} of "
            f"a call, in {self.steps:,} steps."
        )


def seconds_of(
    outputs: Sequence[Variable],
    given: Values,
    mode: Mode | str | None = None,
    without: Sequence[str] = (),
) -> float:
    """How long a call of the compiled function takes, whose `mode` leaves rewrites out."""
    return _called(outputs, given, mode_named(mode).excluding(*without))[1]


def _called(
    outputs: Sequence[Variable], given: Values, mode: Mode | str, profile: bool = False
) -> tuple[Any, float, int]:
    """A function, how long a call of it takes after the first, and in how many calls."""
    try:
        function = pytensor.function(list(given), list(outputs), mode=mode, profile=profile)
        function(*given.values())
        if profile:
            function.profile.reset()
        start, calls = perf_counter(), 0
        while calls < CALLS or perf_counter() - start < SECONDS:
            function(*given.values())
            calls += 1
    except Exception as error:  # whatever PyTensor stumbles over
        raise GraphError(
            f"given: PyTensor does not run it compiled. {first_line(error)}"
        ) from error
    return function, (perf_counter() - start) / calls, calls


def timed(
    cost: Variable, gradients: Sequence[Variable], given: Values, mode: str = "CVM"
) -> tuple[StepTime, ...]:
    """The time of every Scan that is left in the compiled function of a cost and its gradients.

    `mode` is one of PyTensor's that runs node by node, since only there each is timed.
    """
    outputs = [cost, *gradients]
    steps = {r.parts.called: r.steps for r in run(outputs, given)[1]}
    function, _, calls = _called(outputs, given, mode, profile=True)
    spent = {node: seconds for (_, node), seconds in function.profile.apply_time.items()}
    found = {
        scan_name(node.op): spent.get(node, 0.0) / calls
        for node in function.maker.fgraph.toposort()
        if is_scan(node)
    }
    whole = sum(spent.values()) / calls
    each = {name: seconds / max(1, steps.get(name, 0)) for name, seconds in found.items()}
    first = next(iter(each.values()), 1.0) or 1.0
    return tuple(
        StepTime(name, steps.get(name, 0), seconds, seconds / whole, each[name] / first)
        for name, seconds in found.items()
    )
