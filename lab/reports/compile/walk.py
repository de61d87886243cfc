"""The record of a walk through rewrites: what stood before each and after, and its words."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lab.errors import listing, printable
from lab.notation import size_text
from lab.reports.compile.circular_buffers import Rows
from lab.reports.compile.compiled import rows_word
from lab.reports.compile.idle import Idle
from lab.reports.compile.rewriting import Known, known
from lab.reports.tables import paragraph


@dataclass(frozen=True)
class Argument:
    """What a Scan is handed, or fills: its kind with its taps, its rows, and its size if known.

    `given` tells what it was computed as, if that is not at length.
    """

    name: str
    kind: str
    rows: Rows | None = None
    bytes: int | None = None
    given: str = ""

    def __str__(self) -> str:
        size = "" if self.rows is None else f", {rows_word(self.rows)}"
        return f"{self.name}: {self.kind}{size}"


@dataclass(frozen=True)
class Side:
    """A Scan at one moment, or what took its place, which has neither steps nor arguments.

    `operations` are those of a step, `around` counts those on which the Scan depends, `in_place`
    the buffers that it writes over.
    """

    name: str
    steps: Rows | None
    arguments: tuple[Argument, ...]
    equations: tuple[str, ...]
    operations: tuple[str, ...]
    around: int
    in_place: int = 0

    @property
    def work(self) -> int | None:
        """How many operations there are in all, where the number of steps is known."""
        if self.steps is None:
            return self.around
        n = self.steps.number
        return None if n is None else n * len(self.operations) + self.around

    @property
    def bytes(self) -> int | None:
        """The size of all arrays that it is handed or fills, where it is known."""
        sizes = [one.bytes for one in self.arguments]
        return None if None in sizes else sum(size for size in sizes if size is not None)


NO_SCAN = Side("no Scan", None, (), (), (), 0)


@dataclass(frozen=True)
class Step:
    """A rewrite: what it is called and for, the Scans before it and what is after, side by side.

    `difference` is the largest one between the results of both, None where they were not run;
    `seconds` are those of a call without this rewrite, and with it.
    """

    rewrite: str
    before: tuple[Side, ...]
    after: Side
    difference: float | None = None
    seconds: tuple[float, float] | None = None

    @property
    def known(self) -> Known:
        """What it is for, and what it goes badly with."""
        return known(self.rewrite)

    @property
    def title(self) -> str:
        """What it is called, and of which Scans it makes which."""
        names = listing(side.name for side in self.before)
        return names if names == self.after.name else f"{names} → {self.after.name}"

    @property
    def changes(self) -> tuple[str, ...]:
        """In what both sides differ."""
        return tuple(_changes(self.before, self.after))

    @property
    def work(self) -> tuple[int | None, int | None]:
        """How many operations there were in a call, up to the results, and are."""
        work = [side.work for side in self.before]
        if None in work:
            return None, self.after.work
        around = max(side.around for side in self.before)  # what several need counts once
        own = [(n or 0) - side.around for n, side in zip(work, self.before, strict=True)]
        return sum(own) + around, self.after.work

    @property
    def bytes(self) -> tuple[int | None, int | None]:
        """How large all arrays of the Scans were, and are; what is no Scan has none."""
        sizes = [side.bytes for side in self.before]
        before = None if None in sizes else sum(size or 0 for size in sizes)
        return before, None if self.after.steps is None else self.after.bytes

    @property
    def saves(self) -> tuple[str, ...]:
        """Operations, bytes and time: how many there were, and are."""
        return tuple(_saves(self))

    def __str__(self) -> str:
        lines = paragraph(f"{self.rewrite}, {self.title}", "", "    ")
        if self.known.purpose:
            lines += paragraph(f"It {self.known.purpose}.", "    ", "    ")
        for told in (*self.changes, *self.saves):
            lines += paragraph(told, "    − ", "      ")
        if self.known.beware:
            lines += paragraph(f"Not with {self.known.beware}", "    ", "    ")
        return "\n".join(map(printable, lines))


@dataclass(frozen=True)
class Walk:
    """All rewrites of a graph that touched a Scan, in their order; `reverted` were taken back.

    `idle` is what none of them removes: reads and adds of zeros, of a gradient with values.
    """

    steps: tuple[Step, ...]
    linker: str = ""
    reverted: tuple[str, ...] = ()
    idle: tuple[Idle, ...] = ()

    def named(self, part: str) -> "Walk":
        """The steps of rewrites in whose names, or changes, a text stands."""
        return replace(self, steps=tuple(step for step in self.steps if part in str(step)))

    @property
    def told(self) -> str:
        """How many there are, and which were tried in vain."""
        if not self.steps:
            return "No rewrite to tell of puts anything in the place of a Scan."
        count = f"{len(self.steps)} {'rewrite' if len(self.steps) == 1 else 'rewrites'}"
        words = f"{count} for the linker {self.linker}, from the graph as written to what runs."
        if self.reverted:
            words += f" Tried and taken back: {listing(_several(Counter(self.reverted)))}."
        return words

    @property
    def left(self) -> tuple[str, ...]:
        """What no rewrite removes, in sentences."""
        return tuple(f"No rewrite removes: {one}" for one in self.idle)

    def __str__(self) -> str:
        lines = [f"{n} · {step}" for n, step in enumerate(self.steps, start=1)]
        told = [line for one in (self.told, *self.left) for line in paragraph(one)]
        return "\n".join([*lines, *map(printable, told)])


def _changes(before: Sequence[Side], after: Side) -> Iterator[str]:
    """In what Scans differ: variables, rows, operations of the step, what is in place."""
    kinds = [
        Counter(one.kind for side in sides for one in side.arguments) for sides in (before, [after])
    ]
    for gone, told in ((kinds[0] - kinds[1], "no more"), (kinds[1] - kinds[0], "now")):
        if gone:
            yield f"{told}: {listing(_several(gone))}"
    was, now = (
        [str(one) for side in sides for one in side.arguments if one.rows]
        for sides in (before, [after])
    )
    if kinds[0] == kinds[1] and was != now:
        pairs = [(a, b.rpartition(", ")[2]) for a, b in zip(was, now, strict=True) if a != b]
        yield f"rows of the buffers: {'; '.join(f'{a} → {b}' for a, b in pairs)}"
    steps = [Counter(side.operations) for side in (before[0], after)]
    for side in before[1:]:
        steps[0] += Counter(side.operations)
    for gone, told in ((steps[0] - steps[1], "out of the step"), (steps[1] - steps[0], "into it")):
        if gone and after.steps is not None:
            yield f"{told}: {listing(_several(gone))}"
    if after.in_place > sum(side.in_place for side in before):
        yield f"written over: {after.in_place} of the buffers that it is handed"
    if after.steps is None:
        yield f"no Scan any more: {listing(_several(steps[0]))} without a loop"


def _saves(step: Step) -> Iterator[str]:
    """How many operations, bytes and seconds there were, and are."""
    if None not in step.work:
        yield f"operations in a call, up to its results: {_became(step.work, '{:,}'.format)}"
    if None not in step.bytes:
        yield f"size of its arrays: {_became(step.bytes, size_text)}"
    if step.seconds is not None:
        without, with_it = step.seconds
        yield (
            f"measured: {with_it * 1e6:.3g} µs a call, {without * 1e6:.3g} without this rewrite, "
            f"{without / with_it:.2g} times that"
        )
    if step.difference is not None:
        apart = f"{step.difference:.1g}" if step.difference else "0"
        yield f"run before and after: the results differ by {apart}"


def _became(counts: tuple[int | None, int | None], written: Callable[[int], str]) -> str:
    before, after = (written(count or 0) for count in counts)
    return f"{before} → {after}" if before != after else f"{after}, as before"


def _several(counts: Counter[str]) -> Sequence[str]:
    return [f"{count} × {word}" if count > 1 else word for word, count in sorted(counts.items())]
