"""What became of every Scan of a rewritten graph, and of its buffers.

The listener of `rewriting` has noted who took whose place.  A buffer that nobody outside of the
loop reads leaves no trace there; it is found by its place among those of its kind and taps.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from lab.reports.compile.buffers import Rows, all_rows, buffer, rows, rows_asked, step_count
from lab.reports.compile.compiled import Change, Fate, ScanAfter, ScanBefore
from lab.reports.compile.rewriting import REVERT, Rewriting
from lab.scans.buffers import destroys, is_freshly_allocated
from lab.scans.node import LoopVariable, ScanParts, inner_graph, is_scan, read_scan
from lab.scans.operations import plain_name
from lab.tape import Kind

BY_HISTORY = "followed through the rewrites"
BY_PLACE = "found by its place, kind and taps"
BY_FUNCTION = "as it stands in the function"


def scan_before(
    number: int,
    node: Apply,
    copy: Apply,
    made: Rewriting,
    numbers: Mapping[Apply, int],
    given: Mapping[Variable, Any],
) -> ScanBefore:
    """What became of a Scan."""
    stood = made.history.successors(copy)
    into = [last for last in numbers if last in stood]
    path = [change for last in into for change in made.history.path(copy, last)]
    if not into:
        path = [change for change in made.history.replacements if change.old in stood]
    changes = []
    for change in path:
        if change.reason != REVERT and is_scan(change.new):
            changes.append(Change(change.reason, _moved(change.old, change.new)))
    gone = [c.reason for c in path if c.reason == REVERT]
    if gone:  # tried, and taken back
        changes = [c for c in changes if "inplace" not in c.rewrite]
    changes = list(dict.fromkeys(changes))
    instead = tuple(sorted({plain_name(n) for n in stood if not is_scan(n)}))
    fate = Fate.CHANGED if changes else Fate.KEPT
    if not into:
        fate = Fate.REPLACED if instead else Fate.REMOVED
    elif any(_sources(made, last) > 1 for last in into):
        fate = Fate.MERGED
    return ScanBefore(
        number,
        node.op.name or "scan_fn",
        step_count(node.inputs[0], given),
        fate,
        tuple(numbers[last] for last in into),
        () if into else instead,
        tuple(changes),
    )


def _sources(made: Rewriting, last: Apply) -> int:
    """How many Scans became `last`."""
    return sum(last in made.history.successors(copy) for copy in made.copies)


def _moved(old: Apply, new: Apply) -> tuple[str, ...]:
    """The operations that the step of `old` has and that of `new` has not."""

    def operations(node: Apply) -> Counter[str]:
        return Counter(plain_name(n) for n in toposort(inner_graph(node.op)[1]))

    return tuple(sorted((operations(old) - operations(new)).elements()))


class Sources:
    """The buffers of the Scans that became one, to be found again by what became of them."""

    def __init__(self, made: Rewriting, node: Apply, given: Mapping[Variable, Any]) -> None:
        self.made, self.node, self.given = made, node, given
        self.numbers, self.parts = [], []
        for number, (old, copy) in enumerate(zip(made.before, made.copies, strict=True), start=1):
            if node in made.history.successors(copy):
                self.numbers.append(number)
                self.parts.append((copy, read_scan(old.op, old.inputs, old.outputs)))

    def found(self, wanted: Sequence[LoopVariable]) -> dict[LoopVariable, tuple[LoopVariable, str]]:
        """For buffers of the Scan that is left, what they were before, and by what evidence."""
        found: dict[LoopVariable, tuple[LoopVariable, str]] = {}
        for copy, parts in self.parts:
            for part in _with_results(parts):
                place = part.outer_output.owner.outputs.index(part.outer_output)
                became = self.made.history.outputs(copy, place)
                for new in wanted:
                    if new not in found and (self.node, _place(self.node, new)) in became:
                        found[new] = (part, BY_HISTORY)
        taken = {id(old) for old, _ in found.values()}
        for new in wanted:
            for _, parts in self.parts:
                for part in _with_results(parts):
                    if new not in found and id(part) not in taken and _alike(part, new):
                        found[new] = (part, BY_PLACE)
                        taken.add(id(part))
        return found

    def rows(self, part: LoopVariable) -> Rows:
        """How many rows a buffer had before."""
        parts = next(parts for _, parts in self.parts if part in parts.variables)
        steps = step_count(parts.n_steps, self.given)
        asked = rows_asked(part)
        if (
            asked is None
            or part.kind in (Kind.MIT_MOT, Kind.NIT_SOT)
            or is_freshly_allocated(part.outer_input, parts.n_steps, part.tape.origin)
        ):
            return all_rows(part, steps)
        n = parts.n_steps if parts.n_steps.owner is not None else None
        return rows(asked, n, self.given)


def _with_results(parts: ScanParts) -> list[LoopVariable]:
    return [part for part in parts.variables if part.outer_output is not None]


def _place(node: Apply, part: LoopVariable) -> int:
    return node.outputs.index(part.outer_output)


def _alike(old: LoopVariable, new: LoopVariable) -> bool:
    """Whether a buffer may have become another; a state may lose its buffer on the way."""
    kinds = (old.kind, new.kind)
    same = old.kind is new.kind or kinds == (Kind.SIT_SOT, Kind.UNTRACED)
    types = [part.inner_outputs[0].type for part in (old, new)]
    return same and old.tape == new.tape and types[0].is_super(types[1])


def scan_after(
    number: int,
    node: Apply,
    graph: FunctionGraph,
    sources: Sources | None,
    given: Mapping[Variable, Any],
) -> ScanAfter:
    """A Scan that is left, with all its buffers."""
    parts = read_scan(node.op, node.inputs, node.outputs)
    wanted = _with_results(parts)
    was = sources.found(wanted) if sources is not None else {}
    found = []
    for new in wanted:
        old, evidence = was.get(new, (None, BY_FUNCTION))
        before = sources.rows(old) if sources is not None and old is not None else None
        found.append(buffer(old, new, before, parts, node, graph, given, evidence))
    return ScanAfter(
        number,
        node.op.name or "scan_fn",
        step_count(parts.n_steps, given),
        tuple(sources.numbers) if sources is not None else (),
        tuple(found),
        bool(destroys(node)),
        parts.until is not None,
    )
