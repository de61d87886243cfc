"""Check the arguments and results of functions on the eager tape."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature

import numpy as np

from lab.errors import ArgumentError, GradientError, argument_error, check_integer, listing, quote
from lab.records import check_usual


def name_of(function: object) -> str:
    """Return the name of a function for an error message."""
    return getattr(function, "__name__", type(function).__name__)


def check_argnum(argnum: object) -> tuple[int, ...]:
    """Return `argnum` as a tuple; raise ArgumentError unless its numbers are distinct and ≥ 0."""
    numbers = tuple(argnum) if isinstance(argnum, tuple | list) else (argnum,)
    for number in numbers:
        check_integer("argnum", number, "the number of an argument, from 0", least=0)
    if len(set(numbers)) < len(numbers) or not numbers:
        raise argument_error("argnum", argnum, "expected distinct numbers of arguments.")
    return numbers


def check_given(function: object, args: tuple[object, ...], argnum: int) -> None:
    """Raise ArgumentError if a call with `args` has no argument number `argnum`."""
    if argnum >= len(args):
        reason = f"was called with {len(args)} positional arguments, which are numbered from 0."
        raise argument_error("argnum", argnum, f"{name_of(function)} {reason}")


def _number_kind(value: object) -> str:
    """Return the kind of a value: "f" float, "i" or "u" integer, "b" boolean, "" no number."""
    is_number = isinstance(value, np.ndarray | np.generic | int | float)
    return np.asarray(value).dtype.kind if is_number else ""


def check_start(what: str, value: object) -> None:
    """Raise ArgumentError unless `value` is a float or a float array; `what` names the argument."""
    kind = _number_kind(value)
    if kind == "f":
        check_usual(what, value)
        return
    expected = (
        "expected a real number or a numpy array of real numbers; for several arguments, pass "
        "argnum=(0, 1)."
    )
    if kind in ("i", "u"):
        example = "a float array" if getattr(value, "ndim", 0) else f"{value}.0"
        expected = f"expected floating-point numbers, not integers; pass {example}."
    raise argument_error(what, value, expected)


def check_real_number(function: object, value: object) -> None:
    """Raise ArgumentError unless the result `value` is one real number."""
    shape = np.shape(value) if isinstance(value, np.ndarray) else ()
    if _number_kind(value) not in ("f", "i", "u") or shape:
        kind = getattr(value, "dtype", type(value).__name__)
        what = f"an array of shape {shape}" if shape else f"of type {kind}"
        reason = f"returned {quote(value)}, {what}; expected one real number."
        raise ArgumentError(f"{name_of(function)} {reason}")


def check_keywords(operation: str, kwargs: Mapping[str, object], node: type) -> None:
    """Raise GradientError if a keyword argument is a node, which would receive no gradient."""
    for name, value in kwargs.items():
        if isinstance(value, node):
            reason = "is a keyword argument; only positional arguments can be differentiated."
            raise GradientError(f"{operation}: {name} = {quote(value)} {reason}")


def check_arguments(
    operation: str,
    rule: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> None:
    """Raise GradientError if `rule` does not accept these arguments of a numpy function."""
    try:
        signature(rule).bind(*args, **kwargs)
    except TypeError as error:
        raise GradientError(
            f"{operation}: it does not accept these arguments for nodes: {error}; use other "
            "functions of lab.eager.np, or add a rule with lab.eager.primitive."
        ) from None


def check_gradients(
    operation: str, gradients: object, args: tuple[object, ...], on_top: Sequence[bool]
) -> list:
    """Return a list with one gradient function, or None, for each argument.

    `on_top` states for each argument whether it is a node of the tape that records the operation.
    Raise ArgumentError unless `gradients` is a list with at most one entry per argument.  Raise
    GradientError if such a node has no gradient function.
    """
    if not isinstance(gradients, list | tuple) or len(gradients) > len(args):
        reason = f"expected a list of one function for each of the {len(args)} arguments."
        message = f"gradient_maker of {operation}: returned {quote(gradients)}; {reason}"
        raise ArgumentError(message)
    completed = [*gradients, *[None] * (len(args) - len(gradients))]
    lacking = [n for n, (g, on) in enumerate(zip(completed, on_top, strict=True)) if on and not g]
    if lacking:
        raise GradientError(
            f"{operation}: argument {listing(lacking)} = {quote(args[lacking[0]])} is a "
            "node, but the rule has no gradient for this argument; pass lab.eager.value_of(…)."
        )
    return completed
