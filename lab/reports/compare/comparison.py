"""The record of a comparison of our pullback with PyTensor's own: what agrees, and what differs.

`lab.compare` makes it; `lab.reports.compare.text` puts it into words, and `lab.reports.compare.script` into
a script for a maintainer.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lab import records
from lab.checks.differences import Estimate
from lab.records import cached_property, same
from lab.reports.compare.facets import Facet
from lab.reports.compare.sides import Answer
from lab.reports.compare.subject import Subject
from lab.traces.parting import Contrast
from lab.traces.trace import Trace


@records.record
class Agreement(StrEnum):
    """How the gradients of the two pullbacks for one input compare."""

    SAME = "the same"
    DIFFERENT = "different"
    OURS_ONLY = "a number by our pullback only"
    THEIRS_ONLY = "a number by PyTensor's only"
    NEITHER = "no number by either"


@dataclass(frozen=True, eq=False)
class Row:
    """The gradient of one order by one input, by both pullbacks, and by finite differences.

    `differences` are entry by entry; they are None where both pullbacks agree, since `Check`
    looks at those, and for more entries than can be differenced in reasonable time.
    """

    order: int
    wrt: str
    ours: Answer
    theirs: Answer
    verdict: Agreement
    differences: Estimate | None = None

    __eq__ = same

    @property
    def is_found(self) -> bool:
        """Whether this is a difference worth reporting."""
        return self.verdict not in (Agreement.SAME, Agreement.NEITHER)

    def confirmed(self, answer: Answer) -> bool | None:
        """Whether finite differences agree with one of the answers; None if they cannot tell."""
        if self.differences is None or answer.value is None:
            return None
        if not np.isfinite(self.differences.error).all():
            return None
        return self.differences.admits(answer.value)

    @property
    def error(self) -> float | None:
        """The largest difference of an entry, relative to the largest entry of ours."""
        if self.ours.value is None or self.theirs.value is None:
            return None
        if self.ours.value.shape != self.theirs.value.shape:
            return float("inf")
        size = float(np.max(np.abs(self.ours.value), initial=0.0))
        away = float(np.max(np.abs(self.ours.value - self.theirs.value), initial=0.0))
        return away / size if size else (float("inf") if away else 0.0)


@dataclass(frozen=True, eq=False)
class Check:
    """All gradients of an order along one direction: by both pullbacks, and by differences.

    The direction is the same in every run, and oblique, so that no entry is without influence.
    """

    order: int
    ours: float
    theirs: float
    differences: Estimate

    __eq__ = same

    def admits(self, value: float) -> bool | None:
        """Whether finite differences agree; None if they cannot tell."""
        if not np.isfinite(self.differences.error).all():
            return None
        return self.differences.admits(np.asarray(value))


@records.record
@dataclass(frozen=True)
class Pair:
    """Two backward Scans that differentiate the same Scan: `ours` and `theirs` in the runs."""

    name: str
    order: int
    ours: int
    theirs: int
    facets: tuple[Facet, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything in which the two pullbacks agree and differ.

    `ours` and `theirs` are the two runs, of which `contrast` tells the first step and tape at
    which they part; they are None if a graph cannot be run, or has Scans inside other
    operations.  ``summed[k]`` are the places of the inputs whose gradients of order k + 1 were
    differentiated again, since both pullbacks give numbers for them.
    """

    cost: str
    order: int
    version: str
    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    pairs: tuple[Pair, ...]
    contrast: Contrast
    summed: tuple[tuple[int, ...], ...]
    ours: Trace | None
    theirs: Trace | None
    subject: Subject = field(repr=False, compare=False)

    __eq__ = same

    @property
    def found(self) -> tuple[Row, ...]:
        """The gradients that are not the same, the lowest order first."""
        return tuple(row for row in self.rows if row.is_found)

    @property
    def agree(self) -> bool:
        """Whether both pullbacks give the same for every input, up to the order asked for."""
        return not self.found

    @property
    def visible(self) -> int | None:
        """The first order at which they do not; None if they do."""
        return min((row.order for row in self.found), default=None)

    @cached_property
    def _page(self) -> str:
        from lab.reports.compare.text import page  # which reads this module's records

        return page(self)

    def __str__(self) -> str:
        return self._page

    def report(self) -> str:
        """A Python script with pytensor and numpy alone, which a maintainer can run.

        It builds the graph, prints PyTensor's gradients beside finite differences, and exits
        with status 1 if they differ.  What cannot be written down is imported, or shown.
        """
        from lab.reports.compare.script import script  # which reads this module's records

        return script(self)
