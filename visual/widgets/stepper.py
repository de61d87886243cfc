"""Pictures that can be walked through: in a notebook as a widget, and as one offline page.

    >>> visual.Stepper(visual.draw(loop, "unrolled"), visual.draw(loop, "tapes"))

The pictures are linked: they show the same moment, and a quantity is lit in all of them.  The
same ES module, ``stepper.js``, runs in both homes.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import traitlets

from lab.errors import ArgumentError, KindError, check_integer, quote
from visual.backends import dark
from visual.scene.shapes import Scene
from visual.widgets.module import STEPPER, style
from visual.widgets.page import fragment, to_page
from visual.widgets.widget import Widget, save_page


class Walked(Widget):
    """A widget whose pictures are walked through: its `step` is a moment, or -1 for all of them."""

    step = traitlets.Int(-1).tag(sync=True)

    @property
    def _shown(self) -> Sequence[Scene]:
        """The pictures that are shown now."""
        raise NotImplementedError

    @property
    def _moments(self) -> Collection[int]:
        """The moments that can be shown."""
        return {number for one in self._shown for number in _moments(one)}

    @traitlets.validate("step")
    def _is_moment(self, proposal: Mapping[str, int]) -> int:
        step = proposal["value"]
        return step if step == -1 else shown_step(self._moments, -1, step)

    def set_state(self, sync_data: dict[str, object]) -> None:
        """What the page sets; a step of a picture that is gone meanwhile comes too late."""
        step = sync_data.get("step")
        if step is not None and not (isinstance(step, int) and step in {-1, *self._moments}):
            sync_data = {name: value for name, value in sync_data.items() if name != "step"}
        super().set_state(sync_data)


class Stepper(Walked):
    """One or several pictures, walked through together.

    `step` is the moment that is shown, -1 for all of them; it can be set and observed.  Keys:
    arrows go to the neighbouring step, Home and End to the ends, space plays; Shift and arrows go
    from cell to cell, Enter pins one.
    """

    _esm = STEPPER  # of a path, anywidget would keep every widget for as long as the file
    _css = style() + dark.style()
    pictures = traitlets.List(traitlets.Unicode()).tag(sync=True)
    themes = traitlets.List(traitlets.Unicode()).tag(sync=True)  # a light one goes with the page
    scenes: Sequence[Scene] = ()

    @property
    def _shown(self) -> Sequence[Scene]:
        return self.scenes

    def __init__(self, *scenes: Scene, step: int | None = None) -> None:
        super().__init__()
        self.show(*scenes, step=step)

    def show(self, *scenes: Scene, step: int | None = None) -> None:
        """Show other pictures, at the present step if they have it."""
        for scene in scenes:
            if not hasattr(scene, "svg"):
                raise KindError(
                    f"scenes: {quote(scene)} is no picture; expected a Scene, or several."
                )
        moments = {number for scene in scenes for number in _moments(scene)}
        step = shown_step(moments, self.step, step)
        self.scenes = scenes
        with self.hold_sync():
            self.themes = [one.theme.name if isinstance(one, Scene) else "" for one in scenes]
            self.pictures = [scene.svg() for scene in scenes]
            self.step = step

    @property
    def _title(self) -> str:
        return ", ".join(scene.title for scene in self.scenes)

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        words = "\n".join(scene.text() for scene in self.scenes)
        first = self.scenes[0] if self.scenes else None
        return fragment(*self.scenes, step=self.step), words, first

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the pictures, linked, as one page that needs no kernel and no network."""
        return save_page(path, lambda: to_page(*self.scenes))


def shown_step(moments: Collection[int], present: int, wanted: int | None = None) -> int:
    """The moment to show: the one that is wanted, else the present one if there is such, else all.

    ArgumentError if there is none that is wanted.
    """
    if wanted is not None and check_integer("step", wanted) not in moments:
        known = f"{min(moments)} to {max(moments)}" if moments else "none"
        raise ArgumentError(f"step = {quote(wanted)}: the moments of these pictures are {known}.")
    if wanted is not None:
        return wanted
    return present if present in moments else -1


def _moments(scene: Scene) -> dict[int, str]:
    return scene.moments if isinstance(scene, Scene) else {}
