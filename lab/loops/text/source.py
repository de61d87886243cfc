"""Parse the text of a step with Python's parser, and report errors with the text of the mistake."""

import ast
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar, cast

from lab.errors import ArgumentError, check_choice, check_type, quote

T = TypeVar("T")


def identifier(name: T) -> T:
    """Return an identifier in Python's normal form NFKC, which maps the sign µ to the letter μ.

    Other values, such as the notations x₁ and x², are returned unchanged.
    """
    if isinstance(name, str) and name.isidentifier():
        return cast(T, unicodedata.normalize("NFKC", name))
    return name


def choose_name(argument: str, name: object, known: Iterable[str], otherwise: str) -> str:
    """Return `name`, or the first name in `known` for None; raise UnknownNameError for others."""
    known = list(known)
    return known[0] if name is None else check_choice(argument, identifier(name), known, otherwise)


def values_by_name(argument: str, given: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return values by normalized names; raise ArgumentError if a name occurs twice."""
    named: dict[str, T] = {}
    for name, value in given:
        check_type(argument, name, str, "the names of variables")
        normal = identifier(name)
        if normal in named:
            same = f" is the name {quote(normal)}; use" if name != normal else ": use"
            raise ArgumentError(f"{argument}: {quote(name)}{same} each name only once.")
        named[normal] = value
    return named


@dataclass(frozen=True)
class Source:
    """The text of a step, in the operators of Python and without indentation."""

    text: str

    def parse(self) -> list[ast.stmt]:
        """Return the statements of the text; raise ArgumentError for text that is not Python."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text).body
        except SyntaxError as error:
            line = min(error.lineno or 1, self.text.count("\n") + 1)
            whole = self.text.split("\n")[line - 1]
            excerpt = whole[max(0, (error.offset or 1) - 1) :].strip() or whole
            why = f"cannot be read as a formula, such as 'x**2 + 1': {error.msg.rstrip('?')}."
            raise self._error(line, excerpt, why) from None
        except (ValueError, MemoryError, RecursionError):
            raise self.too_long() from None

    def too_long(self) -> ArgumentError:
        """Return the error about a text that Python cannot read."""
        return self._error(1, self.text, "cannot be read; write a shorter formula.")

    def error_at(self, node: ast.expr | ast.stmt, why: str) -> ArgumentError:
        """Return an error that quotes the text of a node."""
        excerpt = ast.get_source_segment(self.text, node) or ast.unparse(node)
        return self._error(node.lineno, excerpt, why)

    def _error(self, line: int, excerpt: str, why: str) -> ArgumentError:
        """Return an error that quotes `excerpt` from line number `line`, counted from 1."""
        location = f", line {line}" if "\n" in self.text else ""
        excerpt = excerpt if len(excerpt) <= 40 else f"{excerpt[:39]}…"
        return ArgumentError(f"step{location}: {excerpt!r} {why}")
