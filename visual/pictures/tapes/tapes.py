"""The tape picture: the slots that every backward step reads, overwrites, and preserves.

The picture of a first derivative shows the loop, and below the loop the tape of its gradient. The
picture of a higher order shows a card for each Scan, and below the cards one open Scan. A row of an
open Scan shows the tapes after a step. Overwritten values are struck through, an arrow starts at
each slot that the step reads, and the formulas are below the tapes, in symbols and in numbers. Time
runs from left to right, and a backward loop moves to the left.
"""

from lab.equations.events.events import events
from lab.equations.notes import result_notes
from lab.reports.runs.first import nan_notes
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import scene_with_legend
from visual.layout.cells import values_text
from visual.layout.columns import Steps, requested_steps
from visual.layout.names import NamedScan, seeds_of
from visual.layout.placing import lay_out
from visual.layout.sheet import SCREEN, Sheet
from visual.options import selected_scan
from visual.pictures.tapes.backward import Backward
from visual.pictures.tapes.forward import Forward
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import Piece, above, gap, grouped, shifted, sized
from visual.scene.shapes import Scene, Text, folded, picture_function


@picture_function
def tapes(
    trace: Trace,
    step: Steps = None,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the tapes of a trace, at least as wide as `sheet`; the height is not limited.

    The picture shows a single loop, or a loop with its only derivative. If a trace has more Scans,
    the Scan with the number `scan` is open (default: the Scan that computes the result), and cards
    above show the other Scans. If not all steps fit, the picture shows both ends of the loop, and
    the requested `step` or steps with their neighbors. With `all`, all Scans are open, in a picture
    of any size. Raises ArgumentError for an unknown Scan or step.
    """
    with_tapes = [n for n, each in enumerate(trace.scans) if _has_tape(each)]
    number = selected_scan(trace, scan, with_tapes)
    requested = requested_steps(step, *(trace.scans if all else [trace.scans[number]]))
    run, words = events(trace), [*result_notes(trace), *nan_notes(trace)]
    parts, is_pair = list[Piece](), scan is None and [s.parent for s in trace.scans] == [None, 0]
    if not all and not is_pair and len(trace.scans) > 1:
        parts.append(overview(trace, number, sheet=sheet))
    numbers = [*range(len(trace.scans))] if all else [number]
    for named in (NamedScan(trace, n) for n in numbers):
        loop = Forward(named.root, run) if is_pair and not all else None
        has_tape = _has_tape(named.scan)
        table = Backward(named, run, all, loop) if has_tape else Forward(named, run, all)
        parts.append(lay_out(table, sheet, requested, all))
    part = above(*parts, apart=30 if all else 20)
    names = ", ".join(f"{each.name} ({each.steps} steps)" for each in trace.scans)
    return scene_with_legend(
        shifted(above(part, _results(trace, sheet), apart=8), 0, max(4, sheet.margin - 8)),
        sheet=sheet,
        width=max(sheet.width, part.envelope.right + sheet.margin),
        title=f"Tapes of {trace.scans[0].name}, derivative of order "
        f"{max(each.order for each in trace.scans)}",
        description=f"The slots that every step reads, overwrites, and preserves, in {names}.",
        sentences=words,
        seeds=seeds_of(trace, numbers),
    )


def _has_tape(scan: ScanTrace) -> bool:
    """Return whether a Scan is a derivative, carries tangents, or has a mit-mot."""
    is_derivative = scan.parent is not None or scan.is_pushforward
    return is_derivative or any(tape.kind is Kind.MIT_MOT for tape in scan.tapes)


def _results(trace: Trace, sheet: Sheet) -> Piece:
    """Return the results of the run, in a group with the moment of the final step."""
    pairs = zip(trace.names, trace.outputs, strict=True)
    words = " · ".join(f"{name} = {values_text(value)}" for name, value in pairs if name)
    if not words:
        return gap()
    lines = folded(words, sheet.line - 70, 13)
    lines = [*lines[:2], f"⋯ {len(lines) - 2} more lines"] if len(lines) > 3 else lines
    texts = [Text(sheet.margin + 70, 13 + 18 * n, line, 13) for n, line in enumerate(lines)]
    head = Text(sheet.margin, 13, "Results", 13, bold=True)
    results = sized(sheet.width - sheet.margin, 18 * len(lines) + 14, head, *texts)
    last = NamedScan(trace, len(trace.scans) - 1)
    if not last.scan.steps:
        return results
    return grouped(results, *last.moment(last.scan.steps - 1))
