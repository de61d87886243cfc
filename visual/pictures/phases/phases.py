"""The phases picture: the Scan that differentiates another one, and which phase adds which piece.

A recipe of eleven rows: each phase with the piece that it adds, drawn, and why; at its end stands
the finished step, with the phase of each part.  Below a phase that is opened stands what it decided
about which variable, and the expressions that it built.
"""

from collections.abc import Mapping
from textwrap import wrap

from lab.errors import ArgumentError, check_integer, check_type, quote
from lab.gradients.derivation import Derivation
from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from visual.layout.canvas import finished, heading
from visual.layout.names import NamedScan, seeds_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import switch
from visual.pictures.phases.pieces import LINE, MONO, SMALL, Keys, Pieces, about, scan_name
from visual.pictures.phases.sentences import NOTHING, sentences
from visual.pictures.phases.verdicts import LOOKS, legend_of
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    cropped,
    gap,
    grouped,
    over,
    padded,
    shifted,
    sized,
    words,
)
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import (
    Box,
    Group,
    Polyline,
    Scene,
    Text,
    folded,
    outline,
    picture_function,
    shortened,
    text_width,
)
from visual.scene.theme import Role

PURPOSES: Mapping[int, str] = {
    1: "Steps",
    2: "Inputs",
    3: "One step",
    4: "Comes in",
    5: "Chain rule",
    6: "Added?",
    7: "Recorded",
    8: "The tape",
    9: "The others",
    10: "The Scan",
    11: "Answers",
}
CHIP, SUBJECT, BESIDE, MOST_LINES = 19, 176, 240, 3
INDENT, NAMES, ROOM, BETWEEN = 34.0, 138.0, 316.0, 8.0
EVERYTHING, USUAL = 99, 3  # lines of a phase, and of the finished step
LAST = 11
ABSENT = Verdict.ABSENT


