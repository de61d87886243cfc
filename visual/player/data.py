"""A machine as JSON: `as_data` returns the records that `picture.js` and `machine.js` read.

A record becomes an object with its fields, or with the attributes in `SENT`. A cell also contains
the fields of `_cell`, an event the Scans that are `near`, and a group its `start` and `end` as
fractions of the event. `layouts` are arrangements for wide pages and for phones, for each view. A
layout has a box for each cell, and `parts`: for each event and each of its groups, a `PartLayout`
for each part. `widths` are the widths of letters of moving numbers, as multiples of the font size.
At the fractions `moved` and `added` of a sum, its values arrive, and the sum ends.
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
from visual.pictures.machine.arrange import DENSE, NARROW, Arrangement, CellBox, arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.frames import OTHER_SUM, ROLES, SEED, shares
from visual.pictures.machine.pair import differ
from visual.pictures.machine.places import NumberStyle, Numeral
from visual.pictures.machine.states import ADDED, MOVED, near_scans, spans
from visual.pictures.machine.tracks import part_layouts
from visual.player.state import as_text
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Text

Views = tuple[bool, ...]
SENT: Mapping[type, str] = {  # the attributes of records in the data; by default, all fields
    Arrangement: "width height headings gaps is_named boxes",
    Box: "x y width height",
    CellBox: "x y width height letters label is_listed anchors corner entries",
    content.Key: "moment role text entries",
    content.MachineContent: "title scans events times results mistake unit moments",
    content.MachineEvent: "number scan step groups heading weight",
    content.Number: "text ink",
    content.PartGroup: "parts summary reason reads_wrong shown reasons",
    Text: "x y content size anchor bold title",
}
PAST: Mapping[bool, dict[str, bool]] = {True: {"is_past": True}, False: {}}  # shorter if false
LETTERS = "0123456789.-e()×‖⚠ infa"  # in numbers that a reader can change
WIDE, PHONE = 800.0, 320.0  # widths in pixels; a page can scale the picture


def as_data(
    machine: content.MachineContent, trace: Trace | None = None, views: Views = (False, True)
) -> dict[str, Any]:
    """Return a machine, its layouts, and the machines inside the shown steps of `trace` as data.

    `first` is the moment to show first: the first wrong number, else the first filled tape, or 0.
    `views` contains True for layouts that show buffers, and False for usual layouts.
    """
    sheets = [(width, view) for view in views for width in (WIDE, PHONE)]
    layouts = [arrange(machine, *sheet) for sheet in sheets]
    letters = {x for p in machine.parts() for t in p.terms for x in LETTERS + t.label + t.value}
    mistake, gradients = machine.mistake, (s.events for s in machine.scans if s.order and s.events)
    first = None if mistake is None else mistake.first_wrong
    first = next((events.start + 1 for events in gradients), 0) if first is None else first
    data: dict[str, Any] = {"first": first, "moved": MOVED, "added": ADDED}
    data |= _plain(machine)
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


def _plain(value: Any, digits: int | None = None) -> Any:
    """Return a value as plain data. A record becomes a dictionary, a `Numeral` its place and style.

    With `digits`, round the floats.
    """
    kind = value.__class__
    if kind is float:
        return value if digits is None else round(value, digits)
    if kind is tuple or kind is list:
        return [_plain(each, digits) for each in value]
    if kind is Numeral:
        return {"n": value.place, "s": value.style.value}
    if names := _names(kind):
        return {name: _plain(getattr(value, name), digits) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(each, digits) for key, each in value.items()}
    return [value.start, value.stop] if kind is range else value


@cache
def _names(kind: type) -> list[str]:
    """Return the names of the attributes of a record in the data; empty for other types."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    return SENT[kind].split() if kind in SENT else names


def _offer(example: Mapping[str, Any]) -> str:
    """Return the choices of an example as text: ``square, taps −2, −1, 2 steps, order 2``."""
    words = [example["loop"], *(f"taps {integers(*t)}" for t in example.get("taps", {}).values())]
    formats = {"steps": "{} steps", "cost": "cost {}", "order": "order {}"}
    return ", ".join(words + [formats[n].format(example[n]) for n in formats if n in example])


def _layout(layout: Arrangement, width: float, shows_buffers: bool) -> dict[str, Any]:
    """Return an arrangement for a sheet of a width, with the layouts of all parts."""
    events = ([part_layouts(layout, g) for g in each.groups] for each in layout.machine.events)
    return {
        **_plain(layout, 2),
        "parts": [_plain(groups, 2) for groups in events],
        "pill": (layout.density.factor, layout.density.chip),
        "is_narrow": width < NARROW,
        "shows_buffers": shows_buffers,
        "is_dense": layout.density == DENSE,
    }


def _legend(cells: Sequence[content.SlotCell]) -> list[tuple[str, str, str]]:
    """Return the CSS class, the term, and the meaning of each look that occurs in the run."""
    shown: set[str] = {key.role for cell in cells for key in cell.keys}
    shown |= {"wrong" for cell in cells if cell.wrong_from is not None}
    looks = {look: name for name, look in ROLES.items() if name in shown}
    seed = [("seed", *SEED)] * any(cell.has_seed for cell in cells)
    other = [("overwritten past", *OTHER_SUM)] * any(k.is_past for c in cells for k in c.keys)
    return [(name, look.word, look.meaning) for look, name in looks.items()] + seed + other


def _cell(machine: content.MachineContent, cell: content.SlotCell) -> dict[str, Any]:
    """Return a cell with the moment of its first wrong number, `wrong_from`, or None.

    `given` is the index of the instruction with the initial value of the cell, or None without one.
    `is_result` states whether the final number is used outside its Scan.
    """
    row, first, wrong_from = machine.rows[cell.row], cell.wrong_from, None
    if first is not None:
        wrong = (k.moment for k in cell.keys if not differ(k.array, cell.at(first).array))
        wrong_from = next(moment for moment in wrong if moment > first - 1)
    text = cell.keys[0].text if cell.keys[0].role == SlotRole.INPUT else ""
    given = text.place if isinstance(text, Numeral) and text.style is NumberStyle.PLAIN else None
    return {
        **{field.name: _plain(getattr(cell, field.name)) for field in fields(content.SlotCell)},
        "keys": [_plain(k) | {"values": _plain(shares(k), 4)} | PAST[k.is_past] for k in cell.keys],
        "wrong_from": wrong_from,
        "scan": row.scan,
        "tape": row.tape,
        "given": given,
        "is_result": cell.keys[-1].resting is SlotRole.RESULT,
        "is_faulty": bool(row.is_second and machine.mistake),
    }
