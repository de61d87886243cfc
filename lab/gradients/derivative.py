"""Build derivatives of any order, and list the Scans of a derivative."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import factorial
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from lab.errors import (
    GradientError,
    GraphError,
    argument_error,
    check_choice,
    check_integer,
    check_sequence,
    check_type,
    printable,
)
from lab.gradients.decisions import PullbackRule, relation_of
from lab.gradients.forward.pushforward import cast_tangent
from lab.gradients.forward.series import Jet, JetPropagation, coefficient
from lab.gradients.forward.taylor import taylor
from lab.gradients.status import (
    Disconnected,
    ThroughUntraced,
    Undefined,
    cast_like,
    is_real,
    pytensor_gradients,
    status_of,
)
from lab.gradients.symbols import ResultName, cost_symbol, derivative_symbol
from lab.gradients.verify import verify
from lab.progress import is_watched, pause
from lab.retired import RetiredAttribute
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import as_tensor
from lab.scans.replacing import as_scans, require_scan, scan_nodes, with_tapes

MANY_SCANS, MOST_SCANS = 32, 16_384


class ManyScansWarning(UserWarning):
    """A warning that a derivative builds many Scans, which takes noticeable time."""


@dataclass(frozen=True, eq=False)
class Descent:
    """A Scan of a derivative, its order (0 for a loop), and the Scan that it differentiates."""

    node: Apply
    order: int
    parent: Apply | None


@dataclass(frozen=True, eq=False)
class Derivative:
    """The derivatives of a cost up to an order: ``values[k]`` is the k-th derivative.

    `given` contains values of inputs of the graph.  `by` is the label of `wrt`, such as x₀, and
    `cost` is the label of the cost, such as x₄; the default labels are the names of the variables.
    `mode` and `direction` are the arguments of `lab.derivative`.
    """

    values: tuple[TensorVariable, ...]
    wrt: Variable
    given: Mapping[Variable, object] = field(default_factory=dict, repr=False)
    by: str = ""
    cost: str = ""
    mode: str = "reverse"
    direction: TensorVariable | None = field(default=None, repr=False)

    different = RetiredAttribute()

    @property
    def order(self) -> int:
        """The highest order of `values`."""
        return len(self.values) - 1

    @property
    def names(self) -> tuple[ResultName, ...]:
        """The labels of `values`: C = x₄, C′ = dC/dx₀, C″ = dC′/dx₀ or d(sum of C′)/d(x₀, x₁)."""
        by = self.by or printable(self.wrt.name or "input")
        cost = self.cost or printable(self.values[0].name or "your cost")
        scalar = "(sum of {})" if self.direction is None else "(direction times {})"
        names = [cost_symbol(order) for order in range(self.order + 1)]
        costs = [scalar.format(s) if v.ndim else s for s, v in zip(names, self.values, strict=True)]
        later = map(ResultName, names[1:], (derivative_symbol(cost, by) for cost in costs))
        return ResultName(cost_symbol(0), cost), *later

    @property
    def value(self) -> TensorVariable:
        """The derivative of the highest order."""
        return self.values[-1]

    def verify(self, trace: Any, mode: str = "FAST_COMPILE") -> float:
        """Return the largest difference between a trace of `values` and PyTensor's results.

        PyTensor compiles the same graph: the result shows whether the trace is correct, not whether
        the derivatives are (see `lab.compare`).  Derivatives in Taylor mode are also compared with
        reverse mode, up to order 2.  Differences are absolute for values below 1, and relative for
        larger values.  `mode` is a compilation mode of PyTensor.  Raises ArgumentError for a trace
        of another graph or an unknown mode, and LabError if PyTensor fails.
        """
        others: list[TensorVariable] = []
        if self.mode != "reverse":
            with without_backtraces():
                others = _reverse(self.values[0], self.wrt, min(self.order, 2), self.direction)
        return verify(self.values, trace, mode, others)

    @property
    def genealogy(self) -> tuple[Descent, ...]:
        """All Scans on which `value` depends, in the order of execution."""
        pairs = ((node, relation_of(node.op)) for node in scan_nodes([self.value]))
        return tuple(Descent(n, d.order, d.parent) if d else Descent(n, 0, None) for n, d in pairs)


def derivative(
    cost: Variable,
    wrt: Variable,
    order: int = 1,
    direction: TensorVariable | None = None,
    rule: PullbackRule | None = None,
    mode: str = "reverse",
) -> Derivative:
    """Return the derivatives of a scalar `cost` with respect to `wrt`, up to `order`.

    Both modes return the same values.  In mode "reverse", each order is the pullback of the
    previous order: a graph with one Scan has 2ⁿ Scans at order n.  In mode "taylor",
    the derivative of order n is n! times a coefficient of a power series.  One Scan computes the
    values and all coefficients.  If `wrt` is not a scalar, the cost and its gradient need one Scan
    each.  The second coefficient of x is named x⟨2⟩.

    If `wrt` is not a scalar, derivative k+1 is the gradient of the inner product of derivative k
    with `direction` (default: ones).  The graph is not modified: all Scans are copied as
    `TapeScan`.

    Raises ArgumentError for an invalid argument or too many Scans.  Raises GraphError if the graph
    contains no Scan or if the cost does not depend on `wrt`.  Raises GradientError if a derivative
    is undefined, or in Taylor mode if an operation has no rule.  Warns with ManyScansWarning before
    building 32 Scans or more, because every order doubles their number.
    """
    order = check_integer("order", order, "0, 1, 2, …", least=0)
    check_choice("mode", mode, MODES)
    check_differentiable(cost, wrt)
    if direction is not None:
        check_type("direction", direction, Variable, "a PyTensor variable of the type of wrt")
        direction = as_tensor(cast_tangent("direction", wrt, direction))
    if rule is not None:
        check_type("rule", rule, PullbackRule, "a PullbackRule, such as lab.BROKEN[…].rule")
        if mode != "reverse":
            raise argument_error("rule", rule, f"expected None with mode = {mode!r}.")
    if mode == "taylor" and order > HIGHEST:
        raise argument_error("order", order, f"expected at most {HIGHEST} with mode = {mode!r}.")
    cost = as_scans([cost])[0]
    check_scan_count(cost, order if mode == "reverse" else 0)
    with without_backtraces():
        cost, wrt = with_tapes([cost, wrt], rule)
        values = MODES[mode](as_tensor(cost), wrt, order, direction)
    return Derivative(tuple(values), wrt, mode=mode, direction=direction)


def check_scan_count(cost: Variable, order: int) -> None:
    """Raise ArgumentError if reverse mode builds too many Scans; warn if it builds many.

    Every order doubles the number of Scans in the graph of `cost`.  Raises GraphError for a graph
    without Scans.
    """
    expected = require_scan([cost]) * 2 ** min(order, 100)
    if expected > MOST_SCANS:
        why = f"every order doubles the number of Scans. Expected at most {MOST_SCANS:,} Scans."
        raise argument_error("order", order, why)
    if expected >= MANY_SCANS and not is_watched():
        warnings.warn(
            f"order {order} builds about {expected} Scans: every order doubles their number.",
            ManyScansWarning,
            stacklevel=3,  # warn at the caller of the public function
        )


def _reverse(
    cost: TensorVariable, wrt: Variable, order: int, direction: TensorVariable | None
) -> list[TensorVariable]:
    """Return the derivatives of all orders, each as the gradient of the previous derivative."""
    values = [cost]
    for number in range(1, order + 1):
        pause()
        target = values[-1]
        if target.type.ndim:
            along = pt.ones_like(target) if direction is None else direction
            target = (target * along).sum()
        values.append(differentiate(target, wrt, number))
    return values


def _taylor(
    cost: TensorVariable, wrt: Variable, order: int, direction: TensorVariable | None
) -> list[TensorVariable]:
    """Return the derivatives of all orders: k! times coefficient k of the cost or its gradient."""
    for node in scan_nodes([cost]):
        if (limit := node.op.truncate_gradient) != -1:
            reason = 'only the pullback is truncated. Use mode = "reverse".'
            raise GradientError(f"truncate_gradient = {limit}: {reason}")
    values = _reverse(cost, wrt, min(order, 1 if wrt.type.ndim else 0), direction)
    count = order + 1 - len(values)
    if not count:
        return values
    if wrt not in ancestors([cost]):
        raise GraphError(f"wrt = {wrt}: the cost does not depend on it.")
    propagation = JetPropagation(
        taylor, count, "taylor_of_", lambda name, k: f"{name}⟨{k}⟩", renewed=True
    )
    tangent = pt.ones_like(wrt) if direction is None or not wrt.type.ndim else direction
    start = Jet(wrt, (wrt.type.filter_variable(tangent), *[None] * (count - 1)))
    jets = propagation.propagate(values, {wrt: start})
    series = [as_tensor(coefficient(jets, values[-1], k)) for k in range(1, count + 1)]
    values = [as_tensor(jets[v].value) if v in jets else v for v in values]
    return values + [cast_like(c * float(factorial(k)), c) for k, c in enumerate(series, 1)]


MODES = {"reverse": _reverse, "taylor": _taylor}
HIGHEST = 64  # largest order in Taylor mode


def check_differentiable(cost: Variable, wrt: Variable) -> None:
    """Raise ArgumentError unless `cost` is a real scalar and `wrt` is real and floating-point."""
    check_type("cost", cost, TensorVariable, "a scalar PyTensor variable")
    if cost.type.ndim != 0:
        reason = f"expected a scalar, such as xs[-1] or xs.sum(), got {cost.type}."
        raise argument_error("cost", cost, reason)
    if cost.type.dtype.startswith("complex"):
        raise argument_error("cost", cost, f"expected a real number, got {cost.type}.")
    check_type("wrt", wrt, Variable, "a PyTensor variable")
    if not is_real(wrt):
        reason = f"expected a real floating-point variable, got {wrt.type}."
        raise argument_error("wrt", wrt, reason)


def check_wrt(cost: Variable, wrt: object) -> tuple[Variable, ...]:
    """Return `wrt`, a variable or a sequence of variables, as a tuple.

    Raises ArgumentError unless `check_differentiable` accepts `cost` and every variable.
    """
    variables = (wrt,) if isinstance(wrt, Variable) else wrt
    variables = check_sequence("wrt", variables, "PyTensor variables", Variable)
    if not variables:
        raise argument_error("wrt", wrt, "expected at least one PyTensor variable.")
    for variable in variables:
        check_differentiable(cost, variable)
    return variables


def differentiate(target: Variable, wrt: Variable, order: int = 1) -> TensorVariable:
    """Return PyTensor's gradient of a scalar, which is derivative number `order` of a cost.

    If `target` does not depend on `wrt`, a derivative of order 2 or more is 0.

    Raises GraphError at order 1 if `target` does not depend on `wrt`, and GradientError if the
    gradient is undefined or if PyTensor fails to build it.
    """
    (gradient,) = pytensor_gradients(target, [wrt], what=f"derivative {order}")
    status = status_of(gradient)
    if isinstance(status, Disconnected):
        if order == 1:
            raise GraphError(f"wrt = {wrt}: the cost does not depend on it.")
        return pt.zeros_like(wrt)
    if isinstance(status, Undefined):
        reason = str(status) if isinstance(status, ThroughUntraced) else status.reason
        raise GradientError(f"wrt = {wrt}: derivative {order} is undefined: {reason}")
    return as_tensor(gradient)
