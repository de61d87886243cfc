"""A loop on two kinds of tapes beside each other: what each keeps for every step.

Both are brought into one form, a `Side`; rows are the steps of the loop, halves the two sides.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lab.eager.records import NodeRecord, RecordedValue, Recording, SparseValue
from visual.layout.columns import Gap, shown_steps
from visual.layout.grid import shown
from visual.layout.gutters import FIRST, TRACK, Way, along
from visual.pictures.eager.story import NodeStory, story
from visual.pictures.eager.words import (
    counted,
    node_label,
    node_name,
    ordinal,
    slip,
    value_key,
)
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    gap,
    grouped,
    named,
    over,
    piece,
    shifted,
    sized,
)
from visual.scene.shapes import Box, Group, Shape, Text, folded
from visual.scene.theme import Role

LABELS = 42
NODES, SLOTS = (160, 54, 118), (102, 58, 132)  # widths of values, marks and gradients
LESS, MARK, NO_MARK, LESS_TRACK = 10, 54, 16, 6  # where there is the least room
SLIP, LINE, PAD, BETWEEN = 24, 28, 10, 12  # of a gradient's box, and the distance of two columns
HEAD, NOTE, COST, SUM, FOLD, BETWEEN_ROWS = 22, 17, 14, 16, 18, 14
LOW, HIGH = 17 / 24, 7 / 24  # where arrows leave and reach a box
START = -1  # the row of what is there before the first step


@dataclass(frozen=True)
class Entry:
    """A value or a gradient: what stands in its box."""

    held: RecordedValue
    label: str
    meaning: str
    key: str
    role: Role


@dataclass(frozen=True)
class Line:
    """A quantity with its value and its gradient; `name` tells it from the others of its side."""

    name: str
    value: Entry | None
    gradient: Entry | None
    mark: str = ""


@dataclass(frozen=True)
class Side:
    """What one kind of tape keeps: lines for every row, and what comes back to each.

    The rows are START, the steps, and one more for what is made after the last step.  `ways`
    lead from the names of lines to those of what was made of them, `returns` are the ways of
    gradients.  `costs` are for rows, `turns` for what comes back to them, `sums` for the whole.
    """

    title: str
    notes: tuple[str, ...]
    widths: tuple[float, float, float]
    rows: dict[int, list[Line]] = field(default_factory=dict)
    ways: list[tuple[str, str]] = field(default_factory=list)
    returns: list[tuple[str, str]] = field(default_factory=list)
    costs: dict[int, str] = field(default_factory=dict)
    turns: dict[int, str] = field(default_factory=dict)
    sums: list[str] = field(default_factory=list)
    track: float = TRACK

    @property
    def narrow(self) -> "Side":
        """The same with the least room that its boxes and marks need."""
        is_marked = any(line.mark for lines in self.rows.values() for line in lines)
        value, _, gradient = self.widths
        widths = (value - LESS, MARK if is_marked else NO_MARK, gradient - LESS)
        return replace(self, widths=widths, track=LESS_TRACK)

    def wider(self, room: float) -> "Side":
        """The same with so much more room, half for values and half for gradients."""
        value, mark, gradient = self.widths
        return replace(self, widths=(value + room / 2, mark, gradient + room / 2))


@dataclass(frozen=True)
class Keys:
    """Under which keys the Scan knows the value and the gradient of a node."""

    value: str
    gradient: str


def table(left: Side, right: Side, steps: int, step: int | None, most: int = 9) -> Piece:
    """Both sides in rows for what is there before the first step, the steps, and what follows.

    Of more lines in a row than `most` the ends are shown.
    """
    known = {*left.rows, *right.rows}
    rows: list[int | Gap] = [START] if START in known else []
    rows += [*shown_steps(steps, step), *([steps] if steps in known else [])]
    entries = [
        [_row(side, row, steps, side is left, most) for row in rows] for side in (left, right)
    ]
    notes, sums = (max(map(len, told)) for told in zip(_told(left), _told(right), strict=True))
    high = [over(*pair) for pair in zip(*entries, strict=True)]
    parts = (gap(0, HEAD + NOTE * notes), *high, gap(0, SUM * sums + 10))
    ruler = above(*(named(part, str(n)) for n, part in enumerate(parts)), apart=BETWEEN_ROWS)
    tops = [ruler.anchors[str(n)].top for n in range(1, len(parts))]
    names = {START: "start", steps: "after"}
    words = [
        _made(row, steps, Text(0, y + 16, names.get(row, f"step {row:,}"), 12, bold=True))
        for row, y in zip(rows, tops, strict=False)
        if not isinstance(row, Gap)
    ]
    labels = sized(LABELS, 0, *words, Text(0, tops[-1] + 12, "in all", 12, bold=True))
    bottom = ruler.envelope.bottom
    both = zip((left, right), entries, strict=True)
    halves = (_half(side, steps, entry, tops, bottom) for side, entry in both)
    return beside(labels, *halves, apart=BETWEEN)


def _half(
    side: Side, steps: int, entries: Iterable[Piece], tops: Sequence[float], bottom: float
) -> Piece:
    """A panel with values, the ways to them on their left, gradients, theirs on their right."""
    column = over(*(shifted(entry, 0, y) for entry, y in zip(entries, tops, strict=False)))
    row_of = {line.name: row for row, lines in side.rows.items() for line in lines}
    ways, returns = (
        [way for way in dict.fromkeys(pairs) if {f"value {n}" for n in way} <= {*column.anchors}]
        for pairs in (side.ways, side.returns)
    )
    values = (Way(f"value {a}", f"value {b}", _made(row_of[b], steps), LOW, HIGH) for a, b in ways)
    back = (
        Way(f"gradient {a}", f"gradient {b}", _back(row_of[b], steps), HIGH, LOW)
        for a, b in returns
    )
    column = along(column, values, track=side.track)
    column = along(column, back, is_right=True, track=side.track)
    x, (notes, sums) = column.envelope.left, _told(side)
    lines: list[tuple[float, str, int]] = [(21, side.title, 14)]
    lines += [(21 + NOTE * n, note, 11) for n, note in enumerate(notes, start=1)]
    lines += [(tops[-1] + 12 + SUM * n, words, 12) for n, words in enumerate(sums)]
    told = (Text(x, y, c, size, bold=size == 14, role=Role.PANEL) for y, c, size in lines)
    panel = Box(x - PAD, 0, column.envelope.width + 2 * PAD, bottom, Role.PANEL)
    return over(piece(panel), column, piece(*told))


def _told(side: Side) -> tuple[list[str], list[str]]:
    """What is told above and below its rows, in as many lines as it needs."""
    room = sum(side.widths) + FIRST
    notes = [line for note in side.notes for line in folded(note, room, 11)]
    return notes, [line for told in side.sums for line in folded(told, room, 12)]


def _row(side: Side, row: int | Gap, steps: int, tells_folds: bool, most: int) -> Piece:
    """The lines of a row, or the first and the last of many, and what they cost."""
    if isinstance(row, Gap):
        fold = f"⋯ {counted(row.hidden, 'step')} not shown" if tells_folds else ""
        return sized(0, FOLD, Text(0, 12, fold, 12, muted=True))
    lines = side.rows.get(row, [])
    ends = [*range(most // 2), *range(len(lines) - most // 2, len(lines))]
    parts = [
        sized(0, SLIP, Text(6, 16, f"⋯ {counted(item.hidden, 'more node')}", 11, muted=True))
        if isinstance(item, Gap)
        else _line(lines[item], _made(row, steps), _back(row, steps), *side.widths)
        for item in shown(len(lines), most, ends)
    ]
    x = sum(side.widths)
    costs = Text(0, 9, side.costs.get(row, ""), 11, muted=True)
    turn = Text(x, 9, side.turns.get(row, ""), 11, "end", muted=True)
    pairs = (costs, _made(row, steps, costs)), (turn, _back(row, steps, turn))
    told = [group for words, group in pairs if words.content]
    is_long = costs.width + turn.width + 8 > x
    parts += [sized(x, COST, group) for group in told] if is_long else [sized(x, COST, *told)]
    return above(*parts, apart=LINE - SLIP)


def _line(
    line: Line, made: Group, back: Group, value: float, mark: float, gradient: float
) -> Piece:
    """The value and the gradient of a quantity in boxes so wide, and a mark between them."""
    words = Text(mark - 6, 16, line.mark, 11, "end", muted=True)
    marked = sized(mark, SLIP, *([words] if line.mark else []))
    kept = sized(value, SLIP, *_slip(line.value, value))
    came = sized(gradient, SLIP, *_slip(line.gradient, gradient))
    return beside(
        named(grouped(kept, made) if line.value else kept, f"value {line.name}"),
        grouped(marked, back) if line.mark else marked,
        named(grouped(came, back) if line.gradient else came, f"gradient {line.name}"),
    )


def _slip(entry: Entry | None, wide: float) -> Iterator[Group]:
    if entry is not None:
        box = Box(0, 0, wide, SLIP, entry.role)
        yield slip(box, entry.held, entry.label, entry.meaning, entry.key)


def _made(row: int, steps: int, *shapes: Shape) -> Group:
    """What is made on the way down, row after row; the start is there before the first moment."""
    if row == START:
        return Group(shapes)
    name = "after the loop" if row == steps else f"step {row:,} of the loop"
    return Group(shapes, row, moment=name)


def _back(row: int, steps: int, *shapes: Shape) -> Group:
    """What comes back to a row, after all that is made, from the last row up to the start."""
    name = {START: "the start", steps: "what follows the loop"}.get(row, f"step {row:,}")
    return Group(shapes, 2 * steps + 1 - row, moment=f"gradients back at {name}")


def eager_side(recording: Recording, known: Mapping[int, Keys], shown: Container[int]) -> Side:
    """The rows `shown` of a loop's eager tape; for nodes that are `known` the Scan has a slot."""
    side = Side(
        "the eager tape", ("a node for every operation, written while the loop runs",), NODES
    )
    steps = [node.step for node in recording.nodes_of(0) if node.step is not None]
    last = max(steps, default=-1)
    first = next((n.number for n in recording.nodes_of(0) if n.step is not None), 0)
    rows: dict[int, list[NodeRecord]] = {}
    stories = story(recording).nodes
    came = {told.number: _size(told.total.total) if told.total else 0 for told in stories}
    for told in stories:
        node = told.record
        outside = START if node.number <= first else last + 1
        row = outside if node.step is None else node.step
        if row in shown:
            side.rows.setdefault(row, []).append(_node_line(told, known))
            rows.setdefault(row, []).append(node)
            name = node_name(node.number)
            side.ways.extend((node_name(parent), name) for parent in dict.fromkeys(node.parents))
            sources = dict.fromkeys(arrival.source for arrival in told.arrivals)
            sent = [node_name(source) for source in sources if source is not None]
            side.returns.extend((source, name) for source in sent)
    for row, nodes in rows.items():
        side.costs[row] = f"{sum(node.bytes for node in nodes):,} bytes"
        side.turns[row] = f"{sum(came[node.number] for node in nodes):,} bytes"
    side.sums.append(f"{counted(len(recording.nodes), 'node')}, kept until the way back:")
    side.sums.append(f"{recording.bytes(0):,} bytes of values, and the operation of each")
    size = f"{sum(came[node.number] for node in recording.nodes_of(0)):,} bytes of gradients"
    side.sums.append(f"{size}; nodes taken off are freed")
    return side


def _size(held: RecordedValue) -> int:
    """The bytes of a gradient; of one that is zero elsewhere, those of its entries."""
    value = held.value.value if isinstance(held.value, SparseValue) else held.value
    return 0 if isinstance(value, str) else value.nbytes


def _node_line(told: NodeStory, known: Mapping[int, Keys]) -> Line:
    node, name = told.record, node_name(told.number)
    keys = known.get(node.number)
    if keys is None:
        keys = Keys(value_key(node.number), f"gradient of node {node.number}")
    role = Role.INTERMEDIATE if node.operation else Role.INPUT
    value = Entry(node.value, node_label(node), node_label(node), keys.value, role)
    gradient = None
    if told.total is not None:
        seed = all(arrival.source is None for arrival in told.arrivals)
        role = Role.SEED if seed else Role.INTERMEDIATE
        role = role if node.operation else Role.RESULT
        meaning = f"gradient of the result by {name}"
        gradient = Entry(told.total.total, f"dC/d{name}", meaning, keys.gradient, role)
    mark = f"off {ordinal(told.order)}" if told.popped is not None else ""
    return Line(name, value, gradient, mark)
