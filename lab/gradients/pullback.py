"""The reverse derivative of a Scan: another Scan, built in eleven phases.

The derivative of a loop runs through the steps backwards.  At every step it takes the
gradients of what the step wrote, multiplies them by the derivative of the step, and adds
them to the gradients of what the step read.  Since every loop variable is a tape, and the
reverse of a tape is a tape (`Tape.reverse`), the result is a loop of the same kind and
can be differentiated again.

`derive` does the work and returns a `Derivation`, which tells what each phase decided;
`pullback` returns only the gradients and can stand in for ``Scan.pullback``.

The phases are those of "How Scan.L_op Works" (R. P. Vieira, 2026).  Forward values come
from the buffers that the forward Scan filled, not from a record of its reads, except
where a buffer no longer holds what a step had read (see `lab.gradients.rows`).
"""

from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import replace

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan
from pytensor.tensor.type import TensorType, integer_dtypes
from pytensor.tensor.variable import TensorVariable

from lab.errors import GradientError, KindError, expect, first_line, refused, several
from lab.gradients import rows
from lab.gradients.decisions import (
    RULE,
    Classification,
    PullbackRule,
    Reading,
    ReverseState,
    StepCount,
    Task,
    Total,
    decisions_of,
)
from lab.gradients.derivation import Derivation
from lab.gradients.status import (
    Disconnected,
    ThroughUntraced,
    Undefined,
    fit,
    gradient_dtype,
    marker,
    status_of,
)
from lab.gradients.step import classify, differentiate_step
from lab.gradients.tapes import again, remaining_outputs, reverse_state
from lab.progress import holding, pause
from lab.scans.buffers import as_tensor, is_freshly_allocated
from lab.scans.node import (
    LoopVariable,
    ScanParts,
    TapeScan,
    apply_again,
    build_scan,
    inner_connections,
    label,
    labels_of,
    outer_outputs,
    read_again,
    read_scan,
    with_initial_values,
)
from lab.scans.slices import constant_value
from lab.tape import Kind


@TapeScan.differentiated_by
def pullback(
    op: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
) -> list[Variable]:
    """The gradients with regard to all `inputs` of a Scan, as ``Scan.pullback`` gives them.

    For outputs y = scan(x) and output gradients g this is, for every input,
    ``gradient[i] = sum_j g[j] * d y[j] / d x[i]``, or PyTensor's marker for a gradient
    that is disconnected or undefined.
    """
    return list(derive(op, inputs, outputs, output_gradients).gradients)


def derive(
    op: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
    rule: PullbackRule | None = None,
) -> Derivation:
    """Build the reverse derivative of a Scan, and tell how.

    Arguments are those of `pullback`.  `rule` is for showing what a wrong rule does; a
    derivative of the result follows the same rule.

    Raises GradientError where no right number can be given: for a loop with an until
    condition and no output from which its steps could be counted, and for a mit-mot that
    writes below everything it reads.
    """
    pause()
    expect("op", op, Scan, "the op of a Scan's node")
    if rule is not None:
        expect("rule", rule, PullbackRule, "a PullbackRule, such as lab.BROKEN[…].rule")
    inputs = _variables("inputs", inputs, op.n_outer_inputs)
    outputs = _variables("outputs", outputs, op.n_outer_outputs)
    output_gradients = _variables("output_gradients", output_gradients, op.n_outer_outputs)
    if getattr(inputs[0].type, "dtype", "") not in integer_dtypes:
        raise refused("inputs", inputs[0], "expected the number of steps, an integer, first.")
    try:
        given = {v: fit(g, v) for v, g in zip(outputs, output_gradients, strict=True)}
    except TypeError as error:
        raise KindError(
            "output_gradients: expected, for each of the outputs of the node, a gradient of its "
            f"type: {first_line(error)}."
        ) from error
    if rule is None:
        own = op.rule if isinstance(op, TapeScan) else None
        rule = own if isinstance(own, PullbackRule) else RULE
    known = _known.get() or Known()
    forward = known.read(op, inputs, outputs)
    steps = _count_steps(forward)  # phase 1
    task = Task(op, forward, given, steps, known.order(op, output_gradients), rule)
    classes = classify(forward, given, known.connections[op])  # phase 2
    key = _key(task, classes)
    made = known.derivations.get(key)
    derivation = _built(task, classes) if made is None else _built_again(task, classes, made)
    pause()
    gradients = _reorder(task, derivation, derivation.node)  # phase 11
    derivation = known.derivations[key] = replace(derivation, gradients=gradients)
    if derivation.node is not None:
        made_by = derivation.node.op
        label(made_by, replace(labels_of(made_by), derivation=derivation))
    return derivation


