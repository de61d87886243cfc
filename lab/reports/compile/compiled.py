"""The record of a graph before and after PyTensor's rewrites: what became of its Scans."""

from dataclasses import dataclass, field
from enum import StrEnum

from lab.reports.compile.buffers import Buffer, Rows
from lab.reports.compile.rewriting import Rewriting


class Fate(StrEnum):
    """What became of a Scan."""

    KEPT = "kept"
    CHANGED = "kept, and changed"
    MERGED = "merged with others into one"
    REPLACED = "no Scan any more"
    REMOVED = "removed: nobody needs its results"


@dataclass(frozen=True)
class Change:
    """A rewrite that touched a Scan; `moved` are the operations that its step lost by it."""

    rewrite: str
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScanBefore:
    """A Scan of the graph that was handed over, and what became of it.

    `into` are the numbers of the Scans in which it lives on, and `instead` the operations that
    do its work where there are none.
    """

    number: int
    name: str
    steps: Rows
    fate: Fate
    into: tuple[int, ...] = ()
    instead: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class ScanAfter:
    """A Scan that is left; `sources` are the numbers of those that it was made of."""

    number: int
    name: str
    steps: Rows
    sources: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    in_place: bool
    stops_early: bool

    def __str__(self) -> str:
        from lab.reports.compile.text import scan_page  # which reads this module's records

        return scan_page(self)


@dataclass(frozen=True)
class Compiled:
    """The Scans of a graph before and after rewriting.

    `before` is empty for a function that was compiled already, which does not remember.  `alone`
    is the same without the gradient, where there is one.  `linker` and `version` tell who
    rewrote: the rewrites of Numba's linker are not those of C's.
    """

    outputs: tuple[str, ...]
    wrt: str
    linker: str
    version: str
    before: tuple[ScanBefore, ...]
    after: tuple[ScanAfter, ...]
    alone: "Compiled | None" = None
    rewriting: Rewriting | None = field(default=None, repr=False, compare=False)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of all Scans that are left."""
        return tuple(found for scan in self.after for found in scan.buffers)

    @property
    def shortened(self) -> tuple[Buffer, ...]:
        """Those that have fewer rows than their loop writes."""
        return tuple(found for found in self.buffers if found.is_shortened)

    def __str__(self) -> str:
        from lab.reports.compile.text import page  # which reads this module's records

        return page(self)
