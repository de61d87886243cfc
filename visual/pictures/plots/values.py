"""The picture of values: states, outputs, gradients, and their sizes over the steps of a loop.

>>> visual.values(gallery.loops["rnn"].trace(order=2)).save("values.pdf", theme="dark")
>>> visual.values(trace, ax=axes)  # the sizes, on axes of your own
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import listing
from lab.notation import number_text
from lab.reports.tables import Section, as_text
from lab.traces.trace import Trace
from visual.layout.canvas import heading
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_trace, scan_index, switch
from visual.pictures.plots.series import SUMS, Series, growth_of, plot_scene, series_of, table_of
from visual.scene.combinators import Piece, above, words
from visual.scene.shapes import folded, picture_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST, FEW = 6, 4  # panels; entries with a curve each: of a larger array, the norm is drawn
LOOP, RESULT, SIZES, GRADIENT, REST = range(5)  # ranks: the lowest is shown first


@dataclass(frozen=True, eq=False)
class PlottedQuantity:
    """A quantity of Scan `number`, or the sizes of the gradients of a loop, with a rank."""

    number: int
    series: tuple[Series, ...]
    rank: int

    @property
    def title(self) -> str:
        """``2 · dC/dx``, or ``|dC/dx| and higher``."""
        if self.rank == SIZES:
            return f"{self.series[0].name}{' and higher' * (len(self.series) > 1)}"
        return f"{self.number} · {self.series[0].name}"

    @property
    def curves(self) -> list[tuple[np.ndarray, np.ndarray, str]]:
        """The indices, the values, and the name of each curve: a cost, or an entry of an array."""
        series = self.series[0]
        if self.rank == SIZES:
            costs = (sizes.name.strip("|‖").partition("/")[0][1:] for sizes in self.series)
            return [(s.index, s.values, c) for s, c in zip(self.series, costs, strict=True)]
        if not series.is_scalar and series.table.shape[1] <= FEW:
            return [(series.index, e, f"[{n}]") for n, e in enumerate(series.table.T)]
        return [(series.index, (series if series.is_scalar else series.sizes).values, "")]

    @property
    def ends(self) -> str:
        """The first and the last value of a single curve; ``‖ ‖`` marks a norm."""
        (_, values, _), *others = self.curves
        odd = int((~np.isfinite(self.series[0].values)).sum())
        ends = " … ".join(number_text(values[end]) for end in {0: 0, len(values) - 1: 0})
        bars = "" if self.series[0].is_scalar else "‖ ‖ "
        return "" if others else f"{bars}{ends}{f' · {odd:,} not finite' * bool(odd)}"


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
    logarithmic scale. By default the picture has at most six panels: states, the gradients with
    respect to states, and the sizes of these gradients. With `scan`, the number in a heading, the
    picture shows all quantities of one Scan, with `all` those of all Scans. Of a long loop, each
    stretch of steps shows its extremes.

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
        shown = _first_quantities(known)
    if ax is not None:
        return _draw_sizes(ax, [series for quantity in shown for series in quantity.series])
    order = max((each.order for each in trace.scans), default=0)
    loop = trace.scans[0].name if trace.scans else "a graph without loops"
    title = f"Values of {loop}{f', derivative of order {order}' if order else ''}"
    parts = [heading(title, _notes(shown) if sheet.legend else (), sheet)]
    if shown:
        parts.append(_panels(shown, sheet.line))
    if hidden := len(known) - len(shown):
        numbers = sorted({quantity.number for quantity in known if quantity not in shown} - {0})
        last = f"scan={numbers[-1]} those of Scan {numbers[-1]}"
        hint = sheet.hint(f"all=True draws all, {last}", " · ")
        of = f"Scan{'s' * (len(numbers) > 1)} {listing(map(str, numbers))}"
        rest = folded(f"⋯ {hidden:,} more of {of}{hint}", sheet.line, 12)
        parts.append(above(*(words(line, 12, muted=True) for line in rest)))
    names = ", ".join(f"{each.name} ({each.steps} steps)" for each in trace.scans)
    about = f"States, gradients, and outputs over the steps of {names or 'no loop'}."
    return plot_scene(parts, title, about, _twin(title, trace, known), sheet)


def _quantities(scans: Sequence[NamedScan], steps: range | None) -> Iterator[PlottedQuantity]:
    """Yield the quantities of the Scans, then the sizes of the gradients of loops."""
    newest = max((named.scan.order for named in scans), default=0)
    for named in scans:
        for series in (whole.within(steps) for whole in series_of(named)):
            if series.values.size:
                yield PlottedQuantity(named.number + 1, (series,), _rank(named, series, newest))
    for named in scans:
        sizes: dict[str, list[Series]] = {}
        for series in (whole.within(steps) for whole in growth_of(named)):
            if named.parent is None and series.values.size:
                sizes.setdefault(series.name.partition("/")[2], []).append(series)
        yield from (PlottedQuantity(0, (*group,), SIZES) for group in sizes.values())


def _rank(named: NamedScan, series: Series, newest: int) -> int:
    if named.parent is None:
        return LOOP
    if named.parent.parent is not None or series.name.startswith("∂"):
        return REST
    is_result = named.scan.order == newest and series.across != SUMS
    return RESULT if is_result else GRADIENT


def _first_quantities(known: Sequence[PlottedQuantity]) -> list[PlottedQuantity]:
    """Return six quantities: two of each rank in turn."""
    counts, turns = Counter[int](), list[tuple[int, int, PlottedQuantity]]()
    for quantity in known:
        if quantity.rank != REST:
            turns.append((counts[quantity.rank] // 2, quantity.rank, quantity))
            counts[quantity.rank] += 1
    first = [quantity for *_, quantity in sorted(turns, key=lambda turn: turn[:2])[:MOST]]
    return [quantity for quantity in known if quantity in first]


def _notes(shown: Sequence[PlottedQuantity]) -> Iterator[str]:
    """Explain the signs in the shown panels."""
    sizes = [each for quantity in shown if quantity.rank == SIZES for each in quantity.series]
    series = [each for quantity in shown for each in quantity.series]
    if series:
        yield "a panel shows one quantity on its own scale, with its first and last value"
    if sizes:
        is_several = any(quantity.series[1:] for quantity in shown)
        several = "; C, C′ …: the differentiated cost" * is_several
        zero = "; ↓0: zero" * any((each.values == 0).any() for each in sizes)
        yield f"| |: the size, by powers of ten{several}{zero}"
    if any(each.across == SUMS for each in series):
        yield f"over “{SUMS}”: a running total, by the number of steps that it adds up"
    if any(not each.is_scalar for each in series):
        yield "[0], [1] …: the entries of an array; ‖ ‖: its norm"


def _panels(shown: Sequence[PlottedQuantity], line: float) -> Piece:
    """Draw a panel for each quantity, all with the same indices."""
    from visual.pictures.plots.axes import Panel, multiples

    places = np.concatenate([each.index for quantity in shown for each in quantity.series])

    def fill(panel: Panel, number: int) -> None:
        quantity = shown[number]
        panel.label_indices(int(places.min()), int(places.max()), quantity.series[0].across)
        panel.draw_curves(quantity.curves, quantity.rank == SIZES)

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
        if quantity.rank != SIZES:
            name = f"{quantity.number} · {trace.scans[quantity.number - 1].name}"
            name += "" if series.is_scalar else f": {series.name}"
        tables.setdefault((name, series.across), []).extend(quantity.series)
    sections = [Section(name, (table_of(group),)) for (name, _), group in tables.items()]
    return "\n".join([*as_text(Section(title, (*sections,))), ""])
