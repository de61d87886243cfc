"""Describe the buffers of a rewritten Scan: the rows that the loop writes, and the stored rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pytensor.graph.basic import Variable, equal_computations
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, explicit_graph_inputs
from pytensor.tensor.variable import TensorVariable

from lab.errors import LabError, shorten
from lab.reports.canonical import outer_expression
from lab.scans.buffers import as_tensor, rows_of_buffer
from lab.scans.node import LoopVariable, is_scan
from lab.scans.operations import VIEWS, plain_name
from lab.scans.replacing import enclosed_scans, scan_nodes
from lab.scans.slices import constant_value
from lab.tape import Kind, Tape
from lab.traces.run import Values, run

LONGEST = 24  # characters; a longer expression is not written next to its value
MOST_READERS = 3
# Assumed values of inputs: a number, the rows of an array, and the length of its other axes.
PROBES = ((3, 200, 200), (100, 200, 200), (1_000_000, 2_000_000, 1))
CUTS = ("Subtensor", "ScalarSubtensor")


@dataclass(frozen=True)
class Count:
    """A number of rows or steps: its expression in the graph, and its value if known."""

    text: str
    number: int | None = None

    def __str__(self) -> str:
        if self.number is None or self.text == str(self.number):
            return self.text
        return f"{self.number:,}" if len(self.text) > LONGEST else f"{self.text} = {self.number:,}"


class Retention(StrEnum):
    """The rows that a buffer stores, and the reason."""

    ALL = "all rows"
    LAST = "only the last row is read"
    FEW = "only the last rows are read"
    STEP = "only the steps read it"
    NO_BUFFER = "only the last value is read; passed on without a buffer"
    STEPS_ONLY = "only the steps read it; passed on without a buffer"
    MIT_MOT = "all rows: a mit-mot is never shortened"
    UNTRACED = "an untraced state has no buffer"


@dataclass(frozen=True)
class Buffer:
    """A buffer of a rewritten Scan.

    `rows` counts the initial values and the values that the loop writes.  `stored` is the number of
    rows in memory.  `readers` contains a text for each reader, such as ``Scan 2 reads [-1]``.
    """

    name: str
    kind: Kind
    tape: Tape
    rows: Count
    stored: Count
    readers: tuple[str, ...]
    retention: Retention

    @property
    def is_shortened(self) -> bool:
        """Whether the buffer has fewer rows than the loop writes."""
        return self.retention not in (Retention.ALL, Retention.MIT_MOT, Retention.UNTRACED)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table row: name, kind, all rows, stored rows, and the reason."""
        is_one_value = self.retention in (Retention.NO_BUFFER, Retention.STEPS_ONLY)
        stored = "1 value" if is_one_value else str(self.stored)
        readers = [*self.readers[:MOST_READERS]]
        if len(self.readers) > MOST_READERS:
            readers.append(f"and {len(self.readers) - MOST_READERS} more")
        reason = str(self.retention) + (f" ({'; '.join(readers)})" if readers else "")
        if self.retention is Retention.UNTRACED:
            return self.name, str(self.kind), "–", "–", reason
        return self.name, str(self.kind), str(self.rows), stored, reason


def row_count(requested: int | Variable, n_steps: Variable, given: Values) -> Count:
    """Return a number of rows as an expression, and as a number if `given` determines it.

    The expression is ``n`` for the number of steps.
    """
    known = requested if isinstance(requested, int) else constant_value(requested)
    if known is not None:
        return Count(str(known), known)
    assert isinstance(requested, Variable)
    same = [v for v in ancestors([requested]) if v.owner and equal_computations([v], [n_steps])]
    (short,) = clone_replace([requested], {v: v.type("n") for v in same})
    try:
        number = int(run([requested], given, record=False)[0][requested])
    except LabError:  # `given` lacks the value of an input
        number = None
    return Count(outer_expression(short, is_simple=True), number)


