"""An atlas as HTML: its pictures packed into JSON, and what shows them without Python.

A picture in all of its colours, and as plain text, is packed by deflate and written in base64.
What is packed has the parts of the light and of the dark picture by turns, from tag to tag, so
that deflate finds the one in the other; the character between the parts tells them apart again.
Pictures that are the same are there once.

What an atlas does not have, in as few words as it takes.
"""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import LabError, listing
from visual.backends.page import document
from visual.backends.svg import text
from visual.drawing.kinds import PICTURES
from visual.scene.theme import THEMES, theme_named
from visual.widgets import module as modules

if TYPE_CHECKING:
    from visual.atlas.atlas import Atlas, Combination
    from visual.atlas.choices import Cost

HERE = Path(__file__).parent
BETWEEN = "\0"  # no XML has it
TAGS = re.compile(r"(?=<)")


def pack(forms: Sequence[str]) -> str:
    """One picture in several forms, packed."""
    rows = zip_longest(*map(TAGS.split, forms), fillvalue="")
    parts = BETWEEN.join(chain.from_iterable(rows))
    return b64encode(zlib.compress(parts.encode(), 9)).decode()


@dataclass(frozen=True)
class Entry:
    """A view of a combination: its packed picture, or why there is none."""

    at: "Combination"
    view: str
    found: str | LabError

    @property
    def keys(self) -> tuple[str, ...]:
        """Where it is found in the page's data."""
        at = self.at
        return (at.loop.name, at.taps.key, str(at.order), self.cost, self.view)

    @property
    def cost(self) -> str:
        """The cost, as it is named on the page."""
        return cost_key(self.at.cost)

    @property
    def words(self) -> str:
        """Where it is found, for a reader."""
        at = self.at
        return f"{at.loop.name}, taps {at.taps.words}, order {at.order}, cost {self.cost}"


def cost_key(cost: "Cost") -> str:
    """The name of a cost, or its weights."""
    return cost if isinstance(cost, str) else ",".join(repr(one).removesuffix(".0") for one in cost)


def data(atlas: "Atlas") -> str:
    """All choices and pictures as JSON that can stand within a script."""
    pictures: dict[str, int] = {}
    tree: dict[str, Any] = {}
    for entry in atlas.entries:
        *keys, last = entry.keys
        branch = tree
        for key in keys:
            branch = branch.setdefault(key, {})
        found = entry.found
        number = None if isinstance(found, LabError) else pictures.setdefault(found, len(pictures))
        branch[last] = str(found) if number is None else number
    made = {**_choices(atlas), "tree": tree, "pictures": list(pictures)}
    # Within a script, nothing may look like markup.
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _choices(atlas: "Atlas") -> dict[str, Any]:
    return {
        "loops": [
            {
                "value": loop.name,
                "about": loop.reason,
                "named": atlas.taps[loop.name][0].names,
                "taps": [_option(taps.key, taps.words) for taps in atlas.taps[loop.name]],
            }
            for loop in atlas.loops
        ],
        "orders": [_option(str(order)) for order in atlas.orders],
        "costs": [_option(cost_key(cost)) for cost in atlas.costs],
        "views": [{**_option(view), "about": PICTURES[view].about} for view in atlas.views],
        "themes": [_option(theme) for theme in atlas.themes],
    }


def _option(value: str, label: str = "") -> dict[str, str]:
    return {"value": value, "label": label or value}


def content(atlas: "Atlas", page: bool = False) -> str:
    """The atlas as HTML: the first picture, which needs no script, what is not there, the data.

    The colours of a `page` of its own are those of the picture.
    """
    first = next(entry for entry in atlas.entries if isinstance(entry.found, str))
    shown = first.at.picture(first.view, atlas.themes[0]).svg()
    return (
        f'<div class="scantape scantape-bench scantape-atlas" data-atlas{" data-page" * page}>\n'
        f"<noscript><p>{text(_without(first))}</p></noscript>\n"
        '<div class="scantape-walked"><div class="picture" role="group" tabindex="0" '
        f'aria-label="picture">{shown}</div></div>\n'
        f"{lacking(atlas)}"
        f'<script type="application/json">{data(atlas)}</script>\n</div>'
    )


def _without(first: Entry) -> str:
    return (
        "The pictures of this page are unpacked by its own script, and this browser does not run "
        f"it. One of them is shown: {first.view} of {first.words}."
    )


@cache
def module() -> str:
    """The ES module: that of the stepper, and after it the atlas's form and its own."""
    return modules.joined(HERE / "form.js", HERE / "atlas.js")


@cache
def style() -> str:
    """The style of the stepper, of the workbench, whose looks an atlas has, and its own."""
    return modules.style(modules.FORM, HERE / "atlas.css")


def to_page(atlas: "Atlas") -> str:
    """A page of its own for an atlas."""
    body = (
        f"<h1>{text(atlas.title)}</h1>\n"
        "<p>Choose a loop, the taps at which it reads its past, how often it is differentiated, "
        "and the cost. Walk through the steps with the buttons or the arrow keys. Point at a "
        "number to find it elsewhere.</p>\n"
        f"{content(atlas, page=True)}"
    )
    theme = theme_named(atlas.themes[0])
    return document(atlas.title, theme, body, module(), style() + "".join(_schemes(atlas.themes)))


def _schemes(names: Iterable[str]) -> Iterator[str]:
    """The colours of the page, for those of its pictures; and those before a script chooses."""
    for name in names:
        yield _scheme(name, f"[data-colours={name}]")
    if "dark" in names:
        yield f"@media (prefers-color-scheme:dark){{{_scheme('dark', ':not([data-colours])')}}}"


def _scheme(name: str, where: str) -> str:
    theme = THEMES[name]
    return (
        f":root{where}{{color-scheme:{'dark' if name == 'dark' else 'light'}}}"
        f":root{where} body{{background:{theme.background};color:{theme.text}}}"
    )


if TYPE_CHECKING:
    from visual.atlas.atlas import Atlas, Combination


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
