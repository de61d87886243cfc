"""A derivation as plain data: eleven phases with their decisions, and all gradients.

You can draw, compare, and pickle the record.
"""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from lab.notation import Leaf
from lab.tape import Kind, Tape


class Verdict(StrEnum):
    """The kind of a decision in a phase."""

    NOTED = "noted"  # a fact that needs no decision
    ABSENT = "absent"
    READ = "read"
    REUSED = "reused"
    ACCUMULATED = "accumulated"
    OVERWRITTEN = "nothing added"
    CLEARED = "cleared"
    SUMMED = "summed"
    PER_STEP = "one per step"
    CONNECTED = "connected"
    ZERO = "zero"
    DISCONNECTED = "disconnected"
    UNDEFINED = "undefined"
    UNTRACED = "untraced"


@dataclass(frozen=True)
class Item:
    """A decision of a phase: its subject, the decision, and the resulting expression.

    In an expression, texts and names of values alternate; the first part is a text.
    """

    subject: str
    decision: str
    expression: tuple[str, ...] = ()
    verdict: Verdict = Verdict.NOTED
    leaf: Leaf | None = None  # the slot of the decision
    access: str = ""  # preserved or overwritten by a forward step
    tape: Tape | None = None  # the tape of a gradient

    @property
    def text(self) -> str:
        """The expression as text."""
        return "".join(self.expression)


@dataclass(frozen=True)
class Outcome:
    """The gradient of an outer input: its verdict, the reason, and its expression."""

    variable: str
    kind: Kind
    verdict: Verdict
    _: KW_ONLY
    reason: str
    gradient: str = ""
    holder: str = ""  # the variable of the backward Scan that contains the gradient


@dataclass(frozen=True)
class Phase:
    """One of the eleven phases, with its name in PyTensor's documentation."""

    number: int
    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class DerivationRecord:
    """A derivation as plain data: the Scan, its derivative, the eleven phases, and the outcomes.

    `outcomes` has an entry for every outer input of the forward Scan after the number of steps, in
    the order of the inputs.
    """

    forward: str
    backward: str
    order: int
    _: KW_ONLY
    phases: tuple[Phase, ...]
    outcomes: tuple[Outcome, ...]

    def __str__(self) -> str:
        lines = [f"{self.backward}: the derivative of {self.forward}, order {self.order}"]
        for phase in self.phases:
            lines.append(f"{phase.number}. {phase.name}")
            for item in phase.items:
                text = f"   {item.subject}: {item.decision}"
                lines.append(f"{text}: {item.text}" if item.text else text)
        return "\n".join(lines)
