"""Where columns stand, and the pieces that every picture of tapes is made of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

from lab.progress import pause
from lab.tape import Kind
from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.cells import on_one_scale, told_apart
from visual.layout.columns import Gap, Steps, Timeline, column_of, shown_steps
from visual.layout.legend import NOTHING, explained, notes, scale_words
from visual.layout.names import listed
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, above, shifted, sized, words
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Box, Group, Scene, Text, folded, walk
from visual.scene.theme import Role

MARGIN = 24
BASELINE = 16  # of a title
FORMULA, LONGEST_FORMULA, INDENT = 12.5, 64, 4
CELL, BETWEEN = 92, 20
HEIGHT, THIN = 44, 24
HEADING = 840 - 2 * MARGIN  # the widest line of one: a picture fits where it is seen


def touched_columns(
    scan: ScanTrace,
    time: Timeline,
    requested: Steps,
    ends: int | None = None,
    only: range | None = None,
) -> set[int]:
    """The columns of all slots that the shown steps of a loop read or write."""
    columns: set[int] = set()
    for tape in scan.held:
        if tape.is_total or not time.knows(tape.axis):
            continue
        rows = touched_rows(scan, tape, requested, ends, only)
        columns |= {column_of(tape, row, time) for row in rows}
    for sequence in scan.sequences:
        if time.knows(sequence.axis):
            columns |= {
                time.column(sequence.axis.variable, int(sequence.axis.index[step]))
                for step in numbers(shown_steps(scan.steps, requested, ends, only))
            }
    return columns


def touched_rows(
    scan: ScanTrace,
    tape: TapeTrace,
    requested: Steps,
    ends: int | None = None,
    only: range | None = None,
) -> set[int]:
    """The rows of a tape that the shown steps read or write; all initial ones without steps."""
    steps = numbers(shown_steps(scan.steps, requested, ends, only))
    if not steps:
        return set(range(min(len(tape.initial), 12)))
    accesses = (*tape.reads, *tape.writes)
    return {int(access.rows[step]) for access in accesses for step in steps}


def numbers(items: Iterable[int | Gap]) -> list[int]:
    """The items that are no gaps."""
    return [item for item in items if not isinstance(item, Gap)]


def heading(title: str, subtitles: Iterable[str], sheet: Sheet = SCREEN, more: str = "") -> Piece:
    """The title of a picture or of a part, `more` as its tooltip, and lines under it."""
    big = folded(title, sheet.line, 16, bold=True)
    small = [line for told in subtitles for line in folded(told, sheet.line, 12)]
    last = BASELINE + 21 * (len(big) - 1)
    texts = [
        *(
            Text(0, BASELINE + 21 * n, line, 16, bold=True, title=more)
            for n, line in enumerate(big)
        ),
        *(Text(0, last + 19 * n, line, 12, muted=True) for n, line in enumerate(small, start=1)),
    ]
    return sized(max(text.width for text in texts), last + 19 * len(small) + 14, *texts)


def note(told: str) -> Piece:
    """A sentence about what stands above, in as many lines as it needs."""
    lines = folded(told, HEADING, 12)
    return above(*(words(line, 12, muted=True) for line in lines), apart=3)


def formula(
    content: str, muted: bool = False, most: int = 3, letters: int = LONGEST_FORMULA
) -> Piece:
    """A formula in as many lines as it needs, at `most`."""
    size = FORMULA - 1 if muted else FORMULA
    lines = formula_lines(content, letters, most)
    title, texts = content if lines[-1].endswith("…") else "", list[Text]()
    for n, line in enumerate(lines):
        x, y = (len(line) - len(line.lstrip())) * size * MONO_WIDTH, BASELINE + 17 * n
        texts.append(Text(x, y, line.lstrip(), size, mono=True, muted=muted, title=title))
    return sized(max(text.x + text.width for text in texts), 17 * len(texts), *texts)


def formula_lines(content: str, letters: int, most: int, indent: int = INDENT) -> list[str]:
    """A formula in at most so many lines of so many letters, the later ones indented.

    Words are kept whole, or the factors of those that are longer than a line.
    """
    lines, room = [""], max(letters - indent, 1)
    for word in re.findall(r"\S+ *", content):
        for piece in [word] if len(word.rstrip()) <= room else re.findall("[^·]+·?|·", word):
            left = letters - len(lines[-1]) - indent * (len(lines) > 1)
            if len(piece.rstrip()) > left and lines[-1]:
                lines.append("")
            first, *more = wrap(piece, room, drop_whitespace=False)
            lines[-1] += first
            lines += more
    if len(lines) > most:
        lines[most - 1 :] = [f"{lines[most - 1][: max(room - 2, 0)].rstrip()} …"]
    return [f"{' ' * indent * (n > 0)}{line.rstrip()}" for n, line in enumerate(lines)]


def finished(
    part: Piece,
    words: Mapping[Role, str] | None,
    title: str,
    description: str,
    sheet: Sheet = SCREEN,
    width: float | None = None,
    said: Sequence[str] = (),
    below: float = 12,
    dot: str = "",
    close: bool = False,
    seeds: str = "",
    wholes: Mapping[str, str] = NOTHING,
) -> Scene:
    """The picture of a part: with margins, unless it has a `width` and stands where it is.

    Below it is a legend in `words` of its own for what is drawn.  Without `words` they are called
    what they are called everywhere; what brings its `seeds` is its own, too.  Notes explain arrays
    and steps that are not shown.  `said` are further lines, `below` is the room beneath the last.
    The columns of a `close` legend are as wide as their words; `wholes` are those of `notes`.
    """
    pause()
    margin, bottom = sheet.margin, part.envelope.bottom
    if width is None:
        part = shifted(part, margin - part.envelope.left, MARGIN - part.envelope.top)
        width, bottom = part.envelope.right + margin, part.envelope.bottom + BETWEEN
    if words is None:
        words = {role: role.value for role in Role if role is not Role.PANEL}
    words = {**words, Role.SEED: seeds} if seeds else words
    boxes = [s for s in walk(part.shapes) if isinstance(s, Box) and s.heat is None]
    drawn = {Role.UNNEEDED if box.faded else box.role for box in boxes}
    words = {role: told for role, told in words.items() if role in drawn}
    shapes, scales = on_one_scale(told_apart(part.shapes))
    said, full = [*notes(shapes, wholes), *said], scale_words(scales)
    if not sheet.legend:
        words, said, full = {}, [], []
    legend, low = explained(words, bottom, width, close, margin)
    told, ends = (
        [line for one in few for line in folded(one, width - 2 * margin, 12)]
        for few in (said, full)
    )
    lines = [
        Text(margin, low + 20 * number + 12, line, 12, muted=True)
        for number, line in enumerate((*told, *ends))
    ]
    scene = Scene(
        width=max([width, *(margin + line.width + margin for line in lines)]),
        height=max(bottom, low + 20 * len(lines)) + below,
        shapes=(*shapes, *legend, *lines),
        title=title,
        description=description,
        dot=dot,
    )
    if not (ends and scene.moments):
        return scene
    last, moment = max(scene.moments.items())  # only then are the largest entries known
    known = Group(tuple(lines[len(told) :]), last, moment=moment)
    return replace(scene, shapes=(*shapes, *legend, *lines[: len(told)], known))


def kind_text(tape: TapeTrace, in_short: bool = False) -> str:
    """``mit-mot · reads 0, 1 · writes 1``, or what a tape is for; `in_short`, that alone."""
    if tape.is_total:
        return "running total over the steps"
    if tape.gradient_of is not None and tape.kind is Kind.NIT_SOT:
        return f"{'' if in_short else 'nit-sot: '}one value at every step"
    if in_short:
        return ""
    taps = tape.tape
    return f"{tape.kind} · reads {listed(taps.reads)} · writes {listed(taps.writes)}"
