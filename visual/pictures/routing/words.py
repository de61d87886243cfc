"""The texts of a routing picture: panels, equations, counts, products, and the legend."""

from collections.abc import Callable, Mapping
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
REPEATED = "a value that is repeated forward receives a sum backward"
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)


@dataclass(frozen=True)
class RoutedStep:
    """One of the three panels: its number, its title, and the prefix of the names in it."""

    number: int
    title: str
    prefix: str


FORWARD, TANGENT = RoutedStep(0, "forward", ""), RoutedStep(1, "tangent", "d")
COTANGENT = RoutedStep(2, "cotangent", "g")
STEPS = (FORWARD, TANGENT, COTANGENT)


def role_of(number: int) -> Role:
    """Return the role of the cells of an input; the fourth input has the role of the first."""
    return SOURCES[number % len(SOURCES)]


def title_of(name: str, shape: tuple[int, ...]) -> str:
    """Return ``x · 2×3``."""
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
    """Return the number of entries that copy an input, and the axes that repeat the input."""
    size, notes = routed.value.size, []
    notes.append(f"to {routed.sources.count(operand.number):,} of {size:,} entries")
    if size and _is_repeated(routed, operand):
        extra = routed.value.ndim - operand.value.ndim
        repeated = [
            extra + axis
            for axis, length in enumerate(operand.value.shape)
            if length == 1 and routed.value.shape[extra + axis] != 1
        ]
        axes = [*range(extra), *repeated]
        noun = "axis" if len(axes) == 1 else "axes"
        notes.append(f"repeated: {noun} {', '.join(map(str, axes))}")
    return notes


def products(routed: Routed) -> list[str]:
    """Return the lines <g, J v> = <J* g, v>."""
    forward, backward = routed.products
    names = [f"⟨g{operand.name}, d{operand.name}⟩" for operand in routed.operands]
    is_double = np.finfo(routed.value.dtype).bits == 64
    agree = np.isclose(forward, backward, rtol=1e-12 if is_double else 1e-5)
    end = ": the transpose is the adjoint" * bool(agree)
    return [f"⟨gz, dz⟩ = {forward!r}", f"{' + '.join(names)} = {backward!r}{end}"]


def words_of(routed: Routed) -> dict[Role, str]:
    """Return the legend: the regions of the inputs, unused entries, and kinks."""
    regions: Mapping[str, Callable[[str], str]] = {
        "where": lambda n: f"{n}: where the condition {'holds' if n == 'x' else 'does not hold'}",
        "clamp": {
            "x": "x: between the bounds",
            "lo": "lo: where x < lo",
            "hi": "hi: where x > hi",
        }.__getitem__,
        "narrow": lambda n: f"{n}: within the part",
        "cat": lambda n: n,
    }
    words: dict[Role, str] = {}
    for operand in routed.operands:
        role = role_of(operand.number)
        own = regions[routed.primitive](operand.name)
        words[role] = f"{words[role]}, {own}" if role in words else own
    words[Role.UNNEEDED] = "not copied; its gradient is 0"
    words[Role.UNDEFINED] = "kink: x is equal to a bound; by convention, x is copied"
    return words


def about(routed: Routed) -> str:
    """Return a description of the picture for screen readers."""
    parts = ", ".join(f"{routed.sources.count(o.number):,} from {o.name}" for o in routed.operands)
    kinks = int(routed.nonsmooth.sum())
    odd = f" {kinks:,} entries have no derivative." if kinks else ""
    return (
        f"{_call_text(routed)}: {routed.value.size:,} entries, {parts}. Values and tangents go "
        f"from the inputs to the output, cotangents take the same paths backward.{odd}"
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
    return routed.linear.broadcasts and operand.value.shape != routed.value.shape


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
