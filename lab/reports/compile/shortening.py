"""The worked warning: shorten the buffers first, differentiate then, and see what is gone.

    >>> print(lab.shortened(gallery.loops["square"], "x"))

The gradient of a loop reads the values of all its steps.  Once rewriting has shortened the
buffers, most of them are overwritten; PyTensor's gradient then counts the rows that are left,
goes back through as many steps, and gives a wrong number without a warning.  Nobody does this
on purpose: it happens to who differentiates a graph taken out of a compiled function.

Beside both stands what a backward loop would give that takes for every value whatever stands in
its slot.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from lab.checks.check import value_at
from lab.checks.finite_differences import Estimate
from lab.errors import LabError, first_line, one_of, printable, refused
from lab.gradients.decisions import ReadingGroup, decisions_of
from lab.gradients.derivative import derivative
from lab.gradients.status import pytensor_gradient
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.loops.text.source import identifier
from lab.notation import indexed, number_text
from lab.records import reached, record_of_arrays
from lab.reports.breaking.breakage import Effect, differences_by
from lab.reports.breaking.rules import BROKEN, in_turns
from lab.reports.compile.circular_buffers import Ring
from lab.reports.compile.compile import rewritten_scans
from lab.reports.compile.compiled import Compiled
from lab.reports.compile.rewriting import PytensorMode, mode_words, rewritten
from lab.reports.explain.finders import called
from lab.reports.tables import paragraph
from lab.scans.names import readable
from lab.scans.node import LoopVariable, ScanParts, outer_outputs
from lab.scans.replacing import scan_nodes
from lab.tape import Kind
from lab.traces.loop_run import Recording
from lab.traces.run import Values, checked_values, run

# What only a linked function has: after these rewrites nothing is left to be differentiated.
LINKED = ("fusion", "inplace", "scan_inner_graph", "scan_sit_sot_to_untraced")
MOST = 12  # so many values that are asked for are told one by one


@dataclass(frozen=True)
class Asked:
    """One value that the backward loop asks for, and what stands in its place.

    Backward step `step` undoes step `undoes`, for which it needs `row`; that was in `slot`, which
    `holds` another row when the loop has ended, or still the same.
    """

    step: int
    undoes: int
    row: int
    slot: int
    holds: int | None

    @property
    def is_gone(self) -> bool:
        """Whether a later step has taken the place."""
        return self.row != self.holds


@dataclass(frozen=True)
class Lost:
    """What the backward loop asks of one buffer."""

    scan: str
    name: str
    ring: Ring
    asked: tuple[Asked, ...]

    @property
    def gone(self) -> tuple[Asked, ...]:
        """The values that are asked for and are no longer there."""
        return tuple(asked for asked in self.asked if asked.is_gone)


@dataclass(frozen=True)
class Backward:
    """A backward loop: how many steps it makes, and how many after shortening."""

    name: str
    steps: int
    too_late: int | None


@record_of_arrays
class Shortened:
    """A gradient that was taken in time, and too late.

    `right` is the gradient of the graph as it was built, `too_late` PyTensor's gradient of the
    graph whose buffers are shortened (None if it is refused, for the reason in `refusal`).
    `looked_up` is what a backward loop would give that makes all its steps and takes what stands
    in the slots.  `differences` are finite ones, None of too many entries.
    """

    cost: str
    wrt: str
    linker: str
    version: str
    right: np.ndarray
    too_late: np.ndarray | None
    refusal: str
    looked_up: np.ndarray | None
    differences: Estimate | None
    loops: tuple[Backward, ...]
    buffers: tuple[Lost, ...]

    @property
    def effect(self) -> Effect:
        """Whether it was refused, wrong, or right all the same."""
        return Effect.on(self.right, self.too_late)

    @property
    def gone(self) -> tuple[Asked, ...]:
        """All values that are asked for and are no longer there."""
        return tuple(asked for lost in self.buffers for asked in lost.gone)

    def __str__(self) -> str:
        head = f"The gradient of {self.cost} wrt {self.wrt}, in time and too late"
        lines = [head, "─" * len(head), *_numbers(self), ""]
        for sentence in _words(self):
            lines += [*paragraph(sentence), ""]
        for lost in self.buffers:
            lines += [*_table(lost), ""]
        return "\n".join(map(printable, lines)).rstrip()


def _numbers(late: Shortened) -> Iterator[str]:
    """The numbers, one under the other."""
    yield f"in time             {_shown(late.right)}   differentiated, then rewritten"
    if late.differences is not None:
        yield f"finite differences  {_shown(late.differences.value)}"
    then = late.refusal if late.too_late is None else _shown(late.too_late)
    yield f"too late            {then}   rewritten, then differentiated: {late.effect}"
    if late.looked_up is not None:
        why = "if all steps were made, each with what is in the slots"
        yield f"looked up           {_shown(late.looked_up)}   {why}"


def _words(late: Shortened) -> Iterator[str]:
    """What went wrong."""
    who = f"PyTensor {late.version} with the rewrites of the linker {late.linker}"
    if late.effect is Effect.WRONG:
        yield f"{who} gives the wrong number without an error or a warning."
    elif late.effect is Effect.REFUSED:
        yield f"{who} refuses."
    elif any(loop.too_late != loop.steps for loop in late.loops):
        yield f"{who} gives the right number by luck: a backward loop makes too few steps."
    else:
        yield f"{who} gives the right number: nothing that the gradient needs was lost."
    for loop in late.loops:
        if loop.too_late is not None and loop.too_late != loop.steps:
            yield (
                f"{loop.name} makes {loop.too_late} of {loop.steps} steps: a backward loop counts "
                "the rows of the forward buffer, and these are all that it finds."
            )


def _table(lost: Lost) -> Iterator[str]:
    """Which values the backward loop asks of a buffer, and what stands in their place."""
    gone, asked = len(lost.gone), len(lost.asked)
    slots = "1 slot" if lost.ring.length == 1 else f"{lost.ring.length} slots"
    yield (
        f"{lost.name} of {lost.scan} has {slots} for {lost.ring.rows} rows; of the {asked} values "
        f"that the gradient asks for {gone or 'none'} {'is' if gone == 1 else 'are'} gone"
    )
    width = max(8, len(indexed(lost.name, lost.ring.rows)))
    yield f"  backward step   undoes   {'asks for':>{width}}   slot   which holds"
    for ask in lost.asked[:MOST]:
        there = "still the same" if not ask.is_gone else f"{indexed(lost.name, ask.holds)}: gone"
        row = indexed(lost.name, ask.row)
        yield f"  {ask.step:>13}   {ask.undoes:>6}   {row:>{width}}   {ask.slot:>4}   {there}"
    if asked > MOST:
        yield f"  and {asked - MOST} more"


def _shown(value: np.ndarray) -> str:
    """A number, or the first entries of an array."""
    if not value.ndim:
        return f"{number_text(value):>8}"
    entries = ", ".join(map(number_text, value.ravel()[:6]))
    return f"[{entries}{', …' if value.size > 6 else ''}]"


def shortened(
    subject: Variable | Loop,
    wrt: Variable | str,
    given: Values | None = None,
    mode: PytensorMode = None,
) -> Shortened:
    """Differentiate a scalar cost in time, and once more after its buffers were shortened.

    `subject` is the cost, with values of all inputs in `given`, or a `lab.Loop`, whose cost is the
    last value of its first state.  `mode` tells whose rewrites shorten (C's keep one more row than
    Numba's, which is the default).  The graph is not altered.

    Raises ArgumentError for another subject, or inputs without a value.
    """
    cost, by, values = _subject(subject, wrt, checked_values({} if given is None else given))
    mode_words(mode)
    right = np.asarray(value_at(derivative(cost, by).value, values))
    late = rewritten([cost], mode, LINKED)
    known = {copy: values[v] for v, copy in late.inputs if v in values}
    copies = dict(late.inputs)
    result, refusal, steps = _too_late(late.graph.outputs[0], copies[by], known)
    what = rewritten_scans([cost], mode, values, without=LINKED)
    buffers = tuple(_lost(cost, by, what))
    forward = set(scan_nodes([cost]))
    needed = [
        (rec.parts.called, _worth(rec, what))
        for rec in run([pytensor_gradient(cost, by)], values)[1]
        if rec.node not in forward
    ]
    late_steps = steps if len(steps) == len(needed) else [None] * len(needed)
    return Shortened(
        cost=str(cost.name or "the cost"),
        wrt=called(by, "the variable"),
        linker=what.linker,
        version=pytensor.__version__,
        right=right,
        too_late=result,
        refusal=refusal,
        looked_up=looked_up(cost, by, what, values),
        differences=differences_by(cost, by, values)[0],
        loops=tuple(Backward(n, s, t) for (n, s), t in zip(needed, late_steps, strict=True)),
        buffers=buffers,
    )


def _subject(
    subject: Variable | Loop, wrt: Variable | str, given: dict[Variable, object]
) -> tuple[Variable, Variable, dict[Variable, object]]:
    """The cost, what to differentiate by, and values of all inputs."""
    if isinstance(subject, Loop):
        call = scan_call(subject)
        by = call.inputs[one_of("wrt", identifier(wrt), call.inputs, "this loop has {}.")]
        last = pt.as_tensor_variable(next(iter(call.results().values())))[-1]
        return last if not last.type.ndim else last.sum(), by, {**call.given, **given}
    if not isinstance(subject, Variable) or getattr(subject.type, "ndim", None) != 0:
        raise refused("subject", subject, "expected a scalar variable or a Loop.")
    if not isinstance(wrt, Variable) or wrt not in given or wrt.owner is not None:
        raise refused("wrt", wrt, "expected an input of the graph, with a value in given.")
    return subject, wrt, given


def _too_late(
    cost: Variable, wrt: Variable, given: Values
) -> tuple[np.ndarray | None, str, list[int]]:
    """PyTensor's gradient of a graph that is rewritten already, or why there is none."""
    try:
        gradient = pytensor_gradient(cost, wrt)
        values, recordings = run([gradient], given)
    except Exception as error:  # whatever PyTensor, or the run, stumbles over
        return None, first_line(error), []
    before = set(scan_nodes([cost]))
    steps = [recording.steps for recording in recordings if recording.node not in before]
    return np.asarray(values[gradient]), "", steps


def _worth(rec: Recording, what: Compiled) -> int:
    """How many steps a backward loop has to make: rewriting drops forward steps nobody needs."""
    forward = readable(rec.parts.name.removeprefix("grad_of_"))
    left = [scan.steps.number for scan in what.after if scan.name == forward]
    known = [number for number in left if number is not None]
    return min(rec.steps, max(known)) if known and len(known) == len(left) else rec.steps


def _lost(cost: Variable, wrt: Variable, what: Compiled) -> Iterator[Lost]:
    """What the gradient asks of every buffer of the graph, as `what` says it was shortened."""
    derived = derivative(cost, wrt)
    loops = scan_nodes([derived.values[0]])
    for node in scan_nodes([derived.value]):
        decisions = decisions_of(node.op)
        if decisions is None or decisions.parent not in loops:
            continue
        number = loops.index(decisions.parent) + 1
        kept = {b.name: b for scan in what.after if number in scan.sources for b in scan.buffers}
        needed = _needed(node, decisions.backward, derived.value)
        asked: dict[str, list[int]] = {}
        for reading in decisions.readings:
            part = reading.source
            if part.kind is Kind.SEQUENCE or reading.group is ReadingGroup.NIT_SOT_GRADIENT:
                continue
            taps = asked.setdefault(part.name, [])
            if reading.variable.name in needed and reading.tap not in taps:
                taps.append(reading.tap)
        for name, taps in asked.items():
            ring = kept[name].ring if name in kept else None
            if ring is not None and taps:
                yield Lost(decisions.forward.called, name, ring, tuple(_asked(ring, taps)))


def _needed(node: Apply, parts: ScanParts, result: Variable) -> set[str]:
    """The variables of a Scan on which `result` depends: not every output of it may be used."""
    used = set(ancestors([result]))
    rows = outer_outputs(parts, node)

    def read_by(part: LoopVariable) -> list[LoopVariable]:
        inside = set(ancestors(part.inner_outputs))
        return [p for p in parts.variables if not inside.isdisjoint(p.inner_inputs)]

    needed = (part for part, filled in rows.items() if filled in used)
    return {part.name for part in reached(needed, read_by)}


def _asked(ring: Ring, taps: list[int]) -> Iterator[Asked]:
    held = ring.held(ring.steps)
    for step in range(ring.steps):
        undoes = ring.steps - 1 - step
        for tap in taps:
            row = ring.written(undoes) + tap
            yield Asked(step, undoes, row, ring.slot(row), held[ring.slot(row)])


def looked_up(cost: Variable, wrt: Variable, what: Compiled, given: Values) -> np.ndarray | None:
    """The gradient that takes for every row whatever stands in its slot."""
    steps = {scan.number: scan.steps.number for scan in what.after}
    fewer = any(steps[n] != before.steps.number for before in what.before for n in before.into)
    if fewer and what.shortened:
        return None  # what is in the slots then, the whole loop does not tell
    lengths: dict[str, set[int | None]] = {}  # of several buffers of one name all
    for kept in what.buffers:
        lengths.setdefault(kept.name, set()).add(kept.after.number if kept.is_shortened else None)

    def recalled(part: LoopVariable) -> TensorVariable:
        length, *others = lengths.get(part.name, {None})
        if part.kind is Kind.MIT_MOT or length is None or others:
            return part.filled
        return in_turns(part.filled, length)

    rule = replace(BROKEN["shortened-buffer"].rule, recalls=recalled)
    try:
        return np.asarray(value_at(derivative(cost, wrt, rule=rule).value, given))
    except LabError:  # that recipe does not fit this graph
        return None