def read_buffer(
    name: str, part: LoopVariable, n_steps: Variable, graph: FunctionGraph, given: Values
) -> Buffer:
    """Return the `Buffer` of the Scan variable `part`.

    `graph` contains the Scan, which runs `n_steps` steps.  `given` maps inputs of `graph` to
    values.
    """
    steps, more = row_count(n_steps, n_steps, given), part.tape.rows(1) - 1
    known = None if steps.number is None else steps.number + more
    expression = f"{steps.text} + {more}" if more else steps.text
    rows = Count(str(known) if steps.text.isdigit() else expression, known)
    requested: int | Variable = 1 if part.kind is Kind.UNTRACED else part.outer_input
    if part.kind.is_state:
        length = rows_of_buffer(part.outer_input)
        requested = as_tensor(part.outer_input).shape[0] if length is None else length
    stored = rows if part.kind is Kind.MIT_MOT else row_count(requested, n_steps, given)
    filled = part.outer_output
    assert filled is not None, "a buffer is an output of its Scan"
    found = _readers(graph, filled, filled, name, name)
    readers = dict.fromkeys((text.removeprefix(name), reader) for text, reader in found)
    is_complete = stored.number is not None and stored.number == rows.number
    if part.kind is Kind.MIT_MOT:
        retention = Retention.MIT_MOT
    elif part.kind is Kind.UNTRACED and not hasattr(filled.type, "dtype"):
        retention = Retention.UNTRACED
    elif part.kind is Kind.UNTRACED:
        retention = Retention.NO_BUFFER if readers else Retention.STEPS_ONLY
    elif is_complete or not _has_fewer_rows(requested, n_steps, more, given):
        retention = Retention.ALL
    elif not readers:
        retention = Retention.STEP
    else:
        is_last = {index for index, _ in readers} == {"[-1]"}
        retention = Retention.LAST if is_last else Retention.FEW
    shown = [(shorten(index or "all rows", 2 * LONGEST), reader) for index, reader in readers]
    described = tuple(f"{reader} reads {rows_read}" for rows_read, reader in shown)
    return Buffer(name, part.kind, part.tape, rows, stored, described, retention)


def _has_fewer_rows(
    requested: int | Variable, steps: Variable, initial: int, given: Values
) -> bool:
    """Return whether a buffer has fewer rows than `initial` values and a row for each step.

    Inputs without a value in `given` are numbers and arrays of several sizes, because one size can
    give no step, or fewer steps than rows that are read.
    """
    counts = [v for v in (requested, steps) if isinstance(v, Variable)]
    inputs = [v for v in explicit_graph_inputs(counts) if isinstance(v, TensorVariable)]
    has_scans = scan_nodes(counts) or enclosed_scans(counts)
    for number, *sizes in PROBES[:-1] if has_scans else PROBES:  # a Scan would run many steps
        shapes = {v: [n or sizes[axis > 0] for axis, n in enumerate(v.type.shape)] for v in inputs}
        numbers = {v: np.asarray(number).astype(v.type.dtype) for v in inputs}
        known = {v: np.broadcast_to(numbers[v], shapes[v]) for v in inputs} | {**given}
        rows, count = (row_count(each, steps, known).number for each in (requested, steps))
        if rows is not None and count is not None and rows < count + initial and count > 0:
            return True
    return False


def _readers(
    graph: FunctionGraph, variable: Variable, base: Variable, name: str, text: str
) -> Iterator[tuple[str, str]]:
    """Yield what each reader of `variable` or of its slices and views reads, and its name.

    `text`, such as ``x[-1]``, describes `variable`, which is a slice of `base`, called `name`.
    """
    for client, _ in graph.clients.get(variable, ()):
        operation = plain_name(client)
        if operation in CUTS:
            (part,) = client.outputs
            yield from _readers(graph, part, base, name, outer_expression(part, base, name))
        elif operation in VIEWS:
            (part,) = client.outputs
            yield from _readers(graph, part, part, text, text)
        elif is_scan(client):
            yield text, f"Scan {scan_nodes(graph.outputs).index(client) + 1}"
        else:
            is_result = operation == "Output"
            yield text, "a result of the function" if is_result else f"an operation {operation}"
