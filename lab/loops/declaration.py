"""Declare a loop (its step, variables, and number of steps), and check the declaration.

Building the graph calls the step once, with the declared variables as keyword arguments.  The
step returns, in this order, the new values of all states, the outputs, and the next generators
of all random states.  If the loop can stop early, the last result is ``until(condition)``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lab.errors import (
    ArgumentError,
    argument_error,
    check_choice,
    check_function,
    check_integer,
    check_sequence,
    check_type,
    listing,
)
from lab.loops.text.source import identifier, values_by_name
from lab.loops.variables import Parameter, RandomState, Sequence, State, check_name, value_of
from lab.notation import counted
from lab.scans.names import split_name
from lab.tape import check_taps

MOST_BYTES = 4_000_000_000  # largest size of all values that the steps of a loop read and write
COPIES = 3  # copies of a state's value in a trace: tape, reads, and writes
UNNAMED = "scan_fn"  # PyTensor's name of a Scan without a name
BY = "expected one of {}."
OF = "the loop's states and outputs are {}."
GROUPS: dict[str, type] = {"states": State, "sequences": Sequence, "parameters": Parameter}
GROUPS |= {"random": RandomState, "outputs": str}


@dataclass(frozen=True, eq=False)
class Declaration:
    """The fields of a loop.

    If `n_steps` is None, the sequences determine the number of steps.  `reason` is the purpose of
    a loop of the gallery.
    """

    step: Callable[..., object]  # its arguments and results are the variables below
    states: tuple[State, ...] = ()
    sequences: tuple[Sequence, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[str, ...] = ()
    random: tuple[RandomState, ...] = ()
    n_steps: int | Parameter | None = None
    truncate_gradient: int = -1
    name: str = UNNAMED
    reason: str = ""

    def __post_init__(self) -> None:
        if split_name(check_name(self.name))[0]:
            raise argument_error("name", self.name, "expected no prefix such as grad_of_.")
        check_type("reason", self.reason, str, "a text")
        check_function("step", self.step)
        for group, kind in GROUPS.items():
            example = '("y",)' if kind is str else f"({kind.__name__}(…),)"
            expected = f"a tuple of {kind.__name__}, as in {example}"
            expected += "" if kind is str else ". lab.Loop.from_text accepts a dict"
            members = check_sequence(group, getattr(self, group), expected, kind)
            object.__setattr__(self, group, tuple(map(identifier, members)))
        names = [variable.name for variable in self._all_variables] + [*self.outputs]
        if isinstance(self.n_steps, Parameter):
            names.append(self.n_steps.name)
        for name in names:
            check_name(name)
            if names.count(name) > 1:
                raise argument_error("name", name, "use each name only once in a loop.")
        if not self.states and not self.outputs:
            raise ArgumentError("states = [], outputs = []: expected at least one state or output.")
        self._check_steps()
        try:
            signature(self.step).bind(**self.variables)
        except (TypeError, ValueError) as error:  # a ValueError for a function without a signature
            reason = f"expected a function of the variables {listing(self.variables)}; {error}."
            raise argument_error("step", self.step, reason) from None

    @property
    def variables(self) -> dict[str, State | Sequence | Parameter | RandomState]:
        """All arguments of the step, by name."""
        return {variable.name: variable for variable in self._all_variables}

    @property
    def _all_variables(self) -> tuple[State | Sequence | Parameter | RandomState, ...]:
        return (*self.states, *self.sequences, *self.parameters, *self.random)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The declared values of all variables except random states, by name."""
        variables = self.variables.items()
        return {n: value_of(v) for n, v in variables if not isinstance(v, RandomState)}

    @property
    def steps(self) -> int:
        """The number of steps for the current values of sequences and parameters."""
        if isinstance(self.n_steps, Parameter):
            return int(self.n_steps.value)
        if self.n_steps is not None:
            return self.n_steps
        return min(sequence.steps for sequence in self.sequences)

    def _check_steps(self) -> None:
        if self.n_steps is None and not self.sequences:
            raise ArgumentError("n_steps = None: a loop without sequences needs a number of steps.")
        if isinstance(self.n_steps, Parameter):
            value = self.n_steps.value
            if value.ndim or not np.isfinite(value) or value != np.round(value):
                raise ArgumentError(f"n_steps = {value}: expected one integer.")
        elif self.n_steps is not None:
            object.__setattr__(self, "n_steps", check_integer("n_steps", self.n_steps))
        if self.n_steps is not None and self.steps < 1:
            why = "a loop of 0 steps has empty results"
            if self.steps < 0:
                why = "to run backwards, reverse the sequences"
            reason = f"expected at least 1 step; {why}. lab.canonical shows what PyTensor does."
            raise argument_error("n_steps", self.steps, reason)
        rows = [state.initial.nbytes // state.reach for state in self.states]
        needed = self.steps * (COPIES * sum(rows) + 8 * len(self.outputs))
        if needed > MOST_BYTES:
            size = f"{min(needed, 10**300) / 1e9:,.4g} GB; the limit is {MOST_BYTES / 1e9:g} GB."
            reason = f"the values of all steps need about {size}"
            raise argument_error("n_steps", self.steps, reason)
        expected, limit = "a number of steps, or -1 for all steps", self.truncate_gradient
        if check_integer("truncate_gradient", limit, expected) < -1 or limit == 0:
            raise argument_error("truncate_gradient", limit, f"expected {expected}.")
        for sequence in self.sequences:
            if sequence.steps < max(1, self.steps):
                lacking = max(1, self.steps) - sequence.steps
                raise ArgumentError(
                    f"values of {sequence.label}: {len(sequence.values)} values with taps "
                    f"{list(sequence.taps)} suffice for {counted(max(0, sequence.steps), 'step')}, "
                    f"but the loop runs {counted(max(1, self.steps), 'step')}; add {lacking} more."
                )

    def named_taps(
        self, taps: Mapping[str, Iterable[int]] | Iterable[int]
    ) -> dict[str, Iterable[int]]:
        """Return taps by name; taps without a name belong to the first state."""
        if not isinstance(taps, Mapping):
            expected = "taps, as in (-2, -1), or a dictionary from names to taps"
            taps = {"": check_taps(check_type("taps", taps, Iterable, expected), "taps")}
        taps = values_by_name("taps", taps.items())
        if "" in taps and not self.states:
            why = "the loop has only sequences; name one, as in {'u': (0, 1)}."
            raise argument_error(f"taps of loop {self.name}", taps[""], why)
        return {name or self.states[0].name: some for name, some in taps.items()}

    def with_taps(self, taps: Mapping[str, Iterable[int]] | Iterable[int]) -> Self:
        """Return the loop with other taps for the named states and sequences.

        Taps without a name, as ``(-2, -1)``, belong to the first state.
        """
        known = {n: v for n, v in self.variables.items() if isinstance(v, State | Sequence)}
        of = "the loop's states and sequences are {}."
        new = {check_choice("taps", n, known, of): t for n, t in self.named_taps(taps).items()}
        return self._with_variables({name: known[name].with_taps(t) for name, t in new.items()})

    def _with_variables(self, new: Mapping[str, Any], **others: Any) -> Self:
        """Return the loop with new variables by name, and new values of other fields."""
        groups: dict[str, Any] = {
            group: tuple(new.get(variable.name, variable) for variable in getattr(self, group))
            for group in ("states", "sequences", "parameters")
        }
        return replace(self, **groups, **others)

    def with_steps(self, n_steps: int) -> Self:
        """Return the loop with another number of steps."""
        if isinstance(self.n_steps, Parameter):
            return replace(self, n_steps=self.n_steps.with_value(np.asarray(n_steps)))
        return replace(self, n_steps=n_steps)

    def with_values(self, values: Mapping[str, npt.ArrayLike], argument: str = "values") -> Self:
        """Return the loop with other values for the named variables."""
        check_type(argument, values, Mapping, "values by name, as in {'x': 0.95}")
        values = values_by_name(argument, values.items())
        n_steps = self.n_steps
        if isinstance(n_steps, Parameter) and n_steps.name in values:
            n_steps = n_steps.with_value(values.pop(n_steps.name))
        for name in values:
            check_choice(argument, name, self.values, "the loop's variables are {}.")
        known: dict[str, Any] = self.variables  # all variables in `self.values` have a value
        new = {name: known[name].with_value(value) for name, value in values.items()}
        return self._with_variables(new, n_steps=n_steps)


def names_of_results(loop: Declaration) -> tuple[str, ...]:
    """Return the names of the results of the step: states, outputs, and random states."""
    return (*(s.name for s in loop.states), *loop.outputs, *(r.name for r in loop.random))
