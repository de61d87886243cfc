"""The routing of where, cat, narrow, and clamp: the source of each entry of the output.

Three panels show values, tangents, and cotangents. Values and tangents move from left to right, and
cotangents move from right to left. A cell of the output names the entry that it copies, and has the
color of the copied input. A cell of an input names the entries that copy it. Panels of vectors are
side by side, and panels of matrices are stacked.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from lab.notation import number_text
from visual.layout.arrows import Edge
from visual.layout.cells import full_text
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Key, Line, Row, Table, TablePart
from visual.pictures.routing.call import PANELS, REGIONS, Panel, RoutedArray, RoutedCall
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST_NAMES = 6  # the maximum number of names of entries in a tooltip
MOST_LETTERS = 9  # the maximum number of letters of a sum in a cell
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)  # the roles of the inputs, in turn


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
    call = RoutedCall(primitive, inputs, cotangent, tangents, metadata)
    words: dict[Role, str] = {}
    for array in call.inputs:
        role, region = _role_of(array), REGIONS.get((primitive, array.name))
        label = array.name if region is None else f"{array.name}: {region}"
        words[role] = f"{words[role]}, {label}" if role in words else label
    words[Role.UNNEEDED] = "not copied; its gradient is 0"
    words[Role.UNDEFINED] = "kink: x is equal to a bound; by convention, x is copied"
    hint = ["arrows lead from row to row"] * (call.output.grid.shape[1] > 1)
    return table_scene(
        RoutingTable(call),
        words,
        title=f"How {primitive} routes values, tangents, and cotangents",
        description=(
            f"{call}: {call.output.grid.size:,} entries. Values and tangents go from the inputs to "
            "the output, and cotangents take the same paths backward."
        ),
        sentences=[*call.products(), *hint],
    )


class RoutingTable(Table):
    """The panels of a call; each panel has a part for the inputs and a part for the output."""

    label_width = 126.0

    def __init__(self, call: RoutedCall) -> None:
        self.call, is_upright = call, call.output.values[0].ndim <= 1
        self.panels = [PANELS] if is_upright else [(panel,) for panel in PANELS]
        part = TablePart(narrow=50, wide=110, height=54, full=0.72, apart=6, bold=True)
        part = part if is_upright else replace(part, narrow=72, full=0.88)
        self.parts = (part, part) * len(self.panels[0])
        # The last entry of a row of an input, and the first entry of an output row that copies
        # from it.
        self.pairs = dict[tuple[tuple[str, int], tuple[str, int]], None]()
        for row in call.output.grid.tolist():
            for source, entry in map(call.source, row):
                last = int(source.grid[entry // source.grid.shape[1], -1])
                self.pairs[(source.name, last), ("z", row[0])] = None

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of the inputs and of the output, also of arrays without rows."""
        sides = [self.call.arguments, [self.call.output]] * len(self.panels[0])
        widths = (max(array.grid.shape[1] for array in arrays) for arrays in sides)
        return [{(0, -column) for column in range(1, max(width, 1) + 1)} for width in widths]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the rows of the picture. The panels of vectors are in one row."""
        for panels in self.panels:
            equations = [(panel.title, *self.call.equation(panel)) for panel in panels]
            (title, first, about), *others = equations
            words = [f"{title}: {formula}; {line}" for title, formula, line in others]
            yield Row(title=f"{title}: {first}", about=[about, *words])
            lines = [line for n, panel in enumerate(panels) for line in self._lines(panel, 2 * n)]
            edges = list[Edge]()  # from inputs to the output; for cotangents, from the output
            for panel, pair in product(panels, self.pairs):
                ends = [(panel.number, *end) for end in pair]
                source, target = reversed(ends) if panel.is_back else ends
                moment, is_plain = (panel.number, panel.title), not panel.is_back
                edges.append(Edge(source, target, beside=True, plain=is_plain, moment=moment))
            yield Row(lines=lines, edges=edges)

    def _lines(self, panel: Panel, part: int) -> Iterator[Line]:
        """Yield the rows of the inputs, then the rows of the output to the right of the inputs."""
        output, size = self.call.output, self.call.output.grid.size
        for n, array in enumerate(self.call.arguments):
            notes = list[str]()
            if array.number is not None:
                notes.append(f"to {self.call.sources.count(array.number):,} of {size:,} entries")
                notes += ["repeated"] * self.call.is_repeated(array)
            yield from self._rows(array, panel, part, "" if n else panel.title, notes)
        yield from self._rows(output, panel, part + 1, output.title(panel))

    def _rows(
        self, array: RoutedArray, panel: Panel, part: int, head: str, notes: Sequence[str] = ()
    ) -> Iterator[Line]:
        """Yield the rows of an array with `head` above the first row, and `notes` to its left."""
        moment, name, across = (panel.number, panel.title), array.title(panel), array.grid.shape[1]
        heads = {(0, -max(across, 1)): (head, "")} if head else {}
        if not len(array.grid):
            empty = Cell(Role.UNNEEDED, name, None, column=(0, -1), label="empty", lines=("",))
            yield Line([replace(empty, moment=moment)], notes, heads, name * (not part))
        for number, row in enumerate(array.grid.tolist()):
            cells = [
                replace(self._cell(array, entry, panel), column=(0, column), moment=moment)
                for column, entry in enumerate(row, -across)
            ]
            is_named = number == 0 and not part
            yield Line(cells, notes if is_named else (), heads, name * is_named, part=part)
            heads = {}

    def _cell(self, array: RoutedArray, entry: int, panel: Panel) -> Cell:
        """Return the cell of an entry. The cell names the entries that it copies or that copy it.

        An entry of the condition has the role of the input that it selects.
        """
        name, id = array.entry_name(entry), (panel.number, array.name, entry)
        if len(array.values) == 1:  # the condition
            holds = bool(array.values[0].reshape(-1)[entry])
            selected = self.call.inputs[0 if holds else 1]
            role, label = _role_of(selected), f"c{name[len(array.name) :]}"
            title = f"{name} = {holds}, which selects {selected.name}"
            line = f"{holds}: {selected.name}"
            return Cell(role, name, None, key=name, label=label, lines=(line,), title=title, id=id)
        of = self._output_cell if array.number is None else self._input_cell
        role, note, detail = of(array, entry, panel)
        key, name = f"routing:{name}", f"{panel.prefix}{name}"
        value = np.asarray(array.values[panel.number].reshape(-1)[entry])
        title = f"{name} = {full_text(value)}; {detail}"
        cell = Cell(role, name, value, key=key, label=name, lines=(note,), title=title, id=id)
        return replace(cell, quantity=f"{panel.prefix}{array.name}")

    def _input_cell(self, array: RoutedArray, entry: int, panel: Panel) -> tuple[Role, str, str]:
        """Return the role, the note, and the tooltip of an entry of an input."""
        readers = self.call.sources.readers(array.number or 0, entry)
        count, is_back = len(readers), panel.is_back
        arrow, verb = ("←", "from") if is_back else ("→", "goes to")
        if not count:
            return Role.UNNEEDED, f"{arrow} none", "not copied"
        names = [self.call.output.entry_name(n, panel.prefix) for n in readers[:MOST_NAMES]]
        note = f"{arrow} {names[0] if count == 1 else f'{count:,} of {panel.prefix}z'}"
        if is_back and count > 1:
            values = self.call.output.values[panel.number].reshape(-1)[readers[:MOST_NAMES]]
            terms = " + ".join(map(number_text, values))
            note, verb = f"sum of {count:,}", f"the sum of {count:,}:"
            note = terms if len(terms) <= MOST_LETTERS else note
            names = [f"{name} = {full_text(v)}" for name, v in zip(names, values, strict=True)]
        more = ", …" * (count > MOST_NAMES)
        return _role_of(array), note, f"{verb} {', '.join(names)}{more}"

    def _output_cell(self, array: RoutedArray, entry: int, panel: Panel) -> tuple[Role, str, str]:
        """Return the role, the note, and the tooltip of an entry of the output."""
        source, place = self.call.source(entry)
        nonsmooth = np.broadcast_to(self.call.linear.nonsmooth, array.values[0].shape)
        arrow, verb = ("→", "goes to") if panel.is_back else ("←", "from")
        other = source.entry_name(place, panel.prefix)
        role, detail = _role_of(source), f"{verb} {other}"
        if nonsmooth.reshape(-1)[entry]:
            role = Role.UNDEFINED
            detail += "; x is equal to a bound: no derivative; by convention, x is copied"
        return role, f"{arrow} {other}", detail


def _role_of(array: RoutedArray) -> Role:
    """Return the role of the cells of an input. The first three inputs have different roles."""
    return SOURCES[(array.number or 0) % len(SOURCES)]
