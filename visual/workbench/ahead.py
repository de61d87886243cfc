"""Draw the pictures of probable next choices while the user looks at the present picture.

>>> begin(lambda: draw_ahead(bench), Job(), print)

The cache of `visual.drawing.draw` stores the pictures.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from lab.loops import gallery
from visual.workbench.controls import without_invalid_options
from visual.workbench.state import Bench, LoopBench, with_loop

HIGHEST = 3  # the highest order that is drawn ahead
SLOW = 0.5  # seconds; after a slower picture, no other picture is drawn ahead


def probable_changes(bench: LoopBench) -> Iterator[Callable[[], Bench]]:
    """Yield functions that return probable next benches, the most probable first.

    The functions change the steps or the order by 1, or select another loop of the gallery. They
    can raise LabError.
    """
    order, steps = bench.state.order, bench.chosen.steps
    for count in (steps + 1, steps - 1):
        yield partial(bench.changed, steps=count)
    for other in {min(order + 1, max(order, HIGHEST)), max(order - 1, 0)} - {order}:
        yield partial(bench.changed, order=other)
    for name in gallery.loops:
        yield partial(with_loop, bench, name)


def draw_ahead(bench: Bench) -> None:
    """Draw the probable next benches; ignore errors."""
    for change in probable_changes(bench) if isinstance(bench, LoopBench) else ():
        start = time.monotonic()
        with suppress(Exception):
            without_invalid_options(change())
        if time.monotonic() - start > SLOW:
            return
