"""Scans that are compiled and yet can be given up: they are run a stretch of steps at a time.

    >>> function = compiled_in_stretches(inputs, outputs, get_mode("NUMBA"))

While compiled code runs, Python cannot look whether somebody pressed Ctrl-C.  So every Scan, as
PyTensor's rewrites have left it, is compiled by itself and makes some steps; what it leaves then is
what the next stretch begins with.  The steps are the same, and so is the result, to the last bit.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from threading import current_thread, main_thread
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.io import In, Out
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter

from lab.progress import Interrupted, stretches
from lab.scans.node import LoopVariable, is_scan, outer_outputs, read_node, stops_by_itself
from lab.tape import Kind

LAST = 1000.0  # behind all of PyTensor's rewrites
CUT = (Kind.SEQUENCE, Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT)  # what has a row for each step

Computed = Any
Function = Callable[..., list[Computed]]


def compiled_in_stretches(
    inputs: Sequence[Variable], outputs: Sequence[Variable], mode: Mode
) -> Function:
    """A compiled function that can be interrupted between stretches of its Scans' steps.

    Those that stop by themselves are run as they are.
    """
    watch = _Watch()
    made = mode.register((_Replacing(mode, watch), LAST))
    function = pytensor.function(inputs, list(outputs), mode=made, on_unused_input="ignore")

    def called(*values: Computed) -> list[Computed]:
        with watch.waiting():
            try:
                return function(*values)
            finally:
                watch.end()

    return called


@contextmanager
def _told_to(handler: Any) -> Iterator[None]:
    """Have another one told of interrupts, for a while."""
    usual = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


class _Watch:
    """Whether a run is to end.

    An exception must not go through compiled code: Numba then keeps what it holds for ever.  So an
    interrupt waits until Python looks for it; then the Scans leave their buffers as they are, and
    when all is done the exception is raised.
    """

    def __init__(self) -> None:
        self.stopped: BaseException | None = None
        self.came: list[int] = []
        self.usual: Any = None

    def waiting(self) -> AbstractContextManager[None]:
        """Have interrupts wait, in the thread that gets them."""
        self.stopped, self.came, self.usual = None, [], signal.getsignal(signal.SIGINT)
        gets_them = callable(self.usual) and current_thread() is main_thread()
        return _told_to(self._note) if gets_them else nullcontext()

    def _note(self, number: int, _: object) -> None:
        self.came.append(number)

    def compiling(self) -> AbstractContextManager[None]:
        """Let them come while Python itself works, and for long."""
        is_waiting = signal.getsignal(signal.SIGINT) == self._note
        return _told_to(self.usual) if is_waiting else nullcontext()

    def look(self) -> None:
        """Have an interrupt do what it would have done when it came."""
        if self.came:
            self.usual(self.came.pop(), sys._getframe())

    def end(self) -> None:
        """Raise what has stopped the run."""
        if self.stopped is not None:
            raise self.stopped from None
        self.look()


class _Replacing(GraphRewriter):
    """Puts an `InStretches` in the place of every Scan."""

    def __init__(self, mode: Mode, watch: _Watch) -> None:
        self.mode, self.watch = Mode(mode.linker, "None"), watch  # nothing more is rewritten

    def apply(self, fgraph: FunctionGraph) -> None:
        """Replace the Scans of a graph."""
        for node in fgraph.toposort():
            if is_scan(node) and not stops_by_itself(node):
                made = InStretches(node, self.mode, self.watch).make_node(*node.inputs)
                fgraph.replace_all_validate(list(zip(node.outputs, made.outputs, strict=True)))


class InStretches(Op):
    """What the Scan of `node` computes; it writes over what that one does."""

    def __init__(self, node: Apply, mode: Mode, watch: _Watch) -> None:
        self.node, self.mode, self.watch = node, mode, watch
        self.destroy_map = dict(node.op.destroy_map)
        self.destroyed = {place for places in self.destroy_map.values() for place in places}
        self.parts = read_node(node)
        self.compiled: Function | None = None

    def make_node(self, *inputs: Variable) -> Apply:
        """Of the outer inputs of the Scan."""
        return Apply(self, list(inputs), [v.type() for v in self.node.outputs])

    def perform(
        self, node: Apply, inputs: Sequence[Computed], output_storage: list[list[Computed]]
    ) -> None:
        """Run the Scan, unless the run is to end, or until then."""
        steps, variables = int(inputs[0]), self.parts.variables
        held = {
            part: _Held(part, value, steps, place in self.destroyed)
            for place, (part, value) in enumerate(zip(variables, inputs[1:], strict=True), 1)
        }
        made = [held[part] for part in outer_outputs(self.parts, self.node)]
        try:
            if self.watch.stopped is None:
                self._run(steps, list(held.values()), made)
        except (KeyboardInterrupt, Interrupted) as stop:
            self.watch.stopped = stop.with_traceback(None)
        for one, storage in zip(made, output_storage, strict=True):
            storage[0] = one.left()

    def _run(self, steps: int, held: Sequence["_Held"], made: Sequence["_Held"]) -> None:
        least = max((one.least for one in held), default=1)
        with closing(stretches(self.parts.called, steps, least)) as cuts:
            for first, count in cuts:
                given = [np.asarray(count), *(one.cut(first, count) for one in held)]
                with nullcontext() if first else self.watch.compiling():
                    self.compiled = self.compiled or self._compile()
                    found = self.compiled(*given)
                for one, result in zip(made, found, strict=True):
                    one.take(result, first, count)
                self.watch.look()

    def _compile(self) -> Function:
        """The Scan alone, of any number of rows."""
        inputs = [self.node.inputs[0].type()]
        for part, outer in zip(self.parts.variables, self.node.inputs[1:], strict=True):
            known = outer.type
            inputs.append(
                (known.clone(shape=(None, *known.shape[1:])) if part.kind in CUT else known)()
            )
        made = self.node.op.make_node(*inputs).outputs
        given: Any = [
            In(v, borrow=True, mutable=place in self.destroyed) for place, v in enumerate(inputs)
        ]
        results: Any = [Out(v, borrow=True) for v in made]
        return pytensor.function(
            given, results, mode=self.mode, on_unused_input="ignore", accept_inplace=True
        )


class _Held:
    """What a variable of a Scan holds meanwhile: its buffer, or the last rows, if it keeps no more.

    A stretch makes at least as many steps as the `least` of these has rows.
    """

    def __init__(self, part: LoopVariable, value: Computed, steps: int, is_own: bool) -> None:
        self.part, self.value, self.steps, self.is_own = part, value, steps, is_own
        self.least, self.is_short = 1, False
        self.is_made = part.kind is Kind.NIT_SOT
        if self.is_made:
            self.length, self.value = int(value), None
        elif part.kind.is_state:
            self.length = len(value)
        else:
            return
        needed = self._rows(steps)
        self.is_short = self.length < needed
        if self.length != needed:
            self.least = min(self.length, steps) if self.is_short else steps

    def _rows(self, count: int) -> int:
        """How many rows so many steps read and write."""
        tape = self.part.tape
        return tape.rows(count) if self.part.kind is Kind.MIT_MOT else tape.origin + count

    def cut(self, first: int, count: int) -> Computed:
        """What a stretch is given."""
        if self.is_made:
            return np.asarray(self.length if self.is_short else count)
        if self.part.kind is Kind.SEQUENCE:
            return self.value[first : first + count]
        if not self.part.kind.is_state or count == self.steps or (self.is_short and not first):
            return self.value
        if self.is_short:
            given = self.part.tape.origin
            rows = np.empty_like(self.value)
            rows[:given] = self.value[len(rows) - given :]
            return rows
        if not (first or self.is_own):
            self.value = self.value.copy()
        return self.value[first : first + self._rows(count)]

    def take(self, result: Computed, first: int, count: int) -> None:
        """What a stretch has left."""
        is_buffer = self.is_made or self.part.kind.is_state
        if self.is_short or count == self.steps or not is_buffer:
            self.value = result
            return
        if self.is_made and not first:
            self.value = np.empty((self.length, *result.shape[1:]), result.dtype)
        rows = self.value[first : first + self._rows(count)]
        if not np.shares_memory(rows, result):
            rows[...] = result

    def left(self) -> Computed:
        """What there is at the end; of a run that was given up, something of the same type."""
        if self.value is None:
            kind = self.part.filled.type
            return np.zeros((self.length, *(size or 1 for size in kind.shape[1:])), kind.dtype)
        return self.value
