"""The records of events as frozen plain data: slots, reads, terms, and writes."""

from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum

import numpy as np

from lab.notation import Call, Expression, Leaf, body_of, leaves_of, render
from lab.records import cached_property
from lab.traces.trace import Trace

COLUMNS = "scan", "step", "tape", "position", "row", "quantity", "role", "old", "new"


class SlotRole(StrEnum):
    """The role of a slot at a moment."""

    PRESERVED = "preserved"  # read by a step of its Scan, unchanged
    OVERWRITTEN = "overwritten"  # read, then replaced
    RESTORED = "restored"  # replaced by the value that was read
    WRITTEN = "written"  # written without being read
    SAVED = "saved"  # read by another Scan for a value that the outputs depend on
    READ = "read"  # a sequence or parameter value that a step reads; no slot has this role
    EMPTY = "empty"  # contains no value yet
    INPUT = "input"  # initial value that was passed to a loop
    SEED = "seed"  # nonzero initial value in a tape of gradients
    PENDING = "pending"  # zero in a tape of gradients before its first read or write
    INTERMEDIATE = "intermediate"  # written, and a later event reads or replaces it
    RESULT = "result"  # complete, and used outside its Scan
    DONE = "done"  # not used again

    @property
    def is_access(self) -> bool:
        """Whether the event at this moment reads the slot, or is a step that writes the slot."""
        reads = SlotRole.PRESERVED, SlotRole.OVERWRITTEN, SlotRole.RESTORED, SlotRole.SAVED
        return self in (*reads, SlotRole.WRITTEN, SlotRole.READ)


