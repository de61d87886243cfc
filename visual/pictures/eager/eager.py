"""The eager tape: what every node holds, what it received from whom, and in which order.

Tapes are columns by priority.  Down their left sides the program runs and appends nodes; up
their right sides gradients arrive in each node's list, are summed, and are sent upstream.
Every event of the recording is a group, whose step is the number of the event.
"""

from collections.abc import Iterator

from lab.eager.records import Recording
from lab.errors import expect
from visual.layout.canvas import MARGIN, Canvas
from visual.layout.columns import Gap
from visual.pictures.eager.geometry import HIGH, LIST, NODE, PAD, SLIP, Geometry, Hidden
from visual.pictures.eager.story import (
    Arrival,
    NodeStory,
    TapeStory,
    event_words,
    factor_words,
    story,
)
from visual.pictures.eager.words import (
    SAME,
    counted,
    held_key,
    held_text,
    memory_words,
    node_label,
    node_name,
    ordinal,
    same_as,
    slip,
    value_cell,
    value_key,
)
from visual.scene.shapes import Arrow, Box, Group, Scene, Shape, Text, fitted, shortened, text_width
from visual.scene.theme import Role

WORDS = {
    Role.INPUT: "start node, the argument",
    Role.SEED: "end node, and its gradient by itself",
    Role.INTERMEDIATE: "node made by an operation, or the only gradient, as it is",
    Role.BACKWARD: "node made while an inner tape sent gradients",
    Role.UNNEEDED: "node to which no gradient came",
    Role.WAITING: "gradient that arrived, with what it was multiplied by on its way",
    Role.OVERWRITTEN: "sum of the list, formed in place",
    Role.RESULT: "total of a start node: what grad returns",
}


def eager(recording: Recording, theme: str = "light", around: int | None = None) -> Scene:
    """The eager tapes of a recording.

    Every event is drawn in a group whose `step` is its number in ``recording.events``.  Of more
    than 26 rows the ends are shown, and those next to the node number `around`; a line says how
    many nodes are hidden.  Raises ArgumentError if there is no such node.
    """
    expect("recording", recording, Recording, "a recording of lab.eager")
    picture = _Picture(recording, around)
    canvas = picture.draw()
    width = canvas.right + MARGIN
    nodes, tapes = counted(len(recording.nodes), "node"), counted(len(recording.tapes), "tape")
    return canvas.finished(
        WORDS,
        width=width,
        title="The eager tape",
        description=f"{nodes} on {tapes}, and the gradients that they sent one another; the "
        f"result is {held_text(recording.result)}.",
        theme=theme,
    )


