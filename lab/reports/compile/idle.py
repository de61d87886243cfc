"""Reads and adds of zeros that no rewrite removes, and the loop that would do without them.

A gradient's tape is a mit-mot: every step adds what the cost hands over directly to what later
steps left.  Where the cost reads the last value alone, all that is added is 0.  A sit-sot, which
hands one value on, would do: see pymc-devs/pytensor #1687.  Here it is built, run and timed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace, graph_replace
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan
from pytensor.tensor.subtensor import Subtensor

from lab.notation import number_text, signed
from lab.reports.compile.circular_buffers import Buffer
from lab.reports.compile.compile import rewritten_scans
from lab.reports.compile.rewriting import PytensorMode
from lab.reports.explain.timing import seconds_of
from lab.scans.buffers import as_tensor, fresh_buffer, rows_of, zero_rows
from lab.scans.node import LoopVariable, build_scan, outer_outputs
from lab.scans.operations import plain_name
from lab.tape import Kind, Tape
from lab.traces.loop_run import Recording
from lab.traces.run import Values, run


@dataclass(frozen=True)
class Instead:
    """The same with a sit-sot, before → after: operations of a step, rows that are kept, seconds.

    `difference` is that of the results.
    """

    operations: tuple[int, int]
    rows: tuple[int | None, int | None]
    difference: float
    seconds: tuple[float, float] | None = None

    def __str__(self) -> str:
        rows = " → ".join("?" if count is None else f"{count:,}" for count in self.rows)
        words = f"{self.operations[0]} → {self.operations[1]} operations in a step, {rows} rows"
        if self.seconds is not None:
            was, now = (f"{one * 1e6:.3g}" for one in self.seconds)
            words += f", {was} → {now} µs a call"
        return f"{words}; the results differ by {number_text(self.difference)}"


@dataclass(frozen=True)
class Idle:
    """A tap of a gradient's tape at which `steps` read what is 0 because nobody wrote there.

    `adds` counts the operations in which they add it; `instead` is what a sit-sot would do, None
    where values of other steps are added as well.
    """

    scan: str
    name: str
    tap: int
    steps: tuple[int, ...]
    of: int
    adds: int
    instead: Instead | None = None

    def __str__(self) -> str:
        count = len(self.steps)
        which = "each of" if count == self.of else f"{count} of"
        words = (
            f"{self.scan}: {which} the {self.of} steps reads {self.name} at tap "
            f"{signed(self.tap)}, where nothing but 0 is: {count} × read, {self.adds} × added."
        )
        return words if self.instead is None else f"{words} With a sit-sot: {self.instead}."


def idle(
    gradient: Variable, given: Values, mode: PytensorMode = None, timed: bool = False
) -> tuple[Idle, ...]:
    """The useless reads of a gradient, where the values of its inputs are `given`."""
    values, recordings = run([gradient], given)
    kept = rewritten_scans([gradient], mode, given).buffers if recordings else ()
    return tuple(
        replace(one, instead=_instead(gradient, rec, part, one, values, given, mode, timed, kept))
        for rec in recordings
        for part in rec.parts.of_kind(Kind.MIT_MOT)
        for one in _useless(rec, part, zero_rows(part.outer_input, values))
    )


def _useless(rec: Recording, part: LoopVariable, zero: np.ndarray) -> Iterator[Idle]:
    """The taps at which rows are read that are `zero` and that no step has written before."""
    written: dict[int, int] = {}
    for access in rec.writes[part]:
        for step, row in enumerate(access.rows):
            written[int(row)] = min(step, written.get(int(row), step))
    for access, (_, argument) in zip(rec.reads[part], part.reads, strict=True):
        steps = tuple(
            step
            for step, row in enumerate(access.rows)
            if zero[row] and written.get(int(row), step) >= step
        )
        adds = len(_adds(rec, argument)) * len(steps)
        if steps:
            name = rec.parts.called
            yield Idle(name, part.name, access.tap, steps, rec.steps, adds)


def _adds(rec: Recording, argument: Variable) -> list[Variable]:
    """The sums of which an argument of the step is a term."""
    return [
        node.outputs[0]
        for node in toposort(rec.parts.inner_outputs)
        if argument in node.inputs and plain_name(node) == "Add"
    ]


def _instead(
    gradient: Variable,
    rec: Recording,
    part: LoopVariable,
    found: Idle,
    values: Values,
    given: Values,
    mode: PytensorMode,
    timed: bool,
    kept: Sequence[Buffer],
) -> Instead | None:
    """The gradient with a sit-sot in the place of the tape, held against it; None without one."""
    reads = dict(part.reads)
    results = _step_without(rec, reads.pop(found.tap))
    hands_on = [write - read for write in part.tape.writes for read in reads] == [1]
    if results is None or not hands_on or len(found.steps) < rec.steps:
        return None
    made = _with_sit_sot(gradient, rec, part, results, next(iter(reads.items())), values)
    first, second = (np.asarray(run([one], given)[0][one]) for one in (gradient, made))
    seconds = [seconds_of([one], given, mode) for one in (gradient, made)] if timed else None
    operations = [len(list(toposort(one))) for one in (rec.parts.inner_outputs, results)]
    return Instead(
        (operations[0], operations[1]),
        (_rows(kept, part), _rows(rewritten_scans([made], mode, given).buffers, part)),
        float(np.max(np.abs(first - second), initial=0.0)),
        None if seconds is None else (seconds[0], seconds[1]),
    )


def _step_without(rec: Recording, argument: Variable) -> list[Variable] | None:
    """The results of a step that does not add an argument; None if it is no mere term of sums."""
    results = rec.parts.inner_outputs
    sums = _adds(rec, argument)
    users = [node for node in toposort(results) if argument in node.inputs]
    without = {}
    for one in sums:
        terms = [v for v in one.owner.inputs if v is not argument]
        without[one] = pt.add(*terms) if len(terms) > 1 else terms[0]
    if argument in results or len(users) > len(sums):
        return None
    if any(one.type != rest.type for one, rest in without.items()):
        return None
    return graph_replace(results, without, strict=False)


def _with_sit_sot(
    gradient: Variable,
    rec: Recording,
    part: LoopVariable,
    results: Sequence[Variable],
    kept: tuple[int, Variable],
    values: Values,
) -> Variable:
    """The gradient with another loop, whose step makes `results` and hands on what was `kept`."""
    by_result = dict(zip(rec.parts.inner_outputs, results, strict=True))
    tap, argument = kept
    row = next(int(a.rows[0]) for a in rec.reads[part] if a.tap == tap)
    start = fresh_buffer(as_tensor(part.outer_input)[row][None], rec.parts.n_steps)
    variables = []
    for one in rec.parts.variables:
        other = replace(one, inner_outputs=tuple(by_result[v] for v in one.inner_outputs))
        if one is part:
            tape = Tape((-1,), (0,))
            other = replace(
                other, kind=Kind.SIT_SOT, tape=tape, outer_input=start, inner_inputs=(argument,)
            )
        variables.append(other)
    parts = replace(rec.parts, variables=tuple(variables))
    was, now = (
        outer_outputs(rec.parts, rec.node),
        outer_outputs(parts, build_scan(parts, kind=Scan)),
    )
    pairs = zip(rec.parts.variables, variables, strict=True)
    swapped = {was[one]: now[other] for one, other in pairs if one in was}
    filled, last = was[part], as_tensor(swapped[was[part]])[-1]
    for node in toposort([gradient]):
        cut = node.outputs[0]
        if isinstance(node.op, Subtensor):  # PyTensor shortens what is read as [-1]
            base, rows = rows_of(cut, values)
            if base is filled and list(rows) == [rec.steps]:
                swapped[cut] = last[None] if cut.type.ndim == filled.type.ndim else last
    return clone_replace([gradient], replace=swapped)[0]


def _rows(kept: Sequence[Buffer], part: LoopVariable) -> int | None:
    """How many rows of a tape are kept when the gradient is compiled; None if that is not clear."""
    counts = [buffer.after.number for buffer in kept if buffer.name == part.name]
    return counts[0] if len(counts) == 1 else None
