"""The errors that Scantape raises on purpose.

Every message names the argument, quotes the value and says what is allowed.  All of
them derive from `LabError`, so ``except lab.LabError`` catches what a person can mend
and lets real bugs through.
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
from typing import Any, TypeVar

MAX_CHARACTERS = 80  # characters of a value that an error quotes
MOST = 30  # items of a list that an error names
MOST_MEMBERS = 1_000_000  # of an argument that holds several: more would not fit into memory
MOST_BITS = 10_000  # of an integer: 3,010 digits
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = MAX_CHARACTERS
_SHORT.maxlist = _SHORT.maxtuple = 12
# What PyTensor says of a state that starts in one dtype and goes on in another; and what we say.
UPCAST = re.compile(r"has dtype (\w+), while the result of the inner function \S+ has dtype (\w+)")
START_WIDER = (
    "a state of the Scan starts as {0}, but its step makes {1}. PyTensor takes the smallest dtype "
    "that holds a number of Python's: 0.0 is float32, and 0 is int8. Start from "
    'pt.constant(0.0, dtype="{1}"), or from what has that dtype.'
)
Kind = TypeVar("Kind")
Thing = TypeVar("Thing", covariant=True)


class LabError(Exception):
    """Base of all errors that Scantape raises on purpose."""


class ArgumentError(LabError, ValueError):
    """An argument has a value that is not allowed."""


class KindError(ArgumentError, TypeError):
    """An argument is of a kind that is not allowed."""


class UnknownNameError(ArgumentError, KeyError):
    """There is nothing of that name."""

    __str__ = Exception.__str__  # a KeyError's own would put the sentence into quotes


class GraphError(LabError, ValueError):
    """A graph that was handed over lacks, or has, something that rules the request out."""


class GradientError(LabError, NotImplementedError):
    """A gradient exists, but this construction cannot give it; the message says why."""


class BroadcastError(LabError, TypeError):
    """A state changes which of its dimensions are known to have length 1."""


class Registry(Mapping[str, Thing]):
    """Things by their names; of another name it is told which one was meant, or which there are.

    >>> Named("picture", PICTURES)["tape"]
    UnknownNameError: picture = 'tape': did you mean 'tapes'?
    """

    def __init__(
        self, argument: str, things: Mapping[str, Thing], otherwise: str = "expected {}."
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
    """GraphError where PyTensor calls itself, along `argument`, more often than Python allows."""
    try:
        yield
    except RecursionError:
        raise GraphError(
            f"{argument}: it makes more operations one after the other than PyTensor, which calls "
            "itself for each, can follow; shorten the step, or raise Python's limit of "
            f"{sys.getrecursionlimit()} calls by sys.setrecursionlimit."
        ) from None


def check_choice(
    argument: str, name: object, known: Iterable[str], otherwise: str = "expected {}."
) -> str:
    """A name that must be `known`; UnknownNameError, with the one that was meant, if it is not.

    If none is like it, all are told, as `otherwise` says.
    """
    known = list(known)
    if isinstance(name, str) and name in known:
        return name
    like = closest_match(name, known)
    told = f"did you mean {quote(like)}?" if like else otherwise.replace("{}", listing(known))
    raise UnknownNameError(f"{argument} = {quote(name)}: {told}")


def closest_match(name: object, known: Iterable[str]) -> str:
    """Which of the `known` names may have been meant; empty if none is like it."""
    if not isinstance(name, str):
        return ""
    return next(iter(get_close_matches(name[:MAX_CHARACTERS], list(known), n=1, cutoff=0.7)), "")


def argument_error(argument: str, value: object, why: str) -> ArgumentError:
    """What to raise for a value: the sentence that names the argument and quotes the value."""
    return ArgumentError(f"{argument} = {quote(value)}: {why}")


def check_type(
    argument: str, value: object, kind: type[Kind] | tuple[type[Kind], ...], expected: str
) -> Kind:
    """A value that must be of a kind, or KindError; what is `expected` is said in words."""
    if isinstance(value, kind):
        return value
    raise KindError(f"{argument} = {quote(value)}: expected {expected}.")


def check_integer(argument: str, value: object, expected: str = "a whole number") -> int:
    """Return an integer; KindError for all else, as for True and False.

    Python writes no integer of more than 4,300 digits as text, so these are refused as well.
    """
    with suppress(Exception):  # some have an __index__ that does not work, as arrays of several
        number = index(value)  # type: ignore[arg-type]  # or it is refused
        if not isinstance(value, bool) and number.bit_length() <= MOST_BITS:
            return number
    raise KindError(f"{argument} = {quote(value)}: expected {expected}.")


def check_function(argument: str, function: object) -> None:
    """Raise KindError unless `function` can be called."""
    if not callable(function):
        raise KindError(f"{argument} = {quote(function)}: expected a function.")


def check_nonnegative(
    argument: str, value: object, expected: str = "a number of 0 or more"
) -> float:
    """Return a finite real number of 0 or more; KindError or ArgumentError for all else."""
    check_type(argument, value, Real, expected)
    with suppress(Exception):  # a number may be too large, and an object may refuse
        number = float(value)  # type: ignore[arg-type]  # it is a Real
        if not isinstance(value, bool) and 0 <= number < inf:
            return number
    raise argument_error(argument, value, f"expected {expected}.")


def check_sequence(
    argument: str, values: object, expected: str, kind: type = object
) -> tuple[Any, ...]:
    """Return the members of `values`; KindError for a text, and for members of another kind.

    An iterable of more than a million members, which may have no end, is refused as well.
    """
    members: tuple[Any, ...] | None = None
    with suppress(Exception):  # whatever an object raises when it is asked for its members
        if not isinstance(values, str | bytes):
            members = tuple(islice(values, MOST_MEMBERS + 1))  # type: ignore[call-overload]
    if members is None:
        raise KindError(f"{argument} = {quote(values)}: expected {expected}.")
    if len(members) > MOST_MEMBERS:
        raise argument_error(
            argument, values, f"expected {expected}, at most {MOST_MEMBERS:,} of them."
        )
    return tuple(check_type(argument, member, kind, expected) for member in members)


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, and of what kind it is."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # it may refuse even that
        lines = []
    upcast = UPCAST.search(lines[0]) if lines else None
    if upcast is not None:
        return START_WIDER.format(*upcast.groups())
    return shorten(": ".join([type(error).__name__, *lines[:1]]), 4 * MAX_CHARACTERS)


def quote(value: object) -> str:
    """A value as an error quotes it: in one line, shortened, whatever its ``repr`` does.

    A member of a StrEnum is quoted as the text that the user writes.
    """
    try:
        told = _SHORT.repr(str(value) if isinstance(value, StrEnum) else value)
    except Exception:  # an object may refuse even that
        told = f"a {type(value).__name__}"
    return shorten(told)


def shorten(told: str, most: int = MAX_CHARACTERS) -> str:
    """A text as an error quotes it, printable and not longer than `most`."""
    return printable(told if len(told) <= most else f"{told[: most - 1]}…")


def listing(items: Iterable[object]) -> str:
    """``a, b and c``; ``none`` for nothing: for use in error messages."""
    words = [shorten(str(item), 4 * MAX_CHARACTERS) for item in items]
    if not words:
        return "none"
    if len(words) > MOST:
        words = [*words[: MOST - 1], f"{len(words) - MOST + 1} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def printable(line: str) -> str:
    """A line as a terminal can show it: what a person wrote moves no cursor and breaks no line."""
    return "".join(c if c.isprintable() else " " for c in line)
