"""Matplotlib's SVG made to stand alone as a scene's does: no style, identifier or reference.

Markers, which matplotlib defines once and refers to, are written out where they stand;
style becomes attributes.  So several plots can share a page whose policy allows no style.
"""

import re
from xml.etree import ElementTree

from visual.backends.svg import text
from visual.scene.fonts import SANS

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
NUMBER = re.compile(r"-?\d*\.\d+")
FONT = re.compile(r"(?:(?P<weight>bold|[1-9]00)\s+)?(?P<size>[\d.]+)px\s")
# What matplotlib's own style sheet sets for everything.
ROOT = 'stroke-linejoin="round" stroke-linecap="butt"'
KEPT = {
    "d", "x", "y", "transform", "fill", "stroke", "opacity", "fill-opacity", "stroke-opacity",
    "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "text-anchor",
    "font-size", "font-weight",
}  # fmt: skip


def stand_alone(drawn: str, title: str, description: str, width: float, height: float) -> str:
    """Matplotlib's SVG `drawn`, `width` by `height` CSS pixels, as a document of our kind."""
    root = ElementTree.fromstring(drawn)
    marks = {
        element.get("id", ""): element
        for defs in root.iter(f"{SVG}defs")
        for element in defs.iter(f"{SVG}path")
    }
    inside = "".join(_element(child, marks) for child in root)
    w, h = number(width), number(height)
    points = f"{number(width * 0.75)} {number(height * 0.75)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {points}" width="{w}" height="{h}" '
        f'role="img" font-family="{SANS}" {ROOT}><title>{text(title)}</title>'
        f"<desc>{text(description)}</desc>{inside}</svg>\n"
    )


def number(value: float) -> str:
    """A coordinate with at most two decimals: a plot has more than whole pixels to say."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _element(element: ElementTree.Element, marks: dict[str, ElementTree.Element]) -> str:
    kind = element.tag.removeprefix(SVG)
    if kind == "g":
        inside = "".join(_element(child, marks) for child in element)
        attributes = _attributes(element)
        return f"<g{_written(attributes)}>{inside}</g>" if attributes and inside else inside
    if kind == "use":
        return _mark(element, marks[element.get(LINK, "").removeprefix("#")])
    if kind == "path":
        return f"<path{_written(_attributes(element))}/>"
    if kind == "text":
        return f"<text{_written(_attributes(element))}>{text(element.text or '')}</text>"
    return ""  # definitions, metadata and style


def _mark(use: ElementTree.Element, mark: ElementTree.Element) -> str:
    """A marker where it is used."""
    attributes = _attributes(use) | _attributes(mark)
    x, y = attributes.pop("x", "0"), attributes.pop("y", "0")
    return f"<path{_written({**attributes, 'transform': f'translate({x} {y})'})}/>"


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    """The attributes of an element that say how it looks, its style among them."""
    attributes = dict(element.attrib)
    for declaration in attributes.pop("style", "").split(";"):
        name, _, value = declaration.partition(":")
        attributes[name.strip()] = value.strip()
    font = FONT.match(attributes.pop("font", ""))
    if font:
        attributes |= {"font-size": font["size"], "font-weight": font["weight"] or ""}
    attributes["font-size"] = attributes.get("font-size", "").removesuffix("px")
    if element.tag == f"{SVG}text" and "rotate(-0" in attributes.get("transform", ""):
        del attributes["transform"]  # matplotlib turns every text, most of them by nothing
    attributes["d"] = " ".join(attributes.get("d", "").split())
    return {
        name: NUMBER.sub(lambda match: number(float(match[0])), value)
        for name, value in attributes.items()
        if name in KEPT and value
    }


def _written(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{text(value)}"' for name, value in attributes.items())
