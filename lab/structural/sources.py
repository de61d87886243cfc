"""Find the input entry that each output entry copies.

Each of the four primitives selects: for fixed metadata, every entry of the output's tangent is an
entry of an input's tangent.  `sources` applies the linearization to the numbers of all
entries, and reads the sources from the result.
"""

from dataclasses import dataclass

import numpy as np

from lab.errors import check_type
from lab.structural.primitive import Linearization


@dataclass(frozen=True, eq=False)
class Sources:
    """The source of every output entry, in arrays of the shape of the output.

    `input` contains the number of the input, and `entry` the flat index of the entry in that input.
    """

    input: np.ndarray
    entry: np.ndarray

    def readers(self, number: int, entry: int) -> np.ndarray:
        """Return the flat indices of the output entries that copy an entry of input `number`."""
        return np.flatnonzero((self.input == number) & (self.entry == entry))

    def count(self, number: int) -> int:
        """Return the number of output entries that copy input `number`."""
        return int(np.sum(self.input == number))


def sources(linear: Linearization) -> Sources:
    """Return the sources of a linearization."""
    check_type("linear", linear, Linearization, "a Linearization of lab.structural")
    sizes = tuple(value.size for value in linear.values)
    starts = np.cumsum([0, *sizes])
    codes = np.split(np.arange(starts[-1]), starts[1:-1])
    parts = (c.reshape(value.shape) for c, value in zip(codes, linear.values, strict=True))
    taken = np.asarray(linear.push(*parts))
    numbers = np.searchsorted(starts[1:], taken, side="right")
    return Sources(numbers, taken - starts[numbers])
