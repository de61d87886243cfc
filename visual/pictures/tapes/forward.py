"""The forward loop in a picture of tapes: values over time, and an arrow for every read."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import SlotRole
from lab.equations.events.timeline import CHANGES
from lab.notation import counted, value_symbol
from lab.traces.trace import TapeTrace
from visual.layout.arrows import Edge
from visual.layout.columns import numbers, timeline, touched_columns
from visual.layout.names import NamedScan, kind_text
from visual.layout.table import Cell, Fold, Key, Line, Row, Table
from visual.pictures.unrolled.graph import reached_rows
from visual.scene.theme import Role

MOST_PARAMETERS = 5
Entry = tuple[int, np.ndarray, Role, int | None]  # time index, value, role, and computing step


class Forward(Table):
    """The values of a loop over time. `all` shows all parameters and the kinds of all tapes."""

    def __init__(self, named: NamedScan, events: Events, all: bool = False) -> None:
        self.named, self.scan, self.run, self.all = named, named.scan, events, all
        self.time, tapes = timeline(named.root.scan), named.scan.buffers
        self.reached = {  # the values with a nonzero direct gradient of the cost
            named.row_key(tape, row) for tape in tapes for row in reached_rows(named, tape)
        }

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns that the shown steps read or write."""
        steps = numbers(fold.steps(self.scan))
        return ({(0, column) for column in touched_columns(self.scan, self.time, steps)},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield a line for each variable with its shown values, then the parameters."""
        lines = list[Line]()
        for name, values in self._variables(shown[0]):
            lines.append(Line([self._cell(name, *value) for value in values], name=name))
        first = self.scan.first  # column t contains the results of step t of the whole loop
        steps = [step for step in range(self.scan.steps) if (0, first + step) in shown[0]]
        key, moment = self.named.leaf_key, self.named.moment
        edges = [  # from each value that a step reads to each value that the step computes
            Edge(key(leaf, step), key(formula.target, step), over=True, moment=moment(step))
            for step in steps
            for formula in self.scan.formulas
            for leaf in formula.leaves
        ]
        yield replace(self._heading(), lines=lines, edges=edges)
        yield from self._parameters(sorted(shown[0]))

    def _heading(self) -> Row:
        named, scan = self.named, self.scan
        lines = [f"forward · {counted(scan.steps, 'step')}"]
        if scan.stopped_early:
            lines[0] += " until its condition was met"
        lines[0] += f" · {named.offsets}"
        if self.all:
            lines += [f"{tape.name} · {kind_text(tape)}" for tape in scan.tapes]
        if scan.untraced:
            lines.append(f"{', '.join(scan.untraced)} · untraced: replaced at every step, no tape")
        title = named.numbered_name
        if len(scan.formulas) == 1:
            title += f": {named.equation(scan.formulas[0])}"
        else:
            lines += [named.equation(formula) for formula in scan.formulas]
        return Row(title=title, about=["; ".join(lines)], more=named.numbered_name)

    def _variables(self, shown: Collection[Key]) -> Iterator[tuple[str, Iterable[Entry]]]:
        """Yield the name of each variable with its values in the `shown` columns."""
        values: dict[str, dict[int, np.ndarray]] = {}
        for sequence in self.scan.sequences:  # all taps of a sequence have one line
            known = values.setdefault(sequence.axis.variable, {})
            known |= zip(sequence.axis.index.tolist(), sequence.values, strict=True)
        for name, known in values.items():
            indices = [n for n in sorted(known) if (0, self.time.column(name, n)) in shown]
            yield name, [(index, known[index], Role.INPUT, None) for index in indices]
        for tape in self.scan.buffers:
            entries = range(len(tape.final)) if tape.axis is None else tape.axis.index.tolist()
            every = enumerate(zip(entries, tape.final, strict=False))
            rows = ((n, e) for n, e in every if (0, self.time.column(tape.name, e[0])) in shown)
            yield tape.name, ((*entry, *self._state(tape, row)) for row, entry in rows)

    def _state(self, tape: TapeTrace, row: int) -> tuple[Role, int | None]:
        """Return the role of a value, and the step that computes the value; None for an input."""
        timeline, slot = self.run.timeline, self.run.slot(self.named.number, tape.argument, row)
        last = timeline.event_number(slot.scan, self.scan.steps - 1)
        is_input = timeline.resting_role(slot, last) is SlotRole.INPUT
        writes = (touch.event for touch in timeline.touches(slot) if touch.role in CHANGES)
        step = next((timeline.locate(event)[1] for event in writes), None)
        return Role.INPUT if is_input else Role.INTERMEDIATE, step

    def _cell(self, name: str, index: int, value: np.ndarray, role: Role, step: int | None) -> Cell:
        key, column = self.named.cell_key(name, index, 0), (0, self.time.column(name, index))
        role = Role.SEED if key in self.reached else role
        moment = (None, "") if step is None else self.named.moment(step)
        label = value_symbol(name, index)
        cell = Cell(role, label, value, column=column, key=key, label=label, id=key)
        return replace(cell, quantity=name, moment=moment)

    def _parameters(self, columns: Sequence[Key]) -> Iterator[Row]:
        """Yield the rows of parameters. If all are numbers, the cells are low."""
        shown = self.scan.parameters[: None if self.all else MOST_PARAMETERS]
        low = not any(parameter.value.ndim for parameter in shown)
        places: list[Key | None] = [*columns] or [None]
        for start in range(0, len(shown), len(places)):
            cells = list[Cell]()
            for column, parameter in zip(places, shown[start : start + len(places)], strict=False):
                name, key = parameter.name, self.named.cell_key(parameter.name, None, 0)
                value = parameter.value
                cells.append(Cell(Role.INPUT, name, value, column=column, key=key, label=name))
            yield Row(lines=[Line(cells, low=low, name="parameters", blocks=())])
        if shown != self.scan.parameters:
            hidden = len(self.scan.parameters) - len(shown)
            yield Row(note=f"⋯ {counted(hidden, 'more parameter')}: all=True shows them")
