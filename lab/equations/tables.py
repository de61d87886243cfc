"""Write tables as text with aligned columns and a wrapped last column."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

NARROWEST = 30  # smallest width of a wrapped last column, in characters


@dataclass(frozen=True)
class ReportTable:
    """Rows of cells below a header; every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def compact(self) -> "ReportTable":
        """The table without its empty columns."""
        used = [n for n in range(len(self.header)) if any(row[n] for row in self.rows)]
        header, *rows = (tuple(row[n] for n in used) for row in (self.header, *self.rows))
        return ReportTable(header, tuple(rows))

    def lines(self, width: int) -> Iterator[str]:
        """Align the columns with spaces, and wrap the last column at `width` characters."""
        *widths, _ = (max(map(len, column)) for column in zip(self.header, *self.rows, strict=True))
        left = sum(widths) + 2 * len(widths)
        for row in (self.header, *self.rows):
            start = "".join(f"{cell:{size}}  " for cell, size in zip(row, widths, strict=False))
            first, *more = paragraph(row[-1], max(width - left, NARROWEST)) or [""]
            yield f"{start}{first}".rstrip()
            yield from (" " * left + line for line in more)


def paragraph(text: str, width: int) -> list[str]:
    """Wrap `text` into lines of at most `width` characters, except for longer words."""
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)
