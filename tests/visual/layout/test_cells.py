"""Numbers in cells: different neighbors look different."""

import numpy as np
import pytest

from visual.layout.cells import draw_cell, strip, with_distinct_numbers
from visual.layout.table import Cell
from visual.scene.combinators import envelope_of
from visual.scene.shapes import Box, Text, walk
from visual.scene.theme import THEMES, Role, contrast, heat_colour


def cell_of(box, value, name, key):
    return draw_cell(Cell(box.role, name, np.asarray(value), key=key), box)


def row(*values, wide=90.0):
    """Return the texts of neighboring cells."""
    boxes = (Box(100.0 * n, 0, wide, 40, Role.SPENT) for n in range(len(values)))
    names = (f"x{'₀₁₂₃'[n]}" for n in range(len(values)))
    made = [cell_of(b, v, n, n) for b, v, n in zip(boxes, values, names, strict=True)]
    return [s.content for s in walk(with_distinct_numbers(made)) if isinstance(s, Text)]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ((1.5, 2.5), ["1.5", "2.5"]),
        ((1.4142, 1.4143), ["1.4142", "1.4143"]),
        ((1.41421, 1.41424, 3.0), ["1.41421", "1.41424", "3"]),
        ((0.25, 0.25), ["0.25", "0.25"]),  # they are the same
        ((2**0.5, 2**0.5 + 1e-12), ["1.414…", "1.414…"]),  # too long for a cell
    ],
)
def test_neighbours_that_differ_look_different(values, written):
    assert row(*values) == written


def test_of_other_quantities_and_rows_nothing_is_changed():
    first = cell_of(Box(0, 0, 90, 40, Role.SPENT), 1.4142, "x₀", "x")
    other = cell_of(Box(100, 0, 90, 40, Role.SPENT), 1.4143, "y₀", "y")
    below = cell_of(Box(0, 50, 90, 40, Role.SPENT), 1.4143, "x₁", "z")
    assert with_distinct_numbers([first, other, below]) == (first, other, below)


@pytest.mark.parametrize("theme", THEMES.values())
@pytest.mark.parametrize("faded", [False, True])
def test_a_strip_of_zeros_has_an_edge_that_is_seen(theme, faded):
    for role in Role:
        box = Box(0, 0, 90, 40, role, faded=faded)
        edge, *entries = strip(box, np.zeros(3), 0.0)
        seen = edge.colour(theme), heat_colour(0.0, theme)  # on dark ground in print, zero itself
        assert max(contrast(one, theme.look(role, faded).fill) for one in seen) >= 1.5
        assert len(entries) == 3
        around = envelope_of(edge)
        assert all(envelope_of(one).around(around) == around for one in entries)
