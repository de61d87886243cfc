"""The picture of values: states, outputs, gradients, and their sizes over the steps of a loop.

>>> visual.values(gallery.loops["rnn"].trace(order=2)).save("values.pdf", theme="dark")
>>> visual.values(trace, ax=axes)  # the sizes, on axes of your own
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.notation import number_text
from lab.reports.tables import Section, as_text
from lab.traces.trace import Trace
from visual.layout.canvas import heading
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_trace, scan_index, switch
from visual.pictures.plots.series import Series, growth_of, plot_scene, series_of, table_of
from visual.scene.combinators import Piece, words
from visual.scene.shapes import picture_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST, SIZES = 6, 0  # panels; the number of a Scan that has sizes
FEW = 4  # entries with a curve each: of a larger array, the norm is drawn
NOTES = (
    "a panel shows one quantity on its own scale, with its first and last value",
    "[0], [1] …: the entries of an array; ‖ ‖: its norm; “steps”: a running total",
    "|dC/dx|: the size, by powers of ten; C, C′ …: the differentiated cost; ↓0: zero",
)


@dataclass(frozen=True, eq=False)
class PlottedQuantity:
    """The quantity with the number `place` in a Scan, or the sizes of the gradients of a loop."""

    scan: int
    place: int
    series: tuple[Series, ...]

    @property
    def is_size(self) -> bool:
        """Whether the quantity consists of the sizes of gradients."""
        return self.scan == SIZES

    @property
    def title(self) -> str:
        """``2 · dC/dx``, or ``|dC/dx| and higher``."""
        if self.is_size:
            return f"{self.series[0].name}{' and higher' * (len(self.series) > 1)}"
        return f"{self.scan} · {self.series[0].name}"

    @property
    def curves(self) -> list[tuple[np.ndarray, np.ndarray, str]]:
        """The indices, the values, and the name of each curve: a cost, or an entry of an array."""
        series = self.series[0]
        if self.is_size:
            costs = (sizes.name.strip("|‖").partition("/")[0][1:] for sizes in self.series)
            return [(s.index, s.values, c) for s, c in zip(self.series, costs, strict=True)]
        if not series.is_scalar and series.table.shape[1] <= FEW:
            return [(series.index, e, f"[{n}]") for n, e in enumerate(series.table.T)]
        return [(series.index, (series if series.is_scalar else series.sizes).values, "")]

    @property
    def ends(self) -> str:
        """The first and the last value of a single curve; ``‖ ‖`` marks a norm."""
        (_, values, _), *others = self.curves
        ends = " … ".join(number_text(values[end]) for end in {0: 0, len(values) - 1: 0})
        bars = "" if self.series[0].is_scalar else "‖ ‖ "
        return "" if others else f"{bars}{ends}"


@picture_function
def values(
    trace: Trace,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the states, the outputs, and the gradients of a trace over the steps.

    A panel shows one quantity: a number as a curve, an array as a curve for each entry or, with
    more than four entries, as the curve of the norm. The panels of the sizes of gradients have a
    logarithmic scale. By default the picture has at most six panels: the first quantity of each
    Scan, and the sizes of gradients, then the second. With `scan`, the number in a heading, the
    picture shows all quantities of one Scan, with `all` those of all Scans.

    With `ax`, matplotlib axes, draw the sizes of these quantities as curves on a logarithmic scale
    there, and return `ax`. Raises ArgumentError for an unknown Scan.
    """
    check_trace(trace)
    check_sheet(sheet)
    number, every = None if scan is None else scan_index(trace, scan), switch("all", all)
    steps = sheet.steps and sheet.steps_of(trace.scans[0])
    scans = [named for named in NamedScan.each(trace) if number in (None, named.number)]
    known = [*_quantities(scans, steps)]
    shown = known
    if not every and number is None:
        first = sorted(known, key=lambda quantity: quantity.place)[:MOST]
        shown = [quantity for quantity in known if quantity in first]
    if ax is not None:
        return _draw_sizes(ax, [series for quantity in shown for series in quantity.series])
    order = max((each.order for each in trace.scans), default=0)
    loop = trace.scans[0].name if trace.scans else "a graph without loops"
    title = f"Values of {loop}{f', derivative of order {order}' if order else ''}"
    parts = [heading(title, NOTES if sheet.legend else (), sheet)]
    if shown:
        parts.append(_panels(shown, sheet.line))
    if hidden := len(known) - len(shown):
        hint = sheet.hint("all=True draws all", " · ")
        parts.append(words(f"⋯ {hidden:,} more{hint}", 12, muted=True))
    names = ", ".join(f"{each.name} ({each.steps} steps)" for each in trace.scans)
    about = f"States, gradients, and outputs over the steps of {names or 'no loop'}."
    return plot_scene(parts, title, about, _twin(title, trace, known), sheet)


def _quantities(scans: Sequence[NamedScan], steps: range | None) -> Iterator[PlottedQuantity]:
    """Yield the quantities of the Scans, then the sizes of the gradients of loops."""
    for named in scans:
        held = [whole.within(steps) for whole in series_of(named)]
        for place, series in enumerate(series for series in held if series.values.size):
            yield PlottedQuantity(named.number + 1, place, (series,))
    for named in scans:
        sizes: dict[str, list[Series]] = {}
        for series in (whole.within(steps) for whole in growth_of(named)):
            if named.parent is None and series.values.size:
                sizes.setdefault(series.name.partition("/")[2], []).append(series)
        for place, group in enumerate(sizes.values()):
            yield PlottedQuantity(SIZES, place, (*group,))


def _panels(shown: Sequence[PlottedQuantity], line: float) -> Piece:
    """Draw a panel for each quantity, all with the same indices."""
    from visual.pictures.plots.axes import Panel, multiples

    places = np.concatenate([each.index for quantity in shown for each in quantity.series])

    def fill(panel: Panel, number: int) -> None:
        quantity = shown[number]
        panel.label_indices(int(places.min()), int(places.max()), quantity.series[0].across)
        panel.draw_curves(quantity.curves, quantity.is_size)

    return multiples(line, [(quantity.title, quantity.ends) for quantity in shown], fill)


def _draw_sizes(ax: "Axes", series: Sequence[Series]) -> "Axes":
    """Draw the sizes on the axes of the user."""
    from visual.pictures.plots.axes import readers_axes

    with readers_axes(ax):
        sizes = (each if each.name[0] in "|‖" else each.sizes for each in series)
        for name, each in {each.name: each for each in sizes}.items():
            ax.plot(each.index, np.where(each.values > 0, each.values, np.nan), ".-", label=name)
        ax.set(yscale="log", xlabel="index")
        ax.legend()
    return ax


def _twin(title: str, trace: Trace, known: Sequence[PlottedQuantity]) -> str:
    """Write a table for each Scan, for each array, and for the sizes."""
    tables: dict[tuple[str, str], list[Series]] = {}
    for quantity in known:
        series, name = quantity.series[0], "Sizes"
        if not quantity.is_size:
            name = f"{quantity.scan} · {trace.scans[quantity.scan - 1].name}"
            name += "" if series.is_scalar else f": {series.name}"
        tables.setdefault((name, series.across), []).extend(quantity.series)
    sections = [Section(name, (table_of(group),)) for (name, _), group in tables.items()]
    return "\n".join([*as_text(Section(title, (*sections,))), ""])
