"""The picture of values: states, outputs, gradients, and their sizes over the steps of a loop.

>>> visual.values(trace, ax=axes)  # the sizes, on your own axes
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.reports.tables import Section
from lab.traces.trace import Trace
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.options import scan_index
from visual.pictures.plots.series import PlottedQuantity, Series, plot_scene, series_of, table_of
from visual.scene.combinators import words
from visual.scene.shapes import picture_function
from visual.scene.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 6  # the maximum number of panels
PANEL = "a panel shows one quantity on its own scale, with its first and last values"
ARRAY = "[0], [1] …: the entries of an array; ‖ ‖: its norm"
TOTAL = "axis “steps”: a running total"
SIZE = "|dC/dx|: the size, by powers of ten; C, C′ …: the differentiated cost; ↓0: zero"


@picture_function
def values(
    trace: Trace,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the states, the outputs, and the gradients of a trace over the steps.

    A panel shows one quantity. An array has a curve for each entry, or the curve of its norm if it
    has more than four entries. Sizes of gradients have a logarithmic scale. By default, the picture
    has at most six panels, with the first quantities of each Scan. With the number of a `scan`, the
    picture shows all quantities of the Scan; with `all`, all quantities of all Scans.

    With `ax`, draw the sizes of these quantities on these matplotlib axes, with a logarithmic
    scale, and return `ax`. Raises ArgumentError for an unknown Scan.
    """
    number = None if scan is None else scan_index(trace, scan)
    loop = trace.scans[0].name if trace.scans else "a graph without loops"
    steps = sheet.steps and sheet.steps_of(trace.scans[0].steps, loop)
    scans = [named for named in NamedScan.each(trace) if number in (None, named.number)]
    known = [*_quantities(scans, steps)]
    most = len(known) if all or number is not None else MOST
    first = sorted(known, key=lambda quantity: quantity.rank)[:most]
    shown = [quantity for quantity in known if quantity in first]
    from visual.pictures.plots.axes import draw_on, multiples

    if ax is not None:
        return draw_on(ax, partial(_draw_sizes, shown=shown))
    order = max((each.order for each in trace.scans), default=0)
    title = f"Values of {loop}{f', derivative of order {order}' if order else ''}"
    parts = [multiples(shown, sheet.line)] if shown else []
    if hidden := len(known) - len(shown):
        more = f"⋯ {hidden:,} more{sheet.hint('all=True draws all', ' · ')}"
        parts.append(words(more, 12, muted=True))
    about = f"States, gradients, and outputs over the steps of {loop}."
    groups: dict[tuple[str, str], list[Series]] = {}  # series with the same title and the same axis
    for series, table in ((s, quantity.table) for quantity in known for s in quantity.series):
        groups.setdefault((table, series.across), []).append(series)
    tables = (Section(table, (table_of(group),)) for (table, _), group in groups.items())
    curves = [series for quantity in shown for series in quantity.series]
    notes = [PANEL, *[ARRAY] * any(not series.is_scalar for series in curves)]
    notes += [TOTAL] * any(series.across == "steps" for series in curves)
    notes += [SIZE] * any(quantity.is_size for quantity in shown)
    return plot_scene(title, notes if sheet.legend else (), parts, about, tables, sheet)


def _quantities(scans: Sequence[NamedScan], steps: range | None) -> Iterator[PlottedQuantity]:
    """Yield the quantities of the Scans, then the sizes of the gradients of loops."""
    for named in scans:
        for rank, series in enumerate(series_of(named, steps)):
            number = f"{named.number + 1} · "
            table = f"{number}{named.scan.name}{'' if series.is_scalar else f': {series.name}'}"
            yield PlottedQuantity(f"{number}{series.name}", (series,), table=table, rank=rank)
    for loop in (named for named in scans if named.parent is None):
        sizes: dict[object, list[Series]] = {}  # |dC/dx|, |dC′/dx| … by state and part
        for named in NamedScan.each(loop.trace):
            tapes = [t for t in named.scan.tapes if t.gradient_of is not None and not t.is_total]
            for tape in tapes if named.scan.parent == loop.number else ():
                group = sizes.setdefault((tape.gradient_of, named.part_number(tape)), [])
                group += [series.sizes for series in series_of(named, steps, [tape])]
        for rank, group in enumerate(filter(None, sizes.values())):  # empty arrays have no series
            title = f"{group[0].name}{' and higher' * (len(group) > 1)}"
            yield PlottedQuantity(title, (*group,), is_size=True, table="Sizes", rank=rank)


def _draw_sizes(axes: "Axes", _: Theme, shown: Sequence[PlottedQuantity]) -> None:
    sizes = (s if each.is_size else s.sizes for each in shown for s in each.series)
    for name, each in {each.name: each for each in sizes}.items():
        axes.plot(each.index, np.where(each.values > 0, each.values, np.nan), ".-", label=name)
    axes.set(yscale="log", xlabel="index")
    axes.legend()
