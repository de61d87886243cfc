"""Contributions of one Scan to the gradients of another.

The gradient of a slot accumulates the contributions of its own Scan and the outputs of earlier
Scans of the same derivative for the same slot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lab.notation import Leaf
from lab.traces.flow import Flow, Value, flow
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Feed, ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace

Variable = TapeTrace | SequenceTrace | ParameterTrace | None


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
    part = _variable(trace.scans[feed.scan], feed.variable)
    into = _variable(trace.scans[later], feed.into)
    if not isinstance(part, TapeTrace) or part.axis is None or part.gradient_of is None:
        return
    for row, index in enumerate(part.axis.index.tolist()):
        slot = _slot_of_gradient(ScanOf(trace, feed.scan).parent, part, index)
        index_there = _index_in(trace, later, into, slot) if slot is not None else None
        if index_there is not None and isinstance(into, TapeTrace | SequenceTrace):
            yield Contribution(flow.latest(feed.scan, part, row), later, into, index_there)


def is_told(trace: Trace, feed: Feed, later: int) -> bool:
    """Return whether a sequence reads the feed, with known values at every step."""
    into = _variable(trace.scans[later], feed.into)
    if not isinstance(into, SequenceTrace) or into.is_outer_gradient:
        return False
    return trace.scans[later].parent is not None or into.taken is not None


def _variable(scan: ScanTrace, argument: int) -> Variable:
    return scan.variable(Leaf("", None, argument))


def _slot_of_gradient(parent: ScanOf | None, part: TapeTrace, index: int) -> Value | None:
    """Return the slot of `parent` whose gradient is stored in the tape `part` at an index."""
    if parent is None:
        return None
    variables: list[TapeTrace | SequenceTrace] = [*parent.scan.held, *parent.scan.sequences]
    for held in variables:
        if held.name == part.gradient_of and held.axis is not None and index in held.axis.rows:
            return parent.slot_at(held, index)
    return None


def _index_in(trace: Trace, later: int, into: Variable, slot: Value) -> int | None:
    """Return the index of a slot in the variable through which Scan `later` reads gradients."""
    parent = trace.scans[later].parent
    if parent is None or parent != slot.scan:
        return None
    held = _variable(trace.scans[parent], slot.argument)
    if not isinstance(held, TapeTrace) or held.axis is None:
        return None
    if isinstance(into, TapeTrace) and into.gradient_of == held.name:
        return int(held.axis.index[slot.row])
    if isinstance(into, SequenceTrace) and into.is_outer_gradient and into.source is not None:
        same = into.source.argument == held.argument
        return int(held.axis.index[slot.row]) if same else None
    return None


def fed_places(trace: Trace) -> frozenset[tuple[int, int, int]]:
    """Return where gradients of one loop enter another loop; empty for a single loop."""
    if sum(scan.parent is None for scan in trace.scans) < 2:
        return frozenset()
    values = flow(trace)
    return frozenset(
        part.place
        for later, scan in enumerate(trace.scans)
        for feed in scan.feeds
        if scan.order == 1 and not is_told(trace, feed, later)
        for part in contributions(trace, feed, later, values)
    )
