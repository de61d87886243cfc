"""Draw the boxes of a step graph."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lab.notation import number_text
from visual.layout.cells import full_text, is_told, value_text, values_text
from visual.scene.shapes import Box, Group, Shape, fitted, text_width
from visual.scene.theme import Role

SIGN, LABEL, VALUE, CAPTION = 17, 12.5, 12, 11  # font sizes
LINE, ABOVE, INDENT = 17, 15, 7
MIN_WIDTH = 58
ENTRY = "-0.01234, "  # a typical entry of a vector


@dataclass(frozen=True)
class Card:
    """A box with a caption, a name, and a value, at most `widest` pixels wide.

    A `formula` replaces the name, and `numbers`, if any, replace the value; both consist of lines.
    `full` is the formula without line breaks, for a tooltip.
    """

    role: Role
    label: str
    value: np.ndarray | None
    caption: str
    widest: float
    formula: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    full: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The formula or the name, then the numbers or the value."""
        value = value_line(self.value, self.widest - 14)
        return *(self.formula or (self.label,)), *(self.numbers or filter(None, (value,)))

    @property
    def width(self) -> float:
        """The width in pixels."""
        name = 0.0 if self.formula else text_width(self.label, self._size, bold=True) + 16
        mono = self.lines[not self.formula :]
        widths = (text_width(line, VALUE, mono=True) + 14 for line in mono)
        caption = text_width(self.caption, CAPTION) + 10
        return min(max(MIN_WIDTH, name, caption, *widths), self.widest)

    @property
    def height(self) -> float:
        """The height in pixels."""
        return 9 + LINE * len(self.lines) + ABOVE * bool(self.caption)

    @property
    def _size(self) -> float:
        return SIGN if len(self.label) == 1 and not self.label.isalnum() else LABEL

    def draw(self, box: Box, key: str) -> Group:
        """Draw the card in a box that has its size; `key` identifies the quantity."""
        title = f"{self.label} = {full_text(self.value)}" if self.value is not None else self.label
        return Group((box, *self._texts(box)), cell=key, title=title)

    def _texts(self, box: Box) -> Iterator[Shape]:
        middle, y = box.x + box.width / 2, box.y
        room, look = box.width - 6, {"anchor": "middle", "role": self.role}
        if self.caption:
            yield fitted(middle, y + 15, self.caption, room, CAPTION, **look)  # type: ignore[arg-type]
            y += ABOVE
        for number, line in enumerate(self.lines, start=1):
            bold, x = number <= max(1, len(self.formula)), middle
            size = VALUE if self.formula or not bold else self._size
            mono = bool(self.formula) or not bold
            text = fitted(middle, y + LINE * number, line, room, size, mono=mono, bold=bold, **look)  # type: ignore[arg-type]
            if self.formula:
                x = box.x + INDENT + text_width(line, VALUE, mono=True)
                x -= text_width(line.lstrip(), VALUE, mono=True)
                title = self.full if line.endswith("…") else ""
                text = replace(text, x=x, content=line.lstrip(), anchor="start", title=title)
            yield text


def value_line(value: np.ndarray | None, room: float) -> str:
    """Return a value as a line: a number, the entries of a short vector, or norm and shape."""
    if value is None or value.ndim == 0:
        return "" if value is None else number_text(value)
    if is_told(value) and text_width(ENTRY * len(value), VALUE, mono=True) <= room:
        return values_text(value)
    return f"{value_text(value)} {'×'.join(map(str, value.shape))}"
