"""Write notes on the results of a trace: sums of entries, added terms, and cancellation."""

from math import log10

import numpy as np

from lab.equations.numbers import HALF, rounding
from lab.equations.quantities import Quantities
from lab.errors import listing
from lab.records import cached_in_record
from lab.traces.faults import values_of
from lab.traces.trace import Trace


@cached_in_record
def result_notes(trace: Trace) -> tuple[str, ...]:
    """Return sentences about the results: sums of entries, added terms, and cancellation."""
    called = [name.symbol for name in trace.names]
    notes = [
        f"{name} has {value.size} entries: {successor} is the gradient of their sum"
        for name, successor, value in zip(called, called[1:], trace.outputs, strict=False)
        if name and value.ndim
    ]
    for into, name in enumerate(called):
        feeds = (feed for feed in trace.feeds if feed.into == into and feed.more)
        scans = sorted({f.scan + 1 for f in feeds if trace.scans[f.scan].parent is not None})
        terms = "the sum of outputs of Scans" if scans[1:] else "the output of Scan"
        if scans:
            whole = f"{name or 'the result'} is {terms} {listing(map(str, scans))}"
            notes.append(f"{whole} plus a value that is computed outside the Scans")
    return tuple(filter(None, (*notes, _cancellation_note(trace))))


def _cancellation_note(trace: Trace) -> str:
    """Describe the largest cancellation that makes printed digits unreliable, or return ""."""
    worst, note = HALF, ""
    digits = ("no digit", "the first digit", "two digits", "three digits")
    for named in Quantities.each(trace):
        for formula in named.scan.formulas:
            read = {leaf: values_of(named.scan, leaf) for leaf in formula.leaves}
            used = {leaf: v for leaf, v in read.items() if v is not None and v.ndim == 1}
            lost = rounding(formula.expression, used) if len(used) == len(read) else None
            if lost is not None and lost.ndim and np.max(lost, initial=0) > worst:
                step, worst = int(np.argmax(lost)), float(np.max(lost))
                place = f"step {step} of Scan {named.number + 1}"
                note = (
                    f"cancellation: {place} writes a difference of nearly equal terms to "
                    f"{named.leaf_at(formula.target, step)}; "
                    f"{digits[max(0, int(-log10(worst)))]} of it and of later values can be trusted"
                )
    return note
