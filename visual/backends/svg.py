"""Scenes as SVG: a self-contained document without styles, scripts, or identifiers.

Without identifiers, several pictures can share a page. The same scene always has the same bytes.
The document is short because the root has the most frequent attributes of all texts, and each group
those of its texts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from types import MappingProxyType
from zlib import crc32

from visual.backends import dark
from visual.scene.fonts import MONO, SANS
from visual.scene.formats import HOLD, PACE, register
from visual.scene.shapes import (
    MM,
    THIN,
    Arrow,
    Box,
    Group,
    Polyline,
    Scene,
    Shape,
    Text,
    hatching,
    walk,
)
from visual.scene.theme import HATCHING, LIGHT, LineStyle, Theme, heat_colour

DASHES = {LineStyle.DASHED: "5 3", LineStyle.DOTTED: "1.5 3"}
WIDTH, HEAVY, DOT = 1.3, 2.4, 5
STRIKE = 0.28  # em above the baseline
TRAVEL = 0.85  # of the time of a moment, in which a value travels; then it rests
HARMLESS: dict[int, str | None] = {
    # characters that XML excludes
    **dict.fromkeys(code for code in range(32) if code not in (9, 10, 13)),
    **dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF]),
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
}
Style = Mapping[str, str]


def to_svg(scene: Scene, animate: bool = False) -> str:
    """Return the SVG document of a scene.

    With `animate`, its moments appear in turn, and a light picture is dark on a dark screen.
    """
    width, height = number(scene.width), number(scene.height)
    usual = _usual([s for s in scene.walk() if isinstance(s, Text)], scene.theme)
    across, down = width, height
    if scene.millimetres:
        across, down = (f"{side * scene.zoom * MM:g}mm" for side in (scene.width, scene.height))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{across}" height="{down}" role="img" stroke-width="{WIDTH}"'
        f"{_moments(scene)}{attributes(usual)}"
    )
    words = f"<title>{text(scene.title)}</title><desc>{text(scene.description)}</desc>"
    page = f'<rect width="{width}" height="{height}" fill="{scene.theme.background}"/>'
    shapes = "".join(_shapes(scene.shapes, scene.theme, usual, None))
    shapes += "".join(_travels(scene, usual)) if animate else ""
    if not animate:
        return f"{head}>{words}{page}{shapes}</svg>\n"
    own = f"scantape-{crc32(head.encode(errors='replace')):08x}"
    style = _moving(scene, own)
    if scene.theme == LIGHT:
        style += dark.alone(own, head + page + shapes)
    return f'{head} class="{own}">{words}<style>{style}</style>{page}{shapes}</svg>\n'


def _moving(scene: Scene, own: str) -> str:
    """Return the style that lets moments appear in turn; the picture has the class `own`.

    With the setting for reduced motion, the whole picture appears immediately.
    """
    moments, whole = [*scene.moments], _duration(scene)
    rules = "".join(
        f'.{own} [data-step="{moment}"]{{animation:{own}-{moment} {whole}ms step-end infinite}}'
        f"@keyframes {own}-{moment}"
        f"{{0%{{opacity:0}}{100 * PACE * count / whole:.3f}%{{opacity:1}}}}"
        for count, moment in enumerate(moments)
        if count
    )
    stretches = {(g.step or 0, g.until) for g in scene.groups() if g.until is not None}
    rules += "".join(
        f'.{own} [data-step="{first}"][data-until="{until}"]'
        f"{{animation:{own}-s{n} {whole}ms step-end infinite}}"
        f"@keyframes {own}-s{n}{{0%{{opacity:{int(not first)}}}"
        f"{100 * PACE * first / whole:.3f}%{{opacity:1}}"
        f"{100 * PACE * until / whole:.3f}%{{opacity:0}}}}"
        for n, (first, until) in enumerate(sorted(stretches))
    )
    still = f".{own} [data-until]{{opacity:0}}" if stretches else ""
    return still + f"@media (prefers-reduced-motion:no-preference){{{rules}}}"


def _duration(scene: Scene) -> int:
    """Return the duration of a moving picture, in milliseconds."""
    return PACE * (len(scene.moments) - 1) + HOLD


def _travels(scene: Scene, usual: Style) -> Iterator[str]:
    """Yield the groups that a moving picture carries along a line, above all other shapes."""
    whole = _duration(scene)
    for group in scene.groups():
        if not group.path or group.until is None:
            continue
        (x0, y0), first = group.path[0], PACE * (group.step or 0) / whole
        line = "L".join(f"{number(x - x0)} {number(y - y0)}" for x, y in group.path)
        last = PACE * group.until / whole
        arrival = first + TRAVEL * (last - first)
        motion = (
            f'<animateMotion dur="{whole}ms" repeatCount="indefinite" calcMode="linear" '
            f'path="M{line}" keyPoints="0;0;1;1" keyTimes="0;{first:.4f};{arrival:.4f};1"/>'
        )
        yield _group(replace(group, path=()), scene.theme, usual, None, motion)


def _moments(scene: Scene) -> str:
    """Return the names of the moments as JSON in an attribute."""
    moments = scene.moments
    return f' data-moments="{text(json.dumps(moments, ensure_ascii=False))}"' if moments else ""


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def text(content: str) -> str:
    """Return `content`, escaped as character data or attribute value."""
    return content.translate(HARMLESS)


def attributes(style: Style, inherited: Style | None = None) -> str:
    """Return the attributes of `style` that are not inherited."""
    if style is inherited:
        return ""
    known = inherited or {}
    return "".join(
        f' {name}="{value}"' for name, value in style.items() if known.get(name) != value
    )


def _usual(texts: list[Text], theme: Theme) -> Style:
    """Return the most frequent value of every attribute of texts."""
    styles = Counter(tuple(_style(shape, theme).items()) for shape in texts)
    counts: dict[str, Counter[str]] = {}
    for style, times in styles.items():
        for name, value in style:
            counts.setdefault(name, Counter())[value] += times
    return {name: found.most_common(1)[0][0] for name, found in counts.items()}


def _style(shape: Text, theme: Theme) -> Style:
    """Return the attributes that a text can inherit from a group."""
    return _styled(shape.mono, shape.size, shape.bold, shape.anchor, shape.colour(theme))


@lru_cache(maxsize=256)
def _styled(mono: bool, size: float, bold: bool, anchor: str, colour: str) -> Style:
    return MappingProxyType(
        {
            "font-family": MONO if mono else SANS,
            "font-size": number(size),
            "font-weight": "600" if bold else "400",
            "text-anchor": anchor,
            "fill": colour,
        }
    )


def _common(texts: Iterable[Text], theme: Theme, inherited: Style) -> Style:
    """Return the attributes that `texts` share, or else the inherited ones."""
    first, *others = [_style(shape, theme) for shape in texts] or [inherited]
    if all(other is first for other in others):
        return first
    return {
        name: value if all(other[name] == value for other in others) else inherited[name]
        for name, value in first.items()
    }


def _shapes(
    shapes: Iterable[Shape], theme: Theme, inherited: Style, step: float | None
) -> Iterator[str]:
    """Return all shapes; consecutive texts share their style in a group."""
    for plain, run in groupby(shapes, _is_plain):
        members = list(run)
        if plain and len(members) > 1:
            texts = (s for s in walk(members) if isinstance(s, Text))
            common = _common(texts, theme, inherited)
            inside = "".join(_shape(shape, theme, common, step) for shape in members)
            shared = attributes(common, inherited)
            yield f"<g{shared}>{inside}</g>" if shared else inside
        else:
            yield from (_shape(shape, theme, inherited, step) for shape in members)


def _is_plain(shape: Shape) -> bool:
    """Return whether a shape is a text without a tooltip."""
    return isinstance(shape, Text) and not shape.title


def _shape(shape: Shape, theme: Theme, inherited: Style, step: float | None) -> str:
    if isinstance(shape, Group):
        return _group(shape, theme, inherited, step)
    if isinstance(shape, Box):
        return _box(shape, theme)
    if isinstance(shape, Text):
        return _text(shape, theme, inherited)
    if isinstance(shape, Polyline):
        return _polyline(shape, theme)
    return _arrow(shape, theme)


def _group(
    group: Group, theme: Theme, inherited: Style, step: float | None, motion: str = ""
) -> str:
    if group.path:
        return ""  # `_travels` draws it
    marks = f' data-step="{group.step}"' if group.step not in (None, step) else ""
    marks += f' data-until="{group.until}"' if group.until is not None else ""
    marks += f' data-cell="{text(group.cell)}"' if group.cell else ""
    marks += f' data-reads="{text("|".join(group.reads))}"' if group.reads else ""
    common = inherited
    if all(isinstance(shape, Box | Text) for shape in group.shapes):  # a cell
        common = _common((s for s in walk(group.shapes) if isinstance(s, Text)), theme, inherited)
    title = f"<title>{text(group.title)}</title>" if group.title else ""
    step = step if group.step is None else group.step
    patches, others = _split(group.shapes)
    inside = "".join(_shapes(others, theme, common, step)) + _patches(patches, theme)
    return f"<g{marks}{attributes(common, inherited)}>{title}{inside}{motion}</g>"


def _box(box: Box, theme: Theme) -> str:
    if box.heat is not None:
        return _patches([box], theme)
    look = theme.look(box.role, box.faded)
    width = HEAVY if look.line is LineStyle.HEAVY else WIDTH
    outer = _rect(box, 0, look.fill, look.stroke, width, 5, DASHES.get(look.line, ""))
    lines = "".join(
        f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
        for (x0, y0), (x1, y1) in hatching(box, look.hatch)
    )
    if lines:
        outer += f'<path d="{lines}" stroke="{HATCHING}" stroke-width="{THIN}"/>'
    if look.line is LineStyle.DOUBLE:
        inset = min(3, min(box.width, box.height) / 4)  # overviews have small boxes
        return outer + _rect(box, inset, "none", look.stroke, 0.9, 3)
    return outer


def _split(shapes: Iterable[Shape]) -> tuple[list[Box], list[Shape]]:
    """Return the patches that no other shape hides, and all other shapes."""
    patches, others = [], []
    for shape in shapes:
        if isinstance(shape, Box) and shape.heat is not None:
            patches.append(shape)
        else:
            others.append(shape)
    return patches, others


def _patches(patches: Iterable[Box], theme: Theme) -> str:
    """Return many rectangles as one path per color."""
    paths: dict[str, str] = {}
    for box in patches:
        colour = heat_colour(box.share, theme)
        paths[colour] = paths.get(colour, "") + patch_path(box.filled)
    return "".join(f'<path d="{path}" fill="{colour}"/>' for colour, path in paths.items())


def patch_path(box: Box) -> str:
    """Return the outline of a patch as part of a path."""
    across = number(box.width)
    return f"M{number(box.x)} {number(box.y)}h{across}v{number(box.height)}h-{across}"


def _rect(
    box: Box, inset: float, fill: str, stroke: str, line: float, radius: float, dashes: str = ""
) -> str:
    position = (
        f'x="{number(box.x + inset)}" y="{number(box.y + inset)}" '
        f'width="{number(box.width - 2 * inset)}" height="{number(box.height - 2 * inset)}"'
    )
    round_ = f' rx="{number(radius)}"' if radius else ""
    edge = f' stroke="{stroke}"' if stroke else ""
    if stroke and line != WIDTH:
        edge += f' stroke-width="{number(line)}"'
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<rect {position}{round_} fill="{fill}"{edge}{dashed}/>'


def _text(shape: Text, theme: Theme, inherited: Style) -> str:
    own = attributes(_style(shape, theme), inherited)
    written = f'<text x="{number(shape.x)}" y="{number(shape.y)}"{own}>{text(shape.content)}</text>'
    ground = shape.ground(theme)
    if ground is not None:
        fill = theme.look(ground.role, shape.faded).fill
        written = _rect(ground, 0, fill, "", WIDTH, 0) + written
    if shape.struck:  # programs draw text-decoration differently
        start = f"{number(shape.left)} {number(shape.y - STRIKE * shape.size)}"
        look = f'stroke="{shape.colour(theme)}" stroke-width="1"'
        written += f'<path d="M{start}h{number(shape.width)}" {look}/>'
    if shape.title:  # a tooltip needs a separate element
        return f"<g><title>{text(shape.title)}</title>{written}</g>"
    return written


def _arrow(arrow: Arrow, theme: Theme) -> str:
    colour = arrow.colour(theme)
    points = [f"{number(x)},{number(y)}" for x, y in arrow.points]
    curve = f"M{points[0]}C{' '.join(points[1:])}" if arrow.is_curve else f"M{'L'.join(points)}"
    line = f'<path d="{curve}" fill="none" stroke="{colour}"/>'
    head = "L".join(f"{number(x)},{number(y)}" for x, y in arrow.head)
    return f'{line}<path d="M{head}Z" fill="{colour}"/>'


def _polyline(line: Polyline, theme: Theme) -> str:
    colour = line.colour(theme)
    points = [f"{number(x)} {number(y)}" for x, y in line.points]
    drawn = f'<path d="M{" ".join(points)}" fill="none" stroke="{colour}"/>'
    if not line.dots:
        return drawn
    dots = "".join(f"M{point}h.01" for point in points)  # the round caps of short lines
    look = f'stroke="{colour}" stroke-width="{DOT}" stroke-linecap="round"'
    return f'{drawn}<path d="{dots}" fill="none" {look}/>'


register(".svg", to_svg)
