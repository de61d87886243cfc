"""A call of a primitive in a routing picture: its arrays, its equations, and its inner products."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lab.checks.check import inner
from lab.errors import ArgumentError, check_choice, check_sequence

MOST_INPUTS, MOST_ROWS, MOST_COLUMNS = 6, 24, 12

# The linear map of each primitive, and the transpose of this map.
RULES: Mapping[str, tuple[str, str]] = {
    "where": (
        "dx where the condition holds, dy elsewhere",
        "gx = gz where the condition holds, 0 elsewhere; gy = gz elsewhere, 0 where it holds",
    ),
    "cat": (
        "the tangents, one after another",
        "each input receives its part of gz: the transpose of cat is narrow",
    ),
    "narrow": (
        "the same part of da",
        "ga = gz in the part, 0 outside it: the transpose of narrow is a scatter",
    ),
    "clamp": (
        "dlo where x < lo, dhi where x > hi, dx between",
        "glo = gz where x < lo, ghi = gz where x > hi, gx = gz between; 0 elsewhere",
    ),
}
REGIONS: Mapping[tuple[str, str], str] = {  # the entries of the output that copy an input
    ("where", "x"): "where the condition holds",
    ("where", "y"): "where the condition does not hold",
    ("narrow", "a"): "within the part",
    ("clamp", "x"): "between the bounds",
    ("clamp", "lo"): "where x < lo",
    ("clamp", "hi"): "where x > hi",
}
REPEATED = "a value that is repeated forward receives a sum backward"


class Panel(NamedTuple):
    """A panel. Names of arrays start with `prefix`. If `is_back`, values move to the inputs."""

    number: int
    title: str
    prefix: str
    is_back: bool = False


FORWARD, TANGENT = Panel(0, "forward", ""), Panel(1, "tangent", "d")
COTANGENT = Panel(2, "cotangent", "g", is_back=True)
PANELS = (FORWARD, TANGENT, COTANGENT)


@dataclass(frozen=True, eq=False)
class RoutedArray:
    """An array of a call, as a matrix. The last axis runs from left to right.

    `values` are the value, the tangent, and the cotangent. A condition has only a value. `number`
    is the number of an input, and None for the output and for a condition. `grid` contains the
    indices of the entries, by row and column.
    """

    name: str
    number: int | None
    values: Sequence[np.ndarray]
    grid: np.ndarray

    def title(self, panel: Panel) -> str:
        """Return the name and the shape, such as ``x · 2×3``."""
        prefix = panel.prefix * (len(self.values) > 1)
        return f"{prefix}{self.name} · {'×'.join(map(str, self.values[0].shape)) or 'scalar'}"

    def entry_name(self, entry: int, prefix: str = "") -> str:
        """Return the name of an entry, such as ``x[0,2]``, or of an array without axes, ``x``."""
        shape = self.values[0].shape
        index = f"[{','.join(map(str, np.unravel_index(entry, shape)))}]" if shape else ""
        return f"{prefix}{self.name}{index}"


class RoutedCall:
    """A call of a primitive: its linearization and its arrays. The output is named z.

    `visual.routing` explains the arguments. `arguments` are the inputs, then the condition, if any.
    If the output is a vector or a number, arrays have a single column. Raises ArgumentError for an
    unknown primitive, for too many inputs, and for an array that is too large for a picture.
    """

    def __init__(
        self,
        primitive: str,
        inputs: Sequence[object],
        cotangent: object,
        tangents: Sequence[object] | None,
        metadata: Mapping[str, object],
    ) -> None:
        from lab.structural import primitives
        from lab.structural.primitive import sources

        check_choice("primitive", primitive, primitives)
        linear = primitives[primitive].linearize(inputs, **metadata)
        output = np.asarray(linear.output)
        if tangents is None:
            sizes = [value.size for value in linear.values]
            parts = np.split(np.arange(1, sum(sizes) + 1) / 10, np.cumsum(sizes[:-1]))
            pairs = zip(parts, linear.values, strict=True)
            tangents = [part.reshape(value.shape).astype(value.dtype) for part, value in pairs]
        tangents = check_sequence("tangents", tangents, "one for each input")
        if cotangent is None:
            counts = np.arange(1, output.size + 1).reshape(output.shape)
            cotangent = (10 * counts).astype(output.dtype)
        pushed, gradients = np.asarray(linear(*tangents)), linear.transpose(cotangent)

        def array(name: str, number: int | None, *values: object) -> RoutedArray:
            arrays = [np.asarray(value) for value in values]
            shape, size = arrays[0].shape, arrays[0].size
            across = shape[-1] if shape and output.ndim > 1 else 1
            rows = size // max(across, 1)
            if rows > MOST_ROWS or across > MOST_COLUMNS:
                raise ArgumentError(
                    f"{name} has shape {shape}: a picture has at most {MOST_ROWS} rows and "
                    f"{MOST_COLUMNS} columns. Draw a part of the arrays."
                )
            return RoutedArray(name, number, arrays, np.arange(size).reshape(rows, across))

        names = list(linear.names)
        if len(names) > MOST_INPUTS:
            raise ArgumentError(f"inputs: expected at most {MOST_INPUTS}, got {len(names)}.")
        if linear.primitive == "cat":
            names = [f"x{number}" for number in range(1, len(names) + 1)]
        v = (np.asarray(tangent, output.dtype) for tangent in tangents)
        columns = zip(names, range(len(names)), linear.values, v, gradients, strict=True)
        self.linear, self.sources = linear, sources(linear)
        self.inputs = [array(*column) for column in columns]
        condition = linear.metadata.get("condition")
        conditions = [] if condition is None else [array("condition", None, condition)]
        self.arguments = [*self.inputs, *conditions]
        self.output = array("z", None, output, pushed, np.asarray(cotangent, output.dtype))

    def __str__(self) -> str:
        primitive, names = self.linear.primitive, ", ".join(array.name for array in self.inputs)
        listed = {"where": f"condition, {names}", "cat": f"[{names}]"}.get(primitive, names)
        others = (f", {k} = {v}" for k, v in self.linear.metadata.items() if k != "condition")
        return f"{primitive}({listed}{''.join(others)})"

    def source(self, entry: int) -> tuple[RoutedArray, int]:
        """Return the input and the index of the entry that an entry of the output copies."""
        numbers, entries = (a.reshape(-1) for a in (self.sources.input, self.sources.entry))
        return self.inputs[int(numbers[entry])], int(entries[entry])

    def is_repeated(self, array: RoutedArray) -> bool:
        """Return whether the primitive broadcasts an input."""
        is_elementwise = self.linear.primitive in ("where", "clamp")
        return is_elementwise and 0 < array.grid.size < self.output.grid.size

    def equation(self, panel: Panel) -> tuple[str, str]:
        """Return the equation of a panel, and an explanation of the equation."""
        names = ", ".join(f"{panel.prefix}{array.name}" for array in self.inputs)
        if panel is FORWARD:
            return f"z = {self}", "every entry of z copies an entry of an input"
        tangent, transposed = RULES[self.linear.primitive]
        if panel is TANGENT:
            return f"dz = J({names})", f"dz = {tangent}"
        repeated = any(map(self.is_repeated, self.inputs))
        return f"{names} = J*(gz)", transposed + f"; {REPEATED}" * repeated

    def products(self) -> list[str]:
        """Return a line for the inner product ⟨g, J v⟩, and a line for ⟨J* g, v⟩."""
        value, tangent, cotangent = self.output.values
        forward = inner([(cotangent, tangent)])
        backward = inner((array.values[2], array.values[1]) for array in self.inputs)
        names = " + ".join(f"⟨g{array.name}, d{array.name}⟩" for array in self.inputs)
        is_double = np.finfo(value.dtype).bits == 64
        agree = np.isclose(forward, backward, rtol=1e-12 if is_double else 1e-5)
        end = ": the transpose is the adjoint" * bool(agree)
        return [f"⟨gz, dz⟩ = {forward!r}", f"{names} = {backward!r}{end}"]