@picture_function
def phases(
    derivation: Derivation | DerivationRecord,
    of: NamedScan | None = None,
    phase: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The eleven phases of a derivation, or of its stored record.

    With `phase`, the details of the one with that number, and what is built by then; with `all`
    the details of all of them, in a picture of any size.  `of` is the Scan that was built, in its
    run: then it is shown among the others, and has its number.
    """
    record = derivation.record if isinstance(derivation, Derivation) else derivation
    if not isinstance(record, DerivationRecord):
        raise ArgumentError(f"derivation = {quote(record)}: expected a Derivation or its record.")
    if of is not None:
        check_type("of", of, NamedScan, "a NamedScan of the run")
    check_sheet(sheet)
    opened, all = _opened(record, phase), switch("all", all)
    cards = list[Piece]()
    if of is not None and len(of.trace.scans) > 2 and not sheet.on_paper:
        cards.append(cropped(overview(of.trace, of.number, sheet=sheet), sheet.margin))
    head = _heading(record, of, opened, all, sheet)
    told = {item.verdict for phase in record.phases for item in phase.items}
    looks: dict[Role, str] = {role: role.value for role in Role if role is not Role.PANEL}
    looks |= legend_of(told - {ABSENT})
    room, most = min(ROOM, sheet.line - INDENT), EVERYTHING if all else USUAL
    rows = _rows(Pieces(record, of, sheet, room, most, opened), most, all)
    return finished(
        over(gap(sheet.line), above(*cards, above(head, rows), apart=13)),
        looks,
        sheet=sheet,
        title=f"Eleven phases: {record.backward}, the derivative of {record.forward}",
        description=f"What every phase adds, and why, and the step of order {record.order} "
        "that comes of it.",
        close=True,
        seeds=seeds_of(of.trace, [of.number]) if of is not None and cards else "",
    )


def _heading(
    record: DerivationRecord, of: NamedScan | None, opened: Phase | None, all: bool, sheet: Sheet
) -> Piece:
    """Which Scan is built, and from which."""
    name, source = scan_name(record.backward, of), record.forward
    if of is not None and of.parent is not None:
        source = scan_name(source, of.parent)
    told = [f"order {record.order}" if of is None else f"gradient of {of.differentiated}"]
    told.append("each phase adds a piece of one step")
    if not all:
        number = 5 if opened is None else opened.number % LAST + 1
        told += filter(
            None, [sheet.hint(f"phase={number} opens a phase, all=True all of them", "")]
        )
    return heading(f"{name}: how it is built from {source}", [" · ".join(told)], sheet)


def _opened(record: DerivationRecord, phase: int | None) -> Phase | None:
    if phase is None:
        return None
    number = check_integer("phase", phase)
    if number not in range(1, len(record.phases) + 1):
        raise ArgumentError(f"phase = {quote(phase)}: expected a whole number, 1 to 11.")
    return record.phases[number - 1]


# the recipe


def _rows(pieces: Pieces, written: int, all: bool) -> Piece:
    """A row for each phase, on a thread, and the finished step at its end.

    Below what is open stands all that it decided.
    """
    record, sheet, rows = pieces.record, pieces.sheet, list[Piece]()
    added = [pieces.of_phase(phase.number) for phase in record.phases]
    widest = max(piece.envelope.width for piece in added)
    told = sentences(record, pieces.before)
    for phase, said, piece in zip(record.phases, told, added, strict=True):
        is_open = all or phase is pieces.opened
        row = _row(phase, said, piece, widest, sheet)
        if is_open:
            details = _details(record, phase, pieces.keys, sheet)
            row = above(row, beside(gap(INDENT), details), apart=4)
        thread = Polyline(((12, 21), (12, row.envelope.bottom + BETWEEN + 2)), faint=True)
        rows.append(grouped(over(row, sized(0, 0, thread)), moment(phase)))
    end = sized(NAMES, LINE, Text(12, 15, "=", 13, "middle", bold=True), _called("The step", False))
    if step := [*pieces.finished(sheet.line - NAMES, written)]:
        rows.append(grouped(beside(end, above(*step, apart=4)), moment(phase)))
    return above(*rows, apart=BETWEEN)


def moment(phase: Phase) -> Group:
    """The moment at which what a phase adds appears."""
    return Group((), phase.number - 1, moment=f"{phase.number}. {phase.name}", title=phase.name)


def _row(phase: Phase, said: str, piece: Piece, widest: float, sheet: Sheet) -> Piece:
    """The number of a phase, its name, the piece that it adds, and why."""
    pale = said.startswith(NOTHING)
    lines = folded(said, sheet.line - NAMES - widest - 20, SMALL)
    texts = (Text(0, 15 + 16 * n, line, SMALL, muted=pale) for n, line in enumerate(lines))
    told = sized(0, LINE + 16 * (len(lines) - 1), *texts)
    return beside(_name(phase, said), over(gap(widest + 20), piece), told)


def _name(phase: Phase, said: str) -> Piece:
    """The number of a phase on the thread, and what it is about; pale where it adds nothing."""
    pale = said.startswith(NOTHING)
    number = Text(12, 15, str(phase.number), SMALL, "middle", bold=True, muted=pale)
    return sized(NAMES, LINE, outline(0, 2, 24, 18), number, _called(PURPOSES[phase.number], pale))


def _called(name: str, pale: bool) -> Text:
    return Text(INDENT, 15, name, 13, bold=True, muted=pale)


# a phase that is open


def _details(record: DerivationRecord, phase: Phase, keys: Keys, sheet: Sheet) -> Piece:
    """All that a phase decided: the variable in its role, what was decided, the expression."""
    room, rows = sheet.line - 30 - SUBJECT - 14, []
    for item in phase.items:
        if item.verdict is ABSENT:  # nothing to look at
            rows.append(words(f"{item.subject}: {item.decision}", SMALL, muted=True))
            continue
        chip = over(gap(SUBJECT), _chip(record, item, item.subject, keys, SUBJECT))
        told, made = _lines(item.decision, False, room), _lines(item.expression, True, room)
        short = over(gap(BESIDE), *told).envelope.width + 14
        if made and len(told) == 1 and short + made[0].envelope.width <= room:
            told, made = [beside(over(gap(BESIDE), *told), *made[:1], apart=14)], made[1:]
        rows.append(beside(chip, padded(above(*told, *made, apart=2), 0, 2), apart=14))
    return above(*rows, apart=4)


def _chip(record: DerivationRecord, item: Item, content: str, keys: Keys, widest: float) -> Piece:
    """The variable of a decision, beside a box in the role of that."""
    role = LOOKS[item.verdict]
    left = 6 if role is Role.PANEL else 24
    label = shortened(content, widest - left - 6, SMALL, mono=True)
    wide = text_width(label, SMALL, mono=True) + left + 6
    title = f"{item.subject}: {item.decision}"
    title += f": {item.expression}" if item.expression else ""
    cell = Group((Box(0, 3, 18, CHIP - 6, role),), cell=f"{record.backward}:{item.subject}")
    drawn = cell, Text(left, 14, label, SMALL, mono=True)
    return sized(wide, CHIP, Group(drawn, mentions=about(item.subject, keys), title=title))


def _lines(content: str, mono: bool, room: float) -> list[Piece]:
    """`content` in up to three lines, with the whole of it as tooltip if it was shortened."""
    size = MONO if mono else SMALL
    letters = int(room / (size * (MONO_WIDTH if mono else 0.6)))
    lines = wrap(
        content,
        letters,
        subsequent_indent="  ",
        break_on_hyphens=False,
        max_lines=MOST_LINES,
        placeholder=" …",
    )
    title = content if lines and lines[-1].endswith("…") else ""
    return [
        shifted(words(line.strip(), size, mono=mono, title=title), 14 * line.startswith(" "), 0)
        for line in lines
    ]
