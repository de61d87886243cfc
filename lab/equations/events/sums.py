"""Split a write of a derivative into a sum of terms."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events.records import Read, Term
from lab.equations.factors import factor_of, rest_of, sum_of, without_names
from lab.equations.numbers import array_of
from lab.notation import Call, Expression, Leaf, Let, body_of, leaves_of, summands_of
from lab.notation import Term as FormulaTerm
from lab.records import cached_property

Reader = Callable[[Leaf], Read | None]  # returns the value of a leaf at a step


@dataclass(frozen=True, eq=False)
class Summand:
    """A summand of a formula: `source` times `part`, or only `part` if `is_product` is false.

    A *source* is a leaf that is a gradient. If the summand is not a product, `source` is the only
    source in `part`, or None.
    """

    part: Expression
    source: Leaf | None
    is_product: bool

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of `part` other than the source."""
        return tuple(leaf for leaf in leaves_of(self.part) if leaf != self.source)


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
    factors = defaultdict[Leaf, list[FormulaTerm | None]](list)
    rests, others = list[FormulaTerm | None](), list[Expression]()
    for term in terms:
        known = {leaf: factor_of(term, leaf) for leaf in leaves_of(term) if is_source(leaf)}
        if bindings or None in known.values():  # bindings: too many names for a readable factor
            others.append(Let(bindings, term) if bindings else term)
            continue
        rests.append(rest_of(term, is_source))
        for leaf, factor in known.items():
            factors[leaf].append(factor)
    sums = ((leaf, sum_of("Add", parts)) for leaf, parts in factors.items())
    summands = [Summand(part, leaf, is_product=True) for leaf, part in sums if part]
    rest = sum_of("Add", rests)
    for part in others if rest is None else [rest, *others]:
        sources = [*filter(is_source, leaves_of(part))]
        source = sources[0] if len(sources) == 1 else None
        summands.append(Summand(part, source, is_product=False))
    return Split(adds_old, tuple(summands))


def terms_of(parts: Split, new: np.ndarray, old: np.ndarray | None, read: Reader) -> list[Term]:
    """Return the terms of a written value `new` at a step.

    All summands that NumPy cannot evaluate form one term. If the sum of the terms differs from
    `new`, for example because an operation is not elementwise, a single term replaces them.
    """
    drafts = [(summand, _term(summand, read, new.shape)) for summand in parts.summands]
    terms = [term for _, term in drafts if term is not None]
    unknown = [summand for summand, term in drafts if term is None]
    start = old if parts.adds_old and old is not None else np.zeros_like(new)
    values = [start, *(term.value for term in terms)]
    with np.errstate(all="ignore"):
        left = new - sum(values[1:], start)
    if unknown:
        return [*terms, _merge([_without_factor(each, left, read) for each in unknown], left)]
    if terms and np.max(np.abs(left), initial=0) > rounding_error(new, *values):  # False for nan
        return [_merge(terms, new - start)]
    return terms


def rounding_error(whole: np.ndarray, *terms: np.ndarray) -> float:
    """Return the tolerated rounding error of a sum: a fraction of the largest entry.

    The fractions are above the errors of a step, and below the four digits that we print.
    """
    is_single = any(value.dtype.char in "ef" for value in (whole, *terms))  # half, single
    size = max(np.max(np.abs(value), initial=0) for value in (whole, *terms))
    return (1e-5 if is_single else 1e-9) * float(size)


def _term(summand: Summand, read: Reader, shape: tuple[int, ...]) -> Term | None:
    """Return a summand as a term; None if NumPy cannot compute its value or the shape differs."""
    number = array_of(summand.part, lambda leaf: getattr(read(leaf), "value", None))
    source = None if summand.source is None else read(summand.source)
    if number is None:
        return None
    if not summand.is_product:
        return _without_factor(summand, number, read) if number.shape == shape else None
    if source is None or source.value.shape != shape or number.shape not in ((), shape):
        return None
    with np.errstate(all="ignore"):
        product, used = source.value * number, reads_of(summand.leaves, read)
    return Term(product, source, number, reads=used, expression=summand.part)


def _without_factor(summand: Summand, value: np.ndarray, read: Reader) -> Term:
    """Return a summand with the given value as a term whose expression contains the source."""
    leaf, whole = summand.source, summand.part
    if summand.is_product and leaf is not None:
        whole = Call("Mul", (leaf, body_of(whole)))
    source = None if leaf is None else read(leaf)
    return Term(value, source, reads=reads_of(summand.leaves, read), expression=whole)


def _merge(terms: Sequence[Term], value: np.ndarray) -> Term:
    """Merge terms into a single term with `value`.

    The source of the single term is the common source of all terms, or None.
    """
    sources = {term.source for term in terms}
    source = sources.pop() if len(sources) == 1 else None
    used = dict.fromkeys(r for t in terms for r in (t.source, *t.reads) if r and r is not source)
    label = " + ".join(term.text for term in terms)
    return Term(value, source, label=label, reads=tuple(used))


def reads_of(leaves: Iterable[Leaf], read: Reader) -> tuple[Read, ...]:
    """Return the reads of leaves at a step; skip unknown leaves."""
    return tuple(value for leaf in leaves if (value := read(leaf)) is not None)
