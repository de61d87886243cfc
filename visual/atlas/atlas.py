"""An atlas: a chosen grid of loops, taps, orders and costs, drawn beforehand, as one offline page.

    >>> visual.Atlas().save("lesson.html")
    >>> visual.Atlas(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2, 3]).page()

Its reader chooses among what was drawn, and walks through it, without Python and without a
network.  A page of one's own takes the parts: `content` once for every atlas, `script` and
`style` once for all of them.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lab.errors import ArgumentError, LabError
from lab.gradients.derivative import ManyScansWarning
from lab.loops.loop import Loop
from lab.records import cached_property
from visual.atlas.choices import COSTS, Cost, Pattern, cost_of, loops_of, order_of, several, taps_of
from visual.drawing.draw import draw
from visual.drawing.kinds import Picture, picture_named
from visual.scene.formats import as_path, check_path, write_whole
from visual.scene.theme import theme_named

if TYPE_CHECKING:
    from visual.atlas.page import Entry

LOOPS = ("square", "fibonacci", "gap", "coupled", "logistic", "rnn")
ORDERS = (1, 2)
VIEWS = ("unrolled", "tapes", "taps", "phases", "genealogy", "stepgraph")
THEMES = ("light", "dark")
TITLE = "Loops, their derivatives, and their tapes"


@dataclass(frozen=True)
class Combination:
    """A loop, its taps, the order of its derivative, and the cost."""

    loop: Loop
    taps: Pattern
    order: int
    cost: Cost

    def picture(self, view: str, theme: str) -> Picture:
        """A picture of it; LabError if there is none."""
        taps = self.taps.chosen
        return draw(self.loop, view, theme, taps=taps, order=self.order, cost=self.cost)


# What a person can name, and where an entry has it; taps are checked beforehand.
NAMED: Mapping[str, Callable[["Entry"], Any]] = MappingProxyType(
    {
        "loops": lambda entry: entry.at.loop.name,
        "orders": lambda entry: entry.at.order,
        "costs": lambda entry: entry.at.cost,
        "views": lambda entry: entry.view,
    }
)


@dataclass(frozen=True)
class Atlas:
    """A grid of pictures to choose from.

    `loops` are names of the gallery, or loops with different names.  `taps` has the patterns
    that are offered for a loop by its name: taps of its first state, or taps by the names of
    states and sequences.  Loops that it does not name are offered with their own taps and a few
    others.  `orders`, `costs` and `views` are those of `visual.draw`, `themes` the colours that a
    reader can choose; the first one is shown where nothing else is wanted.

    ArgumentError for what is not possible with any of the others.  What is possible with some of
    them only is left out with the others, and the page says so.
    """

    loops: Any = None
    taps: Any = field(default=None, hash=False)
    orders: Any = None
    costs: Any = None
    views: Any = None
    themes: Any = THEMES
    title: str = TITLE
    named: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "named", frozenset(name for name in NAMED if getattr(self, name) is not None))
        put(self, "loops", loops_of(self.loops, LOOPS))
        put(self, "taps", taps_of(self.loops, {} if self.taps is None else self.taps))
        put(self, "orders", several("orders", self.orders, ORDERS, order_of))
        put(self, "costs", several("costs", self.costs, COSTS, cost_of))
        put(self, "views", several("views", self.views, VIEWS, lambda v: picture_named(v).name))
        put(self, "themes", several("themes", self.themes, THEMES, lambda t: theme_named(t).name))
        if not isinstance(self.title, str) or not self.title.strip():
            raise ArgumentError(f"title = {self.title!r:.60}: expected a text, not empty.")

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """All of the grid, in the order in which a page offers them."""
        return tuple(
            Combination(loop, taps, order, cost)
            for loop in self.loops
            for taps, order, cost in product(self.taps[loop.name], self.orders, self.costs)
        )

    @cached_property
    def entries(self) -> tuple["Entry", ...]:
        """All pictures, packed; they are drawn when they are first needed, with progress."""
        from tqdm import tqdm  # only who draws many pictures pays for the import

        progress = tqdm(self.combinations, "page", unit="combination", leave=False, delay=1)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ManyScansWarning
            )  # progress shows that it takes a while
            found = tuple(self._entry(one, view) for one in progress for view in self.views)
        self._check(found)
        return found

    def _entry(self, at: Combination, view: str) -> "Entry":
        from visual.atlas.page import Entry, pack

        try:
            pictures = [at.picture(view, theme) for theme in self.themes]
            forms = [picture.svg() for picture in pictures] + [pictures[0].text()]
            return Entry(at, view, pack(forms))
        except LabError as error:
            return Entry(at, view, error)

    def _check(self, entries: tuple["Entry", ...]) -> None:
        """Raise LabError for what was named and has no picture at all, or if there is none."""
        lacking = [entry.found for entry in entries if isinstance(entry.found, LabError)]
        if len(lacking) == len(entries):
            raise lacking[0]
        for name in sorted(self.named):
            options: dict[Any, list[str | LabError]] = {}
            for entry in entries:
                options.setdefault(NAMED[name](entry), []).append(entry.found)
            for option, found in options.items():
                reasons = [one for one in found if isinstance(one, LabError)]
                if len(reasons) == len(found):
                    raise ArgumentError(
                        f"{name}: nothing of {option!r:.60} can be drawn. {reasons[0]}"
                    )

    @property
    def data(self) -> str:
        """The choices and the pictures as JSON; `content` has it."""
        from visual.atlas.page import data

        return data(self)

    @property
    def content(self) -> str:
        """The atlas within a page, as HTML: the first picture, and all of its data."""
        from visual.atlas.page import content

        return content(self)

    @property
    def script(self) -> str:
        """The ES module that brings every atlas of a page to life, and every stepper."""
        from visual.atlas.page import module

        return module()

    @property
    def style(self) -> str:
        """The style of every atlas of a page."""
        from visual.atlas.page import style

        return style()

    def page(self) -> str:
        """The page: one HTML file that loads nothing."""
        from visual.atlas.page import to_page

        return to_page(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html; it appears whole or not at all."""
        path = as_path(path)
        if path.suffix.lower() != ".html":
            raise ArgumentError(f"path = {str(path)!r}: a page ends in .html.")
        check_path(path)
        return write_whole(path, self.page())
