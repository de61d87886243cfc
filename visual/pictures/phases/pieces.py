"""What each of the eleven phases adds to a derivative, drawn: small boxes, formulas, a tape.

A variable has the role that it has on the tapes of the backward Scan, wherever it stands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.gradients.record import DerivationRecord, Item, Phase, Verdict
from lab.notation import tap_symbol
from lab.records import cached_property
from visual.layout.canvas import formula_lines
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
from visual.pictures.phases.sentences import NONE, State, states_of, written_slots
from visual.pictures.phases.verdicts import LOOKS
from visual.pictures.taps import LOOKS as SLOTS
from visual.pictures.taps import Generation, use_of
from visual.scene.combinators import Piece, above, beside, gap, over, piece, shifted, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Polyline,
    Shape,
    Text,
    fitted,
    folded,
    outline,
    shortened,
    text_width,
)
from visual.scene.theme import Role

SMALL, MONO = 12, 11.5
LINE, CHIP, SLOT, EDGE, INSIDE, APART = 22.0, 19.0, 94.0, 6.0, 4.0, 6.0
LETTER = MONO * MONO_WIDTH
MOST_SLOTS, UPRIGHT = 5, (5, 6, 8)  # the phases that need a line for each of their pieces
TOTALS = {Verdict.SUMMED: "sum", Verdict.PER_STEP: "one a step"}
Keys = Mapping[str, tuple[str, ...]]
Part = tuple[int, str]  # of what a step writes: the phase that adds it


@dataclass(frozen=True)
class Pieces:
    """The pieces of all phases, none wider than `room`, and of many things the first `most`.

    All decisions of the phase that is `opened` stand below its piece.
    """

    record: DerivationRecord
    of: NamedScan | None
    sheet: Sheet
    room: float
    most: int
    opened: Phase | None

    @cached_property
    def keys(self) -> Keys:
        """The keys of the values of every variable in other pictures."""
        return {} if self.of is None else self.of.variable_keys()

    @cached_property
    def states(self) -> list[State]:
        """The tapes of gradients."""
        return states_of(self.record)

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """The roles of what a backward step reads and writes, by their names."""
        found = {i.subject: LOOKS[i.verdict] for phase in (9, 7) for i in self.items(phase)}
        for state in self.states:
            for tap in state.backward.taps:
                found[tap_symbol(state.name, tap)] = SLOTS[use_of(state.backward, tap)]
        return found

    @cached_property
    def names(self) -> re.Pattern[str]:
        """What a backward step reads and writes, in a formula; the longest name first."""
        found = sorted(self.roles, key=len, reverse=True)
        ends = (re.escape(name) + r"(?!\w)" * (not name.endswith("]")) for name in found)
        return re.compile(rf"(?<!\w)({'|'.join(ends) or '$.'})")

    @property
    def goes_forward(self) -> bool:
        """Whether its steps go forward in time, as those of a gradient's gradient do."""
        return any(tap < 0 for state in self.states for tap in state.backward.taps)

    @property
    def before(self) -> str:
        """What gave gradients before the backward Scan runs."""
        if self.of is None or not self.of.seeded_by():
            return "the cost"
        return self.of.seeds.removeprefix("output of ")

    def items(self, phase: int) -> list[Item]:
        """What a phase decided about something that there is."""
        found = self.record.phases[phase - 1].items
        return [item for item in found if item.verdict is not Verdict.ABSENT]

    def of_phase(self, phase: int) -> Piece:
        """What a phase adds."""
        pieces = [*self._drawn(phase)]
        if not pieces:
            return self.words("—", muted=True)
        return above(*self.in_lines(pieces, phase, phase in UPRIGHT), apart=2)

    def in_lines(self, pieces: Sequence[Piece], phase: int, upright: bool) -> Iterator[Piece]:
        """Pieces in lines, or each in its own, and how many are left out of too many."""
        lines = list[list[Piece]]()
        for one in pieces:
            row = beside(*lines[-1], one, apart=APART) if lines else one
            if lines and not upright and row.envelope.width <= self.room:
                lines[-1].append(one)
            else:
                lines.append([one])
        shown = lines if len(lines) == self.most + 1 else lines[: self.most]
        yield from (beside(*line, apart=APART) for line in shown)
        if left := sum(map(len, lines[len(shown) :])):
            yield self.more(left, phase)

    def _drawn(self, phase: int) -> Iterator[Piece]:
        match phase:
            case 1:
                steps = self.record.phases[0].items[-1].expression
                if self.of is not None and steps == "n":
                    steps += f" = {self.of.scan.steps}"
                way = "→" if self.goes_forward else "←"
                yield self.words(f"{way} {steps} step{'s' * (steps != '1')}")
            case 2:
                yield from (self.chip(i.subject, LOOKS[i.verdict], i) for i in self.items(2))
            case 3:
                told = {item.subject: item.decision for item in self.items(3)}
                if "none" not in (told["results"], told["arguments"]):
                    content = f"{told['results']} by {told['arguments']}"
                    first, *more = folded(content, self.room, SMALL)
                    rest = [shortened(" ".join(more), self.room, SMALL)] if more else []
                    yield _stacked([first, *rest], SMALL, content if rest else "")
            case 4:
                for item in self.items(4):
                    if item.verdict is Verdict.NOTED:
                        role = self.roles.get(item.expression, Role.READ)
                        yield self.chip(item.expression, role, item, mono=True)
            case 5:
                yield from self.shares()
            case 6:
                yield from map(self.fate, self.items(6), written_slots(self.items(8)))
            case 7:
                for item in self.items(7):
                    yield self.chip(item.subject, LOOKS[item.verdict], item, mono=True)
            case 8:
                yield from map(self.tape, self.states)
            case 9:
                for item in self.items(9):
                    how = TOTALS.get(item.verdict, str(item.verdict))
                    yield self.chip(f"{item.subject}: {how}", LOOKS[item.verdict], item)
            case 10:
                if self.items(10):
                    name = self.words(scan_name(self.record.backward, self.of))
                    edge = outline(0, 1, name.envelope.width + 2 * EDGE, CHIP)
                    yield over(piece(edge), shifted(name, EDGE, 0))
            case _:
                yield from map(self.answer, self.items(11)[1:])

    # what pieces are put together from

    def words(self, content: str, muted: bool = False) -> Piece:
        """Words no wider than there is room for."""
        text = fitted(0, 15, content, self.room, SMALL, muted=muted)
        return sized(text.width, LINE, text)

    def more(self, left: int, phase: int) -> Piece:
        """A word for what is left out, and how to see it."""
        if self.opened is not None and self.opened.number == phase:
            return self.words(f"⋯ {left} more in phase {phase}", muted=True)
        return self.words(f"⋯ {left} more{self.sheet.hint(f'phase={phase}')}", True)

    def chip(
        self, name: str, role: Role, item: Item, mono: bool = False, room: float | None = None
    ) -> Piece:
        """What a decision is about, in a box in a role."""
        room, size = self.room if room is None else room, MONO if mono else SMALL
        label = fitted(EDGE, 15, name, room - 2 * EDGE, size, mono=mono, role=role)
        wide = label.width + 2 * EDGE
        title = f"{item.subject}: {item.decision}"
        title += f": {item.expression}" if item.expression else ""
        return sized(wide, LINE, self.cell(item.subject, Box(0, 1, wide, CHIP, role), title, label))

    def cell(self, subject: str, box: Box, title: str, *texts: Text) -> Group:
        """A box with what stands in it, which a page knows."""
        cell = Group((box,), cell=f"{self.record.backward}:{subject}")
        return Group((cell, *texts), title=title, mentions=about(subject, self.keys))

    def formula(self, content: str, room: float) -> Piece:
        """A formula in a line, its variables in boxes where there is room; or in two lines."""
        for boxed in (True, False):
            if (line := self.line(content, boxed)).envelope.width <= room:
                return line
        lines = formula_lines(content, int(room / LETTER), 2, 2)
        return _stacked(lines, MONO, content if lines[-1].endswith("…") else "")

    def line(self, content: str, boxed: bool = True) -> Piece:
        """A formula in a line, its variables in boxes in their roles, if they are to be `boxed`."""
        shapes, x = list[Shape](), 0.0
        for part in self.names.split(content):
            role, wide = self.roles.get(part) if boxed else None, _wide(part)
            if role is not None:
                shapes.append(Box(x, 1, wide + 2 * INSIDE, CHIP, role))
            inside = INSIDE * (role is not None)
            if written := part.strip():
                start = x + inside + _wide(part.partition(written)[0])
                shapes.append(Text(start, 15, written, MONO, mono=True, role=role))
            x += wide + 2 * inside
        return sized(x, LINE, *shapes)

    # the phases

    def shares(self) -> Iterator[Piece]:
        """What each argument of the step gets."""
        items = [i for i in self.items(5) if i.expression or i.verdict in NONE]
        for item in items:
            label = self.label(item.subject, items) if items[1:] else gap()
            room = self.room - label.envelope.width
            yield beside(label, self.formula(item.expression or item.decision, room))

    def label(self, name: str, items: Sequence[Item]) -> Piece:
        """The name of an argument, as wide as the widest of those decided on."""
        names = [item.subject.rpartition(", ")[0] or item.subject for item in items]
        wide = min(max(map(_wide, names)), self.room / 3)
        return sized(wide + 10, LINE, fitted(0, 15, name, wide, MONO, mono=True, muted=True))

    def fate(self, item: Item, slot: str) -> Piece:
        """What the step does with what it reads, and so what is added."""
        name, _, does = item.subject.rpartition(", ")
        added = {Verdict.ACCUMULATED: f"→ + {slot}", Verdict.OVERWRITTEN: "→ + nothing"}
        label = self.label(name or item.subject, self.items(6))
        chip = self.chip(does if name else str(item.verdict), LOOKS[item.verdict], item)
        start = beside(label, chip, gap(6))
        return beside(
            start, self.formula(added.get(item.verdict, ""), self.room - start.envelope.width)
        )

    def tape(self, state: State) -> Piece:
        """The slots of a tape that a step reads or writes, from left to right in time."""
        taps = sorted(state.backward.taps, reverse=True)
        folds = len(taps) > MOST_SLOTS
        shown = [*taps[:2], *taps[-2:]] if folds else taps
        room = (self.room - 20 * folds) / len(shown) - 3
        wide = min(max(SLOT, *(_wide(tap_symbol(state.name, tap)) + 12 for tap in shown)), room)
        made = [self.slot(state, tap, wide) for tap in shown]
        if folds:
            made.insert(2, self.words("⋯", muted=True))
        return beside(*made, apart=3)

    def slot(self, state: State, tap: int, wide: float) -> Piece:
        """A slot with its name and, where there is room, what the step does there."""
        use, name = use_of(state.backward, tap), tap_symbol(state.name, tap)
        role, high = SLOTS[use], 36.0 if wide >= SLOT else CHIP
        does = Generation.of(state.forward, state.name).gradient(1).does(tap)
        texts = [fitted(wide / 2, 15, name, wide - 10, MONO, "middle", mono=True, role=role)]
        if wide >= SLOT:
            texts.append(Text(wide / 2, 31, does, 11, "middle", role=role))
        box = Box(0, 1, wide, high, role)
        return sized(wide, high + 2, self.cell(name, box, f"{name}: {does}", *texts))

    def answer(self, item: Item) -> Piece:
        """An input, and the gradient that arrives at it."""
        chip = self.chip(item.subject, LOOKS[item.verdict], item, room=self.room / 2)
        if not item.expression:
            return chip
        gets = fitted(0, 15, item.expression, self.room / 2 - 26, MONO, mono=True)
        x = gets.width + 4
        row = beside(sized(x + 20, LINE, gets, Arrow(((x, 11), (x + 16, 11)))), chip, gap(8))
        if not self.is_part(item):
            return row
        return beside(row, self.words("a part: other Scans add to it", muted=True))

    def is_part(self, item: Item) -> bool:
        """Whether other Scans give parts of this gradient, too."""
        name = item.expression.rpartition("[")[0]
        return self.of is not None and any(
            tape.name == name and self.of.share(tape) and not tape.collects
            for tape in self.of.scan.held
        )

    # what comes of them

    def finished(self, room: float, most: int) -> Iterator[Piece]:
        """What a step writes to the first slots, and below its parts the phases they are from."""
        shares = {item.expression for item in self.items(5) if item.expression}
        written = [item for item in self.items(8) if item.decision == "is written"]
        written += [item for item in self.items(9) if item.verdict in TOTALS]
        for item in written[:most]:
            yield self.written(_parts(item, shares), room)
        if left := written[most:]:
            yield self.more(len(left), 9 if left[0].verdict in TOTALS else 8)

    def written(self, parts: Sequence[Part], room: float) -> Piece:
        """What a step writes to a slot, part by part; in a line, if there is room."""
        lines = list[list[Piece]]()
        for phase, told in parts:
            part = self.formula(told, room - 20)
            part = over(part, _brace(phase, part.envelope.width, part.envelope.bottom))
            if lines and beside(*lines[-1], part).envelope.width <= room - 20:
                lines[-1].append(part)
            elif told.strip():
                lines.append([part])
        return above(*(beside(gap(20 * (line is not lines[0])), *line) for line in lines))


