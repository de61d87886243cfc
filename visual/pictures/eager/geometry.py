"""The geometry of the eager tape's picture: boxes of nodes, their lists, tracks beside them.

A column is a priority.  From left to right it holds the tracks of values, the nodes, the lists
of gradients, and the tracks of gradients.

Where the nodes of a recording stand: rows by time, columns by the priority of their tapes.

A row holds one node, or several that one operation made: a node of an inner tape stands beside
the node of the outer tape that is its value.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lab.eager.records import NodeRecord, Recording
from lab.errors import ArgumentError, quoted, whole
from visual.layout.canvas import MARGIN
from visual.layout.columns import Gap, with_gaps
from visual.layout.gutters import distance, tracks, width
from visual.pictures.eager.story import Story

NODE, HIGH, MIDDLE, LIST = 190, 44, 78, 176
SLIP, LINE = 24, 28  # a gradient's box, and from one to the next
PAD, BETWEEN_ROWS, BETWEEN_TAPES, HEADING, FOLD = 12, 26, 22, 96, 34
CHANNEL = 11  # above a row: where links between tapes run
STRAIGHT, LINK = 40, 16  # from a corner of a node's box to where arrows meet its edge

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Column:
    """One priority: where its panel begins, its nodes, its lists, and where it ends."""

    left: float
    node: float
    list: float
    right: float
    values: dict[int, int]  # the tracks of nodes whose values go far
    gradients: dict[int, int]  # the tracks of nodes that send gradients

    def value_track(self, node: int) -> float:
        """Where the values of a node run down."""
        return self.node - distance(self.values[node])


class Geometry:
    """Where everything stands that is shown of a recording."""

    def __init__(self, recording: Recording, told: Story, around: int | None, top: float) -> None:
        self.recording, self.told = recording, told
        self.rows = shown_rows(recording, around)
        self.shown = [n for row in self.rows if not isinstance(row, Hidden) for n in row]
        self.tops: dict[int, float] = {}
        self.folds: list[tuple[float, Hidden]] = []
        self.heads: dict[int, float] = {}  # of every tape that is shown
        self.feet: dict[int, float] = {}
        self.bottom = self._stack(top)
        self.straight = set(self._straight())
        self.columns = self._columns()

    def tape(self, node: int) -> int:
        """The tape on which a node lives."""
        return self.recording.nodes[node].tape

    def column(self, node: int) -> Column:
        """The column in which a node stands."""
        return self.columns[self._priority(node)]

    def _priority(self, node: int) -> int:
        return self.recording.tapes[self.tape(node)].priority

    # from top to bottom

    def _stack(self, y: float) -> float:
        for row in self.rows:
            if isinstance(row, Hidden):
                self.folds.append((y, row))
                y += FOLD
                continue
            if any(self.tape(node) not in self.heads for node in row):
                for node in row:
                    self.heads.setdefault(self.tape(node), y)
                y += HEADING
            high = max(self._height(node) for node in row)
            for node in row:
                self.tops[node] = y
                self.feet[self.tape(node)] = y + high + PAD
            y += high + BETWEEN_ROWS
        return y

    def _height(self, node: int) -> float:
        told = self.told.nodes[node]
        lines = len(shown_ends(len(told.arrivals))) + (told.total is not None)
        return max(HIGH, lines * LINE - (LINE - SLIP))

    def slips(self, node: int) -> Iterator[tuple[int | Gap, float]]:
        """The gradients in a node's list that are shown, and the tops of their boxes."""
        for line, item in enumerate(shown_ends(len(self.told.nodes[node].arrivals))):
            yield item, self.tops[node] + line * LINE

    def total_top(self, node: int) -> float:
        """Where the total of a node's list stands: below the list."""
        return self.tops[node] + LINE * len(shown_ends(len(self.told.nodes[node].arrivals)))

    def _arrival_heights(self, source: int) -> Iterator[tuple[int, float]]:
        """The gradients that a node sends and that are shown: their events, and the heights."""
        for target in dict.fromkeys(self.recording.nodes[source].parents):
            if target in self.tops:
                arrivals = self.told.nodes[target].arrivals
                for item, y in self.slips(target):
                    if not isinstance(item, Gap) and arrivals[item].source == source:
                        yield arrivals[item].step, y + SLIP / 2

    # from left to right

    def _straight(self) -> Iterator[tuple[int, int]]:
        """Parents and children that stand one below the other, with nothing between."""
        last: dict[int, int] = {}
        for row in self.rows:
            if isinstance(row, Hidden):
                last = {}
                continue
            for node in row:
                above = last.get(self.tape(node))
                if above in self.recording.nodes[node].parents:
                    yield above, node
                last[self.tape(node)] = node

    def _columns(self) -> dict[int, Column]:
        found, x = {}, float(MARGIN)
        for priority in sorted({self.recording.tapes[tape].priority for tape in self.heads}):
            here = [n for n in self.shown if self._priority(n) == priority]
            values = tracks(_spans(here, self._value_ends))
            gradients = tracks(_spans(here, self._gradient_ends))
            node = x + PAD + width(values)
            slips = node + NODE + MIDDLE
            right = slips + LIST + width(gradients) + PAD
            found[priority] = Column(x, node, slips, right, values, gradients)
            x = right + BETWEEN_TAPES
        return found

    def _value_ends(self, node: int) -> list[float]:
        """Where a value on a track begins and ends."""
        found = [self._in_height(node, child) for child in self._far_children(node)]
        linked = [m for m in self.shown if self.recording.nodes[m].value.node == node]
        found += [self.tops[m] - CHANNEL for m in linked if not self._beside(node, m)]
        return [self.tops[node] + 32, *found] if found else []

    def _gradient_ends(self, node: int) -> list[float]:
        found = [y for _, y in self._arrival_heights(node)]
        return [self.total_top(node) + SLIP / 2, *found] if found else []

    def _far_children(self, node: int) -> list[int]:
        return [
            child
            for child in self.shown
            if node in self.recording.nodes[child].parents and (node, child) not in self.straight
        ]

    def _beside(self, outer: int, inner: int) -> bool:
        return self.tops[outer] == self.tops[inner]

    def _in_height(self, parent: int, child: int) -> float:
        """Where the arrow from a parent on a track reaches a node: one below the other."""
        parents = [p for p in dict.fromkeys(self.recording.nodes[child].parents) if p in self.tops]
        return self.tops[child] + min(8 + 7 * parents.index(parent), 28)

    # arrows

    def value_arrow(self, parent: int, child: int) -> Points:
        """From a node down to one that was made of it."""
        column = self.column(child)
        y0, y1 = self.tops[parent], self.tops[child]
        if (parent, child) in self.straight:
            x = column.node + STRAIGHT
            return ((x, y0 + HIGH), (x, y1))
        x, y1 = column.value_track(parent), self._in_height(parent, child)
        return ((column.node, y0 + 32), (x, y0 + 32), (x, y1), (column.node, y1))

    def link(self, node: NodeRecord) -> Points:
        """From the outer node that is the value of a node to it; empty if not shown."""
        outer = node.value.node
        if outer is None or outer not in self.tops:
            return ()
        source, top = self.column(outer), self.tops[node.number]
        into, channel = self.column(node.number).node + LINK, top - CHANNEL
        if self._beside(outer, node.number):
            x = source.node + NODE - LINK
            return ((x, top), (x, channel), (into, channel), (into, top))
        x, y = source.value_track(outer), self.tops[outer] + 32
        return ((source.node, y), (x, y), (x, channel), (into, channel), (into, top))

    def gradient_arrow(self, source: int, slip_top: float) -> Points:
        """From the total of a node up to a gradient in the list of a parent."""
        column = self.column(source)
        edge = column.list + LIST
        x = edge + distance(column.gradients[source])
        y0, y1 = self.total_top(source) + SLIP / 2, slip_top + SLIP / 2
        return ((edge, y0), (x, y0), (x, y1), (edge, y1))


