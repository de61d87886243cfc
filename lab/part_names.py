"""What the variables of a derivation are called where two would be called alike.

A derivative reads one variable at several taps through as many sequences, and has a gradient
for each: x[-2] and x[-1], d2x[-2] and d2x[-1], by the taps at which the loop itself reads.
What a loop reads of one sequence is told apart by what step 0 reads: u[0], u[1] and u[2].
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytensor.graph.basic import Constant, Variable

from lab.derivation import Derivation
from lab.operations import index_parts
from lab.scan import LoopVariable, outer_inputs

Names = dict[LoopVariable, str]


@dataclass(frozen=True, eq=False)
class PartNames:
    """Names for the variables of both Scans of a derivation, and for the step's arguments."""

    parts: Mapping[LoopVariable, str]
    arguments: Mapping[Variable, str]

    @classmethod
    def of(cls, d: Derivation) -> "PartNames":
        """The names of all that occurs in a derivation."""
        parts = {**_forward(d), **_backward(d)}
        renamed = [(part, name) for part, name in parts.items() if name != part.name]
        renamed += [(r.variable, parts[r.source]) for r in d.readings]
        arguments = {
            argument: name
            for part, name in renamed
            if name.endswith("]")
            for argument in part.inner_inputs
        }
        return cls(parts, arguments)

    def argument(self, variable: Variable) -> str:
        """What an argument or a stand-in of the step is called."""
        return self.arguments.get(variable, str(variable))


def _forward(d: Derivation) -> Names:
    """The variables of the loop that was differentiated, itself a derivative perhaps."""
    parts, made = outer_inputs(d.forward), getattr(d.parent.op, "derivation", None)
    if made is None:
        full = {part: f"{part.name}[{_start(part.outer_input)}]" for part in parts}
        return _told_apart(parts, full)
    known = _backward(made)
    names = [known[part] for part in outer_inputs(made.backward)]
    return dict(zip(parts, names, strict=True))


def _backward(d: Derivation) -> Names:
    """The variables of the derivative, by the taps that they read if they share a name."""
    forward, parts = _forward(d), outer_inputs(d.backward)
    taps = {r.variable: (forward[r.source], r.tap) for r in d.readings}
    full = {part: part.name for part in parts}
    for part, (name, tap) in taps.items():
        full[part] = name if name.endswith("]") else f"{name}[{tap}]"
    for total in d.totals:
        full[total.variable] += forward[total.source].removeprefix(total.source.name)
    return _told_apart(parts, full)


def _start(sequence: Variable) -> int:
    """The index of what step 0 reads, in the array that a sequence was cut from."""
    node, start = sequence.owner, 0
    while node is not None and type(node.op).__name__ == "Subtensor":
        base, _, (rows, *_) = index_parts(node)
        if isinstance(rows, slice) and isinstance(rows.start, Constant):
            start += int(rows.start.data)
        node = base.owner
    return start


def _told_apart(parts: Sequence[LoopVariable], full: Names) -> Names:
    """The name of every variable, or its `full` name if another is called alike."""
    alike = Counter(part.name for part in parts)
    names = {part: full[part] if alike[part.name] > 1 else part.name for part in parts}
    seen: Counter[str] = Counter()
    for part, name in names.items():
        seen[name] += 1
        if seen[name] > 1:  # read twice at one tap
            names[part] = f"{name} ({seen[name]})"
    return names
