"""Describe the results of the eleven phases of a pullback as plain data.

A `Derivation` contains the results and their description.  The names of the phases are from
PyTensor's documentation ("How Scan.L_op Works").
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Constant, Variable

from lab.errors import listing
from lab.gradients.decisions import Decisions, ReadingGroup, decisions_of
from lab.gradients.outcomes import PartNames, outcomes, verdict_of
from lab.gradients.record import DerivationRecord, Item, Outcome, Phase, Verdict
from lab.gradients.status import Connected, Disconnected, Undefined, status_of
from lab.notation import Leaf, render, tap_symbol
from lab.records import cached_property
from lab.scans.formula import formulas
from lab.scans.node import LoopVariable
from lab.tape import Kind


def record(derivation: Decisions, outcomes: tuple[Outcome, ...]) -> DerivationRecord:
    """Return the description of a derivation, with the `outcomes` of its gradients."""
    names = PartNames.of(derivation)
    description = _Description(derivation, names, _texts(derivation, names), outcomes)
    phases = tuple(
        Phase(number, name, tuple(items(description)))
        for number, (name, items) in enumerate(PHASES.items(), start=1)
    )
    return DerivationRecord(
        derivation.forward.called, derivation.backward.called, derivation.order, phases, outcomes
    )


def _texts(d: Decisions, names: PartNames) -> Mapping[Variable, str]:
    """Map the results and gradients of a derivation to their simplified formulas as text."""
    results: list[Variable] = [*d.step.reused]
    results += [g for g in d.step.gradients.values() if isinstance(status_of(g), Connected)]
    variables = [s.variable for s in d.states] + [t.variable for t in d.totals]
    results += [v for variable in variables for v in variable.inner_outputs]
    leaves = {v: Leaf(name, None, -1) for v, name in names.arguments.items()}
    expressions = formulas(results, leaves)
    return {
        variable: render(expression, lambda leaf: leaf.variable)
        for variable, expression in zip(results, expressions, strict=True)
    }


def _taps(taps: Sequence[int]) -> str:
    if not taps:
        return "nothing"
    return f"({', '.join(map(str, taps))})"


def _slots(part: LoopVariable) -> str:
    if part.kind is Kind.PARAMETER:
        return "the same at every step"
    return "replaced at every step" if part.kind is Kind.UNTRACED else str(part.tape)


def _count(steps: Variable) -> str:
    """Return a number of steps as text, or ``n`` if only a run determines it."""
    return str(steps.data) if isinstance(steps, Constant) else "n"


@dataclass(frozen=True, eq=False)
class _Description:
    """The description of a derivation, with a method for each phase.

    `texts` maps the results and gradients of the derivation to their simplified formulas as text.
    """

    d: Decisions
    names: PartNames
    texts: Mapping[Variable, str]
    outcomes: tuple[Outcome, ...]

    def steps(self) -> Iterator[Item]:
        yield Item("steps made", f"read from {self.d.steps.source}", _count(self.d.steps.forward))
        text = "the number of steps of the backward Scan"
        yield Item("steps reversed", text, _count(self.d.steps.backward))

    def classes(self) -> Iterator[Item]:
        for part in self.d.forward.variables:
            verdict = Verdict.NOTED
            if part.kind is Kind.UNTRACED:
                decision, verdict = "excluded: no gradient passes through it", Verdict.UNTRACED
            elif part in self.d.classes.reached:
                decision = f"its output has a gradient; {self.d.classes.reached[part]}"
                verdict = verdict_of(self.d.classes.reached[part])
            elif not self.d.classes.arguments.isdisjoint(part.inner_inputs):
                decision, verdict = "receives a gradient", Verdict.CONNECTED
            else:
                decision, verdict = "receives no gradient", Verdict.DISCONNECTED
            yield Item(self.names.parts[part], f"{part.kind}; {decision}", _slots(part), verdict)

    def rule(self) -> Iterator[Item]:
        inputs = listing(map(self.names.argument, self.d.step.gradients))
        results = listing(tap_symbol(part.name, tap) for part, tap in self.d.step.output_cotangents)
        rule = "gradient of an argument = sum over the results of cotangent × d result / d argument"
        yield Item("rule", rule, "PyTensor's grad of the step, with known gradients of its results")
        yield Item("arguments", inputs)
        yield Item("results", results)

    def placeholders(self) -> Iterator[Item]:
        for (part, tap), cotangent in self.d.step.output_cotangents.items():
            text = "placeholder of its gradient"
            yield Item(tap_symbol(part.name, tap), text, self.names.argument(cotangent))
        for result, stand_in in self.d.step.reused.items():
            text = "placeholder of its stored value, which replaces this expression"
            yield Item(self.names.argument(stand_in), text, self.texts[result], Verdict.REUSED)

    def results(self) -> Iterator[Item]:
        results: dict[Variable, list[str]] = {}
        for part, tap in self.d.step.output_cotangents:
            results.setdefault(dict(part.writes)[tap], []).append(tap_symbol(part.name, tap))
        for several in results.values():
            if len(several) > 1:
                text = "one expression, several results: their gradients are added"
                yield Item(listing(several), text, verdict=Verdict.SUMMED)
        for argument, gradient in self.d.step.gradients.items():
            status = status_of(gradient)
            expression = "" if isinstance(status, Undefined) else self.texts[gradient]
            text = "gradient" if expression else str(status)
            yield Item(self.names.argument(argument), text, expression, verdict_of(status))
        for stand_in in self.d.step.reused.values():
            text = "forward result reused, not recomputed"
            yield Item(self.names.argument(stand_in), text, verdict=Verdict.REUSED)
        if self.d.forward.of_kind(Kind.MIT_MOT):
            yield Item("mit-mots", "never reused: later steps can overwrite their slots")

    def accumulation(self) -> Iterator[Item]:
        for reverse in self.d.states:
            state = reverse.state
            for tap, _ in state.reads:
                decision = "adds its contribution to the contributions of later readers"
                verdict = Verdict.ACCUMULATED
                if tap not in reverse.accumulated:
                    decision = (
                        "writes its contribution only: no later step reads the replaced value"
                    )
                    verdict = Verdict.OVERWRITTEN
                kind = "overwritten" if tap in state.tape.overwritten else "preserved"
                yield Item(f"{tap_symbol(state.name, tap)}, {kind}", decision, verdict=verdict)
            for tap in reverse.cleared:
                text = "written but not read: its gradient becomes 0"
                yield Item(tap_symbol(state.name, -tap), text, verdict=Verdict.CLEARED)

    def sequences(self) -> Iterator[Item]:
        for group in ReadingGroup:
            members = [reading for reading in self.d.readings if reading.group is group]
            if not members:
                yield Item(str(group), "none", verdict=Verdict.ABSENT)
            for reading in members:
                source = self.names.parts[reading.source]
                subject = source if source.endswith("]") else tap_symbol(source, reading.tap)
                verdict = Verdict.REUSED if group is ReadingGroup.RESULT else Verdict.READ
                whole = source if source.endswith("]") else reading.variable.name
                slices = f"{whole}{reading.slices}"
                yield Item(subject, str(group), slices, verdict)

    def tapes(self) -> Iterator[Item]:
        for reverse in self.d.states:
            state, variable = reverse.state, reverse.variable
            forward = f"{state.kind} {_taps(state.tape.reads)} → {_taps(state.tape.writes)}"
            backward = f"{_taps(variable.tape.reads)} → {_taps(variable.tape.writes)}"
            yield Item(variable.name, f"{forward} becomes mit-mot {backward}")
            over, kept = _taps(variable.tape.overwritten), _taps(variable.tape.preserved)
            yield Item(variable.name, f"overwrites {over}, preserves {kept}")
            for tap, result in variable.writes:
                yield Item(tap_symbol(variable.name, tap), "is written", self.texts[result])

    def remaining(self) -> list[Item]:
        items = []
        for total in self.d.totals:
            how, verdict = "one value per step (nit-sot)", Verdict.PER_STEP
            if total.source.kind is Kind.PARAMETER:
                how, verdict = "sum over the steps (sit-sot)", Verdict.SUMMED
            (result,) = total.variable.inner_outputs
            items.append(Item(self.names.parts[total.variable], how, self.texts[result], verdict))
        for part in self.d.forward.variables:
            for argument in part.inner_inputs:
                status, name = self.d.step.statuses.get(argument), self.names.argument(argument)
                if isinstance(status, Undefined):
                    items.append(Item(name, str(status), verdict=verdict_of(status)))
                elif status is None and part.kind is not Kind.UNTRACED:
                    text = str(Disconnected())
                    items.append(Item(name, text, verdict=Verdict.DISCONNECTED))
            if part.kind is Kind.UNTRACED:
                text = "untraced: no gradient exists"
                items.append(Item(self.names.parts[part], text, verdict=Verdict.UNTRACED))
        if not items:
            text = "none: every gradient belongs to a state and has a tape"
            items.append(Item("sequences, parameters", text, verdict=Verdict.ABSENT))
        return items

    def scan(self) -> Iterator[Item]:
        if self.d.node is None:
            text = "not needed: no gradient depends on the steps"
            yield Item(self.d.backward.called, text, verdict=Verdict.ABSENT)
            return
        for part in self.d.backward.variables:
            yield Item(self.names.parts[part], f"{part.kind}", _slots(part))

    def order(self) -> Iterator[Item]:
        text = f"{Disconnected('a number of steps cannot change slightly')}"
        yield Item("number of steps", text, verdict=Verdict.DISCONNECTED)
        for outcome in self.outcomes:
            yield Item(
                outcome.variable,
                f"{outcome.verdict}: {outcome.reason}",
                outcome.gradient,
                outcome.verdict,
            )


# The phases in order, with the methods that yield their decisions.
PHASES: Mapping[str, Callable[[_Description], Iterable[Item]]] = {
    "Determine gradient step count": _Description.steps,
    "Classify inputs and outputs": _Description.classes,
    "Differentiate the inner function": _Description.rule,
    "Create gradient placeholders": _Description.placeholders,
    "Build known gradients and compute inner gradients": _Description.results,
    "Create accumulation placeholders and handle overwritten taps": _Description.accumulation,
    "Build outer sequence inputs": _Description.sequences,
    "Build the backward Scan's mit-mots": _Description.tapes,
    "Handle remaining outputs and disconnected gradients": _Description.remaining,
    "Construct the backward Scan": _Description.scan,
    "Re-order outputs": _Description.order,
}


@dataclass(frozen=True, eq=False)
class Derivation(Decisions):
    """The results of the eleven phases, with their description as plain data."""

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of the gradient of every outer input except the number of steps."""
        return outcomes(self)

    @cached_property
    def record(self) -> DerivationRecord:
        """The eleven phases as plain data."""
        return record(self, self.outcomes)

    def __str__(self) -> str:
        return str(self.record)


def derivation_of(node: Apply) -> Derivation | None:
    """Return the derivation that built a Scan, or None if the Scan is not a derivative."""
    derivation = decisions_of(node.op)
    return derivation if isinstance(derivation, Derivation) else None
