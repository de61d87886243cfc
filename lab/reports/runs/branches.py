"""Describe the best-known trap of `where`: the gradient of an unselected branch is 0·∞.

PyTensor's rewrites often avoid this nan.  A second `where`, which replaces the invalid arguments
inside the branch, avoids it without rewrites.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from lab.equations.quantities import Quantities
from lab.notation import Number, render
from lab.records import find_reachable
from lab.traces.faults import value_at_step, value_formula
from lab.traces.trace import ScanTrace, Source, Trace

MULTIPLIES = {"Mul", "TrueDiv", "Dot"}
KEEPS_ZERO = {"Neg", "second", *MULTIPLIES}  # operations that return 0 for an input of 0
WAY_OUT = (
    "Add a where inside the branch, as in where(condition, f(where(condition, argument, 1)), 0). "
    "PyTensor's rewrites, as in lab.trace(…, rewritten=True), often avoid the product."
)


def lost_branches(trace: Trace, number: int, step: int) -> Iterator[tuple[str, str]]:
    """Yield (formula, description) of each unselected branch with a nan gradient at a step.

    Scan `number` runs the step.  The gradient of a branch that `where` does not select is 0.  The
    step multiplies this 0 by the local derivatives of the branch, and the product 0·∞ is nan.
    """
    scan, parent = trace.scans[number], trace.scans[trace.scans[number].parent or 0]
    at = step - scan.first
    for place, value in enumerate(scan.inside):
        product = value_at_step(scan, place, at)
        if value.operation not in MULTIPLIES or product is None or not np.isnan(product).any():
            continue
        for where in _origins_of_zeros(scan, value.inputs, at)[:1]:
            condition, *branches = scan.inside[where].inputs
            holder, when, branch = number, step, value_formula(scan, where)
            same = scan.inside[condition].repeats if isinstance(condition, int) else None
            for each in parent.inside if scan.parent is not None and same is not None else ():
                if each.operation == "where" and each.inputs[0] == same:
                    lost = each.inputs[1 if _is_zero(scan, branches[1]) else 2]
                    holder, when = scan.parent or 0, parent.steps - 1 - at + parent.first
                    branch = value_formula(parent, lost)
                    break
            written = render(branch, Quantities(trace, holder).leaf_label)
            formula = Quantities(trace, number).leaf_label
            yield (
                written,
                f"At step {when} of {trace.scans[holder].name}, where does not select {written}. "
                f"The gradient of this branch is 0, but step {step} of {scan.name} multiplies this "
                f"0 by a value that is not finite: {render(value_formula(scan, place), formula)} "
                f"is nan. {WAY_OUT}",
            )


def _origins_of_zeros(scan: ScanTrace, sources: Iterable[Source], step: int) -> list[int]:
    """Return the numbers of the `where` operations whose constant 0 reaches `sources` at a step.

    The search passes only through operations that return a zero for a zero input.
    """

    def inputs_of_zeros(source: Source) -> tuple[Source, ...]:
        value = value_at_step(scan, source, step)
        if not isinstance(source, int) or value is None or value.all():
            return ()
        node = scan.inside[source]
        return node.inputs if node.passes is not None or node.operation in KEEPS_ZERO else ()

    def selects_zero(condition: Source, *branches: Source) -> bool:
        chosen = value_at_step(scan, condition, step)
        pairs = zip((True, False), branches, strict=True)
        return chosen is not None and any(
            np.any(chosen.astype(bool) == taken) and _is_zero(scan, each) for taken, each in pairs
        )

    computed = [s for s in find_reachable(sources, inputs_of_zeros) if isinstance(s, int)]
    wheres = [n for n in computed if scan.inside[n].operation == "where"]
    return [n for n in wheres if selects_zero(*scan.inside[n].inputs)]


def _is_zero(scan: ScanTrace, source: Source) -> bool:
    """Return whether a value is 0 at every step."""
    if isinstance(source, Number):
        return source.written in ("0", "0.0")
    values = scan.inside[source].values if isinstance(source, int) else None
    return values is not None and len(values) > 0 and not values.any()
