"""One step, large: the tapes before it, what it reads, what it makes of that, the tapes after it.

    >>> visual.moment(gallery.loops["square"].trace(order=2), scan=3, step=1).save("step.pdf")

For a projector, a phone, a figure.  What has not happened when the step ends is not in the picture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import numpy as np

from lab.equations.sentences import StepOf, by_rank, sentence
from lab.notation import leaves_of, tapped
from lab.records import cached_property
from lab.traces.touched import Touched
from lab.traces.trace import Formula, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import kind_text
from visual.layout.cells import (
    bared,
    full_text,
    is_told,
    on_one_scale,
    told_apart,
    value_text,
    values_text,
)
from visual.layout.legend import FOLDS, NORM, STRIPS, notes, scale_words
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of
from visual.pictures.moment.arrows import Way, joined, shortened_ways, ways_of
from visual.pictures.moment.slots import APART, LARGE, PLAIN, SIDE, SMALL, Tapes
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    framed,
    gap,
    grouped,
    over,
    piece,
    scene,
    words,
)
from visual.scene.fonts import MONO_WIDTH, text_width
from visual.scene.shapes import Box, Group, Scene, Shape, Text, folded, of_run, shortened, walk
from visual.scene.theme import Role

MARGIN, HEIGHT = 20.0, 548.0  # with the margin, 840 × 588
HIGHER = 1.6  # in a column, where there is less room beside one another
FORMULA, NUMBERS, READ = 16.0, 15.0, 262.0
UNTOUCHED = "⋯ and a number: so many slots that the step does not touch"
# What is drawn, until it fits: whether all arrows, all terms, notes, numbers; how many sentences.
THRIFT = (
    (True, True, True, True, 2),
    (False, True, True, True, 2),
    (False, True, False, True, 2),
    (False, False, True, True, 1),
    (False, False, False, True, 1),
    (False, False, False, False, 0),
)
FIRST_SUM = ", the first that adds up two slots that are not 0"


@of_run
def moment(
    trace: Trace,
    theme: str = "light",
    scan: int | None = None,
    step: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The step number `step` of Scan `scan` of a trace, on 840 × 588 pixels at most.

    The Scan, by the number in its heading, is by default the one that holds the result, the step
    the first in which two values are added up that are not 0, on a tape or else in a running total;
    or else step 1 of a derivative.
    """
    of_trace(trace)
    check_sheet(sheet)
    number = opened(trace, scan)
    made = trace.scans[number]
    chosen = step_of(made, _telling(made) if step is None else step)
    return _Drawn(NamedScan(trace, number), chosen, sheet).scene(theme)


def asked(named: NamedScan, step: int, tape: TapeTrace, theme: str, formula: str) -> Scene:
    """A tape before a step, and what the step reads; nothing tells what becomes of its slots."""
    drawn = _Drawn(named, step, SCREEN, tape)
    row = beside(drawn._at_side("before"), drawn.tapes.row(is_after=False), align=1)
    taps = words(f"{tape.name}: {kind_text(tape)}", SMALL, muted=True)
    made = drawn._mono(formula, FORMULA)
    whole = above(drawn._heading(), taps, *drawn._readings(), row, *made, apart=12)
    shapes, scales = on_one_scale(told_apart(whole.shapes))
    said = [note for note in notes(shapes) if note != FOLDS]
    lines = folded("; ".join([*said, *scale_words(scales)]), drawn.width, SMALL)
    whole = above(whole, *(words(line, SMALL, muted=True) for line in lines if line), apart=5)
    shapes, _ = on_one_scale(told_apart(whole.shapes))
    told = f"The slots of {tape.name} before step {step}."
    whole = replace(whole, placed=((0.0, 0.0, shapes),))
    return scene(whole, f"{tape.name}, step {step}", told, theme, MARGIN)


