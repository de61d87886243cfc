"""The graph of a step: arguments, results, and the values that the step uses more than once.

All other operations are parts of formulas.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.equations.numbers import array_of
from lab.notation import Call, Expression, Leaf, SharedTerm, Term, calls_of, leaves_of
from lab.records import cached_property, find_reachable
from lab.scans.names import readable
from lab.scans.shared_terms import name_common_parts
from lab.traces.faults import value_at_step
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Formula, Source, StepResult, TapeTrace

MOST_SHARED = 12  # with more shared values, a reader cannot follow the arrows


@dataclass(frozen=True)
class StepNode:
    """A node: a result of the step, or a leaf for an argument or a shared value.

    `inputs` are the nodes that the formula `term` reads, from top to bottom. Arguments and stop
    conditions have no formula.
    """

    place: Leaf | StepResult
    inputs: "tuple[StepNode, ...]" = ()
    term: Expression | None = None

    @property
    def target(self) -> Leaf | None:
        """The leaf that a result writes or, for another node, the leaf of the node."""
        return self.place.target if isinstance(self.place, StepResult) else self.place


class StepNodes:
    """The graph of the formulas in the step of a Scan.

    If `shared`, each value that the step uses more than once has a node, unless more than 12 values
    would have a node. Otherwise, each formula contains the operations that compute its values. The
    node of a new running total contains the old total, which has no node.
    """

    def __init__(self, scan_of: ScanOf, shared: bool = True) -> None:
        self.scan, self.shared = scan_of.scan, shared
        self.formulas = {formula.target: formula for formula in self.scan.formulas}
        self._values: dict[tuple[Leaf, int], np.ndarray | None] = {}

    @cached_property
    def terms(self) -> Mapping[Leaf | StepResult, Expression]:
        """The formulas of results, and the formulas of the leaves that represent shared values."""
        terms = dict[Leaf | StepResult, Expression]()
        targets = {result: result.target for result in self.scan.results if result.target}
        results = {result: self.formulas[target].expression for result, target in targets.items()}
        inside = {scan.name for run in self.scan.nested[:1] for scan in run.scans}
        calls = {call.name for term in results.values() for call in calls_of(term)}
        always = [name for name in calls if readable(name) in inside]
        whole = name_common_parts(results.values(), always)
        if not self.shared or len(whole.bindings) > MOST_SHARED:
            return terms | results
        leaves = {name: Leaf(name, None, -1 - n) for n, (name, _) in enumerate(whole.bindings)}
        terms |= {leaves[name]: _with_leaves(part, leaves) for name, part in whole.bindings}
        bodies = (_with_leaves(term, leaves) for term in calls_of(whole.body)[0].arguments)
        return terms | dict(zip(results, bodies, strict=True))

    @cached_property
    def nodes(self) -> tuple[StepNode, ...]:
        """All nodes, each after its inputs."""
        nodes: dict[Leaf | StepResult, StepNode] = {}

        def node(place: Leaf | StepResult) -> StepNode:
            if place not in nodes:
                read = [*leaves_of(self.terms[place])] if place in self.terms else []
                if isinstance(place, StepResult) and place not in self.terms:  # a stop condition
                    inside = self.scan.inside
                    sources = find_reachable(
                        [place.source], lambda s: inside[s].inputs if isinstance(s, int) else ()
                    )
                    read = [source for source in sources if isinstance(source, Leaf)]
                read = [leaf for leaf in read if not self.is_total(leaf)]
                inputs = tuple(map(node, dict.fromkeys(read)))
                nodes[place] = StepNode(place, inputs, self.terms.get(place))
            return nodes[place]

        for result in self.scan.results:
            node(result)
        return tuple(nodes.values())

    @cached_property
    def results(self) -> tuple[StepNode, ...]:
        """The nodes of all results."""
        return tuple(node for node in self.nodes if isinstance(node.place, StepResult))

    def is_total(self, leaf: Leaf) -> bool:
        """Return whether a leaf is the running total of a parameter."""
        tape = self.scan.variable(leaf) if leaf.argument >= 0 else None
        return isinstance(tape, TapeTrace) and tape.is_total

    def value(self, place: Leaf | StepResult, step: int) -> np.ndarray | None:
        """Return the value of a node at a step, or None if the value is unknown."""
        if not isinstance(place, Leaf) or place not in self.terms:
            source: Source | Formula = place if isinstance(place, Leaf) else place.source
            if isinstance(place, StepResult) and place.target is not None:
                source = self.formulas[place.target]
            value = value_at_step(self.scan, source, step)
            return None if value is None else np.asarray(value)
        if (place, step) not in self._values:
            value = array_of(self.terms[place], lambda leaf: self.value(leaf, step))
            self._values[place, step] = value
        return self._values[place, step]


def _with_leaves(term: Term, leaves: Mapping[str, Leaf]) -> Term:
    """Return a term with leaves instead of references to shared terms."""
    if isinstance(term, SharedTerm):
        return leaves[term.name]
    if isinstance(term, Call):
        return Call(term.name, tuple(_with_leaves(part, leaves) for part in term.arguments))
    return term
