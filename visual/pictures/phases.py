"""The phases picture: how one derivative of one Scan is built, in eleven panels.

Every panel tells what the phase is for and what it decided about which variable; decisions
that make a gradient right or wrong stand out.
"""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from lab.errors import ArgumentError, expect, quoted, several, whole
from lab.gradients.derivation import Derivation
from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from visual.layout.canvas import MARGIN, Canvas
from visual.pictures.connections import LOOKS, legend_of
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Box, Group, Scene, Shape, Text, shortened, text_width
from visual.scene.theme import Role

PURPOSES: Mapping[int, str] = {
    1: "How many steps there are to go back through.",
    2: "Who hands a gradient on, and who receives one.",
    3: "What is asked of PyTensor's grad: the step alone.",
    4: "Names for gradients that are not known yet.",
    5: "The chain rule for a single step.",
    6: "Where a slot's gradient is added to, and where not.",
    7: "Forward values that the backward steps need, last first.",
    8: "Every state's tape becomes the tape of its gradient.",
    9: "Sequences, parameters, and what has no gradient.",
    10: "The loop that does it, with all its variables.",
    11: "One answer for every input, in the order of the inputs.",
}
WIDTH, SIDE, PAD = 1120, 296, 14
CHIP, CHIP_HEIGHT, LINE, PITCH = 176, 22, 17, 28
ITEMS = MARGIN + SIDE
DECISIONS = ITEMS + CHIP + 14
EXPRESSIONS = DECISIONS + 330
RIGHT = MARGIN + WIDTH - PAD
Keys = Mapping[str, tuple[str, ...]]
SMALL, MONO, MOST_LINES = 12, 11.5, 3


def phases(
    derivation: Derivation | DerivationRecord,
    theme: str = "light",
    keys: Keys | None = None,
    only: Iterable[int] | None = None,
) -> Scene:
    """The eleven phases of a derivation, or of its stored record; or `only` those with numbers.

    `keys` are those of the values of every variable in other pictures; see `visual.layout.names`.
    """
    record = derivation.record if isinstance(derivation, Derivation) else derivation
    if not isinstance(record, DerivationRecord):
        raise ArgumentError(f"derivation = {quoted(record)}: expected a Derivation or its record.")
    shown = _chosen(record, only)
    keys = {} if keys is None else expect("keys", keys, Mapping, "keys by the names of variables")
    canvas = Canvas()
    told = f"how {record.forward} is differentiated, in eleven phases"
    canvas.heading(f"{record.backward} · order {record.order}", [told])
    for phase in shown:
        name = f"{phase.number}. {phase.name}"
        canvas.add(Group(_panel(canvas, record, phase, keys), phase.number - 1, moment=name))
    used = {item.verdict for phase in shown for item in phase.items}
    canvas.y += 12
    return canvas.finished(
        legend_of(used),
        width=WIDTH + 2 * MARGIN,
        title=f"Eleven phases: {record.backward}, the derivative of {record.forward}",
        description=f"What every phase decided, and what it built; order {record.order}.",
        theme=theme,
    )


def _chosen(record: DerivationRecord, only: Iterable[int] | None) -> Sequence[Phase]:
    if only is None:
        return record.phases
    listed = several("only", only, "numbers of phases, as in range(1, 6)")
    numbers = {whole("only", number) for number in listed}
    known = {phase.number for phase in record.phases}
    if not numbers or not numbers <= known:
        raise ArgumentError(f"only = {quoted(sorted(numbers))}: expected some of 1 to 11.")
    return [phase for phase in record.phases if phase.number in numbers]


def _panel(canvas: Canvas, record: DerivationRecord, phase: Phase, keys: Keys) -> tuple[Shape, ...]:
    """One phase: its number, name and purpose at the left, its decisions at the right."""
    top = canvas.y
    side, low = _side(phase, top)
    y = top + PAD
    shapes: list[Shape] = []
    for item in phase.items:
        drawn, y = _item(record, item, y)
        about = _about(item, keys)
        shapes += [Group(tuple(drawn), mentions=about)] if about else drawn
    bottom = max(low, y - (PITCH - CHIP_HEIGHT) + PAD)
    canvas.y = bottom + 10
    frame = Box(MARGIN, top, WIDTH, bottom - top, Role.PANEL)
    return (frame, *side, *shapes)


