"""The picture of memory: the buffers of a derivative over time, and plans that save fewer states.

    >>> visual.memory(trace, ax=axes)  # the live bytes, on your own axes

The steps of all Scans run from left to right. A plan saves some states and recomputes the others.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import check_type, printable
from lab.notation import counted
from lab.reports.runs.memory import BEGINS, BufferLifetime, Memory
from lab.reports.runs.memory import memory as memory_of
from lab.reports.tables import size_text
from lab.traces.trace import Trace
from visual.layout.canvas import legend_shapes
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.plots.series import PlottedQuantity, Series, plot_scene
from visual.scene.combinators import Piece, above, gap, over, shifted, sized, words
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Shape, fitted, picture_function, shortened
from visual.scene.theme import LIGHT, Role, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AREA, BAR, SMALL, NAME, MOST_BUFFERS = 100.0, 22.0, 11.0, 12.0, 14
WORDS = {
    Role.INTERMEDIATE: "bytes while a Scan runs",
    Role.PRESERVED: "read by later Scans",
    Role.SPENT: "not read after its Scan",
}


@picture_function
def memory(
    trace: Trace | Memory, scan: int = 1, sheet: Sheet = SCREEN, ax: "Axes | None" = None
) -> Any:
    """Plot the live bytes, the buffers, and the plans of a trace or of a `lab.Memory`.

    The picture shows at most 14 buffers: those that later Scans read, then the largest others.
    With `ax`, draw the live bytes on these axes and return `ax`. Raises the errors of `lab.memory`.
    """
    check_type("trace", trace, (Trace, Memory), "a Trace, or the result of lab.memory")
    report = trace if isinstance(trace, Memory) else memory_of(trace, scan)
    if ax is not None:
        from visual.pictures.plots.axes import draw_on

        return draw_on(ax, partial(_draw_scans, report=report))
    title = f"Memory of {report.loop}: {size_text(report.peak)} at most"
    read = "the graph as written; a bar is a buffer, from the Scan that fills it to its last reader"
    parts = [*_lifetimes(report, sheet.line)]
    if sheet.legend:
        roles = {Role.INTERMEDIATE, *map(_role, report.buffers)}
        shown = {role: WORDS[role] for role in WORDS if role in roles}
        shapes, bottom = legend_shapes(shown, 0, sheet.line, True, 0.0)
        parts.append(sized(sheet.line, bottom, *shapes))
    parts += _plans(report, sheet.line) if len(report.plans) > 1 else ()
    about = f"Live bytes, {counted(len(report.buffers), 'buffer')}, and the plans."
    return plot_scene(title, (read,), parts, about, report.document.blocks, sheet)


def _role(buffer: BufferLifetime) -> Role:
    return Role.PRESERVED if buffer.last > buffer.first else Role.SPENT


def _edges(report: Memory, width: float) -> np.ndarray:
    """Return the left edge of each Scan, and the right edge of the last Scan.

    A Scan of less than 1 % of all steps counts as 1 %.
    """
    lengths = np.maximum(report.lengths, max(1, sum(report.lengths)) / 100)
    return np.concatenate([[0.0], np.cumsum(lengths) / sum(lengths) * width])


def _draw_scans(axes: "Axes", theme: Theme, report: Memory) -> None:
    """Draw a bar for each Scan, as high as its live bytes."""
    edges, look = _edges(report, float(sum(report.lengths)) or 1.0), theme.look(Role.INTERMEDIATE)
    axes.set(xlim=(edges[0], edges[-1]), xlabel="steps of the Scans")
    axes.set(ylim=(0, 1.25 * max(1, report.peak)), ylabel="bytes")
    scale = axes.get_window_extent().width / edges[-1]
    for number, (left, right) in enumerate(pairwise(edges.tolist()), start=1):
        total, room = report.during(number), (right - left) * scale - 4
        axes.bar(left, total, right - left, align="edge", fc=look.fill, ec=look.stroke)
        label = f"Scan {number}: {size_text(total)}"
        if text_width(label, SMALL) > room:
            label = shortened(size_text(total), room, SMALL)
        if room > 26:
            y = total + 0.05 * max(1, report.peak)
            axes.text((left + right) / 2, y, label, ha="center", size=SMALL)


def _lifetimes(report: Memory, line: float) -> Iterator[Piece]:
    """Yield the panel of the live bytes over the steps, then bars of at most 14 buffers."""
    from visual.pictures.plots.axes import LABELS, draw_panel

    hidden = sorted(report.buffers, key=lambda b: (b.last == b.first, -b.bytes))[MOST_BUFFERS:]
    shown = [b for b in report.buffers if b not in hidden]
    names = [printable(b.name + ", at first" * (b.why == BEGINS)) for b in shown]
    widest = max((text_width(name, NAME, bold=True) for name in names), default=0.0)
    indent = min(max(widest + 8, LABELS), line / 3)

    def fill(axes: "Axes") -> None:
        axes.set(xticks=[], yticks=[])
        _draw_scans(axes, LIGHT, report)

    title, note = "↑ bytes at once", "→ steps of the Scans"
    panel = draw_panel(line - indent + LABELS, AREA, title, fill, note, 0.0)
    yield over(gap(line), shifted(panel, indent - LABELS, 0))
    edges = _edges(report, line - indent)
    bars = list[Piece]()
    for buffer, name in zip(shown, names, strict=True):
        left, right, role = float(edges[buffer.first - 1]), float(edges[buffer.last]), _role(buffer)
        room = max(1.0, right - left - 1)
        box = Box(indent + left, 0, room, BAR - 5, role)
        shapes: list[Shape] = [fitted(0, 13, name, indent - 8, NAME, bold=True), box]
        if room > 40:
            why = f"{size_text(buffer.bytes)}: {buffer.why}"
            shapes.append(fitted(indent + left + 7, 12, why, room - 13, SMALL, role=role))
        bars.append(sized(line, BAR, *shapes))
    if hidden:
        rest = size_text(sum(buffer.bytes for buffer in hidden))
        bars.append(words(f"⋯ {len(hidden):,} more buffers, {rest} in all", SMALL, muted=True))
    yield above(*bars)


def _plans(report: Memory, line: float) -> Iterator[Piece]:
    """Yield the titles, then a plot for each plan: the bytes of its saved states over its steps."""
    from visual.pictures.plots.axes import multiples

    plotted = list[PlottedQuantity]()
    for plan in report.plans:
        name, about = plan.name, f"{size_text(plan.room)}, {plan.work:,} steps"
        series = Series(name, np.arange(1, plan.work + 1), plan.bytes, "steps")
        plotted.append(PlottedQuantity(name, (series,), about))
    yield words("Plans that save fewer states", 12, bold=True)
    yield words("bytes of saved states · steps, forward and backward", 12, muted=True)
    if report.best is not None:
        yield words(f"least work in half the bytes: {report.best.name}", 12, muted=True)
    yield multiples(plotted, line, limits=(0.0, max(plan.room for plan in report.plans)))
