"""What became of the gradient of every outer input of a Scan, and why.

`outcomes` reads it off a derivation: a number, and where it is found; zero; or none, since
the cost does not depend on the input, since no derivative exists, or since no record is kept
of the values that it would need.
"""

from collections.abc import Mapping

from pytensor.graph.basic import Variable

from lab.cotangent import (
    Disconnected,
    Status,
    ThroughUntraced,
    Undefined,
    is_continuous,
    status_of,
)
from lab.derivation import Derivation, Outcome, Verdict
from lab.part_names import PartNames
from lab.scan import LoopVariable, outer_inputs
from lab.tape import Kind

_WHOLE = "it holds whole numbers, which cannot change a little"
_FOUND: Mapping[Kind, str] = {
    Kind.SEQUENCE: "one at every step, back in the order of time",
    Kind.PARAMETER: "summed up over all steps",
    **dict.fromkeys(
        (Kind.SIT_SOT, Kind.MIT_SOT, Kind.MIT_MOT), "what its tape holds at last, in order of time"
    ),
}


def outcomes(d: Derivation) -> tuple[Outcome, ...]:
    """What became of the gradient of every outer input but the number of steps."""
    found, names = zip(outer_inputs(d.forward), d.gradients[1:], strict=True), PartNames.of(d)
    return tuple(_outcome(d, part, gradient, names) for part, gradient in found)


def _outcome(d: Derivation, part: LoopVariable, gradient: Variable, names: PartNames) -> Outcome:
    name, status = names.parts[part], status_of(gradient)
    if part.kind is Kind.UNTRACED:
        reason = "replaced at every step, and no record is kept of its values"
        return Outcome(name, part.kind, Verdict.UNTRACED, reason)
    if part.kind is Kind.NIT_SOT:
        reason = "what goes in is the number of its rows, which cannot change a little"
        return Outcome(name, part.kind, Verdict.DISCONNECTED, reason)
    if isinstance(status, Undefined):
        known = (d.step.statuses.get(argument) for argument in part.inner_inputs)
        status = next((s for s in known if isinstance(s, Undefined)), status)
        return Outcome(name, part.kind, verdict_of(status), status.reason)
    discrete = bool(part.inner_inputs) and not is_continuous(part.inner_inputs[0])
    if isinstance(status, Disconnected):
        reason = _WHOLE if discrete else status.reason
        return Outcome(name, part.kind, Verdict.DISCONNECTED, reason)
    made = next((v for v, source in _made(d) if source is part), None)
    if made is None:
        reason = _WHOLE if discrete else "no result of a step depends on it"
        return Outcome(name, part.kind, Verdict.ZERO, reason)
    last = "[-1]" if part.kind is Kind.PARAMETER else "[::-1]"
    return Outcome(name, part.kind, Verdict.CONNECTED, _FOUND[part.kind], names.parts[made] + last)


def _made(d: Derivation) -> list[tuple[LoopVariable, LoopVariable]]:
    """Pairs of a variable that holds a gradient, and what it is the gradient of."""
    return [(s.variable, s.state) for s in d.states] + [(t.variable, t.source) for t in d.totals]


def verdict_of(status: Status) -> Verdict:
    """The verdict that a status amounts to."""
    if isinstance(status, ThroughUntraced):
        return Verdict.UNTRACED
    if isinstance(status, Undefined):
        return Verdict.UNDEFINED
    return Verdict.DISCONNECTED if isinstance(status, Disconnected) else Verdict.CONNECTED
