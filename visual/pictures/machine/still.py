"""A machine at a moment as a `Scene`, its text twin, and a film with up to three frames per sum."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby

from lab.equations.events.events import events
from lab.notation import integers
from lab.traces.trace import Trace
from visual.layout.canvas import legend_shapes
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.machine.arrange import LABELS, NARROW, NARROWEST, Arrangement, arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.columns import Columns
from visual.pictures.machine.content import Ink, MachineContent, PartKind, Phrase
from visual.pictures.machine.frames import LAYERS, OTHER_SUM, ROLES, SEED, frame_of
from visual.pictures.machine.states import MOVED, Moment, locate, spans
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, folded, moved, walk
from visual.scene.theme import Role

TITLE, REASON = 19.0, 16.0  # the heights of a line of the title and of the reason, in pixels
READING = 0.3  # the share of a sum at which a film shows its moving values
SENTENCE, LINE_HEIGHT = 15, 20.0


def still(arrangement: Arrangement, moment: int, sheet: Sheet = SCREEN) -> Scene:
    """Return the picture of a machine at a whole moment."""
    present = locate(arrangement.machine, moment)
    frame = frame_of(arrangement, present)
    shapes = [*chain.from_iterable(frame.values()), *_words(arrangement, present)]
    return replace(_scene(arrangement, shapes, [present], sheet), film=partial(film, arrangement))


def scene_of_step(
    trace: Trace,
    scan: int | None = None,
    step: int = 0,
    sheet: Sheet = SCREEN,
    pair: MachineContent | None = None,
) -> Scene:
    """Return the picture of a machine at the end of a step of ``trace.scans[scan]``.

    Without a `scan`, the picture shows the end of the run. Without a `pair`, it shows as many
    columns as fit on the sheet, but at least 3. In a long loop, they are near a written slot.
    """
    around, last = None, len(events(trace))
    if scan is not None:
        slots = ((scan, t.argument, int(t.writes[0].rows[step])) for t in trace.scans[scan].buffers)
        places = Columns(trace).addresses
        around = next((places[slot][1] for slot in slots if slot in places), step)
        last = events(trace).timeline.event_number(scan, step)
    room = sheet.width - (6.0 if sheet.width < NARROW else LABELS) - 8
    machine = pair or machine_of(trace, around, most=max(3, int(room / NARROWEST)))
    moment = sum(event.number <= last for event in machine.events)
    return still(arrange(machine, sheet.width), moment, sheet)


def film(arrangement: Arrangement) -> Scene:
    """Return a film: a scene with up to three frames for each sum."""
    machine = arrangement.machine
    moments = [locate(machine, p) for p in _film_times(machine)]
    frames = [frame_of(arrangement, moment) for moment in moments]
    shapes: list[Shape] = [
        Group((), n, moment=heading(machine, moment)) for n, moment in enumerate(moments)
    ]
    for layer in LAYERS:
        shapes += _runs([frame[layer] for frame in frames], is_travel=layer == "travel")
    shapes += _runs([[*_words(arrangement, moment)] for moment in moments])
    return _scene(arrangement, shapes, moments, SCREEN)


def _scene(
    arrangement: Arrangement, shapes: Sequence[Shape], moments: Sequence[Moment], sheet: Sheet
) -> Scene:
    """Return the `Scene` with the title above `shapes` and the legend of their roles below."""
    machine, last = arrangement.machine, moments[-1]
    bottom = 18 + max(shape.y for shape in walk(shapes) if isinstance(shape, Text))
    below: list[Shape] = []
    if sheet.legend:
        boxes = [shape for shape in walk(shapes) if isinstance(shape, Box)]
        drawn = {box.role for box in boxes} - {Role.PANEL}
        sheet = replace(sheet, width=arrangement.width)
        roles = {r: "every other value" * (r is Role.INTERMEDIATE) for r in Role if r in drawn}
        below, bottom = legend_shapes(roles, bottom, arrangement.width, True, sheet.margin)
        notes = [SEED] * any(cell.has_seed for cell in machine.cells)
        for note in notes + [OTHER_SUM] * any(box.past for box in boxes):
            below.append(Text(sheet.margin, bottom + 11, ": ".join(note), 11, muted=True))
            bottom += 16
    lines = folded(machine.title, arrangement.width - 16, 15, bold=True)
    above = [Text(8, 20 + TITLE * n, line, 15, bold=True) for n, line in enumerate(lines)]
    down = 11 + TITLE * len(lines)
    for phrase in _effect(machine):
        for line in folded(phrase.text, arrangement.width - 16, 12):
            down += REASON
            above.append(Text(8, down - 4, line, 12, muted=phrase.ink is Ink.NAME))
    return Scene(
        arrangement.width,
        bottom + down,
        (*above, *(moved(shape, 0, down) for shape in (*shapes, *below))),
        machine.title,
        f"{heading(machine, last)}.",
        twin=text_twin(machine, last, arrangement.boxes[0].below > 0),
    )


def _effect(machine: MachineContent) -> list[Phrase]:
    """Return the lines about a faulty rule: its assignments, and its effect on each derivative."""
    mistake = machine.mistake
    return [*mistake.lines, *map(Phrase, map(str, mistake.table))] if mistake else []


def _film_times(machine: MachineContent) -> Iterator[float]:
    """Yield the p of each frame of a film; a sum has up to three frames.

    A film of a derivative begins with the filled tape of the first backward Scan.
    """
    first = next((scan.events.start + 1 for scan in machine.scans if scan.order), 0)
    yield first
    for past, event in enumerate(machine.events[first:], start=first):
        for group, start, end in spans(event):
            shares = [READING] * any(part.kind is PartKind.SUM for part in group.parts)
            shares += [MOVED] * any(part.is_addition for part in group.parts)
            yield from (past + start + (end - start) * share for share in (*shares, 1.0))


def _runs(layers: Sequence[Sequence[Shape]], is_travel: bool = False) -> Iterator[Shape]:
    """Yield the shapes of a layer: once for each series of successive frames with the shape."""
    within = [dict.fromkeys(shapes) for shapes in layers]
    for shape in dict.fromkeys(chain.from_iterable(within)):
        start = 0
        for is_shown, series in groupby(shape in shapes for shapes in within):
            end = start + len([*series])
            if is_shown and is_travel and isinstance(shape, Group):
                # Each moving value has its share of the time.
                share = (end - start) / len(shape.shapes)
                for n, value in enumerate(shape.shapes):
                    if isinstance(value, Group):
                        yield replace(value, step=start + share * n, until=start + share * (n + 1))
            elif is_shown and end - start == len(layers):
                yield shape
            elif is_shown:
                yield Group((shape,), start, until=None if end == len(layers) else end)
            start = end


def _words(arrangement: Arrangement, moment: Moment) -> Iterator[Shape]:
    """Yield the shapes of a group's sentences and reason (or of the results), and the heading."""
    y, room = arrangement.height + 14, arrangement.width - 16
    machine, group = arrangement.machine, moment.group
    lines = group.summary or [group.parts[n].sentence for n in group.shown] if group else ()
    is_narrow = arrangement.width < NARROW
    most, end = 3 if is_narrow else 1, y + (2 if is_narrow or machine.runs else 1) * LINE_HEIGHT
    for line in lines[: len(machine.runs) or 1]:
        shapes = [*_sentence(line, 8, y, room)]
        yield from shapes
        y = LINE_HEIGHT + max(shape.y for shape in shapes)
    y = max(y, end)
    values = " · ".join(f"{name} = {''.join(value)}" for name, value in machine.results)
    reasons = folded(group.reasons if group else values, room, 12)
    yield from (Text(8, y + n * REASON, line, 12) for n, line in enumerate(reasons))
    y += max(most, len(reasons)) * REASON + 2
    parts = group.parts[:1] if group and arrangement.boxes[0].below else ()
    words = " · ".join(filter(None, [heading(machine, moment), *(p.formula for p in parts)]))
    yield fitted(8, y, words, room, 11, muted=True)


