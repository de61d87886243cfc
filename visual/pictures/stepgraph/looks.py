"""What the nodes of a step graph are called, and which role each of them has."""

from lab.equations.spelling import Speller
from lab.notation import Leaf
from lab.tape import Kind
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.names import NamedScan
from visual.pictures.stepgraph.cards import Entry
from visual.pictures.stepgraph.nodes import Part, StepNode, StepNodes
from visual.scene.theme import Role

INITIAL = Entry(Role.INPUT, "")
STATE = Entry(Role.INTERMEDIATE, "")
READ = Entry(Role.READ, "")
REUSED = Entry(Role.REUSED, "")
SAVED = Entry(Role.UNNEEDED, "saved because a forward result is reused")
PRESERVED = Entry(Role.PRESERVED, "")
OVERWRITTEN = Entry(Role.OVERWRITTEN, "")
AGAIN = Entry(Role.AGAIN, "forward operation, computed a second time")
HIDDEN = Entry(Role.PANEL, "more operations, not drawn")
WRITTEN = Entry(Role.RESULT, "of the step")
KEY_ORDER = [
    INITIAL, READ, REUSED, SAVED, PRESERVED, OVERWRITTEN, STATE, AGAIN, HIDDEN, WRITTEN,
]  # fmt: skip


class Looks:
    """The looks of the nodes of one step of a Scan."""

    def __init__(self, named: NamedScan, step: int, spell: Speller, model: StepNodes) -> None:
        self.named, self.scan, self.step = named, named.scan, step
        self.spell = spell
        self.reused = {saving.argument.argument for saving in model.savings}

    def of(self, node: StepNode) -> tuple[Entry, str, str]:
        """The role of a node, its name, and its caption."""
        place = node.place
        if node.part in (Part.SHARED, Part.HIDDEN):
            entry = STATE if node.part is Part.SHARED else HIDDEN
            return entry, node.label, ""
        if isinstance(place, int):
            again = self.scan.inside[place].repeats is not None
            return AGAIN if again else STATE, node.label, ""
        if isinstance(place, Leaf):
            return self._argument(place)
        if place.target is None:
            return WRITTEN, "until", "the loop stops if this is true"
        tape = self.scan.variable(place.target)
        label = f"→ {self.spell.position(place.target, self.step)}"
        entry = OVERWRITTEN if _is_overwritten(tape, place.target) else WRITTEN
        return entry, label, self._quantity(place.target, False)

    def _argument(self, leaf: Leaf) -> tuple[Entry, str, str]:
        variable, label = self.scan.variable(leaf), self.spell.position(leaf, self.step)
        forward = self.scan.parent is None
        if isinstance(variable, SequenceTrace):
            if leaf.argument in self.reused:
                return REUSED, label, "forward result"
            return (INITIAL, label, "sequence") if forward else (READ, label, "")
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            untraced = "untraced state" if leaf.variable in self.scan.untraced else ""
            return INITIAL, label, "parameter" if variable is not None else untraced
        caption = self._quantity(leaf, True)
        if forward and variable.kind is not Kind.MIT_MOT:
            initial = variable.tape.row(self.step, leaf.tap) < variable.tape.origin
            return INITIAL if initial else STATE, label, "initial value" if initial else ""
        return (OVERWRITTEN if _is_overwritten(variable, leaf) else PRESERVED), label, caption

    def _quantity(self, leaf: Leaf, reads: bool) -> str:
        """Of what a slot of a tape holds the gradient."""
        tape = self.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.gradient_of is None:
            return ""
        if tape.is_total:
            is_part = "a part " if self.named.share(tape) else ""
            whole = self.named.whole_label(tape, None)
            return f"{'total so far' if reads else 'new total'}, {is_part}of {whole}"
        label = self.named.tape_label(tape, tape.tape.row(self.step, leaf.tap))
        return f"{label} so far" if reads and _is_overwritten(tape, leaf) else label


def _is_overwritten(tape: object, leaf: Leaf) -> bool:
    """Whether a step replaces what stands there.

    A running total is drawn as one slot, as in the picture of the tapes, although its Scan keeps
    the totals of all steps until it is compiled.
    """
    return isinstance(tape, TapeTrace) and (tape.is_total or leaf.tap in tape.tape.overwritten)
