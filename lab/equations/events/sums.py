"""Split a write of a derivative into a sum of terms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events.records import Read, Term
from lab.equations.factors import factor_of, rest_of, without_names
from lab.equations.numbers import array_of
from lab.notation import Call, Expression, Leaf, Let, leaves_of, render, summands_of
from lab.notation import Term as Expr

# Rounding error of the sum of the terms, relative to the largest term.
CLOSE, CLOSE_SINGLE = 1e-9, 1e-4


@dataclass(frozen=True, eq=False)
class Split:
    """The summands of a formula, which are the same at all steps.

    A *source* is a leaf that is a gradient. `adds_old` is true if the old value of the slot is a
    summand. `factored` are the sources with their factors. `rest` is the sum of the summands
    without a source, and `others` are the summands with a source that has no factor.
    """

    adds_old: bool
    factored: tuple[tuple[Leaf, Expr], ...]
    rest: Expr | None
    others: tuple[Expression, ...]


def split(expression: Expression, old: Leaf | None, is_source: Callable[[Leaf], bool]) -> Split:
    """Return the `Split` of an expression that is linear in its sources.

    `old` is the leaf of the old value of the slot, or None if the step does not read the slot.
    """
    whole = without_names(expression)
    bindings = expression.bindings if isinstance(expression, Let) and whole is None else ()
    summands = list(summands_of(expression if whole is None else whole))
    adds_old = old is not None and old in summands
    if adds_old and old is not None:
        summands.remove(old)
    plain: list[Expr] = []
    others: list[Expression] = []
    for summand in summands:
        held = [leaf for leaf in leaves_of(summand) if is_source(leaf)]
        if not bindings and all(factor_of(summand, leaf) is not None for leaf in held):
            plain.append(summand)
        else:
            others.append(Let(bindings, summand) if bindings else summand)
    body = Call("Add", tuple(plain)) if len(plain) > 1 else plain[0] if plain else None
    pairs = [
        (leaf, factor)
        for leaf in leaves_of(body)
        if is_source(leaf) and body is not None and (factor := factor_of(body, leaf)) is not None
    ]
    rest = None if body is None else rest_of(body, is_source)
    return Split(adds_old, tuple(pairs), rest, tuple(others))


def terms_of(
    parts: Split,
    new: np.ndarray,
    old: np.ndarray | None,
    is_source: Callable[[Leaf], bool],
    read: Callable[[Leaf], Read | None],
) -> tuple[Term, ...]:
    """Return the terms of a written value `new` at a step; `read` returns the value of a leaf.

    All summands that NumPy cannot evaluate form one term. If the sum of the terms differs from
    `new`, for example because an operation is not elementwise, a single term replaces them.
    """
    rest = () if parts.rest is None else (parts.rest,)
    drafts = [_product(leaf, factor, read) for leaf, factor in parts.factored]
    drafts += [_summand(part, is_source, read) for part in (*rest, *parts.others)]
    start = old if parts.adds_old and old is not None else np.zeros_like(new)
    known = [t for t in drafts if t.value.shape == new.shape]
    unknown = [t for t in drafts if t.value.shape != new.shape]
    with np.errstate(all="ignore"):
        left = new - sum((term.value for term in known), start)
        size = max(np.max(np.abs(v), initial=0) for v in (new, start, *(t.value for t in known)))
    if unknown:
        return (*known, _merge(unknown, left))
    close = CLOSE if new.dtype == np.float64 else CLOSE_SINGLE
    if known and np.max(np.abs(left), initial=0) > close * size:  # the comparison is False for nan
        return (_merge(known, new - start),)
    return tuple(known)


UNKNOWN = np.empty((0,) * 9)  # no value has this shape


def _product(leaf: Leaf, factor: Expr, read: Callable[[Leaf], Read | None]) -> Term:
    """Return the product of a source and its factor as a term.

    The value of the term is UNKNOWN if the factor is unknown or its shape differs from the source.
    """
    source, used = read(leaf), reads_of(factor, read)
    number = _value(factor, read)
    product, symbols = render(Call("Mul", (leaf, factor)), _name(read)), render(factor, _name(read))
    if source is None or number is None or number.shape not in ((), source.value.shape):
        return Term(UNKNOWN, source, None, product, "", used)
    with np.errstate(all="ignore"):
        value = source.value * number
        return Term(value, source, number, product, symbols, used, factor)


def _summand(
    part: Expression, is_source: Callable[[Leaf], bool], read: Callable[[Leaf], Read | None]
) -> Term:
    """Return a summand as a term without a factor.

    If the summand contains a single gradient, this gradient is the source of the term.
    """
    sources = [read(leaf) for leaf in leaves_of(part) if is_source(leaf)]
    source = sources[0] if len(sources) == 1 else None
    used = tuple(r for r in reads_of(part, read) if r is not source)
    value = _value(part, read)
    known = UNKNOWN if value is None else value
    return Term(known, source, None, render(part, _name(read)), "", used, part)


def _merge(terms: Sequence[Term], value: np.ndarray) -> Term:
    """Merge terms into a single term with `value`.

    The source of the single term is the common source of all terms, or None.
    """
    sources = {term.source for term in terms}
    source = sources.pop() if len(sources) == 1 else None
    used = dict.fromkeys(r for t in terms for r in (t.source, *t.reads) if r and r is not source)
    return Term(value, source, None, " + ".join(term.text for term in terms), "", tuple(used))


def reads_of(part: Expression, read: Callable[[Leaf], Read | None]) -> tuple[Read, ...]:
    """Return the reads of the leaves of an expression, from left to right; skip unknown leaves."""
    return tuple(value for leaf in leaves_of(part) if (value := read(leaf)) is not None)


def _value(part: Expression, read: Callable[[Leaf], Read | None]) -> np.ndarray | None:
    return array_of(part, lambda leaf: None if (value := read(leaf)) is None else value.value)


def _name(read: Callable[[Leaf], Read | None]) -> Callable[[Leaf], str]:
    return lambda leaf: leaf.variable if (value := read(leaf)) is None else value.name
