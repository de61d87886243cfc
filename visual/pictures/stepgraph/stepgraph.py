"""The step graph: the values that a step of a Scan reads, computes, and writes.

Arguments are on the left, and results are on the right. Between them are the values that the step
uses more than once. Formulas contain all other operations. The heading lists the forward results
that the step reuses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import shorten

import numpy as np

from lab.equations.events.events import events
from lab.equations.numbers import equation
from lab.gradients.decisions import ReadingGroup
from lab.notation import Expression, Leaf, leaves_of, render
from lab.reports.runs.first import nan_notes
from lab.traces.faults import values_of
from lab.traces.trace import Formula, ScanTrace, SequenceTrace, StepResult, TapeTrace, Trace
from visual.layout.canvas import EVERY_ROLE, FormulaLine, formula_lines, heading, scene_with_legend
from visual.layout.cells import full_text, value_text, values_text
from visual.layout.graphviz import draw_graph
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.options import check_step, selected_scan
from visual.pictures.stepgraph.nodes import StepNode, StepNodes
from visual.pictures.tapes.slots import ROLES
from visual.scene.combinators import Piece, above, gap, over, piece, shifted
from visual.scene.fonts import MONO_WIDTH, text_width
from visual.scene.shapes import Box, Group, Scene, Text, TextLook, fitted, picture_function
from visual.scene.theme import Role

VALUE, CAPTION = 12, 11  # font sizes
LINE, INDENT = 17, 8  # the height and the left margin of a line
MIN_WIDTH = 58
ARGUMENT, ON_PAPER = 236.0, 96.0  # the maximum width of an argument, on screen and on paper
FORMULA, LINES = 0.5, 4  # maximum fraction of the sheet for a formula; maximum number of lines
HANGING = 2  # the indent of the second and later lines of a formula, in letters
LEGEND: Mapping[Role, str] = {**EVERY_ROLE, Role.RESULT: "output of the step"}
LONGEST = 300  # the maximum number of characters of a formula in the heading


@picture_function
def stepgraph(
    trace: Trace, scan: int | None = None, step: int | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Draw the values that a step reads, computes, and writes.

    `scan` is the number of a Scan, counted from 1, as the headings show it (default: the Scan that
    computes the result). `step` is the number of a step, counted from 0 (default: the first step
    that combines two nonzero slots, or 0). Raises ArgumentError for an unknown Scan or step, and
    LabError if pygraphviz is not installed.
    """
    number = selected_scan(trace, scan)
    first = first_sum(trace.scans[number])
    why = f"; step {first} combines two nonzero slots" if step is None and first else ""
    step = check_step(trace.scans[number], first if step is None else step)
    named = NamedScan(trace, number)
    name = named.numbered_name
    for shared in (True, False):
        cards = StepCards(named, step, sheet, shared)
        boxes = {str(node.place): cards.draw(node, n) for n, node in enumerate(cards.nodes)}
        pairs = ((before, node) for node in cards.nodes for before in node.inputs)
        edges = [(str(before.place), str(node.place), 1) for before, node in pairs]
        ranks = {str(node.place): "results" for node in cards.results}  # a single column
        part, dot = draw_graph(boxes, edges, ranks, rightwards=True)
        if part.envelope.width <= sheet.line:
            break
    head = heading(f"{name}: step {step} as a graph", _lines(named, why), sheet, name)
    area = part.envelope
    centered = shifted(part, (sheet.line - area.width) / 2 - area.left, -area.top)
    return scene_with_legend(
        above(head, over(gap(sheet.line), centered), apart=8),
        LEGEND,
        sheet=sheet,
        title=f"Step {step} of {named.scan.name} as a graph of operations",
        description="The values that a step reads, computes, and writes.",
        dot=dot,
    )


def first_sum(scan: ScanTrace) -> int:
    """Return the first step with a formula that reads two nonzero slots, or 0 for no such step."""
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
            reused = parent.equation(formulas[sequence.source])
            yield shorten(f"reused, not recomputed: {reused}", LONGEST, placeholder=" …")
    yield from nan_notes(named.trace)


