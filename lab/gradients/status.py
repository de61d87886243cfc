"""The status of a gradient: connected, disconnected, or undefined.

A gradient is *disconnected* if the cost does not depend on the variable.  A gradient is *undefined*
if the cost depends on the variable but has no derivative that PyTensor can compute.  PyTensor marks
both with variables of special types, which `status_of` reads.  A gradient through an untraced
state, such as a random generator, is undefined.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, NullType, disconnected_type, grad
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.type import TensorType, continuous_dtypes
from pytensor.tensor.variable import TensorVariable

from lab.errors import GradientError, LabError, first_line, quote, translate_recursion_error
from lab.scans.buffers import as_tensor

# The text of PyTensor's functions `grad_undefined` and `grad_not_implemented`.  Other reasons for a
# missing gradient are quoted unchanged.
NO_GRADIENT = re.compile(
    r"the grad method for input (\d+) \(.*?\) of the (.+?) op is "
    r"(not implemented|(?:mathematically )?undefined)\.?\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
PREAMBLE = "This variable is Null because "  # the start of PyTensor's reasons


@dataclass(frozen=True)
class Connected:
    """Status of a gradient that is an expression in the graph."""

    def __str__(self) -> str:
        return "connected"


@dataclass(frozen=True)
class Disconnected:
    """Status of a gradient wrt a variable on which the cost does not depend, with the reason."""

    reason: str = "the cost does not depend on it"

    def __str__(self) -> str:
        return f"disconnected: {self.reason}"


@dataclass(frozen=True)
class Undefined:
    """Status of a gradient that does not exist although the cost depends on the variable."""

    reason: str
    label = "undefined"

    def __str__(self) -> str:
        return f"{self.label}: {self.reason}"


@dataclass(frozen=True)
class ThroughUntraced(Undefined):
    """Status of a gradient that needs earlier values of an untraced state, which are not stored."""

    label = "through an untraced state"


Status = Connected | Disconnected | Undefined


class NoGradient(NullType):
    """PyTensor's type of an undefined gradient, with its status."""

    def __init__(self, status: Undefined) -> None:
        super().__init__(str(status))
        self.status = status


def status_of(gradient: Variable | None) -> Status:
    """Return the status of a gradient, which may be None or one of PyTensor's markers."""
    if gradient is None or isinstance(gradient.type, DisconnectedType):
        return Disconnected()
    if isinstance(gradient.type, NullType):
        if isinstance(gradient.type, NoGradient):
            return gradient.type.status
        return Undefined(_reason(gradient.type.why_null.removeprefix(PREAMBLE).strip()))
    return Connected()


def _reason(why_null: str) -> str:
    """Rewrite PyTensor's reason as a sentence that numbers arguments from 1."""
    match = NO_GRADIENT.match(why_null)
    if match is None:
        return why_null
    number, name, why, comment = match.groups()
    place = {1: "1st", 2: "2nd", 3: "3rd"}.get(int(number) + 1, f"{int(number) + 1}th")
    lacks = "There is no" if why.endswith("undefined") else "PyTensor has no"
    reason = f"{lacks} derivative of {name} with respect to its {place} argument"
    return f"{reason}. {comment}" if comment else reason


def marker(status: Disconnected | Undefined) -> Variable:
    """Return PyTensor's marker for a gradient that is not connected."""
    if isinstance(status, Disconnected):
        return disconnected_type()
    return NoGradient(status)()


# Errors of PyTensor's pullbacks for operations that they cannot differentiate.
PULLBACK_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, TypeError,
    ValueError,
)  # fmt: skip


def pytensor_gradients(
    cost: Variable | None,
    wrt: Sequence[Variable],
    known: Mapping[Variable, Variable] | None = None,
    what: str = "the gradient",
) -> list[Variable]:
    """Return PyTensor's gradients of `cost` with respect to the variables `wrt`.

    A gradient that is not connected is a marker, which `status_of` reads.

    `known` maps variables of the graph to their gradients, and can replace the `cost`.  `what`
    names the gradient in a message.

    Raises GradientError if a pullback fails, and the errors of our own pullback.
    """
    try:
        with translate_recursion_error("cost"):
            gradients = grad(
                cost,
                list(wrt),
                known_grads=known,
                disconnected_inputs="ignore",
                return_disconnected="disconnected",
                null_gradients="return",
            )
    except LabError:
        raise
    except PULLBACK_ERRORS as error:
        ends = [*(known or ()), *([] if cost is None else [cost])]
        between = next(filter(is_complex, ancestors(ends)), None)
        reason = first_line(error)
        if between is not None:
            dtype = between.type.dtype
            reason = f"{quote(between)} is {dtype}; PyTensor has no gradient of complex variables."
        names = ", ".join(map(str, wrt))
        raise GradientError(f"wrt = {names}: PyTensor could not build {what}. {reason}") from error
    return list(cast(Sequence[Variable], gradients))


def gradients_or_zeros(
    known: Mapping[Variable, Variable], wrt: Sequence[Variable]
) -> list[Variable]:
    """Return `pytensor_gradients(None, wrt, known)`, with zeros for disconnected gradients.

    Raises GradientError if a gradient is undefined.
    """
    gradients = pytensor_gradients(None, wrt, known)
    for n, (variable, status) in enumerate(zip(wrt, map(status_of, gradients), strict=True)):
        if isinstance(status, Undefined):
            raise GradientError(f"wrt = {variable}: the gradient is undefined. {status.reason}")
        if isinstance(status, Disconnected):
            gradients[n] = pt.zeros_like(variable)
    return gradients


def is_continuous(variable: Variable) -> bool:
    """Return whether `variable` is a tensor of real or complex floating-point numbers."""
    return isinstance(variable.type, TensorType) and variable.type.dtype in continuous_dtypes


def is_real(variable: Variable) -> bool:
    """Return whether `variable` is a tensor of real floating-point numbers."""
    return is_continuous(variable) and not is_complex(variable)


def is_complex(variable: Variable) -> bool:
    """Return whether `variable` has complex entries."""
    return str(getattr(variable.type, "dtype", "")).startswith("complex")


def gradient_dtype(variable: Variable) -> str:
    """Return the dtype of the gradient wrt `variable`."""
    return str(variable.type.dtype) if is_continuous(variable) else str(config.floatX)


def cast_like(variable: Variable, like: Variable) -> TensorVariable:
    """Cast `variable` to the dtype of `like`."""
    same = variable.type.dtype == like.type.dtype
    return as_tensor(variable if same else pt.cast(variable, like.type.dtype))


def with_shape_of(gradient: Variable, output: Variable) -> Variable:
    """Return `gradient` with the static shape of `output`; markers are returned unchanged."""
    if not isinstance(status_of(gradient), Connected):
        return gradient
    known = output.type.clone(dtype=gradient.type.dtype)
    return known.filter_variable(gradient)
