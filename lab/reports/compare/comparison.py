"""The record of a comparison of our pullback with PyTensor's own: what differs, and its words."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lab.checks.finite_differences import Estimate
from lab.equations.spelling import untaken_words
from lab.errors import listing, printable
from lab.notation import signed
from lab.records import record_of_arrays
from lab.reports.breaking.breakage import relative_error
from lab.reports.compare.facets import Aspect, Facet
from lab.reports.compare.sides import Answer
from lab.reports.tables import WIDTH, paragraph
from lab.traces.parting import Contrast, Parting
from lab.traces.trace import Trace

COLUMN = 34
MARKS = {True: "  ✓", False: "  ✗", None: ""}


class Agreement(StrEnum):
    """How the gradients of the two pullbacks for one input compare."""

    SAME = "the same"
    DIFFERENT = "different"
    OURS_ONLY = "a number by our pullback only"
    THEIRS_ONLY = "a number by PyTensor's only"
    NEITHER = "no number by either"


@record_of_arrays
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

    @property
    def is_found(self) -> bool:
        """Whether this is a difference worth reporting."""
        return self.verdict not in (Agreement.SAME, Agreement.NEITHER)

    def confirmed(self, answer: Answer) -> bool | None:
        """Whether finite differences agree with one of the answers; None if they cannot tell."""
        if self.differences is None or answer.value is None:
            return None
        return self.differences.confirms(answer.value)

    @property
    def error(self) -> float | None:
        """The largest difference of an entry, relative to the largest entry of ours."""
        if self.ours.value is None or self.theirs.value is None:
            return None
        if self.ours.value.shape != self.theirs.value.shape:
            return float("inf")
        return relative_error(self.ours.value, self.theirs.value)


@record_of_arrays
class Check:
    """All gradients of an order along one direction: by both pullbacks, and by differences.

    The direction is the same in every run, and oblique, so that no entry is without influence; of
    a single entry it is the derivative itself.
    """

    order: int
    entries: int
    ours: float
    theirs: float
    differences: Estimate

    def admits(self, value: float) -> bool | None:
        """Whether finite differences agree; None if they cannot tell."""
        return self.differences.confirms(np.asarray(value))


@dataclass(frozen=True)
class Pair:
    """Two backward Scans that differentiate the same Scan: `ours` and `theirs` in the runs."""

    name: str
    order: int
    ours: int
    theirs: int
    facets: tuple[Facet, ...]


@record_of_arrays
class Comparison:
    """Everything in which the two pullbacks agree and differ.

    `ours` and `theirs` are the two runs, of which `contrast` tells the first step and tape at
    which they part; they are None if a graph cannot be run, or has Scans inside other
    operations.  ``summed[k]`` are the places of the inputs whose gradients of order k + 1 were
    differentiated again, since both pullbacks give numbers for them.  `judged` tells whether
    finite differences are those of what was asked for, also of `truncated` loops.
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
    truncated: bool = False
    judged: bool = True
    script: str = field(default="", repr=False, compare=False)

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

    def __str__(self) -> str:
        title = heading(self)
        lines = [title, "─" * min(len(title), WIDTH), *paragraph(summary(self))]
        for row in self.found:
            lines += ["", *_row(row, self)]
        lines += ["", "Where they part"]
        lines += [line for sentence in parted(self) for line in paragraph(sentence, "  ", "  ")]
        lines += [line for sentence in checks(self) for line in ("", *paragraph(sentence))]
        met = () if self.ours is None else untaken_words(self.ours)
        lines += [line for sentence in met for line in ("", *paragraph(sentence))]
        for row in self.rows:
            if row.verdict is Agreement.NEITHER:
                why = f"Order {row.order}, {row.wrt}: no number by either, {row.ours.words}."
                lines += ["", *paragraph(why)]
        for pair in self.pairs:
            lines += ["", *_pair(pair)]
        if self.pairs:
            lines += ["", *paragraph(SIGNS)]
        if self.found:
            lines += ["", "comparison.report() is a script of this for a maintainer."]
        return "\n".join(map(printable, lines))

    def report(self) -> str:
        """A Python script with pytensor and numpy alone, which a maintainer can run.

        It builds the graph, prints PyTensor's gradients beside finite differences, and exits
        with status 1 if they differ.  What cannot be written down is imported, or shown.
        """
        return self.script


SIGNS = (
    "≠ is not the same; ~ is not written in the same way, but has the same numbers, or is taken "
    "along without a need."
)


def heading(comparison: Comparison) -> str:
    """What is compared."""
    by = listing(dict.fromkeys(row.wrt for row in comparison.rows))
    return (
        f"The gradient of {comparison.cost} wrt {by}: our pullback and PyTensor's, "
        f"version {comparison.version}"
    )


def summary(comparison: Comparison) -> str:
    """What came out, in a sentence or two."""
    reached = max((row.order for row in comparison.rows), default=0)
    upto = f"order {reached}" if reached == 1 else f"orders 1 to {reached}"
    if not comparison.agree:
        first = [row for row in comparison.found if row.order == comparison.visible]
        named = listing(f"the gradient by {row.wrt} is {row.verdict}" for row in first)
        words = f"They differ from order {comparison.visible}: {named}."
        if len(comparison.found) > len(first):
            words += f" Also at higher orders: {len(comparison.found) - len(first)} more."
        words += f" {judged(comparison)}"
    elif any(row.verdict is Agreement.SAME for row in comparison.rows):
        words = f"Both pullbacks give the same gradients, {upto}."
    else:
        words = f"Neither pullback gives a number, {upto}."
    if reached < comparison.order:
        words += f" No gradient is a number by both, so there is no order {reached + 1}."
    if comparison.truncated:
        words += " A loop has truncate_gradient: its gradients go back so many steps only, "
        words += (
            "and finite differences are those of these steps, with the older ones frozen."
            if comparison.judged
            else "finite differences go back all of them and cannot tell which is right."
        )
    return words.strip()


