"""The names of quantities, Scans, and tapes in pictures, and the keys of cells."""

from collections.abc import Iterable, Iterator

from lab.equations.quantities import Quantities, index_of
from lab.errors import listing
from lab.notation import Leaf, integers, ranges_text
from lab.tape import Kind
from lab.traces.trace import SequenceTrace, TapeTrace, Trace


class NamedScan(Quantities):
    """A Scan with the names and keys of its quantities. All cells of a quantity share a key."""

    def cell_key(self, name: str, index: int | None, row: int) -> str:
        """Return the key of a value of `name`: by its time `index` or, for None, by its `row`."""
        if index is None:
            return f"{self.number}:{name}:r{row}"
        return f"{self.root.number}:{name}:{index}"

    @property
    def numbered_name(self) -> str:
        """The number and the name of the Scan, as in headings: ``2 · gradient of square``."""
        return f"{self.number + 1} · {self.scan_label}"

    def quantity(self, variable: str) -> str:
        """Name the quantity of a variable: ``h``, or ``dC/dh`` for its direct part ``∂C/∂h``."""
        name = self.quantity_name(variable, None)
        return getattr(name, "total", name)

    def row_key(self, tape: TapeTrace, row: int) -> str:
        """Return the key of a row of a tape."""
        return self.cell_key(tape.name, index_of(tape, row), row)

    def leaf_key(self, leaf: Leaf, step: int) -> str:
        """Return the key of the value of a leaf at a step. The leaf is part of a formula."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.cell_key(variable.name, int(variable.axis.index[step]), step)
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            return self.root.cell_key(leaf.variable, None, 0)
        return self.row_key(variable, variable.tape.row(step, leaf.tap))

    @property
    def differentiated(self) -> str:
        """The differentiated cost, with its definition if the trace has one: ``C′ = dC/dx₀``."""
        return next((name for name in self.trace.names if name.symbol == self.cost), self.cost)

    def moment(self, step: int) -> tuple[int, str]:
        """Return the number of a step among the steps of all Scans, and the name of the step.

        An example is ``4, "2 · gradient of square, step 0"``. Step -1 is the final step of the
        previous Scan. In the first Scan, step -1 has the number -1.
        """
        if step < 0 and self.number:
            before = NamedScan(self.trace, self.number - 1)
            return before.moment(before.scan.steps - 1)
        count = sum(scan.steps for scan in self.trace.scans[: self.number]) + step
        return count, f"{self.numbered_name}, step {step}"

    def heading(self, in_full: bool = False) -> tuple[str, str]:
        """Return the title of a Scan with tapes, and a line about the purpose of the Scan.

        With `in_full`, the line contains the definition of the differentiated cost.
        """
        scan, parent, name = self.scan, self.parent, self.numbered_name
        if scan.is_pushforward:
            line = "forward: a step reads the results of the previous step; no value is stored"
            return f"{name}: the loop and its carried values", line
        if parent is None:
            return f"{name}: a loop of tapes", "in buffer order: its rows have no time axis"
        through = f"backward through {parent.numbered_name}"
        if scan.steps < parent.scan.steps:
            through += f", only its last {scan.steps} of {parent.scan.steps} steps"
        cost = self.differentiated if in_full else self.cost
        return f"{name}: the tape, order {scan.order}", f"{through} · gradient of {cost}"

    def tape_lines(self, tapes: Iterable[TapeTrace], in_short: bool) -> Iterator[str]:
        """Yield a line for each name of `tapes`, with the quantities and the kind of the tapes."""
        groups: dict[tuple[str, str, str], list[str]] = {}  # a sequence has an output for each tap
        for tape in tapes:
            is_part = self.part_number(tape) is not None and not tape.collects
            whole = self.whole_label(tape, None) if is_part else ""
            label = self.tape_label(tape, None)
            groups.setdefault((tape.name, whole, kind_text(tape, in_short)), []).append(label)
        for (name, whole, kind), labels in groups.items():
            meaning = f" = {listing(labels)}" if labels != [name] else ""
            part = f", {'a part' if len(labels) == 1 else 'parts'} of {whole}" if whole else ""
            yield f"{name}{meaning}{part}{kind and f' · {kind}'}"


def kind_text(tape: TapeTrace, in_short: bool = False) -> str:
    """Return the purpose of a tape, or its kind and taps: ``mit-mot · reads 0, 1 · writes 1``.

    With `in_short`, omit the kind and the taps.
    """
    if tape.is_total:
        return "running total over the steps"
    if tape.gradient_of is not None and tape.kind is Kind.NIT_SOT:
        return f"{'' if in_short else 'nit-sot: '}one value at every step"
    if in_short:
        return ""
    reads, writes = (integers(*taps) or "nothing" for taps in (tape.tape.reads, tape.tape.writes))
    return f"{tape.kind} · reads {reads} · writes {writes}"


def seeds_of(trace: Trace, shown: Iterable[int]) -> str:
    """Return the legend text about the origins of the initial gradients in the `shown` Scans."""
    scans_of: dict[str, list[int]] = {}
    for named in (NamedScan(trace, number) for number in shown):
        direct = "direct contributions (∂), " * bool(named.seeded_by())
        scans_of.setdefault(f"{direct}{named.seeds}", []).append(named.number + 1)
    first, *others = scans_of.items()
    rest = (f"in Scan{'s' * (len(n) > 1)} {ranges_text(n)}: {origin}" for origin, n in others)
    return "; ".join([first[0], *rest])
