"""The report on a graph before and after PyTensor's rewrites: its Scans, rewrites, and buffers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from lab.equations.tables import ReportTable
from lab.errors import listing
from lab.records import record_of_arrays
from lab.reports.breaking.breakage import Effect, precise
from lab.reports.compile.buffers import Buffer, Count, Retention
from lab.reports.tables import Report, Section

FEW = 3  # largest number of Scans for which the report shows all buffers
NO_LOOP = "–"


@dataclass(frozen=True)
class Rewrite:
    """A rewrite that replaced `scans`; `effect` is its purpose, and names the moved operations.

    If a Scan was removed, `name` is `NO_LOOP`, and `effect` names the replacement.
    """

    name: str
    scans: tuple[str, ...]
    effect: str


@dataclass(frozen=True)
class ScanAfter(Report):
    """A remaining Scan; `sources` are the numbers of the original Scans that it replaces."""

    number: int
    name: str
    steps: Count
    _: KW_ONLY
    sources: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    stops_early: bool

    @property
    def shortened(self) -> int:
        """The number of shortened buffers."""
        return sum(buffer.is_shortened for buffer in self.buffers)

    @property
    def title(self) -> str:
        """The heading: the number, name, and number of steps of the Scan."""
        steps = f"at most {self.steps}" if self.stops_early else str(self.steps)
        return f"Scan {self.number}: {self.name}, {steps} step{'s' * (str(self.steps) != '1')}"

    @property
    def document(self) -> Section:
        """The buffers of the Scan."""
        table = ReportTable(HEADER[1:], tuple(buffer.cells for buffer in self.buffers))
        return Section(self.title, (table,) if self.buffers else ("no buffers",))


@record_of_arrays
class LateGradient:
    """The gradient computed before rewriting, and `late`, computed after PyTensor cuts buffers.

    `late` is None if PyTensor raises an error, which is in `error`.  `missing` has a sentence for
    every backward Scan that runs too few steps.
    """

    gradient: np.ndarray
    late: np.ndarray | None
    error: str
    missing: tuple[str, ...] = ()

    @property
    def effect(self) -> Effect:
        """The effect of a gradient of shortened buffers: correct, wrong, or an error."""
        return Effect.from_values(self.gradient, self.late)

    @property
    def blocks(self) -> Iterator[str | ReportTable]:
        """The table of both values, and the reasons for a wrong value."""
        late = self.error if self.late is None else f"{precise(self.late)}: {self.effect}"
        rows = ("before rewriting", precise(self.gradient)), ("after shortening", late)
        yield ReportTable(("gradient taken", "value"), rows)
        if self.effect is Effect.WRONG:
            yield "PyTensor raises no error. Call grad before you rewrite or compile the graph."
        yield from self.missing


HEADER = ("Scan", "buffer", "kind", "rows", "stored", "reason")


@dataclass(frozen=True, kw_only=True)
class Compiled(Report):
    """The Scans of a graph before and after rewriting.

    `original` is the number of Scans before rewriting, and `rewrites` lists the rewrites that
    replaced them.  For a compiled function, whose original graph is unknown, they are 0 and empty.
    In a report with a gradient, `alone` are the Scans of the graph without the gradient.  `late` is
    the gradient taken after the buffers were shortened, or None without values of all inputs.  The
    `linker` and the `version` of PyTensor determine the rewrites.  `enclosing` names the operation
    around each Scan that is inside another operation, and therefore not in `after`.
    """

    outputs: tuple[str, ...]
    wrt: str
    linker: str
    version: str
    original: int
    after: tuple[ScanAfter, ...]
    rewrites: tuple[Rewrite, ...] = ()
    alone: tuple[ScanAfter, ...] = ()
    late: LateGradient | None = None
    enclosing: tuple[str, ...] = ()

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of all remaining Scans."""
        return tuple(buffer for scan in self.after for buffer in scan.buffers)

    @property
    def shortened(self) -> tuple[Buffer, ...]:
        """The buffers with fewer rows than their loop writes."""
        return tuple(buffer for buffer in self.buffers if buffer.is_shortened)

    @property
    def document(self) -> Section:
        """A summary, then sections on rewrites, buffers, and the gradient."""
        subject = listing(self.outputs)
        if self.wrt:
            subject = f"{self.outputs[0]} and its gradient wrt {self.wrt}"
        rewritten = f"Rewritten by PyTensor {self.version} for the linker {self.linker}."
        summary = f"{rewritten} {self.summary}"
        return Section(f"Compiled graph of {subject}", (summary, *self._sections()))

    @property
    def summary(self) -> str:
        """The numbers of remaining Scans and of shortened buffers, as a sentence."""
        summary = f"Scans: {len(self.after)}"
        if self.original:
            summary += f" of {self.original} remain"
        buffers = [b for b in self.buffers if b.retention is not Retention.UNTRACED]
        if buffers:
            summary += f". Buffers: {len(self.shortened)} of {len(buffers)} are shortened"
        for name, count in Counter(self.enclosing).items():
            summary += f". Scans inside {name}: {count}, which the rewrites of Scans do not reach"
        return f"{summary}."

    def _sections(self) -> Iterator[Section]:
        if self.rewrites:
            rows = tuple((each.name, listing(each.scans), each.effect) for each in self.rewrites)
            yield Section("Rewrites", (ReportTable(("rewrite", "Scan", "effect"), rows),))
        if self.buffers:
            yield Section("Buffers", tuple(self._buffers()))
        if self.wrt:
            yield Section("Gradient taken after the buffers are shortened", tuple(self._gradient()))

    def _buffers(self) -> Iterator[str | ReportTable | Section]:
        if len(self.after) > FEW:
            rows = (
                (f"{s.number} {s.name}", str(s.steps), f"{len(s.buffers)}", f"{s.shortened}")
                for s in self.after
            )
            yield ReportTable(("Scan", "steps", "buffers", "shortened"), tuple(rows))
            yield "To see the buffers of one Scan: print(report.after[0])"
            return
        cells = ((str(scan.number), *b.cells) for scan in self.after for b in scan.buffers)
        yield ReportTable(HEADER, tuple(cells))

    def _gradient(self) -> Iterator[str | ReportTable | Section]:
        complete = {(scan.sources, b.name): b for scan in self.after for b in scan.buffers}
        for scan in self.alone:
            for buffer in scan.buffers:
                other = complete.get((scan.sources, buffer.name))
                if other is not None and buffer.is_shortened and not other.is_shortened:
                    yield (
                        f"Without the gradient, {buffer.name} has {buffer.stored} of "
                        f"{other.stored} rows: only the gradient reads the others."
                    )
        if self.late is not None:
            yield from self.late.blocks
        else:
            yield "To compute it, pass values of all inputs of the graph in `given`."
