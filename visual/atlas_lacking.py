"""What an atlas does not have, in as few words as it takes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab import LabError
from lab.errors import listing
from visual.svg import text

if TYPE_CHECKING:
    from visual.atlas import Atlas, Combination
    from visual.atlas_page import Entry


def lacking(atlas: "Atlas") -> str:
    """What is not there, and why, as HTML; nothing if all is there."""
    count = sum(isinstance(entry.found, LabError) for entry in atlas.entries)
    if not count:
        return ""
    rows = "".join(f"<li>{text(row)}</li>" for row in _rows(atlas))
    return (
        f"<details><summary>{count} of {len(atlas.entries)} pictures are not there</summary>"
        f"<ul>{rows}</ul></details>\n"
    )


def _rows(atlas: "Atlas") -> Iterator[str]:
    missing: dict[tuple[str, str], list[Entry]] = {}
    for entry in atlas.entries:
        if isinstance(entry.found, LabError):
            missing.setdefault((entry.view, str(entry.found)), []).append(entry)
    views: dict[tuple[str, str], list[str]] = {}
    for (view, reason), entries in missing.items():
        views.setdefault((_where(atlas, entries), reason), []).append(view)
    for (where, reason), found in views.items():
        yield f"{listing(found)}{where}: {reason}"


def _where(atlas: "Atlas", entries: list["Entry"]) -> str:
    """Which combinations these are: a part of the grid if they are one, or else one by one."""
    part = [entry.at for entry in entries]
    if set(_spanned(atlas, part)) != set(part):
        return f" of {'; '.join(entry.words for entry in entries)}"
    loops = dict.fromkeys(one.loop.name for one in part)
    orders = dict.fromkeys(one.order for one in part)
    costs = dict.fromkeys(entry.cost for entry in entries)
    words = f" of {listing(loops)}" if len(loops) < len(atlas.loops) else ""
    words += f", order {listing(orders)}" if len(orders) < len(atlas.orders) else ""
    return words + (f", cost {listing(costs)}" if len(costs) < len(atlas.costs) else "")


def _spanned(atlas: "Atlas", part: list["Combination"]) -> Iterator["Combination"]:
    """All combinations whose loop, order and cost are among those of a part."""
    loops = {one.loop.name for one in part}
    orders, costs = {one.order for one in part}, {one.cost for one in part}
    for one in atlas.combinations:
        if one.loop.name in loops and one.order in orders and one.cost in costs:
            yield one
