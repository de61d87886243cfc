"""Values in plain text: tables of numbers, folded where they are long."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lab.notation import integers, number_text
from visual.layout.cells import values_text
from visual.layout.columns import Gap, shown_steps
from visual.pictures.values.series import Series

WIDEST = 28


def to_text(title: str, panels: Iterable[tuple[str, Sequence[Series]]]) -> str:
    """A table for every panel, one column for each of its series, one row for an index."""
    lines = [title]
    for name, series in panels:
        lines += ["", " ".join(name.split()), *_table(series)]
    return "\n".join(lines) + "\n"


def _table(series: Sequence[Series]) -> Iterator[str]:
    places = np.unique(np.concatenate([s.index for s in series])).tolist()
    rows: list[list[str]] = [[series[0].across, *(" ".join(s.name.split()) for s in series)]]
    for item in shown_steps(len(places)):
        if isinstance(item, Gap):
            rows.append([f"⋯ {item.hidden:,} more", *[""] * len(series)])
        else:
            rows.append([integers(places[item]), *(_at(s, places[item]) for s in series)])
    widths = [min(max(map(len, column)), WIDEST) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()
    if any(len(row[0]) > 1 and row[0].startswith("⋯") for row in rows):
        yield from (f"  {_extent(s)}" for s in series)


def _at(series: Series, place: int) -> str:
    found = np.searchsorted(series.index, place)
    if found == len(series.index) or series.index[found] != place:
        return ""
    return values_text(series.values[found])


def _extent(series: Series) -> str:
    """What a folded table hides: between which values all of them lie, and the odd ones."""
    flat = series.values.reshape(-1)
    finite = flat[np.isfinite(flat)]
    words = "none finite"
    if len(finite):
        words = f"from {number_text(finite.min())} to {number_text(finite.max())}"
    counts = {"zero": int((flat == 0).sum()), "not finite": len(flat) - len(finite)}
    odd = [f"{count:,} {name}" for name, count in counts.items() if count]
    return f"{' '.join(series.name.split())}: {', '.join([words, *odd])}"
