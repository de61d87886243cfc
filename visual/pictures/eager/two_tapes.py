"""The same loop on the eager tape and on the tapes of its Scan, step by step.

The picture compares the values, the order of the backward pass, and the memory of an eager run and
of a run of the Scan. Each step has a forward moment and a backward moment. The backward moments
begin with the gradients of the values after the loop.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from lab.eager import grad, recording, unrolled
from lab.eager.records import RecordedValue, Recording, SparseValue
from lab.errors import check_type
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.loops.variables import RandomState, value_of
from lab.notation import counted
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, numbers, shown_steps
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.options import switch
from visual.pictures.eager.scan_side import START, StoredQuantity, TapeSide, scan_side
from visual.pictures.eager.story import NodeStory, stories
from visual.pictures.eager.words import node_label, node_name, value_cell
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

HEADS = (
    Head("the eager tape", "a node for every operation", bold=True),
    Head("gradients", "from bottom to top", bold=True),
    Head("the Scan", "a slot for every step", bold=True),
    Head("backward Scan", "gradients, from bottom to top", bold=True),
)
WORDS = {
    Role.INPUT: "",
    Role.INTERMEDIATE: "a value, or its gradient",
    Role.SEED: "direct gradient of the cost",
    Role.UNNEEDED: "0: the cost does not depend on it",
    Role.RESULT: "requested gradient",
}


@picture_function
def two_tapes(
    loop: Loop, step: int | None = None, wrt: str | None = None, all: bool = False
) -> Scene:
    """Draw a loop and its first derivative on the eager tape, next to the tapes of its Scan.

    Parameters
    ----------
    loop
        The loop; the cost is the last value of its first state.
    step
        A step of a loop with more than 12 steps. The picture shows the step and its neighbors.
    wrt
        The variable of the derivative, by default the first state.
    all
        Whether all cells have their full width. The picture then has any width.

    Raises
    ------
    lab.ArgumentError
        If the variable does not exist, or the loop cannot be unrolled (see `lab.eager.unrolled`).

    """
    check_type("loop", loop, Loop, "a lab.Loop")
    unrolled(loop)  # raises an error before the runs
    trace = loop.trace(order=1, wrt=wrt)
    recorded = _recorded(loop, wrt)
    steps = trace.scans[0].steps
    visible = numbers(shown_steps(steps, step))
    sides = eager_side(recorded, {START, *visible, steps}), scan_side(trace, visible)
    title = f"{loop.name}: the eager tape, and the states and tapes of its Scan"
    sums = [*sides[0].sums, *sides[1].sums]
    return table_scene(
        TwoTapes(title, sides, steps, step),
        WORDS,
        all=switch("all", all),
        title=title,
        description=" ".join((title, *sums)),
        sentences=sums,
    )


class TwoTapes(Table):
    """A row for each step, with values and gradients on the eager tape and in the Scan."""

    label_width = 84.0
    parts = (TablePart(narrow=120, wide=200, height=20, full=0.8, apart=20),)

    def __init__(
        self, title: str, sides: tuple[TapeSide, TapeSide], steps: int, step: int | None
    ) -> None:
        self.title, self.sides, self.steps, self.step = title, sides, steps, step
        self.row_of = {
            (number, quantity.name): row
            for number, side in enumerate(sides)
            for row, quantities in side.rows.items()
            for quantity in quantities
        }

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return all columns."""
        return [{(0, column) for column in range(len(HEADS))}]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the initial values, the shown steps, and the values after the loop."""
        line = f"{counted(self.steps, 'step')} of the loop, from top to bottom, with equal numbers "
        line += "on both sides."
        yield Row(heading=TableHeading(self.title, [line]))
        heads = {(0, n): head for n, head in enumerate(HEADS)}
        edges = [*self._edges()]
        for item in (START, *shown_steps(self.steps, self.step), self.steps):
            if isinstance(item, Gap):
                yield Row(note=f"⋯ {counted(item.hidden, 'step')} hidden")
                continue
            pairs = zip_longest(*(side.rows.get(item, []) for side in self.sides))
            lines = [Line(self._cells(item, pair), low=True) for pair in pairs]
            if lines:
                lines[0] = replace(lines[0], heads=heads)
                name = {START: "start", self.steps: "after"}.get(item, f"step {item:,}")
                yield Row(name, lines, [edge for row, edge in edges if row == item])
                heads = {}

    def _cells(
        self, row: int, pair: Sequence[StoredQuantity | None]
    ) -> Sequence[tuple[Key | None, Cell]]:
        cells: list[tuple[Key | None, Cell]] = []
        for number, quantity in enumerate(pair):
            if quantity is not None:
                id, moment = (number, "value", quantity.name), self._forward_moment(row)
                cells.append(((0, 2 * number), replace(quantity.value, id=id, moment=moment)))
            if quantity is not None and quantity.gradient is not None:
                id, moment = (number, "gradient", quantity.name), self._backward_moment(row)
                gradient = replace(quantity.gradient, id=id, moment=moment)
                cells.append(((0, 2 * number + 1), gradient))
        return cells

    def _edges(self) -> Iterator[tuple[int, Edge]]:
        """Yield each arrow after the number of the lower of its two rows."""
        for number, side in enumerate(self.sides):
            for kind, pairs in (("value", side.value_arrows), ("gradient", side.gradient_arrows)):
                for pair in dict.fromkeys(pairs):
                    rows = [self.row_of.get((number, name)) for name in pair]
                    if rows[0] is not None and rows[1] is not None:
                        start, end = ((number, kind, name) for name in pair)
                        is_value = kind == "value"
                        moment = (self._forward_moment if is_value else self._backward_moment)(
                            rows[1]
                        )
                        yield max(rows[0], rows[1]), Edge(start, end, plain=is_value, moment=moment)

    def _forward_moment(self, row: int) -> Moment:
        """Return the forward moment of a row. The row START has none."""
        if row == START:
            return None, ""
        return row, "after the loop" if row == self.steps else f"step {row:,} of the loop"

    def _backward_moment(self, row: int) -> Moment:
        """Return the backward moment of a row, which is later than all forward moments."""
        name = {START: "the start", self.steps: "what follows the loop"}.get(row, f"step {row:,}")
        return 2 * self.steps + 1 - row, f"gradients of {name}"


def eager_side(recording: Recording, shown: Container[int]) -> TapeSide:
    """Return the values and gradients of an eager recording in the `shown` rows."""
    side, outer_nodes = TapeSide(), recording.nodes_of(0)
    steps = [node.step for node in outer_nodes if node.step is not None]
    first = next((node.number for node in outer_nodes if node.step is not None), 0)
    nodes = stories(recording)
    for each in nodes:
        row = each.record.step
        if row is None:
            row = START if each.number <= first else max(steps, default=-1) + 1
        if row in shown:
            name = node_name(each.number)
            side.add(row, _of_node(each))
            side.value_arrows.extend((node_name(parent), name) for parent in each.record.parents)
            sources = [sent.source for sent in each.received.values()]
            side.gradient_arrows.extend((node_name(s), name) for s in sources if s is not None)
    ends = [nodes[node.number].end for node in outer_nodes]
    size = sum(_size(end.total) for end in ends if end is not None)
    side.sums.append(
        f"eager tape: {counted(len(recording.nodes), 'node')}, {recording.bytes(0):,} bytes of "
        f"values, and an operation for each; {size:,} bytes of gradients"
    )
    return side


def _size(recorded: RecordedValue) -> int:
    """Return the size of a gradient in bytes. Of a sparse gradient, only its entries count."""
    value = recorded.value.value if isinstance(recorded.value, SparseValue) else recorded.value
    return 0 if isinstance(value, str) else value.nbytes


def _of_node(story: NodeStory) -> StoredQuantity:
    """Return the value and the total gradient of a node."""
    node, name = story.record, node_name(story.number)
    role, label = Role.INTERMEDIATE if node.operation else Role.INPUT, node_label(node)
    value, gradient = (
        value_cell(role, node.value, label, label, f"value of node {node.number}"),
        None,
    )
    if story.end is not None:
        is_seed = len(story.received) == story.is_seeded
        role = Role.SEED if is_seed else Role.INTERMEDIATE
        role = role if node.operation else Role.RESULT
        meaning, label = f"gradient of the result wrt {name}", f"dC/d{name}"
        key = f"gradient of node {node.number}"
        gradient = value_cell(role, story.end.total, meaning, label, key)
    return StoredQuantity(name, value, gradient)


def _recorded(loop: Loop, wrt: str | None) -> Recording:
    """Return a recording of the loop's gradient."""
    variables = loop.variables
    wrt = next(iter(variables)) if wrt is None else identifier(wrt)
    values = [value_of(v)[()] for v in variables.values() if not isinstance(v, RandomState)]
    return recording(grad(unrolled(loop), list(variables).index(wrt)), *values)
