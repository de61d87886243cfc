"""PyTensor's gradients beside finite differences of the cost, with pytensor and numpy alone.

Derivative k + 1 is that of the sum of all entries of derivative k.  Every report on a comparison
holds this text as it stands, above the graph that it is about.
"""

import numpy as np
import pytensor
from pytensor.compile import Function, Mode
from pytensor.gradient import NullType, grad
from pytensor.graph.basic import Variable

MODE = Mode(linker="vm", optimizer="None")  # the graph as it was built, without rewriting
STEPS = (0.04, 0.02, 0.01, 0.005, 0.0025)
MOST_ENTRIES = 24


class Check:
    """The gradients of `cost` by `wrt` at the values that are `given`.

    ``summed[k]`` are the inputs, by number, whose gradients of order k + 1 are summed up and
    differentiated again; `truncated` tells that a loop has truncate_gradient.
    """

    def __init__(
        self,
        cost: Variable,
        given: dict[Variable, np.ndarray],
        wrt: list[Variable],
        summed: list[list[int]],
        truncated: bool,
    ) -> None:
        self.cost, self.given, self.wrt = cost, given, wrt
        self.summed, self.truncated, self.failed = summed, truncated, False
        self.value = self.function(cost)
        self.sizes = [np.size(given[v]) for v in wrt]
        self.ends = np.cumsum([0, *self.sizes])
        self.start = np.concatenate([np.ravel(given[v]).astype("float64") for v in wrt])

    def function(self, output: Variable) -> Function:
        """What computes `output` from the inputs."""
        return pytensor.function(list(self.given), output, mode=MODE, on_unused_input="ignore")

    def cost_at(self, flat: np.ndarray) -> float:
        """The cost, where all inputs to differentiate by are laid out in a row."""
        moved = dict(self.given)
        for number, v in enumerate(self.wrt):
            part = flat[self.ends[number] : self.ends[number + 1]]
            moved[v] = part.reshape(np.shape(self.given[v])).astype(v.type.dtype)
        return float(self.value(*moved.values()))

    def slope(self, at: np.ndarray, direction: np.ndarray, step: float, along: list) -> float:
        """The derivative in a `direction` of the cost, or of its derivatives `along` others."""

        def value(moved: np.ndarray) -> float:
            return self.slope(moved, along[0], step, along[1:]) if along else self.cost_at(moved)

        weights = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
        return (
            sum(
                weight * (value(at + m * step * direction) - value(at - m * step * direction))
                for m, weight in weights
            )
            / step
        )

    def difference(self, number: int, entry: int, order: int) -> tuple[float, float]:
        """One entry of the derivative, and how far it may be off: of several steps the best."""
        unit, ones = np.zeros_like(self.start), np.zeros_like(self.start)
        unit[self.ends[number] + entry] = 1.0
        for place in self.summed[order - 2] if order > 1 else ():
            ones[self.ends[place] : self.ends[place + 1]] = 1.0
        slopes = [self.slope(self.start, unit, step, [ones] * (order - 1)) for step in STEPS]
        errors = [abs(slopes[k] - slopes[k + 1]) for k in range(len(STEPS) - 1)]
        best = int(np.argmin([error if np.isfinite(error) else np.inf for error in errors]))
        return slopes[best + 1], errors[best]

    def fails(self, label: str, error: Exception) -> None:
        """Tell that a gradient could not be had."""
        print(label, "FAILS:", type(error).__name__, str(error).strip().splitlines()[:1])
        self.failed = True

    def compare(self, number: int, order: int, gradient: Variable) -> None:
        """Print one gradient beside finite differences."""
        label = f"order {order}, gradient by {self.wrt[number].name or self.wrt[number]}"
        if isinstance(gradient.type, NullType):
            print(label, "there is none:", gradient.type.why_null)
            return
        try:
            found = np.ravel(self.function(gradient)(*self.given.values()))
        except Exception as error:
            self.fails(label, error)
            return
        entries = range(min(self.sizes[number], MOST_ENTRIES))
        estimates = [self.difference(number, entry, order) for entry in entries]
        expected, errors = (np.array([pair[k] for pair in estimates]) for k in (0, 1))
        has_its_shape = len(found) == self.sizes[number]
        found = found[: len(expected)]
        print(label)
        print("  PyTensor          ", found)
        print("  finite differences", expected)
        known = np.isfinite(errors)
        scale = np.max(np.abs([*expected[known], *found[np.isfinite(found)]]), initial=0.0)
        eps = np.finfo(np.result_type(self.cost.type.dtype, "float16")).eps
        rounding = 10 * eps * abs(self.cost_at(self.start)) / STEPS[-1] ** order
        room = 100 * errors + 1e-6 * scale + rounding
        near = has_its_shape and np.all((np.abs(found - expected) <= room)[known])
        if self.truncated:
            why = "a loop has truncate_gradient, the differences go back further"
            print("  not to be compared:", why)
        elif not near:
            print("  DIFFERENT")
            self.failed = True
        elif known.all():
            print("  the same")
        else:
            print("  where finite differences give a number, the same")

    def run(self, asked: list[tuple[int, int]]) -> int:
        """Compare the gradients that are `asked` for, by input and order; 1 if some differ."""
        print("PyTensor", pytensor.__version__, "numpy", np.__version__)
        target, last = self.cost, max((order for _, order in asked), default=0)
        for order in range(1, last + 1):
            try:
                gradients = grad(target, self.wrt, None, "ignore", null_gradients="return")
                assert isinstance(gradients, list)
            except Exception as error:
                self.fails(f"order {order}", error)
                break
            for number, gradient in enumerate(gradients):
                if (number, order) in asked:
                    self.compare(number, order, gradient)
            if order < last:
                target = sum(gradients[number].sum() for number in self.summed[order - 1])
        return int(self.failed)
