"""The phases picture: the Scan that differentiates another one, and which phase adds which piece.

A sketch of the backward Scan has a number at each piece, that of its phase; below it every phase
says in a sentence what it adds.  A phase that is opened tells what it decided about which variable,
and the expressions that it built; the sketch then has what is built so far, what is new in full.
"""

from collections.abc import Mapping, Sequence
from textwrap import wrap

from lab.errors import ArgumentError, expect, quoted, whole
from lab.gradients.derivation import Derivation
from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from visual.layout.canvas import finished, heading
from visual.layout.names import NamedScan, seeds_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import switch
from visual.pictures.connections import LOOKS, legend_of
from visual.pictures.phases.sentences import NOTHING, sentences
from visual.pictures.phases.sketch import MONO, SMALL, Keys, Sketch, about, moment
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    columns,
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
    Scene,
    Text,
    folded,
    shortened,
    text_width,
)
from visual.scene.theme import Role

PURPOSES: Mapping[int, str] = {
    1: "Steps",
    2: "Who gets one",
    3: "One step",
    4: "Names",
    5: "Chain rule",
    6: "Added or not",
    7: "Forward values",
    8: "The tapes",
    9: "Other sums",
    10: "The Scan",
    11: "Answers",
}
CHIP, SUBJECT, BESIDE, MOST_LINES = 19, 176, 240, 3
MOST_SHARES = 6  # that the sketch has formulas for
TAPES, LAST = 8, 11  # the phases of tapes, and of answers
ABSENT = Verdict.ABSENT


def phases(
    derivation: Derivation | DerivationRecord,
    theme: str = "light",
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
        raise ArgumentError(f"derivation = {quoted(record)}: expected a Derivation or its record.")
    if of is not None:
        expect("of", of, NamedScan, "a NamedScan of the run")
    check_sheet(sheet)
    opened, all = _opened(record, phase), switch("all", all)
    cards = list[Piece]()
    if of is not None and len(of.trace.scans) > 2 and not (sheet.bare or sheet.is_narrow):
        cards.append(cropped(overview(of.trace, of.number, sheet=sheet), sheet.margin))
    head = _heading(record, of, opened, all, sheet)
    of_cards = (role for role in Role if role is not Role.PANEL and cards)
    own = _legend(record.phases[: opened.number if opened else LAST])
    looks: dict[Role, str] = {**{role: role.value for role in of_cards}, **own}

    def drawn(most: int, lines: int) -> Scene:
        sketch = Sketch(record, opened, of, sheet, most)
        rows = list[Piece]()
        for one, said in zip(record.phases, sentences(record), strict=True):
            row = _row(said, one, sheet, lines)
            if all or one is opened:
                details = shifted(_details(record, one, sketch.keys, sheet), 32, 0)
                row = above(row, details, apart=6)
            rows += [grouped(row, moment(one))] if opened in (None, one) else []
        if sheet.is_narrow and not (opened or all):  # only names
            rows = [columns([rows[n : n + 2] for n in range(0, LAST, 2)], 8, 4)]
        part = above(*cards, above(head, sketch.drawn()), above(*rows, apart=5), apart=13)
        return finished(
            over(gap(sheet.line), part),
            looks,
            sheet=sheet,
            title=f"Eleven phases: {record.backward}, the derivative of {record.forward}",
            description=f"What every phase adds, and what is built so far; order {record.order}.",
            theme=theme,
            close=True,
            seeds=seeds_of(of.trace, [of.number]) if of is not None and cards else "",
        )

    scene = drawn(99, 99) if all else drawn(MOST_SHARES, 99)
    return scene if all or scene.height <= sheet.height else drawn(MOST_SHARES // 2, 1)


def _heading(
    record: DerivationRecord, of: NamedScan | None, opened: Phase | None, all: bool, sheet: Sheet
) -> Piece:
    """Which Scan is built, and from which."""
    name, source = record.backward, record.forward
    if of is not None and of.parent is not None:
        name = f"{of.number + 1} · {of.called}"
        source = f"{of.parent.number + 1} · {of.parent.called}"
    told = [f"order {record.order}", "a number is the phase that adds the piece"]
    if not all:
        number = 1 if opened is None else opened.number % LAST + 1
        code = f"phase={number} opens a phase, and all formulas · all=True all of them"
        click = "“phase”, in the options, opens one with all formulas"
        told += filter(None, [sheet.hint(code, click, "")])
    return heading(f"{name}: how it is built from {source}", [" · ".join(told)], sheet)


def _legend(shown: Sequence[Phase]) -> dict[Role, str]:
    """What is drawn: the verdicts, and slots, which are read, replaced, or both."""
    found = {item.verdict for phase in shown for item in phase.items} - {ABSENT}
    if len(shown) < TAPES:
        return legend_of(found)
    return legend_of(found | {Verdict.OVERWRITTEN, Verdict.ACCUMULATED})


def _opened(record: DerivationRecord, phase: int | None) -> Phase | None:
    if phase is None:
        return None
    number = whole("phase", phase)
    if number not in range(1, len(record.phases) + 1):
        raise ArgumentError(f"phase = {quoted(phase)}: expected a whole number, 1 to 11.")
    return record.phases[number - 1]


# what a phase adds, in a sentence


def _row(said: str, phase: Phase, sheet: Sheet, most: int) -> Piece:
    """The number of a phase, what it is about, and a sentence; a pale one where it adds nothing.

    A column of a paper has no room for sentences.
    """
    pale, room = said.startswith(NOTHING), sheet.line - 160
    number = sized(24, 18, Text(20, 14, str(phase.number), 13, "end", bold=True, muted=pale))
    name = sized(116, 18, Text(0, 14, PURPOSES[phase.number], 13, bold=True, muted=pale))
    if sheet.is_narrow:
        return beside(number, name, apart=8)
    lines = folded(said, room, 13)
    if len(lines) > most:
        lines = [*lines[: most - 1], shortened(" ".join(lines[most - 1 :]), room, 13)]
    title = said if lines[-1].endswith("…") else ""
    told = (words(line, 13, muted=pale, title=title) for line in lines)
    return beside(number, name, above(*told, apart=3), apart=8)


# a phase that is open


def _details(record: DerivationRecord, phase: Phase, keys: Keys, sheet: Sheet) -> Piece:
    """All that a phase decided: the variable in its role, what was decided, the expression."""
    subject = SUBJECT if not sheet.is_narrow else 100
    room, rows = sheet.line - 30 - subject - 14, []
    for item in phase.items:
        if item.verdict is ABSENT:  # nothing to look at
            rows.append(words(f"{item.subject}: {item.decision}", SMALL, muted=True))
            continue
        chip = over(gap(subject), _chip(record, item, item.subject, keys, subject))
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
