"""Find the known traps of Scan; a separate function finds and describes each trap.

    >>> for trap in traps(node): print(trap)

A trap is not an error: PyTensor builds and runs these graphs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytensor
from pytensor.compile.ops import ViewOp
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable, equal_computations
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.subtensor import IncSubtensor

from lab.notation import integers
from lab.scans.backtraces import line_of
from lab.scans.node import ScanParts, is_scan, read_node
from lab.scans.operations import operation_name, plain_name, viewed
from lab.scans.slices import constant_value, cut_of, is_cut_by_tap
from lab.tape import Kind

FIXED_UNTIL = (3, 1, 1)  # first PyTensor with a correct gradient of until loops
# Operations with a pole or an infinite derivative, and the number of the input with the pole.
STEEP = dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos"), 0)
STEEP |= {"arccosh": 0, "arctanh": 0, "Reciprocal": 0, "TrueDiv": 1, "Pow": 0}
NARROW = ("int8", "int16", "uint8", "uint16")


@dataclass(frozen=True)
class Trap:
    """Surprising behavior of the Scan `scan`; `name` is the name of the function that found it."""

    name: str
    scan: str
    message: str

    def __str__(self) -> str:
        return f"{self.scan}: {self.message}"


Finder = Callable[[ScanParts], Iterator[str]]
FINDERS: list[Finder] = []


def finder(find: Finder) -> Finder:
    """Register `find`, which yields a message for each occurrence of one trap in a Scan."""
    FINDERS.append(find)
    return find


def traps(node: Apply, *wrt: Variable) -> tuple[Trap, ...]:
    """Return the traps in a Scan whose results are differentiated with respect to `wrt`."""
    parts = read_node(node)
    line = line_of(node.outputs[0])
    matches = [
        Trap(find.__name__, parts.called, message)
        for find in FINDERS
        # a library that calls scan, such as PyMC, may use another order of taps
        if find is not taps_out_of_order or not line or "scan(" in line
        for message in find(parts)
    ]
    for variable in wrt:
        if any(part.outer_output is viewed(variable) for part in parts.states):
            message = (
                f"You differentiate wrt {variable_label(variable, 'a variable')}, an output of "
                "this Scan. Such a gradient counts only the direct uses by the cost, and not the "
                "effect on later steps: for the last of four values it is 0, 0, 0, 1. "
                "Differentiate wrt an initial value, a sequence, or a parameter."
            )
            matches.append(Trap("gradient_of_output", parts.called, message))
    return tuple(dict.fromkeys(matches))


@finder
def taps_out_of_order(parts: ScanParts) -> Iterator[str]:
    """Yield a message for each state and sequence whose taps are not in ascending order."""
    for part in parts.of_kind(Kind.MIT_SOT):
        if list(part.tape.reads) != sorted(part.tape.reads):
            yield _unordered(f"the taps of {part.name} are", part.tape.reads)
    by_name: dict[str, list[int]] = {}
    for part in parts.of_kind(Kind.SEQUENCE):
        if is_cut_by_tap(part.outer_input):
            by_name.setdefault(part.name, []).append(cut_of(part.outer_input).first)
    for name, starts in by_name.items():
        if starts != sorted(starts):
            yield _unordered(f"the slices of {name} start at rows", starts)


def _unordered(subject: str, numbers: Sequence[int]) -> str:
    return (
        f"{subject} {integers(*numbers)}, not in ascending order. The arguments of the step have "
        "the same order, so the first argument is not the oldest value."
    )


@finder
def initial_dtype(parts: ScanParts) -> Iterator[str]:
    """Find results that are cast to a narrower dtype, and states of a small integer dtype."""
    for part in parts.states:
        dtype = part.inner_inputs[0].type.dtype
        if part.kind is Kind.MIT_MOT:
            continue
        if dtype in NARROW:
            yield (
                f"{part.name} is {dtype}, the dtype of a small Python integer. It overflows "
                "without an error, and integers have no gradient. Start from a float, or set a "
                "dtype."
            )
        for _, result in part.writes:
            node = result.owner
            computed = node.inputs[0].type.dtype if node and plain_name(node) == "Cast" else dtype
            if not np.can_cast(computed, dtype, "safe"):
                yield (
                    f"the step computes {part.name} as {computed} and casts it to {dtype}, the "
                    "dtype of its initial value, so every step loses digits. Start from "
                    f"{computed}."
                )


@finder
def truncated_gradient(parts: ScanParts) -> Iterator[str]:
    """Find a `truncate_gradient` that is, or may be, below the number of steps."""
    limit, steps = parts.truncate_gradient, constant_value(parts.n_steps)
    if limit != -1 and (steps is None or limit < steps):
        yield (
            f"truncate_gradient = {limit}, and the loop runs "
            f"{'more' if steps is None else steps} steps. The contributions of the earlier steps "
            "are missing without a warning; an initial value that only they read has gradient 0. "
            "Each order is truncated again: it is not the derivative of the previous order."
        )


@finder
def random_without_updates(parts: ScanParts) -> Iterator[str]:
    """Find draws from a generator that is the same at every step."""
    updates = {part.inner_inputs[0]: part.inner_outputs[0] for part in parts.of_kind(Kind.UNTRACED)}
    for node in toposort(parts.inner_outputs):
        if not isinstance(node.op, RandomVariable):
            continue
        generator = node.inputs[0]
        while generator.owner is not None and isinstance(generator.owner.op, RandomVariable):
            generator = generator.owner.inputs[0]  # an earlier draw of the same step
        if updates.get(generator, generator) is generator:
            yield (
                f"the step draws from {generator.name or 'an unnamed generator'} and does not "
                "return the next generator, so every step draws the same numbers. Pass the "
                "generator in outputs_info, and return the next one (return_next_rng=True)."
            )


@finder
def until_in_old_pytensor(parts: ScanParts) -> Iterator[str]:
    """Find until loops with a state and a sequence, if PyTensor is older than 3.1.1."""
    version = pytensor.__version__  # for example, 3.0.7+1.gabc
    numbers = tuple(int(word) for word in version.split("+")[0].split(".")[:3] if word.isdigit())
    mixes = parts.states and parts.of_kind(Kind.SEQUENCE)
    if parts.until is not None and mixes and numbers < FIXED_UNTIL:
        yield (
            "this loop stops on a condition and has a state and a sequence. The pullback of "
            f"PyTensor {version} reads the sequence from its end instead of from the last step, so "
            "pytensor.grad is wrong if the loop stops early (fixed in 3.1.1, pymc-devs/pytensor "
            "#2217). lab.derivative is correct."
        )


@finder
def replaced_gradient(parts: ScanParts) -> Iterator[str]:
    """Find operations with a gradient that is not their derivative, such as `disconnected_grad`."""
    for node in toposort(parts.inner_outputs):
        if isinstance(node.op, ViewOp) and type(node.op) is not ViewOp:
            yield f"{type(node.op).__name__} in the step changes only the gradient."


@finder
def mixed_taps(parts: ScanParts) -> Iterator[str]:
    """Find mit-mots with taps on both sides of 0."""
    for part in parts.of_kind(Kind.MIT_MOT):
        if min(part.tape.taps) < 0 < max(part.tape.taps):
            yield (
                f"the mit-mot {part.name} has taps on both sides of 0: "
                f"{integers(*part.tape.taps)}. Some backends of PyTensor were wrong in this case "
                "(pymc-devs/pytensor #1740). Check the compiled numbers with Derivative.verify."
            )


@finder
def untaken_branch(parts: ScanParts) -> Iterator[str]:
    """Find `where` branches with a pole or infinite derivative in a variable of the condition."""
    for node in toposort(parts.inner_outputs):
        if operation_name(node, node.outputs[0]) != "where":
            continue
        condition, *branches = node.inputs
        compared = condition.owner.inputs if condition.owner is not None else ()
        for inner in toposort(branches, blockers=set(compared)):
            name = operation_name(inner, inner.outputs[0])
            power = inner.inputs[1] if name == "Pow" else None
            is_smooth = isinstance(power, Constant) and np.all(power.data >= 1)
            if name not in STEEP or is_smooth:
                continue
            if any(equal_computations([inner.inputs[STEEP[name]]], [v]) for v in compared):
                operation = {"TrueDiv": "/", "Pow": "a power"}.get(name, name)
                yield (
                    f"where(…) selects between branches after {operation} is computed. Where "
                    f"{operation} or its derivative is not finite, the gradient is 0·∞, which is "
                    "nan. PyTensor's rewrites often remove this product, in compiled code and in "
                    "lab.trace(…, rewritten=True). A second where always does: "
                    "where(condition, f(where(condition, argument, 1)), 0)."
                )


@finder
def no_steps(parts: ScanParts) -> Iterator[str]:
    """Find a constant number of steps below 1."""
    steps = constant_value(parts.n_steps)
    if steps is not None and steps < 0:
        yield (
            f"n_steps = {integers(steps)}. PyTensor builds the graph and raises an error when it "
            "runs. To read sequences from their end, use go_backwards=True."
        )
    elif steps == 0:
        yield (
            "n_steps = 0. Every result is empty, so xs[-1] raises an error when it runs, and "
            "gradients are 0. An output that no step reads loses the shape of its rows."
        )


@finder
def constant_condition(parts: ScanParts) -> Iterator[str]:
    """Find conditions that do not change from step to step."""
    changing = {
        v for part in parts.variables if part.kind is not Kind.PARAMETER for v in part.inner_inputs
    }
    if parts.until is not None and changing.isdisjoint(ancestors([parts.until])):
        yield (
            "the condition of until reads no state and no sequence. The loop stops after its "
            "first step, or runs all its steps."
        )


@finder
def same_draws_every_call(parts: ScanParts) -> Iterator[str]:
    """Find shared random generators that the loop advances, but that have no default update."""
    for part in parts.of_kind(Kind.UNTRACED):
        start = part.outer_input
        is_updated = part.inner_inputs[0] is not part.inner_outputs[0]
        if is_updated and isinstance(start, SharedVariable) and start.default_update is None:
            name = start.name or "rng"
            yield (
                f"the step passes {name} on, and nothing updates the shared variable. Every call "
                "of a compiled function therefore draws the same numbers. Compile it with "
                f"updates={{{name}: …}}."
            )


@finder
def broadcast_start(parts: ScanParts) -> Iterator[str]:
    """Find states with an axis of length 1 only initially, or only in the result of the step."""
    for part in parts.of_kind(Kind.MIT_SOT, Kind.SIT_SOT):
        shapes = part.inner_inputs[0].type.shape, part.inner_outputs[0].type.shape
        if any((a == 1) != (b == 1) for a, b in zip(*shapes, strict=True)):
            start, computed = (str(shape).replace("None", "any") for shape in shapes)
            yield (
                f"{part.name} starts with the shape {start}, and the step computes the "
                f"shape {computed}. A Scan stores rows of the initial shape. A longer row "
                "raises an error only at run time, and an axis of length 1 may be repeated without "
                "a warning. Start with the shape of the step."
            )


@finder
def short_start(parts: ScanParts) -> Iterator[str]:
    """Find states with fewer initial values than their oldest tap needs."""
    for part in parts.of_kind(Kind.MIT_SOT, Kind.SIT_SOT):
        node = part.outer_input.owner
        cut = node is not None and isinstance(node.op, IncSubtensor) and node.inputs[1].type.ndim
        rows, needed = node.inputs[1].type.shape[0] if cut else None, -min(part.tape.reads)
        if rows is not None and rows < needed:
            yield (
                f"a step reads {part.name} {needed} steps back, but only {rows} of {needed} "
                "initial values are passed. PyTensor does not check this: the first steps read "
                "uninitialized memory."
            )


def variable_label(variable: Variable, default: str) -> str:
    """Return the name of a variable; for a view of an output, ``the values x[t] of scan_fn``."""
    if variable.name:
        return str(variable.name)
    base = viewed(variable)
    if is_scan(base.owner):
        parts = read_node(base.owner)
        part = next(part for part in parts.variables if part.outer_output is base)
        return f"the values {part.name}[t] of {parts.called}"
    return str(base.name or default)
