"""The texts of a routing picture: equations, notes about inputs, products, and the legend."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from visual.pictures.routing.routed import Routed, RoutedOperand
from visual.scene.theme import Role

# The linear map of each primitive, and its transpose.
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
REGIONS: Mapping[tuple[str, str], str] = {  # the part of the output that copies an input
    ("where", "x"): "where the condition holds",
    ("where", "y"): "where the condition does not hold",
    ("narrow", "a"): "within the part",
    ("clamp", "x"): "between the bounds",
    ("clamp", "lo"): "where x < lo",
    ("clamp", "hi"): "where x > hi",
}
REPEATED = "a value that is repeated forward receives a sum backward"
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)


@dataclass(frozen=True)
class RoutedStep:
    """One of the three panels, with the prefix of the names of its arrays."""

    number: int
    title: str
    prefix: str


FORWARD, TANGENT = RoutedStep(0, "forward", ""), RoutedStep(1, "tangent", "d")
COTANGENT = RoutedStep(2, "cotangent", "g")
STEPS = (FORWARD, TANGENT, COTANGENT)


def role_of(number: int) -> Role:
    """Return the role of the cells of an input; the first three inputs have different roles."""
    return SOURCES[number % len(SOURCES)]


def title_of(name: str, shape: tuple[int, ...]) -> str:
    """Return the name and the shape of an array, such as ``x · 2×3``."""
    return f"{name} · {_shape(shape) or 'scalar'}"


def equation(routed: Routed, step: RoutedStep) -> tuple[str, str]:
    """Return the equation of a panel, and its explanation."""
    names = _names(routed, step.prefix)
    if step is FORWARD:
        return f"z = {_call_text(routed)}", "every entry of z copies an entry of an input"
    tangent, transposed = RULES[routed.primitive]
    if step is not COTANGENT:
        return f"dz = J({names})", f"dz = {tangent}"
    repeated = any(_is_repeated(routed, operand) for operand in routed.operands)
    return f"{names} = J*(gz)", transposed + f"; {REPEATED}" * repeated


def notes_of(routed: Routed, operand: RoutedOperand) -> list[str]:
    """Return notes about an input: how many entries copy it, and whether it is repeated."""
    notes = [f"to {routed.sources.count(operand.number):,} of {routed.value.size:,} entries"]
    return [*notes, "repeated"] if _is_repeated(routed, operand) else notes


def products(routed: Routed) -> list[str]:
    """Return the two inner products ⟨g, J v⟩ and ⟨J* g, v⟩ in a line each."""
    forward, backward = routed.products
    names = [f"⟨g{operand.name}, d{operand.name}⟩" for operand in routed.operands]
    is_double = np.finfo(routed.value.dtype).bits == 64
    agree = np.isclose(forward, backward, rtol=1e-12 if is_double else 1e-5)
    end = ": the transpose is the adjoint" * bool(agree)
    return [f"⟨gz, dz⟩ = {forward!r}", f"{' + '.join(names)} = {backward!r}{end}"]


def words_of(routed: Routed) -> dict[Role, str]:
    """Return the legend: the meanings of the inputs, of unused entries, and of kinks."""
    words: dict[Role, str] = {}
    for operand in routed.operands:
        role, region = role_of(operand.number), REGIONS.get((routed.primitive, operand.name))
        own = operand.name if region is None else f"{operand.name}: {region}"
        words[role] = f"{words[role]}, {own}" if role in words else own
    words[Role.UNNEEDED] = "not copied; its gradient is 0"
    words[Role.UNDEFINED] = "kink: x is equal to a bound; by convention, x is copied"
    return words


def about(routed: Routed) -> str:
    """Return a description of the picture for screen readers."""
    return (
        f"{_call_text(routed)}: {routed.value.size:,} entries. Values and tangents go from the "
        "inputs to the output, and cotangents take the same paths backward."
    )


def _call_text(routed: Routed) -> str:
    """Return the call as text: ``narrow(a, dim = 0, start = 1, length = 2)``."""
    names = _names(routed, "")
    listed = {"where": f"condition, {names}", "cat": f"[{names}]"}.get(routed.primitive, names)
    others = [f"{name} = {value}" for name, value in routed.metadata.items() if name != "condition"]
    return f"{routed.primitive}({', '.join([listed, *others])})"


def _names(routed: Routed, prefix: str) -> str:
    return ", ".join(f"{prefix}{operand.name}" for operand in routed.operands)


def _is_repeated(routed: Routed, operand: RoutedOperand) -> bool:
    return routed.linear.broadcasts and 0 < operand.value.size < routed.value.size


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
