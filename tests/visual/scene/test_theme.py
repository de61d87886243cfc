"""Themes: contrast, and roles that can be told apart, by colour-blind eyes and in print as well."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from colours import alike, apart, lab_of

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
