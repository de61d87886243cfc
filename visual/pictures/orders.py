"""What derivatives take, order by order, in three ways: a table, and how each column grows.

>>> visual.draw(gallery.loops["square"], "orders", order=6).save("orders.svg")
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
TOP = 68.0  # of the numbers of a table
HIGH, FOOT, TICKS = 150.0, 20.0, 34.0  # of a chart; below it, and for what stands at its scale
SHARES = 0.8, 1.25, 1.15, 0.9  # of the room, for a column
UNITS = "operations: of one step of each Scan, together; bytes: the most that is held at once"


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
    title = f"{found.loop}: what derivatives of {found.cost} by {found.wrt} take, {span}"
    head = [
        *(piece(Text(0, 0, t, 16, bold=True)) for t in folded(title, sheet.line, 16, bold=True)),
        *_lines([UNITS] * sheet.legend, sheet),
    ]
    body = [gap(sheet.line), above(*head, apart=4)]
    if not sheet.is_narrow:
        body.append(_table(found, sheet.line))
    elif found.most < 2:
        body.append(above(*map(piece, _listed(found, sheet.line)), apart=4))
    if found.most > 1:
        body.append(_charts(found, sheet))
    if notes := [*_lines(_notes(found), sheet)]:
        body.append(above(*notes, apart=4))
    drawn = scene(above(*body, apart=16), title, " ".join(found.told), theme, sheet.margin)
    return replace(drawn, twin=f"{title}\n{found}\n")


def _lines(told: Iterable[str], sheet: Sheet) -> Iterator[Piece]:
    """Sentences, in as many lines as they need."""
    for sentence in told:
        for line in folded(sentence, sheet.line, 12):
            yield piece(Text(0, 0, line, muted=True))


def _notes(found: Orders) -> Iterator[str]:
    """What numbers do not tell: that Scans are alike, and which modes there are not."""
    for way in found.by("reverse")[-1:]:
        if way.different < way.scans:
            yield (
                f"Of the {way.scans} Scans of order {way.order} by reverse mode, {way.different} "
                "are different; the others are the same loops on other values."
            )
    yield from found.remarks


def _listed(found: Orders, room: float) -> Iterator[Text]:
    """The numbers of order 1, in a line for each mode."""
    for mode in WORDS:
        told = "refused"
        for way in found.by(mode):
            pairs = zip(way.told, found.columns, strict=True)
            told = ", ".join(f"{number} {name}" for number, name in pairs)
        yield fitted(0, 0, f"{mode} mode: {told}", room, 12)


def _table(found: Orders, line: float) -> Piece:
    """A row for each order, and for each mode its columns."""
    wide = (line - LEFT) / len(WORDS)
    room = SHARES[: len(found.columns)]
    edges = [(wide - APART) * sum(room[: n + 1]) / sum(room) for n in range(len(room))]
    shapes: list[Shape] = [Text(0, TOP - 6, "order", SMALL, muted=True)]
    for place, mode in enumerate(WORDS):
        left = LEFT + place * wide + APART
        right = left + wide - APART
        shapes.append(Text(right, 12, f"{mode.title()} mode", 12, "end", bold=True))
        shapes += [
            Text(right, 28 + 14 * n, line, SMALL, "end", muted=True)
            for n, line in enumerate(folded(WORDS[mode], wide - APART, SMALL))
        ]
        shapes += [
            Text(left + edges[n], TOP - 6, name, SMALL, "end", muted=True)
            for n, name in enumerate(found.columns)
        ]
        if not found.by(mode):
            shapes.append(Text(right, TOP + LINE - 6, "refused", SMALL, "end", muted=True))
        for way in found.by(mode):
            y = TOP + way.order * LINE - 6
            cells = [
                Text(left + edges[n], y, told, SMALL, "end", mono=True)
                for n, told in enumerate(way.told)
            ]
            title = f"{mode} mode, order {way.order}: {way.scans} Scans, {way.different} different"
            shapes.append(Group(tuple(cells), title=title))
    bottom = TOP + found.most * LINE
    rule = Polyline(((0, TOP), (line, TOP)), faint=True)
    numbers = [
        Text(LEFT - 4, TOP + n * LINE - 6, f"{n}", SMALL, "end") for n in range(1, found.most + 1)
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
