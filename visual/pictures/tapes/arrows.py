"""Arrows between the slots of a tape, and what happens to a value on its way."""

from collections.abc import Callable, Iterator

from lab.equations.spelling import Speller
from lab.notation import Call, Expression, Leaf, Let, leaves_of, summands_of, text
from lab.traces.trace import Formula, TapeTrace
from visual.layout.detours import Detours
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Shape, fitted

DEPTH = 14  # of the points that bend a curve
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
            label = factor_label(formula.expression, leaf, old, lambda v: spell.position(v, step))
        yield from tape_arrow(source, target, label, ways)


def factor_label(
    expression: Expression, read: Leaf, old: Leaf | None, spell: Callable[[Leaf], str]
) -> str:
    """What happens to `read` on its way into a slot: ``·2·x₃ + old``; empty if not so simple."""
    terms = summands_of(expression)
    own = [term for term in terms if read in leaves_of(term)]
    named = expression.bindings if isinstance(expression, Let) else ()
    if len(own) != 1 or any(read in leaves_of(binding.term) for binding in named):
        return ""
    plus = " + old" if old is not None and any(term == old for term in terms) else ""
    (term,) = own
    if term == read:
        return plus.strip()
    if not isinstance(term, Call) or term.name != "Mul" or term.arguments.count(read) != 1:
        return ""
    rest = [factor for factor in term.arguments if factor != read]
    product = Call("Mul", (read, *rest))
    return text(product, lambda leaf: "" if leaf == read else spell(leaf)) + plus


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
        room = target.width + 14
        if text_width(label, 11, mono=True) > room:  # the curve ends where the old value stands
            label = label.removesuffix(" + old")
        shapes.append(fitted(into, bottom + 24, label, room, 11, "middle", mono=True, muted=True))
    return shapes
