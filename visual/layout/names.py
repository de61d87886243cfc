"""What the cells of a picture show: their names, and the keys by which a page knows them."""

from collections.abc import Iterable, Mapping

from lab.equations.quantities import Quantities, cost_name, index_of
from lab.notation import Leaf, integers
from lab.traces.trace import Formula, ParameterTrace, SequenceTrace, TapeTrace, Trace


def listed(numbers: Iterable[int], nothing: str = "nothing") -> str:
    """``−1, 0``."""
    return integers(*numbers) or nothing


def counted(number: int, word: str) -> str:
    """``1 step``, ``4 steps``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


class NamedScan(Quantities):
    """One Scan of a trace, what its quantities are called, and by which key a page knows them.

    A key tells which quantity a cell shows: it is the same wherever that one is shown.
    """

    def cell_key(self, name: str, index: int | None, row: int) -> str:
        """The key of a value of a variable, by its index in time, or else by its row."""
        if index is None:
            return f"{self.number}:{name}:r{row}"
        return f"{self.root.number}:{name}:{index}"

    @property
    def whereabouts(self) -> str:
        """Its number and name, and where it stands: in PyTensor's print, in code, in the pullback.

        Then, line by line, where each of its variables does.  Of a run that notes neither there are
        number and name alone.
        """
        told = f"{self.number + 1} · {self.called}"
        if self.scan.place:
            told += f": {self.scan.place}, as pytensor.dprint prints the outputs"
        places = (f"{one.name}: {one}" for one in self.scan.places if str(one))
        return "\n".join((told, *places))

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
        leaves = (formula.target, *formula.leaves)
        return tuple(dict.fromkeys(self.leaf_key(leaf, step) for leaf in leaves))

    def read_keys(self, step: int) -> tuple[str, ...]:
        """The keys of all that a step reads."""
        made = [self.formula_keys(formula, step) for formula in self.scan.formulas]
        return tuple(dict.fromkeys(key for _, *read in made for key in read))

    @property
    def differentiated(self) -> str:
        """``C′ = dC/dx₀``: whose gradient it computes, and what that is, if its run tells it."""
        name = cost_name(self.scan.order)
        return next((told for told in self.trace.names if told.startswith(f"{name} = ")), name)

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
        return count, f"{self.number + 1} · {self.called}, step {step}"


def seeds_of(trace: Trace, shown: Iterable[int]) -> str:
    """What brings the seeds of the Scans that are open."""
    told = dict[int, str]()
    for named in (NamedScan(trace, number) for number in shown):
        told[named.number] = (
            f"{'direct contributions (∂), ' if named.seeded_by() else ''}{named.seeds}"
        )
    first, *others = dict.fromkeys(told.values())
    more = {words: [str(n + 1) for n in told if told[n] == words] for words in others}
    rest = (f"in Scan{'s' * (len(of) > 1)} {', '.join(of)}: {words}" for words, of in more.items())
    return "; ".join([first, *rest])


def wholes_of(trace: Trace) -> Mapping[str, str]:
    """Of every numbered part of a gradient, as ``∂₂C′/∂a``, what makes the whole: a sentence."""
    parts: dict[str, list[tuple[int, str]]] = {}
    for named in NamedScan.each(trace):
        for tape in named.scan.held:
            if named.share(tape) and not tape.collects:
                part = named.number + 1, named.tape_label(tape, None)
                parts.setdefault(named.whole_label(tape, None), []).append(part)
    told: dict[str, str] = {}
    for whole, found in parts.items():
        names = [f"{label} of Scan {number}" for number, label in found]
        names = names if len(found) < 4 else [names[0], "…", names[-1]]
        sentence = f"{whole}, the whole, adds up {', '.join(names[:-1])} and {names[-1]}"
        told |= {label: sentence for _, label in found}
    return told


def at_moment(trace: Trace, moment: int) -> tuple[int, int]:
    """The Scan, and its step, that happen at a moment of the whole run: the inverse of `moment`."""
    for number, scan in enumerate(trace.scans):
        if moment < scan.steps:
            return number, moment
        moment -= scan.steps
    raise LookupError(moment)
