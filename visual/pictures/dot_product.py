"""The dot-product test of a whole loop, step by step: ⟨g, J v⟩ beside ⟨J* g, v⟩.

On the left the forward derivative of the Scan makes one tangent a step, which meets the
cotangent of that step.  On the right the pullback goes through the steps backwards, and what
it makes of sequences meets their tangents; at its end stand the states' initial values and the
parameters.  No product on the left is one on the right, and both sums are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from lab.checks.check import inner
from lab.equations.quantities import index_of
from lab.errors import KindError, quoted
from lab.notation import indexed
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import CELL, HEIGHT, LABELS, MARGIN, Canvas
from visual.layout.cells import cell
from visual.layout.columns import Gap, shown_steps
from visual.layout.names import NamedScan
from visual.scene.shapes import Box, Scene, Text, shortened
from visual.scene.theme import Role

if TYPE_CHECKING:  # pictures of loops do not wait for it
    from lab.checks.dot_product import DotProduct


ROW, HEAD, APART, BETWEEN = HEIGHT + 14, 34, 60, 10
WORDS = {
    Role.INTERMEDIATE: "tangent, gradient, or the product of two",
    Role.INPUT: "tangent v",
    Role.SEED: "cotangent g",
    Role.RESULT: "gradient that is passed on",
    Role.OVERWRITTEN: "sum of the products so far, to which the next is added",
}


def dot_product(test: "DotProduct", theme: str = "light", around: int | None = None) -> Scene:
    """The picture of a `lab.dot_product`: both derivatives of a loop, and their products.

    Forward step k and backward step k are the group of step k.  Loops of more than 12 steps
    are folded, as for `tapes`; the sums count what is not shown.
    """
    if not hasattr(test, "products"):
        raise KindError(f"test = {quoted(test)}: expected what lab.dot_product found.")
    drawing = _Drawing(test)
    canvas = drawing.canvas
    canvas.heading(
        f"⟨g, J v⟩ = ⟨J* g, v⟩: both derivatives of {test.backward.scans[0].name}",
        [
            "left: its forward derivative makes tangents, step after step; each meets its g",
            "right: its pullback carries g back through the steps; what comes out meets v",
        ],
    )
    drawing.headers()
    for item in shown_steps(len(test.tangent), around):
        if isinstance(item, Gap):
            canvas.gap_row(item, "; the sums count them")
        else:
            start = len(canvas.shapes)
            drawing.row(item)
            canvas.group(start, item, f"step {item}")
    drawing.end()
    drawing.sums()
    return canvas.finished(
        WORDS,
        width=canvas.right + MARGIN,
        title=f"The dot-product test of {test.backward.scans[0].name}",
        description=(
            f"⟨g, J v⟩ = {test.products[0]!r} by the forward derivative, ⟨J* g, v⟩ = "
            f"{test.products[1]!r} by the pullback, with the products of every step."
        ),
        theme=theme,
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
                (indexed("g", first + k), test.cotangent[k]),
                (indexed(f"d{test.of}", first + k), test.tangent[k]),
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
        label, chosen = indexed(name, entries[0]), entries[0]
        return Product((f"g{label}", gradient[chosen]), (f"d{label}", tangent[chosen]))
    ends = f"{name}[{entries[0]}…{entries[-1]}]"
    rows = list(entries)
    return Product((f"g{ends}", gradient[rows]), (f"d{ends}", tangent[rows]))


class _Drawing:
    """The two halves, side by side, in rows that are the steps of both loops."""

    def __init__(self, test: "DotProduct") -> None:
        self.test, self.canvas, self.halves = test, Canvas(), halves(test)
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
        self.left = [LABELS + n * (CELL + BETWEEN) for n in range(len(self.moving) + 4)]
        start = self.left[-1] + CELL + APART
        columns = len(self.tapes) + 2 * self.meeting + 2
        self.right = [start + n * (CELL + BETWEEN) for n in range(columns)]
        self.canvas.right = self.right[-1] + CELL
        one = [sum(p.value for p in products) for products in self.halves.forward]
        two = [sum(p.value for p in products) for products in self.halves.backward]
        self.sums_ahead = list(accumulate(one, initial=0.0))[1:]
        self.sums_back = list(accumulate(two, initial=0.0))[1:]

    def headers(self) -> None:
        """What the columns hold."""
        canvas = self.canvas
        words = [("tangent", t.name) for t in self.moving]
        words += [("tangent J v", f"d{self.test.of}"), ("cotangent", "g")]
        words += [("product", "g · J v"), ("sum", "so far")]
        self._header(self.left, words)
        back = [
            (f"{'total' if t.is_total else 'tape'}, gradient", f"of {t.gradient_of}")
            for t in self.tapes
        ]
        back += [("gradient", "J* g"), ("tangent", "v")] * self.meeting
        back += [("product", "J* g · v"), ("sum", "so far")]
        self._header(self.right, back)
        canvas.y += HEAD

    def _header(self, lefts: Sequence[float], words: Sequence[tuple[str, str]]) -> None:
        for x, (kind, name) in zip(lefts, words, strict=True):
            self.canvas.header(x, self.canvas.y, kind, shortened(name, CELL, 10.5))

    def row(self, step: int) -> None:
        """Step `step` of the loop on the left, and of its pullback on the right."""
        canvas, halves = self.canvas, self.halves
        canvas.row_label(f"step {step}", canvas.y + HEIGHT / 2 + 4)
        *before, tangent, cotangent, product, total = self.left
        for x, tape in zip(before, self.moving, strict=True):
            self._written(x, tape, step, self.test.forward)
        (pair,) = halves.forward[step]
        self._cell(tangent, Role.INTERMEDIATE, *pair.right)
        self._cell(cotangent, Role.SEED, *pair.left)
        self._number(product, Role.INTERMEDIATE, _spelled(pair), pair.value)
        self._number(total, Role.OVERWRITTEN, f"sum up to step {step}", self.sums_ahead[step])
        for x, tape in zip(self.right, self.tapes, strict=False):
            self._written(x, tape, step, self.test.backward)
        self._meeting(halves.backward[step])
        if halves.backward[step]:
            words = f"sum up to step {step}"
            self._number(self.right[-1], Role.OVERWRITTEN, words, self.sums_back[step])
        canvas.y += ROW

    def end(self) -> None:
        """What meets after the last step: initial values and parameters."""
        total = self.sums_back[-1] if self.sums_back else 0.0
        for product in self.halves.end:
            if product is self.halves.end[0]:
                y = self.canvas.y + HEIGHT / 2 + 4
                self.canvas.add(Text(self.right[0] - 12, y, "at the end", 12, "end", muted=True))
            self._meeting([product])
            total += product.value
            self._number(self.right[-1], Role.OVERWRITTEN, "sum with the end", total)
            self.canvas.y += ROW

    def sums(self) -> None:
        """Both sums with all their digits."""
        canvas = self.canvas
        forward, backward = self.test.products
        canvas.y += 20
        canvas.text(MARGIN, f"⟨g, J v⟩ = {forward!r}", 14, bold=True)
        canvas.y += 22
        canvas.text(MARGIN, f"⟨J* g, v⟩ = {backward!r}", 14, bold=True)
        canvas.y += 20
        away = abs(forward - backward)
        relative = away / max(abs(forward), abs(backward), np.finfo(float).tiny)
        canvas.text(MARGIN, f"difference: {away:.2g}, relative: {relative:.2g}", 12, muted=True)
        canvas.y += 26

    def _meeting(self, products: Sequence[Product]) -> None:
        """Gradients, the tangents that they meet, and the sum of the products."""
        if not products:
            return
        place = len(self.tapes)
        for product in products:
            self._cell(self.right[place], Role.RESULT, *product.left)
            self._cell(self.right[place + 1], Role.INPUT, *product.right)
            place += 2
        names = " + ".join(map(_spelled, products))
        self._number(self.right[-2], Role.INTERMEDIATE, names, sum(p.value for p in products))

    def _written(self, x: float, tape: TapeTrace, step: int, trace: Trace) -> None:
        """What a step has written on a tape, at the slot that no later step adds to."""
        access = min(tape.writes, key=lambda access: access.tap)
        row = int(access.rows[step])
        index = index_of(tape, row)
        name = f"g{indexed(tape.gradient_of, index)}" if tape.gradient_of else ""
        name = name or indexed(tape.name, index)
        name = f"{name} so far" if tape.is_total else name
        key = NamedScan(trace, len(trace.scans) - 1).row_key(tape, row)
        forward = trace is self.test.forward
        self._cell(x, Role.INTERMEDIATE, name, access.values[step], "" if forward else key)

    def _number(self, x: float, role: Role, name: str, value: float) -> None:
        self._cell(x, role, name, np.asarray(value), labelled=False)

    def _cell(
        self,
        x: float,
        role: Role,
        name: str,
        value: np.ndarray,
        key: str = "",
        labelled: bool = True,
    ) -> None:
        box = Box(x, self.canvas.y, CELL, HEIGHT, role)
        label = name.partition("[")[0] if "…" in name else name  # of several entries
        label = label if labelled else ""
        key = key or f"dot:{name}"
        self.canvas.add(cell(box, np.asarray(value), name, None, None, key, label))


def _spelled(product: Product) -> str:
    """``g₁ · dx₁``, by names."""
    return f"{product.left[0]} · {product.right[0]}"
