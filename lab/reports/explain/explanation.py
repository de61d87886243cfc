"""The report on a graph: the gradient of its cost, its Scans, its memory, and its traps."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from lab.equations.system import HEADER, System, VariableRole
from lab.equations.tables import ReportTable
from lab.errors import listing, shorten
from lab.gradients.record import Outcome
from lab.gradients.status import Connected, Status
from lab.notation import counted, integers
from lab.reports.explain.traps import Trap
from lab.reports.tables import Lines, Report, Section, size_text
from lab.scans.disguised import SINGLE
from lab.tape import Kind

FEW = 3  # largest number of Scans for which the report has a section per Scan
LONGEST = 300  # characters of a printed equation
COLUMNS = ("input", "gradient", "mit-mot taps of the backward Scan", "output of the backward Scan")
NO_SCAN = (
    "The graph contains no Scan, and no operation that is known to come from pytensor.scan. A "
    "lab.Loop always builds a Scan."
)
ALL_INPUTS = "The backward Scan computes the gradients of all connected inputs, requested or not."
ONE_STEP = (
    "PyTensor builds no Scan for a constant n_steps of 1: it inserts the step into the graph. The "
    "report shows a loop of one step, whose initial value is a parameter."
)


@dataclass(frozen=True)
class SavedArray:
    """An array that a gradient stores: one row per step, and `more` rows.

    `steps` is the number of steps, or None if only a run determines it.  `shape` is the shape of a
    row; a length is None if only a run determines it.
    """

    name: str
    purpose: str
    steps: int | None
    _: KW_ONLY
    more: int
    shape: tuple[int | None, ...]
    dtype: str

    @property
    def bytes(self) -> int | None:
        """The size in bytes; None if only a run determines it."""
        lengths = (None if self.steps is None else self.steps + self.more, *self.shape)
        known = [length for length in lengths if length is not None]
        item = np.dtype(self.dtype).itemsize
        return int(np.prod(known, dtype=object)) * item if len(known) == len(lengths) else None

    @property
    def cells(self) -> tuple[str, str, str]:
        """Name, size, and purpose: ``x``, ``5 × 8 bytes = 40 bytes``, ``tape``."""
        rows = f"(n + {self.more})" if self.more else "n"
        if self.steps is not None:
            rows = f"{self.steps + self.more:,}"
        sizes = [rows, *("?" if length is None else f"{length:,}" for length in self.shape)]
        size = f"{' × '.join(sizes)} × {np.dtype(self.dtype).itemsize} bytes"
        if self.bytes is not None:
            size += f" = {size_text(self.bytes)}"
        return self.name, size, self.purpose


@dataclass(frozen=True)
class ScanReport(Report):
    """A Scan of the graph.

    `inside` names the Scan whose step contains this Scan.  `outcomes` are the gradients wrt its
    inputs, and `saved` the arrays that the gradient stores.  Both are empty if the gradient does
    not pass through this Scan.  `line` is the line of code that built the Scan, and `id` the id of
    the Scan in ``pytensor.dprint(cost)``; an unknown line or id is empty.
    """

    number: int
    name: str
    system: System
    inside: str = ""
    outcomes: tuple[Outcome, ...] = ()
    saved: tuple[SavedArray, ...] = ()
    traps: tuple[Trap, ...] = ()
    line: str = ""
    id: str = ""

    @property
    def document(self) -> Section:
        """Equations, variables, and the gradient of each input."""
        inside = f", inside the step of {self.inside}" if self.inside else ""
        count = self.system.step_count
        steps = "n steps" if count is None else counted(count, "step")
        title = f"Scan {self.number}: {self.name} ({self.system.contents}, {steps}){inside}"
        return Section(title, tuple(self._blocks()))

    def _blocks(self) -> Iterator[str | Lines | Section]:
        if self.line:
            yield self.line
        lines = [line.strip() for line in (*self.system.recurrence, *self.system.count)]
        yield Lines(tuple(shorten(line, LONGEST) for line in lines))
        if max(map(len, lines)) > LONGEST:
            yield f"For the whole equations: print(explanation.scans[{self.number - 1}].system)"
        yield Section("Variables", (ReportTable(HEADER, self.system.variables).compact,))
        if self.outcomes:
            gradients = ReportTable(COLUMNS, tuple(_gradients(self.outcomes, self.system)))
            note = (ALL_INPUTS,) if len(gradients.rows) > 1 else ()
            yield Section("Gradient of each input", (*note, gradients.compact))
        else:
            yield "The gradient does not pass through this Scan."


def _gradients(outcomes: Iterable[Outcome], system: System) -> Iterator[tuple[str, ...]]:
    """Yield a table row for each input: its name, gradient status, gradient taps, and result."""
    for outcome, quantity in zip(outcomes, system.quantities, strict=False):
        if outcome.kind is Kind.NIT_SOT:
            continue
        variable = ""
        if quantity.role is VariableRole.STATE and quantity.dtype[0] in "fc":
            back = quantity.tape.reverse()
            variable = f"reads {integers(*sorted(back.reads))}"
            taps = {"overwrites": sorted(back.overwritten), "preserves": sorted(back.preserved)}
            variable += "".join(f"; {verb} {integers(*t)}" for verb, t in taps.items() if t)
        result = outcome.reason.rstrip(".")
        result = f"{outcome.gradient}: {result}" if outcome.gradient else result
        yield system.label(quantity), str(outcome.verdict), variable, result


@dataclass(frozen=True, kw_only=True)
class Explanation(Report):
    """The report on a graph: its Scans, and its derivatives.

    `status` is the status of the gradient of `cost` wrt `wrt`.  If only some of several variables
    have a gradient, `lacking` has the names and statuses of the others.
    """

    cost: str
    wrt: str
    status: Status
    lacking: tuple[tuple[str, Status], ...]
    scans: tuple[ScanReport, ...]

    @property
    def traps(self) -> tuple[Trap, ...]:
        """The traps of all Scans."""
        return tuple(trap for scan in self.scans for trap in scan.traps)

    @property
    def saved(self) -> tuple[SavedArray, ...]:
        """The arrays that the gradient stores for all Scans."""
        return tuple(array for scan in self.scans for array in scan.saved)

    @property
    def memory(self) -> str:
        """The total size of the saved arrays; a lower bound if some sizes are unknown."""
        sizes = [array.bytes for array in self.saved]
        known = sum(size for size in sizes if size is not None)
        if None not in sizes:
            return size_text(known)
        return f"more than {size_text(known)}" if known else "depends on the inputs"

    @property
    def document(self) -> Section:
        """The result, and sections on each Scan, on memory, and on traps."""
        title = f"Gradient of {self.cost} with respect to {self.wrt}"
        return Section(title, (*self._summary(), *self._sections()))

    @property
    def details(self) -> Section:
        """The ids of the Scans in PyTensor's print, and their lines of code."""
        rows = tuple((f"{s.number} {s.system.name}", s.id or "none", s.line) for s in self.scans)
        header = ("Scan", "id in pytensor.dprint(cost)", "line of code")
        return Section("Details", (ReportTable(header, rows),))

    def _summary(self) -> Iterator[str]:
        exists = isinstance(self.status, Connected)
        result = f"Result: {'the gradient exists' if exists else self.status}".rstrip(".")
        if not self.scans:
            yield f"{result}. {NO_SCAN}"
            return
        names = listing(scan.name for scan in self.scans[:6])
        names += " and others" if len(self.scans) > 6 else ""
        summary = f"{result}. Scans in the graph: {len(self.scans)} ({names})."
        if self.saved and isinstance(self.status, Connected):
            summary += f" Memory: {self.memory}."
        yield f"{summary} Known traps: {len(self.traps) or 'none'}."
        yield from (f"{name}: {status}".rstrip(".") + "." for name, status in self.lacking)
        if self.scans[0].name == SINGLE:
            yield ONE_STEP

    def _sections(self) -> Iterator[Section | str]:
        if len(self.scans) <= FEW:
            yield from (scan.document for scan in self.scans)
        else:
            scans = tuple(
                (f"{s.number}", s.name, s.inside, s.system.contents, f"{len(s.traps) or ''}")
                for s in self.scans
            )
            table = ReportTable(("Scan", "name", "inside", "variables", "traps"), scans).compact
            yield Section("Scans", (table, "To describe one Scan: print(explanation.scans[0])"))
        if self.saved and isinstance(self.status, Connected):
            rows = (*(array.cells for array in self.saved), ("total", self.memory, ""))
            table = ReportTable(("array", "size", "purpose"), rows)
            total = f"{len(self.saved)} arrays, total: {self.memory}."
            yield Section("Memory", (total if len(self.scans) > FEW else table,))
        if self.scans:
            traps = tuple(f"⚠ {trap}" for trap in self.traps)
            yield Section("Known traps", traps or ("none",))
