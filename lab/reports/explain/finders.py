"""Find known traps in the Scans of a graph, one function per trap.

>>> for trap in traps(node): print(trap)
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable, equal_computations
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.subtensor import IncSubtensor

from lab.reports.explain.traps import (
    BroadcastStart,
    GradientOfOutput,
    InitialDtype,
    MixedTaps,
    NoSteps,
    RandomWithoutUpdates,
    SameDrawsEveryCall,
    ShortStart,
    TapsOutOfOrder,
    Trap,
    TruncatedGradient,
    UntakenBranch,
    UntilInOldPytensor,
    UntilNeverMet,
)
from lab.scans.node import ScanParts, is_scan, read_node
from lab.scans.operations import TRANSPARENT, operation_name, plain_name
from lab.scans.printed import line_of
from lab.scans.slices import constant_value, cut_of, is_cut_by_tap
from lab.tape import Kind

FIXED_UNTIL = (3, 1, 1)  # first PyTensor with a correct gradient of until loops
VIEWS = {"Subtensor", "DimShuffle", *TRANSPARENT}
# Operations with a pole or an infinite derivative, and the number of the input concerned.
STEEP = dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos"), 0)
STEEP |= {"arccosh": 0, "arctanh": 0, "Reciprocal": 0, "TrueDiv": 1, "Pow": 0}
RANGES = {"Tanh": (-1.0, 1.0), "Sin": (-1.0, 1.0), "Cos": (-1.0, 1.0), "Sigmoid": (0.0, 1.0)}
RANGES |= dict.fromkeys(("Abs", "Sqr", "Sqrt", "Exp"), (0.0, np.inf))
NARROW = ("int8", "int16", "uint8", "uint16")


Finder = Callable[[ScanParts], Iterator[Trap]]
FINDERS: list[Finder] = []


def finder(find: Finder) -> Finder:
    """Register `find`, which yields the occurrences of one trap in a Scan."""
    FINDERS.append(find)
    return find


def traps(node: Apply, *wrt: Variable) -> tuple[Trap, ...]:
    """Return the traps in a Scan whose results are differentiated with respect to `wrt`."""
    parts = read_node(node)
    matches = [trap for find in FINDERS for trap in find(parts)]
    line = line_of(node.outputs[0])
    if line and "scan(" not in line:  # built by a library, such as PyMC, in an order of its own
        matches = [trap for trap in matches if not isinstance(trap, TapsOutOfOrder)]
    for variable in wrt:
        if any(part.outer_output is _viewed(variable) for part in parts.states):
            matches.append(GradientOfOutput(parts.called, describe(variable, "the variable")))
    return tuple(dict.fromkeys(matches))


@finder
def taps_out_of_order(parts: ScanParts) -> Iterator[Trap]:
    """Find states and sequences whose taps are not ascending."""
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
    """Find results that are cast to a narrower dtype, and states of a small integer dtype."""
    for part in parts.states:
        dtype = part.inner_inputs[0].type.dtype
        if part.kind is Kind.MIT_MOT:
            continue
        if dtype in NARROW:
            yield InitialDtype(parts.called, part.name, dtype, dtype)
        for _, result in part.writes:
            node = result.owner
            computed = node.inputs[0].type.dtype if node and plain_name(node) == "Cast" else dtype
            if not np.can_cast(computed, dtype, "safe"):
                yield InitialDtype(parts.called, part.name, dtype, computed)


@finder
def truncated_gradient(parts: ScanParts) -> Iterator[Trap]:
    """Find a limit that is, or may be, below the number of steps."""
    limit, steps = parts.truncate_gradient, constant_value(parts.n_steps)
    if limit != -1 and (steps is None or limit < steps):
        yield TruncatedGradient(parts.called, limit, steps)


@finder
def random_without_updates(parts: ScanParts) -> Iterator[Trap]:
    """Find draws from a generator that is the same at every step."""
    updates = {part.inner_inputs[0]: part.inner_outputs[0] for part in parts.of_kind(Kind.UNTRACED)}
    for node in toposort(parts.inner_outputs):
        if not isinstance(node.op, RandomVariable):
            continue
        generator = node.inputs[0]
        while generator.owner is not None and isinstance(generator.owner.op, RandomVariable):
            generator = generator.owner.inputs[0]  # an earlier draw of the same step
        if updates.get(generator, generator) is generator:
            yield RandomWithoutUpdates(parts.called, generator.name or "an unnamed generator")


@finder
def until_in_old_pytensor(parts: ScanParts) -> Iterator[Trap]:
    """Find until loops with a state and a sequence, if PyTensor is older than 3.1.1."""
    version = pytensor.__version__  # 3.0.7+1.gabc
    numbers = tuple(int(word) for word in version.split("+")[0].split(".")[:3] if word.isdigit())
    mixes = parts.states and parts.of_kind(Kind.SEQUENCE)
    if parts.until is not None and mixes and numbers < FIXED_UNTIL:
        yield UntilInOldPytensor(parts.called, version)


@finder
def mixed_taps(parts: ScanParts) -> Iterator[Trap]:
    """Find mit-mots with taps on both sides of 0."""
    for part in parts.of_kind(Kind.MIT_MOT):
        if min(part.tape.taps) < 0 < max(part.tape.taps):
            yield MixedTaps(parts.called, part.name, part.tape.taps)


@finder
def untaken_branch(parts: ScanParts) -> Iterator[Trap]:
    """Find branches of a `where` that are not differentiable in a variable of the condition."""
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
                yield UntakenBranch(
                    parts.called, {"TrueDiv": "/", "Pow": "a power"}.get(name, name)
                )


@finder
def no_steps(parts: ScanParts) -> Iterator[Trap]:
    """Find a constant number of steps below 1."""
    steps = constant_value(parts.n_steps)
    if steps is not None and steps < 1:
        yield NoSteps(parts.called, steps)


@finder
def until_never_met(parts: ScanParts) -> Iterator[Trap]:
    """Find conditions that do not change from step to step, or that are always false."""
    if parts.until is None:
        return
    changing = {
        v for part in parts.variables if part.kind is not Kind.PARAMETER for v in part.inner_inputs
    }
    if changing.isdisjoint(ancestors([parts.until])):
        yield UntilNeverMet(parts.called, changes=False)
    elif _is_always_false(parts.until):
        yield UntilNeverMet(parts.called, changes=True)


def _is_always_false(condition: Variable) -> bool:
    """Return whether a comparison is false for all values in the ranges of its sides."""
    name = plain_name(condition.owner) if condition.owner is not None else ""
    if name not in ("GT", "GE", "LT", "LE"):
        return False
    assert condition.owner is not None
    below, above = condition.owner.inputs if name[0] == "L" else condition.owner.inputs[::-1]
    least, most = _range(below)[0], _range(above)[1]
    return least >= most if name[1] == "T" else least > most


def _range(variable: Variable) -> tuple[float, float]:
    """Return the smallest and the largest value that a variable can have."""
    if isinstance(variable, Constant):
        return float(np.min(variable.data)), float(np.max(variable.data))
    name = plain_name(variable.owner) if variable.owner is not None else ""
    return RANGES.get(name, (-np.inf, np.inf))


@finder
def same_draws_every_call(parts: ScanParts) -> Iterator[Trap]:
    """Find shared generators that the loop updates, but not the shared variable."""
    for part in parts.of_kind(Kind.UNTRACED):
        start = part.outer_input
        is_updated = part.inner_inputs[0] is not part.inner_outputs[0]
        if is_updated and isinstance(start, SharedVariable) and start.default_update is None:
            yield SameDrawsEveryCall(parts.called, start.name or "rng")


@finder
def find_bad_initial_values(parts: ScanParts) -> Iterator[Trap]:
    """Find initial values that are broadcast, or too few for the taps that read them."""
    for part in parts.of_kind(Kind.MIT_SOT, Kind.SIT_SOT):
        start, computed = part.inner_inputs[0].type.shape, part.inner_outputs[0].type.shape
        if any((a == 1) != (b == 1) for a, b in zip(start, computed, strict=True)):
            yield BroadcastStart(parts.called, part.name, _shape(start), _shape(computed))
        node = part.outer_input.owner
        cut = node is not None and isinstance(node.op, IncSubtensor) and node.inputs[1].type.ndim
        rows, needed = node.inputs[1].type.shape[0] if cut else None, -min(part.tape.reads)
        if rows is not None and rows < needed:
            yield ShortStart(parts.called, part.name, rows, needed)


def _shape(lengths: tuple[int | None, ...]) -> str:
    words = ["any" if length is None else str(length) for length in lengths]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def describe(variable: Variable, default: str) -> str:
    """Return the name of a variable, or of the Scan output that it is a view of, or `default`."""
    if variable.name:
        return str(variable.name)
    base = _viewed(variable)
    if is_scan(base.owner):
        parts = read_node(base.owner)
        part = next(part for part in parts.variables if part.outer_output is base)
        return f"the values {part.name}[t] of {parts.called}"
    return str(base.name or default)


def _viewed(variable: Variable) -> Variable:
    """Return the variable that `variable` is a slice or a reshaped copy of."""
    while variable.owner is not None and plain_name(variable.owner) in VIEWS:
        variable = variable.owner.inputs[0]
    return variable
