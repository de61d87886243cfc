"""The picture of influence: how much every value of a loop moves every later one.

    >>> visual.influence(gallery.loops["rnn"].derivative()).save("influence.svg")

A row is what is moved, a column what moves it.  Beside the map stands its last row over all
columns, by powers of ten, and what each length of `truncate_gradient` loses of a gradient.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lab.errors import check_type
from lab.gradients.derivative import Derivative
from lab.notation import number_text, value_symbol
from lab.reports.runs.influence import Influence
from lab.reports.runs.influence import influence as influence_in
from visual.layout.cells import full_text
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.values.scale import scale_of
from visual.pictures.values.series import Series, as_numbers, pooled, stretches
from visual.pictures.values.text import to_text
from visual.pictures.values.values import NARROWEST, Panel, Plan, curve, panel_of
from visual.scene.combinators import Piece, above, beside, gap, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, folded, picture_function
from visual.scene.theme import Role

SMALL, LABELS, APART = 11.0, 46.0, 28.0
WIDEST = 440.0  # of the map
MOST_CELLS, WRITTEN = 28, 8  # to a side; with the number in each
CELL, LINE = 48.0, 34.0  # of a number with its patch
DECADES = 6.0  # below 1, or below the largest: what is smaller is next to nothing
MOST_CURVES = 4  # of what truncation loses
PALEST, SAMPLES, PATCH = 0.12, 4, 14.0
EDGE = 14.0  # for a label at the end of an axis


@picture_function
def influence(derivative: Derivative | Influence, scan: int = 1, sheet: Sheet = SCREEN) -> Scene:
    """What `lab.influence` finds in a loop of a derivative, or has found, as a map and curves.

    Colours tell sizes by powers of ten, at most six of them.  Of more than 28 rows or columns
    every patch shows the largest of its block.  Raises what `lab.influence` raises.
    """
    told = "a Derivative, or what lab.influence has found"
    check_type("derivative", derivative, (Derivative, Influence), told)
    check_sheet(sheet)
    if isinstance(derivative, Derivative):
        derivative = influence_in(derivative, scan=scan)
    found: Influence = derivative
    title = f"Influence in {found.loop}: {found.called('t', 's')}"
    side = min(WIDEST, sheet.line)
    words = (*found.told, *(_how_to_read(found) if sheet.legend else ()))
    heads = [
        piece(fitted(0, 0, title, sheet.line, 16, bold=True)),
        *(
            piece(Text(0, 0, line, muted=number >= len(found.told)))
            for number, told in enumerate(words)
            for line in folded(told, sheet.line, 12)
        ),
    ]
    shades = _Shades(as_numbers(found.sizes))
    shown = _map(_within(found, sheet.steps_within(found.steps, found.loop)), side, shades)
    if sheet.legend:
        shown = above(shown, shades.legend(), apart=8)
    room = sheet.line - shown.envelope.width - APART
    is_wide = room - EDGE >= NARROWEST
    parts = shown, above(*_curves(found, (room if is_wide else sheet.line) - EDGE), apart=12)
    together = beside(*parts, apart=APART) if is_wide else above(*parts, apart=14)
    drawn = scene(
        above(gap(sheet.line), above(*heads, apart=4), together, apart=14),
        title,
        f"{' '.join(found.told)} A map of all pairs of values, the last row over all columns, and "
        "what truncation loses of each gradient.",
        sheet.margin,
    )
    return replace(drawn, twin=_text(title, found))


def _within(found: Influence, steps: range) -> Influence:
    """Those pairs of the values that the shown steps read or make."""
    rows, columns = (
        (those >= steps.start) & (those <= steps.stop) for those in (found.rows, found.columns)
    )
    values = found.values[rows][:, columns]
    return replace(found, rows=found.rows[rows], columns=found.columns[columns], values=values)


def _how_to_read(found: Influence) -> Iterator[str]:
    moved, moving = value_symbol(found.of, "t"), value_symbol(found.by, "s")
    most = "" if found.is_scalar else ", at most: the spectral norm"
    yield f"a patch: how much {moved}, its row, moves with {moving}, its column{most}"
    yield "of the loop itself, whatever the order of the derivative"
    if found.cuts:
        yield "lost: the share of a gradient that is missing if truncated to so many last steps"
    if len(found.columns) <= found.steps:
        yield f"rows and columns: {len(found.columns):,} of {found.steps + 1:,}, at equal distances"


class _Shades:
    """Which colour a size has: by powers of ten, from the largest to the smallest that matters."""

    def __init__(self, sizes: np.ndarray) -> None:
        known = np.abs(sizes[np.isfinite(sizes) & (sizes != 0)])
        self.signs = (1, -1) if (sizes < 0).any() else (1,)
        low = float(np.log10(known.min(initial=np.inf))) if known.size else 0.0
        self.top = float(np.log10(known.max())) if known.size else 0.0
        self.decades = max(1.0, math.ceil(self.top - max(low, min(self.top, 0.0) - DECADES)))

    def of(self, value: float) -> float:
        """From -1 to 1; nan for what is no number."""
        if not value or math.isnan(value):
            return value
        size = self.top if math.isinf(value) else math.log10(abs(value))
        share = 1 + (size - self.top) / self.decades
        return math.copysign(max(PALEST, PALEST + (1 - PALEST) * share), value)

    def legend(self) -> Piece:
        """What colours stand for."""
        parts = []
        for power in np.linspace(0, self.decades, SAMPLES):
            size = 10.0 ** (self.top - power)
            patches = [
                sized(PATCH, PATCH, _patch(sign * size, self, (0, 0, PATCH, PATCH)))
                for sign in self.signs
            ]
            told = ("±" if len(self.signs) > 1 else "") + _short(size)
            parts.append(beside(*patches, piece(Text(0, 11, told, SMALL, muted=True)), apart=4))
        return beside(*parts, apart=16)


def _map(found: Influence, side: float, shades: _Shades) -> Piece:
    """All pairs: numbers with their patches, or of many patches alone."""
    sizes = as_numbers(found.sizes)
    height, width = sizes.shape
    written = max(height, width) <= min(WRITTEN, (side - LABELS) / CELL)
    table = sizes if written else pooled(sizes, MOST_CELLS, MOST_CELLS)
    rows = [found.rows[start] for start, _ in stretches(height, len(table))]
    columns = [found.columns[start] for start, _ in stretches(width, table.shape[1])]
    across = CELL if written else (side - LABELS) / max(table.shape)
    down = LINE if written else across
    shapes: list[Shape] = []
    for y, t in enumerate(rows):
        for x, s in enumerate(columns):
            if not table[y, x] and x > y:  # what is later moves nothing
                continue
            place = LABELS + x * across, y * down, across - 1, down - 1
            shapes.append(
                _cell(found, float(table[y, x]), shades, place, (t, s) if written else ())
            )
    high = len(rows) * down
    for y, t in _labelled(rows, down):
        shapes.append(Text(LABELS - 6, (y + 0.5) * down + 4, t, SMALL, "end", muted=True))
    for x, s in _labelled(columns, across):
        shapes.append(Text(LABELS + (x + 0.5) * across, high + 14, s, SMALL, "middle", muted=True))
    right = LABELS + len(columns) * across
    shapes += [
        Text(right, high + 29, f"s, of {found.by}", SMALL, "end", muted=True),
        Text(0, -8, f"t, of {found.of}", SMALL, muted=True),
    ]
    return piece(Group(tuple(shapes), title=f"{found.called('t', 's')}: a map of all pairs"))


def _cell(
    found: Influence,
    value: float,
    shades: _Shades,
    place: tuple[float, float, float, float],
    named: tuple[int, ...],
) -> Shape:
    """A patch; with its number, if it is `named`."""
    x, y, wide, high = place
    if not named:
        return _patch(value, shades, place)
    t, s = named
    told = f"{found.called(t, s)} = {full_text(np.asarray(value))}"
    digits = (number_text(value, digits) for digits in (3, 2))
    words = next((w for w in digits if text_width(w, SMALL, mono=True) < wide - 4), _short(value))
    line = fitted(x + wide / 2, y + 14, words, wide, SMALL, "middle", mono=True)
    return Group((line, _patch(value, shades, (x, y + 19, wide, high - 20))), title=told)


def _patch(value: float, shades: _Shades, place: tuple[float, float, float, float]) -> Box:
    return Box(*place, Role.PANEL, heat=shades.of(value))


def _labelled(numbers: list[int], room: float) -> Iterator[tuple[int, str]]:
    """Which rows or columns have their number beside them, as many as have room."""
    widest = max((text_width(f"{n:,}", SMALL) + 6 for n in numbers), default=0.0)
    every = max(1, math.ceil(widest / room))
    for place in range(0, len(numbers), every):
        yield place, f"{numbers[place]:,}"


def _short(value: float) -> str:
    """A power of ten or so, in a few letters."""
    return f"{float(f'{value:.1g}'):g}".replace("e-0", "e-").replace("e+0", "e")


def _curves(found: Influence, room: float) -> Iterator[Piece]:
    """The last row, and what truncation loses, by powers of ten."""
    last = Series(
        found.called(int(found.rows[-1]), "k"), found.index, np.abs(as_numbers(found.last))
    )
    named = last.name if last.name.startswith("‖") else f"|{last.name}|"
    yield _curve(replace(last, name=named), room)
    for cut in found.cuts[:MOST_CURVES]:
        kept = np.arange(1, len(cut.errors) + 1)
        name = f"lost by truncate_gradient: {cut.name}"
        yield _curve(Series(name, kept, as_numbers(cut.errors), "steps"), room)
    hidden = found.cuts[MOST_CURVES:]
    if hidden:
        told = f"⋯ {len(hidden):,} more: {', '.join(cut.name for cut in hidden)}"
        yield piece(fitted(0, 0, told, room, SMALL, muted=True))


def _curve(series: Series, room: float) -> Piece:
    plan = Plan(1, room, int(series.index[0]), int(series.index[-1]))
    drawn = curve([series], scale_of([series.values], log=True), plan)
    return panel_of(Panel(" ".join(series.name.split()), (series,)), plan, drawn)


def _text(title: str, found: Influence) -> str:
    """The twin: what is read off, a table of all pairs, and the curves."""
    columns = [
        Series(f"by {value_symbol(found.by, s)}", found.rows, as_numbers(found.sizes[:, j]), "t")
        for j, s in enumerate(found.columns.tolist())
    ]
    last = Series(found.called(int(found.rows[-1]), "k"), found.index, as_numbers(found.last), "k")
    lost = [
        Series(cut.name, np.arange(1, len(cut.errors) + 1), as_numbers(cut.errors), "steps")
        for cut in found.cuts
    ]
    shown = columns if len(columns) <= WRITTEN else [*columns[:3], *columns[-3:]]
    tables = [(f"{found.called('t', 's')}", shown), ("the last value", [last])]
    if lost:
        tables.append(("what truncate_gradient loses of each gradient, as a share", lost))
    first, *rest = to_text(title, tables).splitlines()
    return "\n".join((first, *found.told, *rest)) + "\n"
