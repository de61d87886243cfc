"""The picture of values: states, gradients and what tapes hold, over the steps of a loop.

    >>> plot = visual.pictures.values.plot.values(gallery.loops["rnn"].trace(order=2), theme="dark")
    >>> plot.save("values.pdf")

Matplotlib draws it.  A loop of ten thousand steps gives a picture no larger than one of a
few hundred: of a line, every two pixels show the smallest and the largest value that they
stand for; a cell of a heat map shows the largest in size.
"""

import io
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.records import cached_property
from lab.traces.trace import Trace
from visual.choices import of_trace
from visual.layout.names import NamedScan, cost_name
from visual.pictures.values.series import AREA, HIGH, Kind, Panel, growth_of, series_of
from visual.pictures.values.text import to_text
from visual.scene.formats import check_scale, save, shown, summary
from visual.scene.shapes import shortened
from visual.scene.theme import LIGHT, THEMES, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INCH, MARGIN, LEFT, BELOW = 96, 20.0, 64.0, 58.0
ACROSS = 2


@dataclass(frozen=True, eq=False)
class Plot:
    """A picture that matplotlib draws: panels, two side by side; otherwise like a Scene."""

    panels: tuple[Panel, ...]
    title: str
    description: str
    theme: Theme = LIGHT
    dot: str = ""

    def __repr__(self) -> str:
        return summary(self, f"{len(self.panels)} panels")

    @cached_property
    def rows(self) -> tuple[tuple[Panel, ...], ...]:
        """The panels that stand side by side."""
        return tuple(self.panels[i : i + ACROSS] for i in range(0, len(self.panels), ACROSS))

    @property
    def width(self) -> float:
        """In CSS pixels."""
        return ACROSS * (MARGIN + LEFT + AREA) + MARGIN

    @property
    def height(self) -> float:
        """In CSS pixels."""
        heads = sum(max(panel.head for panel in row) for row in self.rows)
        return MARGIN + heads + len(self.rows) * (HIGH + BELOW)

    def figure(self, width: float | None = None, height: float | None = None) -> "Figure":
        """A new matplotlib figure of the plot, to be changed or saved as any other."""
        from matplotlib.figure import Figure

        from visual.backends.mpl import settings

        width, height = width or self.width, height or self.height
        with settings():
            colour = self.theme.background
            figure = Figure(figsize=(width / INCH, height / INCH), dpi=INCH, facecolor=colour)
            top = MARGIN
            for row in self.rows:
                below = top + max(panel.head for panel in row)
                for number, panel in enumerate(row):
                    self._panel(figure, panel, number, below, width, height)
                top = below + HIGH + BELOW
        return figure

    def _panel(
        self, figure: "Figure", panel: Panel, number: int, top: float, width: float, height: float
    ) -> None:
        """Draw a panel whose axes begin at `top`, in a figure of `width` by `height` pixels."""
        from visual.backends.mpl import INVISIBLE
        from visual.pictures.values.panels import POINT, caption, draw_growth, draw_heat, draw_lines

        left = MARGIN + LEFT + number * (MARGIN + LEFT + AREA)
        place = (left / width, 1 - (top + HIGH) / height, AREA / width, HIGH / height)
        axes = figure.add_axes(place)
        lines = [(panel.title, panel.head - 14, 13.0, "bold", self.theme.text)]
        if panel.kind is Kind.HEAT:
            for words, above in zip(caption(panel.series[0]), (24.0, 8.0), strict=True):
                lines.append((words, above, 11.0, "normal", self.theme.muted))
        for words, above, size, weight, colour in lines:
            plain = " ".join(words.translate(INVISIBLE).split())
            short = shortened(plain, AREA + LEFT, size)
            x, y = (left - LEFT + 8) / width, 1 - (top - above) / height
            figure.text(
                x, y, short,
                color=colour, fontsize=size * POINT, fontweight=weight, parse_math=False,
            )  # fmt: skip
        kinds = {Kind.LINES: draw_lines, Kind.GROWTH: draw_growth, Kind.HEAT: draw_heat}
        kinds[panel.kind](axes, panel, self.theme)

    def _drawn(self, form: str, about: Mapping[str, str | None], scale: float = 1.0) -> bytes:
        from visual.backends.mpl import settings

        size = (self.width, self.height)
        if scale != 1:
            size = (math.ceil(self.width * scale) / scale, math.ceil(self.height * scale) / scale)
        file = io.BytesIO()
        figure = self.figure(*(side + 0.001 for side in size) if form == "png" else size)
        with settings():
            figure.savefig(file, format=form, dpi=INCH * scale, metadata=about)
        return file.getvalue()

    def svg(self) -> str:
        """The plot as an SVG document that stands alone."""
        from visual.pictures.values.svg import stand_alone

        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        drawn = self._drawn("svg", nothing).decode()
        return stand_alone(drawn, self.title, self.description, self.width, self.height)

    def pdf(self) -> bytes:
        """The plot as a PDF document of one page."""
        from visual.backends.mpl import metadata

        return self._drawn("pdf", metadata(self.title, self.description))

    def png(self, scale: float = 1.0) -> bytes:
        """The plot as a PNG image, `scale` pixels for every CSS pixel."""
        check_scale(scale, self.width, self.height)
        return self._drawn("png", {"Software": None}, scale)

    def text(self) -> str:
        """The plot as tables of its numbers; long ones are folded."""
        return to_text(self.title, [(panel.title, panel.series) for panel in self.panels])

    def save(self, path: str | os.PathLike[str], scale: float = 1.0) -> Path:
        """Write the plot to `path`: .svg, .pdf, .png, .html or .txt; see `Scene.save`."""
        return save(self, path, scale)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return shown(self)


