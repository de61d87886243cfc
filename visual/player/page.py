"""The tape machine as a page without Python, on which a reader makes choices and drags values.

    >>> visual.Page().save("lesson.html")
    >>> visual.Page(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2, 3]).save("a.html")

The page contains the compressed machine of each combination of choices, with the instructions of
the run. Each number refers to an instruction. When a given value changes, ``numbers.js`` executes
the instructions again.
"""

import json
import os
import warnings
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError
from lab.gradients.derivative import ManyScansWarning
from lab.loops.variables import RandomState, value_of
from lab.progress import progress_bar
from lab.records import cached_property
from lab.traces.program import program_of
from visual.backends.page import document, in_script
from visual.backends.svg import text
from visual.options import Value
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.places import Numeral
from visual.pictures.machine.still import still
from visual.player.data import for_page
from visual.player.grid import CHOICES, TITLE, ChoiceGrid, Combination, choice_grid
from visual.player.state import link_text
from visual.player.widget import DARK, MODULE, STYLE
from visual.scene.shapes import Scene
from visual.scene.theme import LIGHT
from visual.widgets.module import CONTROLS
from visual.widgets.sliders import sliders
from visual.widgets.widget import save_page

HERE = Path(__file__).parent
LARGEST = 50_000_000  # the most bytes of the compressed machines of a page
BY_BOTH = "Both rules are shown with the given values. To drag values, choose the correct rule."
GUIDANCE = (
    "Press play, or drag the bar. Click a number to see how it is computed. Drag a given value: "
    "all other numbers follow."
)
LABELS = {"loops": "loop", "orders": "order", "costs": "cost", "rules": "rule"}


class Page:
    """A page with a tape machine for each combination of choices.

    The page needs neither Python nor a network.

    Parameters
    ----------
    loops
        Names of loops in the gallery, or `Loop` objects. The names must be distinct.
    taps
        A mapping from the name of a loop to its tap patterns. A pattern contains the taps of the
        first state, or maps the names of states and sequences to taps. By default, a loop has the
        taps of its declaration and a few other patterns.
    orders
        Orders of the derivative.
    costs
        "last", "sum", or both.
    rules
        "correct", and names of faulty rules in `lab.BROKEN`.
    title
        The heading of the page.

    Raises
    ------
    lab.ArgumentError
        If no combination has a machine. If a reader chooses a combination without a machine, the
        page shows the reason.

    """

    def __init__(
        self,
        loops: Value = None,
        taps: Value = None,
        orders: Value = None,
        costs: Value = None,
        rules: Value = None,
        title: str = TITLE,
    ) -> None:
        self.grid = choice_grid(loops, taps, title, orders=orders, costs=costs, rules=rules)

    def __repr__(self) -> str:
        return f"<Page: {self.grid.title}>"

    def _repr_html_(self) -> str:
        return self.fragment()

    @cached_property
    def runs(self) -> Mapping[Combination, str | LabError]:
        """For each combination, the compressed machine, or the error if no machine is possible."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ManyScansWarning)  # the progress bar suffices
            progress = progress_bar(self.grid.combinations, "page", "combination")
            runs = {combination: _packed(combination) for combination in progress}
        self._check(runs)
        return runs

    def _check(self, runs: Mapping[Combination, str | LabError]) -> None:
        """Raise LabError for a page without a machine, and for a page that is too large."""
        packed = [run for run in runs.values() if isinstance(run, str)]
        if not packed:
            raise next(run for run in runs.values() if isinstance(run, LabError))
        size = sum(map(len, packed))
        if size > LARGEST:
            raise ArgumentError(
                f"orders: expected a page of at most {LARGEST // 10**6} MB, got "
                f"{size / 1e6:.0f} MB. Choose fewer loops, taps, or orders."
            )

    @property
    def data(self) -> str:
        """All choices and machines as JSON for a script element."""
        packed: dict[str, int] = {}
        runs = {
            self.grid.indices(combination): str(run)
            if isinstance(run, LabError)
            else packed.setdefault(run, len(packed))
            for combination, run in self.runs.items()
        }
        return in_script({**_choices(self.grid), "runs": runs, "packed": list(packed)})

    @property
    def content(self) -> str:
        """The machines as HTML for a page that has the module and the style."""
        first = self._still()
        twin = f"<noscript><pre>{text(first.text())}</pre></noscript>"
        return (
            f'<div class="scantape-lesson" data-lesson>{twin}'
            f'<script type="application/json">{self.data}</script></div>\n'
        )

    def fragment(self) -> str:
        """Return the machines with their style and module, for embedding in another page."""
        return (
            f"<style>{style()}</style>\n{self.content}\n<script type='module'>{module()}</script>\n"
        )

    def page(self) -> str:
        """Return the page as HTML, which loads no other file."""
        head = f"<h1>{text(self.grid.title)}</h1>\n<p class='guidance'>{text(GUIDANCE)}</p>\n"
        return document(self.grid.title, LIGHT, head + self.content, module(), style() + DARK)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html."""
        return save_page(path, self.page)

    def _still(self) -> Scene:
        combination = next(
            combination for combination, run in self.runs.items() if isinstance(run, str)
        )
        trace = combination.study.trace
        return still(arrange(machine_of(trace)), 0, trace)


