"""Choose the role, the name, and the caption of each node of a step graph."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.equations.spelling import Speller
from lab.gradients.decisions import ReadingGroup
from lab.notation import Leaf
from lab.tape import Kind
from lab.traces.trace import SequenceTrace, StepResult, TapeTrace
from visual.layout.names import NamedScan
from visual.pictures.stepgraph.nodes import StepNode
from visual.scene.theme import Role

LEGEND: Mapping[Role, str] = {
    **{role: role.value for role in Role if role is not Role.PANEL},
    Role.AGAIN: "forward operation, computed a second time",
    Role.RESULT: "output of the step",
}
Look = tuple[Role, str, str]


@dataclass(frozen=True)
class Looks:
    """The looks of the nodes of a step."""

    named: NamedScan
    step: int

    def look(self, node: StepNode) -> Look:
        """Return the role of a node, its name, and its caption."""
        place, scan = node.place, self.named.scan
        if isinstance(place, Leaf) and node.term is None:
            return self._argument(place)
        if not isinstance(place, StepResult):
            again = isinstance(place, int) and scan.inside[place].repeats is not None
            return Role.AGAIN if again else Role.INTERMEDIATE, node.label, ""
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
