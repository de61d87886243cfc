"""The texts at the left of an unrolled picture: the titles of blocks and the names of lanes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.equations.quantities import cost_name
from lab.notation import counted, ranges_text
from lab.traces.trace import Trace
from visual.layout.names import NamedScan
from visual.pictures.unrolled.placing import Lane, Placing, Room
from visual.pictures.unrolled.quantities import LanePlace
from visual.scene.combinators import Piece, sized
from visual.scene.shapes import Text, fitted, folded


@dataclass(frozen=True, eq=False)
class Labels:
    """The titles of the blocks and the names of the lanes of a placing."""

    trace: Trace
    chosen: Sequence[int]
    placing: Placing
    room: Room

    def heading(self, number: int) -> Piece:
        """Draw the title of a block: a line above the block, or lines at the left of its arrows."""
        named, room = NamedScan(self.trace, number), self.room
        scan, name, margin = named.scan, named.numbered_name, room.sheet.margin
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if scan.parent is not None:
            parent = self.trace.scans[scan.parent]
            lines = [f"backward through {'Scan ' * room.open}{scan.parent + 1}", f"in {steps}"]
            lines.append(f"gradient of {cost_name(scan.order)}")
            if scan.steps < parent.steps:
                lines.append(f"truncated: only the last {scan.steps} of {parent.steps}")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        omitted = {place.variable for place in self.placing.left_out if place.scan == number}
        lines += [f"without {name}: not needed" for name in sorted(omitted)]
        title = Text(margin, 0, name, 13, bold=True, title=name)
        if room.open:
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), room.right - x, room.small, muted=True)
            return sized(0, 12, title, more)
        wide = room.left - 12 - margin
        below = enumerate(lines, start=1)
        texts = [fitted(margin, 15 * n, line, wide, room.small, muted=True) for n, line in below]
        return sized(0, 15 * len(lines) + 8, title, *texts)

    def label(self, row: Lane, y: float) -> Iterator[Text]:
        """Yield the lines of the name of a lane, to the left of the boxes, around height `y`."""
        right = self.room.left - 12
        strong = not (row.is_lasting or row.place.direct)
        size = 13 if strong else self.room.small
        room = right - self.room.sheet.margin
        lines = [row.place.name] if strong else folded(row.place.name, room, size)
        if row.place.direct and self.room.open:
            lines += self._sources(row.place)
        for number, line in enumerate(lines):
            low = y + 13 * (number - (len(lines) - 1) / 2)
            yield fitted(right, low, line, room, size, "end", bold=strong, muted=not strong)

    def _sources(self, place: LanePlace) -> list[str]:
        """Return a line with the Scans that compute a direct part, or no line."""
        feeds = self.trace.scans[place.scan].feeds
        scans = sorted({feed.scan + 1 for feed in feeds if feed.into == place.argument})
        return [f"from Scan{'s' * (len(scans) > 1)} {ranges_text(scans)}"] if scans else []
