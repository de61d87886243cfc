"""The legend of a picture: what its colours stand for, and sentences about what else is drawn."""

from collections.abc import Iterable, Mapping
from itertools import accumulate
from types import MappingProxyType

from lab.notation import number_text
from visual.layout.cells import SEGMENTS
from visual.scene.shapes import Box, Shape, Text, folded, text_width, walk
from visual.scene.theme import Role

NORM = "‖ ‖ is the norm"
STRIPS = "strips: olive is positive, magenta, in the lower half, negative"
ARRAYS = f"{STRIPS}; {NORM}"
SAMPLED = "of more than 8 entries a strip shows 8, from the first to the last"
TOTAL = "d: the whole gradient; ∂: what comes into it directly, and not through later steps"
PARTS = "∂₁, ∂₂: parts of one gradient that stand in several places, and are added up"
INDEX, NOTHING = "₀₁₂₃₄₅₆₇₈₉", MappingProxyType[str, str]({})
FOLDS = "⋯ and a number: so many moments of a long loop are not shown"


def explained(
    words: Mapping[Role, str], y: float, width: float, close: bool = False, margin: float = 24.0
) -> tuple[list[Shape], float]:
    """A legend in words of the picture's own, in as many columns as fit; and where it ends.

    If it is `close`, a column is only as wide as its own words.
    """
    apart = 50 if close else 60  # from word to word, with the box between them
    words = {role: role.told(meaning) for role, meaning in words.items()}
    wide = [text_width(meaning, 12) + apart for meaning in words.values()]
    wide = wide if close else [max(wide)] * len(wide) if wide else []
    columns, lefts = 1, [0.0]
    for columns in range(len(wide), 0, -1):
        lefts = [0.0, *accumulate(max(wide[n::columns]) for n in range(columns))]
        if lefts[-1] <= width - 2 * margin + (apart - 32 if close else 0):
            break
    shapes: list[Shape] = []
    items = [*words.items()]
    for start in range(0, len(items), columns):
        most = 1
        for (role, meaning), right in zip(items[start : start + columns], lefts, strict=False):
            x = margin + right
            lines = folded(meaning, width - 2 * margin - 32, 12)
            most = max(most, len(lines))
            shapes.append(Box(x, y, 24, 15, role))
            shapes += [Text(x + 32, y + 12 + 16 * n, line, 12) for n, line in enumerate(lines)]
        y += 8 + 16 * most
    return shapes, y


def notes(shapes: Iterable[Shape], wholes: Mapping[str, str] = NOTHING) -> list[str]:
    """What is said below the legend of arrays and of what is folded, where there are any.

    `wholes` tell of parts of gradients what the whole is.
    """
    drawn = list(walk(shapes))
    words = [shape.content for shape in drawn if isinstance(shape, Text)]
    strips = any(isinstance(shape, Box) and shape.heat is not None for shape in drawn)
    told = ARRAYS if strips else NORM
    said = [told] if any("‖" in content for content in words) else []
    if any(_is_sampled(content) for content in words):
        said.append(SAMPLED)
    direct = {content for content in words if content.startswith("∂") and "/∂" in content}
    if direct and any(content.startswith("d") and "/d" in content for content in words):
        said.append(TOTAL)
    if any(content[1] in "₁₂₃₄₅₆₇₈₉" for content in direct):
        named = {content.partition(",")[0].rstrip(INDEX) for content in direct}
        said += dict.fromkeys(wholes[one] for one in wholes if one in named) or [PARTS]
    if any(content.startswith("⋯") and content[1:2].isdigit() for content in words):
        said.append(FOLDS)
    return said


def scale_words(scales: Mapping[str, float]) -> list[str]:
    """What the full colours of strips stand for, for every quantity."""
    told = [f"±{number_text(scale)} of {name or 'all'}" for name, scale in scales.items() if scale]
    return [f"full colour: {', '.join(told)}"] if told else []


def _is_sampled(content: str) -> bool:
    """Whether the words in a cell, as ``‖57‖ 64``, tell of more entries than a strip shows."""
    _, bars, shape = content.rpartition("‖ ")
    lengths = shape.split(" of ")[-1].split("×")
    return bool(bars) and any(n.isdigit() and int(n) > SEGMENTS for n in lengths)
