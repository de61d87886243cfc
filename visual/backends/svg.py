"""Scenes as SVG: self-contained documents without scripts.

Because no element has an `id`, a page can contain several pictures. Equal scenes produce equal
bytes. The root element sets each attribute of texts to its most frequent value, and a text sets
only the attributes that differ. Only an animated document contains a style sheet.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard
from xml.sax.saxutils import escape
from zlib import crc32

from visual.backends import dark
from visual.scene.fonts import MONO, SANS
from visual.scene.shapes import MM, THIN, Arrow, Box, Group, Polyline, Scene, Shape, Text, hatching
from visual.scene.theme import HATCHING, LIGHT, LineStyle, Theme, heat_color

Style = tuple[tuple[str, str], ...]  # names and values of attributes
EDGES: Mapping[LineStyle, Style] = {  # attributes that differ from those of the root element
    LineStyle.HEAVY: (("stroke-width", "2.4"),),
    LineStyle.DASHED: (("stroke-dasharray", "5 3"),),
    LineStyle.DOTTED: (("stroke-dasharray", "1.5 3"),),
}
WIDTH, DOT = 1.3, 5
PACE, HOLD, LONGEST_FILM = 800, 3000, 60_000  # ms of a moment, of the final moment, and of a film
STRIKE = 0.28  # the distance from the baseline to the line through a struck text, in em
TRAVEL = 0.85  # the fraction of a moment in which a value travels; then the value rests
# The characters that XML excludes.
OMIT = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF])
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+")
Place = Callable[[Text], str]  # returns the attributes of a text


def durations(count: int) -> tuple[int, int]:
    """Return the milliseconds of a moment, and of the film of `count` moments.

    The film takes at most a minute, or 10 ms for each moment.
    """
    pace = max(10, min(PACE, (LONGEST_FILM - HOLD) // max(1, count - 1) // 10 * 10))
    return pace, pace * (count - 1) + HOLD


def number(value: float) -> str:
    """Return a coordinate as text, with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def to_svg(
    scene: Scene,
    animate: bool = False,
    size: tuple[str, str] | None = None,
    baseline: Callable[[float], str] = number,
) -> str:
    """Return the SVG document of a scene.

    With `animate`, the document plays the moments of the scene, and a light scene becomes dark on a
    dark screen. `size` replaces the width and height of the document, and `baseline` writes the y
    coordinates of texts.
    """
    width, height = number(scene.width), number(scene.height)
    styles = (_style(shape, scene.theme) for shape in scene.walk() if isinstance(shape, Text))
    usual = tuple(Counter(column).most_common(1)[0][0] for column in zip(*styles, strict=True))

    def place(shape: Text) -> str:
        own = attributes(_style(shape, scene.theme), usual)
        return f'x="{number(shape.x)}" y="{baseline(shape.y)}"{own}'

    area = across, down = size or (width, height)
    if scene.millimeters and size is None:
        across, down = (f"{side * scene.zoom * MM:g}mm" for side in (scene.width, scene.height))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {" ".join(area)}" '
        f'width="{across}" height="{down}" role="img" stroke-width="{WIDTH}"'
        f"{attributes(usual)}"
    )
    words = f"<title>{text(scene.title)}</title><desc>{text(scene.description)}</desc>"
    page = f'<rect width="{width}" height="{height}" fill="{scene.theme.background}"/>'
    shapes = "".join(_shape(shape, scene.theme, place, None) for shape in scene.shapes)
    if not animate:
        return f"{head}>{words}{page}{shapes}</svg>\n"
    pace, whole = durations(len(scene.moments))
    shapes += "".join(_travels(scene, place, pace, whole))
    own = f"scantape-{crc32(head.encode(errors='replace')):08x}"
    style = _moving(scene, own, pace, whole)
    if scene.theme == LIGHT:
        style += dark.picture_style(own, head + page + shapes)
    return f'{head} class="{own}">{words}<style>{style}</style>{page}{shapes}</svg>\n'


