"""Draw the parts of a step that the eleven phases add: boxes, formulas, and slots of tapes.

In all phases, a variable has the same role as on the tapes of the backward Scan.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import inf

from lab.gradients.record import DerivationRecord, Item, Outcome, Verdict
from lab.notation import tap_symbol
from visual.layout.names import NamedScan
from visual.pictures.phases.sentences import LOOKS, NONE, decisions
from visual.pictures.tap_rules import role_of
from visual.scene.combinators import Piece, above, beside, gap, piece, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Text, fitted, folded, outline
from visual.scene.theme import Role

SMALL, MONO, LINES = 12, 11.5, 5  # font sizes of words and formulas; maximum lines of a formula
LINE, CHIP, EDGE, INSIDE, APART, ARROW = 22.0, 19.0, 6.0, 4.0, 6.0, 16.0
MIN_SLOT, HIGH = 86.0, 36.0  # the minimum width and the height of a slot
Word = list[tuple[str, Role | None, bool]]  # texts with their roles; names are not split
TOTALS = {Verdict.SUMMED: "sum", Verdict.PER_STEP: "per step"}


class Pieces:
    """The pieces of all phases, at most `width` pixels wide.

    `of` is the backward Scan in its run, or None without a run. `roles` maps the name of each value
    that a backward step reads or writes to its role.
    """

    def __init__(self, record: DerivationRecord, of: NamedScan | None, width: float) -> None:
        self.record, self.of, self.width = record, of, width
        self.decisions = dict(enumerate(decisions(record), start=1))  # by the number of the phase
        self.tapes = {i.subject: i.tape for i in self.decisions[8] if i.tape is not None}
        self.written = [item for item in self.decisions[8] if item.leaf is not None]
        self.roles = {i.subject: LOOKS[i.verdict][0] for n in (9, 7) for i in self.decisions[n]}
        for name, tape in self.tapes.items():
            for tap in tape.taps:
                self.roles[tap_symbol(name, tap)] = role_of(tape, tap)

    def draw(self, phase: int) -> Piece:
        """Draw the part of the step that a phase adds, or a dash if the phase adds no part."""
        pieces = [*self._draw(phase)] or [self.words("—", muted=True)]
        width = 0 if phase in (5, 6, 8) else self.width  # width 0: a line for each piece
        return above(*flow(pieces, width), apart=2)

    def _draw(self, phase: int) -> Iterator[Piece]:
        items = self.decisions[phase]
        match phase:
            case 1:
                steps, expression = items[-1].text, items[-1].expression
                if self.of is not None and expression[1:]:  # a name, not a number
                    steps += f" = {self.of.scan.steps}"
                forward = any(tap < 0 for tape in self.tapes.values() for tap in tape.taps)
                s = "s" * (expression != ("1",))
                yield self.words(f"{'→' if forward else '←'} {steps} step{s}")
            case 2 | 7 | 9:
                for item in items:
                    total = f": {TOTALS.get(item.verdict, str(item.verdict))}" * (phase == 9)
                    yield self.chip(f"{item.subject}{total}", item, mono=phase == 7)
            case 3:
                names = {item.subject: item.decision for item in items}
                if names.keys() >= {"results", "arguments"}:
                    content = f"{names['results']} wrt {names['arguments']}"
                    yield self.sentence(content, self.width)
            case 4:
                for item in items:
                    if item.verdict is Verdict.NOTED:
                        role = self.roles.get(item.text, Role.READ)
                        yield self.chip(item.text, item, role, mono=True)
            case 5:
                items = [item for item in items if item.expression or item.verdict in NONE]
                for item in items:
                    label = self.label(item.subject, items) if items[1:] else gap()
                    room = self.width - label.envelope.width
                    formula = item.expression and self.formula(item.expression, room)
                    yield beside(label, formula or self.sentence(item.decision, room))
            case 6:
                yield from map(self.added, items, self.written)
            case 8:
                for name, tape in self.tapes.items():
                    taps = sorted(tape.taps, reverse=True)
                    slots = [self.slot(tap_symbol(name, tap)) for tap in taps]
                    yield from flow(slots, self.width, 0)
            case 10:
                if items:
                    name = self.record.backward if self.of is None else self.of.numbered_name
                    text = fitted(EDGE, 15, name, self.width - 2 * EDGE, SMALL)
                    width = text.width + 2 * EDGE
                    yield sized(width, LINE, outline(0, 1, width, CHIP), text)
            case _:
                yield from map(self.result, items[1:], self.record.outcomes)

    def words(self, content: str, muted: bool = False) -> Piece:
        """Draw a line of words."""
        text = fitted(0, 15, content, self.width, SMALL, muted=muted)
        return sized(text.width, LINE, text)

    def sentence(self, content: str, room: float) -> Piece:
        """Draw words in as many lines as necessary."""
        return above(*map(self.words, folded(content, room, SMALL)), apart=-6)

    def chip(
        self, name: str, item: Item, role: Role | None = None, mono: bool = False, share: float = 1
    ) -> Piece:
        """Draw a name in a box, at most a `share` of the width. The tooltip states the decision."""
        role = role or LOOKS[item.verdict][0]
        room, size = self.width * share - 2 * EDGE, MONO if mono else SMALL
        label = fitted(EDGE, 15, name, room, size, mono=mono, role=role)
        width = label.width + 2 * EDGE
        title = ": ".join(filter(None, (item.subject, item.decision, item.text)))
        cell = self.cell(item.subject, Box(0, 1, width, CHIP, role), title, label)
        return sized(width, LINE, cell)

    def cell(self, subject: str, box: Box, title: str, *texts: Text) -> Group:
        """Return a group of a box and texts. The box has the key of the subject."""
        cell = Group((box,), cell=f"{self.record.backward}:{subject}")
        return Group((cell, *texts), title=title)

    def formula(self, parts: Sequence[str], room: float) -> Piece:
        """Draw a formula in at most `LINES` lines, with variables in boxes."""
        texts = [(p, self.roles.get(p) if n % 2 else None, n % 2 > 0) for n, p in enumerate(parts)]
        pieces = list[Piece]()
        for word in _split(texts, "( [+−] | )"):  # a word with the next operator
            fits = self.word(word, inf).envelope.width <= room
            factors = [word] if fits else _split(word, "(·)")
            pieces += (self.word(factor, room) for factor in factors)
        lines = flow(pieces, room, 0)
        if len(lines) > LINES:
            lines[LINES - 1 :] = [piece(Text(0, 15, "…", MONO, mono=True, title="".join(parts)))]
        return above(*lines)

    def word(self, texts: Word, room: float) -> Piece:
        """Draw a part of a formula, with variables in boxes if the boxes fit."""
        shapes, x, whole = list[Box | Text](), 0.0, ""
        for role, same in groupby(texts, lambda text: text[1]):
            part = "".join(content for content, _, _ in same)
            width, inside = _wide(part), INSIDE if role is not None else 0.0
            if role is not None:
                shapes.append(Box(x, 1, width + 2 * inside, CHIP, role))
            spaces = width - _wide(part.lstrip())
            text = Text(x + inside + spaces, 15, part.strip(), MONO, mono=True, role=role)
            shapes.append(text)
            x += width + 2 * inside
            whole += part
        if x > room:
            text = fitted(0, 15, whole, room, MONO, mono=True)
            return sized(text.width, LINE, text)
        return sized(x, LINE, *shapes)

    def label(self, name: str, items: Sequence[Item]) -> Piece:
        """Draw the name of an argument in a piece as wide as the longest name in `items`."""
        names = [item.subject if item.leaf is None else item.leaf.variable for item in items]
        width = min(max(map(_wide, names)), self.width / 3)
        return sized(width + 10, LINE, fitted(0, 15, name, width, MONO, mono=True, muted=True))

    def added(self, item: Item, slot: Item) -> Piece:
        """Draw a row of phase 6: the access of the forward step to a value, and the added term.

        If the gradient of the value accumulates, the term is `slot`. A replaced value adds nothing.
        """
        terms = {Verdict.ACCUMULATED: ("→ + ", slot.subject), Verdict.OVERWRITTEN: ("→ + nothing",)}
        name = item.subject if item.leaf is None else item.leaf.variable
        chip = self.chip(item.access or str(item.verdict), item)
        start = beside(self.label(name, self.decisions[6]), chip, gap(APART))
        room = self.width - start.envelope.width
        return beside(start, self.formula(terms.get(item.verdict, ()), room))

    def slot(self, name: str) -> Piece:
        """Draw a slot of a tape: the name of the slot, and the access of the step."""
        role = self.roles[name]
        access = "written" if role is Role.INTERMEDIATE else role.word
        width = min(max(MIN_SLOT, _wide(name) + 12), self.width)
        texts = (
            fitted(width / 2, 15, name, width - 10, MONO, "middle", mono=True, role=role),
            Text(width / 2, 31, access, 11, "middle", role=role),
        )
        cell = self.cell(name, Box(0, 1, width, HIGH, role), f"{name}: {access}", *texts)
        return sized(width + 3, HIGH + 2, cell)

    def result(self, item: Item, outcome: Outcome) -> Piece:
        """Draw the gradient of an input with an arrow to the name of the input."""
        chip = self.chip(item.subject, item, share=0.5)
        if not outcome.gradient:
            return chip
        gradient = fitted(0, 15, outcome.gradient, self.width / 2 - 26, MONO, mono=True)
        x = gradient.width + 4
        arrow = sized(x + ARROW + 4, LINE, gradient, Arrow(((x, 11), (x + ARROW, 11))))
        name, of = outcome.holder, self.of
        tapes = [tape for tape in of.scan.buffers if tape.name == name] if of is not None else []
        is_part = any(of and of.part_number(tape) and not tape.collects for tape in tapes)
        note = [self.words("a part: other Scans add to it", muted=True)] * is_part
        return above(*flow([beside(arrow, chip, gap(8)), *note], self.width, 0))

    def finished(self, room: float) -> Iterator[Piece]:
        """Yield the formula of each value that the step writes."""
        for item in (*self.written, *(i for i in self.decisions[9] if i.verdict in TOTALS)):
            first, *others = item.expression
            yield self.formula(("", item.subject, f" ← {first}", *others), room)


def flow(pieces: Iterable[Piece], room: float, apart: float = APART) -> list[Piece]:
    """Return the lines of pieces, at most `room` wide. A wider piece has a separate line."""
    lines = list[Piece]()
    for part in pieces:
        line = beside(*lines[-1:], part, apart=apart)
        if lines and line.envelope.width <= room:
            lines[-1] = line
        else:
            lines.append(part)
    return lines


def _wide(content: str) -> float:
    return text_width(content, MONO, mono=True)


def _split(texts: Word, end: str) -> Iterator[Word]:
    """Split texts that are not names after each match of the group `end`."""
    word = Word()
    for content, role, is_name in texts:
        for number, part in enumerate([content] if is_name else re.split(end, content)):
            word += [(part, role, is_name)] if part else []
            if number % 2:
                yield word
                word = Word()
    yield from [word] if word else []