class _Picture:
    """A recording, drawn event by event."""

    def __init__(self, recording: Recording, around: int | None) -> None:
        self.recording, self.told = recording, story(recording)
        self.canvas = Canvas()
        self._heading()
        self.at = Geometry(recording, self.told, around, self.canvas.y + 8)

    def draw(self) -> Canvas:
        """Panels, then nodes, then gradients; what belongs to one event is one group."""
        for tape in self.told.tapes:
            if tape.record.number in self.at.heads:
                self.canvas.add(*self._tape(tape))
        for y, hidden in self.at.folds:
            self.canvas.add(self._fold(y, hidden))
        nodes = [self.told.nodes[number] for number in self.at.shown]
        for node in nodes:
            self.canvas.add(self._node(node))
        for node in nodes:
            self.canvas.add(*self._list(node))
        self.canvas.y = self.at.bottom
        right = max((column.right for column in self.at.columns.values()), default=0.0)
        self.canvas.right = max(self.canvas.right, right)
        return self.canvas

    # words

    def _heading(self) -> None:
        tapes = len(self.recording.tapes)
        title = "The eager tape" if tapes == 1 else counted(tapes, "eager tape")
        lines = [
            "Left, going down: every operation adds a node. Right, going up: every node sends its "
            "parents their share of what arrived."
        ]
        outer = next((node for node in self.recording.nodes if node.value.node is not None), None)
        if outer is not None and outer.value.node is not None:
            name, same = node_name(outer.number), node_name(outer.value.node)
            lines.append(
                f"{name}{SAME}{same}: the value of {name} is {same}, a node of an outer tape."
            )
        self.canvas.heading(title, lines)

    def _tape(self, tape: TapeStory) -> Iterator[Group]:
        """The panel of a tape with its heading; and that it is closed."""
        number, record = tape.record.number, tape.record
        column, y = self.at.columns[record.priority], self.at.heads[number]
        high = self.at.feet[number] - y
        room, x = column.right - column.left - 2 * PAD, column.left + PAD
        memory = memory_words(self.recording.memory(number))
        lines = [f"run of {record.function}", f"{counted(len(record.nodes), 'node')}: {memory}"]
        title = f"tape {number} · priority {record.priority}"
        shapes: list[Shape] = [
            Box(column.left, y, column.right - column.left, high, Role.PANEL),
            Text(x, y + 20, shortened(title, room / 1.08, 13), 13, bold=True, role=Role.PANEL),
        ]
        for line, words in enumerate(lines):
            shapes.append(fitted(x, y + 37 + 15 * line, words, room, 11, role=Role.PANEL))
        yield self._at(tape.opened, *shapes)
        if tape.closed is not None:
            off = "closed" if tape.off else "closed: the result does not depend on the argument"
            words = shortened(off, room, 11)
            yield self._at(tape.closed, Text(x, y + 67, words, 11, role=Role.PANEL))

    def _fold(self, y: float, hidden: Hidden) -> Text:
        ends = f"{node_name(hidden.first)} to {node_name(hidden.last)}"
        words = f"⋯ {counted(hidden.count, 'node')} not shown: {ends}"
        x = min(column.node for column in self.at.columns.values())
        return Text(x, y + 12, words, 12, muted=True)

    def _at(self, step: int, *shapes: Shape) -> Group:
        """What belongs to an event."""
        return Group(shapes, step, moment=event_words(self.recording, self.recording.events[step]))

    # nodes

    def _node(self, node: NodeStory) -> Group:
        """A node, with arrows from its parents, and from the outer node that is its value."""
        shapes: list[Shape] = []
        for parent in dict.fromkeys(node.record.parents):
            if parent in self.at.tops:
                points = self.at.value_arrow(parent, node.number)
                shapes.append(Arrow(points, straight=True))
        link = self.at.link(node.record)
        if link:
            shapes.append(Arrow(link, faint=True, straight=True))
        role = self._role(node)
        box = Box(self.at.column(node.number).node, self.at.tops[node.number], NODE, HIGH, role)
        key = held_key(self.recording, node.record.value, value_key(node.number))
        shapes.append(value_cell(box, node.record.value, node_label(node.record), key))
        return self._at(node.made, *shapes)

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

    def _list(self, node: NodeStory) -> Iterator[Shape]:
        """What arrived at a node, in this order, what it made of it, and when it was its turn."""
        for item, y in self.at.slips(node.number):
            if isinstance(item, Gap):
                words = f"⋯ {counted(item.hidden, 'gradient')} not shown"
                x = self.at.column(node.number).list + LIST / 2
                yield Text(x, y + 16, words, 11, "middle", muted=True)
            else:
                yield self._arrival(node, item, y)
                if item < len(node.added):
                    x = self.at.column(node.number).list - 9
                    sign = Text(x, y + 17, "+", 14, "middle", bold=True)
                    yield self._at(node.added[item], sign)
        column, y = self.at.column(node.number), self.at.total_top(node.number)
        if node.total is not None:
            yield self._total(node, y)
        elif node.popped is not None:
            yield self._at(
                node.popped, Text(column.list, y + 16, "nothing arrived", 11, muted=True)
            )
        if node.popped is not None:
            words = f"off {ordinal(node.order)}"
            mark = Text(column.list - 18, y + 16, words, 11, "end", muted=True)
            yield self._at(node.popped, mark)

    def _arrival(self, node: NodeStory, number: int, y: float) -> Group:
        arrival = node.arrivals[number]
        box = Box(self.at.column(node.number).list, y, LIST, SLIP, Role.WAITING)
        shapes: list[Shape] = []
        label, meaning = "seed", f"the gradient of {node_name(node.number)} by itself"
        if arrival.source is not None:
            label = f"from {node_name(arrival.source)}{same_as(arrival.gradient)}"
            meaning = f"gradient {number + 1} of {node_name(node.number)}, {label}"
            factor = factor_words(self.told.nodes[arrival.source].total, arrival.gradient)
            room = LIST - 16 - text_width(held_text(arrival.gradient), 11, mono=True)
            label += factor if text_width(label + factor, 11, mono=True) <= room else ""
            if arrival.source in self.at.tops:
                points = self.at.gradient_arrow(arrival.source, y)
                shapes.append(Arrow(points, accent=True, straight=True))
        else:
            box = Box(box.x, y, LIST, SLIP, Role.SEED)
        key = self._arrival_key(node, number, arrival)
        shapes.append(slip(box, arrival.gradient, label, meaning, key))
        return self._at(arrival.step, *shapes)

    def _arrival_key(self, node: NodeStory, number: int, arrival: Arrival) -> str:
        """That of the total, if it is the total as it is."""
        alone = node.total is not None and not node.total.formed
        own = f"gradient of node {node.number}"
        share = own if alone else f"{own}, part {number}"
        return held_key(self.recording, arrival.gradient, share)

    def _total(self, node: NodeStory, y: float) -> Group:
        assert node.total is not None
        held, name = node.total.total, node_name(node.number)
        role = Role.OVERWRITTEN if node.total.formed else Role.INTERMEDIATE
        role = Role.RESULT if self._is_start(node) else role
        label = f"sum of {len(node.arrivals):,}" if node.total.formed else "as it is"
        label = label if node.arrivals else "zeros"
        box = Box(self.at.column(node.number).list, y, LIST, SLIP, role)
        key = held_key(self.recording, held, f"gradient of node {node.number}")
        words = f"gradient of the result by {name}, {label}"
        return self._at(node.total.step, slip(box, held, label + same_as(held), words, key))
