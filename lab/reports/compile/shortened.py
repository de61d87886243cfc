"""What is lost of a gradient that is taken after shortening: the record, and its words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.checks.differences import Estimate
from lab.equations.spelling import number_text
from lab.errors import printable
from lab.records import same
from lab.reports.breaking.breakage import Effect
from lab.reports.compile.buffers import Ring
from lab.reports.explain.explanation import paragraph
from lab.traces.parting import far


@dataclass(frozen=True)
class Asked:
    """One value that the backward loop asks for, and what stands in its place.

    Backward step `step` undoes step `undoes`, for which it needs `row`; that was in `slot`, which
    `holds` another row when the loop has ended, or still the same.
    """

    step: int
    undoes: int
    row: int
    slot: int
    holds: int | None

    @property
    def is_gone(self) -> bool:
        """Whether a later step has taken the place."""
        return self.row != self.holds


@dataclass(frozen=True)
class Lost:
    """What the backward loop asks of one buffer."""

    scan: str
    name: str
    ring: Ring
    asked: tuple[Asked, ...]

    @property
    def gone(self) -> tuple[Asked, ...]:
        """The values that are asked for and are no longer there."""
        return tuple(asked for asked in self.asked if asked.is_gone)


@dataclass(frozen=True)
class Backward:
    """A backward loop: how many steps it makes, and how many after shortening."""

    name: str
    steps: int
    too_late: int | None


@dataclass(frozen=True, eq=False)
class Shortened:
    """A gradient that was taken in time, and too late.

    `right` is the gradient of the graph as it was built, `too_late` PyTensor's gradient of the
    graph whose buffers are shortened (None if it is refused, for the reason in `refusal`).
    `looked_up` is what a backward loop would give that makes all its steps and takes what stands
    in the slots.  `differences` are finite ones, None of too many entries.
    """

    cost: str
    wrt: str
    linker: str
    version: str
    right: np.ndarray
    too_late: np.ndarray | None
    refusal: str
    looked_up: np.ndarray | None
    differences: Estimate | None
    loops: tuple[Backward, ...]
    buffers: tuple[Lost, ...]

    __eq__ = same

    @property
    def effect(self) -> Effect:
        """Whether it was refused, wrong, or right all the same."""
        if self.too_late is None:
            return Effect.REFUSED
        wrong = self.too_late.shape != self.right.shape
        return (
            Effect.WRONG if wrong or far(self.right[None], self.too_late[None])[0] else Effect.RIGHT
        )

    @property
    def gone(self) -> tuple[Asked, ...]:
        """All values that are asked for and are no longer there."""
        return tuple(asked for lost in self.buffers for asked in lost.gone)

    def __str__(self) -> str:
        return page(self)


MOST = 12  # so many values that are asked for are told one by one


def page(found: Shortened) -> str:
    """The whole warning."""
    head = f"The gradient of {found.cost} wrt {found.wrt}, in time and too late"
    lines = [head, "─" * len(head), *rows(found), ""]
    for told in words(found):
        lines += [*paragraph(told), ""]
    for lost in found.buffers:
        lines += [*table(lost), ""]
    return "\n".join(map(printable, lines)).rstrip()


def rows(found: Shortened) -> Iterator[str]:
    """The numbers, one under the other."""
    yield f"in time             {shown(found.right)}   differentiated, then rewritten"
    if found.differences is not None:
        yield f"finite differences  {shown(found.differences.value)}"
    late = found.refusal if found.too_late is None else shown(found.too_late)
    yield f"too late            {late}   rewritten, then differentiated: {found.effect}"
    if found.looked_up is not None:
        told = "if all steps were made, each with what is in the slots"
        yield f"looked up           {shown(found.looked_up)}   {told}"


def words(found: Shortened) -> Iterator[str]:
    """What went wrong."""
    who = f"PyTensor {found.version} with the rewrites of the linker {found.linker}"
    if found.effect is Effect.WRONG:
        yield f"{who} gives the wrong number without an error or a warning."
    elif found.effect is Effect.REFUSED:
        yield f"{who} refuses."
    elif any(loop.too_late != loop.steps for loop in found.loops):
        yield f"{who} gives the right number by luck: a backward loop makes too few steps."
    else:
        yield f"{who} gives the right number: nothing that the gradient needs was lost."
    for loop in found.loops:
        if loop.too_late is not None and loop.too_late != loop.steps:
            yield (
                f"{loop.name} makes {loop.too_late} of {loop.steps} steps: a backward loop counts "
                "the rows of the forward buffer, and these are all that it finds."
            )


def table(lost: Lost) -> Iterator[str]:
    """Which values the backward loop asks of a buffer, and what stands in their place."""
    gone, asked = len(lost.gone), len(lost.asked)
    slots = "1 slot" if lost.ring.length == 1 else f"{lost.ring.length} slots"
    yield (
        f"{lost.name} of {lost.scan} has {slots} for {lost.ring.rows} rows; of the {asked} values "
        f"that the gradient asks for {gone or 'none'} {'is' if gone == 1 else 'are'} gone"
    )
    width = max(8, len(f"{lost.name}[{lost.ring.rows}]"))
    yield f"  backward step   undoes   {'asks for':>{width}}   slot   which holds"
    for ask in lost.asked[:MOST]:
        there = "still the same" if not ask.is_gone else f"{lost.name}[{ask.holds}]: gone"
        row = f"{lost.name}[{ask.row}]"
        yield f"  {ask.step:>13}   {ask.undoes:>6}   {row:>{width}}   {ask.slot:>4}   {there}"
    if asked > MOST:
        yield f"  and {asked - MOST} more"


def shown(value: np.ndarray) -> str:
    """A number, or the first entries of an array."""
    if not value.ndim:
        return f"{number_text(value):>8}"
    entries = ", ".join(map(number_text, value.ravel()[:6]))
    return f"[{entries}{', …' if value.size > 6 else ''}]"
