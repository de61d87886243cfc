"""The positions of the cells, the headings, and the gaps of a machine.

No position depends on the moment: a player changes only the states of cells. A column is a time,
and a row is a tape. Rows are `TALL` if at most `MOST_TALL` rows are not low, `COMPACT` if at most
`MOST_COMPACT` are not low, and otherwise `DENSE`.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import accumulate, chain, pairwise

from lab.notation import integers
from lab.records import cached_property
from visual.layout.arrows import Point
from visual.layout.columns import Gap
from visual.pictures.machine.content import LISTED, MachineContent, Movement, PartKind, SlotCell
from visual.pictures.machine.states import states
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Text, fitted, folded
from visual.scene.theme import Role


@dataclass(frozen=True)
class Density:
    """Heights in pixels: of a box, of the name above it, of the space below it, and of letters.

    `factor` is the font size of factors. Arcs are `lane` pixels apart and need `arcs` pixels above
    names. If gaps are too narrow for factors, their lines are `under` pixels below the boxes.
    """

    box: float
    name: float
    below: float
    letters: float
    factor: float = 11.0
    arcs: float = 19.0
    lane: float = 6.0
    under: float = 13.0

    @property
    def chip(self) -> float:
        """The height of a factor."""
        return self.factor + 3


TALL = Density(box=58, name=18, below=48, letters=18, factor=13)
COMPACT = Density(box=20, name=12, below=4, letters=12)
DENSE = Density(box=17, name=12, below=4, letters=11, arcs=10, lane=3, under=7)
OUTPUT = Density(box=18, name=1, below=3, letters=11)
MOST_TALL, MOST_COMPACT = 3, 6  # the maximum numbers of such rows; low rows do not count
LABELS = 166.0  # the width of the column with the names of rows, in pixels
NARROW = 600.0  # on a narrower sheet, the names of rows are above the rows
FACTOR = 52.0  # the minimum width of a factor, in pixels
ENTRY = 13.0  # the height of an entry of an array
NARROWEST = 56.0  # the minimum distance between columns
LEAST_BOX = 0.42  # the minimum width of a box next to wide factors, as a fraction of a column
LOW, LEAST = 11.0, 2.0  # the minimum space below lines under boxes, and below a row
GAP_COLUMN = 0.55  # the width of hidden columns, as a fraction of a column
NAME, SMALLEST = 11.0, 11.0  # the font size of names, and the smallest font size of numbers
MARGIN = 3.0  # the minimum space between a number and the edges of its box
POSITION = 13.0  # the height of a position below a cell


@dataclass(frozen=True)
class CellBox(SlotCell):
    """A cell with its center, its size, and the name above the cell if there is space.

    `keys` are the result of `states`, which adds keys between the moments. If `is_listed`, the cell
    lists the numbers of its array; otherwise, it shows a strip of bars. All cells of a row have the
    same `is_listed`. `below` is the height of the position below the cell, or 0 without a position.
    """

    _: KW_ONLY
    x: float
    y: float
    width: float
    height: float
    letters: float
    label: str
    is_listed: bool
    below: float

    @cached_property
    def area(self) -> Envelope:
        """The rectangle of the box."""
        left, top = self.x - self.width / 2, self.y - self.height / 2
        return Envelope(left, top, self.x + self.width / 2, self.y + self.height / 2)

    @property
    def anchors(self) -> dict[str, Point]:
        """The points of the texts, from the center; `mark` is ↺, for a restored value."""
        mark, top = (self.width / 2 - 3, 11 - self.height / 2), -self.height / 2
        number, name, position = 0.36 * self.letters, top - 4, 10 - top
        return {"mark": mark, "number": (0, number), "name": (0, name), "position": (0, position)}

    @property
    def corner(self) -> tuple[Point, ...]:
        """The lines that mark a seed, from the center. Entries extend into the corner."""
        left, top, size = 1 - self.width / 2, 1 - self.height / 2, 6 if self.entries else 8
        line = (left, top + size), (left, top), (left + size, top), (left, top + size)
        return line if self.has_seed else ()

    @cached_property
    def entries(self) -> list[dict[str, float]]:
        """The point of each listed number, or the start, width, and longest `reach` of each bar."""
        count = max(len(key.entries) for key in self.keys)
        middles = [n - (count - 1) / 2 for n in range(count)]
        if self.is_listed:
            return [{"x": 0, "y": ENTRY * n + 4} for n in middles]
        wide, high = (self.width - 8) / max(1, count), self.height / 2 - 3
        return [{"x": wide * n, "y": 0, "width": wide, "reach": high} for n in middles]


@dataclass(frozen=True)
class Heading:
    """A text about the Scan `scan` or about one of its rows."""

    scan: int
    label: Text
    is_second: bool
    ground: Box | None = None  # a strip behind the text that covers the lines of the picture


@dataclass(frozen=True, eq=False)
class Arrangement:
    """A machine on a sheet, with the positions of cells, headings, and gaps."""

    machine: MachineContent
    width: float
    height: float
    boxes: tuple[CellBox, ...]
    headings: tuple[Heading, ...]
    gaps: tuple[Text, ...]  # the numbers of hidden columns
    pitch: float
    density: Density  # of rows that are not low
    is_cramped: bool  # whether boxes are wide, as a number or a factor lacks room

    @property
    def is_named(self) -> bool:
        """Whether all cells have names, because the rows are tall or the Scans are few."""
        return self.is_tall or len(self.machine.scans) < (5 if self.machine.runs else 3)

    @property
    def is_tall(self) -> bool:
        """Whether rows have space for sums, and for lines to other rows."""
        return self.density.box == TALL.box

    @cached_property
    def rows(self) -> dict[int, Envelope]:
        """The rectangle of each row of boxes, as wide as the sheet."""
        areas = {box.row: box.area for box in self.boxes}
        return {row: area._replace(left=0, right=self.width) for row, area in areas.items()}

    @cached_property
    def names(self) -> dict[int, Envelope]:
        """The rectangle of each name above a cell."""
        return {
            n: Envelope(box.x, low - NAME, box.x, low).padded(wide / 2, 0)
            for n, box in enumerate(self.boxes)
            for low in [box.y + box.anchors["name"][1]]
            if (wide := text_width(box.label, NAME))
        }

    @cached_property
    def texts(self) -> list[Envelope]:
        """The rectangles of positions, and of headings on strips."""
        cells = [box for box in self.boxes if box.below]
        middles = ((b.x, b.y + b.anchors["position"][1], integers(b.position)) for b in cells)
        texts = (Text(*middle, NAME, "middle") for middle in middles)
        on_strips = (heading.label for heading in self.headings if heading.ground)
        return [envelope_of(text) for text in (*texts, *on_strips)]


def arrange(
    machine: MachineContent, width: float = 840.0, contributor: bool = False
) -> Arrangement:
    """Return the positions of a machine on a sheet that is at least `width` pixels wide.

    With `contributor`, add space for positions below cells, printed Scans, and taps.
    """
    is_narrow = contributor or width < NARROW
    left, position = 6.0 if is_narrow else LABELS, POSITION if contributor else 0.0
    hidden = [time.hidden if isinstance(time, Gap) else 0 for time in machine.times]
    shares = [GAP_COLUMN if count else 1.0 for count in hidden]
    pitch = max((width - left - 8) / max(1.0, sum(shares)), NARROWEST)
    edges = [*accumulate((pitch * share for share in shares), initial=left)]
    middles = [(start + end) / 2 for start, end in pairwise(edges)]
    high_rows = sum(not row.is_low for row in machine.rows)
    usual = TALL if high_rows <= MOST_TALL else COMPACT if high_rows <= MOST_COMPACT else DENSE
    lines, widest = [*_lines(machine)], _widest_number(machine)
    sums = ((term, a, b) for kind, term, a, b in lines if kind is PartKind.SUM and a.row == b.row)
    near = (term for term, a, b in sums if abs(a.column - b.column) == 1)
    space = max([FACTOR, *(text_width(t.label, usual.factor, bold=True) + 10 for t in near)])
    most = 112.0 if usual is TALL else 92.0
    box_width = min(most, 0.53 * pitch, max(pitch - space, LEAST_BOX * pitch))
    box_width = max(box_width, min(SMALLEST * widest + 2 * MARGIN, pitch - space))
    is_cramped = pitch - box_width < space - 1e-9 or box_width < SMALLEST * widest  # a cut number
    if is_cramped:  # factors are below the boxes
        box_width = (0.86 if is_narrow else 0.76) * pitch
    letters = max(SMALLEST, min(usual.letters, (box_width - 8) / widest))
    # The rows with lines over other cells, and the upper rows of lines with factors.
    arc_rows = {b.row for _, _, a, b in lines if a.row == b.row and abs(a.column - b.column) > 1}
    factor_rows = {min(a.row, b.row) for _, term, a, b in lines if term.label and a.row != b.row}
    densities, listed = list[Density](), list[bool]()
    for number, row in enumerate(machine.rows):
        density = OUTPUT if row.is_low and usual is not TALL else usual
        next_row = machine.rows[number + 1 : number + 2]  # the next row, if any
        ends_scan = any(row.scan != r.scan and row.is_second == r.is_second for r in next_row)
        if usual is DENSE and not is_narrow and ends_scan:
            density = replace(density, below=LEAST)  # lines can cover the next Scan's names
        elif is_cramped and density is usual:
            density = replace(usual, below=max(usual.under + LOW, usual.below))
        arrays = [key.entries for c in machine.cells if c.row == number for key in c.keys]
        count = max((len(array) for array in arrays if len(array) <= LISTED), default=0)
        box_height = max(density.box, ENTRY * count + 5 if count else 0)  # lists all numbers
        below = position + (2 * density.chip if contributor and number in factor_rows else 0)
        densities.append(replace(density, box=box_height, below=density.below + below))
        widths = (text_width(text, SMALLEST, bold=True) for array in arrays for text in array)
        is_short = all(len(array) <= LISTED for array in arrays)
        listed.append(is_short and max(widths, default=0.0) <= box_width - 2)
    line = (width - 12) * contributor  # of a heading
    width = max(width, edges[-1] + 8)
    strip = Box(0, 0, width, 18 if contributor else 16, Role.PANEL) if is_narrow else None
    heights, headings, bottom = _place_rows(machine, densities, arc_rows, strip, line)
    boxes = []
    for cell, keys in zip(machine.cells, states(machine), strict=True):
        density = densities[cell.row]
        room = 0.8 * box_width if cell.row in arc_rows else pitch - 4  # arcs end next to the name
        is_named = density.name >= COMPACT.name and text_width(cell.name, NAME) <= room
        box = CellBox(
            **{**vars(cell), "keys": keys},
            x=middles[cell.column],
            y=heights[cell.row],
            width=box_width,
            height=density.box,
            letters=min(letters, density.letters),
            label=cell.name if is_named else "",
            is_listed=listed[cell.row],
            below=position,
        )
        boxes.append(box)
    y, columns = heights[0] + 4, zip(middles, hidden, strict=True)
    gaps = tuple(Text(x, y, f"⋯ {n:,}", 11, "middle", muted=True) for x, n in columns if n)
    placed = tuple(boxes), tuple(headings), gaps
    bottom += LEAST if usual is TALL else LOW  # values move below the last row
    return Arrangement(machine, width, bottom, *placed, pitch, usual, is_cramped)


def _widest_number(machine: MachineContent) -> float:
    """Return the largest width of a number in a cell, as a multiple of its font size."""
    keys = (key for cell in machine.cells for key in cell.keys)
    texts = (key.entries if 1 < len(key.entries) <= LISTED else (key.text,) for key in keys)
    return max((text_width(text, 1.0, bold=True) for text in chain(*texts)), default=1.0) or 1.0


def _lines(machine: MachineContent) -> Iterator[tuple[PartKind, Movement, SlotCell, SlotCell]]:
    """Yield the kind, the term, the source, and the target of each line between cells."""
    for part in machine.parts():
        for term in part.terms:
            if term.source is not None:
                yield part.kind, term, machine.cells[term.source], machine.cells[part.target]


def _place_rows(
    machine: MachineContent, sizes: list[Density], arcs: set[int], strip: Box | None, line: float
) -> tuple[list[float], list[Heading], float]:
    """Return the y of each row, the headings (above rows, on copies of a `strip`), and the end.

    The headings for a contributor have lines of `line` pixels; for others, `line` is 0.
    """
    y, heights, headings = 3.0, list[float](), list[Heading]()
    for number, (row, density) in enumerate(zip(machine.rows, sizes, strict=True)):
        scan = machine.scans[row.scan]
        is_first = number == 0 or machine.rows[number - 1].scan != row.scan
        name, is_second = f"{scan.run}{scan.number} {scan.name}", row.is_second
        above = [f"{name}: {row.name}" if is_first else row.name] if strip else []
        if line:
            above = [name, *folded(scan.about, line, NAME)] if is_first else []
            above += folded(f"{row.name} {row.access}", line, NAME)
        texts = [(6, y + 14 + 17 * n, text, is_first and not n) for n, text in enumerate(above)]
        y += 17 * len(above) + (4 if line else 1) if strip else 0
        y += density.name + (density.arcs if number in arcs else 0)
        middle = y + density.box / 2
        heights.append(middle)
        if not strip:
            up, down = (3, 13) if density.box > COMPACT.box else (4, 9)
            texts = [(8, middle - up, name, True), (8, middle + down, row.name, False)]
            texts = texts if is_first else [(20, middle + 4, row.name, False)]
        for x, low, text, is_bold in texts:
            most = 10_000 if strip else LABELS - x - (4 if is_first else 8)
            size = 13 if is_bold and text_width(text, 13, bold=True) <= most else 11
            label = fitted(x, low, text, most, size, bold=is_bold, muted=not (is_bold or strip))
            ground = strip and replace(strip, y=low - 14)
            headings.append(Heading(row.scan, label, is_second, ground))
        y += density.box + density.below
    return heights, headings, y
