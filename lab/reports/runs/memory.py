"""What the gradient of a loop keeps, from when to when, and what it would with checkpoints.

    >>> print(lab.memory(gallery.loops["rnn"].trace()))
    >>> lab.memory(trace, limit=1_000_000).best  # the plan with the least work that fits

A buffer is there from the Scan that fills it to the last Scan that reads it; what a Scan begins
with is there while it runs.  That is the graph as it stands, as in PyTensor's mode FAST_COMPILE:
FAST_RUN writes in place and keeps fewer rows, but also computes parts of steps for all at once.

A plan that keeps fewer states computes the others again.  It keeps every k-th state, or states at
binomial distances: no plan with as many states needs less work (Griewank and Walther, "Algorithm
799: revolve", 2000).  `pytensor.scan_checkpoints` is the plan with every k-th.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np

from lab.equations.quantities import Quantities
from lab.errors import argument_error, check_integer, check_type
from lab.notation import size_text
from lab.records import freeze, record_of_arrays
from lab.reports.tables import Report, Section, Table
from lab.traces.scan_of import ScanOf
from lab.traces.trace import TapeTrace, Trace

BEGINS = "initial contents"
MOST_STEPS = 20_000  # of a loop whose plans are told step by step


@dataclass(frozen=True)
class Buffer:
    """An array: of which Scan, from 1, its `bytes`, and the Scans before and after which it goes.

    It is there from the start of Scan `first` to the end of Scan `last`.
    """

    name: str
    bytes: int
    first: int
    last: int
    why: str


@record_of_arrays
class Plan:
    """A plan of which states are kept: how many of them are, and bytes, after each unit of work.

    A unit is one step of the loop, forwards or back.  A state is all that the next step may read;
    of taps that reach back, states that follow one another share values, which are kept once.
    """

    name: str
    held: np.ndarray
    bytes: np.ndarray

    @property
    def peak(self) -> int:
        """The most states that are kept at once."""
        return int(self.held.max(initial=0))

    @property
    def room(self) -> int:
        """The most bytes of states that are kept at once."""
        return int(self.bytes.max(initial=0))

    @property
    def work(self) -> int:
        """How many steps are made, forwards and back."""
        return len(self.held)


@record_of_arrays
class Memory(Report):
    """What a run keeps: `buffers`.

    `plans` are for the loop `loop`, whose state takes `state` bytes; `best` is the one of least
    work with which no more than `limit` bytes of states are kept.
    """

    loop: str
    steps: int
    state: int
    scans: tuple[str, ...]
    lengths: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    plans: tuple[Plan, ...]
    limit: int | None = None

    @property
    def peak(self) -> int:
        """The most bytes that are there at once, be it for a Scan that makes no step."""
        return max((self.during(number) for number in range(1, len(self.scans) + 1)), default=0)

    def during(self, number: int) -> int:
        """The bytes that are there while Scan `number` runs, from 1."""
        return sum(b.bytes for b in self.buffers if b.first <= number <= b.last)

    @property
    def best(self) -> Plan | None:
        """The plan of least work that keeps to the limit, or to half of what all states take."""
        half = self.plans[0].room // 2 if self.plans else 0
        limit = self.limit if self.limit is not None else half
        fitting = [plan for plan in self.plans if plan.room <= limit]
        return min(fitting, key=lambda plan: (plan.work, plan.peak), default=None)

    @property
    def told(self) -> tuple[str, ...]:
        """What is read off, in sentences."""
        return tuple(filter(None, (self.peak_told, self.best_told)))

    @property
    def peak_told(self) -> str:
        """What is there at most."""
        return f"At most {size_text(self.peak)} at once; {len(self.buffers)} buffers in all."

    @property
    def best_told(self) -> str:
        """Which plan is the best; empty if there is none, and nothing was asked for."""
        best, limit = self.best, "half of the states"
        limit = limit if self.limit is None else size_text(self.limit)
        if best is not None:
            times = best.work / max(1, self.plans[0].work)
            room = f"{size_text(best.room)} of states, {times:.3g} times the work"
            return f"Within {limit}: {best.name}, {room}."
        if self.plans and self.limit is not None:
            return f"Within {limit}: no plan; one state takes {size_text(self.state)}."
        return ""

    @property
    def document(self) -> Section:
        """The summary, and tables of the buffers and of the plans."""
        buffers = (
            (
                size_text(b.bytes),
                f"Scan {b.first}" + f" to {b.last}" * (b.last > b.first),
                b.name,
                b.why,
            )
            for b in self.buffers
        )
        plans = (
            (plan.name, f"{plan.peak:,}", size_text(plan.room), f"{plan.work:,}")
            for plan in self.plans
        )
        tables = (
            ("Buffers", Table(("size", "present", "buffer", "reason"), tuple(buffers))),
            ("Plans", Table(("plan", "saved states", "size", "steps of work"), tuple(plans))),
        )
        sections = (Section(title, (table,)) for title, table in tables if table.rows)
        return Section(f"Memory of {self.loop}", (*self.told, *sections))


def memory(trace: Trace, scan: int = 1, limit: int | None = None) -> Memory:
    """What the Scans of a trace keep, and the plans for the loop that is Scan `scan`, from 1.

    The plans: all states; every k-th, with the k of which the fewest are there at once;
    and binomial ones, with as many states as that, and with few.  With a `limit`, in bytes, there
    is also the smallest k that keeps to it, and the binomial plan of as many states as fit.
    Raises ArgumentError for what is no trace, Scan or limit.
    """
    check_type("trace", trace, Trace, 'a Trace, as of lab.gallery.loops["rnn"].trace()')
    if check_integer("scan", scan) not in range(1, len(trace.scans) + 1):
        raise argument_error("scan", scan, f"the Scans of this trace are 1 to {len(trace.scans)}.")
    if trace.backend:
        told = "some steps of it are kept, and what all of them take is told of a whole one."
        raise argument_error("trace", trace, told)
    if limit is not None and check_integer("limit", limit) < 1:
        raise argument_error("limit", limit, "expected a number of bytes, 1 or more.")
    buffers = tuple(_buffers(trace))
    lengths = [one.steps for one in trace.scans]
    loop = ScanOf(trace, scan - 1).root.scan
    spans = Counter[int]()  # the bytes of a value, by how many of them a step needs
    for tape in loop.tapes:
        spans[tape.tape.origin] += tape.initial[:1].nbytes
    state = sum(span * size for span, size in spans.items())
    fits = None if limit is None or not state else limit // state
    return Memory(
        loop.name,
        loop.steps,
        state,
        tuple(one.name for one in trace.scans),
        tuple(lengths),
        buffers,
        tuple(_plans(loop.steps, spans, fits)) if state and 0 < loop.steps <= MOST_STEPS else (),
        limit,
    )


def _buffers(trace: Trace) -> Iterator[Buffer]:
    """Every array that the run makes, in the order of the Scans."""
    last: dict[tuple[int, int], tuple[int, str]] = {}
    for of in ScanOf.each(trace):
        number = of.number + 1
        for sequence in of.scan.sequences:
            reader, held = of.first_reader(sequence)
            if isinstance(held, TapeTrace):
                last[reader.number, held.argument] = number, f"Scan {number} reads it"
        sequences = {sequence.argument for sequence in of.scan.sequences}
        for feed in of.scan.feeds:
            verb = "reads" if feed.into in sequences else "starts with"
            last[feed.scan, feed.variable] = number, f"Scan {number} {verb} it"
    for feed in trace.feeds:
        last.setdefault((feed.scan, feed.variable), (feed.scan + 1, "a result is computed from it"))
    for named in Quantities.each(trace):
        number = named.number + 1
        for sequence in named.scan.sequences:
            if sequence.is_outer_gradient:
                name = named.sequence_label(sequence, None)
                yield Buffer(name, sequence.values.nbytes, number, number, "one a step")
        for tape in named.scan.held:
            name = named.tape_label(tape, None)
            if tape in named.scan.tapes:
                yield Buffer(name, tape.initial.nbytes, number, number, BEGINS)
            end, why = last.get((named.number, tape.argument), (number, "nothing reads it later"))
            yield Buffer(name, tape.final.nbytes, number, max(number, end), why)


def _plans(steps: int, spans: Mapping[int, int], fits: int | None) -> Iterator[Plan]:
    """The plans for so many steps; `fits` states keep to the limit."""
    yield Plan("all states", *_held(every(steps, 1), spans))
    if steps < 4:
        return
    ways = {k: _peak_of_every(steps, k) for k in range(2, steps // 2 + 1)}
    k = min(ways, key=lambda way: (ways[way], way))
    yield Plan(f"every {k} steps", *_held(every(steps, k), spans))
    if fits is not None and fits < steps:
        small = next((way for way in ways if ways[way] <= fits), None)
        if small is not None and small != k:
            yield Plan(f"every {small} steps", *_held(every(steps, small), spans))
    counts = {ways[k], max(2, round(np.log2(steps)))} | ({fits} if fits is not None else set())
    for count in sorted(n for n in counts if 2 <= n < steps):
        yield Plan(f"binomial, {count} kept", *_held(binomial(steps, count), spans))


def _peak_of_every(steps: int, k: int) -> int:
    """The states that are there at once: the checkpoints, and those of the last segment.

    The last segment is gone back through first, when all checkpoints are there; the first, which
    is longest, when but its own is.
    """
    marks = -(-steps // k)
    rest = steps - (marks - 1) * k
    return max(marks + rest - 1, marks - 1 + k - 1 if marks > 1 else 0, marks)


Action = tuple[str, int]  # "keep", "restore", "forward", "back" or "drop", and the state's number


def _held(actions: Iterator[Action], spans: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """How many states are kept, and how many bytes, with every step that is made.

    State n has the values from n on, as many as a span, whose values take so many bytes.
    """
    held, bytes_, found = 0, 0, []
    users = {span: Counter[int]() for span in spans}  # how many states that are kept have a value
    for what, number in actions:
        change = (what == "keep") - (what == "drop")
        held += change
        for span, size in spans.items() if change else ():
            for value in range(number, number + span):
                before = users[span][value]
                users[span][value] += change
                bytes_ += size * (bool(users[span][value]) - bool(before))
        if what in ("forward", "back"):
            found.append((held, bytes_))
    counts, sizes = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return freeze(counts.copy()), freeze(sizes.copy())


def every(steps: int, k: int) -> Iterator[Action]:
    """Every k-th state is kept; those between are made again when their segment is gone back."""
    for number in range(steps):
        if number % k == 0:
            yield "keep", number
        yield "forward", number
    for start in reversed(range(0, steps, k)):
        yield from _through(start, min(start + k, steps))


def _through(start: int, stop: int) -> Iterator[Action]:
    """From a state that is kept forwards to all of its segment, and back."""
    yield "restore", start
    for number in range(start + 1, stop):
        yield "forward", number - 1
        yield "keep", number
    for number in reversed(range(start, stop)):
        yield "back", number
        yield "drop", number


def binomial(steps: int, count: int) -> Iterator[Action]:
    """At most `count` states, at the distances with which the least is made again.

    Forwards to where the next is kept, back through what lies behind it with one state less, then
    through what lies before.
    """
    yield "keep", 0
    waiting, is_end = [(0, steps, count)], True
    while waiting:
        start, stop, left = waiting.pop()
        if left > 1 and stop - start > 1:
            middle = start + ahead(stop - start, left)
            yield "restore", start
            yield from (("forward", number) for number in range(start, middle))
            yield "keep", middle
            waiting += [(start, middle, left), (middle, stop, left - 1)]
            continue
        for number in reversed(range(start, stop)):  # from the start again for every step back
            yield "restore", start
            yield from (("forward", before) for before in range(start, number + is_end))
            is_end = False
            yield "back", number
        yield "drop", start


def ahead(length: int, count: int) -> int:
    """How far to go before the next state is kept, so that the least is made again."""
    r = _repeats(length, count)
    longest = comb(count + r - 1, count)  # what can be gone back through with a repetition less
    return max(1, min(longest, length - comb(count + r - 2, count - 1)))


def _repeats(length: int, count: int) -> int:
    """How often a step is made again, at most, with so many states."""
    return next(r for r in range(length + 1) if comb(count + r, count) >= length)
