"""The same loop on the eager tape and on the tapes of its Scan, step by step.

The picture compares the values, the order of the backward pass, and the memory of an eager run and
of a run of the Scan. Each step has a forward moment and a backward moment. The backward moments
begin with the gradients of the values after the loop.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from lab.eager import grad, recording, unrolled
from lab.eager.records import Recording
from lab.errors import check_type
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.loops.variables import RandomState, value_of
from lab.notation import counted
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, shown_steps
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.options import switch
from visual.pictures.eager.sides import START, StoredQuantity, TapeSide, eager_side, scan_side
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
    sides = eager_side(recorded, steps), scan_side(trace)
    title = f"{loop.name}: the eager tape, and the states and tapes of its Scan"
    sums = [sentence for side in sides for sentence in side.sums]
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

    def __init__(self, title: str, sides: Sequence[TapeSide], steps: int, step: int | None) -> None:
        self.title, self.sides, self.steps, self.step = title, sides, steps, step

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
            pairs = zip_longest(*([q for q in s.quantities if q.row == item] for s in self.sides))
            lines = [Line([*self._cells(pair)], low=True) for pair in pairs]
            if lines:
                lines[0] = replace(lines[0], heads=heads)
                name = {START: "start", self.steps: "after"}.get(item, f"step {item:,}")
                yield Row(name, lines, [edge for row, edge in edges if row == item])
                heads = {}

    def _cells(self, pair: Sequence[StoredQuantity | None]) -> Iterator[tuple[Key, Cell]]:
        """Yield the cells of a quantity of each side, with their columns."""
        for side, quantity in enumerate(pair):
            for kind, cell in enumerate(quantity.cells if quantity is not None else ()):
                if quantity is not None and cell is not None:
                    id, moment = (side, kind, quantity.name), self._moment(quantity.row, kind)
                    yield (0, 2 * side + kind), replace(cell, id=id, moment=moment)

    def _edges(self) -> Iterator[tuple[int, Edge]]:
        """Yield each arrow after the number of the lower of its two rows."""
        for number, side in enumerate(self.sides):
            row_of = {quantity.name: quantity.row for quantity in side.quantities}
            for kind, pairs in enumerate(side.arrows):
                for names in dict.fromkeys(pairs):
                    if row_of.keys() >= {*names}:
                        start, end = ((number, kind, name) for name in names)
                        moment = self._moment(row_of[names[1]], kind)
                        edge = Edge(start, end, plain=not kind, moment=moment)
                        yield max(row_of[name] for name in names), edge

    def _moment(self, row: int, is_gradient: int) -> Moment:
        """Return the moment of the values or gradients in a row; initial values have no moment."""
        names = {START: "the start", self.steps: "what follows the loop"}
        if is_gradient:
            return 2 * self.steps + 1 - row, f"gradients of {names.get(row, f'step {row:,}')}"
        if row == START:
            return None, ""
        return row, "after the loop" if row == self.steps else f"step {row:,} of the loop"


def _recorded(loop: Loop, wrt: str | None) -> Recording:
    """Return a recording of the loop's gradient."""
    variables = loop.variables
    wrt = next(iter(variables)) if wrt is None else identifier(wrt)
    values = [value_of(v)[()] for v in variables.values() if not isinstance(v, RandomState)]
    return recording(grad(unrolled(loop), list(variables).index(wrt)), *values)
