"""The table of a loop on two kinds of tapes: the stored values and gradients of every step.

Rows are the steps of the loop. Each half of the table is a `TapeSide`.
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
LESS, MARK, NO_MARK, LESS_TRACK = 10, 54, 16, 6  # widths in a narrow side
SLIP, LINE, PAD, BETWEEN = 24, 28, 10, 12  # the height of a box, and distances
HEAD, NOTE, COST, SUM, FOLD, BETWEEN_ROWS = 22, 17, 14, 16, 18, 14
LOW, HIGH = 17 / 24, 7 / 24  # the ends of arrows at a box
START = -1  # the row of the initial values


@dataclass(frozen=True)
class Entry:
    """The box of a value or a gradient."""

    held: RecordedValue
    label: str
    meaning: str
    key: str
    role: Role


@dataclass(frozen=True)
class QuantityLine:
    """A quantity with its value and its gradient; `name` is unique within its side."""

    name: str
    value: Entry | None
    gradient: Entry | None
    mark: str = ""


@dataclass(frozen=True)
class TapeSide:
    """The values and gradients on a kind of tape.

    The rows are START, the steps, and a row for values after the last step. `ways` are the arrows
    of values between names of lines, `returns` those of gradients. `costs` are the bytes of values
    in each row, `turns` those of gradients, and `sums` the totals.
    """

    title: str
    notes: tuple[str, ...]
    widths: tuple[float, float, float]
    rows: dict[int, list[QuantityLine]] = field(default_factory=dict)
    ways: list[tuple[str, str]] = field(default_factory=list)
    returns: list[tuple[str, str]] = field(default_factory=list)
    costs: dict[int, str] = field(default_factory=dict)
    turns: dict[int, str] = field(default_factory=dict)
    sums: list[str] = field(default_factory=list)
    track: float = TRACK

    @property
    def narrow(self) -> "TapeSide":
        """The same side with the least width of its boxes and marks."""
        is_marked = any(line.mark for lines in self.rows.values() for line in lines)
        value, _, gradient = self.widths
        widths = (value - LESS, MARK if is_marked else NO_MARK, gradient - LESS)
        return replace(self, widths=widths, track=LESS_TRACK)

    def wider(self, room: float) -> "TapeSide":
        """Return a wider side, with half of the additional width for values and for gradients."""
        value, mark, gradient = self.widths
        return replace(self, widths=(value + room / 2, mark, gradient + room / 2))


@dataclass(frozen=True)
class Keys:
    """The keys of a value and its gradient in the tapes of the Scan."""

    value: str
    gradient: str


def table(left: TapeSide, right: TapeSide, steps: int, step: int | None, most: int = 9) -> Piece:
    """Return both sides, with rows for initial values, the steps, and the values after the loop.

    A row with more than `most` lines shows its ends.
    """
    known = {*left.rows, *right.rows}
    rows: list[int | Gap] = [START] if START in known else []
    rows += [*shown_steps(steps, step), *([steps] if steps in known else [])]
    entries = [
        [_row(side, row, steps, side is left, most) for row in rows] for side in (left, right)
    ]
    notes, sums = (max(map(len, both)) for both in zip(_words(left), _words(right), strict=True))
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
    labels = sized(LABELS, 0, *words, Text(0, tops[-1] + 12, "total", 12, bold=True))
    bottom = ruler.envelope.bottom
    both = zip((left, right), entries, strict=True)
    halves = (_half(side, steps, entry, tops, bottom) for side, entry in both)
    return beside(labels, *halves, apart=BETWEEN)


def _half(
    side: TapeSide, steps: int, entries: Iterable[Piece], tops: Sequence[float], bottom: float
) -> Piece:
    """Return a panel with the values, the gradients, and their arrows on both sides."""
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
    x, (notes, sums) = column.envelope.left, _words(side)
    lines: list[tuple[float, str, int]] = [(21, side.title, 14)]
    lines += [(21 + NOTE * n, note, 11) for n, note in enumerate(notes, start=1)]
    lines += [(tops[-1] + 12 + SUM * n, words, 12) for n, words in enumerate(sums)]
    words = (Text(x, y, c, size, bold=size == 14, role=Role.PANEL) for y, c, size in lines)
    panel = Box(x - PAD, 0, column.envelope.width + 2 * PAD, bottom, Role.PANEL)
    return over(piece(panel), column, piece(*words))


def _words(side: TapeSide) -> tuple[list[str], list[str]]:
    """Return the lines of the notes above its rows, and of the sums below."""
    width = sum(side.widths) + FIRST
    notes = [line for note in side.notes for line in folded(note, width, 11)]
    return notes, [line for total in side.sums for line in folded(total, width, 12)]


def _row(side: TapeSide, row: int | Gap, steps: int, has_fold: bool, most: int) -> Piece:
    """Return the lines of a row, or its first and last lines, and their bytes."""
    if isinstance(row, Gap):
        fold = f"⋯ {counted(row.hidden, 'step')} hidden" if has_fold else ""
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
    groups = [group for words, group in pairs if words.content]
    is_long = costs.width + turn.width + 8 > x
    parts += [sized(x, COST, group) for group in groups] if is_long else [sized(x, COST, *groups)]
    return above(*parts, apart=LINE - SLIP)


def _line(
    line: QuantityLine, made: Group, back: Group, value: float, mark: float, gradient: float
) -> Piece:
    """Return the boxes of a value and a gradient with these widths, and the mark between them."""
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
    """Return shapes as the group of a row's forward moment; START precedes all moments."""
    if row == START:
        return Group(shapes)
    name = "after the loop" if row == steps else f"step {row:,} of the loop"
    return Group(shapes, row, moment=name)


