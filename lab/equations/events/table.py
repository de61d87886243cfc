"""Write events as a table of text."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np

from lab.equations.events.records import Event, SlotRole, WriteKind
from lab.notation import number_text

WIDTH = 100  # characters of a line; longer formulas are wrapped
MOST = 40  # events; longer tables contain the first and the last events
HEAD = ("event", "Scan", "step", "role", "slot", "old", "new", "formula")


def table(events: Sequence[Event]) -> str:
    """Write the events as a table with one line for each slot that an event touches."""
    is_long, half = len(events) > MOST, MOST // 2
    lines = [
        HEAD,
        *(line for event in events[: half if is_long else None] for line in _lines(event)),
    ]
    if is_long:
        lines.append(("…", "", "", f"{len(events) - MOST:,} more", "", "", "", ""))
        lines += (line for event in events[-half:] for line in _lines(event))
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEAD) - 1)]
    indent = sum(widths) + 2 * len(widths)
    return "\n".join(row for line in lines for row in _rows(line, widths, WIDTH - indent))


def _rows(line: tuple[str, ...], widths: Sequence[int], room: int) -> Iterator[str]:
    """Yield a line of the table, and a line for each further `room` characters of its formula."""
    *cells, formula = line
    rest = wrap(formula, max(40, room), subsequent_indent="  ", break_long_words=False) or [""]
    for n, part in enumerate(rest):
        padded = (
            ("" if n else cell).ljust(width) for cell, width in zip(cells, widths, strict=True)
        )
        yield "  ".join((*padded, part)).rstrip()


def _lines(event: Event) -> list[tuple[str, ...]]:
    step = "fill" if event.step is None else str(event.step)
    start = (str(event.number), str(event.scan + 1), step)
    cells = [
        (r.role.value, str(r.slot or r.name), "", _number(r.value), "")
        for r in event.reads
        if r.role is SlotRole.PRESERVED
    ]
    for write in event.writes:
        if event.step is None and not np.any(write.new):
            continue
        old = "" if write.kind is WriteKind.WRITTEN else _number(write.old)
        cells.append((write.kind.value, str(write.slot), old, _number(write.new), write.formula))
    cells = cells or [("", "", "", "", "nothing but zeros" if event.step is None else "")]
    return [(*(start if not n else ("", "", "")), *cell) for n, cell in enumerate(cells)]


def _number(value: np.ndarray | None) -> str:
    if value is None:
        return ""
    if value.dtype.kind == "U":  # an eager node with another object than a number
        return str(value)
    return number_text(value) if not value.ndim else f"[{'×'.join(map(str, value.shape))}]"
