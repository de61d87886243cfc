"""The picture of values: states, outputs, gradients, and their sizes over the steps of a loop.

>>> visual.values(gallery.loops["rnn"].trace(order=2)).save("values.pdf", theme="dark")
>>> visual.values(trace, ax=axes)  # the sizes, on axes of your own
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import check_type, listing, printable
from lab.notation import number_text
from lab.reports.tables import Section, as_text
from lab.traces.trace import Trace
from visual.layout.cells import is_told
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_trace, scan_index, switch
from visual.pictures.plots.series import SUMS, Series, growth_of, series_of, table_of
from visual.scene.combinators import above, gap, over, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Shape, Text, fitted, folded, picture_function, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIGH, TITLE, FOOT, APART, LABELS, RIGHT = 78.0, 22.0, 28.0, 24.0, 52.0, 44.0
NARROWEST, MOST = 240.0, 6  # pixels of a panel; panels
MOST_COLUMNS, MOST_ROWS = 24, 8  # cells of a heat map
LOOP, RESULT, SIZES, GRADIENT, TOTAL, REST = range(6)  # ranks: the lowest is shown first


@dataclass(frozen=True, eq=False)
class Panel:
    """One quantity of Scan `number`, or the sizes of the gradients of a loop, by its rank."""

    number: int
    series: tuple[Series, ...]
    rank: int

    @property
    def title(self) -> str:
        """``2 · dC/dx``, or ``|dC/dx| and higher``."""
        name = self.series[0].name
        if self.rank == SIZES:
            return f"{name}{' and higher' * (len(self.series) > 1)}"
        return f"{self.number} · {name}"

    @property
    def ends(self) -> str:
        """The first and the last value; of arrays the norms."""
        (series, *others) = self.series
        values = (series if series.is_scalar else series.sizes).values
        odd = int((~np.isfinite(series.values)).sum())
        words = " … ".join(number_text(values[end]) for end in {0: 0, len(values) - 1: 0})
        bars = "" if series.is_scalar else "‖ ‖ "
        return "" if others else f"{bars}{words}{f' · {odd:,} not finite' * bool(odd)}"


@picture_function
def values(
    trace: Trace,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the states, the outputs, and the gradients of a trace over the steps.

    A panel shows one quantity: numbers as a curve, arrays as a heat map. The panels of gradients'
    sizes have a logarithmic scale. Without an option there are at most six panels: states, the
    gradients with respect to them, and their sizes. With `scan`, the number in a heading, all
    quantities of one Scan are shown, with `all` those of all Scans. Of long loops each stretch of
    steps shows its extremes.

    With `ax`, matplotlib axes, draw the sizes of these quantities as curves on a logarithmic scale
    there, and return `ax`. Raises ArgumentError for an unknown Scan.
    """
    check_trace(trace)
    check_sheet(sheet)
    number, every = None if scan is None else scan_index(trace, scan), switch("all", all)
    steps = sheet.steps and sheet.steps_of(trace.scans[0])
    panels = [*_panels([n for n in NamedScan.each(trace) if number in (None, n.number)], steps)]
    shown = panels if every or number is not None else _chosen(panels)
    if ax is not None:
        from matplotlib.axes import Axes

        check_type("ax", ax, Axes, "matplotlib axes")
        _draw_sizes(ax, [one for panel in shown for one in panel.series])
        return ax
    order = max((found.order for found in trace.scans), default=0)
    first = trace.scans[0].name if trace.scans else "a graph without loops"
    title = f"Values of {first}{f', derivative of order {order}' if order else ''}"
    names = ", ".join(f"{found.name} ({found.steps} steps)" for found in trace.scans)
    heads = [piece(fitted(0, 0, title, sheet.line, 16, bold=True))]
    for words in _notes(shown) if sheet.legend else ():
        heads += [piece(Text(0, 0, line, muted=True)) for line in folded(words, sheet.line, 12)]
    parts = [above(*heads, apart=4)]
    if shown:
        across = min(3, max(1, int((sheet.line + APART) / (NARROWEST + APART))))
        high = (TITLE + HIGH + FOOT) * -(-len(shown) // across)
        parts.append(sized(sheet.line, high, *_shapes(shown, sheet.line, high, across)))
    if hidden := len(panels) - len(shown):
        scans = sorted({panel.number for panel in panels if panel not in shown} - {0})
        hint = sheet.hint(f"all=True draws all, scan={scans[-1]} those of Scan {scans[-1]}", " · ")
        words = (
            f"⋯ {hidden:,} more of Scan{'s' * (len(scans) > 1)} {listing(map(str, scans))}{hint}"
        )
        parts += [piece(Text(0, 0, line, muted=True)) for line in folded(words, sheet.line, 12)]
    about = f"States, gradients, and outputs over the steps of {names or 'no loop'}."
    drawn = scene(over(gap(sheet.line), above(*parts, apart=12)), title, about, sheet.margin)
    return replace(drawn, twin=_twin(title, trace, panels))


def _panels(scans: Sequence[NamedScan], steps: range | None) -> Iterator[Panel]:
    """Yield the quantities of the Scans, then the sizes of the gradients of loops."""
    newest = max((named.scan.order for named in scans), default=0)
    for named in scans:
        for series in (one.within(steps) for one in series_of(named)):
            if series.values.size:
                yield Panel(named.number + 1, (series,), _rank(named, series, newest))
    for named in scans:
        sizes: dict[str, list[Series]] = {}
        for series in (one.within(steps) for one in growth_of(named)):
            if named.parent is None and series.values.size:
                sizes.setdefault(series.name.partition("/")[2], []).append(series)
        yield from (Panel(0, (*found,), SIZES) for found in sizes.values())


def _rank(named: NamedScan, series: Series, newest: int) -> int:
    if named.parent is None:
        return LOOP
    if named.parent.parent is not None or series.name.startswith("∂"):
        return REST
    if series.across == SUMS:
        return TOTAL
    return RESULT if named.scan.order == newest else GRADIENT


def _chosen(panels: Sequence[Panel]) -> list[Panel]:
    """Return six panels: two of each rank in turn."""
    known = sorted((panel for panel in panels if panel.rank != REST), key=lambda p: p.rank)
    turns = [
        (place // 2, rank, panel)
        for rank, found in groupby(known, key=lambda panel: panel.rank)
        for place, panel in enumerate(found)
    ]
    kept = [panel for *_, panel in sorted(turns, key=lambda turn: turn[:2])[:MOST]]
    return [panel for panel in panels if panel in kept]


def _notes(shown: Sequence[Panel]) -> Iterator[str]:
    """Explain the signs in the shown panels."""
    series = [one for panel in shown for one in panel.series]
    if series:
        yield "a panel shows one quantity on its own scale, with its first and last value"
    if any(panel.rank == SIZES for panel in shown):
        several = "; C, C′ …: the differentiated cost" * any(panel.series[1:] for panel in shown)
        zero = any((one.values == 0).any() for p in shown if p.rank == SIZES for one in p.series)
        yield f"| |: the size, by powers of ten{several}{'; ↓0: zero' * zero}"
    if any(one.across == SUMS for one in series):
        yield f"over “{SUMS}”: a running total, by the number of steps that it adds up"
    if any(not one.is_scalar for one in series):
        yield "colors: olive is positive, magenta, in the lower half, negative; ‖ ‖: norm"


def _shapes(shown: Sequence[Panel], wide: float, high: float, across: int) -> list[Shape]:
    """Draw the panels in rows of `across`."""
    from visual.pictures.plots.axes import (
        draw_curves,
        draw_heat,
        label_indices,
        panel,
        pooled,
        write,
    )
    from visual.pictures.plots.renderer import SMALL, drawn
    from visual.scene.theme import LIGHT

    places = np.concatenate([one.index for each in shown for one in each.series])
    first, last = int(places.min()), int(places.max())
    column = (wide + APART) / across
    room = column - APART

    def draw(figure: "Figure") -> None:
        for number, each in enumerate(shown):
            down, right = divmod(number, across)
            left, top = LABELS + right * column, TITLE + down * (TITLE + HIGH + FOOT)
            axes = panel(
                figure, left, top, room - LABELS - RIGHT, HIGH, f"{each.title}: {each.ends}"
            )
            (series, *_) = each.series
            label_indices(axes, first, last, series.across)
            space = max(room - text_width(each.ends, SMALL) - 8, 60)
            title = shortened(printable(each.title), space, 12, bold=True)
            write(axes, -LABELS, -10, title, bold=True)
            space = room - text_width(title, 12, bold=True) - 8
            write(axes, room - LABELS, -10, shortened(each.ends, space, SMALL), "right")
            if series.is_scalar:
                named = [
                    (s.index, s.values, s.name.strip("|‖").partition("/")[0][1:])
                    for s in each.series
                ]
                draw_curves(axes, named, each.rank == SIZES)
                continue
            table, starts, rows = pooled(series.table, MOST_COLUMNS, MOST_ROWS)
            finite = np.abs(series.table[np.isfinite(series.table)])
            full = float(finite.max(initial=0)) or 1.0
            edges = np.array([*series.index[starts], series.index[-1] + 1]) - 0.5
            draw_heat(axes, edges, np.arange(len(rows) + 1), table.T / full, LIGHT)
            axes.set_ylim(len(rows), 0)
            write(axes, room - LABELS, HIGH + 16, f"±{number_text(full)}", "right")
            ticks, labels = (
                np.arange(len(rows)) + 0.5,
                [str(row) if n % (1 + (len(rows) > 6)) == 0 else "" for n, row in enumerate(rows)],
            )
            if is_told(series.values[0]):
                labels = [number_text(entry, 3) for entry in series.values[0]]
                x = (series.index[-1] - first + 1) / (last - first + 1) * (
                    room - LABELS - RIGHT
                ) + 5
                for tick, entry in zip(ticks, series.values[-1], strict=True):
                    write(axes, x, HIGH * tick / len(rows) + 4, number_text(entry, 3))
            axes.set_yticks(ticks, labels)

    return drawn(wide, high, draw)


def _draw_sizes(ax: "Axes", series: Sequence[Series]) -> None:
    """Draw the sizes on the reader's own axes."""
    from visual.pictures.plots.renderer import literal

    with literal():
        sizes = (one if one.name[0] in "|‖" else one.sizes for one in series)
        for name, one in {one.name: one for one in sizes}.items():
            ax.plot(one.index, np.where(one.values > 0, one.values, np.nan), ".-", label=name)
        ax.set(yscale="log", xlabel="index")
        ax.legend()


def _twin(title: str, trace: Trace, panels: Sequence[Panel]) -> str:
    """Write a table for each Scan, for each array, and for the sizes."""
    tables: dict[tuple[str, str], list[Series]] = {}
    for panel in panels:
        (series, *_) = panel.series
        name = f"{panel.number} · {trace.scans[panel.number - 1].name}"
        name = (
            "Sizes"
            if panel.rank == SIZES
            else name
            if series.is_scalar
            else f"{name}: {series.name}"
        )
        tables.setdefault((name, series.across), []).extend(panel.series)
    sections = [Section(name, (table_of(found),)) for (name, _), found in tables.items()]
    return "\n".join([*as_text(Section(title, (*sections,))), ""])
