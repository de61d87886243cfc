"""Find the factor of a value in a sum: ``2·x₃`` in ``buf[0]·2·x₃ + buf[1]``.

A step of a derivative is linear in the values on its tapes: each read slot has one factor in each
written value.
"""

from collections.abc import Callable, Iterable, Sequence

from lab.notation import Call, Expression, Leaf, Let, Number, Term, fold

ONE = Number("1")
SUMS = ("Add", "Sub", "Neg")
MOST_NAMES = 12  # largest number of named parts; with more, factors are unreadable


def factor_of(expression: Expression, leaf: Leaf) -> Term | None:
    """Return the factor of `leaf` in a sum; None if no term or a nonlinear term has it."""
    whole = without_names(expression)
    try:
        return None if whole is None else _factor(whole, leaf)
    except ValueError:
        return None


def without_names(expression: Expression) -> Term | None:
    """Return an expression with each name replaced by the named part; None for too many names."""
    if not isinstance(expression, Let):
        return expression
    if len(expression.bindings) > MOST_NAMES:
        return None
    return fold(expression, _same, _same, lambda name, parts: Call(name, tuple(parts)))


def _same(term: Term) -> Term:
    return term


def _factor(term: Term, leaf: Leaf) -> Term | None:
    """Return the factor of a leaf, or None if `term` does not contain the leaf.

    Raise ValueError unless sums, products, and quotients show that `term` is linear in the leaf.
    """
    if term == leaf:
        return ONE
    if not isinstance(term, Call):
        return None
    factors = [_factor(part, leaf) for part in term.arguments]
    present = [factor for factor in factors if factor is not None]
    if not present:
        return None
    if term.name in SUMS:
        return sum_of(term.name, factors)
    if len(present) == 1 and term.name == "Mul":
        pairs = zip(term.arguments, factors, strict=True)
        return _product(part if factor is None else factor for part, factor in pairs)
    if len(present) == 1 and term.name == "TrueDiv" and factors[0] is not None:
        return Call("TrueDiv", (factors[0], term.arguments[1]))
    raise ValueError(term.name)


def rest_of(term: Term, is_factored: Callable[[Leaf], bool]) -> Term | None:
    """Return a sum without the summands in which `is_factored` selects a leaf; None if empty."""
    if isinstance(term, Leaf) and is_factored(term):
        return None
    if not isinstance(term, Call):
        return term
    rests = [rest_of(part, is_factored) for part in term.arguments]
    if term.name in SUMS:
        return sum_of(term.name, rests)
    return None if None in rests else Call(term.name, tuple(filter(None, rests)))


def sum_of(name: str, parts: Sequence[Term | None]) -> Term | None:
    """Apply the operation `name` (Add, Sub, or Neg) to the parts that are not None, if any."""
    terms = tuple(part for part in parts if part is not None)
    if name == "Sub" and terms == tuple(parts[1:]):
        name = "Neg"
    return terms[0] if len(terms) == 1 and name != "Neg" else Call(name, terms) if terms else None


def _product(factors: Iterable[Term]) -> Term:
    """Return the product of the factors other than 1."""
    flat: list[Term] = []
    for factor in factors:
        inner = isinstance(factor, Call) and factor.name == "Mul"
        flat += factor.arguments if inner and isinstance(factor, Call) else (factor,)
    flat = [factor for factor in flat if factor != ONE]
    return Call("Mul", tuple(flat)) if len(flat) > 1 else (flat or [ONE])[0]
