"""Themes: contrast, and distinguishable roles, also for color-blind readers and in print.

Matrices for linear RGB: Machado, Oliveira & Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency" (2009), severity 1.0.  scikit-image computes L*, a*, b* and
the distance CIEDE2000; 1 is just noticeable.
"""

import io
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from PIL import Image
from skimage.color import deltaE_ciede2000 as color_distance
from skimage.color import xyz2lab

from visual.scene.shapes import Box, Scene, hatching
from visual.scene.theme import HATCHING, LIGHT, NEGATIVE, POSITIVE, THEMES, Hatch, Role, contrast

MATRICES = Path(__file__).with_name("vision.txt").read_text(encoding="utf-8")
ROWS = (line.split() for line in MATRICES.splitlines())
EYES = {name: np.array(numbers, float).reshape(3, 3) for name, *numbers in ROWS}
XYZ = EYES.pop("xyz")


def lab_of(colors, eye="usual"):
    """Return L*, a*, b* of RGB colors, or of ``#rrggbb``, for a kind of vision."""
    if isinstance(colors, str):
        colors = [int(colors[i : i + 2], 16) for i in (1, 3, 5)]
    channels = np.asarray(colors) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return xyz2lab(np.clip(linear @ EYES[eye].T, 0, 1) @ XYZ.T)


WIDE, HIGH = 24, 15  # of a box in a legend


def swatches(theme):
    """Return the pixels of the box of each role in a legend, with a border."""
    boxes = tuple(Box(8 + 40 * n, 8, WIDE, HIGH, role) for n, role in enumerate(Role))
    png = Scene(40 * len(boxes), HIGH + 16, boxes, "t", "d", theme).png()
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), float)
    return dict(zip(Role, np.split(pixels, len(boxes), axis=1), strict=True))


def similar_roles(theme, minimum):
    """Yield pairs of roles whose legend boxes are too similar, a kind of vision, and the distance.

    The measure is the mean of CIEDE2000 over their pixels, with colors, edges, and hatches;
    in print, it uses only the lightness.
    """
    pixels_of_roles = swatches(theme)
    for eye in EYES if theme.name != "print" else ["usual"]:
        colors = {role: lab_of(pixels, eye) for role, pixels in pixels_of_roles.items()}
        if theme.name == "print":
            colors = {role: pixels * (1, 0, 0) for role, pixels in colors.items()}
        for first, second in combinations(Role, 2):
            distances = color_distance(colors[first], colors[second])
            distance = distances[6 : 10 + HIGH, 6 : 10 + WIDE].mean()
            if distance < minimum:
                yield (first, second), eye, round(float(distance), 2)


LEAST = 1.5  # 1 is a just noticeable difference of two patches


@pytest.mark.parametrize("theme", THEMES.values())
def test_texts_have_contrast_and_roles_differ(theme):
    assert list(similar_roles(theme, LEAST)) == []
    assert len({role.word for role in Role}) == len(Role)
    assert lab_of(theme.looks[Role.WRONG].fill)[1] > 15  # red, not gray
    for role, look in theme.looks.items():
        assert contrast(look.text, look.fill) >= 4.5, role
        if look.hatch is not Hatch.NONE:
            assert contrast(look.text, HATCHING) >= 4.5, role
    for color in (theme.text, theme.muted, theme.arrow):
        assert contrast(color, theme.background) >= 4.5


def test_colors_follow_cie_and_contrast_follows_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # known to fail 4.5
    assert lab_of("#ff0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    for red, olive in (("usual", 25), ("protan", 12)):  # much nearer for eyes without red
        near = color_distance(lab_of("#b00000", red), lab_of("#5a5a00", red))
        assert (near < olive) == (red == "protan")


def eyes_deceived(theme, role, **colors):
    """Return the kinds of vision for which a role with other colors looks like another role."""
    looks = {**theme.looks, role: replace(theme.looks[role], **colors)}
    changed = replace(theme, looks=MappingProxyType(looks))
    return {eye for pair, eye, _ in similar_roles(changed, LEAST) if role in pair}


def test_similar_roles_are_detected():
    assert eyes_deceived(LIGHT, Role.SEED, fill="#d9ebfe", stroke="#2762e8") == {*EYES}  # as INPUT
    rose, green = {"fill": "#fecaca", "stroke": "#fecaca"}, {"fill": "#8cf4c8", "stroke": "#8cf4c8"}
    looks = {**LIGHT.looks, Role.INPUT: replace(LIGHT.looks[Role.INPUT], **rose)}
    rosy = replace(LIGHT, looks=MappingProxyType(looks))
    assert eyes_deceived(rosy, Role.SEED, **green) == {"deutan"}  # other eyes distinguish the roles
    printed = THEMES["print"]
    assert eyes_deceived(printed, Role.INPUT, hatch=Hatch.NONE)
    assert eyes_deceived(printed, Role.SEED, fill="#cfd6ff", stroke="#aaaaaa")  # as SPENT is


@pytest.mark.parametrize("theme", [LIGHT, THEMES["dark"]])
def test_the_colors_of_signs_differ_from_the_colors_of_roles(theme):
    roles = [color for look in theme.looks.values() for color in (look.fill, look.stroke)]
    for color in (NEGATIVE, POSITIVE):
        assert contrast(color, theme.background) >= 3
        assert min(np.linalg.norm(lab_of(color) - lab_of(other)) for other in roles) >= 25
    signs = ([lab_of(color, eye) for color in (NEGATIVE, POSITIVE)] for eye in EYES)
    assert min(float(color_distance(*colors)) for colors in signs) >= 25


@pytest.mark.parametrize("hatch", Hatch)
def test_hatches_stay_in_their_box(hatch):
    box = Box(10, 20, 92, 24, Role.INPUT)
    lines = list(hatching(box, hatch))
    assert bool(lines) == (hatch is not Hatch.NONE)
    for x, y in (point for ends in lines for point in ends):
        assert 11 - 1e-9 <= x <= 101 + 1e-9
        assert 21 - 1e-9 <= y <= 43 + 1e-9
    slopes = {np.sign((y1 - y0) * (x1 - x0)) for (x0, y0), (x1, y1) in lines}
    expected = {"rising": {-1}, "falling": {1}, "crossed": {-1, 1}, "none": set()}
    assert slopes == expected.get(hatch, {0})
