"""Read the log-density, the free variables, and the initial point of a PyMC model.

    >>> density = log_density(model)
    >>> lab.derivative(density.cost, density.resolve_wrt("rho")[0]), density.given

This module does not import PyMC: a caller with a model has already imported PyMC.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytensor.graph.basic import Variable, equal_computations
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from lab.errors import GraphError, check_choice, check_sequence, first_line
from lab.scans.buffers import as_tensor


@dataclass(frozen=True, eq=False)
class LogDensity:
    """The log-density `cost` of a PyMC model as a graph.

    `free` contains the continuous free variables by their names in the model, and transformed
    variables also by their names in the graph.  `given` contains PyMC's initial value of each
    input.
    """

    cost: TensorVariable
    free: Mapping[str, TensorVariable]
    given: Mapping[Variable, object]

    def bind_values(self, point: Mapping[Any, object]) -> Mapping[Variable, object]:
        """Return `given` with the values in `point`, whose keys are names or variables."""
        named = {str(v.name): v for v in self.given}
        values = {**self.given}
        for key, value in point.items():
            name = key.name if isinstance(key, Variable) else key
            values[named[check_choice("given", name, named)]] = value
        return values

    def resolve_wrt(self, wrt: object = None) -> tuple[TensorVariable, ...]:
        """Return the inputs that `wrt` names or contains (default: all inputs in `free`)."""
        if wrt is None:
            return tuple(dict.fromkeys(self.free.values()))
        keys = [wrt] if isinstance(wrt, str | Variable) else check_sequence("wrt", wrt, "variables")
        names = [key.name if isinstance(key, Variable) else key for key in keys]
        expected = "the model's variables are {}."
        return tuple(
            dict.fromkeys(self.free[check_choice("wrt", n, self.free, expected)] for n in names)
        )


def log_density(subject: object) -> LogDensity | None:
    """Return the log-density of a PyMC model, or None for other objects.

    In the graph, transformed variables and Deterministics have their names in the model.  Raise
    GraphError if PyMC cannot build a log-density, or if all free variables are discrete.
    """
    pymc = sys.modules.get("pymc")
    if pymc is None or not isinstance(subject, pymc.Model):
        return None
    model: Any = subject
    try:
        cost = as_tensor(model.logp())
        point = model.initial_point()
        named = model.replace_rvs_by_values([*model.free_RVs, *model.deterministics])
    except Exception as error:  # a custom distribution may raise any error
        message = f"model: PyMC cannot build the log-density. {first_line(error)}"
        raise GraphError(message) from error
    for variable, value in zip([*model.free_RVs, *model.deterministics], named, strict=True):
        _name_equal_variables(cost, value, variable.name)
    inputs = {rv.name: model.rvs_to_values[rv] for rv in model.free_RVs}
    smooth = {n: v for n, v in inputs.items() if v in model.continuous_value_vars}
    if not smooth:
        raise GraphError("model: expected a continuous free variable, but all are discrete.")
    free = {**smooth, **{value.name: value for value in smooth.values()}}
    return LogDensity(cost, free, {value: point[value.name] for value in inputs.values()})


def _name_equal_variables(cost: Variable, value: Variable, name: str) -> None:
    """Give `name` to the unnamed variables in the graph of `cost` that equal `value`."""
    for variable in ancestors([cost]):
        if variable.name or variable.owner is None or value.owner is None:
            continue
        if variable.owner.op == value.owner.op and equal_computations([variable], [value]):
            variable.name = name
