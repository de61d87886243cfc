"""The texts at the left of an unrolled picture: the titles of blocks and the names of lanes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.equations.quantities import cost_name
from lab.notation import counted, ranges_text
from lab.traces.trace import Trace
from visual.layout.names import NamedScan
from visual.pictures.unrolled.placing import Lane, Placing
from visual.pictures.unrolled.quantities import LanePlace
from visual.pictures.unrolled.room import Room
from visual.scene.combinators import Piece, sized
from visual.scene.shapes import Text, fitted, folded, shortened


@dataclass(frozen=True, eq=False)
class Labels:
    """The titles and names of a placing, drawn within a room."""

    trace: Trace
    chosen: Sequence[int]
    placing: Placing
    room: Room

    def heading(self, number: int) -> Piece:
        """Draw the title of a block: a line above the block, or lines at the left of its arrows."""
        scan, small, room = self.trace.scans[number], self.room.small, self.room.headings
        in_line = self.room.open and (number == self.chosen[0] or not self.placing.readings)
        margin = self.room.margin
        of = NamedScan(self.trace, number)
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if scan.parent is not None:
            lines = [f"backward through Scan {scan.parent + 1} in {steps}"]
            if not in_line and shortened(lines[0], room, small) != lines[0]:
                lines = [f"backward through {scan.parent + 1}", f"in {steps}"]
            lines.append(f"gradient of {cost_name(scan.order)}")
            parent = self.trace.scans[scan.parent]
            if scan.steps < parent.steps:
                lines.append(f"truncated: only the last {scan.steps} of {parent.steps}")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        left_out = [p.variable for p in self.placing.left_out if p.scan == number]
        lines += [f"without {name}: not needed" for name in sorted(set(left_out))]
        titles = folded(of.numbered_name, room, 13, bold=True)
        if in_line:
            title = Text(margin, 0, of.numbered_name, 13, bold=True, title=of.numbered_name)
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), self.room.right - x, small, muted=True)
            return sized(0, 12, title, more)
        if self.room.open:
            lines = [part for line in lines for part in folded(line, room, small)]
        heads = enumerate(titles)
        texts = [Text(margin, 17 * n, t, 13, bold=True, title=of.numbered_name) for n, t in heads]
        top = 17 * (len(titles) - 1)
        below = enumerate(lines, start=1)
        texts += [fitted(margin, top + 15 * n, line, room, small, muted=True) for n, line in below]
        return sized(0, top + 15 * len(lines) + 8, *texts)

    def label(self, row: Lane, y: float) -> Iterator[Text]:
        """Yield the lines of the name of a lane, to the left of the boxes."""
        words, right = row.place.name, self.room.left - 12
        strong = not (row.is_lasting or row.place.direct)
        size = 13 if strong else self.room.small
        room = right - self.room.margin
        lines = [words] if strong else folded(words, room, size)
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
