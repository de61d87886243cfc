"""The texts of a routing picture: equations, notes about inputs, products, and the legend."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lab.checks.check import inner
from visual.pictures.routing.routed import RoutedArray, RoutedCall
from visual.scene.theme import Role

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
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)


class Panel(NamedTuple):
    """One of the three panels. `prefix` begins the names of its arrays."""

    number: int
    title: str
    prefix: str


FORWARD, TANGENT = Panel(0, "forward", ""), Panel(1, "tangent", "d")
COTANGENT = Panel(2, "cotangent", "g")
PANELS = (FORWARD, TANGENT, COTANGENT)


def role_of(number: int) -> Role:
    """Return the role of the cells of an input. The first three inputs have different roles."""
    return SOURCES[number % len(SOURCES)]


def equation(call: RoutedCall, panel: Panel) -> tuple[str, str]:
    """Return the equation of a panel, and an explanation of the equation."""
    names = ", ".join(f"{panel.prefix}{array.name}" for array in call.inputs)
    if panel is FORWARD:
        return f"z = {_call_text(call)}", "every entry of z copies an entry of an input"
    tangent, transposed = RULES[call.primitive]
    if panel is TANGENT:
        return f"dz = J({names})", f"dz = {tangent}"
    repeated = any(map(call.is_repeated, call.inputs))
    return f"{names} = J*(gz)", transposed + f"; {REPEATED}" * repeated


def notes_of(call: RoutedCall, array: RoutedArray) -> list[str]:
    """Return notes about an input: how many entries copy it, and "repeated" if it is broadcast."""
    if array.number is None:
        return []
    count = call.sources.count(array.number)
    return [
        f"to {count:,} of {call.output.size:,} entries",
        *["repeated"] * call.is_repeated(array),
    ]


def products(call: RoutedCall) -> list[str]:
    """Return a line for the inner product ⟨g, J v⟩, and a line for ⟨J* g, v⟩."""
    value, tangent, cotangent = call.output.values
    forward = inner([(cotangent, tangent)])
    backward = inner((array.values[2], array.values[1]) for array in call.inputs)
    names = [f"⟨g{array.name}, d{array.name}⟩" for array in call.inputs]
    is_double = np.finfo(value.dtype).bits == 64
    agree = np.isclose(forward, backward, rtol=1e-12 if is_double else 1e-5)
    end = ": the transpose is the adjoint" * bool(agree)
    return [f"⟨gz, dz⟩ = {forward!r}", f"{' + '.join(names)} = {backward!r}{end}"]


def words_of(call: RoutedCall) -> dict[Role, str]:
    """Return the legend: the meanings of the inputs, of unused entries, and of kinks."""
    words: dict[Role, str] = {}
    for number, array in enumerate(call.inputs):
        role, region = role_of(number), REGIONS.get((call.primitive, array.name))
        own = array.name if region is None else f"{array.name}: {region}"
        words[role] = f"{words[role]}, {own}" if role in words else own
    words[Role.UNNEEDED] = "not copied; its gradient is 0"
    words[Role.UNDEFINED] = "kink: x is equal to a bound; by convention, x is copied"
    return words


def about(call: RoutedCall) -> str:
    """Return a description of the picture for screen readers."""
    return (
        f"{_call_text(call)}: {call.output.size:,} entries. Values and tangents go from the "
        "inputs to the output, and cotangents take the same paths backward."
    )


def _call_text(call: RoutedCall) -> str:
    """Return the call as text: ``narrow(a, dim = 0, start = 1, length = 2)``."""
    names = ", ".join(array.name for array in call.inputs)
    listed = {"where": f"condition, {names}", "cat": f"[{names}]"}.get(call.primitive, names)
    others = [f"{name} = {value}" for name, value in call.metadata.items() if name != "condition"]
    return f"{call.primitive}({', '.join([listed, *others])})"
