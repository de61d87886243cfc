"""The routing of where, cat, narrow, and clamp: the source of each entry of the output.

Three panels show values, tangents, and cotangents. Values and tangents move from left to right, and
cotangents move from right to left. A cell of the output names the entry that it copies, and has the
color of that input; a cell of an input names the entries that copy it. Panels of vectors are next
to each other, and panels of matrices are below each other.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.notation import number_text
from visual.layout.arrows import Edge
from visual.layout.cells import full_text
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.pictures.routing.routed import (
    DrawnArray,
    Routed,
    RoutedOperand,
    arrays_of,
    copied_rows,
    entry_name,
    route_call,
)
from visual.pictures.routing.words import (
    COTANGENT,
    STEPS,
    RoutedStep,
    about,
    equation,
    notes_of,
    products,
    role_of,
    title_of,
    words_of,
)
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST_NAMES = 6  # the most names of entries in a tooltip
TERMS = 9  # the most letters of a sum in a cell


@picture_function
def routing(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object = None,
    tangents: Sequence[object] | None = None,
    **metadata: object,
) -> Scene:
    """Draw a structural primitive at arrays: values, tangents, and cotangents.

    `primitive` is where, cat, narrow, or clamp, with the `inputs` and `metadata` of
    `lab.structural.primitives`. By default, the tangents are 0.1, 0.2 … over all inputs, and the
    cotangent is 10, 20 …, so that all entries differ.

        >>> visual.routing("where", (x, 7.0), condition=x > 0)
        >>> visual.routing("narrow", (a,), dim=-1, start=1, length=2)

    The three panels are the moments 0, 1, and 2 of the picture. Marks show the entries of a clamp
    that are equal to a bound and have no derivative.

    Raises ArgumentError for arguments that the primitive rejects, for PyTensor variables, for more
    than 6 inputs, and for arrays of more than 24 rows or 12 columns.
    """
    call = route_call(primitive, inputs, cotangent, tangents, metadata)
    table = RoutingTable(call)
    return table_scene(
        table,
        words_of(call),
        title=f"How {primitive} routes values, tangents, and cotangents",
        description=about(call),
        sentences=[*products(call), *["arrows lead from row to row"] * (table.output.across > 1)],
    )


class RoutingTable(Table):
    """The panels of a call; each panel has a part for the inputs and a part for the output."""

    label_width = 126.0

    def __init__(self, call: Routed) -> None:
        self.call = call
        is_upright = call.value.ndim <= 1
        self.panels = [STEPS] if is_upright else [(step,) for step in STEPS]
        self.inputs, self.output = arrays_of(call, is_upright)
        part = TablePart(narrow=50, wide=110, height=54, full=0.72, apart=6)
        part = part if is_upright else replace(part, narrow=72, full=0.88)
        self.parts = (part, part) * len(self.panels[0])
        self.pairs = copied_rows(call, self.inputs, self.output)

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of the inputs and of the output for each panel of a row."""
        sides = [self.inputs, [self.output]] * len(self.panels[0])
        return [{(0, -1), *((0, n) for a in arrays for n in a.columns)} for arrays in sides]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the panels, next to each other or below each other."""
        for steps in self.panels:
            titles = [f"{step.title}: {equation(self.call, step)[0]}" for step in steps]
            about = [equation(self.call, step)[1] for step in steps]
            words = [f"{title}; {line}" for title, line in zip(titles[1:], about[1:], strict=True)]
            yield Row(heading=TableHeading(titles[0], [about[0], *words]))
            lines = [line for n, step in enumerate(steps) for line in self._lines(step, 2 * n)]
            yield Row(lines=lines, edges=[e for step in steps for e in self._edges(step)])

    def _lines(self, step: RoutedStep, part: int) -> Iterator[Line]:
        """Yield the rows of the inputs, then the rows of the output, which are to their right."""
        for array in self.inputs:
            yield from self._rows(array, step, part)
        yield from self._rows(self.output, step, part + 1)

    def _rows(self, array: DrawnArray, step: RoutedStep, part: int) -> Iterator[Line]:
        prefix = "" if array.name == "condition" else step.prefix
        moment, name = (step.number, step.title), title_of(f"{prefix}{array.name}", array.shape)
        notes = notes_of(self.call, array.operand) if array.operand else []
        heads, first = dict[Key, Head](), -max(array.across, 1)
        if array is self.output:
            heads = {(0, first): Head(name, "", bold=True)}
        elif array is self.inputs[0]:
            heads = {(0, first): Head(step.title, "", bold=True)}
        if not array.rows:
            empty = Cell(Role.UNNEEDED, name, None, label="empty", lines=("",), moment=moment)
            yield Line([((0, -1), empty)], notes, heads, name * (not part))
        for row in array.rows:
            cells: list[tuple[Key | None, Cell]] = [
                ((0, column), replace(self._cell(array, entry, step), moment=moment))
                for column, entry in array.entries(row)
            ]
            is_named = row == array.rows[0] and not part
            yield Line(cells, notes * is_named, heads, name * is_named, part=part)
            heads = {}

    # Cells.

    def _cell(self, array: DrawnArray, entry: int, step: RoutedStep) -> Cell:
        key = entry_name(array.name, array.shape, entry)
        id = (step.number, array.name, entry)
        if array is self.output:
            return self._output_cell(entry, step, f"routing:{key}", id)
        if array.operand is None:
            holds = bool(np.asarray(self.call.metadata["condition"]).reshape(-1)[entry])
            role, selected = role_of(0 if holds else 1), "x" if holds else "y"
            title = f"{key} = {holds}, which selects {selected}"
            lines = (f"{holds}: {selected}",)
            label = entry_name("c", array.shape, entry)
            return Cell(role, key, None, key=key, label=label, lines=lines, title=title, id=id)
        return self._input_cell(array.operand, entry, step, f"routing:{key}", id)

    def _input_cell(
        self, operand: RoutedOperand, entry: int, step: RoutedStep, key: str, id: object
    ) -> Cell:
        """Return an entry of an input, with the entries that copy it or, backward, their sum."""
        readers = self.call.sources.readers(operand.number, entry)
        count, some = len(readers), readers[:MOST_NAMES]
        names, more = [self._name(step, "z", n) for n in some], ", …" * (count > len(some))
        is_back = step is COTANGENT
        if not count:
            note, detail = f"{'←' if is_back else '→'} none", "not copied"
        elif is_back and count > 1:
            numbers = self.call.cotangent.reshape(-1)[some]
            terms = " + ".join(map(number_text, numbers))
            note = terms if len(terms) <= TERMS else f"sum of {count:,}"
            words = [f"{n} = {full_text(v)}" for n, v in zip(names, numbers, strict=True)]
            detail = f"the sum of {count:,}: {', '.join(words)}{more}"
        else:
            several = names[0] if count == 1 else f"{count:,} of {step.prefix}z"
            note, verb = f"{'←' if is_back else '→'} {several}", "from" if is_back else "goes to"
            detail = f"{verb} {', '.join(names)}{more}"
        value = self._array_of(operand, step).reshape(-1)[entry]
        role = role_of(operand.number) if len(readers) else Role.UNNEEDED
        name = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, entry)
        return self._entry(role, name, value, note, detail, key, id)

    def _output_cell(self, entry: int, step: RoutedStep, key: str, id: object) -> Cell:
        """Return an entry of the output, in the role of the input that it copies."""
        operand = self.call.operands[int(self.call.sources.input.reshape(-1)[entry])]
        place = int(self.call.sources.entry.reshape(-1)[entry])
        other = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, place)
        is_kink = bool(self.call.nonsmooth.reshape(-1)[entry])
        role = Role.UNDEFINED if is_kink else role_of(operand.number)
        back = step is COTANGENT
        detail = f"{'goes to' if back else 'from'} {other}"
        if is_kink:
            detail += "; x is equal to a bound: no derivative, by convention all goes to x"
        value = self._array_of(self.call, step).reshape(-1)[entry]
        note = f"{'→' if back else '←'} {other}"
        return self._entry(role, self._name(step, "z", entry), value, note, detail, key, id)

    def _entry(
        self, role: Role, name: str, value: np.ndarray, note: str, detail: str, key: str, id: object
    ) -> Cell:
        value = np.asarray(value)
        title = f"{name} = {full_text(value)}; {detail}"
        return Cell(role, name, value, key=key, label=name, lines=(note,), title=title, id=id)

    def _name(self, step: RoutedStep, name: str, entry: int) -> str:
        return entry_name(f"{step.prefix}{name}", self.call.value.shape, int(entry))

    @staticmethod
    def _array_of(thing: RoutedOperand | Routed, step: RoutedStep) -> np.ndarray:
        return {"": thing.value, "d": thing.tangent, "g": thing.cotangent}[step.prefix]

    # Arrows.

    def _edges(self, step: RoutedStep) -> Iterator[Edge]:
        """Yield the arrows from inputs to the output, or backward for cotangents."""
        for pair in self.pairs:
            ends = [(step.number, *end) for end in pair]
            source, target = reversed(ends) if step is COTANGENT else ends
            moment = step.number, step.title
            yield Edge(source, target, beside=True, plain=step is not COTANGENT, moment=moment)
