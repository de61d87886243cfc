"""In all pictures of one run a symbol has one value, and no bracket holds a time.

The pictures are read as a page has them: the titles of their cells, and all their words.
"""

import re
from collections import defaultdict
from html import unescape

import numpy as np
import pytest
from oracles import symbols_of

import visual
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES

TITLE = re.compile(r"<title>(.*?)</title>", re.S)
# Arrays are told by their first entries, with six digits.
TOLD = re.compile(r" = (\[.*\]|-?[\d.]+(?:e[+-]?\d+)?|nan|inf|-inf)(?![\d.·^@/]| [+−@])")
TIMED = re.compile(r"(?<![\w₀-₉])(?!buf)(\w+)\[(−|-)?\d+\]")
PYTHON = {"phases"}  # show what Python would write, as x[:-1]


def told_values(svg):
    """Symbols with an index, and the values that titles say they have."""
    for title in map(unescape, TITLE.findall(svg)):
        for symbol, start, end in symbols_of(title):
            if start or symbol.startswith("buf") or "₀" > symbol.rstrip(")")[-1] > "₉":
                continue
            found = TOLD.match(title, end)
            if found and any(sign in symbol for sign in "₀₁₂₃₄₅₆₇₈₉"):
                yield symbol, found[1]


def as_array(told):
    return np.fromstring(re.sub(r"[\[\],…]", " ", told), sep=" ")


def conflicts(pictures):
    """Symbols that have two values in the pictures, given by kind."""
    known, wrong = defaultdict(dict), []
    for kind, svg in pictures.items():
        for symbol, told in told_values(svg):
            for other_kind, other in known[symbol].items():
                one, two = as_array(told), as_array(other)
                if one.shape == two.shape and not np.allclose(one, two, rtol=1e-5, equal_nan=True):
                    wrong.append((symbol, kind, told, other_kind, other))
            known[symbol].setdefault(kind, told)
    return wrong, known


def drawn(loop, order):
    """All but the picture that takes longest and has no values, only counts of Scans and bytes."""
    kinds = [kind for kind in PICTURES if kind != "orders"]
    return {kind: visual.draw(loop, kind, order=order).svg() for kind in kinds}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_one_symbol_has_one_value_in_all_kinds(name, order):
    wrong, known = conflicts(drawn(gallery.loops[name], order))
    assert wrong == []
    assert len(known) >= 4


def test_the_values_are_those_of_a_loop_by_hand():
    _, known = conflicts(drawn(gallery.loops["square"], 2))
    x = [0.95**2**i for i in range(5)]
    for i, symbol in enumerate(("x₀", "x₁", "x₂", "x₃", "x₄")):
        assert [float(told) for told in known[symbol].values()] == pytest.approx(
            [x[i]] * len(known[symbol])
        )
        assert len(known[symbol]) >= 3
    by_hand = 8 * x[3] * x[2] * x[1]
    told = [float(told) for told in known["dC/dx₁"].values()]
    assert told == pytest.approx([by_hand] * len(told))


def test_counts_are_told_of_no_symbol():
    assert [*told_values(visual.draw(gallery.loops["square"], "orders", order=2).svg())] == []


def test_the_reader_objects():
    cell = "<title>x₁ = 0.9025</title>".format
    assert conflicts({"tapes": cell(), "ssa": "<title>x₁ = 0.9025 (3)</title>"})[0] == []
    assert conflicts({"tapes": cell(), "ssa": "<title>x₁ = 0.8145</title>"})[0]
    assert conflicts({"tapes": cell() + "<title>x₁ = 0.8</title>"})[0]
    assert timed("buf[1] ← x[3]·2") == ["x[3]"]
    assert timed("x[t−1]·x₃ + buf_dx[−1]") == []


def timed(words):
    """Brackets that hold a concrete time."""
    return [found[0] for found in TIMED.finditer(words)]


@pytest.mark.parametrize("name", ["square", "coupled", "rnn", "gap", "window", "newton", "extra"])
def test_no_bracket_holds_a_time(name):
    for kind in [kind for kind in PICTURES if kind not in PYTHON]:
        assert timed(visual.draw(gallery.loops[name], kind, order=2).text()) == [], kind
