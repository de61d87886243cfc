"""The report of a comparison of our pullback with PyTensor's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lab.checks.finite_differences import Estimate
from lab.equations.quantities import Quantities
from lab.equations.tables import ReportTable
from lab.errors import listing
from lab.gradients.status import Connected
from lab.notation import integers
from lab.records import record_of_arrays
from lab.reports.breaking.breakage import estimate_text, precise
from lab.reports.compare.sides import SideResult
from lab.reports.runs.first import nan_notes
from lab.reports.tables import Report, Section
from lab.retired import RetiredAttribute
from lab.traces.differences import Contrast, FirstDifference
from lab.traces.trace import Trace

MARKS = {True: " ✓", False: " ✗", None: ""}
LEGEND = "✓ and ✗ show whether a value agrees with finite differences."
TRUNCATED = (
    "A loop has truncate_gradient: its gradients use only the last steps. Finite differences use "
    "all steps and cannot tell which gradient is correct."
)


class Agreement(StrEnum):
    """The result of comparing the gradients of the two pullbacks wrt one input."""

    SAME = "the same"
    DIFFERENT = "different"
    OURS_ONLY = "computed by our pullback only"
    THEIRS_ONLY = "computed by PyTensor only"
    NEITHER = "computed by neither"


@record_of_arrays
class GradientRow:
    """The gradient of one order wrt one input, by both pullbacks and by finite differences.

    `differences` are finite differences for each entry.  They are None if the gradient is
    truncated, if the input has too many entries, or if the pullbacks agree and all inputs together
    have too many entries.
    """

    order: int
    wrt: str
    ours: SideResult
    theirs: SideResult
    verdict: Agreement
    differences: Estimate | None = None

    @property
    def differs(self) -> bool:
        """Whether the gradients differ."""
        return self.verdict not in (Agreement.SAME, Agreement.NEITHER)

    def confirmed(self, answer: SideResult) -> bool | None:
        """Return whether finite differences agree with `answer`; None if unknown."""
        if self.differences is None or answer.value is None:
            return None
        return self.differences.confirms(answer.value)

    @property
    def cells(self) -> Iterator[tuple[str, str]]:
        """Rows of a table: the pullback or method, and the value that it computes."""
        both = self.verdict in (Agreement.SAME, Agreement.NEITHER)
        answers = {"both": self.ours} if both else {"ours": self.ours, "PyTensor's": self.theirs}
        for name, answer in answers.items():
            reason = "" if isinstance(answer.status, Connected) else f" ({answer.status})"
            yield name, f"{precise(answer.value)}{reason}{MARKS[self.confirmed(answer)]}"
        if self.differences is not None:
            yield "finite differences", estimate_text(self.differences)


@dataclass(frozen=True, eq=False)
class Comparison(Report):
    """All gradients by both pullbacks, and the first step at which their runs differ.

    `ours` and `theirs` are the two runs.  They are None if a graph cannot be run, or contains
    Scans inside other operations.
    """

    cost: str
    order: int
    version: str
    rows: tuple[GradientRow, ...]
    contrast: Contrast
    ours: Trace | None
    theirs: Trace | None
    is_truncated: bool = False

    report = RetiredAttribute()
    found = RetiredAttribute()

    @property
    def different_rows(self) -> tuple[GradientRow, ...]:
        """The gradients that differ, in ascending order of the derivative."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def agree(self) -> bool:
        """Whether both pullbacks compute the same gradients, up to the order of the comparison."""
        return not self.different_rows

    @property
    def visible(self) -> int | None:
        """The first order at which gradients differ; None if they agree."""
        return min((row.order for row in self.different_rows), default=None)

    @property
    def document(self) -> Section:
        """A summary, a table of the gradients, and the first difference."""
        wrt = listing(dict.fromkeys(row.wrt for row in self.rows))
        title = f"Gradient of {self.cost} wrt {wrt}: our pullback and PyTensor {self.version}"
        cells = tuple(
            (str(row.order), row.wrt, name, value) for row in self.rows for name, value in row.cells
        )
        table = ReportTable(("order", "wrt", "computed by", "value"), cells)
        marks = {row.confirmed(each) for row in self.rows for each in (row.ours, row.theirs)}
        gradients = Section("Gradients", (table, *[LEGEND] * bool(marks - {None})))
        blocks = (gradients, Section("First difference", tuple(_difference(self))))
        notes = () if self.ours is None else nan_notes(self.ours)
        return Section(title, (*_summary(self), *notes, *blocks))


