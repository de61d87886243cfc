"""What the derivatives of a cost take, order by order: by reverse and Taylor mode.

    >>> print(orders(gallery.loops["square"].derivative(0), 6))

Reverse over reverse doubles the Scans with every order, of which many are the same; forward over
reverse has two, in which a step computes more with every order; Taylor mode carries one coefficient
more, and its work grows with the square of the order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, GradientError, expect, quoted, whole
from lab.gradients.derivative import MODES, Derivative
from lab.gradients.derivative import derivative as derivative_of
from lab.notation import size_text
from lab.progress import counted, quietly
from lab.reports.runs.directions import operations
from lab.reports.runs.memory import memory
from lab.scans.node import read_node
from lab.scans.replacing import scan_nodes
from lab.traces.run import Values, checked_values, run
from lab.traces.tracing import traced
from lab.traces.window import refuse_beyond

MOST = 12
COLUMNS = ("Scans", "operations", "bytes", "seconds")


@dataclass(frozen=True)
class Way:
    """A derivative of an order by a mode: its `scans`, of which so many are `different`.

    `operations` are the numbers that a step of each of them computes, taken together; `bytes` are
    the most that is held at once, as `lab.memory` tells; `seconds`, if measured, to build and run.
    """

    mode: str
    order: int
    scans: int
    different: int
    operations: int
    bytes: int
    seconds: float | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """What stands in the columns."""
        seconds = () if self.seconds is None else (f"{self.seconds:.2g}",)
        return (
            f"{self.scans}",
            f"{self.operations:,}",
            size_text(self.bytes).removesuffix(" bytes"),
            *seconds,
        )


@dataclass(frozen=True)
class Orders:
    """The `ways` to the derivatives of a `cost` of a loop; `refused` are modes that have none."""

    loop: str
    cost: str
    wrt: str
    ways: tuple[Way, ...]
    refused: tuple[str, ...] = ()

    @property
    def most(self) -> int:
        """The highest order."""
        return max((way.order for way in self.ways), default=0)

    @property
    def columns(self) -> tuple[str, ...]:
        """What is told of each way."""
        timed = any(way.seconds is not None for way in self.ways)
        return COLUMNS if timed else COLUMNS[:-1]

    def by(self, mode: str) -> tuple[Way, ...]:
        """The ways of a mode, by their order."""
        return tuple(way for way in self.ways if way.mode == mode)

    @property
    def told(self) -> tuple[str, ...]:
        """What is read off, in sentences."""
        return tuple(self._told())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Which modes there are not, and what seconds are."""
        measured = "Seconds, to build and run, were measured here, and are others elsewhere."
        return (*self.refused, *[measured] * (len(self.columns) > 3))

    def _told(self) -> Iterator[str]:
        for mode, words in WORDS.items():
            for way in self.by(mode)[-1:]:
                scans = f"{way.scans} Scan{'s' * (way.scans != 1)}"
                scans += f" ({way.different} different)" if way.different < way.scans else ""
                made = f"{scans}, {way.operations:,} operations a step"
                yield f"{mode}: {words}; order {way.order} takes {made}."
        yield from self.remarks

    def __str__(self) -> str:
        heads = "".join(f"{name:>12}" for name in self.columns)
        lines = [*self.told, "", f"order  mode   {heads}"]
        for way in sorted(self.ways, key=lambda way: way.order):
            lines.append(f"{way.order:5}  {way.mode:7}" + "".join(f"{t:>12}" for t in way.told))
        return "\n".join(lines)


WORDS = {
    "reverse": "every order goes back through all Scans of the one before",
    "taylor": "a loop that carries a coefficient more with every order",
}


def orders(
    derivative: Derivative, most: int, timed: bool = False, given: Values | None = None
) -> Orders:
    """What the derivatives of order 1 to `most` of ``derivative.values[0]`` take, by each mode.

    `given` are values as in `lab.trace`.  Times are measured only if asked for, since they are
    others every time.  By Taylor mode values carry their derivatives with them, so that
    the derivative should be of order 0, or made in reverse mode.
    """
    told = "a Derivative, as of lab.gallery.loops['square'].derivative(0)"
    expect("derivative", derivative, Derivative, told)
    if not 1 <= whole("most", most) <= MOST:
        raise ArgumentError(f"most = {quoted(most)}: expected 1 to {MOST}.")
    expect("timed", timed, bool, "True or False")
    cost, wrt = derivative.values[0], derivative.wrt
    known = {**derivative.given, **checked_values({} if given is None else given)}
    ways, refused = list[Way](), list[str]()
    for mode in MODES:
        try:
            for order in counted(range(1, most + 1), f"{mode} mode", "order"):
                ways.append(_way(cost, wrt, mode, order, known, timed))
        except GradientError as error:
            refused.append(f"{mode}: {str(error).partition(': ')[2]}")
    (node, *_) = scan_nodes([cost])
    loop = read_node(node).called
    by = derivative.by or wrt.name or "input"
    return Orders(loop, derivative.names[0], by, tuple(ways), tuple(refused))


def _way(cost: Variable, wrt: Variable, mode: str, order: int, given: Values, timed: bool) -> Way:
    """The highest derivative alone: what those of lower orders take beside it is not counted."""
    start = perf_counter()
    with quietly():
        value = derivative_of(cost, wrt, order, mode=mode).value
        nodes = scan_nodes([value])
        refuse_beyond([value], given)
        values, recordings = run([value], given)
    seconds = perf_counter() - start if timed else None
    made = traced([value], (), ("",), values, recordings, {}, steps=False)
    counts = sum(operations([value])), memory(made).peak if nodes else 0
    return Way(mode, order, len(nodes), len({node.op for node in nodes}), *counts, seconds)
