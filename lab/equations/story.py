"""Where a value of a run comes from, what else stood in its place, and where it goes.

    >>> stories = Stories(gallery.loops["square"].trace())
    >>> stories.of(stories.held(1, argument=1, row=2, after=2)[-1]).origin[0]
    'buf[2] = 2.161, where dC/dx₂ is collected.'

A value is one of `lab.traces.flow`: a slot that is written twice holds two values, and each has a
story of its own.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lab.equations.quantities import Quantities
from lab.equations.sentences import Arrival, StepOf, joined, sentence
from lab.notation import number_text
from lab.records import cached_property, reached
from lab.tape import Kind
from lab.traces.flow import Flow, Value, Write, adds_old, flow
from lab.traces.trace import ParameterTrace, SequenceTrace, TapeTrace, Trace

MOST = 3  # readers, or earlier values of a slot, that a sentence names


@dataclass(frozen=True)
class Story:
    """What is told of a value of a run: where it comes from, and what becomes of it.

    `place` is where it stands in PyTensor, empty if that is not known.
    """

    origin: tuple[str, ...]
    fate: tuple[str, ...]
    place: str


@dataclass(frozen=True, eq=False)
class Stories:
    """The stories of all values of a run."""

    trace: Trace

    @cached_property
    def flow(self) -> Flow:
        """What was made from what."""
        return flow(self.trace)

    @cached_property
    def readers(self) -> Mapping[Value, list[tuple[Value, Write]]]:
        """What was made from a value, and how, in the order of the run."""
        found: dict[Value, list[tuple[Value, Write]]] = {}
        for made, write in self.flow.writes.items():
            for source in write.sources:
                found.setdefault(source, []).append((made, write))
        return found

    def held(self, scan: int, argument: int, row: int, after: int) -> list[Value]:
        """What a row of a tape has held, one after another, when `after` steps have been made."""
        tape = self.trace.scans[scan].tape(argument)
        chain = [] if tape is None else self.flow.chain(scan, tape, row)
        return [v for v in chain if not v.version or self.flow.writes[v].step < after]

    def of(self, value: Value) -> Story:
        """The story of one value."""
        origin = self._heading(value), self._origin(value)
        fate = self._slot(value), self._fate(value), self._worth(value)
        return Story(origin, tuple(filter(None, fate)), self._place(value))

    def ancestors(self, value: Value) -> set[Value]:
        """All values that one was made from, directly or by others, and itself."""
        return {*reached([value], self._sources)}

    def nearest(self, value: Value, among: Container[Value]) -> list[Value]:
        """The values `among` some that one was made from, with none of them in between."""
        found = reached(self._sources(value), lambda s: () if s in among else self._sources(s))
        return [source for source in found if source in among]

    def _sources(self, value: Value) -> Sequence[Value]:
        write = self.flow.writes.get(value)
        return write.sources if write is not None else self.parts(value)

    def parts(self, value: Value) -> Sequence[Value]:
        """The results of earlier Scans that a seed is the sum of, without the part of the cost."""
        place = value.scan, value.argument, value.row
        return () if value.version else self._fed.get(place, ())

    @cached_property
    def _fed(self) -> Mapping[tuple[int, int, int | None], list[Value]]:
        """The values of earlier Scans that are added up in a row of a tape."""
        found: dict[tuple[int, int, int | None], list[Value]] = {}
        for number, scan in enumerate(self.trace.scans):
            for feed in scan.feeds:
                tape = self.trace.scans[feed.scan].tape(feed.variable)
                for row in feed.rows if tape is not None else ():
                    if row.is_summand and tape is not None and tape.gradient_of is not None:
                        value = self.flow.latest(feed.scan, tape, row.source)
                        found.setdefault((number, feed.into, row.row), []).append(value)
        return found

    def number(self, value: Value) -> np.ndarray | None:
        """The number, or array, that it is; None for memory that nobody has written."""
        variable = self._variable(value)
        if not isinstance(variable, TapeTrace):
            return self._given(value)
        write = self.flow.writes.get(value)
        if write is not None:
            access = next(a for a in variable.writes if a.tap == write.formula.target.tap)
            return access.values[write.step]
        unwritten = variable.unwritten[value.row : value.row + 1].any()
        has = value.row < len(variable.initial) and not unwritten
        return variable.initial[value.row] if has else None

    def _variable(self, value: Value) -> TapeTrace | None:
        return self.trace.scans[value.scan].tape(value.argument)

    def _given(self, value: Value) -> np.ndarray | None:
        scan = self.trace.scans[value.scan]
        for parameter in scan.parameters:
            if parameter.name == value.variable:
                return parameter.value
        for sequence in scan.sequences:
            if sequence.name == value.variable and value.row in sequence.axis.rows:
                return sequence.values[sequence.axis.rows[value.row]]
        return None

    def _called(self, value: Value) -> str:
        """``x₃``, ``buf[2]`` or ``w``."""
        named, tape = self._named(value), self._variable(value)
        if tape is None:
            own = (s for s in named.scan.sequences if s.name == value.variable)
            labels = (named.sequence_label(sequence, value.row) for sequence in own)
            return next(labels, value.variable)
        if named.scan.parent is not None and tape.kind is Kind.MIT_MOT:
            return named.place(tape, value.row)
        return tape.name if tape.is_total else named.tape_label(tape, value.row)

    def _named(self, value: Value) -> Quantities:
        return Quantities(self.trace, value.scan)

    def _whole(self, value: Value) -> str:
        """``dC/dx₃``, for a place in which it is collected."""
        tape = self._variable(value)
        return "" if tape is None else self._named(value).whole_label(tape, value.row)

    def _heading(self, value: Value) -> str:
        is_place = self._called(value) != self._whole(value)
        what = (
            f", where {self._whole(value)} is collected" if is_place and self._whole(value) else ""
        )
        return f"{self._called(value)}{self._equal(value)}{what}."

    def _equal(self, value: Value) -> str:
        number = self.number(value)
        if number is None:
            return ""
        shape = "×".join(map(str, number.shape))
        return f" ({shape})" if shape else f" = {number_text(number)}"

    def _origin(self, value: Value) -> str:
        write, tape = self.flow.writes.get(value), self._variable(value)
        if write is not None:
            told = sentence(StepOf(self._named(value), write.step), write.formula)
            scan = f"Scan {value.scan + 1} · {Quantities(self.trace, value.scan).called}"
            made = f"Step {write.step} of {scan} makes"
            short = f"Step {write.step} of Scan {value.scan + 1} makes"
            return told.replace(short, made, 1) if told.startswith(short) else f"{made} it: {told}"
        if tape is None:
            return "It was given."
        number = self.number(value)
        if number is None:
            return "Nobody has written there yet."
        named = self._named(value)
        if named.scan.parent is None:
            return "It was there when the loop began."
        if not np.any(number):
            return "It is 0 from the start: nothing has arrived yet."
        direct = named.direct_label(tape, value.row) if tape.gradient_of is not None else ""
        return f"It was there from the start{direct and f', as {direct}: {self._seed(value)}'}."

    def _seed(self, value: Value) -> str:
        """What brings the part of a gradient that is there before its Scan begins."""
        others = self._named(value).seeded_by(value.argument)
        numbers = {part: self.number(part) for part in self.parts(value)}
        known = {
            part: number for part, number in numbers.items() if number is not None and number.any()
        }
        if not known:
            all_ = joined(["the cost", *(f"Scan {n + 1}" for n in others)])
            return f"what {all_} {'add' if others else 'adds'} directly"
        terms = []
        for part, number in known.items():
            write, figure = self.flow.writes.get(part), "" if number.ndim else number_text(number)
            step = f"step {write.step} of " if write else ""
            terms.append(f"{figure} from {step}Scan {part.scan + 1}".strip())
        near = 1e-5 * max(np.max(np.abs(number)) for number in known.values())
        whole = self.number(value)
        is_all = whole is not None and np.allclose(
            sum(known.values()), whole, atol=near, equal_nan=True
        )
        return f"{', plus '.join(terms)}{'' if is_all else ', and the rest directly'}"

    def _slot(self, value: Value) -> str:
        """What else stood in its slot."""
        tape = self._variable(value)
        if tape is None:
            return ""
        chain = self.flow.chain(value.scan, tape, value.row)
        if len(chain) == 1 or tape.is_total:
            return ""
        near = chain[max(0, value.version - MOST) : value.version + MOST + 1]
        told = [self._in_turn(each) for each in near if self.number(each) is not None]
        if not all(told) or len(told) < 2:
            return ""
        before = "…, " if near[0] != chain[0] else ""
        return f"Its slot holds, one after another: {before}{', '.join(told)}."

    def _place(self, value: Value) -> str:
        """Where its tape, sequence or parameter stands."""
        named = self._named(value)
        if value.argument >= 0:
            return named.place_of(value.argument, value.row)
        given: list[SequenceTrace | ParameterTrace] = [*named.scan.sequences]
        given += named.scan.parameters
        return next((named.place_of(v.argument) for v in given if v.name == value.variable), "")

    def _in_turn(self, value: Value) -> str:
        number, write = self.number(value), self.flow.writes.get(value)
        if number is None or number.ndim:
            return ""
        when = "at first" if write is None else f"after step {write.step}"
        return f"{number_text(number)} ({when})"

    def _fate(self, value: Value) -> str:
        """Who reads it."""
        found = self.readers.get(value, [])
        kept = [
            (made, write)
            for made, write in found
            if (made.scan, made.argument, made.row) != (value.scan, value.argument, value.row)
        ]
        told = [
            f"step {write.step} of Scan {made.scan + 1} for {self._called(made)}"
            for made, write in kept[:MOST]
        ]
        more = [f"{len(kept) - MOST} more"] if len(kept) > MOST else []
        reads = f"Read by {joined([*told, *more])}." if told else ""
        return " ".join(filter(None, (reads, self._end(value, bool(told)))))

    def _end(self, value: Value, is_read: bool) -> str:
        """What becomes of it in its slot."""
        tape = self._variable(value)
        if tape is None:
            return "" if is_read else "No step reads it."
        following = self.flow.writes.get(value._replace(version=value.version + 1))
        if following is not None:
            kept = adds_old(following.formula)
            return f"Step {following.step} {'adds to it' if kept else 'replaces it'}."
        named = self._named(value)
        if named.scan.parent is not None and value.row in named.wanted_rows(tape):
            return "It goes on to the result." if named.is_passed_on(tape) else ""
        return "" if is_read else "No step reads it."

    def _worth(self, value: Value) -> str:
        """What it contributes to the result, by the factors on the way there."""
        number = self.number(value)
        if number is None or number.ndim:
            return ""
        if self._named(value).scan.parent is None:
            return self._sensitivity(value)
        told = [
            f"{number_text(share * float(number))} of "
            f"{self._whole(result) or self._called(result)}{self._equal(result)}"
            for result, share in self.shares(value)
        ]
        if told and not number:
            return "As it is 0, it contributes nothing."
        return f"It contributes {joined(told)}." if told else ""

    def _sensitivity(self, value: Value) -> str:
        """The derivative of the cost by a value of a loop."""
        for child in Quantities.each(self.trace):
            for tape in child.scan.tapes if child.scan.parent == value.scan else ():
                wanted = tape.collects and tape.gradient_of == value.variable and tape.axis
                if wanted and value.row in wanted.rows and child.scan.order == 1:
                    complete = self._complete(child.number, tape, wanted.rows[value.row])
                    name = child.whole_label(tape, wanted.rows[value.row])
                    factor = f"{name}{self._equal(complete)}"
                    return f"A small change in it changes C {factor} times as much."
        return ""

    def _complete(self, scan: int, tape: TapeTrace, row: int) -> Value:
        """What a slot holds when all has been added and nothing has replaced it."""
        chain = self.flow.chain(scan, tape, row)
        for before, value in pairwise(chain):
            if not adds_old(self.flow.writes[value].formula):
                return before
        return chain[-1]

    def shares(self, value: Value) -> list[tuple[Value, float]]:
        """The first results of its Scan that a value goes into, and what multiplies it there.

        Empty where that is not known: of arrays, and of loops that are no derivatives.
        """
        named = self._named(value)
        if named.scan.parent is None or self._variable(value) is None:
            return []
        reach: dict[Value, float | None] = {value: self.whole}
        for made, write in self.flow.writes.items():
            read = [s for s in write.sources if s in reach]
            if made.scan == value.scan and read and made != value:
                parts = [self._through(made, write, source, reach[source]) for source in read]
                reach[made] = None if None in parts else self.total([p for p in parts if p])
        ends = [(end, reach.get(end)) for end in self._results(value.scan) if end != value]
        return [(end, share) for end, share in ends if share is not None][:MOST]

    def _through(
        self, made: Value, write: Write, source: Value, share: float | None
    ) -> float | None:
        """What a value that is `share` times the source makes of it."""
        one = StepOf(self._named(made), write.step)
        for arrival in one.arrivals(write.formula):
            if write.reads(arrival.read) == source:
                if arrival.number is None or share is None:
                    return None
                return self.times(share, one, arrival)
        return None

    @property
    def whole(self) -> float:
        """What is whole; of places instead of numbers, there is another arithmetic."""
        return 1.0

    def times(self, share: float, one: StepOf, arrival: Arrival) -> float:
        """A share, multiplied on its way."""
        return share * (arrival.number or 0.0)

    def total(self, parts: Sequence[float]) -> float:
        """Shares that come together."""
        return float(np.sum(parts))

    def _results(self, scan: int) -> Iterator[Value]:
        """The values that a Scan hands on."""
        named = Quantities(self.trace, scan)
        for tape in named.scan.held:
            if named.is_passed_on(tape):
                rows = [len(tape.final) - 1] if tape.is_total else sorted(named.wanted_rows(tape))
                for row in rows:
                    yield self.flow.latest(scan, tape, row)
