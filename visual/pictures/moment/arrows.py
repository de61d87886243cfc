"""What goes from slot to slot in a step, with the factor that multiplies it."""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from lab.equations.sentences import Arrival, StepOf
from lab.notation import Leaf, number_text, text
from lab.traces.trace import Formula
from visual.pictures.moment.slots import PLAIN, SIDE, at
from visual.scene.combinators import Envelope, Piece, framed, over, piece, shifted, words
from visual.scene.shapes import Arrow, shortened
from visual.scene.theme import Role

PITCH, EDGE = 27.0, 9.0
CLEAR_LINES, MOST_LINES = 3, 5  # for factors that cover no other arrow, or just for all of them
WIDEST = 420.0  # of a factor
ENTRY = 22.0  # between arrows that come into one slot
DOWN = tuple(1.5 * n / 80 * (1 - n / 80) + (n / 80) ** 3 for n in range(81))  # of a curve
NEAR = 6.0  # of two factors
SHARES = (0.5, 0.15, 0.85)  # of a factor, where its arrow meets it


@dataclass(frozen=True)
class Way:
    """From which slot to which, by their names, in the main formula or not, and with what.

    `source` is empty for what comes from no slot.
    """

    source: str
    target: str
    is_main: bool
    label: str


def ways_of(one: StepOf) -> list[Way]:
    """All that a step brings from slot to slot, first what comes to the main one."""
    formulas = sorted(one.named.scan.formulas, key=lambda formula: formula is not one.main)
    return [way for formula in formulas for way in _ways(one, formula)]


def _ways(one: StepOf, formula: Formula) -> Iterator[Way]:
    def place(when: str, leaf: Leaf) -> str:
        return at(when, one.tape(leaf), one.row(leaf))

    target, is_main = place("after", formula.target), formula is one.main
    arrivals, in_loop = one.arrivals(formula), one.named.scan.parent is None
    for arrival in arrivals:
        label = "" if in_loop else _factor(one, formula, arrival)
        yield Way(place("before", arrival.read), target, is_main, label)
    rest = one.rest(formula)
    if in_loop and arrivals:  # it may do anything with what it reads
        whole = text(formula.expression, lambda leaf: one.spell.position(leaf, one.step))
        yield Way("", target, is_main, whole)
    elif rest is not None:
        number = "" if rest.number is None else f" = {number_text(rest.number)}"
        yield Way("", target, is_main, f"+ {rest.written}{number}")


def _factor(one: StepOf, formula: Formula, arrival: Arrival) -> str:
    """``· 2·x₁ = 1.805``; of arrays what becomes of ▢, which the arrow brings."""
    if arrival.number is not None:
        told, number = one.factor(arrival), number_text(arrival.number)
        return f"· {told}" if told == number else f"· {told} = {number}"

    told = one.becomes(formula, arrival.read)
    return "· 1" if told == "▢" else told


def joined(upper: Piece, lower: Piece, ways: Sequence[Way], width: float) -> Piece:
    """Slots before a step above those after it, and arrows with factors between them."""
    best: tuple[tuple[int, int], Piece] | None = None
    for lines in range(2, MOST_LINES + 1):
        down = upper.envelope.bottom + 2 * EDGE + PITCH * lines - lower.envelope.top
        both = over(upper, shifted(lower, 0, down))
        known = [way for way in ways if {way.source or way.target, way.target} <= {*both.anchors}]
        curves = [_curve(both.anchors, way, known) for way in known]
        chips, faults = _chips(curves, known, upper.envelope.bottom, lines, width)
        arrows = (
            Arrow(curve, accent=way.is_main, faint=not way.is_main)
            for curve, way in zip(curves, known, strict=True)
            if way.source
        )
        if best is None or faults < best[0]:
            best = faults, over(both, *map(piece, arrows), *chips)
        left_out, covered = best[0]
        if not left_out and (not covered or lines >= CLEAR_LINES):
            break
    assert best is not None  # two lines are always tried
    return best[1]


Curve = tuple[tuple[float, float], ...]


def _curve(anchors: Mapping[str, Envelope], way: Way, ways: Sequence[Way]) -> Curve:
    """From the middle below a slot to a place of its own above another."""
    x1, y1 = anchors[way.target].place(0.5, 0)
    if not way.source:
        return (x1, y1 - 2 * EDGE - 2 * PITCH), (x1, y1)
    x0, y0 = anchors[way.source].place(0.5, 1)
    sources = {each.source for each in ways if each.target == way.target and each.source}
    coming = sorted(sources, key=lambda source: anchors[source].left)
    x1 += ENTRY * (coming.index(way.source) - (len(coming) - 1) / 2)
    middle = (y0 + y1) / 2
    return (x0, y0 + 2), (x0, middle), (x1, middle), (x1, y1 - 3)


def _chips(
    curves: Sequence[Curve], ways: Sequence[Way], top: float, lines: int, room: float
) -> tuple[list[Piece], tuple[int, int]]:
    """The factors on so many lines, each upon its arrow.

    Of the places that are free each takes the one that covers the fewest other arrows, as near
    to the arrow's head as can be.  With them: how many find no room, how many arrows they cover.
    """
    chips, left_out, covered = list[Piece](), 0, 0
    for curve, way in zip(curves, ways, strict=True):
        label = shortened(way.label, min(WIDEST, room - SIDE - 2 * NEAR), PLAIN, mono=True)
        if not label:
            continue
        chip = framed(words(label, PLAIN, mono=True, bold=way.is_main), Role.PANEL, 3)
        width, height = chip.envelope.width, chip.envelope.height
        others = [other for other in curves if other is not curve]
        free: list[tuple[int, int, Piece]] = []
        for line, share in product(range(lines), SHARES):
            y = top + EDGE + PITCH * (line + 0.5)
            x = min(max(_across(curve, y) - width * share, SIDE), room - width)
            put = shifted(chip, x - chip.envelope.left, y - height / 2 - chip.envelope.top)
            if not any(put.envelope.padded(NEAR, 0).meets(other.envelope) for other in chips):
                free.append((sum(_crosses(other, put.envelope) for other in others), -line, put))
        if free:
            fewest, _, put = min(free, key=itemgetter(0, 1))
            chips.append(put)
            covered += fewest
        left_out += not free
    return chips, (left_out, covered)


def _crosses(curve: Curve, room: Envelope) -> bool:
    """Whether an arrow goes through a place, or close by."""
    heights = (room.top, (room.top + room.bottom) / 2, room.bottom)
    return any(room.left - NEAR <= _across(curve, y) <= room.right + NEAR for y in heights)


def _across(curve: Curve, y: float) -> float:
    """Where a curve with two level controls, halfway down, is at a height."""
    (x0, y0), (x1, y1) = curve[0], curve[-1]
    share = (y - y0) / (y1 - y0)
    t = min(bisect(DOWN, share), len(DOWN) - 1) / (len(DOWN) - 1)
    return x0 + (x1 - x0) * t * t * (3 - 2 * t)
