"""The phases picture: how eleven phases build the backward Scan of a loop.

Each phase has a row with the part of the step that the phase adds, and a sentence that explains the
part. The last row shows the finished step.
"""

from collections.abc import Iterator

from lab.errors import argument_error, check_type
from lab.gradients.derivation import Derivation
from lab.gradients.record import DerivationRecord
from lab.notation import ranges_text
from visual.layout.canvas import EVERY_ROLE, heading, scene_with_legend
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.phases.pieces import LINE, SMALL, Pieces
from visual.pictures.phases.sentences import legend_of, sentences
from visual.scene.combinators import Piece, above, beside, gap, grouped, over, piece, sized
from visual.scene.shapes import Polyline, Scene, Text, folded, outline, picture_function

PURPOSES = (
    "Steps", "Inputs", "One step", "Incoming", "Chain rule", "Add?", "Saved", "Slots", "Others",
    "Scan", "Results",
)  # fmt: skip
INDENT, NAMES, PIECES, BETWEEN, LEAST = 34.0, 138.0, 316.0, 8.0, 120.0


@picture_function
def phases(
    derivation: Derivation | DerivationRecord, of: NamedScan | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Draw the eleven phases of a derivation, or of its stored record.

    If `of` is the backward Scan of a run, the picture contains the number and the steps of this
    Scan. Raises ArgumentError for arguments of other types.
    """
    record = derivation.record if isinstance(derivation, Derivation) else derivation
    if not isinstance(record, DerivationRecord):
        raise argument_error("derivation", record, "expected a Derivation or its record.")
    if of is not None:
        check_type("of", of, NamedScan, "a NamedScan of the run")
    pieces = Pieces(record, of, min(PIECES, sheet.line - INDENT))
    rows = above(*_rows(pieces, sheet), apart=BETWEEN)
    verdicts = {item.verdict for phase in record.phases for item in phase.items}
    legend = {**EVERY_ROLE, **legend_of(verdicts)}
    parent = None if of is None else of.parent
    source = record.forward if parent is None else parent.numbered_name
    subject = f"order {record.order}" if of is None else f"gradient of {of.differentiated}"
    name = record.backward if of is None else of.numbered_name
    title = f"{name}: built from {source} in eleven phases"
    about = f"{subject} · each phase adds a part of the step"
    return scene_with_legend(
        over(gap(sheet.line), above(heading(title, [about], sheet), rows)),
        legend,
        sheet=sheet,
        title=f"Eleven phases: {record.backward}, the derivative of {record.forward}",
        description="The part that each phase adds, the reason, and the step of the backward "
        f"Scan of order {record.order}.",
    )


def _rows(pieces: Pieces, sheet: Sheet) -> Iterator[Piece]:
    """Yield a row for each phase, with a line to the next row, then a row for the whole step."""
    record = pieces.record
    parts = {phase.number: pieces.draw(phase.number) for phase in record.phases}
    widest = max(piece.envelope.width for piece in parts.values())
    room = sheet.line - NAMES - widest - 20
    is_narrow = room < LEAST

    def row_of(sign: Piece, purpose: str, part: Piece, *more: Piece, muted: bool = False) -> Piece:
        """Return the name of a part, the part, and `more`: side by side or, if narrow, stacked."""
        text = Text(INDENT, 15, purpose, 13, bold=True, muted=muted)
        name = sized(NAMES, LINE, *sign.shapes, text)
        if is_narrow:
            return above(name, *(beside(gap(INDENT), each) for each in (part, *more)))
        return beside(name, over(gap(widest + 20), part), *more)

    of, source = pieces.of, "the cost"  # the origin of the initial gradients
    if of is not None and of.seeded_by():
        scans = [number + 1 for number in of.seeded_by()]
        source = f"Scan{'s' * (len(scans) > 1)} {ranges_text(scans)}"
    for phase, (sentence, adds) in zip(record.phases, sentences(record, source), strict=True):
        number, muted = phase.number, not adds
        digits = Text(12, 15, str(number), SMALL, "middle", bold=True, muted=muted)
        sign, purpose = piece(outline(0, 2, 24, 18), digits), PURPOSES[number - 1]
        lines = folded(sentence, sheet.line - INDENT if is_narrow else room, SMALL)
        texts = (Text(0, 15 + 16 * n, line, SMALL, muted=muted) for n, line in enumerate(lines))
        text = sized(0, LINE + 16 * (len(lines) - 1), *texts)
        row = row_of(sign, purpose, parts[number], text, muted=muted)
        thread = Polyline(((12, 21), (12, row.envelope.bottom + BETWEEN + 2)), faint=True)
        moment = number - 1, f"{number}. {phase.name}", phase.name
        yield grouped(over(row, sized(0, 0, thread)), *moment)
    if step := [*pieces.finished(sheet.line - (INDENT if is_narrow else NAMES))]:
        sign = piece(Text(12, 15, "=", 13, "middle", bold=True))
        yield grouped(row_of(sign, "The step", above(*step, apart=4)), *moment)
