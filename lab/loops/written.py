"""Build loops whose step is a text: `Loop.from_text`.

>>> Loop.from_text("x**2", states={"x": 0.95}, n_steps=4)
>>> Loop.from_text("sin(x[t-1])*u + w*x[t-2]", {"x": [0.1, 0.2]}, {"u": [1.0, 2.0]}, {"w": 0.5})
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pytensor.scan.utils import until
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, argument_error, check_sequence, listing, quote
from lab.loops.declaration import GROUPS
from lab.loops.text.grammar import Names, SourceLine, compute, read_step
from lab.loops.text.source import values_by_name
from lab.loops.variables import Parameter, Sequence, State, as_value
from lab.notation import Leaf, leaves_of

States = Mapping[str, ArrayLike] | Iterable[State]
Sequences = Mapping[str, ArrayLike] | Iterable[Sequence]
Parameters = Mapping[str, ArrayLike] | Iterable[Parameter]
Result = TensorVariable | until


@dataclass(frozen=True)
class WrittenStep:
    """A step written as text; ``str(step)`` is the text.

    `taps` contains the taps of each variable that the text reads with an index.
    """

    lines: tuple[SourceLine, ...]
    results: tuple[str, ...]
    taps: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, **values: TensorVariable | list[TensorVariable]) -> list[Result]:
        """Return the new states, the outputs, and ``until(condition)`` if the text contains it."""
        taps, results = dict(self.taps), dict[str, TensorVariable]()

        def read(wanted: Leaf) -> TensorVariable:
            if wanted.tap == 0 and wanted.variable in results:
                return results[wanted.variable]
            value = values[wanted.variable]
            if not isinstance(value, list):
                return value
            tap = default_tap(wanted.variable in self.results) if wanted.tap is None else wanted.tap
            return value[taps.get(wanted.variable, ()).index(tap)]

        stop: list[Result] = []
        for line in self.lines:
            if line.is_until:
                stop.append(until(compute(line.node, read)))
            else:
                results[line.target] = compute(line.node, read)
        return [*(results[name] for name in self.results), *stop]

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


def default_tap(is_state: bool) -> int:
    """Return the tap of a name without an index: −1 for a state, 0 for a sequence."""
    return -1 if is_state else 0


def fields_of_text(
    text: str, states: States, sequences: Sequences, parameters: Parameters
) -> dict[str, Any]:
    """Return the fields of a loop that its text determines; see `Loop.from_text`."""
    groups = {"states": states, "sequences": sequences, "parameters": parameters}
    declared = {group: _named_items(group, given) for group, given in groups.items()}
    names = Names(**{group: tuple(name for name, _ in pairs) for group, pairs in declared.items()})
    lines = _assign_single_formula(read_step(text, names), names)
    targets = [line.target for line in lines if not line.is_until]
    missing = [name for name in names.states if name not in targets]
    if missing:
        reason = f"it assigns no value to {listing(missing)}; add a line '{missing[0]} = …'."
        raise argument_error("step", text, reason)
    outputs = tuple(name for name in targets if name not in names.states)
    taps = _taps_of_text(lines, names)
    return {
        "step": WrittenStep(lines, (*names.states, *outputs), tuple(taps.items())),
        "states": tuple(_make_state(*pair, taps) for pair in declared["states"]),
        "sequences": tuple(_make_sequence(*pair, taps) for pair in declared["sequences"]),
        "parameters": tuple(
            item if isinstance(item, Parameter) else Parameter(name, item)
            for name, item in declared["parameters"]
        ),
        "outputs": outputs,
    }


def _named_items(group: str, given: object) -> tuple[tuple[str, object], ...]:
    """Return (name, value) or (name, declared variable) for each variable of a group."""
    if isinstance(given, Mapping):
        return tuple(values_by_name(group, given.items()).items())
    kind = GROUPS[group]
    items = check_sequence(group, given, f"values by name, or a tuple of {kind.__name__}", kind)
    return tuple((item.name, item) for item in items)


def _assign_single_formula(lines: tuple[SourceLine, ...], names: Names) -> tuple[SourceLine, ...]:
    """Return the lines; assign a single formula without a target to the only state."""
    bare = [line for line in lines if not line.target and not line.is_until]
    stops = [line for line in lines if line.is_until]
    if len(stops) > 1:
        reason = "is a second until(…); join the conditions with 'or'."
        raise ArgumentError(f"step: {quote(stops[1].written)} {reason}")
    if not bare:
        return lines
    formulas = len(lines) - len(stops)
    if len(names.states) != 1 or formulas > 1:
        example = names.states[0] if names.states else "y"
        raise ArgumentError(
            f"step: {quote(bare[0].written)} is not assigned to a name; write '{example} = …', "
            "unless the loop has exactly one state and one formula."
        )
    return tuple(line if line.is_until else replace(line, target=names.states[0]) for line in lines)


def _taps_of_text(lines: Iterable[SourceLine], names: Names) -> dict[str, tuple[int, ...]]:
    """Return the taps of each variable that the text reads with an index."""
    reads = [read for line in lines for read in leaves_of(line.node)]
    taps: dict[str, tuple[int, ...]] = {}
    for name in names.all:
        is_state = name in names.states  # tap 0 of a state is the result of an earlier line
        own = {r.tap for r in reads if r.variable == name and not (is_state and r.tap == 0)}
        if own - {None}:
            known = {default_tap(is_state) if tap is None else tap for tap in own}
            taps[name] = tuple(sorted(known))
    return taps


def _make_state(name: str, item: object, named: Mapping[str, tuple[int, ...]]) -> State:
    if isinstance(item, State):
        return replace(item, takes=named.get(name, 1))
    taps = named.get(name, (-1,))
    initial, reach = as_value(item, f"initial of state {name}"), -min(taps)
    if reach > 1 and initial.ndim == 0:
        initial = np.repeat(initial[None], reach)
    return State(name, initial, taps, named.get(name, 1))


def _make_sequence(name: str, item: object, named: Mapping[str, tuple[int, ...]]) -> Sequence:
    if isinstance(item, Sequence):
        return replace(item, takes=named.get(name, 1))
    return Sequence(name, item, named.get(name, (0,)), named.get(name, 1))
