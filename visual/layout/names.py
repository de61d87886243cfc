"""What quantities are called in a picture: x₃, dC/dx₃, buf[1].

Gradients through the whole loop are written with d, and with ∂ those parts of them that
come from the cost, or through one reader, directly.
"""

from collections.abc import Iterable, Mapping

from lab.expression import Leaf, leaves_of
from lab.gradients.derivative import prime
from lab.tape import Kind
from lab.traces.flow import first_reader, is_outer_gradient
from lab.traces.trace import Formula, ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace

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


def listed(numbers: Iterable[int], nothing: str = "nothing") -> str:
    """``−1, 0``."""
    return ", ".join(map(signed, numbers)) or nothing


def counted(number: int, word: str) -> str:
    """``1 step``, ``4 steps``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def cost_name(order: int) -> str:
    """C, then its derivatives C′, C″ …: what a derivative of `order` differentiates."""
    return f"C{prime(order - 1)}"


def gradient_name(trace: Trace, scan: ScanTrace, variable: str | None, index: int | None) -> str:
    """``dC/dx₃``: what `scan` holds for a variable of the Scan that it differentiates."""
    if scan.parent is None or variable is None:
        return ""
    return derivative_name(scan.order, quantity_name(trace, scan.parent, variable, index))


def derivative_name(order: int, held: str) -> str:
    """``dC′/d(dC/dx₃)``: the derivative of an order with regard to what is `held`."""
    inner = f"({held})" if "/" in held else held
    return f"d{cost_name(order)}/d{inner}"


def direct_part(gradient: str) -> str:
    """``∂C/∂x₃``: the part of ``dC/dx₃`` that does not come through later steps."""
    above, slash, below = gradient.partition("/")
    return f"∂{above[1:]}/∂{below[1:]}" if slash else gradient


def cell_key(trace: Trace, number: int, name: str, index: int | None, row: int) -> str:
    """Which quantity a cell shows: the same wherever it is shown."""
    if index is None:
        return f"{number}:{name}:r{row}"
    return f"{root_number(trace, number)}:{name}:{index}"


def index_of(tape: TapeTrace, row: int) -> int | None:
    """The index in time of a row of a tape; None for a tape that has no times."""
    return int(tape.axis.index[row]) if tape.axis is not None else None


def row_key(trace: Trace, number: int, tape: TapeTrace, row: int) -> str:
    """The key of a row of a tape of Scan `number`."""
    return cell_key(trace, number, tape.name, index_of(tape, row), row)


def leaf_key(trace: Trace, number: int, leaf: Leaf, step: int) -> str:
    """The key of what a leaf of a formula stands for at a step."""
    variable = trace.scans[number].variable(leaf)
    if isinstance(variable, SequenceTrace):
        index = int(variable.axis.index[step])
        return cell_key(trace, number, variable.name, index, step)
    if not isinstance(variable, TapeTrace) or leaf.tap is None:
        return cell_key(trace, root_number(trace, number), leaf.variable, None, 0)
    return row_key(trace, number, variable, variable.tape.row(step, leaf.tap))


def formula_keys(trace: Trace, number: int, formula: Formula, step: int) -> tuple[str, ...]:
    """The keys of what a formula makes and reads at a step, the former first."""
    leaves = (formula.target, *leaves_of(formula.expression))
    return tuple(dict.fromkeys(leaf_key(trace, number, leaf, step) for leaf in leaves))


def variable_keys(trace: Trace, number: int) -> Mapping[str, tuple[str, ...]]:
    """The variables of a Scan and of the one that it differentiates: all keys of their values.

    A star stands for all indices, or rows.
    """
    found: dict[str, tuple[str, ...]] = {}
    parent = trace.scans[number].parent
    for each in (number,) if parent is None else (number, parent):
        scan = trace.scans[each]
        variables: list[TapeTrace | SequenceTrace | ParameterTrace] = [
            *scan.tapes,
            *scan.outputs,
            *scan.sequences,
            *scan.parameters,
        ]
        for variable in variables:
            in_time = getattr(variable, "axis", None) is not None
            own = isinstance(variable, TapeTrace) and not in_time
            key = f"{each if own else root_number(trace, each)}:{variable.name}:*"
            found[variable.name] = tuple(dict.fromkeys((*found.get(variable.name, ()), key)))
    return found


def quantity_name(trace: Trace, number: int, variable: str, index: int | None) -> str:
    """The name of a variable of Scan `number`, as the gradient that it is, if it is one."""
    scan = trace.scans[number]
    for tape in (*scan.tapes, *scan.outputs):
        if tape.name == variable:
            return _tape_name(trace, number, tape, index)
    for sequence in scan.sequences:
        if sequence.name == variable:
            first, held = first_reader(trace, number, sequence)
            if isinstance(held, TapeTrace):
                return _tape_name(trace, first, held, index)
            return _given_name(trace, first, held, index)
    return indexed(variable, index)


def _tape_name(trace: Trace, number: int, tape: TapeTrace, index: int | None) -> str:
    """``x₃``, ``dC/dx₃``, or ``∂C′/∂x₃`` where it is one part of several."""
    name = gradient_name(trace, trace.scans[number], tape.gradient_of, index)
    if not name:
        return indexed(tape.name, index)
    return direct_part(name) if is_share(trace, number, tape) else name


def _given_name(trace: Trace, number: int, sequence: SequenceTrace, index: int | None) -> str:
    """``u₃``, or ``dC/dcube₃``: the gradient of an output, which comes in from outside."""
    scan = trace.scans[number]
    if not is_outer_gradient(sequence) or scan.parent is None or sequence.source is None:
        return indexed(sequence.axis.variable, index)
    output = trace.scans[scan.parent].variable(sequence.source)
    if not isinstance(output, TapeTrace):
        return indexed(sequence.axis.variable, index)
    return derivative_name(scan.order, _tape_name(trace, scan.parent, output, index))


def tape_label(trace: Trace, scan: ScanTrace, tape: TapeTrace, row: int) -> str:
    """The name of the quantity in one row of a tape."""
    index = None if tape.is_total else index_of(tape, row)
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


def moment(trace: Trace, number: int, step: int) -> tuple[int, str]:
    """When in the whole run a step of Scan `number` happens, and what that moment is called.

    The steps of all Scans are counted: ``4, "2 · grad_of_square, step 0"``.
    """
    count = sum(scan.steps for scan in trace.scans[:number]) + step
    return count, f"{number + 1} · {trace.scans[number].name}, step {step}"


def is_passed_on(trace: Trace, number: int, tape: TapeTrace) -> bool:
    """Whether a filled tape is a gradient that was asked for, or a part of one elsewhere."""
    if any((feed.scan, feed.variable) == (number, tape.argument) for feed in trace.feeds):
        return True
    return any(
        (feed.scan, feed.variable) == (number, tape.argument) and not is_reading(scan, feed.into)
        for scan in trace.scans
        for feed in scan.feeds
    )


def is_reading(scan: ScanTrace, argument: int) -> bool:
    """Whether an argument brings values to read, as opposed to gradients to add to."""
    return any(s.argument == argument and not is_outer_gradient(s) for s in scan.sequences)
