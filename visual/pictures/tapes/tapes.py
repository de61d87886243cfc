"""The tape picture: what every backward step reads, overwrites and leaves.

The forward loop stands on top.  Below it, every Scan of the derivative has a block, in
which a row is a step and shows its tapes after that step: the old value struck through
where it was overwritten, an arrow from what was read, and beside it the formula, then
the same formula in numbers.  Time runs from left to right everywhere, so that the work of
a backward loop moves leftwards.
"""

from lab.equations.spelling import untaken_words
from lab.errors import ArgumentError, GraphError, quoted
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.choices import of_trace, switch, whole_or_none
from visual.layout.canvas import MARGIN, Canvas, place_columns, touched_columns
from visual.layout.cells import values_text
from visual.layout.columns import Timeline, timeline
from visual.layout.names import NamedScan
from visual.pictures.tapes.backward import BackwardBlock, View
from visual.pictures.tapes.forward import ForwardBlock
from visual.scene.shapes import Scene

PARTS_LINE = "below each value: what came from the cost directly + what came through later steps"
PARTS_OF_ARRAYS = "; of arrays the norms of both parts, which do not add up"


def tapes(
    trace: Trace,
    theme: str = "light",
    around: int | None = None,
    step: int | None = None,
    buffer: bool = False,
    contributions: bool = False,
) -> Scene:
    """The tape picture of a trace.

    Loops of more than 12 steps are folded: the first and the last steps are shown, and those
    next to the step `around`.  With `step` only the rows of that step are drawn.  With
    `buffer` the tapes stand in the order of their buffers, from the lowest position to the
    highest, instead of that of time.  With `contributions` every cell tells how much of its
    value came from the cost directly, and how much through later steps.

    Raises GraphError for a trace of order 0, which has no backward tape.
    """
    of_trace(trace)
    if not any(map(has_tape, trace.scans)):
        raise GraphError(
            "order = 0: this trace has no backward tape; derivatives have, from order 1. The "
            "unrolled picture shows a loop alone."
        )
    buffer, contributions = switch("buffer", buffer), switch("contributions", contributions)
    step, around = whole_or_none("step", step), whole_or_none("around", around)
    if step is not None and step not in range(max(scan.steps for scan in trace.scans)):
        last = max(scan.steps for scan in trace.scans) - 1
        raise ArgumentError(f"step = {quoted(step)}: the loops of this trace make 0 to {last}.")
    view = View(step if around is None else around, step, buffer, contributions)
    canvas = Canvas()
    for named in NamedScan.each(trace):
        time = timeline(named.root.scan)
        touched = {c for scan in named.family for c in touched_columns(scan, time, view.around)}
        columns = place_columns(touched)
        canvas.right = max(canvas.right, columns.right)
        if has_tape(named.scan):
            known = Timeline({}) if buffer else time
            BackwardBlock(canvas, named, columns, known, view).draw()
        else:
            ForwardBlock(canvas, named, columns, time).draw()
    start = len(canvas.shapes)
    _results(canvas, trace)
    canvas.group_at_end(start, NamedScan(trace, len(trace.scans) - 1))
    canvas.y -= 8
    arrays = any(tape.initial.ndim > 1 for scan in trace.scans for tape in scan.tapes)
    parts = PARTS_LINE + (PARTS_OF_ARRAYS if arrays else "")
    names = ", ".join(f"{scan.name} ({scan.steps} steps)" for scan in trace.scans)
    order = max(scan.order for scan in trace.scans)
    return canvas.finished(
        None,
        width=canvas.right + MARGIN,
        title=f"Tapes of {trace.scans[0].name}, derivative of order {order}",
        description=f"What every step reads, overwrites and leaves, in {names}.",
        theme=theme,
        said=[*([parts] if contributions else ()), *untaken_words(trace)],
    )


def has_tape(scan: ScanTrace) -> bool:
    """Whether the steps of a Scan write over a tape, as those of all derivatives may."""
    return scan.parent is not None or any(tape.kind is Kind.MIT_MOT for tape in scan.tapes)


def _results(canvas: Canvas, trace: Trace) -> None:
    """What was asked for, in numbers."""
    lines = [
        f"{name} = {values_text(value)}"
        for name, value in zip(trace.names, trace.outputs, strict=True)
        if name
    ]
    if lines:
        canvas.heading("Results", lines)
        canvas.y += 12
