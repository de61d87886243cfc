"""From a loop and what a person chose to a picture, remembering what was drawn before."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from lab.errors import ArgumentError, check_integer, check_type, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.traces.run import Values
from visual.drawing.catalogue import PICTURES
from visual.drawing.study import Chosen, Study, choose, study
from visual.options import AT, DERIVATIVE, ORDER
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES

REMEMBERED = 64


@lru_cache(maxsize=REMEMBERED)
def studied(loop: Loop, choice: Chosen) -> Study:
    """The study of a loop's derivative as chosen; the last 64 are remembered."""
    return study(loop, choice)


@lru_cache(maxsize=REMEMBERED)
def _drawn(
    loop: Loop,
    picture: str,
    choice: Chosen,
    options: tuple[tuple[str, object], ...],
) -> Scene:
    return PICTURES[picture].draw(studied(loop, choice), **dict(options))


def draw(
    subject: object,
    picture: str = "tapes",
    theme: str = "light",
    given: Values | None = None,
    **chosen: object,
) -> Scene:
    """Draw the derivative of a loop, a graph, or a PyMC model; 64 pictures of loops are cached.

    `picture` is the name of a kind.  Of a loop, `taps` (by name, or of the first state), `steps`,
    `order`, `wrt`, `cost`, `of`, `at` (by name), `mode`, and `keep` can be chosen, as in
    `lab.Loop.trace`.  The derivative of a graph needs the values of its inputs, `given`; of a PyMC
    model, `order`, `wrt`, and `at` can be chosen; other inputs have the values of its initial
    point.  All else are options of the picture: `step`, for example, is a step that a long loop
    shows.  `scan` and `scans` are the numbers in the headings, from 1: 2 for
    ``2 · gradient of square``, which is ``trace.scans[1]``.  Steps count from 0.

    For a paper, `width` is the width of the figure, as "column" (85 mm), "page" (170 mm), "85mm",
    or "3.4in": letters keep seven points, and fewer columns are shown; a number is in pixels.
    `steps` may also be "2:5", to show no other steps.  `no_legend` leaves the legend out.

        >>> visual.draw(gallery.loops["square"], taps={"x": (-2, -1)}, order=2)
        >>> visual.draw(gallery.loops["rnn"], width="85mm", theme="print").save("figure.pdf")
        >>> visual.draw(lab.derivative(cost, x0, order=2), "unrolled", given={x0: 0.5})
    """
    THEMES[theme]  # refuses what is none
    choices, options = parted(chosen)
    options = PICTURES[picture].check(options)
    if isinstance(subject, Loop):
        about = choose(**choices), tuple(sorted(options.items()))
        return _drawn(subject, picture, *about).themed(theme)
    return PICTURES[picture].draw(posed(subject, given, choices), **options).themed(theme)


def parted(chosen: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What is chosen about the derivative, and what about the picture."""
    choices = {name: chosen[name] for name in chosen if name in DERIVATIVE}
    options = {name: chosen[name] for name in chosen if name not in DERIVATIVE}
    if isinstance(choices.get("steps"), str | range):  # not how many there are, but which are shown
        options["steps"] = choices.pop("steps")
    return choices, options


OF_A_MODEL = ("order", "wrt", "at")


def posed(subject: object, given: Values | None, choices: Mapping[str, object]) -> Study:
    """The study of a loop's derivative, a graph's or a model's, as chosen."""
    density = log_density(subject)
    if density is not None:
        order = check_integer("order", choices.get("order", ORDER.default))
        (by, *_) = density.resolve_wrt(choices.get("wrt"))
        given = density.bind_values(AT.check(choices.get("at", {})))
        subject = replace(derivative(density.cost, by, order), cost="the log-density")
        choices = {name: value for name, value in choices.items() if name not in OF_A_MODEL}
    if isinstance(subject, Derivative):
        if choices:
            raise ArgumentError(
                f"{listing(choices)}: this is chosen when a derivative is made; of a "
                "lab.Derivative only its picture can be, and of a model its order, wrt and at."
            )
        return study(subject, choose(), given)
    told = "a lab.Loop, a lab.Derivative or a PyMC model"
    return studied(check_type("subject", subject, Loop, told), choose(**choices))
