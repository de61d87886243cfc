"""Dark pictures on a dark screen: the light colours of a theme, and the dark ones in their place.

A page holds every scene once, in light colours; a style sheet puts the dark theme's in their
place where the reader's screen is dark.  Printing stays light.
"""

from collections.abc import Iterator
from functools import cache

from visual.backends.svg import SHADES, heat_colour
from visual.scene.theme import DARK, LIGHT, Role, Theme, contrast, mixed

BOX, LETTERS, LINE = "rect", ":is(svg,g,text)", "path"
Key = tuple[str, str, str]


@cache
def style() -> str:
    """The style sheet; its selectors begin at `.light`, the frame of a light picture."""
    rules: dict[tuple[str, str], list[str]] = {}
    for (element, attribute, light), dark in darkened().items():
        rules.setdefault((attribute, dark), []).append(f'.light {element}[{attribute}="{light}"]')
    # The root has the usual colour of letters; what has no colour of its own has that.
    return "".join(f"{','.join(found)}{{{name}:{dark}}}" for (name, dark), found in rules.items())


def darkened() -> dict[Key, str]:
    """Which dark colour stands for which light one, by element and attribute.

    Two roles may share a light colour and differ in the dark; then the one that contrasts more
    with the background stands for both.
    """
    found: dict[Key, str] = {}
    for key, dark in _pairs():
        if key not in found or _distance(dark) > _distance(found[key]):
            found[key] = dark
    return found


def _distance(colour: str) -> float:
    return contrast(colour, DARK.background)


def _pairs() -> Iterator[tuple[Key, str]]:
    yield (BOX, "fill", LIGHT.background), DARK.background
    for role in Role:
        for faded in (False, True):
            light, dark = LIGHT.look(role, faded), DARK.look(role, faded)
            yield (BOX, "fill", light.fill), dark.fill
            yield (BOX, "stroke", light.stroke), dark.stroke
            yield (LETTERS, "fill", light.text), dark.text
    for light_ink, dark_ink in zip(_inks(LIGHT), _inks(DARK), strict=True):
        yield (LETTERS, "fill", light_ink), dark_ink
        yield (LINE, "fill", light_ink), dark_ink
        yield (LINE, "stroke", light_ink), dark_ink
    for level in range(-SHADES, SHADES + 1):
        share = level / SHADES
        yield (LINE, "fill", heat_colour(share, LIGHT)), heat_colour(share, DARK)


def _inks(theme: Theme) -> tuple[str, ...]:
    return theme.text, theme.muted, theme.arrow, mixed(theme.text, theme.background, 0.7)
