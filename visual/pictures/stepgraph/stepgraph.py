"""The step graph: what one step of a Scan computes, operation by operation, with the values.

Arguments stand on top, results at the bottom.  In the step of a gradient, forward results
that are read instead of computed are marked, with what that saves; so are the forward
operations that no result has recorded, and which are therefore computed again.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType

import numpy as np

from lab.equations.spelling import Speller, untaken_words
from lab.errors import listing
from lab.notation import Leaf
from lab.scans.names import readable
from lab.traces.trace import StepResult, Trace
from visual.layout.canvas import FORMULA, finished, formula, heading
from visual.layout.graphviz import Edge, Node, dot_source, lay_out
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of, switch
from visual.pictures.stepgraph.cards import (
    IN_A_COLUMN,
    NARROW,
    WIDE,
    Card,
    Entry,
    arrows,
    segments,
)
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
from visual.scene.combinators import Piece, above, gap, grouped, sized, words
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Group, Scene, of_run

MOST_SEGMENTS = 300  # colours of arrays in one picture
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
NOTHING = 1e-9  # beside the parts of a sum
LONGEST = 300  # letters of a formula, with those in its tooltip
# What is tried until the picture fits: how many operations, whether arrays have strips, and how
# many results.
PLANS = (
    (MOST_OPERATIONS, True, None),
    *((most, False, None) for most in (MOST_OPERATIONS, 24, 16, 8)),
    *((most, False, ends) for ends in (8, 4, 2, 1) for most in (16, 8, 4)),
    (2, False, 1),
)
# How many formulas, whether with their numbers, and in how many lines.
FORMULAS = ((8, True, 3), (8, False, 3), (8, False, 1), (3, False, 1), (0, False, 1))


@of_run
def stepgraph(
    trace: Trace,
    scan: int | None = None,
    step: int = 0,
    theme: str = "light",
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The operators of one step with their values, 840 pixels wide and at most 1,200 high.

    `scan` is the number of a Scan in the headings, from 1: number 1 is ``trace.scans[0]``.  Unless
    told otherwise it is the one that holds the result.  `step` is the number of its step.  What
    has no room is not drawn, and words tell so; with `all` everything is, up to 50 operations.
    Raises ArgumentError for a Scan or a step that there is not.
    """
    of_trace(trace)
    check_sheet(sheet)
    number = opened(trace, scan)
    named, step = NamedScan(trace, number), step_of(trace.scans[number], step)
    if switch("all", all):
        return _StepGraph(named, step, *PLANS[0], sheet, all=True).scene(theme, *FORMULAS[0])
    before: _StepGraph | None = None
    tried = list[Scene]()
    for most, strips, wanted in PLANS:
        known = before is not None and not before.strips and before.model.operations <= most
        if before is None or not known or len(before.model.results) > (wanted or inf):
            before = graph = _StepGraph(named, step, most, strips, wanted, sheet)
            least = graph.scene(theme, *FORMULAS[-1])
            if least.width <= sheet.width and least.height <= sheet.height:
                fuller = (graph.scene(theme, *formulas) for formulas in FORMULAS[:-1])
                return next((drawn for drawn in fuller if drawn.height <= sheet.height), least)
            tried.append(least)
    return min(reversed(tried), key=lambda scene: scene.width)