class StepCards(StepNodes):
    """The nodes of a step with their boxes, drawn by `draw`."""

    def __init__(self, named: NamedScan, step: int, sheet: Sheet, shared: bool) -> None:
        super().__init__(named, shared)
        self.named, self.step, self.sheet = named, step, sheet
        self.run = events(named.trace)

    def draw(self, node: StepNode, number: int) -> Piece:
        """Draw an argument with its value, or a formula in symbols and in numbers."""
        role, name, caption = self._look(node)
        value = self.value(node.place, self.step)
        is_result = isinstance(node.place, StepResult)
        key = f"{self.named.number}:node {number}"
        if node.target is not None and (is_result or node.term is None):
            key = self.named.leaf_key(node.target, self.step)  # as in other pictures
        width = ON_PAPER if self.sheet.on_paper else ARGUMENT
        bold, numbers = [(name, 0, "")], list[FormulaLine]()
        if node.term is not None:
            width = max(ARGUMENT, self.sheet.line * FORMULA * is_result)
            letters = int((width - 2 * INDENT) / (VALUE * MONO_WIDTH))
            formula, written = self._formula(node, node.term, name)
            bold = formula_lines(formula, letters, LINES, HANGING)
            numbers = formula_lines(written, letters, LINES, HANGING) if written else []
            caption = "" if caption == name else caption
        texts, room = list[Text](), width - 2 * INDENT
        is_listed = (  # whether the entries of the value fit into a line
            value is not None
            and (value.ndim == 1 and 0 < len(value) <= 4)
            and text_width(values_text(value), VALUE, mono=True) <= room
        )
        if value is not None and (not numbers or numbers[-1][2]):
            short = f"{value_text(value)} {'×'.join(map(str, value.shape))}".rstrip()
            numbers = [(values_text(value) if is_listed else short, 0, "")]
        title = name if value is None else f"{name} = {full_text(value)}"
        content = None if is_listed else value
        if caption:
            texts.append(fitted(INDENT, 15, caption, room, CAPTION, role=role))
        for n, (words, letters, whole) in enumerate([*bold, *numbers]):
            y, indent = 16 + LINE * len(texts), letters * VALUE * MONO_WIDTH
            look = TextLook(mono=True, bold=n < len(bold))
            text = fitted(INDENT + indent, y, words, room - indent, VALUE, role=role, **look)
            texts.append(replace(text, title=whole or text.title))
        right = max(text.x + text.width for text in texts) + INDENT
        box = Box(0, 0, max(MIN_WIDTH, right), 8 + LINE * len(texts), role)
        quantity = (node.target and self.named.quantity(node.target.variable)) or name
        group = Group((box, *texts), cell=key, title=title, quantity=quantity, value=content)
        return piece(replace(group, label=name))

    def _formula(self, node: StepNode, term: Expression, label: str) -> tuple[str, str]:
        """Return a formula in symbols and, if all its values are numbers, in numbers."""
        leaves, sign = {leaf: self.value(leaf, self.step) for leaf in leaves_of(term)}, ":="
        scalars = {leaf: v for leaf, v in leaves.items() if v is not None and not v.ndim}

        def name(leaf: Leaf) -> str:
            return leaf.variable if leaf in self.terms else self._name(leaf)

        if isinstance(node.place, StepResult) and node.place.target is not None:
            sign = self.named.sign(Formula(node.place.target, term))
        value, written = self.value(node.place, self.step), ""
        if value is not None and not value.ndim and len(scalars) == len(leaves):
            written = equation(value, term, scalars)
        return f"{label} {sign} {render(term, name)}", written

    def _look(self, node: StepNode) -> tuple[Role, str, str]:
        """Return the role, the name, and the caption of a node."""
        place, scan = node.place, self.named.scan
        if isinstance(place, StepResult):
            if place.target is None:
                return Role.RESULT, "until", "the loop stops if this is true"
            role = self._role(place.target)
            role = role if role is Role.OVERWRITTEN else Role.RESULT
            return role, self._name(place.target), self._quantity(place.target, False)
        if node.term is not None:
            return Role.INTERMEDIATE, place.variable, ""
        name, variable, is_forward = self._name(place), scan.variable(place), scan.parent is None
        if isinstance(variable, SequenceTrace):
            if variable.group is ReadingGroup.RESULT:
                return Role.REUSED, name, "forward result"
            return (Role.INPUT, name, "sequence") if is_forward else (Role.READ, name, "")
        if not isinstance(variable, TapeTrace) or place.tap is None:
            untraced = "untraced state" if place.variable in scan.untraced else ""
            return Role.INPUT, name, untraced if variable is None else "parameter"
        is_initial = is_forward and variable.tape.row(self.step, place.tap) < variable.tape.origin
        return self._role(place), name, "initial value" * is_initial or self._quantity(place, True)

    def _name(self, leaf: Leaf) -> str:
        return self.named.leaf_at(leaf, self.step)

    def _quantity(self, leaf: Leaf, reads: bool) -> str:
        """Return the name of the gradient in a slot: before the step if `reads`, else after it.

        Return "" for a leaf that contains no gradient.
        """
        tape = self.named.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.gradient_of is None:
            return ""
        if tape.is_total:
            part = " (a part)" if self.named.part_number(tape) else ""
            whole = self.named.whole_label(tape, None)
            return f"{'old' if reads else 'new'} total of {whole}{part}"
        label = self.named.tape_label(tape, tape.tape.row(self.step, leaf.tap))
        return f"{label} so far" if reads and self._role(leaf) is Role.OVERWRITTEN else label

    def _role(self, leaf: Leaf) -> Role:
        """Return the role of the slot that the step reads or writes at the tap of a leaf."""
        number = self.named.number
        return ROLES[self.run.tap_role(number, self.step, leaf.argument, leaf.tap or 0)]
