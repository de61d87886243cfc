"""The shapes of a frame: the cells, and the lines, factors, and numbers of the present sums.

`frame_of` returns the shapes by layer. Shapes of later layers cover shapes of earlier layers.
"""

from collections.abc import Container, Iterator, Sequence

import numpy as np

from lab.equations.numbers import as_printed
from visual.pictures.machine.arrange import ENTRY, NAME, Arrangement, CellBox
from visual.pictures.machine.content import Key, MachineContent, Movement, PartKind
from visual.pictures.machine.states import ADDED, COLORED, MOVED, Moment
from visual.pictures.machine.tracks import Track, factor_pill, part_layouts, pill, split_line, track
from visual.scene.shapes import Arrow, Box, Polyline, Shape, Text, TextLook, fitted, outline
from visual.scene.shapes import Group as Shapes
from visual.scene.theme import Role

LAYERS = ("ground", "arrow", "cell", "name", "move", "heading", "pill", "adder", "travel")
Frame = dict[str, list[Shape]]  # the shapes of each layer
NEW = ("result", "written")  # roles with a heavy border
ROLES = {
    "overwritten": Role.OVERWRITTEN,
    "preserved": Role.PRESERVED,
    "restored": Role.PRESERVED,
    "saved": Role.READ,
    "read": Role.READ,
    "pending": Role.WAITING,
    "empty": Role.WAITING,
}


def frame_of(arrangement: Arrangement, moment: Moment) -> Frame:
    """Return all shapes of a frame, by layer."""
    frame, adders = Frame({layer: [] for layer in LAYERS}), dict[int, Shape]()
    hidden, group = set[int](), moment.group
    _add_headings(arrangement, frame)
    frame["arrow"] += _arrows(arrangement, moment)
    layouts = part_layouts(arrangement, group) if group else ()
    for part, layout in zip(group.parts if group else (), layouts, strict=True):
        hidden.update(layout.hidden)
        for term, way in zip(part.terms, layout.tracks, strict=True):
            frame["move"] += [Arrow(line, saved=True, straight=True) for line in way.drops]
            frame["move"].append(Arrow(way.points, accent=True, straight=True))
            if way.chip is not None and term.label:
                frame["pill"] += factor_pill(arrangement, term, way.chip)
            if part.kind is PartKind.SUM and term.value and moment.share < MOVED:
                frame["travel"].append(_travel(term, way))
        added = layout.total if moment.share >= ADDED else layout.summands
        if added and moment.share >= MOVED:
            adders[part.target] = Shapes(added)
    frame["adder"] += adders.values()
    frame["cell"] += _cells(arrangement, moment, adders)
    frame["name"] += _names(arrangement, moment, hidden)
    return frame


def is_small(machine: MachineContent) -> bool:
    """Return whether the machine has few Scans, so that each cell can have its name."""
    return len(machine.scans) < (5 if machine.runs else 3)


def _names(arrangement: Arrangement, moment: Moment, hidden: Container[int]) -> Iterator[Text]:
    """Yield the names of cells, except the names of `hidden` cells.

    In a compact machine of many Scans, only colored cells and the Scan of the event have names.
    """
    machine, open_scan = arrangement.machine, moment.event and moment.event.scan
    has_all = arrangement.is_tall or is_small(machine)
    for number, area in arrangement.names.items():
        place = arrangement.boxes[number]
        is_near = has_all or machine.rows[place.row].scan == open_scan
        if (is_near or place.at(moment.p).role in COLORED) and number not in hidden:
            yield Text(place.x, area.bottom, place.label, NAME, "middle", muted=True)


def _add_headings(arrangement: Arrangement, frame: Frame) -> None:
    """Add the names of rows and Scans, and the numbers of hidden columns."""
    for label in arrangement.headings:
        size = 13 if label.is_bold else 11
        role = Role.WRONG if label.is_second and arrangement.machine.mistake else None
        muted = not (label.is_bold or label.has_ground or role)
        look = TextLook(bold=label.is_bold, muted=muted)
        text = fitted(label.x, label.y, label.text, label.room, size, role=role, **look)
        layer = frame["heading" if label.has_ground or role else "ground"]
        if label.has_ground:  # a strip behind the text covers the lines of the picture
            layer.append(Box(0, label.y - 14, arrangement.width, 16, Role.PANEL))
        if role is not None:
            layer.append(Box(label.x - 4, label.y - 12, text.width + 8, 16, role))
        layer.append(text)
    for x, hidden in arrangement.gaps:
        y = arrangement.boxes[0].y + 4
        frame["ground"].append(Text(x, y, f"⋯ {hidden:,}", 11, "middle", muted=True))


