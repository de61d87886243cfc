"""Compare every number, mark, and arrow of the routing picture with NumPy, and with moved names."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from pictures import routing
from pictures.routing import DRAWN, cells_in, check_arrows, check_marks, check_numbers, draw, panels
from structural_cases import Case, cases
from twins import assert_twin

import visual
from visual.scene.shapes import Arrow, Box, Text, replaced, walk
from visual.scene.theme import Role


def check_all(case, scene):
    check_numbers(case, scene)
    check_marks(case, scene)
    check_arrows(case, scene)


@pytest.mark.parametrize("name", DRAWN)
def test_every_cell_and_arrow(name):
    scene = draw(DRAWN[name])
    check_all(DRAWN[name], scene)
    for panel, known in zip(panels(scene), routing.expected(DRAWN[name]), strict=True):
        assert cells_in(panel).keys() == known.keys()


@given(cases())
def test_random_calls(case):
    """Some shapes are broadcast or empty, with up to three dimensions; some axes are negative."""
    check_all(case, draw(case))


FAULTS = [  # the class and an attribute of a shape in a picture of "where, vectors", and a change
    (check_numbers, Text, {"content": "15"}, {"content": "14"}),
    (check_marks, Text, {"content": "← y[0]"}, {"content": "← x[0]"}),
    (check_marks, Box, {"role": Role.FIRST}, {"role": Role.SECOND}),
    (check_arrows, Arrow, {}, {"points": ((0.0, 0.0), (9.0, 9.0))}),
]


@pytest.mark.parametrize(("check", "kind", "known", "change"), FAULTS)
def test_a_single_fault_of_a_picture_is_detected(check, kind, known, change):
    case = DRAWN["where, vectors"]
    scene = draw(case)
    every = (s for s in walk(scene.shapes) if isinstance(s, kind))
    wrong = next(shape for shape in every if known.items() <= vars(shape).items())
    shapes = replaced(scene.shapes, {id(wrong): replace(wrong, **change)})
    check(case, scene)
    with pytest.raises(AssertionError):
        check(case, replace(scene, shapes=shapes))


# Tangents, special numbers, and text twins


def test_tangents_and_cotangent_can_be_passed():
    v = routing.V
    scene = visual.routing("narrow", (v,), [5.0, -6.0], [v**2], dim=0, start=1, length=2)
    _, tangent, cotangent = map(cells_in, panels(scene))
    assert {name: cell[0] for name, cell in tangent.items()} == {
        **{f"da[{i}]": entry**2 for i, entry in enumerate(v)},
        "dz[0]": 4,
        "dz[1]": 9,
    }
    assert [cotangent[f"ga[{i}]"][0] for i in range(4)] == [0, 5, -6, 0]
    assert "⟨gz, dz⟩ = -34.0" in scene.text()  # 5 · 4 - 6 · 9
    assert "⟨ga, da⟩ = -34.0" in scene.text()


def test_odd_numbers_are_marked():
    odd = np.array([np.nan, np.inf, -np.inf, -1e300])
    scene = visual.routing("where", (odd, 0.0), condition=[True] * 4)
    texts = {t.content for t in walk(scene.shapes) if isinstance(t, Text)}
    assert {"⚠ nan", "⚠ inf", "⚠ -inf", "-1e300"} <= texts
    assert "the transpose is the adjoint" in scene.text()
    scene = visual.routing("where", (odd, 0.0), tangents=(odd, 0.0), condition=[True] * 4)
    assert "⟨gz, dz⟩ = nan" in scene.text()
    assert "adjoint" not in scene.text()


ROW = np.array([[0.0, 1.0, 2.0]])
TWINS = {
    "where": Case("where", (ROW, np.array(7.0)), {"condition": ROW == 2}),
    "cat": Case("cat", (ROW[:, :1], ROW, ROW[:, :2]), {"dim": -1}),
    "narrow": Case("narrow", (ROW,), {"dim": -1, "start": 1, "length": 2}),
    "clamp": DRAWN["clamp, bounds that broadcast"],
}


@pytest.mark.parametrize("name", TWINS)
def test_text_twins(name):
    assert_twin(f"routing-{name}", draw(TWINS[name]))
