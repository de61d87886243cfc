"""What stands in a whole step graph: the operations of one step, simplified, with all numbers.

Operations that only change shapes or types are left out, and their inputs joined to their
users; what depends on constants alone is a constant, and constants are written into the
operations that use them.  A step of very many operations shows those next to its results.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from lab.gradients.decisions import ReadingGroup
from lab.notation import PLAIN, Call, Expression, Leaf, Number, Term, render
from lab.records import cached_property, find_reachable
from lab.scans.formula import written
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, Source, StepResult, StepValue, TapeTrace

MOST_OPERATIONS = 50
SLOT = "▢"  # stands for an input in the name of an operation
COMMUTATIVE = {"Add", "Mul", "AND", "OR", "EQ", "NEQ", "max", "min"}
UNARY = {"Neg", "Sqr", "Reciprocal", "transpose"}
SYMBOLS = {"Sqr": "▢²", "Reciprocal": "1/▢"}
EMPTY = {"None", "[]", "constant(0)"}  # the size of a random draw, if it is left open


class Part(Enum):
    """What a node of a step graph is."""

    ARGUMENT = auto()
    SHARED = auto()
    OPERATION = auto()
    HIDDEN = auto()
    RESULT = auto()


@dataclass(frozen=True)
class StepNode:
    """One node: an argument by its leaf, an operation by its number, a result by its target.

    `inputs` are other nodes, from left to right.  Where operations are folded, one that is shared
    has a leaf of its own, and it and results are what a `term` says.
    """

    part: Part
    place: Leaf | int | StepResult
    label: str = ""
    inputs: "tuple[StepNode, ...]" = ()
    ordered: bool = False
    term: Expression | None = None

    @property
    def key(self) -> str:
        """The same for the same node, different for different ones."""
        return f"{self.part.name}:{self.place}"


@dataclass(frozen=True)
class Saving:
    """A forward result that is read, not computed: where, and which operations that saves."""

    argument: Leaf
    source: Leaf
    operations: tuple[int, ...]


class StepNodes:
    """The nodes of the step of a Scan, and the `parent` that it differentiates, if it does."""

    def __init__(self, of: ScanOf) -> None:
        self.scan = of.scan
        self.parent = of.parent.scan if of.parent is not None else None
        self.fixed = fixed_values(self.scan)
        self.found: dict[str, StepNode] = {}

    @cached_property
    def shown(self) -> frozenset[int]:
        """The operations to draw: all of them, or those next to the results."""
        chosen: dict[int, None] = {}
        level = [result.source for result in self.scan.results]
        while level and len(chosen) < MOST_OPERATIONS:
            operations = [n for n in map(self._resolved, level) if isinstance(n, int)]
            room = MOST_OPERATIONS - len(chosen)
            new = list(dict.fromkeys(n for n in operations if n not in chosen))[:room]
            chosen |= dict.fromkeys(new)
            level = [source for n in new for source in self.scan.inside[n].inputs]
        return frozenset(chosen)

    @cached_property
    def results(self) -> tuple[StepNode, ...]:
        """The nodes of what the step writes; all others are their inputs."""
        return tuple(
            StepNode(Part.RESULT, result, inputs=tuple(self._inputs([result.source])))
            for result in self.scan.results
        )

    @cached_property
    def every(self) -> tuple[StepNode, ...]:
        """All nodes, inputs before those that use them."""
        return with_inputs(self.results)

    def value(self, place: "Source | StepResult", step: int) -> np.ndarray | None:
        """The value of a node at a step; None for what is no array, or was too large to keep."""
        return value_at(self.scan, place, step)

    @property
    def reshaping(self) -> int:
        """How many operations are left out because they only change a shape or type."""
        return sum(v.passes is not None for v in self._varying())

    @property
    def constant(self) -> int:
        """How many operations are left out because they depend on constants alone."""
        return len(self.fixed)

    @property
    def operations(self) -> int:
        """How many operations there are to draw."""
        return sum(v.passes is None for v in self._varying())

    def _varying(self) -> Iterator[StepValue]:
        yield from (v for n, v in enumerate(self.scan.inside) if n not in self.fixed)

    @cached_property
    def repeated(self) -> frozenset[int]:
        """The operations of the parent's step that this step computes again."""
        values = (v for v in self.scan.inside if v.passes is None and v.repeats is not None)
        return frozenset(v.repeats for v in values if v.repeats is not None)

    @cached_property
    def savings(self) -> tuple[Saving, ...]:
        """What the reading of recorded forward results saves this step."""
        if self.parent is None:
            return ()
        found = []
        for sequence in self.scan.sequences:
            if sequence.group is ReadingGroup.RESULT and sequence.source is not None:
                needed = operations_below(self.parent, sequence.source) - self.repeated
                leaf = Leaf(sequence.name, None, sequence.argument)
                found.append(Saving(leaf, sequence.source, tuple(sorted(needed))))
        return tuple(found)

    def _resolved(self, source: Source) -> Source:
        """What a source is, past everything that is not drawn."""
        while isinstance(source, int):
            value = self.scan.inside[source]
            if source in self.fixed:
                return Number(written(value.values[0]) if len(value.values) else "constant")
            if value.passes is None:
                return source
            source = value.inputs[value.passes]
        return source

    def _inputs(self, sources: "list[Source] | tuple[Source, ...]") -> Iterator[StepNode]:
        for source in map(self._resolved, sources):
            if not isinstance(source, Number):
                key = str(source)
                self.found[key] = self.found.get(key) or self._node(source)
                yield self.found[key]

    def _node(self, source: Leaf | int) -> StepNode:
        if isinstance(source, Leaf):
            return StepNode(Part.ARGUMENT, source)
        value = self.scan.inside[source]
        if source not in self.shown:
            return StepNode(Part.HIDDEN, source, "⋯")
        inputs = tuple(self._inputs(value.inputs))
        ordered = len(inputs) > 1 and value.operation not in COMMUTATIVE
        return StepNode(Part.OPERATION, source, self.label(source), inputs, ordered)

    def label(self, number: int) -> str:
        """``·``, ``▢·2`` or ``▢ − ▢``: the operation, with its constants where they stand."""
        value = self.scan.inside[number]
        return operation_label(value.operation, [self._resolved(s) for s in value.inputs])


