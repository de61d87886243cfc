"""One step, large: the tapes before it, what it reads, what it makes of that, the tapes after it.

    >>> visual.moment(gallery.loops["square"].trace(order=2), scan=3, step=1).save("step.pdf")

For a projector, a phone, a figure.  What has not happened when the step ends is not in the picture.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import wrap

import numpy as np

from lab.equations.sentences import StepOf, sentences
from lab.notation import leaves_of, tapped
from lab.records import cached_property
from lab.traces.touched import Touched
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import kind_text
from visual.layout.cells import bared, full_text, on_one_scale, told_apart, value_text
from visual.layout.legend import ARRAYS, FOLDS, notes, scale_words
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, step_of
from visual.pictures.moment.arrows import Way, in_short, joined, ways_of
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
from visual.scene.shapes import Box, Group, Scene, Text, folded, of_run, shortened, walk
from visual.scene.theme import Role

MARGIN, HEIGHT = 20.0, 548.0  # with the margin, 840 × 588
HIGHER = 1.6  # in a column, where there is less room beside one another
FORMULA, NUMBERS, READ = 16.0, 15.0, 262.0
UNTOUCHED = "⋯ and a number: so many slots that the step does not touch"
THRIFT = 4  # how much can be left out, one after another: other arrows, notes, numbers
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
        return sentences(self.named, self.step)

    def scene(self, theme: str) -> Scene:
        """The whole picture, with as much as fits: at first all arrows, notes and numbers."""
        for thrift in range(THRIFT):
            whole, told = self._whole(thrift)
            wanted = min(len(self.sentences), 2) if thrift < 2 else 1
            if whole.envelope.height <= self.height and told >= wanted:
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

    def _whole(self, thrift: int) -> tuple[Piece, int]:
        """The picture, and how many sentences it has."""
        if self.sheet.bare:
            drawn = above(*self._readings(), self._step(thrift > 0), apart=12)
            return replace(drawn, placed=((0.0, 0.0, tuple(bared(drawn.shapes))),)), THRIFT
        fixed = above(self._heading(), *self._readings(), self._step(thrift > 0), apart=12)
        legend = gap()
        if self.sheet.legend:
            legend = _legend(fixed, thrift < 2, self.width, self.sheet.is_narrow)
        room = self.height - fixed.envelope.height - legend.envelope.height - 28
        told, count = self._told(room, with_numbers=thrift < 3)
        return above(fixed, told, legend, apart=14), count

    def _heading(self) -> Piece:
        scan = self.named.scan
        which = f"step {self.step} (of 0 to {scan.steps - 1})"
        title = f"{self.named.number + 1} · {self.named.called}"
        room = self.width - text_width(which, LARGE, bold=True) - 24
        short = shortened(title, room, LARGE, bold=True)
        start = words(short, LARGE, bold=True, title=self.named.whereabouts)
        return beside(start, words(which, LARGE, bold=True, muted=True), apart=20)

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
        whose = f"‖{name}‖" if value.ndim else name
        written = value_text(value).strip("‖")
        told = name if self.sheet.bare else f"{whose} = {written}"
        role = Role.SEED if sequence.is_outer_gradient else Role.READ
        lines = [words(shortened(told, READ, PLAIN, bold=True), PLAIN, bold=True, role=role)]
        if not self.sheet.bare:
            origin = shortened(self._origin(sequence, index), READ, SMALL)
            lines.append(words(origin, SMALL, role=role))
        box = framed(above(*lines), role, 5)
        key = self.named.cell_key(sequence.name, index, self.step)
        return grouped(box, Group((), cell=key, title=f"{name} = {full_text(value)}"))

    def _origin(self, sequence: SequenceTrace, index: int) -> str:
        """``Scan 1, step 0 · read as x[t−1]``: who made a value, and at which tap it was read."""
        tap = tapped(sequence.name, int(sequence.axis.index[0]) - sequence.now)
        if self.named.parent is not None and sequence.source is not None:
            source = sequence.source
            tap = source.variable if source.tap is None else tapped(source.variable, source.tap)
        slot = self.named.slot_at(sequence, index)
        giver, last = self.named.trace.scans[slot.scan], None
        for tape in giver.held:
            if tape.argument == slot.argument:
                last = Touched(tape, giver.steps).last_write(slot.row)
        origin = "given" if last is None else f"Scan {slot.scan + 1}, step {last[1]}"
        return f"{origin} · read as {tap}"

    def _step(self, main_only: bool) -> Piece:
        """The tapes before the step and after it, and between them arrows with factors."""
        upper = beside(self._at_side("before"), self.tapes.row(is_after=False), align=1)
        lower = beside(self._at_side("after"), self.tapes.row(is_after=True), align=0.5)
        ways = in_short(self.ways) if main_only else self.ways
        if self.sheet.bare:  # factors without their numbers
            ways = [replace(way, label=way.label.partition(" = ")[0]) for way in ways]
        drawn = joined(upper, lower, ways, self.width)
        hidden = len(self.named.scan.held) - len(self.tapes.shown)
        more = f"{counted(hidden, 'more tape')}: the picture tapes has all"
        return above(drawn, words(more, SMALL, muted=True), apart=6) if hidden else drawn

    def _at_side(self, label: str) -> Piece:
        """A row's name, as wide as all of them."""
        return over(gap(SIDE), gap() if self.sheet.bare else words(label, PLAIN, bold=True))

    def _told(self, room: float, with_numbers: bool) -> tuple[Piece, int]:
        """The main formula, the same in numbers, and the sentences that fit; and how many do."""
        spell, main = self.one.spell, self.one.main
        numbers = spell.numbers(main, self.step) if with_numbers else ""
        lines = [
            *self._mono(spell.at(main, self.step), FORMULA),
            *self._mono(numbers, NUMBERS, muted=True),
        ]
        aside = beside(*lines, apart=36, align=1)
        fits = len(lines) == 2 and aside.envelope.width <= self.width
        told = [aside if fits else above(*lines, apart=3)]
        code = f"the picture equations, scan={self.named.number + 1}, has all"
        where = self.sheet.hint(code, "“equations”, above, has all")
        for number, sentence in enumerate(self.sentences):
            left = len(self.sentences) - number
            more = f"{counted(left, 'more slot')} written{where}"
            rest = words(more, SMALL, muted=True)
            part = above(
                *(words(line, PLAIN) for line in folded(sentence, self.width, PLAIN)), apart=2
            )
            height = above(*told, part, *([rest] if left > 1 else []), apart=6).envelope.height
            if number and height > room:
                return above(*told, rest, apart=6), number
            told.append(part)
        return above(*told, apart=6), len(self.sentences)

    def _mono(self, content: str, size: float, muted: bool = False) -> list[Piece]:
        """A formula on two lines at most."""
        letters = int(self.width / (size * MONO_WIDTH))
        lines = wrap(content, letters, max_lines=2, placeholder=" …", break_on_hyphens=False)
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
    known = [note for note in notes(shapes) if with_notes or note == ARRAYS]
    said = [UNTOUCHED if note == FOLDS else note for note in known]
    if any("▢" in s.content for s in walk(shapes) if isinstance(s, Text)):
        said.insert(0, "▢ is what the arrow brings")
    told = folded("; ".join([*said, *scale_words(scales)]), width, SMALL)
    rest = (words(line, SMALL, muted=True) for line in told if line)
    return above(*(beside(*line, apart=18) for line in lines), *rest, apart=5)
