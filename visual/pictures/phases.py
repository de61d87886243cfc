"""The phases picture: how one derivative of one Scan is built, in eleven rows.

A row says what a phase is for, and has what it adds, and a sketch of the Scan as far as it is
built: what is new in full colour, all else pale; a tooltip has the name of the phase.  A phase that
is opened tells what it decided about which variable, and the expressions that it built.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from re import findall
from textwrap import wrap

from lab.errors import ArgumentError, expect, quoted, whole
from lab.gradients.phases import Derivation
from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from visual.layout.canvas import finished, heading
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import switch
from visual.pictures.connections import LOOKS, legend_of
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    framed,
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
    Arrow,
    Box,
    Group,
    Polyline,
    Scene,
    Shape,
    Text,
    folded,
    outline,
    shortened,
    text_width,
)
from visual.scene.theme import Role

PURPOSES: Mapping[int, str] = {
    1: "How many steps there are to go back through",
    2: "Who receives a gradient",
    3: "What is differentiated: the step alone",
    4: "Names for gradients that are not known yet",
    5: "The chain rule for a single step",
    6: "Where gradients add up in a slot, and where not",
    7: "Forward values that the backward steps need, last first",
    8: "Every state's tape becomes the tape of its gradient",
    9: "Sequences, parameters, and what has no gradient",
    10: "The loop that does it, with all its variables",
    11: "One answer for every input, in the order of the inputs",
}
SKETCH = 184, 66
CHIP, SUBJECT, SMALL, MONO = 19, 176, 12, 11.5
MOST_LINES, BESIDE = 3, 240
CLOSE = 3  # around and between phases, where there is little room
ABSENT = Verdict.ABSENT
GROWS = (
    "at the right a sketch of the Scan so far, with its first tape: what is new in full, all else "
    "pale; beside it what waits for a gradient"
)
MOST_SLOTS = 8  # of a sketch
TOLD_BY_NAME = ("rule", "mit-mots")  # what is said of no variable
Keys = Mapping[str, tuple[str, ...]]


def phases(
    derivation: Derivation | DerivationRecord,
    theme: str = "light",
    keys: Keys | None = None,
    phase: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The eleven phases of a derivation, or of its stored record.

    With `phase`, the details of the one with that number; with `all` those of all of them, in a
    picture of any size.  `keys` are those of the values of every variable in other pictures; see
    `visual.layout.names`.
    """
    record = derivation.record if isinstance(derivation, Derivation) else derivation
    if not isinstance(record, DerivationRecord):
        raise ArgumentError(f"derivation = {quoted(record)}: expected a Derivation or its record.")
    keys = {} if keys is None else expect("keys", keys, Mapping, "keys by the names of variables")
    check_sheet(sheet)
    opened, all = _opened(record, phase), switch("all", all)
    told = [f"how {record.forward} is differentiated, in eleven phases"]
    if not all:
        number = 1 if opened is None else opened.number % 11 + 1
        code = f"phase={number} opens a phase, and all formulas · all=True all of them"
        click = "“phase”, in the options, opens one with all formulas"
        told += filter(None, [sheet.hint(code, click, "")])
    head = heading(f"{record.backward} · order {record.order}", [" · ".join(told)], sheet)
    shown = record.phases if opened is None else record.phases[: opened.number]

    def drawn(apart: float) -> Scene:
        rows = list[Piece]()
        for one in record.phases if opened is None else [opened]:
            row = _row(record, one, keys, all or opened is not None, sheet, apart)
            moment = Group((), one.number - 1, moment=f"{one.number}. {one.name}")
            rows.append(grouped(framed(row, Role.PANEL, apart), moment))
        return finished(
            above(head, above(*rows, apart=apart - 2)),
            legend_of(_verdicts(shown)),
            sheet=sheet,
            title=f"Eleven phases: {record.backward}, the derivative of {record.forward}",
            description=f"What every phase adds, and what is built so far; order {record.order}.",
            theme=theme,
            said=[GROWS] if sheet.has_hints else [],
            close=True,
        )

    roomy = drawn(CLOSE if sheet.on_paper else 8)
    fits = roomy.height <= sheet.height or sheet.on_paper or all
    return roomy if fits else drawn(CLOSE)


def _verdicts(shown: Sequence[Phase]) -> set[Verdict]:
    """Those that are drawn; slots of a gradient, in sketches, are read and then replaced."""
    found = {item.verdict for phase in shown for item in phase.items} - {ABSENT}
    return found | ({Verdict.OVERWRITTEN} if Verdict.ACCUMULATED in found else set())


def _opened(record: DerivationRecord, phase: int | None) -> Phase | None:
    if phase is None:
        return None
    number = whole("phase", phase)
    if number not in range(1, len(record.phases) + 1):
        raise ArgumentError(f"phase = {quoted(phase)}: expected a whole number, 1 to 11.")
    return record.phases[number - 1]


