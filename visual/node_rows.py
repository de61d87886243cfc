"""Where the nodes of a recording stand: rows by time, columns by the priority of their tapes.

A row holds one node, or several that one operation made: a node of an inner tape stands beside
the node of the outer tape that is its value.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lab.eager.records import Recording
from lab.errors import ArgumentError
from visual.columns import Gap, with_gaps

MOST_ROWS, ENDS, NEAR = 26, 4, 2
MOST_SLIPS, FIRST_SLIPS = 5, 3


@dataclass(frozen=True)
class Hidden:
    """Nodes that are not shown, from the first to the last."""

    first: int
    last: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


Row = tuple[int, ...]


def all_rows(recording: Recording) -> list[Row]:
    """The numbers of the nodes, those together that one operation made, the outermost first."""
    rows: list[Row] = []
    for node in recording.nodes:
        if node.value.node is not None and rows and rows[-1][-1] == node.value.node:
            rows[-1] = (*rows[-1], node.number)
        else:
            rows.append((node.number,))
    return rows


def shown_rows(recording: Recording, around: int | None) -> list[Row | Hidden]:
    """The rows to show: all, or of many the ends of the run and of its first tapes.

    `around` is a node whose neighbourhood is shown as well.
    """
    rows = all_rows(recording)
    of = {node: number for number, row in enumerate(rows) for node in row}
    if around is not None and around not in of:
        raise ArgumentError(
            f"around = {around!r}: expected the number of a node, 0 to {len(of) - 1}."
        )
    if len(rows) <= MOST_ROWS:
        return list(rows)
    chosen = _near(0, ENDS, rows) | _near(len(rows) - 1, ENDS, rows)
    for tape in recording.tapes[:2]:
        if tape.nodes:
            chosen |= _near(of[tape.nodes[0]], NEAR, rows) | _near(of[tape.nodes[-1]], NEAR, rows)
    if around is not None:
        chosen |= _near(of[around], NEAR, rows)
    return _with_hidden(rows, chosen)


def _near(row: int, reach: int, rows: list[Row]) -> set[int]:
    return {n for n in range(row - reach, row + reach + 1) if 0 <= n < len(rows)}


def _with_hidden(rows: list[Row], chosen: Iterable[int]) -> list[Row | Hidden]:
    found: list[Row | Hidden] = []
    after = 0
    for item in with_gaps(chosen):
        if isinstance(item, Gap):
            found.append(Hidden(rows[after][0], rows[after + item.hidden - 1][-1]))
        else:
            found.append(rows[item])
            after = item + 1
    return found


def shown_slips(count: int) -> list[int | Gap]:
    """Which of the gradients in a node's list to show: the first ones and the last."""
    if count <= MOST_SLIPS:
        return list(range(count))
    return with_gaps([*range(FIRST_SLIPS), count - 1])
