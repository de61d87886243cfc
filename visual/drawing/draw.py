"""Draw a picture of a loop, a graph, or a PyMC model, and cache recent pictures of loops."""

from collections.abc import Mapping
from functools import lru_cache

from pytensor.graph.basic import Variable

from lab.errors import argument_error
from lab.loops.loop import Loop
from lab.traces.run import Values
from visual.drawing.catalogue import PICTURES
from visual.drawing.study import Study, study_of
from visual.options import DERIVATIVE
from visual.retired import RETIRED_NAMES, refuse_retired
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES


@lru_cache(maxsize=64)
def _draw_study(study: Study, picture: str, options: tuple[tuple[str, object], ...]) -> Scene:
    return PICTURES[picture].draw(study, **dict(options))


def draw_study(study: Study, picture: str, theme: str, options: Mapping[str, object]) -> Scene:
    """Draw a picture of the study of a loop, or return the picture from a cache of 64 pictures."""
    checked = PICTURES[picture].check(options)
    return _draw_study(study, picture, tuple(sorted(checked.items()))).themed(theme)


def draw(
    subject: object,
    picture: str = "tapes",
    theme: str = "light",
    given: Values | None = None,
    **chosen: object,
) -> Scene:
    """Draw the derivative of a loop, a graph, or a PyMC model; 64 pictures of loops are cached.

    `picture` names the kind (see `PICTURES`). A loop accepts `taps` (by state name, or for the
    first state), `steps`, `order`, `wrt`, `cost`, `of`, `at` (by name), `mode`, and `keep`, as in
    `lab.Loop.trace`. For a graph, `subject` is a `lab.Derivative`, and `given` contains the values
    of its inputs. A PyMC model accepts `order`, `wrt`, and `at`; its other inputs have the values
    of the initial point. All other arguments are options of the picture. For example, `step`
    selects a step of a long loop. The numbers of Scans start at 1, as in headings: ``scan=2``
    selects ``trace.scans[1]``. The numbers of steps start at 0.

    For print, `width` is the width of the figure: "column" (85 mm), "page" (170 mm), "85mm", or
    "3.4in". Text then has at least 7 points, and the picture shows fewer columns. A number is the
    width in pixels. ``steps="2:5"`` shows only the steps 2 to 4. `no_legend` omits the legend.
    Raises ArgumentError for an unknown picture, theme, or option, and for a bad value.

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
    """Separate the options of the derivative from the options of the picture."""
    choices = {name: chosen[name] for name in chosen if name in DERIVATIVE}
    options = {name: chosen[name] for name in chosen if name not in DERIVATIVE}
    if isinstance(choices.get("steps"), str | range):  # a range of steps to show
        options["steps"] = choices.pop("steps")
    return choices, options
