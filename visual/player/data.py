"""A machine as JSON: `as_data` returns the records that `picture.js` and `machine.js` read.

A record of `visual.pictures.machine.content` becomes an object with its `PROPERTIES` and fields,
except `INTERNAL` fields. A cell also contains the fields of `_cell`, an event its `near_scans`, and
a group its `start` and `end`. `layouts` are arrangements for wide pages and for phones, for each
view. A layout has a box for each cell, and `parts`: for each event and each of its groups, a
`PartLayout` for each part. `widths` are the widths of letters of moving numbers, as multiples of
the font size. At the fractions `moved` and `added` of a sum, its values arrive, and the sum ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from lab.equations.events.records import SlotRole
from lab.errors import listing
from lab.notation import integers, ranges_text
from lab.traces.trace import Trace
from visual.pictures.machine import content
from visual.pictures.machine.arrange import DENSE, NARROW, Arrangement, arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.frames import ROLES, SEED, shares
from visual.pictures.machine.places import NumberStyle, Numeral
from visual.pictures.machine.states import ADDED, MOVED, near_scans, spans
from visual.pictures.machine.tracks import part_layouts
from visual.player.state import as_text
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Text

Views = tuple[bool, ...]
PROPERTIES: Mapping[type, tuple[str, ...]] = {
    content.MachineContent: ("moments",),
    content.MachineEvent: ("weight",),
    content.PartGroup: ("shown", "reasons"),
}
SHAPES = {Box: "x y width height", Text: "x y content size anchor bold title"}  # fields
BOX = ("x", "y", "width", "height", "letters", "label", "is_listed", "anchors", "corner", "entries")
LETTERS = "0123456789.-e()×‖⚠ infa"  # in numbers that a reader can change
WIDE, PHONE = 800.0, 320.0  # widths in pixels; a page can scale the picture


def as_data(
    machine: content.MachineContent, trace: Trace | None = None, views: Views = (False, True)
) -> dict[str, Any]:
    """Return a machine, its layouts, and the machines inside the shown steps of `trace` as data.

    Groups start and end at fractions of the duration of their event. `first` is the moment to show
    first: the first wrong number, else the first filled tape, or 0. `views` contains True for
    layouts that show buffers, and False for usual layouts.
    """
    sheets = [(width, view) for view in views for width in (WIDE, PHONE)]
    layouts = [arrange(machine, *sheet) for sheet in sheets]
    letters = {x for p in machine.parts() for t in p.terms for x in LETTERS + t.label + t.value}
    mistake, gradients = machine.mistake, (s.events for s in machine.scans if s.order and s.events)
    first = None if mistake is None else mistake.first_wrong
    first = next((events.start + 1 for events in gradients), 0) if first is None else first
    data: dict[str, Any] = {"first": first, "moved": MOVED, "added": ADDED}
    data |= _plain(machine, without=("rows", "cells", "runs"))
    data["widths"] = [(x, round(text_width(x, 1, bold=True), 4)) for x in sorted(letters)]
    data["cells"] = [_cell(machine, cell) for cell in layouts[0].boxes]
    data["legend"] = _legend(layouts[0].boxes)
    data["layouts"] = [_layout(each, *sheet) for each, sheet in zip(layouts, sheets, strict=True)]
    for number, (plain, event) in enumerate(zip(data["events"], machine.events, strict=True), 1):
        plain["near"] = sorted(near_scans(machine, number))
        for group, (_, start, end) in zip(plain["groups"], spans(event), strict=True):
            group |= {"start": start, "end": end}
    if mistake is not None and (example := mistake.example):
        data["mistake"] |= {"example": as_text(example), "offer": _offer(example)}
    shown = {(event.scan, event.step) for event in machine.events}
    data["inside"] = [
        {
            "scan": number,
            "step": step,
            "names": listing(inner.name for inner in run.scans),
            "data": as_data(machine_of(run), run, views[:1]),
        }
        for number, scan in enumerate(trace.scans if trace else ())
        for step, run in enumerate(scan.nested)
        if (number, step) in shown and any(inner.steps for inner in run.scans)
    ]
    groups = groupby(data["inside"], itemgetter("scan"))
    steps = (f"{ranges_text(e['step'] for e in group)} of Scan {n + 1}" for n, group in groups)
    data["steps"] = "; ".join(steps)
    return data


def _plain(value: Any, digits: int | None = None, without: tuple[str, ...] = ()) -> Any:
    """Return a value as plain data. A record becomes a dictionary of its fields and `PROPERTIES`.

    With `digits`, round the floats, except the moments of keys. A `Numeral` becomes its place and
    its style. Omit the fields `without`.
    """
    if value is None or isinstance(value, bool | int) or type(value) is str:
        return value
    if isinstance(value, float):
        return value if digits is None else round(value, digits)
    if isinstance(value, tuple | list):
        return [_plain(each, digits) for each in value]
    if isinstance(value, Numeral):
        return {"n": value.place, "s": value.style.value}
    if names := _names(value.__class__):
        digits = None if isinstance(value, content.Key) else digits
        each = (name for name in names if name not in without)
        return {name: _plain(getattr(value, name), digits) for name in each}
    if isinstance(value, Mapping):
        return {key: _plain(each, digits) for key, each in value.items()}
    return [value.start, value.stop] if isinstance(value, range) else value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a record in the data: `SHAPES`, or fields and `PROPERTIES`, if any."""
    own = fields(kind) if is_dataclass(kind) else ()
    names = (each.name for each in own if each.metadata.get("is_sent", True))
    return tuple(SHAPES.get(kind, "").split()) or (*names, *PROPERTIES.get(kind, ()))


