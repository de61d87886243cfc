"""Report the buffers of a derivative, their lifetimes, and checkpointing plans.

    >>> print(lab.memory(gallery.loops["rnn"].trace()))
    >>> lab.memory(trace).best  # the least work, among plans with at most half of the bytes

A buffer lives from the Scan that fills it to the last Scan that reads it; initial contents live
while their Scan runs.  The report describes the graph as written, which PyTensor runs in mode
FAST_COMPILE.  FAST_RUN writes in place and stores fewer rows, but it also computes parts of all
steps at once.

A plan with fewer saved states recomputes the other states.  A plan saves every k-th state, or
states at binomial distances.  No other plan with the same number of saved states needs less work
than the binomial plan (Griewank and Walther, "Algorithm 799: revolve", 2000).
`pytensor.scan_checkpoints` saves every k-th state.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from math import comb

import numpy as np

from lab.equations.quantities import Quantities
from lab.equations.tables import ReportTable
from lab.errors import argument_error, check_integer, check_type
from lab.records import freeze, record_of_arrays
from lab.reports.tables import Report, Section, size_text
from lab.traces.scan_of import ScanOf
from lab.traces.trace import TapeTrace, Trace

BEGINS = "initial contents"
MOST_STEPS = 20_000  # longest loop with plans, because plans are simulated step by step


@dataclass(frozen=True)
class BufferLifetime:
    """An array that exists from the start of Scan `first` to the end of Scan `last`.

    Scans are numbered from 1.  `bytes` is the size of the array, and `why` the reason for its
    lifetime.
    """

    name: str
    bytes: int
    first: int
    _: KW_ONLY
    last: int
    why: str


@record_of_arrays
class Plan:
    """A checkpointing plan: the numbers of saved states, and the bytes of their values.

    `states` and `bytes` contain an entry for each unit of work, which is one step of the loop,
    forward or backward.  A state contains all values that the next step may read.  Successive
    states share values, and the bytes of a shared value are included once.
    """

    name: str
    states: np.ndarray
    bytes: np.ndarray

    @property
    def peak(self) -> int:
        """The largest number of states that are saved at the same time."""
        return int(self.states.max(initial=0))

    @property
    def room(self) -> int:
        """The largest size of the saved states, in bytes."""
        return int(self.bytes.max(initial=0))

    @property
    def work(self) -> int:
        """The number of steps that run, forward and backward."""
        return len(self.states)


@record_of_arrays
class Memory(Report):
    """The `buffers` of a run, and `plans` for the loop `loop`, whose state has `state` bytes.

    `lengths` are the numbers of steps of all `scans`.
    """

    loop: str
    state: int
    _: KW_ONLY
    scans: tuple[str, ...]
    lengths: tuple[int, ...]
    buffers: tuple[BufferLifetime, ...]
    plans: tuple[Plan, ...]

    @property
    def peak(self) -> int:
        """The largest size of all buffers that exist at the same time, in bytes."""
        return max((self.during(number) for number in range(1, len(self.scans) + 1)), default=0)

    def during(self, number: int) -> int:
        """Return the bytes of the buffers that exist while Scan `number`, from 1, runs."""
        return sum(b.bytes for b in self.buffers if b.first <= number <= b.last)

    @property
    def best(self) -> Plan | None:
        """The plan with the least work that needs at most half the bytes of all states, or None."""
        half = self.plans[0].room // 2 if self.plans else 0
        fitting = [plan for plan in self.plans if plan.room <= half]
        return min(fitting, key=lambda plan: (plan.work, plan.peak), default=None)

    @property
    def summary(self) -> tuple[str, ...]:
        """Sentences on the peak, and on the best plan if it exists."""
        peak = f"Peak: {size_text(self.peak)}, in {len(self.buffers)} buffers."
        best = self.best
        if best is None:
            return (peak,)
        times = best.work / self.plans[0].work
        size = f"{size_text(best.room)} of states, {times:.3g} times the work"
        return peak, f"The plan with the least work in half the bytes: {best.name}, {size}."

    @property
    def document(self) -> Section:
        """The summary, and tables of the buffers and of the plans."""
        buffers = tuple(
            (size_text(b.bytes), f"Scan {b.first}" + f" to {b.last}" * (b.last > b.first),
             b.name, b.why) for b in self.buffers
        )  # fmt: skip
        plans = tuple(
            (plan.name, f"{plan.peak:,}", size_text(plan.room), f"{plan.work:,}")
            for plan in self.plans
        )
        tables = (
            ("Buffers", ReportTable(("size", "lifetime", "buffer", "reason"), buffers)),
            ("Plans", ReportTable(("plan", "saved states", "size", "steps of work"), plans)),
        )
        sections = (Section(title, (table,)) for title, table in tables if table.rows)
        return Section(f"Memory of {self.loop}", (*self.summary, *sections))


def memory(trace: Trace, scan: int = 1) -> Memory:
    """Return the buffers of all Scans of a trace, and checkpointing plans for one loop.

    The plans are for the loop of Scan number `scan`, counted from 1.  The plans save all states,
    every k-th state with the best k, or states at binomial distances.  One binomial plan saves as
    many states as the plan with k.  A second binomial plan saves about log₂ of the number of steps.

    Raises KindError or ArgumentError for an invalid argument, and for a trace of selected steps.
    """
    check_type("trace", trace, Trace, 'a Trace, such as lab.gallery.loops["rnn"].trace()')
    check_integer("scan", scan, f"a Scan, 1 to {len(trace.scans)}", 1, len(trace.scans))
    if trace.backend:
        raise argument_error("trace", trace, "expected a trace of all steps, without keep.")
    loop = ScanOf(trace, scan - 1).root.scan
    spans = Counter[int]()  # maps the number of values in a state to the bytes of a value
    for tape in loop.tapes:
        spans[tape.tape.origin] += tape.initial[:1].nbytes
    state = sum(span * size for span, size in spans.items())
    has_plans = state and 0 < loop.steps <= MOST_STEPS
    return Memory(
        loop.name,
        state,
        scans=tuple(each.name for each in trace.scans),
        lengths=tuple(each.steps for each in trace.scans),
        buffers=tuple(_buffers(trace)),
        plans=tuple(_plans(loop.steps, spans)) if has_plans else (),
    )


def _buffers(trace: Trace) -> Iterator[BufferLifetime]:
    """Yield the lifetime of each array that a run allocates, in the order of the Scans."""
    last: dict[tuple[int, int], tuple[int, str]] = {}  # the last reader of each buffer
    for of in ScanOf.each(trace):
        number = of.number + 1
        for sequence in of.scan.sequences:
            reader, source = of.first_reader(sequence)
            if isinstance(source, TapeTrace):
                last[reader.number, source.argument] = number, f"Scan {number} reads it"
        sequences = {sequence.argument for sequence in of.scan.sequences}
        for feed in of.scan.feeds:
            verb = "reads" if feed.into in sequences else "starts with"
            last[feed.scan, feed.argument] = number, f"Scan {number} {verb} it"
    for feed in trace.feeds:
        last.setdefault((feed.scan, feed.argument), (feed.scan + 1, "a result is computed from it"))
    for named in Quantities.each(trace):
        number = named.number + 1
        for sequence in named.scan.sequences:
            if sequence.is_outer_gradient:
                name = named.sequence_label(sequence, None)
                size, why = sequence.values.nbytes, "one value per step"
                yield BufferLifetime(name, size, number, last=number, why=why)
        for tape in named.scan.buffers:
            name = named.tape_label(tape, None)
            if tape in named.scan.tapes:
                yield BufferLifetime(name, tape.initial.nbytes, number, last=number, why=BEGINS)
            end, why = last.get((named.number, tape.argument), (number, "not read later"))
            yield BufferLifetime(name, tape.final.nbytes, number, last=max(number, end), why=why)


def _plans(steps: int, spans: Mapping[int, int]) -> Iterator[Plan]:
    """Yield the checkpointing plans for a loop of `steps` steps.

    `spans` maps a number of values per state to the bytes of one value of the variables with this
    number.
    """
    yield Plan("all states", *_simulate(every(steps, 1), spans))
    if steps < 4:
        return
    peaks = {k: _peak_of_every(steps, k) for k in range(2, steps // 2 + 1)}
    distance = min(peaks, key=peaks.__getitem__)
    yield Plan(f"every {distance} steps", *_simulate(every(steps, distance), spans))
    for count in sorted({peaks[distance], max(2, round(np.log2(steps)))}):
        if count < steps:
            yield Plan(f"binomial, {count} kept", *_simulate(binomial(steps, count), spans))


def _peak_of_every(steps: int, k: int) -> int:
    """Return the largest number of saved states in a plan that saves every k-th state.

    The backward loop starts with the final segment, while all checkpoints exist.  The segment
    before the final segment can be longer, but one checkpoint fewer exists then.
    """
    marks = -(-steps // k)
    rest = steps - (marks - 1) * k
    return marks - 1 + max(rest, k - 1)


Action = tuple[str, int]  # "keep", "restore", "forward", "back", or "drop", and a state's number


def _simulate(actions: Iterator[Action], spans: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: the number and the bytes of the saved states after each unit of work.

    State n contains the values n to n + span − 1 of every span in `spans`.
    """
    states, size, history = 0, 0, []
    # for each span, the number of saved states that contain each value
    users = {span: Counter[int]() for span in spans}
    for action, number in actions:
        change = (action == "keep") - (action == "drop")
        states += change
        for span, bytes_ in spans.items() if change else ():
            for value in range(number, number + span):
                before = users[span][value]
                users[span][value] += change
                size += bytes_ * (bool(users[span][value]) - bool(before))
        if action in ("forward", "back"):
            history.append((states, size))
    counts, sizes = np.array(history, dtype=np.int64).reshape(-1, 2).T
    return freeze(counts.copy()), freeze(sizes.copy())


