"""Read a Scan as a system of equations: `lab.system`.

An argument that is a slice of an array has the name of the array.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from lab.equations.system import Quantity, System
from lab.errors import GraphError, argument_error, check_type
from lab.gradients.decisions import relation_of
from lab.notation import Expression, Leaf, Number, render
from lab.scans.buffers import initial_of
from lab.scans.formula import formulas
from lab.scans.names import unique_names
from lab.scans.node import LoopVariable, ScanParts, is_scan, read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import Cut, constant_value, current_row, cut_of
from lab.tape import Kind
from lab.traces.step_values import step_condition, step_equations

ELSEWHERE = Number("…")  # placeholder for a long expression, or for an output of another Scan
RowCut = tuple[Cut, str]  # the rows of an argument, and a text to add to the first row
LONGEST = 30  # operations in the printed expression of an argument


def system(
    subject: Variable | Apply, given: Mapping[str, Expression] | None = None, name: str = ""
) -> System:
    """Return the Scan of a graph as a system of equations.

    `subject` is a Scan node, or a variable that depends on exactly one Scan.  `given` contains
    expressions of initial values by name, which replace the expressions in the graph.

    `name` replaces the name of the Scan.  Raise GraphError unless the graph has exactly one Scan.
    """
    node = the_scan(subject)
    given = {} if given is None else check_type("given", given, Mapping, "initial values by name")
    check_type("name", name, str, "a text")
    parts = read_node(node)
    arguments = list(zip(parts.variables, _cuts_of(parts, node), strict=True))
    named = zip(_symbols_of(arguments), arguments, strict=True)
    quantities = []
    for number, (symbol, (part, (cut, length))) in enumerate(named):
        kind = (part.inner_inputs or part.inner_outputs)[0].type
        quantities.append(
            Quantity(
                symbol=symbol,
                kind=part.kind,
                argument=number,
                tape=part.tape,
                dtype=str(getattr(kind, "dtype", kind)),
                shape=tuple(getattr(kind, "shape", ())),
                first=cut.first,
                way=cut.stride,
                length=length,
                now=current_row(cut.base),
                given=given.get(part.name, _initial_expression(part, cut, symbol)),
            )
        )
    constant = constant_value(parts.n_steps)
    steps = _expression(parts.n_steps) if constant is None else Number(str(constant))
    return System(
        name=name or parts.called,
        steps=steps or Leaf("n", None, -1),
        quantities=tuple(quantities),
        equations=step_equations(node, parts),
        until=step_condition(node, parts),
    )


def the_scan(subject: object) -> Apply:
    """Return the only Scan of a graph; raise GraphError unless it has exactly one Scan."""
    if isinstance(subject, Apply) and is_scan(subject):
        return subject
    if not isinstance(subject, Variable):
        expected = "expected a Scan's node, or a variable that depends on a Scan."
        raise argument_error("subject", subject, expected)
    nodes = scan_nodes([subject])
    if len(nodes) != 1:
        count = f"{len(nodes)} Scans" if nodes else "no Scan"
        reason = f"expected one Scan, got {count}. lab.explain lists the Scans in a graph."
        raise GraphError(f"subject = {subject}: {reason}")
    return nodes[0]


def _initial_expression(part: LoopVariable, cut: Cut, symbol: str) -> Expression | None:
    """Return the expression of a state's initial values or a computed argument, otherwise None."""
    maker = _maker_of(cut.base)
    if part.kind is Kind.NIT_SOT:
        return None
    if maker is not None:
        return Number(f"output of {maker[0].called}")
    expression = _expression(cut.base) or ELSEWHERE
    plain = render(expression, lambda leaf: leaf.variable) == symbol
    return None if plain and not part.kind.is_state else expression


def _expression(variable: Variable) -> Expression | None:
    """Return `variable` as an expression of inputs; None if it is long or contains a Scan."""
    nodes = list(toposort([variable]))
    if len(nodes) > LONGEST or any(map(is_scan, nodes)):
        return None
    return formulas([variable], {})[0]


def _cuts_of(parts: ScanParts, node: Apply) -> list[RowCut]:
    """Return a `Cut` of each argument, and a text to add to the first row of the cut.

    The text is "n" if the first row is relative to the number of steps, otherwise "".
    """
    relation = relation_of(node.op)
    if relation is None:
        return [(_cut(part), "") for part in parts.variables]
    readings, forward = {r.variable: r for r in relation.readings}, relation.forward
    known = dict(zip(forward.variables, _cuts_of(forward, relation.parent), strict=True))
    n_steps = constant_value(forward.n_steps) if forward.until is None else None
    backward_cuts = []
    for part, original in zip(parts.variables, relation.backward.variables, strict=True):
        rows = _cut(part), ""
        if (reading := readings.get(original)) is not None:
            source = reading.source
            if source.kind is Kind.SEQUENCE:
                forward_rows = known[source]
            else:
                forward_rows = Cut(source.filled, source.tape.row(0, reading.tap)), ""
            rows = _reverse_cut(*forward_rows, n_steps) or (Cut(part.outer_input), "")
        backward_cuts.append(rows)
    return backward_cuts


def _reverse_cut(cut: Cut, length: str, steps: int | None) -> RowCut | None:
    """Return the rows that a backward loop reads after a forward loop of `steps` steps.

    `steps` is None if the number of steps, n, is unknown.  Step t of a backward loop differentiates
    step n − 1 − t.  Therefore, step t reads the row ``first + stride·(n − 1) − stride·t`` instead
    of ``first + stride·t``.  Return None if the row depends on an unknown n in another way.
    """
    if steps is not None:
        return replace(cut, first=cut.first + cut.stride * (steps - 1), stride=-cut.stride), length
    if abs(cut.stride) != 1 or bool(length) == (cut.stride == 1):
        return None
    turned = replace(cut, first=cut.first - cut.stride, stride=-cut.stride)
    return turned, "" if length else "n"


def _cut(part: LoopVariable) -> Cut:
    """Return the `Cut` of an argument: the rows of a sequence, or else the initial values.

    Rows of a state's buffer are counted from the start of the buffer.  If they are counted from its
    end and the number of steps is unknown, the result is the whole argument.
    """
    if part.kind is not Kind.SEQUENCE:
        return Cut(initial_of(part.outer_input))
    cut = cut_of(part.outer_input)
    maker = _maker_of(cut.base) if cut.first < 0 else None
    if maker is None or not maker[1].kind.is_state:
        return cut
    scan, state = maker
    n_steps = constant_value(scan.n_steps)
    if n_steps is None or scan.until is not None:
        return Cut(part.outer_input)
    return replace(cut, first=cut.first + n_steps + state.tape.origin)


def _symbols_of(arguments: Sequence[tuple[LoopVariable, RowCut]]) -> list[str]:
    """Return a symbol per argument: one for all slices of an array; for an output, its own name."""
    keys = [cut.base if part.kind is Kind.SEQUENCE else part for part, (cut, _) in arguments]
    names: dict[object, str] = {}
    for key, (part, (cut, _)) in zip(keys, arguments, strict=True):
        maker = _maker_of(cut.base) if part.kind is Kind.SEQUENCE else None
        names.setdefault(key, maker[1].name if maker is not None else part.name)
    unique = dict(zip(names, unique_names(list(names.values())), strict=True))
    return [unique[key] for key in keys]


def _maker_of(base: Variable) -> tuple[ScanParts, LoopVariable] | None:
    """Return the Scan and the loop variable whose output is `base`; None without a Scan."""
    node = base.owner
    if not is_scan(node):
        return None
    parts = read_node(node)
    return next((parts, part) for part in parts.variables if part.outer_output is base)
