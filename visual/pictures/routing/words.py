"""What stands beside the cells of a routing picture: equations, counts, and the legend."""

from collections.abc import Callable, Mapping

from visual.pictures.routing.cells import COTANGENT, FORWARD, Step, role_of
from visual.pictures.routing.routed import Operand, Routed
from visual.scene.theme import Role

# the linear map of each primitive, and its transpose; p stands for the prefix d or g
RULES: Mapping[str, tuple[str, str]] = {
    "where": (
        "dx where the condition holds, dy elsewhere",
        "gx = gz where the condition holds, 0 elsewhere; gy = gz elsewhere, 0 where it holds",
    ),
    "cat": (
        "the tangents, one behind the other",
        "every input gets its own part of gz: the transpose of cat is narrow",
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
REPEATED = "what was repeated forwards is summed backwards: the transpose of a fan-out is a sum"
MANY = 4


def equation(found: Routed, step: Step, short: bool = False) -> list[str]:
    """The title of a step, and the lines below it; with `short`, metadata has a line of its own."""
    names = _names(found, step.prefix)
    if step is FORWARD:
        words, fixed = "every entry of z is one entry of an input", _metadata(found)
        if short and fixed:
            return [f"z = {found.primitive}({_listed(found)}, …)", ", ".join(fixed), words]
        return [f"z = {_called(found)}", words]
    tangent, transposed = RULES[found.primitive]
    if step is not COTANGENT:
        return [f"dz = J({names})", f"dz = {tangent}"]
    repeated = any(_is_repeated(found, operand) for operand in found.operands)
    return [f"{names} = J*(gz)", transposed, *([REPEATED] if repeated else [])]


def given_line(found: Routed, operand: Operand) -> str:
    """How much of the output an input gives."""
    size = found.value.size
    words = f"gives {found.sources.count(operand.number):,} of z's {size:,} entries"
    if not size:
        return "there is nothing to give"
    if _is_repeated(found, operand):
        return f"repeated to {_shape(found.value.shape)}; {words}"
    return words


def taken_line(found: Routed, operand: Operand) -> str:
    """How much of the cotangent an input gets."""
    size = found.value.size
    if not size:
        return "nothing arrives"
    words = f"gets {found.sources.count(operand.number):,} of gz's {size:,} entries"
    if not _is_repeated(found, operand):
        return words
    extra = found.value.ndim - operand.value.ndim
    axes = [*range(extra)] + [
        extra + axis
        for axis, length in enumerate(operand.value.shape)
        if length == 1 and found.value.shape[extra + axis] != 1
    ]
    noun = "axis" if len(axes) == 1 else "axes"
    return f"{words}; summed over {noun} {', '.join(map(str, axes))}"


def words_of(found: Routed) -> dict[Role, str]:
    """The legend: what belongs to which input, and what is odd."""
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
    for operand in found.operands:
        role = role_of(operand.number)
        own = regions[found.primitive](operand.name)
        words[role] = f"{words[role]}, {own}" if role in words else own
    if len(found.operands) > 2 * MANY:
        words = {role: f"{', '.join(told.split(', ')[:3])}, …" for role, told in words.items()}
    words[Role.UNNEEDED] = "goes nowhere and gets nothing"
    words[Role.UNDEFINED] = "kink, x is on a bound and has no derivative; the choice is x"
    return words


def about(found: Routed) -> str:
    """The picture in a sentence, for those who cannot see it."""
    parts = ", ".join(
        f"{found.sources.count(o.number):,} from {o.name}" for o in found.operands[: 2 * MANY]
    )
    more = ", …" if len(found.operands) > 2 * MANY else ""
    kinks = int(found.nonsmooth.sum())
    odd = f" {kinks:,} of them have no derivative." if kinks else ""
    return (
        f"{_called(found)}: {found.value.size:,} entries, {parts}{more}. Values and tangents go "
        f"from the inputs to the output, cotangents the same ways back.{odd}"
    )


def _called(found: Routed) -> str:
    """``narrow(a, dim = 0, start = 1, length = 2)``."""
    return f"{found.primitive}({', '.join([_listed(found), *_metadata(found)])})"


def _listed(found: Routed) -> str:
    """The arguments that are arrays: ``condition, x, y``."""
    names = _names(found, "")
    if found.primitive == "where":
        return f"condition, {names}"
    return f"[{names}]" if found.primitive == "cat" else names


def _metadata(found: Routed) -> list[str]:
    """The arguments that are not: ``dim = 0``."""
    return [f"{name} = {value}" for name, value in found.metadata.items() if name != "condition"]


def _names(found: Routed, prefix: str) -> str:
    names = [f"{prefix}{operand.name}" for operand in found.operands]
    return ", ".join(names if len(names) <= MANY else [*names[:2], "…", names[-1]])


def _is_repeated(found: Routed, operand: Operand) -> bool:
    return found.linear.broadcasts and operand.value.shape != found.value.shape


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
