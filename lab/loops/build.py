"""Build the PyTensor graph of a declared loop, and its cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import graph_inputs
from pytensor.tensor.random.type import random_generator_type
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from lab.errors import (
    ArgumentError,
    LabError,
    argument_error,
    check_choice,
    check_sequence,
    first_line,
    listing,
    quote,
    shorten,
    translate_recursion_error,
)
from lab.gradients.status import is_real
from lab.loops.declaration import BY, OF, Declaration, names_of_results
from lab.loops.text.source import choose_name, identifier
from lab.loops.variables import Parameter, call_step, results_of
from lab.notation import counted, value_symbol, weighted_sum
from lab.records import as_array
from lab.scans.buffers import as_tensor, fresh_buffer
from lab.scans.node import LoopVariable, ScanParts, build_scan, outer_outputs
from lab.scans.slices import set_current_row
from lab.tape import ONE_READ, ONE_WRITE, Kind, Tape

Result = Variable | np.ndarray | float  # the types of values that a step can return


@dataclass(frozen=True, eq=False)
class LoopGraph:
    """The PyTensor graph of a loop.

    `inputs` are the symbolic variables by name, and `given` their values.  `buffers` contains the
    results of the Scan by name; the buffer of a state begins with its initial values.  `outputs`
    contains the computed values of each state and output.  If `stops_early` is true, these can be
    fewer values than steps.
    """

    node: Apply
    inputs: Mapping[str, Variable]
    given: Mapping[Variable, object]
    buffers: Mapping[str, Variable]
    outputs: Mapping[str, TensorVariable]
    stops_early: bool

    def select_inputs(
        self, wrt: object, allowed: Callable[[Variable], bool] = is_real
    ) -> dict[str, Variable]:
        """Return the inputs that `wrt` names: one name, or several (default: all `allowed` inputs).

        Raise ArgumentError for an unknown name, an input that is not allowed, or an empty `wrt`.
        """
        known = {name: variable for name, variable in self.inputs.items() if allowed(variable)}
        if wrt is None:
            return known
        names = [wrt] if isinstance(wrt, str) else check_sequence("wrt", wrt, "names of variables")
        if not names:
            raise argument_error("wrt", wrt, "expected at least one name of a variable.")
        return {n: known[check_choice("wrt", n, known, BY)] for n in map(identifier, names)}


def make_inputs(
    loop: Declaration, *, has_lengths: bool
) -> tuple[dict[str, Any], dict[Variable, object]]:
    """Return the symbolic inputs of a loop by name, and their values.

    If `has_lengths` is true, the types of the inputs contain their static shapes.
    """
    values: dict[str, np.ndarray | np.random.Generator] = {}
    if isinstance(loop.n_steps, Parameter):
        values[loop.n_steps.name] = np.asarray(loop.steps, dtype="int64")
    values |= {sequence.name: sequence.values for sequence in loop.sequences}
    values |= {state.name: state.initial for state in loop.states}
    values |= {random.name: np.random.default_rng(random.seed) for random in loop.random}
    values |= {parameter.name: parameter.value for parameter in loop.parameters}
    inputs: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            shape = value.shape if has_lengths else (None,) * value.ndim
            inputs[name] = TensorType(value.dtype, shape=shape)(name)
        else:
            inputs[name] = random_generator_type(name)
        inputs[name].tag.declared = name
    return inputs, {inputs[name]: value for name, value in values.items()}


def build_loop(loop: Declaration) -> LoopGraph:
    """Build a PyTensor graph with one Scan, also for a loop of one step."""
    inputs, given = make_inputs(loop, has_lengths=True)
    steps = inputs[loop.n_steps.name] if isinstance(loop.n_steps, Parameter) else loop.steps
    parts: list[LoopVariable] = []
    for sequence in loop.sequences:
        outer, name = inputs[sequence.name], sequence.name
        set_current_row(outer, sequence.start(0))
        row = TensorType(outer.type.dtype, shape=outer.type.shape[1:])
        for tap in sequence.taps:
            rows, inner = outer[sequence.start(tap) :][:steps], row(f"{name}[{tap}]")
            parts.append(LoopVariable(Kind.SEQUENCE, name, ONE_READ, rows, (inner,)))
    for state in loop.states:
        initial = inputs[state.name]
        buffer = fresh_buffer(initial[None] if state.reach == 1 else initial, steps)
        row = TensorType(buffer.type.dtype, shape=state.first_values.shape[1:])
        taps = tuple(row(f"{state.name}[{tap}]") for tap in state.taps)
        tape = Tape(tuple(state.taps), (0,))
        parts.append(LoopVariable(tape.kind, state.name, tape, buffer, taps))
    for random in loop.random:
        inner, tape = random_generator_type(random.name), Tape((-1,), (0,))
        parts.append(LoopVariable(Kind.UNTRACED, random.name, tape, inputs[random.name], (inner,)))
    for parameter in loop.parameters:
        outer = inputs[parameter.name]
        inner = outer.type(parameter.name)
        parts.append(LoopVariable(Kind.PARAMETER, parameter.name, ONE_READ, outer, (inner,)))

    arguments = {part.name: list[Variable]() for part in parts}  # a variable for each tap
    for part in parts:
        arguments[part.name] += part.inner_inputs
    results, condition = _call_step(loop, arguments)
    n_steps = pt.as_tensor_variable(np.int64(steps) if isinstance(steps, int) else steps)
    parts = [
        replace(part, inner_outputs=(_checked_result(part, results[part.name]),))
        if part.tape.writes
        else part
        for part in parts
    ]
    for name in loop.outputs:
        result = _as_tensor(name, results[name])
        parts.append(LoopVariable(Kind.NIT_SOT, name, ONE_WRITE, n_steps, (), (result,)))
    scan = ScanParts(
        name=loop.name,
        n_steps=n_steps,
        variables=tuple(parts),
        until=condition,
        truncate_gradient=loop.truncate_gradient,
    )
    with translate_recursion_error("step"):
        node = build_scan(scan)
    filled = {part.name: rows for part, rows in outer_outputs(scan, node).items()}
    reach = {state.name: state.reach for state in loop.states}
    return LoopGraph(
        node=node,
        inputs=inputs,
        given=given,
        buffers=filled,
        outputs={n: as_tensor(filled[n])[reach.get(n, 0) :] for n in (*reach, *loop.outputs)},
        stops_early=condition is not None,
    )


def _call_step(
    loop: Declaration, arguments: Mapping[str, list[Variable]]
) -> tuple[dict[str, Result], Variable | None]:
    """Call the step once; return its results by name, and its until condition or None."""
    try:
        returned = call_step(loop.step, arguments)
    except LabError:
        raise
    except Exception as error:
        counts = listing(
            f"{name} as {counted(len(values), 'value')}" for name, values in arguments.items()
        )
        raise ArgumentError(f"step failed with {counts}: {first_line(error)}") from error
    results, condition = results_of(returned)
    _check_step_inputs([*results, condition], arguments)
    names = names_of_results(loop)
    if len(results) != len(names):
        expected = f"expected {len(names)}, for {listing(names)}."
        raise ArgumentError(f"step returned {counted(len(results), 'value')}, {expected}")
    return dict(zip(names, results, strict=True)), condition


def _check_step_inputs(
    results: list[Result | None], arguments: Mapping[str, list[Variable]]
) -> None:
    """Raise ArgumentError if a step reads a variable that is not among its arguments."""
    own = {variable for values in arguments.values() for variable in values}
    for variable in graph_inputs([r for r in results if isinstance(r, Variable)], blockers=own):
        if variable in own or isinstance(variable, Constant):
            continue
        name = shorten(variable.name or "w")
        if isinstance(variable.type, type(random_generator_type)):
            raise ArgumentError(
                f"step draws from {quote(variable)}, which is not an argument; declare "
                "random=(lab.RandomState('rng'),), add the argument rng, draw with rng=rng and "
                "return_next_rng=True, and return the next generator last."
            )
        shared = isinstance(variable, SharedVariable)
        value = f"{name}.get_value()" if shared else "…"
        raise ArgumentError(
            f"step reads {'the shared variable' if shared else 'the variable'} "
            f"{quote(variable)}, which is not an argument; declare "
            f"parameters=(lab.Parameter({name!r}, {value}),) and add the argument {name}."
        )


def _as_tensor(name: str, value: Result) -> TensorVariable:
    try:
        return pt.as_tensor_variable(value)
    except Exception as error:  # __array__ of the object may raise any error
        reason = f"step returned {quote(value)} for {name}: expected a tensor."
        raise ArgumentError(reason) from error


def _checked_result(part: LoopVariable, value: Result) -> Variable:
    """Return `value` as the next value of a state, or raise ArgumentError for another type."""
    like = part.inner_inputs[0]
    if part.kind is Kind.UNTRACED:
        if not isinstance(value, Variable) or value.type != like.type:
            raise ArgumentError(f"step returned {value} for {part.name}: expected a generator.")
        return value
    result = _as_tensor(part.name, value)
    if result.type.dtype != like.type.dtype:
        raise ArgumentError(
            f"step returned dtype {result.type.dtype} for {part.name}, expected {like.type.dtype}. "
            f"Start with a value of dtype {result.type.dtype}, or cast the result."
        )
    lengths = zip(like.type.shape, result.type.shape, strict=False)
    has_other_length = any(None not in pair and len({*pair}) > 1 for pair in lengths)
    if has_other_length or result.type.ndim != like.type.ndim:
        raise ArgumentError(
            f"step returned the shape {result.type.shape} for {part.name}, expected "
            f"{like.type.shape}. Return a value of the same shape."
        )
    if result.type.broadcastable != like.type.broadcastable:
        result = pt.specify_shape(result, like.type.shape)
    return result


def cost_label(loop: Declaration, graph: LoopGraph, cost: npt.ArrayLike, of: str | None) -> str:
    """Write the cost as ``x₄`` or ``x₁ + … + x₄``; omit indices if the loop can stop early."""
    of = choose_name("of", of, graph.outputs, OF)
    first = next((state.reach for state in loop.states if state.name == of), 0)
    template = "{}" if as_tensor(graph.outputs[of]).type.ndim < 2 else "sum({})"
    if graph.stops_early:
        several = *(template.format(value_symbol(of, first + n)) for n in range(2)), "…"
        named = {"last": f"the last {of}", "sum": " + ".join(several)}
        return named[cost] if isinstance(cost, str) else f"a weighted sum of {', '.join(several)}"
    weights = {first + loop.steps - 1: 1.0}
    if not isinstance(cost, str) or cost != "last":
        each = np.ones(loop.steps) if isinstance(cost, str) else as_weights(cost)
        weights = {n: weight for n, weight in enumerate(each.tolist(), first) if weight}
    return weighted_sum({template.format(value_symbol(of, n)): weights[n] for n in weights})


def as_weights(cost: object) -> np.ndarray:
    """Return `cost` as a vector of weights; raise ArgumentError for another value."""
    weights = as_array("cost", cost, "'last', 'sum', or a weight per step", "float64")
    if weights.ndim != 1 or not np.isfinite(weights).all():
        raise argument_error("cost", cost, "expected 'last', 'sum', or a finite weight per step.")
    return weights
