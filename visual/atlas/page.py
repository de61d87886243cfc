"""An atlas as HTML: its pictures packed into JSON, and what shows them without Python.

A picture in all of its colours, and as plain text, is packed by deflate and written in base64.
What is packed has the parts of the light and of the dark picture by turns, from tag to tag, so
that deflate finds the one in the other; the character between the parts tells them apart again.
Pictures that are the same are there once.  What cannot be drawn is told in as few words as it
takes.

Start with `to_page`; what it is made of, a grid and its entries, is in `visual.atlas.grid`.
"""

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from lab.errors import LabError, listing
from visual.atlas.grid import CHOICES, Combination, Entry, Grid, key_of
from visual.backends.page import document, in_script
from visual.backends.svg import text
from visual.drawing.catalogue import PICTURES
from visual.options import Value
from visual.scene.theme import THEMES, shades
from visual.widgets import module as modules

HERE = Path(__file__).parent
BETWEEN = "\0"  # no XML has it
TAGS = re.compile(r"(?=<)")


def pack(forms: Sequence[str]) -> str:
    """One picture in several forms, packed."""
    rows = zip_longest(*map(TAGS.split, forms), fillvalue="")
    parts = BETWEEN.join(chain.from_iterable(rows))
    return b64encode(zlib.compress(parts.encode(), 9)).decode()


def data(grid: Grid, entries: Iterable[Entry]) -> str:
    """All choices and pictures as JSON that can stand within a script."""
    pictures: dict[str, int] = {}
    tree: dict[str, Value] = {}
    for entry in entries:
        *keys, last = entry.keys
        branch = tree
        for key in keys:
            branch = branch.setdefault(key, {})
        found = entry.found
        number = None if isinstance(found, LabError) else pictures.setdefault(found, len(pictures))
        branch[last] = str(found) if number is None else number
    return in_script({**_choices(grid), "tree": tree, "pictures": list(pictures)})


def _choices(grid: Grid) -> dict[str, object]:
    """Everything that is offered, by name, and what it is called."""
    options = {
        choice.name: [_option(key_of(one)) for one in getattr(grid, choice.name)]
        for choice in CHOICES
    }
    for view in options["views"]:
        kind = PICTURES[view["value"]]
        view |= {"label": kind.label, "about": f"{kind.name}: {kind.about}"}
    loops = [
        {
            "value": loop.name,
            "about": loop.reason,
            "named": grid.taps[loop.name][0].names,
            "taps": [_option(taps.key, taps.words) for taps in grid.taps[loop.name]],
        }
        for loop in grid.loops
    ]
    labels = {choice.name: choice.label for choice in CHOICES}
    colours = {name: shades(THEMES[name]) for name in grid.themes}
    return {"labels": labels, "loops": loops, "shades": colours, **options}


def _option(value: str, label: str = "") -> dict[str, str]:
    return {"value": value, "label": label or value}


def content(grid: Grid, entries: Sequence[Entry], page: bool = False) -> str:
    """The atlas as HTML: the first picture, which needs no script, what is not there, the data.

    The colours of a `page` of its own are those of the picture.
    """
    first = next(entry for entry in entries if isinstance(entry.found, str))
    shown = first.at.picture(first.view, grid.themes[0]).svg()
    return (
        f'<div class="scantape scantape-bench scantape-atlas" data-atlas{" data-page" * page}>\n'
        f"<noscript><p>{text(_without(first))}</p></noscript>\n"
        '<div class="scantape-walked"><div class="picture" role="group" tabindex="0" '
        f'aria-label="picture">{shown}</div></div>\n'
        f"{lacking(grid, entries)}"
        f'<script type="application/json">{data(grid, entries)}</script>\n</div>'
    )


def _without(first: Entry) -> str:
    return (
        "The pictures of this page are unpacked by its own script, and this browser does not run "
        f"it. One of them is shown: {first.view} of {first.words}."
    )


@cache
def module() -> str:
    """The ES module: that of the stepper, and after it the atlas's form and its own."""
    return modules.joined(*modules.NUMBERS, HERE / "form.js", HERE / "atlas.js")


@cache
def style() -> str:
    """The style of the stepper, of the workbench, whose looks an atlas has, and its own."""
    return modules.style(modules.FORM, HERE / "atlas.css")


def to_page(grid: Grid, entries: Sequence[Entry]) -> str:
    """A page of its own for an atlas."""
    body = (
        f"<h1>{text(grid.title)}</h1>\n<p>Choose a loop, the taps at which it reads its past, how "
        "often it is differentiated, and the cost. Walk through the steps with the buttons or the "
        "arrow keys. Click a number to see where it comes from; drag one that is given, and all "
        f"the others follow.</p>\n{content(grid, entries, page=True)}"
    )
    theme = THEMES[grid.themes[0]]
    return document(grid.title, theme, body, module(), style() + "".join(_schemes(grid.themes)))


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


def lacking(grid: Grid, entries: Sequence[Entry]) -> str:
    """What is not there, and why, as HTML; nothing if all is there."""
    count = sum(isinstance(entry.found, LabError) for entry in entries)
    if not count:
        return ""
    total = sum(entry.scan is None for entry in entries)
    rows = "".join(f"<li>{text(row)}</li>" for row in _rows(grid, entries))
    return (
        f"<details><summary>{count} of {total} pictures are not there</summary>"
        f"<ul>{rows}</ul></details>\n"
    )


def _rows(grid: Grid, entries: Iterable[Entry]) -> Iterator[str]:
    missing: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if isinstance(entry.found, LabError):
            missing.setdefault((entry.view, str(entry.found)), []).append(entry)
    views: dict[tuple[str, str], list[str]] = {}
    for (view, reason), lacking in missing.items():
        views.setdefault((_where(grid, lacking), reason), []).append(view)
    for (where, reason), named in views.items():
        yield f"{listing(named)}{where}: {reason}"


def _where(grid: Grid, entries: list[Entry]) -> str:
    """Which combinations these are: a part of the grid if they are one, or else one by one."""
    part = [entry.at for entry in entries]
    if set(_spanned(grid, part)) != set(part):
        return f" of {'; '.join(entry.words for entry in entries)}"
    loops = dict.fromkeys(one.loop.name for one in part)
    orders = dict.fromkeys(one.order for one in part)
    costs = dict.fromkeys(entry.cost for entry in entries)
    words = f" of {listing(loops)}" if len(loops) < len(grid.loops) else ""
    words += f", order {listing(orders)}" if len(orders) < len(grid.orders) else ""
    return words + (f", cost {listing(costs)}" if len(costs) < len(grid.costs) else "")


def _spanned(grid: Grid, part: list[Combination]) -> Iterator[Combination]:
    """All combinations whose loop, order and cost are among those of a part."""
    loops = {one.loop.name for one in part}
    orders, costs = {one.order for one in part}, {one.cost for one in part}
    for one in grid.combinations:
        if one.loop.name in loops and one.order in orders and one.cost in costs:
            yield one
