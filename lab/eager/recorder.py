"""Record a run with tapes and nodes that report their events.

While `recording` runs a function, new tapes are of the class `RecordedTape`, whose nodes are of the
class `RecordedNode`.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar

import numpy as np

from lab.eager import records
from lab.eager.records import Event, NodeRecord, RecordedValue, Recording, SparseValue, TapeRecord
from lab.eager.tape import Gradient, Node, Operand, Setter, Tape, Value, new_tape, value_of
from lab.errors import check_function, check_integer, slice_text
from lab.progress import set_context
from lab.records import freeze


def recording(function: Callable[..., object], *args: object, **kwargs: object) -> Recording:
    """Run ``function(*args, **kwargs)``, and record every tape that the function opens.

    >>> recording(grad(lambda x: x**2), 0.95).result
    """
    check_function("function", function)
    recorder = Recorder()
    tape_factory = set_context(new_tape, lambda name: RecordedTape(name, recorder))
    with tape_factory, set_context(_CURRENT, recorder):
        result = record_value(function(*args, **kwargs), recorder)
    tapes = (
        TapeRecord(tape.number, tape.priority, tape.function, tuple(tape.numbers))
        for tape in recorder.tapes
    )
    return Recording(result, tuple(tapes), tuple(recorder.nodes), tuple(recorder.events))


def steps(count: int) -> Iterable[int]:
    """Return the step numbers 0 to `count` − 1 of a loop.

    While the loop runs, each recorded node stores the number of the current step.
    """
    count, recorder = check_integer("count", count, "an integer"), _CURRENT.get()
    return range(count) if recorder is None else recorder.steps(count)


class Recorder:
    """The recorded tapes, nodes, and events of a run."""

    def __init__(self) -> None:
        self.tapes: list[RecordedTape] = []
        self.nodes: list[NodeRecord] = []
        self.events: list[Event] = []
        self.step: int | None = None
        self.during: int | None = None

    def steps(self, count: int) -> Iterator[int]:
        """Yield 0 to `count` − 1, and set `step` to the current number while the loop runs."""
        before = self.step
        try:
            for self.step in range(count):
                yield self.step
        finally:
            self.step = before


_CURRENT: ContextVar[Recorder | None] = ContextVar("_CURRENT", default=None)


class RecordedTape(Tape):
    """A tape whose nodes record their events.

    `numbers` are the numbers of the tape's nodes in order.  `sender` is the number of the node that
    `grad` removed most recently.
    """

    def __init__(self, function: str, recorder: Recorder) -> None:
        super().__init__(function)
        self.recorder, self.number = recorder, len(recorder.tapes)
        recorder.tapes.append(self)
        self.numbers: list[int] = []
        self.sender: int | None = None


class RecordedNode(Node):
    """A node that records its creation and the gradients that it receives."""

    __slots__ = ("home", "number", "step")

    def __init__(
        self,
        value: object,
        tape: RecordedTape,
        parent_operations: "Sequence[tuple[Gradient, RecordedNode]]" = (),
        operation: str = "",
        arguments: tuple[object, ...] = (),
    ) -> None:
        super().__init__(value, tape, parent_operations, operation)
        self.home, recorder = tape, tape.recorder
        self.number, self.step = len(recorder.nodes), recorder.step
        tape.numbers.append(self.number)
        recorder.nodes.append(
            NodeRecord(
                self.number,
                tape.number,
                operation,
                arguments=tuple(_argument(argument, recorder) for argument in arguments),
                parents=tuple(parent.number for _, parent in parent_operations),
                value=record_value(self.value, recorder),
                step=self.step,
                during=recorder.during,
            )
        )
        recorder.events.append(records.Appended(self.number))

    def send_upstream(self) -> None:
        """Sum the received gradients, and send each parent its contribution.

        Nodes that are created during the call record the number and the step of this node.
        """
        recorder = self.home.recorder
        before = recorder.step, recorder.during
        self.home.sender = self.number
        recorder.step, recorder.during = self.step, self.number
        recorder.events.append(records.Popped(self.number))
        try:
            super().send_upstream()
        finally:
            recorder.step, recorder.during = before

    def receive(self, gradient: Value) -> None:
        """Store a received gradient, and append a `Sent` event that names its sender."""
        super().receive(gradient)
        tape = self.home
        stored = record_value(gradient, tape.recorder, getattr(value_of(self), "shape", None))
        tape.recorder.events.append(records.Sent(tape.sender, self.number, stored))

    def sum_outgrads(self) -> Value:
        """Return the sum of the gradients that the node received, and append a `Totaled` event."""
        total, recorder = super().sum_outgrads(), self.home.recorder
        is_sum = all(total is not gradient for gradient in self.outgrads)
        stored = record_value(total, recorder)
        recorder.events.append(records.Totaled(self.number, stored, is_sum))
        return total


RecordedTape.node = RecordedNode


def record_value(
    x: object, recorder: Recorder, shape: tuple[int, ...] | None = None
) -> RecordedValue:
    """Return a frozen copy of the value of `x`.

    If the value is a `Setter`, `shape` is the shape of the array that it is added to.
    """
    value, number = value_of(x), _node_number(x, recorder)
    if isinstance(value, Setter):
        index, entries = value.index, freeze(np.array(value_of(value.value)))
        positions = _entry_positions(index, shape)
        return RecordedValue(SparseValue(_source_text(index), entries, positions), number)
    try:
        stored = freeze(np.array(value))
    except ValueError:  # a list of arrays of different shapes
        stored = freeze(np.array(None))
    return RecordedValue(stored if stored.dtype.kind in "biufc" else reprlib.repr(value), number)


def _entry_positions(index: Operand, shape: tuple[int, ...] | None) -> np.ndarray | None:
    if shape is None:
        return None
    try:
        return freeze(np.array(np.arange(int(np.prod(shape))).reshape(shape)[index]))
    except IndexError:  # `sum_outgrads` raises the same error
        return None


def _node_number(x: object, recorder: Recorder) -> int | None:
    """Return the number of a node that `recorder` recorded, or None for any other object."""
    return x.number if isinstance(x, RecordedNode) and x.home.recorder is recorder else None


def _argument(x: object, recorder: Recorder) -> int | str:
    number = _node_number(x, recorder)
    if number is not None:
        return number
    value = value_of(x)
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array {value.shape}"
    return _source_text(value)


def _source_text(index: object) -> str:
    """Write an index or a constant as in Python source code."""
    if isinstance(index, tuple) and not isinstance(index, Setter):
        return ", ".join(map(_source_text, index))
    if isinstance(index, slice):
        return slice_text(index)
    if index is Ellipsis:
        return "..."
    plain = index.tolist() if isinstance(index, np.ndarray | np.generic) else index
    return reprlib.repr(plain)
