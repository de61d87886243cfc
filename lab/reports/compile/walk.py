"""The way from the graph that was written to the one that runs, as a walk: `lab.rewrites`.

    >>> print(lab.rewrites(cost, x0))
    1 · merge_scans, loop becomes loop: …

Every rewrite that put another Scan in the place of one is a step of the walk.  What it changed is
found by holding both Scans against one another, and not taken from its name.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from lab.errors import ArgumentError, expect, listing
from lab.notation import signed
from lab.reports.compile.compile import gradient_of
from lab.reports.compile.rewriting import REVERT, PytensorMode, rewritten
from lab.reports.explain.explanation import paragraph
from lab.scans.buffers import destroys, rows_of_buffer
from lab.scans.graphs import require_scan
from lab.scans.node import LoopVariable, is_scan, read_scan, scan_name
from lab.scans.operations import plain_name
from lab.tape import Kind

SHORTER = (
    "keeps no more rows of a buffer than somebody reads; a gradient that is taken afterwards "
    "lacks them"
)
# What rewrites are for, by a part of their names; of others nothing is said.
PURPOSES = {
    "remove_unused": "drops arguments that are unused or constant, and those that come in twice",
    "reduce_trace": SHORTER,
    "save_mem": SHORTER,
    "push_out_dot": "makes one product of matrices of those of all steps",
    "push_out_add": "adds up once, after the loop, what every step would add",
    "push_out_seq": "computes for all steps at once what needs no state",
    "push_out_non_seq": "computes once, before the loop, what is the same at every step",
    "scan_merge_inouts": "reads once what came in twice, and gives out once what did so twice",
    "merge": "makes one loop of two that go through the same steps",
    "remove_constants": "makes constants of arguments that are constant, and drops unused ones",
    "inplace": "lets the loop write into the buffers that it is handed, instead of copies",
    "make_inplace": "lets the loop write into the buffers that it is handed, instead of copies",
    "sit_sot_to_untraced": "keeps only the last value of a state, outside of any buffer",
    "while": "asks less often whether the loop stops",
}


@dataclass(frozen=True)
class Step:
    """A rewrite: what it is called and for, the Scan before and after it, and what differs."""

    rewrite: str
    purpose: str
    before: str
    after: str
    changes: tuple[str, ...]

    def __str__(self) -> str:
        what = "" if self.before == self.after else f": {self.before} becomes {self.after}"
        lines = [f"{self.rewrite}{what}"]
        if self.purpose:
            lines += paragraph(f"It {self.purpose}.", "    ", "    ")
        for change in self.changes or ("nothing that is told here",):
            lines += paragraph(change, "    − ", "      ")
        return "\n".join(lines)


@dataclass(frozen=True)
class Walk:
    """All rewrites of a graph that touched a Scan, in their order."""

    steps: tuple[Step, ...]

    def named(self, part: str) -> "Walk":
        """The steps of rewrites in whose names, or changes, a text stands."""
        return Walk(tuple(step for step in self.steps if part in str(step)))

    def __str__(self) -> str:
        if not self.steps:
            return "No rewrite puts another Scan in the place of one."
        return "\n".join(f"{n} · {step}" for n, step in enumerate(self.steps, start=1))


def rewrites(cost: Variable, wrt: Variable | None = None, mode: PytensorMode = "FAST_RUN") -> Walk:
    """The rewrites of a `mode` that touch the Scans of a graph, one after another.

    With `wrt`, PyTensor's own gradient of the cost is in the graph as well.  The graph is not
    altered and nothing is compiled.  Raises GraphError if there is no Scan, or a rewrite fails.
    """
    outputs = [expect("cost", cost, Variable, "a PyTensor variable")]
    if wrt is not None:
        if cost.type.ndim:
            raise ArgumentError(f"cost = {cost} ({cost.type}): a gradient is taken of a scalar.")
        outputs.append(gradient_of(outputs, wrt)[1])
    require_scan(outputs)
    history = rewritten(outputs, mode).history
    seen: set[tuple[Apply, Apply]] = set()
    steps = []
    for change in history.replacements:
        pair = change.old, change.new
        if pair in seen or change.reason == REVERT or not is_scan(change.new):
            continue
        seen.add(pair)
        steps.append(_step(change.reason, *pair))
    return Walk(tuple(steps))


def _step(reason: str, old: Apply, new: Apply) -> Step:
    purpose = next((told for part, told in PURPOSES.items() if part in reason), "")
    return Step(reason, purpose, scan_name(old.op), scan_name(new.op), tuple(_changes(old, new)))


def _changes(old: Apply, new: Apply) -> Iterator[str]:
    """In what two Scans differ: variables, buffers, operations of the step, what is in place."""
    before, after = (read_scan(node.op, node.inputs, node.outputs) for node in (old, new))
    kinds = [Counter(map(_kind, parts.variables)) for parts in (before, after)]
    for gone, told in ((kinds[0] - kinds[1], "no more"), (kinds[1] - kinds[0], "now")):
        if gone:
            yield f"{told}: {listing(_several(gone))}"
    pairs = [[_rows(part) for part in parts.states] for parts in (before, after)]
    if kinds[0] == kinds[1] and pairs[0] != pairs[1]:
        yield f"rows of the buffers: {listing(pairs[0])} become {listing(pairs[1])}"
    steps = [
        Counter(plain_name(node) for node in toposort(parts.inner_outputs))
        for parts in (before, after)
    ]
    for gone, told in ((steps[0] - steps[1], "out of the step"), (steps[1] - steps[0], "into it")):
        if gone:
            yield f"{told}: {listing(_several(gone))}"
    counts = [sum(step.values()) for step in steps]
    if counts[0] != counts[1]:
        yield f"the step has {counts[1]} operations, and had {counts[0]}"
    if destroys(old) != destroys(new):
        yield f"it writes over {len(destroys(new))} of the buffers that it is handed"


def _several(counts: Counter[str]) -> Sequence[str]:
    return [f"{count} × {word}" if count > 1 else word for word, count in sorted(counts.items())]


def _kind(part: LoopVariable) -> str:
    if part.kind in (Kind.SEQUENCE, Kind.PARAMETER, Kind.UNTRACED, Kind.NIT_SOT):
        return str(part.kind)
    return f"{part.kind} ({signed(*part.tape.reads)} → {signed(*part.tape.writes)})"


def _rows(part: LoopVariable) -> str:
    rows = rows_of_buffer(part.outer_input)
    return f"{part.name} {rows if isinstance(rows, int) else '?'}"
