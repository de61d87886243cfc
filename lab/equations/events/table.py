"""Write events as a table of text."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np

from lab.equations.events.records import Event, Read, SlotRole, Write, WriteKind
from lab.notation import number_text

WIDTH = 100  # characters of a line; longer formulas are wrapped
MOST = 40  # events; longer tables contain the first and the last events
HEAD = ("event", "Scan", "step", "role", "slot", "old", "new", "formula")


def table(events: Sequence[Event]) -> str:
    """Write one line per slot that an event touches; formulas contain the saved values."""
    shown = range(len(events))
    lines, half = list[tuple[str, ...]]([HEAD]), MOST // 2
    for number in shown:
        if len(events) > MOST and half <= number < len(events) - half:
            if number == half:
                lines.append(("…", "", "", f"{len(events) - MOST:,} more", "", "", "", ""))
            continue
        lines += _lines(events[number])
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEAD))]
    indent = sum(widths[:-1]) + 2 * (len(HEAD) - 1)
    lines = [wrapped for line in lines for wrapped in _wrapped(line, max(40, WIDTH - indent))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _wrapped(line: tuple[str, ...], width: int) -> Iterator[tuple[str, ...]]:
    """Yield a line, and further lines for the rest of a formula that is longer than `width`."""
    *cells, formula = line
    first, *others = wrap(formula, width, subsequent_indent="  ", break_long_words=False) or [""]
    yield (*cells, first)
    for rest in others:
        yield (*("" for _ in cells), rest)


def _lines(event: Event) -> list[tuple[str, ...]]:
    start = (
        str(event.number),
        str(event.scan + 1),
        "fill" if event.step is None else str(event.step),
    )
    cells = [_read(r) for r in event.reads if r.role is SlotRole.PRESERVED]
    cells += [_write(w) for w in event.writes if event.step is not None or np.any(w.new)]
    if not cells:
        cells = [("", "", "", "", "nothing but zeros" if event.step is None else "")]
    return [(*(start if not n else ("", "", "")), *cell) for n, cell in enumerate(cells)]


def _read(read: Read) -> tuple[str, ...]:
    return read.role.value, _name(read), "", _number(read.value), ""


def _write(write: Write) -> tuple[str, ...]:
    old = "" if write.old is None or write.kind is WriteKind.WRITTEN else _number(write.old)
    return write.kind.value, _slot(write.slot), old, _number(write.new), write.formula


def _name(read: Read) -> str:
    return read.name if read.slot is None else _slot(read.slot)


def _slot(slot: object) -> str:
    return str(slot)


def _number(value: np.ndarray) -> str:
    if value.dtype.kind == "U":  # an eager node with another object than a number
        return str(value)
    return number_text(value) if not value.ndim else f"[{'×'.join(map(str, value.shape))}]"