class _StepGraph:
    """One step graph: its cards, how they are joined, and what is said about it."""

    def __init__(
        self,
        named: NamedScan,
        step: int,
        most: int,
        strips: bool,
        wanted: int | None,
        sheet: Sheet,
        all: bool = False,
    ) -> None:
        self.named, self.scan, self.step, self.sheet = named, named.scan, step, sheet
        self.all, self.model = all, StepNodes(named, most, kept=all, wanted=wanted)
        self.spell = Speller(self.named)
        self.looks = Looks(named, step, self.spell, self.model)
        values = {
            node.key: None if sheet.bare else value_at(self.scan, node, step)
            for node in self.model.every
        }
        shown = sum(map(segments, values.values()))
        self.strips = strips and 0 < shown <= MOST_SEGMENTS
        self.colourless = shown > 0 and not self.strips
        self.entries: list[Entry] = []
        self.places = dict(self._places())  # what is also seen in other pictures, by node
        self.cards = {node.key: self._card(node, values[node.key]) for node in self.model.every}
        self.edges = [
            Edge(before.key, node.key) for node in self.model.every for before in node.inputs
        ]
        self.nodes = [
            Node(n.key, card.width, card.height, f"{card.label}\n{card.value_line}", "", n.ordered)
            for n, card in zip(self.model.every, self.cards.values(), strict=True)
        ]
        self._add_savings()
        self.layout = lay_out(self.nodes, self.edges)

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
            target = next((n for n in self.model.every if n.place == saving.argument), None)
            if target is None:  # among the operations for which there is no room
                continue
            told = f"saved: {_count(saving)}"
            wide = IN_A_COLUMN if self.sheet.on_paper else 340
            card = Card(SAVED.role, self._saved_formula(saving), None, told, widest=wide)
            self.entries.append(SAVED)
            self.cards[key] = card
            self.nodes.append(Node(key, card.width, card.height, card.label))
            self.edges.append(Edge(key, target.key))

    def scene(self, theme: str, formulas: int, numbers: bool, lines: int) -> Scene:
        """The whole picture, with so many formulas, in so many lines, and their numbers."""
        sheet = self.sheet
        title = f"{self.named.number + 1} · {self.scan.name}: step {self.step}"
        title += " as a graph of operations"
        head = heading(title, self._lines(), sheet, self.named.whereabouts)
        written = above(*self._formulas(formulas, numbers, lines), apart=3)
        graph = above(gap(sheet.line), self._graph(), align=0.5)
        entries = sorted(set(self.entries), key=KEY_ORDER.index)
        said = "; ".join(_shorten(self.spell.at(f, self.step)) for f in self.scan.formulas[:8])
        return finished(
            above(head, written, graph, apart=8),
            {entry.role: entry.words for entry in entries},
            sheet=sheet,
            title=f"Step {self.step} of {self.scan.name} as a graph of operations",
            description=f"What one step computes from what it reads, with all values: {said}.",
            theme=theme,
            below=8,
            close=True,
            dot=dot_source(self.nodes, self.edges),
        )

    def _formulas(self, most: int, numbers: bool, lines: int) -> Iterator[Piece]:
        """What the step writes, as formulas, and the same in numbers."""
        letters = int(self.sheet.line / (FORMULA * MONO_WIDTH))
        told = [f for f in self.scan.formulas if f.target not in self.model.unchanged]
        for found in () if self.sheet.bare else told[:most]:
            both = [formula(_shorten(self.spell.at(found, self.step)), False, lines, letters)]
            if values := self.spell.numbers(found, self.step) if numbers else "":
                both.append(formula(_shorten(values), True, lines, letters))
            keys = self.named.formula_keys(found, self.step)
            yield grouped(above(*both), Group((), mentions=keys))
        if len(told) > most and not self.sheet.bare:
            more = counted(len(told) - most, "more formula" if most else "formula")
            opens = "" if self.all else self.sheet.all_shows("them")
            yield words(f"⋯ {more}{opens}", 12, muted=True)

    def _graph(self) -> Piece:
        """The cards, and the arrows from card to card, as they are laid out."""
        layout = self.layout
        ghosts = {key for key, card in self.cards.items() if card.role is SAVED.role}
        ordered = {node.key for node in self.nodes if node.ordered}
        boxes = {key: card.box(*layout.corners[key]) for key, card in self.cards.items()}
        shapes = arrows(layout, self.edges, boxes, ghosts, ordered)
        for number, node in enumerate(self.nodes):
            place = self._way_in(node.key) or self.places.get(node.key)
            place = place or f"{self.named.number}:node {number}"
            shapes += self.cards[node.key].shapes(*layout.corners[node.key], place)
        return sized(layout.width, layout.height, *shapes)

    def _way_in(self, key: str) -> str:
        """The key of what is opened by a click on a node: a Scan inside of the step."""
        part, _, place = key.partition(":")
        if part != Part.OPERATION.name or not self.scan.nested:
            return ""
        name = readable(self.scan.inside[int(place)].operation.partition("[")[0])
        is_scan = any(name == inner.name for inner in self.scan.nested[self.step].scans)
        return f"inside:{self.named.number + 1},{self.step}" if is_scan else ""

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
        if unchanged := model.unchanged:
            slots = listing(self.spell.position(leaf, self.step) for leaf in unchanged)
            lines.append(f"written back as read, not drawn: {slots}")
        left_out = self._left_out()
        if left_out:
            lines.append(f"not drawn: {listing(left_out)}")
        return lines

    def _left_out(self) -> list[str]:
        model, hidden = self.model, self.model.operations - len(self.model.shown)
        results = len(model.written) - len(model.results)
        reasons = {
            f"{counted(results, 'more result')}": results,
            f"{hidden} operations further from the results ({len(model.shown)} are)": hidden,
            f"{_operations(model.reshaping)} that only change a shape or type": model.reshaping,
            f"{_operations(model.constant)} on constants alone": model.constant,
            "the colours of arrays": self.colourless,
        }
        return [reason for reason, is_so in reasons.items() if is_so]

    def _names(self, operations: Sequence[int]) -> str:
        """Operations of the parent's step, those on the same operations once."""
        parent = StepNodes(self.named.parent or self.named)
        labels = [parent.label(number) for number in operations]
        times = {label: labels.count(label) for label in labels}
        return listing(f"{label} ({n} times)" if n > 1 else label for label, n in times.items())

    def _saved_formula(self, saving: Saving) -> str:
        spell = Speller(self.named.parent or self.named)
        return next(spell.equation(f) for f in spell.scan.formulas if f.target == saving.source)

    def _cancels(self, node: StepNode, value: np.ndarray | None) -> bool:
        """Whether a sum is next to nothing beside its parts, of which four digits tell nothing."""
        if not {"+", "−"} & {*node.label.split()} or value is None or value.ndim or not value:
            return False
        parts = [value_at(self.scan, before, self.step) for before in node.inputs]
        sizes = [float(np.abs(part)) for part in parts if part is not None and not part.ndim]
        return bool(abs(value) < NOTHING * max(sizes, default=0.0))

    def _card(self, node: StepNode, value: np.ndarray | None) -> Card:
        entry, label, caption = self.looks.of(node)
        self.entries.append(entry)
        below, tip, wide = node.part is Part.RESULT, "", WIDE if self.all else NARROW
        wide = min(wide, IN_A_COLUMN) if self.sheet.on_paper else wide
        if isinstance(node.place, int):
            made = self.scan.inside[node.place]
            tip = operation_label(made.operation, list(made.inputs))
        is_nothing = self._cancels(node, value)
        return Card(entry.role, label, value, caption, below, tip, self.strips, wide, is_nothing)


def _shorten(formula: str) -> str:
    """A formula without its end, if nobody would read it to its end."""
    return formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…"


def _operations(count: int) -> str:
    return "1 operation" if count == 1 else f"{count} operations"


def _count(saving: Saving) -> str:
    return _operations(len(saving.operations))