def _about(item: Item, keys: Keys) -> tuple[str, ...]:
    """The keys of the variable that an item is about: the longest name that it begins with."""
    names = [n for n in keys if item.subject == n or item.subject.startswith((f"{n}[", f"{n}, "))]
    return keys[max(names, key=len)] if names else ()


def _side(phase: Phase, top: float) -> tuple[list[Shape], float]:
    """The number, the name and the purpose of a phase; and where they end."""
    left, x, y = MARGIN + PAD, MARGIN + PAD + 38, top + PAD + 16
    badge = Box(left, top + PAD, 28, 24, Role.PANEL)
    number = Text(left + 14, y + 1, str(phase.number), 13, "middle", bold=True, role=Role.PANEL)
    shapes: list[Shape] = [badge, number]
    for line in wrap(phase.name, 31, break_on_hyphens=False):
        shapes.append(Text(x, y, line, 13, bold=True))
        y += LINE
    for line in wrap(PURPOSES.get(phase.number, ""), 36):
        shapes.append(Text(x, y + 2, line, 11.5, muted=True))
        y += LINE - 1
    return shapes, y - 4 + PAD


def _item(record: DerivationRecord, item: Item, y: float) -> tuple[list[Shape], float]:
    """One decision: the variable in its role, what was decided, the expression; and the end."""
    if item.verdict is Verdict.ABSENT:  # nothing to look at
        told = f"{item.subject}: {item.decision}"
        return [Text(ITEMS, y + 15, shortened(told, RIGHT - ITEMS, SMALL), SMALL, muted=True)], (
            y + PITCH - 3
        )
    role = LOOKS[item.verdict]
    subject = shortened(item.subject, CHIP - 12, SMALL, mono=True)
    box = Box(ITEMS, y, CHIP, CHIP_HEIGHT, role)
    middle = ITEMS + CHIP / 2
    words = Text(middle, y + 15, subject, SMALL, "middle", mono=True, role=role)
    title = f"{item.subject}: {item.decision}"
    title += f": {item.expression}" if item.expression else ""
    shapes: list[Shape] = [
        Group((box, words), cell=f"{record.backward}:{item.subject}", title=title)
    ]
    baseline = y + 15
    beside = item.expression and _fits_beside(item)
    for line in _wrapped(item.decision, DECISIONS, SMALL, mono=False):
        shapes.append(_text(DECISIONS, baseline, line, item.decision))
        baseline += LINE
    if beside:
        place = Text(EXPRESSIONS, y + 15, item.expression, MONO, mono=True)
        shapes.append(place)
    elif item.expression:
        for line in _wrapped(item.expression, DECISIONS, MONO, mono=True):
            shapes.append(_text(DECISIONS, baseline, line, item.expression, mono=True))
            baseline += LINE
    return shapes, max(y + PITCH, baseline - 15 + LINE / 2)


def _fits_beside(item: Item) -> bool:
    """Whether there is room for the expression in its own column, next to the decision."""
    short = text_width(item.decision, SMALL) <= EXPRESSIONS - DECISIONS - 8
    return short and text_width(item.expression, MONO, mono=True) <= RIGHT - EXPRESSIONS


def _wrapped(content: str, x: float, size: float, mono: bool) -> list[str]:
    """`content` in up to three lines that end before the panel does."""
    letters = int((RIGHT - x) / (size * (MONO_WIDTH if mono else 0.6)))
    lines = wrap(
        content,
        letters,
        subsequent_indent="  ",
        break_on_hyphens=False,
        max_lines=MOST_LINES,
        placeholder=" …",
    )
    return [shortened(line, RIGHT - x, size, mono) for line in lines]


def _text(x: float, y: float, line: str, whole: str, mono: bool = False) -> Text:
    """A line of a text, with the whole of it as tooltip if it was shortened."""
    indent = 14 if line.startswith(" ") else 0
    title = whole if "…" in line else ""
    size = MONO if mono else SMALL
    return Text(x + indent, y, line.strip(), size, mono=mono, title=title)
