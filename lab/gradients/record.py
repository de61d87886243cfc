"""A derivation as plain data: eleven phases, their decisions, and what became of every gradient.

Such a record can be drawn, compared, and stored.
"""

from dataclasses import dataclass
from enum import StrEnum

from lab.tape import Kind


class Verdict(StrEnum):
    """What a phase decided, where it is one of the decisions that make a gradient right."""

    NOTED = "noted"  # a fact that decides nothing
    ABSENT = "absent"
    READ = "read"
    REUSED = "reused"
    ACCUMULATED = "accumulated"
    OVERWRITTEN = "nothing added"
    CLEARED = "cleared"
    SUMMED = "summed up"
    PER_STEP = "one a step"
    CONNECTED = "connected"
    ZERO = "zero"
    DISCONNECTED = "disconnected"
    UNDEFINED = "undefined"
    UNTRACED = "untraced"


@dataclass(frozen=True)
class Item:
    """One decision of a phase: what it is about, what was decided, and the expression built."""

    subject: str
    decision: str
    expression: str = ""
    verdict: Verdict = Verdict.NOTED


@dataclass(frozen=True)
class Outcome:
    """What became of the gradient of one outer input, why, and where it is found.

    `kind` is None for the number of steps, which is no variable of the loop.
    """

    variable: str
    kind: Kind | None
    verdict: Verdict
    reason: str
    gradient: str = ""


@dataclass(frozen=True)
class Phase:
    """One of the eleven phases, by the name that PyTensor's documentation gives it."""

    number: int
    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class DerivationRecord:
    """A derivation as plain data: the Scan, its derivative, the eleven phases, and the outcome.

    `outcomes` has one entry for every outer input of the forward Scan after the number of
    steps, in its order.
    """

    forward: str
    backward: str
    order: int
    phases: tuple[Phase, ...]
    outcomes: tuple[Outcome, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.backward}: the derivative of {self.forward}, order {self.order}"]
        for phase in self.phases:
            lines.append(f"{phase.number}. {phase.name}")
            for item in phase.items:
                text = f"   {item.subject}: {item.decision}"
                lines.append(f"{text}: {item.expression}" if item.expression else text)
        return "\n".join(lines)
