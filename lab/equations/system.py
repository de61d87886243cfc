"""A Scan as a system of equations.

    >>> print(gallery.loops["rnn"].system())
    >>> print(system(xs))                          # of a PyTensor graph with one Scan

Later steps read states, but not outputs.  A sequence has a different value at every step, and a
parameter has the same value.  A step writes ``x[t]`` and reads ``x[t−1]`` at tap −1.  x₀ is the
first initial value.  With one initial value, step k computes ``xₖ₊₁``: row k of the result of
``pytensor.scan``, and row k + 1 of the Scan's buffer.  A variable that the steps read in another
order has an index in k, such as ``x₃₋ₖ``.

The terms follow PyTensor's "Internal documentation of the scan op".
"""

from dataclasses import dataclass
from enum import StrEnum

from lab.equations.tables import ReportTable
from lab.errors import listing
from lab.notation import (
    LATEX,
    PLAIN,
    Expression,
    Leaf,
    Number,
    Style,
    buffer_name,
    counted,
    first_values,
    index_formula,
    integers,
    offsets_text,
    render,
    shifted,
    slot_symbol,
    tap_symbol,
    value_symbol,
)
from lab.tape import Kind, Tape
from lab.traces.trace import Formula


class VariableRole(StrEnum):
    """The role of a variable in a loop; a parameter is a non-sequence of PyTensor."""

    STATE = "state"
    OUTPUT = "output"
    SEQUENCE = "sequence"
    PARAMETER = "parameter"
    NON_NUMERIC = "non-numeric state"


ROLES = {
    Kind.NIT_SOT: VariableRole.OUTPUT,
    Kind.SEQUENCE: VariableRole.SEQUENCE,
    Kind.PARAMETER: VariableRole.PARAMETER,
    Kind.UNTRACED: VariableRole.NON_NUMERIC,
}

