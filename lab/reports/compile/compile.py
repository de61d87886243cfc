"""What becomes of the Scans of a graph when PyTensor compiles it, without compiling it.

    >>> print(lab.compiled(xs[-1]))                  # the loop alone: its buffer is shortened
    >>> print(lab.compiled(xs[-1], wrt=x0))          # with its gradient, which needs all rows
    >>> print(lab.compiled(function))                # a function that exists already

The rewrites of the compilation mode are applied to a copy of the graph; nothing is linked, so
that it costs tenths of a second.  Two rewrites are left out, which change no Scan: the fusion
of elementwise operations, and with it what would make the numbers of rows unreadable.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytensor
from pytensor.compile import Function
from pytensor.gradient import DisconnectedInputError, grad
from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, GradientError, GraphError, first_line
from lab.loops.loop import Loop
from lab.reports.compile.compiled import Compiled
from lab.reports.compile.fates import Sources, scan_after, scan_before
from lab.reports.compile.rewriting import mode_words, rewritten
from lab.reports.explain.traps import called
from lab.scans.graphs import scan_nodes
from lab.traces.run import checked

FUSION = ("fusion",)


def compiled(
    subject: Variable | Sequence[Variable] | Loop | Any,
    wrt: Variable | str | None = None,
    mode: Any = None,
    given: Mapping[Variable, Any] | None = None,
) -> Compiled:
    """What is left of the Scans in a graph when a function is compiled of it.

    `subject` is a variable, several, a `lab.Loop`, or a compiled function.  With `wrt`, the
    gradient of a scalar variable is compiled along with it.  `mode` is one of PyTensor's, by name
    or as it is, and the default unless given.  `given` are values of inputs, by which numbers of
    rows become known; those of a compiled function are told apart by their names.  The graph is not
    altered, and nothing is compiled.

    Raises ArgumentError for another subject, and for a `wrt` beside a compiled function.
    """
    values = values_of(given)
    if isinstance(subject, Function):
        if wrt is not None or mode is not None:
            raise ArgumentError("wrt, mode: a compiled function has its outputs and mode already.")
        return _of_function(subject, values)
    if isinstance(subject, Loop):
        outputs, wrt, known = _of_loop(subject, wrt)
        values = {**known, **values}
    else:
        outputs = [subject] if isinstance(subject, Variable) else list(_listed(subject))
    if wrt is None:
        return _compiled(outputs, None, mode, values)
    gradient = _gradient(outputs, wrt)
    alone = _compiled(outputs, None, mode, values)
    return _compiled([*outputs, gradient], wrt, mode, values, alone)


def values_of(given: Any) -> dict[Variable, Any]:
    """Values of inputs, each as its input holds it; ArgumentError for what is none."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"given = {given!r:.60}: expected a dict of variables and values.")
    for variable in given or {}:
        if not isinstance(variable, Variable):
            raise ArgumentError(f"given: {variable!r:.60} is not a PyTensor variable.")
    return {variable: checked(variable, value) for variable, value in (given or {}).items()}


def compiled_as(
    outputs: list[Variable], mode: Any, given: Mapping[Variable, Any], without: tuple[str, ...]
) -> Compiled:
    """`compiled`, with some more rewrites left out, by name or tag."""
    return _compiled(outputs, None, mode, dict(given), None, without)


def _listed(subject: Any) -> Sequence[Variable]:
    if (
        isinstance(subject, list | tuple)
        and subject
        and all(isinstance(item, Variable) for item in subject)
    ):
        return subject
    raise ArgumentError(
        f"subject = {subject!r:.60}: expected a variable, several, a Loop or a function."
    )


def _of_loop(
    loop: Loop, wrt: Variable | str | None
) -> tuple[list[Variable], Variable | None, Mapping[Variable, Any]]:
    graph = loop.build()
    if wrt is not None and (not isinstance(wrt, str) or wrt not in graph.inputs):
        raise ArgumentError(f"wrt = {wrt!r}: this loop has {', '.join(graph.inputs)}.")
    by = None if wrt is None else graph.inputs[wrt]
    return [loop.cost(graph)], by, graph.given


def _gradient(outputs: list[Variable], wrt: Any) -> Variable:
    if not isinstance(wrt, Variable):
        raise ArgumentError(f"wrt = {wrt!r}: expected a PyTensor variable.")
    if len(outputs) != 1 or outputs[0].type.ndim:
        raise ArgumentError(f"subject = {outputs}: a gradient is taken of one scalar.")
    try:
        return grad(outputs[0], wrt)
    except DisconnectedInputError as error:
        raise GraphError(f"wrt = {wrt}: the cost does not depend on it.") from error
    except Exception as error:  # whatever a pullback stumbles over
        raise GradientError(f"wrt = {wrt}: there is no gradient. {first_line(error)}") from error


def _compiled(
    outputs: list[Variable],
    wrt: Any,
    mode: Any,
    given: dict[Variable, Any],
    alone: Compiled | None = None,
    without: tuple[str, ...] = FUSION,
) -> Compiled:
    """What is left of the Scans that `outputs` depend on."""
    made = rewritten(outputs, mode, without)
    known = {copy: given[v] for v, copy in made.inputs if v in given}
    numbers = {node: number for number, node in enumerate(made.after, start=1)}
    before = tuple(
        scan_before(number, node, copy, made, numbers, given)
        for number, (node, copy) in enumerate(zip(made.before, made.copies, strict=True), start=1)
    )
    after = tuple(
        scan_after(numbers[node], node, made.graph, Sources(made, node, given), known)
        for node in made.after
    )
    told = called(wrt, "the variable") if isinstance(wrt, Variable) else ""
    names = (*_names(outputs[:1]), "its gradient") if told else _names(outputs)
    return Compiled(names, told, mode_words(mode), pytensor.__version__, before, after, alone)


def _names(outputs: Sequence[Variable]) -> tuple[str, ...]:
    """What the results are called; without names, which one it is."""
    if len(outputs) == 1:
        return (str(outputs[0].name or "the result"),)
    return tuple(str(v.name or f"result {number}") for number, v in enumerate(outputs, start=1))


def _of_function(function: Function, given: dict[Variable, Any]) -> Compiled:
    """The Scans of a function; of what they were before it keeps no record."""
    graph = function.maker.fgraph
    inputs, known = _by_name(graph.inputs), _by_name(given)
    given = {inputs[name]: given[known[name]] for name in inputs if name in known}
    after = tuple(
        scan_after(number, node, graph, None, given)
        for number, node in enumerate(scan_nodes(graph.outputs), start=1)
    )
    mode = mode_words(function.maker.mode)
    return Compiled(_names(graph.outputs), "", mode, pytensor.__version__, (), after)


def _by_name(variables: Collection[Variable]) -> dict[str, Variable]:
    """Variables by their names, without those that have none, or one that others have."""
    names = [variable.name for variable in variables]
    return {v.name: v for v in variables if v.name and names.count(v.name) == 1}
