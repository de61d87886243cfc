"""Headings of pictures and of Scans, formulas, and the margins and legend of a finished picture."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from lab.equations.quantities import cost_name
from lab.errors import listing
from lab.notation import integers
from lab.progress import pause
from lab.tape import Kind
from lab.traces.trace import TapeTrace
from visual.layout.cells import on_one_scale, with_distinct_numbers
from visual.layout.legend import EVERY_ROLE, legend_shapes, notes, scale_words
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, shifted, sized
from visual.scene.shapes import Box, Scene, Shape, Text, folded, walk
from visual.scene.theme import Role

MARGIN = 24
BASELINE = 16  # of a title
INDENT = 4  # letters before the later lines of a formula
BETWEEN, HEIGHT = 20, 44  # pixels between a part and its legend; the height of a cell


def heading(title: str, subtitles: Iterable[str], sheet: Sheet = SCREEN, more: str = "") -> Piece:
    """Return a title with the tooltip `more`, and the subtitles below the title."""
    big = folded(title, sheet.line, 16, bold=True)
    small = [line for subtitle in subtitles for line in folded(subtitle, sheet.line, 12)]
    last = BASELINE + 21 * (len(big) - 1)
    texts = [
        *(
            Text(0, BASELINE + 21 * n, line, 16, bold=True, title=more)
            for n, line in enumerate(big)
        ),
        *(Text(0, last + 19 * n, line, 12, muted=True) for n, line in enumerate(small, start=1)),
    ]
    return sized(max(text.width for text in texts), last + 19 * len(small) + 14, *texts)


def formula_lines(content: str, letters: int, most: int, indent: int = INDENT) -> list[str]:
    """Split a formula into lines of at most `letters` letters, and indent all but the first.

    Lines break between words, and a long word breaks between factors. An ellipsis replaces the text
    after `most` lines.
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


def scene_with_legend(
    part: Piece,
    words: Mapping[Role, str] = EVERY_ROLE,
    *,
    title: str,
    description: str,
    sheet: Sheet = SCREEN,
    width: float | None = None,
    sentences: Sequence[str] = (),
    dot: str = "",
    close: bool = True,
    seeds: str = "",
) -> Scene:
    """Return the picture of a part with a legend of its roles, and with notes.

    Without `width`, the picture has margins on all sides; with `width`, the part is in its final
    position. `words` contains the meanings of roles, and `seeds` replaces the meaning of the role
    of seeds. `sentences` are further notes, after the notes about arrays, gaps, and parts of
    gradients. `close` narrows the columns of the legend. A sheet without legend has no notes.
    """
    pause()
    margin, bottom = sheet.margin, part.envelope.bottom
    if width is None:
        part = shifted(part, margin - part.envelope.left, MARGIN - part.envelope.top)
        width, bottom = part.envelope.right + margin, part.envelope.bottom + BETWEEN
    shapes, scales = on_one_scale(with_distinct_numbers(part.shapes))
    legend, low, lines = list[Shape](), bottom, list[Text]()
    if sheet.legend:
        words = {**words, Role.SEED: seeds} if seeds else words
        legend, low = legend_shapes(_occurring(words, shapes), bottom, width, close, margin)
        every = (*notes(shapes), *sentences, *scale_words(scales))
        content = [line for note in every for line in folded(note, width - 2 * margin, 12)]
        lines = [Text(margin, low + 20 * n + 12, c, 12, muted=True) for n, c in enumerate(content)]
    return Scene(
        width=max([width, *(margin + line.width + margin for line in lines)]),
        height=max(bottom, low + 20 * len(lines)) + 12,
        shapes=(*shapes, *legend, *lines),
        title=title,
        description=description,
        dot=dot,
    )


def _occurring(words: Mapping[Role, str], shapes: Iterable[Shape]) -> dict[Role, str]:
    """Return the roles in `words` that occur in the shapes, with their meanings."""
    boxes = [s for s in walk(shapes) if isinstance(s, Box) and s.heat is None]
    roles = {Role.UNNEEDED if box.faded else box.role for box in boxes}
    return {role: meaning for role, meaning in words.items() if role in roles}


def kind_text(tape: TapeTrace, in_short: bool = False) -> str:
    """Return the purpose of a tape, or its kind and taps: ``mit-mot · reads 0, 1 · writes 1``.

    With `in_short`, omit the kind and the taps.
    """
    if tape.is_total:
        return "running total over the steps"
    if tape.gradient_of is not None and tape.kind is Kind.NIT_SOT:
        return f"{'' if in_short else 'nit-sot: '}one value at every step"
    if in_short:
        return ""
    reads, writes = (integers(*taps) or "nothing" for taps in (tape.tape.reads, tape.tape.writes))
    return f"{tape.kind} · reads {reads} · writes {writes}"


def block_heading(
    named: NamedScan,
    outputs: Sequence[TapeTrace] | None = None,
    in_short: bool = False,
    in_full: bool = False,
) -> tuple[str, list[str]]:
    """Return the title of a Scan, and lines about its purpose and its tapes.

    `outputs` are the outputs to describe (default: all). `in_short` omits the kinds and taps of
    tapes. `in_full` adds the definition of the differentiated cost.
    """
    scan, parent = named.scan, named.parent
    if scan.carries:
        title = f"{named.numbered_name}: the loop and its carried values"
        lines = ["forward: a step reads the results of the previous step; no value is stored"]
    elif parent is None:
        title = f"{named.numbered_name}: a loop of tapes"
        lines = ["in buffer order: its rows have no time axis"]
    else:
        title = f"{named.numbered_name}: the tape, order {scan.order}"
        through = f"backward through {parent.numbered_name}"
        if scan.steps < parent.scan.steps:
            through += f", only its last {scan.steps} of {parent.scan.steps} steps"
        cost = named.differentiated if in_full else cost_name(scan.order)
        lines = [f"{through} · gradient of {cost}"]
    tapes: dict[tuple[str, str, str], list[str]] = {}  # a sequence has an output for each tap
    for tape in scan.held:
        if outputs is None or tape not in scan.outputs or tape in outputs:
            is_part = named.share(tape) is not None and not tape.collects
            whole = named.whole_label(tape, None) if is_part else ""
            label = named.tape_label(tape, None)
            tapes.setdefault((tape.name, whole, kind_text(tape, in_short)), []).append(label)
    for (name, whole, kind), labels in tapes.items():
        meaning = f" = {listing(labels)}" if labels != [name] else ""
        part = f", {'a part' if len(labels) == 1 else 'parts'} of {whole}" if whole else ""
        lines.append(f"{name}{meaning}{part}{kind and f' · {kind}'}")
    return title, lines
