"""The eleven phases of a derivation in words: what was decided, and what was built.

The names of the phases are those of PyTensor's documentation ("How Scan.L_op Works").
"""

from collections.abc import Sequence

from pytensor.graph.basic import Variable

from lab.cotangent import Undefined, status_of
from lab.derivation import Derivation, DerivationRecord, Item, Phase, ReadingGroup
from lab.errors import listing
from lab.expression import text
from lab.formula import formulas
from lab.scan import LoopVariable, outer_inputs
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


def record(derivation: Derivation) -> DerivationRecord:
    """A derivation as plain data."""
    tellers = (
        _steps,
        _classes,
        _rule,
        _placeholders,
        _results,
        _accumulation,
        _sequences,
        _tapes,
        _remaining,
        _scan,
        _order,
    )
    phases = tuple(
        Phase(number, name, tuple(tell(derivation)))
        for number, (name, tell) in enumerate(zip(NAMES, tellers, strict=True), start=1)
    )
    return DerivationRecord(
        derivation.forward.name, derivation.backward.name, derivation.order, phases
    )


def expression_text(variable: Variable) -> str:
    """An expression of the step in plain text."""
    (expression,) = formulas([variable], {})
    return text(expression, lambda leaf: leaf.variable)


def _taps(taps: Sequence[int]) -> str:
    return f"({', '.join(map(str, taps))})"


def _slots(part: LoopVariable) -> str:
    if part.kind is Kind.PARAMETER:
        return "the same at every step"
    return "replaced at every step" if part.kind is Kind.UNTRACED else str(part.tape)


def _steps(d: Derivation) -> list[Item]:
    return [
        Item("steps made", f"read from {d.steps.source}", str(d.steps.made)),
        Item("steps reversed", "the backward Scan makes as many", str(d.steps.reversed)),
    ]


def _classes(d: Derivation) -> list[Item]:
    items = []
    for part in outer_inputs(d.forward):
        reached = (
            [tap for tap, v in part.reads if v in d.classes.arguments] if part.inner_inputs else []
        )
        if part.kind is Kind.UNTRACED:
            decision = "left out: no gradient passes through it"
        elif part in d.classes.reached:
            decision = f"hands a gradient on; {d.classes.reached[part]}"
        elif part.inner_inputs and reached:
            decision = "receives a gradient"
        else:
            decision = "no gradient reaches it"
        items.append(Item(part.name, f"{part.kind}; {decision}", _slots(part)))
    return items


def _rule(d: Derivation) -> list[Item]:
    inputs = listing(v for v in d.step.gradients)
    results = listing(f"{part.name}[{tap}]" for part, tap in d.step.signals)
    return [
        Item(
            "rule",
            "gradient of an argument = sum over the results of signal × d result / d argument",
            "PyTensor's grad of the step, with the gradients of its results given",
        ),
        Item("arguments", inputs),
        Item("results", results),
    ]


def _placeholders(d: Derivation) -> list[Item]:
    items = [
        Item(f"{part.name}[{tap}]", "its gradient will come in as", str(signal))
        for (part, tap), signal in d.step.signals.items()
    ]
    items += [
        Item(
            str(stand_in),
            "its recorded value can be read instead of computed again",
            expression_text(result),
        )
        for result, stand_in in d.step.reused.items()
    ]
    return items


def _results(d: Derivation) -> list[Item]:
    results: dict[Variable, list[str]] = {}
    for part, tap in d.step.signals:
        results.setdefault(dict(part.writes)[tap], []).append(f"{part.name}[{tap}]")
    items = [
        Item(listing(names), "one expression, several results: their gradients are added")
        for names in results.values()
        if len(names) > 1
    ]
    for argument, gradient in d.step.gradients.items():
        status = status_of(gradient)
        if isinstance(status, Undefined):
            items.append(Item(str(argument), str(status)))
        else:
            items.append(Item(str(argument), "gradient", expression_text(gradient)))
    for part in d.forward.of_kind(Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT):
        for result in part.inner_outputs:
            if result in d.step.reused:
                items.append(Item(part.name, "forward result reused, not computed again"))
    if d.forward.of_kind(Kind.MIT_MOT):
        items.append(Item("mit-mots", "never reused: their slots may have been written again"))
    return items


def _accumulation(d: Derivation) -> list[Item]:
    items = []
    for reverse in d.states:
        state = reverse.state
        for tap, _ in state.reads:
            overwritten = tap in state.tape.overwritten
            if tap in reverse.accumulated:
                decision = "accumulates what later readers of the slot have left in it"
            else:
                decision = (
                    "nothing is added: the step has replaced the value, so no later step reads it"
                )
            kind = "overwritten" if overwritten else "preserved"
            items.append(Item(f"{state.name}[{tap}], {kind}", decision))
        items += [
            Item(f"{state.name}[{-tap}]", "written without being read: its gradient is cleared")
            for tap in reverse.cleared
        ]
    return items


def _sequences(d: Derivation) -> list[Item]:
    items = []
    for group in ReadingGroup:
        members = [reading for reading in d.readings if reading.group is group]
        if not members:
            items.append(Item(str(group), "none is needed"))
        for reading in members:
            subject = f"{reading.source.name}[{reading.tap}]"
            items.append(Item(subject, str(group), f"{reading.variable.name}{reading.slices}"))
    return items


def _tapes(d: Derivation) -> list[Item]:
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
            Item(f"{variable.name}[{tap}]", "is written", expression_text(result))
            for tap, result in variable.writes
        ]
    return items


def _remaining(d: Derivation) -> list[Item]:
    items = []
    for total in d.totals:
        how = "one at every step (nit-sot)"
        if total.source.kind is Kind.PARAMETER:
            how = "summed up over the steps (sit-sot)"
        (result,) = total.variable.inner_outputs
        items.append(Item(total.variable.name, how, expression_text(result)))
    for part in outer_inputs(d.forward):
        for argument in part.inner_inputs:
            status = d.step.statuses.get(argument)
            if isinstance(status, Undefined):
                items.append(Item(str(argument), str(status)))
            elif status is None and part.kind is not Kind.UNTRACED:
                items.append(Item(str(argument), "disconnected: the cost does not depend on it"))
        if part.kind is Kind.UNTRACED:
            items.append(Item(part.name, "untraced: no gradient exists"))
    return items


def _scan(d: Derivation) -> list[Item]:
    if d.node is None:
        return [Item(d.backward.name, "not needed: no gradient depends on the steps")]
    return [Item(part.name, f"{part.kind}", _slots(part)) for part in outer_inputs(d.backward)]


def _order(d: Derivation) -> list[Item]:
    items = [Item("number of steps", str(status_of(d.gradients[0])))]
    for part, gradient in zip(outer_inputs(d.forward), d.gradients[1:], strict=True):
        status = str(status_of(gradient))
        sources = {s.state: s.variable for s in d.states} | {t.source: t.variable for t in d.totals}
        if part in sources:
            last = "[-1]" if part.kind is Kind.PARAMETER else "[::-1]"
            items.append(Item(part.name, status, f"{sources[part].name}{last}"))
        else:
            items.append(Item(part.name, status))
    return items