def _spans(
    nodes: Iterable[int], ends: Callable[[int], list[float]]
) -> dict[int, tuple[float, float]]:
    """From the highest to the lowest end of what leaves each node, for those that anything does."""
    found = {node: ends(node) for node in nodes}
    return {node: (min(heights), max(heights)) for node, heights in found.items() if heights}


MOST_ROWS, ENDS, NEAR = 26, 4, 2
MOST_SLIPS, FIRST_SLIPS = 5, 3


@dataclass(frozen=True)
class Hidden:
    """Nodes that are not shown, from the first to the last."""

    first: int
    last: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


Row = tuple[int, ...]


def all_rows(recording: Recording) -> list[Row]:
    """The numbers of the nodes, those together that one operation made, the outermost first."""
    rows: list[Row] = []
    for node in recording.nodes:
        if node.value.node is not None and rows and rows[-1][-1] == node.value.node:
            rows[-1] = (*rows[-1], node.number)
        else:
            rows.append((node.number,))
    return rows


def shown_rows(recording: Recording, around: int | None) -> list[Row | Hidden]:
    """The rows to show: all, or of many the ends of the run and of its first tapes.

    `around` is a node whose neighbourhood is shown as well.
    """
    rows = all_rows(recording)
    of = {node: number for number, row in enumerate(rows) for node in row}
    expected = f"the number of a node, 0 to {len(of) - 1}"
    if around is not None and whole("around", around, expected) not in of:
        raise ArgumentError(f"around = {quoted(around)}: expected {expected}.")
    if len(rows) <= MOST_ROWS:
        return list(rows)
    chosen = _near(0, ENDS, rows) | _near(len(rows) - 1, ENDS, rows)
    for tape in recording.tapes[:2]:
        if tape.nodes:
            chosen |= _near(of[tape.nodes[0]], NEAR, rows) | _near(of[tape.nodes[-1]], NEAR, rows)
    if around is not None:
        chosen |= _near(of[around], NEAR, rows)
    return _with_hidden(rows, chosen)


def _near(row: int, reach: int, rows: list[Row]) -> set[int]:
    return {n for n in range(row - reach, row + reach + 1) if 0 <= n < len(rows)}


def _with_hidden(rows: list[Row], chosen: Iterable[int]) -> list[Row | Hidden]:
    found: list[Row | Hidden] = []
    after = 0
    for item in with_gaps(chosen):
        if isinstance(item, Gap):
            found.append(Hidden(rows[after][0], rows[after + item.hidden - 1][-1]))
        else:
            found.append(rows[item])
            after = item + 1
    return found


def shown_ends(
    count: int, most: int = MOST_SLIPS, first: int = FIRST_SLIPS, last: int = 1
) -> list[int | Gap]:
    """Which items of a list to show: all, or if they are more than `most` the first and last."""
    if count <= most:
        return list(range(count))
    return with_gaps([*range(first), *range(count - last, count)])
