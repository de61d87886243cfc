"""What the quantities of a trace are called: x₃, dC/dx₃, ∂C′/∂x₃.

Gradients through the whole loop are written with d, and with ∂ those parts of them that come
from the cost, or through one reader, directly; several parts of one gradient are numbered.
"""

from lab.notation import PLAIN, Style, primes, ranges_text, slot_symbol, subscript, value_symbol
from lab.tape import Kind
from lab.traces.scan_of import ScanOf
from lab.traces.trace import SequenceTrace, TapeTrace


def cost_name(order: int, style: Style = PLAIN) -> str:
    """C, then its derivatives C′, C″ …: what a derivative of `order` differentiates."""
    return f"C{primes(order - 1, style)}"


def derivative_name(
    order: int, held: str, style: Style = PLAIN, direct: bool = False, part: int = 0
) -> str:
    """``dC′/d(dC/dx₃)``: the derivative of an order with regard to what is `held`.

    Where it is `direct`, it leaves out what comes through later steps: ``∂C/∂x₃``; of several
    such parts, `part` tells which, from 1: ``∂₂C/∂x₃``.
    """
    d = style.partial if direct else "d"
    above = f"{d}{subscript(part, style) if part else ''}{cost_name(order, style)}"
    nested = "/" in held or r"\frac" in held
    return style.ratio(above, f"{d}({held})" if nested else f"{d}{held}")


def index_of(tape: TapeTrace, row: int) -> int | None:
    """The index in time of a row of a tape; None for a tape that has no times."""
    return int(tape.axis.index[row]) if tape.axis is not None else None


def back_through(order: int, number: int) -> str:
    """``C′ back through 1``: the Scan that takes the gradient of C′ through Scan 1."""
    return f"{cost_name(order)} back through {number}"


class Quantities(ScanOf):
    """One Scan of a trace, and what its quantities are called, here and in other Scans."""

    @property
    def called(self) -> str:
        """``gradient of square``; where there are several orders, what tells it from the others."""
        name, parent = self.scan.name, self.scan.parent
        several = any(scan.order > 1 for scan in self.trace.scans)
        if parent is None or not several or "gradient" not in name:
            return name
        return back_through(self.scan.order, parent + 1)

    def tape_label(self, tape: TapeTrace, row: int | None, style: Style = PLAIN) -> str:
        """``x₃``, ``dC/dx₃``: the quantity in one row of a tape; of row None, the tape's own."""
        index = None if tape.is_total or row is None else index_of(tape, row)
        return self.named_at(tape, index, style)

    def place(self, tape: TapeTrace, row: int, style: Style = PLAIN) -> str:
        """``buf[1]``: a place on a tape that a derivative changes; ``buf_dx[1]`` of several."""
        return slot_symbol(self._buffer(tape), tape.position(row), style)

    def _buffer(self, tape: TapeTrace) -> str:
        several = sum(not other.is_total for other in self.scan.tapes) > 1
        return f"buf_{tape.name}" if several else "buf"

    def slot_label(self, tape: TapeTrace, row: int) -> str:
        """What a slot is: a value, or of a derivative's tape the place, and what it is for."""
        label = self.tape_label(tape, row)
        if tape.is_total:
            return f"{label}: {tape.name}"
        return f"{label}: {self.place(tape, row)}" if tape.kind is Kind.MIT_MOT else label

    def whole_label(self, tape: TapeTrace, row: int | None) -> str:
        """``dC/dx₃``: the gradient that a tape holds, or holds a part of."""
        index = None if row is None else index_of(tape, row)
        if self.parent is None or tape.gradient_of is None:
            return ""
        held = self.parent.quantity_name(tape.gradient_of, index)
        return derivative_name(self.scan.order, held)

    def direct_label(self, tape: TapeTrace, row: int | None) -> str:
        """``∂C/∂x₃``: all that comes to a gradient directly, whatever brings it."""
        index = None if row is None else index_of(tape, row)
        return self.named_at(tape, index, PLAIN, direct=True)

    def seeded_by(self, *arguments: int) -> list[int]:
        """The Scans, by number, whose gradients some of its tapes, or all, begin with.

        None where the cost acts alone.
        """
        feeds = [f for f in self.scan.feeds if not self.scan.is_reading(f.into)]
        found = {f.scan for f in feeds if f.into in arguments or not arguments}
        return [n for n in sorted(found) if self.trace.scans[n].parent is not None]

    @property
    def seeds(self) -> str:
        """The origin of the initial values of its gradients: ``output of Scans 5–7``."""
        found = [n + 1 for n in self.seeded_by()]
        if not found:
            return "direct gradient of the cost"
        return f"output of Scan{'s' * (len(found) > 1)} {ranges_text(found)}"

    def quantity_name(self, variable: str, index: int | str | None, style: Style = PLAIN) -> str:
        """The name of one of its variables, as the gradient that it is, if it is one."""
        for tape in self.scan.held:
            if tape.name == variable:
                return self.named_at(tape, index, style)
        for sequence in self.scan.sequences:
            if sequence.name == variable:
                return self.sequence_label(sequence, index, style)
        return value_symbol(variable, index, style)

    def row_name(self, variable: TapeTrace | SequenceTrace) -> str:
        """What all values of a variable are: ``x``, ``dC′/dx``, ``∂₂C′/∂x``."""
        if isinstance(variable, TapeTrace):
            return self.tape_label(variable, None)
        return self.sequence_label(variable, None)

    def sequence_label(
        self, sequence: SequenceTrace, index: int | str | None, style: Style = PLAIN
    ) -> str:
        """What a sequence brings, by the name that it has where it was made or first read."""
        reader, held = self.first_reader(sequence)
        if isinstance(held, TapeTrace):
            return reader.named_at(held, index, style)
        if held.is_outer_gradient and reader.parent is not None and held.source is not None:
            output = reader.parent.scan.variable(held.source)
            if isinstance(output, TapeTrace):  # whose gradient comes in from outside
                name = reader.parent.named_at(output, index, style)
                return derivative_name(reader.scan.order, name, style)
        return value_symbol(held.axis.variable, index, style)

    def named_at(
        self, tape: TapeTrace, index: int | str | None, style: Style, direct: bool = False
    ) -> str:
        """``dC/dx₃``, ``∂₂C/∂u₄₋ₖ``: what a tape holds at an index in time."""
        if tape.gradient_of is None or self.parent is None:
            return value_symbol(tape.name, index, style)
        held = self.parent.quantity_name(tape.gradient_of, index, style)
        share = 0 if direct else self.share(tape)
        if share and tape.collects:  # which is added to where the loop begins
            row = tape.axis.rows.get(index) if tape.axis and isinstance(index, int) else None
            share = share if row in self.wanted_rows(tape) else None
        return derivative_name(self.scan.order, held, style, share is not None, share or 0)
