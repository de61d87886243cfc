"""The record of a graph before and after rewriting: what became of its Scans; and its words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lab.errors import listing, printable
from lab.notation import indexed
from lab.reports.compile.circular_buffers import Buffer, Kept, Rows
from lab.reports.compile.rewriting import known
from lab.reports.explain.explanation import FEW
from lab.reports.tables import WIDTH, paragraph
from lab.tape import Kind


class Fate(StrEnum):
    """What became of a Scan."""

    KEPT = "kept"
    CHANGED = "kept, and changed"
    MERGED = "merged with others into one"
    REPLACED = "no Scan any more"
    REMOVED = "removed: nobody needs its results"


@dataclass(frozen=True)
class Change:
    """A rewrite that touched a Scan; `moved` are the operations that its step lost by it."""

    rewrite: str
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScanBefore:
    """A Scan of the graph that was handed over, and what became of it.

    `into` are the numbers of the Scans in which it lives on, and `instead` the operations that
    do its work where there are none.
    """

    number: int
    name: str
    steps: Rows
    fate: Fate
    into: tuple[int, ...] = ()
    instead: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class ScanAfter:
    """A Scan that is left; `sources` are the numbers of those that it was made of."""

    number: int
    name: str
    steps: Rows
    sources: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    stops_early: bool

    def __str__(self) -> str:
        title = f"Scan {self.number}: {self.name}, {self.steps} steps"
        if self.stops_early:
            title += " at most; it may stop early"
        lines = [title, "─" * min(len(title), WIDTH)]
        for buffer in self.buffers:
            for line in buffer_lines(buffer):
                indented = line.startswith("  ")
                lines += [line] if indented and len(line) <= WIDTH else paragraph(line, "", "    ")
        if not self.buffers:
            lines.append("no buffers")
        return "\n".join(map(printable, lines))


@dataclass(frozen=True)
class Compiled:
    """The Scans of a graph before and after rewriting.

    `before` is empty for a function that was compiled already, which does not remember.  `alone`
    is the same without the gradient, where there is one.  `linker` and `version` tell who
    rewrote: the rewrites of Numba's linker are not those of C's.
    """

    outputs: tuple[str, ...]
    wrt: str
    linker: str
    version: str
    before: tuple[ScanBefore, ...]
    after: tuple[ScanAfter, ...]
    alone: "Compiled | None" = None

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of all Scans that are left."""
        return tuple(buffer for scan in self.after for buffer in scan.buffers)

    @property
    def shortened(self) -> tuple[Buffer, ...]:
        """Those that have fewer rows than their loop writes."""
        return tuple(buffer for buffer in self.buffers if buffer.is_shortened)

    def __str__(self) -> str:
        lines = [*paragraph(summary(self)), ""]
        if len(self.before) > FEW:
            counts = Counter(scan.fate for scan in self.before)
            told = "; ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])
            lines += [*paragraph(f"{told}."), ""]
        elif self.before:
            lines += ["Before rewriting  →  after"]
            for old in self.before:
                lines += paragraph(fate(old, self), "  ", "     ")
            lines += [""]
        if len(self.after) <= FEW:
            for scan in self.after:
                lines += [*str(scan).splitlines(), ""]
        elif self.after:
            lines += [*(f"  {line}" for line in table(self)), ""]
            lines += ["To read about one of them: print(compiled.after[0])", ""]
        if self.shortened and len(self.after) <= FEW:
            lines += [*paragraph(CLOCK), ""]
        for told in gradient_rows(self):
            lines += [*paragraph(told), ""]
        if any(one.kind is not Kind.MIT_MOT for one in self.shortened) or self.alone:
            lines += [*paragraph(WHY), ""]
        return "\n".join(map(printable, lines)).rstrip()


WIDEST = 12  # so many slots, and so many steps, are told one by one

CLOCK = (
    "Values are counted from the first that is given, x₀; where m are given, step k writes the one "
    "with the number k + m. A buffer of L slots holds number r in slot r mod L; "
    "after the last step the slots are turned until the oldest value comes first."
)
WHY = (
    "The gradient has to be taken first. It reads the values of every step, and rewriting sees "
    "that and keeps them. A graph that was shortened already has lost them, and its gradient is, "
    "as a rule, wrong without a warning: lab.shortened shows it."
)


def summary(compiled: Compiled) -> str:
    """In a few sentences what there was, what is left, and who rewrote."""
    what = listing(compiled.outputs)
    if compiled.wrt:
        what = f"{compiled.outputs[0]} and its gradient wrt {compiled.wrt}"
    words = f"{what}, rewritten by PyTensor {compiled.version} for the linker {compiled.linker}. "
    left = len(compiled.after)
    if compiled.before:
        words += f"Of {_count(len(compiled.before), 'Scan')} {left or 'none'} {_are(left)} left. "
    else:
        words += f"{_count(left, 'Scan')} {_are(left)} in this function. "
        words += "What the graph was before, a compiled function does not remember. "
    buffers = [b for b in compiled.buffers if b.kept is not Kept.UNTRACED]
    if buffers:
        short = len(compiled.shortened)
        words += f"Of {_count(len(buffers), 'buffer')} {short or 'none'} {_are(short)} shortened."
    return words.rstrip()


