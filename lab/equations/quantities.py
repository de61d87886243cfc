"""Name the quantities of a trace, such as x₃, dC/dx₃, and ∂C′/∂x₃, and write its formulas.

The letter d denotes a total gradient.  The letter ∂ denotes a direct contribution, from the cost or
from one reader of the value.  Several contributions to one gradient are numbered, as in ∂₂C/∂x₃.

    >>> named, formula = Quantities(trace, 1), trace.scans[1].formulas[0]
    >>> named.formula_at(formula, 0), named.numbers(formula, 0)
    ('buf[1] ← buf[0]·2·x₃ + buf[1]', '1.327 = 1·2·0.6634 + 0')

A formula names a slot on a tape of gradients by its position, such as buf[1], because a step
overwrites the slot.  All other values have names, such as x₃.
"""

from lab.equations.numbers import equation
from lab.gradients.symbols import cost_symbol, derivative_symbol
from lab.notation import (
    PLAIN,
    Leaf,
    buffer_name,
    index_formula,
    offsets_text,
    ranges_text,
    slot_symbol,
    tap_symbol,
    value_symbol,
)
from lab.scans.names import unique_names
from lab.tape import Kind
from lab.traces.faults import value_at_step
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Formula, SequenceTrace, TapeTrace


def index_of(tape: TapeTrace, row: int | None) -> int | None:
    """Return the time index of a row of a tape; None if the row or its index is unknown."""
    return None if tape.axis is None or row is None else int(tape.axis.index[row])


