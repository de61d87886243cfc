"""What a cell showed as HTML: pictures to walk through, exercises to be answered, text."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import prose
from running import Output, Printed

from visual.atlas.atlas import Atlas
from visual.backends.svg import text
from visual.exercises.exercise import Asked, Exercises
from visual.exercises.page import answer_data, section
from visual.pictures.values.plot import Plot
from visual.scene.formats import Picture
from visual.scene.shapes import Scene
from visual.scene.theme import DARK
from visual.widgets.stepper import Stepper
from visual.workbench.bench import LoopBench
from visual.workbench.workbench import Workbench

OURS = ("lab", "visual")
VIEWS, ORDERS = ("unrolled", "tapes", "taps", "genealogy", "stepgraph"), (1, 2)
LARGEST = 1500  # a wider picture is not fitted to the window: its words would be too small
LONGEST = 108  # longer lines of printed text are broken
LIVE = (
    "In a notebook, this is a workbench with controls for the loop, its taps, its steps and the "
    "order of its derivative. Here is its picture;"
)
MORE = (
    "In a notebook, this is a workbench on which all can be changed, down to the loop itself. Here "
    "is what can be chosen without Python;"
)


@dataclass
class Showing:
    """The shown parts of one page: what is numbered on it, and the answers to its exercises."""

    title: str
    answers: list[dict[str, object]] = field(default_factory=list)
    walked: bool = False
    chosen: bool = False  # whether there is an atlas, to choose from
    _pictures: int = 0

    def html(self, output: Output) -> str:
        """The HTML of an output."""
        if isinstance(output, Printed):
            return _printed(output.text, output.is_error)
        match output.value:
            case Scene() | Plot() as picture:
                return self._pictures_of([picture], whole=True)
            case Stepper() as stepper:
                return self._pictures_of(stepper.scenes, stepper.step)
            case Workbench() as bench:
                return self._workbench(bench)
            case Atlas() as atlas:
                return self._atlas(atlas)
            case Asked() as asked:
                return self._exercises([asked])
            case Exercises() as exercises:
                return self._exercises(exercises.members)
        return _other(output.value)

    def _pictures_of(self, pictures: Sequence[Picture], step: int = -1, whole: bool = False) -> str:
        """Pictures that are walked through together, if they have moments.

        A picture that a lesson shows by itself is seen as a `whole` until a reader takes a step.
        """
        frames = "".join(map(self._frame, pictures))
        if not any(isinstance(picture, Scene) and picture.moments for picture in pictures):
            return f'<div class="wide">{frames}</div>\n'
        self.walked = True
        start = "" if whole else f' data-at="{step}"'
        return f'<div class="wide scantape" data-scantape data-whole{start}>{frames}</div>\n'

    def _frame(self, picture: Picture) -> str:
        """A picture in a frame that scrolls; plots, which have more colours, stand twice."""
        self._pictures += 1
        name = text(f"Picture {self._pictures}: {picture.title}")
        region = f'role="region" aria-label="{name}" tabindex="0"'
        if isinstance(picture, Plot):
            dark = replace(picture, theme=DARK).svg()
            return (
                f'<div class="picture by-day" {region}>{picture.svg()}</div>'
                f'<div class="picture by-night" {region}>{dark}</div>'
            )
        size = " vast" if picture.width > LARGEST else ""
        return f'<div class="picture {picture.theme.name}{size}" {region}>{picture.svg()}</div>'

    def _exercises(self, exercises: Sequence[Asked]) -> str:
        """Questions that the page checks by itself, numbered over the whole page."""
        made = []
        for exercise in exercises:
            self.answers.append(answer_data(exercise.task.answer))
            made.append(section(exercise.task, f"Question {len(self.answers)}", "p"))
        return f'<div class="wide">{"".join(made)}</div>\n'

    def _atlas(self, atlas: Atlas) -> str:
        self.chosen = True
        return f'<div class="wide atlas">{atlas.content}</div>\n'

    def _workbench(self, bench: Workbench) -> str:
        """What can be chosen without Python of a workbench as it is opened, or its picture."""
        atlas = atlas_of(bench)
        told, shown = (
            (MORE, self._atlas(atlas))
            if atlas
            else (LIVE, self._pictures_of([bench.picture], bench.step))
        )
        how = f"{told} <code>make start</code> opens the lessons with it."
        return f'<p class="live">{how}</p>\n{shown}'


def atlas_of(bench: Workbench) -> Atlas | None:
    """The workbench of a loop, on which little is chosen, as pictures drawn beforehand."""
    opened = bench._bench
    if not isinstance(opened, LoopBench) or set(opened.choices) - {"view", "cost"}:
        return None
    views = tuple(dict.fromkeys((opened.state.view, *VIEWS)))
    return Atlas([opened.loop], orders=ORDERS, costs=[opened.state.cost], views=views)


def _other(value: object) -> str:
    """Formulas and HTML of objects of ours; of all others what they print."""
    bundle = getattr(value, "_repr_mimebundle_", None)
    shown = bundle() if bundle and type(value).__module__.split(".")[0] in OURS else {}
    if "text/html" in shown:
        return f'<div class="wide">{shown["text/html"]}</div>\n'
    if "text/latex" in shown:
        latex = shown["text/latex"].strip("$").replace(r"\displaystyle", "")
        return f'<div class="formula" tabindex="0">{prose.formula(latex, True)}</div>\n'
    return _printed(shown.get("text/plain", repr(value)))


def _printed(content: str, is_error: bool = False) -> str:
    """Text as it was printed; sentences that are wider than a page are broken, as in JupyterLab."""
    is_long = any(len(line) > LONGEST for line in content.splitlines())
    kind = "printed wrapped" if is_error or is_long else "printed"
    return f'<pre class="{kind}" tabindex="0">{text(content.rstrip())}</pre>\n'
