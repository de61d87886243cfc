"""What a page needs to compute the numbers of a picture anew, from other values of its loop.

    >>> live(Combination(loop, own(loop), 1, "last"), "tapes", picture)["lines"]

The picture is drawn for a few values besides its own, and what then differs is `followed`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from lab.errors import GraphError, LabError
from lab.loops.variables import RandomState, value_of
from lab.traces.program import program_of
from visual.atlas.followed import coloured, data, followed, texts_of
from visual.atlas.grid import Combination
from visual.atlas.known import Known
from visual.drawing.draw import studied
from visual.drawing.study import Study, choose
from visual.options import Value
from visual.scene.shapes import Polyline, Scene
from visual.widgets.sliders import sliders
from visual.widgets.stories import of_all, values_of

# What the values of a loop are multiplied by, the later entries more; and if a picture then has
# other words than its own, what is nearer.
NEAR = ((1.03127631, 0.95718293, 1.17320508), (1.00312763, 0.99718293, 1.01732050))


def near(
    values: Mapping[str, np.ndarray], factors: tuple[float, ...] = NEAR[0]
) -> Iterator[dict[str, np.ndarray]]:
    """Values of a loop that are near those it has, none of them as near as another, or zero."""
    for factor in factors:
        count, found = 0, {}
        for name, value in values.items():
            spread = 1 + (factor - 1) * (1 + np.arange(count, count + value.size) / 8)
            spread, count = spread.reshape(value.shape), count + value.size
            found[name] = np.where(value == 0, spread - 1, value * spread)
        yield found


def live(at: Combination, view: str, picture: Scene, scan: int | None = None) -> dict[str, object]:
    """What a page needs for a picture of a loop, as JSON; or ``{"why": …}`` it cannot be computed.

    `values` are the sliders with which the numbers are changed, `base` those of the picture.
    """
    why = "This view shows no numbers of a run."
    for factors in NEAR if picture.trace is not None else ():
        try:
            found = _followed(at, view, picture, factors, scan)
        except LabError as error:
            why = str(error)
        else:
            values = _values(at)
            variables = at.loop.with_taps(at.taps.chosen).variables
            base = {name: value.ravel().tolist() for name, value in values.items()}
            return {"base": base, "values": [*sliders(values, values, variables)], **found}
    return {"why": why}


def _followed(
    at: Combination,
    view: str,
    picture: Scene,
    factors: tuple[float, ...],
    scan: int | None,
) -> dict[str, object]:
    if any(isinstance(shape, Polyline) and shape.dots for shape in picture.walk()):
        raise GraphError("This view draws its numbers, and does not only write them.")
    known = _known(at, picture.trace is _study(at).trace, factors)
    for value in values_of(picture):
        known.contributions(value)
    colours = picture.theme.name
    others = [at.picture(view, colours, one, scan) for one in near(_values(at), factors)]
    strips = coloured([picture, *others], known)
    texts = followed([texts_of(one.svg()) for one in (picture, *others)], known)
    return data(known, texts, followed([_told(one) for one in (picture, *others)], known), strips)


def _values(at: Combination) -> dict[str, np.ndarray]:
    """The values of its loop, but for whole numbers."""
    variables = at.loop.with_taps(at.taps.chosen).variables
    found = {n: value_of(v) for n, v in variables.items() if not isinstance(v, RandomState)}
    return {name: value for name, value in found.items() if value.dtype.kind == "f"}


def _study(at: Combination, values: Mapping[str, Value] | None = None) -> Study:
    chosen = choose(taps=at.taps.chosen, order=at.order, cost=at.cost, at=values)
    return studied(at.loop, chosen)


@lru_cache(maxsize=2)
def _known(at: Combination, plain: bool, factors: tuple[float, ...]) -> Known:
    """What is known of its runs, or of those that tell what its cost acts on."""
    studies = [_study(at), *(_study(at, one) for one in near(_values(at), factors))]
    first = studies[0]
    derivative = first.derivative if plain else first.differentiate(1)
    program = program_of(derivative.values, first.given, first.also)
    return Known(program, [one.trace if plain else one.trace_of_cost for one in studies])


def _told(picture: Scene) -> list[str]:
    """What is told of all values, line by line."""
    values = of_all(picture).get("values", ())
    return [line for told in values for line in (*told["origin"], *told["fate"])]
