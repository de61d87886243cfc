"""What people fall into with Scan, each trap as a type of its own, found in a real graph.

    >>> for trap in traps(node): print(trap)

A trap is a record: what it is about, as fields, and the warning in words.  None of them is
an error; PyTensor builds and runs these graphs and gives numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytensor
from pytensor.graph.basic import Apply, Constant, Variable, equal_computations
from pytensor.graph.traversal import toposort
from pytensor.tensor.random.op import RandomVariable

from lab import records
from lab.notation import signed
from lab.scans.node import ScanParts, is_scan, read_scan
from lab.scans.operations import TRANSPARENT, operation_name, plain_name
from lab.scans.slices import constant_value, cut_of, is_cut_by_tap
from lab.tape import Kind


@dataclass(frozen=True)
class Trap:
    """Something that gives other numbers than one may expect; `scan` is where."""

    scan: str


@records.record
class TapsOutOfOrder(Trap):
    """The step's arguments do not come in the order of time."""

    variable: str
    taps: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"{self.scan}: the taps of {self.variable} are given as {signed(*self.taps)}, not in "
            "ascending order, and so are the step's arguments: the first one is not the oldest "
            "value. A step that expects them in the order of time computes something else, "
            "silently."
        )


@records.record
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


@records.record
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


@records.record
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


@records.record
class RandomWithoutUpdates(Trap):
    """Every step draws the same numbers."""

    generator: str

    def __str__(self) -> str:
        return (
            f"{self.scan}: the step draws from {self.generator}, but does not hand the next "
            "generator on, so that every step draws the same numbers. Make the generator an "
            "outputs_info of the Scan and return the next one (return_next_rng=True)."
        )


@records.record
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


@records.record
class MixedTaps(Trap):
    """A mit-mot with taps below and above 0."""

    variable: str
    taps: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"{self.scan}: the mit-mot {self.variable} has taps on both sides of 0, "
            f"{signed(*self.taps)}. Backends of PyTensor have gone wrong there "
            "(pymc-devs/pytensor #1740); hold its compiled numbers against Derivative.verify."
        )


@records.record
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
            "an output that feeds nothing back also forgets how wide its rows are; "
            "gradients are 0."
        )


@records.record
class UntakenBranch(Trap):
    """A `where` that chooses after what it chooses from was computed, and differentiated."""

    operation: str

    def __str__(self) -> str:
        return (
            f"{self.scan}: a where keeps {self.operation} from being taken where it, or its "
            "derivative, is not finite; but it is computed all the same, and its gradient is 0 "
            "times its derivative: 0·∞, which is nan. PyTensor's rewrites often avoid that "
            "product, in a compiled function and in lab.trace(…, rewritten=True). A where inside "
            "as well, as in where(c, f(where(c, x, 1)), 0), always does."
        )


MENDED = (3, 1, 1)  # the PyTensor that differentiates until loops rightly
VIEWS = {"Subtensor", "DimShuffle", *TRANSPARENT}
# Operations with a pole, or a slope that is not finite, and the number of the input that has it.
STEEP = dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos"), 0)
STEEP |= {"arccosh": 0, "arctanh": 0, "Reciprocal": 0, "TrueDiv": 1, "Pow": 0}
NARROW = ("int8", "int16", "uint8", "uint16")


Finder = Callable[[ScanParts], Iterator[Trap]]
FINDERS: list[Finder] = []


def finder(find: Finder) -> Finder:
    """Decorator: `find` looks for one trap in a Scan."""
    FINDERS.append(find)
    return find


def traps(node: Apply, *wrt: Variable) -> tuple[Trap, ...]:
    """The traps that a Scan node falls into; `wrt` is what it is differentiated by."""
    parts = read_scan(node.op, node.inputs, node.outputs)
    found = [trap for find in FINDERS for trap in find(parts)]
    for variable in wrt:
        if any(part.outer_output is _viewed(variable) for part in parts.states):
            found.append(GradientOfOutput(parts.called, called(variable, "the variable")))
    return tuple(dict.fromkeys(found))


@finder
def taps_out_of_order(parts: ScanParts) -> Iterator[Trap]:
    """Taps that are not ascending, of a state or of a sequence."""
    for part in parts.of_kind(Kind.MIT_SOT):
        if list(part.tape.reads) != sorted(part.tape.reads):
            yield TapsOutOfOrder(parts.called, part.name, part.tape.reads)
    by_array: dict[Variable, list[int]] = {}
    names = {}
    for part in parts.of_kind(Kind.SEQUENCE):
        if is_cut_by_tap(part.outer_input):
            cut = cut_of(part.outer_input)
            by_array.setdefault(cut.base, []).append(cut.first)
            names[cut.base] = part.name
    for array, starts in by_array.items():
        if starts != sorted(starts):
            yield TapsOutOfOrder(parts.called, names[array], tuple(starts))


