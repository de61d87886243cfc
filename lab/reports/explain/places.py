"""Where a Scan and its variables stand: in PyTensor's print, in a person's code, in the pullback.

>>> ids = printed_ids([cost])        # those that pytensor.dprint(cost) prints
>>> stands(node, ids, "pytensor.dprint(cost)").told
"""

from dataclasses import dataclass

from pytensor.graph.basic import Apply

from lab.gradients.decisions import decisions_of
from lab.gradients.phases import deciding
from lab.scans.node import read_scan
from lab.scans.printed import Ids, Place, line_of, places_of


@dataclass(frozen=True)
class Stand:
    """A Scan: what it is called, its id in what is `printed`, its line, and its variables'."""

    scan: str
    printed: str
    id: str
    line: str
    places: tuple[Place, ...]

    @property
    def told(self) -> list[str]:
        """Where it stands, and where each of its variables does."""
        line = f", made by {self.line}" if self.line else ""
        return [
            f"{self.scan}: {self.id} in {self.printed}{line}.",
            *(f"· {place.name}: {place}" for place in self.places),
        ]


def stands(node: Apply, ids: Ids, printed: str) -> Stand:
    """Where a Scan stands in what is printed."""
    parts, decisions = read_scan(node.op, node.inputs, node.outputs), decisions_of(node.op)
    places = places_of(node, parts, ids, deciding(decisions) if decisions is not None else ())
    line = line_of(node.outputs[0])
    return Stand(parts.called, printed, ids.get(node, ""), line, tuple(places))
