"""The layout of tables: the selection of steps and columns, and the positions of cells.

For a long loop, `lay_out` shows the requested steps, and as many steps at both ends as fit. If a
single step has too many columns, gaps replace columns in the middle.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from visual.layout.arrows import Edge, route
from visual.layout.canvas import GapMark, formula_lines, heading, scene_with_legend
from visual.layout.cells import TWO_LINES, draw_cell, draw_low_cell, low_width
from visual.layout.columns import Gap, with_long_gaps
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Cell, Fold, Key, Line, Note, Row, Table, TablePart
from visual.layout.tracks import Router
from visual.scene.combinators import Piece, above, gap, shifted, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Box, Group, Scene, Shape, Text, TextLook, fitted, folded, text_width
from visual.scene.theme import Role

SMALL, LINE = 11, 15  # font size of text next to cells; height of a line of a formula
LOW, HEADS = 20, 34  # the heights of a low cell, and of the names above columns
WIDEST_GAP, WIDE_PITCH = 64.0, 80.0  # maximum width of a gap; minimum column distance at this width
ROOMY = 66.0  # the minimum distance between columns with optional columns
PARTS, TITLE = 26.0, 300.0  # distance between two parts; minimum width of the last part
BEFORE, AFTER = 14.0, 14.0  # the space above each heading except the first, and below the table
LOW_APART = 10.0  # the minimum space below low cells
STACKED, MOST_LINES = 4, 3  # maximum numbers: low cells in a column, lines of a formula
ABOVE, BAND, BETWEEN, WIDE = 20, 24, 28, 36  # heights of the space for arrows

Blocks = Mapping[int, list[int | Gap]]


class PlacedPart:
    """A part of a table, with the `left` edges of its columns, and with its `gaps`.

    Each gap consists of the number of its block, the x of its middle, and its number of columns.
    """

    def __init__(self, part: TablePart, start: float, pitch: float, blocks: Blocks) -> None:
        self.part, self.start, self.pitch, self.blocks = part, start, pitch, blocks
        self.cell, self.right = int(pitch * part.full), start
        self.apart, self.left = pitch - self.cell, dict[Key, float]()
        self.gaps = list[tuple[int, float, int]]()
        for block, items in blocks.items():
            for item in items:
                if isinstance(item, Gap):
                    width = WIDEST_GAP * min(1.0, pitch / WIDE_PITCH)
                    self.gaps.append((block, self.right + (width - self.apart) / 2, item.hidden))
                    self.right += width
                else:
                    self.left[block, item] = self.right
                    self.right += pitch


def lay_out(
    table: Table, sheet: Sheet, requested: tuple[int, ...] = (), all: bool = False
) -> Piece:
    """Draw a table so that it fits a sheet or, with `all`, with all steps and columns."""
    layout = _Layout(table, sheet, all)
    for ends in (None,) if all else (None, 3, 2, 1, 0):
        fold = Fold(ends, requested, sheet)
        shown = [*table.touched(fold)]
        if layout.place(shown, is_last=ends == 0 or sheet.steps is not None):
            break
    for row in table.content or table.rows(fold, [area.left for area in layout.parts]):
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
    """Return the picture of a single table, with the legend of `scene_with_legend`."""
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


def _blocks(columns: Collection[Key], every: range = range(0)) -> Blocks:
    """Return the columns and the gaps of each block, from left to right."""
    pairs = groupby(sorted(columns), key=lambda key: key[0])
    return {b: with_long_gaps([n for _, n in keys], () if b else every) for b, keys in pairs}


def _pitch(part: TablePart, blocks: Blocks, room: float) -> float:
    """Return the distance between columns that makes blocks `room` wide, at most `part.wide`."""
    items = [item for items in blocks.values() for item in items]
    gaps = sum(isinstance(item, Gap) for item in items)
    count = max(1, len(items) - gaps) - 1 + part.full
    pitch = room / (count + gaps * WIDEST_GAP / WIDE_PITCH)
    pitch = (room - gaps * WIDEST_GAP) / count if pitch > WIDE_PITCH else pitch
    return min(part.wide, round(pitch, 10))


class _Layout:
    """The positions of the columns of a table, and the shapes of its rows from top to bottom."""

    def __init__(self, table: Table, sheet: Sheet, all: bool) -> None:
        self.table, self.sheet, self.all = table, sheet, all
        width = table.label_width
        self.left = sheet.labels if width is None else sheet.margin + width
        self.right = sheet.width - sheet.margin
        self.parts: list[PlacedPart] = []
        self.boxes: dict[Hashable, Box] = {}
        self.router = Router(self.boxes.values(), right=sheet.width)
        self.shapes: list[Shape] = []
        self.y = 0.0

    def place(self, shown: Sequence[set[Key]], is_last: bool) -> bool:
        """Place all columns. Return whether they fit. If `is_last`, omit columns until they fit."""
        x, self.parts = self.left, []
        pairs = [*zip(self.table.parts, shown, strict=True)]
        widths = self._widths(pairs, is_last)
        for (part, columns), width in zip(pairs, widths, strict=True):
            every = range(0) if self.parts else self.table.every
            fills = len(self.parts) == len(pairs) - 1 and (part.title or not self.parts)
            room, pitch = self.right - x if fills else width, part.wide
            if not self.all:
                whole = part if fills else replace(part, full=1.0)  # with the space after the part
                is_chosen = self.sheet.steps is not None and self.sheet.on_paper
                columns = self._fitting(whole, columns, every, room, is_last and not is_chosen)
                pitch = _pitch(whole, _blocks(columns, every), room)
                if pitch < part.narrow and not is_last:
                    return False
                pitch = max(pitch, part.narrow if is_chosen else 0.0)  # `fit` refuses the figure
            area = PlacedPart(part, x, pitch, _blocks(columns, every))
            if fills and self.parts:  # the last part ends at the right edge of the sheet
                wide = max(area.right - x - area.apart, TITLE)
                area = PlacedPart(part, max(x, self.right - wide), pitch, area.blocks)
            self.parts.append(area)
            x = max(area.right, x + part.least * self.sheet.width) + PARTS
        self.right = max([self.right, *(area.right - area.apart for area in self.parts)])
        return True

    def _widths(self, pairs: Sequence[tuple[TablePart, set[Key]]], shrink: bool) -> list[float]:
        """Return the width of each part. With `shrink`, parts can be too narrow for columns."""
        blocks = [(part, _blocks(columns)) for part, columns in pairs]
        least = np.array([PlacedPart(part, 0.0, part.narrow, b).right for part, b in blocks])
        most = np.array([PlacedPart(part, 0.0, part.wide, b).right for part, b in blocks])
        room, total = self.right - self.left - PARTS * (len(pairs) - 1), float(least.sum())
        share = min(1.0, max(0.0, room - total) / max(1.0, float(most.sum()) - total))
        scale = min(1.0, room / max(1.0, total)) if shrink else 1.0
        return (scale * (least + share * (most - least))).tolist()

    @staticmethod
    def _fitting(
        part: TablePart, columns: set[Key], every: range, room: float, fold: bool
    ) -> set[Key]:
        """Return the columns to show, with optional columns if all remain `ROOMY` pixels apart.

        With `fold`, omit columns in the middle of the longest block until the others fit.
        """

        def pitch(chosen: Collection[Key]) -> float:
            return _pitch(part, _blocks(chosen, every), room)

        chosen = {key for key in columns if key[0] != part.optional}
        half = int(room / part.narrow) + 1  # of the columns of a block that can fit
        for _, block in groupby(sorted(chosen) if fold else (), key=lambda key: key[0]):
            chosen.difference_update([*block][half:-half])
        while fold and pitch(chosen) < part.narrow and len(chosen) > 2:
            blocks = groupby(sorted(chosen), key=lambda key: key[0])
            longest = max(([*keys] for _, keys in blocks), key=len)
            chosen.remove(longest[len(longest) // 2])
        for key in sorted(columns - chosen):
            if key[0] == part.optional and pitch(chosen | {key}) >= ROOMY:
                chosen.add(key)
        return chosen

    def add(self, row: Row) -> None:
        """Draw a row below the previous rows."""
        if row.title:
            head = heading(row.title, row.about, self.sheet, row.more)
            self.y += BEFORE if self.y else 0
            self.shapes += shifted(head, self.sheet.margin, self.y).shapes
            self.y += head.envelope.bottom
            if self.parts[0].part.title:
                ends = [*(area.start for area in self.parts[1:]), self.right]
                for area, end in zip(self.parts, ends, strict=True):
                    title, x = area.part.title, area.start
                    self.shapes.append(fitted(x, self.y + 12, title, end - x, 12, bold=True))
                self.y += 18
        if row.note:
            room = self.right - self.left
            self.shapes.append(fitted(self.left, self.y + 14, row.note, room, 12, muted=True))
            self.y += 24
            return
        meaning = Text(self.left - 12, self.y + 14, row.meaning, SMALL, "end", muted=True)
        if row.meaning and meaning.left >= 0:  # a narrow picture omits the meaning
            self.shapes.append(meaning)
        parts = [[line for line in row.lines if line.part == n] for n in range(len(self.parts))]
        self.y += HEADS * any(lines[0].heads for lines in parts if lines)
        inside, bottoms = list[Shape](), list[float]()
        for area, lines in zip(self.parts, parts, strict=True):
            shapes, bottom = self._lines(row, area, lines)
            inside += shapes
            bottoms.append(bottom)
        if row.name and all(line.low for line in row.lines):
            self.shapes += self._beside(self.y - 4, row.name)
            bottoms[0] = max(bottoms[0], self.y + self.parts[0].part.height)
        inside += route(row.edges, self.boxes, self.router)
        shapes, bottoms[0] = self._formulas(row, bottoms[0])
        number, moment = row.moment
        self.shapes.append(Group((*inside, *shapes), number, moment=moment))
        for n, (area, lines) in enumerate(zip(self.parts, parts, strict=True)):
            bottoms[n] += area.part.apart - LOW_APART if lines and lines[-1].low else 0.0
        self.y = max(bottoms)

    def _lines(
        self, row: Row, area: PlacedPart, lines: Sequence[Line]
    ) -> tuple[list[Shape], float]:
        """Return the cells of a row in one part, and the y below the cells and their arrows."""
        named = next((line for line in row.lines if not line.low), None)
        inside, bottom = list[Shape](), self.y
        for number, line in enumerate(lines):
            y = bottom
            if line.heads:
                y += HEADS * (number > 0)
                self.shapes += self._heads(area, line, y - HEADS)
            if line.low:
                shapes, bottom = self._low(area, line, y)
                inside += shapes
                continue
            lefts = dict[Key | None, float]([(None, area.start), *area.left.items()])
            cells = [(cell, lefts[cell.column]) for cell in line.cells if cell.column in lefts]
            xs = {cell.id: x for cell, x in cells if cell.id is not None}
            own = [e for e in row.edges if not e.beside and xs.keys() & {e.source, e.target}]
            bows = [edge for edge in own if xs.keys() >= {edge.source, edge.target}]
            far = 1.5 * area.pitch  # an arrow over the cells to the next cell is straight
            y += ABOVE * any(e.over and abs(xs[e.target] - xs[e.source]) > far for e in bows)
            name = (row.name if line is named else "") or line.name
            side_texts = [*self._beside(y, name, line.notes)]
            self.shapes += side_texts
            inside += self._cells(area, line, cells, y)
            has_next = any(not other.low for other in lines[number + 1 :])
            bottom = y + area.part.height + _beneath(area, bows, own, has_next)
            bottom = max([bottom, *(text.y + 2 for text in side_texts)])
        return inside, bottom

    def _heads(self, area: PlacedPart, line: Line, y: float) -> Iterator[Text]:
        room = area.pitch - 4
        for key, (label, place) in line.heads.items():
            if key in area.left and area.part.bold:
                yield fitted(area.left[key], y + 14, label, room + 8, SMALL + 1, bold=True)
                yield fitted(area.left[key], y + 27, place, room + 8, SMALL, muted=True)
            elif key in area.left:
                x = area.left[key] + area.cell / 2
                yield fitted(x, y + 14, label, room, SMALL, "middle", muted=True)
                yield fitted(x, y + 27, place, room, SMALL, "middle", muted=True)

    def _beside(self, y: float, name: str, notes: Sequence[Note] = ()) -> Iterator[Text]:
        """Yield the name and the notes to the left of a line."""
        x, room = self.left - 12, self.left - self.sheet.margin - 12
        if name:
            size = 13 if text_width(name, 13, bold=True) <= room else SMALL
            yield fitted(x, y + 18, name, room, size, "end", bold=True)
        for number, part in enumerate(part for note in notes for part in _folded(note, room)):
            yield fitted(x, y + 32 + 13 * number, part, room, SMALL, "end", muted=True)

    def _cells(
        self, area: PlacedPart, line: Line, cells: Iterable[tuple[Cell, float]], y: float
    ) -> Iterator[Shape]:
        """Yield cells with these left edges in a line, and a mark for each gap of the line."""
        for each, x in cells:
            box = Box(x, y, area.cell, area.part.height, each.role, faded=each.faded)
            if each.id is not None:
                self.boxes[each.id] = box
            yield draw_cell(each, box)
        for block, x, hidden in area.gaps:
            if block in line.blocks:
                low = y + area.part.height / 2 + 4
                yield GapMark(x, low, f"⋯{hidden:,}", SMALL, "middle", muted=True)

    def _low(self, area: PlacedPart, line: Line, y: float) -> tuple[list[Shape], float]:
        """Return at most `STACKED` low cells per column of a line, and the y below the cells."""
        stacks: dict[float, list[Cell]] = {}
        for each in line.cells:
            x = area.start if each.column is None else area.left.get(each.column, area.start)
            stacks.setdefault(x, []).append(each)
        shapes: list[Shape] = [*self._beside(y - 4, line.name)]
        most = area.pitch - 4
        for level in range(min(STACKED, max(map(len, stacks.values()), default=0))):
            row = {x: cells[level] for x, cells in stacks.items() if level < len(cells)}
            values = {x: np.asarray(c.value) for x, c in row.items() if c.value is not None}
            labels = {x: cell.label for x, cell in row.items()}
            for x, cell in row.items():
                if cell.short and low_width(values[x], cell.label) > area.cell:
                    labels[x] = cell.short
            # Without `all`, values do not affect the layout.
            needs = (low_width(v, labels[x], is_typical=not self.all) for x, v in values.items())
            high = TWO_LINES if max(needs, default=0.0) > most else LOW
            for x, each in row.items():
                wide = float(area.cell)
                if each.id is None and x in values:
                    wide = max(wide, min(low_width(values[x], labels[x]), most))
                box = Box(x - (wide - area.cell) / 2, y, wide, high, each.role, faded=each.faded)
                if each.id is not None:
                    self.boxes[each.id] = box
                shapes.append(draw_low_cell(each, box, labels[x]))
            y += high + 3
        if hidden := sum(max(0, len(cells) - STACKED) for cells in stacks.values()):
            shapes.append(Text(self.left - 12, y - 9, f"⋯ {hidden} more", SMALL, "end", muted=True))
        return shapes, y

    def _formulas(self, row: Row, y: float) -> tuple[list[Shape], float]:
        """Return the formulas below the first part of a row, and the y of their lower edge."""
        shapes, wide = list[Shape](), SMALL * MONO_WIDTH
        end, indent = (self.parts[1].start - 20, 2) if self.parts[1:] else (self.right, 4)
        letters = int((end - self.left) / wide)
        for symbols, numbers in row.formulas:
            lines = formula_lines(symbols, letters, MOST_LINES, indent)
            more = formula_lines(numbers, letters, MOST_LINES) if numbers else []
            if more and len(lines) == 1 and len(lines[0][0]) + 4 + len(numbers) <= letters:
                x = self.left + len(lines[0][0]) * wide + 24
                shapes.append(Text(x, y + 12, numbers, SMALL, mono=True, muted=True))
                more = []
            for number, (words, inside, title) in enumerate([*lines, *more]):
                look = TextLook(mono=True, muted=number >= len(lines), title=title)
                shapes.append(Text(self.left + inside * wide, y + 12, words, SMALL, **look))
                y += LINE
        return shapes, y + 12 * bool(row.formulas)


def _folded(note: Note, room: float) -> list[str]:
    """Return the lines of a note. A text breaks between words if each word fits."""
    whole = note if isinstance(note, str) else " ".join(note)
    if text_width(whole, SMALL) <= room:
        return [whole]
    if not isinstance(note, str):
        return [*note]
    fits = all(text_width(word, SMALL) <= room for word in note.split())
    return folded(note, room, SMALL) if fits else [note]


def _beneath(area: PlacedPart, bows: Sequence[Edge], edges: Sequence[Edge], more: bool) -> float:
    """Return the height below a line for arcs, labels, and arrows to the next line."""
    if area.part.height < TWO_LINES:
        return 6
    if area.part.title:
        return BAND
    if more and edges:
        return WIDE if any(edge.factor for edge in edges) else BETWEEN
    if below := [edge for edge in bows if not edge.over]:
        return BETWEEN if any(edge.labels for edge in below) else max(22, area.part.apart)
    return area.part.apart
