"""Build the events of a Scan: its steps, and the initial filling of its tapes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from lab.equations.events.records import Event, Read, Slot, SlotRole, Term, Write
from lab.equations.events.sums import Split, reads_of, rounding_error, split, terms_of
from lab.equations.events.timeline import step_roles
from lab.equations.quantities import Quantities, index_of
from lab.notation import PLAIN, Leaf, render
from lab.records import cached_property
from lab.traces.trace import Access, Formula, Origin, ScanTrace, SequenceTrace, TapeTrace


@dataclass(frozen=True, eq=False)
class Builder:
    """Builder of the events of one Scan; `slot` maps a Scan, an argument, and a row to a slot."""

    named: Quantities
    slot: Callable[[int, int, int], Slot]

    @property
    def scan(self) -> ScanTrace:
        """The trace of the Scan."""
        return self.named.scan

    def event(self, number: int, step: int | None) -> Event:
        """Return event `number`: a step, or the initial filling of the tapes if `step` is None."""
        scan = self.named.number
        if step is None:
            writes = tuple(
                self._filling_write(tape, row)
                for tape in self.scan.buffers
                if tape.tape.reads
                for row in np.flatnonzero(~tape.unwritten).tolist()
            )
            reads = dict.fromkeys(read for write in writes for read in write.reads)
            return Event(number, scan, None, reads=tuple(reads), writes=writes)
        accesses = _StepAccesses(self, step)
        nested = self.scan.nested[step] if step < len(self.scan.nested) else None
        writes = tuple(accesses.writes())
        return Event(number, scan, step, reads=tuple(accesses.reads), writes=writes, nested=nested)

    def _filling_write(self, tape: TapeTrace, row: int) -> Write:
        """Return the write of the initial value of a row: outputs of Scans plus a remainder."""
        new, slot = tape.initial[row], self.slot(self.named.number, tape.argument, row)
        origins = self.named.origins(tape.argument, row)
        terms = [self._output_term(each) for each in origins if each.is_summand]
        others = [self._output_term(each).source for each in origins if not each.is_summand]
        with np.errstate(all="ignore"):
            left = new - sum((term.value for term in terms), np.zeros_like(new))
        if np.any(~(np.abs(left) <= rounding_error(new, *(term.value for term in terms)))):
            used = tuple(read for read in others if read is not None)
            terms.append(Term(left, label=self._remainder_name(tape, row), reads=used))
        used = tuple(r for term in terms for r in (term.source, *term.reads) if r is not None)
        right = " + ".join(term.text for term in terms) or "0"
        write = partial(Write, slot=slot, new=new, role=SlotRole.WRITTEN, sign=PLAIN.arrow)
        return write(right=right, reads=used, terms=tuple(terms))

    def _remainder_name(self, tape: TapeTrace, row: int) -> str:
        """Return the label of the part of an initial value that is no output of a Scan."""
        if row in self.scan.arrived(tape):
            return f"steps before step {self.scan.first}"
        if self.scan.parent is None:
            return "given"
        name = self.named.direct_label(tape, row) if tape.gradient_of else ""
        return name or self.named.cost

    def _output_term(self, origin: Origin) -> Term:
        """Return the value in a row of another Scan's output as a `Term`."""
        (scan, argument, row), slot = origin.slot_key, self.slot(*origin.slot_key)
        tape = self.named.trace.scans[scan].tape(argument)
        assert tape is not None, "an output has a tape"
        read = Read(str(slot), tape.final[row], slot, argument=argument, variable=tape.name)
        return Term(read.value, read, label=slot.quantity)

    @cached_property
    def formulas(self) -> dict[tuple[int, int | None], tuple[Formula, Split | None]]:
        """A map from (argument, write tap) to a formula and its `Split`, None in a forward Scan."""
        return {(f.target.argument, f.target.tap): (f, self._split(f)) for f in self.scan.formulas}

    def _split(self, formula: Formula) -> Split | None:
        if self.scan.parent is None:
            return None
        tape = self.scan.tape(formula.target.argument)
        is_read = tape is not None and formula.target.tap in tape.tape.reads
        return split(formula.expression, formula.target if is_read else None, self.is_source)

    def is_source(self, leaf: Leaf) -> bool:
        """Return whether a leaf is a gradient that the step propagates."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return variable.is_outer_gradient
        return isinstance(variable, TapeTrace)


class _StepAccesses:
    """Builder of the reads and writes of one step."""

    def __init__(self, builder: Builder, step: int) -> None:
        self.builder, self.step, self.scan = builder, step, builder.scan
        self.by_leaf: dict[tuple[int, int | None], Read] = {}
        self.reads = list[Read]()
        self.roles = {t.argument: step_roles(self.scan, t)(step) for t in self.scan.buffers}
        for tape in self.scan.buffers:
            for access in tape.reads:
                self._add(self._tape_read(tape, access), access.tap)
        for sequence in self.scan.sequences:
            self._add(self._sequence_read(sequence), None)
        for parameter in self.scan.parameters:
            name, value, argument = parameter.name, parameter.value, parameter.argument
            self._add(Read(name, value, argument=argument, variable=name), None)

    def _add(self, read: Read, tap: int | None) -> None:
        self.reads.append(read)
        self.by_leaf[read.argument, tap] = read

    def _tape_read(self, tape: TapeTrace, access: Access) -> Read:
        row = int(access.rows[self.step])
        slot = self.builder.slot(self.builder.named.number, tape.argument, row)
        read = partial(Read, slot.label, access.values[self.step], slot, tap=access.tap)
        role = self.roles[tape.argument][row]
        role = SlotRole.OVERWRITTEN if role is SlotRole.RESTORED else role
        index = None if tape.is_total else index_of(tape, row)
        return read(argument=tape.argument, variable=tape.name, role=role, index=index)

    def _sequence_read(self, sequence: SequenceTrace) -> Read:
        builder, step = self.builder, self.step
        index = int(sequence.axis.index[step])
        origin = builder.named.origin_read(sequence, step)
        slot = None if origin is None else builder.slot(*origin.slot_key)
        label = builder.named.sequence_label(sequence, index)
        value, argument, name = sequence.values[step], sequence.argument, sequence.name
        return Read(label, value, slot, argument=argument, variable=name, index=index)

    def read(self, leaf: Leaf) -> Read | None:
        """Return the `Read` of a leaf of a formula, or None if the trace did not record it."""
        return self.by_leaf.get((leaf.argument, leaf.tap))

    def writes(self) -> list[Write]:
        """Return the writes of the step, for every tape and write tap."""
        return [self._write(tape, access) for tape in self.scan.buffers for access in tape.writes]

    def _write(self, tape: TapeTrace, access: Access) -> Write:
        builder, row, new = self.builder, int(access.rows[self.step]), access.values[self.step]
        slot = builder.slot(builder.named.number, tape.argument, row)
        before = [r for r in self.reads if r.slot == slot and r.is_own]
        old = before[0].value if before else tape.value_before(row, self.step)
        role = self.roles[tape.argument][row]
        write = partial(Write, slot=slot, old=old, new=new, role=role, tap=access.tap)
        formula, parts = builder.formulas.get((tape.argument, access.tap), (None, None))
        if formula is None:
            return write()
        named, sign = builder.named, builder.named.sign(formula)
        right = render(formula.expression, lambda leaf: named.leaf_at(leaf, self.step))
        used = reads_of(formula.leaves, self.read)
        expression = formula.expression if len(used) == len(formula.leaves) else None
        write = partial(write, sign=sign, right=right, reads=used, expression=expression)
        if role is SlotRole.RESTORED or parts is None:
            return write(adds_old=role is SlotRole.RESTORED)
        terms = tuple(terms_of(parts, new, old, self.read))
        return write(terms=terms, adds_old=parts.adds_old)
