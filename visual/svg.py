"""Scenes as SVG: a document that stands alone, without styles, scripts or identifiers.

Without identifiers several pictures can share a page.  The same scene gives the same
bytes.
"""

from math import atan2, cos, sin

from visual.scene import Arrow, Box, Group, Scene, Shape, Text
from visual.theme import Line, Theme

SANS = "Inter,Helvetica,Arial,'DejaVu Sans',sans-serif"
MONO = "'DejaVu Sans Mono',Menlo,Consolas,monospace"
DASHES = {Line.DASHED: "5 3", Line.DOTTED: "1.5 3"}
HARMLESS: dict[int, str | None] = {
    **dict.fromkeys(code for code in range(32) if code not in (9, 10, 13)),  # not in XML at all
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
}


def to_svg(scene: Scene) -> str:
    """The SVG document of a scene."""
    width, height = number(scene.width), number(scene.height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="{SANS}">'
    )
    words = f"<title>{text(scene.title)}</title><desc>{text(scene.description)}</desc>"
    page = f'<rect width="{width}" height="{height}" fill="{scene.theme.background}"/>'
    shapes = "".join(_shape(shape, scene.theme) for shape in scene.shapes)
    return f"{head}{words}{page}{shapes}</svg>\n"


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text(content: str) -> str:
    """`content` as character data or attribute value, whatever a person has written there."""
    return content.translate(HARMLESS)


def _shape(shape: Shape, theme: Theme) -> str:
    if isinstance(shape, Group):
        return _group(shape, theme)
    if isinstance(shape, Box):
        return _box(shape, theme)
    if isinstance(shape, Text):
        return _text(shape, theme)
    return _arrow(shape, theme)


def _group(group: Group, theme: Theme) -> str:
    step = f' data-step="{group.step}"' if group.step is not None else ""
    cell = f' data-cell="{text(group.cell)}"' if group.cell else ""
    title = f"<title>{text(group.title)}</title>" if group.title else ""
    inside = "".join(_shape(shape, theme) for shape in group.shapes)
    return f"<g{step}{cell}>{title}{inside}</g>"


def _box(box: Box, theme: Theme) -> str:
    if box.heat is not None:
        return _rect(box, 0, heat_colour(box.heat, theme), "none", 0, 0)
    look = theme.looks[box.role]
    heavy = 2.4 if look.line is Line.HEAVY else 1.3
    outer = _rect(box, 0, look.fill, look.stroke, heavy, 5, DASHES.get(look.line, ""))
    if look.line is Line.DOUBLE:
        return outer + _rect(box, 3, "none", look.stroke, 0.9, 3)
    return outer


def _rect(
    box: Box, inset: float, fill: str, stroke: str, line: float, radius: float, dashes: str = ""
) -> str:
    position = (
        f'x="{number(box.x + inset)}" y="{number(box.y + inset)}" '
        f'width="{number(box.width - 2 * inset)}" height="{number(box.height - 2 * inset)}"'
    )
    round_ = f' rx="{number(radius)}"' if radius else ""
    edge = f' stroke="{stroke}" stroke-width="{number(line)}"' if line else ""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<rect {position}{round_} fill="{fill}"{edge}{dashed}/>'


def _text(shape: Text, theme: Theme) -> str:
    colour = theme.muted if shape.muted else theme.text
    if shape.role is not None:
        colour = theme.looks[shape.role].text
    parts = [f'x="{number(shape.x)}" y="{number(shape.y)}" font-size="{number(shape.size)}"']
    parts.append(f'fill="{colour}"')
    if shape.anchor != "start":
        parts.append(f'text-anchor="{shape.anchor}"')
    if shape.mono:
        parts.append(f'font-family="{MONO}"')
    if shape.bold:
        parts.append('font-weight="600"')
    if shape.struck:
        parts.append('text-decoration="line-through"')
    title = f"<title>{text(shape.title)}</title>" if shape.title else ""
    written = text(shape.content)
    if title:  # a tooltip of its own needs an element of its own
        return f"<g>{title}<text {' '.join(parts)}>{written}</text></g>"
    return f"<text {' '.join(parts)}>{written}</text>"


def _arrow(arrow: Arrow, theme: Theme) -> str:
    colour = theme.arrow if arrow.accent else theme.muted if arrow.faint else theme.text
    points = [f"{number(x)},{number(y)}" for x, y in arrow.points]
    curve = f"M{points[0]}C{' '.join(points[1:])}" if arrow.is_curve else f"M{'L'.join(points)}"
    line = f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
    (x0, y0), (x1, y1) = arrow.points[-2:]
    angle = atan2(y1 - y0, x1 - x0)
    corners = [(x1, y1)] + [
        (x1 - 8 * cos(angle + turn), y1 - 8 * sin(angle + turn)) for turn in (0.42, -0.42)
    ]
    head = "L".join(f"{number(x)},{number(y)}" for x, y in corners)
    return f'{line}<path d="M{head}Z" fill="{colour}"/>'


def heat_colour(value: float, theme: Theme) -> str:
    """Blue for negative, the background for zero, orange for positive values of -1 to 1."""
    if value != value:  # nan
        return theme.muted
    end = (217, 95, 2) if value > 0 else (33, 102, 172)
    start = tuple(int(theme.background[i : i + 2], 16) for i in (1, 3, 5))
    strength = min(1.0, abs(value))
    mixed = (round(a + (b - a) * strength) for a, b in zip(start, end, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
