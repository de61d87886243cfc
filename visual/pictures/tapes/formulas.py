"""The formulas of a backward Scan in a tape picture, below the rows of its steps.

A row has them with the numbers of its step where there is room, or a row has the first one, or
all stand once, for every step, below the last row.
"""

from collections.abc import Iterable
from textwrap import wrap

from visual.layout.columns import Gap
from visual.layout.names import counted
from visual.pictures.tapes.backward import as_row, opens_alone
from visual.pictures.tapes.block import CLOSE, SMALL, Block
from visual.scene.combinators import Piece, above, grouped
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Group, Shape, Text

LINE, MORE = 15, "more signs"
DETAILS = ("whole", "lines", "line", "each", "hint", "none")  # how much of formulas a row has


def with_formulas(block: Block, drawn: Iterable[tuple[int | None, Piece]], detail: str) -> Piece:
    """All rows, each of a step with as much of its formulas as `detail` says."""
    parts = []
    for step, part in drawn:
        if step is not None:
            if not block.is_short(step):
                part = above(part, formulas(block, step, detail))
            number, moment = block.named.moment(step)
            reads = block.named.read_keys(step)
            part = grouped(part, Group((), step=number, moment=moment, reads=reads))
        parts.append(part)
    told = detail in ("line", "each", "hint", "none") and not block.view.sheet.bare
    if told and block.named.scan.steps and not (block.rows >= CLOSE and detail == "none"):
        parts.append(_every_step(block, 0 if detail in ("hint", "none") else 3))
    return above(*parts)


def formulas(block: Block, step: int, detail: str) -> Piece:
    """The formulas of a step, with numbers where there is room, below its row."""
    if detail in ("each", "hint", "none"):
        return as_row(block, 2)
    known, shapes, y = block.formulas, list[Shape](), 0.0
    for number, formula in enumerate(known[:1] if detail == "line" else known):
        most = 3 if detail == "whole" else 1
        start = y
        texts: list[Text] = []
        symbols, numbers = block.told(number, step)
        if detail == "line" and len(known) > 1:
            numbers = f"⋯ {counted(len(known) - 1, 'more formula')}"
        for content, muted in ((symbols, False), (numbers, True)):
            x = block.labels + (texts[-1].width + 24 if texts else 0.0)
            beside = len(texts) == 1 and _fits(block, x, content)
            if not content or (texts and not beside and most == 1):
                continue
            y += 0 if beside else LINE * len(texts[:1])
            lines = [content] if beside else _lines(content, block.room - block.labels, most)
            y -= LINE
            for line in lines:
                y += LINE
                left = (x if beside else block.labels) + MONO_WIDTH * SMALL * _indent(line)
                title = "" if lines[-1] == content or "…" not in lines[-1] else content
                texts.append(
                    Text(left, y + 12, line.lstrip(), SMALL, mono=True, muted=muted, title=title)
                )
        rest = [opens_alone(block, step, text) if "⋯" in text.content else text for text in texts]
        shapes.append(Group(tuple(rest), mentions=block.named.formula_keys(formula, step)))
        y = max(start, y) + LINE
    return as_row(block, y + (12 if detail == "whole" else 4), *shapes)


def _fits(block: Block, x: float, content: str) -> bool:
    return x + len(content) * SMALL * MONO_WIDTH <= block.room


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lines(content: str, room: float, most: int) -> list[str]:
    """A formula in up to `most` lines; if they do not hold it, the rest is counted."""
    letters = int(room / (SMALL * MONO_WIDTH))
    lines = wrap(content, letters, subsequent_indent="    ", break_on_hyphens=False)
    if len(lines) <= most:
        return lines
    rest = len(content)
    for _ in range(2):  # the count has a width as well
        ending = f" … {rest} {MORE}"
        last = lines[most - 1][: letters - len(ending)].rstrip()
        rest = len(content) - sum(len(line.strip()) + 1 for line in lines[: most - 1]) - len(last)
    return [*lines[: most - 1], last.rstrip() + f" … {rest} {MORE}"]


def is_cut(shape: Shape) -> bool:
    """Whether it is the last line of a formula that had no room."""
    return isinstance(shape, Text) and shape.content.endswith(MORE)


def _every_step(block: Block, most: int) -> Piece:
    """Up to `most` formulas of all steps at once, where there is no room for those of each."""
    shapes: list[Shape] = [Text(block.labels - 12, 12, "step k", 12, "end", bold=True)]
    y = 0
    if block.view.sheet.is_narrow:
        shapes = [Text(block.labels - 12, 12, "steps", 12, "end", bold=True)]
    known = block.formulas
    most += len(known) == most + 1  # it takes no more room than to say that there is one
    for formula in known[:most]:
        for line in _lines(block.spell.at_k(formula), block.room - block.labels, 2):
            x = block.labels + MONO_WIDTH * SMALL * _indent(line)
            shapes.append(Text(x, y + 12, line.lstrip(), SMALL, mono=True))
            y += LINE
    left = len(known) - most
    more = f"{counted(left, 'more formula' if most else 'formula')}; " if left > 0 else ""
    step = next((step for step in block.steps if not isinstance(step, Gap)), 0)
    is_told = block.steps and any(block.told(n, step)[1] for n in range(len(known)))
    alone = f"shows step {step} alone{', in numbers' if is_told else ''}"
    hint = block.view.sheet.hint(f"step={step} {alone}", f"a click {alone}", before="")
    words = f"⋯ {more}{hint}" if hint else f"⋯ {more[:-2]}" if more else ""
    shapes.append(opens_alone(block, step, Text(block.labels, y + 12, words, SMALL, muted=True)))
    return as_row(block, y + LINE + 8, *shapes)
