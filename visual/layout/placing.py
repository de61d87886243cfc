"""The layout of tables: the selection of steps and columns, and the positions of cells.

`lay_out` shows as many steps at both ends of a long loop as fit, and the requested steps. If a
single step has too many columns, gaps replace columns in the middle.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from visual.layout.arrows import Detours, Edge, route
from visual.layout.canvas import formula_lines, heading, scene_with_legend
from visual.layout.cells import TWO_LINES, draw_cell, draw_low_cell, thin_width, usual_width
from visual.layout.columns import Gap, with_long_gaps
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Cell, Fold, Key, Line, Row, Table, TablePart
from visual.scene.combinators import Piece, above, gap, shifted, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Box, Scene, Shape, Text, fitted, folded, text_width
from visual.scene.theme import Role

SMALL, LINE = 11, 15  # the font size of text next to cells; the height of a line of a formula
LOW, HEADS = 20, 34  # the heights of a low cell, and of the names above columns
STEPS = 64.0  # the width of the names of steps
WIDEST_GAP, WIDE_PITCH = 64.0, 80.0  # the largest width of a gap, from this column distance on
ROOMY = 66.0  # optional columns are shown if columns are at least this far apart
PARTS, TITLE = 26.0, 300.0  # the distance between two parts; the least width of the last part
BEFORE, AFTER = 14.0, 14.0  # the distances before a later heading, and after the table
LOW_APART = 10.0  # the least distance below low cells
STACKED, MOST_LINES = 4, 3  # the most low cells in a column, and the most lines of a formula
ABOVE, BAND, BETWEEN, WIDE = 20, 24, 28, 36  # heights of the space for arrows

Blocks = Mapping[int, list[int | Gap]]


@dataclass
class PlacedPart:
    """The columns and the gaps of a part with their left edges, and the width of a cell."""

    part: TablePart
    start: float
    pitch: float
    blocks: Blocks
    left: dict[Key, float] = field(default_factory=dict)
    gaps: list[tuple[int, float, Gap]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cell = int(self.pitch * self.part.full)
        self.apart = self.pitch - self.cell
        self.right = self.start
        for block, items in self.blocks.items():
            for item in items:
                if isinstance(item, Gap):
                    self.gaps.append((block, self.right, item))
                    self.right += _gap_width(self.pitch)
                else:
                    self.left[block, item] = self.right
                    self.right += self.pitch

    def gap_marks(self, blocks: Collection[int], y: float) -> Iterator[Text]:
        """Yield the numbers of hidden columns."""
        for block, x, hidden in self.gaps:
            if block in blocks:
                middle = x + (_gap_width(self.pitch) - self.apart) / 2
                yield Text(middle, y, f"⋯{hidden.hidden:,}", SMALL, "middle", muted=True)


def lay_out(
    table: Table, sheet: Sheet, requested: tuple[int, ...] = (), all: bool = False
) -> Piece:
    """Lay out a table on a sheet; with `all`, show all steps and columns in any width."""
    layout = _Layout(table, sheet, all)
    for ends in (None,) if all else (None, 3, 2, 1, 0):
        fold = Fold(ends, requested, sheet)
        shown = [*table.touched(fold)]
        if layout.place(shown, is_last=ends == 0 or sheet.steps is not None):
            break
    for row in table.rows(fold, [area.left for area in layout.parts]):
        layout.add(row)
    return sized(layout.right, layout.y, *layout.shapes)


def table_scene(
    table: Table,
    words: Mapping[Role, str],
    title: str,
    description: str,
    sheet: Sheet = SCREEN,
    requested: tuple[int, ...] = (),
    all: bool = False,
    sentences: Sequence[str] = (),
) -> Scene:
    """Return the picture of a single table, with a legend; see `scene_with_legend`."""
    drawn = lay_out(table, sheet, requested, all)
    return scene_with_legend(
        shifted(above(drawn, gap(), apart=AFTER), 0, max(4, sheet.margin - 8)),
        words,
        sheet=sheet,
        width=max(sheet.width, drawn.envelope.right + sheet.margin),
        title=title,
        description=description,
        sentences=sentences,
    )


def _gap_width(pitch: float) -> float:
    return WIDEST_GAP * min(1.0, pitch / WIDE_PITCH)


def _blocks(columns: Collection[Key], every: Mapping[int, range]) -> Blocks:
    """Return for each block the columns and the gaps, from left to right."""
    pairs = groupby(sorted(columns), key=lambda key: key[0])
    return {b: with_long_gaps([n for _, n in keys], every.get(b, ())) for b, keys in pairs}


def _counts(blocks: Blocks) -> tuple[int, int]:
    """Return the numbers of columns and of gaps."""
    items = [item for items in blocks.values() for item in items]
    gaps = sum(isinstance(item, Gap) for item in items)
    return len(items) - gaps, gaps


def _span(blocks: Blocks, pitch: float) -> float:
    """Return the width of the blocks, including the space after the last column."""
    columns, gaps = _counts(blocks)
    return columns * pitch + gaps * _gap_width(pitch)


def _pitch(part: TablePart, blocks: Blocks, room: float) -> float:
    """Return the distance of columns, at most `part.wide`, that makes the blocks `room` wide."""
    columns, gaps = _counts(blocks)
    count = max(1, columns) - 1 + part.full
    pitch = room / (count + gaps * WIDEST_GAP / WIDE_PITCH)
    pitch = (room - gaps * WIDEST_GAP) / count if pitch > WIDE_PITCH else pitch
    return min(part.wide, round(pitch, 10))


class _Layout:
    """The rows of a table from top to bottom."""

    def __init__(self, table: Table, sheet: Sheet, all: bool) -> None:
        self.table, self.sheet, self.all = table, sheet, all
        self.left = sheet.labels if len(table.parts) == 1 else sheet.margin + STEPS
        self.left = self.left if table.label_width is None else sheet.margin + table.label_width
        self.right = sheet.width - sheet.margin
        self.parts: list[PlacedPart] = []
        self.boxes: dict[Hashable, Box] = {}
        self.detours = Detours(self.boxes.values())
        self.shapes: list[Shape] = []
        self.y = 0.0

    # Columns.

    def place(self, shown: Sequence[set[Key]], is_last: bool) -> bool:
        """Place the columns of all parts; return whether the columns fit, or True if `is_last`."""
        x, self.parts = self.left, []
        widths = self._widths(shown, is_last)
        for part, columns, width in zip(self.table.parts, shown, widths, strict=True):
            every = {} if self.parts else self.table.every()
            fills = len(self.parts) == len(shown) - 1 and (part.title or not self.parts)
            room, pitch = self.right - x if fills else width, part.wide
            if not self.all:
                whole = part if fills else replace(part, full=1.0)  # with the space after the part
                columns = self._fitting(whole, columns, every, room, is_last)
                pitch = _pitch(whole, _blocks(columns, every), room)
                if pitch < part.narrow and not is_last:
                    return False
            area = PlacedPart(part, x, pitch, _blocks(columns, every))
            if fills and self.parts:  # at the right edge, below the title
                wide = max(area.right - x - area.apart, TITLE)
                area = PlacedPart(part, max(x, self.right - wide), pitch, area.blocks)
            self.parts.append(area)
            x = max(area.right, x + part.least * self.sheet.width) + PARTS
        self.right = max([self.right, *(area.right - area.apart for area in self.parts)])
        return True

    def _widths(self, shown: Sequence[set[Key]], shrink: bool) -> list[float]:
        """Return the width of each part; with `shrink`, a part can be narrower than its columns."""
        pairs = [(part, _blocks(c, {})) for part, c in zip(self.table.parts, shown, strict=True)]
        least = [_span(blocks, part.narrow) for part, blocks in pairs]
        most = [_span(blocks, part.wide) for part, blocks in pairs]
        room = self.right - self.left - PARTS * (len(pairs) - 1)
        share = min(1.0, max(0.0, room - sum(least)) / max(1.0, sum(most) - sum(least)))
        scale = min(1.0, room / max(1.0, sum(least))) if shrink else 1.0
        return [scale * (low + share * (high - low)) for low, high in zip(least, most, strict=True)]

    def _fitting(
        self,
        part: TablePart,
        columns: set[Key],
        every: Mapping[int, range],
        room: float,
        fold: bool,
    ) -> set[Key]:
        """Return the columns to show; optional columns are shown only if they fit.

        With `fold`, columns in the middle of long blocks are omitted until the others fit.
        """

        def pitch(chosen: Collection[Key]) -> float:
            return _pitch(part, _blocks(chosen, every), room)

        chosen = {key for key in columns if key[0] != part.optional}
        while fold and pitch(chosen) < part.narrow and len(chosen) > 2:
            blocks = groupby(sorted(chosen), key=lambda key: key[0])
            longest = max(([*keys] for _, keys in blocks), key=len)
            chosen.remove(longest[len(longest) // 2])
        for key in sorted(columns - chosen):
            if key[0] == part.optional and pitch(chosen | {key}) >= ROOMY:
                chosen.add(key)
        return chosen

    # Rows.

    def add(self, row: Row) -> None:
        """Draw a row below the others."""
        if row.heading is not None:
            head = heading(row.heading.title, row.heading.lines, self.sheet, row.heading.more)
            self.y += BEFORE if self.y else 0
            self.shapes += shifted(head, self.sheet.margin, self.y).shapes
            self.y += head.envelope.bottom
            if any(area.part.title for area in self.parts):
                self.shapes += self._titles(self.y + 12)
                self.y += 18
        if row.note:
            self.shapes.append(
                fitted(self.left, self.y + 14, row.note, self.right - self.left, 12, muted=True)
            )
            self.y += 24
            return
        name, edges = row.name, row.edges
        meaning = Text(self.left - 12, self.y + 14, row.meaning, SMALL, "end", muted=True)
        if row.meaning and meaning.left >= 0:  # omitted in a narrow picture
            self.shapes.append(meaning)
        first = {line.part: line for line in reversed(row.lines)}
        self.y += HEADS * any(line.heads for line in first.values())
        inside, bottoms = list[Shape](), [self.y for _ in self.parts]
        for number, line in enumerate(row.lines):
            area, y = self.parts[line.part], bottoms[line.part]
            if line.heads:
                y += 0 if line is first[line.part] else HEADS
                self.shapes += self._heads(area, line, y - HEADS)
            if line.low:
                shapes, bottoms[line.part] = self._low(area, line, y)
                inside += shapes
                continue
            ids = {cell.id for _, cell in line.cells if cell.id is not None}
            own = [e for e in edges if not e.beside and (e.source in ids or e.target in ids)]
            bows = [edge for edge in own if {edge.source, edge.target} <= ids]
            y += ABOVE * _has_bow_above(area, line, bows)
            side_texts = [*self._beside(name or line.name, line, y)]
            self.shapes += side_texts
            name = ""
            inside += self._cells(area, line, y)
            more = any(not o.low and o.part == line.part for o in row.lines[number + 1 :])
            bottoms[line.part] = y + area.part.height + _beneath(area, bows, own, more)
            notes_end = max((text.y + 2 for text in side_texts), default=0.0)
            bottoms[line.part] = max(bottoms[line.part], notes_end)
        if name:
            self.shapes += self._beside(name, Line(()), self.y - 4)
            bottoms[0] = max(bottoms[0], self.y + self.parts[0].part.height)
        inside += route(edges, self.boxes, self.detours)
        shapes, bottoms[0] = self._formulas(row, bottoms[0])
        inside += shapes
        self.shapes.append(replace(row.moment, shapes=tuple(inside)))
        last = {line.part: line for line in row.lines}
        aparts = {n: self.parts[n].part.apart - LOW_APART for n in last if last[n].low}
        self.y = max(y + aparts.get(n, 0.0) for n, y in enumerate(bottoms))

    def _titles(self, y: float) -> Iterator[Text]:
        """Yield the titles of the parts."""
        ends = [*(area.start for area in self.parts[1:]), self.right]
        for area, end in zip(self.parts, ends, strict=True):
            yield fitted(area.start, y, area.part.title, end - area.start, 12, bold=True)

    def _heads(self, area: PlacedPart, line: Line, y: float) -> Iterator[Text]:
        room = area.pitch - 4
        for key, head in line.heads.items():
            if key not in area.left:
                continue
            x = area.left[key] + area.cell / 2
            if head.bold:
                yield fitted(area.left[key], y + 14, head.label, room + 8, SMALL + 1, bold=True)
                yield fitted(area.left[key], y + 27, head.place, room + 8, SMALL, muted=True)
                continue
            yield fitted(x, y + 14, head.label, room, SMALL, "middle", muted=True)
            yield Text(x, y + 27, head.place, SMALL, "middle", muted=True)

    def _beside(self, name: str, line: Line, y: float) -> Iterator[Text]:
        """Yield the name and the notes to the left of a line."""
        x, room = self.left - 12, self.left - self.sheet.margin - 12
        if name:
            size = 13 if text_width(name, 13, bold=True) <= room else SMALL
            yield fitted(x, y + 18, name, room, size, "end", bold=True)
        notes = [part for note in line.notes for part in _folded(note, room)]
        for number, note in enumerate(notes):
            yield fitted(x, y + 32 + 13 * number, note, room, SMALL, "end", muted=True)

    def _cells(self, area: PlacedPart, line: Line, y: float) -> Iterator[Shape]:
        """Yield the cells of a line, and the marks of its gaps."""
        for key, each in line.cells:
            x = area.left.get(key) if key is not None else area.start
            if x is None:
                continue
            box = Box(x, y, area.cell, area.part.height, each.role)
            if each.id is not None:
                self.boxes[each.id] = box
            yield draw_cell(each, box)
        yield from area.gap_marks(line.blocks, y + area.part.height / 2 + 4)

    def _low(self, area: PlacedPart, line: Line, y: float) -> tuple[list[Shape], float]:
        """Return the low cells of a line, at most `STACKED` in a column, and their lower edge."""
        stacks: dict[float, list[Cell]] = {}
        for key, each in line.cells:
            x = area.start if key is None else area.left.get(key, area.start)
            stacks.setdefault(x, []).append(each)
        shapes: list[Shape] = [*self._beside(line.name, Line(()), y - 4)]
        most = area.pitch - 4
        for level in range(min(STACKED, max(map(len, stacks.values()), default=0))):
            row = {x: cells[level] for x, cells in stacks.items() if level < len(cells)}
            values = {x: np.asarray(c.value) for x, c in row.items() if c.value is not None}
            labels = {
                x: cell.short
                if cell.short and thin_width(values[x], cell.label) > area.cell
                else cell.label
                for x, cell in row.items()
            }
            width = thin_width if self.all else usual_width  # values do not affect the layout
            widest = max((width(value, labels[x]) for x, value in values.items()), default=0.0)
            high = TWO_LINES if widest > most else LOW
            for x, each in row.items():
                value = values.get(x)
                need = 0.0 if value is None else thin_width(value, labels[x])
                wide = max(area.cell, min(need, most) if each.id is None else 0)
                box = Box(x - (wide - area.cell) / 2, y, wide, high, each.role)
                if each.id is not None:
                    self.boxes[each.id] = box
                shapes.append(draw_low_cell(each, box, labels[x]))
            y += high + 3
        hidden = sum(max(0, len(cells) - STACKED) for cells in stacks.values())
        if hidden:
            text = f"⋯ {hidden} more"
            shapes.append(Text(self.left - 12, y - 9, text, SMALL, "end", muted=True))
        return shapes, y

    def _formulas(self, row: Row, y: float) -> tuple[list[Shape], float]:
        """Return the formulas below the first part of a row, and the lower edge of the formulas."""
        shapes, wide = list[Shape](), SMALL * MONO_WIDTH
        end = self.parts[1].start - 20 if self.parts[1:] else self.right
        indent = 2 if self.parts[1:] else 4
        letters = int((end - self.left) / wide)

        def write(line: str, whole: str, x: float, y: float, muted: bool) -> None:
            x += self.left + (len(line) - len(line.lstrip())) * wide
            title = whole if line.endswith("…") else ""
            look = {"mono": True, "muted": muted, "title": title}
            shapes.append(Text(x, y + 12, line.lstrip(), SMALL, **look))  # type: ignore[arg-type]

        for formula in row.formulas:
            symbols, numbers = formula.symbols, formula.numbers
            lines = formula_lines(symbols, letters, MOST_LINES, indent)
            more = formula_lines(numbers, letters, MOST_LINES) if numbers else []
            if more and len(lines) == 1 and len(lines[0]) + 4 + len(numbers) <= letters:
                write(numbers, "", len(lines[0]) * wide + 24, y, muted=True)
                more = []
            for number, line in enumerate([*lines, *more]):
                is_numbers = number >= len(lines)
                write(line, numbers if is_numbers else symbols, 0.0, y, is_numbers)
                y += LINE
        return shapes, y + 12 * bool(row.formulas)


def _folded(note: str, room: float) -> list[str]:
    """Return the lines of a note; a note with positions breaks only at the arrow."""
    read, arrow, written = note.partition(" → ")
    if arrow and text_width(note, SMALL) > room:
        return [read, f"→ {written}"]
    if any(text_width(word, SMALL) > room for word in note.split()):
        return [note]
    return folded(note, room, SMALL)


def _has_bow_above(area: PlacedPart, line: Line, bows: Sequence[Edge]) -> bool:
    """Return whether an arrow runs above cells; an arrow to the next cell is straight instead."""
    lefts = {each.id: area.left.get(key, 0.0) for key, each in line.cells if key is not None}
    far = 1.5 * area.pitch
    return any(e.over and abs(lefts[e.target] - lefts[e.source]) > far for e in bows)


def _beneath(area: PlacedPart, bows: Sequence[Edge], edges: Sequence[Edge], more: bool) -> float:
    """Return the height below a line for bows, labels, and arrows to the next line."""
    if area.part.height < TWO_LINES:
        return 6
    if area.part.title:
        return BAND
    if more and edges:
        return WIDE if any(edge.factor for edge in edges) else BETWEEN
    below = [edge for edge in bows if not edge.over]
    if below:
        return BETWEEN if any(edge.labels for edge in below) else max(22, area.part.apart)
    return area.part.apart