def fate(scan: ScanBefore, compiled: Compiled) -> str:
    """What became of one Scan, in a sentence."""
    words = f"{scan.number} {scan.name}, {scan.steps} steps  →  {scan.fate}"
    if scan.fate is Fate.REPLACED:
        words += f": {listing(scan.instead)} outside of any loop"
    elif scan.into:
        words += f", Scan {listing(scan.into)}"
    if scan.fate is Fate.REMOVED:
        return f"{words}."
    buffers = [b for after in compiled.after if after.number in scan.into for b in after.buffers]
    is_shorter = any(buffer.is_shortened for buffer in buffers)
    # rewrites that shorten may also allocate a buffer anew, as long as before
    shortening = ("reduce_trace", "save_mem")
    changes = [
        change(changed)
        for changed in scan.changes
        if is_shorter or not any(part in changed.rewrite for part in shortening)
    ]
    listed = dict.fromkeys(filter(None, changes))
    return f"{words}: {'; '.join(listed)}." if listed else f"{words}."


def change(changed: Change) -> str:
    """What a rewrite did, and its name; nothing of one that moved no operation out."""
    told, name = known(changed.rewrite), changed.rewrite
    if "(" in name:  # one that goes through several, of which the first tells what for
        name = told.part
    if "push_out" in name and not changed.moved:
        return ""
    moved = f": {listing(dict.fromkeys(changed.moved))}" if "push_out" in name else ""
    return f"it {told.purpose}{moved} ({name})" if told.purpose else f"changed by {name}"


def buffer_lines(buffer: Buffer) -> Iterator[str]:
    """What there is to say of one buffer."""
    if buffer.kept is Kept.UNTRACED:
        yield f"{buffer.name} ({buffer.kinds}): {buffer.kept}"
        return
    before = f"{rows_word(buffer.before)} → " if buffer.before is not None else ""
    after = "1 value" if buffer.kept.is_one_value else rows_word(buffer.after)
    yield f"{buffer.name} ({buffer.kinds}): {before}{after}; {buffer.kept}"
    if buffer.readers:
        told, more = [*map(str, buffer.readers[:FEW])], len(buffer.readers) - FEW
        yield f"  {'; '.join([*told, f'and {more} more'] if more > 0 else told)}"
    yield from slots(buffer)


def slots(buffer: Buffer) -> Iterator[str]:
    """Which slot holds which row, at every step of a short loop and after the last."""
    ring = buffer.ring
    if buffer.stops_early and buffer.is_shortened:
        yield "  it may stop early, so that only a run can tell which slot holds which row"
    if ring is None or not ring.is_circular:
        return
    if ring.length == 1:
        last = name(buffer, ring.rows - 1)
        yield f"  its one slot is written at every step, and holds {last} in the end"
        return
    width = 2 + max(len(name(buffer, ring.rows)), 4)
    if ring.length <= WIDEST and ring.steps <= WIDEST:
        yield f"  slot       {_cells(range(ring.length), width)}"
        for done in range(ring.steps + 1):
            when = f"step {done - 1}" if done else "given"
            old = ring.replaced(done - 1) if done else None
            gone = f"  {name(buffer, old)} is gone" if old is not None else ""
            held = _cells((name(buffer, row) for row in ring.held(done)), width)
            yield f"  {when:9}  {held}{gone}"
    given_back = _cells((name(buffer, row) for row in ring.returned()[:WIDEST]), width)
    yield f"  result     {given_back}{' …' if ring.length > WIDEST else ''}"


def name(buffer: Buffer, row: int | None) -> str:
    """``x₃``: what stands in one row of a buffer."""
    return "—" if row is None else indexed(buffer.name, row)


def _cells(items: Iterable[object], width: int) -> str:
    return "".join(f"{item!s:>{width}}" for item in items)


def table(compiled: Compiled) -> Iterator[str]:
    """The Scans that are left in a line each."""
    for scan in compiled.after:
        short = sum(buffer.is_shortened for buffer in scan.buffers)
        of = f", made of {len(scan.sources)} Scans" if len(scan.sources) > 1 else ""
        yield (
            f"{scan.number:>3}  {scan.name}: {scan.steps} steps, "
            f"{_count(len(scan.buffers), 'buffer')}, {short} shortened{of}"
        )


def gradient_rows(compiled: Compiled) -> Iterator[str]:
    """How many rows the gradient keeps that would not be kept without it; none if none."""
    if compiled.alone is None:
        return
    with_it = {(number, buffer.name): buffer for number, buffer in _numbered(compiled)}
    costs = []
    for number, buffer in _numbered(compiled.alone):
        other = with_it.get((number, buffer.name))
        if other is not None and buffer.is_shortened and not other.is_shortened:
            costs.append(
                f"{buffer.name}: {buffer.after} without the gradient, {other.after} with it"
            )
    if costs:
        yield f"What the gradient costs in rows: {'; '.join(costs)}."


def _numbered(compiled: Compiled) -> Iterator[tuple[int, Buffer]]:
    """The buffers with the number of the first Scan, before rewriting, that they are of."""
    for scan in compiled.after:
        for buffer in scan.buffers:
            yield (scan.sources[0] if scan.sources else 0), buffer


def rows_word(rows: Rows) -> str:
    """``6 rows``, ``1 row``, ``n + 1 rows``."""
    return f"{rows} row" if str(rows) == "1" else f"{rows} rows"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
