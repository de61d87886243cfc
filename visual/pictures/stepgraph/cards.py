"""The boxes of a step graph: their roles, names, captions, and lines of text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.spelling import Speller
from lab.gradients.decisions import ReadingGroup
from lab.notation import Leaf, number_text
from lab.tape import Kind
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.cells import lists_entries, value_text, values_text
from visual.layout.legend import EVERY_ROLE
from visual.layout.names import NamedScan
from visual.pictures.stepgraph.nodes import StepNode
from visual.scene.combinators import Piece, piece
from visual.scene.fonts import MONO_WIDTH, text_width
from visual.scene.shapes import Box, Group, Text, fitted
from visual.scene.theme import Role

VALUE, CAPTION = 12, 11  # font sizes
LINE, INDENT = 17, 8  # the height and the left margin of a line
MIN_WIDTH = 58
LEGEND: Mapping[Role, str] = {**EVERY_ROLE, Role.RESULT: "output of the step"}


@dataclass(frozen=True)
class NodeLook:
    """The role of a node, its name, and its caption."""

    role: Role
    name: str
    caption: str = ""


def draw_card(
    look: NodeLook,
    bold: Sequence[str],
    numbers: Sequence[str],
    width: float,
    formula: str,
    group: Group,
) -> Piece:
    """Draw a box at most `width` wide: a caption, bold lines, and lines of numbers.

    The shapes become the content of a copy of `group`. A shortened line has the tooltip `formula`.
    """
    texts, room = list[Text](), width - 2 * INDENT
    if look.caption:
        texts.append(fitted(INDENT, 15, look.caption, room, CAPTION, role=look.role))
    for number, line in enumerate((*bold, *numbers)):
        x = INDENT + (len(line) - len(line.lstrip())) * VALUE * MONO_WIDTH
        style = {"mono": True, "bold": number < len(bold), "role": look.role}
        y = 16 + LINE * len(texts)
        text = fitted(x, y, line.lstrip(), width - INDENT - x, VALUE, **style)  # type: ignore[arg-type]
        texts.append(replace(text, title=formula) if line.endswith("…") else text)
    right = max(text.x + text.width for text in texts) + INDENT
    box = Box(0, 0, max(MIN_WIDTH, right), 8 + LINE * len(texts), look.role)
    return piece(replace(group, shapes=(box, *texts)))


def value_line(value: np.ndarray | None, room: float) -> str:
    """Return a value as text: a number, the entries of a short vector, or norm and shape."""
    if value is None or value.ndim == 0:
        return "" if value is None else number_text(value)
    line = values_text(value)
    if lists_entries(value) and text_width(line, VALUE, mono=True) <= room:
        return line
    return f"{value_text(value)} {'×'.join(map(str, value.shape))}"


@dataclass(frozen=True)
class NodeLooks:
    """The looks of the nodes of a step."""

    named: NamedScan
    step: int

    def look(self, node: StepNode) -> NodeLook:
        """Return the look of a node."""
        place = node.place
        if isinstance(place, Leaf) and node.term is None:
            return self._argument(place)
        if isinstance(place, Leaf):
            return NodeLook(Role.INTERMEDIATE, place.variable)
        if place.target is None:
            return NodeLook(Role.RESULT, "until", "the loop stops if this is true")
        role = Role.OVERWRITTEN if self._is_overwritten(place.target) else Role.RESULT
        return NodeLook(role, self._name(place.target), self._quantity(place.target, False))

    def _argument(self, leaf: Leaf) -> NodeLook:
        scan, name = self.named.scan, self._name(leaf)
        variable, is_forward = scan.variable(leaf), scan.parent is None
        if isinstance(variable, SequenceTrace):
            if variable.group is ReadingGroup.RESULT:
                return NodeLook(Role.REUSED, name, "forward result")
            if is_forward:
                return NodeLook(Role.INPUT, name, "sequence")
            return NodeLook(Role.READ, name)
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            untraced = "untraced state" if leaf.variable in scan.untraced else ""
            return NodeLook(Role.INPUT, name, untraced if variable is None else "parameter")
        if is_forward and variable.kind is not Kind.MIT_MOT:
            if variable.tape.row(self.step, leaf.tap) < variable.tape.origin:
                return NodeLook(Role.INPUT, name, "initial value")
            return NodeLook(Role.INTERMEDIATE, name)
        role = Role.OVERWRITTEN if self._is_overwritten(leaf) else Role.PRESERVED
        return NodeLook(role, name, self._quantity(leaf, True))

    def _name(self, leaf: Leaf) -> str:
        return Speller(self.named).position(leaf, self.step)

    def _quantity(self, leaf: Leaf, reads: bool) -> str:
        """Name the gradient in a slot before the step, if `reads`, or after it.

        Return "" for a leaf that contains no gradient.
        """
        tape = self.named.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.gradient_of is None:
            return ""
        if tape.is_total:
            part = " (a part)" if self.named.share(tape) else ""
            whole = self.named.whole_label(tape, None)
            return f"{'old' if reads else 'new'} total of {whole}{part}"
        label = self.named.tape_label(tape, tape.tape.row(self.step, leaf.tap))
        return f"{label} so far" if reads and self._is_overwritten(leaf) else label

    def _is_overwritten(self, leaf: Leaf) -> bool:
        """Return whether the step replaces the value in a slot.

        A running total counts as a single slot, as in the picture tapes, although the Scan stores
        the totals of all steps until PyTensor compiles the Scan.
        """
        tape = self.named.scan.variable(leaf)
        return isinstance(tape, TapeTrace) and (tape.is_total or leaf.tap in tape.tape.overwritten)
