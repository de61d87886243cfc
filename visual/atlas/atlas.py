"""An atlas: a chosen grid of loops, taps, orders and costs, drawn beforehand, as one offline pages.

    >>> visual.Atlas().save("lesson.html")
    >>> visual.Atlas(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2, 3]).page()

Its reader chooses among what was drawn, and walks through it, without Python and without a
network.  A page of one's own takes the parts: `content` once for every atlas, `script` and
`style` once for all of them.
"""

import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab.errors import ArgumentError, LabError, quoted
from lab.gradients.derivative import ManyScansWarning
from lab.progress import counted
from lab.records import cached_property
from visual.atlas import page as pages
from visual.atlas.grid import Combination, Entry, Grid
from visual.atlas.live import live
from visual.scene.formats import as_path, check_path, write_whole
from visual.widgets.rerun import images
from visual.widgets.stories import of_all

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


@dataclass(frozen=True)
class Atlas(Grid):
    """A grid of pictures to choose from.

    `loops` are names of the gallery, or loops with different names.  `taps` has the patterns
    that are offered for a loop by its name: taps of its first state, or taps by the names of
    states and sequences.  Loops that it does not name are offered with their own taps and a few
    others.  `orders`, `costs` and `views` are those of `visual.draw`, `themes` the colours that a
    reader can choose; the first one is shown where nothing else is wanted.

    ArgumentError for what is not possible with any of the others.  What is possible with some of
    them only is left out with the others, and the page says so.
    """

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All pictures, packed; they are drawn when they are first needed, with progress."""
        progress = counted(self.combinations, "page", "combination")
        with warnings.catch_warnings():
            # Progress shows that it takes a while.
            warnings.simplefilter("ignore", ManyScansWarning)
            entries = tuple(self._entry(one, view) for one in progress for view in self.views)
        self._check(entries)
        return entries

    def _entry(self, at: Combination, view: str) -> Entry:
        try:
            pictures = [at.picture(view, theme) for theme in self.themes]
            first = pictures[0]
            more = map(_compact, (of_all(first), live(at, view, first)))
            forms = [*(picture.svg() for picture in pictures), first.text(), *more]
            return Entry(at, view, pages.pack(forms))
        except LabError as error:
            return Entry(at, view, error)

    def _check(self, entries: tuple[Entry, ...]) -> None:
        """Raise LabError for what was named and has no picture at all, or if there is none."""
        lacking = [entry.found for entry in entries if isinstance(entry.found, LabError)]
        if len(lacking) == len(entries):
            raise lacking[0]
        for name in sorted(self.named & NAMED.keys()):
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
        return pages.data(self, self.entries)

    @property
    def content(self) -> str:
        """The atlas within a page, as HTML: the first picture, and all of its data."""
        return pages.content(self, self.entries)

    @property
    def script(self) -> str:
        """The ES module that brings every atlas of a page to life, and every stepper."""
        return pages.module()

    @property
    def style(self) -> str:
        """The style of every atlas of a pages."""
        return pages.style()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        script = f'<script type="module">{self.script}</script>\n'
        html = f"<style>{self.style}</style>\n{self.content}\n{script}"
        first = next(entry for entry in self.entries if isinstance(entry.found, str))
        picture = first.at.picture(first.view, self.themes[0])
        return {"text/html": html, **images(picture), "text/plain": repr(self)}

    def page(self) -> str:
        """The page: one HTML file that loads nothing."""
        return pages.to_page(self, self.entries)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html; it appears whole or not at all."""
        path = as_path(path)
        if path.suffix.lower() != ".html":
            raise ArgumentError(f"path = {quoted(str(path))}: a page ends in .html.")
        check_path(path)
        return write_whole(path, self.page())