def values(trace: Trace, theme: str = "light") -> Plot:
    """Every Scan of `trace` over its steps, and how its gradients grow or decay.

    Of a loop its states and outputs, of a backward Scan the gradients on its tapes after the
    last step, by the index of the forward variable, and the running totals of parameters by
    the number of steps.  Numbers are lines; vectors and matrices heat maps.  At the end
    `|dC/dx|`, `|dC′/dx|` …, for vectors the norm, on a log axis, where zeros and values that are
    not finite are marked at the edges.

    A line of more than 527 points is thinned: of each of 175 stretches, the smallest and the
    largest finite value remain, and the first that is not finite.  A heat map of more than 48
    indices or 16 entries shows of every block the value that is largest in size.

    Raises ArgumentError for an unknown theme.
    """
    of_trace(trace)
    chosen = THEMES[theme]
    order = max((scan.order for scan in trace.scans), default=0)
    names = ", ".join(f"{scan.name} ({scan.steps} steps)" for scan in trace.scans)
    about = f", derivative of order {order}" if order else ""
    first = trace.scans[0].name if trace.scans else "a graph without loops"
    return Plot(
        panels=tuple(_panels(trace)),
        title=f"Values of {first}{about}",
        description=f"States, gradients and outputs over the steps of {names or 'no loop'}.",
        theme=chosen,
    )


def _panels(trace: Trace) -> Iterator[Panel]:
    for named in NamedScan.each(trace):
        scan = named.scan
        title = f"{named.number + 1} · {scan.name}"
        if scan.parent is not None:
            title += f": gradients of {cost_name(scan.order)}"
        everything = [series for series in series_of(named) if series.values.size]
        flat = [series for series in everything if series.is_scalar]
        for across in dict.fromkeys(series.across for series in flat):
            together = tuple(series for series in flat if series.across == across)
            yield Panel(title, Kind.LINES, together)
        for series in everything:
            if not series.is_scalar:
                name = f"{named.number + 1} · {scan.name}: {series.name}"
                yield Panel(name, Kind.HEAT, (series,))
    for named in NamedScan.each(trace):
        sizes = growth_of(named) if named.parent is None else ()
        grown = tuple(series for series in sizes if series.values.size)
        if grown:
            title = f"Size of the gradients of {named.number + 1} · {named.scan.name}"
            yield Panel(title, Kind.GROWTH, grown)
