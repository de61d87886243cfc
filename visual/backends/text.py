"""Scenes as plain text, for terminals, screen readers, and tests.

The texts have approximately the same positions as in the picture. Brackets around the text in a box
mark the role of the box.
"""

from collections.abc import Iterable

from lab.errors import printable
from visual.scene.shapes import BEFORE, Scene, Text
from visual.scene.theme import Role

LETTER = 6.4


def to_text(scene: Scene) -> str:
    """Return `scene.twin` or, if it is empty, the texts of the scene as lines with marks."""
    if scene.twin:
        return scene.twin
    rows: list[list[Text]] = []
    for shape in sorted((s for s in scene.walk() if isinstance(s, Text)), key=lambda s: s.y):
        if not rows or abs(rows[-1][0].y - shape.y) >= 4:
            rows.append([])
        rows[-1].append(shape)
    used = {_mark(shape) for row in rows for shape in row}
    marks = " ".join(_marked(role.word, role) for role in Role if role in used)
    return "\n".join([*map(_line, rows), f"marks: {marks}"]) + "\n"


def _line(row: Iterable[Text]) -> str:
    line = ""
    for shape in sorted(row, key=lambda s: s.left):
        content = printable(shape.content)
        written = _marked(f"~{content}~" if shape.struck else content, _mark(shape))
        start = shape.x / LETTER - BEFORE[shape.anchor] * len(written)
        column = max(round(start), len(line) + 1 if line else 0)
        line = line.ljust(column) + written
    return line.rstrip()


def _marked(content: str, role: Role | None) -> str:
    """Return `content` between the brackets of `role`, or unchanged if `role` is None."""
    return f"{role.brackets[0]}{content}{role.brackets[1]}" if role else content


def _mark(shape: Text) -> Role | None:
    """Return the role whose brackets enclose a text, or None for a text without brackets."""
    return Role.UNNEEDED if shape.faded and shape.role is not None else shape.role
