"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

A box is a quantity, and an arrow leads from a value to a value that a step computes from it. A
column is a moment of the loop: each gradient is below its value, and backward Scans run to the
left. If later steps add to a gradient, the direct part of the gradient has a separate box.
"""

from collections.abc import Sequence
from math import inf

from lab.errors import ArgumentError
from lab.traces.trace import Trace
from visual.layout.canvas import scene_with_legend
from visual.layout.columns import Steps, requested_steps
from visual.layout.names import seeds_of
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Fold
from visual.options import scan_indices, selected_scan
from visual.pictures.unrolled.graph import Unrolling
from visual.pictures.unrolled.overview import ANOTHER, overview
from visual.pictures.unrolled.picture import Picture
from visual.scene.combinators import Piece, above, gap, shifted
from visual.scene.shapes import Scene, picture_function


@picture_function
def unrolled(
    trace: Trace,
    step: Steps = None,
    scans: Sequence[int] | None = None,
    scan: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the unrolled picture of a trace, as wide as `sheet`: 840 pixels by default.

    The picture shows the Scan with the number `scan` (default: the Scan that computes the result)
    below the Scan that it differentiates. Arrows between gradients show local derivatives. If the
    trace has more Scans, cards at the top show all Scans. If the trace has no derivative, the
    picture shows all loops.

    `scans` contains the numbers of a loop and, if shown, of its derivative; the picture then has
    any size. Numbers of Scans start at 1, as in the headings.

    If a loop has more than 12 steps, or is too wide, the picture shows both ends and the steps next
    to `step`. Raises ArgumentError for Scans that do not exist, or for `scan` and `scans` together.
    """
    if scans is not None and scan is not None:
        raise ArgumentError("scans and scan: expected one of them, got both.")
    if scans is not None:
        return unrolled_scans(trace, scans, step, sheet=sheet)
    if scan is None and not any(each.order for each in trace.scans):
        return unrolled_loops(trace, step, sheet)
    number = selected_scan(trace, scan)
    chosen = tuple(n for n in (trace.scans[number].parent, number) if n is not None)
    top = gap() if len(chosen) == len(trace.scans) else overview(trace, number, ANOTHER, sheet)
    return _draw(Unrolling(trace, chosen), step, sheet, top)


@picture_function
def unrolled_loops(trace: Trace, step: Steps = None, sheet: Sheet = SCREEN) -> Scene:
    """Draw the forward loops of a trace, without their derivatives."""
    loops = tuple(number for number, scan in enumerate(trace.scans) if not scan.order)
    return _draw(Unrolling(trace, loops), step, sheet, gap())


@picture_function
def unrolled_scans(
    trace: Trace,
    scans: Sequence[int],
    step: Steps = None,
    all_direct: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw one or two Scans in a picture of any size. The numbers in `scans` start at 1.

    With `all_direct`, every gradient has a direct part, even a part of zero.
    """
    chosen = scan_indices(trace, scans)
    return _draw(Unrolling(trace, chosen, all_direct), step, sheet)


def _draw(graph: Unrolling, step: Steps, sheet: Sheet, top: Piece | None = None) -> Scene:
    """Draw the chosen Scans. With `top`, an open picture below `top` shows the steps that fit."""
    scans = [graph.trace.scans[number] for number in graph.chosen]
    requested, is_open = requested_steps(step, *scans), top is not None
    for ends in (None, 3, 2, 1, 0) if is_open else (None,):
        picture = Picture(graph, Fold(ends, requested, sheet), is_open)
        if picture.grid.fits:
            break
    part = picture.grid.draw()
    width = part.envelope.right + sheet.margin
    if top is not None:
        part = shifted(above(top, part, apart=20), 0, max(4, sheet.margin - 8))
        width = max(sheet.width, top.envelope.right + sheet.margin)
    elif picture.grid.right < inf and picture.grid.fits:
        width = sheet.width
    names = ", ".join(f"{scan.name} ({scan.steps} steps)" for scan in scans)
    return scene_with_legend(
        part,
        title=f"{scans[0].name}, unrolled",
        description=f"Each value of {names}, with the values it is computed from.",
        sheet=sheet,
        width=width,
        sentences=picture.notes() if is_open else (),
        close=width == sheet.width,
        seeds=seeds_of(graph.trace, graph.chosen[::-1]),
    )
