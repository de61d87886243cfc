"""A machine at a moment as a `Scene`, and a film with up to three frames for each sum.

A frame maps names (of a cell, an arrow, or the sentence) to shapes. A film draws a shape once for
each series of frames with the same shape.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from lab.equations.events.events import events
from lab.traces.trace import Trace
from visual.layout.legend import legend_shapes
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.machine.arrange import Arrangement, arrange, most_columns
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import Columns
from visual.pictures.machine.content import MachineContent, PartKind, key_at
from visual.pictures.machine.foot import heading, text_twin, words_below, words_height
from visual.pictures.machine.frames import (
    NEW,
    Frame,
    adder,
    cells,
    clear_names,
    is_travel,
    moves,
    timed_values,
    travels,
)
from visual.pictures.machine.states import MOVED, Moment, locate, spans
from visual.pictures.machine.tracks import group_tracks, track
from visual.scene.shapes import Arrow, Box, Scene, Shape, Text, fitted, folded, moved, walk
from visual.scene.shapes import Group as Shapes
from visual.scene.theme import Role

RESTORED = "↺: written back unchanged"
SEED = "◤ in a corner: a seed, a nonzero initial gradient"
HEAVY = "heavy border: a new number or a result"
OTHERS = "every other value"
TITLE = 30.0  # the height of the title, in pixels
READING = 0.3  # the progress of a sum at which its values move
LAYERS = ("heading", "arrow", "cell", "move", "label", "pill", "adder", "travel", "foot")


def still(
    arrangement: Arrangement, number: int, trace: Trace | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Return the picture of a machine at the end of event `number`."""
    moment = locate(arrangement.machine, number)
    frame = _frame(arrangement, moment)
    shapes = tuple(frame[name] for name in sorted(frame, key=_layer))
    scene = _scene(arrangement, shapes, shapes, moment, sheet)
    return replace(scene, trace=trace, film=partial(film, arrangement))


def machine_on(trace: Trace, sheet: Sheet, around: int | None = None) -> MachineContent:
    """Return the machine of a trace with as many columns as a sheet has space for."""
    return machine_of(trace, around, most=most_columns(sheet.width))


def moment_of_step(trace: Trace, scan: int, step: int, sheet: Sheet = SCREEN) -> Scene:
    """Return the machine of a trace at the end of a step of ``trace.scans[scan]``.

    Of a long loop, the columns next to the slots that the step writes are shown.
    """
    written = ((tape.argument, tape.writes[0]) for tape in trace.scans[scan].held)
    slots = ((scan, argument, int(access.rows[step])) for argument, access in written)
    times = Columns(trace).times
    around = next((times[slot] for slot in slots if slot in times), step)
    machine = machine_on(trace, sheet, around)
    number = next(e.number for e in events(trace) if (e.scan, e.step) == (scan, step))
    moment = sum(event.number <= number for event in machine.events)
    return still(arrange(machine, sheet.width), moment, trace, sheet)


def film(arrangement: Arrangement) -> Scene:
    """Return a film: a scene with up to three moments for each sum."""
    machine = arrangement.machine
    moments = [locate(machine, p) for p in _film_times(machine)]
    frames = [_frame(arrangement, moment) for moment in moments]
    names = dict.fromkeys(key for frame in frames for key in frame)
    labels = [Shapes((), n, moment=heading(machine, m)) for n, m in enumerate(moments)]
    shapes: list[Shape] = [*labels]
    for name in sorted(names, key=_layer):
        shapes += _runs([frame.get(name) for frame in frames])
    every = [shape for frame in frames for shape in frame.values()]
    return _scene(arrangement, tuple(shapes), every, moments[-1], SCREEN)


def _scene(
    arrangement: Arrangement,
    shapes: tuple[Shape, ...],
    explained_shapes: Iterable[Shape],
    moment: Moment,
    sheet: Sheet,
) -> Scene:
    """Return the shapes, with the legend of their roles below."""
    machine, bottom = arrangement.machine, arrangement.height + words_height(arrangement)
    below: list[Shape] = []
    if sheet.legend:
        drawn = {s.role for s in walk(explained_shapes) if isinstance(s, Box)} - {Role.PANEL}
        sheet = replace(sheet, width=arrangement.width)
        roles = {
            role: OTHERS if role is Role.INTERMEDIATE else "" for role in Role if role in drawn
        }
        below, bottom = legend_shapes(roles, bottom, arrangement.width, True, sheet.margin)
        signs = {s.content for s in walk(explained_shapes) if isinstance(s, Text)}
        roles_shown = {key_at(keys, moment.p).role for keys in arrangement.states}
        notes = [HEAVY] * (not roles_shown.isdisjoint(NEW))
        notes += [RESTORED] * ("↺" in signs) + [SEED] * any(c.has_seed for c in machine.cells)
        for line in folded("; ".join(notes), arrangement.width - 2 * sheet.margin, 11):
            below.append(Text(sheet.margin, bottom + 11, line, 11, muted=True))
            bottom += 16
    title = fitted(8, 20, machine.title, arrangement.width - 16, 15, bold=True)
    return Scene(
        arrangement.width,
        bottom + TITLE,
        (title, *(moved(shape, 0, TITLE) for shape in (*shapes, *below))),
        machine.title,
        f"{heading(machine, moment)}.",
        twin=text_twin(machine, moment),
    )


