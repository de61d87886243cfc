"""A table of checkers for every picture. Each checker yields the faults of a picture.

The argument of a checker is a `Picture`, which contains the scene, its SVG, and its options. The
docstring of a checker states the property of a correct picture.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
from oracles import symbols_of
from strange_loops import trace_of

from lab.loops import gallery
from pictures import SVG, ambiguous, arrows, contains, pieces, through_boxes
from visual.scene.shapes import Arrow, Box, Polyline, Scene, Shape, Text
from visual.scene.theme import HATCHING, LEGIBLE, THEMES, Hatch, Role, Theme, contrast

TAGS = {f"{SVG}{tag}" for tag in ("svg", "title", "desc", "g", "rect", "text", "path")}
WIDEST, SMALLEST = 840, 11  # pixels
UNBOUND = 10.5  # the smallest letters of an unrolled picture of any size, as in the figures
POINTS = 6.99  # on paper
LONGEST = 200_000  # bytes
ABOVE, BELOW = 0.93, 0.24  # the height of a line above and below its baseline, in sizes
MARK = "×"  # a mark for nan and infinity on the lines of a plot
SWATCH = 24, 15  # the size of the boxes of a legend, and of no other box
SLOTS = {Role.READ, Role.REUSED, Role.PRESERVED, Role.OVERWRITTEN, Role.WAITING}
FREE = ("machine", "exercise", "phases")  # kinds whose arrows do not end at boxes of cells
# In these pictures, heads of arrows may overlap.
CLOSE = ("machine", "exercise", "stepgraph", "tapes", "taps", "two tapes", "routing")
EAGER = ("eager", "two tapes")
TABLES = ("tapes",)
PYTHON = ("phases", "eager", "two tapes", "routing", "transposed", "dot product")
TIMED = re.compile(r"(?<![\w₀-₉])(?!buf)\w+\[[−-]?\d+\]")
OWN_WORDS = ("memory", "eager", "transposed", "dot product")  # kinds without steps that read slots
# In the legends of plots, these words replace swatches.
WORDS = {"values": "a panel shows one quantity", "influence": "a cell: the derivative of"}
TAPES = ("tapes", "unrolled", "ssa")
STRIPS = "strips, of up to 8 entries: "
FOLDS = "⋯ and a number: the number of hidden columns"
OPENED = ("tapes", "unrolled", "ssa", "stepgraph", "phases")  # kinds that show one Scan in full
CELL = re.compile(r"\d+:[^:]+:")  # the start of a key ``scan:variable:row``


@dataclass(frozen=True)
class Picture:
    """A picture with its loop, kind, and options."""

    loop: str
    kind: str
    scene: Scene
    options: Mapping[str, object] = field(default_factory=dict)
    order: int | None = None

    @cached_property
    def svg(self) -> str:
        """The SVG of the picture."""
        return self.scene.svg()

    @cached_property
    def twin(self) -> str:
        """The text twin of the picture."""
        return self.scene.text()

    @property
    def is_usual(self) -> bool:
        """Whether the picture has its default size."""
        return not {"all", "scans", "width"} & self.options.keys()

    def __str__(self) -> str:
        return f"{self.loop}, {self.kind} {dict(self.options) or ''}".rstrip()


Known = dict[str, dict[str, str]]  # for each symbol and value, the first picture with this value
Checker = Callable[[Picture], Iterable[object]]


def self_contained(picture: Picture) -> Iterable[object]:
    """The SVG is strict and contains neither external references nor scripts."""
    root = ElementTree.fromstring(picture.svg)
    if root.get("role") != "img" or not root.get("viewBox"):
        yield "no role or viewBox"
    if [child.tag for child in root][:2] != [f"{SVG}title", f"{SVG}desc"]:
        yield "no title or description"
    for element in root.iter():
        if element.tag not in TAGS:
            yield element.tag
        yield from (a for a in element.attrib if re.search(r"^on|href|^style$", a))
    bare = re.sub(r"<(title|text|desc)\b.*?</\1>", "", picture.svg)
    yield from re.findall(r'var\(|url\(|<!|nan|(?:width|height|rx)="-[^"]*"', bare)


def sized(picture: Picture) -> Iterable[object]:
    """The picture is at most as wide as a column, its letters are large, and its file is small."""
    root = ElementTree.fromstring(picture.svg)
    left, top, across, down = map(float, root.get("viewBox", "").split())
    letters = [float(e.get("font-size", "nan")) for e in root.iter() if e.get("font-size")]
    if left or top or any("scale" in (e.get("transform") or "") for e in root.iter()):
        yield "scaled"
    width = picture.options.get("width")
    if isinstance(width, str):  # a width in millimeters
        wide = float(width.removesuffix("mm"))
        if root.get("width") != f"{wide:g}mm":
            yield f"{root.get('width')} wide"
        high = float(root.get("height", "").removesuffix("mm"))
        if abs(high - down * wide / across) > 0.1:
            yield f"{high} mm high"
        points = min(letters) * wide / across / 25.4 * 72
        if points < POINTS:
            yield f"letters of {points:.2f} points"
        return
    if [root.get("width"), root.get("height")] != root.get("viewBox", "").split()[2:]:
        yield "scaled"
    if picture.is_usual and across > WIDEST:
        yield f"{across} pixels wide"
    if min(letters) < (SMALLEST if picture.is_usual or width else UNBOUND):
        yield f"letters of {min(letters)} pixels"
    if picture.is_usual and len(picture.svg.encode()) > LONGEST:
        yield f"{len(picture.svg.encode())} bytes"
    if width and across != width:
        yield f"{across} pixels wide"


def inside(picture: Picture) -> Iterable[object]:
    """Texts and boxes stay within the width of the picture, and texts of a cell in its box."""
    right = picture.scene.width + 0.5
    for cell in (group.shapes for group in picture.scene.groups() if group.cell):
        if cell and isinstance(box := cell[0], Box):
            for text in (shape for shape in cell if isinstance(shape, Text)):
                ends = text.left, text.left + text.width
                if contains(box, sum(ends) / 2, text.y) and not (
                    box.x <= ends[0] + 0.5 and ends[1] <= box.x + box.width + 0.5
                ):
                    yield f"{text.content} of {cell}"
    for shape in picture.scene.walk():
        if isinstance(shape, Text) and (shape.left < -0.5 or shape.left + shape.width > right):
            yield shape.content
        if isinstance(shape, Box) and (shape.x < -0.5 or shape.x + shape.width > right):
            yield f"a box at {shape.x:g}"


def legible(picture: Picture) -> Iterable[object]:
    """Every text has enough contrast with the last box below it, in every theme."""
    shapes = list(picture.scene.walk())
    for theme in THEMES.values():
        pairs = set()
        for number, text in enumerate(shapes):
            if isinstance(text, Text) and text.content.strip():
                pairs.add((text.color(theme), _ground(text, shapes[:number], theme)))
        for color, ground in pairs:
            if contrast(color, ground) < LEGIBLE:
                yield f"{theme.name}: {color} on {ground}"


def _ground(text: Text, below: list[Shape], theme: Theme) -> str:
    """Return the color behind a text."""
    x, y = text.left + text.width / 2, text.y - 0.3 * text.size
    for box in reversed(below):
        if isinstance(box, Box) and box.heat is None and contains(box, x, y):
            look = theme.look(box.role, box.faded)
            plain = look.hatch is Hatch.NONE or text.ground(theme) is not None
            return look.fill if plain else HATCHING
    return theme.background


def routed(picture: Picture) -> Iterable[object]:
    """Arrows avoid boxes, and their two ends are unambiguous."""
    if arrows(picture.scene) and picture.kind not in FREE:
        yield from (f"an arrow through {box}" for _, box in through_boxes(picture.scene))
        if picture.kind not in EAGER:  # gradients of a node are too close for `ambiguous`
            yield from (f"arrows on one line: {pair}" for pair in ambiguous(picture.scene))


def crowded(picture: Picture) -> Iterable[object]:
    """Heads of arrows do not overlap."""
    if picture.kind in CLOSE or not picture.is_usual:
        return
    heads = [arrow.points[-1] for arrow in arrows(picture.scene) if not arrow.faded]
    for (x0, y0), (x1, y1) in combinations(heads, 2):
        if abs(x0 - x1) < 7 and abs(y0 - y1) < 7:
            yield f"two heads at {x0:g}, {y0:g}"


def crossed(picture: Picture) -> Iterable[object]:
    """No line runs through a text, unless a box between them is the ground of the text."""
    shapes = list(picture.scene.walk())
    lines = [(n, _points(s)) for n, s in enumerate(shapes) if isinstance(s, Arrow | Polyline)]
    owners = np.concatenate([np.full(len(points), n) for n, points in lines] or [[]])
    x, y = np.concatenate([points for _, points in lines] or [np.empty((0, 2))]).T
    for number, text in enumerate(shapes):
        if not isinstance(text, Text) or not text.content.strip() or text.content == MARK:
            continue
        left, right = text.left + 1, text.left + text.width - 1
        top, low = text.y - 0.62 * text.size, text.y - 0.5  # the height of a letter x
        for n in {*owners[(left < x) & (x < right) & (top < y) & (y < low)].astype(int)}:
            boxes = [shape for shape in shapes[n:number] if isinstance(shape, Box)]
            if not any(contains(b, left, top) and contains(b, right, low) for b in boxes):
                yield text.content


def _points(line: Arrow | Polyline) -> np.ndarray:
    """Return points of a line, at most two pixels apart where the line is straight."""
    points = [np.array(line.points[:1])]
    for a, b in pieces(line) if isinstance(line, Arrow) else pairwise(line.points):
        start, step = np.array(a), np.array(b) - np.array(a)
        points.append(start + np.linspace(0, 1, 2 + int(np.hypot(*step) / 2))[:, None] * step)
    return np.concatenate(points)


def overlapping(picture: Picture) -> Iterable[object]:
    """No two texts overlap; `tests/visual/scene` compares widths of texts with Chromium."""
    texts = [s for s in picture.scene.walk() if isinstance(s, Text) and s.content.strip()]
    lines = [(t.y - ABOVE * t.size, t.y + BELOW * t.size, t) for t in texts]
    lines.sort(key=lambda line: line[0])
    for n, (_, low, text) in enumerate(lines):
        for top, bottom, other in lines[n + 1 :]:
            if top >= low:
                break
            right = min(text.left + text.width, other.left + other.width)
            high = min(low, bottom) - top
            # Lines are taller than letters: a quarter of a line is empty.
            if right - max(text.left, other.left) > 1 and high > 0.3 * (ABOVE + BELOW) * min(
                text.size, other.size
            ):
                yield f"{text.content} and {other.content}"


def explained(picture: Picture) -> Iterable[object]:
    """The legend explains every visible role with the words of the role."""
    scene = picture.scene
    boxes = [s for s in scene.walk() if isinstance(s, Box) and s.heat is None]
    shown = {Role.UNNEEDED if box.faded else box.role for box in boxes} - {Role.PANEL}
    if picture.kind == "exercise":  # a question hides the roles of some slots
        shown -= {Role.INTERMEDIATE}
    listed = set()
    for box, text in pairwise(scene.walk()):
        if not isinstance(box, Box) or box.heat is not None or not isinstance(text, Text):
            continue
        if (box.width, box.height) == SWATCH:
            role = Role.UNNEEDED if box.faded else box.role
            listed.add(role)
            if text.content.split(":")[0] != role.word:
                yield f"{role.name} is called {text.content}"
            has_own_words = picture.kind in OWN_WORDS or role not in SLOTS
            if not has_own_words and text.content not in (role, role.word):
                yield f"{role.name} is explained as {text.content}"
    is_bare = picture.options.get("no_legend", False)
    yield from (f"the legend: {role.name}" for role in (listed if is_bare else shown - listed))
    if picture.kind in WORDS and picture.is_usual:
        contents = (s.content for s in scene.walk() if isinstance(s, Text))
        if is_bare == any(WORDS[picture.kind] in content for content in contents):
            yield "the words of the chart"


def striped(picture: Picture) -> Iterable[object]:
    """Notes explain strips and folds. The patches of a strip are proportional to its entries.

    The legend states the magnitude with the full color for each quantity. A negative entry fills
    the lower half of its patch.
    """
    words = [s.content for s in picture.scene.walk() if isinstance(s, Text)]
    noted = " ".join(words)
    strips = {
        group: [s for s in group.shapes if isinstance(s, Box) and s.heat is not None]
        for group in picture.scene.groups()
        if group.cell
    }
    strips = {group: patches for group, patches in strips.items() if patches}
    if picture.kind in TAPES and picture.is_usual and not picture.options.get("no_legend"):
        if (STRIPS in noted) != bool(strips):
            yield "the note about strips"
        if (FOLDS in noted) != any(re.match(r"⋯\d", word) for word in words):
            yield "the note about folds"
    full = re.findall(r"±(\S+) of ([^,]+)", noted.partition("full color: ")[2])
    scales = {name.strip(): float(value) for value, name in full}
    for group, patches in strips.items():
        entries = re.sub(r"[^\d.e+-]+", " ", group.title.partition(" = ")[2].split(" (")[0]).split()
        scale = scales.get(group.quantity)
        if scale and len(entries) == len(patches):
            shares = [patch.share * scale for patch in patches]
            if not np.allclose(shares, [*map(float, entries)], atol=1e-3 * scale):
                yield f"the strip of {group.title}"
        for patch in patches:
            part = patch.filled
            is_low = abs(part.y + part.height - patch.y - patch.height) < 0.5
            if not is_low or (part.height < patch.height) != (patch.heat < 0):
                yield f"the halves of {group.title}"


def twinned(picture: Picture) -> Iterable[object]:
    """The twin contains every text of the picture, except signs that a terminal cannot show."""
    twin = picture.twin
    if not picture.scene.twin:
        words = (s.content for s in picture.scene.walk() if isinstance(s, Text))
        yield from (word for word in words if word.isprintable() and word not in twin)
    if not twin.endswith("\n") or re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", twin):
        yield "no plain lines"


def escaped(picture: Picture) -> Iterable[object]:
    """A name in the form of a tag is text, in the picture and in its twin."""
    if re.search("<script", picture.svg, re.IGNORECASE):
        yield "a tag"
    if picture.loop == "hostile name" and "<script" not in picture.twin:
        yield "the name is missing"


def named(picture: Picture) -> Iterable[object]:
    """No two quantities of a picture share a name; all rows of a running total share its name."""
    keys_by_name = defaultdict(set)
    for group in picture.scene.groups():
        name, value, _ = group.title.partition(" = ")
        if value and CELL.match(group.cell):
            keys_by_name[name].add(group.cell)
    for name, keys in keys_by_name.items():
        several = len({key[: CELL.match(key).end()] for key in keys}) > 1
        if several or (len(keys) > 1 and not any(":r" in key for key in keys)):
            yield f"{name} is the name of {sorted(keys)}"


def whole(picture: Picture) -> Iterable[object]:
    """Names of the gallery and numbers on tapes are not cut; a fold hides at least two columns."""
    words = [s.content for s in picture.scene.walk() if isinstance(s, Text)]
    if picture.kind in TABLES and picture.is_usual and picture.loop in gallery.loops:
        # With `scan`, a long name ends with its index; the tooltip contains the full name.
        allowed = r"^-?[\d.]+…$" + r"|…[₀-₉]+\)*$" * ("scan" in picture.options)
        for word in words:
            if re.search(r"[^\s,]…|…[^\s,]", re.sub(allowed, "", word)):
                yield f"a name is cut: {word}"
    if picture.kind == "tapes":
        for word in words:
            number = re.search(r"([\d.]+)…", word)
            if number and len(number[1].replace(".", "").strip("0")) < 4:
                yield f"a number is cut: {word}"
        if "⋯1" in words:
            yield "a fold hides one column"


def titled(picture: Picture) -> Iterable[object]:
    """The title names the requested Scan."""
    scan = picture.options.get("scan")
    if scan and picture.kind in ("tapes", "unrolled", "stepgraph"):
        bold = [s.content for s in picture.scene.walk() if isinstance(s, Text) and s.bold]
        if not any(text.startswith(f"{scan} · ") for text in bold):
            yield f"no title of Scan {scan}"


def opened(picture: Picture) -> Iterable[object]:
    """The last open Scan stores the result on its tape, and no card of another Scan is marked."""
    if picture.order and picture.kind in OPENED and picture.loop in ("square", "coupled", "rnn"):
        trace = trace_of(picture.loop, picture.order)
        result = trace.outputs[-1].ravel()
        holders = [
            number
            for number, scan in enumerate(trace.scans, start=1)
            for row in (row.ravel() for tape in scan.buffers for row in tape.final)
            if row.size and (row[: result.size] == result[: row.size]).all()
        ]
        bold = [s for s in picture.scene.walk() if isinstance(s, Text) and s.bold]
        titles = [(s.size, int(n[1])) for s in bold if (n := re.match(r"(\d+) · ", s.content))]
        if max((n for size, n in titles if size > 12), default=0) != max(holders):
            yield f"Scan {max(holders)} is not open"
        yield from (f"Scan {n} is marked" for size, n in titles if size == 12 and n != max(holders))


def timeless(picture: Picture) -> Iterable[object]:
    """Brackets contain no concrete time, except in Python's notation."""
    if picture.kind not in PYTHON:
        yield from TIMED.findall(picture.twin)


