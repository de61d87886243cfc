"""Numbers in texts, followed to what has made them, so that a page can make them anew.

    >>> followed([texts_of(picture.svg()) for picture in pictures], known)   # of the same loop
    {9: [Slot(place=3, digits=4)], …}

The pictures are of a few values of a loop.  What is written in them differs in its numbers alone,
and each stands for the instruction of the run's program whose result it was every time.  So
whatever prints numbers can be followed, and nothing has to tell how it does; so can what is
`coloured` by them.  What no instruction makes is None.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lab.errors import GraphError
from lab.traces.program import Instruction
from visual.atlas.known import GAP, Known, Part, Parts, Slot, Words
from visual.backends.svg import patch_path
from visual.layout.cells import patches
from visual.scene.shapes import Box, Scene

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
