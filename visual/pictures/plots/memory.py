"""The picture of memory: the buffers of a derivative over time, and plans that save fewer states.

    >>> visual.memory(gallery.loops["rnn"].trace(order=2)).save("memory.svg")
    >>> visual.memory(trace, ax=axes)  # the live bytes, on axes of your own

The steps of all Scans run from left to right. A plan saves some states and recomputes the others.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import check_type, printable
from lab.notation import size_text
from lab.reports.runs.memory import BEGINS, BufferLifetime, Memory
from lab.reports.runs.memory import memory as memory_of
from lab.traces.trace import Trace
from visual.layout.legend import explained
from visual.layout.names import counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.scene.combinators import Piece, above, gap, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Text, fitted, folded, picture_function, shortened
from visual.scene.theme import Role

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AREA, BAR, NAMES, SMALL = 120.0, 22.0, 150.0, 11.0
MOST_BUFFERS, NARROWEST, APART = 14, 240.0, 24.0
LABELS, TITLE, HIGH, FOOT = 46.0, 22.0, 78.0, 28.0  # of a plan
SCAN = Role.INTERMEDIATE
WORDS = {
    SCAN: "bytes while a Scan runs",
    Role.PRESERVED: "read by later Scans",
    Role.SPENT: "not read after its Scan",
}


@picture_function
def memory(
    trace: Trace | Memory, scan: int = 1, sheet: Sheet = SCREEN, ax: "Axes | None" = None
) -> Any:
    """Plot the live bytes and the buffers of a trace, or of a `lab.Memory`, and its plans.

    Of more than 14 buffers, the picture shows those that later Scans read, then the largest. With
    `ax`, matplotlib axes, draw the live bytes there and return `ax`. Raises the errors of
    `lab.memory`.
    """
    check_type("trace", trace, (Trace, Memory), "a Trace, or the result of lab.memory")
    check_sheet(sheet)
    found = trace if isinstance(trace, Memory) else memory_of(trace, scan)
    if ax is not None:
        from matplotlib.axes import Axes

        check_type("ax", ax, Axes, "matplotlib axes")
        from visual.pictures.plots.renderer import literal

        with literal():
            _draw_scans(ax, found, _edges(found, float(sum(found.lengths)) or 1.0))
            ax.set(xlabel="steps of the Scans", ylabel="bytes")
        return ax
    title = f"Memory of {found.loop}: {size_text(found.peak)} at most"
    totals = _totals(found)
    about = f"{counted(len(found.buffers), 'buffer')} in all"
    about += f"; the maximum is during Scan {int(np.argmax(totals)) + 1}." if totals[1:] else "."
    read = "the graph as written; a bar is a buffer, from the Scan that fills it to its last reader"
    heads = [piece(fitted(0, 0, title, sheet.line, 16, bold=True))]
    for muted, words in enumerate((about, read)):
        lines = folded(words, sheet.line, 12)
        heads += [piece(Text(0, 0, line, muted=bool(muted))) for line in lines]
    parts = [above(gap(sheet.line), *heads, apart=4), _buffers(found, sheet)]
    if sheet.legend:
        shown = {_role(buffer) for buffer in found.buffers} | {SCAN}
        known = {role: words for role, words in WORDS.items() if role in shown}
        shapes, bottom = explained(known, 0, sheet.line, True, 0.0)
        parts.append(sized(sheet.line, bottom, *shapes))
    parts += _plans(found, sheet)
    about += f" Live bytes over the steps, the buffers, and {counted(len(found.plans), 'plan')}."
    drawn = scene(above(*parts, apart=14), title, about, sheet.margin)
    return replace(drawn, twin=f"{title}\n{found}\n")


def _totals(found: Memory) -> list[int]:
    return [found.during(number + 1) for number in range(len(found.scans))]


def _role(buffer: BufferLifetime) -> Role:
    return Role.PRESERVED if buffer.last > buffer.first else Role.SPENT


def _edges(found: Memory, width: float) -> np.ndarray:
    """Return the start of each Scan, and the end of the last, with a least width of 1 %."""
    lengths = np.maximum(found.lengths, max(1, sum(found.lengths)) / 100)
    return np.concatenate([[0.0], np.cumsum(lengths) / sum(lengths) * width])


def _draw_scans(axes: "Axes", found: Memory, edges: np.ndarray) -> None:
    """Draw a bar for each Scan, as high as its live bytes."""
    from visual.pictures.plots.axes import draw_bar
    from visual.pictures.plots.renderer import INK

    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.2 * max(1, found.peak))
    scale = axes.get_window_extent().width / (edges[-1] or 1)
    for number, total in enumerate(_totals(found)):
        left, wide = edges[number], edges[number + 1] - edges[number]
        draw_bar(axes, left, 0, wide, total, SCAN)
        words = f"Scan {number + 1}: {size_text(total)}"
        if text_width(words, SMALL) > wide * scale - 4:
            words = shortened(size_text(total), wide * scale - 4, SMALL)
        if wide * scale > 30:
            y = total + 0.05 * max(1, found.peak)
            axes.text(left + wide / 2, y, words, ha="center", size=SMALL, gid=INK)


def _buffers(found: Memory, sheet: Sheet) -> Piece:
    """Plot the live bytes, and below them the buffers."""
    from visual.pictures.plots.axes import draw_bar, panel, write
    from visual.pictures.plots.renderer import drawn

    ranks = [(buffer.last == buffer.first, -buffer.bytes) for buffer in found.buffers]
    largest = sorted(range(len(ranks)), key=ranks.__getitem__)
    shown = [found.buffers[number] for number in sorted(largest[:MOST_BUFFERS])]
    names = min(NAMES, sheet.line / 3)
    wide, high = sheet.line - names, BAR * len(shown)

    def draw(figure: "Figure") -> None:
        edges = _edges(found, wide)
        axes = panel(figure, names, 0, wide, AREA, "bytes at once")
        axes.set(xticks=[], yticks=[])
        _draw_scans(axes, found, edges)
        write(axes, -names, 12, "↑ bytes at once")
        write(axes, -names, AREA - 4, "→ steps of the Scans")
        axes = panel(figure, names, AREA + 14, wide, high or 1, "buffers")
        axes.set(xticks=[], yticks=[], xlim=(0, wide), ylim=(len(shown), 0))
        for row, buffer in enumerate(shown):
            left, right = edges[buffer.first - 1], edges[buffer.last]
            draw_bar(axes, left, row, max(1.0, right - left - 1), 1 - 5 / BAR, _role(buffer))
            name = f"{buffer.name}{', at first' * (buffer.why == BEGINS)}"
            name = shortened(printable(name), names - 8, 12, bold=True)
            write(axes, -names, BAR * row + 13, name, bold=True)
            words = f"{size_text(buffer.bytes)}: {buffer.why}"
            if text_width(words, SMALL) > right - left - 14:
                words = size_text(buffer.bytes)
            if text_width(words, SMALL) <= right - left - 14:
                write(axes, left + 7, BAR * row + 12, words, gid=_role(buffer).name)

    parts = [sized(sheet.line, AREA + 14 + high, *drawn(sheet.line, AREA + 14 + high, draw))]
    hidden = [found.buffers[number] for number in largest[MOST_BUFFERS:]]
    if hidden:
        rest = size_text(sum(buffer.bytes for buffer in hidden))
        words = f"⋯ {len(hidden):,} more buffers, {rest} in all"
        parts.append(piece(fitted(0, 0, words, sheet.line, SMALL, muted=True)))
    return above(*parts, apart=6)


def _plans(found: Memory, sheet: Sheet) -> Iterator[Piece]:
    """Plot for each plan the bytes of its saved states over its steps."""
    if not found.plans:
        return
    from visual.pictures.plots.axes import draw_curves, label_indices, panel, write
    from visual.pictures.plots.renderer import drawn

    yield piece(Text(0, 0, "Plans that save fewer states", 12, bold=True))
    words = folded("↑ bytes of saved states, → steps, forward and backward", sheet.line, 12)
    yield above(*(piece(Text(0, 0, line, muted=True)) for line in words))
    across = max(1, int((sheet.line + APART) / (NARROWEST + APART)))
    column, line = (sheet.line + APART) / across, TITLE + HIGH + FOOT
    height = line * -(-len(found.plans) // across)
    last, most = max(plan.work for plan in found.plans), max(plan.room for plan in found.plans)

    def draw(figure: "Figure") -> None:
        for number, plan in enumerate(found.plans):
            down, right = divmod(number, across)
            room = column - APART
            axes = panel(
                figure, right * column + LABELS, down * line + TITLE, room - LABELS, HIGH, plan.name
            )
            label_indices(axes, 1, last, "")
            steps = np.arange(1, plan.work + 1)
            draw_curves(axes, [(steps, plan.bytes.astype("float64"), "")], limits=(0.0, most))
            words = f"{size_text(plan.room)}, {plan.work:,} steps"
            write(axes, room - LABELS, -10, words, "right")
            best = " · best" * (found.best is not None and plan.name == found.best.name)
            space = room - text_width(words, SMALL) - 8
            name = shortened(f"{plan.name}{best}", space, 12, bold=True)
            write(axes, -LABELS, -10, name, bold=True)

    yield sized(sheet.line, height, *drawn(sheet.line, height, draw))
