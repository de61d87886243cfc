"""The heading and the formulas of a picture, its margins, and its legend."""

import re
from collections.abc import Iterable, Mapping, Sequence

from lab.progress import pause
from visual.layout.cells import on_one_scale, with_distinct_numbers
from visual.layout.legend import EVERY_ROLE, legend_shapes, notes, scale_words
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, shifted, sized
from visual.scene.shapes import Box, Scene, Shape, Text, TextLook, folded, walk
from visual.scene.theme import Role

MARGIN = 24
BASELINE = 16  # the y of the baseline of a title
INDENT = 4  # the indent of the second and later lines of a formula, in letters
BETWEEN, HEIGHT = 20, 44  # pixels between a picture and its legend; the height of a cell


def heading(title: str, subtitles: Iterable[str], sheet: Sheet = SCREEN, more: str = "") -> Piece:
    """Return a title with the tooltip `more`, and the subtitles below the title."""
    big = folded(title, sheet.line, 16, bold=True)
    small = [line for subtitle in subtitles for line in folded(subtitle, sheet.line, 12)]
    last = BASELINE + 21 * (len(big) - 1)
    look = TextLook(bold=True, title=more)
    texts = [Text(0, BASELINE + 21 * n, line, 16, **look) for n, line in enumerate(big)]
    texts += [Text(0, last + 19 * n, line, 12, muted=True) for n, line in enumerate(small, 1)]
    return sized(max(text.width for text in texts), last + 19 * len(small) + 14, *texts)


def formula_lines(content: str, letters: int, most: int, indent: int = INDENT) -> list[str]:
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
    if len(lines) > most:
        lines[most - 1 :] = [f"{lines[most - 1][: max(room - 2, 0)].rstrip()} …"]
    return [f"{' ' * indent * (n > 0)}{line.rstrip()}" for n, line in enumerate(lines)]


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
    position. `words` maps roles to their meanings, and `seeds` replaces the meaning of the role
    SEED. `sentences` are notes that follow the notes about arrays, gaps, and parts of gradients. If
    `close`, the columns of the legend are narrow. A sheet without a legend has no notes.
    """
    pause()
    margin, bottom = sheet.margin, part.envelope.bottom
    if width is None:
        part = shifted(part, margin - part.envelope.left, MARGIN - part.envelope.top)
        width, bottom = part.envelope.right + margin, part.envelope.bottom + BETWEEN
    shapes, scales = on_one_scale(with_distinct_numbers(part.shapes))
    legend, low, lines = list[Shape](), bottom, list[Text]()
    if sheet.legend:
        flat = [*walk(shapes)]
        boxes = [s for s in flat if isinstance(s, Box) and s.heat is None]
        roles = {Role.UNNEEDED if box.faded else box.role for box in boxes}
        words = {**words, Role.SEED: seeds} if seeds else words
        words = {role: meaning for role, meaning in words.items() if role in roles}
        legend, low = legend_shapes(words, bottom, width, close, margin)
        every = (*notes(flat), *sentences, *scale_words(scales))
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
