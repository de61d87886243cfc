"""The canonical picture: what ``pytensor.scan`` was given, what its Scan got, what a step gets.

From left to right: the call with everything that was filled in, the Scan's own arguments in
their order, and the values that step t gets of them.  What belongs to one variable is linked.
"""

from collections.abc import Iterator

import lab
from lab.errors import ArgumentError, quoted
from lab.loops.loop import Loop
from lab.reports.calls.canonical import Canonical, Given, Input
from lab.tape import Kind
from visual.layout.canvas import MARGIN, Canvas
from visual.scene.shapes import Arrow, Box, Group, Scene, Text, shortened
from visual.scene.theme import Role

HEIGHT, PITCH = 40, 52
LEFT, MIDDLE, RIGHT = (MARGIN, 290), (MARGIN + 360, 330), (MARGIN + 760, 130)
WORDS = {
    Role.INPUT: "in the call",
    Role.UNNEEDED: "not said, and filled in",
    Role.INTERMEDIATE: "what is made of it",
    Role.READ: "found in the step",
}


def canonical(subject: Canonical | Loop, theme: str = "light") -> Scene:
    """A call of ``pytensor.scan`` before, and its Scan after: of `lab.canonical`, or of a loop.

    Raises ArgumentError for anything else: a step function goes through `lab.canonical`.
    """
    if not isinstance(subject, Canonical | Loop):
        raise ArgumentError(
            f"subject = {quoted(subject)}: expected what lab.canonical found, or a Loop."
        )
    call = lab.canonical(subject) if isinstance(subject, Loop) else subject
    canvas = Canvas()
    canvas.heading("What pytensor.scan was given, and what the Scan got", [_called(call)])
    top = canvas.y + 26
    heads = ("given to pytensor.scan", "what the Scan got, in its order", "what step t gets: rows")
    for (x, _), head in zip((LEFT, MIDDLE, RIGHT), heads, strict=True):
        canvas.add(Text(x, top - 8, head, 12, bold=True))
    for number, said in enumerate(call.given):
        canvas.add(_given(canvas, said, top + number * PITCH))
    for number, item in enumerate(call.inputs):
        y = top + number * PITCH
        canvas.add(_input(canvas, item, y))
        for source in _sources(item, call):
            start = top + source * PITCH + HEIGHT / 2
            canvas.add(_line(LEFT[0] + LEFT[1], start, MIDDLE[0], y + HEIGHT / 2))
        if item.inner:
            canvas.add(_inner(canvas, item, y))
            middle = y + HEIGHT / 2
            canvas.add(Arrow(((MIDDLE[0] + MIDDLE[1] + 2, middle), (RIGHT[0] - 3, middle))))
    if not call.inputs:
        told = "no Scan: a constant n_steps of 1"
        canvas.add(Text(MIDDLE[0], top + 24, told, 13, muted=True))
    rows = max(len(call.given), len(call.inputs))
    canvas.y = top + rows * PITCH + 10
    return canvas.finished(
        {role: told for role, told in WORDS.items() if role in canvas.roles},
        width=RIGHT[0] + RIGHT[1] + MARGIN,
        title="The arguments of pytensor.scan, made canonical",
        description=str(call).replace("\n", " "),
        theme=theme,
    )


def _called(call: Canonical) -> str:
    times = "once" if call.called == 1 else f"{call.called} times"
    return f"the step is called {times}, with {', '.join(call.called_with) or 'nothing'}"


def _sources(item: Input, call: Canonical) -> Iterator[int]:
    """The numbers of what was said of the variable, or number of steps, that an argument is."""
    given = list(enumerate(call.given))
    if item.kind is None:
        yield from (number for number, said in given if said.argument == "n_steps")
    elif item.kind is Kind.NIT_SOT:
        same = [other for other in call.inputs if other.kind is Kind.NIT_SOT]
        nones = [number for number, said in given if said.is_output]
        yield from nones[same.index(item) : same.index(item) + 1]
    else:
        yield from (n for n, said in given if said.variable and said.variable == item.name)


def _given(canvas: Canvas, said: Given, y: float) -> Group:
    role = Role.UNNEEDED if said.filled_in and not said.variable else Role.INPUT
    canvas.roles.append(role)
    return _box(LEFT, y, said.argument, said.value, role, f"canonical:{said.variable}")


def _input(canvas: Canvas, item: Input, y: float) -> Group:
    role = Role.READ if item.note == "found in the step" else Role.INTERMEDIATE
    canvas.roles.append(role)
    head = f"{item.number} · {item.kind or 'number of steps'}"
    if item.note and role is not Role.READ:
        head += f" · {item.note}"
    return _box(MIDDLE, y, head, item.outer, role, f"canonical:{item.name}")


def _inner(canvas: Canvas, item: Input, y: float) -> Group:
    canvas.roles.append(Role.INTERMEDIATE)
    names = ", ".join(item.inner)
    return _box(RIGHT, y, "", names, Role.INTERMEDIATE, f"canonical:{item.name}")


def _box(
    place: tuple[float, float], y: float, head: str, words_inside: str, role: Role, key: str
) -> Group:
    """A box with a small line over a larger one; the whole is in its tooltip."""
    x, width = place
    short = shortened(words_inside, width - 16, 12.5, mono=True)
    line = y + (31 if head else 25)
    words = [Text(x + 8, line, short, 12.5, mono=True, role=role)]
    if head:
        small = shortened(head, width - 16, 10.5)
        words.insert(0, Text(x + 8, y + 14, small, 10.5, role=role))
    cell = "" if key == "canonical:" else key
    return Group(
        (Box(x, y, width, HEIGHT, role), *words), cell=cell, title=f"{head}: {words_inside}"
    )


def _line(x0: float, y0: float, x1: float, y1: float) -> Arrow:
    middle = (x0 + x1) / 2
    return Arrow(((x0 + 2, y0), (middle, y0), (middle, y1), (x1 - 3, y1)))
