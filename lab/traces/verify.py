"""What PyTensor computes when it compiles a graph, beside the values of an uncompiled run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor import __version__ as version
from pytensor import function
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, LabError, first_line
from lab.traces.run import checked


def compare_with_compiled(
    outputs: Sequence[Variable], given: Mapping[Variable, Any], values: Sequence[Any], mode: str
) -> float:
    """The largest difference between `values` and what PyTensor computes with `mode`.

    Differences are absolute where the values are below 1, relative where they are above;
    nan and infinities agree with themselves.
    """
    inputs = list(given)
    try:
        get_mode(mode)
    except Exception as error:
        raise ArgumentError(f"mode = {mode!r}: PyTensor knows no such mode.") from error
    arguments = [checked(v, given[v]) for v in inputs]
    try:
        compiled = function(inputs, list(outputs), mode=mode, on_unused_input="ignore")
        found = compiled(*arguments)
    except Exception as error:  # whatever it stumbles over
        told = f"PyTensor {version} itself fails to run this graph: {first_line(error)}"
        raise LabError(f"verify, mode = {mode!r}: {told}") from error
    worst = 0.0
    for ours, theirs in zip(values, found, strict=True):
        a, b = np.asarray(ours), np.asarray(theirs)
        if a.shape != b.shape:
            return float("inf")
        with np.errstate(invalid="ignore"):
            away = np.abs(a - b) / np.maximum(1.0, np.abs(b))
        away = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, away)
        worst = max(worst, float(np.max(np.nan_to_num(away, nan=np.inf), initial=0.0)))
    return worst
