"""What will probably be chosen next, drawn while a person looks at what there is.

>>> begin(lambda: draw_ahead(bench), Work(), print)

Nothing is kept here: the pictures of a loop that were drawn last are remembered anyway, by
`visual.drawing.draw`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from lab.loops import gallery
from visual.workbench.controls import without_invalid_options
from visual.workbench.state import Bench, LoopBench, with_loop

HIGHEST = 3  # order; every one takes twice as long as the one before
SLOW = 0.5  # seconds for a picture; of loops that take longer the rest is not drawn for nothing


def likely(bench: LoopBench) -> Iterator[Callable[[], Bench]]:
    """What makes the benches that may come next, the likeliest first; it may raise LabError.

    That is one step more or less, another order, and another loop of the gallery.
    """
    order, steps = bench.state.order, bench.chosen.steps
    for count in (steps + 1, steps - 1):
        yield partial(bench.changed, steps=count)
    for other in {min(order + 1, max(order, HIGHEST)), max(order - 1, 0)} - {order}:
        yield partial(bench.changed, order=other)
    for name in gallery.loops:
        yield partial(with_loop, bench, name)


def draw_ahead(bench: Bench) -> None:
    """Draw what may come after a bench; of what cannot be drawn, nothing is told."""
    for make in likely(bench) if isinstance(bench, LoopBench) else ():
        begun = time.monotonic()
        with suppress(Exception):
            without_invalid_options(make())
        if time.monotonic() - begun > SLOW:
            return
