"""Describe the results of the eleven phases of a pullback as plain data.

A `Derivation` contains the results and their description.  The names of the phases are from
PyTensor's documentation ("How Scan.L_op Works").
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Constant, Variable

from lab.errors import listing
from lab.gradients.decisions import (
    Classification,
    ReadingGroup,
    Relation,
    ReverseState,
    StepCount,
    StepGradients,
)
from lab.gradients.outcomes import PartNames, outcome_of, verdict_of
from lab.gradients.record import DerivationRecord, Item, Outcome, Phase, Verdict
from lab.gradients.status import Connected, Disconnected, Undefined, status_of
from lab.notation import Leaf, pieces, tap_symbol
from lab.records import cached_property
from lab.scans.formula import formulas
from lab.scans.node import LoopVariable
from lab.tape import Kind


@dataclass(frozen=True, eq=False, kw_only=True)
class Derivation(Relation):
    """The reverse derivative of one Scan: the results of all phases.

    `gradients` has an entry for every outer input of the forward Scan, in the order of the inputs.
    `node` is the backward Scan; None if no gradient depends on the steps.
    """

    states: tuple[ReverseState, ...]
    steps: StepCount
    classes: Classification
    step: StepGradients
    node: Apply | None = None
    gradients: tuple[Variable, ...] = ()

    @cached_property
    def names(self) -> PartNames:
        """The names of the variables of both Scans, and of the arguments of the step."""
        return PartNames.of(self, self.step.output_cotangents)

    @cached_property
    def texts(self) -> Mapping[Variable, tuple[str, ...]]:
        """The simplified formulas of reused results and gradients, as in `Item.expression`."""
        results: list[Variable] = [*self.step.reused]
        results += [g for g in self.step.gradients.values() if isinstance(status_of(g), Connected)]
        results += [v for g in (*self.states, *self.totals) for v in g.variable.inner_outputs]
        leaves = {v: Leaf(name, None, -1) for v, name in self.names.arguments.items()}
        known = zip(results, formulas(results, leaves), strict=True)
        return {v: tuple(pieces(formula, lambda leaf: leaf.variable)) for v, formula in known}

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of the gradient wrt every outer input except the number of steps."""
        names = self.names.parts
        holders = {g.source: names[g.variable] for g in (*self.states, *self.totals)}
        return tuple(
            outcome_of(part, status_of(gradient), names[part], holders.get(part))
            for part, gradient in zip(self.forward.variables, self.gradients[1:], strict=True)
        )

    @cached_property
    def record(self) -> DerivationRecord:
        """The eleven phases as plain data."""
        phases = tuple(
            Phase(number, name, tuple(items(self)))
            for number, (name, items) in enumerate(PHASES.items(), start=1)
        )
        forward, backward = self.forward.called, self.backward.called
        return DerivationRecord(
            forward, backward, self.order, phases=phases, outcomes=self.outcomes
        )

    def __str__(self) -> str:
        return str(self.record)


def _taps(taps: Sequence[int]) -> str:
    return f"({', '.join(map(str, taps))})" if taps else "nothing"


def _slots(part: LoopVariable) -> str:
    if part.kind is Kind.PARAMETER:
        return "the same at every step"
    return "replaced at every step" if part.kind is Kind.UNTRACED else str(part.tape)


def _count(steps: Variable) -> tuple[str, ...]:
    """Return a number of steps as an expression, or ``n`` if only a run determines it."""
    return (str(steps.data),) if isinstance(steps, Constant) else ("", "n")


def _steps(d: Derivation) -> Iterator[Item]:
    yield Item("steps made", f"read from {d.steps.source}", _count(d.steps.forward))
    text = "the number of steps of the backward Scan"
    yield Item("steps reversed", text, _count(d.steps.backward))


def _classes(d: Derivation) -> Iterator[Item]:
    for part in d.forward.variables:
        if part.kind is Kind.UNTRACED:
            decision, verdict = "excluded: no gradient passes through it", Verdict.UNTRACED
        elif part in d.classes.reached:
            decision = f"its output has a gradient; {d.classes.reached[part]}"
            verdict = verdict_of(d.classes.reached[part])
        elif not d.classes.arguments.isdisjoint(part.inner_inputs):
            decision, verdict = "receives a gradient", Verdict.CONNECTED
        else:
            decision, verdict = "receives no gradient", Verdict.DISCONNECTED
        yield Item(d.names.parts[part], f"{part.kind}; {decision}", (_slots(part),), verdict)


def _rule(d: Derivation) -> Iterator[Item]:
    inputs = [*map(d.names.argument, d.step.gradients)]
    results = [tap_symbol(part.name, tap) for part, tap in d.step.output_cotangents]
    rule = "gradient of an argument = sum over the results of cotangent × d result / d argument"
    how = "PyTensor's grad of the step, with known gradients of its results"
    yield Item("rule", rule, (how,))
    for subject, names in (("arguments", inputs), ("results", results)):
        yield Item(subject, listing(names), verdict=Verdict.NOTED if names else Verdict.ABSENT)


def _placeholders(d: Derivation) -> Iterator[Item]:
    for (part, tap), cotangent in d.step.output_cotangents.items():
        text = "placeholder of its gradient"
        yield Item(tap_symbol(part.name, tap), text, (d.names.argument(cotangent),))
    for result, stand_in in d.step.reused.items():
        text = "placeholder of its stored value, which replaces this expression"
        yield Item(d.names.argument(stand_in), text, d.texts[result], Verdict.REUSED)


