"""The errors that Scantape raises on purpose.

Every message names the argument, quotes the value, and states the allowed values.  All
errors derive from `LabError`: ``except lab.LabError`` catches the errors that the user can
fix, and no others.
"""

import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import StrEnum
from itertools import islice
from math import inf
from numbers import Real
from operator import index
from typing import Any, TypeGuard, TypeVar, cast

MAX_CHARACTERS = 80  # largest length of a quoted value
MOST = 30  # largest number of items in a list
MOST_MEMBERS = 1_000_000  # largest length of an iterable argument, which may be infinite
MOST_BITS = 10_000  # largest size of an integer; Python writes at most 4,300 digits
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = MAX_CHARACTERS
_SHORT.maxlist = _SHORT.maxtuple = 12
# PyTensor's message about a state whose dtype changes after step 0, and Scantape's message.
UPCAST = re.compile(r"has dtype (\w+), while the result of the inner function \S+ has dtype (\w+)")
START_WIDER = (
    "a state of the Scan starts as {0}, but its step computes {1}. PyTensor stores a Python number "
    "in the smallest possible dtype: 0.0 is float32, and 0 is int8. Start from "
    'pt.constant(0.0, dtype="{1}"), or from another value of that dtype.'
)
Kind = TypeVar("Kind")
Thing = TypeVar("Thing", covariant=True)


class LabError(Exception):
    """Base class of all errors that Scantape raises on purpose."""


class ArgumentError(LabError, ValueError):
    """Raised if an argument has a value that is not allowed.

    `argument` is the name of the argument, and `reason` the end of the message; both may be empty.
    """

    argument, reason = "", ""


class KindError(ArgumentError, TypeError):
    """Raised if an argument has a type that is not allowed."""


class UnknownNameError(ArgumentError, KeyError):
    """Raised if a name is not among the known names."""

    __str__ = Exception.__str__  # KeyError.__str__ quotes the sentence


class GraphError(LabError, ValueError):
    """Raised if a graph does not allow the requested analysis."""


class GradientError(LabError, NotImplementedError):
    """Raised if a gradient is undefined, or if Scantape cannot build it; the message states why."""


class BroadcastError(LabError, TypeError):
    """Raised if a step changes the broadcastable dimensions of a state."""


class Registry(Mapping[str, Thing]):
    """Mapping that suggests the closest key if a lookup fails.

    >>> Registry("picture", PICTURES)["tape"]
    UnknownNameError: picture = 'tape': did you mean 'tapes'?
    """

    def __init__(
        self, argument: str, things: Mapping[str, Thing], otherwise: str = "expected one of {}."
    ) -> None:
        self._argument, self._things, self._otherwise = argument, dict(things), otherwise

    def __getitem__(self, name: object) -> Thing:
        return self._things[check_choice(self._argument, name, self._things, self._otherwise)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._argument!r}: {listing(self)})"


@contextmanager
def translate_recursion_error(argument: str) -> Iterator[None]:
    """Raise a GraphError about `argument` if PyTensor exceeds Python's recursion limit."""
    try:
        yield
    except RecursionError:
        raise GraphError(
            f"{argument}: a chain of operations is longer than PyTensor can follow within Python's "
            f"recursion limit of {sys.getrecursionlimit()}; shorten the step, or raise the limit "
            "with sys.setrecursionlimit."
        ) from None


def check_choice(
    argument: str, name: object, known: Iterable[str], otherwise: str = "expected one of {}."
) -> str:
    """Return `name` if it is known; otherwise raise UnknownNameError.

    The message contains the most similar known name, if any, and `otherwise`, in which a list of
    all known names replaces ``{}``.
    """
    known = list(known)
    if isinstance(name, str) and name in known:
        return name
    like = closest_match(name, known)
    word = "or" if otherwise.startswith("expected") else "and"
    advice = otherwise.replace("{}", listing(known, word))
    if like:
        advice = f"did you mean {quote(like)}? {advice[0].upper()}{advice[1:]}"
    raise argument_error(argument, name, advice, UnknownNameError)


def closest_match(name: object, known: Iterable[str]) -> str:
    """Return the known name that is most similar to `name` or starts with it, or ""."""
    if not isinstance(name, str):
        return ""
    names = list(known)
    like = get_close_matches(name[:MAX_CHARACTERS], names, n=1, cutoff=0.7)
    like += [each for each in names if len(name) > 1 and each.startswith(name)]
    return next(iter(like), "")


