"""Compare a run with PyTensor's results for the same graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor import __version__ as version
from pytensor import function
from pytensor.compile.mode import Mode, get_mode, predefined_modes
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import explicit_graph_inputs

from lab.errors import (
    ArgumentError,
    KindError,
    LabError,
    argument_error,
    first_line,
    listing,
    printable,
    quote,
)


def find_mode(mode: Mode | str | None) -> Mode:
    """Return a mode of PyTensor by its name (None: the default); raise ArgumentError if unknown."""
    try:
        match = get_mode(mode)
    except Exception as error:  # PyTensor raises many types
        expected = f"expected one of {listing(predefined_modes, 'or')}."
        raise argument_error("mode", mode, expected) from error
    if not isinstance(match, Mode):
        raise argument_error("mode", mode, "expected a mode of PyTensor, or its name.")
    return match


def verify(
    outputs: Sequence[Variable],
    run: Any,  # a Trace; this package cannot import the class
    mode: str = "FAST_COMPILE",
    others: Sequence[Variable] = (),
) -> float:
    """Return the largest difference between a `run` of `outputs` and PyTensor's results.

    `others` are other graphs of the first ``len(others)`` outputs, whose results are compared as
    well; nan and infinities are equal to themselves.  `Derivative.verify` describes the errors.
    """
    if not isinstance(getattr(run, "inputs", None), tuple):
        raise argument_error("trace", run, "expected a Trace of this graph.", KindError)
    find_mode(mode)
    inputs, given = list(explicit_graph_inputs(outputs)), run.inputs
    names = [printable(v.name or "") for v in inputs], [g.name for g in given[: len(inputs)]]
    if len(outputs) != len(run.outputs) or names[0] != names[1]:
        here = f"{len(outputs)} values that depend on {listing(names[0])}. Trace this graph."
        traced = f"{len(run.outputs)} values that depend on {listing(g.name for g in given)}"
        raise ArgumentError(f"trace: it has {traced}, but this graph has {here}")
    try:
        compiled = function(inputs, [*outputs, *others], mode=mode, on_unused_input="ignore")
        theirs = compiled(*(g.value for g in given[: len(inputs)]))
    except Exception as error:  # PyTensor raises many types
        message = f"PyTensor {version} fails to run this graph: {first_line(error)}"
        raise LabError(f"verify, mode = {quote(mode)}: {message}") from error
    recorded = (*run.outputs, *run.outputs[: len(others)])
    return max(map(_difference, recorded, theirs), default=0.0)


def _difference(first: object, second: object) -> float:
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != b.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        away = np.abs(a - b) / np.maximum(1.0, np.abs(b))
    away = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, away)
    return float(np.max(np.nan_to_num(away, nan=np.inf), initial=0.0))
