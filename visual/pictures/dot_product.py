"""The dot-product test of a whole loop, step by step: ⟨g, J v⟩ beside ⟨J* g, v⟩.

On the left the forward derivative of the Scan makes one tangent a step, which meets the
cotangent of that step.  On the right the pullback goes through the steps backwards, and what
it makes of sequences meets their tangents; at its end stand the states' initial values and the
parameters.  No product on the left is one on the right, and both sums are the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from lab.checks.check import inner
from lab.equations.quantities import index_of
from lab.errors import KindError, quote
from lab.notation import value_symbol
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import CELL, HEIGHT, column_header, finished, heading
from visual.layout.cells import cell
from visual.layout.columns import Gap, shown_steps
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN
from visual.scene.combinators import Piece, above, grouped, sized, words
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, picture_function, shortened
from visual.scene.theme import Role

if TYPE_CHECKING:  # pictures of loops do not wait for it
    from lab.checks.dot_product import DotProduct


ROW, HEAD, APART, BETWEEN = HEIGHT + 14, 34, 24, 8
START, LABEL = 66, 54  # where the left half begins, and names of rows end
NARROWEST = 60  # of a cell: of many tapes the picture is wider
WORDS = {
    Role.INTERMEDIATE: "tangent, gradient, or the product of two",
    Role.INPUT: "tangent v",
    Role.SEED: "cotangent g",
    Role.RESULT: "gradient of an argument",
    Role.OVERWRITTEN: "sum of the products so far, to which the next is added",
}


@picture_function
def dot_product(test: "DotProduct", step: int | None = None) -> Scene:
    """The picture of a `lab.dot_product`: both derivatives of a loop, and their products.

    Forward step k and backward step k are the group of step k.  Loops of more than 12 steps
    are folded, as for `tapes`; the sums count what is not shown.
    """
    if not hasattr(test, "products"):
        raise KindError(f"test = {quote(test)}: expected what lab.dot_product found.")
    forward, backward = test.products
    away = abs(forward - backward)
    relative = away / max(abs(forward), abs(backward), np.finfo(float).tiny)
    name = test.backward.scans[0].name
    head = heading(
        f"⟨g, J v⟩ = ⟨J* g, v⟩: both derivatives of {name}",
        [
            "left: its forward derivative makes tangents, step after step; each meets its g",
            "right: its pullback carries g back through the steps; what comes out meets v",
        ],
    )
    sums = above(
        words(f"⟨g, J v⟩ = {forward!r}", 14, bold=True),
        words(f"⟨J* g, v⟩ = {backward!r}", 14, bold=True),
        words(f"difference: {away:.2g}, relative: {relative:.2g}", 12, muted=True),
        apart=4,
    )
    return finished(
        above(head, above(*_Rows(test).all(step)), sums, apart=6),
        WORDS,
        title=f"The dot-product test of {name}",
        description=(
            f"⟨g, J v⟩ = {forward!r} by the forward derivative, ⟨J* g, v⟩ = {backward!r} by the "
            "pullback, with the products of every step."
        ),
    )


@dataclass(frozen=True, eq=False)
class Product:
    """Two numbers or arrays that meet, by their names, and their inner product."""

    left: tuple[str, np.ndarray]
    right: tuple[str, np.ndarray]

    @property
    def value(self) -> float:
        """The real inner product."""
        return inner([(self.left[1], self.right[1])])


@dataclass(frozen=True, eq=False)
class Halves:
    """Who meets whom: at every step of the loop, forwards and backwards, and at the end."""

    forward: tuple[tuple[Product, ...], ...]
    backward: tuple[tuple[Product, ...], ...]
    end: tuple[Product, ...]


def halves(test: "DotProduct") -> Halves:
    """The products of a dot-product test, by the steps in which they are made.

    ``forward[k]`` belongs to step k.  ``backward[k]`` to step k of the pullback: the gradient
    of an entry of a sequence is complete when the last step that looks at it, which is the
    first that read it, has been gone back through.
    """
    scan, steps = test.forward.scans[0], len(test.tangent)
    held = next((t for t in scan.tapes if t.name == test.of), None)
    first = held.tape.origin if held is not None else 0  # the index of what step 0 computes
    forward = tuple(
        (
            Product(
                (value_symbol("g", first + k), test.cotangent[k]),
                (value_symbol(f"d{test.of}", first + k), test.tangent[k]),
            ),
        )
        for k in range(steps)
    )
    when: dict[int, list[Product]] = {}
    end: list[Product] = []
    for name, tangent in test.tangents.items():
        gradient, rows = test.gradients[name], _first_reads(scan.sequences, name)
        if not rows:
            end.append(Product((f"g{name}", gradient), (f"d{name}", tangent)))
            continue
        for step, entries in rows.items():
            when.setdefault(steps - 1 - step, []).append(_part(name, gradient, tangent, entries))
        read = {entry for entries in rows.values() for entry in entries}
        rest = [entry for entry in range(len(gradient)) if entry not in read]
        if rest:
            end.append(_part(name, gradient, tangent, rest))
    backward = tuple(tuple(when.get(k, ())) for k in range(steps))
    return Halves(forward, backward, tuple(end))


def _first_reads(sequences: Sequence[SequenceTrace], name: str) -> dict[int, list[int]]:
    """For every step of the loop the entries of a sequence that it is the first to read."""
    first: dict[int, int] = {}
    for sequence in sequences:
        for step, entry in enumerate(sequence.axis.index.tolist()):
            if sequence.axis.variable == name:
                first[entry] = min(step, first.get(entry, step))
    entries: dict[int, list[int]] = {}
    for entry, step in sorted(first.items()):
        entries.setdefault(step, []).append(entry)
    return entries


def _part(name: str, gradient: np.ndarray, tangent: np.ndarray, entries: Sequence[int]) -> Product:
    """Some entries of a sequence with theirs; a single one as itself."""
    if len(entries) == 1:
        label, chosen = value_symbol(name, entries[0]), entries[0]
        return Product((f"g{label}", gradient[chosen]), (f"d{label}", tangent[chosen]))
    ends = f"{name}[{entries[0]}…{entries[-1]}]"
    rows = list(entries)
    return Product((f"g{ends}", gradient[rows]), (f"d{ends}", tangent[rows]))


class _Rows:
    """The two halves, side by side, in rows that are the steps of both loops."""

    def __init__(self, test: "DotProduct") -> None:
        self.test, self.halves = test, halves(test)
        self.ahead, self.back = test.forward.scans[0], test.backward.scans[-1]
        known = {tape.name for tape in self.ahead.held}
        own = f"d{test.of}"
        self.moving = [
            tape
            for tape in self.ahead.held
            if tape.name != own and tape.name[:1] == "d" and tape.name[1:] in known
        ]
        # without anything to go back through, there is no Scan that does it
        going_back = self.back.order > 0
        self.tapes = [t for t in self.back.tapes if t.writes] if going_back else []
        self.meeting = max([1, *map(len, self.halves.backward)])
        ahead, columns = len(self.moving) + 4, len(self.tapes) + 2 * self.meeting + 2
        room = (SCREEN.line - START - APART) / (ahead + columns) - BETWEEN
        self.wide = max(min(CELL, room), NARROWEST)
        self.left = [START + n * (self.wide + BETWEEN) for n in range(ahead)]
        start = self.left[-1] + self.wide + APART
        self.right = [start + n * (self.wide + BETWEEN) for n in range(columns)]
        self.sums_ahead, self.sums_back = (
            [*accumulate(sum(p.value for p in products) for products in half)]
            for half in (self.halves.forward, self.halves.backward)
        )

    def all(self, step: int | None) -> Iterator[Piece]:
        """What the columns hold, the steps, and what meets after the last one."""
        yield self._row(HEAD, self._heads())
        for item in shown_steps(len(self.test.tangent), step):
            if isinstance(item, Gap):
                told = f"⋯ {item.hidden:,} steps are not shown; the sums count them"
                yield self._row(36, [Text(START, 14, told, 12, muted=True)])
            else:
                group = Group((), item, moment=f"step {item}")
                yield grouped(self._row(ROW, self._step(item)), group)
        total = self.sums_back[-1] if self.sums_back else 0.0
        for number, product in enumerate(self.halves.end):
            total += product.value
            yield self._row(ROW, self._end(product, total, is_first=not number))

    def _row(self, high: float, shapes: Iterable[Shape]) -> Piece:
        return sized(self.right[-1] + self.wide, high, *shapes)

    def _heads(self) -> Iterator[Text]:
        heads = [("tangent", t.name) for t in self.moving]
        heads += [("tangent J v", f"d{self.test.of}"), ("cotangent", "g")]
        heads += [("product", "g · J v"), ("sum", "so far")]
        heads += [("total" if t.is_total else "tape", f"g{t.gradient_of}") for t in self.tapes]
        heads += [("gradient", "J* g"), ("tangent", "v")] * self.meeting
        heads += [("product", "J* g · v"), ("sum", "so far")]
        for x, (kind, name) in zip((*self.left, *self.right), heads, strict=True):
            yield from column_header(x, 0, kind, shortened(name, self.wide, 11), self.wide, BETWEEN)

    def _step(self, step: int) -> Iterator[Shape]:
        """Step `step` of the loop on the left, and of its pullback on the right."""
        yield fitted(LABEL, HEIGHT / 2 + 4, f"step {step}", LABEL, 13, "end", bold=True)
        *before, tangent, cotangent, product, total = self.left
        for x, tape in zip(before, self.moving, strict=True):
            yield self._written(x, tape, step, self.test.forward)
        (pair,) = self.halves.forward[step]
        yield self._cell(tangent, Role.INTERMEDIATE, *pair.right)
        yield self._cell(cotangent, Role.SEED, *pair.left)
        yield self._number(product, Role.INTERMEDIATE, _spelled(pair), pair.value)
        so_far = f"sum up to step {step}"
        yield self._number(total, Role.OVERWRITTEN, so_far, self.sums_ahead[step])
        for x, tape in zip(self.right, self.tapes, strict=False):
            yield self._written(x, tape, step, self.test.backward)
        if self.halves.backward[step]:
            yield from self._meeting(self.halves.backward[step])
            yield self._number(self.right[-1], Role.OVERWRITTEN, so_far, self.sums_back[step])

    def _end(self, product: Product, total: float, is_first: bool) -> Iterator[Shape]:
        """What meets after the last step: initial values and parameters."""
        if is_first:
            y = HEIGHT / 2 + 4
            yield Text(self.right[0] - 12, y, "at the end", 12, "end", muted=True)
        yield from self._meeting([product])
        yield self._number(self.right[-1], Role.OVERWRITTEN, "sum with the end", total)

    def _meeting(self, products: Sequence[Product]) -> Iterator[Shape]:
        """Gradients, the tangents that they meet, and the sum of the products."""
        for place, product in enumerate(products):
            left, right = self.right[len(self.tapes) + 2 * place :][:2]
            yield self._cell(left, Role.RESULT, *product.left)
            yield self._cell(right, Role.INPUT, *product.right)
        names = " + ".join(map(_spelled, products))
        yield self._number(self.right[-2], Role.INTERMEDIATE, names, sum(p.value for p in products))

    def _written(self, x: float, tape: TapeTrace, step: int, trace: Trace) -> Group:
        """What a step has written on a tape, at the slot that no later step adds to."""
        access = min(tape.writes, key=lambda access: access.tap)
        row = int(access.rows[step])
        index = index_of(tape, row)
        name = f"g{value_symbol(tape.gradient_of, index)}" if tape.gradient_of else ""
        name = name or value_symbol(tape.name, index)
        name = f"{name} so far" if tape.is_total else name
        key = NamedScan(trace, len(trace.scans) - 1).row_key(tape, row)
        forward = trace is self.test.forward
        return self._cell(x, Role.INTERMEDIATE, name, access.values[step], "" if forward else key)

    def _number(self, x: float, role: Role, name: str, value: float) -> Group:
        box = Box(x, 0, self.wide, HEIGHT, role)
        return cell(box, np.asarray(value), name, key=f"dot:{name}")

    def _cell(self, x: float, role: Role, name: str, value: np.ndarray, key: str = "") -> Group:
        label = name.partition("[")[0] if "…" in name else name  # of several entries
        box = Box(x, 0, self.wide, HEIGHT, role)
        return cell(box, np.asarray(value), name, key=key or f"dot:{name}", label=label)


def _spelled(product: Product) -> str:
    """``g₁ · dx₁``, by names."""
    return f"{product.left[0]} · {product.right[0]}"
