"""A page of tape machines: without Python, a reader chooses a derivative and drags values.

    >>> visual.Page().save("lesson.html")
    >>> visual.Page(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2, 3]).save("a.html")

The page contains the compressed machine of each combination of choices, with the instructions of
the run. Each number refers to an instruction. When a given value changes, ``numbers.js`` executes
the instructions again.
"""

import json
import warnings
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.equations.numbers import DIGITS
from lab.errors import ArgumentError, LabError
from lab.gradients.derivative import ManyScansWarning
from lab.progress import progress_bar
from lab.records import cached_property
from lab.reports.breaking.breakage import break_rule
from lab.traces.program import program_of
from visual.backends.page import document, embedded, in_script
from visual.backends.svg import text
from visual.drawing.study import Study, study_of
from visual.options import CORRECT, Value
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.still import still
from visual.player.data import as_data
from visual.player.grid import OMITTED, TITLE, ChoiceGrid, Combination
from visual.player.state import link_text
from visual.player.widget import DARK_PAGE, PLAYER, STYLE
from visual.scene.theme import LIGHT
from visual.widgets.sliders import sliders
from visual.widgets.widget import CONTROLS, DARK_NOTEBOOK, SavedAsPage, bundle, read

HERE = Path(__file__).parent
PAGE_MODULE = bundle(*PLAYER, HERE / "render.js", CONTROLS, HERE / "numbers.js", HERE / "page.js")
PAGE_STYLE = DARK_NOTEBOOK + STYLE + read(HERE / "page.css")
LARGEST = 50_000_000  # the maximum size of the compressed machines of a page, in bytes
BY_BOTH = "Both rules are shown with the given values. To drag values, choose the correct rule."
GUIDANCE = (
    "Each row is a tape. At order 1, a backward step replaces the orange value by its old "
    "value plus green × blue. Press play, or drag the bar. Click a number to see its origin."
)


class Page(SavedAsPage):
    """A page with a tape machine for each combination of choices; needs no Python and no network.

    `loops` are distinct names of loops in the gallery, or `Loop` objects. `taps` maps the name of a
    loop to its tap patterns. A pattern contains the taps of the first state, or maps the names of
    states and sequences to taps; by default, a loop has its own taps and a few other patterns.
    `orders` are orders of the derivative, `costs` are "sum", "last", or both (the page shows the
    first), and `rules` are "correct" and names of faulty rules in `lab.BROKEN`. Without `loops`,
    `orders`, and `rules`, square also has order 3 and the rule "accumulate-overwritten".

    Raises ArgumentError if an argument is invalid. Methods raise LabError if no combination has a
    machine, or if the page is too large. The page shows the reason for each missing machine.
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
        self.grid = ChoiceGrid(loops, taps, title, orders=orders, costs=costs, rules=rules)

    def __repr__(self) -> str:
        return f"<Page: {self.grid.title}>"

    @cached_property
    def runs(self) -> Mapping[str, str | LabError]:
        """The compressed machine of each link of the grid, or the error if it is impossible.

        Raises LabError for a page without a machine, and for a page that is too large.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ManyScansWarning)  # the progress bar shows the delay
            progress = progress_bar([*self.grid.combinations.items()], "page", "machine")
            runs: dict[str, str | LabError] = {}
            for link, combination in progress:
                try:
                    data = json.dumps(_run(combination), ensure_ascii=False, separators=(",", ":"))
                    runs[link] = b64encode(zlib.compress(data.encode(), 9)).decode()
                except LabError as error:
                    runs[link] = error
        size = sum(len(run) for run in runs.values() if isinstance(run, str))
        if not size:
            raise next(run for run in runs.values() if isinstance(run, LabError))
        if size > LARGEST:
            why = f"expected a page of at most {LARGEST // 10**6} MB, got {size / 1e6:.0f} MB"
            raise ArgumentError(f"orders: {why}. Choose fewer loops, taps, or orders.")
        return runs

    @property
    def data(self) -> str:
        """All choices and machines as JSON for a script element."""
        runs = {
            link: {"reason": str(run)} if isinstance(run, LabError) else {"packed": run}
            for link, run in self.runs.items()
        }
        data = {"fields": Combination._fields, "runs": runs, "omitted": OMITTED}
        return in_script({**self.grid.options, **data})

    @property
    def content(self) -> str:
        """The machines as HTML, for a page that contains `PAGE_MODULE` and `PAGE_STYLE`."""
        first = next(link for link, run in self.runs.items() if isinstance(run, str))
        trace = _study(self.grid.combinations[first]).trace
        twin = text(still(arrange(machine_of(trace)), 0).text())
        return (
            f'<div class="scantape-lesson" data-lesson><noscript><pre>{twin}</pre></noscript>'
            f'<script type="application/json">{self.data}</script></div>\n'
        )

    def fragment(self) -> str:
        """Return the machines with their style and module, for embedding in another page."""
        return embedded(self.content, PAGE_MODULE, PAGE_STYLE)

    _repr_html_ = fragment

    def page(self) -> str:
        """Return the page as HTML. The page loads no other file."""
        title, style = self.grid.title, PAGE_STYLE + DARK_PAGE
        head = f"<h1>{text(title)}</h1>\n<p class='guidance'>{text(GUIDANCE)}</p>\n"
        return document(title, LIGHT, head + self.content, PAGE_MODULE, style)


def _study(combination: Combination) -> Study:
    """Return the study of a combination with the correct rule."""
    loop, taps, order, cost, _ = combination
    return study_of(loop, taps=taps, order=order, cost=cost)


def _run(combination: Combination) -> dict[str, Any]:
    """Return the data of a machine, with instructions and sliders if its values can be dragged."""
    loop, taps, order, cost, rule = combination
    study, loop = _study(combination).playable(), loop.with_taps(taps)
    if rule != CORRECT:
        pair = pair_of(break_rule(loop, rule, max(order, 1), cost=cost))
        if pair.mistake and pair.mistake.example:  # a link of the page contains no number of steps
            example = {k: v for k, v in pair.mistake.example.items() if k != "steps"}
            pair = replace(pair, mistake=replace(pair.mistake, example=example))
        return {"why": BY_BOTH, "machine": as_data(pair)}
    try:
        program = program_of(study.derivative.values, study.given, study.also)
        machine = as_data(machine_of(study.trace, program=program))
        values = {name: value for name, value in loop.values.items() if value.dtype.kind == "f"}
        base = {name: link_text(value.tolist()) for name, value in values.items()}
    except LabError as error:
        why = f"Values cannot be dragged here: {error}"
        return {"why": why, "machine": as_data(machine_of(study.trace))}
    return {
        "why": "Drag a given value in the picture, or its slider." if values else "",
        "lines": program.instructions.lines,
        "digits": DIGITS,
        "base": base,
        "sliders": list(sliders(values, values, loop.variables)),
        "machine": machine,
    }