@finder
def initial_dtype(parts: ScanParts) -> Iterator[Trap]:
    """A step that casts its result down to what the state started as, and small whole numbers."""
    for part in parts.states:
        dtype = part.inner_inputs[0].type.dtype
        if part.kind is Kind.MIT_MOT:
            continue
        if dtype in NARROW:
            yield InitialDtype(parts.called, part.name, dtype, dtype)
        for _, result in part.writes:
            node = result.owner
            computed = node.inputs[0].type.dtype if node and plain_name(node) == "Cast" else dtype
            if _is_wider(computed, dtype):
                yield InitialDtype(parts.called, part.name, dtype, computed)


def _is_wider(computed: str, stored: str) -> bool:
    """Whether numbers of the dtype `computed` lose something as `stored`."""
    return not np.can_cast(computed, stored, "safe")


@finder
def truncated_gradient(parts: ScanParts) -> Iterator[Trap]:
    """A limit that is, or may be, below the number of steps."""
    limit, steps = parts.truncate_gradient, constant_value(parts.n_steps)
    if limit != -1 and (steps is None or limit < steps):
        yield TruncatedGradient(parts.called, limit, steps)


@finder
def random_without_updates(parts: ScanParts) -> Iterator[Trap]:
    """Draws from a generator that is the same at every step."""
    moving = {part.inner_inputs[0]: part.inner_outputs[0] for part in parts.of_kind(Kind.UNTRACED)}
    for node in toposort(parts.inner_outputs):
        if not isinstance(node.op, RandomVariable):
            continue
        generator = _first_generator(node)
        if moving.get(generator, generator) is generator:  # not handed on, or as it was
            yield RandomWithoutUpdates(parts.called, generator.name or "a generator of its own")


def _first_generator(node: Apply) -> Variable:
    """The generator from which, through other draws of the same step, `node` draws."""
    generator = node.inputs[0]
    while generator.owner is not None and isinstance(generator.owner.op, RandomVariable):
        generator = generator.owner.inputs[0]
    return generator


@finder
def until_in_old_pytensor(parts: ScanParts) -> Iterator[Trap]:
    """A loop that stops by itself and has a state and a sequence, on a PyTensor before 3.1.1."""
    version, mixes = pytensor.__version__, bool(parts.states and parts.of_kind(Kind.SEQUENCE))
    if parts.until is not None and mixes and _numbers(version) < MENDED:
        yield UntilInOldPytensor(parts.called, version)


def _numbers(version: str) -> tuple[int, ...]:
    """``3.0.7+1.gabc`` as (3, 0, 7)."""
    plain = version.split("+")[0].split(".")
    return tuple(int(word) for word in plain[:3] if word.isdigit())


@finder
def mixed_taps(parts: ScanParts) -> Iterator[Trap]:
    """A mit-mot on both sides of 0."""
    for part in parts.of_kind(Kind.MIT_MOT):
        if min(part.tape.taps) < 0 < max(part.tape.taps):
            yield MixedTaps(parts.called, part.name, part.tape.taps)


@finder
def untaken_branch(parts: ScanParts) -> Iterator[Trap]:
    """A branch of a where that has a pole, or a steep slope, in what the condition compares."""
    for node in toposort(parts.inner_outputs):
        if operation_name(node, node.outputs[0]) != "where":
            continue
        condition, *branches = node.inputs
        compared = condition.owner.inputs if condition.owner is not None else ()
        for inner in toposort(branches, blockers=set(compared)):
            name = operation_name(inner, inner.outputs[0])
            if name not in STEEP or (name == "Pow" and _is_smooth(inner.inputs[1])):
                continue
            if any(equal_computations([inner.inputs[STEEP[name]]], [v]) for v in compared):
                yield UntakenBranch(
                    parts.called, {"TrueDiv": "/", "Pow": "a power"}.get(name, name)
                )


def _is_smooth(exponent: Variable) -> bool:
    """Whether a power has a finite slope everywhere."""
    return isinstance(exponent, Constant) and bool(np.all(exponent.data >= 1))


@finder
def no_steps(parts: ScanParts) -> Iterator[Trap]:
    """A number of steps that is known to be 0 or less."""
    steps = constant_value(parts.n_steps)
    if steps is not None and steps < 1:
        yield NoSteps(parts.called, steps)


def called(variable: Variable, otherwise: str) -> str:
    """The name of a variable, or what it is a part of; `otherwise` where neither tells."""
    if variable.name:
        return str(variable.name)
    base = _viewed(variable)
    if is_scan(base.owner):
        parts = read_scan(base.owner.op, base.owner.inputs, base.owner.outputs)
        part = next(part for part in parts.variables if part.outer_output is base)
        return f"the values {part.name}[t] of {parts.called}"
    return str(base.name or otherwise)


def _viewed(variable: Variable) -> Variable:
    """What `variable` shows a part of, or has in another shape."""
    while variable.owner is not None and plain_name(variable.owner) in VIEWS:
        variable = variable.owner.inputs[0]
    return variable
