"""The reasons for the number of Scans of a derivative, as sentences.

A derivative adds a Scan for each Scan on which the value of the previous derivative depends.
"""

from collections.abc import Iterable

import numpy as np

from lab.errors import listing
from lab.notation import Leaf, primes, render
from lab.records import find_reachable
from lab.traces.trace import ScanTrace, Source, Trace
from visual.layout.cells import values_text


def explanation(trace: Trace) -> list[str]:
    """Return a sentence about the new Scans of every order, and one about distinct steps."""
    orders = max([scan.order for scan in trace.scans] + [_last_order(trace)])
    sentences = [_sentence(trace, order) for order in range(1, orders + 1)]
    return [*sentences, _counts(trace, orders)] if orders else []


def computed_by(trace: Trace, output: int) -> frozenset[int]:
    """Return the Scans on which an output of the trace depends."""

    def before(place: tuple[int, int]) -> list[tuple[int, int]]:
        scan = trace.scans[place[0]]
        needed = _arguments(scan, place[1])
        return [(feed.scan, feed.variable) for feed in scan.feeds if feed.into in needed]

    last = ((feed.scan, feed.variable) for feed in trace.feeds if feed.into == output)
    return frozenset(number for number, _ in find_reachable(last, before))


def _arguments(scan: ScanTrace, variable: int) -> set[int]:
    """Return the arguments of a Scan on which its final `variable` depends, through all steps."""

    def before(source: Source) -> Iterable[Source]:
        if isinstance(source, int):
            return scan.inside[source].inputs
        own = source.argument if isinstance(source, Leaf) else None
        return [r.source for r in scan.results if r.target and r.target.argument == own]

    start: list[Source] = [Leaf("", None, variable)]
    sources = find_reachable(start, before)
    return {source.argument for source in sources if isinstance(source, Leaf)}


def _counts(trace: Trace, orders: int) -> str:
    """Return the numbers of Scans and of distinct step functions of each order."""
    steps = [
        [_step_function(scan) for scan in trace.scans if scan.order == order]
        for order in range(orders + 1)
    ]
    scans, distinct = (", ".join(str(len(kind(s))) for s in steps) for kind in (list, set))
    return f"Scans of order 0 to {orders}: {scans}. Distinct step functions: {distinct}."


def _step_function(scan: ScanTrace) -> tuple[object, ...]:
    """Return the taps and formulas of a Scan without the names of its variables."""
    tapes = [(tape.argument, tape.kind, tape.tape) for tape in scan.held]
    formulas = [
        (f.target.argument, f.target.tap, render(f.expression, lambda v: f"{v.argument}[{v.tap}]"))
        for f in scan.formulas
    ]
    return (*tapes, *formulas)


def _last_order(trace: Trace) -> int:
    """Return the order of the last output if the outputs are a cost and its derivatives, or 0."""
    names = [name.split(" = ")[0] for name in trace.names]
    wanted = [f"C{primes(order)}" for order in range(len(names))]
    return len(names) - 1 if names == wanted and names else 0


def _sentence(trace: Trace, order: int) -> str:
    before = [i for i, scan in enumerate(trace.scans) if scan.order < order]
    new: dict[int, list[int]] = {}  # by the number of the parent
    for number, scan in enumerate(trace.scans):
        if scan.order == order and scan.parent is not None:
            new.setdefault(scan.parent, []).append(number)
    value, last = f"C{primes(order)}", f"C{primes(order - 1)}"
    if not new:
        return _nothing_new(trace, order, before)
    count = sum(map(len, new.values()))
    total = f"{len(before)} + {count} = {len(before) + count}"
    pairs = listing(
        f"{listing(n + 1 for n in numbers)} from {parent + 1}"
        for parent, numbers in sorted(new.items())
    )
    if len(before) == 1:
        return f"{last} is computed by one Scan. {value} differentiates it ({pairs}): {total}."
    if set(new) == set(before):
        return (
            f"{last} is computed by {len(before)} Scans ({scan_numbers(before)}). {value} "
            f"differentiates each of them ({pairs}): {total}."
        )
    rest = [n for n in before if n not in new]
    return (
        f"Of the {len(before)} Scans so far ({scan_numbers(before)}), {value} differentiates "
        f"{scan_numbers(new)} ({pairs}), but not {scan_numbers(rest)}, through which no gradient "
        f"of {last} goes back: {total}."
    )


def _nothing_new(trace: Trace, order: int, before: list[int]) -> str:
    value, last = f"C{primes(order)}", f"C{primes(order - 1)}"
    known = _last_order(trace) >= order
    zero = known and not np.any(trace.outputs[order])
    start = f"{value} needs no new Scan"
    if zero:
        start = f"{value} = {values_text(trace.outputs[order])} without a new Scan"
    if not known:
        return f"{start}."
    used = computed_by(trace, order - 1)
    loops = [n for n in before if trace.scans[n].order == 0]
    if used.isdisjoint(loops):
        how = f"{last} is computed by {_scans(used)}" if used else f"{last} is computed by no Scan"
        return (
            f"{start}: {how}, which reads no value of {_scans(loops)}. The step is linear: its "
            f"derivative does not contain the state. {len(before)} + 0 = {len(before)}."
        )
    return f"{start}: no gradient of {last} goes back through {_scans(used)}."


def scan_numbers(numbers: Iterable[int]) -> str:
    """Return the sorted numbers of Scans, from 1, as ``1, 3``."""
    return ", ".join(str(n + 1) for n in sorted(numbers))


def _scans(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return f"{'Scan' if len(listed) == 1 else 'Scans'} {scan_numbers(listed)}"
