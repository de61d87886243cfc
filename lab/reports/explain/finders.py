"""Where a real graph falls into a trap: a function for each, which is given a Scan.

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
    SwappedArguments,
    TapsOutOfOrder,
    Trap,
    TruncatedGradient,
    UntakenBranch,
    UntilInOldPytensor,
    UntilNeverMet,
)
from lab.reports.explain.written_call import written_call
from lab.scans.node import ScanParts, is_scan, read_node
from lab.scans.operations import TRANSPARENT, operation_name, plain_name
from lab.scans.printed import line_of
from lab.scans.slices import constant_value, cut_of, is_cut_by_tap
from lab.tape import Kind

MENDED = (3, 1, 1)  # the PyTensor that differentiates until loops rightly
VIEWS = {"Subtensor", "DimShuffle", *TRANSPARENT}
# Operations with a pole, or a slope that is not finite, and the number of the input that has it.
STEEP = dict.fromkeys(("sqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos"), 0)
STEEP |= {"arccosh": 0, "arctanh": 0, "Reciprocal": 0, "TrueDiv": 1, "Pow": 0}
RANGES = {"Tanh": (-1.0, 1.0), "Sin": (-1.0, 1.0), "Cos": (-1.0, 1.0), "Sigmoid": (0.0, 1.0)}
RANGES |= dict.fromkeys(("Abs", "Sqr", "Sqrt", "Exp"), (0.0, np.inf))
NARROW = ("int8", "int16", "uint8", "uint16")


Finder = Callable[[ScanParts], Iterator[Trap]]
FINDERS: list[Finder] = []


def finder(find: Finder) -> Finder:
    """Decorator: `find` looks for one trap in a Scan."""
    FINDERS.append(find)
    return find


def traps(node: Apply, *wrt: Variable) -> tuple[Trap, ...]:
    """The traps that a Scan node falls into; `wrt` is what it is differentiated by."""
    parts = read_node(node)
    found = [trap for find in FINDERS for trap in find(parts)]
    if not _is_called(node):
        found = [trap for trap in found if not isinstance(trap, TapsOutOfOrder)]
    found += _swapped_arguments(parts.called, node)
    for variable in wrt:
        if any(part.outer_output is _viewed(variable) for part in parts.states):
            found.append(GradientOfOutput(parts.called, called(variable, "the variable")))
    return tuple(dict.fromkeys(found))


def _is_called(node: Apply) -> bool:
    """Whether somebody may have written the call of ``scan``; a library may build the operation.

    PyMC does, of the log-density of a step that draws, and its arguments are in its own order.
    """
    line = line_of(node.outputs[0])
    return not line or "scan(" in line


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
            if not np.can_cast(computed, dtype, "safe"):
                yield InitialDtype(parts.called, part.name, dtype, computed)


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
    version = pytensor.__version__  # 3.0.7+1.gabc
    numbers = tuple(int(word) for word in version.split("+")[0].split(".")[:3] if word.isdigit())
    mixes = parts.states and parts.of_kind(Kind.SEQUENCE)
    if parts.until is not None and mixes and numbers < MENDED:
        yield UntilInOldPytensor(parts.called, version)


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
    """A number of steps that is known to be 0 or less."""
    steps = constant_value(parts.n_steps)
    if steps is not None and steps < 1:
        yield NoSteps(parts.called, steps)


def _swapped_arguments(scan: str, node: Apply) -> Iterator[Trap]:
    """Arguments with the name of something that PyTensor passes elsewhere, in readable source."""
    stacks = next((v.tag.trace for v in node.outputs if getattr(v.tag, "trace", None)), ())
    call = written_call(stacks)
    if call is None:
        return
    rest = iter([name for name in call.names if name not in call.misplaced])
    meant = {place: name for name, place in call.misplaced.items()}
    order = ", ".join(meant.get(n) or next(rest, "…") for n in range(len(call.names)))
    for argument in list(call.misplaced)[:1]:  # one is enough to look at the order
        receives = call.passed[call.names.index(argument)] or "something else"
        signature = f"{call.step}({', '.join(call.names)})"
        yield SwappedArguments(scan, signature, argument, receives, f"{call.step}({order})")


@finder
def until_never_met(parts: ScanParts) -> Iterator[Trap]:
    """A condition of what does not change, or of what cannot reach the other side."""
    if parts.until is None:
        return
    moving = {
        v for part in parts.variables if part.kind is not Kind.PARAMETER for v in part.inner_inputs
    }
    if moving.isdisjoint(ancestors([parts.until])):
        yield UntilNeverMet(parts.called, changes=False)
    elif _is_never(parts.until):
        yield UntilNeverMet(parts.called, changes=True)


def _is_never(condition: Variable) -> bool:
    """Whether a comparison fails for all values that its sides can have."""
    name = plain_name(condition.owner) if condition.owner is not None else ""
    if name not in ("GT", "GE", "LT", "LE"):
        return False
    assert condition.owner is not None
    below, above = condition.owner.inputs if name[0] == "L" else condition.owner.inputs[::-1]
    least, most = _range(below)[0], _range(above)[1]
    return least >= most if name[1] == "T" else least > most


def _range(variable: Variable) -> tuple[float, float]:
    """Between which numbers the values of a variable lie."""
    if isinstance(variable, Constant):
        return float(np.min(variable.data)), float(np.max(variable.data))
    name = plain_name(variable.owner) if variable.owner is not None else ""
    return RANGES.get(name, (-np.inf, np.inf))


@finder
def same_draws_every_call(parts: ScanParts) -> Iterator[Trap]:
    """A shared generator that moves within the loop, and has no default update."""
    for part in parts.of_kind(Kind.UNTRACED):
        start = part.outer_input
        moves = part.inner_inputs[0] is not part.inner_outputs[0]
        if moves and isinstance(start, SharedVariable) and start.default_update is None:
            yield SameDrawsEveryCall(parts.called, start.name or "rng")


@finder
def find_bad_initial_values(parts: ScanParts) -> Iterator[Trap]:
    """A start that is broadcast, or too short for the taps that read it."""
    for part in parts.of_kind(Kind.MIT_SOT, Kind.SIT_SOT):
        start, made = part.inner_inputs[0].type.shape, part.inner_outputs[0].type.shape
        if any((a == 1) != (b == 1) for a, b in zip(start, made, strict=True)):
            yield BroadcastStart(parts.called, part.name, _shape(start), _shape(made))
        node = part.outer_input.owner
        cut = node is not None and isinstance(node.op, IncSubtensor) and node.inputs[1].type.ndim
        rows, needed = node.inputs[1].type.shape[0] if cut else None, -min(part.tape.reads)
        if rows is not None and rows < needed:
            yield ShortStart(parts.called, part.name, rows, needed)


def _shape(lengths: tuple[int | None, ...]) -> str:
    words = ["any" if length is None else str(length) for length in lengths]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def called(variable: Variable, otherwise: str) -> str:
    """The name of a variable, or what it is a part of; `otherwise` where neither tells."""
    if variable.name:
        return str(variable.name)
    base = _viewed(variable)
    if is_scan(base.owner):
        parts = read_node(base.owner)
        part = next(part for part in parts.variables if part.outer_output is base)
        return f"the values {part.name}[t] of {parts.called}"
    return str(base.name or otherwise)


def _viewed(variable: Variable) -> Variable:
    """What `variable` shows a part of, or has in another shape."""
    while variable.owner is not None and plain_name(variable.owner) in VIEWS:
        variable = variable.owner.inputs[0]
    return variable
