"""Describe the gradient of every outer input of a Scan, and name every variable uniquely.

The outcome of an input is a gradient (with the expression that contains it), zero, or no gradient.
An input has no gradient if the cost does not depend on the input, if no derivative exists, or if
the derivative needs values that are not stored.

`PartNames` contains unique names.  A backward Scan has one sequence for each tap at which it reads
a variable.  The gradient of that Scan contains one gradient per sequence.  The names of sequences
and gradients contain the taps of the loop: x[-2] and x[-1], d2x[-2] and d2x[-1].  If several
sequences were cut from the same array, their names contain the index that step 0 reads: u[0], u[1].
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytensor.graph.basic import Variable

from lab.gradients.decisions import Relation, relation_of
from lab.gradients.record import Outcome, Verdict
from lab.gradients.status import Disconnected, Status, ThroughUntraced, Undefined, is_continuous
from lab.notation import tap_symbol
from lab.scans.node import LoopVariable
from lab.scans.slices import constant_value, links
from lab.tape import Kind


class PartName(str):
    """A name with a tap, as in ``x[t−2]``, or with a number, as in ``x[t−2] (2)``, if necessary."""

    base: str
    tap: int | None
    ends_with_tap: bool

    def __new__(cls, base: str, tap: int | None = None, number: int = 1) -> "PartName":  # noqa: D102
        text = base if tap is None else tap_symbol(base, tap)
        name = super().__new__(cls, text if number == 1 else f"{text} ({number})")
        name.base, name.tap, name.ends_with_tap = base, tap, tap is not None and number == 1
        return name


Names = dict[LoopVariable, PartName]
Cotangents = Mapping[tuple[LoopVariable, int], Variable]  # keys: a variable and its write tap


@dataclass(frozen=True, eq=False)
class PartNames:
    """Names for the variables of both Scans of a derivation, and for the step's arguments."""

    parts: Mapping[LoopVariable, PartName]
    arguments: Mapping[Variable, str]

    @classmethod
    def of(cls, d: Relation, cotangents: Cotangents) -> "PartNames":
        """Return unique names for the variables and the output `cotangents` of a derivation."""
        parts = {**_forward(d), **_backward(d)}
        arguments: dict[Variable, str] = {}
        totals = {total.variable for total in d.totals}
        for part in parts:
            in_time = part.kind is not Kind.PARAMETER and part not in totals
            for tap, argument in part.reads if part.inner_inputs else ():
                arguments.setdefault(argument, tap_symbol(part.name, tap) if in_time else part.name)
        for (part, tap), cotangent in cotangents.items():
            arguments.setdefault(cotangent, tap_symbol(f"d{part.name}", tap))
        renamed = [(part, name) for part, name in parts.items() if name != part.name]
        renamed += [(r.variable, parts[r.source]) for r in d.readings]
        for part, name in renamed:
            if name.ends_with_tap:
                arguments |= dict.fromkeys(part.inner_inputs, name)
        return cls(parts, arguments)

    def argument(self, variable: Variable) -> str:
        """Return the name of an argument or a placeholder of the step."""
        return self.arguments.get(variable, str(variable))


def _forward(d: Relation) -> Names:
    """Return names for the variables of the forward Scan, which may be a derivative itself."""
    parts, own = d.forward.variables, relation_of(d.parent.op)
    if own is None:
        cuts = {v: [link.rows for link in links(v.outer_input) if link.rows] for v in parts}
        starts = {v: sum(constant_value(rows.start) or 0 for rows in cuts[v]) for v in parts}
        return _make_unique(parts, {part: PartName(part.name, starts[part]) for part in parts})
    return dict(zip(parts, _backward(own).values(), strict=True))


def _backward(d: Relation) -> Names:
    """Return names for the variables of the backward Scan, with taps if variables share a name."""
    forward, parts = _forward(d), d.backward.variables
    full = {part: PartName(part.name) for part in parts}
    for reading in d.readings:
        name = forward[reading.source]
        full[reading.variable] = name if name.ends_with_tap else PartName(name, reading.tap)
    for total in d.totals:
        full[total.variable] = PartName(total.variable.name, forward[total.source].tap)
    return _make_unique(parts, full)


def _make_unique(parts: Sequence[LoopVariable], full: Names) -> Names:
    """Return the name of each variable, or the `full` name if several variables share the name."""
    alike = Counter(part.name for part in parts)
    names = {part: full[part] if alike[part.name] > 1 else PartName(part.name) for part in parts}
    seen: Counter[str] = Counter()
    for part, name in names.items():
        seen[name] += 1
        if seen[name] > 1:  # two reads of the same tap
            names[part] = PartName(name.base, name.tap, seen[name])
    return names


_WHAT: Mapping[Kind, str] = {
    Kind.SEQUENCE: "one value per step, in time order",
    Kind.PARAMETER: "the sum of the contributions of all steps",
    **dict.fromkeys(
        (Kind.SIT_SOT, Kind.MIT_SOT, Kind.MIT_MOT), "the tape after the last step, in time order"
    ),
}


def outcome_of(part: LoopVariable, status: Status, name: str, holder: str | None) -> Outcome:
    """Return the outcome of an input; `holder` names the backward variable with its gradient."""
    verdict, gradient = verdict_of(status), ""
    if part.kind is Kind.UNTRACED:
        verdict = Verdict.UNTRACED
        reason = "every step replaces its value, and earlier values are not stored"
    elif part.kind is Kind.NIT_SOT:
        verdict = Verdict.DISCONNECTED
        reason = "its input is a number of rows, an integer, which cannot change slightly"
    elif isinstance(status, Undefined):
        reason = status.reason
    elif part.inner_inputs and not is_continuous(part.inner_inputs[0]):
        verdict = Verdict.DISCONNECTED if isinstance(status, Disconnected) else Verdict.ZERO
        reason = "an integer cannot change slightly; PyTensor can treat it as a real number"
    elif isinstance(status, Disconnected):
        reason = status.reason
    elif holder is None:
        verdict, reason = Verdict.ZERO, "no result of a step depends on it"
    else:
        reason = _WHAT[part.kind]
        gradient = holder + ("[-1]" if part.kind is Kind.PARAMETER else "[::-1]")
    named = {"reason": reason, "gradient": gradient, "holder": holder or ""}
    return Outcome(name, part.kind, verdict, **named)


def verdict_of(status: Status) -> Verdict:
    """Return the verdict for the status of a gradient."""
    if isinstance(status, ThroughUntraced):
        return Verdict.UNTRACED
    if isinstance(status, Undefined):
        return Verdict.UNDEFINED
    return Verdict.DISCONNECTED if isinstance(status, Disconnected) else Verdict.CONNECTED
