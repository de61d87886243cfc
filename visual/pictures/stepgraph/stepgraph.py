"""The step graph: the values that a step of a Scan reads, computes, and writes.

Arguments are on the left, and results are on the right. Between them are the values that the step
uses more than once. Formulas contain all other operations. The heading lists the forward results
that the step reuses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import shorten

import numpy as np

from lab.equations.numbers import equation
from lab.equations.spelling import Speller, untaken_notes
from lab.gradients.decisions import ReadingGroup
from lab.notation import Leaf, leaves_of, render
from lab.records import cached_property
from lab.traces.trace import Formula, ScanTrace, StepResult, Trace
from lab.traces.untaken import untaken, values_of
from visual.layout.canvas import formula_lines, heading, scene_with_legend
from visual.layout.cells import full_text, quantity
from visual.layout.graphviz import GraphEdge, GraphNode, dot_source, lay_out
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, check_trace, selected_scan
from visual.pictures.stepgraph.cards import INDENT, LEGEND, VALUE, NodeLooks, draw_card, value_line
from visual.pictures.stepgraph.nodes import StepNode, StepNodes, StepPart
from visual.scene.combinators import Piece, above, gap, over, shifted, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Arrow, Group, Scene, Text, picture_function, walk

LONGEST = 300  # the most letters of a formula in the heading
ARGUMENT, ON_PAPER = 236.0, 96.0  # the largest width of an argument, on screen and on paper
FORMULA, LINES = 0.5, 4  # the largest fraction of the sheet for a result; the most lines
HANGING = 2  # letters before the later lines of a formula


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
    graph = _StepGraph(named, step, sheet, StepNodes(named))
    if graph.layout.envelope.width > sheet.line:
        graph = _StepGraph(named, step, sheet, StepNodes(named, shared=False))
    return graph.scene(why)


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


@dataclass(frozen=True)
class _StepGraph:
    """The boxes, the arrows, and the heading of a step graph."""

    named: NamedScan
    step: int
    sheet: Sheet
    model: StepNodes

    @cached_property
    def cards(self) -> Mapping[str, Piece]:
        """The box of each node, by key."""
        return {node.key: self._card(node, n) for n, node in enumerate(self.model.every)}

    def _card(self, node: StepNode, number: int) -> Piece:
        """Draw an argument with its value, or a formula in symbols and in numbers."""
        look = NodeLooks(self.named, self.step).look(node)
        value = self.model.value(node.place, self.step)
        place = node.place.target if isinstance(node.place, StepResult) else node.place
        key = f"{self.named.number}:node {number}"
        if place is not None and node.part is not StepPart.SHARED:
            key = self.named.leaf_key(place, self.step)  # as in other pictures
        width = ON_PAPER if self.sheet.on_paper else ARGUMENT
        formula, bold, numbers = "", [look.name], list[str]()
        if node.term is not None:
            width = max(ARGUMENT, self.sheet.line * FORMULA * (node.part is StepPart.RESULT))
            letters = int((width - 2 * INDENT) / (VALUE * MONO_WIDTH))
            formula, written = self._formula(node, look.name)
            bold = formula_lines(formula, letters, LINES, HANGING)
            numbers = formula_lines(written, letters, LINES, HANGING)
            look = replace(look, caption=look.caption * (look.caption != look.name))
        if not numbers or not numbers[0] or numbers[-1].endswith("…"):
            numbers = [*filter(None, [value_line(value, width - 2 * INDENT)])]
        title = look.name if value is None else f"{look.name} = {full_text(value)}"
        group = Group((), cell=key, title=title, quantity=quantity(look.name), value=value)
        return draw_card(look, bold, numbers, width, formula, group)

    def _formula(self, node: StepNode, label: str) -> tuple[str, str]:
        """Return a formula in symbols and, if all its values are numbers, in numbers."""
        model, speller, sign = self.model, Speller(self.named), ":="
        assert node.term is not None
        leaves = {leaf: model.value(leaf, self.step) for leaf in leaves_of(node.term)}
        scalars = {leaf: v for leaf, v in leaves.items() if v is not None and not v.ndim}

        def name(leaf: Leaf) -> str:
            return leaf.variable if leaf in model.terms else speller.position(leaf, self.step)

        if isinstance(node.place, StepResult) and node.place.target is not None:
            sign = speller.sign(Formula(node.place.target, node.term))
        value, written = model.value(node.place, self.step), ""
        if value is not None and not value.ndim and len(scalars) == len(leaves):
            written = equation(value, node.term, scalars)
        return f"{label} {sign} {render(node.term, name)}", written

    @cached_property
    def graph(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        """The boxes and the edges for Graphviz; all results are in the same column."""
        nodes = list[GraphNode]()
        for node in self.model.every:
            box, card = self.cards[node.key].envelope, self.cards[node.key]
            label = "\n".join(text.content for text in walk(card.shapes) if isinstance(text, Text))
            rank = "results" if node.part is StepPart.RESULT else ""
            nodes.append(GraphNode(node.key, box.width, box.height, label, rank))
        return nodes, [GraphEdge(b.key, node.key) for node in self.model.every for b in node.inputs]

    @cached_property
    def layout(self) -> Piece:
        """The boxes and the arrows."""
        layout = lay_out(*self.graph, rightwards=True)
        boxes = (shifted(card, *layout.corners[key]) for key, card in self.cards.items())
        return over(sized(layout.width, layout.height, *map(Arrow, layout.curves)), *boxes)

    def scene(self, why: str) -> Scene:
        """Draw the whole picture; `why` explains the choice of the step."""
        title = f"{self.named.numbered_name}: step {self.step} as a graph"
        head = heading(title, self._lines(why), self.sheet, self.named.numbered_name)
        return scene_with_legend(
            above(head, above(gap(self.sheet.line), self.layout, align=0.5), apart=8),
            LEGEND,
            sheet=self.sheet,
            title=f"Step {self.step} of {self.named.scan.name} as a graph of operations",
            description="The values that a step reads, computes, and writes.",
            dot=dot_source(*self.graph),
        )

    def _lines(self, why: str) -> Iterator[str]:
        """Yield the lines of the heading below the title."""
        named, scan = self.named, self.named.scan
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
