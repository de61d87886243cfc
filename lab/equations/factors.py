"""What multiplies a value on its way into a sum: ``2·x₃`` in ``buf[0]·2·x₃ + buf[1]``.

A step of a derivative is linear in what stands on its tapes, so that each slot which it reads has
one factor in everything that it writes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from lab.notation import Call, Expression, Leaf, Let, Number, SharedTerm, Term, body_of

ONE = Number("1")
SUMS = ("Add", "Sub", "Neg")
MOST_NAMES = 12  # of an expression; what has more is no factor that anyone reads


def factor_of(expression: Expression, leaf: Leaf) -> Term | None:
    """What multiplies `leaf` in a sum of products; None where it has no such factor."""
    whole = without_names(expression)
    try:
        return None if whole is None else _factor(whole, leaf)
    except ValueError:
        return None


def without_names(expression: Expression) -> Term | None:
    """An expression whose parts are written wherever they are used; None if it has many names."""
    bindings = expression.bindings if isinstance(expression, Let) else ()
    if len(bindings) > MOST_NAMES:
        return None
    known: dict[str, Term] = {}
    for binding in reversed(bindings):  # each uses only those behind it
        known[binding.name] = _spelled_out(binding.term, known)
    return _spelled_out(body_of(expression), known)


def _spelled_out(term: Term, known: Mapping[str, Term]) -> Term:
    if isinstance(term, SharedTerm):
        return known[term.name]
    if isinstance(term, Call):
        return Call(term.name, tuple(_spelled_out(part, known) for part in term.arguments))
    return term


def _factor(term: Term, leaf: Leaf) -> Term | None:
    """The factor, or None if the term does not hold the leaf; ValueError if it has no factor."""
    if term == leaf:
        return ONE
    if not isinstance(term, Call):
        return None
    factors = [_factor(part, leaf) for part in term.arguments]
    found = [factor for factor in factors if factor is not None]
    if not found:
        return None
    if term.name in SUMS:
        return _sum(term.name, factors)
    if len(found) == 1 and term.name == "Mul":
        pairs = zip(term.arguments, factors, strict=True)
        return _product(part if factor is None else factor for part, factor in pairs)
    if len(found) == 1 and term.name == "TrueDiv" and factors[0] is not None:
        return Call("TrueDiv", (factors[0], term.arguments[1]))
    raise ValueError(term.name)


def rest_of(term: Term, is_factored: Callable[[Leaf], bool]) -> Term | None:
    """What is left of a sum of products if all leaves that have factors are 0; None for nothing."""
    if isinstance(term, Leaf) and is_factored(term):
        return None
    if not isinstance(term, Call):
        return term
    rests = [rest_of(part, is_factored) for part in term.arguments]
    if term.name in SUMS:
        return _sum(term.name, rests)
    return None if None in rests else Call(term.name, tuple(filter(None, rests)))


def _sum(name: str, parts: Sequence[Term | None]) -> Term | None:
    """A sum, a difference or a negative of parts, of which some may be none."""
    found = tuple(part for part in parts if part is not None)
    if name == "Sub" and found == tuple(parts[1:]):
        name = "Neg"
    return found[0] if len(found) == 1 and name != "Neg" else Call(name, found) if found else None


def _product(factors: Iterable[Term]) -> Term:
    """Several factors as one, without those that are 1."""
    flat: list[Term] = []
    for factor in factors:
        inner = isinstance(factor, Call) and factor.name == "Mul"
        flat += factor.arguments if inner and isinstance(factor, Call) else (factor,)
    flat = [factor for factor in flat if factor != ONE]
    return Call("Mul", tuple(flat)) if len(flat) > 1 else (flat or [ONE])[0]
