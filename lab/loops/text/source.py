"""Split the text of a step into lines, and report errors with line and column."""

import ast
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

from lab.errors import ArgumentError, check_choice, check_type, quote

T = TypeVar("T")
DEEPEST = 30
CLOSING = {"(": ")", "[": "]"}


def identifier(name: T) -> T:
    """Return an identifier in Python's normal form NFKC, which maps the sign µ to the letter μ.

    Return other values, such as the notations x₁ and x², unchanged.
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


def source_error(text: str, start: int, stop: int, why: str) -> ArgumentError:
    """Return an error that quotes the text from `start` to `stop`, with line and column."""
    excerpt = text[start:stop].strip() or text[start:].strip()
    excerpt = excerpt if len(excerpt) <= 40 else f"{excerpt[:39]}…"
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    location = f"line {line}, column {column}" if "\n" in text else f"column {column}"
    return ArgumentError(f"step, {location}: {excerpt!r} {why}")


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line; a line can contain line breaks inside brackets."""
    begin, opened = 0, list[int]()
    for place, sign in enumerate(text):
        if sign in CLOSING:
            opened.append(place)
            if len(opened) > DEEPEST:
                raise source_error(
                    text, place, place + 1, f"is nested deeper than {DEEPEST} brackets."
                )
        elif sign in CLOSING.values():
            if not opened or CLOSING[text[opened.pop()]] != sign:
                raise source_error(text, place, place + 1, "closes a bracket that is not open.")
        elif sign == "#" or (sign < " " and sign not in "\t\r\n") or sign == "\\":
            raise source_error(text, place, place + 1, "is not part of a formula; leave it out.")
        elif sign in ";\n" and not opened:
            if text[begin:place].strip():
                yield begin, place
            begin = place + 1
    if opened:
        raise source_error(
            text, opened[-1], opened[-1] + 1, "opens a bracket that is never closed."
        )
    if text[begin:].strip():
        yield begin, len(text)


@dataclass(frozen=True)
class Source:
    """The formula from `start` to `stop` of a text."""

    text: str
    start: int
    stop: int

    @property
    def formula(self) -> str:
        """The formula in parentheses, so that it can contain line breaks."""
        return f"({self.text[self.start : self.stop]}\n)"

    def parse(self) -> ast.expr:
        """Parse the formula with Python's parser."""
        if not self.text[self.start : self.stop].strip():
            raise source_error(
                self.text, self.start - 1, self.start, "must be followed by a formula."
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.formula, mode="eval").body
        except SyntaxError as error:
            place = self._index(error.lineno or 1, max(1, error.offset or 0) - 1)
            place = min(max(place, self.start), self.stop - 1)
            why = "cannot be read as a formula, such as 'x**2 + 1'."
            raise source_error(self.text, place, self.stop, why) from None
        except (ValueError, MemoryError, RecursionError):
            why = "cannot be read; write a shorter formula."
            raise source_error(self.text, self.start, self.stop, why) from None

    def error_at(self, node: ast.expr, why: str) -> ArgumentError:
        """Return an error that quotes a node of the tree."""
        begin = self._index(node.lineno, self._characters(node.lineno, node.col_offset))
        row = node.end_lineno or node.lineno
        end = self._index(row, self._characters(row, node.end_col_offset or 0))
        return source_error(self.text, max(begin, self.start), min(end, self.stop), why)

    def _index(self, row: int, column: int) -> int:
        """Return the index in the text of a row and column of the formula."""
        rows = self.formula.split("\n")
        return self.start - 1 + sum(len(line) + 1 for line in rows[: row - 1]) + column

    def _characters(self, row: int, count: int) -> int:
        """Return the number of characters in the first `count` bytes of a row."""
        return len(self.formula.split("\n")[row - 1].encode()[:count].decode())
