"""The picture of values: states, gradients and what tapes hold, over the steps of a loop.

    >>> visual.values(gallery.loops["rnn"].trace(order=2)).save("values.pdf", theme="dark")

A panel shows one quantity, numbers as a line and arrays in colours.  All panels have the same steps
from left to right.  All parts of a gradient have one scale, as strips of tapes do.
What has no room is named in a line.  A loop of ten thousand steps gives a picture no larger than
one of a few hundred.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lab.errors import listing
from lab.notation import integers, number_text
from lab.traces.trace import Trace
from visual.layout.cells import is_told, norm, quantity
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, scan_index, switch
from visual.pictures.values.scale import Scale, named_ends, scale_of, whole_ticks
from visual.pictures.values.series import (
    SUMS,
    Series,
    growth_of,
    pooled,
    series_of,
    stretches,
    thinned,
)
from visual.pictures.values.text import to_text
from visual.scene.combinators import Piece, above, beside, gap, over, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import (
    Box,
    Group,
    Polyline,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    outline,
    picture_function,
)
from visual.scene.theme import Role

ACROSS, APART, NARROWEST = 3, 24, 165.0
LABELS, TITLE, HIGH, FOOT = 52.0, 24.0, 78.0, 18.0  # of a panel, from left, and from top to bottom
SMALL, NAME = 11.0, 12.0
ENDS, NUMBERS = 22.0, 46.0  # the room at the right for the names of curves, for numbers
LEAST_STEP = 16.0  # of an index beside numbers
DOTTED, BUCKETS, MARKS = 40, 50, 24
MOST, MOST_COLUMNS, MOST_ROWS = 6, 24, 8
HEAD = 150.0
LOOP, RESULT, SIZES, GRADIENT, TOTAL, REST = range(6)  # what is shown first
ZERO, LOWEST = "↓0", 0.16
COLOURS = "colours: olive is positive, magenta, in the lower half, negative"


@dataclass(frozen=True, eq=False)
class Panel:
    """One quantity, or parts of one, or its sizes by powers of ten; `rank` tells what it is."""

    title: str
    series: tuple[Series, ...]
    rank: int = REST

    @property
    def number(self) -> int:
        """Of the Scan that it is of; 0 if it is of several."""
        number = self.title.partition(" · ")[0]
        return int(number) if number.isdecimal() else 0

    @property
    def quantity(self) -> str:
        """What it shows, as a strip of a tape tells it: ``dC/dx`` of ``∂₁C/∂x``."""
        return quantity(f"{self.series[0].name} = ")


@dataclass(frozen=True)
class Plan:
    """So many panels, so `wide`, `across` the sheet; all have the indices `first` to `last`.

    At the right of each is room for the `marks` of its curves.
    """

    across: int
    wide: float
    first: int
    last: int
    marks: float = 0.0

    @property
    def area(self) -> float:
        """How wide is what is drawn in a panel, beside the labels."""
        return self.wide - LABELS - self.marks

    @property
    def has_numbers(self) -> bool:
        """Whether numbers stand at the ends of rows."""
        return self.marks == NUMBERS


@picture_function
def values(
    trace: Trace,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The loops of `trace` over their steps, and their gradients, at most six panels.

    Shown are the states and outputs of loops, the gradients by them, and how large these are by
    powers of ten, for vectors the norm; zeros, and what is not finite, are marked at the edge.
    What else there is, is named in a line.  Of one `scan`, a number of the headings, everything is
    shown that it holds; of `all` everything, where the parts of a gradient are curves in one panel.
    A gradient stands by the index of the forward variable, as the last step left it, the running
    total of a parameter by the number of steps.

    A line of more than 152 points is thinned: of each of 50 stretches, the smallest and the
    largest finite value remain, and the first that is not finite.  Of an array of more than 24
    indices or 8 entries every patch shows the value of its block that is largest in size.

    Of some steps the values are shown that have their indices, and the next one.  Raises
    ArgumentError for an unknown Scan.
    """
    of_trace(trace)
    check_sheet(sheet)
    number, whole = None if scan is None else scan_index(trace, scan), switch("all", all)
    steps = sheet.steps and sheet.steps_of(trace.scans[0])
    scans = [named for named in NamedScan.each(trace) if number in (None, named.number)]
    panels = [*_panels(scans, steps)]
    across = min(ACROSS, max(1, int((sheet.line + APART) / (NARROWEST + APART))))
    shown = [*_merged(panels)] if whole else _chosen(panels, number is not None)
    hidden = [panel for panel in panels if panel not in shown and not whole]
    order = max((found.order for found in trace.scans), default=0)
    names = ", ".join(f"{found.name} ({found.steps} steps)" for found in trace.scans)
    first = trace.scans[0].name if trace.scans else "a graph without loops"
    title = f"Values of {first}{f', derivative of order {order}' if order else ''}"
    places = [series.index for panel in panels for series in panel.series]
    ends = (min(map(np.min, places)), max(map(np.max, places))) if places else (0, 0)
    several = any(len(panel.series) > 1 for panel in shown)
    wide = (sheet.line + APART) / across - APART
    plan = Plan(across, wide, ends[0], ends[1], ENDS if several else 0.0)
    if any(_is_told(one) for panel in shown for one in panel.series):
        whole_plan = replace(plan, marks=NUMBERS)
        if whole_plan.area >= LEAST_STEP * (ends[1] - ends[0] + 1):
            plan = whole_plan
    drawn = [_drawn(panel, panels, plan) for panel in shown]
    starts = range(0, len(drawn), across)
    rows = [beside(*drawn[n : n + across], apart=APART) for n in starts]
    if hidden:
        rows.append(above(*_folded(_hidden(hidden, number, sheet), sheet.line)))
    heads = [
        _line(title, sheet.line, 16, bold=True),
        *(
            line
            for words in (_how_to_read(shown, plan) if sheet.legend else ())
            for line in _folded(words, sheet.line)
        ),
    ]
    picture = scene(
        over(gap(sheet.line), above(above(*heads, apart=4), *rows, apart=14)),
        title,
        f"States, gradients and outputs over the steps of {names or 'no loop'}.",
        sheet.margin,
    )
    return replace(picture, twin=to_text(title, _tables(trace, panels)))