def first_sum(scan: ScanTrace, is_total: bool = False) -> int | None:
    """The first step in which a slot of a tape, or a running total, gets several values but 0."""
    several = np.zeros(scan.steps, dtype=bool)
    for formula in scan.formulas:
        target = scan.variable(formula.target)
        if isinstance(target, TapeTrace) and target.tape.reads and target.is_total is is_total:
            leaves = {(leaf.argument, leaf.tap) for leaf in leaves_of(formula.expression)}
            full = [
                access.values.reshape(scan.steps, -1).any(axis=1)
                for tape in scan.tapes
                for access in tape.reads
                if scan.steps and (tape.argument, access.tap) in leaves
            ]
            several |= np.sum(full, axis=0) > 1
    return int(np.argmax(several)) if several.any() else None


def _telling(scan: ScanTrace) -> int:
    """The step that tells the most: of a derivative without a sum, one that reads what it made."""
    second = min(1, scan.steps - 1) if scan.parent is not None else 0
    found = (first_sum(scan, is_total) for is_total in (False, True))
    return next((step for step in found if step is not None), second)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A step of a Scan, part by part."""

    named: NamedScan
    step: int
    sheet: Sheet
    asked: TapeTrace | None = None

    @property
    def width(self) -> float:
        """What stands between the margins."""
        return self.sheet.width * (SMALL / 11 if self.sheet.on_paper else 1) - 2 * self.margin

    @property
    def margin(self) -> float:
        return self.sheet.margin if self.sheet.is_narrow else MARGIN

    @property
    def height(self) -> float:
        return HEIGHT * (HIGHER if self.sheet.is_narrow else 1)

    @cached_property
    def one(self) -> StepOf:
        return StepOf(self.named, self.step)

    @cached_property
    def tapes(self) -> Tapes:
        return Tapes(self.named, self.one, self.width, self.asked)

    @cached_property
    def ways(self) -> list[Way]:
        return ways_of(self.one)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Of the main formula why, of others what they add; of arrays an entry is worked out."""
        return tuple(self._sentence(formula) for formula in by_rank(self.one))

    def _sentence(self, formula: Formula) -> str:
        entry = self.one.spell.entry(formula, self.step)
        if formula is self.one.main or entry is None or not entry.index:
            return sentence(self.one, formula)
        place = self.one.spell.position(formula.target, self.step)
        return f"{place}, {entry.label}: {entry.written}"

    def scene(self, theme: str) -> Scene:
        """The whole picture, with as much as fits: at first all arrows, notes and numbers."""
        for *thrift, wanted in THRIFT:
            whole, told = self._whole(*thrift)
            if whole.envelope.height <= self.height and told >= min(len(self.sentences), wanted):
                break
        shapes, _ = on_one_scale(told_apart(whole.shapes))
        scan, number = self.named.scan, self.named.number + 1
        return scene(
            replace(whole, placed=((0.0, 0.0, shapes),)),
            f"Step {self.step} of {number} · {scan.name}",
            f"The tapes before and after step {self.step} of {scan.name}, what it reads, and why.",
            theme,
            self.margin,
        )

    def _whole(self, arrows: bool, terms: bool, notes: bool, numbers: bool) -> tuple[Piece, int]:
        """The picture, and how many sentences it has."""
        step = self._step(arrows, terms, numbers)
        if self.sheet.bare:
            drawn = above(*self._readings(), step, apart=12)
            bare = replace(drawn, placed=((0.0, 0.0, tuple(bared(drawn.shapes))),))
            return bare, len(self.sentences)
        fixed = above(self._heading(), *self._readings(), step, apart=12)
        legend = gap()
        if self.sheet.legend:
            legend = _legend(fixed, notes, self.width, self.sheet.is_narrow)
        room = self.height - fixed.envelope.height - legend.envelope.height - 28
        told, count = self._told(room, numbers)
        return above(fixed, told, legend, apart=14), count

    def _heading(self) -> Piece:
        scan = self.named.scan
        among = "" if self.sheet.is_narrow else f" (0 to {scan.steps - 1})"
        which = f"step {self.step} of Scan {self.named.number + 1}{among}"
        title = f"{self.named.number + 1} · {self.named.called}"
        room = self.width - text_width(which, LARGE, bold=True) - 24
        short = shortened(title, room, LARGE, bold=True)
        start = words(short, LARGE, bold=True, title=self.named.whereabouts)
        row = beside(start, words(which, LARGE, bold=True, muted=True), apart=20)
        if self.one.step_above is None or scan.parent is None:
            return row
        told = f"back through step {self.one.step_above} of Scan {scan.parent + 1}"
        whole = beside(row, words(told, SMALL, muted=True), apart=14, align=1)
        return whole if whole.envelope.width <= self.width else row

    def _readings(self) -> Iterator[Piece]:
        """What the step reads besides its tapes, as far as there is room."""
        boxes = [self._reading(sequence) for sequence in self.named.scan.sequences]
        row = list[Piece]()
        for number, box in enumerate(boxes, start=1):
            more = words(f"and {len(boxes) - number + 1} more", SMALL, muted=True)
            rest = [more] if number < len(boxes) else []
            if beside(*row, box, *rest, apart=APART).envelope.width > self.width - SIDE:
                row.append(more)
                break
            row.append(box)
        if row:
            yield beside(self._at_side("reads"), beside(*row, apart=APART, align=0.5), align=0.5)

    def _reading(self, sequence: SequenceTrace) -> Piece:
        """Name and value, and from where, by which tap."""
        index = int(sequence.axis.index[self.step])
        value, name = sequence.values[self.step], self.named.sequence_label(sequence, index)
        role = Role.SEED if sequence.is_outer_gradient else Role.READ
        lines = [self._value(name, value, role)]
        if not self.sheet.bare:
            origin = shortened(self._origin(sequence, index), READ, SMALL)
            lines.append(words(origin, SMALL, role=role))
        box = framed(above(*lines), role, 5)
        key = self.named.cell_key(sequence.name, index, self.step)
        return grouped(box, Group((), cell=key, title=f"{name} = {full_text(value)}"))

    def _value(self, name: str, value: np.ndarray, role: Role) -> Piece:
        """``x₁ = 0.9025``, ``h₁ = [0.5, 0.25, 1]``, of a larger array ``‖W‖ = 1.5``."""
        whose = f"‖{name}‖" if value.ndim and not is_told(value) else name
        told = name if self.sheet.bare else f"{whose} = {value_text(value).strip('‖')}"
        if self.sheet.bare or not is_told(value):
            return words(shortened(told, READ, PLAIN, bold=True), PLAIN, bold=True, role=role)
        called = words(f"{name} =", PLAIN, bold=True, role=role)
        entries = shortened(values_text(value), READ, SMALL)
        return beside(called, words(entries, SMALL, role=role), apart=5, align=1)

    def _origin(self, sequence: SequenceTrace, index: int) -> str:
        """``step 0 of Scan 1 · read as x[t−1]``: who made a value, and at which tap it was read."""
        tap = tapped(sequence.name, int(sequence.axis.index[0]) - sequence.now)
        if self.named.parent is not None and sequence.source is not None:
            source = sequence.source
            tap = source.variable if source.tap is None else tapped(source.variable, source.tap)
        slot = self.named.slot_at(sequence, index)
        giver, last = self.named.trace.scans[slot.scan], None
        for tape in giver.held:
            if tape.argument == slot.argument:
                last = Touched(tape, giver.steps).last_write(slot.row)
        origin = "given" if last is None else f"step {last[1]} of Scan {slot.scan + 1}"
        return f"{origin} · read as {tap}"

    def _step(self, all_arrows: bool, terms: bool, tells: bool) -> Piece:
        """The tapes before the step and after it, and between them arrows with factors.

        Without all arrows, those of the main formula, and what others add: its terms, or a number.
        It `tells` below what multiplies where an arrow has only a number.
        """
        upper = beside(self._at_side("before"), self.tapes.row(is_after=False), align=1)
        lower = beside(self._at_side("after"), self.tapes.row(is_after=True), align=0.5)
        ways = self.ways if all_arrows else shortened_ways(self.one, self.ways, terms)
        if self.sheet.bare:  # factors without their numbers
            ways = [replace(way, label=way.label.partition(" = ")[0]) for way in ways]
        drawn = joined(upper, lower, ways, self.width, not all_arrows and terms, tells)
        hidden = len(self.named.scan.held) - len(self.tapes.shown)
        more = f"{counted(hidden, 'more tape')}: the picture tapes has all"
        return above(drawn, words(more, SMALL, muted=True), apart=6) if hidden else drawn

    def _at_side(self, label: str) -> Piece:
        """A row's name, as wide as all of them."""
        return over(gap(SIDE), gap() if self.sheet.bare else words(label, PLAIN, bold=True))

    def _told(self, room: float, with_numbers: bool) -> tuple[Piece, int]:
        """The main formula, the same in numbers, and the sentences that fit; and how many do."""
        spell, main = self.one.spell, self.one.main
        numbers = self._numbers(main) if with_numbers else ""
        lines = [
            *self._mono(spell.at(main, self.step), FORMULA),
            *self._mono(numbers, NUMBERS, muted=True),
        ]
        aside = beside(*lines, apart=36, align=1)
        fits = len(lines) == 2 and aside.envelope.width <= self.width
        told = [aside if fits else above(*lines, apart=3)]
        code = f"the picture equations, scan={self.named.number + 1}, has all"
        where = self.sheet.hint(code, "“equations”, above, has all")
        for number, one in enumerate(self.sentences):
            left = len(self.sentences) - number
            more = f"{counted(left, 'more slot')} written{where}"
            rest = words(more, SMALL, muted=True)
            part = above(*(words(line, PLAIN) for line in folded(one, self.width, PLAIN)), apart=2)
            height = above(*told, part, *([rest] if left > 1 else []), apart=6).envelope.height
            if number and height > room:
                return above(*told, rest, apart=6), number
            told.append(part)
        return above(*told, apart=6), len(self.sentences)

    def _numbers(self, formula: Formula) -> str:
        """A formula in numbers, of arrays that of one entry."""
        spell = self.one.spell
        if numbers := spell.numbers(formula, self.step):
            return numbers
        entry = spell.entry(formula, self.step)
        return f"{entry.label}: {entry.written}" if entry else ""

    def _mono(self, content: str, size: float, muted: bool = False) -> list[Piece]:
        """A formula on two lines at most, of a column on four."""
        letters, most = int(self.width / (size * MONO_WIDTH)), 4 if self.sheet.is_narrow else 2
        lines = wrap(content, letters, max_lines=most, placeholder=" …", break_on_hyphens=False)
        title = content if len(lines) > 1 and lines[-1].endswith("…") else ""
        return [words(line, size, mono=True, muted=muted, title=title) for line in lines]


