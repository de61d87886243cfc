"""What a picture is laid out on: how much room there is, and what of it is wanted."""

from dataclasses import dataclass

from lab.errors import ArgumentError, expect, quoted
from lab.traces.trace import ScanTrace
from visual.scene.shapes import Scene

HIGHEST = 1200  # pixels: a screen
CODE, CLICK, NOBODY = "code", "click", "nobody"  # opens what is folded
ASIDE = 252.0  # pixels: a legend in one column
NARROW = 600.0  # pixels: below, margins and names of rows have less room


@dataclass(frozen=True)
class Sheet:
    """The room of a picture whose smallest letters have 11 pixels, and what may be left out.

    `steps` are the only ones that are shown, None stands for all.  A `bare` picture has no
    headings, no names of rows, no numbers and no legend.  Larger letters than the smallest need
    not keep their size `on_paper`.  The legend stands below the picture, or in a column `aside` of
    it, so many pixels wide.  What is folded is opened by an option in code or, on a page, by a
    click or a control, or by nobody.
    """

    width: float = 840.0
    height: float = HIGHEST
    steps: range | None = None
    legend: bool = True
    bare: bool = False
    on_paper: bool = False
    aside: float = 0.0
    opened_by: str = CODE

    @property
    def is_narrow(self) -> bool:
        """Whether it is a column of a paper."""
        return self.width < NARROW

    @property
    def is_low(self) -> bool:
        """Whether it is lower than a screen, so that what can be said shortly is."""
        return self.height < HIGHEST

    @property
    def has_hints(self) -> bool:
        """Whether there is a reader who can open what is folded, and room to say how."""
        return not (self.on_paper or self.is_narrow)

    def hint(self, code: str, click: str, before: str = ": ") -> str:
        """How to open what is folded, in words that suit who looks at it; empty for nobody."""
        told = {CODE: code, CLICK: click}.get(self.opened_by)
        return before + told if told and self.has_hints else ""

    def all_shows(self, what: str = "everything") -> str:
        """The hint of what only a picture without any fold shows."""
        return self.hint(f"all=True shows {what}", "“all of it”, in the options")

    @property
    def margin(self) -> float:
        """On the left and on the right."""
        return 6.0 if self.is_narrow else 24.0

    @property
    def labels(self) -> float:
        """Where columns begin, to the right of the names of rows."""
        if self.bare:
            return self.margin
        return 72.0 if self.is_narrow else 150.0

    @property
    def line(self) -> float:
        """The widest line."""
        return self.width - 2 * self.margin

    def holds(self, picture: Scene) -> bool:
        """Whether a picture keeps to it."""
        return picture.width <= self.width and picture.height <= self.height

    def steps_of(self, scan: ScanTrace) -> range:
        """The steps of a Scan that are shown; ArgumentError if it does not make them all."""
        return range(scan.steps) if self.steps is None else self.steps_within(scan.steps, scan.name)

    def steps_within(self, steps: int, name: str) -> range:
        """The same of what makes so many steps and has a name."""
        shown = range(steps) if self.steps is None else self.steps
        if shown.stop > steps:
            raise ArgumentError(
                f"steps = {quoted(f'{shown.start}:{shown.stop}')}: {name} makes "
                f"{steps} steps; expected 0:{steps} or a part of it."
            )
        return shown


SCREEN = Sheet()
PAGE, OFFLINE = Sheet(opened_by=CLICK), Sheet(opened_by=NOBODY)


def check_sheet(sheet: object) -> None:
    """ArgumentError for what is no sheet."""
    expect("sheet", sheet, Sheet, "a visual.layout.sheet.Sheet")