def _hidden(panels: Sequence[Panel], opened: int | None, sheet: Sheet) -> str:
    """How many quantities are not shown, of which Scans, and how they are seen."""
    scans = sorted({panel.number for panel in panels if panel.number})
    of = f" of Scan{'s' * (len(scans) > 1)} {listing(map(str, scans))}" if scans else ""
    code = "all=True draws all"
    if opened is None and scans:
        code += f", scan={scans[-1]} those of Scan {scans[-1]}"
    return f"⋯ {len(panels):,} more{of}{sheet.hint(code, ' · ')}"


def _panels(scans: Sequence[NamedScan], steps: range | None) -> Iterator[Panel]:
    """What the Scans hold, in their order; then how large the gradients of the loops are."""
    newest = max((named.scan.order for named in scans), default=0)
    for named in scans:
        for series in (one.within(steps) for one in series_of(named)):
            if series.values.size:
                name = " ".join(series.name.split())
                rank = _rank(named, series, newest)
                yield Panel(f"{named.number + 1} · {name}", (series,), rank)
    for named in scans:
        sizes: dict[str, list[Series]] = {}
        for series in (one.within(steps) for one in growth_of(named)):
            if named.parent is None and series.values.size:
                sizes.setdefault(series.name.partition("/")[2], []).append(series)
        for found in sizes.values():
            yield Panel(f"{found[0].name}{' and higher' * (len(found) > 1)}", (*found,), SIZES)


def _rank(named: NamedScan, series: Series, newest: int) -> int:
    """What a quantity is: of a loop, or the gradient of what a loop holds, or less."""
    if named.parent is None:
        return LOOP
    if named.parent.parent is not None or series.name.startswith("∂"):
        return REST
    if series.across == SUMS:
        return TOTAL
    return RESULT if named.scan.order == newest else GRADIENT