def _moving(scene: Scene, own: str, pace: int, whole: int) -> str:
    """Return CSS that plays the moments in the class `own`, unless readers prefer less motion."""

    def rule(groups: str, name: object, *changes: tuple[float, int]) -> str:
        """Return CSS that sets the opacity of `groups`; a change is (moment, opacity)."""
        frames = (f"{100 * pace * moment / whole:.3f}%{{opacity:{to}}}" for moment, to in changes)
        begin = f"0%{{opacity:{int(not changes[0][0])}}}"
        animation = f"{{animation:{own}-{name} {whole}ms step-end infinite}}"
        return f".{own} {groups}{animation}@keyframes {own}-{name}{{{begin}{''.join(frames)}}}"

    rules = [rule(f'[data-step="{m}"]', m, (n, 1)) for n, m in enumerate(scene.moments) if n]
    stretches = sorted({(g.step or 0, g.until) for g in scene.groups() if g.until is not None})
    rules += (
        rule(f'[data-step="{first}"][data-until="{until}"]', f"s{n}", (first, 1), (until, 0))
        for n, (first, until) in enumerate(stretches)
    )
    still = f".{own} [data-until]{{opacity:0}}" if stretches else ""
    return still + f"@media (prefers-reduced-motion:no-preference){{{''.join(rules)}}}"


def _travels(scene: Scene, place: Place, pace: int, whole: int) -> Iterator[str]:
    """Yield an SVG element, drawn above all others, for each group that moves along a path."""
    for group in scene.groups():
        if not group.path or group.until is None:
            continue
        (x0, y0), first = group.path[0], pace * (group.step or 0) / whole
        line = "L".join(f"{number(x - x0)} {number(y - y0)}" for x, y in group.path)
        arrival = first + TRAVEL * (pace * group.until / whole - first)
        motion = (
            f'<animateMotion dur="{whole}ms" repeatCount="indefinite" calcMode="linear" '
            f'path="M{line}" keyPoints="0;0;1;1" keyTimes="0;{first:.4f};{arrival:.4f};1"/>'
        )
        yield _group(replace(group, path=()), scene.theme, place, None, motion)


def text(content: str) -> str:
    """Return `content`, escaped for use as character data or as the value of an attribute."""
    return escape(content, {'"': "&quot;"}).translate(OMIT)


@lru_cache(maxsize=1024)
def attributes(style: Style, inherited: Style = ()) -> str:
    """Return the attributes of `style` that `inherited` does not contain, as text."""
    return "".join(f' {name}="{value}"' for name, value in style if (name, value) not in inherited)


def _style(shape: Text, theme: Theme) -> Style:
    """Return the attributes of a text that the root element can set for all texts."""
    return (
        ("font-family", MONO if shape.mono else SANS),
        ("font-size", number(shape.size)),
        ("font-weight", "600" if shape.bold else "400"),
        ("text-anchor", shape.anchor),
        ("fill", shape.color(theme)),
    )


def _shape(shape: Shape, theme: Theme, place: Place, step: float | None) -> str:
    if isinstance(shape, Group):
        return _group(shape, theme, place, step)
    if isinstance(shape, Box):
        return _box(shape, theme)
    if isinstance(shape, Text):
        return _text(shape, theme, place)
    return _arrow(shape, theme) if isinstance(shape, Arrow) else _polyline(shape, theme)


def _group(group: Group, theme: Theme, place: Place, step: float | None, motion: str = "") -> str:
    if group.path:
        return ""  # `_travels` draws the group
    marks = f' data-step="{group.step}"' if group.step not in (None, step) else ""
    marks += f' data-until="{group.until}"' if group.until is not None else ""
    marks += f' data-cell="{text(group.cell)}"' if group.cell else ""
    title = f"<title>{text(group.title)}</title>" if group.title else ""
    step = step if group.step is None else group.step
    patches = _patches(filter(_is_patch, group.shapes), theme)
    inside = "".join(_shape(s, theme, place, step) for s in group.shapes if not _is_patch(s))
    return f"<g{marks}>{title}{inside}{patches}{motion}</g>"