def _legend(drawn: Piece, with_notes: bool, width: float, in_short: bool) -> Piece:
    """What the looks of slots mean, in lines so wide; `in_short`, only the words for them."""
    shapes, scales = on_one_scale(told_apart(drawn.shapes))
    roles = {s.role for s in walk(shapes) if isinstance(s, Box) and s.heat is None}
    lines: list[list[Piece]] = [[]]
    for role in (role for role in Role if role in roles and role is not Role.PANEL):
        swatch = piece(Box(0, 0, 24, 15, role))
        entry = beside(
            swatch, words(role.word if in_short else role.value, SMALL), apart=7, align=0.5
        )
        if beside(*lines[-1], entry, apart=18).envelope.width > width:
            lines.append([])
        lines[-1].append(entry)
    said = _explained(shapes, with_notes)
    if any("▢" in s.content for s in walk(shapes) if isinstance(s, Text)):
        said.insert(0, "▢ is what the arrow brings")
    full = scale_words(scales) if with_notes else []
    told = folded("; ".join([*said, *full]), width, SMALL)
    rest = (words(line, SMALL, muted=True) for line in told if line)
    return above(*(beside(*line, apart=18) for line in lines), *rest, apart=5)


def _explained(shapes: Sequence[Shape], with_notes: bool) -> list[str]:
    """What is said of arrays, and of what is folded; the first always."""
    strips = any(isinstance(shape, Box) and shape.heat is not None for shape in walk(shapes))
    others = [note for note in notes(shapes) if STRIPS not in note and note != NORM]
    norms = any("‖" in shape.content for shape in walk(shapes) if isinstance(shape, Text))
    said = [STRIPS] * strips + [NORM] * norms
    return said + [UNTOUCHED if note == FOLDS else note for note in others if with_notes]