def _row(
    record: DerivationRecord, phase: Phase, keys: Keys, whole: bool, sheet: Sheet, apart: float
) -> Piece:
    """What a phase adds, and what there is after it; all decisions if `whole`.

    In a column there is no room for what it adds, but in the sketch.
    """
    room = sheet.line - 2 * apart - SKETCH[0] - 48
    number = sized(30, CHIP, Text(22, 13, str(phase.number), 14, "end", bold=True))
    parts = [
        words(line, 13, bold=True, title=phase.name)
        for line in folded(PURPOSES[phase.number], room, 13, bold=True)
    ]
    if not (whole or sheet.is_narrow):
        parts.append(_added(record, phase, keys, room))
    named = beside(number, over(gap(room, SKETCH[1]), above(*parts, apart=6)), apart=6)
    row = beside(named, _sketch(record, phase.number), apart=12)
    return above(row, _details(record, phase, keys, sheet, apart), apart=12) if whole else row


# what a phase adds, in a few words

LABELS: Mapping[int, Callable[[Item], str]] = {
    1: lambda item: f"{item.subject}: {item.expression}",
    2: lambda item: item.subject,
    3: lambda item: {"arguments": "by ", "results": "of "}[item.subject] + item.decision,
    6: lambda item: item.subject.replace(", preserved", " is kept: gradients add up").replace(
        ", overwritten", " is replaced: nothing is added"
    ),
    10: lambda item: f"{item.subject}: {item.decision}",
}


def _label(item: Item) -> str:
    """``dx[t] ↦ 2·x[t]``; the taps of a tape stand at the end of what it becomes."""
    _, becomes, taps = item.decision.rpartition(" becomes mit-mot ")
    if becomes and not item.expression:
        return f"{item.subject}: reads {taps.replace(' → ', ', writes ')}"
    return f"{item.subject} ↦ {item.expression}" if item.expression else item.subject


def _added(record: DerivationRecord, phase: Phase, keys: Keys, wide: float) -> Piece:
    """What a phase adds, in up to three lines of small boxes; of more the first line."""
    label = LABELS.get(phase.number, _label)
    left_out = {ABSENT} | ({Verdict.DISCONNECTED} if phase.number == 11 else set())
    found = {i.subject: i for i in reversed(phase.items) if i.subject not in TOLD_BY_NAME}
    items = [item for item in reversed(found.values()) if item.verdict not in left_out]
    lines: list[list[Piece]] = []
    for item in items:
        chip = _chip(record, item, label(item), keys, wide)
        if lines and beside(*lines[-1], chip, apart=6).envelope.width <= wide:
            lines[-1].append(chip)
        else:
            lines.append([chip])
    rows = [beside(*line, apart=6) for line in lines] or [words("nothing", SMALL, muted=True)]
    if len(rows) > MOST_LINES:
        hidden = sum(map(len, lines[1:]))
        told = words(f"⋯ {hidden} more: phase={phase.number}", 11, muted=True)
        rows[1:] = [padded(told, 6, 2)]
    return above(*rows, apart=3)


def _chip(record: DerivationRecord, item: Item, content: str, keys: Keys, widest: float) -> Piece:
    """A decision about a variable: words in its role; of a longer formula only whose it is."""
    role, (whose, arrow, _) = LOOKS[item.verdict], content.partition(" ↦ ")
    if arrow and text_width(content, SMALL, mono=True) > widest - 30:
        content = f"{whose} ↦ ⋯"
    left = 6 if role is Role.PANEL else 24  # beside a box in its role
    label = shortened(content, widest - left - 6, SMALL, mono=True)
    wide = text_width(label, SMALL, mono=True) + left + 6
    title = f"{item.subject}: {item.decision}"
    title += f": {item.expression}" if item.expression else ""
    cell = Group((Box(0, 3, 18, CHIP - 6, role),), cell=f"{record.backward}:{item.subject}")
    drawn = cell, Text(left, 14, label, SMALL, mono=True)
    return sized(wide, CHIP, Group(drawn, mentions=_about(item, keys), title=title))


def _about(item: Item, keys: Keys) -> tuple[str, ...]:
    """The keys of the variable that an item is about: the longest name that it begins with."""
    names = [n for n in keys if item.subject == n or item.subject.startswith((f"{n}[", f"{n}, "))]
    return keys[max(names, key=len)] if names else ()


# the Scan as far as it is built


def _sketch(record: DerivationRecord, number: int) -> Piece:
    """The Scan after a phase, and pale what the phases before have made."""
    made = {phase.number: phase.items for phase in record.phases[:number]}
    shapes: list[Shape] = []
    for part, (draw, other) in PARTS.items():
        if part in made and REPLACED.get(part) not in made:
            drawn = draw(made[part], made[other])
            shapes += [_pale(shape) if part < number else shape for shape in drawn]
    return sized(*SKETCH, *shapes)


