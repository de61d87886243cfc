"""Who goes where: for every entry of an output, the one entry of an input that it takes.

Each of the four primitives selects: with its metadata held fixed, every entry of the output's
tangent is one entry of one input's.  Which one is asked of the linearization itself, with
tangents that are the numbers of the entries.
"""

from dataclasses import dataclass

import numpy as np

from lab.errors import check_type
from lab.records import cached_property
from lab.structural.primitive import Linearization


@dataclass(frozen=True, eq=False)
class Sources:
    """For every entry of the output the number of its input, and its place in that, flattened.

    Both arrays have the shape of the output, and `sizes` are how many entries the inputs have.
    """

    input: np.ndarray
    entry: np.ndarray
    sizes: tuple[int, ...]

    def readers(self, number: int, entry: int) -> np.ndarray:
        """The places in the output, flattened, that take an entry of input `number`."""
        order, starts = self._readers[number]
        return order[starts[entry] : starts[entry + 1]]

    def count(self, number: int) -> int:
        """How many entries of the output come from input `number`."""
        return len(self._readers[number][0])

    @cached_property
    def _readers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For every input the places that read it, entry after entry, and where each begins."""
        readers = []
        for number, size in enumerate(self.sizes):
            places = np.flatnonzero(self.input == number)
            entries = self.entry.reshape(-1)[places]
            starts = np.concatenate([[0], np.cumsum(np.bincount(entries, minlength=size))])
            readers.append((places[np.argsort(entries, kind="stable")], starts.astype(int)))
        return readers


def sources(linear: Linearization) -> Sources:
    """Who goes where in a linearization at arrays."""
    check_type("linear", linear, Linearization, "what a primitive of lab.structural makes")
    sizes = tuple(value.size for value in linear.values)
    starts = np.cumsum([0, *sizes])
    codes = np.split(np.arange(starts[-1]), starts[1:-1])
    parts = (c.reshape(value.shape) for c, value in zip(codes, linear.values, strict=True))
    taken = np.asarray(linear.push(*parts))
    numbers = np.searchsorted(starts[1:], taken, side="right")
    return Sources(numbers, taken - starts[numbers], sizes)
