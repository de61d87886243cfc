"""Split a write of a derivative into a sum of terms."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events.records import Read, Term
from lab.equations.factors import factor_of, rest_of, sum_of, without_names
from lab.equations.numbers import array_of
from lab.notation import Call, Expression, Leaf, Let, body_of, leaves_of, summands_of
from lab.notation import Term as Expr

# Tolerated rounding error of the sum of the terms, relative to the largest term.
CLOSE, CLOSE_SINGLE = 1e-9, 1e-4


@dataclass(frozen=True, eq=False)
class Summand:
    """A summand of a formula: `source` times `part`, or only `part` if `is_product` is false.

    A *source* is a leaf that is a gradient. If the summand is not a product, `source` is the only
    source in `part`, or None. `leaves` are the other leaves of `part`.
    """

    part: Expression
    source: Leaf | None
    is_product: bool
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """The summands of a formula, which are the same at all steps.

    `adds_old` is true if the old value of the slot is another summand.
    """

    adds_old: bool
    summands: tuple[Summand, ...]


def split(expression: Expression, old: Leaf | None, is_source: Callable[[Leaf], bool]) -> Split:
    """Return the `Split` of an expression that is linear in its sources.

    The summands are the sources with their factors, the sum of the terms without a source, and each
    term with a source that has no factor. `old` is the leaf of the old value of the slot, or None
    if the step does not read the slot.
    """
    whole = without_names(expression)
    bindings = expression.bindings if isinstance(expression, Let) and whole is None else ()
    terms = list(summands_of(expression if whole is None else whole))
    adds_old = old is not None and old in terms
    if adds_old and old is not None:
        terms.remove(old)
    factors = defaultdict[Leaf, list[Expr | None]](list)
    rests, others = list[Expr | None](), list[Expression]()
    for term in terms:
        known = {leaf: factor_of(term, leaf) for leaf in leaves_of(term) if is_source(leaf)}
        if bindings or None in known.values():
            others.append(Let(bindings, term) if bindings else term)
            continue
        rests.append(rest_of(term, is_source))
        for leaf, factor in known.items():
            factors[leaf].append(factor)
    sums = ((leaf, sum_of("Add", parts)) for leaf, parts in factors.items())
    summands = [Summand(part, leaf, True, tuple(leaves_of(part))) for leaf, part in sums if part]
    rest = sum_of("Add", rests)
    for part in others if rest is None else [rest, *others]:
        leaves = leaves_of(part)
        sources = [*filter(is_source, leaves)]
        source = sources[0] if len(sources) == 1 else None
        used = tuple(leaf for leaf in leaves if leaf != source)
        summands.append(Summand(part, source, False, used))
    return Split(adds_old, tuple(summands))


def terms_of(
    parts: Split, new: np.ndarray, old: np.ndarray | None, read: Callable[[Leaf], Read | None]
) -> tuple[Term, ...]:
    """Return the terms of a written value `new` at a step; `read` returns the value of a leaf.

    All summands that NumPy cannot evaluate form one term. If the sum of the terms differs from
    `new`, for example because an operation is not elementwise, a single term replaces them.
    """
    drafts = [_term(summand, read) for summand in parts.summands]
    start = old if parts.adds_old and old is not None else np.zeros_like(new)
    known = [t for t in drafts if t.value.shape == new.shape]
    unknown = [t for t in drafts if t.value.shape != new.shape]
    with np.errstate(all="ignore"):
        left = new - sum((term.value for term in known), start)
        size = np.max(np.abs([new, start, *(term.value for term in known)]), initial=0)
    if unknown:
        return (*known, _merge(unknown, left))
    close = CLOSE if new.dtype == np.float64 else CLOSE_SINGLE
    if known and np.max(np.abs(left), initial=0) > close * size:  # the comparison is False for nan
        return (_merge(known, new - start),)
    return tuple(known)


UNKNOWN = np.empty((0,) * 9)  # no value has this shape


def _term(summand: Summand, read: Callable[[Leaf], Read | None]) -> Term:
    """Return a summand as a term.

    The value of the term is UNKNOWN if it cannot be computed, or if the shapes of the source and of
    its factor differ.
    """

    def value(leaf: Leaf) -> np.ndarray | None:
        return None if (found := read(leaf)) is None else found.value

    leaf, part, used = summand.source, summand.part, reads_of(summand.leaves, read)
    source, number = None if leaf is None else read(leaf), array_of(part, value)
    if not summand.is_product or leaf is None:
        known = UNKNOWN if number is None else number
        return Term(known, source, reads=used, expression=part)
    if source is None or number is None or number.shape not in ((), source.value.shape):
        product = Call("Mul", (leaf, body_of(part)))
        return Term(UNKNOWN, source, reads=used, expression=product)
    with np.errstate(all="ignore"):
        return Term(source.value * number, source, number, reads=used, expression=part)


def _merge(terms: Sequence[Term], value: np.ndarray) -> Term:
    """Merge terms into a single term with `value`.

    The source of the single term is the common source of all terms, or None.
    """
    sources = {term.source for term in terms}
    source = sources.pop() if len(sources) == 1 else None
    used = dict.fromkeys(r for t in terms for r in (t.source, *t.reads) if r and r is not source)
    label = " + ".join(term.text for term in terms)
    return Term(value, source, label=label, reads=tuple(used))


def reads_of(leaves: Iterable[Leaf], read: Callable[[Leaf], Read | None]) -> tuple[Read, ...]:
    """Return the reads of leaves at a step; skip unknown leaves."""
    return tuple(value for leaf in leaves if (value := read(leaf)) is not None)
