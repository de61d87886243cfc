"""Dark pictures on a dark screen: a style sheet that replaces every light color of a scene.

A page holds every scene once, in light colours; `light-dark()` follows the scheme of the page,
which the reader's screen or the switch of the theme sets.  A picture in a file of its own can ask
for the scheme itself.
"""

from collections.abc import Iterator
from functools import cache

from visual.scene.theme import DARK, LIGHT, Role, Theme, contrast, mixed, shades

BOX, LETTERS, LINE = "rect", ":is(svg,g,text)", "path"
Key = tuple[str, str, str]


def style() -> str:
    """Return the style sheet; its selectors start at the frame of a light picture."""
    # The root has the usual colour of letters; what has no colour of its own has that.
    return "\n".join(
        f'.light {element}[{attribute}="{light}"]{{{attribute}:light-dark({light},{dark})}}'
        for (element, attribute, light), dark in darkened().items()
    )


def alone(name: str, drawn: str) -> str:
    """Return the rules for a light picture whose root has a class of this name."""
    rules = "".join(
        f'{element}:is(.{name},.{name} *)[{attribute}="{light}"]{{{attribute}:{dark}}}'
        for (element, attribute, light), dark in darkened().items()
        if f'{attribute}="{light}"' in drawn
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


@cache
def darkened() -> dict[Key, str]:
    """Yield pairs of a light color, with element and attribute, and its dark color.

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
            yield (LINE, "stroke", light.text), dark.text  # of a struck text
    for light_ink, dark_ink in zip(_inks(LIGHT), _inks(DARK), strict=True):
        yield (LETTERS, "fill", light_ink), dark_ink
        yield (LINE, "fill", light_ink), dark_ink
        yield (LINE, "stroke", light_ink), dark_ink
    for light_shade, dark_shade in zip(shades(LIGHT), shades(DARK), strict=True):
        yield (LINE, "fill", light_shade), dark_shade


def _inks(theme: Theme) -> tuple[str, ...]:
    return theme.text, theme.muted, theme.arrow, mixed(theme.text, theme.background, 0.7)