def _offer(example: Mapping[str, Any]) -> str:
    """Return the choices of an example as text: ``square, taps −2, −1, 2 steps, order 2``."""
    words = [example["loop"], *(f"taps {integers(*t)}" for t in example.get("taps", {}).values())]
    formats = {"steps": "{} steps", "cost": "cost {}", "order": "order {}"}
    return ", ".join(words + [formats[n].format(example[n]) for n in formats if n in example])


def _layout(layout: Arrangement, width: float, shows_buffers: bool) -> dict[str, Any]:
    """Return an arrangement for a sheet of a width, with the layouts of all parts."""
    events = ([part_layouts(layout, g) for g in each.groups] for each in layout.machine.events)
    return {
        **_plain(layout, 2, without=("machine", "boxes", "pitch", "density", "is_cramped")),
        "boxes": [{name: _plain(getattr(box, name), 2) for name in BOX} for box in layout.boxes],
        "parts": [_plain(groups, 2) for groups in events],
        "pill": (layout.density.factor, layout.density.chip),
        "is_narrow": width < NARROW,
        "shows_buffers": shows_buffers,
        "is_dense": layout.density == DENSE,
        "is_named": layout.is_named,
    }


def _legend(cells: Sequence[content.SlotCell]) -> list[tuple[str, ...]]:
    """Return the CSS class, the term, and the meaning of each look that occurs in the run."""
    shown: set[str] = {key.role for cell in cells for key in cell.keys}
    shown |= {"seed" for cell in cells if cell.has_seed}
    shown |= {"wrong" for cell in cells if cell.wrong_from is not None}
    looks: dict[str, str] = {**ROLES, "seed": SEED}
    classes = {text: name for name, text in looks.items() if name in shown}
    return [(name, *text.split(": ")) for text, name in classes.items()]


def _cell(machine: content.MachineContent, cell: content.SlotCell) -> dict[str, Any]:
    """Return a cell with the moment of its first wrong number, `wrong_from`, or None.

    `given` is the index of the instruction with the initial value of the cell, or None without one.
    `is_result` states whether the final number is used outside its Scan.
    """
    row, first, wrong_from = machine.rows[cell.row], cell.wrong_from, None
    if first is not None:
        wrong = (k.moment for k in cell.keys if k.full == cell.at(first).full)
        wrong_from = next(moment for moment in wrong if moment > first - 1)
    text = cell.keys[0].text if cell.keys[0].role == SlotRole.INPUT else ""
    given = text.place if isinstance(text, Numeral) and text.style is NumberStyle.PLAIN else None
    return {
        **{field.name: _plain(getattr(cell, field.name)) for field in fields(content.SlotCell)},
        "keys": [{**_plain(key), "values": _plain(shares(key), 4)} for key in cell.keys],
        "wrong_from": wrong_from,
        "scan": row.scan,
        "tape": row.tape,
        "given": given,
        "is_result": cell.keys[-1].resting is SlotRole.RESULT,
        "is_faulty": bool(row.is_second and machine.mistake),
    }
