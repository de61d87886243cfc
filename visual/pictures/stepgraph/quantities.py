"""What stands in a step graph by default: what a step reads, what it uses twice, what it writes.

All other operations stand inside of formulas, one to a box.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from lab.equations.numbers import array_of
from lab.notation import Call, Expression, Leaf, SharedTerm, Slice, Term, calls_of, leaves_of
from lab.records import cached_property, find_reachable
from lab.scans.names import readable
from lab.scans.naming import shared_by
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Source, StepResult, TapeTrace
from visual.pictures.stepgraph.nodes import Part, StepNode, value_at, with_inputs

MOST_READ = 14  # arguments that have a box each; where there are more, the others share one

MOST_SHARED = 12  # parts of formulas; of more, nobody would follow the arrows


class StepQuantities:
    """The quantities of a step: its arguments, what is `shared`, and its results.

    What is written back as it was read is none of them, and the running total of a parameter
    stands in the box of the new one.  What is not `shared`, or too much, is in every formula that
    uses it.
    """

    def __init__(self, of: ScanOf, shared: bool = True) -> None:
        self.scan, self.shared = of.scan, shared
        self.formulas = {f.target: f.expression for f in self.scan.formulas}
        self.drawn = self.written
        self.made: dict[tuple[Leaf, int], np.ndarray | None] = {}

    @cached_property
    def unchanged(self) -> tuple[Leaf, ...]:
        """What the step hands on as it was read, unless it does nothing else."""
        targets = [target for target, made in self.formulas.items() if made == target]
        return () if len(targets) == len(self.scan.results) else tuple(targets)

    @cached_property
    def written(self) -> tuple[StepResult, ...]:
        """All that the step writes, what it hands on unchanged aside."""
        return tuple(r for r in self.scan.results if r.target not in self.unchanged)

    @cached_property
    def every(self) -> tuple[StepNode, ...]:
        """All nodes, inputs before those that use them."""
        return with_inputs(self.results)

    @cached_property
    def terms(self) -> Mapping[Leaf | StepResult, Expression]:
        """The formulas: of results, and of what is shared, by a leaf that stands for it."""
        told = [r for r in self.drawn if r.target is not None]
        made = [self.formulas[r.target] for r in told if r.target is not None]
        if not self.shared:
            return dict(zip(told, made, strict=True))
        inside = {one.name for run in self.scan.nested[:1] for one in run.scans}
        names = {call.name for one in made for call in calls_of(one)}
        whole = shared_by(made, [name for name in names if readable(name) in inside])
        if len(whole.bindings) > MOST_SHARED:
            return dict(zip(told, made, strict=True))
        leaves = {b.name: Leaf(b.name, None, -1 - n) for n, b in enumerate(whole.bindings)}
        found: dict[Leaf | StepResult, Expression] = {}
        found |= {leaves[b.name]: _in_leaves(b.term, leaves) for b in whole.bindings}
        bodies = (_in_leaves(term, leaves) for term in calls_of(whole.body)[0].arguments)
        return found | dict(zip(told, bodies, strict=True))

    @cached_property
    def results(self) -> tuple[StepNode, ...]:
        """The nodes of what the step writes; all others are their inputs."""
        read = {place: self._read(place) for place in (*self.terms, *self.drawn)}
        times = Counter(leaf for leaves in read.values() for leaf in leaves)
        known: dict[Leaf, StepNode] = {}
        most = [leaf for leaf in times if leaf not in self.terms]
        more = most[MOST_READ:] if len(most) > MOST_READ + 1 else []
        rest = StepNode(Part.HIDDEN, Leaf("", None, -1 - len(self.terms)), f"⋯ {len(more)} more")

        def node(place: Leaf | StepResult) -> StepNode:
            own = (one for one in read.get(place, ()) if not self.is_total(one))
            inputs = tuple(dict.fromkeys(rest if one in more else found(one) for one in own))
            part = Part.SHARED if isinstance(place, Leaf) else Part.RESULT
            label = place.variable if isinstance(place, Leaf) else ""
            return StepNode(part, place, label, inputs, term=self.terms.get(place))

        def found(leaf: Leaf) -> StepNode:
            if leaf not in known:
                made = leaf in self.terms
                known[leaf] = node(leaf) if made else StepNode(Part.ARGUMENT, leaf)
            return known[leaf]

        return tuple(map(node, self.drawn))

    def _read(self, place: Leaf | StepResult) -> Sequence[Leaf]:
        """What a formula uses; of the condition on which a loop stops, all that it depends on."""
        if place in self.terms:
            return leaves_of(self.terms[place])
        assert isinstance(place, StepResult)
        inside = self.scan.inside
        found = find_reachable(
            [place.source], lambda s: inside[s].inputs if isinstance(s, int) else ()
        )
        return [one for one in found if isinstance(one, Leaf)]

    def is_total(self, leaf: Leaf) -> bool:
        """Whether a leaf is the running total of a parameter."""
        tape = self.scan.variable(leaf) if leaf.argument >= 0 else None
        return isinstance(tape, TapeTrace) and tape.is_total

    def value(self, place: Source | StepResult, step: int) -> np.ndarray | None:
        """The value of a node at a step; None for what is no array, or what no formula tells."""
        if isinstance(place, Leaf) and place in self.terms:
            if (place, step) not in self.made:
                found = array_of(self.terms[place], lambda leaf: self.value(leaf, step))
                self.made[place, step] = found
            return self.made[place, step]
        return value_at(self.scan, place, step)


def _in_leaves(term: Term, leaves: Mapping[str, Leaf]) -> Term:
    """A term with leaves for what has a name."""
    if isinstance(term, SharedTerm):
        return leaves[term.name]
    if isinstance(term, Call):
        return Call(term.name, tuple(_in_leaves(one, leaves) for one in term.arguments))
    if isinstance(term, Slice):
        ends = (term.start, term.stop, term.step)
        return Slice(*(None if end is None else _in_leaves(end, leaves) for end in ends))
    return term
