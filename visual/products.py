"""Who meets whom in the dot-product test of a loop: the products of every step, and their sums."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.check import inner
from lab.trace import SequenceTrace
from visual.names import indexed

if TYPE_CHECKING:  # pictures of loops do not wait for it
    from lab.adjoint import DotProduct


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
    for step, entry in sorted(_reads(sequences, name)):
        first.setdefault(entry, step)
    found: dict[int, list[int]] = {}
    for entry, step in sorted(first.items()):
        found.setdefault(step, []).append(entry)
    return found


def _reads(sequences: Sequence[SequenceTrace], name: str) -> Iterator[tuple[int, int]]:
    for sequence in sequences:
        if sequence.axis.variable == name:
            yield from enumerate(sequence.axis.index.tolist())


def _part(name: str, gradient: np.ndarray, tangent: np.ndarray, entries: Sequence[int]) -> Product:
    """Some entries of a sequence with theirs; a single one as itself."""
    if len(entries) == 1:
        label, chosen = indexed(name, entries[0]), entries[0]
        return Product((f"g{label}", gradient[chosen]), (f"d{label}", tangent[chosen]))
    ends = f"{name}[{entries[0]}…{entries[-1]}]"
    rows = list(entries)
    return Product((f"g{ends}", gradient[rows]), (f"d{ends}", tangent[rows]))
