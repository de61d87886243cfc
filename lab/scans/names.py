"""What people call a Scan, and its variables where nobody has told: after what they are made of."""

from collections.abc import Sequence
from itertools import groupby

from pytensor.graph.basic import Constant, Variable
from pytensor.scan.op import Scan
from pytensor.tensor.basic import ScalarFromTensor
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.errors import printable
from lab.tape import Kind

# What hands values on in another arrangement, so that they keep their name.
VIEWS = (Subtensor, IncSubtensor, DimShuffle, Reshape, SpecifyShape, ScalarFromTensor)

# What a Scan that is made of another one is named by PyTensor and here, and called by people.
MADE_OF = {
    "grad_of_": "gradient",
    "replay_of_": "replay",
    "rop_of_": "tangent",
    "tangent_of_": "tangent",
    "taylor_of_": "series",
}


def readable(name: str) -> str:
    """What people call a Scan of this `name`: ``gradient of square`` for ``grad_of_square``.

    Of three and more it is ``3-fold gradient of square``.
    """
    prefixes, name = split_name(name)
    made = [MADE_OF[prefix] for prefix in prefixes]
    words = ""
    for word, alike in groupby(made):
        count = len(list(alike))
        again = [word] * count if count < 3 else [f"{count}-fold {word}"]
        words += "".join(f"{'the ' if words or n else ''}{one} of " for n, one in enumerate(again))
    return words + name


def split_name(name: str) -> tuple[list[str], str]:
    """Split the name of a Scan into the prefixes of derivatives and the name of the loop."""
    prefixes: list[str] = []
    while (prefix := next(filter(name.startswith, MADE_OF), "")) and name != prefix:
        prefixes.append(prefix)
        name = name.removeprefix(prefix)
    return prefixes, name


def found_names(kinds: Sequence[Kind], inputs: Sequence[Variable]) -> tuple[str, ...]:
    """A name for each outer input of a Scan, of which the sequences are first."""
    # What an output is told from outside is the number of its rows, whose name is not its own.
    names = [
        None if kind is Kind.NIT_SOT else _readable_name(variable)
        for kind, variable in zip(kinds, inputs, strict=True)
    ]
    count = kinds.count(Kind.SEQUENCE)
    others = unique_names(names[count:])
    # A sequence that is read at several taps is several sequences of one name.
    sequences = [f"{name}_seq" if name in others else name or "s" for name in names[:count]]
    return (*sequences, *others)


def unique_names(names: Sequence[str | None]) -> tuple[str, ...]:
    """`names` made distinct with numbers; None becomes ``v``."""
    taken: set[str] = set()
    result = []
    for name in names:
        base = name or "v"
        candidate, number = base, 1
        while candidate in taken:
            number += 1
            candidate = f"{base}{number}"
        taken.add(candidate)
        result.append(candidate)
    return tuple(result)


def _readable_name(variable: Variable) -> str | None:
    """The name that a person gave to what an outer input is a part of, or has in another shape."""
    while variable is not None:
        if isinstance(variable, Constant):
            return None
        if variable.name:
            return printable(variable.name).split("[")[0] or None
        node = variable.owner
        if node is None or not isinstance(node.op, (Scan, *VIEWS)):
            return None
        is_write = isinstance(node.op, IncSubtensor)
        variable = node.inputs[1] if is_write and len(node.inputs) > 1 else node.inputs[0]
    return None