class Quantities(ScanOf):
    """Scan `number` of a trace, with the names of the Scan, its quantities, slots, and formulas."""

    @property
    def scan_label(self) -> str:
        """The name of the Scan: ``gradient of square``, or ``∇C′ through 1`` for several orders.

        ``∇C′ through 1`` is the Scan that computes the gradient of C′ through Scan 1.
        """
        name, parent = self.scan.name, self.scan.parent
        several = any(scan.order > 1 for scan in self.trace.scans)
        return name if parent is None or not several else f"∇{self.cost} through {parent + 1}"

    @property
    def cost(self) -> str:
        """The cost that the Scan differentiates: C, or C′ for a second derivative."""
        return cost_symbol(self.scan.order - 1)

    def seeded_by(self, *arguments: int) -> list[int]:
        """Return the indices of the Scans whose gradients are initial values of tapes.

        `arguments` are the numbers of these tapes (default: all tapes).
        """
        feeds = [f for f in self.scan.feeds if not self.scan.is_reading(f.into)]
        scans = {f.scan for f in feeds if f.into in arguments or not arguments}
        return [n for n in sorted(scans) if self.trace.scans[n].parent is not None]

    @property
    def seeds(self) -> str:
        """The origin of the initial gradients: ``output of Scans 5–7``."""
        numbers = [n + 1 for n in self.seeded_by()]
        if not numbers:
            return "direct gradient of the cost"
        return f"output of Scan{'s' * (len(numbers) > 1)} {ranges_text(numbers)}"

    @property
    def offsets(self) -> str:
        """The indices of the values at tap 0: ``step k: x[t] is xₖ₊₁``; "" for a derivative."""
        if self.scan.parent is not None:
            return ""
        states = [tape for tape in self.scan.buffers if tape.kind is not Kind.MIT_MOT]
        starts = {tape.name: tape.tape.origin for tape in states}
        starts |= {s.axis.variable: s.now for s in self.scan.sequences}
        return offsets_text({name: start + self.scan.first for name, start in starts.items()})

    def quantity_name(self, variable: str, index: int | str | None) -> str:
        """Return the label of a variable at an index: ``x₃``, or ``dC/dx₃`` for a gradient."""
        known: list[TapeTrace | SequenceTrace] = [*self.scan.buffers, *self.scan.sequences]
        found = next((each for each in known if each.name == variable), None)
        return value_symbol(variable, index) if found is None else self.variable_label(found, index)

    def variable_label(
        self, variable: TapeTrace | SequenceTrace, index: int | str | None = None
    ) -> str:
        """Name a variable at a time index, or without an index: ``x``, ``dC′/dx``, ``∂₂C′/∂x``."""
        if isinstance(variable, TapeTrace):
            return self.named_at(variable, index)
        return self.sequence_label(variable, index)

    def sequence_label(self, sequence: SequenceTrace, index: int | str | None) -> str:
        """Name a sequence value as the Scan that computes or first reads it: ``u₃``, ``dC/dy₂``."""
        reader, held = self.first_reader(sequence)
        if isinstance(held, TapeTrace):
            return reader.named_at(held, index)
        if held.is_outer_gradient and reader.parent is not None and held.source is not None:
            output = reader.parent.scan.variable(held.source)
            if isinstance(output, TapeTrace):  # the sequence contains its external gradient
                name = reader.parent.named_at(output, index)
                return derivative_symbol(reader.cost, name)
        return value_symbol(held.axis.variable, index)

    def named_at(self, tape: TapeTrace, index: int | str | None, direct: bool = False) -> str:
        """Name the quantity of a tape at a time index: ``dC/dx₃``, ``∂₂C/∂u₄₋ₖ``."""
        if tape.gradient_of is None or self.parent is None:
            return value_symbol(tape.name, index)
        held = self.parent.quantity_name(tape.gradient_of, index)
        part = None if direct else self.part_number(tape)
        if part and tape.collects:  # in other rows, the tape contains total gradients
            row = tape.axis.rows.get(index) if tape.axis and isinstance(index, int) else None
            part = part if row in self.wanted_rows(tape) else None
        return derivative_symbol(self.cost, held, direct or part is not None, part or 0)

    def tape_label(self, tape: TapeTrace, row: int | None) -> str:
        """Name the quantity in a row of a tape: ``x₃``, ``dC/dx₃``; no index if `row` is None."""
        return self.named_at(tape, None if tape.is_total else index_of(tape, row))

    def direct_label(self, tape: TapeTrace, row: int | None) -> str:
        """Name the direct contribution to a gradient: ``∂C/∂x₃``."""
        return self.named_at(tape, index_of(tape, row), direct=True)

    def whole_label(self, tape: TapeTrace, row: int | None) -> str:
        """Name the gradient that a tape accumulates, as ``dC/dx₃``; return "" for other tapes."""
        if self.parent is None or tape.gradient_of is None:
            return ""
        held = self.parent.quantity_name(tape.gradient_of, index_of(tape, row))
        return derivative_symbol(self.cost, held)

    def slot_label(self, tape: TapeTrace, row: int) -> str:
        """Name a slot by its quantity; on a mit-mot, also by its position: ``dC/dx₃: buf[1]``."""
        label = self.tape_label(tape, row)
        if tape.is_total:
            return f"{label}: {tape.name}"
        return f"{label}: {self.place(tape, row)}" if tape.kind is Kind.MIT_MOT else label

    def place(self, tape: TapeTrace, row: int) -> str:
        """Name a slot as ``buf[1]``, or as ``buf_dx[1]`` if the Scan has several tapes."""
        return slot_symbol(self.buffer(tape), tape.position(row))

    def buffer(self, tape: TapeTrace) -> str:
        """Name a buffer: ``buf``, or ``buf_dx`` if the tape is an output or one of several."""
        states, buffers = [t for t in self.scan.tapes if not t.is_total], self.scan.buffers
        name = unique_names([each.name for each in buffers])[buffers.index(tape)]
        return buffer_name(name, len(states) if tape in states else 2)

    def leaf_at(self, leaf: Leaf, step: int) -> str:
        """Name a leaf at a step: ``buf[1]``, ``x₃``, or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.sequence_label(variable, int(variable.axis.index[step]))
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return leaf.variable
        in_time = self.scan.parent is None or not variable.tape.reads
        label = self.tape_label if in_time and variable.axis is not None else self.place
        return label(variable, variable.tape.row(step, leaf.tap))

    def leaf_label(self, leaf: Leaf) -> str:
        """Name a leaf at any step: ``x[t−1]``, ``u[t]``, or ``w``; in a derivative ``x₃₋ₖ``.

        t is the time index of the written value, and k the number of the step.
        """
        variable, in_loop = self.scan.variable(leaf), self.scan.parent is None
        if isinstance(variable, SequenceTrace) and len(variable.axis.index):
            first, way = variable.axis.direction
            if in_loop and way == 1:
                return tap_symbol(leaf.variable, first - variable.now)
            return self.sequence_label(variable, index_formula(first, way))
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return leaf.variable
        if in_loop or variable.tape.reads or variable.axis is None:
            return tap_symbol(leaf.variable, leaf.tap)
        return self.named_at(variable, index_formula(*variable.axis.direction))

    def sign(self, formula: Formula) -> str:
        """Return ``=``, or an arrow if the formula replaces a value."""
        target = self.scan.tape(formula.target.argument)
        replaces = target is not None and (target.is_total or target.kind is Kind.MIT_MOT)
        return PLAIN.arrow if replaces else "="

    def formula_at(self, formula: Formula, step: int) -> str:
        """Write a formula at a step: ``buf[1] ← buf[0]·2·x₃ + buf[1]``."""
        return formula.text(lambda leaf: self.leaf_at(leaf, step), self.sign(formula))

    def equation(self, formula: Formula) -> str:
        """Write the formula of all steps: ``x[t] = x[t−1]²``."""
        return formula.text(self.leaf_label, self.sign(formula))

    def numbers(self, formula: Formula, step: int) -> str:
        """Write a formula in numbers: ``1.327 = 1·2·0.6634 + 0``; return "" if impossible."""
        sources: tuple[Leaf | Formula, ...] = (*formula.leaves, formula)
        values = [value_at_step(self.scan, source, step) for source in sources]
        numbers = [value for value in values if value is not None and not value.ndim]
        if len(numbers) < len(sources):
            return ""
        used = dict(zip(formula.leaves, numbers, strict=False))
        return equation(numbers[-1], formula.expression, used)
