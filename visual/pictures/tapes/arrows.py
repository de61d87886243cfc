"""Arrows between the slots of a tape, and what happens to a value on its way."""

from collections.abc import Iterator

from lab.equations.factors import ONE
from lab.equations.sentences import StepOf
from lab.equations.spelling import Speller
from lab.notation import Leaf, leaves_of, number_text, summands_of
from lab.traces.flow import adds_old
from lab.traces.trace import Formula, TapeTrace
from visual.layout.detours import Detours
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Shape, fitted

DEPTH, LETTERS = 14, 11  # of the points that bend a curve; of a label
Places = dict[tuple[int, int], Box]  # the slots of tapes, by argument and row


def step_arrows(spell: Speller, step: int, places: Places) -> Iterator[Shape]:
    """From every slot that a step reads to the slots that it writes."""
    ways = Detours(places.values())
    for formula in spell.scan.formulas:
        yield from _formula_arrows(formula, spell, step, places, ways)


def _formula_arrows(
    formula: Formula, spell: Speller, step: int, places: Places, ways: Detours
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
    for leaf, source in sources:
        label = ""
        if len(sources) == 1:  # of several labels, none would find room
            label = _label(spell, step, formula, leaf, _room(target))
        yield from tape_arrow(source, target, label, ways)


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


def tape_arrow(source: Box, target: Box, label: str, ways: Detours) -> list[Shape]:
    """A curve below the cells from one slot to another, or straight or around to another tape."""
    x0, y0, x1, y1, height = source.x, source.y, target.x, target.y, source.height
    out, into, bottom = x0 + source.width / 2, x1 + target.width / 2, y0 + height
    if y1 > y0:
        return [ways.arrow(((out, bottom), (into + 8, y1 - 1)), source, target, accent=True)]
    if y1 < y0:
        ends = (out, y0), (into + 8, y1 + height + 1)
        return [ways.arrow(ends, source, target, accent=True)]
    low = bottom + 2 + DEPTH
    shapes: list[Shape] = [
        Arrow(((out, bottom + 2), (out, low), (into, low), (into, bottom + 2)), accent=True)
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
