"""Locate the variables of a graph in PyTensor's printout and in the user's code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import pytensor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.printing import debugprint

from lab.errors import MAX_CHARACTERS, shorten
from lab.scans.node import ScanParts, outer_outputs
from lab.tape import Kind

MAX_PRINTED = 20_000  # operations; larger graphs are not printed
PYTENSOR, LAB = PurePath(pytensor.__file__).parent, PurePath(__file__).parents[1]
Ids = Mapping[object, str]


@dataclass(frozen=True)
class PrintedPlace:
    """The location of a loop variable: in PyTensor's printout, in the user's code, in the pullback.

    `outer` is the id of its outer input, `inner` are the ids of its arguments in the step, and
    `filled` is its outer output, such as ``.1 of [id D]``.  `line` is the source line of the array,
    if it differs from the line of the Scan, and `phase` the number and name of the phase that built
    the variable.
    """

    name: str
    outer: str = ""
    inner: tuple[str, ...] = ()
    filled: str = ""
    line: str = ""
    phase: str = ""


def printed_ids(outputs: Sequence[Variable]) -> Ids:
    """Return the ids that ``pytensor.dprint`` prints of a graph; empty for huge graphs."""
    ids: dict[object, str] = {}
    nodes = list(toposort(outputs))
    if len(nodes) <= MAX_PRINTED:
        debugprint(list(outputs), file="str", used_ids=ids)  # type: ignore[arg-type]
    return ids


def line_of(variable: Variable) -> str:
    """Return the source line that created a variable, or an empty string if it is unknown.

    Variables of a declared loop have no source line.
    """
    for trace in getattr(variable.tag, "trace", ()):
        for path, number, _, code in reversed(trace):
            if code and PYTENSOR not in PurePath(path).parents:
                is_ours = LAB in PurePath(path).parents
                text = f"{PurePath(path).name}:{number}: {code}"
                return "" if is_ours else shorten(text, 4 * MAX_CHARACTERS)
    return ""


def places_of(
    node: Apply, parts: ScanParts, ids: Ids, phases: Sequence[str] = ()
) -> Iterator[PrintedPlace]:
    """Yield the place of every variable of a Scan, in the order of its arguments.

    `phases` are the phases of the pullback in the same order.
    """
    arguments = dict(zip(parts.inner_inputs, node.op.fgraph.inputs, strict=False))
    outputs, own = outer_outputs(parts, node), line_of(node.outputs[0])
    given = zip(parts.variables, node.inputs[1:], strict=True)
    for (part, array), phase in zip(given, [*phases, *[""] * len(node.inputs)], strict=False):
        has_array = part.kind is not Kind.NIT_SOT  # a nit-sot has a number of rows
        line, filled = line_of(array) if has_array else "", ids.get(node, "")
        if part not in outputs:
            filled = ""
        elif filled and len(node.outputs) > 1:
            filled = f".{node.outputs.index(outputs[part])} of {filled}"
        yield PrintedPlace(
            part.name,
            (ids.get(array.owner) or ids.get(array, "")) if has_array else "",
            tuple(filter(None, (ids.get(arguments.get(v), "") for v in part.inner_inputs))),
            filled,
            "" if line == own else line,
            phase,
        )
