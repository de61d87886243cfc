"""Scans inside the steps of others: the study of those in one step, and the ways in and back.

A step's Scans are a run of their own, and so every kind of picture can show them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from pytensor.graph.basic import Apply

from lab.errors import ArgumentError, listing, quote
from lab.records import cached_property
from lab.scans.node import inner_graph
from lab.scans.replacing import scan_nodes
from lab.traces.trace import ScanTrace, Trace
from visual.drawing.study import Study
from visual.layout.canvas import MARGIN
from visual.options import INSIDE, scan_index, step_of
from visual.scene.combinators import Piece, above, beside, piece, shifted
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, moved, outline
from visual.scene.theme import Role

SIZE, TOP, WIDEST = 12, 10.0, 520.0
MOST, FEW = 4, 12  # Scans that have a way in, and steps that do


@dataclass(frozen=True, eq=False)
class Within(Study):
    """The study of the Scans inside step `step` of Scan `scan` of another study."""

    _: KW_ONLY
    outer: Study
    scan: int
    step: int

    @cached_property
    def trace(self) -> Trace:
        """What they read and wrote in that step."""
        return self.outer.trace.scans[self.scan].nested[self.step]

    @property
    def trace_of_cost(self) -> Trace:
        """The same."""
        return self.trace

    @property
    def scans(self) -> list[Apply]:
        """The Scans in the order of ``trace.scans``."""
        return scan_nodes(inner_graph(self.outer.scans[self.scan].op)[1])

    @property
    def place(self) -> str:
        """``step 0 of 2 · gradient of outer``."""
        return f"step {self.step} of {self.scan + 1} · {self.outer.trace.scans[self.scan].name}"


def within(study: Study, path: Sequence[int]) -> Study:
    """The study of the Scans inside a step: number of the Scan and step, and so on further in."""
    for number, step in zip(path[::2], path[1::2], strict=True):
        scan = scan_index(study.trace, number, INSIDE.name)
        found = study.trace.scans[scan]
        step_of(found, step, INSIDE.name)
        if not found.nested:
            raise ArgumentError(
                f"inside = {quote(path)}: {number} · {found.name} has no Scan in its step, or "
                "more steps than 500."
            )
        study = Within(study.differentiate, study.order, {}, outer=study, scan=scan, step=step)
    return study


def with_ways(
    scene: Scene, study: Study, path: Sequence[int], scan: int | None, step: int | None
) -> Scene:
    """The picture, and above it the ways to the Scans inside its steps, and back to those outside.

    A click on one opens it: the key of a way is the path that it leads to.  Of a picture of one
    `scan` there are its ways only.
    """
    lines = [*_lines(study, path, scan, step)]
    if not lines:
        return scene
    top = above(*(beside(*line, apart=6.0, align=0.5) for line in lines), apart=5.0)
    below = TOP + top.envelope.height
    ways = shifted(top, MARGIN - top.envelope.left, TOP - top.envelope.top)
    drawn = (moved(_further(shape, path), 0, below) for shape in scene.shapes)
    where = f"Inside {study.place}: " if isinstance(study, Within) else ""
    return replace(
        scene,
        height=scene.height + below,
        shapes=(*ways.shapes, *drawn),
        title=f"{where}{scene.title}",
    )


def _further(shape: Shape, path: Sequence[int]) -> Shape:
    """A shape whose ways lead on from where it is."""
    if not isinstance(shape, Group):
        return shape
    name, _, rest = (shape.cell or "").partition(":")
    inner = tuple(_further(one, path) for one in shape.shapes)
    cell = _key([*path, *map(int, rest.split(","))]) if name == INSIDE.name else shape.cell
    return replace(shape, shapes=inner, cell=cell)


def _lines(
    study: Study, path: Sequence[int], scan: int | None, step: int | None
) -> Iterator[list[Piece]]:
    """The ways back and to the steps beside, then those to the Scans inside the steps here."""
    if isinstance(study, Within):
        named, outer = study.outer.trace.scans[study.scan], path[:-2]
        back = _chip("◂ back", outer, f"to {study.scan + 1} · {named.name}")
        yield [
            back,
            *_steps(f"inside {study.scan + 1} · {named.name}, step", named, path[:-1], study.step),
        ]
    nested = [(n, one) for n, one in enumerate(study.trace.scans, start=1) if one.nested]
    chosen = [(n, one) for n, one in nested if scan in (None, n)]
    for number, one in chosen[:MOST]:
        held = listing(inner.name for inner in one.nested[0].scans)
        yield [*_steps(f"{held}: inside {number} · {one.name}, step", one, [*path, number], step)]


def _steps(words: str, scan: ScanTrace, to: Sequence[int], step: int | None) -> Iterator[Piece]:
    """Words, and the steps of a Scan, of which one may be open."""
    yield piece(fitted(0, 0, words, WIDEST, SIZE, muted=True))
    near = {} if step is None else {step - 1, step, step + 1}
    few = [
        n
        for n in range(scan.steps)
        if scan.steps <= FEW or n < 3 or n >= scan.steps - 3 or n in near
    ]
    for before, number in zip([-1, *few], few, strict=False):
        if number - before > 1:
            yield piece(Text(0, 0, "⋯", SIZE, muted=True))
        title = f"the Scans inside step {number} of {scan.name}"
        yield _chip(str(number), [*to, number], title, number == step)


def _chip(words: str, to: Sequence[int], title: str, is_open: bool = False) -> Piece:
    """A way that is clicked."""
    text = Text(0, 0, words, SIZE, bold=is_open)
    box = Box(-7, -14, text.width + 14, 20, Role.PANEL)
    edge = [outline(box.x, box.y, box.width, box.height)] if is_open else []
    return piece(Group((box, *edge, text), cell=_key(to), title=title))


def _key(path: Sequence[int]) -> str:
    return f"{INSIDE.name}:{','.join(map(str, path))}"
