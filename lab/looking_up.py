"""What a backward loop would give that takes for every value whatever stands in its slot."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from lab.breaking import BROKEN
from lab.check import value_at
from lab.compiled_graph import Compiled
from lab.derivative import derivative
from lab.errors import LabError
from lab.scan import LoopVariable
from lab.tape import Kind


def looked_up(
    cost: Variable, wrt: Variable, what: Compiled, given: Mapping[Variable, Any]
) -> np.ndarray | None:
    """The gradient that takes for every row whatever stands in its slot."""
    if _makes_fewer_steps(what) and what.shortened:
        return None  # what is in the slots then, the whole loop does not tell
    lengths: dict[str, int | None] = {}
    for found in what.buffers:
        if not found.is_shortened:
            lengths[found.name] = None
            continue
        known = (
            found.after.number if lengths.get(found.name, -1) in (-1, found.after.number) else None
        )
        lengths[found.name] = known

    def recalled(part: LoopVariable) -> Variable:
        length = lengths.get(part.name)
        if part.kind is Kind.MIT_MOT or length is None:
            return part.outer_output
        last = part.outer_output.shape[0] - 1
        return part.outer_output[last - (last - pt.arange(last + 1)) % length]

    rule = replace(BROKEN["shortened-buffer"].rule, recalls=recalled)
    try:
        return np.asarray(value_at(derivative(cost, wrt, rule=rule).value, given))
    except LabError:  # that recipe does not fit this graph
        return None


def _makes_fewer_steps(what: Compiled) -> bool:
    """Whether rewriting has dropped steps of a Scan that nobody needs."""
    steps = {scan.number: scan.steps.number for scan in what.after}
    return any(steps[n] != before.steps.number for before in what.before for n in before.into)
