"""The picture of the dot-product test: every product by numpy, and both sums."""

import re
from dataclasses import replace

import numpy as np
import pytest
from pictures import cell_groups
from twins import assert_twin

import lab
import visual
from lab.checks import check
from lab.gradients.decisions import PullbackRule
from lab.loops import gallery
from visual.pictures.dot_product import products_by_step
from visual.scene.theme import Role

DEFINED = [name for name in gallery.loops if name != "undefined"]


def numbers_in(scene, role, product=False):
    """Return the values of all cells with a role, in drawing order: products, or other cells."""
    titles = (group.title for group, _, own in cell_groups(scene) if own is role)
    return [float(t.rpartition(" = ")[2]) for t in titles if (" · " in t) == product]


@pytest.mark.parametrize("name", DEFINED)
def test_the_products_are_all_of_both_sums(name):
    test = lab.dot_product(gallery.loops[name])
    found, products = ([p for _, row in rows for p in row] for rows in products_by_step(test))
    forward, backward = [p.value for p in found], [p.value for p in products]
    by_numpy = [float(np.sum(g * v)) for g, v in zip(test.cotangent, test.tangent, strict=True)]
    np.testing.assert_allclose(forward, by_numpy, rtol=1e-13)
    np.testing.assert_allclose(sum(forward), test.products[0], rtol=1e-12)
    np.testing.assert_allclose(sum(backward), test.products[1], rtol=1e-12)
    entries = sum(p.left[1].size for p in products)
    assert entries == sum(v.size for v in test.tangents.values())  # each meets once

    scene = visual.dot_product(test)
    shown = numbers_in(scene, Role.INTERMEDIATE, product=True)
    assert sorted(shown[: len(forward)]) != sorted(shown[len(forward) :])
    np.testing.assert_allclose(sum(shown), 2 * test.products[0], rtol=1e-12)
    sums = numbers_in(scene, Role.OVERWRITTEN)
    np.testing.assert_allclose(sums[-1], test.products[1], rtol=1e-12)
    assert repr(test.products[0]) in scene.text()
    assert repr(test.products[1]) in scene.text()


def test_a_wrong_gradient_is_seen_in_the_sums():
    test = lab.dot_product(gallery.loops["square"])
    wrong = replace(test, gradients={"x": 2 * test.gradients["x"]})
    assert wrong.products[1] == 2 * test.products[1]
    scene = visual.dot_product(wrong)
    assert repr(wrong.products[1]) in scene.text()
    difference = float(re.search(r"difference: (\S+),", scene.text()).group(1))
    assert difference == pytest.approx(abs(test.products[0]), rel=0.1)
    with pytest.raises(check.WrongGradientError):
        lab.dot_product(gallery.loops["square"], rule=PullbackRule(reverses=False))


def test_text_twin():
    """Numbers without rounding: x = 2, 3, 1.5, 3; dx = 1, 3.5, 7.75, 21.5; gx = 4.5, 3, 4, 3."""
    loop = lab.Loop(
        lambda x, u: x * u,
        states=(lab.State("x", 2.0),),
        sequences=(lab.Sequence("u", [1.5, 0.5, 2.0]),),
    )
    test = lab.dot_product(loop, tangents={"x": 1.0, "u": [1, 2, 4]}, cotangent=[1, -2, 3])
    assert test.products == (3.5 - 2 * 7.75 + 3 * 21.5, 4 * 4.5 + 2 * 12 + 6 + 4.5)
    assert_twin("dot-product", visual.dot_product(test))
