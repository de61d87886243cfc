"""The places of a machine: one box for each cell, one path for each value that travels.

No place depends on the moment: a machine is arranged once, and playing only changes states.
Columns are aligned by time, rows are tapes.  Two heights of rows exist, `TALL` for a loop and its
gradient, `COMPACT` for more; the pitch of columns follows from the width.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from visual.pictures.machine.content import Cell, Machine, Part, Row, Term
from visual.scene.fonts import text_width

Point = tuple[float, float]


@dataclass(frozen=True)
class Density:
    """The heights of a row, in pixels: its box, the name above it, the space below, its letters."""

    box: float
    name: float
    below: float
    letters: float


TALL = Density(box=46, name=17, below=33, letters=16)
COMPACT = Density(box=22, name=13, below=5, letters=12)
OUTPUT = Density(box=18, name=1, below=5, letters=11)
MOST_TALL = 3  # rows
LABELS, NARROW = 150.0, 600.0  # pixels: the names of rows; a sheet that has them above the rows
BOW, LANE, HEAD, CHIP = 13.0, 6.0, 16.0, 16.0
FACTOR, UNDER = 52.0, 13.0  # room for a factor between two boxes; else lines run so far below them
NARROWEST = 56.0  # a column
LOW = 24.0  # the least space below a row with such lines
GAP_COLUMN = 0.55  # of a column: hidden columns
NAME, SMALLEST = 11.0, 11.0


@dataclass(frozen=True)
class Box:
    """A cell at its place, by its center."""

    x: float
    y: float
    width: float
    height: float
    letters: float

    @property
    def left(self) -> float:
        """The left edge."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Track:
    """The way of a term: its line, the place of its factor, and the lines from saved values.

    `turn` is the share of the line at which the factor lies.
    """

    points: tuple[Point, ...]
    chip: Point | None = None
    turn: float = 0.5
    saved: tuple[tuple[Point, ...], ...] = ()


@dataclass(frozen=True)
class Heading:
    """The name of a row, or of a Scan, at its baseline; `scan` counts from 1."""

    scan: int
    x: float
    y: float
    text: str
    is_bold: bool
    is_second: bool = False


