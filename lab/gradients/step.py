"""Differentiate one step of a loop: phases 2 to 5 of a pullback.

PyTensor's `grad` differentiates the step.  This module determines which results have a gradient,
which arguments receive a gradient, and where a gradient is undefined.  `reuse` finds the forward
results that the backward step can read instead of computing them again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import io_connection_pattern
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.variable import TensorVariable

from lab.gradients.decisions import Classification, StepGradients
from lab.gradients.status import (
    Connected,
    Disconnected,
    Status,
    ThroughUntraced,
    Undefined,
    is_continuous,
    pytensor_gradients,
    status_of,
)
from lab.notation import tap_symbol
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts
from lab.tape import Kind


def classify(forward: ScanParts, given: Mapping[Variable, Variable]) -> Classification:
    """Phase 2: find the variables that a gradient reaches, and the arguments that receive one.

    A gradient reaches a floating-point variable if the gradient of its output is not disconnected.
    A gradient also reaches such a state if a reached variable is computed from the state.
    """
    pattern = io_connection_pattern(forward.inner_inputs, forward.inner_outputs)
    rows = list(zip(forward.inner_inputs, pattern, strict=True))
    connections = {
        result: {argument for argument, row in rows if row[index]}
        for index, result in enumerate(forward.inner_outputs)
    }
    reached: dict[LoopVariable, Status] = {}
    for part in forward.variables:
        output = part.outer_output
        status = Disconnected() if output is None else status_of(given.get(output))
        if _is_differentiable(part) and not isinstance(status, Disconnected):
            reached[part] = status
    while True:
        results = [result for part in reached for result in part.inner_outputs]
        arguments = frozenset[Variable]().union(*(connections[result] for result in results))
        more = [
            state
            for state in forward.states
            if state not in reached
            and _is_differentiable(state)
            and arguments.intersection(state.inner_inputs)
        ]
        if not more:  # sort in the order of the loop's variables
            ordered = {part: reached[part] for part in forward.variables if part in reached}
            return Classification(ordered, arguments)
        reached |= dict.fromkeys(more, Connected())


def differentiate_step(forward: ScanParts, classes: Classification) -> StepGradients:
    """Phases 3 to 5: return the gradients of the arguments of a step.

    Every result has a placeholder for its gradient, the cotangent.  The gradient of an argument is
    ``sum_j cotangent[j] * d result[j] / d argument``.  Forward results in these expressions are
    replaced by stored values, except results of mit-mots, whose slots can be overwritten later.
    """
    output_cotangents = {
        (part, tap): as_tensor(result).type(name=tap_symbol(f"d{part.name}", tap))
        for part in classes.reached
        for tap, result in part.writes
    }
    known: dict[TensorVariable, TensorVariable] = {}
    for (part, tap), cotangent in output_cotangents.items():
        result = as_tensor(dict(part.writes)[tap])
        if not isinstance(result, Constant):
            # If a step returns an expression twice, its gradients are added.
            known[result] = known[result] + cotangent if result in known else cotangent
    wrt = [
        argument
        for part in forward.variables
        if part.kind is not Kind.UNTRACED
        for argument in part.inner_inputs
        if argument in classes.arguments and is_continuous(argument)
    ]
    direct = _grad_of(known, wrt)

    recorded = {
        result: result.type(name=tap_symbol(part.name, tap))
        for part in forward.of_kind(Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT)
        for tap, result in part.writes
        if result.owner is not None
    }
    expressions, reused = reuse(list(direct.values()), recorded)
    gradients = dict(zip(direct, expressions, strict=True))
    return StepGradients(
        output_cotangents=output_cotangents,
        gradients=gradients,
        reused={result: recorded[result] for result in recorded if result in reused},
        statuses=_propagate_undefined(forward, classes, output_cotangents, gradients),
    )


def _is_differentiable(part: LoopVariable) -> bool:
    return part.kind is not Kind.UNTRACED and all(map(is_continuous, part.inner_outputs))


def _grad_of(
    known: dict[TensorVariable, TensorVariable], wrt: list[Variable]
) -> dict[Variable, Variable]:
    """Return the connected gradients wrt `wrt`, from the gradients `known` of the results.

    `grad` uses a known gradient as the total gradient of a variable.  A result that is also an
    argument, or a part of another result, receives more contributions.  Therefore `grad` receives
    a copy of such a result.
    """
    if not known or not wrt:
        return {}
    inside = {v for result in known for v in ancestors([result]) if v is not result}
    copies: dict[Variable, Variable] = {
        result.copy() if result in inside or result.owner is None else result: gradient
        for result, gradient in known.items()
    }
    gradients = pytensor_gradients(None, wrt, copies, "the derivative of the step")
    pairs = zip(wrt, gradients, strict=True)
    return {v: g for v, g in pairs if not isinstance(status_of(g), Disconnected)}


def _propagate_undefined(
    forward: ScanParts,
    classes: Classification,
    output_cotangents: dict[tuple[LoopVariable, int], TensorVariable],
    gradients: dict[Variable, Variable],
) -> dict[Variable, Status]:
    """Propagate undefined gradients through the recurrence; return the statuses of all gradients.

    If the gradient of a state is undefined, then the gradient of every argument from which a step
    computes the state is undefined as well.
    """
    uses = {argument: set(ancestors([gradient])) for argument, gradient in gradients.items()}
    statuses = {argument: status_of(gradient) for argument, gradient in gradients.items()}
    for part in forward.of_kind(Kind.UNTRACED):
        for argument, used in uses.items():
            if used.intersection(part.inner_inputs):
                statuses[argument] = ThroughUntraced(
                    f"it reads the values of {part.name}, which are not stored"
                )
    reached = classes.reached.items()
    undefined = {part: status for part, status in reached if isinstance(status, Undefined)}
    while True:
        for state in forward.states:
            for argument in state.inner_inputs:
                status = statuses.get(argument)
                if state not in undefined and isinstance(status, Undefined):
                    undefined[state] = status
        # A state is a single array: if one of its gradients is undefined, all are undefined.
        new_statuses = {v: why for state, why in undefined.items() for v in state.inner_inputs}
        for (part, _), cotangent in output_cotangents.items():
            if part in undefined:
                readers = (v for v, used in uses.items() if cotangent in used)
                new_statuses |= dict.fromkeys(readers, undefined[part])
        known = {v for v, status in statuses.items() if isinstance(status, Undefined)}
        if new_statuses.keys() <= known:
            return statuses
        statuses |= {v: why for v, why in new_statuses.items() if v not in known}


@dataclass
class Numbering:
    """Value numbering of a graph: variables with the same number have the same value.

    Two results have the same number if the same operation computes them from inputs with the same
    numbers.
    """

    known: dict[Variable, int] = field(default_factory=dict)
    _seen: dict[object, int] = field(default_factory=dict)

    def number_of(self, variable: Variable) -> int:
        """Return the number of a variable; in a deep graph, number the inputs of results first."""
        if variable not in self.known:
            key: object = variable.signature() if isinstance(variable, Constant) else variable
            if (node := variable.owner) is not None:
                inputs = tuple(map(self.number_of, node.inputs))
                key = node.op, inputs, node.outputs.index(variable)
            self.known[variable] = self._seen.setdefault(key, len(self._seen))
        return self.known[variable]


def reuse(
    expressions: Sequence[Variable], replacements: Mapping[Variable, Variable]
) -> tuple[list[Variable], set[Variable]]:
    """Read stored results in `expressions` instead of computing the results again.

    `replacements` maps results to placeholders of their stored values.  The derivative of
    ``y = tanh(x)`` is ``1 - tanh(x)**2``, and PyTensor's rules often build a new ``tanh(x)``
    instead of reading y.  This function finds copies of results by their structure.  It does not
    find equal values of another structure, for example ``exp(x + 0)`` for ``exp(x)``.

    Returns the new expressions and the results that they read.
    """
    numbers, stored = Numbering(), list(replacements)
    hits: dict[Variable, Variable] = {}
    for variable in (v for node in toposort(stored) for v in node.outputs):
        numbers.number_of(variable)
    targets = {numbers.number_of(result): result for result in reversed(stored)}
    for variable in (v for node in toposort(expressions) for v in node.outputs):
        if (number := numbers.number_of(variable)) in targets:
            hits[variable] = targets[number]
    if not hits:
        return list(expressions), set()
    chosen = {variable: replacements[target] for variable, target in hits.items()}
    return clone_replace(list(expressions), replace=chosen), set(hits.values())
