"""The eager tape: the values of the nodes, and the received gradients in order.

A row shows an operation: the node that the operation appended, the gradients that the node
received, and their sum. Black arrows lead down from parents to new nodes. Orange arrows lead up
from the gradient of a node to its contributions to the parents. An inner tape is to the right of
its outer tape; if the value of an inner node is an outer node, both nodes are in the same row.
The moments of the picture are the events of the recording.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from lab.eager.records import RecordedValue, Recording, Sent, Summed
from lab.equations.events.events import events
from lab.errors import argument_error, check_integer, check_type
from lab.notation import counted, number_text
from visual.layout.arrows import Edge
from visual.layout.columns import Gap, shown_numbers
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.options import switch
from visual.pictures.eager.story import NodeStory, moments, shown_rows, stories
from visual.pictures.eager.words import (
    SAME,
    full_value_text,
    node_label,
    node_name,
    same_as,
    value_cell,
)
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST_RECEIVED, FIRST = 5, 3  # most gradients of a node; how many to show first
MOST_TAPES = 3  # the most tapes in a picture with the gradients of a single tape
WORDS = {
    Role.INPUT: "start node, the argument",
    Role.SEED: "end node and its gradient, 1",
    Role.INTERMEDIATE: "result of an operation, or its gradient",
    Role.BACKWARD: "node recorded while an inner tape ran backward",
    Role.UNNEEDED: "node that the result does not depend on",
    Role.WAITING: "received gradient and its local derivative",
    Role.RESULT: "total gradient of a start node, as grad returns",
}


@picture_function
def eager(recording: Recording, tape: int | None = None, all: bool = False) -> Scene:
    """Draw the eager tapes of a recording. Unless `all`, the picture is 840 pixels wide.

    Parameters
    ----------
    recording
        A recording of `lab.eager`. The moments of the picture have the numbers of the events in
        ``lab.events(recording)``; a total gradient appears with its last contribution.
    tape
        The number of the tape whose gradients are shown, by default 0, the tape of the result.
    all
        Whether to show the gradients of every tape, in a picture of any width.

    Raises
    ------
    lab.ArgumentError
        If the tape does not exist.

    """
    check_type("recording", recording, Recording, "a recording of lab.eager")
    last = len(recording.tapes) - 1
    expected = f"the number of a tape, 0 to {last}"
    if tape is not None and check_integer("tape", tape, expected) not in range(last + 1):
        raise argument_error("tape", tape, f"expected {expected}.")
    all = switch("all", all)
    table = EagerTable(recording, None if all or last <= 0 else tape or 0)
    nodes, tapes = counted(len(recording.nodes), "node"), counted(last + 1, "tape")
    return table_scene(
        table,
        WORDS,
        all=all,
        title="The eager tape",
        description=f"{nodes} on {tapes}, and the gradients that they send to each other; the "
        f"result is {full_value_text(recording.result)}.",
    )


class EagerTable(Table):
    """The tapes of a recording. A tape has a part for its nodes and a part for their gradients.

    Tapes with the same priority share parts. `opened` is the number of the tape whose gradients the
    table shows, or None for the gradients of all tapes.
    """

    label_width = 0.0

    def __init__(self, recording: Recording, opened: int | None) -> None:
        self.recording, self.opened = recording, opened
        self.nodes, self.moments = stories(recording), moments(recording)
        self.events = events(recording)
        priorities = sorted({tape.priority for tape in recording.tapes})
        if opened is not None:
            own = recording.tapes[opened].priority
            nearest = sorted(priorities, key=lambda priority: abs(priority - own))
            priorities = sorted(nearest[:MOST_TAPES])
        self.items = [*shown_rows(recording, priorities)]
        self.part_of: dict[tuple[int, bool], int] = {}  # by priority and is_gradient
        for priority in priorities:
            self.part_of[priority, False] = len(self.part_of)
            if opened is None or recording.tapes[opened].priority == priority:
                self.part_of[priority, True] = len(self.part_of)
        self.parts = tuple(
            TablePart(narrow=110, wide=230, height=44, full=0.76, apart=26)
            for _ in self.part_of or [None]
        )

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return for each part the key of its only column."""
        return [{(0, 0)} for _ in self.parts]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the shown operations in the order of the recording."""
        yield Row(heading=self._heading())
        headed: set[int] = set()
        for item in self.items:
            if isinstance(item, str):
                yield Row(note=item)
                continue
            new = {self.recording.nodes[n].tape for n in item} - headed
            headed |= new
            nodes = [self.nodes[n] for n in item]
            lines = [line for node in nodes for line in self._lines(node, node.record.tape in new)]
            yield Row(lines=lines, edges=[edge for node in nodes for edge in self._edges(node)])

    def _heading(self) -> TableHeading:
        tapes = len(self.recording.tapes)
        lines = [
            "Down: every operation appends a node. Up, in orange: each node sends contributions "
            "to its parents."
        ]
        linked = [n for n in self.recording.nodes if n.value.node is not None]
        for node in linked[:1]:
            name, outer = node_name(node.number), node_name(node.value.node or 0)
            lines.append(f"{name}{SAME}{outer}: the value of {name} is {outer}, on an outer tape.")
        if self.opened is not None:
            other = (self.opened + 1) % tapes
            lines.append(
                f"Gradients of tape {self.opened} only: tape={other} shows another tape, all=True "
                "shows all tapes."
            )
        return TableHeading("The eager tape" if tapes == 1 else counted(tapes, "eager tape"), lines)

    def _is_open(self, tape: int) -> bool:
        return self.opened is None or tape == self.opened

    def _lines(self, node: NodeStory, is_first: bool) -> Iterator[Line]:
        """Yield a line for the node, and a line for each of its gradients.

        The first node of a tape has the heads of the columns.
        """
        tape = self.recording.tapes[node.record.tape]
        is_open = self._is_open(tape.number)
        heads = [dict[Key, Head](), dict[Key, Head]()]
        if is_first:
            place = counted(len(tape.nodes), "node")
            place += f", {self.recording.bytes(tape.number):,} bytes of values" * is_open
            heads = [
                {(0, 0): Head(f"tape {tape.number}: {tape.function}", place, bold=True)},
                {(0, 0): Head("gradients", "in the order of arrival", bold=True)},
            ]
        label = node_label(node.record)
        short = label if is_open else node_name(node.number) + same_as(node.record.value)
        key = f"value of node {node.number}"
        cell = value_cell(self._role(node), node.record.value, label, short, key)
        cell = replace(cell, id=("node", node.number), moment=self.moments[node.creation])
        yield Line([((0, 0), cell)], heads=heads[0], part=self.part_of[tape.priority, False])
        if is_open:
            part = self.part_of[tape.priority, True]
            for number, each in enumerate(self._gradients(node)):
                head = heads[1] if not number else {}
                yield Line([((0, 0), each)], heads=head, low=True, part=part)

    def _edges(self, node: NodeStory) -> Iterator[Edge]:
        """Yield the arrows to a node from its parents, and from its gradient to contributions.

        A contribution is a gradient that the node sends to a parent.
        """
        creation = self.moments[node.creation]
        for parent in dict.fromkeys(node.record.parents):
            yield Edge(("node", parent), ("node", node.number), plain=True, moment=creation)
        for sent in node.sent:
            yield Edge(("total", node.number), ("received", sent), moment=self.moments[sent])

    def _role(self, node: NodeStory) -> Role:
        if self._is_start(node):
            return Role.INPUT
        if node.end is None:
            return Role.UNNEEDED
        if node.is_seeded:
            return Role.SEED
        return Role.INTERMEDIATE if node.record.during is None else Role.BACKWARD

    def _is_start(self, node: NodeStory) -> bool:
        return self.recording.tapes[node.record.tape].nodes[0] == node.number

    # Gradients.

    def _gradients(self, node: NodeStory) -> Iterator[Cell]:
        """Yield cells with the gradients of a node, in the order of arrival, then with the sum."""
        received = [*node.received.items()]
        for item in shown_numbers(len(received), MOST_RECEIVED, range(FIRST)):
            if isinstance(item, Gap):
                label = f"⋯ {counted(item.hidden, 'gradient')} hidden"
                yield Cell(Role.PANEL, label, None, label=label)
            else:
                yield self._received(node, item, *received[item])
        if node.end is not None:
            yield self._total(node, node.end.total)
        elif node.removal is not None:
            label, moment = "no gradient", self.moments[node.removal]
            yield Cell(Role.PANEL, label, None, label=label, moment=moment)

    def _total(self, node: NodeStory, gradient: RecordedValue) -> Cell:
        """Return the cell of the total gradient of a node."""
        label = f"sum of {len(node.received):,}" if isinstance(node.end, Summed) else "gradient"
        label = label if node.received else "zeros"
        title = f"gradient of the result wrt {node_name(node.number)}, {label}"
        role = Role.RESULT if self._is_start(node) else Role.INTERMEDIATE
        key = f"gradient of node {node.number}"
        cell = value_cell(role, gradient, title, label + same_as(gradient), key)
        id, moment = ("total", node.number), self.moments[node.end_moment]
        return replace(cell, id=id, moment=moment, digits=node.digits)

    def _received(self, node: NodeStory, number: int, moment: int, sent: Sent) -> Cell:
        """Return the cell of a gradient. `number` counts the gradients that the node received."""
        name, key = node_name(node.number), f"gradient of node {node.number}"
        role, label, title = Role.SEED, "seed", f"the gradient of {name} wrt itself"
        factor = ""
        if sent.source is not None:
            label = f"from {node_name(sent.source)}{same_as(sent.gradient)}"
            role, title = Role.WAITING, f"gradient {number + 1} of {name}, {label}"
            (term,) = self.events[moment - 1].writes[0].terms
            if term.factor is not None and term.factor != 1:
                factor = f" · {number_text(term.factor)}"
        if node.end is None or isinstance(node.end, Summed):
            key += f", part {number}"
        cell = value_cell(role, sent.gradient, title, label + factor, key)
        id, short = ("received", moment), label if factor else ""
        at = self.moments[moment]
        return replace(cell, id=id, moment=at, digits=node.digits, short=short)