@cache
def module() -> str:
    """Return the ES module: the machine, the sliders, the numbers, and the choices."""
    files = (CONTROLS, HERE / "numbers.js", HERE / "page.js")
    return MODULE + "".join(file.read_text(encoding="utf-8") for file in files)


@cache
def style() -> str:
    """Return the style of the machine and of the choices."""
    return STYLE + (HERE / "page.css").read_text(encoding="utf-8")


def _choices(grid: ChoiceGrid) -> dict[str, object]:
    """Return all choices by name. Each option has a label and the text of its value in a link."""
    options = {
        choice.name: [{"value": str(value), "label": str(value)} for value in choices]
        for choice in CHOICES
        for choices in [getattr(grid, choice.name)]
    }
    loops = [
        {
            "value": loop.name,
            "label": loop.name,
            "about": loop.reason,
            "named": grid.taps[loop.name][0].names,
            "taps": [
                {
                    "value": {name: link_text(taps) for name, taps in pattern.taps},
                    "label": pattern.words,
                }
                for pattern in grid.taps[loop.name]
            ],
        }
        for loop in grid.loops
    ]
    return {"labels": LABELS, "loops": loops, **options}


def _packed(combination: Combination) -> str | LabError:
    """Return the compressed machine of a combination, or the error if no machine is possible."""
    try:
        data = json.dumps(_run(combination), ensure_ascii=False, separators=(",", ":"))
    except LabError as error:
        return error
    return b64encode(zlib.compress(data.encode(), 9)).decode()


def _run(combination: Combination) -> dict[str, Any]:
    """Return the data of a machine, with its instructions and the sliders of its given values."""
    study, breakage = combination.study, combination.breakage
    if breakage is not None:
        return {"why": BY_BOTH, "machine": for_page(pair_of(breakage))}
    try:
        program = program_of(study.derivative.values, study.given, study.also)
        machine = for_page(machine_of(study.trace, program=program))
    except LabError as error:
        why = f"Values cannot be dragged here: {error}"
        return {"why": why, "machine": for_page(machine_of(study.trace))}
    variables = combination.loop.with_taps(combination.taps.chosen).variables
    known = {n: value_of(v) for n, v in variables.items() if not isinstance(v, RandomState)}
    values = {name: value for name, value in known.items() if value.dtype.kind == "f"}
    return {
        "why": "",
        "lines": program.instructions.lines,
        "base": {name: value.ravel().tolist() for name, value in values.items()},
        "shapes": {name: value.shape for name, value in values.items()},
        "sliders": list(sliders(values, values, variables)),
        "machine": with_places(machine),
    }


def with_places(data: Any) -> Any:
    """Return `data` with the place and the style of each `Numeral` instead of its text."""
    if isinstance(data, Numeral):
        return {"n": data.place, "s": data.style.value}
    if isinstance(data, Mapping):
        return {key: with_places(value) for key, value in data.items()}
    if isinstance(data, list | tuple | Iterator):
        return [with_places(value) for value in data]
    return data
