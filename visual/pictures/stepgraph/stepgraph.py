"""The step graph: what one step of a Scan computes, operation by operation, with the values.

Arguments stand on top, results at the bottom.  In the step of a gradient, forward results
that are read instead of computed are marked, with what that saves; so are the forward
operations that no result has recorded, and which are therefore computed again.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from lab.equations.spelling import Speller, untaken_words
from lab.errors import listing
from lab.notation import Leaf
from lab.traces.trace import StepResult, Trace
from visual.choices import newest, of_trace, scan_index, step_of
from visual.layout.canvas import MARGIN, Canvas
from visual.layout.cards import Card, Entry, Look, arrows, segments
from visual.layout.graphviz import Edge, Layout, Node, dot_source, lay_out
from visual.layout.names import NamedScan
from visual.pictures.stepgraph.looks import KEY_ORDER, SAVED, Looks
from visual.pictures.stepgraph.nodes import (
    MOST_OPERATIONS,
    SLOT,
    Part,
    Saving,
    StepNode,
    StepNodes,
    operation_label,
    value_at,
)
from visual.scene.shapes import Scene, of_run

MOST_SEGMENTS = 300  # colours of arrays in one picture
MOST_FORMULAS = 8
GLOSSARY: Mapping[str, str] = MappingProxyType(  # operations whose names do not explain them
    {
        "allocempty": "new memory, which nobody has filled yet",
        "part": "some rows or entries of the first input",
        "set_part": "the first input, a part of it replaced by the second",
        "add_to_part": "the first input, with the second added to a part of it",
        "at": "one entry or row of the first input",
        "set_at": "the first input, one entry of it replaced by the second",
        "add_at": "the first input, with the second added to one of its entries",
    }
)
LONGEST = 300  # letters of a formula, with those in its tooltip


@of_run
def stepgraph(trace: Trace, scan: int | None = None, step: int = 0, theme: str = "light") -> Scene:
    """The operators of one step with their values.

    `scan` is the number of a Scan in the headings, from 1: number 1 is ``trace.scans[0]``.  Unless
    told otherwise it is the first of the highest order.  `step` is the number of its step.
    Raises ArgumentError for a Scan or a step that there is not.
    """
    of_trace(trace)
    orders = [each.order for each in trace.scans]
    number = newest(orders) if scan is None else scan_index(trace, scan)
    return _StepGraph(NamedScan(trace, number), step_of(trace.scans[number], step)).scene(theme)


class _StepGraph:
    """One step graph: its cards, how they are joined, and what is said about it."""

    def __init__(self, named: NamedScan, step: int) -> None:
        self.named, self.scan, self.step = named, named.scan, step
        self.model = StepNodes(named)
        self.spell = Speller(self.named)
        self.looks = Looks(named, step, self.spell, self.model)
        values = {node.key: value_at(self.scan, node, step) for node in self.model.every}
        self.strips = sum(map(segments, values.values())) <= MOST_SEGMENTS
        self.entries: list[Entry] = []
        self.places = dict(self._places())  # what is also seen in other pictures, by node
        self.cards = {node.key: self._card(node, values[node.key]) for node in self.model.every}
        self.edges = [
            Edge(before.key, node.key) for node in self.model.every for before in node.inputs
        ]
        nodes = self.model.every
        self.nodes = [
            Node(n.key, c.width, c.height, f"{c.label}\n{c.value_line}", ordered=n.ordered)
            for n, c in ((n, self.cards[n.key]) for n in nodes)
        ]
        self._add_savings()

    def _places(self) -> Iterator[tuple[str, str]]:
        for node in self.model.every:
            leaf = node.place.target if isinstance(node.place, StepResult) else node.place
            if isinstance(leaf, Leaf):
                yield node.key, self._key(leaf)
        for saving in self.model.savings:
            yield f"SAVED:{saving.argument}", self._key(saving.argument)

    def _key(self, leaf: Leaf) -> str:
        return self.named.leaf_key(leaf, self.step)

    def _add_savings(self) -> None:
        for saving in self.model.savings:
            key = f"SAVED:{saving.argument}"
            target = next(n for n in self.model.every if n.place == saving.argument)
            card = Card(
                SAVED.role,
                self._saved_formula(saving),
                None,
                f"saved: {_count(saving)}",
                widest=340,
            )
            self.entries.append(SAVED)
            self.cards[key] = card
            self.nodes.append(Node(key, card.width, card.height, card.label))
            self.edges.append(Edge(key, target.key))

    def scene(self, theme: str) -> Scene:
        """The whole picture."""
        canvas = Canvas()
        canvas.heading(self._title(), self._lines())
        canvas.y += 10
        self._formulas(canvas)
        canvas.y += 10
        layout = lay_out(self.nodes, self.edges)
        self._draw(canvas, layout)
        width = max(canvas.right, layout.width + MARGIN) + MARGIN
        canvas.y += layout.height + 28
        entries = sorted(set(self.entries), key=KEY_ORDER.index)
        said = "; ".join(
            _shorten(self.spell.at(f, self.step)) for f in self.scan.formulas[:MOST_FORMULAS]
        )
        return canvas.finished(
            {entry.role: entry.words for entry in entries},
            width=width,
            title=f"Step {self.step} of {self.scan.name} as a graph of operations",
            description=f"What one step computes from what it reads, with all values: {said}.",
            theme=theme,
            below=8,
            dot=dot_source(self.nodes, self.edges),
        )

    def _formulas(self, canvas: Canvas) -> None:
        """What the step writes, as formulas, and the same in numbers."""
        for formula in self.scan.formulas[:MOST_FORMULAS]:
            start = len(canvas.shapes)
            words = self.spell.at(formula, self.step)
            canvas.y = canvas.formula(MARGIN, canvas.y, _shorten(words))
            numbers = self.spell.numbers(formula, self.step)
            if numbers:
                canvas.y = canvas.formula(MARGIN, canvas.y, _shorten(numbers), muted=True)
            canvas.mention(start, self.named.formula_keys(formula, self.step))
            canvas.y += 3
        more = len(self.scan.formulas) - MOST_FORMULAS
        if more > 0:
            canvas.text(MARGIN, f"and {more} more {'formula' if more == 1 else 'formulas'}", 12)
            canvas.y += 17

    def _draw(self, canvas: Canvas, layout: Layout) -> None:
        ghosts = {key for key, card in self.cards.items() if card.role is SAVED.role}
        looks = [Look.FAINT if edge.tail in ghosts else Look.PLAIN for edge in self.edges]
        boxes = {k: c.box(*layout.corners[k]) for k, c in self.cards.items()}
        canvas.add(*arrows(layout, canvas.y, self.edges, boxes, looks))
        for number, node in enumerate(self.nodes):
            x, y = layout.corners[node.key]
            place = self.places.get(node.key, f"{self.named.number}:node {number}")
            canvas.add(*self.cards[node.key].shapes(x + MARGIN, y + canvas.y, place))

    def _title(self) -> str:
        return (
            f"{self.named.number + 1} · {self.scan.name}: step {self.step} as a graph of operations"
        )

    def _lines(self) -> list[str]:
        scan, model = self.scan, self.model
        if scan.parent is None or model.parent is None:
            lines = [f"forward · step {self.step} of {scan.steps}"]
        else:
            parent = f"{scan.parent + 1} · {model.parent.name}"
            lines = [
                f"order {scan.order}, the gradient of {parent} · step {self.step} of {scan.steps}"
            ]
        if any(SLOT in card.label for card in self.cards.values()):
            lines[0] += " · ▢ stands for an input, in the order in which the arrows come in"
        for saving in model.savings:
            lines.append(
                f"reused: {self.spell.position(saving.argument, self.step)} was recorded as a "
                f"result, which saves {_count(saving)}: {self._names(saving.operations)}"
            )
        if model.repeated:
            lines.append(
                f"computed again: {self._names(sorted(model.repeated))} of the forward step, "
                "whose values are in none of its results"
            )
        used = {card.label.partition("(")[0] for card in self.cards.values()}
        lines += [f"{name}: {words}" for name, words in GLOSSARY.items() if name in used]
        met = zip(self.named.trace.untaken, untaken_words(self.named.trace), strict=True)
        lines += [words for one, words in met if self.named.number in (one.scan, one.forward)]
        left_out = self._left_out()
        if left_out:
            lines.append(f"not drawn: {listing(left_out)}")
        return lines

    def _left_out(self) -> list[str]:
        model = self.model
        reasons = []
        hidden = model.operations - len(model.shown)
        if hidden:
            reasons.append(f"{hidden} operations further from the results ({MOST_OPERATIONS} are)")
        if model.reshaping:
            reasons.append(f"{_operations(model.reshaping)} that only change a shape or type")
        if model.constant:
            reasons.append(f"{_operations(model.constant)} on constants alone")
        return reasons

    def _names(self, operations: Sequence[int]) -> str:
        """Operations of the parent's step, those on the same operations once."""
        parent = StepNodes(self.named.parent or self.named)
        labels = [parent.label(number) for number in operations]
        times = {label: labels.count(label) for label in labels}
        return listing(f"{label} ({n} times)" if n > 1 else label for label, n in times.items())

    def _saved_formula(self, saving: Saving) -> str:
        spell = Speller(self.named.parent or self.named)
        return next(spell.equation(f) for f in spell.scan.formulas if f.target == saving.source)

    def _card(self, node: StepNode, value: np.ndarray | None) -> Card:
        entry, label, caption = self.looks.of(node)
        self.entries.append(entry)
        below = node.part is Part.RESULT
        return Card(entry.role, label, value, caption, below, self._tip(node), self.strips)

    def _tip(self, node: StepNode) -> str:
        if isinstance(node.place, int):
            value = self.scan.inside[node.place]
            return operation_label(value.operation, list(value.inputs))
        return ""


def _shorten(formula: str) -> str:
    """A formula without its end, if nobody would read it to its end."""
    return formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…"


def _operations(count: int) -> str:
    return "1 operation" if count == 1 else f"{count} operations"


def _count(saving: Saving) -> str:
    return _operations(len(saving.operations))
