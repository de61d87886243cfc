"""The machine as data: every cell, every event, and every sum of an event.

A *cell* is one slot of a tape.  Its `keys` record from which moment on it has which role and
which number.  An *event* is one step of one Scan, or the filling of a tape before its Scan runs;
moment k is the end of event k, and moment 0 comes before all.  An event has *parts*, the sums
that it writes, in groups that are played one after the other.

Nothing here has a coordinate or a color; `visual.pictures.machine.arrange` adds the former, the
theme the latter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from lab.traces.program import Instruction


class Ink(StrEnum):
    """The meaning of a piece of a sentence, by which it has its color."""

    PLAIN = "plain"
    NAME = "name"
    WRITTEN = "written"
    PRESERVED = "preserved"
    SAVED = "saved"
    OLD = "old"
    WRONG = "wrong"
    SIGN = "sign"  # the equals sign of an equation, or ≈


class Kind(StrEnum):
    """What a part of an event does to its target slot."""

    SUM = "sum"  # a backward step: products of preserved values, added to the old value or not
    FORMULA = "formula"  # a forward step: one formula
    RESTORED = "restored"  # the value that was read is written back
    FILL = "fill"  # an initial value, before the Scan runs


@dataclass(frozen=True)
class Piece:
    """A few characters of a sentence, and what they mean."""

    text: str
    ink: Ink = Ink.PLAIN


MOST_ENTRIES, LISTED = 64, 4
LINE = Piece("\n")  # ends a line of a sentence


@dataclass(frozen=True)
class Key:
    """The role and the number of a cell from a moment on, until the next key.

    `text` is the number as the cell shows it, `full` the same with all digits. `entries` are the
    numbers of an array of at most `MOST_ENTRIES`, of which a cell lists up to `LISTED` and draws
    more as a strip.
    """

    moment: int
    role: str
    text: str
    full: str = ""
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A tape of a Scan: `scan` counts from 1, over both runs if the machine has two."""

    scan: int
    tape: str
    name: str
    is_output: bool = False
    is_second: bool = False


@dataclass(frozen=True)
class Cell:
    """One slot: its row, its column in time, and everything that happens to it."""

    row: int
    column: int
    position: int
    name: str
    keys: tuple[Key, ...]
    has_seed: bool = False
    wrong_from: int | None = None  # the moment from which the faulty rule gives another number

    @property
    def lines(self) -> int:
        """How many numbers it lists below each other, at most."""
        counts = [len(key.entries) for key in self.keys]
        return max((n for n in counts if n <= LISTED), default=0)

    def at(self, moment: int) -> Key:
        """The key that holds at a moment."""
        return next(key for key in reversed(self.keys) if key.moment <= moment)


@dataclass(frozen=True)
class Term:
    """A value on its way from the cell `source`, times a factor computed from the cells `saved`.

    Cells are indices into `Machine.cells`; `source` is None for a term without a slot that
    carries it, whose `product` then enters from the side.  `factor` is empty where the term is no
    product of numbers.
    """

    source: int | None
    value: str
    factor: str = ""
    symbol: str = ""
    product: str = ""
    saved: tuple[int, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class Part:
    """One sum of an event: what is written into the cell `target`, and from which terms.

    `sentence` has the digits of the cells, `exact` as many as make the equation hold; `formula` is
    the write in positions of the buffer.  `check` computes the right side from its printed numbers,
    for pages.
    """

    kind: Kind
    target: int
    old: str
    new: str
    adds: bool
    terms: tuple[Term, ...]
    sentence: tuple[Piece, ...]
    exact: str = ""
    formula: str = ""
    is_second: bool = False
    check: tuple[Instruction, ...] = ()
    by_entry: tuple[tuple[Piece, ...], ...] = ()  # the sentence of each entry of a short array


@dataclass(frozen=True)
class Group:
    """Parts that are played at the same time: one sum, or all that need no attention of their own.

    `summary` is one sentence for all of them, or one for each run, separated by `LINE`; without
    it, each part has its own.
    """

    parts: tuple[Part, ...]
    summary: tuple[Piece, ...] = ()
    reason: str = ""

    @property
    def weight(self) -> float:
        """Its time, in units of one sum."""
        kinds = {part.kind for part in self.parts}
        if Kind.FILL in kinds:
            return 0.8
        return 0.5 if Kind.RESTORED in kinds else 1.0


@dataclass(frozen=True)
class Event:
    """A step of a Scan, or with `step` None the filling of its tapes; `scan` counts from 1.

    `number` is its number on the clock of the run.  An event without groups stands for all events
    from the one before it to this one, in which nothing happens in a shown column.
    """

    number: int
    scan: int
    step: int | None
    groups: tuple[Group, ...]
    heading: str

    @property
    def weight(self) -> float:
        """The time that it takes, in units of one sum."""
        return sum(group.weight for group in self.groups) or 0.5


@dataclass(frozen=True)
class ScanRows:
    """A Scan of the machine: its number in its run, its name, the printed name, its direction.

    `run` is the sign of its run if the machine has two.
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
        """Return ``2``, or ``A2`` where two runs are shown."""
        return f"{self.run}{self.number}"


@dataclass(frozen=True)
class Mistake:
    """A faulty rule: what it does, the moments at which it shows, and all results.

    `first_wrong` is the first moment with a wrong number, `first_read` the first event that reads
    one; None if there is none. `table` has the name of a derivative, its value by the correct rule,
    by the faulty rule and by finite differences, and the ratio of the first two. `example` has the
    choices of a machine whose results the rule changes, where it changes none of this one.
    """

    rule: str
    change: str
    first_wrong: int | None
    first_read: int | None
    table: tuple[tuple[str, ...], ...]
    example: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Machine:
    """All rows, cells, and events of a run, on one clock; or of two `runs`, by their signs."""

    title: str
    scans: tuple[ScanRows, ...]
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    events: tuple[Event, ...]
    columns: tuple[int, ...]  # 0, or how many columns of a long loop are hidden here
    times: tuple[int | None, ...]  # the step that computes a column, negative for initial values
    results: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names, and values in pieces
    mistake: Mistake | None = None
    runs: tuple[str, ...] = ()

    @property
    def moments(self) -> int:
        """The number of the last moment."""
        return len(self.events)

    def parts(self) -> Iterator[Part]:
        """All parts of all events."""
        for event in self.events:
            for group in event.groups:
                yield from group.parts
