"""J v, J* g and H v of a loop as three rows of loops, and at how many inputs forwards stops paying.

>>> visual.directions(lab.directions(gallery.loops["rnn"])).save("directions.svg")
"""

from collections.abc import Iterator

from lab.errors import expect
from lab.loops.loop import Loop
from lab.reports.runs.directions import Directions
from lab.reports.runs.directions import directions as directions_of
from lab.traces.trace import Trace
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN
from visual.pictures.unrolled.overview import card
from visual.scene.combinators import Piece, above, beside, gap, piece, scene, sized
from visual.scene.shapes import Box, Group, Polyline, Scene, Text, folded
from visual.scene.theme import Role

WIDE, HIGH, LEFT = 480.0, 150.0, 60.0  # of the chart, and where its axis stands
CARD, APART = 230.0, 18.0


def directions(
    loop: Loop | Directions, wrt: str | None = None, of: str | None = None, theme: str = "light"
) -> Scene:
    """A row of loops for each product with the derivatives of `of` by `wrt`, and what it costs.

    They are the first state and the first variable of the loop unless named.  ArgumentError for a
    name that there is not, GradientError where a derivative does not exist.
    """
    expect("loop", loop, (Loop, Directions), "a lab.Loop")
    found = loop if isinstance(loop, Directions) else directions_of(loop, wrt, of)
    name = found.backward.scans[0].name
    title = f"Three ways through {name}: J = d{found.of}/d{found.wrt}"
    runs = (found.forward, found.backward, found.curved)
    rows = [_row(trace, told) for trace, told in zip(runs, found.told, strict=False)]
    head = piece(Text(0, 0, title, 16, bold=True))
    body = above(gap(SCREEN.line), head, *rows, _lines(found.told[-1]), _chart(found), apart=APART)
    return scene(body, title, " ".join(found.told), theme)


def _row(trace: Trace, told: str) -> Piece:
    """The loops of a run, and what they take."""
    cards = [card(named, -1, CARD) for named in NamedScan.each(trace)]
    return above(_lines(told), beside(*cards, apart=24), apart=6)


def _lines(told: str) -> Piece:
    words = folded(told, SCREEN.line, 13)
    return piece(*(Text(0, 18 * n, line, 13) for n, line in enumerate(words)))


def _chart(found: Directions) -> Piece:
    """What a Jacobian costs over its number of inputs, forwards and backwards."""
    most = max(2.0 * found.crossing, 1.5 * found.inputs, 2.0)
    highest = max(most * found.ahead, found.loop + found.outputs * found.back, 1.0)

    def place(inputs: float, cost: float) -> tuple[float, float]:
        return LEFT + WIDE * inputs / most, 14 + HIGH * (1 - cost / highest)

    def shapes() -> Iterator[Polyline | Text | Group]:
        back = found.loop + found.outputs * found.back
        yield Polyline((place(0, highest), place(0, 0), place(most, 0)))
        yield Polyline((place(0, 0), place(most, most * found.ahead)))
        yield Polyline((place(0, back), place(most, back)))
        x, y = place(most, most * found.ahead)
        yield Text(x + 8, y + 4, "forwards: one J v an input", 12)
        yield Text(x + 8, place(most, back)[1] + 4, "backwards: one J* g an output", 12)
        yield Text(LEFT, HIGH + 32, "0", 11, "middle", muted=True)
        yield Text(LEFT - 8, 24, f"{highest:,.0f}", 11, "end", muted=True)
        yield Text(LEFT - 8, 38, "a step", 11, "end", muted=True)
        for inputs, words in ((found.crossing, "the same at"), (found.inputs, "here:")):
            cost = min(inputs * found.ahead, highest)
            x, y = place(inputs, cost if words == "the same at" else 0)
            role = Role.SEED if words == "the same at" else Role.INPUT
            title = f"{words} {inputs:.3g} input{'s' * (inputs != 1)}"
            yield Group((Box(x - 5, y - 5, 10, 10, role),), title=title)
            if role is Role.SEED:
                yield Text(x - 4, y - 12, title, 12, "end")
            else:
                yield Text(max(x, LEFT + 12), HIGH + 32, title, 12)

    return sized(SCREEN.line, HIGH + 42, *shapes())
