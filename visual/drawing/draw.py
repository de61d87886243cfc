"""Draw a picture of a loop, a graph, or a PyMC model, and cache recent pictures of loops."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, argument_error, check_integer, check_type, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.traces.run import Values
from visual.drawing.catalogue import PICTURES
from visual.drawing.study import Chosen, Study, choose, study
from visual.options import AT, DERIVATIVE, ORDER
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES

CACHE_SIZE = 64


@lru_cache(maxsize=CACHE_SIZE)
def cached_study(loop: Loop, choice: Chosen) -> Study:
    """Return the study of a loop's derivative; the cache has 64 entries."""
    return study(loop, choice)


@lru_cache(maxsize=CACHE_SIZE)
def _draw_study(study: Study, picture: str, options: tuple[tuple[str, object], ...]) -> Scene:
    return PICTURES[picture].draw(study, **dict(options))


def draw_study(study: Study, picture: str, theme: str, options: Mapping[str, object]) -> Scene:
    """Draw a picture of the cached study of a loop; the cache has 64 pictures."""
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
    "3.4in". Text then has at least 7 points, and the picture shows fewer columns. A number is a
    width in pixels. ``steps="2:5"`` shows only the steps 2 to 4. `no_legend` omits the legend.

        >>> visual.draw(gallery.loops["square"], taps={"x": (-2, -1)}, order=2)
        >>> visual.draw(gallery.loops["rnn"], width="85mm", theme="print").save("figure.pdf")
        >>> visual.draw(lab.derivative(cost, x0, order=2), "unrolled", given={x0: 0.5})
    """
    if isinstance(subject, Variable):
        advice = "for a graph, expected visual.draw(lab.derivative(cost, wrt), picture, given={…})."
        raise argument_error("subject", subject, advice)
    THEMES[theme]  # raises ArgumentError for an unknown name
    choices, options = split_options(chosen)
    options = PICTURES[picture].check(options)
    found = study_of(subject, given, choices)
    if isinstance(subject, Loop):
        return draw_study(found, picture, theme, options)
    return PICTURES[picture].draw(found, **options).themed(theme)  # a graph may be large


def split_options(chosen: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Separate the options of the derivative from the options of the picture."""
    choices = {name: chosen[name] for name in chosen if name in DERIVATIVE}
    options = {name: chosen[name] for name in chosen if name not in DERIVATIVE}
    if isinstance(choices.get("steps"), str | range):  # a range to show, not the number of steps
        options["steps"] = choices.pop("steps")
    return choices, options


OF_A_MODEL = ("order", "wrt", "at")


def study_of(subject: object, given: Values | None, choices: Mapping[str, object]) -> Study:
    """Return the study of the derivative of a loop, a graph, or a model."""
    density = log_density(subject)
    if density is not None:
        order = check_integer("order", choices.get("order", ORDER.default))
        (wrt, *_) = density.resolve_wrt(choices.get("wrt"))
        given = density.bind_values(AT.check(choices.get("at", {})))
        subject = replace(derivative(density.cost, wrt, order), cost="the log-density")
        choices = {name: value for name, value in choices.items() if name not in OF_A_MODEL}
    if isinstance(subject, Derivative):
        if choices:
            raise ArgumentError(
                f"{listing(choices)}: not an option of a lab.Derivative; pass such options to "
                "lab.derivative. For a PyMC model, expected order, wrt, or at."
            )
        return study(subject, choose(), given)
    expected = "a lab.Loop, a lab.Derivative, or a PyMC model"
    return cached_study(check_type("subject", subject, Loop, expected), choose(**choices))
