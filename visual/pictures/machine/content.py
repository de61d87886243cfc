"""The machine as data: every cell, every event, and every sum of an event.

A *cell* is a slot of a tape. Its `keys` record its roles and numbers over time. An *event* is a
step of a Scan, or the filling of a tape before its Scan runs; moment k is the end of event k, and
moment 0 precedes all events. An event has *parts*, the sums that it writes, in groups that play in
turn.

These records have neither coordinates, which `visual.pictures.machine.arrange` adds, nor colors,
which the theme adds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lab.traces.program import Instruction
from visual.layout.columns import Gap


class Ink(StrEnum):
    """The meaning of a piece of a sentence, which determines its color."""

    PLAIN = "plain"
    NAME = "name"
    OVERWRITTEN = "overwritten"  # the new value of a slot that the step reads
    WRITTEN = "written"  # the new value of a slot that the step does not read
    PRESERVED = "preserved"
    SAVED = "saved"
    OLD = "old"
    WRONG = "wrong"
    SIGN = "sign"  # the sign = or ≈ of an equation


class PartKind(StrEnum):
    """The effect of a part of an event on its target slot."""

    SUM = "sum"  # a backward step writes products of preserved values, perhaps plus the old value
    FORMULA = "formula"  # a forward step writes the value of its formula
    RESTORED = "restored"  # a step writes back the value that it read
    FILL = "fill"  # the slot gets its initial value before the Scan runs


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence, and its meaning."""

    text: str
    ink: Ink = Ink.PLAIN


MOST_ENTRIES, LISTED = 64, 4


@dataclass(frozen=True)
class Key:
    """The role and the number of a cell from `moment` to the next key.

    `text` is the number in the cell, and `full` the number with all digits. `entries` are the
    numbers of an array with at most `MOST_ENTRIES` entries. A cell lists up to `LISTED`
    entries, and draws more entries as a strip.
    """

    moment: float
    role: str
    text: str
    full: str = ""
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class TapeRow:
    """A tape or a sequence of the Scan with the number `scan`, which is 1 for the first Scan.

    If `is_low`, a machine with many rows has little space for the row.
    """

    scan: int
    tape: str
    name: str
    is_low: bool = False
    is_second: bool = False


@dataclass(frozen=True)
class SlotCell:
    """A slot, or a value of a sequence: its row, its column in time, and its keys."""

    row: int
    column: int
    position: int
    name: str
    keys: tuple[Key, ...]
    has_seed: bool = False
    wrong_from: int | None = None  # the first moment with a wrong number

    @property
    def lines(self) -> int:
        """The number of entries that the cell lists below each other; 0 for a number or a strip."""
        counts = [len(key.entries) for key in self.keys]
        return max((n for n in counts if n <= LISTED), default=0)

    def at(self, moment: float) -> Key:
        """Return the last key that begins at or before a moment."""
        return key_at(self.keys, moment)


def key_at(keys: Sequence[Key], moment: float) -> Key:
    """Return the last key that begins at or before a moment."""
    return next(key for key in reversed(keys) if key.moment <= moment)


@dataclass(frozen=True)
class Movement:
    """The value of the cell `source`, times a factor that the cells `saved` determine.

    Cells are indices into `MachineContent.cells`. If no slot contains the value, `source` is None,
    and the `product` enters from the side. `factor` is empty unless the term is a product of
    numbers. If there is no factor, `saved` are the values of sequences that a formula reads.
    """

    source: int | None
    value: str
    factor: str = ""
    symbol: str = ""
    product: str = ""
    saved: tuple[int, ...] = ()


@dataclass(frozen=True)
class Part:
    """A sum that an event writes into the cell `target`.

    `sentence` has the digits of the cells, and `exact` enough digits for a true equation. `formula`
    is the write with slots such as ``buf[2]``. In a page, `check` computes the right side of the
    equation from the printed numbers.
    """

    kind: PartKind
    target: int
    old: str
    new: str
    adds: bool
    terms: tuple[Movement, ...]
    sentence: tuple[Phrase, ...]
    exact: str = ""
    formula: str = ""
    is_second: bool = False
    check: tuple[Instruction, ...] = ()
    by_entry: tuple[tuple[Phrase, ...], ...] = ()  # the sentence of each entry of a short array

    @property
    def is_addition(self) -> bool:
        """Whether a nonzero product is added to a nonzero number; norms of arrays are not added."""
        products = {term.product for term in self.terms}
        is_number = self.old not in ("", "0") and not self.old.startswith("‖")
        return self.kind is PartKind.SUM and self.adds and is_number and bool(products - {"", "0"})

    @property
    def reads(self) -> Iterator[int]:
        """The cells that the terms read."""
        for term in self.terms:
            yield from term.saved if term.source is None else (term.source, *term.saved)


