"""The cost that `lab.compare` differentiates, its variables, and values for all inputs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from lab.errors import ArgumentError, argument_error, quote
from lab.gradients.derivative import check_wrt
from lab.gradients.status import is_real
from lab.loops.loop import Loop
from lab.scans.names import unique_names
from lab.scans.replacing import as_scans, require_scan, scan_nodes
from lab.traces.run import Values, checked_values, run


@dataclass(frozen=True, eq=False)
class Subject:
    """A scalar `cost`, the variables `wrt` with their `names`, and `given` values of all inputs.

    `at` are the values of `wrt`.
    """

    cost: Variable
    wrt: tuple[Variable, ...]
    names: tuple[str, ...]
    given: Values
    at: tuple[np.ndarray, ...]

    @property
    def is_truncated(self) -> bool:
        """Whether a Scan of the cost has a limit `truncate_gradient`."""
        return any(node.op.truncate_gradient != -1 for node in scan_nodes([self.cost]))


def subject_of(
    subject: object,
    wrt: object,
    given: Values | None,
    cost: str | ArrayLike,
    of: str | None,
) -> Subject:
    """Return the cost, the variables, and the values for the arguments of `lab.compare`."""
    if given is not None and not isinstance(given, Mapping):
        raise argument_error("given", given, "expected a dict of variables and their values.")
    if isinstance(subject, Loop):
        if given is not None:
            raise ArgumentError("given: expected none, use loop.with_values(…) for a loop.")
        graph = subject.build()
        target = subject.cost(graph, cost, of)
        variables = [*graph.select_inputs(wrt).values()]
        return _of_graph(target, variables, dict(graph.given))
    for name, value, usual in (("cost", cost, "last"), ("of", of, None)):
        if not (isinstance(value, str | None) and value == usual):
            raise argument_error(name, value, "expected none, because only a loop has it.")
    if not isinstance(subject, Variable) or getattr(subject.type, "ndim", None) != 0:
        kind = getattr(subject, "type", type(subject).__name__)
        raise ArgumentError(
            f"subject = {quote(subject)} ({kind}): expected a scalar cost or a loop."
        )
    return _of_graph(subject, wrt, dict(given or {}))


def _of_graph(cost: Variable, wrt: object, given: dict[Variable, object]) -> Subject:
    (cost,) = as_scans([cost])
    require_scan([cost])
    inputs = _complete([cost], given)
    real = [v for v in inputs if is_real(v)]
    if wrt is None and not real:
        raise argument_error("wrt", wrt, "no input of the graph is real.")
    variables = check_wrt(cost, real if wrt is None else wrt)
    _check_independent(variables, given)
    values, _ = run([cost, *variables], given, record=False)
    at = tuple(np.array(values[v]) for v in variables)
    names = unique_names([v.name for v in variables])
    return Subject(cost, variables, names, given, at)


def _check_independent(variables: Sequence[Variable], given: Values) -> None:
    """Raise ArgumentError if a variable is computed from another variable with a value.

    Finite differences change one variable and leave all other values the same.
    """
    for variable in variables:
        if variables.count(variable) > 1:
            raise ArgumentError(f"wrt: {variable} occurs more than once.")
    for fixed in dict.fromkeys((*variables, *given)):
        cause = next((v for v in ancestors([fixed]) if v in variables and v is not fixed), None)
        if cause is not None:
            raise ArgumentError(
                f"wrt: {fixed}, which has a value of its own, is computed from {cause}. "
                "Differentiate wrt only one variable, and give no value to a computed variable."
            )


def _complete(outputs: Iterable[Variable], given: dict[Variable, object]) -> list[Variable]:
    """Return the inputs of a graph, and add default values to `given` for inputs of known shape.

    Default values are between 0.5 and 1.5, and the same in every run.
    """
    checked_values(given)
    inputs = list(dict.fromkeys(
        v
        for v in ancestors(list(outputs), blockers=set(given))
        if (v.owner is None or v in given) and not isinstance(v, Constant)
    ))  # fmt: skip
    for number, variable in enumerate(inputs):
        if variable in given or isinstance(variable, SharedVariable):
            continue
        kind = variable.type
        if not is_real(variable) or None in kind.shape:
            raise ArgumentError(
                f"given: there is no value for {variable} ({kind}). Only real variables of known "
                "shape have a default value."
            )
        value = np.random.default_rng(number).uniform(0.5, 1.5, kind.shape)
        given[variable] = value.astype(kind.dtype)
    return inputs
