"""What derivatives take, order by order, in three ways: a table, and how each column grows.

>>> visual.draw(gallery.loops["square"], "orders", order=6).save("orders.svg")
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.errors import expect
from lab.gradients.derivative import Derivative
from lab.reports.runs.orders import WORDS, Orders
from lab.reports.runs.orders import orders as orders_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.values.scale import LEADER, named_ends, scale_of
from visual.scene.combinators import Piece, above, beside, gap, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Group, Polyline, Scene, Shape, Text, fitted, folded

SMALL, LINE, LEFT, APART = 11.0, 20.0, 40.0, 22.0
HIGH, FOOT, TICKS = 150.0, 20.0, 34.0  # of a chart; below it, and for what stands at its scale
SHARES = 0.8, 1.25, 1.15, 0.9  # of the room, for a column
DIFFERENT = "and in brackets how many of them differ in more than the rows that they are run on"
REST = (
    "operations: on numbers, in a step of every Scan, together; bytes: the most that is held at "
    "once, by the graph as it stands"
)


def orders(
    derivative: Derivative | Orders,
    theme: str = "light",
    most: int = 6,
    timed: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """What derivatives of order 1 to `most` take: numbers above, their growth below.

    They are those of the cost of a `derivative`, which should be of order 0, as far as
    `lab.reports.runs.orders` tells.  If `timed`, there is a column of seconds.  In a column of a
    paper there is room for the growth alone.
    """
    check_sheet(sheet)
    told = "a Derivative, as of lab.gallery.loops['square'].derivative(0)"
    expect("derivative", derivative, (Derivative, Orders), told)
    if isinstance(derivative, Derivative):
        derivative = orders_of(derivative, most, timed)
    found: Orders = derivative
    span = "order 1" if found.most < 2 else f"orders 1 to {found.most}"
    title = f"{found.loop}: derivatives of {found.cost} by {found.wrt}, {span}"
    has_brackets = any(way.different < way.scans for mode in WORDS for way in found.by(mode))
    scans = "Scans: how many there are" + f", {DIFFERENT}" * has_brackets
    lines = [(line, False) for line in found.told] + [(f"{scans}; {REST}", True)] * sheet.legend
    head = [
        piece(fitted(0, 0, title, sheet.line, 16, bold=True)),
        *(
            piece(Text(0, 0, line, muted=muted))
            for told, muted in lines
            for line in folded(told, sheet.line, 12)
        ),
    ]
    body = [gap(sheet.line), above(*head, apart=4)]
    if not sheet.is_narrow or found.most < 2:
        body.append(_table(found, sheet.line))
    if found.most > 1:
        body.append(_charts(found, sheet))
    drawn = scene(above(*body, apart=16), title, " ".join(found.told), theme, sheet.margin)
    return replace(drawn, twin=f"{title}\n{found}\n")


def _table(found: Orders, line: float) -> Piece:
    """A row for each order, and for each mode its columns."""
    wide = (line - LEFT) / len(WORDS)
    room = SHARES[: len(found.columns)]
    edges = [(wide - APART) * sum(room[: n + 1]) / sum(room) for n in range(len(room))]
    shapes: list[Shape] = [Text(0, 2 * LINE - 6, "order", SMALL, muted=True)]
    for place, mode in enumerate(WORDS):
        left = LEFT + place * wide + APART
        shapes.append(Text(left + wide - APART, 12, f"{mode} mode", 12, "end", bold=True))
        shapes += [
            Text(left + edges[n], 2 * LINE - 6, name, SMALL, "end", muted=True)
            for n, name in enumerate(found.columns)
        ]
        if not found.by(mode):
            shapes.append(Text(left + edges[-1], 3 * LINE - 6, "refused", SMALL, "end", muted=True))
        for way in found.by(mode):
            y = 2 * LINE + way.order * LINE - 6
            cells = [
                Text(left + edges[n], y, told, SMALL, "end", mono=True)
                for n, told in enumerate(way.told)
            ]
            title = f"{mode} mode, order {way.order}: {way.scans} Scans, {way.different} different"
            shapes.append(Group(tuple(cells), title=title))
    bottom = (found.most + 2) * LINE
    rule = Polyline(((0, 2 * LINE), (line, 2 * LINE)), faint=True)
    numbers = [
        Text(LEFT - 4, 2 * LINE + n * LINE - 6, f"{n}", SMALL, "end")
        for n in range(1, found.most + 1)
    ]
    return sized(line, bottom, rule, *shapes, *numbers)


def _charts(found: Orders, sheet: Sheet) -> Piece:
    """How every column grows with the order; in a column of a paper one below the other."""
    across = 1 if sheet.is_narrow else len(found.columns)
    wide = (sheet.line + APART) / across - APART
    charts = []
    for name in found.columns:
        alike: dict[tuple[tuple[int, float], ...], list[str]] = {}
        for mode in WORDS:
            line = ((way.order, float(getattr(way, name.lower()))) for way in found.by(mode))
            alike.setdefault(tuple(line), []).append(mode)
        alike.pop((), None)
        charts.append(_chart(name, alike, found.most, wide))
    return (above if across == 1 else beside)(*charts, apart=APART)


def _chart(
    name: str, drawn: Mapping[tuple[tuple[int, float], ...], Sequence[str]], most: int, wide: float
) -> Piece:
    """A column by powers of ten over the orders: its lines, each with the modes that it is of."""
    every = [np.array([value for _, value in line], float) for line in drawn]
    scale = scale_of(every, log=True)
    names = {line: " = ".join(modes) for line, modes in drawn.items()}
    room = max(text_width(told, SMALL) for told in names.values()) + LEADER
    span = wide - TICKS - room

    def place(order: int, value: float) -> tuple[float, float]:
        y = 24 + HIGH * (1 - float(scale.at(np.array(float(value)))))
        return TICKS + span * (order - 1) / (most - 1), y

    shapes: list[Shape] = [Text(0, 12, name, 12, bold=True)]
    shapes.append(
        Polyline(((TICKS, 24), (TICKS, 24 + HIGH), (TICKS + span, 24 + HIGH)), faint=True)
    )
    for share, words in scale.ticks():
        shapes.append(Text(TICKS - 6, 28 + HIGH * (1 - share), words, SMALL, "end", muted=True))
    for order in range(1, most + 1):
        x = TICKS + span * (order - 1) / (most - 1)
        shapes.append(Text(x, 24 + HIGH + 14, f"{order}", SMALL, "middle", muted=True))
    ends = []
    for line, told in names.items():
        points = tuple(place(*point) for point in line)
        shapes.append(Group((Polyline(points, dots=True),), title=f"{told}: {name}"))
        ends.append((points[-1], told))
    shapes += named_ends(ends, TICKS + span + LEADER, 24 + HIGH)
    return sized(wide, 24 + HIGH + FOOT, *shapes)
