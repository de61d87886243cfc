"""The state of a machine as a line of text, for a link and for `visual.Workbench`.

    >>> as_text({"loop": "square", "order": 2, "taps": {"x": (-2, -1)}, "moment": 17})
    'loop=square&order=2&taps.x=-2,-1&moment=17'

A state maps "loop" and other names in `KEYS` to the choices of a workbench. The text has key=value
pairs in the percent-encoding of URLs; ``&`` separates the pairs. A dot precedes the name of an
entry, as in ``taps.x``. Commas separate the numbers of a vector, and semicolons the rows of a
matrix; a vector of length 1 ends in a comma. `from_text` also reads the part of a link after ``#``.
"""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from urllib.parse import quote as quote_url
from urllib.parse import unquote

import numpy as np

from lab.errors import argument_error, check_choice, check_type

TEXTS = ("loop", "step", "values", "wrt", "of", "mode", "keep", "view", "theme", "rule")
NUMBERS = ("steps", "order", "cost", "moment", "contributor")
MAPPINGS = ("taps", "at", "options")  # mappings from names to values
KEYS = (*TEXTS, *NUMBERS, *MAPPINGS)
SEPARATORS = ",;|"  # separate the numbers of a vector, the rows of a matrix, and matrices
PLAIN = "*+-,;|.()=/:"  # characters that are not encoded in the part of a link after #
WORDS: Mapping[str, object] = {"True": True, "False": False, "None": None}


def as_text(state: Mapping[str, object]) -> str:
    """Return the text of a state, from which `from_text` restores an equal state.

    Raises UnknownNameError for a key not in `KEYS`, and ArgumentError for an array of rank > 3.
    """
    flat = dict[str, object]()
    for key, value in state.items():
        if check_choice("key", key, KEYS) in MAPPINGS:
            inner = check_type(key, value, Mapping, "a mapping from names to values")
            flat |= {f"{key}.{name}": each for name, each in inner.items()}
        else:
            flat[key] = value
    pairs = {quote_url(n, safe="."): quote_url(link_text(v), safe=PLAIN) for n, v in flat.items()}
    return "&".join(map("=".join, pairs.items()))


def from_text(text: str) -> dict[str, object]:
    """Return the state in a text, or in a link that ends in ``#`` and a text.

    Raises ArgumentError for an invalid pair or for a text instead of a number, and
    UnknownNameError for a key that is not in `KEYS`.
    """
    state: dict[str, Any] = {}
    for pair in filter(None, check_type("text", text, str, "text").rpartition("#")[2].split("&")):
        code, equals, written = pair.partition("=")
        key, _, name = unquote(code).partition(".")
        if not equals or (key in KEYS and bool(name) != (key in MAPPINGS)):
            raise argument_error("link", pair, "expected pairs, as in 'order=2&taps.x=-2,-1'.")
        check_choice("key", key, KEYS)
        value: Any = unquote(written)
        if key not in TEXTS:
            value = _read(unquote(code), value, key in ("options", "cost", "contributor"))
        if key == "contributor" and value in (0, 1):
            value = bool(value)
        if key == "taps" and isinstance(value, int):  # a page also accepts a single tap
            value = (value,)
        (state.setdefault(key, {}) if name else state)[name or key] = value
    return {k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in state.items()}


def link_text(value: object) -> str:
    """Return a value as text. Commas separate numbers; semicolons and bars separate tuples."""
    if not isinstance(value, tuple | list):
        return str(value)
    if (depth := np.ndim(value)) > len(SEPARATORS):
        raise argument_error("value", value, "expected an array of rank 3 or less.")
    separator = SEPARATORS[depth - 1]
    return separator.join(map(link_text, value)) + separator * (len(value) < 2)


def _read(key: str, text: str, is_word: bool) -> object:
    """Return the value in a text: a number, a tuple, True, False, or None.

    If `is_word`, return any other text unchanged; otherwise, raise ArgumentError with the `key`.
    """
    for separator in reversed(SEPARATORS):
        if separator in text:
            parts = text.removesuffix(separator).split(separator) if text != separator else []
            return tuple(_read(key, part, is_word) for part in parts)
    if text in WORDS:
        return WORDS[text]
    for kind in (int, float, complex):
        with suppress(ValueError):
            return kind(text)
    if is_word:
        return text
    raise argument_error(key, text, "expected a number.")