def heading(machine: MachineContent, moment: Moment) -> str:
    """Return the name of a moment, such as ``moment 7 of 9: Scan 2, step 1``."""
    if moment.event is None:
        return f"moment 0 of {machine.moments}: before the first event"
    return f"moment {moment.number} of {machine.moments}: {moment.event.heading}"


def _sentence(pieces: Sequence[Phrase], x: float, y: float, room: float) -> Iterator[Box | Text]:
    """Yield the shapes of a sentence in lines of `room` pixels. A number with a role has a box."""
    whole = "".join(piece.text for piece in pieces)
    size = SENTENCE if text_width(whole, SENTENCE, bold=True) + 10 * len(pieces) < room else 11.5
    end = x + room
    for piece in pieces:
        role, bold = ROLES.get(piece.ink), piece.ink not in (Ink.PLAIN, Ink.NAME, Ink.SIGN)
        most = room / 2 if piece.ink is Ink.NAME else room - 10  # so that one line has the numbers
        wide = min(text_width(piece.text, size, bold=bold), most)
        if x + wide + 10 > end:
            x, y = end - room + 12, y + LINE_HEIGHT
        if role is not None:
            yield Box(x, y - size, wide + 10, size + 4, role)
            x += 5
        if content := piece.text.strip():
            indent = piece.text[: piece.text.find(content)]
            left, muted = x + text_width(indent, size, bold=bold), piece.ink is Ink.NAME
            yield fitted(left, y, content, most, size, role=role, bold=bold, muted=muted)
        x += wide + (5 if role else 0)


def text_twin(machine: MachineContent, moment: Moment, contributor: bool = False) -> str:
    """Return the text twin of a moment: its numbers, sentences or results, and derivatives."""
    lines = [machine.title, f"{heading(machine, moment)}.", ""]
    for number, row in enumerate(machine.rows):
        cells = sorted((c for c in machine.cells if c.row == number), key=lambda c: c.column)
        keys = [(cell.name, cell.at(moment.number)) for cell in cells]
        numbers = [f"{name} = {key.text or '—'} ({key.role})" for name, key in keys]
        scan = machine.scans[row.scan]
        place = f"Scan {scan.run}{scan.number} · " if machine.unit == "Scan" else ""
        place += f"{scan.name}, {row.name}"
        if contributor:
            lines += [scan.about] if scan.about not in lines else []
            place += f" {row.access}, positions {integers(*(cell.position for cell in cells))}"
        lines.append(f"{place}: {'; '.join(numbers)}")
    lines.append("")
    for group in moment.event.groups if moment.event else ():
        sentences = group.summary or [part.sentence for part in group.parts]
        lines += ["".join(piece.text for piece in pieces) for pieces in sentences]
        lines += [f"  {group.reasons}"] if group.reasons else []
        lines += [f"  {part.formula}" for part in group.parts if contributor and part.formula]
    if moment.event is None:
        lines += [f"{name} = {''.join(value)}" for name, value in machine.results]
    lines += [phrase.text for phrase in _effect(machine)]
    lines += [machine.mistake.parts] if machine.mistake else []
    return "\n".join(lines).rstrip() + "\n"
