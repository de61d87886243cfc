"""The step of a loop as mathematics: ``buf[1] ← buf[0]·2·x₃ + buf[1]``.

`formulas` turns an inner graph, simplified by PyTensor's own rewrites, into expressions,
which `lab.notation` writes as plain text or LaTeX.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import toposort

from lab.errors import printable
from lab.notation import STRENGTH, Call, Expression, Leaf, Number, Slice, Term, leaves_of
from lab.progress import pause
from lab.scans.backtraces import without_backtraces
from lab.scans.naming import shared
from lab.scans.node import fresh_graph
from lab.scans.operations import FUNCTIONS, describe, is_row, passed_on, reshaped
from lab.scans.slices import index_parts

FACTORS = 8  # of a product within a product, up to which it becomes one: else each doubles the last
# Rewrites that move the adding of an axis into every factor, which is harder to read; and those
# that move a factor into a branch of where: 0·∞ would be 0 in the formula, and is nan in the run.
SPREADING = (
    "local_dimshuffle_lift",
    "local_dot_to_mul",
    "local_mul_switch_sink",
    "local_div_switch_sink",
)
# PyTensor makes one sum, and one product, of those within others.  Of a step that uses a result
# twice, and twice what it made of that, they have exponentially many members: beyond MOST the
# formula stays as it was written, but for what is there twice.
JOINED = {"Add": 0, "Sub": 0, "Mul": 1, "TrueDiv": 1, "Reciprocal": 1, "Sqr": 1}
MOST = 64
# A formula of more operations ends long before all of them are written, and to simplify it would
# take most of the time of a picture.
MOST_OPERATIONS = 500


def simplify(results: Sequence[Variable], most: int = MOST_OPERATIONS) -> list[Variable]:
    """`results` after PyTensor's canonicalization; the graph that was given stays as it is.

    Of more than `most` operations those that are there twice become one, and that is all.
    """
    nodes = list(toposort(results))
    if not nodes:
        return list(results)
    is_long = len(nodes) > most or _longest(nodes) > MOST
    passes = ("merge",) if is_long else ("canonicalize",)
    with without_backtraces(), np.errstate(all="ignore"):  # 1/0 is inf, as it is when it runs
        simple = rewrite_graph(list(results), passes, clone=True, exclude=SPREADING)
    assert isinstance(simple, list)  # as many as were given
    return simple


def _longest(nodes: Sequence[Apply]) -> int:
    """How many members the longest sum or product would have, were all within others joined."""
    counts: dict[Variable, tuple[int, int]] = {}  # of its sum, and of its product
    for node in nodes:
        name = describe(node, node.outputs[0])[0]
        inside = [counts.get(v, (1, 1)) for v in node.inputs]
        if name in ("Neg", "DimShuffle"):
            made = inside[0]
        elif name in JOINED:
            both = [1, 1]
            both[JOINED[name]] = sum(count[JOINED[name]] for count in inside)
            made = both[0], both[1]
        else:
            made = 1, 1
        counts |= dict.fromkeys(node.outputs, made)
    return max((max(made) for made in counts.values()), default=1)


def formulas(
    results: Sequence[Variable], leaves: Mapping[Variable, Leaf]
) -> tuple[Expression, ...]:
    """The expressions of `results`, simplified, in terms of the arguments `leaves` of the step."""
    pause()
    return _found(results, leaves)


def _found(results: Sequence[Variable], leaves: Mapping[Variable, Leaf]) -> tuple[Expression, ...]:
    found: dict[Variable, Term] = dict(leaves)
    simple = simplify(results)
    for node in toposort(simple, blockers=leaves):  # so that no step is too deep
        for output in node.outputs:
            _expression(output, found)
    taken = {leaf.variable for leaf in leaves.values()}
    return tuple(shared(_expression(result, found), taken) for result in simple)


def step_formulas(graph: FunctionGraph, leaves: Sequence[Leaf]) -> tuple[Expression, ...]:
    """The expressions of all results of the step `graph`, whose arguments are the `leaves`.

    They are remembered: of an equal step, with arguments of the same names, they are the same.
    """
    pause()
    inner = (n.op for n in graph.toposort() if isinstance(n.op, HasInnerGraph))
    return _of_step(graph, tuple(leaves), tuple(op.name for op in inner if hasattr(op, "name")))


@lru_cache(maxsize=256)
def _of_step(
    graph: FunctionGraph, leaves: tuple[Leaf, ...], names: tuple[str, ...]
) -> tuple[Expression, ...]:
    """As `step_formulas`; `names` are those of the loops inside, by which graphs do not differ."""
    arguments, results = fresh_graph(graph)
    return _found(results, dict(zip(arguments, leaves, strict=True)))


def _expression(variable: Variable, found: dict[Variable, Term]) -> Term:
    if variable not in found:
        if isinstance(variable, Constant):
            found[variable] = Number(written(variable.data))
        elif variable.owner is None:
            found[variable] = Leaf(printable(variable.name or str(variable)), None, -1)
        else:
            found[variable] = _operation(variable.owner, variable, found)
    return found[variable]


def _operation(node: Apply, output: Variable, found: dict[Variable, Term]) -> Term:
    """What `node` computes as its `output`."""
    name, axes, part = describe(node, output)
    if name in ("at", "add_at", "set_at"):
        return _indexed(node, name, found)
    arguments = tuple(_expression(v, found) for v in node.inputs)
    if name == "DimShuffle":
        return _reshaped(node, arguments[0])
    if (same := passed_on(node, output)) is not None:
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
    if isinstance(node.op, HasInnerGraph):  # a loop inside the step: what it is made of
        read = dict.fromkeys(leaf for argument in arguments for leaf in leaves_of(argument))
        return Call(getattr(node.op, "name", None) or name, tuple(read))
    if name.endswith("RV"):  # of its inputs, the generator and the shape come first
        return Call(name.removesuffix("RV").lower(), arguments[2:])
    if axes is not None:
        arguments += tuple(Number(f"axis={axis}") for axis in axes)
    call = Call(FUNCTIONS.get(name, name.lower()), arguments)
    return Call("at", (call, Number(str(part)))) if part is not None else call


def _flat(expression: Term) -> Term:
    """A vector that was made a row or a column, as the vector that it was."""
    if isinstance(expression, Call) and expression.name == "transpose":
        return _flat(expression.arguments[0])
    return _column(expression) or expression


def _column(expression: Term) -> Term | None:
    """The vector of which an expression is the column: ``A @ v`` of ``A @ v[:, None]``."""
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
    """A DimShuffle: a transposition, or an index that adds or drops axes."""
    turned, indices = reshaped(node)
    if turned:
        order = node.op.new_order
        if order != tuple(range(node.inputs[0].type.ndim))[::-1]:  # neither row nor column
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
    return Call("at", (argument, *map(Number, indices)))


def _indexed(node: Apply, name: str, found: dict[Variable, Term]) -> Term:
    """``x[1:]``, or what is added or put there."""

    def known(variable: Variable | None) -> Term | None:
        return None if variable is None else _expression(variable, found)

    base, value, indices = index_parts(node)
    written = [_expression(base, found)]
    for index in indices:
        if isinstance(index, slice):
            written.append(Slice(known(index.start), known(index.stop), known(index.step)))
        else:
            written.append(_expression(index, found))
    place = Call("at", tuple(written))
    return place if value is None else Call(name, (place, _expression(value, found)))


def _product(arguments: tuple[Term, ...]) -> Term:
    """Factors that the tape holds come first, then numbers, then the rest."""
    factors: list[Term] = []
    for argument in arguments:
        inside = argument.arguments if isinstance(argument, Call) else ()
        if isinstance(argument, Call) and argument.name == "Mul" and len(inside) <= FACTORS:
            factors += inside
        else:
            factors.append(argument)

    def rank(factor: Term) -> int:
        if isinstance(factor, Leaf) and factor.tap is not None:
            return 0
        return 1 if isinstance(factor, Number) else 2 if isinstance(factor, Leaf) else 3

    return Call("Mul", tuple(sorted(factors, key=rank)))


def written(data: object) -> str:
    """A constant with as many digits as it needs, up to six; small arrays in full."""
    array = np.asarray(data)
    if array.size != 1:
        if array.size > 4 or array.ndim > 1:
            return f"constant({'×'.join(map(str, array.shape))})"
        return f"[{', '.join(written(entry) for entry in array)}]"
    value = array.reshape(-1)[0]
    if array.dtype.kind == "b":
        return str(bool(value))
    return f"{value:g}" if array.dtype.kind in "iuf" else str(value)
