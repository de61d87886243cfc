"""Write a report as plain text or HTML: titled sections of paragraphs, formulas, and tables.

A report is a frozen record with a `document`, which is a `Section`.  The base class `Report` prints
the document, and displays it in a notebook.  The writers escape the labels of users.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from lab.equations.tables import ReportTable, paragraph
from lab.errors import printable

WIDTH = 96  # characters per line of text


@dataclass(frozen=True)
class Lines:
    """Lines that are not wrapped, such as formulas."""

    content: tuple[str, ...]


class Report:
    """Base class of records that are printed, and shown in a notebook, as their `document`."""

    @property
    def document(self) -> "Section":
        """The report as a `Section`."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(as_text(self.document))

    def _repr_html_(self) -> str:
        return as_html(self.document)


@dataclass(frozen=True)
class Section(Report):
    """A title, and below it paragraphs (str), lines, tables, and sections."""

    title: str
    blocks: tuple["Block", ...]

    @property
    def document(self) -> "Section":
        """The section itself."""
        return self

    __str__ = Report.__str__  # print the document, not the fields


Block = str | Lines | ReportTable | Section


def as_text(section: Section, level: int = 0) -> Iterator[str]:
    """Write a section as lines of text; underline the title of a section of `level` 1."""
    title = printable(section.title)
    yield title
    if level == 1:
        yield "─" * min(len(title), WIDTH)
    indent = "  " if level else ""
    for number, block in enumerate(section.blocks):
        if isinstance(block, Section):
            yield ""
            yield from (f"{indent}{line}".rstrip() for line in as_text(block, level + 1))
            continue
        if number and not isinstance(section.blocks[number - 1], str):
            yield ""
        width = WIDTH - len(indent) * max(level, 1)
        if isinstance(block, str):
            lines = paragraph(block, width)
        else:
            lines = [*block.lines(width)] if isinstance(block, ReportTable) else [*block.content]
        yield from (f"{indent}{printable(line)}" for line in lines)


def as_html(section: Section, level: int = 3, within: str = "") -> str:
    """Write a section as HTML with a heading of `level`.

    Readers can scroll each table and each block of `Lines` with the keyboard.  The labels of these
    regions begin with `within`.
    """
    title = _escaped(section.title)
    parts = [f"<h{min(level, 6)}>{title}</h{min(level, 6)}>"]
    for number, block in enumerate(section.blocks):
        label = f"{within}{title}" + (f", part {number + 1}" if number else "")
        region = f'role="region" aria-label="{label}" tabindex="0"'
        match block:
            case Section():
                parts.append(as_html(block, level + 1, f"{within}{title}: "))
            case str():
                parts.append(f"<p>{_escaped(block)}</p>")
            case Lines():
                parts.append(f"<pre {region}>{'<br>'.join(map(_escaped, block.content))}</pre>")
            case ReportTable():
                rows = (_row(block.header, "th"), *(_row(row, "td") for row in block.rows))
                parts.append(f'<div class="table" {region}><table>{"".join(rows)}</table></div>')
    return "\n".join(parts)


def _row(cells: tuple[str, ...], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_escaped(cell)}</{tag}>' for cell in cells)}</tr>"


def _escaped(text: str) -> str:
    return escape(printable(text))


def size_text(size: int) -> str:
    """Write a number of bytes as ``40 bytes``, ``3.2 kB``, or ``1.5 MB``."""
    number, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g} {unit}"
