"""Draw a picture of a loop, a graph, or a PyMC model, or one of the eight figures."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from pytensor.graph.basic import Variable

from lab.errors import argument_error, check_integer
from lab.loops.gallery import loops
from lab.loops.loop import Loop
from lab.traces.run import Values
from visual.drawing.catalogue import PICTURES, PictureKind, of_trace
from visual.drawing.study import Study, study_of
from visual.options import DERIVATIVE, SHOWN
from visual.pictures.unrolled.unrolled import unrolled_scans
from visual.retired import RETIRED_NAMES, refuse_retired
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES

# For each figure: the loop, the options of its derivative, and the arguments of `unrolled_scans`.
FIGURES: Mapping[int, tuple[str, dict[str, Any], dict[str, Any]]] = {
    1: ("square", {}, {"scans": (1,)}),
    2: ("square", {}, {"scans": (1, 2)}),
    3: ("sequence", {"wrt": "y"}, {"scans": (1,)}),
    4: ("sequence", {"wrt": "y"}, {"scans": (1, 2)}),
    5: ("square", {"order": 2}, {"scans": (2, 3)}),
    6: ("square", {}, {"scans": (1, 2)}),
    7: ("square", {}, {"scans": (1, 2), "all_direct": True}),
    8: ("square", {"order": 2}, {"scans": (1, 4), "all_direct": True}),
}


@lru_cache(maxsize=64)
def _draw_study(study: Study, picture: str, options: tuple[tuple[str, object], ...]) -> Scene:
    return PICTURES[picture].draw(study, **dict(options))


def draw_study(study: Study, picture: str, theme: str, options: Mapping[str, object]) -> Scene:
    """Return a picture of a loop's study, if possible from a cache of 64 pictures."""
    checked = PICTURES[picture].check(options)
    return _draw_study(study, picture, tuple(sorted(checked.items()))).themed(theme)


def draw(
    subject: object,
    picture: str = "tapes",
    theme: str = "light",
    given: Values | None = None,
    **chosen: object,
) -> Scene:
    """Draw the derivative of a loop, a graph, or a PyMC model. Cache up to 64 pictures of loops.

    `picture` names the kind (see `PICTURES`). A loop accepts `taps` (by state name, or for the
    first state), `steps`, `order`, `wrt`, `cost`, `of`, `at` (by name), `mode`, and `keep`, as in
    `lab.Loop.trace`. For a graph, `subject` is a `lab.Derivative`, and `given` contains the values
    of its inputs. A PyMC model accepts `order`, `wrt`, and `at`; its other inputs have the values
    of the initial point. All other arguments are options of the picture. For example, `step`
    selects a step of a long loop. The numbers of Scans start at 1, as in headings: ``scan=2``
    selects ``trace.scans[1]``. The numbers of steps start at 0.

    For print, `width` is the width of the figure: "column" (85 mm), "page" (170 mm), "85mm", or
    "3.4in". The text is then at least 7 points high, and the picture shows fewer columns. A width
    without a unit is in pixels. ``steps="2:5"`` shows only the steps 2 to 4. `no_legend` omits the
    legend. Raises ArgumentError for an unknown name or a bad value, and another LabError if the
    picture is impossible.

        >>> visual.draw(gallery.loops["square"], taps={"x": (-2, -1)}, order=2)
        >>> visual.draw(gallery.loops["rnn"], width="85mm", theme="print").save("figure.pdf")
        >>> visual.draw(lab.derivative(cost, x0, order=2), "unrolled", given={x0: 0.5})
    """
    if isinstance(subject, Variable):
        advice = "for a graph, expected visual.draw(lab.derivative(cost, wrt), picture, given={…})."
        raise argument_error("subject", subject, advice)
    THEMES[theme]  # raises ArgumentError for an unknown name
    choices, options = split_options(chosen)
    refuse_retired(picture, RETIRED_NAMES, "picture {}")
    options = PICTURES[picture].check(options)
    study = study_of(subject, given, **choices)
    if isinstance(subject, Loop):
        return draw_study(study, picture, theme, options)
    return PICTURES[picture].draw(study, **options).themed(theme)  # not cached: may be large


def split_options(chosen: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the options of the derivative, and the options of the picture."""
    choices = {name: chosen[name] for name in chosen if name in DERIVATIVE}
    options = {name: chosen[name] for name in chosen if name not in DERIVATIVE}
    if isinstance(choices.get("steps"), str | range):  # a range of steps to show
        options["steps"] = choices.pop("steps")
    return choices, options


def figure(number: int, theme: str = "light", **paper: Any) -> Scene:
    """Draw figure `number` (1 to 8); `paper` accepts `width`, `steps`, and `no_legend`.

    Figure 1 shows the loop that squares a number four times, and figure 2 its gradient. Figure 3
    shows the backward Scan as a loop over a sequence, and figure 4 the gradients of that loop.
    Figure 5 shows the same gradients as second partial derivatives of the first loop. Figure 6
    shows the backward Scan. Figure 7 shows the backward Scan with an external gradient for every
    step; only one external gradient is nonzero. Figure 8 shows the accumulation of the second
    derivative. A value is faded if no path of arrows leads from the value to a result. Raises
    ArgumentError for another number or a bad option.
    """
    number = check_integer("number", number, f"a figure, 1 to {len(FIGURES)}", 1, len(FIGURES))
    loop, about, arguments = FIGURES[number]
    make = of_trace(partial(unrolled_scans, **arguments))
    kind = PictureKind(f"figure {number}", "", make, (SHOWN,))
    return kind.draw(study_of(loops[loop], **about), **paper).themed(theme)
