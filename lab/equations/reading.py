"""A Scan read as a system of equations: `lab.system`."""

from collections.abc import Mapping

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from lab.equations.symbols import argument_name, cuts_of, maker_of, symbols_of
from lab.equations.system import Quantity, Role, System
from lab.errors import GraphError, expect, refused
from lab.notation import Expression, Leaf, Number
from lab.scans.formula import formulas
from lab.scans.node import LoopVariable, is_scan, outer_inputs, read_scan
from lab.scans.replacing import scan_nodes
from lab.scans.slices import Cut, now_of
from lab.tape import Kind
from lab.traces.step_values import step_condition, step_equations

ELSEWHERE = Number("…")  # computed at length, or by another Scan
LONGEST = 30  # operations in what is written out where an argument was computed

ROLES: Mapping[Kind, Role] = {
    Kind.SEQUENCE: Role.INPUT,
    Kind.MIT_MOT: Role.STATE,
    Kind.MIT_SOT: Role.STATE,
    Kind.SIT_SOT: Role.STATE,
    Kind.NIT_SOT: Role.OUTPUT,
    Kind.UNTRACED: Role.NON_NUMERIC,
    Kind.PARAMETER: Role.PARAMETER,
}


def system(
    subject: Variable | Apply, given: Mapping[str, Expression] | None = None, name: str = ""
) -> System:
    """The Scan of a graph as a system of equations.

    `subject` is a Scan node, or a variable that depends on exactly one Scan; `given` tells
    what the initial values of states are, where that is known better than from the graph.
    Raises GraphError if there is no Scan or more than one.
    """
    node = the_scan(subject)
    given = {} if given is None else expect("given", given, Mapping, "initial values by name")
    expect("name", name, str, "a text")
    parts = read_scan(node.op, node.inputs, node.outputs)
    variables = outer_inputs(parts)
    cuts = cuts_of(parts, variables, node)
    named = [
        argument_name(part, cut.base, node) for part, (cut, _) in zip(variables, cuts, strict=True)
    ]
    symbols = symbols_of(variables, named, [found.base for found, _ in cuts])
    quantities = tuple(
        _quantity(part, number, symbols[number], cut, length, given)
        for number, (part, (cut, length)) in enumerate(zip(variables, cuts, strict=True))
    )
    return System(
        name=name or parts.called,
        steps=_expression(parts.n_steps) or Leaf("n", None, -1),
        quantities=quantities,
        equations=step_equations(node, parts),
        until=step_condition(node, parts),
    )


def the_scan(subject: object) -> Apply:
    """The only Scan that `subject` is, or depends on; GraphError if there is another number."""
    if isinstance(subject, Apply) and is_scan(subject):
        return subject
    if not isinstance(subject, Variable):
        raise refused(
            "subject", subject, "expected a Scan's node, or a variable that depends on one."
        )
    nodes = scan_nodes([subject])
    if len(nodes) != 1:
        found = f"there are {len(nodes)} Scans" if nodes else "there is no Scan"
        raise GraphError(
            f"subject = {subject}: {found} in this graph; a system is made of one. "
            "lab.explain tells what there is in a graph."
        )
    return nodes[0]


def _quantity(
    part: LoopVariable,
    number: int,
    symbol: str,
    cut: Cut,
    length: str,
    given: Mapping[str, Expression],
) -> Quantity:
    row = part.inner_inputs[0] if part.inner_inputs else None
    row = part.inner_outputs[0] if row is None and part.inner_outputs else row
    kind = getattr(row, "type", None)
    return Quantity(
        symbol=symbol,
        role=ROLES[part.kind],
        kind=part.kind,
        argument=number,
        tape=part.tape,
        dtype=str(getattr(kind, "dtype", kind)),
        shape=tuple(getattr(kind, "shape", ())),
        first=cut.first,
        way=cut.way,
        length=length,
        now=now_of(cut.base),
        given=given.get(part.name, _given(part, cut, symbol)),
    )


def _given(part: LoopVariable, cut: Cut, symbol: str) -> Expression | None:
    """What an argument was computed as, unless it is an input of the graph or a Scan's result."""
    maker = maker_of(cut.base)
    if part.kind is Kind.NIT_SOT:
        return None
    if maker is not None:
        return Number(f"what {maker[0]} computed")
    told = _expression(cut.base) or ELSEWHERE
    plain = isinstance(told, Leaf) and told.variable == symbol
    return None if plain and not part.kind.is_state else told


def _expression(variable: Variable) -> Expression | None:
    """How `variable` was computed from the graph's inputs; None if that is long, or by a Scan."""
    nodes = list(toposort([variable]))
    if len(nodes) > LONGEST or any(map(is_scan, nodes)):
        return None
    return formulas([variable], {})[0]
