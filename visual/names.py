"""What quantities are called in a picture: x₃, ∂C/∂x₃, buf[1]."""

from collections.abc import Callable

from lab.formula import Call, Expression, Leaf, text
from lab.trace import ScanTrace, SequenceTrace, TapeTrace, Trace

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
    """Writes the leaves of a step's formulas: for one step, or for all of them."""

    def __init__(self, scan: ScanTrace) -> None:
        self.scan = scan
        self.several = sum(not t.is_total for t in scan.tapes) > 1

    def position(self, leaf: Leaf, step: int) -> str:
        """What a leaf is at a step: ``buf[1]``, ``x[3]`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return f"{leaf.variable}[{int(variable.axis.index[step])}]"
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return leaf.variable
        row = variable.tape.row(step, leaf.tap)
        in_time = self.scan.parent is None or not variable.tape.reads
        if in_time and variable.axis is not None:
            return f"{leaf.variable}[{int(variable.axis.index[row])}]"
        name = f"buf_{leaf.variable}" if self.several else "buf"
        return f"{name}[{step + leaf.tap}]"

    def general(self, leaf: Leaf) -> str:
        """What a leaf is at any step: ``x[t−1]``, ``u[t]`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, TapeTrace):
            return f"{leaf.variable}[{_moment(leaf.tap or 0)}]"
        if isinstance(variable, SequenceTrace):
            ahead = int(variable.axis.index[0]) if len(variable.axis.index) else 0
            return f"{leaf.variable}[{_moment(ahead - self._origin())}]"
        return leaf.variable

    def _origin(self) -> int:
        origins = {tape.tape.origin for tape in self.scan.tapes}
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


def factor_label(
    expression: Expression, read: Leaf, old: Leaf | None, spell: Callable[[Leaf], str]
) -> str:
    """What happens to `read` on its way into a slot: ``·2·x[3] + old``; empty if not so simple."""
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
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
