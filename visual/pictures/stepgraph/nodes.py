"""Build the graph of all operations of a step, simplified.

The graph omits operations that only change a shape or a type, and operations on constants alone:
a constant is part of the label of the operation that uses it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from lab.notation import PLAIN, Call, Expression, Leaf, Number, Term, render
from lab.records import cached_property
from lab.scans.formula import written
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, Source, StepResult, TapeTrace
from lab.traces.untaken import values_of

SLOT = "▢"  # an input, in the label of an operation
COMMUTATIVE = {"Add", "Mul", "AND", "OR", "EQ", "NEQ", "max", "min"}
UNARY = {"Neg", "Sqr", "Reciprocal", "transpose"}
SYMBOLS = {"Sqr": "▢²", "Reciprocal": "1/▢"}
EMPTY = {"None", "[]", "constant(0)"}  # the default size of a random draw


class StepPart(Enum):
    """The kind of a node."""

    ARGUMENT = auto()
    SHARED = auto()
    OPERATION = auto()
    RESULT = auto()


@dataclass(frozen=True)
class StepNode:
    """A node: an argument or a shared value (a leaf), an operation (its number), or a result.

    `inputs` are nodes, from left to right; the arrows into an `ordered` node have this order. In
    a graph of formulas, shared values and results have a `term`.
    """

    part: StepPart
    place: Leaf | int | StepResult
    label: str = ""
    inputs: "tuple[StepNode, ...]" = ()
    ordered: bool = False
    term: Expression | None = None

    @property
    def key(self) -> str:
        """A unique key."""
        return f"{self.part.name}:{self.place}"


class StepNodes:
    """The graph of the operations in the step of a Scan."""

    def __init__(self, of: ScanOf) -> None:
        self.scan = of.scan
        self.fixed = set[int]()  # the values that depend on constants alone
        for number, value in enumerate(self.scan.inside):
            if all(isinstance(s, Number) or s in self.fixed for s in value.inputs):
                self.fixed.add(number)
        self._known: dict[str, StepNode] = {}

    @cached_property
    def results(self) -> tuple[StepNode, ...]:
        """The nodes of all results; all other nodes are their direct or indirect inputs."""
        return tuple(
            StepNode(StepPart.RESULT, result, inputs=tuple(self._inputs([result.source])))
            for result in self.scan.results
        )

    @cached_property
    def every(self) -> tuple[StepNode, ...]:
        """All nodes, each after its inputs."""
        return with_inputs(self.results)

    def value(self, place: Source | StepResult, step: int) -> np.ndarray | None:
        """Return the value of a node at a step; None if it is not an array or was not recorded."""
        return value_at(self.scan, place, step)

    @property
    def operations(self) -> int:
        """The number of operations in the graph."""
        values = enumerate(self.scan.inside)
        return sum(v.passes is None and n not in self.fixed for n, v in values)

    @property
    def recomputed(self) -> frozenset[int]:
        """The operations of the parent's step that this step computes again."""
        values = (value for value in self.scan.inside if value.passes is None)
        return frozenset(value.repeats for value in values if value.repeats is not None)

    def _resolved(self, source: Source) -> Source:
        """Return the constant, argument, or drawn operation that a source passes on."""
        while isinstance(source, int):
            value = self.scan.inside[source]
            if source in self.fixed:
                return Number(written(value.values[0]) if len(value.values) else "constant")
            if value.passes is None:
                return source
            source = value.inputs[value.passes]
        return source

    def _inputs(self, sources: Iterable[Source]) -> Iterator[StepNode]:
        for source in map(self._resolved, sources):
            if not isinstance(source, Number):
                key = str(source)
                self._known[key] = self._known.get(key) or self._node(source)
                yield self._known[key]

    def _node(self, source: Leaf | int) -> StepNode:
        if isinstance(source, Leaf):
            return StepNode(StepPart.ARGUMENT, source)
        value = self.scan.inside[source]
        inputs = tuple(self._inputs(value.inputs))
        ordered = len(inputs) > 1 and value.operation not in COMMUTATIVE
        return StepNode(StepPart.OPERATION, source, self.label(source), inputs, ordered)

    def label(self, number: int) -> str:
        """Return an operation with its constants: ``·``, ``▢·2``, or ``▢ − ▢``."""
        operation = self.scan.inside[number].operation
        inputs = [self._resolved(source) for source in self.scan.inside[number].inputs]
        constants = any(isinstance(source, Number) for source in inputs)
        if operation in SYMBOLS:
            return SYMBOLS[operation]
        if not constants and operation in COMMUTATIVE and operation in PLAIN.operators:
            return PLAIN.operators[operation].strip()
        is_called = not constants and operation not in UNARY | {"Pow", "at", *PLAIN.operators}
        if (len(inputs) == 1 and operation not in UNARY) or (is_called and len(inputs) > 3):
            return operation
        arguments: list[Term] = [
            source if isinstance(source, Number) else Leaf(SLOT, None, -1)
            for source in inputs
            if not (isinstance(source, Number) and source.written in EMPTY)
        ]
        return render(Call(operation, tuple(arguments)), lambda leaf: leaf.variable)


def with_inputs(results: Iterable[StepNode]) -> tuple[StepNode, ...]:
    """Return results and all nodes below them, each node after its inputs."""
    nodes: dict[str, StepNode] = {}

    def visit(node: StepNode) -> None:
        if node.key not in nodes:
            for before in node.inputs:
                visit(before)
            nodes[node.key] = node

    for result in results:
        visit(result)
    return tuple(nodes.values())


def value_at(scan: ScanTrace, place: Source | StepResult, step: int) -> np.ndarray | None:
    """Return the value of a node at a step; None if it is not an array or was not recorded."""
    if isinstance(place, StepResult):
        tape = scan.variable(place.target) if place.target is not None else None
        if place.target is None or not isinstance(tape, TapeTrace):
            return value_at(scan, place.source, step)
        values = next(a.values for a in tape.writes if a.tap == place.target.tap)
        return np.asarray(values[step])
    recorded = values_of(scan, place)
    return None if recorded is None else np.asarray(recorded[step])