def _chosen(panels: Sequence[Panel], is_one: bool) -> list[Panel]:
    """Of one Scan all panels, else six: two of each rank in turn, none of the rest."""
    if is_one:
        return [*panels]
    ranks: dict[int, list[Panel]] = {}
    for panel in panels:
        ranks.setdefault(panel.rank, []).append(panel)
    ranks.pop(REST, None)
    turns = (
        (n // 2, rank, panel) for rank, found in ranks.items() for n, panel in enumerate(found)
    )
    first = sorted(turns, key=lambda turn: turn[:2])[:MOST]
    kept = [panel for *_, panel in first]
    return [panel for panel in panels if panel in kept]


def _merged(panels: Sequence[Panel]) -> Iterator[Panel]:
    """The same with the parts of a gradient in one panel, after the whole."""
    together: dict[object, list[Panel]] = {}
    for panel in panels:
        (series, *_) = panel.series
        is_part = panel.rank != SIZES and series.is_scalar and "/" in series.name
        key = (panel.quantity, series.across) if is_part else panel
        together.setdefault(key, []).append(panel)
    for found in together.values():
        found.sort(key=lambda panel: panel.series[0].name.startswith("∂"))
        yield replace(found[0], series=tuple(one for panel in found for one in panel.series))


def _tables(trace: Trace, panels: Sequence[Panel]) -> Iterator[tuple[str, Sequence[Series]]]:
    """The tables of the text and their titles: of one Scan, numbers that count the same."""
    tables: dict[tuple[str, str], list[Series]] = {}
    for panel in panels:
        (series, *_) = panel.series
        name = panel.title.partition(" · ")[2]
        if panel.rank == SIZES:
            title = "their size"
        else:
            title = f"{panel.number} · {trace.scans[panel.number - 1].name}"
            title += "" if series.is_scalar else f": {name}"
        tables.setdefault((title, series.across), []).extend(panel.series)
    for (title, _), found in tables.items():
        yield title, found


def _how_to_read(shown: Sequence[Panel], plan: Plan) -> Iterator[str]:
    series = [one for panel in shown for one in panel.series]
    if series:
        ends = "; beside its name, its first and last value" * any(one.is_scalar for one in series)
        yield f"a panel is one quantity, on its own scale{ends}"
    if any(len(panel.series) > 1 and panel.rank != SIZES for panel in shown):
        yield "d: the whole gradient; ∂: its parts, on the scale of the whole"
    sizes = [panel for panel in shown if panel.rank == SIZES]
    if sizes:
        zero = any((one.values == 0).any() for panel in sizes for one in panel.series)
        several = "; C, C′ …: of whose gradient" * any(len(panel.series) > 1 for panel in sizes)
        below = f"; {ZERO} is below all of them" * zero
        yield f"| |: the size, by powers of ten{several}{below}"
    if any(one.across == SUMS for one in series):
        yield f"over “{SUMS}”: a running total, by the number of steps that it sums up"
    if any(not one.is_scalar for one in series):
        yield COLOURS
        if plan.has_numbers and any(map(_is_told, series)):
            yield "at the ends of a row, its first and last number; ‖ ‖: norm; ±: full colour"


def _folded(words: str, room: float) -> Iterator[Piece]:
    yield from (_line(line, room) for line in folded(words, room, 12))


def _line(words: str, room: float, size: float = 12, bold: bool = False) -> Piece:
    """A line that is no wider than the picture."""
    return piece(fitted(0, 0, words, room, size, bold=bold, muted=not bold))


def _drawn(panel: Panel, panels: Sequence[Panel], plan: Plan) -> Piece:
    """A panel, with the full colour that all arrays of its quantity have."""
    if panel.series[0].is_scalar:
        scale = scale_of([one.values for one in panel.series], panel.rank == SIZES)
        return panel_of(panel, plan, curve(panel.series, scale, plan))
    alike = (p.series[0] for p in panels if p.rank != SIZES and p.quantity == panel.quantity)
    largest = max(_largest(one.table) for one in alike)
    return panel_of(panel, plan, _patches(panel.series[0], largest, plan), largest)


def _largest(table: np.ndarray) -> float:
    finite = np.abs(table[np.isfinite(table)])
    return float(finite.max()) if finite.size else 0.0


def panel_of(
    panel: Panel, plan: Plan, inside: Sequence[Shape], largest: float | None = None
) -> Piece:
    """A quantity with its name, and beside it in short what it is."""
    series = panel.series[0]
    if largest is not None:
        shape = "×".join(map(str, series.values.shape[1:]))
        words = f"{shape} · full colour ±{number_text(largest)}"
    elif len(panel.series) > 1:
        words = ""
    else:
        ends = series.values[[0, -1]] if len(series.values) > 1 else series.values
        words = " … ".join(number_text(end) for end in ends)
    odd = int((~np.isfinite(series.values)).sum())
    words += f" · {odd:,} not finite" * bool(odd)
    title = f"{panel.title}: {words}"
    if largest is not None and plan.has_numbers and _is_told(series):
        words = " … ".join(number_text(norm(series.values[end])) for end in (0, -1))
        words = f"‖ ‖ {words}{f' · {odd:,} not finite' * bool(odd)}"
        full = Text(
            plan.wide, TITLE + HIGH + 14, f"±{number_text(largest)}", SMALL, "end", muted=True
        )
        inside = (*inside, full)
    beside_it = Text(plan.wide, 12, words, SMALL, "end", muted=True)
    room = plan.wide - text_width(words, SMALL) - 8
    name = fitted(0, 12, panel.title, max(room, 60), NAME, bold=True)
    if room < 60:
        beside_it = fitted(
            plan.wide, 12, words, plan.wide - name.width - 8, SMALL, "end", muted=True
        )
    axis = Text(LABELS - 6, TITLE + HIGH + 14, series.across, SMALL, "end", muted=True)
    heads = (name, beside_it, axis) if words else (name, axis)
    group = Group((*heads, *inside), title=title)
    return sized(plan.wide, TITLE + HIGH + FOOT, group)


def _x(index: np.ndarray, plan: Plan) -> np.ndarray:
    """Where indices stand, each in the middle of as much room as all others have."""
    return LABELS + (index - plan.first + 0.5) / (plan.last - plan.first + 1) * plan.area


def _foot(plan: Plan, last: int) -> Iterator[Text]:
    """The indices below a panel, as many as can be read, up to the `last` that it has."""
    for tick in whole_ticks(plan.first, plan.last, plan.area / 42):
        if tick > last:
            return
        (x,) = _x(np.array([tick]), plan)
        yield Text(
            round(float(x), 1), TITLE + HIGH + 14, integers(tick), SMALL, "middle", muted=True
        )


def _label(y: float, words: str) -> Text:
    return fitted(LABELS - 6, y + 4, words, LABELS - 6, SMALL, "end", muted=True)


def curve(found: Sequence[Series], scale: Scale, plan: Plan) -> list[Shape]:
    """Lines over the index, on one scale, each of several with its mark at its end."""
    shapes: list[Shape] = list(_foot(plan, plan.last))
    right = LABELS + plan.area
    if len(found) > 1:  # marks stand beyond
        right = float(_x(np.array([plan.last]), plan)[0]) + 3
    has_zeros = scale.log and any((series.values == 0).any() for series in found)
    for share, words in scale.ticks():
        if has_zeros and share < LOWEST:  # where zeros are marked, nothing else is
            continue
        y = TITLE + HIGH * (1 - share)
        shapes += [Polyline(((LABELS, y), (right, y)), faded=True), _label(y, words)]
    ends: list[tuple[tuple[float, float], str]] = []
    for series in found:
        lines = _lines(series, scale, plan)
        shapes += [line for line in lines if line not in shapes]
        if len(found) > 1:
            name = series.name.strip("|‖")
            mark = name.partition("/")[0][1:] if scale.log else name.partition("C")[0]
            points = [p for line in lines if isinstance(line, Polyline) for p in line.points]
            ends.append((max(points, default=(right, TITLE + HIGH)), mark))
    return [*shapes, *_marked(ends, shapes, right + 6)]


def _marked(
    ends: Sequence[tuple[tuple[float, float], str]], shapes: Sequence[Shape], right: float
) -> list[Shape]:
    """Marks at the ends of curves, or, if a line is in the way, joined to them, at the right."""
    taken = np.array([point for shape in shapes for point in _covered(shape)])
    found = list[Shape]()
    for (x, y), mark in ends:
        across = (x + 4 < taken[:, 0]) & (taken[:, 0] < x + 10 + text_width(mark, SMALL))
        near = taken[across, 1]
        for low in sorted(range(round(y), round(y) + 8), key=lambda low: abs(low - y - 4)):
            if not ((low - SMALL < near) & (near < low + 3)).any():
                found.append(Text(round(x + 6, 1), low, mark, SMALL))
                taken = np.vstack([taken, [*_covered(found[-1])]])
                break
    if len(found) == len(ends):
        return found
    return [*named_ends(ends, right, TITLE + HIGH)]


def _covered(shape: Shape) -> Iterator[tuple[float, float]]:
    """Points of a line, or text, so near one another that nothing fits in between."""
    if isinstance(shape, Polyline):
        for start, end in pairwise((*shape.points, shape.points[-1])):
            count = int(math.dist(start, end) / 2) + 2
            yield from np.linspace(start, end, count).tolist()
    elif isinstance(shape, Text):
        left, right = shape.x, shape.x + shape.width
        if shape.anchor == "middle":
            left, right = (at - shape.width / 2 for at in (left, right))
        yield from ((x, y) for x in np.arange(left, right, 3) for y in (shape.y - 7, shape.y - 1))


def _lines(series: Series, scale: Scale, plan: Plan) -> list[Shape]:
    """A curve in its pieces; what has no place on the scale is marked at the edge."""
    shapes: list[Shape] = []
    kept = thinned(series.values, BUCKETS)
    shares = scale.at(series.values[kept])
    there = np.isfinite(shares) & ~(scale.log & (series.values[kept] == 0))
    points = np.column_stack([_x(series.index[kept], plan), TITLE + HIGH * (1 - shares)])
    dots = len(kept) <= DOTTED
    starts = np.flatnonzero(np.diff(np.concatenate([[0], there, [0]])))
    for start, stop in zip(starts[::2], starts[1::2], strict=True):
        line = tuple(map(tuple, points[start:stop].round(1).tolist()))
        shapes.append(Polyline(line, dots=dots or len(line) == 1))
    zeros = scale.log & (series.values == 0)
    for odd, mark, share in ((zeros, ZERO, 0.02), (~np.isfinite(series.values), "×", 0.92)):
        apart, last = max(text_width(mark, SMALL) + 2, plan.area / MARKS), -math.inf
        for x in _x(series.index[odd], plan).round(1).tolist():
            if x - last >= apart:
                y, last = TITLE + HIGH * (1 - share), x
                shapes.append(Text(x, y, mark, SMALL, "middle", bold=mark != ZERO))
    return shapes


def _is_told(series: Series) -> bool:
    """Whether the numbers of a vector stand at the ends of its rows."""
    return is_told(series.values[0])


def _patches(series: Series, largest: float, plan: Plan) -> list[Shape]:
    """An array over the index in colours, entry 0 on top; the full colour stands for `largest`."""
    length, entries = series.table.shape
    table = pooled(series.table, MOST_COLUMNS, MOST_ROWS)
    columns, rows = table.shape
    first = [series.index[start] for start, _ in stretches(length, columns)]
    left = _x(np.array([*first, series.index[-1] + 1]) - 0.5, plan).round(1).tolist()
    high = HIGH / rows
    shares = np.clip(table / (largest or 1.0), -1, 1).tolist()
    shapes: list[Shape] = [*_foot(plan, int(series.index[-1]))]
    if plan.has_numbers and _is_told(series):
        for row, entry in enumerate(series.table.T):
            y, (start, end) = (
                TITLE + (row + 0.5) * high,
                (number_text(n, 3) for n in entry[[0, -1]]),
            )
            room = plan.wide - left[-1] - 5
            shapes += [_label(y, start), fitted(left[-1] + 5, y + 4, end, room, SMALL, muted=True)]
    else:
        ends = {TITLE + high / 2: "0", TITLE + HIGH - high / 2: str(entries - 1)}
        shapes += [_label(y, told) for y, told in ends.items()]
    for x, column in enumerate(shares):
        for y, share in enumerate(column):
            place = left[x], TITLE + y * high, left[x + 1] - left[x], high - 1
            shapes.append(Box(*place, Role.PANEL, heat=share))
    edge = replace(outline(left[0], TITLE - 1, left[-1] - left[0], HIGH + 1), faded=True)
    return [edge, *shapes]
