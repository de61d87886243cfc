"""A gradient for some entries only, and how it is added to others."""

from typing import Any, NamedTuple

import numpy as np

from lab.eager.checks import bad_setter


class Setter(NamedTuple):
    """A gradient that is `value` at ``[index]`` and zero elsewhere."""

    index: Any
    value: Any


def add_into(old: Any, new: Any) -> Any:
    """`old` + `new`, in place if `old` is an array; of a `Setter` its entries alone."""
    if isinstance(new, Setter):
        old = old if isinstance(old, np.ndarray) else np.array(old)
        try:
            if _may_repeat(new.index):
                np.add.at(old, new.index, new.value)
            else:
                old[new.index] += new.value
        except (IndexError, ValueError) as error:
            raise bad_setter(old, new, error) from error
    else:
        old += new
    return old


def _may_repeat(index: Any) -> bool:
    """Whether an index may name an entry twice: a sequence can, unless it is a mask."""
    for part in index if isinstance(index, tuple) else (index,):
        single = part is None or part is Ellipsis or isinstance(part, int | slice)
        if not single and np.asarray(part).ndim and np.asarray(part).dtype.kind != "b":
            return True
    return False