def with_inputs(results: Iterable[StepNode]) -> tuple[StepNode, ...]:
    """Results, and all that they use, inputs before those that use them."""
    found: dict[str, StepNode] = {}

    def visit(node: StepNode) -> None:
        if node.key not in found:
            for before in node.inputs:
                visit(before)
            found[node.key] = node

    for result in results:
        visit(result)
    return tuple(found.values())


def operation_label(operation: str, inputs: "list[Source]") -> str:
    """The name of an operation in a picture."""
    fixed = any(isinstance(source, Number) for source in inputs)
    if operation in SYMBOLS:
        return SYMBOLS[operation]
    if not fixed and operation in COMMUTATIVE and operation in PLAIN.operators:
        return PLAIN.operators[operation].strip()
    if len(inputs) == 1 and operation not in UNARY:
        return operation
    arguments: list[Term] = [
        source if isinstance(source, Number) else Leaf(SLOT, None, -1)
        for source in inputs
        if not (isinstance(source, Number) and source.written in EMPTY)
    ]
    is_called = not fixed and operation not in UNARY | {"Pow", "at", *PLAIN.operators}
    if is_called and len(inputs) > 3:
        return operation
    return render(Call(operation, tuple(arguments)), lambda leaf: leaf.variable)


def fixed_values(scan: ScanTrace) -> frozenset[int]:
    """The values of a step that depend on constants alone."""
    fixed: set[int] = set()
    for number, value in enumerate(scan.inside):
        if all(isinstance(s, Number) or (isinstance(s, int) and s in fixed) for s in value.inputs):
            fixed.add(number)
    return frozenset(fixed)


def operations_below(scan: ScanTrace, target: Leaf) -> frozenset[int]:
    """The operations that a result of a step needs, but for those on shapes and constants."""
    fixed = fixed_values(scan)
    start = (r.source for r in scan.results if r.target == target)
    found = find_reachable(start, lambda s: scan.inside[s].inputs if isinstance(s, int) else ())
    made = {n for n in found if isinstance(n, int)}
    return frozenset(n for n in made - fixed if scan.inside[n].passes is None)


def value_at(scan: ScanTrace, place: Source | StepResult, step: int) -> np.ndarray | None:
    """The value of a node at a step; None for what is no array, or was too large to keep."""
    if isinstance(place, int):
        values = scan.inside[place].values
        return np.asarray(values[step]) if len(values) else None
    if isinstance(place, Number):
        return None
    if isinstance(place, Leaf):
        return argument_value(scan, place, step)
    if place.target is None:
        return value_at(scan, place.source, step)
    variable = scan.variable(place.target)
    if not isinstance(variable, TapeTrace):
        return None
    access = next(a for a in variable.writes if a.tap == place.target.tap)
    return np.asarray(access.values[step])


def argument_value(scan: ScanTrace, leaf: Leaf, step: int) -> np.ndarray | None:
    """The value of an argument at a step; None for what is no array."""
    variable = scan.variable(leaf)
    if variable is None:
        return None
    if isinstance(variable, TapeTrace):
        access = next(a for a in variable.reads if a.tap == leaf.tap)
        return np.asarray(access.values[step])
    if hasattr(variable, "values"):
        return np.asarray(variable.values[step])
    return variable.value
