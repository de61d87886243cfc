"""Where a Scan and its variables stand: in PyTensor's print, in a person's code, in the pullback.

>>> ids = printed_ids([cost])        # those that pytensor.dprint(cost) prints
>>> stands(node, ids, "pytensor.dprint(cost)").told
"""

from dataclasses import dataclass

from pytensor.graph.basic import Apply

from lab.errors import listing
from lab.gradients.derivation import derivation_of
from lab.gradients.phases import NAMES
from lab.scans.node import LoopVariable, outer_inputs, read_scan
from lab.scans.printed import Ids, line_of


@dataclass(frozen=True)
class Place:
    """A variable of a Scan: by which ids its array and its arguments are printed, and its makers.

    `line` is the code that made the array, and `phase` the number of the pullback's phase that
    decided on the variable, 0 for none.
    """

    name: str
    outer: str
    inner: tuple[str, ...]
    line: str = ""
    phase: int = 0

    def __str__(self) -> str:
        inside = f", in the step {listing(self.inner)}" if self.inner else ""
        made = f", of phase {self.phase}: {NAMES[self.phase - 1]}" if self.phase else ""
        line = f", made by {self.line}" if self.line else ""
        return f"· {self.name}: {self.outer}{inside}{line}{made}"


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
        return [f"{self.scan}: {self.id} in {self.printed}{line}.", *map(str, self.places)]


def stands(node: Apply, ids: Ids, printed: str) -> Stand:
    """Where a Scan stands in what is printed."""
    parts = read_scan(node.op, node.inputs, node.outputs)
    arguments = dict(zip(parts.inner_inputs, node.op.fgraph.inputs, strict=True))
    derivation = derivation_of(node)
    phases: dict[LoopVariable, int] = {}
    if derivation is not None:
        decided = {7: derivation.readings, 8: derivation.states, 9: derivation.totals}
        for phase, found in decided.items():
            phases |= dict.fromkeys((one.variable for one in found), phase)
        ordered = outer_inputs(derivation.backward)
        phases = {
            new: phases.get(old, 10) for new, old in zip(outer_inputs(parts), ordered, strict=True)
        }
    places, line = [], line_of(node.outputs[0])
    for part in outer_inputs(parts):
        # an operation has an id, and so has a variable that none has made
        outer = ids.get(part.outer_input.owner) or ids.get(part.outer_input, "")
        inner = tuple(found for v in part.inner_inputs if (found := ids.get(arguments[v])))
        made = line_of(part.outer_input)
        made = "" if made == line else made
        places.append(Place(part.name, outer, inner, made, phases.get(part, 0)))
    return Stand(parts.called, printed, ids.get(node, ""), line, tuple(places))
