"""What people fall into with Scan: each trap as a type of its own, a record of what it is about.

None of them is an error; PyTensor builds and runs these graphs and gives numbers.  `finders` looks
for them in a graph.
"""

from dataclasses import dataclass
from typing import ClassVar

from lab.notation import signed


@dataclass(frozen=True)
class Trap:
    """Something that gives other numbers than one may expect; `scan` is where.

    `words` tell of it, with what its fields hold.
    """

    scan: str
    words: ClassVar[str] = ""

    def __str__(self) -> str:
        held = {k: signed(*v) if isinstance(v, tuple) else v for k, v in vars(self).items()}
        return f"{self.scan}: {self.words.format(**held)}"


@dataclass(frozen=True)
class TapsOutOfOrder(Trap):
    """The step's arguments do not come in the order of time."""

    variable: str
    taps: tuple[int, ...]
    words = (
        "the taps of {variable} are given as {taps}, not in ascending order, and so are the step's "
        "arguments: the first one is not the oldest value. A step that expects them in the order "
        "of time computes something else, silently."
    )


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


@dataclass(frozen=True)
class GradientOfOutput(Trap):
    """The cost is differentiated by something that a Scan computed."""

    wrt: str
    words = (
        "you differentiate by {wrt}, which this Scan computed. That counts only how the cost uses "
        "those values afterwards, not that later steps are made of earlier ones: for the last of "
        "four values it is 0, 0, 0, 1. Differentiate by what went into the loop: its initial "
        "states, sequences or parameters."
    )


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


@dataclass(frozen=True)
class RandomWithoutUpdates(Trap):
    """Every step draws the same numbers."""

    generator: str
    words = (
        "the step draws from {generator}, but does not hand the next generator on, so that every "
        "step draws the same numbers. Make the generator an outputs_info of the Scan and return "
        "the next one (return_next_rng=True)."
    )


@dataclass(frozen=True)
class UntilInOldPytensor(Trap):
    """PyTensor's own gradient of a loop that stops by itself was wrong before 3.1.1."""

    version: str
    words = (
        "this loop stops on a condition and has a state and a sequence. PyTensor {version} reads "
        "such a sequence backwards from its end instead of from where the loop stopped, so that "
        "pytensor.grad is wrong (mended in 3.1.1, pymc-devs/pytensor #2217); lab.derivative is "
        "right."
    )


@dataclass(frozen=True)
class MixedTaps(Trap):
    """A mit-mot with taps below and above 0."""

    variable: str
    taps: tuple[int, ...]
    words = (
        "the mit-mot {variable} has taps on both sides of 0, {taps}. Backends of PyTensor have "
        "gone wrong there (pymc-devs/pytensor #1740); hold its compiled numbers against "
        "Derivative.verify."
    )


@dataclass(frozen=True)
class NoSteps(Trap):
    """The loop makes no step, or fewer than that."""

    steps: int

    def __str__(self) -> str:
        if self.steps < 0:
            return (
                f"{self.scan}: n_steps = {signed(self.steps)}. Once that meant to go backwards; "
                "today PyTensor builds the graph and fails when it runs. To read sequences from "
                "their end, use go_backwards=True."
            )
        return (
            f"{self.scan}: n_steps = 0. Every result is empty, so that xs[-1] fails when it runs; "
            "an output that feeds nothing back also forgets how wide its rows are; gradients are 0."
        )


@dataclass(frozen=True)
class UntakenBranch(Trap):
    """A `where` that chooses after what it chooses from was computed, and differentiated."""

    operation: str
    words = (
        "a where keeps {operation} from being taken where it, or its derivative, is not finite; "
        "but it is computed all the same, and its gradient is 0 times its derivative: 0·∞, which "
        "is nan. PyTensor's rewrites often avoid that product, in a compiled function and in "
        "lab.trace(…, rewritten=True). A where inside as well, as in where(c, f(where(c, x, 1)), "
        "0), always does."
    )


@dataclass(frozen=True)
class SwappedArguments(Trap):
    """An argument of the step has the name of something that is passed to another one."""

    signature: str
    argument: str
    receives: str
    order: str
    words = (
        "the step is {signature}, but PyTensor passes sequences first, then earlier values, then "
        "parameters, so that its {argument} receives {receives}. In the order in which they come "
        "it is {order}."
    )


@dataclass(frozen=True)
class UntilNeverMet(Trap):
    """A condition that stops the loop at its first step or never, or in any case never."""

    changes: bool

    def __str__(self) -> str:
        if not self.changes:
            return (
                f"{self.scan}: the condition of until is the same at every step, since it reads "
                "no state and no sequence: the loop stops after its first step or makes all of "
                "them."
            )
        return (
            f"{self.scan}: the condition of until is never met, whatever the values are, since "
            "what it compares stays on one side: the loop makes all its steps, and is "
            "differentiated as one that may stop."
        )


@dataclass(frozen=True)
class SameDrawsEveryCall(Trap):
    """The generator moves on within the loop, and nothing says that it does between two calls."""

    generator: str
    words = (
        "the step hands {generator} on, but nothing updates the shared variable itself: a compiled "
        "function begins every call with the same generator and draws the same numbers, unless it "
        "is told to keep the last one, by updates={{{generator}: …}}."
    )


@dataclass(frozen=True)
class BroadcastStart(Trap):
    """A state's start and what the step makes of it differ in an axis of length 1."""

    variable: str
    start: str
    made: str
    words = (
        "{variable} starts with the shape {start}, and the step makes {made} of it. A Scan stores "
        "rows of the shape that it starts with: what is longer fails, only when it is compiled or "
        "runs, and what has length 1 may be repeated into a longer row, silently. Give the start "
        "the shape that the step makes."
    )


@dataclass(frozen=True)
class ShortStart(Trap):
    """There are fewer initial values than the oldest tap reaches back."""

    variable: str
    rows: int
    needed: int
    words = (
        "{variable} is read {needed} steps back, and its start has only {rows} of the {needed} "
        "values that this takes. PyTensor does not refuse that: the first steps read memory that "
        "nobody has written."
    )
