"""What is declared of a loop, and checked as it is declared: its step, variables, and steps.

The step is called once, to build the graph.  Its arguments are matched to the declared
variables by name, so that their order cannot be got wrong.  It returns the new value of
every state, then the outputs, then the next generator of every random state, and last, if
the loop may stop early, ``until(condition)``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from lab.errors import (
    ArgumentError,
    argument_error,
    check_choice,
    check_function,
    check_type,
    quote,
)
from lab.loops.text.source import by_name, identifier
from lab.loops.variables import Parameter, RandomState, Sequence, State, checked_name
from lab.tape import check_taps

MOST_BYTES = 4_000_000_000  # of all values that the steps of a loop read and write
COPIES = 4  # of a state's value that a trace holds: in the tape, as read, written and replaced
UNNAMED = "scan_fn"  # as PyTensor calls a Scan without a name
TAPPED = (State, Sequence)
BY = "this loop can be differentiated by {}."
OF = "the loop's states and outputs are {}."
GROUPS: dict[str, type] = {
    "states": State,
    "sequences": Sequence,
    "parameters": Parameter,
    "random": RandomState,
    "outputs": str,
}


@dataclass(frozen=True, eq=False)
class Declaration:
    """A loop as it is declared.  `n_steps` is a number, a `Parameter`, or left to the sequences."""

    step: Callable[..., object]  # takes and returns what the variables below say
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
        checked_name(self.name)
        check_type("reason", self.reason, str, "a text")
        check_function("step", self.step)
        for group, kind in GROUPS.items():
            members = getattr(self, group)
            if not isinstance(members, list | tuple) or not all(
                isinstance(member, kind) for member in members
            ):
                raise ArgumentError(
                    f"{group} = {quote(members)}: expected a tuple of {kind.__name__}, as in "
                    f"({kind.__name__}(…),)."
                )
            object.__setattr__(self, group, tuple(map(identifier, members)))
        groups = (self.states, self.sequences, self.parameters, self.random)
        names = [variable.name for group in groups for variable in group] + [*self.outputs]
        if isinstance(self.n_steps, Parameter):
            names.append(self.n_steps.name)
        for name in names:
            checked_name(name)
            if names.count(name) > 1:
                raise argument_error("name", name, "every name may be used only once in a loop.")
        if not self.states and not self.outputs:
            raise ArgumentError("states = [], outputs = []: a loop computes at least one of them.")
        self._check_steps()

    @property
    def variables(self) -> dict[str, State | Sequence | Parameter | RandomState]:
        """All that the step may take, by name."""
        groups = (self.states, self.sequences, self.parameters, self.random)
        return {variable.name: variable for group in groups for variable in group}

    @property
    def valued(self) -> list[str]:
        """The names of those that have values: all but random states."""
        return [name for name, v in self.variables.items() if not isinstance(v, RandomState)]

    @property
    def steps(self) -> int:
        """The number of steps, by the present values of sequences and parameters."""
        if isinstance(self.n_steps, Parameter):
            return int(self.n_steps.value)
        if self.n_steps is not None:
            return self.n_steps
        return min(sequence.steps for sequence in self.sequences)

    def _check_steps(self) -> None:
        if self.n_steps is None and not self.sequences:
            raise ArgumentError("n_steps = None: without a sequence, the loop must be told.")
        if not isinstance(self.n_steps, int | np.integer | Parameter | None) or isinstance(
            self.n_steps, bool
        ):
            raise argument_error("n_steps", self.n_steps, "expected a whole number of steps.")
        if isinstance(self.n_steps, Parameter):
            value = self.n_steps.value
            if value.ndim or not np.isfinite(value) or value != np.round(value):
                raise ArgumentError(f"n_steps = {value}: expected one whole number of steps.")
        if self.n_steps is not None and self.steps < 1:
            why = "of 0 steps every result is empty, and there is nothing to differentiate"
            if self.steps < 0:
                why = "once that meant to go backwards; reverse the sequences instead"
            raise ArgumentError(
                f"n_steps = {self.steps}: a loop makes at least 1 step; {why}. "
                "lab.canonical shows what PyTensor does."
            )
        rows = [state.initial.nbytes // state.reach for state in self.states]
        needed = self.steps * (COPIES * sum(rows) + 8 * len(self.outputs))
        if needed > MOST_BYTES:
            raise ArgumentError(
                f"n_steps = {quote(self.steps)}: the values of so many steps take about "
                f"{min(needed, 10**300) / 1e9:,.4g} GB; a loop may keep {MOST_BYTES / 1e9:g} GB."
            )
        limit = self.truncate_gradient
        if isinstance(limit, bool) or not isinstance(limit, int) or limit == 0 or limit < -1:
            raise argument_error(
                "truncate_gradient", limit, "expected a number of steps, or -1 for all of them."
            )
        for sequence in self.sequences:
            if sequence.steps < max(1, self.steps):
                lacking = max(1, self.steps) - sequence.steps
                raise ArgumentError(
                    f"values of {sequence.called}: {len(sequence.values)} values with taps "
                    f"{list(sequence.taps)} last for {max(0, sequence.steps)} steps, but the loop "
                    f"makes {max(1, self.steps)}; {lacking} more are needed."
                )

    def named_taps(
        self, taps: Mapping[str, Iterable[int]] | Iterable[int]
    ) -> dict[str, Iterable[int]]:
        """Taps by name: those that have none, or an empty one, are of the first state."""
        if not isinstance(taps, Mapping):
            told = "taps, as in (-2, -1), or a dictionary from names to taps"
            taps = {"": check_taps(check_type("taps", taps, Iterable, told), "taps")}
        taps = by_name("taps", taps.items())
        if "" in taps and not self.states:
            told = "it has no state; name a sequence, as in {'u': (0, 1)}."
            raise argument_error(f"taps of loop {self.name}", taps[""], told)
        return {name or self.states[0].name: some for name, some in taps.items()}

    def with_taps(self, taps: Mapping[str, Iterable[int]] | Iterable[int]) -> Self:
        """The same loop with other taps for the named states and sequences.

        Taps alone, as ``(-2, -1)``, are those of the first state.
        """
        taps = self.named_taps(taps)
        tapped = [name for name, v in self.variables.items() if isinstance(v, TAPPED)]
        for name in taps:
            check_choice("taps", name, tapped, "the loop's states and sequences are {}.")
        return replace(
            self,
            states=tuple(s.with_taps(taps[s.name]) if s.name in taps else s for s in self.states),
            sequences=tuple(
                s.with_taps(taps[s.name]) if s.name in taps else s for s in self.sequences
            ),
        )

    def with_steps(self, n_steps: int) -> Self:
        """The same loop with another number of steps."""
        if isinstance(self.n_steps, Parameter):
            return replace(self, n_steps=self.n_steps.with_value(np.asarray(n_steps)))
        return replace(self, n_steps=n_steps)

    def with_values(self, values: Mapping[str, npt.ArrayLike], argument: str = "values") -> Self:
        """The same loop with other values for the named variables."""
        check_type(argument, values, Mapping, "values by name, as in {'x': 0.95}")
        values = by_name(argument, values.items())
        counted = self.n_steps if isinstance(self.n_steps, Parameter) else None
        for name in values:
            if counted is None or name != counted.name:
                check_choice(argument, name, self.valued, "the loop's variables are {}.")
        n_steps: int | Parameter | None = self.n_steps
        if counted is not None and counted.name in values:
            n_steps = counted.with_value(values[counted.name])
        return replace(
            self,
            n_steps=n_steps,
            states=tuple(s.with_value(values.get(s.name, s.initial)) for s in self.states),
            sequences=tuple(s.with_value(values.get(s.name, s.values)) for s in self.sequences),
            parameters=tuple(p.with_value(values.get(p.name, p.value)) for p in self.parameters),
        )
