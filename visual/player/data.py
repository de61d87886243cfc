"""A machine as JSON: `as_data` writes what `picture.js` and `machine.js` read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.equations.events.records import SlotRole
from lab.errors import listing
from lab.notation import integers
from lab.reports.breaking.breakage import Breakage
from lab.traces.trace import Trace
from visual.layout.sheet import SCREEN
from visual.options import FEWEST
from visual.pictures.machine.arrange import Arrangement, CellBox, arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import MachineContent, MachineEvent, Part, PartGroup, SlotCell
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.places import NumberStyle, Numeral
from visual.pictures.machine.tracks import Track, group_tracks
from visual.player.state import as_text

Point = tuple[float, float]
MOST_NESTED = 12  # steps of a Scan whose inner Scans a page contains
WIDE, PHONE = 800.0, 344.0  # pixels: of a page, which may scale it


def for_page(machine: MachineContent, trace: Trace | None = None) -> dict[str, Any]:
    """Return the data of a machine for wide pages and for phones, with the Scans inside steps."""
    narrow = as_data(arrange(machine, PHONE))
    return {**as_data(arrange(machine, WIDE)), "narrow": narrow, "inside": inside(trace)}


def inside(trace: Trace | None) -> list[dict[str, Any]]:
    """Return the machines of the Scans inside each step, for Scans with few steps."""
    scans = enumerate(() if trace is None else trace.scans, start=1)
    few = [(number, scan.nested) for number, scan in scans if len(scan.nested) <= MOST_NESTED]
    return [
        {
            "scan": number,
            "step": step,
            "names": listing(scan.name for scan in inner.scans),
            "data": for_page(machine_of(inner), inner),
        }
        for number, nested in few
        for step, inner in enumerate(nested)
        if any(scan.steps for scan in inner.scans)
    ]


def data_of(trace: Trace, width: float = 0) -> dict[str, Any]:
    """Return the data of a run's machine for a page of `width` pixels, 0 if it is unknown.

    Pages below the standard width get an own arrangement; wider pages scale the machine.
    """
    return {**as_data(arrange(machine_of(trace), _sheet(width))), "inside": inside(trace)}


def _sheet(width: float) -> float:
    return max(width, FEWEST) if 0 < width < SCREEN.width else SCREEN.width


def pair_data(breakage: Breakage, width: float = 0) -> dict[str, Any]:
    """Return the machine of a faulty rule next to the correct one, as `data_of` does."""
    return as_data(arrange(pair_of(breakage), _sheet(width)))


def _first(machine: MachineContent) -> int:
    """Return the moment to open: the first wrong number, or the filled tape of a gradient."""
    if machine.mistake is not None and machine.mistake.first_wrong is not None:
        return machine.mistake.first_wrong
    return next((scan.events.start + 1 for scan in machine.scans if scan.order and scan.events), 0)


def as_data(arrangement: Arrangement) -> dict[str, Any]:
    """Return an arranged machine as plain dictionaries, lists, texts, and numbers."""
    machine = arrangement.machine
    mistake = machine.mistake
    results = [
        piece
        for n, (name, value) in enumerate(machine.results)
        for piece in (f"{' · ' if n else ''}{name} = ", *value)
    ]
    return {
        "title": machine.title,
        "width": arrangement.width,
        "height": arrangement.height,
        "pitch": arrangement.pitch,
        "tall": arrangement.is_tall,
        "down": arrangement.is_down,
        "moments": machine.moments,
        "first": _first(machine),
        "start": "Press play, or drag the bar: each event is one step of one Scan.",
        "question": results,
        "runs": machine.runs,
        "rule": mistake
        and {
            "name": mistake.rule,
            "change": mistake.change,
            "example": mistake.example and as_text(mistake.example),
            "offer": mistake.example and _offer(mistake.example),
            "wrong": mistake.first_wrong,
            "read": mistake.first_read,
            "table": mistake.table,
        },
        "scans": [
            {
                "number": scan.number,
                "label": scan.label,
                "name": scan.name,
                "printed": scan.printed,
                "taps": scan.taps,
                "from": scan.events.start,
                "to": scan.events.stop,
            }
            for scan in machine.scans
        ],
        "headings": [
            {
                "scan": h.scan,
                "x": h.x,
                "y": h.y,
                "text": h.text,
                "bold": h.is_bold,
                "ground": h.has_ground,
                "faulty": bool(h.is_second and mistake),
            }
            for h in arrangement.headings
        ],
        "gaps": arrangement.gaps,
        "cells": [
            _cell(arrangement, *pair) for pair in zip(machine.cells, arrangement.boxes, strict=True)
        ],
        "events": [_event(arrangement, event) for event in machine.events],
    }


def _offer(example: Mapping[str, object]) -> str:
    """Return ``square, taps −2, −1, 2 steps, order 2``."""
    words = [str(example["loop"])]
    taps = example.get("taps")
    words += [f"taps {integers(*some)}" for some in taps.values()] if isinstance(taps, dict) else []
    words += [f"{example['steps']} steps"] if "steps" in example else []
    words += [f"cost {example['cost']}"] if "cost" in example else []
    return ", ".join([*words, f"order {example['order']}"])


def _cell(arrangement: Arrangement, cell: SlotCell, box: CellBox) -> dict[str, Any]:
    row = arrangement.machine.rows[cell.row]
    return {
        "scan": row.scan,
        "tape": row.tape,
        "position": cell.position,
        "name": cell.name,
        "label": box.label,
        "x": round(box.x, 2),
        "y": round(box.y, 2),
        "w": round(box.width, 2),
        "h": round(box.height, 2),
        "size": round(box.letters, 2),
        "given": _given(cell),
        "keys": [(key.moment, key.role, key.text, key.full, key.entries) for key in cell.keys],
        "seed": cell.has_seed,
        "faulty": bool(row.is_second and arrangement.machine.mistake),
        "wrong": cell.wrong_from,
    }


def _given(cell: SlotCell) -> int | None:
    """Return the place of the given value in a cell at moment 0."""
    first = cell.keys[0]
    text = first.text
    if not isinstance(text, Numeral) or text.style is not NumberStyle.PLAIN:
        return None
    return text.place if first.role == SlotRole.INPUT else None


def _event(arrangement: Arrangement, event: MachineEvent) -> dict[str, Any]:
    return {
        "number": event.number,
        "scan": event.scan,
        "step": event.step,
        "heading": event.heading,
        "weight": event.weight,
        "groups": [_group(arrangement, group) for group in event.groups],
    }


def _group(arrangement: Arrangement, group: PartGroup) -> dict[str, Any]:
    return {
        "weight": group.weight,
        "summary": [(piece.text, piece.ink) for piece in group.summary],
        "reason": group.reason,
        "parts": [
            _part(part, tracks)
            for part, tracks in zip(group.parts, group_tracks(arrangement, group), strict=True)
        ],
    }


def _part(part: Part, tracks: Sequence[Track]) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "target": part.target,
        "old": part.old,
        "new": part.new,
        "adds": part.adds,
        "sentence": [(piece.text, piece.ink) for piece in part.sentence],
        "entries": [[(piece.text, piece.ink) for piece in line] for line in part.by_entry],
        "exact": part.exact,
        "formula": part.formula,
        "second": part.is_second,
        "check": part.check,
        "moves": list(_moves(part, tracks)),
    }


def _moves(part: Part, tracks: Sequence[Track]) -> Iterator[dict[str, Any]]:
    for term, way in zip(part.terms, tracks, strict=True):
        yield {
            "source": term.source,
            "value": term.value,
            "factor": term.factor,
            "symbol": term.symbol,
            "product": term.product,
            "label": term.label,
            "points": _points(way.points),
            "chip": way.chip and _points((way.chip,))[0],
            "turn": round(way.turn, 3),
            "saved": term.saved,
            "lines": [_points(line) for line in way.saved],
        }


def _points(points: tuple[Point, ...]) -> list[Point]:
    return [(round(x, 1), round(y, 1)) for x, y in points]