# All functions above that check a picture.
CHECKERS: list[Checker] = [
    function
    for function in list(globals().values())
    if getattr(function, "__annotations__", {}).get("picture") is Picture
]


# Symbols have the same value in all pictures of a run.

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
# Arrays: the first entries, with six digits.
VALUE = re.compile(r" = (\[.*\]|-?[\d.]+(?:e[+-]?\d+)?|nan|inf|-inf)(?![\d.·^@/]| [+−@])")


def titled_values(svg: str) -> Iterator[tuple[str, str]]:
    """Yield symbols with an index, and their values in titles."""
    for title in map(unescape, TITLE.findall(svg)):
        for symbol, start, end in symbols_of(title):
            if start or symbol.startswith("buf") or "₀" > symbol.rstrip(")")[-1] > "₉":
                continue
            match = VALUE.match(title, end)
            if match and any(sign in symbol for sign in "₀₁₂₃₄₅₆₇₈₉"):
                yield symbol, match[1]


def conflicts(pictures: Iterable[tuple[str, str]]) -> tuple[list[str], Known]:
    """Return symbols with two values, and all values. `pictures` are pairs of a name and an SVG."""
    known: Known = defaultdict(dict)
    wrong = []
    for name, svg in pictures:
        for symbol, value in titled_values(svg):
            if value in known[symbol]:
                continue
            for other, other_name in known[symbol].items():
                a, b = _as_array(value), _as_array(other)
                if a.shape == b.shape and not np.allclose(a, b, rtol=1e-5, equal_nan=True):
                    wrong.append(f"{symbol} is {value} in {name} and {other} in {other_name}")
            known[symbol][value] = name
    return wrong, known


def _as_array(text: str) -> np.ndarray:
    return np.fromstring(re.sub(r"[\[\],…]", " ", text), sep=" ")


def problems(picture: Picture) -> list[str]:
    """Return the faults of a picture, from all checkers."""
    return [
        f"{picture}: {check.__name__}: {fault}" for check in CHECKERS for fault in check(picture)
    ]
