"""The picture of a step of a tape and of its transpose, both as routing, and the traced gradient.

A step reads slots (`narrow`) and writes slots (`set_subtensor`). In the transpose, the gradient wrt
a written slot moves to the written value, and zero remains in the slot. The gradient wrt a value
that the step reads is added to the gradient of its slot. Therefore, the gradient of an overwritten
slot does not reach earlier steps, and the gradient of a preserved slot is a sum. The last block
shows the same numbers on the tape of the backward Scan.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from lab.errors import GraphError, argument_error, check_integer, listing
from lab.notation import integers
from lab.traces.trace import Trace
from visual.layout.arrows import Edge
from visual.layout.columns import numbers, shown_numbers
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.options import check_trace
from visual.pictures.routing.step import (
    TransposedStep,
    Values,
    differentiated_scans,
    transposed_step,
)
from visual.scene.shapes import Group, Scene, picture_function
from visual.scene.theme import Role

MOST_SLOTS = 6  # a tape with more slots has gaps
WORDS: Mapping[Role, str] = {
    Role.INTERMEDIATE: "value on a tape, or computed by the step",
    Role.PRESERVED: "read, unchanged; its gradients are added",
    Role.OVERWRITTEN: "replaced; the gradient of the old value ends here",
    Role.READ: "value that the step reads, and its gradient",
    Role.RESULT: "gradient of the tape before the step",
    Role.UNNEEDED: "zero",
    Role.SPENT: "unchanged; no later step reads this slot",
}
NO_VALUES: Values = MappingProxyType({})
NO_ROLES: Mapping[int, Role] = MappingProxyType({})


@picture_function
def transposed(trace: Trace, scan: int | None = None, step: int = 0) -> Scene:
    """Draw a step of a Scan as routing, its transpose, and the same step of the backward Scan.

    `scan` is the index of a differentiated Scan in ``trace.scans``. The default is the first of
    these Scans that overwrites a slot (from order 2), otherwise the first Scan. `step` is a step of
    this Scan. Raises GraphError if no Scan is differentiated, and ArgumentError for another Scan or
    step.
    """
    check_trace(trace)
    known = differentiated_scans(trace)
    if not known:
        raise GraphError("order = 0: expected a derivative. Trace the loop with order=1 or higher.")
    overwriting = [n for n, (tape, *_) in known.items() if tape.tape.overwritten]
    number = [*overwriting, *known][0] if scan is None else scan
    if check_integer("scan", number) not in known:
        raise argument_error("scan", scan, f"expected a differentiated Scan: {listing(known)}.")
    source = trace.scans[number]
    if check_integer("step", step) not in range(source.steps):
        raise argument_error("step", step, f"{source.name} has steps 0 to {source.steps - 1}.")
    tape, later, reverse = known[number]
    result = transposed_step(trace, tape, later, reverse, step)
    return table_scene(
        StepTable(trace, number, later, result),
        WORDS,
        title=f"Step {step} of {source.name}, transposed",
        description=(
            f"The slots of {tape.name} that step {step} reads and writes, the transpose of this "
            f"routing, and the same step of {trace.scans[later].name}, with the same numbers."
        ),
    )


class StepTable(Table):
    """The step, its transpose, and the step of the backward Scan. A column is a slot."""

    parts = (TablePart(narrow=50, height=44),)

    def __init__(self, trace: Trace, number: int, later: int, step: TransposedStep) -> None:
        self.trace, self.number, self.later, self.step = trace, number, later, step
        self.named, self.scan = NamedScan(trace, number), trace.scans[number]

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the first and last slots, the slots of the step, and the slots next to them."""
        slots, size = (*self.step.read, *self.step.written), len(self.step.before)
        neighbors = {row + d for row in slots for d in (-1, 0, 1)} & {*range(size)}
        return ({(0, row) for row in numbers(shown_numbers(size, MOST_SLOTS, neighbors))},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the step, its transpose, and the step of the backward Scan."""
        self.slots = [row for _, row in shown[0]]
        yield self._forward()
        yield self._transposed()
        yield self._traced()

    def _forward(self) -> Row:
        """Return the step: the tape before, the values read and written, and the tape after."""
        step, read, written = self.step, self.step.read, self.step.written
        used = {r: Role.OVERWRITTEN if r in written else Role.PRESERVED for r in read}
        old = {row: step.before[row] for row in written if row in read}
        note = f"set_subtensor at pos {integers(*map(step.tape.position, written))}"
        replaced = dict.fromkeys(old, Role.OVERWRITTEN)
        lines = [
            self._line(0, "tape before", step.before, used),
            self._line(0, "read", read, dict.fromkeys(read, Role.READ), note="narrow: a copy"),
            self._line(0, "written", written, note="the step computes it"),
            self._line(0, "tape after", step.after, replaced, old, note),
        ]
        lines[0] = replace(lines[0], heads=self._heads())
        title = f"step {step.step} of {self.scan.name}, as routing"
        words = [f"{step.tape.name}: {step.tape.tape}"]
        edges = [*_edges(lines[:2], read), *_edges(lines[2:], written)]
        return _block(0, "forward", title, words, lines, edges)

    def _transposed(self) -> Row:
        """Return the transpose of the step, by the rules of routing."""
        step, read, written = self.step, self.step.gradient_read, self.step.gradient_written
        zero = np.zeros_like(step.gradient_after[0])
        scattered = {**dict.fromkeys(self.slots, zero), **read}
        roles = dict.fromkeys(self.slots, Role.UNNEEDED) | dict.fromkeys(read, Role.READ)
        old = {row: step.gradient_after[row] for row in written}
        ended, result = dict.fromkeys(old, Role.OVERWRITTEN), dict.fromkeys(read, Role.RESULT)
        after, before = step.gradient_after, step.gradient_before
        lines = [
            self._line(1, "gradient after", after, note="from later steps"),
            self._line(1, "wrt written", written, note="moves to the value"),
            self._line(1, "wrt the rest", step.gradient_rest, ended, old, "zero remains"),
            self._line(1, "+ wrt read", scattered, roles, note="narrow transposed: a scatter"),
            self._line(1, "gradient before", before, result, note="the sum of the two above"),
        ]
        words = ["from the gradient of the tape after the step to its gradient before the step"]
        edges = [*_edges(lines[:2], written), *_edges(lines[3:], read)]
        title = "the same step backward, as routing"
        return _block(1, "transposed", title, words, lines, edges)

    def _traced(self) -> Row:
        """Return the tape of the gradient before and after the same step of the backward Scan."""
        step, scan = self.step, self.trace.scans[self.later]
        alive = [row for row in range(len(step.traced)) if row not in step.spent]
        distance = np.max(np.abs(step.traced - step.gradient_before)[alive], initial=0)
        roles = {r: Role.OVERWRITTEN if r in step.written else Role.PRESERVED for r in step.read}
        roles |= dict.fromkeys(step.spent, Role.SPENT)
        old = {row: step.gradient_after[row] for row in step.read}
        after, note = step.gradient_after, "the gradient after, from above"
        lines = [
            self._line(2, "tape before", after, note=note),
            self._line(2, "tape after", step.traced, roles, old, "preserved: old + new value"),
        ]
        title = f"step {scan.steps - 1 - step.step} of {scan.name}"
        words = [
            f"{step.reverse.name}: {step.reverse.tape}; its slots have the order from above",
            f"largest difference from the gradient before, above: {float(distance)!r}",
        ]
        return _block(2, "traced", title, words, lines, [])

    def _heads(self) -> dict[Key, Head]:
        tape = self.step.tape
        return {
            (0, row): Head(self._label(row), f"pos {integers(tape.position(row))}")
            for row in self.slots
        }

    def _label(self, row: int) -> str:
        return self.named.tape_label(self.step.tape, row) or self.step.tape.name

    def _line(
        self,
        block: int,
        name: str,
        values: Values | np.ndarray,
        roles: Mapping[int, Role] = NO_ROLES,
        old: Values = NO_VALUES,
        note: str = "",
    ) -> Line:
        """Return a line with a cell for each slot that has a value.

        In blocks 1 and 2, the values are gradients.
        """
        known = values if isinstance(values, Mapping) else dict(enumerate(values))
        prefix, tape, named = "", self.step.tape, self.named
        if block:
            prefix, tape, named = "g of ", self.step.reverse, NamedScan(self.trace, self.later)
        cells = list[tuple[Key | None, Cell]]()
        for row in self.slots:
            if row in known:
                role = roles.get(row, Role.INTERMEDIATE)
                title = f"{prefix}{self._label(row)}: {name}"
                key = named.row_key(tape, len(tape.initial) - 1 - row if block else row)
                value, before = known[row], old.get(row)
                cell = Cell(role, title, value, old=before, key=key, id=(block, name, row))
                cells.append(((0, row), cell))
        return Line(cells, [note] if note else [], name=name)


def _block(
    number: int,
    name: str,
    title: str,
    words: Sequence[str],
    lines: Sequence[Line],
    edges: Sequence[Edge],
) -> Row:
    head = TableHeading(f"{name}: {title}", words)
    return Row("", lines, edges, moment=Group((), number, moment=name), heading=head)


def _edges(lines: Sequence[Line], slots: Values) -> Iterator[Edge]:
    """Yield arrows from a line to the next line, in the columns of `slots`."""
    upper, lower = ({key: cell.id for key, cell in line.cells} for line in lines)
    yield from (Edge(upper[0, row], lower[0, row]) for row in slots if (0, row) in upper)
