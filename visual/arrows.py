"""Arrows between the slots of a tape, and what happens to a value on its way."""

from collections.abc import Callable

from lab.expression import Call, Expression, Leaf, leaves_of, text
from visual.layout import BETWEEN, CELL
from visual.scene import Arrow, Shape, Text, shortened

Place = tuple[float, float]


def factor_label(
    expression: Expression, read: Leaf, old: Leaf | None, spell: Callable[[Leaf], str]
) -> str:
    """What happens to `read` on its way into a slot: ``·2·x[3] + old``; empty if not so simple."""
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
    own = [term for term in terms if read in leaves_of(term)]
    if len(own) != 1:
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


def tape_arrow(source: Place, target: Place, label: str, height: float) -> list[Shape]:
    """A curve below the cells from one slot to another, or straight to another tape."""
    (x0, y0), (x1, y1) = source, target
    out, into, bottom = x0 + CELL / 2, x1 + CELL / 2, y0 + height
    if y1 > y0:
        return [Arrow(((out, bottom), (into + 8, y1 - 1)), accent=True)]
    if y1 < y0:
        return [Arrow(((out, y0), (into + 8, y1 + height + 1)), accent=True)]
    curve = ((out, bottom + 2), (out, bottom + 22), (into, bottom + 22), (into, bottom + 2))
    shapes: list[Shape] = [Arrow(curve, accent=True)]
    if label:  # under the slot that is written, where no other arrow's label stands
        short = shortened(label, CELL + BETWEEN - 6, 10.5, mono=True)
        title = label if short != label else ""
        x, y = into, bottom + 30
        shapes.append(Text(x, y, short, 10.5, "middle", mono=True, muted=True, title=title))
    return shapes
