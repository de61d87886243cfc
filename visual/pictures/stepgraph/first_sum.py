"""The step of a Scan that a picture of one step shows by default."""

import numpy as np

from lab.notation import leaves_of
from lab.traces.trace import ScanTrace, TapeTrace

FIRST_SUM = ", the first that adds up two slots that are not 0"


def first_sum(scan: ScanTrace) -> int | None:
    """Return the first step that adds up several slots that are not 0; None without such a step."""
    several = np.zeros(scan.steps, dtype=bool)
    for formula in scan.formulas:
        target = scan.variable(formula.target)
        if isinstance(target, TapeTrace) and target.tape.reads and not target.is_total:
            leaves = {(leaf.argument, leaf.tap) for leaf in leaves_of(formula.expression)}
            full = [
                access.values.reshape(scan.steps, -1).any(axis=1)
                for tape in scan.tapes
                for access in tape.reads
                if scan.steps and (tape.argument, access.tap) in leaves
            ]
            several |= np.sum(full, axis=0) > 1
    return int(np.argmax(several)) if several.any() else None
