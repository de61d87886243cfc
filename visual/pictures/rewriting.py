"""Rewrites of a graph one by one: the list of them, and one open, before and after side by side.

>>> visual.compiled(lab.rewrites(cost, wrt, given=given), rewrite=2).save("rewrites.svg")
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.errors import ArgumentError, quoted, whole
from lab.notation import size_text
from lab.reports.compile.walk import Side, Step, Walk
from lab.reports.explain.explanation import FEW
from visual.layout.columns import ENDS
from visual.layout.legend import explained
from visual.layout.sheet import SCREEN
from visual.scene.combinators import Piece, above, beside, gap, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, folded, outline, shortened
from visual.scene.theme import Role

LINE, CHIP, APART = 22.0, 22.0, 6.0
SIDE = (SCREEN.line - 24) / 2
MOST = 18  # rewrites in the list
HIGH = SCREEN.height - 60  # of all, without margins
# Of a side: equations, lines of one, and boxes in a row of arguments or operations.
LIMITS = ((6, 3, 24), (4, 2, 12), (2, 1, 6), (1, 1, 2))


@dataclass(frozen=True)
class Room:
    """How much of a side is shown."""

    equations: int
    lines: int
    chips: int


WORDS = {
    Role.PRESERVED: "there before and after",
    Role.OVERWRITTEN: "there before, and no more",
    Role.INTERMEDIATE: "made by the rewrite",
}
COLUMNS = (32.0, 322.0, 560.0, 672.0)  # of the list: rewrite, Scan, operations, bytes


def rewrites(walk: Walk, rewrite: int = 1, theme: str = "light") -> Scene:
    """The rewrites of `lab.rewrites` in a list, and one of them open, counted from 1.

    Raises ArgumentError for a number that there is not.
    """
    if walk.steps and whole("rewrite", rewrite) not in range(1, len(walk.steps) + 1):
        raise ArgumentError(f"rewrite = {quoted(rewrite)}: there are {len(walk.steps)} rewrites.")
    title = "From the graph as written to the one that runs"
    parts = [_lines(title, 16, bold=True), _lines(walk.told, 12)]
    if walk.steps:
        left = [_lines(told, 12) for told in walk.left[:FEW]]
        listed = _list(walk, rewrite - 1)
        taken = above(*parts, listed, *left, gap(), apart=14).envelope.height
        parts += [listed, *left, opened(walk.steps[rewrite - 1], rewrite, HIGH - taken)]
    return scene(above(gap(SCREEN.line), *parts, apart=14), title, walk.told, theme)


def one(step: Step, number: int, theme: str = "light") -> Scene:
    """One rewrite alone: before and after, what it saves, and what it goes badly with."""
    return scene(
        above(gap(SCREEN.line), opened(step, number)),
        f"{number} · {step.rewrite}",
        step.title,
        theme,
    )


def _lines(told: str, size: float, bold: bool = False, muted: bool = False) -> Piece:
    lines = folded(told, SCREEN.line, size, bold)
    texts = (
        Text(0, size + 1.4 * size * n, line, size, bold=bold, muted=muted)
        for n, line in enumerate(lines)
    )
    return sized(SCREEN.line, 1.4 * size * len(lines), *texts)


def _list(walk: Walk, opened: int) -> Piece:
    """A line for each rewrite; of many the ends, and those around the one that is open."""
    count = len(walk.steps)
    shown = set(range(count))
    if count > MOST:
        near = range(opened - MOST // 2 + ENDS, opened + MOST // 2 - ENDS)
        shown = {*range(ENDS), *near, *range(count - ENDS, count)} & shown
    heads = ("", "rewrite", "Scan", "operations", "bytes")
    shapes: list[Shape] = [
        Text(x, 12, head, 11, muted=True) for x, head in zip((8, *COLUMNS), heads, strict=True)
    ]
    y = 20.0
    for n in range(count):
        if n in shown:
            shapes.append(_row(walk.steps[n], n, y, n == opened))
        elif n - 1 in shown:
            hidden = next(m for m in range(n, count) if m in shown) - n
            told = f"⋯ {hidden} more: rewrite={n + 1} opens one"
            shapes.append(Text(COLUMNS[0], y + 15, told, 11, muted=True))
        else:
            continue
        y += LINE
    return sized(SCREEN.line, y, *shapes)


def _row(step: Step, number: int, y: float, is_open: bool) -> Group:
    frame = [outline(0, y, SCREEN.line, LINE - 2)] if is_open else []
    told = [
        "" if None in pair else f"{pair[0]:,} → {pair[1]:,}" if pair[0] != pair[1] else "="
        for pair in (step.work, step.bytes)
    ]
    words = (f"{number + 1}", step.rewrite, step.title, *told)
    ends = (*COLUMNS, SCREEN.line)
    texts = [
        Text(x, y + 14, shortened(content, end - x - 8, 12, bold=is_open), 12, bold=is_open)
        for x, content, end in zip((8, *COLUMNS), words, ends, strict=True)
    ]
    return Group((*frame, *texts), title=f"{step.rewrite}, {step.title}")


def opened(step: Step, number: int, high: float = HIGH) -> Piece:
    """A rewrite: its name, what it is for, both sides, what it saves, what it goes badly with.

    Of long sides as much is shown as has room.
    """
    known = step.known
    head = [_lines(f"{number} · {step.rewrite}", 14, bold=True)]
    if known.purpose:
        head.append(_lines(f"It {known.purpose}.", 12))
    below = [_lines(told, 12) for told in step.saves]
    if known.beware:
        below.append(_lines(f"⚠ Not with {known.beware}", 12))
    legend, deep = explained(WORDS, 8, SCREEN.width, close=True, left=0)
    below.append(sized(SCREEN.line, deep, *legend))
    made = gap()
    for limit in LIMITS:
        room = Room(*limit)
        before = (_side(side, "before", [step.after], room) for side in step.before)
        after = _side(step.after, "after", step.before, room)
        both = beside(above(*before, apart=10), after, apart=24)
        made = above(*head, both, *below, apart=7)
        if made.envelope.height <= high:
            break
    return made


def _side(side: Side, when: str, others: Sequence[Side], limit: Room) -> Piece:
    """A Scan: what it is handed, what a step makes, and of which operations."""
    changed = Role.OVERWRITTEN if when == "before" else Role.INTERMEDIATE
    steps = "" if side.steps is None else f", {side.steps} steps"
    place = f", writes over {side.in_place} of its buffers" if side.in_place else ""
    head = f"{when}: {side.name}{steps}{place}"
    room = SIDE - 20
    parts: list[Piece] = [sized(room, 18, fitted(0, 13, head, room, 13, bold=True))]
    there = Counter(str(one) for other in others for one in other.arguments)
    chips = []
    for one in side.arguments:
        told = str(one)
        role = Role.PRESERVED if there[told] else changed
        there[told] -= 1
        size = [] if one.bytes is None else [size_text(one.bytes)]
        given = [f"computed as {one.given}"] if one.given else []
        chips.append((told, ", ".join([told, *size, *given]), role))
    parts.append(_flow(chips, room, limit))
    theirs = {line for other in others for line in other.equations}
    parts.append(_equations(side, theirs, room, limit))
    counts = Counter(side.operations)
    known = sum((Counter(other.operations) for other in others), Counter[str]())
    chips = []
    for name, count in sorted(counts.items()):
        same = min(count, known[name])
        for number, role in ((same, Role.PRESERVED), (count - same, changed)):
            if number:
                chips.append((f"{number} × {name}" if number > 1 else name, name, role))
    word = "operation" if len(side.operations) == 1 else "operations"
    if side.steps is not None:
        told = f"{len(side.operations)} {word} in a step, {side.around} before it"
        parts.append(sized(room, 16, Text(0, 12, told, 11, muted=True)))
        parts.append(_flow(chips, room, limit))
    inside = above(*parts, apart=6)
    frame = Box(0, 0, SIDE, inside.envelope.height + 20, Role.PANEL)
    body = above(gap(height=10), beside(gap(10), inside))
    return sized(SIDE, frame.height, frame, *body.shapes)


def _equations(side: Side, theirs: set[str], room: float, limit: Room) -> Piece:
    """What a step makes; what the other side makes, too, is muted."""

    def texts() -> Iterator[Text]:
        y = 14.0
        for line in side.equations[: limit.equations]:
            lines = folded(line, room, 12)
            for number, part in enumerate(lines[: limit.lines], start=1):
                cut = number == limit.lines < len(lines)
                told = shortened(f"{part} …", room, 12) if cut else part
                yield Text(0, y, told, 12, muted=line in theirs, title=line)
                y += 17
        if len(side.equations) > limit.equations:
            more = f"⋯ and {len(side.equations) - limit.equations} more equations"
            yield Text(0, y, more, 11, muted=True)

    shown = list(texts())
    return sized(room, 17.0 * len(shown) + 2, *shown) if shown else gap()


def _flow(chips: Sequence[tuple[str, str, Role]], room: float, limit: Room) -> Piece:
    """Boxes with words and tooltips from left to right, in as many lines as they need."""
    shapes: list[Shape] = []
    ordered = sorted(chips, key=lambda chip: chip[2] is Role.PRESERVED)  # what differs comes first
    x = y = 0.0
    for words, title, role in ordered[: limit.chips]:
        told = shortened(words, room - 16, 12)
        wide = text_width(told, 12) + 16
        if x and x + wide > room:
            x, y = 0.0, y + CHIP + APART
        box = Box(x, y, wide, CHIP, role)
        shapes.append(
            Group((box, Text(x + wide / 2, y + 15, told, 12, "middle", role=role)), title=title)
        )
        x += wide + APART
    if len(chips) > limit.chips:
        y += CHIP + APART
        shapes.append(Text(0, y + 15, f"⋯ and {len(chips) - limit.chips} more", 11, muted=True))
    return sized(room, y + CHIP, *shapes) if shapes else gap()
