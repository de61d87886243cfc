"""The picture of values: states, gradients and what tapes hold, over the steps of a loop.

    >>> visual.values(gallery.loops["rnn"].trace(order=2), theme="dark").save("values.pdf")

A panel shows one quantity, numbers as a line and arrays in colours.  All panels have the same steps
from left to right.  A quantity has one scale, with all parts of a gradient, as strips of tapes do.
What has no room is named in a line.  A loop of ten thousand steps gives a picture no larger than
one of a few hundred.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.quantities import cost_name
from lab.notation import number_text, signed
from lab.traces.trace import Trace
from visual.layout.cells import quantity
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, scan_index
from visual.pictures.values.scale import Scale, scale_of, whole_ticks
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
    of_run,
    outline,
)
from visual.scene.theme import Role

ACROSS, APART, NARROWEST = 3, 24, 165.0
LABELS, TITLE, HIGH, FOOT = 52.0, 24.0, 78.0, 18.0  # of a panel, from left, and from top to bottom
SMALL, NAME = 11.0, 12.0
DOTTED, BUCKETS, MARKS = 40, 50, 24
MOST_COLUMNS, MOST_ROWS = 24, 8
HEAD, SECTION = 132.0, 60.0
COLOURS = (
    "colours: olive is positive, magenta, in the lower half, negative; beside the name of an array "
    "stand its shape, and after ± what the full colour is, as on tapes"
)


@dataclass(frozen=True, eq=False)
class Panel:
    """A quantity of a Scan, by the Scan's number in the headings; or what is made of it."""

    series: Series
    scan: int
    is_held: bool = True

    @property
    def quantity(self) -> str:
        """What it shows, as a strip of a tape tells it: ``dC/dx`` of ``∂₁C/∂x``."""
        return quantity(f"{self.series.name} = ")

    @property
    def title(self) -> str:
        """Its name, and of what a Scan holds which one it is."""
        name = " ".join(self.series.name.split())
        return f"{self.scan} · {name}" if self.is_held else name


@dataclass(frozen=True)
class Plan:
    """So many panels, so `wide`, `across` the sheet; all have the indices `first` to `last`."""

    across: int
    wide: float
    first: int
    last: int

    @property
    def area(self) -> float:
        """How wide is what is drawn in a panel, beside the labels."""
        return self.wide - LABELS

    @property
    def line(self) -> float:
        """How wide all panels are together."""
        return self.across * (self.wide + APART) - APART


@dataclass(frozen=True, eq=False)
class Section:
    """Panels that are compared with one another."""

    title: str
    panels: tuple[Panel, ...]
    log: bool = False


Scales = Mapping[str, Scale | float]


