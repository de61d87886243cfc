"""Compare the products and both sums in the picture of the dot-product test with NumPy."""

import re
from dataclasses import replace

import numpy as np
import pytest
from pictures import cell_groups
from twins import assert_twin

import lab
import visual
from lab.loops import gallery
from visual.pictures.dot_product import products_by_step
from visual.scene.theme import Role

DEFINED = [name for name in gallery.loops if name != "undefined"]


def numbers_in(scene, role, product=False):
    """Return the values of the cells with a role: products if `product`, otherwise other cells."""
    titles = (group.title for group, _, cell_role in cell_groups(scene) if cell_role is role)
    return [float(t.rpartition(" = ")[2]) for t in titles if (" · " in t) == product]


@pytest.mark.parametrize("name", DEFINED)
def test_the_picture_has_all_products_of_both_sums(name):
    test = lab.dot_product(gallery.loops[name])
    sides = [[p for _, row in rows for p in row] for rows in products_by_step(test)]
    forward, backward = ([p.value for p in products] for products in sides)
    expected = [float(np.sum(g * v)) for g, v in zip(test.cotangent, test.tangent, strict=True)]
    np.testing.assert_allclose(forward, expected, rtol=1e-13)
    np.testing.assert_allclose(sum(forward), test.products[0], rtol=1e-12)
    np.testing.assert_allclose(sum(backward), test.products[1], rtol=1e-12)
    entries = sum(p.values[0].size for p in sides[1])
    assert entries == sum(v.size for v in test.tangents.values())  # each entry occurs once

    scene = visual.dot_product(test)
    numbers = numbers_in(scene, Role.INTERMEDIATE, product=True)
    assert sorted(numbers[: len(forward)]) != sorted(numbers[len(forward) :])
    np.testing.assert_allclose(sum(numbers), 2 * test.products[0], rtol=1e-12)
    sums = numbers_in(scene, Role.OVERWRITTEN)
    np.testing.assert_allclose(sums[-1], test.products[1], rtol=1e-12)
    assert repr(test.products[0]) in scene.text()
    assert repr(test.products[1]) in scene.text()


def test_a_wrong_gradient_changes_the_sums():
    test = lab.dot_product(gallery.loops["square"])
    wrong = replace(test, gradients={"x": 2 * test.gradients["x"]})
    assert wrong.products[1] == 2 * test.products[1]
    scene = visual.dot_product(wrong)
    assert repr(wrong.products[1]) in scene.text()
    difference = float(re.search(r"difference: (\S+),", scene.text()).group(1))
    assert difference == pytest.approx(abs(test.products[0]), rel=0.1)


def test_text_twin():
    """Numbers without rounding: x = 2, 3, 1.5, 3; dx = 1, 3.5, 7.75, 21.5; gx = 4.5, 3, 4, 3."""
    loop = lab.Loop.from_text("x*u", {"x": 2.0}, {"u": [1.5, 0.5, 2.0]})
    test = lab.dot_product(loop, tangents={"x": 1.0, "u": [1, 2, 4]}, cotangent=[1, -2, 3])
    assert test.products == (3.5 - 2 * 7.75 + 3 * 21.5, 4 * 4.5 + 2 * 12 + 6 + 4.5)
    assert_twin("dot-product", visual.dot_product(test))
