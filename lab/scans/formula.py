"""Write the step of a loop as formulas: ``buf[1] ← buf[0]·2·x₃ + buf[1]``.

`formulas` simplifies an inner graph by PyTensor's rewrites and returns expressions, which
`lab.notation` writes as plain text or LaTeX.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import Composite

from lab.errors import printable
from lab.notation import SLICE, STRENGTH, Call, Expression, Leaf, Number, Term, leaves_of
from lab.progress import pause
from lab.scans.backtraces import without_backtraces
from lab.scans.names import unique_names
from lab.scans.node import copy_graph, is_scan
from lab.scans.operations import (
    AXES,
    FUNCTIONS,
    OPERATORS,
    basic_name,
    dimshuffle_index,
    is_row,
    output_index,
    properties,
    unchanged_input,
)
from lab.scans.shared_terms import name_parts
from lab.scans.slices import index_parts

# A nested product with at most FACTORS factors becomes part of the outer product.
FACTORS = 8
# Excluded rewrites: the first two move a new axis into every factor, which makes formulas hard to
# read.  The others move a factor into a branch of where: 0·∞ would become 0 instead of nan.
SPREADING = (
    "local_dimshuffle_lift",
    "local_dot_to_mul",
    "local_mul_switch_sink",
    "local_div_switch_sink",
)
# PyTensor joins nested sums and products.  If each result is used twice, the number of operands
# grows exponentially.  With more than MOST operands, only equal operations are merged.
JOINED = {"Add": 0, "Sub": 0, "Mul": 1, "TrueDiv": 1, "Reciprocal": 1, "Sqr": 1}
MOST = 64
ZERO = Number("0")
# The maximum number of operations in a graph that is simplified.
MOST_OPERATIONS = 500


def simplify(results: Sequence[Variable]) -> list[Variable]:
    """Return `results` after PyTensor's canonicalization, without changing their graph.

    Above 500 operations, or 64 operands of a sum or product, only equal operations are merged.
    """
    nodes = list(toposort(results))
    if not nodes:
        return list(results)
    is_long = len(nodes) > MOST_OPERATIONS or _joined_length(nodes) > MOST
    passes = ("merge",) if is_long else ("canonicalize",)
    with without_backtraces(), np.errstate(all="ignore"):  # 1/0 is inf, as in a run
        simple = rewrite_graph(list(results), passes, clone=True, exclude=SPREADING)
    assert isinstance(simple, list)
    return simple


def _joined_length(nodes: Sequence[Apply]) -> int:
    """Return the largest number of operands of a sum or product after nested terms are joined."""
    counts: dict[Variable, list[int]] = {}  # numbers of operands as a sum and as a product
    for node in nodes:
        name = basic_name(node, node.outputs[0])
        inside = [counts.get(v, [1, 1]) for v in node.inputs]
        joined = inside[0] if name in ("Neg", "DimShuffle") else [1, 1]
        if (kind := JOINED.get(name)) is not None:
            joined[kind] = sum(count[kind] for count in inside)
        counts |= dict.fromkeys(node.outputs, joined)
    return max(map(max, counts.values()), default=1)


def formulas(
    results: Sequence[Variable], leaves: Mapping[Variable, Leaf], is_simple: bool = True
) -> tuple[Expression, ...]:
    """Return the expressions of `results`, simplified if `is_simple`; `leaves` names arguments."""
    pause()
    terms: dict[Variable, Term] = dict(leaves)
    simple = simplify(results) if is_simple else results
    written = _expressions(simple, terms)
    used_names = {term.variable for term in terms.values() if isinstance(term, Leaf)}
    return tuple(name_parts(term, used_names) for term in written)


def step_formulas(graph: FunctionGraph, leaves: Sequence[Leaf]) -> tuple[Expression, ...]:
    """Return the expressions of all results of the step `graph`, whose arguments are `leaves`.

    The result is cached: equal steps with the same leaves share their expressions.
    """
    inner = (n.op for n in graph.toposort() if isinstance(n.op, HasInnerGraph))
    names = tuple(op.name for op in inner if hasattr(op, "name"))
    return _cached_formulas(graph, tuple(leaves), names)


@lru_cache(maxsize=256)
def _cached_formulas(
    graph: FunctionGraph, leaves: tuple[Leaf, ...], names: tuple[str, ...]
) -> tuple[Expression, ...]:
    """Return cached formulas; the equality of graphs ignores `names`, those of inner loops."""
    arguments, results = copy_graph(graph)
    return formulas(results, dict(zip(arguments, leaves, strict=True)))


def _expressions(results: Sequence[Variable], terms: dict[Variable, Term]) -> list[Term]:
    """Return the expressions of `results`, and add the expressions of all values to `terms`."""
    for node in toposort(results, blockers=[*terms]):  # no recursion, because graphs can be deep
        for output in node.outputs:
            _expression(output, terms)
    return [_expression(result, terms) for result in results]


def _expression(variable: Variable, terms: dict[Variable, Term]) -> Term:
    if variable not in terms:
        if isinstance(variable, Constant):
            terms[variable] = Number(constant_text(variable.data))
        elif variable.owner is None:
            used = {term.variable for term in terms.values() if isinstance(term, Leaf)}
            *_, name = unique_names([*used, printable(variable.name or "input")])
            terms[variable] = Leaf(name, None, -1)
        else:
            terms[variable] = _operation(variable.owner, variable, terms)
    return terms[variable]


def _operation(node: Apply, output: Variable, terms: dict[Variable, Term]) -> Term:
    """Return the expression of `output`, a result of `node`."""
    name = basic_name(node, output)
    if name in ("at", "add_at", "set_at"):
        return _indexed(node, name, terms)
    arguments = tuple(_expression(v, terms) for v in node.inputs)
    if name == "DimShuffle":
        return _reshaped(node, arguments[0])
    if (same := unchanged_input(node, output)) is not None:
        return arguments[same]
    if name == "Cast":
        return Call(output.type.dtype, arguments)
    if name == "Sqr":
        return Call("Pow", (arguments[0], Number("2")))
    if name == "Reciprocal":
        return Call("TrueDiv", (Number("1"), arguments[0]))
    if name == "Mul":
        return _product(arguments)
    if name == "outer":
        return Call(name, tuple(map(_flat, arguments)))
    if name in STRENGTH:
        return Call(name, arguments)
    if name.endswith("RV"):  # a random draw, without its generator and shape
        return Call(name.removesuffix("RV").lower(), arguments[2:])
    inner = getattr(node.op, "scalar_op", node.op)
    is_graph = isinstance(inner, Composite) or (type(inner) is OpFromGraph and not inner.name)
    if is_graph and not any(map(is_scan, inner.fgraph.apply_nodes)):  # written out
        inputs, results = copy_graph(inner.fgraph)
        known: dict[Variable, Term] = dict(zip(inputs, arguments, strict=True))
        return _expressions(results, known)[node.outputs.index(output)]
    called = getattr(node.op, "name", None) if isinstance(node.op, HasInnerGraph) else None
    called = f"'{called}'" if called in {*OPERATORS, "list", "shape", SLICE} else called
    if is_scan(node):  # an inner loop: a function of its inputs
        arguments = tuple(dict.fromkeys(leaf for each in arguments for leaf in leaves_of(each)))
        scans = dict.fromkeys(v.owner for v in (*terms, output) if is_scan(v.owner))
        number = [scan.op.name for scan in scans][: [*scans].index(node)].count(node.op.name)
        called = f"{called}{number + 1}" if number else called
    elif (place := AXES.get(type(node.op).__name__)) is not None and not hasattr(node.op, "axis"):
        is_axis = isinstance(node.inputs[place], Constant)
        arguments = (*arguments[:place], *arguments[place + is_axis :])
    arguments += tuple(map(Number, properties(node)))
    call = Call(called or FUNCTIONS.get(name, name.lower()), arguments)
    part = node.op.i if name == "Shape_i" else output_index(node, output)
    return call if part is None else _part(call, Number(str(part)))


def _part(array: Term, *indices: Term) -> Term:
    """Return a part of an array, such as ``x[1:]``; ``shape(x)[0]`` is written as ``len(x)``."""
    if isinstance(array, Call) and array.name == "shape" and indices == (ZERO,):
        return Call("len", array.arguments)
    return Call("at", (array, *indices))


def _flat(expression: Term) -> Term:
    """Return the expression of the vector in a matrix with one row or one column."""
    if isinstance(expression, Call) and expression.name == "transpose":
        return _flat(expression.arguments[0])
    return _column(expression) or expression


def _column(expression: Term) -> Term | None:
    """Return the vector of a column such as ``v[:, None]`` or ``A @ v[:, None]``, or else None."""
    if not isinstance(expression, Call):
        return None
    first, *rest = expression.arguments
    if expression.name == "at" and rest == [Number(":"), Number("None")]:
        return first
    if expression.name == "Dot":
        vector = _column(rest[0])
        return None if vector is None else Call("Dot", (first, vector))
    if expression.name in ("Add", "Sub", "Neg"):
        vectors = tuple(vector for part in expression.arguments if (vector := _column(part)))
        return Call(expression.name, vectors) if len(vectors) == 1 + len(rest) else None
    return None


def _reshaped(node: Apply, argument: Term) -> Term:
    """Return the expression of a DimShuffle: a transpose, or an index that adds or drops axes."""
    is_permuted, indices = dimshuffle_index(node)
    if is_permuted:
        order = node.op.new_order
        if order != tuple(range(node.inputs[0].type.ndim))[::-1]:  # not the transpose
            return Call("dimshuffle", (argument, *(Number(str(axis)) for axis in order)))
        if isinstance(argument, Call) and argument.name == "transpose":
            return argument.arguments[0]
        if is_row(node.inputs[0]):
            return Call("at", (argument, Number(":"), Number("None")))
        return _column(argument) or Call("transpose", (argument,))
    if not indices:
        return argument
    column = _column(argument) if indices == [":", "0"] else None
    if column is not None:
        return column
    if indices == ["0"] and isinstance(argument, Call) and argument.name == "Dot":
        return argument  # a vector times a matrix
    return _part(argument, *map(Number, indices))


def _indexed(node: Apply, name: str, terms: dict[Variable, Term]) -> Term:
    """Return a part of an array, or an array with a changed part: ``x + (v at [k])``."""

    def known(part: Variable | slice | None) -> Term:
        if isinstance(part, slice):
            ends = (part.start, part.stop, *([] if part.step is None else [part.step]))
            return Call(SLICE, tuple(map(known, ends)))
        return Number("") if part is None else _expression(part, terms)

    variable, value, indices = index_parts(node)
    base, written = _expression(variable, terms), tuple(map(known, indices))
    if value is None:
        return _part(base, *written)
    change = _expression(value, terms), Call("list", written)
    if name == "add_at" and getattr(node.op, "ignore_duplicates", False):
        return Call("add_ignoring_duplicates", (base, *change))
    placed = Call("placed", change)
    operation = {"add_at": "Add", "set_at": "with"}[name]
    bases = base.arguments if isinstance(base, Call) and base.name == operation else (base,)
    return placed if (base, operation) == (ZERO, "Add") else Call(operation, (*bases, placed))


def _product(arguments: tuple[Term, ...]) -> Term:
    """Return a product, with leaves at a tap first, then numbers, other leaves, and calls."""
    factors: list[Term] = []
    for argument in arguments:
        inside = argument.arguments if isinstance(argument, Call) else ()
        is_product = isinstance(argument, Call) and argument.name == "Mul"
        factors += inside if is_product and len(inside) <= FACTORS else (argument,)

    def rank(factor: Term) -> int:
        if isinstance(factor, Leaf) and factor.tap is not None:
            return 0
        return 1 if isinstance(factor, Number) else 2 if isinstance(factor, Leaf) else 3

    return Call("Mul", tuple(sorted(factors, key=rank)))


def constant_text(data: object) -> str:
    """Write a number with at most six digits, a short vector as a list, and others as a shape."""
    array = np.asarray(data)
    if array.size != 1:
        if array.size > 4 or 1 in array.shape:
            return f"constant({'×'.join(map(str, array.shape))})"
        return f"[{', '.join(constant_text(entry) for entry in array)}]"
    value = array.reshape(-1)[0]
    return f"{value:g}" if array.dtype.kind in "iuf" else str(value)
