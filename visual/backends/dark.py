"""Dark pictures on a dark screen: a style sheet that replaces every light color of a scene.

All scenes in a page have light colors. The style sheet of the page replaces each light color by
`light-dark()`. This CSS function selects the dark color if the screen or the theme of the widget is
dark. The style sheet in a picture file depends only on the screen.
"""

from collections.abc import Iterator
from functools import cache

from visual.scene.theme import DARK, LIGHT, Role, Theme, contrast, mixed, shades

BOX, LETTERS, LINE = "rect", ":is(svg,g,text)", "path"
Key = tuple[str, str, str]


def style() -> str:
    """Return the style sheet that darkens pictures in elements of the class `light` in a page."""
    # Elements without a color inherit the color of text from the root.
    return "\n".join(
        f'.light {element}[{attribute}="{light}"]{{{attribute}:light-dark({light},{dark})}}'
        for (element, attribute, light), dark in dark_colors().items()
    )


def picture_style(name: str, svg: str) -> str:
    """Return the style sheet that darkens a light picture on a dark screen.

    `name` is the class of the root element of `svg`.
    """
    rules = "".join(
        f'{element}:is(.{name},.{name} *)[{attribute}="{light}"]{{{attribute}:{dark}}}'
        for (element, attribute, light), dark in dark_colors().items()
        if f'{attribute}="{light}"' in svg
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


@cache
def dark_colors() -> dict[Key, str]:
    """Return a dictionary from (CSS selector, attribute, light color) to the dark color.

    If two roles have the same light color and different dark colors, both get the dark color with
    the higher contrast.
    """
    colors: dict[Key, str] = {}
    for key, dark in _pairs():
        choices = (colors.get(key, dark), dark)
        colors[key] = max(choices, key=lambda color: contrast(color, DARK.background))
    return colors


def _pairs() -> Iterator[tuple[Key, str]]:
    yield (BOX, "fill", LIGHT.background), DARK.background
    for role in Role:
        for faded in (False, True):
            light, dark = LIGHT.look(role, faded), DARK.look(role, faded)
            yield (BOX, "fill", light.fill), dark.fill
            yield (BOX, "stroke", light.stroke), dark.stroke
            yield (LETTERS, "fill", light.text), dark.text
            yield (LINE, "stroke", light.text), dark.text  # the line through a struck text
    for light_ink, dark_ink in zip(_inks(LIGHT), _inks(DARK), strict=True):
        yield (LETTERS, "fill", light_ink), dark_ink
        yield (LINE, "fill", light_ink), dark_ink
        yield (LINE, "stroke", light_ink), dark_ink
    for light_shade, dark_shade in zip(shades(LIGHT), shades(DARK), strict=True):
        yield (LINE, "fill", light_shade), dark_shade


def _inks(theme: Theme) -> tuple[str, ...]:
    return theme.text, theme.muted, theme.arrow, mixed(theme.text, theme.background, 0.7)
