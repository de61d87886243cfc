"""The step graph: the values that a step of a Scan reads, computes, and writes.

Arguments are on the left, and results are on the right. Between them are the values that the step
uses more than once. Formulas contain all other operations. The heading lists the forward results
that the step reuses.
"""

from collections.abc import Iterator
from textwrap import shorten

import numpy as np

from lab.equations.spelling import Speller
from lab.gradients.decisions import ReadingGroup
from lab.reports.runs.first import nan_notes
from lab.traces.faults import values_of
from lab.traces.trace import ScanTrace, Trace
from visual.layout.canvas import heading, scene_with_legend
from visual.layout.graphviz import GraphEdge, draw_graph
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, check_trace, selected_scan
from visual.pictures.stepgraph.cards import LEGEND, StepCards
from visual.pictures.stepgraph.nodes import StepNodes
from visual.scene.combinators import above, gap
from visual.scene.shapes import Scene, picture_function

LONGEST = 300  # the most characters of a formula in the heading


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
    for graph in (StepNodes(named), StepNodes(named, shared=False)):
        cards = StepCards(named, step, sheet, graph)
        boxes = {str(node.place): cards.draw(node, n) for n, node in enumerate(graph.nodes)}
        pairs = ((before, node) for node in graph.nodes for before in node.inputs)
        edges = [GraphEdge(str(before.place), str(node.place)) for before, node in pairs]
        ranks = {str(node.place): "results" for node in graph.results}  # a single column
        part, dot = draw_graph(boxes, edges, ranks, rightwards=True)
        if part.envelope.width <= sheet.line:
            break
    head = heading(f"{name}: step {step} as a graph", _lines(named, why), sheet, name)
    return scene_with_legend(
        above(head, above(gap(sheet.line), part, align=0.5), apart=8),
        LEGEND,
        sheet=sheet,
        title=f"Step {step} of {named.scan.name} as a graph of operations",
        description="The values that a step reads, computes, and writes.",
        dot=dot,
    )


def first_sum(scan: ScanTrace) -> int:
    """Return the first step with a formula that reads two nonzero slots, or 0 if none does."""
    combines = np.zeros(scan.steps or 1, dtype=bool)
    for formula in scan.formulas if scan.steps else ():
        slots = [leaf for leaf in formula.leaves if leaf.tap is not None]
        tapes = {tape.argument for tape in scan.tapes if not tape.is_total}
        values = (values_of(scan, leaf) for leaf in slots if leaf.argument in tapes)
        nonzero = [v.reshape(scan.steps, -1).any(axis=1) for v in values if v is not None]
        combines |= np.sum(nonzero, axis=0) > 1
    return int(np.argmax(combines))


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
    yield from nan_notes(named.trace)
