"""The machine as data: cells, events, and the sums of events.

A *cell* is a slot of a tape or a value of a sequence. The `keys` of a cell record its roles and
numbers over time. An *event* is a step of a Scan, or the filling of its tapes before the Scan runs;
a long run shows only some events. Moment k is the end of event k, and moment 0 precedes all events.
The *parts* of an event are its writes. The groups of parts play one after the other.

These records have neither coordinates, which `arrange.py` adds, nor colors, which the theme adds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum

import numpy as np

from lab.equations.events.records import SlotRole
from lab.notation import parenthesize
from lab.traces.program import Instruction
from visual.layout.columns import Gap


class Ink(StrEnum):
    """The meaning of a piece of a sentence. It determines the color of the piece."""

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
    FILL = "fill"  # the slot receives its initial value before the Scan runs


WEIGHTS = {PartKind.FILL: 0.8, PartKind.RESTORED: 0.5}  # durations, relative to a sum
MOST_ENTRIES, LISTED = 64, 4  # the maximum sizes of an array with numbers, and with a list
MOST_LINES = 8  # the maximum number of terms that play together


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence. `ink` is the meaning of the piece."""

    text: str
    ink: Ink = Ink.PLAIN


@dataclass(frozen=True)
class Number(Phrase):
    """A number in a sentence. It is the number or the norm of `array`."""

    _: KW_ONLY
    array: np.ndarray = field(compare=False, repr=False)


@dataclass(frozen=True)
class Key:
    """The role and the number of a cell from `moment` to the next key.

    `text` is the number in the cell, and `full` is the number with all digits. `entries` are the
    numbers of an array with at most `MOST_ENTRIES` entries. All these texts show `array`.
    """

    moment: float
    role: SlotRole
    resting: SlotRole  # the role after the event, or between its sums
    text: str
    full: str = ""
    entries: tuple[str, ...] = ()
    array: np.ndarray | None = field(default=None, compare=False, repr=False)
    is_past: bool = False  # at the end of an event, only other sums read or replace the value


@dataclass(frozen=True)
class TapeRow:
    """A tape or a sequence of ``scans[scan]`` of the machine."""

    scan: int
    tape: str
    name: str
    is_low: bool = False  # a machine with many rows has little space for the row
    is_second: bool = False
    access: str = ""  # its buffer and its taps


@dataclass(frozen=True)
class SlotCell:
    """A slot of a tape or a value of a sequence, with its row, its column, and its keys."""

    row: int
    column: int
    position: int
    name: str
    keys: tuple[Key, ...]
    has_seed: bool = False
    wrong_from: int | None = None  # the first moment with a wrong number

    def at(self, moment: float) -> Key:
        """Return the last key that begins at or before a moment."""
        return next(key for key in reversed(self.keys) if key.moment <= moment)


@dataclass(frozen=True)
class Movement:
    """A term: the value of the cell `source`, times a factor that the cells `saved` determine.

    Cells are indices into `MachineContent.cells`. Without a cell, `source` is None, and the line
    starts next to the target. `factor` is empty unless the term is a product of numbers. In a
    formula, `saved` are the cells of the values that the formula reads.
    """

    source: int | None
    value: str
    factor: str = ""
    symbol: str = ""
    product: str = ""
    saved: tuple[int, ...] = ()
    is_unit: bool = False  # the factor is the constant 1

    @property
    def label(self) -> str:
        """The text of the factor: a number after ``×``, or symbols, or an empty text."""
        factor = f"×{parenthesize(self.factor)}" if self.factor else self.symbol
        return "" if self.is_unit else factor


@dataclass(frozen=True)
class Equation:
    """The equation of a write.

    `sentence` shows the digits of the cells. `exact` shows enough digits for a true equation, if
    possible, or symbols. In a page, `check` computes the right side from the printed numbers.
    """

    sentence: tuple[Phrase, ...]
    exact: tuple[Phrase, ...] = ()
    check: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Part(Equation):
    """A write of an event to the cell `target`: a sum, a formula, or an unchanged or initial value.

    The inherited equation is about the whole array; `by_entry` has an equation for each entry of a
    short array. `formula` is the write in terms of slots such as ``buf[2]``.
    """

    _: KW_ONLY
    kind: PartKind
    target: int
    old: str
    new: str
    adds: bool
    replaces: bool  # a value that the step reads
    is_addition: bool  # adds a nonzero product to a nonzero number that is not a norm
    terms: tuple[Movement, ...]
    formula: str
    is_second: bool = False
    by_entry: tuple[Equation, ...] = ()
    reason: str = ""

    @property
    def reads(self) -> Iterator[int]:
        """The cells that the terms read, and the target of an addition."""
        target = self.target if self.adds and self.kind is PartKind.SUM else None
        cells = (n for term in self.terms for n in (term.source, *term.saved))
        return (n for n in (*cells, target) if n is not None)


