"""The stories of the numbers in a picture, for a page in which one of them is clicked.

    >>> picture = visual.draw(gallery.loops["square"])
    >>> of_all(picture)["values"][12]

A cell of a picture has a key, and shows a value that its slot held at some time: that of the step
which it is part of, or else the last one that is the number in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from lab.equations.story import Stories
from lab.records import cached_property
from lab.traces.flow import Value, parameter_of, values_read
from lab.traces.trace import TapeTrace, Trace
from visual.layout.cells import full_text
from visual.layout.names import NamedScan, at_moment
from visual.scene.shapes import Group, Scene, Shape


class Told(TypedDict):
    """What a page is told of a value.

    `made` is the moment in which it was made, -1 if it was given, and `given` is then the name and
    the place of a number.  A seed has been made in Scans before: `seeds` are the moments, and the
    keys of the cells.  `path` are the numbers of the cells that it was made from.  `scan` is its
    own, and `place` is where it stands in PyTensor, for those who look there.
    """

    origin: Sequence[str]
    fate: Sequence[str]
    place: str
    made: int
    given: tuple[str, int] | None
    seeds: Sequence[tuple[int, str]]
    scan: int
    path: Sequence[int]


class ToldOfCell(Told):
    """The same, with the cells that show what was made from it, and the Scans on its path."""

    readers: Sequence[int]
    scans: Sequence[int]


@dataclass(frozen=True)
class Cell:
    """A cell of a picture: its key, what its tooltip says, and the moment that it is part of."""

    key: str
    title: str
    moment: int | None


def cells_of(picture: Scene) -> list[Cell]:
    """All cells of a picture, in the order in which they are drawn."""
    return list(_cells(picture.shapes, None))


def _cells(shapes: Iterable[Shape], moment: int | None) -> Iterator[Cell]:
    for shape in shapes:
        if isinstance(shape, Group):
            inner = moment if shape.step is None else shape.step
            if shape.cell:
                yield Cell(shape.cell, shape.title, inner)
            yield from _cells(shape.shapes, inner)


@dataclass(frozen=True, eq=False)
class Teller:
    """Who knows which value of a run a cell shows."""

    trace: Trace

    @cached_property
    def stories(self) -> Stories:
        """Of all values of the run."""
        return Stories(self.trace)

    @cached_property
    def _rows(self) -> Mapping[str, list[tuple[NamedScan, TapeTrace, int]]]:
        """The rows of tapes, by their keys."""
        found: dict[str, list[tuple[NamedScan, TapeTrace, int]]] = {}
        for named in NamedScan.each(self.trace):
            for tape in named.scan.held:
                for row in range(len(tape.final)):
                    found.setdefault(named.row_key(tape, row), []).append((named, tape, row))
        return found

    @cached_property
    def _given(self) -> Mapping[str, Value]:
        """What a loop reads besides, by its keys."""
        found: dict[str, Value] = {}
        for named in NamedScan.each(self.trace):
            for sequence in named.scan.sequences:
                values = values_read(named, sequence, self.stories.flow.versions)
                for step, index in enumerate(sequence.axis.index.tolist()):
                    key = named.cell_key(sequence.name, index, step)
                    found.setdefault(key, values[step])
            for parameter in named.scan.parameters:
                key = named.root.cell_key(parameter.name, None, 0)
                found.setdefault(key, parameter_of(named, parameter.name))
        return found

    def value(self, cell: Cell) -> Value | None:
        """The value that a cell shows; None if it shows none of the run."""
        return next((v for v in self._candidates(cell) if self._shows(cell, v)), None)

    def _candidates(self, cell: Cell) -> Iterator[Value]:
        """What it may show, the likeliest first."""
        scan, step = (-1, -1) if cell.moment is None else at_moment(self.trace, cell.moment)
        rows = self._rows.get(cell.key, [])
        for named, tape, row in sorted(rows, key=lambda place: place[0].number != scan):
            steps = named.scan.steps
            begun = step + 1 if named.number == scan else steps if named.number < scan else 0
            for after in (steps,) if cell.moment is None else (begun, steps):
                yield from reversed(self.stories.held(named.number, tape.argument, row, after))
        if cell.key in self._given:
            yield self._given[cell.key]

    def _shows(self, cell: Cell, value: Value) -> bool:
        """Whether the number in the tooltip is this one."""
        number = self.stories.number(value)
        if number is None:
            return "not written yet" in cell.title
        return f" = {full_text(number)}" in cell.title

    def told(self, value: Value, path: Sequence[int]) -> Told:
        """The story of a value, with the cells, or values, on the way to it."""
        story, write = self.stories.of(value), self.stories.flow.writes.get(value)
        named, number = NamedScan(self.trace, value.scan), self.stories.number(value)
        made = -1 if write is None else named.moment(write.step)[0]
        is_given = write is None and named.parent is None and number is not None and not number.ndim
        given = (value.variable, value.row) if is_given else None
        return {
            "origin": story.origin,
            "fate": story.fate,
            "place": story.place,
            "made": made,
            "given": given,
            "seeds": [*self._seeds(value)],
            "scan": value.scan + 1,
            "path": path,
        }

    def _seeds(self, value: Value) -> Iterator[tuple[int, str]]:
        """Which steps have made the parts of a seed, and where they stand."""
        for part in self.stories.parts(value):
            write = self.stories.flow.writes.get(part)
            if write is not None and np.any(self.stories.number(part)):
                named = NamedScan(self.trace, part.scan)
                (tape,) = (t for t in named.scan.held if t.argument == part.argument)
                yield named.moment(write.step)[0], named.row_key(tape, part.row)


def of_cell(teller: Teller, cells: Sequence[Cell], number: int) -> ToldOfCell | None:
    """What is told of a cell, by its number, and on its path those of the cells before it."""
    shown = list(map(teller.value, cells))
    value = shown[number] if number in range(len(cells)) else None
    if value is None:
        return None
    before = teller.stories.ancestors(value)
    after = {made for made, _ in teller.stories.readers.get(value, ())}
    return {
        **teller.told(value, [n for n, one in enumerate(shown) if one in before]),
        "readers": [n for n, one in enumerate(shown) if one in after],
        "scans": sorted({one.scan + 1 for one in before}),
    }


def of_all(picture: Scene) -> Mapping[str, Any]:
    """The stories of all cells, for a page without Python; empty of what shows no run.

    `cells` has for every cell the number of its value, or -1; on the path of a value are the
    numbers of those that it was made from, without any other in between.
    """
    if picture.trace is None:
        return {}
    teller = Teller(picture.trace)
    shown = [teller.value(cell) for cell in cells_of(picture)]
    known = {value: number for number, value in enumerate(_once(shown))}
    if not known:
        return {}
    return {
        "cells": [-1 if value is None else known[value] for value in shown],
        "values": [
            teller.told(value, [known[s] for s in teller.stories.nearest(value, known)])
            for value in known
        ],
    }


def values_of(picture: Scene) -> Iterable[Value]:
    """The values of a run that a picture shows."""
    if picture.trace is None:
        return ()
    return _once(map(Teller(picture.trace).value, cells_of(picture)))


def _once(values: Iterable[Value | None]) -> Iterable[Value]:
    return dict.fromkeys(value for value in values if value is not None)
