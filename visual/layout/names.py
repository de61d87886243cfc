"""The names of quantities in pictures, and the keys of their cells."""

from collections.abc import Iterable, Mapping

from lab.equations.quantities import Quantities, cost_name, index_of
from lab.notation import Leaf, integers
from lab.traces.trace import SequenceTrace, TapeTrace, Trace


def integers_text(numbers: Iterable[int], nothing: str = "nothing") -> str:
    """Return numbers as text, as ``−1, 0``; for no number, return `nothing`."""
    return integers(*numbers) or nothing


class NamedScan(Quantities):
    """A Scan of a trace, with the names and the keys of its quantities.

    All cells that show the same quantity have the same key.
    """

    def cell_key(self, name: str, index: int | None, row: int) -> str:
        """Return the key of a variable's value, by its index in time or, for None, by its row."""
        if index is None:
            return f"{self.number}:{name}:r{row}"
        return f"{self.root.number}:{name}:{index}"

    @property
    def numbered_name(self) -> str:
        """The number and the name of the Scan, as in headings."""
        return f"{self.number + 1} · {self.called}"

    def row_key(self, tape: TapeTrace, row: int) -> str:
        """Return the key of a row of a tape."""
        return self.cell_key(tape.name, index_of(tape, row), row)

    def leaf_key(self, leaf: Leaf, step: int) -> str:
        """Return the key of the value of a leaf of a formula at a step."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.cell_key(variable.name, int(variable.axis.index[step]), step)
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            return self.root.cell_key(leaf.variable, None, 0)
        return self.row_key(variable, variable.tape.row(step, leaf.tap))

    @property
    def differentiated(self) -> str:
        """The differentiated cost, with the definition if the trace has names: ``C′ = dC/dx₀``."""
        name = cost_name(self.scan.order)
        return next((text for text in self.trace.names if text.startswith(f"{name} = ")), name)

    def moment(self, step: int) -> tuple[int, str]:
        """Return the number of a step among the steps of all Scans, and its name.

        For example ``4, "2 · gradient of square, step 0"``.
        """
        count = sum(scan.steps for scan in self.trace.scans[: self.number]) + step
        return count, f"{self.numbered_name}, step {step}"


def seeds_of(trace: Trace, shown: Iterable[int]) -> str:
    """Return the origin of the seeds of the shown Scans."""
    origins = dict[int, str]()
    for named in (NamedScan(trace, number) for number in shown):
        origins[named.number] = (
            f"{'direct contributions (∂), ' if named.seeded_by() else ''}{named.seeds}"
        )
    first, *others = dict.fromkeys(origins.values())
    more = {words: [str(n + 1) for n in origins if origins[n] == words] for words in others}
    rest = (
        f"in Scan{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {words}"
        for words, numbers in more.items()
    )
    return "; ".join([first, *rest])


def wholes_of(trace: Trace) -> Mapping[str, str]:
    """Return a sentence about the whole sum for each numbered part of a gradient, ``∂₂C′/∂a``."""
    parts: dict[str, list[tuple[int, str]]] = {}
    for named in NamedScan.each(trace):
        for tape in named.scan.held:
            if named.share(tape) and not tape.collects:
                part = named.number + 1, named.tape_label(tape, None)
                parts.setdefault(named.whole_label(tape, None), []).append(part)
    sentences: dict[str, str] = {}
    for whole, places in parts.items():
        names = [f"{label} of Scan {number}" for number, label in places]
        names = names if len(places) < 4 else [names[0], "…", names[-1]]
        sentence = f"{whole} is the sum of {', '.join(names[:-1])} and {names[-1]}"
        sentences |= {label: sentence for _, label in places}
    return sentences


def at_moment(trace: Trace, moment: int) -> tuple[int, int]:
    """Return the number and the step of a Scan at a moment; the inverse of `NamedScan.moment`."""
    for number, scan in enumerate(trace.scans):
        if moment < scan.steps:
            return number, moment
        moment -= scan.steps
    raise LookupError(moment)
