"""The cost of a comparison at nearby points, and finite differences of it by every entry."""

from collections.abc import Sequence

import numpy as np

from lab.check import value_at
from lab.differences import MOST_ENTRIES, Estimate, along, remembered
from lab.subject import Subject


class MovedCost:
    """The cost as a function of all inputs that are differentiated by, laid out in a row."""

    def __init__(self, asked: Subject) -> None:
        self.asked = asked
        sizes = [np.size(value) for value in asked.at]
        self.ends = np.cumsum([0, *sizes])
        flat = [np.ravel(np.asarray(value, dtype="float64")) for value in asked.at]
        self.at = np.concatenate(flat) if flat else np.zeros(0)
        self.cost = remembered(self._cost)

    def _cost(self, flat: np.ndarray) -> float:
        given = dict(self.asked.given)
        pairs = zip(self.asked.wrt, self.asked.at, strict=True)
        for place, (variable, value) in enumerate(pairs):
            part = flat[self.part(place)].reshape(np.shape(value))
            given[variable] = part.astype(variable.type.dtype)
        with np.errstate(all="ignore"):
            return float(value_at(self.asked.cost, given))

    def part(self, place: int) -> slice:
        """Where an input stands in the row."""
        return slice(int(self.ends[place]), int(self.ends[place + 1]))

    def through(self, places: Sequence[int]) -> np.ndarray:
        """Ones for all entries of some inputs, zeros for the others."""
        found = np.zeros_like(self.at)
        for place in places:
            found[self.part(place)] = 1.0
        return found

    def entries(self, place: int, order: int, summed: Sequence[int]) -> Estimate | None:
        """The derivative of an order by every entry of one input; None if they are too many."""
        shape = np.shape(self.asked.at[place])
        if np.prod(shape, dtype=int) > MOST_ENTRIES:
            return None
        found = []
        for entry in range(*self.part(place).indices(len(self.at))):
            unit = np.zeros_like(self.at)
            unit[entry] = 1.0
            found.append(along(self.cost, self.at, unit, order, self.through(summed)))
        value = np.array([float(e.value) for e in found]).reshape(shape)
        error = np.array([float(e.error) for e in found]).reshape(shape)
        return Estimate(value, error)
