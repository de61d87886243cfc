"""Contributions of one Scan to the gradients of another.

The gradient of a slot accumulates the contributions of its own Scan and the outputs of earlier
Scans of the same derivative for the same slot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lab.notation import Leaf
from lab.traces.flow import Flow, Value, flow
from lab.traces.trace import Feed, SequenceTrace, TapeTrace, Trace


@dataclass(frozen=True, eq=False)
class Contribution:
    """Summand `source` of the initial value that Scan `scan` reads from `into` at an index."""

    source: Value
    scan: int
    into: TapeTrace | SequenceTrace
    index: int

    @property
    def place(self) -> tuple[int, int, int]:
        """Scan, argument number of its variable, and index."""
        return self.scan, self.into.argument, self.index


def contributions(trace: Trace, feed: Feed, later: int, flow: Flow) -> Iterator[Contribution]:
    """Yield the contributions of a feed of Scan `later` whose rows are known."""
    part = trace.scans[feed.scan].tape(feed.variable)
    into = trace.scans[later].variable(Leaf("", None, feed.into))
    if part is None or part.axis is None or part.gradient_of is None:
        return
    if isinstance(into, TapeTrace | SequenceTrace) and into.axis is not None:
        for row, source, _ in feed.rows:
            if row is not None and row < len(into.axis.index) and source < len(part.final):
                value = flow.latest(feed.scan, part, source)
                yield Contribution(value, later, into, int(into.axis.index[row]))


def is_read_by_steps(trace: Trace, feed: Feed, later: int) -> bool:
    """Return whether a sequence reads the feed, with known values at every step."""
    into = trace.scans[later].variable(Leaf("", None, feed.into))
    if not isinstance(into, SequenceTrace) or into.is_outer_gradient:
        return False
    return trace.scans[later].parent is not None or into.taken is not None


def fed_places(trace: Trace) -> frozenset[tuple[int, int, int]]:
    """Return where gradients of one loop enter another loop; empty for a single loop."""
    if sum(scan.parent is None for scan in trace.scans) < 2:
        return frozenset()
    values = flow(trace)
    return frozenset(
        part.place
        for later, scan in enumerate(trace.scans)
        for feed in scan.feeds
        if scan.order == 1 and not is_read_by_steps(trace, feed, later)
        for part in contributions(trace, feed, later, values)
    )
