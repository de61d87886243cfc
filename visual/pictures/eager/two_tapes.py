"""The same loop on the eager tape and on the tapes of its Scan, step by step.

The values, the order of the backward pass, and the memory are those of two runs. Each step has a
forward moment, from top to bottom, and then a backward moment, from bottom to top. A quantity has
the same key on both sides.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from itertools import groupby

from lab.eager import grad, recording, unrolled
from lab.eager.recorder import RecordedNode
from lab.eager.records import Recording
from lab.errors import check_type
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.loops.variables import Parameter, RandomState, State, results_of, value_of
from lab.traces.trace import SequenceTrace, Trace
from visual.layout.canvas import finished, heading, numbers
from visual.layout.columns import shown_steps
from visual.layout.sheet import SCREEN
from visual.options import switch
from visual.pictures.eager.scan_side import ScanTapes, parameter_keys, written_row
from visual.pictures.eager.sides import START, Keys, TapeSide, eager_side, table
from visual.pictures.eager.words import counted
from visual.scene.combinators import above
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST = 9  # lines of a step
Call = tuple[Mapping[str, object], Iterable[object]]  # the arguments of a step, and its results
WORDS = {
    Role.INPUT: "",
    Role.INTERMEDIATE: "a value, or its gradient",
    Role.SEED: "direct gradient of the cost",
    Role.UNNEEDED: "0: the cost does not depend on it",
    Role.RESULT: "requested gradient",
}


@picture_function
def two_tapes(
    loop: Loop,
    step: int | None = None,
    wrt: str | None = None,
    all: bool = False,
) -> Scene:
    """Draw a loop and its first derivative on the eager tape, next to the tapes of its Scan.

    Parameters
    ----------
    loop
        The loop; the cost is the last value of its first state.
    step
        A step, whose neighbors a loop of more than 12 steps also shows.
    wrt
        The name of the variable, by default the first state.
    all
        Whether to draw boxes of full width even if the picture is wider than 840 pixels.

    Raises
    ------
    lab.ArgumentError
        If the variable does not exist, or the loop cannot be unrolled (see `lab.eager.unrolled`).

    """
    check_type("loop", loop, Loop, "a lab.Loop")
    unrolled(loop)  # raises an error before the runs
    trace = loop.trace(order=1, wrt=wrt)
    recorded, known = _recorded(loop, trace, wrt)
    steps = trace.scans[0].steps
    shown = numbers(shown_steps(steps, step))
    left = eager_side(recorded, known, {START, *shown, steps})
    right = ScanTapes(trace).side(shown)
    title = f"{loop.name}: the eager tape, and the states and tapes of its Scan"
    lines = [
        f"{counted(steps, 'step')} of the loop, from top to bottom; gradients flow from bottom to "
        "top, along the orange arrows.",
        "Left in each half: stored values. Right: gradients.",
    ]
    words = (*lines, left.title, *left.sums, right.title, *right.sums)

    def drawn(half: TapeSide, other: TapeSide, most: int) -> Scene:
        part = above(heading(title, lines), table(half, other, steps, step, most))
        return finished(part, WORDS, title, " ".join(words))

    scene = drawn(left, right, MOST)
    if switch("all", all) or scene.width <= SCREEN.width:
        return scene
    room = SCREEN.width - drawn(left.narrow, right.narrow, MOST).width
    return drawn(left.narrow, right.narrow.wider(room), MOST)


def _recorded(loop: Loop, trace: Trace, wrt: str | None) -> tuple[Recording, dict[int, Keys]]:
    """Return a recording of the loop's gradient, and the nodes that correspond to slots."""
    calls: list[Call] = []

    @wraps(loop.step)
    def step(*args: object, **kwargs: object) -> object:
        returned = loop.step(*args, **kwargs)
        calls.append((kwargs, results_of(returned)[0]))
        return returned

    variables = loop.variables
    wrt = next(iter(variables)) if wrt is None else identifier(wrt)
    function = unrolled(replace(loop, step=step))
    values = [value_of(one)[()] for one in variables.values() if not isinstance(one, RandomState)]
    recorded = recording(grad(function, list(variables).index(wrt)), *values)
    return recorded, _known(loop, trace, wrt, calls)


def _known(loop: Loop, trace: Trace, wrt: str, calls: Iterable[Call]) -> dict[int, Keys]:
    """Return the keys of the first slot with the same value, by the numbers of nodes."""
    known: dict[int, Keys] = {}
    scan, forward, started = ScanTapes(trace), trace.scans[0], loop.variables[wrt]
    tapes = {tape.name: tape for tape in forward.held}
    if isinstance(started, State) and started.reach == 1:
        known[0] = scan.slot_keys(tapes[wrt], 0)
    elif isinstance(started, Parameter):
        known[0] = parameter_keys(wrt)
    names = [*(state.name for state in loop.states), *loop.outputs]
    for step, (given, returned) in enumerate(calls):
        for sequence, read in _reads(forward.sequences, given):
            if isinstance(read, RecordedNode):
                known.setdefault(read.number, scan.reading_keys(sequence, step))
        for name, result in zip(names, returned, strict=True):
            if isinstance(result, RecordedNode):
                keys = scan.slot_keys(tapes[name], written_row(tapes[name], step))
                known.setdefault(result.number, keys)
    return known


def _reads(
    sequences: Iterable[SequenceTrace], given: Mapping[str, object]
) -> Iterator[tuple[SequenceTrace, object]]:
    """Yield the values of every sequence in a step, for each tap."""
    for name, taps in groupby(sequences, lambda sequence: sequence.name):
        several, read = list(taps), given[name]
        values = read if len(several) > 1 and isinstance(read, list | tuple) else [read]
        yield from zip(several, values, strict=True)