@dataclass(frozen=True)
class Arrangement:
    """A machine on a sheet: everything that has a place."""

    machine: Machine
    width: float
    height: float
    boxes: tuple[Box, ...]
    headings: tuple[Heading, ...]
    gaps: tuple[tuple[float, int], ...]  # the middle of a hidden stretch, and its columns
    pitch: float
    is_tall: bool

    def track(self, part: Part, term: Term) -> Track:
        """The way of one term of a sum into its target."""
        points, chip, turn = self._line(term, part.target)
        saved: tuple[tuple[Point, ...], ...] = ()
        if chip is not None:
            lines = (self._drop(cell, chip, n) for n, cell in enumerate(term.saved))
            saved = tuple(lines)
        return Track(points, chip, turn, saved)

    def _line(self, term: Term, target: int) -> tuple[tuple[Point, ...], Point | None, float]:
        """The line of a term, the place of its factor, and the share of the line before it."""
        to, cell = self.boxes[target], self.machine.cells[target]
        if term.source is None:
            return self._from_side(to, cell)
        start, source = self.boxes[term.source], self.machine.cells[term.source]
        if term.source == target:
            above = ((to.x, to.top - 14), (to.x, to.top))
            return above, (self._side(to, cell), to.y), 0.5
        way = 1 if cell.column > source.column else -1
        apart = abs(cell.column - source.column)
        if source.row == cell.row and apart == 1 and self.is_cramped and term.factor:
            return self._under(start, to, way)
        if source.row == cell.row and apart == 1:
            points = (start.x + way * start.width / 2, start.y), (to.x - way * to.width / 2, to.y)
            return points, _between(*points, 0.5), 0.5
        if source.row == cell.row:
            return self._bow(start, to, way, source)
        if apart == 0:
            return self._down(start, to, cell)
        points = (start.x + way * start.width / 2, start.y), (to.x - way * to.width / 2, to.y)
        share = 0.3 if self.is_cramped else 0.68
        return points, _between(*points, share), share

    def _from_side(self, to: Box, cell: Cell) -> tuple[tuple[Point, ...], Point, float]:
        """A term that no slot carries enters from the side with no neighbor yet."""
        x = self._side(to, cell)
        edge = to.left if x < to.x else to.right
        return ((x, to.y), (edge, to.y)), (x, to.y), 0.3

    def _side(self, to: Box, cell: Cell) -> float:
        """The middle of the gap next to a box, on the side where the Scan comes from."""
        scan = self.machine.scans[self.machine.rows[cell.row].scan - 1]
        way = -1 if scan.is_backward else 1
        x = to.x + way * self.pitch / 2
        inside = to.width / 2 < x < self.width - 18
        return x if inside else to.x - way * self.pitch / 2

    def _bow(
        self, start: Box, to: Box, way: int, source: Cell
    ) -> tuple[tuple[Point, ...], Point, float]:
        """A line above its row, over the boxes between two slots."""
        lane = source.column % 2
        high = start.top - (NAME + 3 if self.is_tall else 2) - LANE * (1 + lane)
        first, last = start.x + way * start.width * 0.3, to.x - way * to.width * 0.3
        points = (first, start.top), (first, high), (last, high), (last, to.top)
        chip = to.x - way * self.pitch / 2, high
        up, over = start.top - high, abs(last - first)
        return points, chip, (up + abs(chip[0] - first)) / (2 * up + over)

    @property
    def is_cramped(self) -> bool:
        """Whether a factor has no room between two boxes of a row."""
        return self.pitch - max((box.width for box in self.boxes), default=0.0) < FACTOR

    def _under(self, start: Box, to: Box, way: int) -> tuple[tuple[Point, ...], Point, float]:
        """A line below two neighboring boxes."""
        low = start.bottom + UNDER
        first, last = start.x + way * start.width * 0.2, to.x - way * to.width * 0.2
        points = (first, start.bottom), (first, low), (last, low), (last, to.bottom)
        return points, ((first + last) / 2, low), 0.5

    def _down(self, start: Box, to: Box, cell: Cell) -> tuple[tuple[Point, ...], Point, float]:
        """A line to another row of the same column, through the gap beside it."""
        x = self._side(to, cell)
        way = 1 if x > to.x else -1
        edge = way * start.width / 2, way * to.width / 2
        points = (start.x + edge[0], start.y), (x, start.y), (x, to.y), (to.x + edge[1], to.y)
        return points, (x, (start.y + to.y) / 2), 0.5

    def _drop(self, saved: int, chip: Point, number: int) -> tuple[Point, ...]:
        """The line from a saved value to the factor that is computed from it."""
        box = self.boxes[saved]
        x = chip[0] + (number + 1) // 2 * (5 if number % 2 else -5)
        if abs(box.x - chip[0]) < 1:
            x = box.x
        below = chip[1] > box.y
        start = box.bottom if below else box.top
        turn = start + (5 + 3 * number) * (1 if below else -1)
        end = chip[1] - CHIP / 2 if below else chip[1] + CHIP / 2
        return (box.x, start), (box.x, turn), (x, turn), (x, end)


def _between(start: Point, end: Point, share: float) -> Point:
    """The point at a share of a straight line."""
    (x0, y0), (x1, y1) = start, end
    return x0 + (x1 - x0) * share, y0 + (y1 - y0) * share


def most_columns(width: float) -> int:
    """Return how many columns have room on a sheet."""
    return max(3, int((width - (6.0 if width < NARROW else LABELS) - 8) / NARROWEST))