HEADER = ("name", "role", "reads", "writes", "type", "values")
WIDTH = 120  # characters of a line of the printed table
GIVEN = r"\text{given}"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A variable of a system.

    `argument` is the number of the variable among the Scan's arguments; the leaves of equations
    have this number.  Step k reads row `first` + `way`·k of a sequence from the array `symbol`,
    counted from the end for a negative `first`.  If `length` is "n", add the number of steps to
    this row.  `now` is the row that step 0 reads as ``u[t]``.  `given` is the expression of the
    initial values, of a sequence, or of a parameter.
    """

    symbol: str
    kind: Kind
    argument: int
    tape: Tape
    dtype: str
    shape: tuple[int | None, ...]
    first: int = 0
    way: int = 1
    length: str = ""
    now: int = 0
    given: Expression | None = None

    @property
    def role(self) -> VariableRole:
        """The role of the variable, by its kind."""
        return VariableRole.STATE if self.kind.is_state else ROLES[self.kind]


@dataclass(frozen=True, kw_only=True)
class System:
    """The equations, variables, and number of steps of a loop.

    `steps` is a number, or an expression if only a run determines it.  `until` is the condition
    that stops the loop.
    """

    name: str
    steps: Expression
    quantities: tuple[Quantity, ...]
    equations: tuple[Formula, ...]
    until: Expression | None = None

    def of_role(self, *roles: VariableRole) -> tuple[Quantity, ...]:
        """Return the variables in these roles, in the order of the Scan's arguments."""
        return tuple(q for q in self.quantities if q.role in roles)

    def quantity(self, leaf: Leaf) -> Quantity | None:
        """Return the variable that a leaf of an equation reads or writes, or None."""
        return next((q for q in self.quantities if q.argument == leaf.argument), None)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.contents}", "", *self.recurrence, ""]
        lines += [*self.count, ""] if self.count else []
        return "\n".join((*lines, *ReportTable(HEADER, self.variables).compact.lines(WIDTH)))

    @property
    def variables(self) -> tuple[tuple[str, ...], ...]:
        """The table of the variables, with the columns of `HEADER`."""
        return tuple(map(self._row, self.quantities))

    @property
    def count(self) -> tuple[str, ...]:
        """The value or limit of n; empty if the number of steps is a constant or the input n."""
        steps, sign = self._right(self.steps), "=" if self.until is None else "≤"
        is_known = self.step_count is not None or steps == "n"
        return () if is_known else (f"  n {sign} {steps}",)

    @property
    def contents(self) -> str:
        """The numbers of variables in each role: ``1 state and 2 parameters``."""
        counts = ((len({q.symbol for q in self.of_role(role)}), role) for role in VariableRole)
        return listing(counted(n, role) for n, role in counts if n)

    @property
    def recurrence(self) -> tuple[str, ...]:
        """The equations, the range of their steps, and the indices of their values."""
        lines = [f"  {equation}" for equation in self.lines()]
        for quantity in self.of_role(VariableRole.NON_NUMERIC):
            symbol = quantity.symbol
            lines.append(
                f"  {symbol}[t] = the generator after the draws of the step from {symbol}[t−1]"
            )
        until = f", until {self._right(self.until)}" if self.until is not None else ""
        lines.append(f"  for {self._range()}{until}")
        if self._offsets:
            lines.append(f"  {self._offsets}")
        return tuple(lines)

    def latex(self) -> str:
        """Return equations, initial values, and until condition as an ``aligned`` environment."""
        steps = rf"&& \text{{{self._range(LATEX)}}}"
        lines = [f"{self._equation(f, LATEX, '&')} {steps}" for f in self.equations]
        for quantity in self.of_role(VariableRole.STATE):
            names, value = self._initial(quantity, LATEX)
            if quantity.kind is not Kind.MIT_MOT:
                lines.append(rf"{names} &= {value or GIVEN}")
        if self.until is not None:
            limit = rf", \quad n \le {self._right(self.steps, LATEX)}" if self.count else ""
            lines.append(rf"\text{{until }} & {self._right(self.until, LATEX)}{limit}")
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def lines(self, style: Style = PLAIN) -> tuple[str, ...]:
        """Return only the equations, one per line; `style` is `notation.PLAIN` or `LATEX`."""
        return tuple(self._equation(formula, style) for formula in self.equations)

    def label(self, quantity: Quantity) -> str:
        """Name a variable by its symbol, or a sequence by the value that a step reads, ``u[t]``."""
        is_sequence = quantity.role is VariableRole.SEQUENCE
        leaf = Leaf(quantity.symbol, None, quantity.argument)
        return self.leaf_label(leaf) if is_sequence else quantity.symbol

    def leaf_label(self, leaf: Leaf, style: Style = PLAIN) -> str:
        """Name a leaf at any step: ``x[t−1]``, ``u[t+4]``, ``uₙ₋₁₋ₖ``, ``w``, or ``buf[k+1]``."""
        quantity = self.quantity(leaf)
        if quantity is None or quantity.role in (VariableRole.PARAMETER, VariableRole.NON_NUMERIC):
            return value_symbol(quantity.symbol if quantity else leaf.variable, None, style)
        if quantity.kind is Kind.MIT_MOT:
            place = index_formula(leaf.tap or 0, style=style)
            return slot_symbol(self._buffer_name(quantity), place, style)
        if quantity.role is not VariableRole.SEQUENCE:
            return tap_symbol(quantity.symbol, leaf.tap or 0, style)
        first, way, length = quantity.first, quantity.way, quantity.length
        if way == 1 and not length and first >= 0:
            return tap_symbol(quantity.symbol, first - quantity.now, style)
        return value_symbol(quantity.symbol, index_formula(first, way, style, length), style)

    def _right(self, expression: Expression, style: Style = PLAIN) -> str:
        return render(expression, lambda leaf: self.leaf_label(leaf, style), style)

    def _equation(self, formula: Formula, style: Style, align: str = "") -> str:
        """Write an equation: ``x[t] = x[t−1]²``; `align` is the text before the sign."""
        quantity = self.quantity(formula.target)
        replaces = quantity is not None and quantity.kind is Kind.MIT_MOT
        sign = style.arrow if replaces else "="
        return formula.text(lambda leaf: self.leaf_label(leaf, style), f"{align}{sign}", style)

    @property
    def step_count(self) -> int | None:
        """The number of steps; None if only a run determines it."""
        steps = self.steps if self.until is None else None
        return int(float(steps.written)) if isinstance(steps, Number) else None

    def _range(self, style: Style = PLAIN) -> str:
        """Write the steps: ``steps 0 to 3``, or ``steps 0 to n−1`` for an unknown number."""
        if self.step_count is None:
            return f"steps 0 to n{style.minus}1"
        if self.step_count < 2:
            return "step 0" if self.step_count else "no steps"
        return f"steps 0 to {self.step_count - 1}"

    @property
    def _offsets(self) -> str:
        """The indices of the values at tap 0: ``step k: x[t] is xₖ₊₁``."""
        starts = {}
        for quantity in self.quantities:
            match quantity.role:
                case VariableRole.STATE | VariableRole.OUTPUT if quantity.kind is not Kind.MIT_MOT:
                    starts[quantity.symbol] = quantity.tape.origin
                case VariableRole.SEQUENCE if quantity.way == 1 and quantity.first >= 0:
                    starts.setdefault(quantity.symbol, quantity.now)
        return offsets_text(starts)

    def _initial(self, quantity: Quantity, style: Style = PLAIN) -> tuple[str, str]:
        """Return the names of the initial values of a state, and the expression of their values."""
        value = self._right(quantity.given, style) if quantity.given else ""
        return first_values(quantity.symbol, quantity.tape.origin, style), value

    def _row(self, quantity: Quantity) -> tuple[str, ...]:
        """Return name, role, taps, type, and values of a variable, for the columns of `HEADER`."""
        role, values = str(quantity.role), self._source(quantity)
        reads, writes = integers(*quantity.tape.reads), integers(*quantity.tape.writes)
        match quantity.role:
            case VariableRole.STATE | VariableRole.OUTPUT:
                role += f" ({quantity.kind})"
                if quantity.kind is not Kind.MIT_MOT:
                    values = "; ".join(filter(None, (self._buffer(quantity), values)))
            case VariableRole.SEQUENCE:
                reads = self.label(quantity)
            case VariableRole.PARAMETER | VariableRole.NON_NUMERIC:
                reads = writes = ""
        shape = " × ".join("?" if n is None else str(n) for n in quantity.shape) or "scalar"
        dtype = "" if quantity.kind is Kind.UNTRACED else f"{quantity.dtype}, {shape}"
        return quantity.symbol, role, reads, writes, dtype, values

    def _buffer(self, quantity: Quantity) -> str:
        """Write the values in the rows of the Scan's buffer: ``x₀, …, x₄``."""
        more, symbol = quantity.tape.origin, quantity.symbol
        if self.step_count is not None:
            return first_values(symbol, more + self.step_count) or "nothing"
        return ", …, ".join(value_symbol(symbol, index) for index in (0, shifted("n", more - 1)))

    def _buffer_name(self, quantity: Quantity) -> str:
        kinds = [each.kind for each in self.quantities]
        return buffer_name(quantity.symbol, kinds.count(Kind.MIT_MOT))

    def _source(self, quantity: Quantity) -> str:
        """Write the origin of a variable's values: ``x₀ = x``; "" for an output or graph input."""
        if quantity.kind is Kind.MIT_MOT:
            buffer = f"{self._buffer_name(quantity)}, the whole buffer of {quantity.symbol}"
            return f"{buffer}, which the loop overwrites"
        if quantity.role is VariableRole.STATE:
            names, value = self._initial(quantity)
            return f"{names} = {value}" if value else f"{names}: the first rows of its buffer"
        if quantity.role is VariableRole.OUTPUT or quantity.given is None:
            return ""
        return f"{quantity.symbol} = {self._right(quantity.given)}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/latex": self._repr_latex_(), "text/plain": str(self)}
