"""The routing of where, cat, narrow, and clamp: the source of each entry of the output.

Three panels show values, tangents, and cotangents. Values and tangents move from left to right, and
cotangents move from right to left. A cell of the output names the entry that it copies, and has the
color of the copied input. A cell of an input names the entries that copy it. Panels of vectors are
side by side, and panels of matrices are one below the other.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lab.notation import number_text
from visual.layout.arrows import Edge
from visual.layout.cells import full_text
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.pictures.routing.routed import RoutedArray, RoutedCall, route_call
from visual.pictures.routing.words import (
    COTANGENT,
    PANELS,
    Panel,
    about,
    equation,
    notes_of,
    products,
    role_of,
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
    """Draw a call of a structural primitive: its values, tangents, and cotangents.

    `primitive` is where, cat, narrow, or clamp, with the `inputs` and `metadata` of
    `lab.structural.primitives`. By default, the tangents are 0.1, 0.2 … over all inputs, and the
    cotangent is 10, 20 …, so that all entries differ.

        >>> visual.routing("where", (x, 7.0), condition=x > 0)
        >>> visual.routing("narrow", (a,), dim=-1, start=1, length=2)

    The three panels are the moments 0, 1, and 2 of the picture. Marks show the entries of a clamp
    that are equal to a bound: the clamp has no derivative there.

    Raises ArgumentError for arguments that the primitive rejects, for PyTensor variables, for more
    than 6 inputs, and for arrays of more than 24 rows or 12 columns.
    """
    call = route_call(primitive, inputs, cotangent, tangents, metadata)
    return table_scene(
        RoutingTable(call),
        words_of(call),
        title=f"How {primitive} routes values, tangents, and cotangents",
        description=about(call),
        sentences=[*products(call), *["arrows lead from row to row"] * (call.output.across > 1)],
    )


class RoutingTable(Table):
    """The panels of a call; each panel has a part for the inputs and a part for the output."""

    label_width = 126.0

    def __init__(self, call: RoutedCall) -> None:
        self.call, is_upright = call, len(call.output.shape) <= 1
        self.panels = [PANELS] if is_upright else [(panel,) for panel in PANELS]
        part = TablePart(narrow=50, wide=110, height=54, full=0.72, apart=6)
        part = part if is_upright else replace(part, narrow=72, full=0.88)
        self.parts = (part, part) * len(self.panels[0])
        self.pairs = call.copied_rows()

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of the inputs and of the output for each panel of a row."""
        sides = [self.call.arguments, [self.call.output]] * len(self.panels[0])
        return [{(0, -1), *((0, n) for a in arrays for n in a.columns)} for arrays in sides]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the rows of the picture. The panels of vectors are in one row."""
        for panels in self.panels:
            equations = [(panel.title, *equation(self.call, panel)) for panel in panels]
            (title, first, about), *others = equations
            words = [f"{title}: {formula}; {line}" for title, formula, line in others]
            yield Row(heading=TableHeading(f"{title}: {first}", [about, *words]))
            lines = [line for n, panel in enumerate(panels) for line in self._lines(panel, 2 * n)]
            yield Row(lines=lines, edges=[e for panel in panels for e in self._edges(panel)])

    def _lines(self, panel: Panel, part: int) -> Iterator[Line]:
        """Yield the rows of the inputs, then the rows of the output to the right of the inputs."""
        for number, array in enumerate(self.call.arguments):
            yield from self._rows(array, panel, part, "" if number else panel.title)
        output = self.call.output
        yield from self._rows(output, panel, part + 1, _title(output, panel))

    def _rows(self, array: RoutedArray, panel: Panel, part: int, head: str) -> Iterator[Line]:
        """Yield the rows of an array with `head` above the first row."""
        moment, name = (panel.number, panel.title), _title(array, panel)
        heads = {(0, -max(array.across, 1)): Head(head, "", bold=True)} if head else {}
        notes = notes_of(self.call, array)
        if not array.rows:
            empty = Cell(Role.UNNEEDED, name, None, label="empty", lines=("",), moment=moment)
            yield Line([((0, -1), empty)], notes, heads, name * (not part))
        for row in array.rows:
            cells: list[tuple[Key | None, Cell]] = [
                ((0, column), replace(self._cell(array, entry, panel), moment=moment))
                for column, entry in array.entries(row)
            ]
            is_named = row == 0 and not part
            yield Line(cells, notes * is_named, heads, name * is_named, part=part)
            heads = {}

    # Cells.

    def _cell(self, array: RoutedArray, entry: int, panel: Panel) -> Cell:
        if array is self.call.condition:
            cell = self._condition_cell(array, entry)
        elif array.number is None:
            cell = self._output_cell(array, entry, panel)
        else:
            cell = self._input_cell(array, array.number, entry, panel)
        return replace(cell, id=(panel.number, array.name, entry))

    def _condition_cell(self, array: RoutedArray, entry: int) -> Cell:
        """Return the cell of an entry of the condition, with the role of the selected input."""
        holds, key = bool(array.values[0].reshape(-1)[entry]), array.entry_name(entry)
        role, selected = role_of(0 if holds else 1), "x" if holds else "y"
        title, label = f"{key} = {holds}, which selects {selected}", f"c{key[len(array.name) :]}"
        lines = (f"{holds}: {selected}",)
        return Cell(role, key, None, key=key, label=label, lines=lines, title=title)

    def _input_cell(self, array: RoutedArray, number: int, entry: int, panel: Panel) -> Cell:
        """Return the cell of an entry of an input, which names the entries that copy the entry.

        The cell of a cotangent shows the sum over these entries.
        """
        readers, is_back = self.call.sources.readers(number, entry), panel is COTANGENT
        count, some = len(readers), readers[:MOST_NAMES]
        names = [self.call.output.entry_name(n, panel.prefix) for n in some]
        more = ", …" * (count > len(some))
        if not count:
            note, detail = f"{'←' if is_back else '→'} none", "not copied"
        elif is_back and count > 1:
            numbers = self.call.output.values[panel.number].reshape(-1)[some]
            terms = " + ".join(map(number_text, numbers))
            note = terms if len(terms) <= TERMS else f"sum of {count:,}"
            words = [f"{n} = {full_text(v)}" for n, v in zip(names, numbers, strict=True)]
            detail = f"the sum of {count:,}: {', '.join(words)}{more}"
        else:
            several = names[0] if count == 1 else f"{count:,} of {panel.prefix}z"
            note, verb = f"{'←' if is_back else '→'} {several}", "from" if is_back else "goes to"
            detail = f"{verb} {', '.join(names)}{more}"
        role = role_of(number) if count else Role.UNNEEDED
        return _entry(role, array, entry, panel, note, detail)

    def _output_cell(self, array: RoutedArray, entry: int, panel: Panel) -> Cell:
        """Return the cell of an entry of the output, with the role of the copied input."""
        source, place = self.call.source(entry)
        nonsmooth = np.broadcast_to(self.call.linear.nonsmooth, array.shape)
        is_kink, is_back = bool(nonsmooth.reshape(-1)[entry]), panel is COTANGENT
        role = Role.UNDEFINED if is_kink else role_of(source.number or 0)
        other = source.entry_name(place, panel.prefix)
        detail = f"{'goes to' if is_back else 'from'} {other}"
        if is_kink:
            detail += "; x is equal to a bound: no derivative, by convention all goes to x"
        return _entry(role, array, entry, panel, f"{'→' if is_back else '←'} {other}", detail)

    # Arrows.

    def _edges(self, panel: Panel) -> Iterator[Edge]:
        """Yield the arrows from the inputs to the output or, for cotangents, from the output."""
        for pair in self.pairs:
            ends = [(panel.number, *end) for end in pair]
            source, target = reversed(ends) if panel is COTANGENT else ends
            moment = panel.number, panel.title
            yield Edge(source, target, beside=True, plain=panel is not COTANGENT, moment=moment)


def _title(array: RoutedArray, panel: Panel) -> str:
    """Return the name and the shape of an array, such as ``x · 2×3``."""
    prefix = panel.prefix * (len(array.values) > 1)
    return f"{prefix}{array.name} · {'×'.join(map(str, array.shape)) or 'scalar'}"


def _entry(
    role: Role, array: RoutedArray, entry: int, panel: Panel, note: str, detail: str
) -> Cell:
    """Return a cell with an entry of an array in a panel."""
    name, key = array.entry_name(entry, panel.prefix), f"routing:{array.entry_name(entry)}"
    value = np.asarray(array.values[panel.number].reshape(-1)[entry])
    title = f"{name} = {full_text(value)}; {detail}"
    return Cell(role, name, value, key=key, label=name, lines=(note,), title=title)
