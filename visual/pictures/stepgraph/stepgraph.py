"""The step graph: what one step of a Scan reads, makes and writes, with the values.

Arguments stand on the left, results on the right, and between them what the step uses more than
once.  All operations on the way are formulas; on demand each is drawn, arguments on top.  Forward
results that are read instead of computed are marked, with what that saves; so are the forward
operations that no result has recorded, and which are therefore computed again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from lab.equations.numbers import array_of, equation
from lab.equations.spelling import Speller, untaken_words
from lab.errors import listing
from lab.notation import Leaf, calls_of, leaves_of, render, summands_of
from lab.records import cached_property
from lab.scans.names import readable
from lab.traces.trace import Formula, StepResult, Trace
from visual.layout.canvas import FORMULA, finished, formula, formula_lines, heading
from visual.layout.graphviz import Edge, Node, dot_source, lay_out
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, check_trace, selected_scan, switch
from visual.pictures.stepgraph.cards import (
    DIGITS,
    IN_A_COLUMN,
    READ,
    VALUE,
    WIDE,
    Card,
    Entry,
    arrows,
    segments,
)
from visual.pictures.stepgraph.first_sum import FIRST_SUM, first_sum
from visual.pictures.stepgraph.looks import KEY_ORDER, SAVED, Looks
from visual.pictures.stepgraph.nodes import (
    SLOT,
    Part,
    Saving,
    StepNode,
    StepNodes,
    operation_label,
)
from visual.pictures.stepgraph.quantities import StepQuantities
from visual.scene.combinators import Piece, above, gap, grouped, sized, words
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Group, Scene, Shape, picture_function

MOST_FORMULAS = 8  # above all operations
MOST_SEGMENTS = 300  # colours of arrays in one picture
GLOSSARY: Mapping[str, str] = MappingProxyType(  # operations whose names do not explain them
    {
        "allocempty": "new memory, which nobody has filled yet",
        "part": "some rows or entries of the first input",
        "set_part": "the first input, a part of it replaced by the second",
        "add_to_part": "the first input, with the second added to a part of it",
        "at": "one entry or row of the first input",
        "set_at": "the first input, one entry of it, or a part, replaced by the second",
        "add_at": "the first input, with the second added to one of its entries, or a part",
    }
)
LONGEST = 300  # letters of a formula, with those in its tooltip
APART, UNEVEN, WIDEST, SLENDER = 44, 1.6, 460, 90  # columns, results, formulas at most, at least
DEEP = 2  # letters by which the later lines of a formula are indented
# What is tried until the width fits: whether arrays have strips, whether what is used twice has a
# box of its own, and how many lines a formula has.
PLANS = ((True, True, 4), (False, True, 4), (False, False, 3))


@picture_function
def stepgraph(
    trace: Trace,
    scan: int | None = None,
    step: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """What one step reads, makes and writes, with its values.

    `scan` is the number of a Scan in the headings, from 1: number 1 is ``trace.scans[0]``.  Unless
    told otherwise it is the one that holds the result.  `step` is the number of its step, or else
    the first that adds up two slots that are not 0, as in `moment`.  All operations on the way to
    a quantity are its formula; with `all` each is drawn, up to 50.
    Raises ArgumentError for a Scan or a step that there is not.
    """
    check_trace(trace)
    check_sheet(sheet)
    number = selected_scan(trace, scan)
    named, first = NamedScan(trace, number), first_sum(trace.scans[number]) or 0
    why = FIRST_SUM if step is None and first else ""
    step = check_step(named.scan, first if step is None else step)
    if switch("all", all):
        return _StepGraph(named, step, StepNodes(named), True, 3, sheet, why).scene()
    for strips, shared, lines in PLANS:
        model = StepQuantities(named, shared)
        graph = _StepGraph(named, step, model, strips, lines, sheet, why)
        is_last = (strips, shared, lines) == PLANS[-1]
        if is_last or graph.may_fit:
            scene = graph.scene()
            if is_last or scene.width <= sheet.width:
                break
    return scene


class _StepGraph:
    """One step graph: its cards, how they are joined, and what is said about it."""

    def __init__(
        self,
        named: NamedScan,
        step: int,
        model: StepNodes | StepQuantities,
        strips: bool,
        lines: int,
        sheet: Sheet,
        why: str,
    ) -> None:
        self.named, self.scan, self.step, self.sheet = named, named.scan, step, sheet
        self.model, self.lines, self.whole, self.why = model, lines, StepNodes(named), why
        self.folds = isinstance(model, StepQuantities)
        self.spell = Speller(self.named)
        self.looks = Looks(named, step, self.spell, self.whole)
        self.values = {node.key: model.value(node.place, step) for node in model.every}
        shown = sum(map(segments, self.values.values()))
        self.strips = strips and 0 < shown <= MOST_SEGMENTS
        self.colourless = shown > 0 and not self.strips
        self.entries: list[Entry] = []
        self.places = dict(self._places())  # what is also seen in other pictures, by node
        self.cards: dict[str, Card] = {}
        for node in sorted(model.every, key=lambda node: node.term is not None):
            self.cards[node.key] = self._card(node)
        self.cards = {node.key: self.cards[node.key] for node in model.every}
        self.edges = [Edge(before.key, node.key) for node in model.every for before in node.inputs]
        self.nodes = [
            Node(node.key, card.width, card.height, card.words, self._rank(node), node.ordered)
            for node, card in zip(model.every, self.cards.values(), strict=True)
        ]
        if not self.folds:
            self._add_savings()

    def _rank(self, node: StepNode) -> str:
        """All results stand in one column."""
        return "results" if self.folds and node.part is Part.RESULT else ""

    @property
    def may_fit(self) -> bool:
        """Whether the formulas of what is shared have room."""
        return self.unit >= SLENDER or not any(n.part is Part.SHARED for n in self.model.every)

    @cached_property
    def unit(self) -> float:
        """How wide a formula of what is shared may be, so that those of results find room, too."""
        level: dict[str, int] = {}
        for node in self.model.every:
            level[node.key] = max((level[n.key] + 1 for n in node.inputs), default=0)
        deepest = max((level[node.key] for node in self.model.results), default=1) or 1
        read = [card.width for key, card in self.cards.items() if not level[key]]
        room = self.sheet.line - max(read, default=0) - APART * deepest
        return room / (deepest - 1 + UNEVEN)

    def _places(self) -> Iterator[tuple[str, str]]:
        for node in self.model.every:
            leaf = node.place.target if isinstance(node.place, StepResult) else node.place
            if isinstance(leaf, Leaf) and node.part in (Part.ARGUMENT, Part.RESULT):
                yield node.key, self._key(leaf)
        for saving in self.whole.savings:
            yield f"SAVED:{saving.argument}", self._key(saving.argument)

    def _key(self, leaf: Leaf) -> str:
        return self.named.leaf_key(leaf, self.step)

    def _add_savings(self) -> None:
        for saving in self.whole.savings:
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

    def scene(self) -> Scene:
        """The whole picture."""
        sheet = self.sheet
        title = f"{self.named.number + 1} · {self.named.called}: step {self.step}"
        title += " as a graph" if self.folds else " as a graph of operations"
        head = heading(title, self._lines(), sheet, self.named.whereabouts)
        written = above(*(() if self.folds else self._formulas()), apart=3)
        graph = above(gap(sheet.line), self._graph(), align=0.5)
        entries = sorted(set(self.entries), key=KEY_ORDER.index)
        said = "; ".join(_shorten(self.spell.at(f, self.step)) for f in self.scan.formulas[:8])
        return finished(
            above(head, written, graph, apart=8),
            {entry.role: entry.words for entry in entries},
            sheet=sheet,
            title=f"Step {self.step} of {self.scan.name} as a graph of operations",
            description=f"What one step computes from what it reads, with all values: {said}.",
            below=8,
            close=True,
            dot=dot_source(self.nodes, self.edges),
        )

    def _formulas(self) -> Iterator[Piece]:
        """What the step writes, as formulas, and the same in numbers."""
        letters = int(self.sheet.line / (FORMULA * MONO_WIDTH))
        told = self.scan.formulas
        for found in told[:MOST_FORMULAS]:
            both = [formula(_shorten(self.spell.at(found, self.step)), False, 3, letters)]
            if values := self.spell.numbers(found, self.step):
                both.append(formula(_shorten(values), True, 3, letters))
            keys = self.named.formula_keys(found, self.step)
            yield grouped(above(*both), Group((), mentions=keys))
        if len(told) > MOST_FORMULAS:
            yield words(f"⋯ {counted(len(told) - MOST_FORMULAS, 'more formula')}", 12, muted=True)

    def _graph(self) -> Piece:
        """The cards, and the arrows from card to card, as they are laid out: folded, rightwards."""
        nodes = [_turned(n) for n in self.nodes] if self.folds else self.nodes
        layout = lay_out(nodes, self.edges)
        corners = {k: (y, x) if self.folds else (x, y) for k, (x, y) in layout.corners.items()}
        ghosts = {key for key, card in self.cards.items() if card.role is SAVED.role}
        ordered = {node.key for node in self.nodes if node.ordered}
        boxes = {key: card.box(*corners[key]) for key, card in self.cards.items()}
        shapes: list[Shape] = []
        shapes += arrows(layout, self.edges, boxes, ghosts, ordered, self.folds)
        for number, node in enumerate(self.nodes):
            place = self._way_in(node.key) or self.places.get(node.key)
            place = place or f"{self.named.number}:node {number}"
            shapes += self.cards[node.key].shapes(*corners[node.key], place)
        across = layout.width, layout.height
        return sized(*(reversed(across) if self.folds else across), *shapes)

    def _way_in(self, key: str) -> str:
        """The key of what is opened by a click on a node: a Scan inside of the step."""
        node = next((node for node in self.model.every if node.key == key), None)
        if node is None or not self.scan.nested or node.part not in (Part.OPERATION, Part.SHARED):
            return ""
        if isinstance(node.place, int):
            name = self.scan.inside[node.place].operation
        else:
            name = next((call.name for call in calls_of(node.term)), "")
        called = readable(name.partition("[")[0])
        is_scan = any(called == inner.name for inner in self.scan.nested[self.step].scans)
        return f"inside:{self.named.number + 1},{self.step}" if is_scan else ""

    def _lines(self) -> list[str]:
        scan, model = self.scan, self.whole
        which = (
            f"step {self.step} of Scan {self.named.number + 1} (0 to {scan.steps - 1}){self.why}"
        )
        lines = [f"forward · {which}"]
        if self.named.parent is not None and model.parent is not None:
            parent = f"{self.named.parent.number + 1} · {self.named.parent.called}"
            lines = [f"order {scan.order}, the gradient of {parent} · {which}"]
        if any(SLOT in card.label for card in self.cards.values()):
            lines[0] += " · ▢ stands for an input, in the order in which the arrows come in"
        if self.folds:
            draws = f"draws {_operations(model.operations)}"
            lines[0] += self.sheet.hint(f"all=True {draws}", " · ")
        for saving in model.savings:
            lines.append(
                f"reused: {self.spell.position(saving.argument, self.step)} was recorded as a "
                f"result, which saves {_count(saving)}: {_shorten(self._saved_formula(saving))}"
            )
        if model.repeated:
            names = self._names(sorted(model.repeated))
            told = f"computed again: {names} of the forward step, whose values are in none of its "
            lines.append(f"{told}results{f'; {SLOT} is an input' if SLOT in names else ''}")
        used = {c.name for f in scan.formulas for c in calls_of(f.expression)}
        used |= {card.label.partition("(")[0] for card in self.cards.values()}
        lines += [f"{name}: {words}" for name, words in GLOSSARY.items() if name in used]
        met = zip(self.named.trace.untaken, untaken_words(self.named.trace), strict=True)
        lines += [words for one, words in met if self.named.number in (one.scan, one.forward)]
        if isinstance(self.model, StepQuantities) and self.model.unchanged:
            slots = listing(self.spell.position(one, self.step) for one in self.model.unchanged)
            lines.append(f"written back as read, not drawn: {slots}")
        left_out = self._left_out()
        if left_out:
            lines.append(f"not drawn: {listing(left_out)}")
        return lines

    def _left_out(self) -> list[str]:
        model = self.model
        reasons = dict[str, int]()
        if not isinstance(model, StepQuantities):
            hidden = model.operations - len(model.shown)
            far = f"{hidden} operations further from the results ({len(model.shown)} are)"
            shapes = f"{_operations(model.reshaping)} that only change a shape or type"
            constants = f"{_operations(model.constant)} on constants alone"
            reasons = {far: hidden, shapes: model.reshaping, constants: model.constant}
        reasons["the colours of arrays"] = self.colourless
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

    def _card(self, node: StepNode) -> Card:
        entry, label, caption = self.looks.of(node)
        self.entries.append(entry)
        value = self.values[node.key]
        if node.term is not None:
            return self._formula_card(node, entry, label.removeprefix("→ "), caption)
        below, tip, wide = (
            node.part is Part.RESULT,
            "",
            READ if self.folds else WIDE,
        )
        wide = min(wide, IN_A_COLUMN) if self.sheet.on_paper else wide
        if isinstance(node.place, int):
            made = self.scan.inside[node.place]
            tip = operation_label(made.operation, list(made.inputs))
        parts = [self.values[before.key] for before in node.inputs]
        digits = _digits(value, parts) if {"+", "−"} & {*node.label.split()} else DIGITS
        look = tip, self.strips, wide, digits
        return Card(entry.role, label, value, caption, below, *look, within=self.folds)

    def _formula_card(self, node: StepNode, entry: Entry, label: str, caption: str) -> Card:
        """What is written, or shared: its formula, and the same in numbers."""
        model, value, step, numbers = self.model, self.values[node.key], self.step, ""
        assert isinstance(model, StepQuantities)
        assert node.term is not None
        assert not isinstance(node.place, int)
        known = {leaf: model.value(leaf, step) for leaf in leaves_of(node.term)}
        used = {leaf: one for leaf, one in known.items() if one is not None and not one.ndim}
        if value is not None and not value.ndim and len(used) == len(known):
            numbers = equation(value, node.term, used)
        parts = [array_of(term, used.get) for term in summands_of(node.term)]
        digits = _digits(value, parts) if len(parts) > 1 else DIGITS

        def name(leaf: Leaf) -> str:
            return leaf.variable if leaf in model.terms else self.spell.position(leaf, step)

        sign = ":="
        if isinstance(node.place, StepResult) and node.place.target is not None:
            sign = self.spell.sign(Formula(node.place.target, node.term))
        told = f"{label} {sign} {render(node.term, name)}"
        wide = min(self.unit * (1 if node.part is Part.SHARED else UNEVEN), WIDEST)
        letters = int((wide - 14) / (VALUE * MONO_WIDTH))
        is_short = max(map(len, numbers.split()), default=0) <= letters - DEEP
        lines = formula_lines(numbers, letters, self.lines, DEEP) if numbers and is_short else []
        if digits < DIGITS or (lines and lines[-1].endswith("…")):  # nobody would add that up
            lines = []
        caption = caption if caption != label else ""
        told_in = tuple(formula_lines(told, letters, self.lines, DEEP))
        look = told, self.strips, max(wide, READ), digits, told_in, tuple(lines), True
        return Card(entry.role, label, value, caption, False, *look)


def _digits(value: np.ndarray | None, parts: Iterable[np.ndarray | None]) -> int:
    """How many of four digits of a sum are left where its parts cancel."""
    if value is None or value.ndim or not value:
        return DIGITS
    sizes = [float(np.abs(part)) for part in parts if part is not None and not part.ndim]
    lost = max(sizes, default=0.0) / abs(float(value)) * np.finfo("float64").eps
    return min(DIGITS, max(1, int(-np.log10(lost)))) if 0 < lost < np.inf else DIGITS


def _turned(node: Node) -> Node:
    """A box that is as wide as it was high, since Graphviz goes downwards."""
    return replace(node, width=node.height, height=node.width)


def _shorten(formula: str) -> str:
    """A formula without its end, if nobody would read it to its end."""
    return formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…"


def _operations(count: int) -> str:
    return "1 operation" if count == 1 else f"{count} operations"


def _count(saving: Saving) -> str:
    return _operations(len(saving.operations))
