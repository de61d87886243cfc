"""The boxes of a step graph: the role, the name, and the caption of each node, and its drawing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.spelling import Speller
from lab.gradients.decisions import ReadingGroup
from lab.notation import Leaf, number_text
from lab.tape import Kind
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.cells import full_text, lists_entries, quantity, value_text, values_text
from visual.layout.legend import EVERY_ROLE
from visual.layout.names import NamedScan
from visual.pictures.stepgraph.nodes import StepNode
from visual.scene.shapes import Box, Group, Shape, fitted, text_width
from visual.scene.theme import Role

LABEL, VALUE, CAPTION = 12.5, 12, 11  # font sizes
LINE, ABOVE, INDENT = 17, 15, 7
MIN_WIDTH = 58
ENTRY = "-0.01234, "  # a typical entry of a vector
LEGEND: Mapping[Role, str] = {
    **EVERY_ROLE,
    Role.RESULT: "output of the step",
}
Look = tuple[Role, str, str]


@dataclass(frozen=True)
class Card:
    """A box with a caption, a name, and a value, at most `widest` pixels wide.

    A `formula` replaces the name, and `numbers`, if any, replace the value; both consist of lines.
    `full` is the formula without line breaks, for a tooltip.
    """

    role: Role
    label: str
    value: np.ndarray | None
    caption: str
    widest: float
    formula: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    full: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The formula or the name, then the numbers or the value."""
        value = value_line(self.value, self.widest - 14)
        return *(self.formula or (self.label,)), *(self.numbers or filter(None, (value,)))

    @property
    def width(self) -> float:
        """The width in pixels."""
        name = 0.0 if self.formula else text_width(self.label, LABEL, bold=True) + 16
        mono = self.lines[not self.formula :]
        widths = (text_width(line, VALUE, mono=True) + 14 for line in mono)
        caption = text_width(self.caption, CAPTION) + 10
        return min(max(MIN_WIDTH, name, caption, *widths), self.widest)

    @property
    def height(self) -> float:
        """The height in pixels."""
        return 9 + LINE * len(self.lines) + ABOVE * bool(self.caption)

    def draw(self, box: Box, key: str) -> Group:
        """Draw the card in a box that has its size; `key` identifies the quantity."""
        title = f"{self.label} = {full_text(self.value)}" if self.value is not None else self.label
        shapes, known = (box, *self._texts(box)), quantity(self.label)
        return Group(shapes, cell=key, title=title, quantity=known, value=self.value)

    def _texts(self, box: Box) -> Iterator[Shape]:
        middle, y = box.x + box.width / 2, box.y
        room, look = box.width - 6, {"anchor": "middle", "role": self.role}
        if self.caption:
            yield fitted(middle, y + 15, self.caption, room, CAPTION, **look)  # type: ignore[arg-type]
            y += ABOVE
        for number, line in enumerate(self.lines, start=1):
            bold, x = number <= max(1, len(self.formula)), middle
            size = VALUE if self.formula or not bold else LABEL
            mono = bool(self.formula) or not bold
            text = fitted(middle, y + LINE * number, line, room, size, mono=mono, bold=bold, **look)  # type: ignore[arg-type]
            if self.formula:
                x = box.x + INDENT + text_width(line, VALUE, mono=True)
                x -= text_width(line.lstrip(), VALUE, mono=True)
                title = self.full if line.endswith("…") else ""
                text = replace(text, x=x, content=line.lstrip(), anchor="start", title=title)
            yield text


def value_line(value: np.ndarray | None, room: float) -> str:
    """Return a value as a line: a number, the entries of a short vector, or norm and shape."""
    if value is None or value.ndim == 0:
        return "" if value is None else number_text(value)
    if lists_entries(value) and text_width(ENTRY * len(value), VALUE, mono=True) <= room:
        return values_text(value)
    return f"{value_text(value)} {'×'.join(map(str, value.shape))}"


@dataclass(frozen=True)
class Looks:
    """The looks of the nodes of a step."""

    named: NamedScan
    step: int

    def look(self, node: StepNode) -> Look:
        """Return the role of a node, its name, and its caption."""
        place = node.place
        if isinstance(place, Leaf) and node.term is None:
            return self._argument(place)
        if isinstance(place, Leaf):
            return Role.INTERMEDIATE, place.variable, ""
        if place.target is None:
            return Role.RESULT, "until", "the loop stops if this is true"
        role = Role.OVERWRITTEN if self._is_overwritten(place.target) else Role.RESULT
        return role, self._name(place.target), self._quantity(place.target, False)

    def _argument(self, leaf: Leaf) -> Look:
        scan, name = self.named.scan, self._name(leaf)
        variable, is_forward = scan.variable(leaf), scan.parent is None
        if isinstance(variable, SequenceTrace):
            if variable.group is ReadingGroup.RESULT:
                return Role.REUSED, name, "forward result"
            return (Role.INPUT, name, "sequence") if is_forward else (Role.READ, name, "")
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            untraced = "untraced state" if leaf.variable in scan.untraced else ""
            return Role.INPUT, name, untraced if variable is None else "parameter"
        if is_forward and variable.kind is not Kind.MIT_MOT:
            if variable.tape.row(self.step, leaf.tap) < variable.tape.origin:
                return Role.INPUT, name, "initial value"
            return Role.INTERMEDIATE, name, ""
        role = Role.OVERWRITTEN if self._is_overwritten(leaf) else Role.PRESERVED
        return role, name, self._quantity(leaf, True)

    def _name(self, leaf: Leaf) -> str:
        return Speller(self.named).position(leaf, self.step)

    def _quantity(self, leaf: Leaf, reads: bool) -> str:
        """Return the gradient that a slot of a tape accumulates."""
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
        """Return whether the step replaces the value of a slot.

        A running total counts as one slot, as in the picture of the tapes, although its Scan stores
        the totals of all steps until PyTensor compiles it.
        """
        tape = self.named.scan.variable(leaf)
        return isinstance(tape, TapeTrace) and (tape.is_total or leaf.tap in tape.tape.overwritten)
