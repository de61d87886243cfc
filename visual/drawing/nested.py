"""Nested Scans: the study of the Scans in one step, and links into the step and back.

The Scans of a step have a trace like all others, therefore every kind of picture can show them.
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
from visual.options import INSIDE, check_step, scan_index
from visual.scene.combinators import Piece, above, beside, piece, shifted
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, moved, outline
from visual.scene.theme import Role

SIZE, TOP, WIDEST = 12, 10.0, 520.0
MOST_SCANS, MOST_STEPS = 4, 12  # with links to the Scans inside


@dataclass(frozen=True, eq=False)
class NestedStudy(Study):
    """The study of the Scans inside step `step` of Scan `scan` of the study `outer`."""

    _: KW_ONLY
    outer: Study
    scan: int
    step: int

    @cached_property
    def trace(self) -> Trace:
        """The trace of the Scans in that step."""
        return self.outer.trace.scans[self.scan].nested[self.step]

    @property
    def trace_of_cost(self) -> Trace:
        """The same trace: a nested cost has no own backward Scan."""
        return self.trace

    @property
    def scans(self) -> list[Apply]:
        """The Scan nodes in the order of ``trace.scans``."""
        return scan_nodes(inner_graph(self.outer.scans[self.scan].op)[1])

    @property
    def location(self) -> str:
        """The step and the Scan around it, such as ``step 0 of 2 · gradient of outer``."""
        return f"step {self.step} of {self.scan + 1} · {self.outer.trace.scans[self.scan].name}"


def within(study: Study, path: Sequence[int]) -> Study:
    """Return the study at a path of pairs (number of a Scan from 1, step), from outside inward.

    Raises ArgumentError if a Scan of the path has no nested Scan, or more than 500 steps.
    """
    for number, step in zip(path[::2], path[1::2], strict=True):
        scan = scan_index(study.trace, number, INSIDE.name)
        outer = study.trace.scans[scan]
        check_step(outer, step, INSIDE.name)
        if not outer.nested:
            raise ArgumentError(
                f"inside = {quote(path)}: {number} · {outer.name} has no Scan in its step, or "
                "more than 500 steps."
            )
        study = NestedStudy(study.differentiate, study.order, {}, outer=study, scan=scan, step=step)
    return study


def with_links(
    scene: Scene, study: Study, path: Sequence[int], scan: int | None, step: int | None
) -> Scene:
    """Add links above a picture: to the Scans inside its steps, and back to the outer Scans.

    The key of a link is its path, which a click opens.  With `scan`, only that Scan has links.
    """
    lines = [*_lines(study, path, scan, step)]
    if not lines:
        return scene
    top = above(*(beside(*line, apart=6.0, align=0.5) for line in lines), apart=5.0)
    below = TOP + top.envelope.height
    links = shifted(top, MARGIN - top.envelope.left, TOP - top.envelope.top)
    shapes = (moved(_with_path(shape, path), 0, below) for shape in scene.shapes)
    where = f"Inside {study.location}: " if isinstance(study, NestedStudy) else ""
    return replace(
        scene,
        height=scene.height + below,
        shapes=(*links.shapes, *shapes),
        title=f"{where}{scene.title}",
    )


def _with_path(shape: Shape, path: Sequence[int]) -> Shape:
    """Prefix the links of a shape with the path of its picture."""
    if not isinstance(shape, Group):
        return shape
    name, _, rest = (shape.cell or "").partition(":")
    inner = tuple(_with_path(part, path) for part in shape.shapes)
    cell = _key([*path, *map(int, rest.split(","))]) if name == INSIDE.name else shape.cell
    return replace(shape, shapes=inner, cell=cell)


def _lines(
    study: Study, path: Sequence[int], scan: int | None, step: int | None
) -> Iterator[list[Piece]]:
    """Yield the links back and to the neighboring steps, then those to the nested Scans."""
    if isinstance(study, NestedStudy):
        outer = study.outer.trace.scans[study.scan]
        name = f"{study.scan + 1} · {outer.name}"
        back = _chip("◂ back", path[:-2], f"to {name}")
        yield [back, *_steps(f"inside {name}, step", outer, path[:-1], study.step)]
    numbered = enumerate(study.trace.scans, start=1)
    nested = [(n, outer) for n, outer in numbered if outer.nested and scan in (None, n)]
    for number, outer in nested[:MOST_SCANS]:
        names = listing(inner.name for inner in outer.nested[0].scans)
        label = f"{names}: inside {number} · {outer.name}, step"
        yield [*_steps(label, outer, [*path, number], step)]


def _steps(label: str, scan: ScanTrace, to: Sequence[int], step: int | None) -> Iterator[Piece]:
    """Yield a label and the links to the steps of a Scan; `step` is the open step."""
    yield piece(fitted(0, 0, label, WIDEST, SIZE, muted=True))
    near = {} if step is None else {step - 1, step, step + 1}
    few = [
        n
        for n in range(scan.steps)
        if scan.steps <= MOST_STEPS or n < 3 or n >= scan.steps - 3 or n in near
    ]
    for before, number in zip([-1, *few], few, strict=False):
        if number - before > 1:
            yield piece(Text(0, 0, "⋯", SIZE, muted=True))
        title = f"the Scans inside step {number} of {scan.name}"
        yield _chip(str(number), [*to, number], title, number == step)


def _chip(label: str, to: Sequence[int], title: str, is_open: bool = False) -> Piece:
    """Draw a link in a box; an open step has an outline."""
    text = Text(0, 0, label, SIZE, bold=is_open)
    box = Box(-7, -14, text.width + 14, 20, Role.PANEL)
    edge = [outline(box.x, box.y, box.width, box.height)] if is_open else []
    return piece(Group((box, *edge, text), cell=_key(to), title=title))


def _key(path: Sequence[int]) -> str:
    return f"{INSIDE.name}:{','.join(map(str, path))}"
