"""How the gradients of several Scans come together: what one puts out is a part of another's.

The gradient of a slot collects what its own Scan adds to it, and what other Scans of the same
derivative have put out for the same slot before.
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
    """`source` goes into what Scan `scan` finds in `into` for an index in time."""

    source: Value
    scan: int
    into: TapeTrace | SequenceTrace
    index: int

    @property
    def place(self) -> tuple[int, int, int]:
        """The Scan, its variable by number, and the index."""
        return self.scan, self.into.argument, self.index


def contributions(trace: Trace, feed: Feed, later: int, flow: Flow) -> Iterator[Contribution]:
    """What a feed of Scan `later` brings, as far as it can be told row by row."""
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
    """Whether a feed is a reading, whose values are known step by step."""
    into = _variable(trace.scans[later], feed.into)
    if not isinstance(into, SequenceTrace) or into.is_outer_gradient:
        return False
    return trace.scans[later].parent is not None or into.taken is not None


def _variable(scan: ScanTrace, argument: int) -> Variable:
    return scan.variable(Leaf("", None, argument))


def _slot_of_gradient(parent: ScanOf | None, part: TapeTrace, index: int) -> Value | None:
    """The slot of the `parent` of a Scan whose gradient a tape of that Scan holds for an index."""
    if parent is None:
        return None
    variables: list[TapeTrace | SequenceTrace] = [*parent.scan.held, *parent.scan.sequences]
    for held in variables:
        if held.name == part.gradient_of and held.axis is not None and index in held.axis.rows:
            return parent.slot_at(held, index)
    return None


def _index_in(trace: Trace, later: int, into: Variable, slot: Value) -> int | None:
    """The index that a slot has in what Scan `later` takes gradients in through."""
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
    """Where gradients of one loop go into those of another; empty for a single loop."""
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
