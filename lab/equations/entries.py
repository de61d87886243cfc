"""One entry of a formula of arrays, as a formula of numbers that a reader can work out.

    >>> Speller(Quantities(trace, 1)).entry(formula, step=0).written
    '0.1920 = 0.5·0.1269·(1 − 0.3269²) + … + 0.07704'

A product of matrices becomes its sum of products, everything else what it does to its entries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lab.equations.factors import without_names
from lab.equations.numbers import MOST, array_of
from lab.notation import Call, Expression, Leaf, Number, Term, calls_of

LONGEST_SUM = 8  # terms of a product of matrices
Index = tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """An entry of what a formula makes: its index, its formula, and the same in numbers.

    `parts` has the entry of an argument that each leaf of `term` stands for.
    """

    index: Index
    term: Term
    parts: Mapping[Leaf, tuple[Leaf, Index]]
    written: str = ""

    @property
    def label(self) -> str:
        """``entry [0, 1]``."""
        return f"entry {list(self.index)}"


def entry_of(
    expression: Expression, value: Callable[[Leaf], np.ndarray | None], index: Index
) -> Entry | None:
    """The formula of one entry; None where an operation does more than take some of its arguments.

    `value` has the arguments of the expression, None for what is no array.
    """
    body, parts = without_names(expression), dict[Leaf, tuple[Leaf, Index]]()

    def shape(term: Term) -> Index:
        found = array_of(term, value)
        if found is None:
            raise ValueError
        return found.shape

    def at(term: Term, index: Index) -> Term:
        if isinstance(term, Leaf):
            known = value(term)
            if known is None:
                raise ValueError
            known[index].item()  # one number
            name = f"{term.variable}{list(index)}" if index else term.variable
            leaf = Leaf(name, term.tap, term.argument)
            parts[leaf] = term, index
            return leaf
        if isinstance(term, Call):
            return call(term, index)
        if isinstance(term, Number):
            return term
        raise ValueError

    def call(term: Call, index: Index) -> Term:
        *first, last = term.arguments
        if term.name == "Dot":
            start = first[0] if len(first) == 1 else Call("Dot", tuple(first))
            rows, columns = index[: len(shape(start)) - 1], index[len(shape(start)) - 1 :]
            count = shape(last)[0]
            if not 0 < count <= LONGEST_SUM:
                raise ValueError
            pairs = ((at(start, (*rows, n)), at(last, (n, *columns))) for n in range(count))
            products = tuple(Call("Mul", pair) for pair in pairs)
            return products[0] if len(products) == 1 else Call("Add", products)
        if term.name == "outer":
            return Call("Mul", (at(first[0], index[:1]), at(last, index[1:])))
        if term.name == "transpose":
            return at(last, index[::-1])
        if shape(term) != np.broadcast_shapes(*map(shape, term.arguments)):
            raise ValueError
        whole = ((part, shape(part)) for part in term.arguments)
        return Call(term.name, tuple(at(part, _within(own, index)) for part, own in whole))

    if body is None or len(calls_of(body)) > MOST:
        return None
    try:
        return Entry(index, at(body, index), parts)
    except (ValueError, IndexError):
        return None


def _within(shape: Index, index: Index) -> Index:
    """The entry of an argument of this shape that goes into an entry of the whole."""
    own = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else place for length, place in zip(shape, own, strict=True))
