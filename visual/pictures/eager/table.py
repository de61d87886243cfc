"""Two sides of a loop beside each other: rows are its steps, halves the two kinds of tapes."""

from collections.abc import Iterable, Iterator, Mapping, Sized

from visual.layout.canvas import MARGIN, Canvas
from visual.layout.columns import Gap, shown_steps
from visual.layout.gutters import distance, tracks, width
from visual.pictures.eager.geometry import BETWEEN_TAPES, LINE, PAD, SLIP, shown_ends
from visual.pictures.eager.sides import START, Line, Side
from visual.pictures.eager.words import counted, slip
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted
from visual.scene.theme import Role

LABELS, VALUE, GRADIENT, MARK = 64, 190, 166, 118
HEAD, NOTE = 36, 17
COST, BETWEEN_ROWS, FOLD, SUM = 18, 14, 32, 16
MOST_LINES, FIRST_LINES = 9, 4


class Table:
    """Rows for the steps of the loop, and two halves."""

    def __init__(
        self, canvas: Canvas, sides: tuple[Side, Side], steps: int, around: int | None
    ) -> None:
        self.canvas, self.sides = canvas, sides
        self.rows: list[int | Gap] = [*shown_steps(steps, around)]
        if any(START in side.rows for side in sides):
            self.rows.insert(0, START)
        if any(steps in side.rows for side in sides):
            self.rows.append(steps)
        self.steps, self.top = steps, canvas.y + 6
        self.tops: dict[int, float] = {}
        self.folds: list[tuple[float, Gap]] = []
        notes = max(len(side.notes) for side in sides)
        self.bottom = self._stack(self.top + HEAD + NOTE * notes)

    def _stack(self, y: float) -> float:
        for row in self.rows:
            if isinstance(row, Gap):
                self.folds.append((y, row))
                y += FOLD
                continue
            self.tops[row] = y
            lines = max(len(_shown(side.rows.get(row, []))) for side in self.sides)
            y += lines * LINE + COST + BETWEEN_ROWS
        return y

    def draw(self) -> None:
        """Both halves, and what the rows are."""
        canvas, x = self.canvas, float(MARGIN + LABELS)
        high = max(len(side.sums) for side in self.sides) * SUM + 24
        for side in self.sides:
            x = _Half(canvas, side, self.tops, x).draw(self.top, self.bottom, high) + BETWEEN_TAPES
        canvas.right = max(canvas.right, x - BETWEEN_TAPES)
        for row, y in self.tops.items():
            words = {START: "start", self.steps: "after"}.get(row, f"step {row:,}")
            canvas.add(at_row(row, Text(MARGIN, y + 16, words, 12, bold=True)))
        for y, gap in self.folds:
            words = f"⋯ {counted(gap.hidden, 'step')} not shown"
            canvas.add(Text(MARGIN + LABELS + PAD, y + 12, words, 12, muted=True))
        canvas.add(Text(MARGIN, self.bottom + 18, "in all", 12, bold=True))
        canvas.y = self.bottom + high + 16


def _shown(lines: Sized) -> list[int | Gap]:
    return shown_ends(len(lines), MOST_LINES, FIRST_LINES, FIRST_LINES)


def at_row(row: int, *shapes: Shape) -> Group:
    """What belongs to a step of the loop; what is there before the first one to no moment."""
    return Group(shapes) if row == START else Group(shapes, row, moment=f"step {row} of the loop")