@of_run
def values(
    trace: Trace, theme: str = "light", scan: int | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Every Scan of `trace` over its steps, or one of them, and how its gradients grow or decay.

    Of a loop its states and outputs, of a backward Scan the gradients on its tapes after the
    last step, by the index of the forward variable, and the running totals of parameters by
    the number of steps.  At the end `|dC/dx|`, `|dC′/dx|` …, for vectors the norm, on a log axis.
    Zeros there, and everywhere values that are not finite, are marked at the edge.

    A line of more than 152 points is thinned: of each of 50 stretches, the smallest and the
    largest finite value remain, and the first that is not finite.  Of an array of more than 24
    indices or 8 entries every patch shows the value of its block that is largest in size.

    Of some steps the values are shown that have their indices, and the next one.  Raises
    ArgumentError for an unknown theme or Scan.
    """
    of_trace(trace)
    check_sheet(sheet)
    number = None if scan is None else scan_index(trace, scan)
    only = sheet.steps and sheet.steps_of(trace.scans[0])
    sections = tuple(s for s in _sections(trace, number, only) if s.panels)
    scales = _scales(sections)
    order = max((found.order for found in trace.scans), default=0)
    names = ", ".join(f"{found.name} ({found.steps} steps)" for found in trace.scans)
    first = trace.scans[0].name if trace.scans else "a graph without loops"
    title = f"Values of {first}{f', derivative of order {order}' if order else ''}"
    places = [series.index for s in sections for series in (p.series for p in s.panels)]
    across = min(ACROSS, max(1, int((sheet.line + APART) / (NARROWEST + APART))))
    if sheet.is_narrow:
        across = min(across, max((len(s.panels) for s in sections), default=1))
    ends = (min(map(np.min, places)), max(map(np.max, places))) if places else (0, 0)
    plan = Plan(across, (sheet.line + APART) / across - APART, *ends)
    rooms = _rooms(sections, across, sheet.height)
    drawn = [*_packed(sections, rooms, plan, scales)]
    heads = [
        _line(title, sheet.line, 16, bold=True),
        *(
            _line(line, sheet.line)
            for words in (_how_to_read(sections) if sheet.legend else ())
            for line in folded(words, sheet.line, 12)
        ),
    ]
    picture = scene(
        over(gap(sheet.line), above(*headed(sheet, heads, drawn), apart=14)),
        title,
        f"States, gradients and outputs over the steps of {names or 'no loop'}.",
        theme,
        sheet.margin,
    )
    return replace(picture, twin=to_text(title, _tables(trace, sections)))


def headed(sheet: Sheet, heads: Sequence[Piece], parts: Sequence[Piece]) -> Iterator[Piece]:
    """The parts of a chart below its heading; of a bare one without that and all small print."""
    if not sheet.bare:
        yield above(*heads, apart=4)
        yield from parts
        return
    for part in parts:
        shapes = tuple(_without_small_print(part.shapes))
        yield replace(part, placed=((0.0, 0.0, shapes),))


def _without_small_print(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """The shapes, and of texts the names of panels, and marks where a curve has no place."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield replace(shape, shapes=tuple(_without_small_print(shape.shapes)))
        elif not isinstance(shape, Text) or (shape.bold and shape.size <= NAME):
            yield shape


def _sections(trace: Trace, only: int | None, steps: range | None) -> Iterator[Section]:
    """The loops, then the gradients of each order, then how large those of the loops are."""
    scans = [s for s in NamedScan.each(trace) if only in (None, s.number)]
    for order in sorted({named.scan.order for named in scans}):
        title = f"gradients of {cost_name(order)}" if order else "the loop"
        held = (s for s in scans if s.scan.order == order)
        yield Section(title, tuple(sorted(_panels(held, series_of, steps), key=_first_the_results)))
    loops = (s for s in scans if s.parent is None)
    sizes = (replace(panel, is_held=False) for panel in _panels(loops, growth_of, steps))
    yield Section("their size, by powers of ten", tuple(sizes), True)


def _panels(scans, found, steps) -> Iterator[Panel]:  # type: ignore[no-untyped-def]
    for named in scans:
        for series in (one.within(steps) for one in found(named)):
            if series.values.size:
                yield Panel(series, named.number + 1)


def _first_the_results(panel: Panel) -> tuple[bool, int]:
    """Gradients before parts of them, those of variables before those of gradients."""
    name = panel.series.name
    return name.startswith("∂"), name.count("/")


def _tables(trace: Trace, sections: Sequence[Section]) -> Iterator[tuple[str, Sequence[Series]]]:
    """The tables of the text and their titles: of one Scan, numbers that count the same."""
    for section in sections:
        tables: dict[tuple[int, str, str], list[Series]] = {}
        for panel in section.panels:
            alone = "" if panel.series.is_scalar else f": {panel.series.name}"
            tables.setdefault((panel.scan, alone, panel.series.across), []).append(panel.series)
        for (scan, name, _), series in tables.items():
            yield f"{scan} · {trace.scans[scan - 1].name}{name}", series


def _how_to_read(sections: Sequence[Section]) -> Iterator[str]:
    shown = [panel.series for section in sections for panel in section.panels]
    if shown:
        yield "a panel is one quantity, on its own scale; beside its name, its first and last value"
    if any(series.name.startswith("∂") for series in shown):
        yield "∂: parts of a gradient, on the scale of the whole"
    if any(series.across == SUMS for series in shown):
        yield f"over “{SUMS}”: a running total, by the number of steps that it sums up"
    if any(not series.is_scalar for series in shown):
        yield COLOURS


def _line(words: str, room: float, size: float = 12, bold: bool = False) -> Piece:
    """A line that is no wider than the picture."""
    return piece(fitted(0, 0, words, room, size, bold=bold, muted=not bold))


def _rooms(sections: Sequence[Section], across: int, height: float) -> list[int]:
    """How many lines of panels each section gets: first one, the loop and the newest before all."""
    left = int((height - HEAD - SECTION * len(sections)) // (TITLE + HIGH + FOOT + 8))
    wanted = [math.ceil(len(section.panels) / across) for section in sections]
    given = [0] * len(sections)
    turn = sorted(range(len(sections)), key=lambda n: (n not in (0, len(sections) - 2), n))
    while left > 0 and given != wanted:
        for number in turn:
            if given[number] < wanted[number] and left > 0:
                given[number] += 1
                left -= 1
    return given


def _scales(sections: Sequence[Section]) -> Scales:
    """The scale of every quantity, with all its parts; sizes by powers of ten are on one."""
    held: dict[str, list[Series]] = {}
    for section in sections:
        for panel in section.panels:
            held.setdefault("" if section.log else panel.quantity, []).append(panel.series)
    return {
        name: (
            scale_of([one.values for one in found], not name)
            if found[0].is_scalar
            else max(_largest(one.table) for one in found)
        )
        for name, found in held.items()
    }


def _packed(
    sections: Sequence[Section], rooms: Sequence[int], plan: Plan, scales: Scales
) -> Iterator[Piece]:
    """The sections, those side by side that have room on one line."""
    row, left = list[Piece](), 0
    for section, lines in zip(sections, rooms, strict=True):
        part = _section(section, lines, plan, scales)
        wide = math.ceil((part.envelope.width + APART) / (plan.wide + APART) - 1e-9)
        if row and wide > left:
            yield beside(*row, apart=APART)
            row, left = [], 0
        taken = wide * (plan.wide + APART) - APART
        row.append(over(gap(taken), part))
        left = (left if len(row) > 1 else plan.across) - wide if lines == 1 else 0
    yield beside(*row, apart=APART)


def _section(section: Section, lines: int, plan: Plan, scales: Scales) -> Piece:
    """A heading, panels in `lines`, and a line about those that have no room."""
    shown, hidden = section.panels[: lines * plan.across], section.panels[lines * plan.across :]
    drawn = []
    for panel in shown:
        scale = scales["" if section.log else panel.quantity]
        if isinstance(scale, Scale):
            drawn.append(panel_of(panel, plan, curve(panel.series, scale, plan)))
        else:
            drawn.append(panel_of(panel, plan, _patches(panel.series, scale, plan), scale))
    starts = range(0, len(drawn), plan.across)
    rows = [beside(*drawn[n : n + plan.across], apart=APART) for n in starts]
    words = f"{section.title}{', on one scale' * (section.log and len(section.panels) > 1)}"
    parts = [_line(words, plan.line, 13, bold=True), *rows]
    if hidden:
        names = ", ".join(p.title for p in hidden)
        more = f"⋯ {len(hidden):,} more, shown with scan={hidden[0].scan} or another: {names}"
        parts.append(_line(more, plan.line, SMALL))
    return above(*parts, apart=6)


def _largest(table: np.ndarray) -> float:
    finite = np.abs(table[np.isfinite(table)])
    return float(finite.max()) if finite.size else 0.0


def panel_of(
    panel: Panel, plan: Plan, inside: Sequence[Shape], largest: float | None = None
) -> Piece:
    """A quantity with its name, and beside it in short what it is."""
    series = panel.series
    if largest is not None:
        words = f"{'×'.join(map(str, series.values.shape[1:]))}, ±{number_text(largest)}"
    else:
        ends = series.values[[0, -1]] if len(series.values) > 1 else series.values
        words = " … ".join(number_text(end) for end in ends)
    odd = int((~np.isfinite(series.values)).sum())
    words += f" · {odd:,} not finite" * bool(odd)
    beside_it = Text(plan.wide, 12, words, SMALL, "end", muted=True)
    room = plan.wide - text_width(words, SMALL) - 8
    name = fitted(0, 12, panel.title, max(room, 60), NAME, bold=True)
    if room < 60:
        beside_it = fitted(
            plan.wide, 12, words, plan.wide - name.width - 8, SMALL, "end", muted=True
        )
    axis = Text(LABELS - 6, TITLE + HIGH + 14, series.across, SMALL, "end", muted=True)
    group = Group((name, beside_it, axis, *inside), title=f"{panel.title}: {words}")
    return sized(plan.wide, TITLE + HIGH + FOOT, group)


def _x(index: np.ndarray, plan: Plan) -> np.ndarray:
    """Where indices stand, each in the middle of as much room as all others have."""
    return LABELS + (index - plan.first + 0.5) / (plan.last - plan.first + 1) * plan.area


def _foot(plan: Plan) -> Iterator[Text]:
    """The indices below a panel, as many as can be read."""
    for tick in whole_ticks(plan.first, plan.last, plan.area / 42):
        (x,) = _x(np.array([tick]), plan)
        yield Text(round(float(x), 1), TITLE + HIGH + 14, signed(tick), SMALL, "middle", muted=True)


def _label(y: float, words: str) -> Text:
    return fitted(LABELS - 6, y + 4, words, LABELS - 6, SMALL, "end", muted=True)


def curve(series: Series, scale: Scale, plan: Plan) -> list[Shape]:
    """A line over the index, on its scale; what has no place there is marked at the edge."""
    shapes: list[Shape] = list(_foot(plan))
    right = LABELS + plan.area
    for share, words in scale.ticks():
        y = TITLE + HIGH * (1 - share)
        shapes += [Polyline(((LABELS, y), (right, y)), faded=True), _label(y, words)]
    kept = thinned(series.values, BUCKETS)
    shares = scale.at(series.values[kept])
    there = np.isfinite(shares) & ~(scale.zeros & (series.values[kept] == 0))
    points = np.column_stack([_x(series.index[kept], plan), TITLE + HIGH * (1 - shares)])
    dots = len(kept) <= DOTTED
    starts = np.flatnonzero(np.diff(np.concatenate([[0], there, [0]])))
    for start, stop in zip(starts[::2], starts[1::2], strict=True):
        line = tuple(map(tuple, points[start:stop].round(1).tolist()))
        shapes.append(Polyline(line, dots=dots or len(line) == 1))
    zeros = scale.zeros & (series.values == 0)
    for found, mark, share in ((zeros, "0", 0.01), (~np.isfinite(series.values), "×", 0.92)):
        places = _x(series.index[found], plan)
        for start, _ in stretches(len(places), MARKS):
            x, y = round(float(places[start]), 1), TITLE + HIGH * (1 - share)
            shapes.append(Text(x, y, mark, SMALL, "middle", bold=True))
    return shapes


def _patches(series: Series, largest: float, plan: Plan) -> list[Shape]:
    """An array over the index in colours, entry 0 on top; the full colour stands for `largest`."""
    length, entries = series.table.shape
    table = pooled(series.table, MOST_COLUMNS, MOST_ROWS)
    columns, rows = table.shape
    first = [series.index[start] for start, _ in stretches(length, columns)]
    left = _x(np.array([*first, series.index[-1] + 1]) - 0.5, plan).round(1).tolist()
    high = HIGH / rows
    shares = np.clip(table / (largest or 1.0), -1, 1).tolist()
    shapes: list[Shape] = [*_foot(plan), _label(TITLE + high / 2, "0")]
    if entries > 1:
        shapes.append(_label(TITLE + HIGH - high / 2, str(entries - 1)))
    for x, column in enumerate(shares):
        for y, share in enumerate(column):
            place = left[x], TITLE + y * high, left[x + 1] - left[x], high - 1
            shapes.append(Box(*place, Role.PANEL, heat=share))
    edge = replace(outline(left[0], TITLE - 1, left[-1] - left[0], HIGH + 1), faded=True)
    return [edge, *shapes]
