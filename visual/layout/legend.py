"""The legend of a picture: the meanings of roles, and notes about arrays, gaps, and gradients."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from lab.notation import number_text
from visual.scene.shapes import Box, Shape, Text, folded, text_width
from visual.scene.theme import Role

NORM = "‖ ‖ is the norm"
STRIPS = "strips, of up to 8 entries: olive is positive, magenta, in the lower half, negative"
ARRAYS = f"{STRIPS}; {NORM}"
TOTAL = "d: the total gradient; ∂: the direct contribution, not through later steps"
PARTS = "∂₁, ∂₂: parts of the same gradient, which are added"
EVERY_ROLE: Mapping[Role, str] = {role: role.value for role in Role if role is not Role.PANEL}
INDEX = "₀₁₂₃₄₅₆₇₈₉"
FOLDS = "⋯ and a number: the number of hidden columns"


def legend_shapes(
    words: Mapping[Role, str], y: float, width: float, close: bool = False, margin: float = 24.0
) -> tuple[list[Shape], float]:
    """Return the shapes of a legend, in as many columns as fit, and the y of its lower edge.

    `y` is the upper edge. If `close`, each column is only as wide as its texts; otherwise, all
    columns have the same width.
    """
    apart = 50 if close else 60  # pixels between the texts of two columns
    words = {role: role.legend_text(meaning) for role, meaning in words.items()}
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


def notes(shapes: Sequence[Shape]) -> list[str]:
    """Return notes about the arrays, gaps, and parts of gradients in the shapes."""
    words = [shape.content for shape in shapes if isinstance(shape, Text)]
    strips = any(isinstance(shape, Box) and shape.heat is not None for shape in shapes)
    sentences = [ARRAYS if strips else NORM] if any("‖" in content for content in words) else []
    parts = (content for content in words if content.startswith("∂") and "/∂" in content)
    # The names of direct contributions to the gradient of a cost.
    direct = {part for part in parts if part.lstrip(f"∂{INDEX}").startswith("C")}
    if direct and any(content.startswith("d") and "/d" in content for content in words):
        sentences.append(TOTAL)
    if any(content[1] in INDEX for content in direct):
        sentences.append(PARTS)
    if any(content.startswith("⋯") and content[1:2].isdigit() for content in words):
        sentences.append(FOLDS)
    return sentences


def scale_words(scales: Mapping[str, float]) -> list[str]:
    """Return at most one note: the magnitude that has the full color, for each quantity."""
    ends = [f"±{number_text(scale)} of {name or 'all'}" for name, scale in scales.items() if scale]
    return [f"full color: {', '.join(ends)}"] if ends else []
