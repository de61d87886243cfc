"""Known traps of Scan: a type for each, whose fields say where it occurs.

A trap is not an error: PyTensor builds and runs these graphs.  `finders` finds traps in a graph.
"""

from dataclasses import dataclass

from lab.notation import integers


@dataclass(frozen=True)
class Trap:
    """Behavior of the Scan `scan` that may surprise."""

    scan: str

    @property
    def message(self) -> str:
        """The text, with the names of fields in braces."""
        raise NotImplementedError

    def __str__(self) -> str:
        values = {k: integers(*v) if isinstance(v, tuple) else v for k, v in vars(self).items()}
        return f"{self.scan}: {self.message.format(**values)}"


@dataclass(frozen=True)
class TapsOutOfOrder(Trap):
    """Taps that are not ascending."""

    variable: str
    taps: tuple[int, ...]
    message = (
        "the taps of {variable} are {taps}, not in ascending order. The arguments of the step have "
        "the same order, so the first one is not the oldest value."
    )


@dataclass(frozen=True)
class InitialDtype(Trap):
    """A state with a narrower dtype than the step computes, or with a small integer dtype."""

    variable: str
    dtype: str
    computed: str

    @property
    def message(self) -> str:
        """The message for an integer, or for a float."""
        if self.computed == self.dtype:
            return (
                "{variable} is {dtype}, the dtype of a small Python integer. It overflows without "
                "an error, and integers have no gradient. Start from a float, or set a dtype."
            )
        return (
            "the step computes {variable} as {computed} and casts it to {dtype}, the dtype of its "
            "initial value, so every step loses digits. Start from {computed}."
        )


@dataclass(frozen=True)
class GradientOfOutput(Trap):
    """A gradient wrt a variable that the Scan computes."""

    wrt: str
    message = (
        "{wrt} is an output of this Scan. A gradient wrt an output counts only the later uses by "
        "the cost, not by later steps: for the last of four values it is 0, 0, 0, 1. "
        "Differentiate wrt an initial state, a sequence or a parameter."
    )


@dataclass(frozen=True)
class TruncatedGradient(Trap):
    """A gradient that does not reach the first steps; `steps` is None if unknown."""

    limit: int
    steps: int | None

    @property
    def message(self) -> str:
        """The message, with the number of steps if it is known."""
        steps = "more steps" if self.steps is None else "{steps} steps"
        return (
            f"truncate_gradient = {{limit}}, and the loop runs {steps}. The contributions of the "
            "earlier steps are missing without a warning; the gradient wrt an initial value that "
            "only they read is 0."
        )


@dataclass(frozen=True)
class RandomWithoutUpdates(Trap):
    """Equal draws at every step."""

    generator: str
    message = (
        "the step draws from {generator} and does not return the next generator, so every step "
        "draws the same numbers. Pass the generator in outputs_info, and return the next one "
        "(return_next_rng=True)."
    )


@dataclass(frozen=True)
class UntilInOldPytensor(Trap):
    """An ``until`` loop whose gradient by PyTensor before 3.1.1 is wrong."""

    version: str
    message = (
        "this loop stops on a condition and has a state and a sequence. The pullback of PyTensor "
        "{version} reads the sequence from its end instead of from the last step, so pytensor.grad "
        "is wrong (fixed in 3.1.1, pymc-devs/pytensor #2217). lab.derivative is correct."
    )


@dataclass(frozen=True)
class MixedTaps(Trap):
    """A mit-mot with taps below and above 0."""

    variable: str
    taps: tuple[int, ...]
    message = (
        "the mit-mot {variable} has taps on both sides of 0: {taps}. Some backends of PyTensor "
        "were wrong in this case (pymc-devs/pytensor #1740). Check the compiled numbers with "
        "Derivative.verify."
    )


@dataclass(frozen=True)
class NoSteps(Trap):
    """A loop that runs no step, or a negative number of steps."""

    steps: int

    @property
    def message(self) -> str:
        """The message for a negative number, or for 0."""
        if self.steps < 0:
            return (
                f"n_steps = {integers(self.steps)}. PyTensor builds the graph and raises an error "
                "when it runs. To read sequences from their end, use go_backwards=True."
            )
        return (
            "n_steps = 0. Every result is empty, so xs[-1] raises an error when it runs, and "
            "gradients are 0. An output that no step reads loses the shape of its rows."
        )


@dataclass(frozen=True)
class UntakenBranch(Trap):
    """A ``where`` whose unused branch has no finite derivative."""

    operation: str
    message = (
        "where(…) selects between branches after {operation} is computed. Where {operation} or its "
        "derivative is not finite, the gradient is 0·∞, which is nan. PyTensor's rewrites often "
        "remove this product, in compiled code and in lab.trace(…, rewritten=True). A second where "
        "always does: where(c, f(where(c, x, 1)), 0)."
    )


@dataclass(frozen=True)
class UntilNeverMet(Trap):
    """A condition that never stops the loop, or that does not change from step to step."""

    changes: bool

    @property
    def message(self) -> str:
        """The message for a condition that changes, or that does not."""
        if self.changes:
            return (
                "the condition of until is always false. The loop runs all its steps, and its "
                "gradient treats it as a loop that may stop."
            )
        return (
            "the condition of until reads no state and no sequence. The loop stops after its "
            "first step, or runs all its steps."
        )


@dataclass(frozen=True)
class SameDrawsEveryCall(Trap):
    """A shared generator without a default update."""

    generator: str
    message = (
        "the step passes {generator} on, and nothing updates the shared variable. Every call of a "
        "compiled function therefore draws the same numbers. Compile it with "
        "updates={{{generator}: …}}."
    )


@dataclass(frozen=True)
class BroadcastStart(Trap):
    """An initial value and a result of the step that differ in an axis of length 1."""

    variable: str
    start: str
    computed: str
    message = (
        "{variable} starts with the shape {start}, and the step computes the shape {computed}. A "
        "Scan stores rows of the initial shape. A longer row raises an error only at run time, and "
        "an axis of length 1 may be repeated without a warning. Start with the shape of the step."
    )


@dataclass(frozen=True)
class ShortStart(Trap):
    """Fewer initial values than the oldest tap needs."""

    variable: str
    rows: int
    needed: int
    message = (
        "a step reads {variable} {needed} steps back, but only {rows} of {needed} initial values "
        "are passed. PyTensor does not check this: the first steps read uninitialized memory."
    )