def _box(box: Box, theme: Theme) -> str:
    if _is_patch(box):
        return _patches([box], theme)
    look = theme.look(box.role, box.faded or box.past)
    line = LineStyle.DOTTED if box.faded else look.line
    stroke, edge = f'stroke="{look.stroke}"', attributes(EDGES.get(line, ()))
    outer = _rect(box, 0, f'rx="5" fill="{look.fill}" {stroke}{edge}')
    lines = "".join(
        f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
        for (x0, y0), (x1, y1) in hatching(box, look.hatch)
    )
    if lines:
        outer += f'<path d="{lines}" stroke="{HATCHING}" stroke-width="{THIN}"/>'
    if line is LineStyle.DOUBLE:
        inset = min(3, min(box.width, box.height) / 4)  # small boxes have less space
        return outer + _rect(box, inset, f'rx="3" fill="none" {stroke} stroke-width="0.9"')
    return outer


def _is_patch(shape: Shape) -> TypeGuard[Box]:
    """Return whether a shape is a rectangle of a heat map, which no other shape covers."""
    return isinstance(shape, Box) and shape.heat is not None


def _patches(patches: Iterable[Box], theme: Theme) -> str:
    """Return one SVG path per color, for the rectangles of a heat map."""
    paths = defaultdict[str, str](str)
    for box in patches:
        color, part, across = heat_color(box.share, theme), box.filled, number(box.width)
        paths[color] += (
            f"M{number(part.x)} {number(part.y)}h{across}v{number(part.height)}h-{across}"
        )
    return "".join(f'<path d="{path}" fill="{color}"/>' for color, path in paths.items())


def _rect(box: Box, inset: float, look: str) -> str:
    """Return a rectangle `inset` pixels inside the edge of a box; `look` contains attributes."""
    sides = (box.x + inset, box.y + inset, box.width - 2 * inset, box.height - 2 * inset)
    x, y, width, height = map(number, sides)
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {look}/>'


def _text(shape: Text, theme: Theme, place: Place) -> str:
    content = text(RIGHT_TO_LEFT.sub("\\g<0>\u200e", shape.content))  # numbers keep their place
    written = f"<text {place(shape)}>{content}</text>"
    if (ground := shape.ground(theme)) is not None:
        fill = theme.look(ground.role, shape.faded).fill
        written = _rect(ground, 0, f'fill="{fill}"') + written
    if shape.struck:  # programs draw text-decoration differently
        start = f"{number(shape.left)} {number(shape.y - STRIKE * shape.size)}"
        look = f'stroke="{shape.color(theme)}" stroke-width="1"'
        written += f'<path d="M{start}h{number(shape.width)}" {look}/>'
    if shape.title:  # a tooltip needs a separate element
        return f"<g><title>{text(shape.title)}</title>{written}</g>"
    return written


def _arrow(arrow: Arrow, theme: Theme) -> str:
    points = [f"{number(x)},{number(y)}" for x, y in arrow.points]
    curve = f"M{points[0]}C{' '.join(points[1:])}" if arrow.is_curve else f"M{'L'.join(points)}"
    head = "L".join(f"{number(x)},{number(y)}" for x, y in arrow.head)
    color = arrow.color(theme)
    return f'{_line(curve, color)}<path d="M{head}Z" fill="{color}"/>'


def _polyline(line: Polyline, theme: Theme) -> str:
    color, points = line.color(theme), [f"{number(x)} {number(y)}" for x, y in line.points]
    path = _line(f"M{' '.join(points)}", color, fill=color if line.filled else "none")
    if not line.dots:
        return path
    dots = "".join(f"M{point}h.01" for point in points)  # each dot is a short line with round caps
    return path + _line(dots, color, f' stroke-width="{DOT}" stroke-linecap="round"')


def _line(path: str, color: str, more: str = "", fill: str = "none") -> str:
    """Return an SVG path; `more` contains additional attributes."""
    return f'<path d="{path}" fill="{fill}" stroke="{color}"{more}/>'
