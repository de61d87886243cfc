"""The picture of a question about a step: one tape before the step, and the values it reads."""

from collections.abc import Collection, Iterator, Sequence

from lab.errors import listing
from lab.notation import integers
from lab.traces.trace import TapeTrace
from visual.layout.canvas import kind_text
from visual.layout.cells import values_text
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading
from visual.scene.shapes import Scene
from visual.scene.theme import Role


def tape_before(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Scene:
    """Draw `rows` of a tape before a step, below the saved values that the step reads.

    No slot has the role that the step will give it: this is the question.
    """
    title, about = f"{tape.name}, step {step}", f"The slots of {tape.name} before step {step}."
    return table_scene(TapeBefore(named, step, tape, rows), {}, title, about)


class TapeBefore(Table):
    """Some slots of a tape in the order of time, with their positions above them."""

    label_width = 0.0

    def __init__(self, named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> None:
        self.named, self.step, self.tape, time = named, step, tape, timeline(named.root.scan)
        columns = [column_of(tape, row, time) for row in range(len(tape.initial))]
        self.all_columns = range(min(columns), max(columns) + 1)
        self.slots = {(0, columns[row]): row for row in rows}

    def every(self) -> dict[int, range]:
        """Return the columns of the whole tape."""
        return {0: self.all_columns}

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of the slots."""
        return ({*self.slots},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the step and the values that it reads, and the slots before it."""
        named, tape = self.named, self.tape
        lines = [f"{tape.name}: {kind_text(tape)}"]
        reads = [
            f"{named.sequence_label(one, int(one.axis.index[self.step]))} = "
            f"{values_text(one.values[self.step])}"
            for one in named.scan.sequences
        ]
        lines += [f"saved values that the step reads: {listing(reads)}"] if reads else []
        steps = f"step {self.step} (steps 0 to {named.scan.steps - 1})"
        title = f"{named.number + 1} · {named.called}, {steps}"
        yield Row(heading=TableHeading(title, lines, named.whereabouts))
        values = {key: tape.value_before(row, self.step) for key, row in self.slots.items()}
        cells = [
            (key, Cell(role, named.slot_label(tape, self.slots[key]), value))
            for key, value in values.items()
            for role in [Role.UNWRITTEN if value is None else Role.INTERMEDIATE]
        ]
        heads = {
            key: Head("", f"pos {integers(tape.position(row))}") for key, row in self.slots.items()
        }
        yield Row(lines=[Line(cells, heads=heads)])
