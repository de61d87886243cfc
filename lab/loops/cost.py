"""The scalar cost of a loop: its last value, the sum of all, or a weighted sum."""

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, one_of, refused
from lab.loops.build import LoopGraph
from lab.loops.declaration import OF
from lab.loops.text.source import identifier
from lab.records import refuse_masked
from lab.scans.buffers import as_tensor


def scalar_cost(
    graph: LoopGraph, cost: npt.ArrayLike, of: str | None, steps: int
) -> TensorVariable:
    """A scalar cost of the state or output `of` of a loop of `steps` steps; see `Loop.cost`."""
    names = list(graph.outputs)
    of = names[0] if of is None else one_of("of", identifier(of), names, OF)
    if isinstance(cost, str):
        if cost not in ("last", "sum"):
            raise refused("cost", cost, "expected 'last', 'sum', or a weight per step.")
        chosen = as_tensor(graph.buffers[of])[-1] if cost == "last" else graph.outputs[of]
        return chosen if chosen.type.ndim == 0 else chosen.sum()
    values = graph.outputs[of]
    weights = a_step_each(cost, steps, values.type.ndim)
    if graph.stops_early:
        return (values * pt.constant(weights)[: values.shape[0]]).sum()
    return (values * weights).sum()


def a_step_each(cost: object, steps: int, ndim: int) -> np.ndarray:
    """`cost` as weights of the values of `steps` steps, which have `ndim` axes."""
    weights = as_weights(cost)
    if len(weights) != steps:
        raise ArgumentError(
            f"cost: the loop makes {steps} steps and takes as many weights, not {len(weights)}."
        )
    return weights.reshape(-1, *[1] * (ndim - 1))


def as_weights(cost: object) -> np.ndarray:
    """`cost` as an array of weights."""
    refuse_masked("cost", cost)
    try:
        weights = np.asarray(cost, dtype="float64")
    except (TypeError, ValueError) as error:
        raise refused("cost", cost, "expected 'last', 'sum', or a weight per step.") from error
    if weights.ndim != 1:
        raise refused("cost", cost, "expected a list of weights, one for each step.")
    return weights