def _summary(comparison: Comparison) -> Iterator[str]:
    """Yield sentences: whether the pullbacks agree, and which pullback the differences confirm."""
    reached = max((row.order for row in comparison.rows), default=0)
    upto = f"order {reached}" if reached == 1 else f"orders 1 to {reached}"
    if not comparison.agree:
        first = [row for row in comparison.different_rows if row.order == comparison.visible]
        named = listing(f"the gradient wrt {row.wrt} is {row.verdict}" for row in first)
        words = f"The pullbacks differ from order {comparison.visible} on: {named}."
        more = len(comparison.different_rows) - len(first)
        if more:
            words += f" More differences at higher orders: {more}."
        yield f"{words} {_confirmed_pullback(first)}"
    elif any(row.verdict is Agreement.SAME for row in comparison.rows):
        yield f"Both pullbacks compute the same gradients of {upto}."
    else:
        yield f"Neither pullback computes a gradient of {upto}."
    if reached < comparison.order:
        yield f"Neither computes a gradient of order {reached}: the comparison stops there."
    if comparison.is_truncated:
        yield TRUNCATED


def _confirmed_pullback(rows: list[GradientRow]) -> str:
    """Return a sentence that names the pullback that finite differences confirm in `rows`."""
    ours = [row.confirmed(row.ours) for row in rows]
    theirs = [row.confirmed(row.theirs) for row in rows]
    if all(ours) and not any(theirs):
        return "Finite differences agree with ours."
    if all(theirs) and not any(ours):
        return "Finite differences agree with PyTensor's."
    if False in ours and False in theirs:
        return "Finite differences agree with neither."
    return "Finite differences cannot tell which is correct."


def _difference(comparison: Comparison) -> Iterator[str | ReportTable]:
    """Yield sentences and a table on the first difference between the two runs."""
    contrast, ours, theirs = comparison.contrast, comparison.ours, comparison.theirs
    if ours is None or theirs is None:
        yield "The steps were not compared: a graph fails to run, or hides Scans in operations."
        return
    if contrast.first is None:
        yield f"none: the steps of both runs write the same {contrast.written} values."
        if comparison.different_rows:
            yield "The gradients differ outside of these steps, or one side has no gradient."
    else:
        yield _place(ours, contrast.first)
        formulas = tuple(_formulas(ours, theirs, contrast.first))
        yield ReportTable(("computed by", "formula"), formulas)
        yield f"Of the {contrast.written} values that both runs write, {contrast.differing} differ."
        if comparison.agree:
            yield "The gradients are the same."
    yield from (f"{line}." for line in contrast.unlike)


def _place(ours: Trace, first: FirstDifference) -> str:
    """Describe the first difference: Scan, step, tape, row, and both values."""
    scan = ours.scans[first.scan]
    tape = scan.tape(first.tape)
    assert tape is not None
    our_value, their_value = precise(first.true), precise(first.broken)
    return (
        f"Step {first.step} of Scan {first.scan + 1} ({scan.name}, order {scan.order}), row "
        f"{first.row} of tape {tape.name}, tap {integers(first.tap)}: our Scan writes {our_value}, "
        f"and PyTensor's writes {their_value}."
    )


def _formulas(ours: Trace, theirs: Trace, first: FirstDifference) -> Iterator[tuple[str, str]]:
    """Yield (pullback, formula) of the first different value, in symbols and in numbers."""
    for name, run, scan, tape in (
        ("ours", ours, first.scan, first.tape),
        ("PyTensor's", theirs, first.other_scan, first.other_tape),
    ):
        named = Quantities(run, scan)
        for formula in run.scans[scan].formulas:
            if (formula.target.argument, formula.target.tap) == (tape, first.tap):
                yield name, named.formula_at(formula, first.step)
                if numbers := named.numbers(formula, first.step):
                    yield name, numbers
