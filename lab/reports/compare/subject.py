"""What is compared: a cost, the inputs to differentiate by, and a value for every input."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from lab.errors import ArgumentError, argument_error, check_choice, quote
from lab.gradients.status import is_real
from lab.loops.declaration import BY
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.scans.names import unique_names
from lab.scans.replacing import as_scans, require_scan, scan_nodes
from lab.traces.run import Values, checked_values, run


@dataclass(frozen=True, eq=False)
class Subject:
    """A scalar `cost`, `wrt` with `names` to call them, `given` values, and those `at` wrt."""

    cost: Variable
    wrt: tuple[Variable, ...]
    names: tuple[str, ...]
    given: Values
    at: tuple[np.ndarray, ...]

    @property
    def truncated(self) -> bool:
        """Whether a Scan of the cost was told to go back some steps only."""
        return any(node.op.truncate_gradient != -1 for node in scan_nodes([self.cost]))


def subject_of(
    subject: object,
    wrt: object,
    given: Values | None,
    cost: str | ArrayLike,
    of: str | None,
) -> Subject:
    """The subject that the arguments of `lab.compare` ask for."""
    if given is not None and not isinstance(given, Mapping):
        raise argument_error("given", given, "expected a dict of variables and their values.")
    if isinstance(subject, Loop):
        if given is not None:
            raise ArgumentError("given: a loop has values of its own, as in loop.with_values(…).")
        return _of_loop(subject, wrt, cost, of)
    for name, value, usual in (("cost", cost, "last"), ("of", of, None)):
        if not (isinstance(value, str | None) and value == usual):
            raise argument_error(name, value, "only of a loop is a cost made.")
    if not isinstance(subject, Variable) or getattr(subject.type, "ndim", None) != 0:
        kind = getattr(subject, "type", type(subject).__name__)
        raise ArgumentError(
            f"subject = {quote(subject)} ({kind}): expected a scalar cost or a loop."
        )
    return _made(subject, wrt, dict(given or {}))


def _of_loop(loop: Loop, wrt: object, cost: str | ArrayLike, of: str | None) -> Subject:
    """A loop, and the cost that `Loop.cost` makes of it."""
    graph = loop.build()
    target = loop.cost(graph, cost, of)
    by_name = {n: v for n, v in graph.inputs.items() if is_real(v)}
    asked = () if wrt is None else list(map(identifier, _listed(wrt)))
    for name in asked:
        check_choice("wrt", name, by_name, BY)
    chosen = [by_name[str(name)] for name in (asked or by_name)]
    return _made(target, chosen, dict(graph.given))


def _made(cost: Variable, wrt: object, given: dict[Variable, object]) -> Subject:
    (cost,) = as_scans([cost])
    require_scan([cost])
    inputs = _complete([cost], given)
    chosen = tuple(v for v in inputs if is_real(v)) if wrt is None else tuple(_listed(wrt))
    if not chosen:
        none = "none of the graph's inputs is real."
        raise argument_error("wrt", wrt, none if wrt is None else "expected one input at least.")
    for variable in chosen:
        if not isinstance(variable, Variable):
            raise ArgumentError(f"wrt: {quote(variable)} is not a PyTensor variable.")
        if not is_real(variable):
            raise ArgumentError(
                f"wrt = {variable} ({variable.type}): expected a real floating-point variable."
            )
    _check_independent(chosen, given)
    values, _ = run([cost, *chosen], given, record=False)
    at = tuple(np.array(values[v]) for v in chosen)
    names = unique_names([v.name for v in chosen])
    return Subject(cost, chosen, names, given, at)


def _check_independent(chosen: Sequence[Variable], given: Values) -> None:
    """Raise ArgumentError unless each of `chosen` can be moved while the other values stay.

    Otherwise finite differences would be those of something else.
    """
    for variable in chosen:
        if chosen.count(variable) > 1:
            raise ArgumentError(f"wrt: {variable} is there more than once.")
    for held in dict.fromkeys((*chosen, *given)):
        moved = next((v for v in ancestors([held]) if v in chosen and v is not held), None)
        if moved is not None:
            raise ArgumentError(
                f"wrt: {held}, which has a value of its own, is computed from {moved}; "
                "differentiate by one of them, and give no value to what is computed from it."
            )


def _listed(wrt: Any) -> list[Any]:
    return list(wrt) if isinstance(wrt, list | tuple) else [wrt]


def _complete(outputs: Iterable[Variable], given: dict[Variable, object]) -> list[Variable]:
    """The inputs of a graph; those of a known shape get a value if they have none.

    The value is the same in every run, between 0.5 and 1.5.
    """
    checked_values(given)
    found = [
        v
        for v in ancestors(list(outputs), blockers=set(given))
        if (v.owner is None or v in given) and not isinstance(v, Constant)
    ]
    inputs = list(dict.fromkeys(found))
    for number, variable in enumerate(inputs):
        if variable in given or isinstance(variable, SharedVariable):
            continue
        kind = variable.type
        if not is_real(variable) or None in kind.shape:
            raise ArgumentError(
                f"given: there is no value for {variable} ({kind}), and only that of a real "
                "variable of known shape can be made up."
            )
        made = np.random.default_rng(number).uniform(0.5, 1.5, kind.shape)
        given[variable] = made.astype(kind.dtype)
    return inputs
