"""The buffers of a rewritten Scan: how many rows each had and has, and which slot holds which row.

Counted are the rows of the whole buffer, as on a tape: a state with k initial values has them
in rows 0 to k−1, and step t writes row t + k.  A buffer of L slots holds row r in slot ::

    slot(r) = r mod L

so that row r is overwritten when row r + L is written, at step r + L − k.  After the last step
PyTensor turns the slots until the oldest row comes first.  A buffer with a slot for every row is
the case in which nothing is overwritten.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from lab.errors import ArgumentError, LabError
from lab.reports.calls.canonical import index_text, written
from lab.scans.buffers import rows_of_buffer
from lab.scans.node import LoopVariable, ScanParts, is_scan, outer_outputs, scan_name
from lab.scans.operations import plain_name
from lab.scans.slices import constant_value, index_parts
from lab.tape import Kind, Tape
from lab.traces.run import Values, run


@dataclass(frozen=True)
class Ring:
    """A buffer of `length` slots for a state with `initial` given rows, in a loop of `steps`.

    An output that feeds nothing back has no given rows.  A buffer must have room for the given
    rows, and for one row at least.
    """

    initial: int
    length: int
    steps: int

    def __post_init__(self) -> None:
        if self.initial < 0 or self.steps < 0:
            raise ArgumentError(f"{self}: a number of rows or steps is 0 or more.")
        if self.length < max(1, self.initial) and self.rows:
            raise ArgumentError(
                f"length = {self.length}: a buffer of {self.initial} initial values has "
                f"{max(1, self.initial)} slots or more."
            )

    @property
    def rows(self) -> int:
        """How many rows there are in all: the given ones, and one a step."""
        return self.initial + self.steps

    @property
    def is_circular(self) -> bool:
        """Whether there are fewer slots than rows, so that some rows are overwritten."""
        return self.length < self.rows

    def slot(self, row: int) -> int:
        """The slot in which `row` is, or was."""
        return row % self.length

    def written(self, step: int) -> int:
        """The row that a step writes."""
        return step + self.initial

    def step_of(self, row: int) -> int | None:
        """The step that writes `row`; None for a row that is given."""
        return row - self.initial if row >= self.initial else None

    def replaced(self, step: int) -> int | None:
        """The row that a step overwrites; None where its slot was free."""
        row = self.written(step) - self.length
        return row if row >= 0 else None

    def held(self, done: int) -> tuple[int | None, ...]:
        """The row in every slot when `done` steps are made; None where nobody has written."""
        newest = self.initial + done - 1
        rows = (newest - (newest - slot) % self.length for slot in range(self.length))
        return tuple(row if row >= 0 else None for row in rows)

    def returned(self) -> tuple[int | None, ...]:
        """The row in every place of the result: turned, the oldest first."""
        held = self.held(self.steps)
        if not self.is_circular:
            return held
        first = self.slot(self.rows)  # where the next row would go stands the oldest
        return held[first:] + held[:first]


LONGEST = 24  # letters that say how a number is computed; of a longer text, the number is enough
CUTS = ("Subtensor", "ScalarSubtensor")
HANDED_ON = {"DimShuffle", "Reshape", "SpecifyShape", "ScalarFromTensor", "DeepCopyOp", "ViewOp"}


@dataclass(frozen=True)
class Rows:
    """A number of rows or steps: as the graph has it, and as a number where that is known."""

    text: str
    number: int | None = None

    def __str__(self) -> str:
        if self.number is None or self.text == str(self.number):
            return self.text
        if self.text == "?" or len(self.text) > LONGEST:
            return f"{self.number:,}"
        return f"{self.text} = {self.number:,}"


class Kept(StrEnum):
    """What of a buffer is kept, and why."""

    ALL = "all rows are kept"
    LAST = "only its last row is read from outside"
    FEW = "only its last rows are read from outside"
    STEP = "nobody outside of the loop reads it; what the step itself reads is kept"
    NO_BUFFER = "only its last value is read, which the steps hand on without a buffer"
    STEPS_ONLY = "nobody outside of the loop reads it; the steps hand one value on without a buffer"
    MIT_MOT = "all rows are kept: a mit-mot is handed over filled, and never shortened"
    UNTRACED = "an untraced state never had a buffer"

    @property
    def is_one_value(self) -> bool:
        """Whether a single value took the place of the buffer."""
        return self in (Kept.NO_BUFFER, Kept.STEPS_ONLY)


@dataclass(frozen=True)
class Reader:
    """Who reads a buffer in the rewritten graph: which rows (as an index), and what it is."""

    rows: str
    who: str

    def __str__(self) -> str:
        return f"{self.who} reads {self.rows or 'all of it'}"


@dataclass(frozen=True)
class Buffer:
    """One buffer of a Scan, before rewriting and after.

    `name` is that of the variable in the graph before.  `was` is None where nothing is known of
    before (a function that is compiled already).  `steps` are those of the Scan after.
    """

    name: str
    was: Kind | None
    kind: Kind
    tape: Tape
    before: Rows | None
    after: Rows
    steps: Rows
    readers: tuple[Reader, ...]
    kept: Kept
    stops_early: bool

    @property
    def initial(self) -> int:
        """How many rows are given: those before the first that a step writes."""
        return self.tape.origin

    @property
    def kinds(self) -> str:
        """Of what kind it is, and was if that was another."""
        return f"{self.kind}" if self.was in (None, self.kind) else f"{self.was}, now {self.kind}"

    @property
    def ring(self) -> Ring | None:
        """Which slot holds which row.

        None for a mit-mot, where the numbers are not known, and for a loop that stops by itself,
        of which only a run tells how many steps it makes.
        """
        if self.kept in (Kept.MIT_MOT, Kept.UNTRACED) or self.stops_early:
            return None
        if self.after.number is None or self.steps.number is None:
            return None
        return Ring(self.initial, self.after.number, self.steps.number)

    @property
    def is_shortened(self) -> bool:
        """Whether it has fewer rows than the loop writes."""
        return self.kept.is_one_value or self.kept in (Kept.LAST, Kept.FEW, Kept.STEP)


def rows(asked: int | Variable | None, n_steps: Variable, given: Values) -> Rows:
    """A number of rows in words, and in numbers where `given` tells them."""
    n = n_steps if n_steps.owner is not None else None
    if asked is None:
        return Rows("?")
    if isinstance(asked, int):
        return Rows(str(asked), asked)
    known = constant_value(asked)
    if known is not None:
        return Rows(str(known), known)
    told = written(asked, n)
    if n is not None:  # the same number may be computed twice
        told = told.replace(written(n), "n")
    return Rows(re.sub(r"shape_i\(([^()]*)\)", r"len(\1)", told), _number(asked, given))


def _value(asked: Variable, given: Values) -> np.ndarray | None:
    try:
        return np.asarray(run([asked], given, record=False)[0][asked])
    except LabError:  # not all inputs are given
        return None


def _number(asked: Variable, given: Values) -> int | None:
    value = _value(asked, given)
    return None if value is None else int(value)


def step_count(n_steps: Variable, given: Values) -> Rows:
    """The number of steps of a loop: as it is, or n where it is computed."""
    known = constant_value(n_steps)
    if known is not None:
        return Rows(str(known), known)
    return Rows(str(n_steps.name or "n"), _number(n_steps, given))


def all_rows(part: LoopVariable, steps: Rows) -> Rows:
    """How many rows a loop of so many steps reads or writes of a variable."""
    more = part.tape.rows(1) - 1
    told = f"{steps.text} + {more}" if more else steps.text
    if steps.number is None:
        return Rows(told)
    known = steps.number + more
    return Rows(str(known) if steps.text.isdigit() else told, known)


def rows_asked(part: LoopVariable) -> int | Variable | None:
    """What says how many rows the buffer of a state or output has."""
    if part.kind is Kind.UNTRACED:
        return 1
    return part.outer_input if part.kind is Kind.NIT_SOT else rows_of_buffer(part.outer_input)


def buffer(
    old: LoopVariable | None,
    new: LoopVariable,
    before: Rows | None,
    parts: ScanParts,
    node: Apply,
    graph: FunctionGraph,
    given: Values,
) -> Buffer:
    """The record of one buffer; `old` is what it was before, `new` what it is in `node`."""
    steps = step_count(parts.n_steps, given)
    asked = rows_asked(new)
    after = all_rows(new, steps) if new.kind is Kind.MIT_MOT else rows(asked, parts.n_steps, given)
    if asked is None and after.number is None:
        made = _value(new.outer_input, given)  # in a way that tells nothing
        after = Rows("?", None if made is None else len(made))
    filled = outer_outputs(parts, node)[new]
    who = tuple(dict.fromkeys(readers(graph, filled)))
    return Buffer(
        name=(old or new).name,
        was=old.kind if old is not None else None,
        kind=new.kind,
        tape=new.tape,
        before=before,
        after=after,
        steps=steps,
        readers=who,
        kept=_kept(old, new, filled, after, steps, who),
        stops_early=parts.until is not None,
    )


def _kept(
    old: LoopVariable | None,
    new: LoopVariable,
    filled: Variable,
    after: Rows,
    steps: Rows,
    who: tuple[Reader, ...],
) -> Kept:
    """What is kept of a buffer; a shorter one is told by its length, or by how that is computed."""
    if new.kind is Kind.MIT_MOT:
        return Kept.MIT_MOT
    if new.kind is Kind.UNTRACED:
        numeric = hasattr(filled.type, "dtype")
        was_untraced = old is not None and old.kind is Kind.UNTRACED
        if not numeric or was_untraced:
            return Kept.UNTRACED
        return Kept.NO_BUFFER if who else Kept.STEPS_ONLY
    if after.number is not None and steps.number is not None:
        short = after.number < steps.number + new.tape.origin
    else:
        short = after.text not in (f"{new.tape.origin} + {steps.text}", steps.text, "?")
    if not short:
        return Kept.ALL
    indices = {reader.rows for reader in who}
    if not indices:
        return Kept.STEP
    return Kept.LAST if indices == {"[-1]"} else Kept.FEW


def readers(graph: FunctionGraph, variable: Variable, index: str = "") -> Iterator[Reader]:
    """Who reads `variable`, seen through everything that only cuts or shapes it."""
    for client, _ in graph.clients.get(variable, ()):
        name = plain_name(client)
        if name in CUTS:
            parts = client.inputs[1:] if name == "ScalarSubtensor" else index_parts(client)[2]
            cut = ", ".join(map(index_text, parts))
            yield from readers(graph, client.outputs[0], f"{index}[{cut}]")
        elif name in HANDED_ON and client.outputs:
            yield from readers(graph, client.outputs[0], index)
        elif is_scan(client):
            yield Reader(index, f"the Scan {scan_name(client.op)}")
        elif name == "Output":
            yield Reader(index, "a result of the function")
        else:
            yield Reader(index, f"an operation {name}")
