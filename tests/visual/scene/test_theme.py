"""Themes: contrast, and roles that differ by more than colour."""

import pytest

from visual.scene.theme import THEMES, Role, contrast


@pytest.mark.parametrize("name", THEMES)
def test_every_text_has_contrast(name):
    theme = THEMES[name]
    for role, look in theme.looks.items():
        assert contrast(look.text, look.fill) >= 4.5, role
    for colour in (theme.text, theme.muted, theme.arrow):
        assert contrast(colour, theme.background) >= 4.5


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # known to fail 4.5


def test_roles_differ_by_more_than_colour():
    for theme in THEMES.values():
        marked = [Role.PRESERVED, Role.OVERWRITTEN, Role.WAITING, Role.SPENT]
        assert len({theme.looks[role].line for role in marked}) == 4
