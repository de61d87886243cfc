"""The errors that Scantape raises on purpose.

Every message names the argument, quotes the value and says what is allowed.  All of
them derive from `LabError`, so ``except lab.LabError`` catches what a person can mend
and lets real bugs through.
"""

import reprlib
from collections.abc import Iterable

LONGEST = 80  # characters of a value that an error quotes
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = LONGEST
_SHORT.maxlist = _SHORT.maxtuple = 12


class LabError(Exception):
    """Base of all errors that Scantape raises on purpose."""


class ArgumentError(LabError, ValueError):
    """An argument has a value that is not allowed."""


class GraphError(LabError, ValueError):
    """A graph that was handed over lacks, or has, something that rules the request out."""


class GradientError(LabError, NotImplementedError):
    """A gradient exists, but this construction cannot give it; the message says why."""


class BroadcastError(LabError, TypeError):
    """A state changes which of its dimensions are known to have length 1."""


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, and of what kind it is."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def quoted(value: object) -> str:
    """A value as an error quotes it: in one line, shortened, whatever its ``repr`` does."""
    try:
        told = _SHORT.repr(value)
    except Exception:  # an object may refuse even that
        told = f"a {type(value).__name__}"
    return printable(told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…")


def listing(items: Iterable[object]) -> str:
    """``a, b and c``; ``none`` for nothing: for use in error messages."""
    words = [str(item) for item in items]
    if not words:
        return "none"
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def printable(line: str) -> str:
    """A line as a terminal can show it: what a person wrote moves no cursor and breaks no line."""
    return "".join(c if c.isprintable() else " " for c in line)
