"""A machine at a moment as a `Scene`, and a film with up to three frames for each sum.

If successive frames of a film have the same shape, the film contains the shape once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from lab.equations.events.events import events
from lab.traces.trace import Trace
from visual.layout.legend import legend_shapes
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.machine.arrange import Arrangement, arrange, most_columns
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import Columns
from visual.pictures.machine.content import MachineContent, PartKind, key_at
from visual.pictures.machine.foot import heading, text_twin, words_height
from visual.pictures.machine.frames import LAYERS, NEW, Frame, frame_of
from visual.pictures.machine.states import MOVED, Moment, locate, spans
from visual.scene.shapes import Box, Scene, Shape, Text, fitted, folded, moved, walk
from visual.scene.shapes import Group as Shapes
from visual.scene.theme import Role

RESTORED = "↺: written back unchanged"
SEED = "◤ in a corner: a seed, a nonzero initial gradient"
HEAVY = "heavy border: a new number or a result"
OTHERS = "every other value"
TITLE = 30.0  # the height of the title, in pixels
READING = 0.3  # the progress of a sum at which its values move


def still(
    arrangement: Arrangement, number: int, trace: Trace | None = None, sheet: Sheet = SCREEN
) -> Scene:
    """Return the picture of a machine at the end of event `number`."""
    moment = locate(arrangement.machine, number)
    frame = frame_of(arrangement, moment)
    shapes = [shape for layer in LAYERS for shape in frame[layer]]
    scene = _scene(arrangement, shapes, moment, sheet)
    return replace(scene, trace=trace, film=partial(film, arrangement))


def machine_on(trace: Trace, sheet: Sheet, around: int | None = None) -> MachineContent:
    """Return the machine of a trace with at most as many columns as fit on a sheet."""
    return machine_of(trace, around, most=most_columns(sheet.width))


def moment_of_step(trace: Trace, scan: int, step: int, sheet: Sheet = SCREEN) -> Scene:
    """Return the picture of a machine at the end of a step of ``trace.scans[scan]``.

    Of a long loop, the columns near a slot that the step writes are shown.
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
    """Return a film: a scene with up to three frames for each sum."""
    machine = arrangement.machine
    moments = [locate(machine, p) for p in _film_times(machine)]
    frames = [frame_of(arrangement, moment) for moment in moments]
    shapes: list[Shape] = [
        Shapes((), n, moment=heading(machine, moment)) for n, moment in enumerate(moments)
    ]
    for layer in LAYERS:
        shapes += _runs(layer, frames)
    return _scene(arrangement, shapes, moments[-1], SCREEN)


def _scene(
    arrangement: Arrangement, shapes: Sequence[Shape], moment: Moment, sheet: Sheet
) -> Scene:
    """Return the `Scene` with the title above `shapes` and the legend of their roles below."""
    machine, bottom = arrangement.machine, arrangement.height + words_height(arrangement)
    below: list[Shape] = []
    if sheet.legend:
        drawn = {s.role for s in walk(shapes) if isinstance(s, Box)} - {Role.PANEL}
        sheet = replace(sheet, width=arrangement.width)
        roles = {
            role: OTHERS if role is Role.INTERMEDIATE else "" for role in Role if role in drawn
        }
        below, bottom = legend_shapes(roles, bottom, arrangement.width, True, sheet.margin)
        signs = {s.content for s in walk(shapes) if isinstance(s, Text)}
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


def _runs(layer: str, frames: Sequence[Frame]) -> Iterator[Shape]:
    """Yield the shapes of a layer of a film, once for each series of frames with the same shape."""
    within = [dict.fromkeys(frame[layer]) for frame in frames]
    for shape in dict.fromkeys(shape for shapes in within for shape in shapes):
        start = 0
        for is_shown, series in groupby(shape in shapes for shapes in within):
            end = start + len([*series])
            if not is_shown:
                pass
            elif layer == "travel" and isinstance(shape, Shapes):
                yield from _timed_values(shape, start, end)
            elif end - start == len(frames):
                yield shape
            else:
                yield Shapes((shape,), start, until=None if end == len(frames) else end)
            start = end


def _timed_values(travel: Shapes, start: int, until: int) -> Iterator[Shape]:
    """Yield a group for each moving value. The groups follow each other from `start` to `until`."""
    share = (until - start) / len(travel.shapes)
    for n, value in enumerate(travel.shapes):
        if isinstance(value, Shapes):
            yield replace(value, step=start + share * n, until=start + share * (n + 1))