Drawn = Iterator[Box | Text | Arrow | Polyline]


def _pale(shape: Box | Text | Arrow | Polyline) -> Shape:
    if isinstance(shape, Box):
        return replace(outline(shape.x, shape.y, shape.width, shape.height), faded=True)
    faded = replace(shape, faded=True)
    return replace(faded, muted=True) if isinstance(faded, Text) else faded


def _steps(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    yield outline(0, 0, 156, 66)
    yield Text(78, 12, shortened(f"{items[-1].expression} steps", 90, 11), 11, "middle")


def _ports(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    for n, item in enumerate(_waiting(items)):
        yield Box(170, 3 + 16 * n, 14, 11, LOOKS[item.verdict])


def _waiting(items: Sequence[Item]) -> Sequence[Item]:
    """The variables that a gradient can come to, up to four."""
    return [item for item in items if item.verdict is not Verdict.DISCONNECTED][:4]


def _asked(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    yield outline(52, 16, 52, 19)
    yield Text(78, 30, "?", 11, "middle")


def _signals(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    yield Arrow(((68, 49), (68, 37)))


def _rule(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    yield outline(52, 16, 52, 19)
    yield Text(78, 30, "∂ step", 11, "middle")
    yield Arrow(((88, 36), (88, 47)))


def _slots(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    items = [i for i in items if i.subject.partition("[")[0] == items[0].subject.partition("[")[0]]
    first = 4 - min(len(items), 6) // 2
    for n, item in enumerate(items[:6]):
        x = 11 + 17 * (first + n)
        yield Box(x, 49, 15, 14, Role.OVERWRITTEN)  # of the gradient's tape: read, then replaced
        if item.verdict is Verdict.ACCUMULATED:
            yield Text(x + 7.5, 60, "+", 11, "middle", bold=True)


def _tapes(items: Sequence[Item], counts: Sequence[Item]) -> Drawn:
    """The first tape of a gradient, with its slots: one a step, and those between its taps."""
    first = next((i.decision for i in items if " becomes mit-mot " in i.decision), "")
    written = first.rpartition(" mit-mot ")[2].replace("−", "-")
    taps, steps = [*map(int, findall(r"-?\d+", written))], counts[-1].expression
    count = int(steps) + max(taps) - min(taps) if taps and steps.isdecimal() else MOST_SLOTS
    count = min(count, MOST_SLOTS) if items else 0
    for n in range(count):
        yield outline(11 + 17 * (n + (MOST_SLOTS - count) // 2), 49, 15, 14)


def _sequences(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    read = [item for item in items if item.verdict is not ABSENT]
    yield from _stack(8, read, (31, 50))


def _totals(items: Sequence[Item], _: Sequence[Item]) -> Drawn:
    totals = [item for item in items if item.verdict in (Verdict.SUMMED, Verdict.PER_STEP)]
    yield from _stack(126, totals, (105, 124))


def _stack(x: float, items: Sequence[Item], arrow: tuple[float, float]) -> Drawn:
    for n, item in enumerate(items[:3]):
        yield Box(x, 7 + 13 * n, 22, 10, LOOKS[item.verdict])
    if items:
        yield Arrow(tuple((end, 25.5) for end in arrow))


def _whole(items: Sequence[Item], steps: Sequence[Item]) -> Drawn:
    if items[0].verdict is not ABSENT:
        yield outline(1, 1, 154, 64)
    yield from _steps(steps, ())


def _answers(items: Sequence[Item], ports: Sequence[Item]) -> Drawn:
    answered = {item.subject for item in items if item.expression}
    for n, port in enumerate(_waiting(ports)):
        if port.subject in answered:
            yield Arrow(((157, 8.5 + 16 * n), (168, 8.5 + 16 * n)))


# From the back to the front: how a phase is drawn, from its decisions and those of another one.
PARTS: Mapping[int, tuple[Callable[[Sequence[Item], Sequence[Item]], Drawn], int]] = {
    1: (_steps, 1), 10: (_whole, 1), 2: (_ports, 2), 3: (_asked, 3), 4: (_signals, 4),
    5: (_rule, 5), 8: (_tapes, 1), 6: (_slots, 6), 7: (_sequences, 7), 9: (_totals, 9),
    11: (_answers, 2),
}  # fmt: skip
REPLACED = {1: 10, 3: 5}


# a phase that is open


def _details(
    record: DerivationRecord, phase: Phase, keys: Keys, sheet: Sheet, apart: float
) -> Piece:
    """All that a phase decided: the variable in its role, what was decided, the expression."""
    subject = SUBJECT if not sheet.is_narrow else 100
    room, rows = sheet.line - 2 * apart - subject - 14, []
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