@dataclass(frozen=True)
class Slot:
    """One element of a tape.

    `scan` is the index of the Scan in the trace, and `argument` is the number of the tape among the
    arguments of that Scan. `row` is the index in the buffer, and `position` the number in formulas.
    Two slots are equal if `scan`, `argument`, and `row` are equal.
    """

    scan: int
    argument: int
    row: int
    _: KW_ONLY
    tape: str = field(compare=False)
    position: int = field(compare=False)
    quantity: str = field(compare=False)  # the value, or the gradient that it accumulates: dC/dx₂
    label: str = field(compare=False)  # the name in formulas: buf[2], or x₂
    place: str = field(compare=False, default="")  # the slot in its buffer: buf[2]

    @property
    def key(self) -> tuple[int, int, int]:
        """The Scan, the argument, and the row."""
        return self.scan, self.argument, self.row

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, eq=False)
class Read:
    """A value that an event reads.

    `slot` is the slot that contains the value, or None for an input of the graph and a gradient of
    the cost. `argument` and `variable` are the number and the name of the loop variable that the
    step reads. If the step reads a tape of its Scan, `tap` is the tap. `index` is the time index of
    the value of a tape or a sequence, if known.
    """

    name: str  # buf[0], x₃ or w
    value: np.ndarray
    slot: Slot | None = None
    _: KW_ONLY
    tap: int | None = None
    argument: int = -1
    variable: str = ""
    role: SlotRole = SlotRole.READ  # PRESERVED or OVERWRITTEN on a tape, otherwise READ
    index: int | None = None

    @property
    def is_own(self) -> bool:
        """Whether the step reads the value from a tape of its own Scan."""
        return self.tap is not None


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of a written value.

    `source` is the gradient that the term propagates. The slot of the source is in another Scan if
    the event fills a tape, or if the source is the gradient of an output. `source` is None for a
    term of the cost, and for an operation on several slots. If `factor` is not None, `value` is the
    elementwise product of `source.value` and `factor`, and `reads` are the values in the factor.
    Otherwise `reads` are all values in the term except the source. A term without an expression has
    the text `label`, and its factor has the text `factor_label`.
    """

    value: np.ndarray
    source: Read | None = None
    factor: np.ndarray | None = None
    _: KW_ONLY
    label: str = ""
    factor_label: str = ""
    reads: tuple[Read, ...] = ()
    expression: Expression | None = None  # the factor, or the term if it has no factor

    @cached_property
    def text(self) -> str:
        """The term in symbols, such as ``buf[0]·2·x₃``."""
        if self.expression is None or self.factor is None or self.source is None:
            return self._write(self.expression) or self.label
        leaf = Leaf(self.source.variable, self.source.tap, self.source.argument)
        return self._write(Call("Mul", (leaf, body_of(self.expression))))

    @cached_property
    def symbols(self) -> str:
        """The factor in symbols, such as ``2·x₃``; empty without a factor."""
        return "" if self.factor is None else self._write(self.expression) or self.factor_label

    def _write(self, expression: Expression | None) -> str:
        """Write an expression of the source and the reads; return "" for None."""
        names = {(r.argument, r.tap): r.name for r in (self.source, *self.reads) if r is not None}
        if expression is None:
            return ""
        return render(expression, lambda leaf: names.get((leaf.argument, leaf.tap), leaf.variable))


@dataclass(frozen=True, eq=False, kw_only=True)
class Write:
    """A value that an event writes.

    In a Scan of a derivative, the value is the sum of its terms:
    ``new = sum of term.value + (old if adds_old else 0)``. A forward write has a formula and no
    terms. `old` is None if the slot was empty. `role` is the role of the slot in the event: WRITTEN
    if the step does not read the slot, RESTORED if the step writes the value that it read, and
    otherwise OVERWRITTEN. `right` (text) and `expression` (its leaves are the reads) are the right
    side of the formula; "" and None if unknown.
    """

    slot: Slot
    old: np.ndarray | None = None
    new: np.ndarray
    role: SlotRole
    tap: int | None = None
    sign: str = "="  # or an arrow if the write replaces a value
    right: str = ""  # buf[0]·2·x₃ + buf[1]
    reads: tuple[Read, ...] = ()  # the values in the formula, from left to right
    terms: tuple[Term, ...] = ()
    adds_old: bool = False
    expression: Expression | None = None

    @property
    def formula(self) -> str:
        """The write in symbols, such as ``buf[1] ← buf[0]·2·x₃ + buf[1]``."""
        return f"{self.slot} {self.sign} {self.right}" if self.right else ""

    @property
    def in_buffers(self) -> str:
        """The formula with positions in buffers: ``buf[2] = buf[1]²``."""
        if self.expression is None or not self.slot.place:
            return self.formula
        reads = zip(leaves_of(self.expression), self.reads, strict=True)
        names = {leaf: r.slot.place if r.slot and r.is_own else r.name for leaf, r in reads}
        return f"{self.slot.place} {self.sign} {render(self.expression, names.__getitem__)}"

    @property
    def equation(self) -> str:
        """The formula with the sign ``=``."""
        return f"{self.slot} = {self.right}" if self.right else ""

    def term(self, argument: int, tap: int | None) -> Term | None:
        """Return the term that reads a tap of an argument; None if no term or several read it."""
        key, values = (argument, tap), ((r, t) for t in self.terms for r in (t.source, *t.reads))
        terms = [term for read, term in values if read and (read.argument, read.tap) == key]
        return terms[0] if len(terms) == 1 else None


@dataclass(frozen=True, eq=False)
class Event:
    """One step of a Scan, or the filling of the tapes of a Scan.

    The event ends at moment `number`. `scan` is the index of the Scan in the trace, and `step` is
    None for a filling. If the step contains Scans, `nested` is the trace of the step, which has
    separate events.
    """

    number: int
    scan: int
    step: int | None
    _: KW_ONLY
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    nested: Trace | None = None

    def write(self, argument: int, tap: int | None) -> Write:
        """Return the write at `tap` of the tape with the number `argument`."""
        return next(w for w in self.writes if (w.slot.argument, w.tap) == (argument, tap))

    @property
    def preserved(self) -> tuple[Slot, ...]:
        """The slots that the step reads and does not write."""
        return tuple(r.slot for r in self.reads if r.role is SlotRole.PRESERVED and r.slot)

    @property
    def overwritten(self) -> tuple[Slot, ...]:
        """The slots that the step reads and then replaces, including restored slots."""
        return tuple(w.slot for w in self.writes if w.role is not SlotRole.WRITTEN)

    @property
    def saved(self) -> tuple[Slot, ...]:
        """The slots of other Scans that the event reads."""
        return tuple(r.slot for r in self.reads if r.slot is not None and not r.is_own)

    def rows(self) -> list[dict[str, object]]:
        """Return a dictionary with the keys `COLUMNS` for each touched slot and each read value."""

        def cells(slot: Slot, role: str, *values: np.ndarray | None) -> tuple[object, ...]:
            return slot.tape, slot.position, slot.row, slot.quantity, role, *values

        rows = [
            cells(read.slot, "preserved", read.value, read.value)
            for read in self.reads
            if read.role is SlotRole.PRESERVED and read.slot is not None
        ]
        for write in self.writes:
            role = "written" if write.role is SlotRole.WRITTEN else "overwritten"
            rows.append(cells(write.slot, role, write.old, write.new))
        for read in self.reads:
            if read.role is SlotRole.READ:
                row = read.index if read.slot is None else read.slot.row
                rows.append((read.variable, None, row, read.name, "read", read.value, read.value))
        place = self.scan + 1, self.step
        return [dict(zip(COLUMNS, (*place, *row), strict=True)) for row in rows]
