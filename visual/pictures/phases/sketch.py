"""A sketch of a backward Scan, each of its pieces with the number of the phase that adds it.

Slots stand in the columns of their moments: the tap of a gradient below the tap that it is of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from re import search

from lab.gradients.decisions import ReadingGroup
from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from lab.notation import tapped
from visual.layout.canvas import formula_lines
from visual.layout.columns import Gap, with_gaps
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
from visual.pictures.connections import LOOKS
from visual.pictures.phases.sentences import states_of
from visual.pictures.taps import LOOKS as SLOTS
from visual.pictures.taps import Use, use_of
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    gap,
    grouped,
    over,
    padded,
    piece,
    shifted,
    sized,
    words,
)
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Shape,
    Text,
    fitted,
    outline,
    shortened,
    text_width,
)
from visual.scene.theme import Role

SMALL, MONO = 12, 11.5
WIDEST, HIGH, APART = 126, 24, 10  # of slots
COLUMNS = 6  # of slots, at most
Keys = Mapping[str, tuple[str, ...]]


def moment(phase: Phase) -> Group:
    """The moment at which what a phase adds appears."""
    return Group((), phase.number - 1, moment=f"{phase.number}. {phase.name}", title=phase.name)


@dataclass(frozen=True)
class _Share:
    """What an argument of the step gets, and whether what stands in a slot is added to that."""

    argument: str
    item: Item
    added: Item | None
    slot: str


def _shares(record: DerivationRecord) -> Iterator[_Share]:
    written = [i.subject for i in record.phases[7].items if i.decision == "is written"]
    decided = {
        item.subject.rpartition(", ")[0]: (item, slot)
        for item, slot in zip(record.phases[5].items, written, strict=False)
    }
    for item in record.phases[4].items:
        if item.expression or item.verdict in (Verdict.DISCONNECTED, Verdict.UNDEFINED):
            yield _Share(item.subject, item, *decided.get(item.subject, (None, "")))


def _tap(item: Item) -> int:
    """At which tap a forward value is read: that of a state stands in its name."""
    found = search(r"\[t([+−]\d+)\]", item.subject)
    is_state = item.decision in (ReadingGroup.TAPS, ReadingGroup.SIT_SOT)
    return int(found[1].replace("−", "-")) if found and is_state else 0


@dataclass(frozen=True)
class Sketch:
    """The backward Scan after a phase: what is new in full, what was there pale, later ones absent.

    Without a phase it is the whole Scan.
    """

    record: DerivationRecord
    phase: Phase | None
    of: NamedScan | None
    sheet: Sheet
    most: int

    @property
    def keys(self) -> Keys:
        """The keys of the values of every variable in other pictures."""
        return {} if self.of is None else self.of.variable_keys()

    @property
    def left(self) -> float:
        """Where slots begin."""
        return 8 if self.sheet.is_narrow else 132

    @property
    def wide(self) -> float:
        """The room inside the frame of the Scan."""
        return self.sheet.line - 24

    def part(self, number: int, drawn: Piece) -> Piece:
        """What a phase adds."""
        phase = self.record.phases[number - 1]
        if self.phase in (phase, None):
            return grouped(drawn, moment(phase))
        is_known = self.phase is not None and number < self.phase.number
        shapes = tuple(map(_pale, drawn.shapes)) if is_known else ()
        return replace(drawn, placed=((0.0, 0.0, shapes),))

    def label(self, number: int, told: str) -> Piece:
        """The number of a phase, and what it adds."""
        name = fitted(28, 14, told, self.wide - 28, SMALL)
        return sized(28 + name.width, 20, *_number(number), name)

    def drawn(self) -> Piece:
        """The Scan in its frame, and below it the inputs that wait for a gradient."""
        steps = self.record.phases[0].items[-1].expression
        steps += f" = {self.of.scan.steps}" if self.of is not None and steps == "n" else ""
        told = f"makes {steps} steps{'' if self.forward else ', the last one first'}"
        name = f"the Scan “{self.record.backward}”"
        names = self.part(10, self.label(10, name)), self.part(1, self.label(1, told))
        head = above(*names, apart=4) if self.sheet.is_narrow else beside(*names, apart=20)
        inside = above(head, self.reads(), self.step(), self.tapes(), apart=6)
        return above(self.edged(10, inside), self.inputs())

    # slots in columns of moments

    @property
    def moments(self) -> list[int | Gap]:
        """The taps of the step that is differentiated, in the order of time."""
        states = states_of(self.record)
        taps = {tap for state in states for tap in state.forward.taps}
        shown = sorted(taps | set(map(_tap, self.sequences)))
        if len(shown) > COLUMNS:
            shown = [*shown[: COLUMNS // 2], *shown[-COLUMNS // 2 :]]
        row = with_gaps(shown)
        return row[::-1] if self.forward else row

    @property
    def forward(self) -> bool:
        """Whether its steps go forward in time, as those of a gradient's gradient do."""
        return any(tap < 0 for state in states_of(self.record) for tap in state.backward.taps)

    @property
    def sequences(self) -> list[Item]:
        """The decisions about forward values."""
        return [i for i in self.record.phases[6].items if i.verdict is not Verdict.ABSENT]

    @property
    def slot(self) -> float:
        """How wide a slot is."""
        room = self.wide - self.left - (0 if self.sheet.is_narrow else 210)
        return min(WIDEST, room / max(1, len(self.moments)) - APART)

    def columns(self, cells: Mapping[int, Sequence[Piece]], fold: bool = False) -> Piece:
        """Cells one above another in the column of their moment."""
        made = []
        for at in self.moments:
            if isinstance(at, Gap):
                mark = fitted(self.slot / 2, 16, "⋯", self.slot, SMALL, "middle", muted=True)
                made.append(sized(self.slot, 24, mark) if fold else gap(self.slot))
            else:
                made.append(over(gap(self.slot), above(*cells.get(at, ()), apart=2)))
        return beside(*made, apart=APART)

    def first(self, cells: list[Piece]) -> list[Piece]:
        """The first cells of a column, and how many are left out."""
        if len(cells) <= self.most:
            return cells
        left = shifted(words(f"⋯ {len(cells) - self.most + 1} more", SMALL, muted=True), 28, 0)
        return [*cells[: self.most - 1], over(gap(0, HIGH), left)]

    def cell(self, name: str, role: Role, title: str) -> Piece:
        """A slot with its name."""
        label = fitted(
            self.slot / 2, 16, name, self.slot - 6, SMALL, "middle", mono=True, role=role
        )
        box = Group((Box(0, 0, self.slot, 24, role),), cell=f"{self.record.backward}:{name}")
        return sized(
            self.slot, 24, Group((box, label), title=title, mentions=about(name, self.keys))
        )

    def labelled(self, number: int, told: str, row: Piece) -> Piece:
        """A row of slots, and what it is, which a phase adds."""
        if self.sheet.is_narrow:
            return above(self.part(number, self.label(number, told)), row, apart=3)
        return beside(over(gap(self.left), self.part(number, self.label(number, told))), row)

    def reads(self) -> Piece:
        """What is read of the forward run."""
        cells: dict[int, list[Piece]] = {}
        for item in self.sequences:
            title = f"{item.subject}: {item.decision}: {item.expression}"
            drawn = self.cell(item.subject, LOOKS[item.verdict], title)
            cells.setdefault(_tap(item), []).append(drawn)
        cells = {at: self.first(column) for at, column in cells.items()}
        if not cells:
            return gap()
        arrows = {at: [self.arrow(True)] for at in cells}
        row = above(self.columns(cells), self.columns(arrows), apart=1)
        return self.labelled(7, "recorded", self.part(7, row))

    def arrow(self, down: bool, aside: float = 0.0) -> Piece:
        """Above or below a slot, so much to the right of its middle."""
        x, (y0, y1) = self.slot / 2 + aside, (2, 20) if down else (20, 2)
        return sized(self.slot, 22, Arrow(((x, y0), (x, y1))))

    def step(self) -> Piece:
        """One step, differentiated: what each of its arguments gets."""
        told = {item.subject: item.decision for item in self.record.phases[2].items}
        head = f"one step, differentiated: {told['results']} by {told['arguments']}"
        shares = list(_shares(self.record))
        if len(shares) > self.most:
            shares.sort(key=lambda share: share.added is None)
        lines = [self.share(share, share is shares[0]) for share in shares[: self.most]]
        if len(shares) > self.most:
            left = f"⋯ {len(shares) - self.most} more{self.sheet.hint('phase=5', 'phase 5')}"
            more = padded(words(left, SMALL, muted=True), 28, 0)
            lines.append(self.part(5, shifted(more, -more.envelope.left, 0)))
        label = self.label(3, shortened(head, self.wide - 60, SMALL))
        return shifted(self.edged(3, above(self.part(3, label), *lines, apart=5), 20), 10, 0)

    def edged(self, number: int, inside: Piece, less: float = 0.0) -> Piece:
        """In a frame that a phase adds."""
        room = over(gap(self.wide - less), inside).envelope.padded(10, 8)
        edge = outline(room.left, room.top, room.width, room.height)
        return over(replace(self.part(number, piece(edge)), envelope=room), inside)

    def share(self, share: _Share, first: bool) -> Piece:
        """``x[t−1] ↦ 2·dx[t]·x[t−1]``, and what is added, or that nothing is, and why."""
        content = f"{share.argument} ↦ {share.item.expression or share.item.decision}"
        room = self.wide - 60
        lines = formula_lines(content, int(room / (MONO * MONO_WIDTH)), 2, 2)
        title = content if lines[-1].endswith("…") else ""
        texts = [
            Text(28 + 14 * (n > 0), 14 + 17 * n, line.strip(), MONO, mono=True, title=title)
            for n, line in enumerate(lines)
        ]
        number = _number(5) if first else ()
        body = self.part(5, sized(room + 28, 17 * len(lines) + 4, *number, *texts))
        if share.added is None:
            return body
        chip, last = self.part(6, self.chip(share)), texts[-1]
        if last.left + last.width + 12 + chip.envelope.width <= room + 28:
            return over(body, shifted(chip, last.left + last.width + 12, body.envelope.bottom - 21))
        return above(body, shifted(chip, 42, 0), apart=2)

    def chip(self, share: _Share) -> Piece:
        """What is added to the share of an argument, and what the step does with that."""
        item = share.added
        assert item is not None
        role, kind = LOOKS[item.verdict], item.subject.rpartition(", ")[2]
        wide = text_width(kind, SMALL) + 16
        told = (
            f"so + {share.slot}" if item.verdict is Verdict.ACCUMULATED else "so nothing is added"
        )
        text = Text(28 + wide + 6, 14, told, SMALL, bold=True)
        box = Box(28, 0, wide, 19, role), Text(28 + wide / 2, 14, kind, SMALL, "middle", role=role)
        title = f"{item.subject}: {item.decision}"
        cell = Group(box, cell=f"{self.record.backward}:{item.subject}", title=title)
        return sized(text.x + text.width, 20, *_number(6), cell, text)

    def tapes(self) -> Piece:
        """The tapes of gradients with the slots of a step, and what is no tape."""
        states, totals = states_of(self.record), self.totals()
        if not states:
            return totals
        cells = dict[int, list[Piece]]()
        moments = {number: set[int]() for number in (4, 6, 8)}
        for state, at in product(states, self.moments):
            if isinstance(at, Gap):
                continue
            use = use_of(state.backward, -at)
            slot = self.cell(tapped(state.name, -at), SLOTS[use], SLOTS[use].value)
            cells.setdefault(at, []).append(slot if use is not Use.UNTOUCHED else gap(0, HIGH))
            uses = {
                4: at in state.forward.writes,
                6: at in state.forward.reads and -at in state.backward.reads,
                8: -at in state.backward.writes,
            }
            for number in filter(uses.get, uses):
                moments[number].add(at)
        moments[6] -= moments[4]  # which is read once, whatever for
        down = {at: [self.arrow(True, 14)] for at in moments[8]}
        arrows = [self.part(8, self.columns(down))]
        for number in (4, 6):
            mark = shifted(sized(22, 18, *_number(number)), self.slot / 2 - 42, 2)
            up = {at: [over(self.arrow(False, -14), mark)] for at in moments[number]}
            arrows.append(self.part(number, self.columns(up)))
        row = above(over(gap(0, 22), *arrows), self.part(8, self.columns(cells, True)), apart=1)
        tape = self.labelled(8, "tapes" if states[1:] else "tape", row)
        if self.sheet.is_narrow:
            return above(tape, totals, apart=6)
        return beside(tape, totals, apart=30)

    def totals(self) -> Piece:
        """Gradients of parameters and sequences: at most three of them."""
        told = {Verdict.SUMMED: "sum", Verdict.PER_STEP: "one a step"}
        items = [item for item in self.record.phases[8].items if item.verdict in told]
        boxes = [
            sized(
                178,
                24,
                Box(28, 0, 150, 24, LOOKS[item.verdict]),
                fitted(36, 16, f"{item.subject}: {told[item.verdict]}", 134, SMALL),
            )
            for item in items
        ]
        if not boxes:
            return gap()
        boxes = self.first(boxes)
        boxes[0] = over(sized(22, 18, *_number(9)), boxes[0])
        arrow = sized(22, 22, Arrow(((103, 2), (103, 20))))
        return self.part(9, above(arrow, *boxes, apart=1))

    def inputs(self) -> Piece:
        """The inputs of the Scan that is differentiated, and the gradients that they get."""
        chips = []
        for one in self.record.outcomes:
            role, told = LOOKS[one.verdict], one.gradient or str(one.verdict)
            name, gets = words(one.variable, SMALL, bold=True), words(told, SMALL, mono=True)
            wide = max(name.envelope.width, gets.envelope.width) + 16
            label = Text(wide / 2, 16, one.variable, SMALL, "middle", bold=True, role=role)
            arrow = [Arrow(((wide / 2, 2), (wide / 2, 18)))] if one.gradient else []
            answer = Text(wide / 2, 34, told, SMALL, "middle", mono=True)
            chips.append(
                above(
                    self.part(11, sized(wide, 40, *arrow, answer)),
                    self.part(2, sized(wide, 24, Box(0, 0, wide, 24, role), label)),
                )
            )
        room, lines = self.wide - self.left, list[list[Piece]]()
        for chip in chips:
            if lines and beside(*lines[-1], chip, apart=10).envelope.width <= room:
                lines[-1].append(chip)
            else:
                lines.append([chip])
        row = above(*(beside(*line, apart=10) for line in lines[: self.most // 3]), apart=4)
        if left := sum(map(len, lines[self.most // 3 :])):
            row = above(row, words(f"⋯ {left} more inputs", SMALL, muted=True), apart=4)
        names = self.part(11, self.label(11, "gradients")), self.part(2, self.label(2, "of inputs"))
        if self.sheet.is_narrow:
            return above(gap(0, 6), beside(*names, apart=12), row, apart=2)
        return beside(gap(12), over(gap(self.left), shifted(above(*names, apart=4), 0, 20)), row)


def _number(phase: int) -> tuple[Shape, ...]:
    """The number of a phase in a frame."""
    return outline(0, 1, 22, 17), Text(11, 14, str(phase), SMALL, "middle", bold=True)


def _pale(shape: Shape) -> Shape:
    if isinstance(shape, Group):
        return replace(shape, shapes=tuple(map(_pale, shape.shapes)))
    faded = replace(shape, faded=True)
    return replace(faded, muted=True) if isinstance(faded, Text) else faded


def about(subject: str, keys: Keys) -> tuple[str, ...]:
    """The keys of the variable that is meant: the longest name that `subject` begins with."""
    names = [n for n in keys if subject == n or subject.startswith((f"{n}[", f"{n}, "))]
    return keys[max(names, key=len)] if names else ()
