"""Parse the text of a step with Python's parser, and report errors with line and column."""

import ast
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar, cast

from lab.errors import ArgumentError, check_choice, check_type, quote

T = TypeVar("T")
BLANK = " \t"


def identifier(name: T) -> T:
    """Return an identifier in Python's normal form NFKC, which maps the sign µ to the letter μ.

    Other values, such as the notations x₁ and x², are returned unchanged.
    """
    if isinstance(name, str) and name.isidentifier():
        return cast(T, unicodedata.normalize("NFKC", name))
    return name


def choose_name(argument: str, name: object, known: Iterable[str], otherwise: str) -> str:
    """Return the known name `name`, or for None the first known name; raise UnknownNameError."""
    known = list(known)
    return known[0] if name is None else check_choice(argument, identifier(name), known, otherwise)


def values_by_name(argument: str, given: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return values by normalized names; raise ArgumentError if a name occurs twice."""
    named: dict[str, T] = {}
    for name, value in given:
        check_type(argument, name, str, "the names of variables")
        normal = identifier(name)
        if normal in named:
            raise ArgumentError(
                f"{argument}: {quote(name)} is the name {quote(normal)}; use each name only once."
            )
        named[normal] = value
    return named


@dataclass(frozen=True)
class Source:
    """The text of a step; lines may be indented."""

    text: str

    @property
    def lines(self) -> list[str]:
        """The lines without indentation, which has no meaning in a step."""
        return [line.lstrip(BLANK) for line in self.text.split("\n")]

    def parse(self) -> list[ast.stmt]:
        """Return the statements of the text; raise ArgumentError for text that is not Python."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse("\n".join(self.lines)).body
        except SyntaxError as error:
            line = min(error.lineno or 1, len(self.lines))
            text = self.lines[line - 1]
            start = min(max(1, error.offset or 0), max(1, len(text))) - 1
            why = f"cannot be read as a formula, such as 'x**2 + 1': {error.msg}."
            raise self._error(line, start, text[start:].strip() or text, why) from None
        except (ValueError, MemoryError, RecursionError):
            why = "cannot be read; write a shorter formula of printable characters."
            raise self._error(1, 0, self.lines[0], why) from None

    def error_at(self, node: ast.expr | ast.stmt, why: str) -> ArgumentError:
        """Return an error that quotes the text of a node."""
        line = self.lines[node.lineno - 1]
        start = len(line.encode()[: node.col_offset].decode())  # the parser counts bytes
        excerpt = ast.get_source_segment("\n".join(self.lines), node) or line[start:]
        return self._error(node.lineno, start, excerpt, why)

    def _error(self, line: int, start: int, excerpt: str, why: str) -> ArgumentError:
        """Return an error that quotes `excerpt`, which begins at index `start` of a line.

        Line 1 is the first line; `start` does not include the indentation.
        """
        whole = self.text.split("\n")[line - 1]
        column = len(whole) - len(self.lines[line - 1]) + start + 1
        location = f"line {line}, column {column}" if "\n" in self.text else f"column {column}"
        excerpt = excerpt if len(excerpt) <= 40 else f"{excerpt[:39]}…"
        return ArgumentError(f"step, {location}: {excerpt!r} {why}")