@dataclass(frozen=True)
class PartGroup:
    """Parts that play together: a single sum, or copied initial values, restored values, or zeros.

    `summary` contains a sentence about all parts, or a sentence for each run. Without a summary,
    each part has a sentence. If `hides_factors`, the lines show no factors, because several
    sums have only zero terms. `reads_wrong` marks a group that reads a wrong number.
    """

    parts: tuple[Part, ...]
    summary: tuple[tuple[Phrase, ...], ...] = ()
    reason: str = ""
    hides_factors: bool = False
    reads_wrong: bool = False

    @property
    def weight(self) -> float:
        """The duration of the group, relative to the duration of a sum."""
        return min((WEIGHTS.get(part.kind, 1.0) for part in self.parts), default=1.0)

    @property
    def shown(self) -> list[int]:
        """The indices of the first two parts, or of one part per run, with other results if any."""
        first = [n for n, part in enumerate(self.parts) if not part.is_second]
        second = [n for n, part in enumerate(self.parts) if part.is_second]
        if not first or not second:
            return [*first, *second][:2]
        results = {self.parts[n].new for n in first}
        pair = next((k for k, n in enumerate(second) if self.parts[n].new not in results), 0)
        return [first[min(pair, len(first) - 1)], second[pair]]

    @property
    def reasons(self) -> str:
        """The reason of the group, or of its shown parts (of the first, if all are restored)."""
        shown = [self.parts[n] for n in self.shown]
        shown = [part for part in shown if not part.is_second] or shown
        is_restored = all(part.kind is PartKind.RESTORED for part in shown)
        reasons = dict.fromkeys(part.reason for part in shown[: 1 if is_restored else 2])
        return self.reason or "  ".join(filter(None, reasons))


@dataclass(frozen=True)
class MachineEvent:
    """A step of ``scans[scan]`` of the machine, or the filling of its tapes if `step` is None.

    An event without groups is a pause of one of two runs, or replaces events of hidden columns.
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
        """The duration of the event, relative to the duration of a sum."""
        return sum(group.weight for group in self.groups) or 0.5


@dataclass(frozen=True)
class ScanRows:
    """The properties of a Scan of the machine. `number` is its number in the run, from 1."""

    number: int
    name: str
    about: str  # the Scan as PyTensor prints it, and its sequences
    is_backward: bool
    order: int
    events: range  # the indices of the events of the Scan
    taps: str = ""
    run: str = ""  # the sign of the run if the machine has two runs


@dataclass(frozen=True)
class RuleEffect:
    """The effect of a faulty rule: the first moments with wrong numbers, and the derivatives.

    `lines` are the correct rule, the faulty rule, and their symbols, or only the faulty rule. Rows
    of `table` are `ComparedDerivative` records, and `parts` explains the ratio. If no value is
    wrong, `example` contains the options of a wrong derivative.
    """

    rule: str
    lines: tuple[Phrase, ...]
    first_wrong: int | None  # the first moment with a wrong number
    first_read: int | None  # the first moment at which an event has read a wrong number
    table: tuple[object, ...]
    parts: str = ""
    example: Mapping[str, object] | None = None


@dataclass(frozen=True, eq=False)
class MachineContent:
    """The rows, cells, and events of one or two runs; `runs` contains labels such as A and B."""

    title: str
    scans: tuple[ScanRows, ...]
    rows: tuple[TapeRow, ...]
    cells: tuple[SlotCell, ...]
    events: tuple[MachineEvent, ...]
    times: tuple[int | Gap, ...]  # the time of each column, or a gap of hidden columns
    results: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names and values
    mistake: RuleEffect | None = None
    runs: tuple[str, ...] = ()
    unit: str = "Scan"  # or "node": an event of an eager recording belongs to a node

    @property
    def moments(self) -> int:
        """The number of the last moment."""
        return len(self.events)

    def parts(self) -> Iterator[Part]:
        """Return an iterator over the parts of all events."""
        return (part for event in self.events for part in event.parts)
