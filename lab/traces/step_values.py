"""List the operations of a step with their values, and find repeated operations.

A backward step often needs values of the forward step.  The backward step reads results of the
forward step from a buffer, and computes other values again.  A repetition is the same operation as
in the forward step, on the same values.
"""

from collections.abc import Iterator

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable

from lab.gradients.decisions import ReadingGroup, Relation
from lab.gradients.step import Numbering
from lab.notation import Expression, Leaf, Number
from lab.records import freeze
from lab.scans.formula import constant_text, step_formulas
from lab.scans.node import ScanParts
from lab.scans.operations import operation_name, plain_name, unchanged_input
from lab.tape import Kind
from lab.traces.loop_run import ScanRecording
from lab.traces.trace import Formula, Source, StepResult, StepValue


def argument_leaves(parts: ScanParts) -> dict[Variable, Leaf]:
    """Map the arguments of a step to leaves; only the leaf of a state has a tap."""
    return {
        argument: Leaf(part.name, tap if part.kind.is_state else None, number)
        for number, part in enumerate(parts.variables)
        for tap, argument in (part.reads if part.inner_inputs else ())
    }


def targets(parts: ScanParts) -> Iterator[tuple[Leaf, Variable]]:
    """Yield each variable that a step writes, with its write tap, and the written result."""
    for number, part in enumerate(parts.variables):
        if part.kind.is_state or part.kind is Kind.NIT_SOT:
            for tap, result in part.writes:
                yield Leaf(part.name, tap, number), result


def step_equations(node: Apply, parts: ScanParts) -> tuple[Formula, ...]:
    """Return the simplified formulas of a step."""
    by_result = dict(zip(parts.inner_outputs, _expressions(node, parts), strict=True))
    return tuple(Formula(target, by_result[result]) for target, result in targets(parts))


def step_condition(node: Apply, parts: ScanParts) -> Expression | None:
    """Return the until condition of a Scan, or None for a Scan without an until condition."""
    return None if parts.until is None else _expressions(node, parts)[-1]


def _expressions(node: Apply, parts: ScanParts) -> tuple[Expression, ...]:
    leaves = argument_leaves(parts)
    return step_formulas(node.op.fgraph, [leaves[v] for v in parts.inner_inputs])


def step_values(
    recording: ScanRecording,
    relation: Relation | None,
    parent: ScanRecording | None,
    numbers: Numbering,
) -> tuple[tuple[StepValue, ...], tuple[StepResult, ...]]:
    """Return the operations and the results of a Scan's step.

    `numbers` assigns numbers to the values of all Scans; process the `parent` of a Scan first.
    """
    parts = recording.parts
    if relation is not None and parent is not None:
        _number_arguments(numbers, relation, parts, parent.parts)
    known = {}
    if parent is not None:
        known = {numbers.number_of(v): i for i, v in reversed(list(enumerate(parent.inside)))}
    places: dict[Variable, Source] = dict(argument_leaves(parts))

    def source(variable: Variable) -> Source:
        if isinstance(variable, Constant):
            return Number(constant_text(variable.data))
        if variable not in places:  # a generator or a shared variable
            name = "generator" if variable.owner else variable.name or str(variable)
            others = sum(isinstance(v, Leaf) and v.argument < 0 for v in places.values())
            places[variable] = Leaf(f"{name} {others + 1}", None, -1)
        return places[variable]

    readings = []
    fixed, unwritten = set[Variable](), set[Variable]()
    for number, (variable, values) in enumerate(recording.inside.items()):
        node = variable.owner
        if all(v in fixed or isinstance(v, Constant) for v in node.inputs):
            fixed.add(variable)  # a value that is constant over steps is no repetition
        name = plain_name(node)  # uninitialized memory repeats no value
        if name == "AllocEmpty" or (name == "IncSubtensor" and node.inputs[0] in unwritten):
            unwritten.add(variable)
            values = np.empty(0)
        own = numbers.number_of(variable)
        repeats = None if variable in fixed else known.get(own)
        readings.append(
            StepValue(
                operation_name(node, variable),
                tuple(source(v) for v in node.inputs),
                freeze(values),
                passes=unchanged_input(node, variable),
                repeats=repeats,
            )
        )
        places[variable] = number
    results = [StepResult(target, source(result)) for target, result in targets(parts)]
    if parts.until is not None:
        results.append(StepResult(None, source(parts.until)))
    return tuple(readings), tuple(results)


def _number_arguments(
    numbers: Numbering, relation: Relation, parts: ScanParts, parent: ScanParts
) -> None:
    """Number the arguments of a backward step that contain values of the parent's step.

    Each such argument receives the number of the value.
    """
    held = {r.variable: (r.group, r.source, r.tap) for r in relation.readings}
    places = {part: number for number, part in enumerate(relation.forward.variables)}
    above = parent.variables
    for built, part in zip(relation.backward.variables, parts.variables, strict=True):
        if built in held:
            group, source, tap = held[built]
            part_above = above[places[source]]
            accesses = part_above.writes if group is ReadingGroup.RESULT else part_above.reads
            # The gradient of an output, or a slice by another pullback, has no counterpart.
            is_outer = group is ReadingGroup.NIT_SOT_GRADIENT
            there = None if is_outer else dict(accesses).get(tap)
        elif built in places:  # a parameter
            there = above[places[built]].inner_inputs[0]
        else:
            continue
        if there is not None:
            numbers.known[part.inner_inputs[0]] = numbers.number_of(there)
