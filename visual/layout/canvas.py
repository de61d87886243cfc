"""The heading and the formulas of a picture, its margins, and its legend.

The legend contains the meanings of roles, and notes about arrays, gaps, and gradients.
"""

import re
from cmath import isfinite
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from lab.gradients.symbols import DerivativeSymbol
from lab.notation import number_text
from lab.progress import pause
from visual.layout.cells import NumberText
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, shifted, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Scene, Shape, Text, TextLook, folded, groups_of, replaced, walk
from visual.scene.theme import Role

MARGIN = 24
BASELINE = 16  # the y of the baseline of a title
INDENT = 4  # the indent of the second and later lines of a formula, in letters
BETWEEN, HEIGHT = 20, 44  # pixels between a picture and its legend; the height of a cell
NORM = "‖ ‖ is the norm"
STRIPS = "strips, of up to 8 entries: olive is positive, magenta, in the lower half, negative"
ARRAYS = f"{STRIPS}; {NORM}"
TOTAL = "d: the total gradient; ∂: the direct contribution, not through later steps"
PARTS = "∂₁, ∂₂: parts of the same gradient, which are added"
EVERY_ROLE: Mapping[Role, str] = {role: "" for role in Role if role is not Role.PANEL}
FormulaLine = tuple[str, int, str]  # words, indent in letters, and the formula if the line is cut
FOLDS = "⋯ and a number: the number of hidden columns"


class GapMark(Text):
    """A mark with the number of columns that a gap hides."""


def heading(title: str, subtitles: Iterable[str], sheet: Sheet = SCREEN, more: str = "") -> Piece:
    """Return a title with the tooltip `more`, and the subtitles below the title."""
    big = folded(title, sheet.line, 16, bold=True)
    small = [line for subtitle in subtitles for line in folded(subtitle, sheet.line, 12)]
    last = BASELINE + 21 * (len(big) - 1)
    look = TextLook(bold=True, title=more)
    texts = [Text(0, BASELINE + 21 * n, line, 16, **look) for n, line in enumerate(big)]
    texts += [Text(0, last + 19 * n, line, 12, muted=True) for n, line in enumerate(small, 1)]
    return sized(max(text.width for text in texts), last + 19 * len(small) + 14, *texts)


def formula_lines(content: str, letters: int, most: int, indent: int = INDENT) -> list[FormulaLine]:
    """Return a formula as lines of at most `letters` letters. All lines but the first are indented.

    Lines break between words, and a long word breaks between factors. An ellipsis replaces the text
    after `most` lines.
    """
    lines, room = [""], max(letters - indent, 1)
    for word in re.findall(r"\S+ *", content):
        parts = rf"[^·]{{1,{max(room - 1, 1)}}}·?|·"
        for piece in [word] if len(word.rstrip()) <= room else re.findall(parts, word):
            left = letters - len(lines[-1]) - indent * (len(lines) > 1)
            if len(piece.rstrip()) > left and lines[-1]:
                lines.append("")
            lines[-1] += piece
    result = [(line.rstrip(), indent * (n > 0), "") for n, line in enumerate(lines[:most])]
    if len(lines) > most:
        words = f"{lines[most - 1][: max(room - 2, 0)].rstrip()} …"
        result[-1] = words, result[-1][1], content
    return result


def scene_with_legend(
    part: Piece,
    words: Mapping[Role, str] = EVERY_ROLE,
    *,
    title: str,
    description: str,
    sheet: Sheet = SCREEN,
    width: float | None = None,
    sentences: Sequence[str] = (),
    dot: str = "",
    close: bool = True,
    seeds: str = "",
) -> Scene:
    """Return the scene of the piece `part` with a legend of its roles, and with notes.

    Without `width`, the scene adds margins on all sides; with `width`, the piece is in its final
    position. `words` maps roles to their meanings; the default meaning is the definition of the
    role. `seeds` replaces the meaning of SEED. `sentences` are notes that follow the notes about
    arrays, gaps, and parts of gradients. If `close`, the columns of the legend are narrow. A sheet
    without a legend has no notes.
    """
    pause()
    margin, bottom = sheet.margin, part.envelope.bottom
    if width is None:
        part = shifted(part, margin - part.envelope.left, MARGIN - part.envelope.top)
        width, bottom = part.envelope.right + margin, part.envelope.bottom + BETWEEN
    shapes, scales = on_one_scale(with_distinct_numbers(part.shapes))
    legend, low, lines = list[Shape](), bottom, list[Text]()
    if sheet.legend:
        boxes = [s for s in walk(shapes) if isinstance(s, Box) and s.heat is None]
        roles = {Role.UNNEEDED if box.faded else box.role for box in boxes}
        words = {**words, Role.SEED: seeds} if seeds else words
        words = {role: meaning for role, meaning in words.items() if role in roles}
        legend, low = legend_shapes(words, bottom, width, close, margin)
        ends = [f"±{number_text(scale)} of {name}" for name, scale in scales.items() if scale]
        every = (*notes(shapes), *sentences, *[f"full color: {', '.join(ends)}"] * bool(ends))
        content = [line for note in every for line in folded(note, width - 2 * margin, 12)]
        lines = [Text(margin, low + 20 * n + 12, c, 12, muted=True) for n, c in enumerate(content)]
    return Scene(
        width=max([width, *(margin + line.width + margin for line in lines)]),
        height=max(bottom, low + 20 * len(lines)) + 12,
        shapes=(*shapes, *legend, *lines),
        title=title,
        description=description,
        dot=dot,
    )


