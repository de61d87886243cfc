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
from lab.tape import Kind

# Operations whose result has the name of its input.
NAMED_LIKE_INPUT = (Subtensor, IncSubtensor, DimShuffle, Reshape, SpecifyShape, ScalarFromTensor)

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

    Only sequences can share a name.  The tag `declared` of a variable stores a name that Scantape
    assigned, such as the name of the loop variable whose input or value it is.
    """
    sources = [*map(named_source, kinds, inputs)]
    declared = [getattr(getattr(source, "tag", None), "declared", "") for source in sources]
    own = [printable(getattr(source, "name", "")) for source in sources]
    for n, source in enumerate(sources):
        if isinstance(getattr(getattr(source, "owner", None), "op", None), Subtensor):
            own[n] = SLICE.sub("", own[n])  # the array can be renamed or replaced after the slice
    names = [known or name or None for known, name in zip(declared, own, strict=True)]
    for n, (kind, name) in enumerate(zip(kinds, own, strict=True)):
        is_first = kind.is_state and not declared[n] and FIRST_VALUE.fullmatch(name)
        if is_first and name[:-1] not in names:
            names[n] = name[:-1]
    sequences_end = kinds.count(Kind.SEQUENCE)
    others = unique_names(names[sequences_end:])
    # A sequence with several taps consists of several sequences of the same name.
    sequences = [f"{name}_seq" if name in others else name or "s" for name in names[:sequences_end]]
    return (*sequences, *others)


def unique_names(names: Sequence[str | None]) -> tuple[str, ...]:
    """Return `names` with a number after each repeated name; None becomes ``v``."""
    unique: dict[str, None] = {}
    for name in names:
        candidates = (f"{name or 'v'}{number if number > 1 else ''}" for number in count(1))
        unique[next(candidate for candidate in candidates if candidate not in unique)] = None
    return tuple(unique)


def named_source(kind: Kind, variable: Variable) -> Variable | None:
    """Return an outer input, or the array from which it was cut or reshaped; None if unnamed.

    PyTensor names a slice of the sequence u ``u[1:]``; the result is u.  The outer input of an
    output is its number of rows, whose name is not used.
    """
    while kind is not Kind.NIT_SOT and not isinstance(variable, Constant):
        node = variable.owner
        if node is None or not isinstance(node.op, NAMED_LIKE_INPUT):
            return variable if variable.name else None
        array = node.inputs[isinstance(node.op, IncSubtensor)]
        is_slice = isinstance(node.op, Subtensor) and array.name
        if variable.name and not (is_slice and variable.name.startswith(f"{array.name}[")):
            return variable
        variable = array
    return None
