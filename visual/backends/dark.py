"""Dark pictures on a dark screen: a style sheet that replaces every light color of a scene.

All scenes in a page have light colors. The style sheet of the page replaces each light color by
`light-dark()`. This CSS function selects the dark color if the screen or the theme of the widget is
dark. The style sheet in a picture file depends only on the screen.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

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
    """Return the style sheet that darkens `svg`, with the root class `name`, on dark screens."""
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
    for key, (*_, dark) in zip(_colors(LIGHT), _colors(DARK), strict=True):
        colors[key] = max(colors.get(key, dark), dark, key=lambda c: contrast(c, DARK.background))
    return colors


def _colors(theme: Theme) -> Iterator[Key]:
    """Yield (CSS selector, attribute, color) for each use of a color in a picture."""
    yield BOX, "fill", theme.background
    for role, faded in product(Role, (False, True)):
        look = theme.look(role, faded)
        yield BOX, "fill", look.fill
        yield BOX, "stroke", look.stroke
        yield LETTERS, "fill", look.text
        yield LINE, "stroke", look.text  # the line through a struck text
    pale, saved = mixed(theme.text, theme.background, 0.7), theme.looks[Role.READ].stroke
    for ink in (theme.text, theme.muted, theme.arrow, pale, saved):
        yield LETTERS, "fill", ink
        yield LINE, "fill", ink
        yield LINE, "stroke", ink
    for shade in shades(theme):
        yield LINE, "fill", shade
