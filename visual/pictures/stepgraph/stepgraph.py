"""The step graph: the values that a step of a Scan reads, computes, and writes.

Arguments are on the left, and results are on the right. Between them are the values that the step
uses more than once. Formulas contain all other operations. The heading lists the forward results
that the step reuses.
"""

from collections.abc import Iterator
from textwrap import shorten

import numpy as np

from lab.equations.spelling import Speller, untaken_notes
from lab.gradients.decisions import ReadingGroup
from lab.traces.trace import ScanTrace, StepResult, Trace
from lab.traces.untaken import untaken, values_of
from visual.layout.canvas import heading, scene_with_legend
from visual.layout.graphviz import GraphEdge, GraphNode, dot_source, lay_out
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, check_trace, selected_scan
from visual.pictures.stepgraph.cards import LEGEND, StepCards
from visual.pictures.stepgraph.nodes import StepNodes
from visual.scene.combinators import Piece, above, gap, over, shifted, sized
from visual.scene.shapes import Arrow, Scene, Text, picture_function, walk

LONGEST = 300  # the most letters of a formula in the heading


@picture_function
def stepgraph(
    trace: Trace, scan: int | None = None, step: int | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Draw the values that a step reads, computes, and writes.

    `scan` is the number of a Scan in the headings, from 1 (default: the Scan that computes the
    result). `step` is the number of a step, from 0 (default: the first step that combines two
    nonzero slots). Raises ArgumentError for an unknown Scan or step.
    """
    check_trace(trace)
    check_sheet(sheet)
    number = selected_scan(trace, scan)
    first = first_sum(trace.scans[number])
    why = f"; step {first} combines two nonzero slots" if step is None and first else ""
    step = check_step(trace.scans[number], first if step is None else step)
    named = NamedScan(trace, number)
    name = named.numbered_name
    for shared in (True, False):
        graph, dot = _draw_graph(named, step, sheet, StepNodes(named, shared))
        if graph.envelope.width <= sheet.line:
            break
    head = heading(f"{name}: step {step} as a graph", _lines(named, why), sheet, name)
    return scene_with_legend(
        above(head, above(gap(sheet.line), graph, align=0.5), apart=8),
        LEGEND,
        sheet=sheet,
        title=f"Step {step} of {named.scan.name} as a graph of operations",
        description="The values that a step reads, computes, and writes.",
        dot=dot,
    )


def first_sum(scan: ScanTrace) -> int:
    """Return the first step with a formula that reads two nonzero slots, or 0."""
    combines = np.zeros(scan.steps or 1, dtype=bool)
    for formula in scan.formulas if scan.steps else ():
        slots = [leaf for leaf in formula.leaves if leaf.tap is not None]
        tapes = {tape.argument for tape in scan.tapes if not tape.is_total}
        values = (values_of(scan, leaf) for leaf in slots if leaf.argument in tapes)
        nonzero = [v.reshape(scan.steps, -1).any(axis=1) for v in values if v is not None]
        combines |= np.sum(nonzero, axis=0) > 1
    return int(np.argmax(combines))


def _draw_graph(named: NamedScan, step: int, sheet: Sheet, graph: StepNodes) -> tuple[Piece, str]:
    """Draw the boxes and the arrows, and return the graph in the DOT language.

    All results are in the same column.
    """
    cards, boxes = StepCards(named, step, sheet, graph), list[GraphNode]()
    pieces = {str(node.place): cards.draw(node, n) for n, node in enumerate(graph.nodes)}
    for node, (key, piece) in zip(graph.nodes, pieces.items(), strict=True):
        texts = [shape for shape in walk(piece.shapes) if isinstance(shape, Text)]
        label, box = "\n".join(text.content for text in texts), piece.envelope
        rank = "results" if isinstance(node.place, StepResult) else ""
        boxes.append(GraphNode(key, box.width, box.height, label, rank))
    pairs = ((before, node) for node in graph.nodes for before in node.inputs)
    edges = [GraphEdge(str(before.place), str(node.place)) for before, node in pairs]
    layout = lay_out(boxes, edges, rightwards=True)
    arrows = sized(layout.width, layout.height, *map(Arrow, layout.curves))
    placed = (shifted(piece, *layout.corners[key]) for key, piece in pieces.items())
    return over(arrows, *placed), dot_source(boxes, edges)


def _lines(named: NamedScan, why: str) -> Iterator[str]:
    """Yield the lines of the heading below the title; `why` explains the choice of the step."""
    scan = named.scan
    parent, order = named.parent or named, "forward"
    if named.parent is not None:
        order = f"order {scan.order}, gradient of {parent.numbered_name}"
    yield f"{order} · steps 0 to {scan.steps - 1}{why}"
    formulas = {formula.target: formula for formula in parent.scan.formulas}
    for sequence in scan.sequences:
        if sequence.group is ReadingGroup.RESULT and sequence.source in formulas:
            equation = Speller(parent).equation(formulas[sequence.source])
            yield shorten(f"reused, not recomputed: {equation}", LONGEST, placeholder=" …")
    for case, words in zip(untaken(named.trace), untaken_notes(named.trace), strict=True):
        if named.number in (case.scan, case.forward):
            yield words
