"""A PyMC model as a graph: its log-density, its free variables, and the point where it begins.

    >>> density = log_density(model)
    >>> lab.derivative(density.cost, density.by("rho")[0]), density.given

PyMC is never imported here: who hands over a model has done so.
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
    """The log-density `cost` of a PyMC `model` as a graph of its own.

    `free` has the continuous free variables, by the names that they have in the model and, where
    they are transformed, in the graph; `given` a value for every input: PyMC's initial point.
    """

    cost: TensorVariable
    free: Mapping[str, TensorVariable]
    given: Mapping[Variable, object]

    def at(self, point: Mapping[Any, object]) -> Mapping[Variable, object]:
        """Values of the inputs, by their names or by themselves; others are PyMC's."""
        named = {str(v.name): v for v in self.given}
        found = {**self.given}
        for key, value in point.items():
            name = key.name if isinstance(key, Variable) else key
            found[named[check_choice("given", name, named)]] = value
        return found

    def by(self, wrt: object = None) -> tuple[TensorVariable, ...]:
        """The inputs that `wrt` means: all, or those that are named, by a name or a variable."""
        if wrt is None:
            return tuple(dict.fromkeys(self.free.values()))
        asked = (
            [wrt] if isinstance(wrt, str | Variable) else check_sequence("wrt", wrt, "variables")
        )
        names = [one.name if isinstance(one, Variable) else one for one in asked]
        told = "the model's variables are {}."
        return tuple(
            dict.fromkeys(self.free[check_choice("wrt", n, self.free, told)] for n in names)
        )


def log_density(subject: object) -> LogDensity | None:
    """The log-density of a PyMC model; None for what is no model.

    What a variable is computed as from its transformed one has the variable's own name in the
    graph, and so has a Deterministic.  GraphError where PyMC cannot build a log-density, or the
    model has no continuous free variable.
    """
    pymc = sys.modules.get("pymc")
    if pymc is None or not isinstance(subject, pymc.Model):
        return None
    model: Any = subject
    try:
        cost = as_tensor(model.logp())
        point = model.initial_point()
        named = model.replace_rvs_by_values([*model.free_RVs, *model.deterministics])
    except Exception as error:  # whatever a distribution of a person's own does
        raise GraphError(f"model: PyMC builds no log-density. {first_line(error)}") from error
    for variable, value in zip([*model.free_RVs, *model.deterministics], named, strict=True):
        _name(cost, value, variable.name)
    inputs = {rv.name: model.rvs_to_values[rv] for rv in model.free_RVs}
    smooth = {n: v for n, v in inputs.items() if v in model.continuous_value_vars}
    if not smooth:
        raise GraphError("model: it has no continuous free variable to differentiate by.")
    free = {**smooth, **{value.name: value for value in smooth.values()}}
    return LogDensity(cost, free, {value: point[value.name] for value in inputs.values()})


def _name(cost: Variable, value: Variable, name: str) -> None:
    """Give what is computed as `value` in the graph of `cost` its name, where it has none."""
    for variable in ancestors([cost]):
        if variable.name or variable.owner is None or value.owner is None:
            continue
        if variable.owner.op == value.owner.op and equal_computations([variable], [value]):
            variable.name = name