def _back(row: int, steps: int, *shapes: Shape) -> Group:
    """Return shapes as the group of a row's backward moment, after all forward moments."""
    name = {START: "the start", steps: "what follows the loop"}.get(row, f"step {row:,}")
    return Group(shapes, 2 * steps + 1 - row, moment=f"gradients of {name}")


def eager_side(recording: Recording, known: Mapping[int, Keys], shown: Container[int]) -> TapeSide:
    """Return the side of the eager tape; nodes in `known` have the keys of the Scan's slots."""
    side = TapeSide(
        "the eager tape", ("a node for every operation, recorded while the loop runs",), NODES
    )
    steps = [node.step for node in recording.nodes_of(0) if node.step is not None]
    last = max(steps, default=-1)
    first = next((n.number for n in recording.nodes_of(0) if n.step is not None), 0)
    rows: dict[int, list[NodeRecord]] = {}
    stories = story(recording).nodes
    sizes = {each.number: _size(each.total.total) if each.total else 0 for each in stories}
    for each in stories:
        node = each.record
        outside = START if node.number <= first else last + 1
        row = outside if node.step is None else node.step
        if row in shown:
            side.rows.setdefault(row, []).append(_node_line(each, known))
            rows.setdefault(row, []).append(node)
            name = node_name(node.number)
            side.ways.extend((node_name(parent), name) for parent in dict.fromkeys(node.parents))
            sources = dict.fromkeys(arrival.source for arrival in each.arrivals)
            sent = [node_name(source) for source in sources if source is not None]
            side.returns.extend((source, name) for source in sent)
    for row, nodes in rows.items():
        side.costs[row] = f"{sum(node.bytes for node in nodes):,} bytes"
        side.turns[row] = f"{sum(sizes[node.number] for node in nodes):,} bytes"
    side.sums.append(f"{counted(len(recording.nodes), 'node')}, stored until the backward pass:")
    side.sums.append(f"{recording.bytes(0):,} bytes of values, and an operation for each")
    size = f"{sum(sizes[node.number] for node in recording.nodes_of(0)):,} bytes of gradients"
    side.sums.append(f"{size}; the backward pass frees the nodes")
    return side


def _size(held: RecordedValue) -> int:
    """Return the bytes of a gradient; a sparse gradient counts its entries only."""
    value = held.value.value if isinstance(held.value, SparseValue) else held.value
    return 0 if isinstance(value, str) else value.nbytes


def _node_line(story: NodeStory, known: Mapping[int, Keys]) -> QuantityLine:
    node, name = story.record, node_name(story.number)
    keys = known.get(node.number)
    if keys is None:
        keys = Keys(value_key(node.number), f"gradient of node {node.number}")
    role = Role.INTERMEDIATE if node.operation else Role.INPUT
    value = Entry(node.value, node_label(node), node_label(node), keys.value, role)
    gradient = None
    if story.total is not None:
        seed = all(arrival.source is None for arrival in story.arrivals)
        role = Role.SEED if seed else Role.INTERMEDIATE
        role = role if node.operation else Role.RESULT
        meaning = f"gradient of the result wrt {name}"
        gradient = Entry(story.total.total, f"dC/d{name}", meaning, keys.gradient, role)
    mark = f"off {ordinal(story.order)}" if story.popped is not None else ""
    return QuantityLine(name, value, gradient, mark)