def _results(d: Derivation) -> Iterator[Item]:
    results: dict[Variable, list[str]] = {}
    for part, tap in d.step.output_cotangents:
        results.setdefault(dict(part.writes)[tap], []).append(tap_symbol(part.name, tap))
    for several in results.values():
        if len(several) > 1:
            text = "one expression, several results: their gradients are added"
            yield Item(listing(several), text, verdict=Verdict.SUMMED)
    for argument, gradient in d.step.gradients.items():
        status = status_of(gradient)
        expression = () if isinstance(status, Undefined) else d.texts[gradient]
        text = "gradient" if expression else str(status)
        yield Item(d.names.argument(argument), text, expression, verdict_of(status))
    for stand_in in d.step.reused.values():
        text = "forward result reused, not recomputed"
        yield Item(d.names.argument(stand_in), text, verdict=Verdict.REUSED)
    if d.forward.of_kind(Kind.MIT_MOT):
        yield Item("mit-mots", "never reused: later steps can overwrite their slots")


def _accumulation(d: Derivation) -> Iterator[Item]:
    for reverse in d.states:
        state = reverse.source
        for tap, _ in state.reads:
            decision = "adds its contribution to the contributions of later readers"
            verdict = Verdict.ACCUMULATED
            if tap not in reverse.accumulated:
                decision = "writes its contribution only: no later step reads the replaced value"
                verdict = Verdict.OVERWRITTEN
            kind = "overwritten" if tap in state.tape.overwritten else "preserved"
            leaf = Leaf(tap_symbol(state.name, tap), tap, -1)
            subject = f"{leaf.variable}, {kind}"
            yield Item(subject, decision, verdict=verdict, leaf=leaf, access=kind)
        for tap in reverse.cleared:
            text = "written but not read: its gradient becomes 0"
            leaf = Leaf(tap_symbol(state.name, -tap), -tap, -1)
            yield Item(leaf.variable, text, verdict=Verdict.CLEARED, leaf=leaf)


def _sequences(d: Derivation) -> Iterator[Item]:
    for group in ReadingGroup:
        members = [reading for reading in d.readings if reading.group is group]
        if not members:
            yield Item(str(group), "none", verdict=Verdict.ABSENT)
        for reading in members:
            subject: str = (name := d.names.parts[reading.source])
            whole = subject
            if not name.ends_with_tap:
                subject, whole = tap_symbol(name, reading.tap), reading.variable.name
            verdict = Verdict.REUSED if group is ReadingGroup.RESULT else Verdict.READ
            yield Item(subject, str(group), (f"{whole}{reading.slices}",), verdict)


def _tapes(d: Derivation) -> Iterator[Item]:
    for reverse in d.states:
        state, variable = reverse.source, reverse.variable
        forward = f"{state.kind} {_taps(state.tape.reads)} → {_taps(state.tape.writes)}"
        backward = f"{_taps(variable.tape.reads)} → {_taps(variable.tape.writes)}"
        yield Item(variable.name, f"{forward} becomes mit-mot {backward}", tape=variable.tape)
        over, kept = _taps(variable.tape.overwritten), _taps(variable.tape.preserved)
        yield Item(variable.name, f"overwrites {over}, preserves {kept}")
        for tap, result in variable.writes:
            leaf = Leaf(tap_symbol(variable.name, tap), tap, -1)
            yield Item(leaf.variable, "is written", d.texts[result], leaf=leaf)


def _remaining(d: Derivation) -> list[Item]:
    items = []
    for total in d.totals:
        how, verdict = "one value per step (nit-sot)", Verdict.PER_STEP
        if total.source.kind is Kind.PARAMETER:
            how, verdict = "sum over the steps (sit-sot)", Verdict.SUMMED
        (result,) = total.variable.inner_outputs
        items.append(Item(d.names.parts[total.variable], how, d.texts[result], verdict))
    for part in d.forward.variables:
        for argument in part.inner_inputs:
            status = d.step.statuses.get(argument, Disconnected())
            is_untraced = part.kind is Kind.UNTRACED and isinstance(status, Disconnected)
            if not isinstance(status, Connected) and not is_untraced:
                name, verdict = d.names.argument(argument), verdict_of(status)
                items.append(Item(name, str(status), verdict=verdict))
        if part.kind is Kind.UNTRACED:
            text = "untraced: no gradient exists"
            items.append(Item(d.names.parts[part], text, verdict=Verdict.UNTRACED))
    if not items:
        text = "none: every gradient belongs to a state and has a tape"
        items.append(Item("sequences, parameters", text, verdict=Verdict.ABSENT))
    return items


def _scan(d: Derivation) -> Iterator[Item]:
    if d.node is None:
        text = "not needed: no gradient depends on the steps"
        yield Item(d.backward.called, text, verdict=Verdict.ABSENT)
        return
    for part in d.backward.variables:
        yield Item(d.names.parts[part], f"{part.kind}", (_slots(part),))


def _outcomes(d: Derivation) -> Iterator[Item]:
    text = str(Disconnected("a number of steps cannot change slightly"))
    yield Item("number of steps", text, verdict=Verdict.DISCONNECTED)
    for outcome in d.outcomes:
        text = f"{outcome.verdict}: {outcome.reason}"
        yield Item(outcome.variable, text, (outcome.gradient,), outcome.verdict)


# The phases in order, with the functions that yield their decisions.
PHASES: Mapping[str, Callable[[Derivation], Iterable[Item]]] = {
    "Determine gradient step count": _steps,
    "Classify inputs and outputs": _classes,
    "Differentiate the inner function": _rule,
    "Create gradient placeholders": _placeholders,
    "Build known gradients and compute inner gradients": _results,
    "Create accumulation placeholders and handle overwritten taps": _accumulation,
    "Build outer sequence inputs": _sequences,
    "Build the backward Scan's mit-mots": _tapes,
    "Handle remaining outputs and disconnected gradients": _remaining,
    "Construct the backward Scan": _scan,
    "Re-order outputs": _outcomes,
}
