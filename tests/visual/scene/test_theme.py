"""Themes: contrast, and roles that can be told apart, by colour-blind eyes and in print as well.

Matrices: Machado, Oliveira & Fernandes, "A Physiologically-based Model for Simulation of Color
Vision Deficiency" (2009), severity 1.0; they apply to linear RGB.  Lab: CIE 15, D65.
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from visual.scene.shapes import Box, hatching
from visual.scene.theme import (
    DARK,
    HATCHING,
    LIGHT,
    NEGATIVE,
    POSITIVE,
    PRINT,
    THEMES,
    Hatch,
    Role,
    contrast,
)

EYES = {
    "usual": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = XYZ @ np.ones(3)


def lab_of(colour, eye="usual"):
    """L*, a*, b* of ``#rrggbb`` as an eye sees it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = np.clip(XYZ @ np.clip(EYES[eye] @ linear, 0, 1), 0, None) / WHITE
    f = [t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(first, second):
    """How far two colours are apart for the eye that tells them apart least (CIE 1976)."""
    return min(np.linalg.norm(lab_of(first, eye) - lab_of(second, eye)) for eye in EYES)


def lightness_apart(first, second):
    """How far two colours are apart where there are no colours."""
    return abs(lab_of(first)[0] - lab_of(second)[0])


def alike(theme, least):
    """Pairs of roles that look alike: neither the edge nor a hatch tells them, nor the colours.

    `least` is by how much fills or edges must differ, for all eyes; in print in lightness.
    """
    measure = lightness_apart if theme.name == "print" else apart
    looks = sorted(theme.looks.items())
    for number, (role, look) in enumerate(looks):
        for other, its in looks[number + 1 :]:
            marked = (look.line, look.hatch) != (its.line, its.hatch)
            colours = max(measure(look.fill, its.fill), measure(look.stroke, its.stroke))
            if not marked and colours < least:
                yield role.name, other.name, round(float(colours), 1)


# By how much colours differ where no line does; a just noticeable difference is about 2.3.
LEAST = {"light": 12, "dark": 12, "print": 30}


@pytest.mark.parametrize("name", THEMES)
def test_every_text_has_contrast(name):
    theme = THEMES[name]
    for role, look in theme.looks.items():
        assert contrast(look.text, look.fill) >= 4.5, role
        if look.hatch is not Hatch.NONE:
            assert contrast(look.text, HATCHING) >= 4.5, role
    for colour in (theme.text, theme.muted, theme.arrow):
        assert contrast(colour, theme.background) >= 4.5


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # known to fail 4.5


def test_distances_are_those_of_cie():
    assert lab_of("#ff0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    assert np.linalg.norm(lab_of("#ff0000") - lab_of("#008000")) > 100
    assert apart("#b00000", "#5a5a00") < 25  # much nearer for eyes without red


@pytest.mark.parametrize("name", THEMES)
def test_every_pair_of_roles_is_told_apart(name):
    """By line, hatch, or colours that all eyes tell apart; in print, by lightness alone."""
    assert list(alike(THEMES[name], LEAST[name])) == []


def test_the_measure_sees_roles_that_look_alike():
    first = LIGHT.looks[Role.INPUT]
    nearly = replace(first, fill="#d9ebfe", stroke="#2762e8")
    looks = MappingProxyType({**LIGHT.looks, Role.SEED: nearly})
    assert [pair[:2] for pair in alike(replace(LIGHT, looks=looks), 12)] == [("INPUT", "SEED")]
    plain = {role: replace(look, hatch=Hatch.NONE) for role, look in PRINT.looks.items()}
    found = {pair[:2] for pair in alike(replace(PRINT, looks=MappingProxyType(plain)), 30)}
    assert ("INPUT", "INTERMEDIATE") in {tuple(sorted(pair)) for pair in found}


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signs_have_colours_of_no_role(theme):
    roles = [colour for look in theme.looks.values() for colour in (look.fill, look.stroke)]
    for colour in (NEGATIVE, POSITIVE):
        assert contrast(colour, theme.background) >= 3
        assert min(np.linalg.norm(lab_of(colour) - lab_of(other)) for other in roles) >= 25
    assert apart(NEGATIVE, POSITIVE) >= 30


@pytest.mark.parametrize("hatch", Hatch)
def test_hatches_stay_in_their_box(hatch):
    box = Box(10, 20, 92, 24, Role.INPUT)
    lines = list(hatching(box, hatch))
    assert bool(lines) == (hatch is not Hatch.NONE)
    for ends in lines:
        for x, y in ends:
            assert 11 - 1e-9 <= x <= 101 + 1e-9
            assert 21 - 1e-9 <= y <= 43 + 1e-9
    slopes = {np.sign((y1 - y0) * (x1 - x0)) for (x0, y0), (x1, y1) in lines}
    expected = {"rising": {-1}, "falling": {1}, "crossed": {-1, 1}, "none": set()}
    assert slopes == expected.get(hatch, {0})