def argument_error(
    argument: str, value: object, why: str, kind: type[ArgumentError] = ArgumentError
) -> ArgumentError:
    """Return an error that names the argument, quotes the value, and states the reason."""
    sign = " " if argument.startswith("--") else " = "
    error = kind(f"{argument}{sign}{quote(value)}: {why}")
    error.argument, error.reason = argument, why
    return error


def check_type(
    argument: str, value: object, kind: type[Kind] | tuple[type[Kind], ...], expected: str
) -> Kind:
    """Return `value` if it has type `kind`; otherwise raise KindError with `expected`."""
    if isinstance(value, kind):
        return value
    raise argument_error(argument, value, f"expected {expected}.", KindError)


def check_integer(
    name: str, value: object, expected: str = "an integer", least: float = -inf, most: float = inf
) -> int:
    """Return `value` as a Python integer.

    Raise KindError for other types, booleans, and integers with more than 10,000 bits; and
    ArgumentError for an integer below `least` or above `most`.
    """
    kind: type[ArgumentError] = KindError
    with suppress(Exception):  # __index__ of an array with several entries raises an error
        number = index(value)  # type: ignore[arg-type]  # raises for other types
        if not isinstance(value, bool) and number.bit_length() <= MOST_BITS:
            if least <= number <= most:
                return number
            kind = ArgumentError
    raise argument_error(name, value, f"expected {expected}.", kind)


def check_function(argument: str, function: object) -> None:
    """Raise KindError unless `function` can be called."""
    if not callable(function):
        raise argument_error(argument, function, "expected a function.", KindError)


def is_finite_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a real number within the range of a float, not a boolean."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and abs(cast(float, value)) <= sys.float_info.max


def check_sequence(
    argument: str, values: object, expected: str, kind: type = object
) -> tuple[Any, ...]:
    """Return the members of `values` as a tuple.

    Raise KindError for a string, a value that is not iterable, or a member of another type than
    `kind`, and ArgumentError for more than a million members.
    """
    members: tuple[Any, ...] | None = None
    with suppress(Exception):  # an iterator may raise any error
        if not isinstance(values, str | bytes):
            members = tuple(islice(values, MOST_MEMBERS + 1))  # type: ignore[call-overload]
    if members is None:
        raise argument_error(argument, values, f"expected {expected}.", KindError)
    if len(members) > MOST_MEMBERS:
        reason = f"expected {expected}, at most {MOST_MEMBERS:,} members."
        raise argument_error(argument, values, reason)
    return tuple(check_type(argument, member, kind, expected) for member in members)


def first_line(error: BaseException) -> str:
    """Return the type of an exception and the first line of its message.

    For PyTensor's message about an upcast state, return `START_WIDER` with its dtypes instead.
    """
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # __str__ may raise
        lines = []
    if lines and (upcast := UPCAST.search(lines[0])):
        return START_WIDER.format(*upcast.groups())
    return shorten(": ".join([type(error).__name__, *lines[:1]]), 4 * MAX_CHARACTERS)


def quote(value: object) -> str:
    """Return the ``repr`` of a value on one line, shortened for an error.

    A member of a StrEnum is quoted as the text that the user writes, and a slice as ``5:1``.
    """
    try:
        if isinstance(value, slice):
            return shorten(slice_text(value))
        text = _SHORT.repr(str(value) if isinstance(value, StrEnum) else value)
    except Exception:  # __repr__ may raise
        text = f"a {type(value).__name__}"
    return shorten(text)


def slice_text(part: slice) -> str:
    """Write a slice as ``5:1``, or with a step other than 1 as ``0:9:2``."""
    ends = (part.start, part.stop, *([] if part.step in (None, 1) else [part.step]))
    return ":".join("" if end is None else str(end) for end in ends)


def shorten(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a printable text of at most `most` characters; "…" replaces the rest of `text`."""
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")


def listing(items: Iterable[object], word: str = "and") -> str:
    """Write up to 30 items as ``a, b, and c``, with the conjunction `word`, or ``none``."""
    words = [shorten(str(item), 4 * MAX_CHARACTERS) for item in items]
    if not words:
        return "none"
    if len(words) > MOST:
        words = [*words[: MOST - 1], f"{len(words) - MOST + 1} more"]
    if len(words) > 2:
        return f"{', '.join(words[:-1])}, {word} {words[-1]}"
    return f" {word} ".join(words)


def printable(line: str) -> str:
    """Replace each unprintable character in a line by a space."""
    return "".join(c if c.isprintable() else " " for c in line)
