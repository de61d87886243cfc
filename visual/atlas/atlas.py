"""An atlas: a chosen grid of loops, taps, orders and costs, drawn beforehand, as one offline page.

    >>> visual.Atlas().save("lesson.html")
    >>> visual.Atlas(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2, 3]).page()

Its reader chooses among what was drawn, and walks through it, without Python and without a
network; in a notebook, what is chosen are traits.  A page of one's own takes the parts: `content`
once for every atlas, `script` and `style` once for all of them.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import traitlets

from lab.errors import ArgumentError, LabError, listing, quoted
from lab.gradients.derivative import ManyScansWarning
from lab.loops.loop import Loop
from lab.progress import counted
from lab.records import cached_property
from visual.atlas import page as pages
from visual.atlas.grid import TITLE, Combination, Entry, Grid, key_of, pattern
from visual.atlas.live import live
from visual.options import Value
from visual.scene.shapes import Scene
from visual.widgets.stepper import Walked
from visual.widgets.stories import of_all
from visual.widgets.widget import save_page

# What a person can name, and where an entry has it; taps are checked beforehand.
NAMED: Mapping[str, Callable[[Entry], object]] = MappingProxyType(
    {
        "loops": lambda entry: entry.at.loop.name,
        "orders": lambda entry: entry.at.order,
        "costs": lambda entry: entry.at.cost,
        "views": lambda entry: entry.view,
    }
)


def _compact(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _packed(at: Combination, view: str, pictures: Sequence[Scene], scan: int | None = None) -> str:
    """A picture in all themes, as text, its stories, and what computes it anew."""
    first = pictures[0]
    more = map(_compact, (of_all(first), live(at, view, first, scan)))
    return pages.pack([*(picture.svg() for picture in pictures), first.text(), *more])


# What is chosen, in the order in which a page's data branch; and the colours.
CARD = "scan:"  # what the cell of a Scan that can be opened begins with
FIELDS = ("loop", "taps", "order", "cost", "view", "theme")


class Atlas(Walked):
    """A grid of pictures to choose from, as a widget and as a page.

    `loops` are names of the gallery, or loops with different names.  `taps` has the patterns
    that are offered for a loop by its name: taps of its first state, or taps by the names of
    states and sequences.  Loops that it does not name are offered with their own taps and a few
    others.  `orders`, `costs` and `views` are those of `visual.draw`, `themes` the colours that a
    reader can choose; the first one is shown where nothing else is wanted.  `grid` has all that is
    offered.

    ArgumentError for what is not possible with any of the others.  What is possible with some of
    them only is left out with the others, and the page says so.

    `loop`, `taps`, `order`, `cost`, `view`, `theme`, `scan` and `step` are what is chosen: traits,
    which can be set, observed and linked, as those of a workbench; TraitError for what is not
    offered.  `theme` is None while the colours are those of the page, `scan`, the number of the
    Scan that is open, while that is the usual one.
    """

    script = _esm = pages.module()  # it brings every atlas of a page to life, and every stepper
    style = _css = pages.style()
    content = traitlets.Unicode().tag(sync=True)
    _chosen = traitlets.Dict().tag(sync=True)  # as the page names it
    loop = traitlets.TraitType(None)  # None is no choice
    taps = traitlets.TraitType(None)
    order = traitlets.TraitType(None)
    cost = traitlets.TraitType(None)
    view = traitlets.TraitType(None)
    theme = traitlets.Any()
    scan = traitlets.Int(None, min=1, allow_none=True)

    def __init__(
        self,
        loops: Value = None,
        taps: Value = None,
        orders: Value = None,
        costs: Value = None,
        views: Value = None,
        themes: Value = None,
        title: str = TITLE,
    ) -> None:
        self.grid = Grid(loops, taps, orders, costs, views, themes, title)
        super().__init__()
        for name in FIELDS[:-1]:
            setattr(self, name, next(iter(self._offered(name).values())))

    def _offered(self, name: str) -> Mapping[str, object]:
        """What can be chosen, by what the page calls it."""
        if name == "loop":
            return {loop.name: loop.name for loop in self.grid.loops}
        if name == "taps":
            return {one.key: one.chosen for one in self.grid.taps[self.loop]}
        return {key_of(one): one for one in getattr(self.grid, f"{name}s")}

    @property
    def _loop(self) -> Loop:
        return next(loop for loop in self.grid.loops if loop.name == self.loop)

    @traitlets.validate(*FIELDS)
    def _choose(self, proposal: Mapping[str, Any]) -> object:
        name, value = proposal["trait"].name, proposal["value"]
        offered = self._offered(name)
        key = self._key(name, value)
        if key not in offered:
            raise traitlets.TraitError(
                f"{name} = {quoted(value)}: this atlas has {listing(offered)}."
            )
        return offered[key]

    def _key(self, name: str, value: object) -> str:
        """What the page calls a value; empty for what is none."""
        match value:
            case Loop():
                return value.name
            case str():
                return value
            case bool():
                return ""
            case int() | tuple() if name != "taps":
                return key_of(value)
            case dict() | tuple() if name == "taps":
                try:
                    return pattern(self._loop, value, self.taps or ()).key
                except LabError as error:
                    raise traitlets.TraitError(str(error)) from None
        return ""

    @traitlets.observe(*FIELDS, "scan")
    def _tell(self, change: Mapping[str, Any]) -> None:
        """Tell the page what is chosen; a loop without the present taps is shown with its own."""
        name, value = change["name"], change["new"]
        chosen = {**self._chosen, name: None if value is None else self._key(name, value)}
        if name == "loop" and chosen.get("taps") not in self._offered("taps"):
            chosen["taps"] = next(iter(self._offered("taps")))
        self._chosen = chosen
        if self.step != -1 and self.step not in self._moments:
            self.step = -1

    @traitlets.observe("_chosen")
    def _follow(self, change: Mapping[str, Any]) -> None:
        """What is chosen in the page."""
        for name in FIELDS:
            if name in change["new"]:
                setattr(self, name, change["new"][name])
        if "scan" in change["new"]:
            self.scan = change["new"]["scan"] and int(change["new"]["scan"])

    def set_state(self, sync_data: dict[str, object]) -> None:
        """What the page sets; a step is one of the picture that is chosen with it."""
        if "_chosen" in sync_data:
            super().set_state({"_chosen": sync_data.pop("_chosen")})
        super().set_state(sync_data)

    @property
    def picture(self) -> Scene:
        """The picture that is chosen, with the loop's own values; LabError if there is none."""
        taps = pattern(self._loop, self.taps)
        at = Combination(self._loop, taps, self.order, self.cost)
        about = self.view, self.theme or self.grid.themes[0]
        with suppress(LabError):  # of another picture, which has no such Scan
            return at.picture(*about, scan=self.scan)
        return at.picture(*about)

    @property
    def _shown(self) -> Sequence[Scene]:
        try:
            return [self.picture]
        except LabError:
            return []

    @property
    def _title(self) -> str:
        return self.grid.title

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        first = next(entry for entry in self.entries if isinstance(entry.found, str))
        picture, *_ = *self._shown, first.at.picture(first.view, self.grid.themes[0])
        return self.fragment(), picture.text(), picture

    def fragment(self) -> str:
        """The atlas for a page that has more on it."""
        script = f'<script type="module">{self.script}</script>\n'
        return f"<style>{self.style}</style>\n{self.content}\n{script}"

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All pictures, packed; they are drawn when they are first needed, with progress."""
        progress = counted(self.grid.combinations, "page", "combination")
        with warnings.catch_warnings():
            # Progress shows that it takes a while.
            warnings.simplefilter("ignore", ManyScansWarning)
            entries = tuple(
                entry
                for one in progress
                for view in self.grid.views
                for entry in self._of(one, view)
            )
        self._check(entries)
        return entries

    def _of(self, at: Combination, view: str) -> Iterator[Entry]:
        """A view, and what it shows when another of its Scans is opened."""
        try:
            usual = self._pictures(at, view, None)
            yield Entry(at, view, _packed(at, view, usual))
        except LabError as error:
            yield Entry(at, view, error)
            return
        cards = [group.cell for group in usual[0].groups() if group.cell.startswith(CARD)]
        for scan in (int(card.removeprefix(CARD)) for card in cards):
            with suppress(LabError):  # `phases` cannot show a Scan that is no derivative
                opened = self._pictures(at, view, scan)
                if opened[0].shapes != usual[0].shapes:
                    yield Entry(at, view, _packed(at, view, opened, scan), scan)

    def _pictures(self, at: Combination, view: str, scan: int | None) -> list[Scene]:
        return [at.picture(view, theme, scan=scan) for theme in self.grid.themes]

    def _check(self, entries: tuple[Entry, ...]) -> None:
        """Raise LabError for what was named and has no picture at all, or if there is none."""
        lacking = [entry.found for entry in entries if isinstance(entry.found, LabError)]
        if len(lacking) == len(entries):
            raise lacking[0]
        for name in sorted(self.grid.named & NAMED.keys()):
            drawn = {NAMED[name](entry) for entry in entries if isinstance(entry.found, str)}
            for entry in entries:
                option = NAMED[name](entry)
                if option not in drawn:
                    raise ArgumentError(
                        f"{name}: nothing of {quoted(option)} can be drawn. {entry.found}"
                    )

    @property
    def data(self) -> str:
        """The choices and the pictures as JSON; `content` has it."""
        return pages.data(self.grid, self.entries)

    @traitlets.default("content")
    def _content(self) -> str:
        """The atlas within a page, as HTML: the first picture, and all of its data."""
        return pages.content(self.grid, self.entries)

    def page(self) -> str:
        """The page: one HTML file that loads nothing."""
        return pages.to_page(self.grid, self.entries)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html; it appears whole or not at all."""
        return save_page(path, self.page)
