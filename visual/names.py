"""What quantities are called in a picture: x₃, dC/dx₃, buf[1].

Gradients through the whole loop are written with d, and with ∂ those parts of them that
come from the cost, or through one reader, directly.
"""

from lab.derivative import prime
from lab.flow import is_outer_gradient
from lab.tape import Kind
from lab.trace import ScanTrace, TapeTrace, Trace

_SUBSCRIPTS = str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉")


def indexed(name: str, index: int | None) -> str:
    """``x₃``; a name that ends in a digit keeps brackets."""
    if index is None:
        return name
    if name[-1:].isdigit() or len(name) > 3:
        return f"{name}[{index}]"
    return name + str(index).translate(_SUBSCRIPTS)


def signed(number: int) -> str:
    """A whole number with a proper minus."""
    return str(number).replace("-", "−")


def cost_name(order: int) -> str:
    """C, then its derivatives C′, C″ …: what a derivative of `order` differentiates."""
    return f"C{prime(order - 1)}"


def gradient_name(trace: Trace, scan: ScanTrace, variable: str | None, index: int | None) -> str:
    """``dC/dx₃``: what `scan` holds for a variable of the Scan that it differentiates."""
    if scan.parent is None or variable is None:
        return ""
    parent = trace.scans[scan.parent]
    held = quantity_name(trace, parent, variable, index)
    inner = f"({held})" if "/" in held else held
    return f"d{cost_name(scan.order)}/d{inner}"


def direct_part(gradient: str) -> str:
    """``∂C/∂x₃``: the part of ``dC/dx₃`` that does not come through later steps."""
    above, slash, below = gradient.partition("/")
    return f"∂{above[1:]}/∂{below[1:]}" if slash else gradient


def cell_key(trace: Trace, number: int, name: str, index: int | None, row: int) -> str:
    """Which quantity a cell shows: the same wherever it is shown."""
    if index is None:
        return f"{number}:{name}:row {row}"
    return f"{root_number(trace, number)}:{name}:{index}"


def quantity_name(trace: Trace, scan: ScanTrace, variable: str, index: int | None) -> str:
    """The name of a variable of `scan`, as the gradient that it is, if it is one."""
    for tape in (*scan.tapes, *scan.outputs):
        if tape.name == variable and tape.gradient_of is not None:
            return gradient_name(trace, scan, tape.gradient_of, index)
    for sequence in scan.sequences:
        if sequence.name == variable and is_outer_gradient(sequence):
            return f"d{cost_name(scan.order)}/d{indexed(sequence.axis.variable, index)}"
    return indexed(variable, index)


def tape_label(trace: Trace, scan: ScanTrace, tape: TapeTrace, row: int) -> str:
    """The name of the quantity in one row of a tape."""
    index = int(tape.axis.index[row]) if tape.axis is not None and not tape.is_total else None
    if tape.gradient_of is None:
        return indexed(tape.name, index)
    return gradient_name(trace, scan, tape.gradient_of, index)


def wanted_rows(trace: Trace, number: int, tape: TapeTrace) -> set[int]:
    """The rows of a gradient that go on to the result: of a state, those of its initial values."""
    size, parent = len(tape.final), trace.scans[number].parent
    for source in trace.scans[parent].tapes if parent is not None else ():
        if source.name == tape.gradient_of and source.kind is not Kind.MIT_MOT:
            return {size - 1 - row for row in range(source.tape.origin)}
    return set(range(size))


def root_number(trace: Trace, number: int) -> int:
    """The number of the loop that Scan `number` is a derivative of, or its own."""
    parent = trace.scans[number].parent
    return number if parent is None else root_number(trace, parent)


def is_share(trace: Trace, number: int, tape: TapeTrace) -> bool:
    """Whether a gradient that is put out is one of several that are added up elsewhere."""
    if not tape.is_total and tape.tape.reads:
        return False  # a state's tape collects all of them
    root = root_number(trace, number)
    family = [s for i, s in enumerate(trace.scans) if root_number(trace, i) == root]
    holders = [t for scan in family for t in (*scan.tapes, *scan.outputs) if t.name == tape.name]
    return len(holders) > 1


def moment(trace: Trace, number: int, step: int) -> int:
    """When in the whole run a step of Scan `number` happens: the steps of all Scans, counted."""
    return sum(scan.steps for scan in trace.scans[:number]) + step


def moment_name(trace: Trace, number: int, step: int) -> str:
    """``2 · grad_of_square, step 0``."""
    return f"{number + 1} · {trace.scans[number].name}, step {step}"