def scan_name(called: str, of: NamedScan | None) -> str:
    """What a Scan is called in the pictures of its run, or else alone."""
    return called if of is None else f"{of.number + 1} · {of.called}"


def _parts(item: Item, shares: Iterable[str]) -> list[Part]:
    """What is written, and where: the share of an argument, and what is added to it."""
    slot, written, own = item.subject, item.expression, 9 if item.verdict in TOTALS else 8
    for share in shares:
        if written == f"{share} + {slot}":
            return [(own, slot), (0, " ← "), (5, share), (0, " "), (6, f"+ {slot}")]
        if written in (share, f"{slot} + {share}"):
            before = written.removesuffix(share).rstrip()
            added = [(own, before), (0, " ")] if before else []
            return [(own, slot), (0, " ← "), *added, (5, share)]
    return [(own, slot), (0, f" ← {written}")]


def _brace(phase: int, wide: float, y: float) -> Piece:
    """Below a part the number of its phase."""
    if not phase:
        return gap()
    line = Polyline(((0, y), (0, y + 3), (wide, y + 3), (wide, y)), faint=True)
    number = Text(wide / 2, y + 17, str(phase), 11, "middle", bold=True)
    return sized(wide, y + 22, line, outline(wide / 2 - 9, y + 6, 18, 14), number)


def _stacked(lines: Sequence[str], size: float, title: str) -> Piece:
    """Lines close to one another, with a tooltip."""
    mono = size == MONO
    drawn = ((_wide(line) - _wide(line.lstrip()), line.lstrip()) for line in lines)
    texts = [
        Text(x, 15 + 16 * n, line, size, mono=mono, title=title)
        for n, (x, line) in enumerate(drawn)
    ]
    wide = max(text.x + text.width for text in texts)
    return sized(wide, LINE + 16 * (len(lines) - 1), *texts)


def _wide(content: str) -> float:
    return text_width(content, MONO, mono=True)


def about(subject: str, keys: Keys) -> tuple[str, ...]:
    """The keys of the variable that is meant: the longest name that `subject` begins with."""
    names = [n for n in keys if subject == n or subject.startswith((f"{n}[", f"{n}, "))]
    return keys[max(names, key=len)] if names else ()
