"""The derivative of one step of a loop: phases 2 to 5 of a pullback.

The step's own derivative comes from PyTensor's `grad`; what is decided here is which
results have a gradient, which arguments receive one, where a gradient does not exist, and which
forward results need not be computed again (`reuse`).
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from pytensor.gradient import grad
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.variable import TensorVariable

from lab.errors import GradientError, translate_recursion_error
from lab.gradients.decisions import Classification, StepGradients
from lab.gradients.status import (
    Connected,
    Disconnected,
    Status,
    ThroughUntraced,
    Undefined,
    is_continuous,
    placeholder,
    status_of,
)
from lab.notation import tap_symbol
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts
from lab.tape import Kind


def classify(
    forward: ScanParts,
    given: Mapping[Variable, Variable],
    connections: Mapping[Variable, Set[Variable]],
) -> Classification:
    """Phase 2: which results hand a gradient on, and which arguments receive one.

    A state is reached if the gradient of its buffer is connected, or if its slots feed a
    result that is reached: through the recurrence, the gradient comes to it in the end.
    `connections` are those of the step, from `inner_connections`.
    """
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
        if not more:  # in the order of the loop, whatever brought the gradient to them
            ordered = {part: reached[part] for part in forward.variables if part in reached}
            return Classification(ordered, arguments)
        reached |= dict.fromkeys(more, Connected())


def differentiate_step(forward: ScanParts, classes: Classification) -> StepGradients:
    """Phases 3 to 5: the gradients of the step's arguments.

    Every result gets a stand-in for its gradient, the cotangent.  The gradient of an argument
    is then ``sum_j cotangent[j] * d result[j] / d argument``.  Forward results that these
    expressions compute again are replaced by their recorded values, except those of
    mit-mots, whose slots may have been written since.
    """
    output_cotangents = {
        (part, tap): placeholder(as_tensor(result), tap_symbol(f"d{part.name}", tap))
        for part in classes.reached
        for tap, result in part.writes
    }
    known: dict[TensorVariable, TensorVariable] = {}
    for (part, tap), cotangent in output_cotangents.items():
        result = as_tensor(dict(part.writes)[tap])
        if not isinstance(result, Constant):
            # One expression may be returned as two results: their gradients add up.
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
        result: placeholder(result, tap_symbol(part.name, tap))
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
        statuses=_settle(forward, classes, output_cotangents, gradients),
    )


def _is_differentiable(part: LoopVariable) -> bool:
    return part.kind is not Kind.UNTRACED and all(map(is_continuous, part.inner_outputs))


def _grad_of(
    known: dict[TensorVariable, TensorVariable], wrt: list[Variable]
) -> dict[Variable, Variable]:
    """The gradients of `wrt` that are connected, given those of the results `known`.

    `grad` takes a given gradient for the whole gradient of that variable.  A result that is
    itself an argument, or part of another result, is therefore differentiated as a copy.
    """
    if not known or not wrt:
        return {}
    inside = {v for result in known for v in ancestors([result]) if v is not result}
    copies: dict[Variable, Variable] = {
        result.copy() if result in inside or result.owner is None else result: gradient
        for result, gradient in known.items()
    }
    try:
        with translate_recursion_error("cost"):
            gradients = grad(
                cost=None,
                known_grads=copies,
                wrt=wrt,
                disconnected_inputs="ignore",
                return_disconnected="none",
                null_gradients="return",
            )
    except TypeError as error:  # as for complex numbers, of which PyTensor has no gradients
        raise GradientError(f"PyTensor cannot differentiate the step. {error}") from error
    assert isinstance(gradients, list)  # one for each of `wrt`
    return {v: gradient for v, gradient in zip(wrt, gradients, strict=True) if gradient is not None}


def _settle(
    forward: ScanParts,
    classes: Classification,
    output_cotangents: dict[tuple[LoopVariable, int], TensorVariable],
    gradients: dict[Variable, Variable],
) -> dict[Variable, Status]:
    """What becomes of every argument's gradient after all steps.

    Undefinedness spreads: a state whose gradient is undefined hands nothing on, so that
    whatever reaches the cost through it, one step earlier, is undefined as well.
    """
    uses = {argument: set(ancestors([gradient])) for argument, gradient in gradients.items()}
    statuses = {argument: status_of(gradient) for argument, gradient in gradients.items()}
    for part in forward.of_kind(Kind.UNTRACED):
        for argument, used in uses.items():
            if used.intersection(part.inner_inputs):
                statuses[argument] = ThroughUntraced(
                    f"it takes the values of {part.name} at every step, of which none is kept"
                )
    broken = {
        part: status for part, status in classes.reached.items() if isinstance(status, Undefined)
    }
    while True:
        for state in forward.states:
            for argument in state.inner_inputs:
                status = statuses.get(argument)
                if state not in broken and isinstance(status, Undefined):
                    broken[state] = status
        # A state is one array: undefined at one of its taps, it is undefined as a whole.
        newly = {v: why for state, why in broken.items() for v in state.inner_inputs}
        for (part, _), cotangent in output_cotangents.items():
            if part in broken:
                newly |= {v: broken[part] for v, used in uses.items() if cotangent in used}
        newly = {
            argument: why
            for argument, why in newly.items()
            if not isinstance(statuses.get(argument), Undefined)
        }
        if not newly:
            return statuses
        statuses |= newly


@dataclass
class Numbering:
    """A number for every variable, the same for two that are known to hold the same value.

    The same operation on the same values is the same computation.
    """

    known: dict[Variable, int] = field(default_factory=dict)
    _seen: dict[object, int] = field(default_factory=dict)

    def of(self, variable: Variable) -> int:
        """The number of a variable, by itself unless it has been learnt."""
        if variable not in self.known:
            key = variable.signature() if isinstance(variable, Constant) else variable
            self.known[variable] = self._seen.setdefault(key, len(self._seen))
        return self.known[variable]

    def learn(self, variable: Variable) -> None:
        """Number the result of an operation by what it is computed from."""
        node = variable.owner
        key = node.op, tuple(self.of(v) for v in node.inputs), node.outputs.index(variable)
        self.known[variable] = self._seen.setdefault(key, len(self._seen))


def reuse(
    expressions: Sequence[Variable], replacements: Mapping[Variable, Variable]
) -> tuple[list[Variable], set[Variable]]:
    """`expressions` with every copy of a key of `replacements` replaced by its value.

    The derivative of ``y = tanh(x)`` is ``1 - tanh(x)**2``.  The loop has kept y, so that the
    backward loop may read it.  PyTensor's rules often build ``tanh(x)`` anew instead of using
    the variable y; this finds such copies by their structure.  What is computed in another
    way (``exp(x + 0)`` for ``exp(x)``) is not found and will be computed again.

    Returns the new expressions and the keys that were found in them.
    """
    expressions, kept = list(expressions), list(replacements)
    if not expressions or not kept:
        return expressions, set()
    numbers = Numbering()
    for variable in (v for node in toposort(kept) for v in node.outputs):
        numbers.learn(variable)
    targets = {numbers.of(result): result for result in reversed(kept)}
    hits = {}
    for variable in (v for node in toposort(expressions) for v in node.outputs):
        numbers.learn(variable)
        if numbers.of(variable) in targets:
            hits[variable] = targets[numbers.of(variable)]
    if not hits:
        return expressions, set()
    replaced = clone_replace(expressions, replace={v: replacements[r] for v, r in hits.items()})
    return replaced, set(hits.values())
