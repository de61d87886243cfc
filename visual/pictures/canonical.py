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
from visual.layout.canvas import finished, heading
from visual.scene.combinators import Piece, above, beside, gap, joined, named, piece, words
from visual.scene.shapes import Box, Group, Scene, Shape, fitted
from visual.scene.theme import Role

HEIGHT, BETWEEN, APART = 40, 12, 70
LEFT, MIDDLE, RIGHT = 290, 330, 130
HEADS = ("given to pytensor.scan", "what the Scan got, in its order", "what step t gets: rows")
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
    head = heading("What pytensor.scan was given, and what the Scan got", [_called(call)])
    nothing = [words("no Scan: a constant n_steps of 1", 13, muted=True)]
    columns = (
        [named(_given(said), f"said {n}") for n, said in enumerate(call.given)],
        [named(_input(item), f"got {n}") for n, item in enumerate(call.inputs)] or nothing,
        [named(_inner(item), f"step {n}") for n, item in enumerate(call.inputs)],
    )
    lists = (
        above(words(name, 12, bold=True), *boxes, apart=BETWEEN)
        for name, boxes in zip(HEADS, columns, strict=True)
    )
    return finished(
        above(head, joined(beside(*lists, apart=APART), *_arrows(call))),
        WORDS,
        title="The arguments of pytensor.scan, made canonical",
        description=str(call).replace("\n", " "),
        theme=theme,
    )


def _called(call: Canonical) -> str:
    times = "once" if call.called == 1 else f"{call.called} times"
    return f"the step is called {times}, with {', '.join(call.called_with) or 'nothing'}"


def _arrows(call: Canonical) -> Iterator[tuple[str, str]]:
    """From what was said to the arguments that it is, and from there to what a step gets."""
    for number, item in enumerate(call.inputs):
        yield from ((f"said {source}", f"got {number}") for source in _sources(item, call))
        if item.inner:
            yield f"got {number}", f"step {number}"


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


def _given(said: Given) -> Piece:
    role = Role.UNNEEDED if said.filled_in and not said.variable else Role.INPUT
    return _box(LEFT, said.argument, said.value, role, f"canonical:{said.variable}")


def _input(item: Input) -> Piece:
    role = Role.READ if item.note == "found in the step" else Role.INTERMEDIATE
    head = f"{item.number} · {item.kind or 'number of steps'}"
    if item.note and role is not Role.READ:
        head += f" · {item.note}"
    return _box(MIDDLE, head, item.outer, role, f"canonical:{item.name}")


def _inner(item: Input) -> Piece:
    if not item.inner:
        return gap(RIGHT, HEIGHT)
    names = ", ".join(item.inner)
    return _box(RIGHT, "", names, Role.INTERMEDIATE, f"canonical:{item.name}")


def _box(width: float, head: str, inside: str, role: Role, key: str) -> Piece:
    """A box with a small line over a larger one; the whole is in its tooltip."""
    room = width - 16
    shapes: list[Shape] = [Box(0, 0, width, HEIGHT, role)]
    if head:
        shapes.append(fitted(8, 14, head, room, 10.5, role=role))
    shapes.append(fitted(8, 31 if head else 25, inside, room, 12.5, mono=True, role=role))
    cell = "" if key == "canonical:" else key
    return piece(Group(tuple(shapes), cell=cell, title=f"{head}: {inside}"))
