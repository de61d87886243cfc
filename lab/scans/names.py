"""Write the names of Scans for readers, and name unnamed loop variables."""

import re
from collections.abc import Sequence
from itertools import count, groupby

from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import ScalarFromTensor
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.errors import printable
from lab.scans.slices import cut_of, links
from lab.tape import Kind

# Operations whose result has the name of its input.  A slice of a parameter is another value.
SAME_VALUE = (SpecifyShape, ScalarFromTensor)
IN_BUFFER = (Subtensor, IncSubtensor, DimShuffle, Reshape, *SAME_VALUE)
NAMED_LIKE_INPUT = {Kind.PARAMETER: SAME_VALUE, Kind.SEQUENCE: (Subtensor, *SAME_VALUE)}
LETTERS = {Kind.PARAMETER: "p", Kind.SEQUENCE: "s"}  # names of unnamed variables; otherwise v

# A state whose initial value is x0 has the name x, and its values are x₀, x₁, and so on.
SLICE = re.compile(r"\[-?\d*:(-?\d+)?\]$")
FIRST_VALUE = re.compile(r"\w*[^\W\d_]0")

# The prefixes of the names of derivatives, and the corresponding words for readers.
PREFIXES = {
    "grad_of_": "gradient",
    "replay_of_": "replay",
    "rop_of_": "tangent",
    "tangent_of_": "tangent",
    "taylor_of_": "series",
}


def readable(name: str, loop: str = "") -> str:
    """Return the name of a Scan for readers: ``gradient of square`` for ``grad_of_square``.

    `loop` replaces ``square``.  Three or more equal prefixes become ``3-fold gradient of square``.
    """
    prefixes, name = split_name(name)
    words: list[str] = []
    for word, alike in groupby(PREFIXES[prefix] for prefix in prefixes):
        same = [*alike]
        words += same if len(same) < 3 else [f"{len(same)}-fold {word}"]
    return " of ".join([*words[:1], *(f"the {word}" for word in words[1:]), loop or name])


def split_name(name: str) -> tuple[list[str], str]:
    """Split the name of a Scan into prefixes of derivatives and the name of the loop."""
    prefixes: list[str] = []
    while (prefix := next(filter(name.startswith, PREFIXES), "")) and name != prefix:
        prefixes.append(prefix)
        name = name.removeprefix(prefix)
    return prefixes, name


def names_of_inputs(kinds: Sequence[Kind], inputs: Sequence[Variable]) -> tuple[str, ...]:
    """Return a name for each outer input of a Scan; `kinds` are the kinds of the inputs.

    Only slices of one array share a name.  The tag `declared` of a variable stores a name that
    Scantape assigned, such as the name of the loop variable whose input or value it is.
    """
    sources = [*map(named_source, kinds, inputs)]
    declared = [getattr(getattr(source, "tag", None), "declared", "") for source in sources]
    own = [printable(getattr(source, "name", "")) for source in sources]
    for n, source in enumerate(sources):
        if isinstance(getattr(getattr(source, "owner", None), "op", None), Subtensor):
            own[n] = SLICE.sub("", own[n])  # the array can be renamed or replaced after the slice
    names = [
        d or name or LETTERS.get(k, "v") for k, d, name in zip(kinds, declared, own, strict=True)
    ]
    for n, (kind, name) in enumerate(zip(kinds, own, strict=True)):
        is_first = kind.is_state and not declared[n] and FIRST_VALUE.fullmatch(name)
        if is_first and name[:-1] not in names:
            names[n] = name[:-1]
    end = kinds.count(Kind.SEQUENCE)
    bases, others = [cut_of(variable).base for variable in inputs[:end]], names[end:]
    arrays: dict[Variable, str] = {}
    for base, name in zip(bases, names, strict=False):
        arrays.setdefault(base, f"{name}_seq" if name in others else name)
    unique = unique_names([*others, *arrays.values()])
    by_array = dict(zip(arrays, unique[len(others) :], strict=True))
    return (*(by_array[base] for base in bases), *unique[: len(others)])


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return `names` with a number after each repeated name."""
    unique: dict[str, None] = {}
    for name in names:
        candidates = (f"{name}{number if number > 1 else ''}" for number in count(1))
        unique[next(candidate for candidate in candidates if candidate not in unique)] = None
    return tuple(unique)


def named_source(kind: Kind, variable: Variable) -> Variable | None:
    """Return an outer input, or the array from which it was cut or reshaped; None if unnamed.

    PyTensor names a slice of the sequence u ``u[1:]``; the result is u.  A slice of another axis,
    such as a column, is unnamed.  The outer input of an output is its number of rows, whose name is
    not used.
    """
    while kind is not Kind.NIT_SOT and not isinstance(variable, Constant):
        node = variable.owner
        if node is None or not isinstance(node.op, NAMED_LIKE_INPUT.get(kind, IN_BUFFER)):
            return variable if variable.name else None
        array = node.inputs[isinstance(node.op, IncSubtensor)]
        is_slice = isinstance(node.op, Subtensor) and array.name
        if variable.name and not (is_slice and variable.name.startswith(f"{array.name}[")):
            return variable
        if kind is Kind.SEQUENCE and any(link.only_rows is None for link in links(variable)):
            return None
        variable = array
    return None
