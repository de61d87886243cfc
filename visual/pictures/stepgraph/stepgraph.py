"""The step graph: the values that a step of a Scan reads, computes, and writes.

Arguments are on the left and results on the right; between them are the values that the step uses
more than once. Formulas contain all other operations. The heading lists the forward results that
the step reuses, and the operations that it recomputes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import shorten

import numpy as np

from lab.equations.numbers import equation
from lab.equations.spelling import Speller, untaken_notes
from lab.errors import listing
from lab.gradients.decisions import ReadingGroup
from lab.notation import Leaf, calls_of, leaves_of, render
from lab.records import cached_property
from lab.traces.trace import Formula, ScanTrace, StepResult, Trace
from lab.traces.untaken import values_of
from visual.layout.canvas import formula_lines, heading, scene_with_legend
from visual.layout.graphviz import GraphEdge, GraphNode, dot_source, lay_out
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, check_trace, selected_scan
from visual.pictures.stepgraph.cards import LEGEND, VALUE, Card, Looks
from visual.pictures.stepgraph.nodes import (
    SLOT,
    StepNode,
    StepNodes,
    StepPart,
    operation_label,
    recomputed_operations,
)
from visual.scene.combinators import Piece, above, gap, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Arrow, Box, Scene, Shape, picture_function
from visual.scene.theme import Role

GLOSSARY: Mapping[str, str] = {  # operations whose names do not explain them
    "set_at": "the first input, one entry of it, or a part, replaced by the second",
    "add_at": "the first input, with the second added to one of its entries, or a part",
}
LONGEST = 300  # letters of a formula in the heading
ARGUMENT, ON_PAPER = 232, 96  # the greatest widths of boxes
APART, UNEVEN, WIDEST, LINES = 44, 1.6, 460, 4  # columns; results; formulas; lines of a formula
HANGING = 2  # letters of the indentation of the later lines of a formula


@picture_function
def stepgraph(
    trace: Trace,
    scan: int | None = None,
    step: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the values that one step reads, computes, and writes.

    `scan` is the number of a Scan in the headings, from 1: number 1 is ``trace.scans[0]``. The
    default is the Scan that contains the result. `step` is the number of its step; the default is
    the first step that combines two nonzero slots. Raises ArgumentError for an unknown
    Scan or step.
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
    """Return the first step that combines two nonzero slots in a formula; 0 without such a step."""
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
    def cards(self) -> Mapping[str, Card]:
        """The card of each node, by key."""
        looks = Looks(self.named, self.step)
        nodes = {node.key: (node, *looks.look(node)) for node in self.model.every}
        widest, cards = ON_PAPER if self.sheet.on_paper else ARGUMENT, dict[str, Card]()
        for key, (node, role, label, caption) in nodes.items():
            value = self.model.value(node.place, self.step)
            cards[key] = Card(role, label, value, caption, widest)
        level: dict[str, int] = {}
        for node in self.model.every:
            level[node.key] = max((level[before.key] + 1 for before in node.inputs), default=0)
        depth = max(level.values(), default=0) or 1
        read = max((cards[key].width for key in level if not level[key]), default=0)
        unit = (self.sheet.line - read - APART * depth) / (depth - 1 + UNEVEN)
        for key, (node, role, label, caption) in nodes.items():
            if node.term is not None:
                wide = min(unit * (1 if node.part is StepPart.SHARED else UNEVEN), WIDEST)
                cards[key] = self._formula_card(node, role, label, caption, max(wide, ARGUMENT))
        return cards

    def _formula_card(
        self, node: StepNode, role: Role, label: str, caption: str, widest: float
    ) -> Card:
        """Return the card of a result or a shared value: its formula, also in numbers."""
        model, speller = self.model, Speller(self.named)
        value = model.value(node.place, self.step)
        assert node.term is not None
        leaves = {leaf: model.value(leaf, self.step) for leaf in leaves_of(node.term)}
        scalars = {leaf: v for leaf, v in leaves.items() if v is not None and not v.ndim}

        def name(leaf: Leaf) -> str:
            return leaf.variable if leaf in model.terms else speller.position(leaf, self.step)

        sign = ":="
        if isinstance(node.place, StepResult) and node.place.target is not None:
            sign = speller.sign(Formula(node.place.target, node.term))
        full, written = f"{label} {sign} {render(node.term, name)}", ""
        if value is not None and not value.ndim and len(scalars) == len(leaves):
            written = equation(value, node.term, scalars)
        letters = int((widest - 14) / (VALUE * MONO_WIDTH))
        lines, numbers = (
            tuple(formula_lines(content, letters, LINES, HANGING)) for content in (full, written)
        )
        if numbers[-1].endswith("…") or not written:
            numbers = ()
        caption = caption if caption != label else ""
        return Card(role, label, value, caption, widest, lines, numbers, full)

    @cached_property
    def graph(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        """The boxes and the edges, for Graphviz; all results of formulas are in one column."""
        nodes = list[GraphNode]()
        for node, card in zip(self.model.every, self.cards.values(), strict=True):
            rank = "results" if node.part is StepPart.RESULT else ""
            size = card.width, card.height
            nodes.append(GraphNode(node.key, *size, "\n".join(card.lines), rank))
        return nodes, [GraphEdge(b.key, node.key) for node in self.model.every for b in node.inputs]

    @cached_property
    def layout(self) -> Piece:
        """The boxes and the arrows."""
        layout = lay_out(*self.graph, rightwards=True)
        boxes = {
            key: Box(*layout.corners[key], card.width, card.height, card.role)
            for key, card in self.cards.items()
        }
        shapes: list[Shape] = [*map(Arrow, layout.curves)]
        for number, node in enumerate(self.model.every):
            key = f"{self.named.number}:node {number}"
            leaf = node.place.target if isinstance(node.place, StepResult) else node.place
            if leaf is not None and node.part is not StepPart.SHARED:
                key = self.named.leaf_key(leaf, self.step)  # as in other pictures
            shapes.append(self.cards[node.key].draw(boxes[node.key], key))
        return sized(layout.width, layout.height, *shapes)

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
        if numbers := sorted(recomputed_operations(scan)):
            operations = Counter(operation_label(parent.scan, number) for number in numbers)
            names = listing(
                f"{name} ({n} times)" if n > 1 else name for name, n in operations.items()
            )
            note = f"; {SLOT} is an input" if SLOT in names else ""
            yield f"recomputed: {names}, which the forward Scan does not store{note}"
        labels = {call.name for f in scan.formulas for call in calls_of(f.expression)}
        yield from (f"{name}: {words}" for name, words in GLOSSARY.items() if name in labels)
        for case, words in zip(named.trace.untaken, untaken_notes(named.trace), strict=True):
            if named.number in (case.scan, case.forward):
                yield words
