"""The texts of a routing picture: equations, counts, and the legend."""

from collections.abc import Callable, Mapping

from visual.pictures.routing.cells import COTANGENT, FORWARD, RoutedStep, role_of
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
MANY = 4


def equation(routed: Routed, step: RoutedStep, short: bool = False) -> list[str]:
    """Return the title of a panel, and the lines below it; `short` moves metadata to a line."""
    names = _names(routed, step.prefix)
    if step is FORWARD:
        words, fixed = "every entry of z copies an entry of an input", _metadata(routed)
        if short and fixed:
            return [f"z = {routed.primitive}({_listed(routed)}, …)", ", ".join(fixed), words]
        return [f"z = {_called(routed)}", words]
    tangent, transposed = RULES[routed.primitive]
    if step is not COTANGENT:
        return [f"dz = J({names})", f"dz = {tangent}"]
    repeated = any(_is_repeated(routed, operand) for operand in routed.operands)
    return [f"{names} = J*(gz)", transposed, *([REPEATED] if repeated else [])]


def copied_line(routed: Routed, operand: RoutedOperand) -> str:
    """Return the number of output entries that copy an input."""
    size = routed.value.size
    words = f"copied to {routed.sources.count(operand.number):,} of {size:,} entries of z"
    if not size:
        return "no entries"
    if _is_repeated(routed, operand):
        return f"repeated to {_shape(routed.value.shape)}; {words}"
    return words


def received_line(routed: Routed, operand: RoutedOperand) -> str:
    """Return the number of cotangent entries that an input receives."""
    size = routed.value.size
    if not size:
        return "no contributions"
    words = f"receives {routed.sources.count(operand.number):,} of {size:,} entries of gz"
    if not _is_repeated(routed, operand):
        return words
    extra = routed.value.ndim - operand.value.ndim
    axes = [*range(extra)] + [
        extra + axis
        for axis, length in enumerate(operand.value.shape)
        if length == 1 and routed.value.shape[extra + axis] != 1
    ]
    noun = "axis" if len(axes) == 1 else "axes"
    return f"{words}; summed over {noun} {', '.join(map(str, axes))}"


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
    if len(routed.operands) > 2 * MANY:
        words = {role: f"{', '.join(text.split(', ')[:3])}, …" for role, text in words.items()}
    words[Role.UNNEEDED] = "not copied; its gradient is 0"
    words[Role.UNDEFINED] = "kink: x is equal to a bound; by convention, x is copied"
    return words


def about(routed: Routed) -> str:
    """Return a description of the picture for screen readers."""
    parts = ", ".join(
        f"{routed.sources.count(o.number):,} from {o.name}" for o in routed.operands[: 2 * MANY]
    )
    more = ", …" if len(routed.operands) > 2 * MANY else ""
    kinks = int(routed.nonsmooth.sum())
    odd = f" {kinks:,} entries have no derivative." if kinks else ""
    return (
        f"{_called(routed)}: {routed.value.size:,} entries, {parts}{more}. Values and tangents go "
        f"from the inputs to the output, cotangents take the same paths backward.{odd}"
    )


def _called(routed: Routed) -> str:
    """``narrow(a, dim = 0, start = 1, length = 2)``."""
    return f"{routed.primitive}({', '.join([_listed(routed), *_metadata(routed)])})"


def _listed(routed: Routed) -> str:
    """The array arguments: ``condition, x, y``."""
    names = _names(routed, "")
    if routed.primitive == "where":
        return f"condition, {names}"
    return f"[{names}]" if routed.primitive == "cat" else names


def _metadata(routed: Routed) -> list[str]:
    """The other arguments: ``dim = 0``."""
    return [f"{name} = {value}" for name, value in routed.metadata.items() if name != "condition"]


def _names(routed: Routed, prefix: str) -> str:
    names = [f"{prefix}{operand.name}" for operand in routed.operands]
    return ", ".join(names if len(names) <= MANY else [*names[:2], "…", names[-1]])


def _is_repeated(routed: Routed, operand: RoutedOperand) -> bool:
    return routed.linear.broadcasts and operand.value.shape != routed.value.shape


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
