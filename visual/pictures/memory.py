"""The picture of memory: the buffers of a derivative, from when to when, and plans for them.

    >>> visual.memory(gallery.loops["rnn"].trace(order=2)).save("memory.svg")

Steps of all Scans run from left to right.  Above stand the bytes that are there at once, below a
bar for each buffer, from the Scan that makes it to the last that reads it.  Below them stand plans
that keep fewer states and recompute the others: height is memory, width is work.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lab.errors import check_type
from lab.notation import size_text
from lab.reports.runs.memory import BEGINS, Buffer, Memory, Plan
from lab.reports.runs.memory import memory as memory_of
from lab.traces.trace import Trace
from visual.layout.legend import explained
from visual.layout.names import counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.values.scale import scale_of
from visual.pictures.values.series import Series
from visual.pictures.values.values import FOOT, HIGH, TITLE, curve
from visual.pictures.values.values import Plan as Page
from visual.scene.combinators import Piece, above, beside, gap, piece, scene, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Scene, Shape, Text, fitted, folded, picture_function
from visual.scene.theme import Role

SMALL, AREA, BAR = 11.0, 120.0, 22.0
NAMES, MOST_NAMES = 150.0, 230.0
MOST_BUFFERS, NARROWEST, APART = 14, 240.0, 24.0
ROLES = {
    Role.INTERMEDIATE: "bytes while a Scan runs",
    Role.PRESERVED: "read by later Scans",
    Role.SPENT: "not read once its Scan has ended",
}
LEAST = 1.5  # pixels of a Scan


@picture_function
def memory(
    trace: Trace | Memory,
    scan: int = 1,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the buffers of a trace, or of a `lab.Memory`, and plans that keep fewer states.

    Of more than 14 buffers, those that later Scans read are shown first, and the largest.  Raises
    what `lab.memory` raises.
    """
    check_type("trace", trace, (Trace, Memory), "a Trace, or what lab.memory has told")
    check_sheet(sheet)
    found = trace if isinstance(trace, Memory) else memory_of(trace, scan)
    title = f"Memory of {found.loop}: {size_text(found.peak)} at most"
    parts = [_over_time(found, sheet), *_legend(found, sheet), *_plans(found, sheet)]
    read = "the graph as it stands; "
    read += "a bar is a buffer, from the Scan that makes it to the last that reads it"
    if any(buffer.why == BEGINS for buffer in found.buffers):
        read += "; at first: before its steps"
    held = [found.during(number + 1) for number in range(len(found.scans))]
    lines = f"{counted(len(found.buffers), 'buffer')} in all"
    if held[1:]:
        lines += f"; most is held while Scan {held.index(max(held)) + 1} runs"
    lines += "."
    heads = [
        piece(fitted(0, 0, title, sheet.line, 16, bold=True)),
        *(piece(Text(0, 0, line)) for line in folded(lines, sheet.line, 12) if line),
        *(piece(Text(0, 0, line, muted=True)) for line in folded(read, sheet.line, 12)),
    ]
    drawn = scene(
        above(gap(sheet.line), above(*heads, apart=4), *parts, apart=16),
        title,
        f"{lines} Live bytes over the steps, {len(found.buffers)} buffers, and "
        f"{len(found.plans)} plans.",
        sheet.margin,
    )
    return replace(drawn, twin=f"{title}\n{found}\n")


def _legend(found: Memory, sheet: Sheet) -> Iterator[Piece]:
    """What the looks of bars mean, of those that there are."""
    if not sheet.legend:
        return
    looks = {_look(buffer) for buffer in found.buffers} | {Role.INTERMEDIATE}
    words = {role: told for role, told in ROLES.items() if role in looks}
    shapes, bottom = explained(words, 0, sheet.line, True, 0.0)
    yield sized(sheet.line, bottom, *shapes)


def _look(buffer: Buffer) -> Role:
    return Role.PRESERVED if buffer.last > buffer.first else Role.SPENT


def _edges(found: Memory, left: float, room: float) -> list[float]:
    """Where the Scans begin and end: by their steps, none too thin to be seen."""
    shares = np.maximum(np.array(found.lengths, float), 1e-9)
    wide = np.maximum(shares / shares.sum() * room, min(LEAST, room / len(shares)))
    return [left, *(left + np.cumsum(wide) * room / wide.sum()).round(1).tolist()]


