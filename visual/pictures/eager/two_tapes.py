"""The same loop on the eager tape and on the tapes of its Scan, step beside step.

Both are run: what each keeps for a step, in which order it goes back, and how much memory that
takes, are those of the two runs.  A moment is what a step makes, from top to bottom, and then
what comes back to it, from bottom to top, on both sides; a quantity has the same key on both.
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
from visual.pictures.eager.sides import START, Keys, Side, eager_side, table
from visual.pictures.eager.words import counted
from visual.scene.combinators import above
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

# How many lines of a step are shown at most, and whether boxes are as narrow as they can be.
MOST = 9  # rows between two states
Call = tuple[Mapping[str, object], Iterable[object]]  # what a step was given, and its results
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
    """A loop and its first derivative on the eager tape, beside the tapes of its Scan.

    It is 840 pixels wide and at most 1,200 high: what has no room is folded, unless `all` is asked.
    `wrt` names the variable to differentiate by, the first state unless given.  The cost is the
    last value of the first state.  Loops of more than 12 steps are folded: the ends are shown,
    and the steps next to `step`.  Raises ArgumentError for loops that cannot be
    unrolled (see `lab.eager.unrolled`), and where there is no such variable.
    """
    check_type("loop", loop, Loop, "a lab.Loop")
    unrolled(loop)  # refuses what cannot be unrolled, before anything is run
    trace = loop.trace(order=1, wrt=wrt)
    recorded, known = _recorded(loop, trace, wrt)
    steps = trace.scans[0].steps
    shown = numbers(shown_steps(steps, step))
    left = eager_side(recorded, known, {START, *shown, steps})
    right = ScanTapes(trace).side(shown)
    title = f"{loop.name}: the eager tape, and the states and tapes of its Scan"
    lines = [
        f"{counted(steps, 'step')} of the loop, from top to bottom; both go back from bottom to "
        "top, along the orange arrows.",
        "Left in each half: the values that are kept. Right: the gradients that came back.",
    ]
    told = (*lines, left.title, *left.sums, right.title, *right.sums)

    def drawn(half: Side, other: Side, most: int) -> Scene:
        part = above(heading(title, lines), table(half, other, steps, step, most))
        return finished(part, WORDS, title, " ".join(told))

    scene = drawn(left, right, MOST)
    if switch("all", all) or scene.width <= SCREEN.width:
        return scene
    room = SCREEN.width - drawn(left.narrow, right.narrow, MOST).width
    return drawn(left.narrow, right.narrow.wider(room), MOST)


def _recorded(loop: Loop, trace: Trace, wrt: str | None) -> tuple[Recording, dict[int, Keys]]:
    """A recording of the loop's gradient, and the nodes for which its Scan has a slot."""
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
    """The nodes that hold what a slot of the Scan holds; of several slots the first one."""
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
    """What a step read of every sequence, tap by tap."""
    for name, taps in groupby(sequences, lambda sequence: sequence.name):
        several, read = list(taps), given[name]
        values = read if len(several) > 1 and isinstance(read, list | tuple) else [read]
        yield from zip(several, values, strict=True)
