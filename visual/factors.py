"""What stands beside an arrow: what happens to a value on its way into a slot."""

from collections.abc import Callable

from lab.formula import Call, Expression, Leaf, text
from lab.spelling import leaves_of


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
    rest = tuple(factor for factor in term.arguments if factor != read)
    product = rest[0] if len(rest) == 1 else Call("Mul", rest)
    return f"·{text(product, spell)}{plus}"
