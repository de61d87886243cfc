"""The shapes of a frame: the cells, and the lines, factors, and numbers of the present sums.

`frame_of` returns the shapes by layer. Shapes of later layers cover shapes of earlier layers.
"""

from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np

from lab.notation import integers
from visual.pictures.machine.arrange import DENSE, NAME, Arrangement, CellBox, Density
from visual.pictures.machine.content import Key, Movement, PartKind
from visual.pictures.machine.states import ADDED, MOVED, Moment, near_scans
from visual.pictures.machine.tracks import Track, part_layouts, pill, split_line, track
from visual.scene.shapes import Arrow, Box, Group, Polyline, Shape, Text, fitted, moved
from visual.scene.theme import Role

LAYERS = ("ground", "arrow", "cell", "name", "move", "heading", "pill", "adder", "travel")
Frame = dict[str, list[Shape]]  # the shapes of each layer
SEED = "◤ seed", "nonzero initial gradient"  # the term and the meaning
OTHER_SUM = "other sum", "paler, in the same event"
ROLES = {  # the looks of cells, by role, and of phrases, by ink
    "overwritten": Role.OVERWRITTEN,
    "preserved": Role.PRESERVED,
    "restored": Role.RESTORED,
    "written": Role.NEW,
    "result": Role.NEW,
    "saved": Role.READ,
    "read": Role.READ,
    "pending": Role.WAITING,
    "empty": Role.WAITING,
    "wrong": Role.WRONG,
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
        role = Role.OVERWRITTEN if part.replaces else Role.INTERMEDIATE
        for term, way in zip(part.terms, layout.tracks, strict=True):
            frame["move"] += [Arrow(line, saved=True, straight=True) for line in way.drops]
            frame["move"].append(Arrow(way.points, accent=part.replaces, straight=True))
            if way.chip is not None and term.label:
                frame["pill"] += pill(way.chip, term.label, arrangement.density, Role.READ)
            if part.kind is PartKind.SUM and term.value and moment.share < MOVED:
                frame["travel"].append(_travel(term, way, arrangement.density, role))
        added = layout.total if moment.share >= ADDED else layout.summands
        if added and moment.share >= MOVED:
            adders[part.target] = Group(added)
    frame["adder"] += adders.values()
    frame["cell"] += _cells(arrangement, moment, adders)
    frame["name"] += _names(arrangement, moment, hidden)
    return frame


def _names(arrangement: Arrangement, moment: Moment, hidden: Container[int]) -> Iterator[Text]:
    """Yield the names of cells, except the names of `hidden` cells.

    In a compact machine of many Scans, only colored cells and the Scan of the event have names.
    """
    machine, open_scan = arrangement.machine, moment.event and moment.event.scan
    for number, area in arrangement.names.items():
        place = arrangement.boxes[number]
        is_near = arrangement.is_named or machine.rows[place.row].scan == open_scan
        if (is_near or place.at(moment.p).role.is_access) and number not in hidden:
            yield Text(place.x, area.bottom, place.label, NAME, "middle", muted=True)


def _add_headings(arrangement: Arrangement, frame: Frame) -> None:
    """Add the names of rows and Scans, and the numbers of hidden columns."""
    for heading in arrangement.headings:
        label = heading.label
        role = Role.WRONG if heading.is_second and arrangement.machine.mistake else None
        layer = frame["heading" if heading.ground or role else "ground"]
        if heading.ground is not None:
            layer.append(heading.ground)
        if role is not None:
            layer.append(Box(label.x - 4, label.y - 12, label.width + 8, 16, role))
        layer.append(replace(label, role=role))
    frame["ground"] += arrangement.gaps


def _arrows(arrangement: Arrangement, moment: Moment) -> Iterator[Shape]:
    """Yield the lines between cells, for all events. The lines of future events are lighter.

    In a machine with compact rows, lines to other rows appear only while their sum plays. During
    an event, a dense machine has only the lines of Scans with colored cells.
    """
    machine = arrangement.machine
    has_few = arrangement.density == DENSE and moment.event
    near = near_scans(machine, moment.number) if has_few else None
    for number, each in enumerate(machine.events, start=1):
        is_past = number <= moment.p
        for part in each.parts if near is None or each.scan in near else ():
            for way in (track(arrangement, part, term) for term in part.terms):
                if way.is_drawn:
                    yield Arrow(way.points, faint=is_past, faded=not is_past, straight=True)


def _travel(term: Movement, way: Track, density: Density, role: Role) -> Group:
    """Return the value and the product of a term as shapes that move along parts of its line."""
    points = tuple((x, y + way.shift) for x, y in way.points)
    pills = [(points, term.value, Role.PRESERVED)]
    if way.chip is not None and term.factor:
        before, after = split_line(points, way.turn)
        pills = [(before, term.value, Role.PRESERVED), (after, term.product, role)]
    return Group(tuple(Group(pill(p[0], text, density, look), path=p) for p, text, look in pills))


def _cells(arrangement: Arrangement, moment: Moment, adders: Container[int]) -> Iterator[Shape]:
    """Yield all cells. The cells in `adders` show an addition, not a number."""
    for number, place in enumerate(arrangement.boxes):
        key = place.at(moment.p)
        is_wrong = place.wrong_from is not None and place.wrong_from <= moment.p
        look = ROLES.get(key.role, Role.INTERMEDIATE)
        left, top = -place.width / 2, -place.height / 2
        inside: list[Shape] = [Box(left, top, place.width, place.height, look, past=key.is_past)]
        if is_wrong:  # the edge still shows the role
            look = Role.WRONG
            inside.append(Box(left + 3, top + 3, place.width - 6, place.height - 6, look))
        if place.corner and key.role != "empty":
            inside.append(Polyline(place.corner, filled=True))
        if number not in adders:
            if key.role == "restored":
                inside.append(Text(*place.anchors["mark"], "↺", 11, "end", role=look))
            inside += _numbers(place, key, look)
        if place.below:
            low, text = place.anchors["position"], integers(place.position)
            inside.append(Text(*low, text, NAME, "middle", muted=True))
        title = f"{place.name} = {key.full}" if key.full else f"{place.name}: empty"
        yield moved(Group(tuple(inside), title=title), place.x, place.y)


def _numbers(place: CellBox, key: Key, role: Role) -> Iterator[Shape]:
    """Yield the shapes of a number, of the numbers of a short array, or of a strip of bars."""
    if key.entries and place.is_listed:
        for at, number in zip(place.entries, key.entries, strict=True):
            yield Text(at["x"], at["y"], number, 11, "middle", bold=True, role=role)
    elif key.entries:  # a bar for each number, upward or downward from the middle of the cell
        for bar, share in zip(place.entries, shares(key), strict=True):
            yield Polyline(((bar["x"], bar["y"]), (bar["x"], bar["y"] - bar["reach"] * share)))
    else:
        (x, y), room, size = place.anchors["number"], place.width - 4, place.letters
        yield fitted(x, y, key.text, room, size, "middle", bold=True, role=role)


def shares(key: Key) -> list[float]:
    """Return the entries of an array as fractions of the largest finite entry, from -1 to 1."""
    if key.array is None or not key.entries:
        return []
    values = np.ravel(np.real(key.array) * np.isrealobj(key.array)).astype(float)  # complex: 0
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values)) or 1.0
    return np.clip(np.nan_to_num(values / largest, nan=0.0), -1, 1).tolist()