def every(steps: int, k: int) -> Iterator[Action]:
    """Yield the actions of a plan that saves every k-th state and recomputes segment by segment."""
    for number in range(steps):
        if number % k == 0:
            yield "keep", number
        yield "forward", number
    for start in reversed(range(0, steps, k)):
        stop = min(start + k, steps)
        yield "restore", start
        for number in range(start + 1, stop):
            yield "forward", number - 1
            yield "keep", number
        for number in reversed(range(start, stop)):
            yield "back", number
            yield "drop", number


def binomial(steps: int, count: int) -> Iterator[Action]:
    """Yield the actions of the plan with the least work that saves at most `count` states.

    The loop runs forward to the next checkpoint.  Then the plan differentiates the part after the
    checkpoint with one state fewer, and finally the part before the checkpoint.
    """
    yield "keep", 0
    segments, is_end = [(0, steps, count)], True
    while segments:
        start, stop, left = segments.pop()
        if left > 1 and stop - start > 1:
            middle = start + _next_checkpoint(stop - start, left)
            yield "restore", start
            yield from (("forward", number) for number in range(start, middle))
            yield "keep", middle
            segments += [(start, middle, left), (middle, stop, left - 1)]
            continue
        for number in reversed(range(start, stop)):  # every backward step starts from `start`
            yield "restore", start
            yield from (("forward", before) for before in range(start, number + is_end))
            is_end = False
            yield "back", number
        yield "drop", start


def _next_checkpoint(length: int, count: int) -> int:
    """Return the distance to the next checkpoint that minimizes the work for `length` steps.

    If no step runs forward more than r times, comb(count + r, count) is the length of the longest
    loop for `count` states.
    """
    r = next(r for r in range(length + 1) if comb(count + r, count) >= length)
    longest = comb(count + r - 1, count)
    return max(1, min(longest, length - comb(count + r - 2, count - 1)))