def arrange(machine: Machine, width: float = 840.0) -> Arrangement:
    """Give every cell of a machine its place on a sheet, `width` pixels wide."""
    is_narrow = width < NARROW
    left = 6.0 if is_narrow else LABELS
    shares = [GAP_COLUMN if hidden else 1.0 for hidden in machine.columns]
    pitch = (width - left - 8) / max(1.0, sum(shares))
    pitch = max(pitch, NARROWEST)
    starts = [left + pitch * sum(shares[:n]) for n in range(len(shares))]
    middles = [x + pitch * share / 2 for x, share in zip(starts, shares, strict=True)]
    is_tall = sum(not row.is_output for row in machine.rows) <= MOST_TALL
    usual = TALL if is_tall else COMPACT
    box_width = min(112.0 if is_tall else 92.0, 0.53 * pitch)
    if pitch - box_width < FACTOR:
        box_width = 0.76 * pitch
    if pitch - box_width < FACTOR:
        usual = replace(usual, below=max(LOW, usual.below))
    texts = (key.text for cell in machine.cells for key in cell.keys)
    widest = max((text_width(text, 1.0, bold=True) for text in texts), default=1.0) or 1.0
    letters = max(SMALLEST, min(usual.letters, (box_width - 8) / widest))
    heights, headings, bottom = _rows(machine, usual, is_tall, is_narrow)
    boxes = []
    for cell in machine.cells:
        is_low = machine.rows[cell.row].is_output and not is_tall
        density = OUTPUT if is_low else usual
        size = min(letters, density.letters)
        boxes.append(Box(middles[cell.column], heights[cell.row], box_width, density.box, size))
    folds = zip(middles, machine.columns, strict=True)
    gaps = tuple((x, hidden) for x, hidden in folds if hidden)
    right = starts[-1] + pitch * shares[-1] + 8 if starts else width
    return Arrangement(
        machine, max(width, right), bottom, tuple(boxes), tuple(headings), gaps, pitch, is_tall
    )


def _rows(
    machine: Machine, usual: Density, is_tall: bool, is_narrow: bool
) -> tuple[list[float], list[Heading], float]:
    """The middle of every row, the headings, and the bottom of the last row."""
    y, heights, headings = 6.0, list[float](), list[Heading]()
    bows = _scans_with_bows(machine)
    for number, row in enumerate(machine.rows):
        scan = machine.scans[row.scan - 1]
        is_first = number == 0 or machine.rows[number - 1].scan != row.scan
        if is_first:
            y += HEAD if is_narrow else 0
            y += BOW + LANE if row.scan in bows else 0
        density = OUTPUT if row.is_output and not is_tall else usual
        y += density.name
        middle = y + density.box / 2
        heights.append(middle)
        name = f"{scan.label} {scan.name}"
        headings += _headings(row, name, middle, is_first, is_narrow, density)
        y += density.box + density.below
    return heights, headings, y + (2 if is_tall else 12)


def _headings(
    row: Row, name: str, middle: float, is_first: bool, is_narrow: bool, density: Density
) -> Iterator[Heading]:
    """The name of a Scan at its first row, and of every row."""
    if is_narrow:
        if is_first:
            y = middle - density.box / 2 - density.name - 3
            yield Heading(row.scan, 6, y, f"{name}: {row.name}", True, row.is_second)
        return
    if not is_first:
        yield Heading(row.scan, 20, middle + 4, row.name, False, row.is_second)
        return
    up, down = (3, 13) if density.box > COMPACT.box else (4, 9)
    yield Heading(row.scan, 8, middle - up, name, True, row.is_second)
    yield Heading(row.scan, 8, middle + down, row.name, False, row.is_second)


def _scans_with_bows(machine: Machine) -> set[int]:
    """The Scans, from 1, in whose rows a value travels over other slots."""
    found = set()
    for part in machine.parts():
        target = machine.cells[part.target]
        for term in part.terms:
            if term.source is None:
                continue
            source = machine.cells[term.source]
            if source.row == target.row and abs(source.column - target.column) > 1:
                found.add(machine.rows[target.row].scan)
    return found
