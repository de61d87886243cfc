"""The tape of a loop variable, its slots at each step, and its reverse.

A loop variable is stored in a buffer.  From step to step, its taps move one slot forward: step
``s`` reads the slots at positions ``s + tap`` for every read tap, and writes the slots at
``s + tap`` for every write tap.  The kinds of variables of PyTensor's Scan differ only
in their taps::

    sequence  reads one tap          writes nothing
    nit-sot   reads nothing          writes 0
    sit-sot   reads -1               writes 0
    mit-sot   reads others below 0   writes 0
    mit-mot   reads several          writes several

The reverse of a tape is a tape.  Therefore derivatives of any order have tapes too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lab.errors import ArgumentError, argument_error, check_integer, check_sequence

FARTHEST = 1_000_000  # largest distance of a tap in steps; a state needs as many initial values


class Kind(StrEnum):
    """PyTensor's names for the kinds of loop variables."""

    SEQUENCE = "sequence"
    MIT_MOT = "mit-mot"
    MIT_SOT = "mit-sot"
    SIT_SOT = "sit-sot"
    NIT_SOT = "nit-sot"
    UNTRACED = "untraced"
    PARAMETER = "parameter"

    @property
    def is_state(self) -> bool:
        """Whether later steps read the values that a step writes to the buffer of the variable."""
        return self in (Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT)


def check_taps(taps: Iterable[int], argument: str) -> tuple[int, ...]:
    """Return `taps` as a tuple of distinct integers, or raise ArgumentError about `argument`."""
    listed = check_sequence(argument, taps, "several taps, as in (-1,)")
    taps = tuple(check_integer(f"{argument}: a tap", tap) for tap in listed)
    if any(abs(tap) > FARTHEST for tap in taps):
        reason = f"expected taps of at most {FARTHEST:,} steps; each needs an initial value."
        raise argument_error(argument, list(taps), reason)
    if len(set(taps)) < len(taps):
        raise argument_error(argument, list(taps), "expected each tap only once.")
    return taps


@dataclass(frozen=True)
class Tape:
    """The read taps and write taps of one loop variable, in the order of the step's arguments."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", check_taps(self.reads, "reads"))
        object.__setattr__(self, "writes", check_taps(self.writes, "writes"))
        if not self.reads and not self.writes:
            raise ArgumentError("reads = [], writes = []: expected at least one tap.")

    @property
    def kind(self) -> Kind:
        """PyTensor's name for this pattern of taps."""
        if not self.writes:
            return Kind.SEQUENCE
        if not self.reads:
            return Kind.NIT_SOT
        if self.writes == (0,) and max(self.reads) < 0:
            return Kind.SIT_SOT if self.reads == (-1,) else Kind.MIT_SOT
        return Kind.MIT_MOT

    @property
    def taps(self) -> tuple[int, ...]:
        """All taps in ascending order."""
        return tuple(sorted({*self.reads, *self.writes}))

    @property
    def origin(self) -> int:
        """The array row of position 0; row 0 belongs to the lowest read tap of step 0."""
        return -min(self.reads) if self.reads else 0

    @property
    def overwritten(self) -> tuple[int, ...]:
        """The taps that a step reads and then overwrites."""
        return tuple(tap for tap in self.reads if tap in self.writes)

    @property
    def preserved(self) -> tuple[int, ...]:
        """The taps that a step reads and does not write."""
        return tuple(tap for tap in self.reads if tap not in self.writes)

    def positions(self, step: int, taps: tuple[int, ...]) -> tuple[int, ...]:
        """Return the positions of `taps` at `step`."""
        return tuple(step + tap for tap in taps)

    def row(self, step: int, tap: int) -> int:
        """Return the array row of `tap` at `step`."""
        return self.origin + step + tap

    def rows(self, steps: int) -> int:
        """Return the number of rows that a loop of `steps` steps reads or writes."""
        return self.origin + steps + max(self.taps) if steps else self.origin

    def reverse(self) -> "Tape":
        """Return the tape of the gradient, whose loop runs through the steps in reverse.

        A step of this loop reads the gradients of the values that the original step wrote, and
        writes the gradients of the values that the original step read::

            backward reads  = the negated writes, then the negated reads not among them
            backward writes = the negated reads, then the negated taps `cleared`

        The gradient of a read slot accumulates: the step reads the gradient, adds a contribution,
        and writes the sum.  Therefore the negated reads are also read.  If a tap was both read and
        written, the slot finally contains the gradient of the replaced value.  Each slot of a
        sequence with one tap is read once, and therefore its gradient is only written.
        """
        cotangents = tuple(-tap for tap in self.writes)
        gradients = tuple(-tap for tap in self.reads)
        if self.kind is Kind.SEQUENCE and len(self.reads) == 1:
            return Tape((), gradients)
        more = tuple(tap for tap in gradients if tap not in cotangents)
        return Tape(cotangents + more, gradients + tuple(-tap for tap in self.cleared))

    @property
    def cleared(self) -> tuple[int, ...]:
        """The taps that a mit-mot writes without reading; it loses the old values in these slots.

        The backward step writes 0 at the negated taps.
        """
        unread = tuple(tap for tap in self.writes if tap not in self.reads)
        return unread if self.kind is Kind.MIT_MOT else ()

    def __str__(self) -> str:
        def taps(values: tuple[int, ...]) -> str:
            return ", ".join(map(str, values)) or "nothing"

        return f"reads {taps(self.reads)}; writes {taps(self.writes)}"


ONE_READ = Tape((0,), ())  # the tape of a sequence or a parameter
ONE_WRITE = Tape((), (0,))  # the tape of an output that no step reads
