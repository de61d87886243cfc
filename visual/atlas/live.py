"""What a page needs to compute the numbers of a picture anew, from other values of its loop.

    >>> live(Combination(loop, own(loop), 1, "last"), "tapes", picture)["lines"]

The picture is drawn for a few values besides its own.  What is written in these pictures differs in
its numbers alone, and each stands for the instruction of the run's program whose result it was
every time.  So whatever prints numbers can be `followed`, and nothing has to tell how it does; so
can what is `coloured` by them.  What no instruction makes is None.

    >>> followed([texts_of(picture.svg()) for picture in pictures], known)   # of the same loop
    {9: [Slot(place=3, digits=4)], …}
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lab.errors import GraphError, LabError
from lab.loops.variables import RandomState, value_of
from lab.traces.program import Instruction, program_of
from visual.atlas.grid import Combination
from visual.atlas.known import GAP, Known, Part, Parts, Slot, Words
from visual.backends.svg import patch_path
from visual.drawing.draw import studied
from visual.drawing.study import Study, choose
from visual.layout.cells import patches
from visual.options import Value
from visual.scene.shapes import Box, Polyline, Scene
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


# which instruction makes each number that is written or painted

TEXTS = re.compile(r"<(?:text|title|desc)\b[^>]*>([^<]*)<")


class Patch(NamedTuple):
    """A coloured entry of an array: the places of its number and of what the full colour is.

    Its outline is another one where the number is negative.
    """

    place: int
    scale: int
    positive: str
    negative: str


def texts_of(svg: str) -> list[str]:
    """All that is written in a picture, in the order of its elements."""
    return [html.unescape(one) for one in TEXTS.findall(svg)]


def followed(texts: Sequence[Sequence[str]], known: Known) -> dict[int, Parts]:
    """The texts of the first run that have other numbers in others, as parts.

    Words may stand in another line where numbers are longer.  Parts are words, a slot, or an
    equation and which of its words.  GraphError if it is more than numbers that differs.
    """
    texts = [[one.replace("‖ ", f"‖{GAP}") for one in run] for run in texts]
    streams = [[word for one in run for word in one.split(" ")] for run in texts]
    if len({*map(len, streams)}) > 1:
        raise GraphError(
            "With other values this picture says other things, not only other numbers."
        )
    in_equation = _equations(streams, known)
    found: dict[int, Parts] = {}
    start = 0
    for number, one in enumerate(texts[0]):
        parts: Parts = []
        count = len(one.split(" "))
        for at in range(start, start + count):
            words = [stream[at] for stream in streams]
            parts += [in_equation[at]] if at in in_equation else known.parts(words)
            parts.append(" " if at < start + count - 1 else "")
        start += count
        if any(not isinstance(part, str) for part in parts):
            found[number] = _joined(parts)
    return found


def _equations(streams: Sequence[Sequence[str]], known: Known) -> dict[int, Part]:
    """Which words are those of an equation: its number, and that of the word."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(streams[0]):
        places.setdefault(word, []).append(at)
    found: dict[int, Part] = {}
    for number, equation in enumerate(known.equations):
        count = len(equation.words[0])
        for at in places.get(equation.words[0][0], ()):
            pairs = zip(streams, equation.words, strict=True)
            if all(list(stream[at : at + count]) == words for stream, words in pairs):
                found |= {at + word: Words(number, word, word + 1) for word in range(count)}
    return found


def _joined(parts: Parts) -> Parts:
    """The same parts, with letters together, and the words of an equation."""
    found: Parts = []
    for part in parts:
        match [*found, ""], part:
            case [*_, str(before), _], str(letters):
                found[-1] = before + letters
            case [*_, Words() as before, " ", _], Words() as after if _goes_on(before, after):
                found[-2:] = [Words(before.equation, before.first, after.end)]
            case _ if part != "":
                found.append(part)
    return [part.replace(GAP, " ") if isinstance(part, str) else part for part in found]


def _goes_on(before: Words, after: Words) -> bool:
    return (before.equation, before.end) == (after.equation, after.first)


def coloured(pictures: Sequence[Scene], known: Known) -> list[Patch | None]:
    """The patches of the first picture, where others have other numbers; see `followed`.

    It is called before that, since what their full colours stand for is written below them.
    """
    drawn = [[*patches(one.shapes)] for one in pictures]
    if len({*map(len, drawn)}) > 1:
        raise GraphError("With other values this picture has other strips.")
    known.scales.clear()
    found: list[tuple[Box, tuple[str, tuple[float, ...]], int | None]] = []
    for (name, box), *others in zip(*drawn, strict=True):
        boxes = [box, *(other for _, other in others)]
        place = known.place([one.heat or 0.0 for one in boxes])
        found.append((box, (name, tuple(one.scale for one in boxes)), place))
    shown: dict[tuple[str, tuple[float, ...]], list[int | None]] = {}
    for _, scale, place in found:
        shown.setdefault(scale, []).append(place)
    scales = {scale: known.scale(places, scale[1]) for scale, places in shown.items()}
    return [_patch(box, place, scales[scale]) for box, scale, place in found]


def _patch(box: Box, place: int | None, scale: int | None) -> Patch | None:
    if place is None or scale is None:
        return None
    either = (patch_path(replace(box, heat=sign).filled) for sign in (1.0, -1.0))
    return Patch(place, scale, *either)


def data(
    known: Known,
    texts: Mapping[int, Parts],
    stories: Mapping[int, Parts],
    strips: Sequence[Patch | None] = (),
) -> dict[str, object]:
    """What a page gets: the instructions that it needs, and what is written of their numbers."""
    parts = [part for one in (*texts.values(), *stories.values()) for part in one]
    used = sorted({part.equation for part in parts if isinstance(part, Words)})
    equations = [known.equations[number] for number in used]
    wanted = {part.place for part in parts if isinstance(part, Slot)}
    wanted |= {place for patch in strips if patch for place in patch[:2]}
    for equation in equations:
        wanted |= {equation.left, *equation.places}
    lines, waiting = known.program.instructions.lines, [*wanted]
    while waiting:  # what they are computed from
        name, *operands = lines[waiting.pop()]
        fresh = set() if name in ("constant", "input") else {*map(int, operands)} - wanted
        wanted |= fresh
        waiting += fresh
    at = {place: number for number, place in enumerate(sorted(wanted))}

    def packed(place: int) -> Instruction:
        name, *operands = lines[place]
        is_given = name in ("constant", "input")
        return (name, *(one if is_given else at[int(one)] for one in operands))

    def filled(part: Part) -> Part:
        match part:
            case Slot(place, digits):
                return Slot(at[place], digits)
            case Words(equation, first, end):
                return Words(used.index(equation), first, end)
        return part

    return {
        "lines": [packed(place) for place in at],
        "equations": [equation.data(at.__getitem__) for equation in equations],
        "texts": [[n, [*map(filled, one)]] for n, one in texts.items()],
        "stories": [[n, [*map(filled, one)]] for n, one in stories.items()],
        "strips": [patch and (*(at[place] for place in patch[:2]), *patch[2:]) for patch in strips],
    }
