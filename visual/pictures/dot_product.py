"""The dot-product test of a loop, step by step: ⟨g, J v⟩ and ⟨J* g, v⟩.

In the upper part, the forward derivative of the Scan computes a tangent for each step, and the
tangent is multiplied by the cotangent of the step. In the lower part, the pullback runs through the
steps backward, and each gradient is multiplied by its tangent. Gradients wrt initial values and
parameters are complete after the last step. The products differ, but both sums are equal.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from lab.checks.check import inner
from lab.equations.quantities import index_of
from lab.errors import KindError, argument_error
from lab.notation import value_symbol
from visual.layout.columns import Gap, requested_steps
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Key, Line, Row, Table, TablePart
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

if TYPE_CHECKING:  # pictures of loops do not import this module
    from lab.checks.dot_product import DotProduct

TITLES = (
    ("forward derivative", "Each step computes a tangent, which is multiplied by g."),
    ("pullback", "Each complete gradient is multiplied by its tangent v."),
)
WORDS = {
    Role.INTERMEDIATE: "tangent, gradient, or product of two",
    Role.INPUT: "tangent v",
    Role.SEED: "cotangent g",
    Role.RESULT: "gradient wrt an argument",
    Role.OVERWRITTEN: "sum of the products up to this row",
}


@picture_function
def dot_product(test: "DotProduct", step: int | None = None) -> Scene:
    """Draw a result of `lab.dot_product`: both derivatives of a loop, and their products.

    For a long loop, the picture shows the steps at both ends and next to `step`. The sums include
    the hidden steps. Raises KindError if `test` is not such a result.
    """
    if not hasattr(test, "products"):
        raise argument_error("test", test, "expected a result of lab.dot_product.", KindError)
    forward, backward = test.products
    name = test.backward.scans[0].name
    return table_scene(
        ProductTable(test),
        WORDS,
        requested=requested_steps(step, *test.backward.scans),
        title=f"The dot-product test of {name}",
        description=(
            f"⟨g, J v⟩ = {forward!r} by the forward derivative, ⟨J* g, v⟩ = {backward!r} by the "
            "pullback, with the products of every step."
        ),
    )


@dataclass(frozen=True, eq=False)
class Product:
    """The inner product of two quantities at the same `entries`, or of their only values."""

    quantities: tuple[str, str]
    values: tuple[np.ndarray, np.ndarray]
    entries: Sequence[int] = ()

    @property
    def value(self) -> float:
        """The real inner product."""
        return inner([self.values])

    @property
    def names(self) -> list[str]:
        """The names of both factors."""
        if self.entries[1:]:
            return [f"{q}[{self.entries[0]}…{self.entries[-1]}]" for q in self.quantities]
        return [value_symbol(q, next(iter(self.entries), None)) for q in self.quantities]

    def cells(self, roles: tuple[Role, Role]) -> Iterator[Cell]:
        """Yield a cell for each factor. A cell with several entries shows only the quantity."""
        factors = zip(roles, self.quantities, self.names, self.values, strict=True)
        for role, quantity, name, value in factors:
            label = quantity if self.entries[1:] else name
            yield Cell(role, name, value, key=f"dot:{name}", quantity=quantity, label=label)


Products = list[tuple[str, list[Product]]]  # the name of each row, and its products


def products_by_step(test: "DotProduct") -> tuple[Products, Products]:
    """Return the rows of products of the forward derivative, and of the pullback.

    Each step has a row with the products whose factors the step completes. The gradient wrt an
    entry of a sequence is complete after the pullback of the first step that reads the entry. Each
    row after the steps of the pullback contains one product, such as the product of a parameter.
    """
    scan, steps = test.forward.scans[0], len(test.tangent)
    state = next((tape for tape in scan.tapes if tape.name == test.of), None)
    first = state.tape.origin if state is not None else 0  # the index of the result of step 0
    pairs = enumerate(zip(test.cotangent, test.tangent, strict=True))
    names = "g", f"d{test.of}"
    forward = [(f"step {k}", [Product(names, pair, [first + k])]) for k, pair in pairs]
    backward = [(f"step {k}", list[Product]()) for k in range(steps)]
    for name, tangent in test.tangents.items():
        gradient, reads = test.gradients[name], dict[int, int]()  # entry: first step that reads it
        for sequence in (s for s in scan.sequences if s.axis.variable == name):
            for k, entry in enumerate(sequence.axis.index.tolist()):
                reads[entry] = min(k, reads.get(entry, k))
        entries: dict[int | None, list[int]] = {}  # by the first step that reads them, or None
        for entry in range(len(gradient)) if reads else ():
            entries.setdefault(reads.get(entry), []).append(entry)
        for step, some in (entries or {None: []}).items():
            pair = (gradient[some], tangent[some]) if some else (gradient, tangent)
            pair = (pair[0][0], pair[1][0]) if len(some) == 1 else pair
            product = Product((f"g{name}", f"d{name}"), pair, some)
            if step is None:
                backward.append(("at the end", [product]))
            else:
                backward[steps - 1 - step][1].append(product)
    return forward, backward


class ProductTable(Table):
    """A table with a row for each step of the forward derivative, then of the pullback.

    The rows of the pullback begin with the gradients that the step writes.
    """

    parts = (TablePart(narrow=48, wide=104, height=44),)

    def __init__(self, test: "DotProduct") -> None:
        self.test, self.scan, back = test, test.forward.scans[0], test.backward.scans[-1]
        self.products = products_by_step(test)
        # A pullback without a backward Scan has no tapes.
        self.tapes = [t for t in back.tapes if t.writes] if back.order > 0 else []
        most = max([1, *(len(products) for _, products in self.products[1])])
        forward = [(f"d{test.of}", "tangent J v"), ("g", "cotangent"), ("g · J v", "product")]
        backward = [(f"g{t.gradient_of}", "total" if t.is_total else "tape") for t in self.tapes]
        backward += [("J* g", "gradient"), ("v", "tangent")] * most
        columns = forward, [*backward, ("J* g · v", "product")]
        self.heads = [[*each, ("sum", "so far")] for each in columns]

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the shown rows of both derivatives, then both sums."""
        steps, name = len(self.test.tangent), self.test.backward.scans[0].name
        for n, ((title, line), products) in enumerate(zip(TITLES, self.products, strict=True)):
            totals = [*accumulate(sum(p.value for p in each) for _, each in products)]
            heads = {(0, column): head for column, head in enumerate(self.heads[n])}
            yield Row(title=f"{title} of {name}", about=[line])
            for item in [*fold.steps(self.scan), *range(steps, len(products))]:
                if isinstance(item, Gap):
                    yield Row(note=f"⋯ {item.hidden:,} steps are not shown; the sums include them")
                    continue
                row, each = products[item]
                cells = [*self._cells(each, totals[item], is_back=n == 1)]
                if n == 1 and item < steps:
                    cells += self._gradients(item)
                moment = n * steps + item, f"{title}, {row}"
                yield Row(row, [Line(cells, heads=heads)], moment=moment)
                heads = {}
        forward, backward = self.test.products
        distance = abs(forward - backward)
        relative = distance / max(abs(forward), abs(backward), np.finfo(float).tiny)
        both = f"⟨g, J v⟩ = {forward!r}, ⟨J* g, v⟩ = {backward!r}"
        difference = f"difference: {distance:.2g}, relative: {relative:.2g}"
        yield Row(title=both, about=[difference])

    def _gradients(self, step: int) -> Iterator[Cell]:
        """Yield the gradient that a pullback step writes at the smallest tap of each tape."""
        named = NamedScan(self.test.backward, len(self.test.backward.scans) - 1)
        for n, tape in enumerate(self.tapes):
            access = min(tape.writes, key=lambda access: access.tap)
            row = int(access.rows[step])
            quantity, so_far = f"g{tape.gradient_of}", " so far" * tape.is_total
            label = value_symbol(quantity, index_of(tape, row))
            key, value = named.row_key(tape, row), access.values[step]
            cell = Cell(Role.INTERMEDIATE, label + so_far, value, column=(0, n), key=key)
            yield replace(cell, quantity=quantity + so_far, label=label)

    def _cells(self, products: Sequence[Product], total: float, is_back: bool) -> Iterator[Cell]:
        """Yield the factors of the products, the sum of the products, and the total so far."""
        if not products:
            return
        roles = (Role.RESULT, Role.INPUT) if is_back else (Role.SEED, Role.INTERMEDIATE)
        factors = (cell for p in products for cell in [*p.cells(roles)][:: 1 if is_back else -1])
        for n, cell in enumerate(factors, is_back * len(self.tapes)):
            yield replace(cell, column=(0, n))
        formula = " + ".join(" · ".join(product.names) for product in products)
        sums = (
            (Role.INTERMEDIATE, formula, sum(product.value for product in products)),
            (Role.OVERWRITTEN, f"sum up to {products[-1].names[0]}", total),
        )
        for n, (role, name, number) in enumerate(sums, len(self.heads[is_back]) - len(sums)):
            yield Cell(role, name, np.asarray(number), column=(0, n), key=f"dot:{name}")