def judged(comparison: Comparison) -> str:
    """Whom finite differences confirm, at the first order that differs."""
    if not comparison.judged:
        return ""
    rows = [row for row in comparison.found if row.order == comparison.visible]
    ours = [row.confirmed(row.ours) for row in rows]
    theirs = [row.confirmed(row.theirs) for row in rows]
    if all(ours) and not any(theirs):
        return "Finite differences agree with ours."
    if all(theirs) and not any(ours):
        return "Finite differences agree with PyTensor's."
    if False in ours and False in theirs:
        return "Finite differences agree with neither."
    return "Finite differences do not decide it."


def _row(row: Row, comparison: Comparison) -> Iterator[str]:
    error = row.error
    away = f", by up to {error:.3g} times the largest entry" if error and row.is_found else ""
    yield f"Order {row.order}, {row.wrt}: {row.verdict}{away}"
    for name, answer in (("ours", row.ours), ("PyTensor's", row.theirs)):
        told = value_text(answer.value) if answer.value is not None else "no number"
        if answer.words:
            told += f" ({answer.words})"
        mark = "" if not comparison.judged else MARKS[row.confirmed(answer)]
        yield from paragraph(f"{name:12}{told}{mark}", "  ", " " * 14)
    if row.differences is not None:
        yield from paragraph(f"{'differences':12}{estimate_text(row.differences)}", "  ", " " * 14)


def value_text(value: np.ndarray | None) -> str:
    """A number or an array, with six significant digits; a large one by its ends."""
    if value is None:
        return "no number"
    if not value.ndim:
        return f"{value:.6g}"
    told = np.array2string(value, precision=6, threshold=24, separator=", ", max_line_width=9999)
    return " ".join(told.split())


def estimate_text(found: Estimate) -> str:
    """Finite differences, and how far they may be off."""
    if not np.isfinite(found.error).all():
        return "no number near it"
    return f"{value_text(rounded(found))} ± {float(np.max(found.error, initial=0.0)):.0e}"


def rounded(found: Estimate) -> np.ndarray:
    """Finite differences without digits that are noise alone."""
    return np.where(np.abs(found.value) <= found.error, 0.0, found.value)


def parted(comparison: Comparison) -> Iterator[str]:
    """The first step and tape with another number, in sentences."""
    contrast = comparison.contrast
    if comparison.ours is None or comparison.theirs is None:
        yield "The steps were not compared: a graph cannot be run, or has Scans inside others."
        return
    if contrast.parting is not None:
        yield place(comparison, contrast.parting)
        yield f"Of {contrast.written} values that both write, {contrast.differing} differ."
        if comparison.agree:
            yield "The gradients are the same all the same."
    else:
        yield (f"Nowhere: all {contrast.written} values that the steps of both write are the same.")
        if comparison.found:
            yield "What differs is what is made of the tapes after the last step, or is not built."
    yield from (f"{line}." for line in contrast.unlike)


def place(comparison: Comparison, parting: Parting) -> str:
    """Scan, step, tape and slot."""
    assert comparison.ours is not None  # there would be no parting
    scan = comparison.ours.scans[parting.scan]
    tape = scan.tape(parting.tape)
    assert tape is not None  # it was written
    ours, theirs = value_text(parting.true), value_text(parting.broken)
    return (
        f"At step {parting.step} of Scan {parting.scan + 1}, {scan.name}, order {scan.order}: "
        f"into row {parting.row} of the tape {tape.name}, at tap {signed(parting.tap)}, ours "
        f"writes {ours}, PyTensor's {theirs}."
    )


def checks(comparison: Comparison) -> Iterator[str]:
    """All gradients of an order along one direction, beside finite differences."""
    for check in comparison.checks:

        def marked(value: float, check: Check = check) -> str:
            mark = "" if not comparison.judged else MARKS[check.admits(value)].removeprefix(" ")
            return f"{value:.10g}{mark}"

        if check.ours == check.theirs or np.isclose(check.ours, check.theirs, rtol=1e-9, atol=0):
            given = f"both give {marked(check.ours)}"
        else:
            given = f"ours give {marked(check.ours)}, PyTensor's {marked(check.theirs)}"
        estimate, known = check.differences, "give no number"
        if check.admits(check.ours) is not None:
            known = f"give {float(estimate.value):.10g} ± {float(estimate.error):.0e}"
        several = (
            f", along a direction oblique to all {check.entries} entries, and thus none of them"
        )
        through = several if check.entries > 1 else ""
        yield f"Order {check.order}{through}: {given}; finite differences {known}."


def _pair(pair: Pair) -> Iterator[str]:
    """Two backward Scans side by side."""
    yield f"Backward Scan {pair.name}, order {pair.order}"
    yield f"    {'':16}{'ours':{COLUMN}}  PyTensor's"
    for facet in pair.facets:
        if facet.aspect is Aspect.DTYPE and not facet.differs:
            continue
        label = f"{facet.subject} {facet.aspect}".strip()
        mine, its = facet.ours or "none", facet.theirs or "none"
        yield f"  {sign(facet)} {label:16}{mine:{COLUMN}}  {its}".rstrip()


def sign(facet: Facet) -> str:
    """How a facet is marked."""
    if not facet.differs:
        return " "
    return "~" if facet.harmless else "≠"
