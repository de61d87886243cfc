"""The formulas of a backward Scan in a tape picture, below the rows of its steps."""

from collections.abc import Iterable
from textwrap import wrap

from visual.pictures.tapes.block import SMALL, Block
from visual.scene.combinators import Piece, above, grouped, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Group, Shape, Text

LINE, MORE = 15, "more signs"
MOST_LINES = 3  # of a formula


def with_formulas(block: Block, drawn: Iterable[tuple[int | None, Piece]]) -> Piece:
    """All rows, each of a step with its formulas."""
    parts = []
    for step, part in drawn:
        if step is not None:
            part = above(part, formulas(block, step))
            number, moment = block.named.moment(step)
            reads = block.named.read_keys(step)
            part = grouped(part, Group((), step=number, moment=moment, reads=reads))
        parts.append(part)
    return above(*parts)


def formulas(block: Block, step: int) -> Piece:
    """The formulas of a step in symbols and in numbers, below its row."""
    shapes, y = list[Shape](), 0.0
    for number, formula in enumerate(block.formulas):
        start = y
        texts: list[Text] = []
        for content, muted in zip(block.told(number, step), (False, True), strict=True):
            x = block.labels + (texts[-1].width + 24 if texts else 0.0)
            beside = len(texts) == 1 and _fits(block, x, content)
            if not content:
                continue
            y += 0 if beside else LINE * len(texts[:1])
            lines = [content] if beside else _lines(content, block.room - block.labels)
            y -= LINE
            for line in lines:
                y += LINE
                left = (x if beside else block.labels) + MONO_WIDTH * SMALL * _indent(line)
                title = "" if lines[-1] == content or "…" not in lines[-1] else content
                texts.append(
                    Text(left, y + 12, line.lstrip(), SMALL, mono=True, muted=muted, title=title)
                )
        shapes.append(Group(tuple(texts), mentions=block.named.formula_keys(formula, step)))
        y = max(start, y) + LINE
    return sized(block.room, y + 12, *shapes)


def _fits(block: Block, x: float, content: str) -> bool:
    return x + len(content) * SMALL * MONO_WIDTH <= block.room


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lines(content: str, room: float) -> list[str]:
    """A formula in up to three lines; if they do not hold it, the rest is counted."""
    letters = int(room / (SMALL * MONO_WIDTH))
    lines = wrap(content, letters, subsequent_indent="    ", break_on_hyphens=False)
    if len(lines) <= MOST_LINES:
        return lines
    kept, rest = lines[: MOST_LINES - 1], len(content)
    for _ in range(2):  # the count has a width as well
        ending = f" … {rest} {MORE}"
        last = lines[MOST_LINES - 1][: letters - len(ending)].rstrip()
        rest = len(content) - sum(len(line.strip()) + 1 for line in kept) - len(last)
    return [*kept, last.rstrip() + f" … {rest} {MORE}"]
