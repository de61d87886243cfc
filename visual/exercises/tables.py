"""The picture of a question: a tape before a step, without the roles of slots in the step."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lab.errors import listing
from lab.notation import integers
from lab.traces.trace import TapeTrace
from visual.layout.cells import values_text
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading
from visual.pictures.tapes.headings import kind_text
from visual.scene.shapes import Scene
from visual.scene.theme import Role


class TapeBeforeStep(Table):
    """A table with the slots of a tape that a question shows."""

    label_width = 0.0

    def __init__(self, heading: TableHeading, slots: Line, columns: range) -> None:
        self.heading, self.slots, self.columns = heading, slots, columns

    def every(self) -> Mapping[int, range]:
        """Return the columns of the whole tape."""
        return {0: self.columns}

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of the slots."""
        return ({key for key, _ in self.slots.cells if key is not None},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the heading and the slots."""
        yield Row(heading=self.heading)
        yield Row(lines=[self.slots])


def tape_before(named: NamedScan, step: int, tape: TapeTrace, rows: Sequence[int]) -> Scene:
    """Draw `rows` of a tape before a step, below the saved values that the step reads.

    The picture omits the roles that the slots have in the step, because the question asks for them.
    """
    time = timeline(named.root.scan)
    reads = [
        f"{named.sequence_label(sequence, int(sequence.axis.index[step]))} = "
        f"{values_text(sequence.values[step])}"
        for sequence in named.scan.sequences
    ]
    lines = [f"{tape.name}: {kind_text(tape)}"]
    lines += [f"saved values that the step reads: {listing(reads)}"] if reads else []
    steps = f"step {step} (steps 0 to {named.scan.steps - 1})"
    heading = TableHeading(f"{named.numbered_name}, {steps}", lines, named.numbered_name)
    cells, heads = list[tuple[Key, Cell]](), dict[Key, Head]()
    for row in rows:
        key, value = (0, column_of(tape, row, time)), tape.value_before(row, step)
        role = Role.UNWRITTEN if value is None else Role.INTERMEDIATE
        cells.append((key, Cell(role, named.slot_label(tape, row), value)))
        heads[key] = Head("", f"pos {integers(tape.position(row))}")
    columns = [column_of(tape, row, time) for row in range(len(tape.initial))]
    table = TapeBeforeStep(heading, Line(cells, heads=heads), range(min(columns), max(columns) + 1))
    title, about = f"{tape.name}, step {step}", f"The slots of {tape.name} before step {step}."
    return table_scene(table, {}, title, about)