def _arrows(arrangement: Arrangement, moment: Moment) -> Iterator[Shape]:
    """Yield the lines between cells, for all events. The lines of future events are lighter.

    In a machine with compact rows, lines to other rows appear only while their sum plays. During
    an event, a dense machine has only the lines of Scans with colored cells.
    """
    machine, event = arrangement.machine, moment.event
    rows = [cell.row for cell in machine.cells]
    lit = {machine.rows[b.row].scan for b in arrangement.boxes if b.at(moment.p).role in COLORED}
    near = {event.scan, *lit} if arrangement.is_dense and event else None
    for number, each in enumerate(machine.events, start=1):
        is_past = number <= moment.p
        for part in each.parts if near is None or each.scan in near else ():
            for term in part.terms:
                if part.kind is PartKind.FILL or term.source in (None, part.target):
                    continue
                if arrangement.is_tall or rows[term.source] == rows[part.target]:
                    points = track(arrangement, part, term).points
                    yield Arrow(points, faint=is_past, faded=not is_past, straight=True)


def _travel(term: Movement, way: Track) -> Shapes:
    """Return the value and the product of a term as shapes that move along parts of its line."""
    pills = [(way.points, term.value, Role.PRESERVED)]
    if way.chip is not None and term.factor:
        before, after = split_line(way.points, way.turn)
        pills = [(before, term.value, Role.PRESERVED), (after, term.product, Role.OVERWRITTEN)]
    return Shapes(tuple(Shapes(pill(p[0], text, 13, role), path=p) for p, text, role in pills))


def _cells(arrangement: Arrangement, moment: Moment, adders: Container[int]) -> Iterator[Shape]:
    """Yield all cells. The cells in `adders` show an addition, not a number."""
    for number, place in enumerate(arrangement.boxes):
        key = place.at(moment.p)
        is_wrong = place.wrong_from is not None and place.wrong_from <= moment.p
        look = Role.WRONG if is_wrong else ROLES.get(key.role, Role.INTERMEDIATE)
        left, top = place.area.left, place.area.top
        inside: list[Shape] = [Box(left, top, place.width, place.height, look)]
        if key.role in NEW:
            inside.append(outline(left + 1.5, top + 1.5, place.width - 3, place.height - 3))
        if place.has_seed and key.role != "empty":
            size = 6 if key.entries else 8  # numbers of an array extend into the corner
            x, y = left + 1, top + 1
            inside.append(Polyline(((x, y + size), (x, y), (x + size, y), (x, y + size))))
        if number not in adders:
            if key.role == "restored":
                inside.append(Text(place.area.right - 3, top + 11, "↺", 11, "end", role=look))
            inside += _numbers(place, key, look)
        title = f"{place.name} = {key.full}" if key.full else f"{place.name}: empty"
        yield Shapes(tuple(inside), title=title)


def _numbers(place: CellBox, key: Key, role: Role) -> Iterator[Shape]:
    """Yield the shapes of a number, of the numbers of a short array, or of a strip of bars."""
    room, count = place.width - 4, len(key.entries)
    if count and place.is_listed:
        for n, number in enumerate(key.entries):
            y = place.y + ENTRY * (n - (count - 1) / 2) + 4
            yield Text(place.x, y, number, 11, "middle", bold=True, role=role)
    elif count:
        yield from _strip(place, key.entries)
    else:
        y, size = place.y + 0.36 * place.letters, place.letters
        yield fitted(place.x, y, key.text, room, size, "middle", bold=True, role=role)


def _strip(place: CellBox, entries: Sequence[str]) -> Iterator[Shape]:
    """Yield a bar for each number, upward or downward from the middle of the cell."""
    values = np.array([*map(as_printed, entries)])
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values)) or 1.0
    apart = (place.width - 8) / len(values)
    for n, share in enumerate(np.clip(np.nan_to_num(values / largest, nan=0.0), -1, 1).tolist()):
        x = place.area.left + 4 + apart * (n + 0.5)
        yield Polyline(((x, place.y), (x, place.y - (place.height / 2 - 3) * share)))
