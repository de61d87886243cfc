"""What quantities are called in a picture: x₃, ∂C/∂x₃, buf[1]."""

from lab.formula import Call, Expression, Leaf, text
from lab.trace import ScanTrace, TapeTrace, Trace

_SUBSCRIPTS = str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉")


def indexed(name: str, index: int | None) -> str:
    """``x₃``; a name that ends in a digit keeps brackets."""
    if index is None:
        return name
    if name[-1:].isdigit() or len(name) > 3:
        return f"{name}[{index}]"
    return name + str(index).translate(_SUBSCRIPTS)


def cost_name(order: int) -> str:
    """C, then its derivatives C′, C″ …: what a derivative of `order` differentiates."""
    primes = {0: "", 1: "′", 2: "″", 3: "‴"}
    return "C" + primes.get(order - 1, f"⁽{order - 1}⁾")


def gradient_name(trace: Trace, scan: ScanTrace, variable: str | None, index: int | None) -> str:
    """``∂C/∂x₃``: what `scan` holds for a variable of the Scan that it differentiates."""
    if scan.parent is None or variable is None:
        return ""
    parent = trace.scans[scan.parent]
    held = quantity_name(trace, parent, variable, index)
    inner = f"({held})" if "∂" in held else held
    return f"∂{cost_name(scan.order)}/∂{inner}"


def quantity_name(trace: Trace, scan: ScanTrace, variable: str, index: int | None) -> str:
    """The name of a variable of `scan`, as the gradient that it is, if it is one."""
    for tape in (*scan.tapes, *scan.outputs):
        if tape.name == variable and tape.gradient_of is not None:
            return gradient_name(trace, scan, tape.gradient_of, index)
    return indexed(variable, index)


def tape_label(trace: Trace, scan: ScanTrace, tape: TapeTrace, row: int) -> str:
    """The name of the quantity in one row of a tape."""
    index = int(tape.axis.index[row]) if tape.axis is not None else None
    if tape.gradient_of is None:
        return indexed(tape.name, index)
    return gradient_name(trace, scan, tape.gradient_of, index)


class Speller:
    """Writes the leaves of a step's formulas, for one step or for its numbers."""

    def __init__(self, scan: ScanTrace) -> None:
        self.scan = scan
        self.sequences = len(scan.sequences)
        self.recurrent = [t for t in scan.tapes if t.gradient_of is not None or scan.parent is None]

    def tape(self, leaf: Leaf) -> TapeTrace | None:
        """The tape that a leaf reads, if it reads one."""
        if leaf.tap is None:
            return None
        return next((t for t in (*self.scan.tapes, *self.scan.outputs) if t.name == leaf.variable), None)

    def position(self, leaf: Leaf, step: int) -> str:
        """``buf[1]``, ``x[3]`` or ``w``."""
        tape = self.tape(leaf)
        if tape is not None:
            return self._slot(tape, leaf, step)
        if 0 <= leaf.argument < self.sequences:
            axis = self.scan.sequences[leaf.argument].axis
            return f"{leaf.variable}[{int(axis.index[step])}]"
        return leaf.variable

    def _slot(self, tape: TapeTrace, leaf: Leaf, step: int) -> str:
        if self.scan.parent is None and tape.axis is not None:  # a loop's own values, by time
            row = tape.tape.row(step, leaf.tap) if tape.tape.reads else step
            return f"{tape.name}[{int(tape.axis.index[row])}]"
        if not tape.tape.reads:  # an output: which of the parent's values it belongs to
            index = int(tape.axis.index[step]) if tape.axis is not None else step
            return f"{tape.name}[{index}]"
        if tape.axis is None and tape.gradient_of is not None:  # a running total
            return tape.name
        several = sum(t.axis is not None or t.gradient_of is None for t in self.scan.tapes) > 1
        name = f"buf_{tape.name}" if several else "buf"
        return f"{name}[{step + leaf.tap}]"

    def general(self, leaf: Leaf) -> str:
        """``x[t−1]``, ``u[t]`` or ``w``: for the formula of all steps."""
        tape = self.tape(leaf)
        if tape is not None:
            return f"{leaf.variable}[{_moment(leaf.tap or 0)}]"
        if 0 <= leaf.argument < self.sequences:
            axis = self.scan.sequences[leaf.argument].axis
            ahead = int(axis.index[0]) if len(axis.index) else 0
            return f"{leaf.variable}[{_moment(ahead - self._origin())}]"
        return leaf.variable

    def _origin(self) -> int:
        origins = {t.tape.origin for t in self.scan.tapes if t.axis is not None}
        return origins.pop() if len(origins) == 1 else 0


def _moment(ahead: int) -> str:
    return "t" if not ahead else f"t+{ahead}" if ahead > 0 else f"t−{-ahead}"


def leaves_of(expression: Expression) -> list[Leaf]:
    """All leaves of an expression, from left to right."""
    if isinstance(expression, Leaf):
        return [expression]
    if isinstance(expression, Call):
        return [leaf for argument in expression.arguments for leaf in leaves_of(argument)]
    return []


def factor_label(expression: Expression, read: Leaf, old: Leaf | None, spell: object) -> str:
    """What happens to `read` on its way into a slot: ``·2·x[3] + old``; empty if not so simple."""
    terms = expression.arguments if isinstance(expression, Call) and expression.name == "Add" else (expression,)
    own = [term for term in terms if read in leaves_of(term)]
    if len(own) != 1:
        return ""
    plus = " + old" if old is not None and any(term == old for term in terms) else ""
    (term,) = own
    if term == read:
        return plus.strip()
    if not isinstance(term, Call) or term.name != "Mul" or term.arguments.count(read) != 1:
        return ""
    rest = tuple(factor for factor in term.arguments if factor != read)
    product = rest[0] if len(rest) == 1 else Call("Mul", rest)
    return f"·{text(product, spell)}{plus}"