class Known:
    """What the derivatives of a graph have in common.

    Scans that are equal are read and differentiated once.  They are equal if PyTensor says so,
    which compares their taps and their inner graphs, operation by operation.
    """

    def __init__(self) -> None:
        self.parts: dict[Scan, ScanParts] = {}
        self.connections: dict[Scan, dict[Variable, set[Variable]]] = {}
        self.derivations: dict[Hashable, Derivation] = {}
        self.orders: dict[Variable, int] = {}

    def read(self, op: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> ScanParts:
        """A Scan taken apart; its step is the same as that of every other that is equal."""
        if op in self.parts:
            return read_again(self.parts[op], op, inputs, outputs)
        parts = self.parts[op] = read_scan(op, inputs, outputs)
        self.connections[op] = inner_connections(parts)
        return parts

    def order(self, op: Scan, output_gradients: Sequence[Variable]) -> int:
        """Which derivative this is: one more than `op`'s, and no less than what it builds on."""
        own, waiting = decisions_of(op), [*output_gradients]
        while waiting:
            node, missing = waiting[-1].owner, list[Variable]()
            if waiting[-1] not in self.orders and node is not None:
                missing = [v for v in node.inputs if v not in self.orders]
            if missing:
                waiting += missing
                continue
            made = None if node is None else decisions_of(node.op)
            before = [self.orders[v] for v in node.inputs] if node is not None else []
            self.orders[waiting.pop()] = max([made.order if made else 0, *before])
        return max([own.order + 1 if own else 1, *(self.orders[v] for v in output_gradients)])


_known: ContextVar[Known | None] = ContextVar("known", default=None)


def shared() -> AbstractContextManager[None]:
    """While it lasts, what derivatives have in common is made once.

    That is the step; the rows, the names and the node are those of each Scan.
    """
    return holding(_known, Known())


def _key(task: Task, classes: Classification) -> Hashable:
    """All that the step of a derivative depends on: the Scan, the rule, and what is reached."""
    parts = task.forward.variables
    reached = ((i, classes.reached.get(part)) for i, part in enumerate(parts))
    untraced = (part.name for part in task.forward.of_kind(Kind.UNTRACED))  # told in reasons
    return task.op, task.rule, *reached, *untraced


def _built(task: Task, classes: Classification) -> Derivation:
    """The derivative of a Scan, phases 3 to 10."""
    step = differentiate_step(task.forward, classes)  # phases 3, 4 and 5
    pause()
    states = tuple(  # phases 6 and 8
        reverse_state(task, step, state)
        for state in task.forward.states
        if state in classes.reached and not step.undefined(state)
    )
    totals = remaining_outputs(task, step)  # phase 9
    needed = rows.needed(task, step, (*states, *totals))
    readings = rows.reverse_sequences(task, needed)  # phase 7
    backward = _assemble(task, readings, states, totals)
    node = build_scan(backward, rule=task.rule) if states or totals else None  # phase 10
    decided = task.steps, classes, step, states, readings, totals
    return Derivation(task.forward, backward, task.order, *decided, node)


def _built_again(task: Task, classes: Classification, made: Derivation) -> Derivation:
    """The same for a Scan that is equal to one that was differentiated: only its rows differ."""
    same = dict(zip(made.forward.variables, task.forward.variables, strict=True))
    signals = {(same[part], tap): v for (part, tap), v in made.step.signals.items()}
    states = tuple(
        replace(one, state=same[one.state], variable=again(task, same[one.state], one.variable))
        for one in made.states
    )
    totals = tuple(
        Total(same[one.source], again(task, same[one.source], one.variable)) for one in made.totals
    )
    needed = ((r.group, same[r.source], r.tap, r.variable.inner_inputs[0]) for r in made.readings)
    readings = rows.reverse_sequences(task, needed)
    parameters = tuple(same[part] for part in made.backward.of_kind(Kind.PARAMETER))
    variables = _built_by((*readings, *states, *totals)) + parameters
    backward = replace(made.backward, n_steps=task.steps.reversed, variables=variables)
    node = None if made.node is None else apply_again(made.node.op, backward)
    step = replace(made.step, signals=signals)
    decided = task.steps, classes, step, states, readings, totals
    return Derivation(task.forward, backward, task.order, *decided, node)


def _variables(argument: str, given: object, count: int) -> tuple[Variable, ...]:
    """The variables of a Scan's node, as many as it has."""
    variables = several(argument, given, "a list of PyTensor variables", Variable)
    if len(variables) != count:
        raise refused(argument, given, f"expected {count} variables, as this Scan has.")
    return variables


def _count_steps(forward: ScanParts) -> StepCount:
    """Phase 1: how many steps the forward loop made, and how many of them are reversed."""
    if forward.until is None:
        made, source = forward.n_steps, "the number of steps that the loop was given"
    else:
        made, source = _steps_made(forward)
    limit = forward.truncate_gradient
    if limit == -1:
        return StepCount(made, made, source)
    known = constant_value(made)
    count = pt.minimum(made, limit) if known is None else pt.constant(min(known, limit))
    return StepCount(made, count, f"{source}, but at most truncate_gradient = {limit}")


def _steps_made(forward: ScanParts) -> tuple[TensorVariable, str]:
    """An until loop cuts its outputs off where it stopped: the rows that are left tell where."""
    for part in forward.of_kind(Kind.NIT_SOT):
        if part.outer_input is forward.n_steps:
            return part.filled.shape[0], f"the rows of the output {part.name}"
    for part in forward.of_kind(Kind.SIT_SOT, Kind.MIT_SOT):
        source = f"the rows of the state {part.name}, less its initial values"
        if is_freshly_allocated(part.outer_input, forward.n_steps, part.tape.origin):
            return part.filled.shape[0] - part.tape.origin, source
        cut_off = as_tensor(part.outer_input).shape[0] - part.filled.shape[0]
        return forward.n_steps - cut_off, source
    raise GradientError(
        f"{forward.called}: the loop stops on a condition, and none of its outputs tells after "
        "how many steps. Let the step return one more value, so that its rows can be counted."
    )


def _assemble(
    task: Task,
    readings: tuple[Reading, ...],
    states: tuple[ReverseState, ...],
    totals: tuple[Total, ...],
) -> ScanParts:
    """The backward loop as parts: what the phases have built, and the parameters it uses."""
    built = _built_by((*readings, *states, *totals))
    used = set(ancestors([v for variable in built for v in variable.inner_outputs]))
    parameters = tuple(
        part
        for part in task.forward.of_kind(Kind.PARAMETER)
        if used.intersection(part.inner_inputs)
    )
    return ScanParts(
        name=f"grad_of_{task.forward.name}",
        n_steps=task.steps.reversed,
        variables=built + parameters,
        truncate_gradient=task.forward.truncate_gradient,
        mode=task.forward.mode,
    )


def _built_by(decided: Iterable[Reading | ReverseState | Total]) -> tuple[LoopVariable, ...]:
    return tuple(one.variable for one in decided)


def _reorder(task: Task, derivation: Derivation, node: Apply | None) -> tuple[Variable, ...]:
    """Phase 11: one gradient for every outer input of the forward Scan, in its order."""
    forward, steps = task.forward, task.steps
    filled = outer_outputs(derivation.backward, node) if node is not None else {}
    produced: dict[LoopVariable, Variable] = {}
    for reverse in derivation.states:
        state, tape = reverse.state, as_tensor(filled[reverse.variable])[::-1]
        produced[state] = rows.initial_gradient(
            tape, task.given[state.filled], state, forward, steps, rows.fits(task, state)
        )
    for total in derivation.totals:
        part, series = total.source, as_tensor(filled[total.variable])
        produced[part] = (
            series[-1]
            if part.kind is Kind.PARAMETER
            else rows.sequence_gradient(series[::-1], part, forward, steps, task.exact)
        )
    pattern = task.op.connection_pattern(next(iter(task.given)).owner)
    pattern = with_initial_values(task.op, pattern)
    gradients = []
    parts: list[LoopVariable | None] = [None, *forward.variables]  # the step count is first
    for target, connections in zip(parts, pattern, strict=True):
        connected = any(
            to_output and not isinstance(status_of(gradient), Disconnected)
            for to_output, gradient in zip(connections, task.given.values(), strict=True)
        )
        if target is None or not connected:
            gradients.append(marker(Disconnected()))
        elif target in produced:
            gradients.append(produced[target])
        else:
            gradients.append(_no_number(target, derivation))
    return tuple(gradients)


def _no_number(part: LoopVariable, derivation: Derivation) -> Variable:
    """The gradient of an outer input that PyTensor holds to be connected and that got none."""
    if part.kind is Kind.UNTRACED:
        return marker(ThroughUntraced(f"{part.name} changes from step to step without a record"))
    for status in map(derivation.step.statuses.get, part.inner_inputs):
        if isinstance(status, Undefined):
            return marker(status)
    if not isinstance(part.outer_input.type, TensorType):
        return marker(Undefined(f"{part.name} is not a dense tensor"))
    return pt.zeros_like(part.outer_input, dtype=gradient_dtype(part.outer_input))