def _film_times(machine: MachineContent) -> Iterator[float]:
    """Yield the p of each frame of a film; a sum has up to three frames.

    A film of a derivative begins with the filled tape of the first backward Scan.
    """
    derivative = next((scan for scan in machine.scans if scan.order), None)
    first = derivative.events.start + 1 if derivative else 0
    yield first
    for past, event in enumerate(machine.events[first:], start=first):
        for group, (start, end) in zip(event.groups, spans(event), strict=True):
            shares = [1.0]
            if any(part.kind is PartKind.SUM for part in group.parts):
                is_added = any(part.is_addition for part in group.parts)
                shares = [READING, *([MOVED] if is_added else []), 1.0]
            yield from (past + start + (end - start) * share for share in shares)


def _runs(shapes: Sequence[Shape | None]) -> Iterator[Shape]:
    """Yield the shapes of a film under one name: a group for each series of equal shapes."""
    start = 0
    for n in range(1, len(shapes) + 1):
        if n == len(shapes) or shapes[n] != shapes[start]:
            shape = shapes[start]
            whole = start == 0 and n == len(shapes)
            until = None if n == len(shapes) else n
            if isinstance(shape, Shapes) and is_travel(shape):
                yield from timed_values(shape, start, n)
            elif shape is not None:
                yield shape if whole else Shapes((shape,), start, until=until)
            start = n


def _layer(name: str) -> int:
    return LAYERS.index(name.split(" ")[0])


def _frame(arrangement: Arrangement, moment: Moment) -> Frame:
    """Return all shapes of a frame, by name."""
    shapes: Frame = {}
    for n, label in enumerate(arrangement.headings):
        size = 13 if label.is_bold else 11
        role = Role.WRONG if label.is_second and arrangement.machine.mistake else None
        text = fitted(label.x, label.y, label.text, label.room, size, bold=label.is_bold, role=role)
        text = replace(text, muted=not (label.is_bold or label.has_ground or role))
        ground = []
        if label.has_ground:  # a strip behind the text covers lines
            ground.append(Box(0, label.y - 13, arrangement.width, 17, Role.PANEL))
        if role is not None:
            ground.append(Box(label.x - 4, label.y - 12, text.width + 8, 16, role))
        shapes[f"{'label' if ground else 'heading'} {n}"] = Shapes((*ground, text))
    for n, (x, hidden) in enumerate(arrangement.gaps):
        shapes[f"heading gap {n}"] = Text(
            x, arrangement.boxes[0].y + 4, f"⋯ {hidden:,}", 11, "middle", muted=True
        )
    shapes |= _arrows(arrangement, moment)
    shapes |= cells(arrangement, moment)
    if moment.group is not None:
        tracks = group_tracks(arrangement, moment.group)
        for n, (part, ways) in enumerate(zip(moment.group.parts, tracks, strict=True)):
            shapes |= moves(arrangement, part, ways, str(n))
            if moment.share < MOVED:
                shapes |= travels(part, ways, str(n))
            added = adder(arrangement, part, moment.share)
            if added is not None:
                cell = shapes[f"cell {part.target}"]
                assert isinstance(cell, Shapes)
                boxes = tuple(s for s in cell.shapes if not isinstance(s, Text) or s.muted)
                shapes |= {f"cell {part.target}": replace(cell, shapes=boxes), f"adder {n}": added}
        clear_names(shapes)
    shapes["foot"] = Shapes(tuple(words_below(arrangement, moment)))
    return shapes


def _arrows(arrangement: Arrangement, moment: Moment) -> Frame:
    """Return the lines of all events; the lines of later events are lighter.

    Low rows show lines to other rows only while the sum plays.
    """
    shapes, rows = Frame(), [cell.row for cell in arrangement.machine.cells]
    for number, event in enumerate(arrangement.machine.events, start=1):
        parts = (part for group in event.groups for part in group.parts)
        for n, part in enumerate(parts):
            for k, term in enumerate(part.terms):
                if part.kind is PartKind.FILL or term.source in (None, part.target):
                    continue
                if not arrangement.is_tall and rows[term.source] != rows[part.target]:
                    continue
                past = number <= moment.p
                points = track(arrangement, part, term).points
                shapes[f"arrow {number} {n} {k}"] = Arrow(
                    points, faint=past, faded=not past, straight=True
                )
    return shapes
