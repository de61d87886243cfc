"""Why a derivative has as many Scans as it has: facts of a trace, put into sentences.

Every Scan that the derivative before is computed by is differentiated once, if that
derivative's value went through it.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from lab.derivative import prime
from lab.errors import listing
from lab.trace import ScanTrace, Trace
from visual.values import values_text


def children(trace: Trace, order: int) -> dict[int, list[int]]:
    """Which Scans of `order` differentiate which: the new ones by the number of the parent."""
    found: dict[int, list[int]] = {}
    for number, scan in enumerate(trace.scans):
        if scan.order == order and scan.parent is not None:
            found.setdefault(scan.parent, []).append(number)
    return found


def through(scan: ScanTrace) -> tuple[str, ...]:
    """The inputs of its parent whose gradients by this Scan go on to the result."""
    tapes = (*scan.tapes, *scan.outputs)
    return tuple(t.gradient_of for t in tapes if t.used and t.gradient_of is not None)


def computed_by(trace: Trace, output: int) -> frozenset[int]:
    """The Scans of which some number goes into an output of the trace."""
    waiting = [(feed.scan, feed.variable) for feed in trace.feeds if feed.into == output]
    seen: set[tuple[int, int]] = set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        number, variable = place
        needed = _arguments(trace.scans[number], variable)
        waiting += [
            (feed.scan, feed.variable) for feed in trace.scans[number].feeds if feed.into in needed
        ]
    return frozenset(number for number, _ in seen)


def _arguments(scan: ScanTrace, variable: int) -> set[int]:
    """The arguments of a Scan that its filled `variable` depends on, by way of all steps."""
    found, waiting = set[int](), [variable]
    while waiting:
        argument = waiting.pop()
        if argument in found:
            continue
        found.add(argument)
        sources = [r.source for r in scan.results if r.target and r.target.argument == argument]
        inner = set[int]()
        while sources:
            source = sources.pop()
            if isinstance(source, int):
                if source not in inner:
                    inner.add(source)
                    sources += scan.inside[source].inputs
            elif hasattr(source, "argument"):
                waiting.append(source.argument)
    return found


def explanation(trace: Trace) -> list[str]:
    """A sentence for every order: how many Scans it adds, and why."""
    orders = max([scan.order for scan in trace.scans] + [_last_order(trace)])
    return [_sentence(trace, order) for order in range(1, orders + 1)]


def _last_order(trace: Trace) -> int:
    """The order of the last output, if the outputs are a cost and its derivatives."""
    names = [name.split(" = ")[0] for name in trace.names]
    wanted = [f"C{prime(order)}" for order in range(len(names))]
    return len(names) - 1 if names == wanted and names else 0


def _sentence(trace: Trace, order: int) -> str:
    before = [i for i, scan in enumerate(trace.scans) if scan.order < order]
    new = children(trace, order)
    value, last = f"C{prime(order)}", f"C{prime(order - 1)}"
    if not new:
        return _nothing_new(trace, order, before)
    made = sum(map(len, new.values()))
    total = f"{len(before)} + {made} = {len(before) + made}"
    pairs = listing(
        f"{listing(n + 1 for n in numbers)} from {parent + 1}"
        for parent, numbers in sorted(new.items())
    )
    if len(before) == 1:
        return f"{last} is computed by one Scan. {value} differentiates it ({pairs}): {total}."
    if set(new) == set(before):
        return (
            f"{last} is computed by {len(before)} Scans ({_numbers(before)}). {value} "
            f"differentiates each of them ({pairs}): {total}."
        )
    rest = [n for n in before if n not in new]
    return (
        f"Of the {len(before)} Scans so far ({_numbers(before)}), {value} differentiates "
        f"{_numbers(new)} ({pairs}), but not {_numbers(rest)}, through which no gradient of "
        f"{last} goes back: {total}."
    )


def _nothing_new(trace: Trace, order: int, before: list[int]) -> str:
    value, last = f"C{prime(order)}", f"C{prime(order - 1)}"
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
            f"{start}: {how}, and no value of {_scans(loops)} goes into it, since the step is "
            f"linear: its derivative does not hold the state. {len(before)} + 0 = {len(before)}."
        )
    return f"{start}: no gradient of {last} goes back through {_scans(used)}."


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(n + 1) for n in sorted(numbers))


def _scans(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return f"{'Scan' if len(listed) == 1 else 'Scans'} {_numbers(listed)}"


def deduplicated(names: Iterable[str]) -> Iterator[str]:
    """``x`` once, or with how often it stands there: ``x (2 taps)``."""
    listed = list(names)
    for name in dict.fromkeys(listed):
        count = listed.count(name)
        yield f"{name} ({count} times)" if count > 1 else name
