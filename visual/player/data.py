"""A machine as JSON: `as_data` returns the records that `picture.js` and `machine.js` read.

Each record of `visual.pictures.machine.content` becomes an object with its fields and `PROPERTIES`.
A cell contains the fields of its `CellBox` and of `_cell`; a group also contains its `start` and
`end`, and a term the fields of its `Track`.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from lab.equations.events.records import SlotRole
from lab.errors import listing
from lab.notation import integers
from lab.traces.trace import Trace
from visual.pictures.machine.arrange import Arrangement, CellBox, arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import Key, MachineContent, MachineEvent, Part, PartGroup
from visual.pictures.machine.places import NumberStyle, Numeral
from visual.pictures.machine.states import spans
from visual.pictures.machine.tracks import group_tracks
from visual.player.state import as_text

MOST_NESTED = 12  # for a Scan with more steps, the data omit the Scans inside its steps
PROPERTIES: Mapping[type, tuple[str, ...]] = {
    MachineContent: ("moments",),
    MachineEvent: ("weight",),
    PartGroup: ("shown", "reasons"),
    Part: ("is_addition",),
}
WIDE, PHONE = 800.0, 320.0  # widths in pixels; a page can scale the picture


def for_page(machine: MachineContent, trace: Trace | None = None) -> dict[str, Any]:
    """Return the data of a machine for wide pages and phones, and of machines inside its steps."""
    inside = [
        {
            "scan": number,
            "step": step,
            "names": listing(inner.name for inner in run.scans),
            "data": for_page(machine_of(run), run),
        }
        for number, scan in enumerate(trace.scans if trace else (), start=1)
        if len(scan.nested) <= MOST_NESTED
        for step, run in enumerate(scan.nested)
        if any(inner.steps for inner in run.scans)
    ]
    narrow = as_data(arrange(machine, PHONE))
    return {**as_data(arrange(machine, WIDE)), "narrow": narrow, "inside": inside}


def as_data(arrangement: Arrangement) -> dict[str, Any]:
    """Return an arranged machine as plain dictionaries, lists, texts, and numbers.

    Groups start and end at fractions of the duration of their event.
    """
    machine = arrangement.machine
    data = {"first": _first(machine), **_plain(machine, without=("rows", "cells"))}
    data |= _plain(arrangement, 2, without=("machine", "boxes", "is_cramped"))
    data["cells"] = [_plain(box, 2) | _cell(machine, box) for box in arrangement.boxes]
    for plain, event in zip(data["events"], machine.events, strict=True):
        for plain_group, (group, start, end) in zip(plain["groups"], spans(event), strict=True):
            plain_group |= {"start": start, "end": end}
            tracks = zip(plain_group["parts"], group_tracks(arrangement, group), strict=True)
            for part, lines in tracks:
                for term, line in zip(part["terms"], lines, strict=True):
                    term |= _plain(line, 2)
    if machine.mistake is not None:
        example = machine.mistake.example
        offer = example and _offer(example)
        data["mistake"] |= {"example": example and as_text(example), "offer": offer}
    return data


def _plain(value: Any, digits: int | None = None, without: tuple[str, ...] = ()) -> Any:
    """Return a value as plain data. A record becomes a dictionary of its fields and `PROPERTIES`.

    With `digits`, round the floats, except the moments of keys. A `Numeral` becomes its place and
    its style. Omit the fields `without`.
    """
    digits = None if isinstance(value, Key) else digits
    if isinstance(value, Numeral):
        return {"n": value.place, "s": value.style.value}
    if is_dataclass(value):
        names = [each.name for each in fields(value) if each.name not in without]
        names += PROPERTIES.get(type(value), ())
        return {name: _plain(getattr(value, name), digits) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(each, digits) for key, each in value.items()}
    if isinstance(value, range):
        return [value.start, value.stop]
    if isinstance(value, tuple | list):
        return [_plain(each, digits) for each in value]
    return round(value, digits) if digits is not None and isinstance(value, float) else value


def _first(machine: MachineContent) -> int:
    """Return the moment to show first: the first wrong number, else the first filled tape, or 0."""
    if machine.mistake is not None and machine.mistake.first_wrong is not None:
        return machine.mistake.first_wrong
    return next((scan.events.start + 1 for scan in machine.scans if scan.order and scan.events), 0)


def _offer(example: Mapping[str, Any]) -> str:
    """Return the choices of an example as text: ``square, taps −2, −1, 2 steps, order 2``."""
    words = [example["loop"], *(f"taps {integers(*t)}" for t in example.get("taps", {}).values())]
    formats = {"steps": "{} steps", "cost": "cost {}", "order": "order {}"}
    return ", ".join(words + [formats[n].format(example[n]) for n in formats if n in example])


def _cell(machine: MachineContent, cell: CellBox) -> dict[str, Any]:
    """Return the fields of a cell that its `CellBox` does not contain.

    `wrong_from` is the moment of the first wrong number, or None. `given` is the place of the
    instruction for a given initial value, or None for a cell without such a value.
    """
    row, first, wrong_from = machine.rows[cell.row], cell.wrong_from, None
    if first is not None:
        wrong = (k.moment for k in cell.keys if k.full == cell.at(first).full)
        wrong_from = next(moment for moment in wrong if moment > first - 1)
    text = cell.keys[0].text if cell.keys[0].role == SlotRole.INPUT else ""
    given = text.place if isinstance(text, Numeral) and text.style is NumberStyle.PLAIN else None
    return {
        "wrong_from": wrong_from,
        "scan": row.scan,
        "tape": row.tape,
        "given": given,
        "is_faulty": bool(row.is_second and machine.mistake),
    }
