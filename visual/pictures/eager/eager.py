"""The eager tape: the values of the nodes, and the received gradients in order.

A row shows an operation: the node that the operation appended, the gradients that the node
received, and their sum. Black arrows lead down from parents to new nodes. Orange arrows lead up
from the gradient of a node to its contributions to the parents. An inner tape is to the right of
its outer tape. If the value of an inner node is an outer node, both nodes are in the same row.
The moments of the picture are the events of the recording.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from lab.eager.records import Recording, Sent
from lab.equations.events.events import events
from lab.errors import check_integer, check_type
from lab.notation import counted, number_text
from visual.layout.arrows import Edge
from visual.layout.columns import Gap, shown_numbers
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Key, Line, Row, Table, TablePart
from visual.pictures.eager.nodes import NodeEvents, full_value_text, node_name, same_as, value_cell
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST_RECEIVED, FIRST = 5, 3  # a node with more gradients shows the first `FIRST` and the last
MOST_TAPES = 3  # the maximum number of tapes with the gradients of a single tape
# Maximum number of rows. A longer run shows the rows near its ends and near the ends of two tapes.
MOST_ROWS, AT_ENDS, AT_TAPES = 26, 4, 2
COLUMN: Key = (0, 0)  # the only column of a part
GRADIENTS = "gradients", "in the order of arrival"
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
    """Draw the eager tapes of a recording of `lab.eager`, 840 pixels wide.

    The picture shows the gradients of the `tape` with this number (default: 0, the tape of the
    result) or, with `all`, the gradients of every tape, in any width. The moments of the picture
    have the numbers of the events in ``lab.events(recording)``; a total gradient appears with its
    last contribution. Raises ArgumentError if the tape does not exist.
    """
    check_type("recording", recording, Recording, "a recording of lab.eager")
    last = len(recording.tapes) - 1
    if tape is not None:
        check_integer("tape", tape, f"the number of a tape, 0 to {last}", 0, last)
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
        self.nodes, self.events = NodeEvents.each(recording), events(recording)
        priorities = sorted({tape.priority for tape in recording.tapes})
        with_gradients = priorities
        if opened is not None:
            own = recording.tapes[opened].priority
            nearest = sorted(priorities, key=lambda priority: abs(priority - own))
            priorities, with_gradients = sorted(nearest[:MOST_TAPES]), [own]
        # The numbers of the nodes of each operation, the outermost node first.
        self.operations = list[tuple[int, ...]]()
        for node in recording.nodes:
            if recording.tapes[node.tape].priority in priorities:
                last = self.operations[-1:]
                outer = self.operations.pop() if last and last[0][-1] == node.value.node else ()
                self.operations.append((*outer, node.number))
        # The priority of each part, and whether the part contains gradients.
        pairs = product(priorities, (False, True))
        self.contents = [(p, is_back) for p, is_back in pairs if not is_back or p in with_gradients]
        part = TablePart(narrow=110, wide=230, height=44, full=0.76, apart=26, bold=True)
        self.parts = (part,) * max(1, len(self.contents))

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the heading, the shown operations in their order, and a note for each gap."""
        yield self._heading()
        count, headed = len(self.operations), set[int]()
        row_of = {node: row for row, nodes in enumerate(self.operations) for node in nodes}
        ends = [end for t in self.recording.tapes[:2] for end in (*t.nodes[:1], *t.nodes[-1:])]
        centers = [(row_of[node], AT_TAPES) for node in ends if node in row_of]
        centers += [(0, AT_ENDS), (count - 1, AT_ENDS)]
        chosen = {row + away for row, reach in centers for away in range(-reach, reach + 1)}
        left = iter(self.operations)
        for item in shown_numbers(count, MOST_ROWS, chosen & {*range(count)}):
            if isinstance(item, Gap):
                hidden = [node for row in islice(left, item.hidden) for node in row]
                span = f"{node_name(hidden[0])} to {node_name(hidden[-1])}"
                yield Row(note=f"⋯ {counted(len(hidden), 'node')} hidden: {span}")
                continue
            nodes = [self.nodes[number] for number in next(left)]
            lines = [line for n in nodes for line in self._lines(n, n.record.tape not in headed)]
            edges = list[Edge]()  # from parents to a node, from its gradient to the contributions
            for node in nodes:
                own, start = node.record.number, node.appended
                for parent in dict.fromkeys(node.record.parents):
                    edges.append(Edge(("node", parent), ("node", own), plain=True, moment=start))
                edges += [Edge(("total", own), ("received", s), moment=s) for s in node.sent]
            yield Row(lines=lines, edges=edges)
            headed |= {node.record.tape for node in nodes}

    def _heading(self) -> Row:
        tapes = len(self.recording.tapes)
        lines = [
            "Down: every operation appends a node. Up, in orange: each node sends contributions "
            "to its parents."
        ]
        linked = [n for n in self.recording.nodes if n.value.node is not None]
        for node in linked[:1]:
            name, outer = node_name(node.number), node_name(node.value.node or 0)
            lines.append(f"{name} ≡ {outer}: the value of {name} is {outer}, on an outer tape.")
        if self.opened is not None:
            other = (self.opened + 1) % tapes
            hint = f"tape={other} shows another tape, all=True shows all tapes"
            lines.append(f"Gradients of tape {self.opened} only: {hint}.")
        title = "The eager tape" if tapes == 1 else counted(tapes, "eager tape")
        return Row(title=title, about=lines)

    def _lines(self, node: NodeEvents, is_first: bool) -> Iterator[Line]:
        """Yield a line for the node and, if its tape is open, a line for each of its gradients.

        The lines of the first node of a tape include the heads of the columns.
        """
        tape = self.recording.tapes[node.record.tape]
        is_open = self.opened in (None, tape.number)
        place = counted(len(tape.nodes), "node")
        place += f", {self.recording.bytes(tape.number):,} bytes of values" * is_open
        head = f"tape {tape.number}: {tape.function}", place
        short = node.label if is_open else node.name + same_as(node.record.value)
        key = f"value of node {node.record.number}"
        cell = value_cell(_role(node), node.record.value, node.label, short, key)
        id, part = ("node", node.record.number), self.contents.index((tape.priority, False))
        cell = replace(cell, column=COLUMN, id=id, moment=node.appended)
        yield Line([cell], heads={COLUMN: head} if is_first else {}, part=part)
        for cell in self._gradients(node) if is_open else ():
            heads = {COLUMN: GRADIENTS} if is_first else {}
            yield Line([cell], heads=heads, low=True, part=part + 1)
            is_first = False

    def _gradients(self, node: NodeEvents) -> Iterator[Cell]:
        """Yield cells with the shown gradients of a node, then a cell with the sum, if any."""
        for item in shown_numbers(len(node.received), MOST_RECEIVED, range(FIRST)):
            if isinstance(item, Gap):
                label = f"⋯ {counted(item.hidden, 'gradient')} hidden"
                yield Cell(Role.PANEL, label, None, label=label)
            else:
                yield self._received(node, item, *node.received[item])
        if node.end is not None:
            number, total, label = node.record.number, node.end.total, "gradient"
            if node.end.is_sum:
                label = f"sum of {len(node.received):,}" if node.received else "zeros"
            role = Role.RESULT if node.is_start else Role.INTERMEDIATE
            title = f"gradient of the result wrt {node.name}, {label}"
            label, key = label + same_as(total), f"gradient of node {number}"
            cell = value_cell(role, total, title, label, key, "dC/dn")
            yield replace(cell, id=("total", number), moment=node.ended, digits=node.digits)
        elif node.ended[0] is not None:
            yield Cell(Role.PANEL, "no gradient", None, label="no gradient", moment=node.ended)

    def _received(self, node: NodeEvents, number: int, moment: tuple[int, str], sent: Sent) -> Cell:
        """Return the cell of a received gradient of the node; `number` is its number, from 0."""
        key = f"gradient of node {node.record.number}"
        role, label, title = Role.SEED, "seed", f"the gradient of {node.name} wrt itself"
        factor = ""
        if sent.source is not None:
            label = f"from {node_name(sent.source)}{same_as(sent.gradient)}"
            role, title = Role.WAITING, f"gradient {number + 1} of {node.name}, {label}"
            (term,) = self.events[moment[0] - 1].writes[0].terms
            if term.factor is not None and term.factor != 1:
                factor = f" · {number_text(term.factor)}"
        if node.end is None or node.end.is_sum:
            key += f", part {number}"
        cell = value_cell(role, sent.gradient, title, label + factor, key, "dC/dn")
        id, short = ("received", moment), label if factor else ""
        return replace(cell, id=id, moment=moment, digits=node.digits, short=short)


def _role(node: NodeEvents) -> Role:
    if node.is_start:
        return Role.INPUT
    if node.end is None:
        return Role.UNNEEDED
    if node.is_seeded:
        return Role.SEED
    return Role.INTERMEDIATE if node.record.during is None else Role.BACKWARD
