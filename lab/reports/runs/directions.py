"""The three products with a loop's derivatives, as three loops: J v, J* g and H v; what each costs.

    >>> found = directions(gallery.loops["rnn"])
    >>> print(found)                                    # operations a step, and what is stored
    >>> found.forward, found.backward, found.curved     # a trace each, to be drawn

J v is carried along by the loop itself: its step reads values that the one before it made.  J* g
goes through the steps backwards, and reads values that had to be stored.  H v carries J* g along.
A whole Jacobian, with a column for each of n inputs and a row for each of m outputs, takes n of the
first or m of the second; which is cheaper depends on both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import cast

import numpy as np
import pytensor
from pytensor.gradient import pushforward as pytensors
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.errors import GradientError, expect, first_line
from lab.gradients.decisions import ReadingGroup
from lab.gradients.derivative import derivative
from lab.gradients.forward.pushforward import pushforward
from lab.loops.declaration import BY, OF
from lab.loops.loop import Loop
from lab.loops.text.source import one_named
from lab.reports.compile.rewriting import rewritten
from lab.scans.buffers import as_tensor
from lab.scans.formula import simplify
from lab.scans.node import inner_graph
from lab.scans.operations import operation_name, passed_on
from lab.scans.replacing import scan_nodes, with_tapes
from lab.traces.trace import Trace
from lab.traces.tracing import trace

FREE = {"transpose", "DimShuffle"}  # they only say how an array is read
MOST_OPERATIONS = 20_000  # of a step, up to which it is simplified before they are counted
KEPT = {ReadingGroup.TAPS, ReadingGroup.SIT_SOT, ReadingGroup.RESULT}


@dataclass(frozen=True, eq=False)
class Directions:
    """A loop's derivatives in a direction: `forward` J v, `backward` J* g, and `curved` H v.

    They are runs, whose last output is the product.  The direction v and the cotangent g are ones;
    J is of all values of `of`, `outputs` numbers, by `wrt`, `inputs` numbers; H is that of
    the sum of the squares of those values, halved.  A step computes so many numbers: of the `loop`,
    of the loop `ahead` that carries a tangent, of the loop `back`, and of all those of `curved`,
    `around`.  `own` tells how many Scans PyTensor's double pullback makes of J v, and how many of
    them are left when it is compiled.
    """

    wrt: str
    of: str
    inputs: int
    outputs: int
    forward: Trace
    backward: Trace
    curved: Trace
    loop: int
    ahead: int
    back: int
    around: int
    own: tuple[int, int]

    @property
    def crossing(self) -> float:
        """How many inputs make the Jacobian cost the same in both directions."""
        return (self.loop + self.outputs * self.back) / self.ahead

    @property
    def told(self) -> tuple[str, str, str, str]:
        """Of J v, of J* g and of H v what each takes; and which way a whole Jacobian is cheaper."""
        n, m = self.inputs, self.outputs
        cheaper = "forwards" if n < self.crossing else "backwards"
        return (
            f"J v: {self.ahead:,} operations a step, of which {self.loop:,} are the loop's own; "
            f"reads no stored value. PyTensor's double pullback makes {self.own[0]} Scans of it, "
            f"and compiled {self.own[1]}.",
            f"J* g: {self.back:,} operations a step after the {self.loop:,} of the loop; reads "
            f"{stored(self.backward):,} bytes of values that the loop has stored.",
            f"H v: {self.around:,} operations a step in {len(self.curved.scans)} loops; reads "
            f"{stored(self.curved):,} bytes.",
            f"All of J, {m:,} × {n:,}: {n:,} × {self.ahead:,} operations a step forwards, "
            f"{self.loop:,} + {m:,} × {self.back:,} backwards. With {m:,} outputs both cost the "
            f"same at {self.crossing:.3g} inputs; here {cheaper} is cheaper.",
        )

    def __str__(self) -> str:
        return "\n".join((f"J = d{self.of}/d{self.wrt}", *self.told))


def operations(outputs: Sequence[Variable]) -> list[int]:
    """How many numbers a step of each Scan of a graph computes, once it is simplified."""
    return [_step_work(node.op) for node in scan_nodes(outputs)]


@lru_cache(maxsize=64)
def _step_work(op: Scan) -> int:
    """The numbers that a step computes; of several derivatives the Scans are often the same."""
    return sum(map(_work, toposort(simplify(inner_graph(op)[1], MOST_OPERATIONS))))


def _work(node: Apply) -> int:
    """The numbers that an operation computes; of a product of matrices every one is a sum."""
    output = next((v for v in node.outputs if hasattr(v.type, "shape")), None)
    if output is None:
        return 0  # a generator
    name = operation_name(node, output)
    if passed_on(node, output) is not None or name in FREE:
        return 0
    terms = node.inputs[0].type.shape[-1] or 1 if name == "Dot" else 1
    inputs = len(node.inputs) - 1 if name in ("Add", "Mul") else 1
    return prod(size or 1 for size in output.type.shape) * terms * inputs


def stored(trace: Trace) -> int:
    """How many bytes of other Scans' values the steps of a run read."""
    return sum(
        sequence.values.nbytes
        for scan in trace.scans
        for sequence in scan.sequences
        if sequence.taken is not None or sequence.group in KEPT
    )


def directions(loop: Loop, wrt: str | None = None, of: str | None = None) -> Directions:
    """J v, J* g and H v of a loop's state or output `of` by `wrt`, the first ones unless named.

    Raises ArgumentError for a name that there is not, GradientError where a derivative does not
    exist.
    """
    graph = expect("loop", loop, Loop, "a lab.Loop").build()
    wrt = one_named("wrt", wrt, graph.inputs, BY)
    of = one_named("of", of, graph.outputs, OF)
    x, y = graph.inputs[wrt], graph.outputs[of]
    y = as_tensor(with_tapes([y]).get(y, y))
    v, cotangent = x.type(f"d{wrt}"), y.type(f"g{of}")
    (jv,) = pushforward([y], [x], [v])
    given = {**graph.given, v: np.ones_like(graph.given[x])}
    forward = trace([jv], given, names=["J v"])
    made = forward.outputs[0]
    jg = _pulled(y, x, cotangent)
    of_loop = graph.node.outputs[:1]
    known = {**graph.given, cotangent: np.ones_like(made)}
    backward = trace([jg], known, also=of_loop, names=["J* g"])
    work, *back = operations([jg, *of_loop])
    cost = as_tensor((graph.outputs[of] ** 2).sum() / 2)
    gradient = derivative(cost, x).value
    (hv,) = pushforward([gradient], [x], [v])
    curved = trace([hv], {**graph.given, v: given[v]}, names=["H v"])
    # J v as PyTensor makes it without a forward derivative of its operations
    pushed = cast(Variable, pytensors(graph.outputs[of], x, v, use_op_pushforward=False))
    own = rewritten([pushed], "FAST_RUN")
    counts = len(own.before), len(own.after)
    return Directions(
        wrt,
        of,
        np.asarray(graph.given[x]).size,
        int(made.size),
        forward,
        backward,
        curved,
        work,
        sum(operations([jv])),
        sum(back),
        sum(operations([hv])),
        counts,
    )


def _pulled(y: Variable, x: Variable, cotangent: Variable) -> Variable:
    try:
        return cast(Variable, pytensor.grad(None, x, known_grads={y: cotangent}))
    except Exception as error:  # whatever a pullback stumbles over
        raise GradientError(f"wrt = {x}: there is no gradient. {first_line(error)}") from error
