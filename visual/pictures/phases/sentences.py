"""The sentences that explain the eleven phases, and the roles and the legend of verdicts."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lab.gradients.record import DerivationRecord, Item, Verdict
from lab.tape import Kind
from visual.scene.theme import Role

ROWS = {False: "[::-1] reverses a tape", True: "[-1] is the last row"}
NONE = (Verdict.DISCONNECTED, Verdict.UNTRACED, Verdict.UNDEFINED)
INPUTS = ("These inputs can have a gradient", "Some inputs can have a gradient, others cannot")
ADDED: Mapping[Collection[Verdict], str] = {
    (Verdict.ACCUMULATED, Verdict.OVERWRITTEN): "Add if preserved, replace if overwritten",
    (Verdict.ACCUMULATED,): "Other readers of the value contribute, too: add",
    (Verdict.OVERWRITTEN,): "No later step reads the value: replace",
    (): "Written without being read: cleared",
}
SUMS: Mapping[Collection[Verdict], str] = {
    (Verdict.SUMMED, Verdict.PER_STEP): "Parameters: a sum; sequences: a value per step",
    (Verdict.SUMMED,): "Every step reads the parameter: sum over the steps",
    (Verdict.PER_STEP,): "Each step reads a separate value: no sum",
    (): "Omitted: no gradient",
}
LOOKS: Mapping[Verdict, tuple[Role, str]] = {
    Verdict.NOTED: (Role.PANEL, ""),
    Verdict.ABSENT: (Role.UNNEEDED, ""),
    Verdict.READ: (Role.READ, "value read by this step"),
    Verdict.REUSED: (Role.REUSED, "forward result, not recomputed"),
    Verdict.ACCUMULATED: (Role.PRESERVED, "read, unchanged"),
    Verdict.OVERWRITTEN: (Role.OVERWRITTEN, "read, then replaced"),
    Verdict.CLEARED: (Role.SPENT, "cleared"),
    Verdict.SUMMED: (Role.INTERMEDIATE, "sum over the steps"),
    Verdict.PER_STEP: (Role.INTERMEDIATE, "a value per step"),
    Verdict.CONNECTED: (Role.RESULT, "receives a gradient"),
    Verdict.ZERO: (Role.UNNEEDED, "zero gradient"),
    Verdict.DISCONNECTED: (Role.UNNEEDED, "disconnected, no gradient"),
    Verdict.UNDEFINED: (Role.UNDEFINED, "no derivative rule"),
    Verdict.UNTRACED: (Role.UNTRACED, "not recorded on the tape"),
}


def decisions(record: DerivationRecord) -> list[list[Item]]:
    """Return the decisions of each phase, without decisions about absent variables."""
    phases = (phase.items for phase in record.phases)
    return [[item for item in each if item.verdict is not Verdict.ABSENT] for each in phases]


def sentences(record: DerivationRecord, source: str = "the cost") -> Iterator[tuple[str, bool]]:
    """Yield a sentence for each phase, and whether the phase adds a part.

    `source` names the origin of the external gradients of the backward Scan.
    """
    known = decisions(record)
    steps, inputs, _, incoming, shares, added, saved, tapes, sums, variables, results = known
    differentiable = [item for item in inputs if item.verdict not in NONE]
    incoming = [item for item in incoming if item.verdict is Verdict.NOTED]
    shares = [item for item in shares if item.expression]
    order = "known at run time" if steps[-1].expression[1:] else "in reverse order"
    ends = {outcome.kind is Kind.PARAMETER for outcome in record.outcomes if outcome.gradient}
    words = ", ".join(text for is_last, text in ROWS.items() if is_last in ends)
    result = incoming[0].subject if len(incoming) == 1 else "each result"
    gradient = f"the gradient of {shares[0].subject}" if len(shares) == 1 else "each gradient"
    scan = f"one Scan of {len(variables)} variables"
    origin = f"Gradient of {result}, from {source} and later steps"
    phases: list[tuple[Sequence[object], str, str]] = [
        (steps, "", f"As many steps as forward, {order}"),
        (differentiable, "no input can have a gradient", INPUTS[len(differentiable) < len(inputs)]),
        (results, "", "PyTensor differentiates one step, not the whole loop"),
        (incoming, "no result has a gradient", origin),
        (shares, "no argument has a gradient", f"Contribution of the step to {gradient}"),
        (added, "no state has a gradient", _select(ADDED, added)),
        (saved, "the formulas read no forward value", "The forward values in the formulas"),
        (tapes, "no state has a gradient", _reversed(added, tapes)),
        (sums, "no parameters, no sequences", _select(SUMS, sums)),
        (variables, "no gradient depends on the steps", f"The phases build {scan}"),
        (results, "", words or "The gradient of each input"),
    ]
    for items, nothing, text in phases:
        yield (f"{text}." if items else f"nothing to do: {nothing}."), bool(items)


def _select(sentences: Mapping[Collection[Verdict], str], items: Sequence[Item]) -> str:
    """Return the first of `sentences` whose verdicts all occur in `items`."""
    verdicts = {item.verdict for item in items}
    return next(text for known, text in sentences.items() if verdicts.issuperset(known))


def _reversed(added: Sequence[Item], tapes: Sequence[Item]) -> str:
    """Return a sentence about the first slot, if any, whose tap differs from its variable's tap."""
    values, slots = ([i.leaf for i in items if i.leaf is not None] for items in (added, tapes))
    for value, slot in zip(values, slots, strict=False):
        if value.tap != slot.tap:
            names = f"{slot.variable} accumulates the gradient of {value.variable}"
            return f"{names}: time is reversed"
    return "The slots of the tape"


def legend_of(verdicts: Collection[Verdict]) -> dict[Role, str]:
    """Return the legend of some verdicts. Verdicts with the same role share an entry."""
    legend = dict[Role, str]()
    for verdict, (role, text) in LOOKS.items():
        if verdict in verdicts and text:
            legend[role] = f"{legend[role]}, or {text}" if role in legend else text
    return legend
