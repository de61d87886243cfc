"""Where what a graph is made of stands: in PyTensor's print of it, and in a person's code."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import pytensor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.printing import debugprint

from lab.errors import MAX_CHARACTERS, listing, shorten
from lab.scans.node import ScanParts, outer_outputs
from lab.tape import Kind

MOST = 20_000  # operations of a graph that is printed
PYTENSOR, LAB = PurePath(pytensor.__file__).parent, PurePath(__file__).parents[1]
Ids = Mapping[object, str]


@dataclass(frozen=True)
class Place:
    """Where a variable of a Scan stands: in PyTensor's print, in a person's code, in the pullback.

    `outer` is the id of the array that it is given, `inner` are those of its arguments in the
    step, `filled` is what it becomes, as the output ``.1 of [id D]``.  `line` is the code that
    made the array, if another line made it than the Scan, and `phase` the number and the name of
    the phase of the pullback that decided on it.
    """

    name: str
    outer: str = ""
    inner: tuple[str, ...] = ()
    filled: str = ""
    line: str = ""
    phase: str = ""

    @property
    def printed(self) -> str:
        """All ids by which it is printed; empty if there are none."""
        inner = f"in the step {listing(self.inner)}" if self.inner else ""
        filled = self.filled and f"filled as {self.filled}"
        return ", ".join(filter(None, (self.outer, inner, filled)))

    def __str__(self) -> str:
        line = self.line and f"made by {self.line}"
        phase = self.phase and f"of phase {self.phase}"
        return ", ".join(filter(None, (self.printed, line, phase)))


def printed_ids(outputs: Sequence[Variable]) -> Ids:
    """The id of everything that ``pytensor.dprint`` prints of a graph; of a huge one none."""
    ids: dict[object, str] = {}
    nodes = list(toposort(outputs))
    if len(nodes) <= MOST:
        debugprint(list(outputs), file="str", used_ids=ids)  # type: ignore[arg-type]  # of both
    return ids


def line_of(variable: Variable) -> str:
    """The line of a person's code in which a variable was made; empty where that is not known.

    What is made of a declared loop is made here, and by nobody's line.
    """
    for trace in getattr(variable.tag, "trace", ()):
        for path, number, _, code in reversed(trace):
            if code and PYTENSOR not in PurePath(path).parents:
                is_ours = LAB in PurePath(path).parents
                told = f"{PurePath(path).name}:{number}: {code}"
                return "" if is_ours else shorten(told, 4 * MAX_CHARACTERS)
    return ""


def place_of(node: Apply, ids: Ids) -> str:
    """``[id F], made by mine.py:12: xs = …``, as far as it is known."""
    line = line_of(node.outputs[0])
    return ", made by ".join(filter(None, (ids.get(node, ""), line)))


def ids_inside(node: Apply, parts: ScanParts, ids: Ids) -> Ids:
    """The ids of what the step of a Scan is made of as well, by the copies of it in `parts`."""
    found: dict[object, str] = {}
    waiting = [*zip(parts.inner_outputs, node.op.fgraph.outputs, strict=False)]
    while waiting:
        copy, printed = waiting.pop()
        if copy not in found:
            found[copy] = ids.get(printed, "")
            if copy.owner is not None and printed.owner is not None:
                found[copy.owner] = ids.get(printed.owner, "")
                waiting += zip(copy.owner.inputs, printed.owner.inputs, strict=False)
    return ChainMap(found, dict(ids))


def places_of(
    node: Apply, parts: ScanParts, ids: Ids, phases: Sequence[str] = ()
) -> Iterator[Place]:
    """Where every variable of a Scan stands, in the order of its arguments; as far as is known.

    `phases` tell, in the same order, which phase of a pullback decided on it.
    """
    arguments = dict(zip(parts.inner_inputs, node.op.fgraph.inputs, strict=False))
    outputs, own = outer_outputs(parts, node), line_of(node.outputs[0])
    given = zip(parts.variables, node.inputs[1:], strict=True)
    for (part, array), phase in zip(given, [*phases, *[""] * len(node.inputs)], strict=False):
        has_array = part.kind is not Kind.NIT_SOT  # but a number of rows
        line, filled = line_of(array) if has_array else "", ids.get(node, "")
        if part not in outputs:
            filled = ""
        elif filled and len(node.outputs) > 1:
            filled = f".{node.outputs.index(outputs[part])} of {filled}"
        yield Place(
            part.name,
            (ids.get(array.owner) or ids.get(array, "")) if has_array else "",
            tuple(filter(None, (ids.get(arguments.get(v), "") for v in part.inner_inputs))),
            filled,
            "" if line == own else line,
            phase,
        )
