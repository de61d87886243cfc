"""Whether a stored trace holds together, so that every picture of it can be drawn.

Its values are free; everything else follows from the taps, the steps and the shapes.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from lab.errors import listing
from lab.notation import (
    Expression,
    Leaf,
    Let,
    Named,
    Number,
    Term,
    body_of,
    calls_of,
    leaves_of,
    parts_of,
)
from lab.records import faults_of
from lab.tape import Kind
from lab.traces.trace import (
    HIGHEST,
    Feed,
    Generator,
    ScanTrace,
    SequenceTrace,
    Source,
    TapeTrace,
    Trace,
)

Fault = tuple[str, str]  # where something does not fit, and what


@faults_of(Trace)
def trace_faults(trace: Trace) -> Iterator[Fault]:
    """All that does not fit in a trace; `lab.Trace.from_json` refuses it with the first."""
    if len(trace.names) != len(trace.outputs):
        yield "names", f"{len(trace.names)} names for {len(trace.outputs)} outputs"
    if not trace.scans:
        yield "scans", "a trace has at least one"
    for number, scan in enumerate(trace.scans):
        for place, what in _scan_faults(scan, number, trace.scans):
            yield f"scans[{number}].{place}", what
    yield from _feed_faults(trace.feeds, range(len(trace.outputs)), trace.scans)
    for number, one in enumerate(trace.untaken):
        places = [(one.scan, one.step)]
        places += [] if one.forward is None else [(one.forward, one.forward_step or 0)]
        if not all(
            0 <= scan < len(trace.scans) and step in range(trace.scans[scan].steps)
            for scan, step in places
        ):
            yield f"untaken[{number}]", "there is no such step"
    for number, source in enumerate(trace.inputs):
        if isinstance(source.given, Generator) and not source.given.is_known:
            yield f"inputs[{number}].given", "numpy has no such generator"


def _feed_faults(
    feeds: Sequence[Feed], targets: range | set[int], scans: Sequence[ScanTrace]
) -> Iterator[Fault]:
    for number, feed in enumerate(feeds):
        known = 0 <= feed.scan < len(scans)
        if feed.into not in targets:
            yield f"feeds[{number}].into", f"there is no {feed.into}"
        elif not known or scans[feed.scan].tape(feed.variable) is None:
            yield f"feeds[{number}]", f"Scan {feed.scan} has no tape {feed.variable}"


def _scan_faults(scan: ScanTrace, number: int, scans: Sequence[ScanTrace]) -> Iterator[Fault]:
    if scan.steps < 0:
        yield "steps", "it cannot be below 0"
        return
    if not 0 <= scan.order <= HIGHEST:
        yield "order", f"expected 0 to {HIGHEST}"
    if scan.parent is not None and not 0 <= scan.parent < number:
        yield "parent", f"{scan.parent} is no Scan before this one"
        return
    parent = None if scan.parent is None else scans[scan.parent]
    arguments = [v.argument for v in scan.variables]
    if len(set(arguments)) < len(arguments) or min(arguments, default=0) < 0:
        yield "tapes", "every variable has a number of its own, from 0"
        return
    for group, tapes in (("tapes", scan.tapes), ("outputs", scan.outputs)):
        for index, tape in enumerate(tapes):
            for place, what in _tape_faults(tape, scan.steps, group == "tapes"):
                yield f"{group}[{index}].{place}", what
            of_parent = parent is not None and any(
                v.name == tape.gradient_of for v in parent.variables
            )
            if tape.gradient_of is not None and not of_parent:
                yield f"{group}[{index}].gradient_of", "the parent has no such variable"
        known = {v.name for earlier in scans[: number + 1] for v in earlier.variables}
        for index, tape in enumerate(tapes):
            names = known if tape.gradient_of is not None else {tape.name}
            if tape.axis is not None and tape.axis.variable not in names:
                yield f"{group}[{index}].axis.variable", f"it stands for {listing(sorted(names))}"
    for index, sequence in enumerate(scan.sequences):
        if sequence.axis.variable not in known:
            yield f"sequences[{index}].axis.variable", "no variable is called so"
        for place, what in _sequence_faults(sequence, scan.steps, parent, scans[:number]):
            yield f"sequences[{index}].{place}", what
    if len(scan.nested) not in (0, scan.steps):
        yield "nested", f"{len(scan.nested)} traces of {scan.steps} steps"
    for index, step in enumerate(scan.nested):
        for place, what in trace_faults(step):
            yield f"nested[{index}].{place}", what
    before = scans[:number]
    yield from _feed_faults(scan.feeds, set(arguments), before)
    yield from _step_faults(scan, parent)
    yield from _formula_faults(scan)


def _is_source(source: Source, scan: ScanTrace, number: int) -> bool:
    """Whether operation `number` of a step can use `source`."""
    if isinstance(source, Leaf):
        return source.argument == -1 or scan.reads(source)
    return isinstance(source, Number) or 0 <= source < number


def _tape_faults(tape: TapeTrace, steps: int, is_state: bool) -> Iterator[Fault]:
    kinds = (tape.tape.kind, Kind.MIT_MOT)
    if tape.kind.is_state is not is_state or tape.kind not in kinds:
        yield "kind", f"taps that {tape.tape} make no {tape.kind}"
        return
    if tape.initial.ndim < 1 or tape.final.ndim < 1 or tape.initial.dtype != tape.final.dtype:
        yield "initial", "initial and final are the rows of one array"
        return
    length, row = len(tape.initial), tape.initial.shape[1:]
    if steps and tape.final.shape[1:] != row:
        yield "final", f"its rows are not those of initial, {row}"
    if tape.unwritten.shape != (length,) or tape.unwritten.dtype != bool:
        yield "unwritten", f"expected {length} truth values"
    for name, accesses, taps in (
        ("reads", tape.reads, tape.tape.reads),
        ("writes", tape.writes, tape.tape.writes),
    ):
        if tuple(access.tap for access in accesses) != taps:
            yield name, f"expected the taps {listing(taps)}"
            continue
        for index, access in enumerate(accesses):
            first = tape.tape.row(0, access.tap)
            fits = access.rows.shape == (steps,)
            expected = (np.arange(steps) + first) % max(1, length) if fits else None
            if expected is None or not np.array_equal(access.rows, expected):
                yield f"{name}[{index}].rows", "these are not the rows of its tap"
            held = [access.values] if name == "reads" else [access.values, access.before]
            if any(v is None or (steps and v.shape != (steps, *row)) for v in held):
                yield f"{name}[{index}].values", f"expected {steps} rows of shape {row}"
    if tape.axis is not None and not _counts(tape.axis.index, length):
        yield "axis.index", f"expected {length} whole numbers"


def _counts(index: np.ndarray, length: int) -> bool:
    """Whether `index` has a whole number for each of `length` rows."""
    return index.shape == (length,) and index.dtype.kind == "i"


def _sequence_faults(
    sequence: SequenceTrace, steps: int, parent: ScanTrace | None, before: Sequence[ScanTrace]
) -> Iterator[Fault]:
    if sequence.values.ndim < 1 or len(sequence.values) != steps:
        yield "values", f"expected a row for each of {steps} steps"
    if not _counts(sequence.axis.index, steps):
        yield "axis.index", f"expected {steps} whole numbers"
    source, taken = sequence.source, sequence.taken
    if source is not None and (parent is None or not parent.reads(source)):
        yield "source", "the parent has no such variable"
    if (source is None) is not (sequence.group is None):
        yield "group", "it goes with source"
    if taken is not None:
        is_known = 0 <= taken.scan < len(before)
        filled = before[taken.scan].tape(taken.variable) if is_known else None
        if filled is None:
            yield "taken", f"Scan {taken.scan} has no tape {taken.variable}"
            return
        inside = (taken.rows >= 0) & (taken.rows < len(filled.final))
        if not _counts(taken.rows, steps) or not inside.all():
            yield "taken.rows", f"expected {steps} rows of {filled.name}"


def _step_faults(scan: ScanTrace, parent: ScanTrace | None) -> Iterator[Fault]:
    known = 0 if parent is None else len(parent.inside)
    for number, value in enumerate(scan.inside):
        place = f"inside[{number}]"
        if value.values.size and len(value.values) != scan.steps:
            yield f"{place}.values", f"expected a row for each of {scan.steps} steps, or none"
        if not all(_is_source(source, scan, number) for source in value.inputs):
            yield f"{place}.inputs", "an operation uses arguments, constants and earlier ones"
        if value.passes is not None and not 0 <= value.passes < len(value.inputs):
            yield f"{place}.passes", f"it has no input {value.passes}"
        if value.repeats is not None and not 0 <= value.repeats < known:
            yield f"{place}.repeats", f"the parent's step has no operation {value.repeats}"
    targets = [result.target for result in scan.results if result.target is not None]
    if targets != scan.targets or len(scan.results) - len(targets) > 1:
        yield "results", "expected one for every write tap, and at most one condition"
    for number, result in enumerate(scan.results):
        if not _is_source(result.source, scan, len(scan.inside)):
            yield f"results[{number}].source", "there is no such value"


def _formula_faults(scan: ScanTrace) -> Iterator[Fault]:
    if [formula.target for formula in scan.formulas] != scan.targets:
        yield "formulas", "expected one for every write tap"
    for number, formula in enumerate(scan.formulas):
        place = f"formulas[{number}].expression"
        if not all(
            leaf.argument == -1 or scan.reads(leaf) for leaf in leaves_of(formula.expression)
        ):
            yield place, "it reads what the step does not read"
        if not _is_in_order(formula.expression):
            yield place, "each name that it uses is explained once, behind all that use it"
        for call in calls_of(formula.expression):
            if not call.is_whole:
                yield place, f"{call.name} of {len(call.arguments)} arguments"


def _is_in_order(expression: Expression) -> bool:
    """Whether every name is explained once, and behind all that use it."""
    bindings = expression.bindings if isinstance(expression, Let) else ()
    used = _names_in(body_of(expression))
    explained: set[str] = set()
    for binding in bindings:
        explained.add(binding.name)
        inside = _names_in(binding.term)
        if binding.name not in used or inside & explained:
            return False
        used |= inside
    return used == explained and len(bindings) == len(explained)


def _names_in(term: Term) -> set[str]:
    return {part.name for part in parts_of(term) if isinstance(part, Named)}