@dataclass(frozen=True)
class PartGroup:
    """Parts that play at the same time: a single sum, or several fills, restored values, or zeros.

    `summary` contains a sentence about all parts, or a sentence for each run. Without a summary,
    each part has its own sentence. If `hides_factors`, the lines have no factors, because several
    sums add only zeros.
    """

    parts: tuple[Part, ...]
    summary: tuple[tuple[Phrase, ...], ...] = ()
    reason: str = ""
    hides_factors: bool = False

    @property
    def weight(self) -> float:
        """The duration, relative to the duration of a sum."""
        kinds = {part.kind for part in self.parts}
        if PartKind.FILL in kinds:
            return 0.8
        return 0.5 if PartKind.RESTORED in kinds else 1.0

    @property
    def shown(self) -> list[int]:
        """The indices of the parts to describe: the first two, or a part of each run.

        If some parts of two runs differ, the described parts differ.
        """
        parts = list(enumerate(self.parts))
        first = [n for n, part in parts if not part.is_second]
        second = [n for n, part in parts if part.is_second]
        if not first or not second:
            return [n for n, _ in parts[:2]]
        results = {self.parts[n].new for n in first}
        pair = next((k for k, n in enumerate(second) if self.parts[n].new not in results), 0)
        return [first[min(pair, len(first) - 1)], second[pair]]

    @property
    def lines(self) -> tuple[tuple[Phrase, ...], ...]:
        """The sentences to show, one for each line."""
        return self.summary or tuple(self.parts[n].sentence for n in self.shown)


@dataclass(frozen=True)
class MachineEvent:
    """A step of the Scan with the number `scan`, or the filling of its tapes if `step` is None.

    `number` is the number of the event in the run. An event without groups replaces a series of
    events that affect only hidden columns.
    """

    number: int
    scan: int
    step: int | None
    groups: tuple[PartGroup, ...]
    heading: str

    @property
    def parts(self) -> list[Part]:
        """The parts of all groups."""
        return [part for group in self.groups for part in group.parts]

    @property
    def weight(self) -> float:
        """The duration, relative to the duration of a sum."""
        return sum(group.weight for group in self.groups) or 0.5


@dataclass(frozen=True)
class ScanRows:
    """A Scan of the machine, with its number in its run, its names, its events, and its taps.

    `run` is the sign of the run if the machine has two runs.
    """

    number: int
    name: str
    printed: str
    is_backward: bool
    order: int
    events: range
    taps: str = ""
    run: str = ""

    @property
    def label(self) -> str:
        """The number, ``2``, or in a machine of two runs the sign and the number, ``A2``."""
        return f"{self.run}{self.number}"


@dataclass(frozen=True)
class RuleEffect:
    """A faulty rule: its change, the moments of its first effects, and all results.

    `first_wrong` is the first moment with a wrong number, and `first_read` the first event that
    reads a wrong number, or None. Each row of `table` has the name of a derivative, its value by
    the correct rule, by the faulty rule, and by finite differences, and the ratio of the faulty to
    the correct value. If the rule has no effect on this machine, `example` has the choices of a
    machine that the rule changes.
    """

    rule: str
    change: str
    first_wrong: int | None
    first_read: int | None
    table: tuple[tuple[str, ...], ...]
    example: Mapping[str, object] | None = None


@dataclass(frozen=True)
class MachineContent:
    """The rows, cells, and events of a run, or of two runs with the signs `runs`."""

    title: str
    scans: tuple[ScanRows, ...]
    rows: tuple[TapeRow, ...]
    cells: tuple[SlotCell, ...]
    events: tuple[MachineEvent, ...]
    times: tuple[int | Gap, ...]  # the time of each column, or a gap of hidden columns
    results: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names, and pieces of values
    mistake: RuleEffect | None = None
    runs: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """0 for each shown column, and the number of hidden columns for each gap."""
        return tuple(time.hidden if isinstance(time, Gap) else 0 for time in self.times)

    @property
    def moments(self) -> int:
        """The number of the last moment."""
        return len(self.events)

    def parts(self) -> Iterator[Part]:
        """Return all parts of all events."""
        return (part for event in self.events for part in event.parts)
