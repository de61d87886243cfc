r"""Scenes as TikZ: a picture for ``\input``, whose letters are those of the paper around it.

What stands in the picture is set as mathematics, x₃ as a symbol with an index; whatever a person
has called a variable is letters, and no command.  The paper needs ``\usepackage{tikz}``, and no
more; the file is plain ASCII.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

from visual.backends.svg import DASHES, DOT, HEAVY, WIDTH, number
from visual.scene.formats import register
from visual.scene.shapes import MM, THIN, Arrow, Box, Polyline, Scene, Shape, Text, hatching
from visual.scene.theme import HATCHING, Line, Theme, heat_colour

POINT = 72.27 / 96  # a CSS pixel in TeX's points
ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
HEAD = r"""\begin{tikzpicture}[x=%smm,y=-%smm,every node/.style={inner sep=0pt,outer sep=0pt}]
\providecommand\scantapechar[1]{\ifdefined\Umathchar\char"#1\relax\else U+#1\fi}
\providecommand\scantapebox{\mbox{\fboxsep=0pt\fbox{\rule{0pt}{1ex}\rule{1ex}{0pt}}}}
"""
BELOW = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₖₙ", "0123456789+-kn", strict=True))
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", [*"0123456789+-", r"\mathsf{T}"], strict=True))
PRIMES = {"′": "'", "″": "''", "‴": "'''"}
SMALL = "".join([*BELOW, *RAISED])
TOKEN = re.compile(
    rf"(?P<below>[{''.join(BELOW)}]+)|(?P<raised>[{''.join(RAISED)}]+)|(?P<prime>[′″‴]+)"
    rf"|(?P<number>\d[\d,.]*(?:e[+-]?\d+)?)|(?P<word>(?:(?![{SMALL}])\w)+)|(?P<space>\s+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
SIGNS = {
    **dict(zip("·−←→×∂‖…⋯±≈√∞∇≤≥", (
        r"\cdot ", "-", r"\leftarrow ", r"\rightarrow ", r"\times ", r"\partial ", r"\|",
        r"\ldots ", r"\cdots ", r"\pm ", r"\approx ", r"\surd ", r"\infty ", r"\nabla ",
        r"\le ", r"\ge ",
    ), strict=True)),
    **{sign: sign for sign in "+-=/()[]|,.!?<>*"},
    **{"▢": r"\scantapebox ", "@": r"\mathbin{@}", ":": "{:}", ";": ";"},
}  # fmt: skip
ESCAPED = {
    **{sign: f"\\{sign}" for sign in "{}%#$&_"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"},
    **{"“": "``", "”": "''", "’": "'", "—": "---", "–": "--", "\xa0": "~"},
}
ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327", "`'^~\"rvc", strict=True))
GREEK = {
    unicodedata.lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}"): (
        f"\\{name if size == 'SMALL' else name.title()} "
    )
    for size, names in (
        ("SMALL", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
         "sigma tau upsilon phi chi psi omega"),
        ("CAPITAL", "gamma delta theta lambda xi pi sigma upsilon phi psi omega"),
    )
    for name in names.split()
}  # fmt: skip
FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}
# What is mathematics among words: indices, brackets behind a name, ratios of differentials.
IN_WORDS = re.compile(rf"[{SMALL}′″‴∂‖·−←→×⋯±≈√▢]|\w\[|\bd\w+/d|^[b-zB-HJ-Zα-ω]\W?$|^-\d")
ENDS = re.compile(r"(.*?)([,;:.]*)", re.DOTALL)


def to_tex(scene: Scene) -> str:
    """The tikzpicture of a scene, as large as it is in print."""
    unit = f"{scene.zoom * MM:.5f}"
    colours = dict[str, None]()

    def colour(code: str) -> str:
        """The name of a colour, which is defined when the picture begins."""
        colours[code] = None
        return f"scantape{code[1:]}"

    drawn = [line for shape in scene.walk() for line in _shape(shape, scene, colour)]
    page = f"(0,0) rectangle ({number(scene.width)},{number(scene.height)});"
    if scene.theme.name == "dark":
        drawn.insert(0, rf"\fill[{colour(scene.theme.background)}] {page}")
    title = re.sub(r"[^ -~]+", "?", scene.title)
    known = "".join(
        rf"\definecolor{{scantape{code[1:]}}}{{HTML}}{{{code[1:].upper()}}}" + "\n"
        for code in colours
    )
    lines = "\n".join([rf"\path[use as bounding box] {page}", *drawn])
    head = HEAD % (unit, unit)
    return f"% {title}\n% needs \\usepackage{{tikz}}\n{head}{known}{lines}\n\\end{{tikzpicture}}\n"


Colour = Callable[[str], str]


def _shape(shape: Shape, scene: Scene, colour: Colour) -> Iterator[str]:
    theme, unit = scene.theme, scene.zoom * MM
    if isinstance(shape, Box):
        yield from _box(shape, theme, unit, colour)
    elif isinstance(shape, Text):
        yield _text(shape, theme, scene.zoom * POINT, colour)
    elif isinstance(shape, Arrow):
        look = f"[{colour(shape.colour(theme))},line width={WIDTH * unit:.3f}mm]"
        yield rf"\draw{look} {_curve(shape)};"
        corners = " -- ".join(map(_at, shape.head))
        yield rf"\fill[{colour(shape.colour(theme))}] {corners} -- cycle;"
    elif isinstance(shape, Polyline):
        ink = colour(shape.colour(theme))
        path = " -- ".join(map(_at, shape.points))
        yield rf"\draw[{ink},line width={WIDTH * unit:.3f}mm] {path};"
        for point in shape.points if shape.dots else ():
            yield rf"\fill[{ink}] {_at(point)} circle[radius={DOT / 2 * unit:.3f}mm];"


def _at(point: tuple[float, float]) -> str:
    return f"({number(point[0])},{number(point[1])})"


def _curve(arrow: Arrow) -> str:
    """The line of an arrow, of Bézier curves or straight."""
    points = [*map(_at, arrow.points)]
    if not arrow.is_curve:
        return " -- ".join(points)
    threes = zip(points[1::3], points[2::3], points[3::3], strict=True)
    return points[0] + "".join(f" .. controls {a} and {b} .. {c}" for a, b, c in threes)


def _box(box: Box, theme: Theme, unit: float, colour: Colour) -> Iterator[str]:
    if box.heat is not None:
        yield rf"\fill[{colour(heat_colour(box.share, theme))}] {_corners(box.filled, 0)};"
        return
    look = theme.look(box.role, box.faded)
    heavy = HEAVY if look.line is Line.HEAVY else WIDTH
    dashes = [float(part) * unit for part in DASHES.get(look.line, "").split()]
    edge = f"draw={colour(look.stroke)},line width={heavy * unit:.3f}mm"
    dashed = ",dash pattern=on {:.3f}mm off {:.3f}mm".format(*dashes) if dashes else ""
    fill = f"fill={colour(look.fill)},"
    yield rf"\path[{fill}{edge}{dashed},rounded corners={5 * unit:.3f}mm] {_corners(box, 0)};"
    for start, end in hatching(box, look.hatch):
        thin = f"{colour(HATCHING)},line width={THIN * unit:.3f}mm"
        yield rf"\draw[{thin}] {_at(start)} -- {_at(end)};"
    if look.line is Line.DOUBLE:
        inset = min(3, min(box.width, box.height) / 4)
        edge = f"draw={colour(look.stroke)},line width={0.9 * unit:.3f}mm"
        yield rf"\path[{edge},rounded corners={3 * unit:.3f}mm] {_corners(box, inset)};"


def _corners(box: Box, inset: float) -> str:
    first = box.x + inset, box.y + inset
    last = box.x + box.width - inset, box.y + box.height - inset
    return f"{_at(first)} rectangle {_at(last)}"


def _text(shape: Text, theme: Theme, point: float, colour: Colour) -> str:
    size = shape.size * point
    font = rf"\fontsize{{{size:.2f}}}{{{1.2 * size:.2f}}}\selectfont"
    font += r"\bfseries\boldmath" if shape.bold else ""
    look = f"{colour(shape.colour(theme))},anchor={ANCHORS[shape.anchor]},font={font}"
    is_symbol = " " not in shape.content and IN_WORDS.search(shape.content)
    written = (mathematics if shape.mono or is_symbol else words)(shape.content)
    place = f"at {_at((shape.x, shape.y))} {{{written}}};"
    if not shape.struck:
        return rf"\node[{look}] {place}"
    line = rf"\draw[{colour(shape.colour(theme))}] (s.mid west) -- (s.mid east);"
    return rf"\node[{look}] (s) {place}{line}"


def words(content: str) -> str:
    """A sentence, with mathematics where symbols stand in it."""
    parts = []
    for part in re.split(r"(\s+)", content):
        inner, end = ENDS.fullmatch(part).groups()  # type: ignore[union-attr]
        is_math = inner and not inner.isspace() and IN_WORDS.search(inner)
        parts.append(mathematics(inner) + escaped(end) if is_math else escaped(part))
    return "".join(parts)


def mathematics(content: str) -> str:
    """A formula as it stands between dollars."""
    parts, before, ratio = [], "", False
    for found in TOKEN.finditer(content):
        kind, token = str(found.lastgroup), found.group()
        after = content[found.end() : found.end() + 4].lstrip("′″‴")
        if kind == "word":
            ratio = ratio or (token[0] == "d" and token[1:].isupper() and after[:1] == "/")
            is_ratio = ratio and token[0] == "d" and len(token) > 1
            apart = r"\ " if before == "word" else ""
            parts.append(apart + (rf"\mathrm{{d}}{_symbol(token[1:])}" if is_ratio else ""))
            parts[-1] += "" if is_ratio else _symbol(token)
        elif kind == "below":
            parts.append(f"_{{{''.join(map(BELOW.__getitem__, token))}}}")
        elif kind == "raised":
            parts.append(f"^{{{''.join(map(RAISED.__getitem__, token))}}}")
        elif kind == "prime":
            parts.append("".join(map(PRIMES.__getitem__, token)))
        elif kind == "number":
            parts.append((r"\ " if before == "word" else "") + token.replace(",", "{,}"))
        elif kind == "sign":
            ratio = ratio and token in "/"
            known = SIGNS.get(token)
            parts.append(rf"\mbox{{{escaped(token)}}}" if known is None else known)
        elif content[: found.start()].endswith("‖"):  # a norm, and the shape
            parts.append(r"\ ")
        if kind != "space":
            before = "word" if kind in ("word", "number") and " " in content else kind
    return f"${''.join(parts)}$" if parts else ""


def _symbol(name: str) -> str:
    """A name in mathematics: a letter slanted, several upright, others as they are written."""
    if len(name) == 1 and name in GREEK:
        return GREEK[name]
    if name in FUNCTIONS:
        return rf"\{name}"
    if name.isascii() and name.isalnum():
        return name if len(name) == 1 else rf"\mathrm{{{name}}}"
    return rf"\mbox{{{escaped(name)}}}"


def escaped(content: str) -> str:
    """Words as they are written, whatever TeX would make of their letters."""
    return "".join(map(_letter, unicodedata.normalize("NFC", content)))


def _letter(letter: str) -> str:
    if letter in ESCAPED:
        return ESCAPED[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if letter in GREEK or letter in SIGNS:
        return f"${GREEK.get(letter) or SIGNS[letter]}$"
    base, *accents = [*unicodedata.normalize("NFD", letter)]
    if len(accents) == 1 and accents[0] in ACCENTS and base.isascii():
        return rf"\{ACCENTS[accents[0]]}{{{base}}}"
    return rf"\scantapechar{{{ord(letter):04X}}}"


register(".tex", to_tex)
