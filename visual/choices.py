"""Numbers that a person chooses: of Scans, as the pictures' headings count them, and of steps.

Scans count from 1, as in ``2 · grad_of_square``; that one is ``trace.scans[1]``.  Steps count
from 0, as in ``step 0``.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from lab.errors import ArgumentError, listing
from lab.traces.trace import ScanTrace, Trace


def whole(name: str, value: Any) -> int:
    """A whole number; ArgumentError for all else, True and False among it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name} = {value!r}: expected a whole number.")
    return index(value)


def whole_or_none(name: str, value: Any) -> int | None:
    """A whole number, or None where none was chosen."""
    return None if value is None else whole(name, value)


def switch(name: str, value: Any) -> bool:
    """True or False; ArgumentError for all else."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} = {value!r}: expected True or False.")
    return value


def scan_index(trace: Trace, scan: Any) -> int:
    """The index in ``trace.scans`` of the Scan with a heading's number."""
    if whole("scan", scan) not in range(1, len(trace.scans) + 1):
        raise ArgumentError(f"scan = {scan!r}: {_known(trace)}")
    return index(scan) - 1


def scan_indices(trace: Trace, scans: Any) -> tuple[int, ...]:
    """The indices in ``trace.scans`` of the Scans with the headings' numbers, in their order."""
    if isinstance(scans, str) or not isinstance(scans, Iterable):
        raise ArgumentError(f"scans = {scans!r}: expected some numbers, as in (1, 2).")
    numbers = [whole("scans", number) for number in scans]
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"scans = {scans!r}: a Scan can be drawn only once.")
    if not numbers or not set(numbers) <= set(range(1, len(trace.scans) + 1)):
        raise ArgumentError(f"scans = {scans!r}: {_known(trace)}")
    return tuple(number - 1 for number in sorted(numbers))


def newest(orders: Sequence[int]) -> int:
    """The first of the highest order: what pictures of one Scan show unless told otherwise."""
    return orders.index(max(orders))


def step_of(scan: ScanTrace, step: Any) -> int:
    """The number of a step that a Scan makes."""
    if whole("step", step) not in range(scan.steps):
        made = f"the steps 0 to {scan.steps - 1}" if scan.steps else "no step that could be drawn"
        raise ArgumentError(f"step = {step!r}: {scan.name} makes {made}.")
    return index(step)


def _known(trace: Trace) -> str:
    named = [f"{number} · {scan.name}" for number, scan in enumerate(trace.scans, start=1)]
    if len(named) > 8:
        return f"the Scans of this trace are 1 to {len(named)}."
    return f"the Scans of this trace are {listing(named)}."
