"""A `Derivation`: one reverse derivative of one Scan, with its graph and its record."""

from dataclasses import dataclass

from pytensor.graph.basic import Apply

from lab import records
from lab.gradients.decisions import Decisions
from lab.gradients.outcomes import outcomes
from lab.gradients.phases import record
from lab.gradients.record import DerivationRecord, Outcome
from lab.records import cached_property
from lab.scans.node import labels_of


@dataclass(frozen=True, eq=False)
class Derivation(Decisions):
    """The decisions of the eleven phases, and the same as plain data."""

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of the gradient of every outer input but the number of steps, and why."""
        return outcomes(self)

    @cached_property
    def record(self) -> DerivationRecord:
        """The eleven phases as plain data."""
        return record(self, self.outcomes)

    def to_json(self) -> object:
        """`record` as plain dicts, lists, strings and numbers; `lab.records.from_json` reads it."""
        return records.to_json(self.record)

    def __str__(self) -> str:
        return str(self.record)


def derivation_of(node: Apply) -> Derivation | None:
    """The derivation that built a Scan; None for a Scan that is no derivative."""
    derivation = labels_of(node.op).derivation
    return derivation if isinstance(derivation, Derivation) else None
