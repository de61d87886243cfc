"""What a gradient is when it is not a number, and small tools for gradients that are.

PyTensor marks both cases with variables of special types, which `status_of` reads:
*disconnected*, when the cost does not depend on the variable at all, and *undefined*,
when it does but no derivative exists or none can be given.  A gradient that passed
through an untraced state (a random generator, say) is undefined for that reason.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, NullType, disconnected_type, grad
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType, continuous_dtypes
from pytensor.tensor.variable import TensorVariable

from lab.errors import refusing_depth
from lab.scans.buffers import as_tensor

AnyVariable = TypeVar("AnyVariable", bound=Variable)

# PyTensor hands over why there is no gradient as text alone, from `grad_undefined` and
# `grad_not_implemented`; what does not match is told as it is.
NO_GRADIENT = re.compile(
    r"the grad method for input (\d+) \(.*?\) of the (\S+) op is "
    r"(not implemented|mathematically undefined)\.?(.*)",
    re.IGNORECASE | re.DOTALL,
)
PREAMBLE = "This variable is Null because "  # with which PyTensor begins its reasons


@dataclass(frozen=True)
class Connected:
    """The gradient is a number, an expression in the graph."""

    def __str__(self) -> str:
        return "connected"


@dataclass(frozen=True)
class Disconnected:
    """The cost does not depend on the variable, for the stated reason."""

    reason: str = "the cost does not depend on it"

    def __str__(self) -> str:
        return f"disconnected: {self.reason}"


@dataclass(frozen=True)
class Undefined:
    """The cost depends on the variable, but there is no derivative, for the stated reason."""

    reason: str

    def __str__(self) -> str:
        return f"undefined: {self.reason}"


@dataclass(frozen=True)
class ThroughUntraced(Undefined):
    """The gradient needs values of an untraced state, of which no history is kept."""

    def __str__(self) -> str:
        return f"through an untraced state: {self.reason}"


Status = Connected | Disconnected | Undefined


class NoGradient(NullType):
    """PyTensor's type of an undefined gradient, with our reason; PyTensor keeps only words."""

    def __init__(self, status: Undefined) -> None:
        super().__init__(str(status))
        self.status = status


def status_of(gradient: Variable | None) -> Status:
    """The status of a gradient as PyTensor hands it around."""
    if gradient is None or isinstance(gradient.type, DisconnectedType):
        return Disconnected()
    if isinstance(gradient.type, NullType):
        if isinstance(gradient.type, NoGradient):
            return gradient.type.status
        return Undefined(_reason(gradient.type.why_null.removeprefix(PREAMBLE).strip()))
    return Connected()


def _reason(why_null: str) -> str:
    """PyTensor's reason in a sentence that counts arguments as people do."""
    match = NO_GRADIENT.match(why_null)
    if match is None:
        return why_null
    number, name, why, more = match.groups()
    place = {1: "1st", 2: "2nd", 3: "3rd"}.get(int(number) + 1, f"{int(number) + 1}th")
    lacks = "There is no" if why == "mathematically undefined" else "PyTensor has no"
    return f"{lacks} derivative of {name} with regard to its {place} argument{more}"


def marker(status: Disconnected | Undefined) -> Variable:
    """The variable by which PyTensor knows a gradient that is not a number."""
    if isinstance(status, Disconnected):
        return disconnected_type()
    return NoGradient(status)()


def pytensor_gradient(cost: Variable, wrt: Variable) -> Variable:
    """PyTensor's own gradient; it raises whatever PyTensor's pullbacks raise."""
    with refusing_depth("cost"):
        (gradient,) = cast(Sequence[Variable], grad(cost, [wrt]))
    return gradient


def pytensor_gradients(cost: Variable, wrt: Sequence[Variable]) -> list[Variable]:
    """PyTensor's own gradients, with markers for `status_of` where there is none."""
    with refusing_depth("cost"):
        gradients = grad(
            cost,
            list(wrt),
            disconnected_inputs="ignore",
            return_disconnected="disconnected",
            null_gradients="return",
        )
    return list(cast(Sequence[Variable], gradients))


def is_continuous(variable: Variable) -> bool:
    """Whether small changes of `variable` make sense: real and complex tensors only."""
    return isinstance(variable.type, TensorType) and variable.type.dtype in continuous_dtypes


def is_real(variable: Variable) -> bool:
    """Whether `variable` is a tensor of real floating-point numbers."""
    return is_continuous(variable) and not is_complex(variable)


def is_complex(variable: Variable) -> bool:
    """Whether `variable` has complex entries."""
    return str(getattr(variable.type, "dtype", "")).startswith("complex")


def gradient_dtype(variable: Variable) -> str:
    """The dtype of the gradient with regard to `variable`."""
    return str(variable.type.dtype) if is_continuous(variable) else str(config.floatX)


def placeholder(like: AnyVariable, name: str) -> AnyVariable:
    """A fresh variable of the type of `like`."""
    return like.type(name=name)


def cast_like(variable: Variable, like: Variable) -> TensorVariable:
    """`variable` with the dtype of `like`."""
    same = variable.type.dtype == like.type.dtype
    return as_tensor(variable if same else pt.cast(variable, like.type.dtype))


def fit(gradient: Variable, output: Variable) -> Variable:
    """`gradient` of `output` with all that is known of the shape of `output`."""
    if not isinstance(status_of(gradient), Connected):
        return gradient
    known = output.type.clone(dtype=gradient.type.dtype)
    return known.filter_variable(gradient)
