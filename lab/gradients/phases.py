"""The eleven phases of a derivation in words: what was decided, and what was built.

The names of the phases are those of PyTensor's documentation ("How Scan.L_op Works").
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pytensor.graph.basic import Constant, Variable

from lab.errors import listing
from lab.gradients.decisions import Decisions, ReadingGroup
from lab.gradients.outcomes import PartNames, verdict_of
from lab.gradients.record import DerivationRecord, Item, Outcome, Phase, Verdict
from lab.gradients.status import Connected, Disconnected, Undefined, status_of
from lab.notation import Leaf, tapped, text
from lab.scans.formula import formulas
from lab.scans.node import LoopVariable, outer_inputs
from lab.tape import Kind

NAMES = (
    "Determine gradient step count",
    "Classify inputs and outputs",
    "Differentiate the inner function",
    "Create gradient placeholders",
    "Build known gradients and compute inner gradients",
    "Create accumulation placeholders and handle overwritten taps",
    "Build outer sequence inputs",
    "Build the backward Scan's mit-mots",
    "Handle remaining outputs and disconnected gradients",
    "Construct the backward Scan",
    "Re-order outputs",
)


def deciding(decisions: Decisions) -> tuple[str, ...]:
    """The number and name of the phase that decided on each variable of a backward Scan.

    They stand in the order of the Scan's arguments; what is only handed on, as a parameter, is
    there since phase 10.
    """
    phases: dict[LoopVariable, int] = {}
    for number, found in ((7, decisions.readings), (8, decisions.states), (9, decisions.totals)):
        phases |= dict.fromkeys((one.variable for one in found), number)
    numbers = (phases.get(part, 10) for part in outer_inputs(decisions.backward))
    return tuple(f"{number}: {NAMES[number - 1]}" for number in numbers)


Texts = Mapping[Variable, str]


def record(derivation: Decisions, outcomes: tuple[Outcome, ...]) -> DerivationRecord:
    """A derivation as plain data."""
    names = PartNames.of(derivation)
    texts = _texts(derivation, names)
    tellers: tuple[Callable[[Decisions], list[Item]], ...] = (
        _steps,
        partial(_classes, names=names),
        partial(_rule, names=names),
        partial(_placeholders, texts=texts, names=names),
        partial(_results, texts=texts, names=names),
        _accumulation,
        partial(_sequences, names=names),
        partial(_tapes, texts=texts),
        partial(_remaining, texts=texts, names=names),
        partial(_scan, names=names),
        partial(_order, outcomes=outcomes),
    )
    phases = tuple(
        Phase(number, name, tuple(tell(derivation)))
        for number, (name, tell) in enumerate(zip(NAMES, tellers, strict=True), start=1)
    )
    return DerivationRecord(
        derivation.forward.called,
        derivation.backward.called,
        derivation.order,
        phases,
        outcomes,
    )


def _texts(d: Decisions, names: PartNames) -> Texts:
    """All expressions that the phases build in plain text, simplified together."""
    found: list[Variable] = [*d.step.reused]
    found += [g for g in d.step.gradients.values() if isinstance(status_of(g), Connected)]
    variables = [s.variable for s in d.states] + [t.variable for t in d.totals]
    found += [v for variable in variables for v in variable.inner_outputs]
    leaves = {v: Leaf(name, None, -1) for v, name in names.arguments.items()}
    expressions = formulas(found, leaves)
    return {
        variable: text(expression, lambda leaf: leaf.variable)
        for variable, expression in zip(found, expressions, strict=True)
    }


def _taps(taps: Sequence[int]) -> str:
    if not taps:
        return "nothing"
    return f"({', '.join(map(str, taps))})"


def _slots(part: LoopVariable) -> str:
    if part.kind is Kind.PARAMETER:
        return "the same at every step"
    return "replaced at every step" if part.kind is Kind.UNTRACED else str(part.tape)


def _steps(d: Decisions) -> list[Item]:
    return [
        Item("steps made", f"read from {d.steps.source}", _count(d.steps.made)),
        Item("steps reversed", "the backward Scan makes as many", _count(d.steps.reversed)),
    ]


def _count(steps: Variable) -> str:
    """A number of steps; n, if only the run of the loop tells it."""
    return str(steps.data) if isinstance(steps, Constant) else "n"


def _classes(d: Decisions, names: PartNames) -> list[Item]:
    items = []
    for part in outer_inputs(d.forward):
        reached = (
            [tap for tap, v in part.reads if v in d.classes.arguments] if part.inner_inputs else []
        )
        verdict = Verdict.NOTED
        if part.kind is Kind.UNTRACED:
            decision, verdict = "left out: no gradient passes through it", Verdict.UNTRACED
        elif part in d.classes.reached:
            decision = f"hands a gradient on; {d.classes.reached[part]}"
            verdict = verdict_of(d.classes.reached[part])
        elif part.inner_inputs and reached:
            decision, verdict = "receives a gradient", Verdict.CONNECTED
        else:
            decision, verdict = "no gradient reaches it", Verdict.DISCONNECTED
        items.append(Item(names.parts[part], f"{part.kind}; {decision}", _slots(part), verdict))
    return items


def _rule(d: Decisions, names: PartNames) -> list[Item]:
    inputs = listing(map(names.argument, d.step.gradients))
    results = listing(tapped(part.name, tap) for part, tap in d.step.signals)
    return [
        Item(
            "rule",
            "gradient of an argument = sum over the results of signal × d result / d argument",
            "PyTensor's grad of the step, with the gradients of its results given",
        ),
        Item("arguments", inputs),
        Item("results", results),
    ]


def _placeholders(d: Decisions, texts: Texts, names: PartNames) -> list[Item]:
    items = [
        Item(tapped(part.name, tap), "its gradient will come in as", names.argument(signal))
        for (part, tap), signal in d.step.signals.items()
    ]
    items += [
        Item(
            names.argument(stand_in),
            "its recorded value can be read instead of computed again",
            texts[result],
            Verdict.REUSED,
        )
        for result, stand_in in d.step.reused.items()
    ]
    return items


def _results(d: Decisions, texts: Texts, names: PartNames) -> list[Item]:
    results: dict[Variable, list[str]] = {}
    for part, tap in d.step.signals:
        results.setdefault(dict(part.writes)[tap], []).append(tapped(part.name, tap))
    items = [
        Item(
            listing(names),
            "one expression, several results: their gradients are added",
            verdict=Verdict.SUMMED,
        )
        for names in results.values()
        if len(names) > 1
    ]
    for argument, gradient in d.step.gradients.items():
        status = status_of(gradient)
        expression = "" if isinstance(status, Undefined) else texts[gradient]
        told = "gradient" if expression else str(status)
        items.append(Item(names.argument(argument), told, expression, verdict_of(status)))
    for part in d.forward.of_kind(Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT):
        for result in part.inner_outputs:
            if result in d.step.reused:
                told = "forward result reused, not computed again"
                stand_in = names.argument(d.step.reused[result])
                items.append(Item(stand_in, told, verdict=Verdict.REUSED))
    if d.forward.of_kind(Kind.MIT_MOT):
        items.append(Item("mit-mots", "never reused: their slots may have been written again"))
    return items


def _accumulation(d: Decisions) -> list[Item]:
    items = []
    for reverse in d.states:
        state = reverse.state
        for tap, _ in state.reads:
            overwritten = tap in state.tape.overwritten
            if tap in reverse.accumulated:
                decision = "accumulates what later readers of the slot have left in it"
                verdict = Verdict.ACCUMULATED
            else:
                verdict = Verdict.OVERWRITTEN
                decision = (
                    "nothing is added: the step has replaced the value, so no later step reads it"
                )
            kind = "overwritten" if overwritten else "preserved"
            items.append(Item(f"{tapped(state.name, tap)}, {kind}", decision, verdict=verdict))
        items += [
            Item(
                tapped(state.name, -tap),
                "written without being read: its gradient is cleared",
                verdict=Verdict.CLEARED,
            )
            for tap in reverse.cleared
        ]
    return items


def _sequences(d: Decisions, names: PartNames) -> list[Item]:
    items = []
    for group in ReadingGroup:
        members = [reading for reading in d.readings if reading.group is group]
        if not members:
            items.append(Item(str(group), "none is needed", verdict=Verdict.ABSENT))
        for reading in members:
            source = names.parts[reading.source]
            subject = source if source.endswith("]") else tapped(source, reading.tap)
            verdict = Verdict.REUSED if group is ReadingGroup.RESULT else Verdict.READ
            whole = source if source.endswith("]") else reading.variable.name
            slices = f"{whole}{reading.slices}"
            items.append(Item(subject, str(group), slices, verdict))
    return items


def _tapes(d: Decisions, texts: Texts) -> list[Item]:
    items = []
    for reverse in d.states:
        state, variable = reverse.state, reverse.variable
        forward = f"{state.kind} {_taps(state.tape.reads)} → {_taps(state.tape.writes)}"
        backward = f"{_taps(variable.tape.reads)} → {_taps(variable.tape.writes)}"
        items.append(Item(variable.name, f"{forward} becomes mit-mot {backward}"))
        items.append(
            Item(
                variable.name,
                f"overwrites {_taps(variable.tape.overwritten)}, preserves "
                f"{_taps(variable.tape.preserved)}",
            )
        )
        items += [
            Item(tapped(variable.name, tap), "is written", texts[result])
            for tap, result in variable.writes
        ]
    return items


def _remaining(d: Decisions, texts: Texts, names: PartNames) -> list[Item]:
    items = []
    for total in d.totals:
        how, verdict = "one at every step (nit-sot)", Verdict.PER_STEP
        if total.source.kind is Kind.PARAMETER:
            how, verdict = "summed up over the steps (sit-sot)", Verdict.SUMMED
        (result,) = total.variable.inner_outputs
        items.append(Item(names.parts[total.variable], how, texts[result], verdict))
    for part in outer_inputs(d.forward):
        for argument in part.inner_inputs:
            status, name = d.step.statuses.get(argument), names.argument(argument)
            if isinstance(status, Undefined):
                items.append(Item(name, str(status), verdict=verdict_of(status)))
            elif status is None and part.kind is not Kind.UNTRACED:
                told = str(Disconnected())
                items.append(Item(name, told, verdict=Verdict.DISCONNECTED))
        if part.kind is Kind.UNTRACED:
            told = "untraced: no gradient exists"
            items.append(Item(names.parts[part], told, verdict=Verdict.UNTRACED))
    if not items:
        told = "every gradient is that of a state, and has its tape"
        items.append(Item("sequences, parameters", told, verdict=Verdict.ABSENT))
    return items


def _scan(d: Decisions, names: PartNames) -> list[Item]:
    if d.node is None:
        told = "not needed: no gradient depends on the steps"
        return [Item(d.backward.called, told, verdict=Verdict.ABSENT)]
    parts = outer_inputs(d.backward)
    return [Item(names.parts[part], f"{part.kind}", _slots(part)) for part in parts]


def _order(d: Decisions, outcomes: Sequence[Outcome]) -> list[Item]:
    told = f"{Disconnected('a count of steps cannot change a little')}"
    steps = Item("number of steps", told, verdict=Verdict.DISCONNECTED)
    return [
        steps,
        *(Item(o.variable, f"{o.verdict}: {o.reason}", o.gradient, o.verdict) for o in outcomes),
    ]
