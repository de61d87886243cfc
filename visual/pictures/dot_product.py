"""The dot-product test of a loop, step by step: ⟨g, J v⟩ and ⟨J* g, v⟩.

In the upper part, the forward derivative of the Scan computes a tangent for each step, and the
tangent is multiplied by the cotangent of the step. In the lower part, the pullback runs through the
steps backward, and each gradient is multiplied by its tangent. Gradients wrt initial values and
parameters are complete after the last step. The products differ, but both sums are equal.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from lab.checks.check import inner
from lab.equations.quantities import index_of
from lab.errors import KindError, argument_error
from lab.notation import value_symbol
from lab.traces.trace import SequenceTrace
from visual.layout.columns import Gap, one_or_more
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TableHeading, TablePart
from visual.scene.shapes import Group, Scene, picture_function
from visual.scene.theme import Role

if TYPE_CHECKING:  # pictures of loops do not import this module
    from lab.checks.dot_product import DotProduct

WORDS = {
    Role.INTERMEDIATE: "tangent, gradient, or product of two",
    Role.INPUT: "tangent v",
    Role.SEED: "cotangent g",
    Role.RESULT: "gradient wrt an argument",
    Role.OVERWRITTEN: "sum of the products up to this row",
}
Column = tuple[Key, Cell]


@picture_function
def dot_product(test: "DotProduct", step: int | None = None) -> Scene:
    """Draw a result of `lab.dot_product`: both derivatives of a loop, and their products.

    Like `tapes`, the picture of a long loop shows both ends and the steps next to `step`. The sums
    include the hidden steps. Raises KindError for other objects.
    """
    if not hasattr(test, "products"):
        raise argument_error("test", test, "expected a result of lab.dot_product.", KindError)
    forward, backward = test.products
    name = test.backward.scans[0].name
    return table_scene(
        Products(test),
        WORDS,
        requested=one_or_more("step", step),
        title=f"The dot-product test of {name}",
        description=(
            f"⟨g, J v⟩ = {forward!r} by the forward derivative, ⟨J* g, v⟩ = {backward!r} by the "
            "pullback, with the products of every step."
        ),
    )


@dataclass(frozen=True, eq=False)
class Product:
    """Two numbers or arrays with their names. `value` is their inner product."""

    left: tuple[str, np.ndarray]
    right: tuple[str, np.ndarray]

    @property
    def value(self) -> float:
        """The real inner product."""
        return inner([(self.left[1], self.right[1])])

    def __str__(self) -> str:
        return f"{self.left[0]} · {self.right[0]}"


@dataclass(frozen=True, eq=False)
class StepProducts:
    """The products of the steps of both derivatives, and the products after the pullback, `end`."""

    forward: tuple[Product, ...]
    backward: tuple[tuple[Product, ...], ...]
    end: tuple[Product, ...]


def products_by_step(test: "DotProduct") -> StepProducts:
    """Return the products of a dot-product test by the step that completes their factors.

    ``forward[k]`` is the product of step k, and ``backward[k]`` contains the products of step k of
    the pullback. The gradient wrt an entry of a sequence is complete after the pullback of the
    first step that reads the entry.
    """
    scan, steps = test.forward.scans[0], len(test.tangent)
    state = next((tape for tape in scan.tapes if tape.name == test.of), None)
    first = state.tape.origin if state is not None else 0  # the index of the result of step 0
    forward = tuple(
        Product(
            (value_symbol("g", first + k), test.cotangent[k]),
            (value_symbol(f"d{test.of}", first + k), test.tangent[k]),
        )
        for k in range(steps)
    )
    by_step: dict[int, list[Product]] = {}
    end: list[Product] = []
    for name, tangent in test.tangents.items():
        gradient, entries = test.gradients[name], _first_reads(scan.sequences, name)
        if not entries:
            end.append(Product((f"g{name}", gradient), (f"d{name}", tangent)))
            continue
        for step in set(entries.values()):
            rows = sorted(entry for entry, first in entries.items() if first == step)
            by_step.setdefault(steps - 1 - step, []).append(_part(name, gradient, tangent, rows))
        rest = [entry for entry in range(len(gradient)) if entry not in entries]
        if rest:
            end.append(_part(name, gradient, tangent, rest))
    backward = tuple(tuple(by_step.get(k, ())) for k in range(steps))
    return StepProducts(forward, backward, tuple(end))


def _first_reads(sequences: Sequence[SequenceTrace], name: str) -> dict[int, int]:
    """Return, for each entry of a sequence that a step reads, the first of these steps."""
    indices = [s.axis.index.tolist() for s in sequences if s.axis.variable == name]
    reads = sorted((step, entry) for index in indices for step, entry in enumerate(index))
    return {entry: step for step, entry in reversed(reads)}


def _part(name: str, gradient: np.ndarray, tangent: np.ndarray, entries: list[int]) -> Product:
    """Return the product of the gradient and the tangent of these `entries` of a sequence."""
    label, index = f"{name}[{entries[0]}…{entries[-1]}]", np.array(entries)
    if len(entries) == 1:
        label, index = value_symbol(name, entries[0]), index[0]
    return Product((f"g{label}", gradient[index]), (f"d{label}", tangent[index]))


class Products(Table):
    """A table with a row for each step of the forward derivative, then of the pullback."""

    parts = (TablePart(narrow=48, wide=104, height=44),)

    def __init__(self, test: "DotProduct") -> None:
        self.test, self.by_step, self.steps = test, products_by_step(test), len(test.tangent)
        self.ahead, self.back = test.forward.scans[0], test.backward.scans[-1]
        names = {f"d{tape.name}" for tape in self.ahead.held} - {f"d{test.of}"}
        self.moving = [tape for tape in self.ahead.held if tape.name in names]
        # A pullback without a backward Scan has no tapes.
        self.tapes = [t for t in self.back.tapes if t.writes] if self.back.order > 0 else []
        self.most = max([1, *map(len, self.by_step.backward)])

    def _heads(self, is_back: bool) -> dict[Key, Head]:
        """Return the names above the columns of the forward derivative or of the pullback."""
        heads = [Head(tape.name, "tangent") for tape in self.moving]
        heads += [Head(f"d{self.test.of}", "tangent J v"), Head("g", "cotangent")]
        last = "g · J v"
        if is_back:
            kinds = (("total" if tape.is_total else "tape", tape) for tape in self.tapes)
            heads = [Head(f"g{tape.gradient_of}", kind) for kind, tape in kinds]
            heads += [Head("J* g", "gradient"), Head("v", "tangent")] * self.most
            last = "J* g · v"
        heads += [Head(last, "product"), Head("sum", "so far")]
        return {(0, n): head for n, head in enumerate(heads)}

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns of both derivatives."""
        return ({*self._heads(False), *self._heads(True)},)

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the shown steps of both derivatives, and the products at the end."""
        forward: list[Sequence[Product]] = [[product] for product in self.by_step.forward]
        products = (forward, [*self.by_step.backward])
        titles = (
            ("forward derivative", "Each step computes a tangent, which is multiplied by g."),
            ("pullback", "Each gradient is multiplied by its tangent v when it is complete."),
        )
        name = self.test.backward.scans[0].name
        for is_back, (title, line) in zip((False, True), titles, strict=True):
            sums = [*accumulate(sum(p.value for p in each) for each in products[is_back])]
            heads = self._heads(is_back)
            yield Row(heading=TableHeading(f"{title} of {name}", [line]))
            for item in fold.steps(self.ahead):
                if isinstance(item, Gap):
                    yield Row(note=f"⋯ {item.hidden:,} steps are not shown; the sums include them")
                    continue
                cells, done = [*self._tape_cells(is_back, item)], products[is_back][item]
                cells += self._products(is_back, done, sums[item], f"step {item}")
                group = Group((), self.steps * is_back + item, moment=f"{title}, step {item}")
                yield Row(f"step {item}", [Line(cells, heads=heads)], moment=group)
                heads = {}
        total = sums[-1] if sums else 0.0
        for product in self.by_step.end:
            total += product.value
            cells = [*self._products(True, [product], total, product.left[0])]
            yield Row("at the end", [Line(cells, heads=heads)])
            heads = {}
        yield Row(heading=self._sums())

    def _sums(self) -> TableHeading:
        """Return a heading with both inner products and their difference."""
        forward, backward = self.test.products
        distance = abs(forward - backward)
        relative = distance / max(abs(forward), abs(backward), np.finfo(float).tiny)
        difference = f"difference: {distance:.2g}, relative: {relative:.2g}"
        return TableHeading(f"⟨g, J v⟩ = {forward!r}, ⟨J* g, v⟩ = {backward!r}", [difference])

    def _tape_cells(self, is_back: bool, step: int) -> Iterator[Column]:
        """Yield for each tape the value that the step writes at the least tap."""
        trace = self.test.backward if is_back else self.test.forward
        named = NamedScan(trace, len(trace.scans) - 1)
        for n, tape in enumerate(self.tapes if is_back else self.moving):
            access = min(tape.writes, key=lambda access: access.tap)
            row = int(access.rows[step])
            variable = f"g{tape.gradient_of}" if tape.gradient_of else tape.name
            label = value_symbol(variable, index_of(tape, row))
            name = f"{label} so far" if tape.is_total else label
            key = named.row_key(tape, row) if is_back else ""
            yield (0, n), _cell(Role.INTERMEDIATE, name, access.values[step], key, label)

    def _products(
        self, is_back: bool, products: Sequence[Product], total: float, row: str
    ) -> Iterator[Column]:
        """Yield the factors of the products, the sum of the products, and the total so far."""
        if not products:
            return
        first, end = len(self.tapes if is_back else self.moving), len(self._heads(is_back))
        roles = (Role.RESULT, Role.INPUT) if is_back else (Role.SEED, Role.INTERMEDIATE)
        for n, product in enumerate(products):
            cells = [_cell(roles[0], *product.left), _cell(roles[1], *product.right)]
            for m, cell in enumerate(cells if is_back else reversed(cells)):
                yield (0, first + 2 * n + m), cell
        value = sum(product.value for product in products)
        names = " + ".join(map(str, products))
        yield (0, end - 2), _cell(Role.INTERMEDIATE, names, value, label="")
        yield (0, end - 1), _cell(Role.OVERWRITTEN, f"sum up to {row}", total, label="")


def _cell(role: Role, name: str, value: object, key: str = "", label: str | None = None) -> Cell:
    short = name.partition("[")[0] if "…" in name else name  # a name of several entries has "…"
    label = short if label is None else label
    return Cell(role, name, np.asarray(value), key=key or f"dot:{name}", label=label)
