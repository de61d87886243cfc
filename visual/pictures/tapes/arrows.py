"""Arrows between the slots of a tape, and what happens to a value on its way."""

from collections.abc import Iterator

from lab.equations.factors import ONE
from lab.equations.sentences import StepOf
from lab.equations.spelling import Speller
from lab.notation import Leaf, leaves_of, number_text, summands_of
from lab.traces.flow import adds_old
from lab.traces.trace import Formula, TapeTrace
from visual.layout.detours import Detours
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Shape, Text, fitted
from visual.scene.theme import Role

DEPTH, LETTERS = 14, 11  # of the points that bend a curve; of a label
NEXT = 8  # between two columns, for a factor beside an arrow
Places = dict[tuple[int, int], Box]  # the slots of tapes, by argument and row


def step_arrows(
    spell: Speller, step: int, places: Places, with_numbers: bool = True
) -> Iterator[Shape]:
    """From every slot that a step reads to the slots that it writes."""
    ways, written = Detours(places.values()), list[Envelope]()
    for formula in spell.scan.formulas:
        for shape in _formula_arrows(formula, spell, step, places, ways, with_numbers):
            if isinstance(shape, Text):  # what has no room stands in the formula alone
                room = envelope_of(shape).padded(0, -2)
                if any(room.meets(other) for other in written):
                    continue
                written.append(room)
            yield shape


def _formula_arrows(
    formula: Formula, spell: Speller, step: int, places: Places, ways: Detours, with_numbers: bool
) -> Iterator[Shape]:
    """From every slot that a formula reads to the slot that it writes, itself excepted."""

    def place(leaf: Leaf) -> Box | None:
        tape = spell.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None:
            return None
        return places.get((leaf.argument, tape.tape.row(step, leaf.tap)))

    target = place(formula.target)
    if target is None:
        return
    leaves = leaves_of(formula.expression)
    slot = (formula.target.argument, formula.target.tap)
    old = next((leaf for leaf in leaves if (leaf.argument, leaf.tap) == slot), None)
    found = [(leaf, place(leaf)) for leaf in leaves if leaf != old]
    sources = [(leaf, source) for leaf, source in found if source is not None]
    tape = spell.scan.variable(formula.target)
    if isinstance(tape, TapeTrace) and tape.is_total:
        nth = [t.argument for t in spell.scan.tapes if t.is_total].index(tape.argument)
        for _, source in sources:
            yield from tape_arrow(source, target, "", ways, depth=DEPTH + 3 * nth, faint=True)
        return
    for leaf, source in sources:
        if len(sources) == 1:
            label = _label(spell, step, formula, leaf, _room(target))
            yield from tape_arrow(source, target, label, ways)
        else:  # there is only room for numbers
            yield from tape_arrow(source, target, "", ways)
            alike = sum(one.y == source.y for _, one in sources)
            number = StepOf(spell.named, step).arrival(formula, leaf).number
            if with_numbers and alike == 1 and number is not None:
                yield from _beside(source, target, f"·{number_text(number)}")


def _beside(source: Box, target: Box, factor: str) -> Iterator[Shape]:
    """A factor between two rows: of an arrow that comes up beside where it leaves, else its end."""
    bottom, into = target.y + target.height, target.x + target.width / 2
    x, y, anchor = into - 6, bottom + 13, "end"
    if source.y < target.y:
        y = target.y - 4
    elif source.y > target.y:
        x, y, anchor = source.x + source.width / 2 + 6, source.y - 4, "start"
    if text_width(factor, LETTERS, mono=True) <= target.width / 2 + NEXT:
        yield Text(x, y, factor, LETTERS, anchor, mono=True, role=Role.OVERWRITTEN)  # not grey


def _label(spell: Speller, step: int, formula: Formula, read: Leaf, room: float) -> str:
    """What happens to `read` on its way into a slot: ``·2·x₃ + old``; empty without a factor.

    The factor is a number where its formula has no room.
    """
    one = StepOf(spell.named, step)
    arrival = one.arrival(formula, read)
    if arrival.factor is None:
        return ""
    own = [term for term in summands_of(formula.expression) if read in leaves_of(term)]
    is_all = all(term == read or read in getattr(term, "arguments", ()) for term in own)
    is_all = is_all and adds_old(formula) and one.rest(formula) is None
    plus = " + old" if is_all else ""
    if arrival.factor == ONE:
        return plus.strip()
    told = one.product(arrival, "") + plus
    fits = arrival.number is None or text_width(told, LETTERS, mono=True) <= room
    return told if fits else f"·{number_text(arrival.number)}{plus}"


def tape_arrow(
    source: Box,
    target: Box,
    label: str,
    ways: Detours,
    depth: float = DEPTH,
    faint: bool = False,
) -> list[Shape]:
    """A curve below the cells from one slot to another, or straight or around to another tape."""
    look = {"accent": not faint, "faint": faint}
    x0, y0, x1, y1, height = source.x, source.y, target.x, target.y, source.height
    out, into, bottom = x0 + source.width / 2, x1 + target.width / 2, y0 + height
    if y1 > y0:
        return [ways.arrow(((out, bottom), (into + 8, y1 - 1)), source, target, **look)]
    if y1 < y0:
        ends = (out, y0), (into + 8, y1 + height + 1)
        return [ways.arrow(ends, source, target, **look)]
    low = bottom + 2 + depth
    shapes: list[Shape] = [
        Arrow(((out, bottom + 2), (out, low), (into, low), (into, bottom + 2)), **look)
    ]
    if label:  # under the slot that is written, where no other arrow's label stands
        room = _room(target)
        if text_width(label, LETTERS, mono=True) > room:  # the curve ends where the old value is
            label = label.removesuffix(" + old")
        shapes.append(
            fitted(into, bottom + 24, label, room, LETTERS, "middle", mono=True, muted=True)
        )
    return shapes


def _room(target: Box) -> float:
    """That of a label under a slot."""
    return target.width + 14
