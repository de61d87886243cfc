"""Loops whose step is a text: `Loop.from_text`.

>>> Loop.from_text("x**2", states={"x": 0.95}, n_steps=4)
>>> Loop.from_text("sin(x1)*u + w*x2", {"x": [0.1, 0.2]}, {"u": [1.0, 2.0]}, {"w": 0.5})
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pytensor.scan.utils import until
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, listing
from lab.loops.text.grammar import Names, read_step
from lab.loops.text.terms import Line, Read, compute, reads_of
from lab.loops.variables import Parameter, Sequence, State, as_value

States = Mapping[str, npt.ArrayLike] | Iterable[State]
Sequences = Mapping[str, npt.ArrayLike] | Iterable[Sequence]
Parameters = Mapping[str, npt.ArrayLike] | Iterable[Parameter]
Declared = TypeVar("Declared", State, Sequence, Parameter)

KINDS: Mapping[str, type[State | Sequence | Parameter]] = {
    "states": State,
    "sequences": Sequence,
    "parameters": Parameter,
}


@dataclass(frozen=True)
class WrittenStep:
    """A step that was written as text; ``str(step)`` is a text that gives the same step.

    `taps` are those at which it reads a variable by name, none if by the name alone.
    """

    lines: tuple[Line, ...]
    results: tuple[str, ...]
    taps: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(
        self, **values: TensorVariable | list[TensorVariable]
    ) -> list[TensorVariable | until]:
        """What the step makes of what it receives: states, outputs, then ``until``."""
        taps, assigned = dict(self.taps), dict[str, TensorVariable]()

        def read(wanted: Read) -> TensorVariable:
            value, known = values[wanted.name], taps.get(wanted.name, ())
            if not isinstance(value, list):
                return value
            tap = default_tap(wanted.name in self.results) if wanted.tap is None else wanted.tap
            return value[known.index(tap)]

        stop = []
        for line in self.lines:
            value = compute(line.node, read, assigned)
            if line.is_until:
                stop.append(until(value))
            else:
                assigned[line.target] = value
        return [assigned[name] for name in self.results] + stop

    def __str__(self) -> str:
        return "\n".join(
            line.written if line.is_until else f"{line.target} = {line.written}"
            for line in self.lines
        )


def default_tap(is_state: bool) -> int:
    """What a name alone means: the last value of a state, this step's of a sequence."""
    return -1 if is_state else 0


def written_loop(
    text: str, states: States, sequences: Sequences, parameters: Parameters
) -> tuple[
    WrittenStep,
    tuple[State, ...],
    tuple[Sequence, ...],
    tuple[Parameter, ...],
    tuple[str, ...],
]:
    """The step, variables and outputs of a loop whose step is `text`; see `Loop.from_text`."""
    groups = {"states": states, "sequences": sequences, "parameters": parameters}
    names = Names(**{group: _names(group, given) for group, given in groups.items()})
    lines = _targeted(read_step(text, names), names)
    targets = [line.target for line in lines if not line.is_until]
    missing = [name for name in names.states if name not in targets]
    if missing:
        raise ArgumentError(
            f"step = {text!r:.60}: nothing is assigned to {listing(missing)}; each state needs a "
            f"line, as '{missing[0]} = …'."
        )
    outputs = tuple(name for name in targets if name not in names.states)
    taps = {name: _taps(name, lines, name in names.states) for name in names.all}
    named = {name: at for name, at in taps.items() if at}
    step = WrittenStep(lines, (*names.states, *outputs), tuple(named.items()))
    return (
        step,
        tuple(_state(item, named) for item in _items(states)),
        tuple(_sequence(item, named) for item in _items(sequences)),
        tuple(p if isinstance(p, Parameter) else Parameter(*p) for p in _items(parameters)),
        outputs,
    )


def _items(
    given: Mapping[str, npt.ArrayLike] | Iterable[Declared],
) -> tuple[Declared | tuple[str, npt.ArrayLike], ...]:
    """Variables, or pairs of a name and a value."""
    return tuple(given.items()) if isinstance(given, Mapping) else tuple(given)


def _names(group: str, given: object) -> tuple[str, ...]:
    kind = KINDS[group]
    if isinstance(given, Mapping):
        return tuple(given)
    items = tuple(given) if isinstance(given, Iterable) else (None,)
    names = tuple(item.name for item in items if isinstance(item, kind))
    if isinstance(given, str) or len(names) < len(items):
        raise ArgumentError(
            f"{group} = {given!r:.60}: expected values by name, or a tuple of {kind.__name__}."
        )
    return names


def _targeted(lines: tuple[Line, ...], names: Names) -> tuple[Line, ...]:
    """The lines, with the only state assigned by a formula that says nothing about it."""
    bare = [line for line in lines if not line.target and not line.is_until]
    stops = [line for line in lines if line.is_until]
    if len(stops) > 1:
        raise ArgumentError(
            f"step: {stops[1].written!r:.60} is a second until(…); join conditions with 'or'."
        )
    if not bare:
        return lines
    formulas = len(lines) - len(stops)
    if len(names.states) != 1 or formulas > 1:
        example = names.states[0] if names.states else "y"
        raise ArgumentError(
            f"step: {bare[0].written!r:.60} is assigned to nothing; a loop with other than one "
            f"state and one formula needs lines such as '{example} = …'."
        )
    return tuple(line if line.is_until else replace(line, target=names.states[0]) for line in lines)


def _taps(name: str, lines: Iterable[Line], is_state: bool) -> tuple[int, ...]:
    """The taps at which a text reads a variable by name; none if by the name alone."""
    reads = [read.tap for line in lines for read in reads_of(line.node) if read.name == name]
    if all(tap is None for tap in reads):
        return ()
    return tuple(sorted({default_tap(is_state) if tap is None else tap for tap in reads}))


def _state(item: State | tuple[str, npt.ArrayLike], named: Mapping[str, tuple[int, ...]]) -> State:
    if isinstance(item, State):
        taps = named.get(item.name)
        _check_agreement("state", item.name, item.taps, taps)
        return State(item.name, item.initial, item.taps, taps or 1)
    name, value = item
    taps = named.get(name, (-1,))
    initial, reach = as_value(value, f"initial of state {name}"), -min(taps)
    if reach > 1 and initial.ndim == 0:
        initial = np.repeat(initial[None], reach)
    return State(name, initial, taps, named.get(name, 1))


def _sequence(
    item: Sequence | tuple[str, npt.ArrayLike], named: Mapping[str, tuple[int, ...]]
) -> Sequence:
    if isinstance(item, Sequence):
        taps = named.get(item.name)
        _check_agreement("sequence", item.name, item.taps, taps)
        return Sequence(item.name, item.values, item.taps, taps or 1)
    name, values = item
    return Sequence(name, values, named.get(name, (0,)), named.get(name, 1))


def _check_agreement(
    kind: str, name: str, given: tuple[int, ...], read: tuple[int, ...] | None
) -> None:
    if read is None and len(given) > 1:
        steps = listing(f"{name}[t{tap:+d}]" if tap else f"{name}[t]" for tap in given)
        raise ArgumentError(
            f"taps of {kind} {name} = {list(given)}: the step reads {name!r} alone, which means "
            f"one tap; name the taps as {steps}."
        )
    if read is not None and given != read:
        raise ArgumentError(
            f"taps of {kind} {name} = {list(given)}: the step reads it at {list(read)}; give these "
            "taps, or none, or change the text."
        )
