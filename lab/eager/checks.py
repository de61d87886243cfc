"""What the eager tape refuses, each in a clear sentence."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from lab.errors import ArgumentError, GradientError, argument_error, check_integer, listing, quote
from lab.records import check_unmasked


def name_of(function: object) -> str:
    """What to call a function in an error message."""
    return getattr(function, "__name__", type(function).__name__)


def check_argnum(argnum: object) -> tuple[int, ...]:
    """The numbers of arguments that `argnum` names; raises ArgumentError if it cannot name any."""
    numbers = tuple(argnum) if isinstance(argnum, tuple | list) else (argnum,)
    for number in numbers:
        if check_integer("argnum", number, "the number of an argument, from 0") < 0:
            raise argument_error("argnum", argnum, "expected the number of an argument, from 0.")
    if len(set(numbers)) < len(numbers) or not numbers:
        raise argument_error("argnum", argnum, "expected numbers of arguments, each once.")
    return numbers


def check_given(function: object, args: tuple[object, ...], argnum: int) -> None:
    """Raise ArgumentError if `function` was given no argument `argnum`."""
    if argnum >= len(args):
        given = {0: "no arguments", 1: "1 argument, number 0"}.get(
            len(args), f"{len(args)} arguments, numbered 0 to {len(args) - 1}"
        )
        raise ArgumentError(f"argnum = {argnum}: {name_of(function)} was given {given}.")


def check_start(what: str, value: object) -> None:
    """Raise ArgumentError unless one can differentiate by `value`; `what` is the argument."""
    if isinstance(value, float):
        return
    kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
    if kind == "f":
        check_unmasked(what, value)
        return
    what = f"{what} = {quote(value)}"
    if (isinstance(value, int) and not isinstance(value, bool)) or (kind and kind in "iu"):
        example = "a float array" if getattr(value, "ndim", 0) else f"{value}.0"
        raise ArgumentError(
            f"{what}: an integer cannot be moved a little, so there is no derivative by it; give "
            f"{example}."
        )
    raise ArgumentError(
        f"{what}: expected a real number or a numpy array of real numbers; for several arguments, "
        "pass argnum=(0, 1)."
    )


def check_real_number(function: object, value: object) -> None:
    """Raise ArgumentError unless `value` is in R."""
    if isinstance(value, float):
        return
    if isinstance(value, np.ndarray | np.generic):
        if value.ndim == 0 and value.dtype.kind in "fiu":
            return
        what = f"an array of shape {value.shape}" if value.ndim else f"of type {value.dtype}"
    elif isinstance(value, int) and not isinstance(value, bool):
        return
    else:
        what = f"of type {type(value).__name__}"
    raise ArgumentError(
        f"f not in R: {name_of(function)} returned {quote(value)}, {what}; only one real "
        "number has a gradient."
    )


def check_real_gradient(function: object, value: object) -> None:
    """Raise GradientError if a function was real, but went through complex numbers."""
    if getattr(value, "dtype", np.dtype(float)).kind == "c":
        raise GradientError(
            f"{name_of(function)}: complex numbers occur in it, for which the rules here do not "
            "hold; write it with real and imaginary parts of their own."
        )


def check_keywords(operation: str, kwargs: Mapping[str, object], node: type) -> None:
    """Raise GradientError if a node was given by keyword, where no gradient can reach it."""
    for name, value in kwargs.items():
        if isinstance(value, node):
            raise GradientError(
                f"{operation}: {name} = {quote(value)} is a node given by keyword; only "
                "arguments given by position are differentiated."
            )


def check_arguments(
    operation: str,
    rule: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> None:
    """Raise GradientError if `rule` does not take these arguments, which numpy's function may."""
    try:
        signature(rule).bind(*args, **kwargs)
    except TypeError as error:
        raise GradientError(
            f"{operation}: with nodes, it does not take the arguments given: {error}; write it "
            "with other functions of lab.eager.np, or give it a rule with lab.eager.primitive."
        ) from None


def check_gradients(
    operation: str, gradients: object, args: tuple[object, ...], on_top: Sequence[bool]
) -> list:
    """One gradient function for each argument, None where none is needed.

    Raises ArgumentError if they are no list or too many, GradientError if a node has none.
    """
    if not isinstance(gradients, list | tuple) or len(gradients) > len(args):
        raise ArgumentError(
            f"gradient_maker of {operation}: returned {quote(gradients)}; expected a list "
            f"of one function for each of the {len(args)} arguments."
        )
    completed = [*gradients, *[None] * (len(args) - len(gradients))]
    lacking = [n for n, (g, on) in enumerate(zip(completed, on_top, strict=True)) if on and not g]
    if lacking:
        raise GradientError(
            f"{operation}: argument {listing(lacking)} = {quote(args[lacking[0]])} is a "
            "node, but there is no gradient by it; give its value, lab.eager.value_of(…)."
        )
    return completed


def bad_setter(old: np.ndarray, setter: Any, error: Exception) -> ArgumentError:
    """What to raise for a Setter that `old` cannot take, from numpy's own `error`."""
    what = f"Setter(index={quote(setter.index)}, value={quote(setter.value)})"
    if isinstance(error, IndexError):
        return ArgumentError(f"{what}: there is no such place in shape {old.shape}; {error}.")
    entries = np.shape(old[setter.index])
    return ArgumentError(
        f"{what}: its index chooses entries of shape {entries}, which a value of shape "
        f"{np.shape(setter.value)} does not fit."
    )
