"""Where what a graph is made of stands: in PyTensor's print of it, and in a person's code."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import pytensor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.printing import debugprint

MOST = 20_000  # operations of a graph that is printed
PYTENSOR, LAB = PurePath(pytensor.__file__).parent, PurePath(__file__).parents[1]
Ids = Mapping[object, str]


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
                return "" if is_ours else f"{PurePath(path).name}:{number}: {code}"
    return ""


def place_of(node: Apply, ids: Ids) -> str:
    """``[id F], made by mine.py:12: xs = …``, as far as it is known."""
    line = line_of(node.outputs[0])
    return ", made by ".join(filter(None, (ids.get(node, ""), line)))
