"""What quantities are called in a picture: x₃, dC/dx₃, buf[1].

Gradients through the whole loop are written with d, and with ∂ those parts of them that
come from the cost, or through one reader, directly.
"""

from collections.abc import Iterable, Mapping

from lab.notation import BELOW, Leaf, leaves_of, prime, signed
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Formula, ParameterTrace, SequenceTrace, TapeTrace

_SUBSCRIPTS = str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉")


def indexed(name: str, index: int | None) -> str:
    """``x₃``; a name that ends in a digit keeps brackets."""
    if index is None:
        return name
    if name[-1:].isdigit() or len(name) > 3:
        return f"{name}[{index}]"
    return name + str(index).translate(_SUBSCRIPTS)


def listed(numbers: Iterable[int], nothing: str = "nothing") -> str:
    """``−1, 0``."""
    return ", ".join(map(signed, numbers)) or nothing


def counted(number: int, word: str) -> str:
    """``1 step``, ``4 steps``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def cost_name(order: int) -> str:
    """C, then its derivatives C′, C″ …: what a derivative of `order` differentiates."""
    return f"C{prime(order - 1)}"


def derivative_name(order: int, held: str) -> str:
    """``dC′/d(dC/dx₃)``: the derivative of an order with regard to what is `held`."""
    inner = f"({held})" if "/" in held else held
    return f"d{cost_name(order)}/d{inner}"


def direct_part(gradient: str, number: int = 0) -> str:
    """``∂C/∂x₃``: the part of ``dC/dx₃`` that does not come through later steps.

    Where several tapes bring parts of it they have a `number`: ``∂₂C/∂x₃``.
    """
    above, slash, below = gradient.partition("/")
    which = str(number).translate(BELOW) if number else ""
    return f"∂{which}{above[1:]}/∂{below[1:]}" if slash else gradient


def index_of(tape: TapeTrace, row: int) -> int | None:
    """The index in time of a row of a tape; None for a tape that has no times."""
    return int(tape.axis.index[row]) if tape.axis is not None else None


class NamedScan(ScanOf):
    """One Scan of a trace, and what its quantities are called in every picture.

    A key tells which quantity a cell shows: it is the same wherever that one is shown.
    """

    def gradient_name(self, variable: str | None, index: int | None) -> str:
        """``dC/dx₃``: what it holds for a variable of the Scan that it differentiates."""
        if self.parent is None or variable is None:
            return ""
        return derivative_name(self.scan.order, self.parent.quantity_name(variable, index))

    def quantity_name(self, variable: str, index: int | None) -> str:
        """The name of one of its variables, as the gradient that it is, if it is one."""
        for tape in self.scan.held:
            if tape.name == variable:
                return self._held_name(tape, index)
        for sequence in self.scan.sequences:
            if sequence.name == variable:
                reader, held = self.first_reader(sequence)
                return reader._held_name(held, index)
        return indexed(variable, index)

    def _held_name(self, held: TapeTrace | SequenceTrace, index: int | None) -> str:
        """``x₃``, ``dC/dx₃``, ``∂C′/∂x₃`` where it is one part of several, ``dC/dcube₃``."""
        if isinstance(held, TapeTrace):
            name = self.tape_name(held, index)
            return name or indexed(held.name, index)
        if held.is_outer_gradient and self.parent is not None and held.source is not None:
            output = self.parent.scan.variable(held.source)
            if isinstance(output, TapeTrace):  # whose gradient comes in from outside
                return derivative_name(self.scan.order, self.parent._held_name(output, index))
        return indexed(held.axis.variable, index)

    def tape_name(self, tape: TapeTrace, index: int | None) -> str:
        """``dC′/dx₃``, or ``∂₂C′/∂x₃`` for one part of several; empty for what is no gradient."""
        name = self.gradient_name(tape.gradient_of, index)
        share = self.trace.shares.get((self.number, tape.argument))
        return name if share is None else direct_part(name, share)

    def row_name(self, variable: TapeTrace | SequenceTrace) -> str:
        """What all values of a variable are: ``x``, ``dC′/dx``, ``∂₂C′/∂x``."""
        return self._held_name(variable, None)

    def tape_label(self, tape: TapeTrace, row: int) -> str:
        """The name of the quantity in one row of a tape."""
        index = None if tape.is_total else index_of(tape, row)
        if tape.gradient_of is None:
            return indexed(tape.name, index)
        return self.tape_name(tape, index)

    def cell_key(self, name: str, index: int | None, row: int) -> str:
        """The key of a value of a variable, by its index in time, or else by its row."""
        if index is None:
            return f"{self.number}:{name}:r{row}"
        return f"{self.root.number}:{name}:{index}"

    def row_key(self, tape: TapeTrace, row: int) -> str:
        """The key of a row of a tape."""
        return self.cell_key(tape.name, index_of(tape, row), row)

    def leaf_key(self, leaf: Leaf, step: int) -> str:
        """The key of what a leaf of a formula stands for at a step."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.cell_key(variable.name, int(variable.axis.index[step]), step)
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            return self.root.cell_key(leaf.variable, None, 0)
        return self.row_key(variable, variable.tape.row(step, leaf.tap))

    def formula_keys(self, formula: Formula, step: int) -> tuple[str, ...]:
        """The keys of what a formula makes and reads at a step, the former first."""
        leaves = (formula.target, *leaves_of(formula.expression))
        return tuple(dict.fromkeys(self.leaf_key(leaf, step) for leaf in leaves))

    def variable_keys(self) -> Mapping[str, tuple[str, ...]]:
        """Its variables and those of the Scan that it differentiates: all keys of their values.

        A star stands for all indices, or rows.
        """
        keys: dict[str, tuple[str, ...]] = {}
        for each in (self,) if self.parent is None else (self, self.parent):
            scan = each.scan
            variables: list[TapeTrace | SequenceTrace | ParameterTrace] = [*scan.held]
            for variable in (*variables, *scan.sequences, *scan.parameters):
                own = isinstance(variable, TapeTrace) and variable.axis is None
                key = f"{each.number if own else each.root.number}:{variable.name}:*"
                keys[variable.name] = tuple(dict.fromkeys((*keys.get(variable.name, ()), key)))
        return keys

    def moment(self, step: int) -> tuple[int, str]:
        """When in the whole run a step happens, and what that moment is called.

        The steps of all Scans are counted: ``4, "2 · gradient of square, step 0"``.
        """
        count = sum(scan.steps for scan in self.trace.scans[: self.number]) + step
        return count, f"{self.number + 1} · {self.scan.name}, step {step}"
