"""The traps of Scan: a record for each, with what it is about, and the warning in words.

None of them is an error; PyTensor builds and runs these graphs and gives numbers.
`lab.traps` finds them in a graph.
"""

from dataclasses import dataclass

from lab import storing


@dataclass(frozen=True)
class Trap:
    """Something that gives other numbers than one may expect; `scan` is where."""

    scan: str


@storing.record
@dataclass(frozen=True)
class TapsOutOfOrder(Trap):
    """The step's arguments do not come in the order of time."""

    variable: str
    taps: tuple[int, ...]

    def __str__(self) -> str:
        listed = ", ".join(map(_signed, self.taps))
        return (
            f"{self.scan}: the taps of {self.variable} are given as {listed}, not in ascending "
            "order, and so are the step's arguments: the first one is not the oldest value. "
            "A step that expects them in the order of time computes something else, silently."
        )


@storing.record
@dataclass(frozen=True)
class InitialDtype(Trap):
    """What the step computes is stored in the narrower dtype of the initial state."""

    variable: str
    dtype: str
    computed: str

    def __str__(self) -> str:
        if self.computed == self.dtype:
            return (
                f"{self.scan}: {self.variable} starts as {self.dtype}, the dtype of a small whole "
                "number in Python, and stays it: it overflows silently, and no gradient goes "
                "through whole numbers. Start from a float, or from a constant with a dtype."
            )
        return (
            f"{self.scan}: the step computes {self.variable} as {self.computed} and casts it to "
            f"{self.dtype}, the dtype of its initial value: digits are lost at every step. Start "
            f"from {self.computed} instead of casting."
        )


@storing.record
@dataclass(frozen=True)
class GradientOfOutput(Trap):
    """The cost is differentiated by something that a Scan computed."""

    wrt: str

    def __str__(self) -> str:
        return (
            f"{self.scan}: you differentiate by {self.wrt}, which this Scan computed. That "
            "counts only how the cost uses those values afterwards, not that later steps are made "
            "of earlier ones: for the last of four values it is 0, 0, 0, 1. Differentiate by "
            "what went into the loop: its initial states, sequences or parameters."
        )


@storing.record
@dataclass(frozen=True)
class TruncatedGradient(Trap):
    """The gradient does not go back to the first steps."""

    limit: int
    steps: int | None

    def __str__(self) -> str:
        steps = f"the loop makes {self.steps}" if self.steps is not None else "the loop makes more"
        return (
            f"{self.scan}: truncate_gradient = {self.limit} stops the gradient after the last "
            f"{self.limit} steps, where {steps}. The gradient wrt an initial value that only "
            "earlier steps read is then 0, and of sequences and parameters the share of those "
            "steps is missing, without a word."
        )


@storing.record
@dataclass(frozen=True)
class RandomWithoutUpdates(Trap):
    """Every step draws the same numbers."""

    generator: str

    def __str__(self) -> str:
        return (
            f"{self.scan}: the step draws from {self.generator}, but does not hand the next "
            "generator on, so that every step draws the same numbers. Make the generator an "
            "outputs_info of the Scan and return the next one (return_next_rng=True)."
        )


@storing.record
@dataclass(frozen=True)
class UntilInOldPytensor(Trap):
    """PyTensor's own gradient of a loop that stops by itself was wrong before 3.1.1."""

    version: str

    def __str__(self) -> str:
        return (
            f"{self.scan}: this loop stops on a condition and has a state and a sequence. PyTensor "
            f"{self.version} reads such a sequence backwards from its end instead of from where "
            "the loop stopped, so that pytensor.grad is wrong (mended in 3.1.1, pymc-devs/pytensor "
            "#2217); lab.derivative is right."
        )


@storing.record
@dataclass(frozen=True)
class MixedTaps(Trap):
    """A mit-mot with taps below and above 0."""

    variable: str
    taps: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"{self.scan}: the mit-mot {self.variable} has taps on both sides of 0, "
            f"{', '.join(map(_signed, self.taps))}. Backends of PyTensor have gone wrong there "
            "(pymc-devs/pytensor #1740); hold its compiled numbers against Trace.verify."
        )


@storing.record
@dataclass(frozen=True)
class NoSteps(Trap):
    """The loop makes no step, or fewer than that."""

    steps: int

    def __str__(self) -> str:
        if self.steps < 0:
            return (
                f"{self.scan}: n_steps = {_signed(self.steps)}. Once that meant to go backwards; "
                "today PyTensor builds the graph and fails when it runs. To read sequences from "
                "their end, use go_backwards=True."
            )
        return (
            f"{self.scan}: n_steps = 0. Every result is empty, so that xs[-1] fails when it runs; "
            "an output that feeds nothing back also forgets how wide its rows are; "
            "gradients are 0."
        )


def _signed(tap: int) -> str:
    return str(tap).replace("-", "−")
