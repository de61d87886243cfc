"""The eager tape: the values of the nodes, and the gradients that they receive in order.

Tapes are columns, sorted by priority. Arrows on the left, downward, lead from parents to new nodes.
Arrows on the right, upward, lead gradients to the lists of the parents, where they are summed. All
nodes of the same operation form a row: a node of an inner tape is next to the node of the outer
tape that is its value. Every event of the recording is a group; related events form a moment.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from lab.eager.records import Recording
from lab.errors import ArgumentError, check_integer, check_type, quote
from visual.layout.canvas import finished, heading
from visual.layout.columns import Gap
from visual.layout.grid import shown
from visual.layout.gutters import Way, along
from visual.layout.sheet import SCREEN
from visual.options import switch
from visual.pictures.eager.story import Arrival, NodeStory, factor_words, story
from visual.pictures.eager.words import (
    SAME,
    counted,
    held_key,
    held_text,
    node_label,
    node_name,
    ordinal,
    same_as,
    slip,
    value_cell,
    value_key,
)
from visual.scene.combinators import Piece, above, beside, gap, named, over, piece, shifted, sized
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    picture_function,
    text_width,
)
from visual.scene.theme import Role

NODE, HIGH, MIDDLE, LIST = 190, 44, 78, 176
MOST_ROWS, AT_ENDS, AT_TAPES = 26, 4, 2  # rows of a folded picture, at its ends, at ends of tapes
OPEN, SMALL, MOST_SMALL = 170, 84, 2  # widths of nodes on the open tape and on small tapes
SLIP, BETWEEN_SLIPS, MOST_SLIPS, FIRST_SLIPS = 24, 4, 5, 3
PAD, BETWEEN_ROWS, BETWEEN_TAPES, HEADING, FOLD = 12, 26, 22, 96, 8
CHANNEL = 11  # the height of links between tapes above a row
STRAIGHT, LINK, OUT = 40, 16, 32 / 44  # the ends of arrows at the edges of a node's box
Row = tuple[int, ...]
WORDS = {
    Role.INPUT: "start node, the argument",
    Role.SEED: "end node and its gradient, 1",
    Role.INTERMEDIATE: "result of an operation, or its gradient",
    Role.BACKWARD: "node recorded while an inner tape ran backward",
    Role.UNNEEDED: "node that the result does not depend on",
    Role.WAITING: "received gradient and its local derivative",
    Role.RESULT: "total gradient of a start node, as grad returns",
}


@dataclass(frozen=True)
class Hidden:
    """Hidden nodes, from the first to the last."""

    first: int
    last: int
    count: int


@picture_function
def eager(
    recording: Recording,
    unfold: int | None = None,
    tape: int | None = None,
    all: bool = False,
) -> Scene:
    """Draw the eager tapes of a recording, 840 pixels wide.

    Parameters
    ----------
    recording
        A recording of `lab.eager`. Each event has a group, whose `step` is the index of the first
        event of its moment in ``recording.events``.
    unfold
        The number of a node, whose neighbors a folded picture also shows.
    tape
        The number of the open tape if the tapes do not fit next to each other; the others are
        small, without gradients. By default the first tape, which has the result.
    all
        Whether to open every tape, in a picture of any width.

    Raises
    ------
    lab.ArgumentError
        If the node or the tape does not exist.

    """
    check_type("recording", recording, Recording, "a recording of lab.eager")
    last = len(recording.tapes) - 1
    expected = f"the number of a tape, 0 to {last}"
    if tape is not None and check_integer("tape", tape, expected) not in range(last + 1):
        raise ArgumentError(f"tape = {quote(tape)}: expected {expected}.")
    if switch("all", all) or tape is None:
        scene = _drawn(recording, unfold)
        if all or scene.width <= SCREEN.width:
            return scene
    return _drawn(recording, unfold, 0 if tape is None else tape)


def _drawn(
    recording: Recording,
    unfold: int | None,
    opened: int | None = None,
) -> Scene:
    nodes, tapes = counted(len(recording.nodes), "node"), counted(len(recording.tapes), "tape")
    return finished(
        over(
            gap(0 if opened is None else SCREEN.line),
            above(_heading(recording, opened), _Tapes(recording, unfold, opened).drawn()),
        ),
        WORDS,
        title="The eager tape",
        description=f"{nodes} on {tapes}, and the gradients that they send to each other; the "
        f"result is {held_text(recording.result)}.",
    )


def _heading(recording: Recording, opened: int | None) -> Piece:
    tapes = len(recording.tapes)
    title = "The eager tape" if tapes == 1 else counted(tapes, "eager tape")
    lines = [
        "Left, downward: every operation adds a node. Right, upward: each node is removed, and "
        "sends contributions to its parents."
    ]
    linked = ((n.number, n.value.node) for n in recording.nodes if n.value.node is not None)
    for number, outer in [*linked][:1]:
        name, same = node_name(number), node_name(outer)
        lines.append(f"{name}{SAME}{same}: the value of {name} is {same}, a node of an outer tape.")
    if opened is not None and tapes > 1:
        other = (opened + 1) % tapes
        lines.append(f"Tape {opened} is open: tape={other} opens another, all=True all of them.")
    return heading(title, lines)


class _Tapes:
    """The tapes of a recording; parts of the picture are named `node`, `total`, and `arrival`."""

    def __init__(
        self,
        recording: Recording,
        unfold: int | None,
        opened: int | None,
    ) -> None:
        self.recording, self.told, self.opened = recording, story(recording), opened
        priorities = {tape.priority for tape in recording.tapes}
        if opened is not None:
            own = recording.tapes[opened].priority
            near = sorted(priorities, key=lambda priority: (abs(priority - own), priority))
            priorities = {*near[: MOST_SMALL + 1]}
        self.rows = [*shown_rows(recording, unfold, priorities)]
        self.parts = {
            n: self._node(self.told.nodes[n])
            for row in self.rows
            if not isinstance(row, Hidden)
            for n in row
        }
        self.tapes = dict.fromkeys(self._tape(node) for node in self.parts)
        self.ruler = above(*self._ruler(), apart=BETWEEN_ROWS)
        self.upper = dict(self._neighbours())
        outer = {node: recording.nodes[node].value.node for node in self.parts}
        self.linked = {n: o for n, o in outer.items() if o is not None and o in self.parts}

    def drawn(self) -> Piece:
        """Return the columns of all priorities, and the links between them."""
        tapes = self.recording.tapes
        priorities = sorted({tapes[tape].priority for tape in self.tapes})
        picture = beside(*map(self._column, priorities), apart=BETWEEN_TAPES)
        return over(picture, *self._links(picture))

    # from top to bottom

    def _ruler(self) -> Iterator[Piece]:
        """Yield all rows at the same x: they give the heights of nodes, folds, and headings."""
        headed = set[int]()
        for row in self.rows:
            if isinstance(row, Hidden):
                yield named(gap(0, FOLD), f"fold {row.first}")
                continue
            heads = {self._tape(node) for node in row} - headed
            headed |= heads
            head = over(*(named(gap(0, HEADING), f"tape {tape}") for tape in heads))
            yield above(head, over(*(self.parts[node] for node in row)))

    def _top(self, name: str) -> float:
        return self.ruler.anchors[name].top

    def _tape(self, node: int) -> int:
        return self.recording.nodes[node].tape

    # from left to right

    def _column(self, priority: int) -> Piece:
        """Return the tapes of a priority below each other: panels, nodes, and arrows."""
        tapes = [t for t in self.tapes if self.recording.tapes[t].priority == priority]
        nodes = [node for node in self.parts if self._tape(node) in tapes]
        placed = {n: shifted(self.parts[n], 0, self._top(f"node {n}")) for n in nodes}
        feet = {self._tape(n): part.envelope.bottom + PAD for n, part in placed.items()}
        folds = self._folds() if tapes[0] == min(self.tapes) else ()
        parts = (*placed.values(), *folds, *map(self._downward, nodes))
        column = over(gap(0, self.ruler.envelope.bottom), *self._channels(), *parts)
        column = along(column, self._values(nodes))
        column = along(column, self._gradients(nodes), is_right=True)
        left, right = column.envelope.left - PAD, column.envelope.right + PAD
        panels = [self._panel(tape, left, right, feet[tape]) for tape in tapes]
        return over(*panels, column)

    def _channels(self) -> Iterator[Piece]:
        """Yield the heights of links between tapes, above rows."""
        for node in self.linked:
            y = self._top(f"node {node}") - CHANNEL
            yield named(shifted(gap(), 0, y), f"above {node}")

    def _panel(self, tape: int, left: float, right: float, foot: float) -> Piece:
        """Return the panel of a tape with its heading, and a note if no node is used."""
        told, record = self.told.tapes[tape], self.recording.tapes[tape]
        y = self._top(f"tape {tape}")
        room = right - left - 2 * PAD
        is_open = self._is_open(tape)
        lines = [f"run of {record.function}", counted(len(record.nodes), "node")]
        lines[1] += f": {self.recording.bytes(tape):,} bytes of values" if is_open else ""
        lines += [f"priority {record.priority}"] if len(self.recording.tapes) > 1 else []
        shapes: list[Shape] = [
            Box(left, y, right - left, foot - y, Role.PANEL),
            Text(left + PAD, y + 20, f"tape {tape}", 13, bold=True, role=Role.PANEL),
        ]
        for line, words in enumerate(lines):
            at = left + PAD, y + 37 + 15 * line
            shapes.append(fitted(*at, words, room, 11, role=Role.PANEL))
        groups = [self._at(told.opened, *shapes)]
        if told.closed is not None and not told.off:
            idle = "the result does not depend on the argument"
            closed = fitted(left + PAD, y + 82, idle, room, 11, role=Role.PANEL)
            groups.append(self._at(told.closed, closed))
        return piece(*groups)

    def _folds(self) -> Iterator[Piece]:
        for row in self.rows:
            if isinstance(row, Hidden):
                ends = f"{node_name(row.first)} to {node_name(row.last)}"
                words = f"⋯ {counted(row.count, 'node')} hidden: {ends}"
                yield piece(Text(0, self._top(f"fold {row.first}") + 12, words, 12, muted=True))

    # arrows

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        """Yield every node whose upper neighbor is on the same tape, and this neighbor."""
        last: dict[int, int] = {}
        for row in self.rows:
            if isinstance(row, Hidden):
                last = {}
                continue
            for node in row:
                if self._tape(node) in last:
                    yield node, last[self._tape(node)]
                last[self._tape(node)] = node

    def _downward(self, node: int) -> Piece:
        """Return a straight arrow to a node from its upper neighbor, if this is a parent."""
        upper = self.upper.get(node)
        if upper is None or upper not in self.recording.nodes[node].parents:
            return Piece()
        start, end = self._top(f"node {upper}") + HIGH, self._top(f"node {node}")
        arrow = Arrow(((STRAIGHT, start), (STRAIGHT, end)), straight=True)
        return piece(self._at(self.told.nodes[node].made, arrow))

    def _values(self, nodes: Sequence[int]) -> Iterator[Way]:
        """Yield arrows from nodes to their children and to nodes of the same value."""
        for node in nodes:
            made = self._at(self.told.nodes[node].made)
            parents = [p for p in dict.fromkeys(self.recording.nodes[node].parents) if p in nodes]
            for place, parent in enumerate(parents):
                if parent != self.upper.get(node) and self._is_open(self._tape(node)):
                    into = min(8 + 7 * place, 28) / HIGH
                    yield Way(f"node {parent}", f"node {node}", made, OUT, into)
        for node, outer in self.linked.items():
            if outer in nodes and self._top(f"node {outer}") != self._top(f"node {node}"):
                yield Way(f"node {outer}", f"above {node}", None, OUT)

    def _gradients(self, nodes: Sequence[int]) -> Iterator[Way]:
        """Yield arrows from the totals of nodes to the lists of their parents."""
        for node in nodes:
            for sent in self.told.nodes[node].arrivals:
                start, end = f"total {sent.source}", f"arrival {sent.step}"
                if end in self.parts[node].anchors and sent.source in nodes:
                    yield Way(start, end, self._at(sent.step))

    def _links(self, picture: Piece) -> Iterator[Piece]:
        """Yield links from outer nodes to inner nodes of the same value, above their rows."""
        for node, outer in self.linked.items():
            start, end = picture.anchors[f"node {outer}"], picture.anchors[f"node {node}"]
            into, channel = end.left + LINK, end.top - CHANNEL
            x, y, way = start.right - LINK, start.top, list[tuple[float, float]]()
            if start.top != end.top:
                x, y = picture.anchors[f"node {outer} track"].place(0, 0)
                way = [(start.left, y)]
            way += [(x, y), (x, channel), (into, channel), (into, end.top)]
            arrow = Arrow(tuple(way), faint=True, straight=True)
            yield piece(self._at(self.told.nodes[node].made, arrow))

    # nodes

    def _at(self, step: int, *shapes: Shape) -> Group:
        """Return shapes as the group of an event."""
        moment, words = self.told.moments[step]
        return Group(shapes, moment, moment=words)

    def _node(self, node: NodeStory) -> Piece:
        """Return a node, with the list of its gradients."""
        is_open, label = self._is_open(node.record.tape), node_label(node.record)
        wide = NODE if self.opened is None else OPEN if is_open else SMALL
        box = Box(0, 0, wide, HIGH, self._role(node))
        key = held_key(self.recording, node.record.value, value_key(node.number))
        short = label if is_open else node_name(node.number) + same_as(node.record.value)
        cell = value_cell(box, node.record.value, label, key, short)
        held = named(sized(wide, HIGH, self._at(node.made, cell)), f"node {node.number}")
        return beside(held, above(*self._list(node), apart=BETWEEN_SLIPS)) if is_open else held

    def _is_open(self, tape: int) -> bool:
        return self.opened is None or tape == self.opened

    def _role(self, node: NodeStory) -> Role:
        if self._is_start(node):
            return Role.INPUT
        if node.total is None:
            return Role.UNNEEDED
        if any(arrival.source is None for arrival in node.arrivals):
            return Role.SEED
        return Role.INTERMEDIATE if node.record.during is None else Role.BACKWARD

    def _is_start(self, node: NodeStory) -> bool:
        return self.recording.tapes[node.record.tape].nodes[0] == node.number

    # gradients

    def _list(self, node: NodeStory) -> Iterator[Piece]:
        """Yield the gradients of a node in the order of arrival, their sum, and its rank."""
        for item in shown(len(node.arrivals), MOST_SLIPS, range(FIRST_SLIPS)):
            if isinstance(item, Gap):
                words = f"⋯ {counted(item.hidden, 'gradient')} hidden"
                yield _line((), Text(LIST / 2, 16, words, 11, "middle", muted=True))
                continue
            sign: list[Shape] = []
            if item < len(node.added):
                plus = Text(MIDDLE - 9, 17, "+", 14, "middle", bold=True)
                sign.append(self._at(node.added[item], plus))
            name = f"arrival {node.arrivals[item].step}"
            yield _line(sign, self._arrival(node, item), name)
        turn: list[Shape] = []
        if node.popped is not None:
            mark = Text(MIDDLE - 18, 16, f"off {ordinal(node.order)}", 11, "end", muted=True)
            turn.append(self._at(node.popped, mark))
        if node.total is not None:
            yield _line(turn, self._total(node), f"total {node.number}")
        elif node.popped is not None:
            empty = Text(0, 16, "no gradient", 11, muted=True)
            yield _line(turn, self._at(node.popped, empty))

    def _arrival(self, node: NodeStory, number: int) -> Group:
        arrival, box = node.arrivals[number], Box(0, 0, LIST, SLIP, Role.WAITING)
        label, meaning = "seed", f"the gradient of {node_name(node.number)} wrt itself"
        if arrival.source is None:
            box = Box(0, 0, LIST, SLIP, Role.SEED)
        else:
            label = f"from {node_name(arrival.source)}{same_as(arrival.gradient)}"
            meaning = f"gradient {number + 1} of {node_name(node.number)}, {label}"
            factor = factor_words(self.told.nodes[arrival.source].total, arrival.gradient)
            written = held_text(arrival.gradient, node.digits)
            room = LIST - 16 - text_width(written, 11, mono=True)
            label += factor if text_width(label + factor, 11, mono=True) <= room else ""
        key = self._arrival_key(node, number, arrival)
        return self._at(arrival.step, slip(box, arrival.gradient, label, meaning, key, node.digits))

    def _arrival_key(self, node: NodeStory, number: int, arrival: Arrival) -> str:
        """Return the key of a gradient: that of the total if it is the only gradient."""
        is_total = node.total is not None and not node.total.formed
        own = f"gradient of node {node.number}"
        share = own if is_total else f"{own}, part {number}"
        return held_key(self.recording, arrival.gradient, share)

    def _total(self, node: NodeStory) -> Group:
        assert node.total is not None
        held, name = node.total.total, node_name(node.number)
        role = Role.RESULT if self._is_start(node) else Role.INTERMEDIATE
        label = f"sum of {len(node.arrivals):,}" if node.total.formed else "gradient"
        label = label if node.arrivals else "zeros"
        key = held_key(self.recording, held, f"gradient of node {node.number}")
        words = f"gradient of the result wrt {name}, {label}"
        box = Box(0, 0, LIST, SLIP, role)
        return self._at(
            node.total.step, slip(box, held, label + same_as(held), words, key, node.digits)
        )


def _line(mark: Sequence[Shape], shape: Shape, name: str = "") -> Piece:
    """Return a line of a list with its mark; it may have a name."""
    line = sized(LIST, SLIP, shape)
    return beside(sized(MIDDLE, SLIP, *mark), named(line, name) if name else line)


# which nodes are shown


def all_rows(recording: Recording) -> list[Row]:
    """Return the numbers of the nodes, grouped by operations, the outermost first."""
    rows: list[Row] = []
    for node in recording.nodes:
        if node.value.node is not None and rows and rows[-1][-1] == node.value.node:
            rows[-1] = (*rows[-1], node.number)
        else:
            rows.append((node.number,))
    return rows


def shown_rows(
    recording: Recording,
    unfold: int | None,
    priorities: Container[int],
) -> Iterator[Row | Hidden]:
    """Yield the shown rows: all, or the ends of the run, the ends of its first tapes, and gaps.

    `unfold` is a node whose neighbors are also shown; tapes of other priorities are hidden.
    """
    expected = f"the number of a node, 0 to {len(recording.nodes) - 1}"
    if unfold is not None and check_integer("unfold", unfold, expected) not in range(
        len(recording.nodes)
    ):
        raise ArgumentError(f"unfold = {quote(unfold)}: expected {expected}.")
    tapes = {n for n, tape in enumerate(recording.tapes) if tape.priority in priorities}
    every = (
        tuple(n for n in row if recording.nodes[n].tape in tapes) for row in all_rows(recording)
    )
    rows = [row for row in every if row]
    of = {node: number for number, row in enumerate(rows) for node in row}
    near = [(row, AT_ENDS) for row in (0, len(rows) - 1)]
    ends = [end for tape in recording.tapes[:2] for end in (*tape.nodes[:1], *tape.nodes[-1:])]
    near += [(of[node], AT_TAPES) for node in (*ends, unfold) if node in of]
    chosen = {row + away for row, reach in near for away in range(-reach, reach + 1)}
    after = 0
    for item in shown(len(rows), MOST_ROWS, chosen & {*range(len(rows))}):
        if isinstance(item, Gap):
            left = rows[after : after + item.hidden]
            yield Hidden(left[0][0], left[-1][-1], sum(map(len, left)))
            after += item.hidden
        else:
            yield rows[item]
            after += 1