def _over_time(found: Memory, sheet: Sheet) -> Piece:
    """Live bytes over the steps of all Scans, and below them the buffers."""
    ranks = [(b.last == b.first, -b.bytes) for b in found.buffers]
    largest = sorted(range(len(ranks)), key=ranks.__getitem__)
    shown = {n: _name(found.buffers[n]) for n in sorted(largest[:MOST_BUFFERS])}
    wide = max((text_width(name, SMALL, bold=True) + 12 for name in shown.values()), default=0.0)
    names = min(max(NAMES, wide), MOST_NAMES, sheet.line / 3)
    edges = _edges(found, names, sheet.line - names)
    shapes: list[Shape] = []
    sums = map(found.during, range(1, len(found.scans) + 1))
    for number, (name, total) in enumerate(zip(found.scans, sums, strict=True)):
        left, wide = edges[number], edges[number + 1] - edges[number]
        high = max(1.0, AREA * total / max(1, found.peak))
        told = f"{number + 1} · {name}: {size_text(total)}"
        inside: list[Shape] = [
            Box(left, AREA - high, max(1.0, wide - 1), high, Role.INTERMEDIATE),
        ]
        which = f"Scan {number + 1}" if wide > 50 else f"{number + 1}"
        if high <= 18 * 2:  # too low for words in it: above it, in one line
            words = f"{which}: {size_text(total)}"
            words = words if text_width(words, SMALL) < wide else words.removeprefix("Scan ")
            above_it = fitted(left + 4, AREA - high - 5, words, wide, SMALL)
            inside += [above_it] if wide > 50 else []
        for line, words in enumerate((which, size_text(total)) if high > 18 * 2 else ()):
            if text_width(words, SMALL) < wide - 6 and high > 18 * (line + 1):
                inside.append(Text(left + 4, AREA - high + 14 + 15 * line, words, SMALL))
        shapes.append(Group(tuple(inside), title=told))
    axes = ((12, "↑ bytes at once"), (AREA - 4, "→ steps of the Scans"))
    shapes += [fitted(0, y, told, names - 8, SMALL, muted=True) for y, told in axes]
    for row, (number, name) in enumerate(shown.items()):
        buffer = found.buffers[number]
        y = AREA + 14 + row * BAR
        left, right = edges[buffer.first - 1], edges[buffer.last]
        told = f"{size_text(buffer.bytes)}: {buffer.why}"
        role = _look(buffer)
        wide = max(1.0, right - left - 1)
        bar: list[Shape] = [Box(left, y, wide, BAR - 5, role)]
        if wide > 60:
            words = told if text_width(told, SMALL) <= wide - 8 else size_text(buffer.bytes)
            bar.append(fitted(left + 7, y + 12, words, wide - 10, SMALL, role=role))
        bar.append(fitted(0, y + 13, name, names - 8, SMALL, bold=True))
        shapes.append(Group(tuple(bar), title=f"{buffer.name}, {told}"))
    parts = [piece(*shapes)]
    hidden = [found.buffers[n] for n in largest[MOST_BUFFERS:]]
    if hidden:
        told = f"⋯ {len(hidden):,} more buffers, {size_text(sum(b.bytes for b in hidden))} in all"
        parts.append(piece(fitted(0, 0, told, sheet.line, SMALL, muted=True)))
    return above(*parts, apart=6)


def _name(buffer: Buffer) -> str:
    return f"{buffer.name}, at first" if buffer.why == BEGINS else buffer.name


def _plans(found: Memory, sheet: Sheet) -> Iterator[Piece]:
    """Every plan that keeps fewer states: the bytes of its states over its work."""
    plans = found.plans
    if not plans:
        return
    yield piece(Text(0, 0, "Plans that keep fewer states", 12, bold=True))
    told = "↑ bytes of states kept, → steps made, forwards and back"
    yield above(*(piece(Text(0, 0, line, muted=True)) for line in folded(told, sheet.line, 12)))
    across = max(1, int((sheet.line + APART) / (NARROWEST + APART)))
    page = Page(across, (sheet.line + APART) / across - APART, 1, max(p.work for p in plans))
    every = [plan.bytes.astype(float) for plan in plans]
    scale = scale_of([*every, np.zeros(1)])
    drawn = []
    for plan, held in zip(plans, every, strict=True):
        shapes = curve([Series(plan.name, np.arange(1, plan.work + 1), held, "work")], scale, page)
        drawn.append(_panel(plan, found, page, shapes))
    rows = [beside(*drawn[n : n + across], apart=APART) for n in range(0, len(drawn), across)]
    yield above(*rows, apart=12)


def _panel(plan: Plan, found: Memory, page: Page, shapes: list[Shape]) -> Piece:
    is_best = found.best is not None and plan.name == found.best.name
    name = f"{plan.name}{' · best' if is_best else ''}"
    words = f"{size_text(plan.room)}, {plan.work:,} steps"
    heads = (
        fitted(0, 12, name, page.wide - text_width(words, SMALL) - 8, 12, bold=True),
        Text(page.wide, 12, words, SMALL, "end", muted=True),
    )
    group = Group((*heads, *shapes), title=f"{name}: {words}")
    return sized(page.wide, TITLE + HIGH + FOOT, group)