def on_one_scale(shapes: Iterable[Shape]) -> tuple[tuple[Shape, ...], dict[str, float]]:
    """Return the shapes with scaled patches, and the scale of each quantity.

    The scale is the magnitude that has the full color: the largest finite magnitude in all patches
    of the quantity. A gradient and its direct parts (∂) have the same scale.
    """
    shapes, scales = tuple(shapes), dict[str, float]()
    patches = [
        (patch, abs(patch.heat), group.quantity)
        for group in groups_of(shapes)
        for patch in group.shapes
        if isinstance(patch, Box) and patch.heat is not None
    ]
    for _, size, name in patches:
        scales[name] = max(scales.get(name, 0.0), size if isfinite(size) else 0.0)
    scaled = {id(patch): replace(patch, scale=scales[name]) for patch, _, name in patches}
    return replaced(shapes, scaled), scales


def with_distinct_numbers(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the shapes with a different text for each different number of a quantity in a row.

    Different numbers with equal texts get up to seven digits or, without space, an ellipsis.
    """
    shapes = tuple(shapes)
    rows: dict[tuple[str, float], list[NumberText]] = {}
    for group in groups_of(shapes):
        for text in group.shapes:
            if isinstance(text, NumberText) and isfinite(text.number):
                rows.setdefault((group.quantity, text.y), []).append(text)
    longer: dict[int, Shape] = {}
    for row in rows.values():
        for text in row:
            alike = {other.number for other in row if other.content == text.content}
            if alike := alike - {text.number}:
                longer[id(text)] = _distinct(text, alike)
    return replaced(shapes, longer)


def _distinct(text: NumberText, others: Collection[float]) -> NumberText:
    """Return the text with digits that differ from `others`, or with an ellipsis, if one fits."""
    written = {digits: number_text(text.number, digits) for digits in (5, 6, 7)}
    unlike = (w for n, w in written.items() if all(w != number_text(o, n) for o in others))
    texts = (replace(text, content=content) for content in (*unlike, f"{text.content}…"))
    return next((longer for longer in texts if longer.width <= text.room), text)


def legend_shapes(
    words: Mapping[Role, str], y: float, width: float, close: bool, margin: float
) -> tuple[list[Shape], float]:
    """Return the shapes of a legend, in as many columns as fit, and the y of its lower edge.

    `y` is the upper edge. If `close`, each column is only as wide as its texts; otherwise, all
    columns have the same width.
    """
    apart = 50 if close else 60  # pixels between the texts of two columns
    words = {role: f"{role.word}: {text}" if text else role.value for role, text in words.items()}
    wide = [text_width(meaning, 12) + apart for meaning in words.values()]
    wide = wide if close else [max(wide)] * len(wide) if wide else []
    columns, lefts = 1, [0.0]
    for columns in range(len(wide), 0, -1):
        lefts = [0.0, *accumulate(max(wide[n::columns]) for n in range(columns))]
        if lefts[-1] <= width - 2 * margin + (apart - 32 if close else 0):
            break
    shapes: list[Shape] = []
    items = [*words.items()]
    for start in range(0, len(items), columns):
        most = 1
        for (role, meaning), right in zip(items[start : start + columns], lefts, strict=False):
            x = margin + right
            lines = folded(meaning, width - 2 * margin - 32, 12)
            most = max(most, len(lines))
            shapes.append(Box(x, y, 24, 15, role))
            shapes += [Text(x + 32, y + 12 + 16 * n, line, 12) for n, line in enumerate(lines)]
        y += 8 + 16 * most
    return shapes, y


def notes(shapes: Sequence[Shape]) -> list[str]:
    """Return notes about the arrays, gaps, and parts of gradients in the shapes."""
    flat, groups = [*walk(shapes)], [*groups_of(shapes)]
    strips = any(isinstance(shape, Box) and shape.heat is not None for shape in flat)
    has_norm = any(group.value is not None and group.value.ndim for group in groups)
    sentences = [ARRAYS if strips else NORM] if has_norm else []
    # The tooltip of a shortened text is the whole text.
    words = [text.title or text.content for text in flat if isinstance(text, Text)]
    words += [group.label for group in groups]
    names = [name for name in words if isinstance(name, DerivativeSymbol)]
    if {name.direct for name in names} == {True, False}:
        sentences.append(TOTAL)
    if any(name.part for name in names):
        sentences.append(PARTS)
    if any(isinstance(shape, GapMark) for shape in flat):
        sentences.append(FOLDS)
    return sentences