class _Half:
    """One side: a panel with values, tracks on their left, gradients, tracks on their right."""

    def __init__(self, canvas: Canvas, side: Side, tops: Mapping[int, float], x: float) -> None:
        self.canvas, self.side, self.tops, self.x = canvas, side, tops, x
        self.rows: dict[str, int] = {}
        self.places: dict[str, float] = {}
        self.drawn: list[tuple[int, Line, float]] = []
        self.folds: list[tuple[int, Gap, float]] = []
        self.ends: dict[int, float] = {}
        for row, top in tops.items():
            self._place(row, top)
        self.ways = [w for w in dict.fromkeys(side.ways) if set(w) <= set(self.places)]
        self.returns = [w for w in dict.fromkeys(side.returns) if set(w) <= set(self.places)]
        self.down = tracks(_spans(self.ways, self.places, 17, 7))
        self.up = tracks(_spans(self.returns, self.places, 7, 17))
        self.value = x + PAD + width(self.down)
        self.gradient = self.value + VALUE + MARK
        self.right = self.gradient + GRADIENT + width(self.up) + PAD

    def _place(self, row: int, top: float) -> None:
        lines = self.side.rows.get(row, [])
        y = top
        for item in _shown(lines):
            if isinstance(item, Gap):
                self.folds.append((row, item, y))
            else:
                self.drawn.append((row, lines[item], y))
                self.places[lines[item].name] = y
                self.rows[lines[item].name] = row
            y += LINE
        self.ends[row] = y

    def draw(self, top: float, bottom: float, high: float) -> float:
        """Draw the half down to the sums below it; and where it ends."""
        canvas, room = self.canvas, self.right - self.x - 2 * PAD
        canvas.add(Box(self.x, top, self.right - self.x, bottom + high - top, Role.PANEL))
        for number, words in enumerate((self.side.title, *self.side.notes)):
            size, bold = (11, False) if number else (14, True)
            at = self.x + PAD, top + 21 + NOTE * number
            canvas.add(fitted(*at, words, room, size, bold=bold, role=Role.PANEL))
        for number, words in enumerate(self.side.sums):
            at = self.x + PAD, bottom + 18 + SUM * number
            canvas.add(fitted(*at, words, room, 12, role=Role.PANEL))
        canvas.add(*self._arrows())
        for row, line, y in self.drawn:
            canvas.add(at_row(row, *self._line(line, y)))
        for row, gap, y in self.folds:
            words = f"⋯ {counted(gap.hidden, 'more node')}"
            canvas.add(at_row(row, Text(self.value + 6, y + 16, words, 11, muted=True)))
        for row, words in self.side.costs.items():
            if row in self.tops and row in self.ends:
                cost = Text(self.value, self.ends[row] + 9, words, 10, muted=True)
                canvas.add(at_row(row, cost))
        return self.right

    def _arrows(self) -> Iterator[Group]:
        """Values down the left, gradients up the right, in the step of their lower ends."""
        for start, end in self.ways:
            x = self.value - distance(self.down[start])
            y0, y1 = self.places[start] + 17, self.places[end] + 7
            points = ((self.value, y0), (x, y0), (x, y1), (self.value, y1))
            yield at_row(self.rows[end], Arrow(points, straight=True))
        edge = self.gradient + GRADIENT
        for start, end in self.returns:
            x = edge + distance(self.up[start])
            y0, y1 = self.places[start] + 7, self.places[end] + 17
            points = ((edge, y0), (x, y0), (x, y1), (edge, y1))
            yield at_row(self.rows[start], Arrow(points, accent=True, straight=True))

    def _line(self, line: Line, y: float) -> Iterator[Shape]:
        """The value and the gradient of a quantity."""
        columns = ((self.value, VALUE, line.value), (self.gradient, GRADIENT, line.gradient))
        for x, wide, entry in columns:
            if entry is not None:
                box = Box(x, y, wide, SLIP, entry.role)
                yield slip(box, entry.held, entry.label, entry.meaning, entry.key)
        if line.mark:
            yield Text(self.gradient - 10, y + 16, line.mark, 10.5, "end", muted=True)


def _spans(
    ways: Iterable[tuple[str, str]], places: Mapping[str, float], out: float, into: float
) -> dict[str, tuple[float, float]]:
    """From the highest to the lowest end of the arrows that leave each line."""
    found: dict[str, list[float]] = {}
    for start, end in ways:
        found.setdefault(start, [places[start] + out]).append(places[end] + into)
    return {name: (min(heights), max(heights)) for name, heights in found.items()}
