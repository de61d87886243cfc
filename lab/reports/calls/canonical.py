"""What ``pytensor.scan`` is given, and what the Scan gets: the arguments made canonical.

    >>> print(canonical(gallery.loops["window"]))
    >>> print(canonical(step, sequences=[{"input": u, "taps": [0, 4]}], outputs_info=[x0]))

The function that a person writes is called once, with variables that stand for the values
of a step, to build the step's graph.  Every tap of a sequence becomes a sequence of its own,
every state a buffer with its initial values in front; what was not said is filled in.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytensor
from pytensor.graph.basic import Apply, Constant, Variable

from lab.equations.reading import system
from lab.equations.system import Writer
from lab.errors import ArgumentError, first_line, listing, quoted
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.notation import Leaf, signed, text
from lab.scans.buffers import initial_of
from lab.scans.formula import formulas
from lab.scans.node import ScanParts, outer_outputs, read_node
from lab.scans.operations import plain_name
from lab.scans.replacing import scan_nodes
from lab.scans.slices import constant_value, cut_of, index_parts
from lab.tape import Kind

DEFAULTS = {"go_backwards": False, "truncate_gradient": -1, "strict": False, "name": None}
GIVEN = ("sequences", "outputs_info", "non_sequences", "n_steps", *DEFAULTS)


@dataclass(frozen=True)
class Given:
    """One thing that was said in the call, or was not said and `filled_in`.

    `variable` is the name of the variable that it is about, if it is about one.
    """

    argument: str
    value: str
    filled_in: bool = False
    variable: str = ""

    @property
    def is_output(self) -> bool:
        """Whether it says None in the place of a state: an output that feeds nothing back."""
        return self.argument == "outputs_info" and not self.variable


@dataclass(frozen=True)
class Input:
    """One argument of the Scan: from what it was made outside, and as what the step gets it.

    `kind` is None for the number of steps.
    """

    number: int
    kind: Kind | None
    name: str
    outer: str
    inner: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        kind = str(self.kind) if self.kind is not None else "steps"
        inside = f"  →  {', '.join(self.inner)}" if self.inner else ""
        note = f"   ({self.note})" if self.note else ""
        return f"  {self.number:>2}  {kind:10}{self.outer}{inside}{note}"


@dataclass(frozen=True)
class Output:
    """One result of the Scan: what the step returns for it, how many rows, and which come back."""

    number: int
    kind: Kind
    name: str
    rows: str
    returned: str


@dataclass(frozen=True)
class Canonical:
    """A call of ``pytensor.scan`` before, and the Scan that came of it after.

    `called` tells how often the step was called, and `called_with` what it got.  `inputs` and
    `outputs` are empty where PyTensor made no Scan (a constant n_steps of 1).  Of a `lab.Loop`,
    `ours` are the inputs of the Scan that the loop itself builds.
    """

    given: tuple[Given, ...]
    called: int
    called_with: tuple[str, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    ours: tuple[Input, ...] = ()

    def __str__(self) -> str:
        lines = ["given to pytensor.scan"]
        for said in self.given:
            mark = "   (filled in)" if said.filled_in else ""
            lines.append(f"  {said.argument:18}{said.value}{mark}")
        times = "once" if self.called == 1 else f"{self.called} times"
        lines += ["", f"the step was called {times}, to build its graph, with"]
        lines.append(f"  {', '.join(self.called_with) or 'nothing'}")
        if not self.inputs:
            lines += ["", "no Scan: for a constant n_steps of 1 the step stands in the outer graph"]
            return "\n".join(lines)
        lines += ["", "what the Scan got, in its order  →  what step t gets of it"]
        lines += map(str, self.inputs)
        lines += ["", "what it gives back"]
        for out in self.outputs:
            lines.append(f"  {out.number:>2}  {out.kind:10}{out.name}: {out.rows}; {out.returned}")
        other = [i for i, theirs in zip(self.ours, self.inputs, strict=False) if i != theirs]
        if other:
            lines += ["", "where a lab.Loop builds it in another way", *map(str, other)]
        return "\n".join(lines)


def canonical(subject: Loop | Callable[..., object], **arguments: Any) -> Canonical:
    """Call ``pytensor.scan``, and tell what it was given and what its Scan got.

    `subject` is a loop, or a step function with the `arguments` of ``pytensor.scan``.  Raises
    ArgumentError if PyTensor refuses them.
    """
    if isinstance(subject, Loop):
        if arguments:
            raise ArgumentError(f"{listing(arguments)}: a Loop says itself what it is made of.")
        arguments = dict(scan_call(subject).arguments)
        function = arguments.pop("fn")
    elif callable(subject):
        function = subject
    else:
        raise ArgumentError(f"subject = {quoted(subject)}: expected a Loop or a step function.")
    received: list[tuple[str, ...]] = []

    def step(*values: Variable) -> object:
        received.append(tuple(_plain(value) for value in values))
        return function(*values)

    said = tuple(_given(arguments))
    try:
        made = pytensor.scan(step, **{"return_updates": False, **arguments, "return_list": True})
    except Exception as error:  # whatever PyTensor, or the step, finds wrong
        raise ArgumentError(f"pytensor.scan refused this: {first_line(error)}") from error
    nodes = scan_nodes([v for v in made if isinstance(v, Variable)])
    with_names = received[0] if received else ()
    if not nodes:
        return Canonical(said, len(received), with_names, (), ())
    node = nodes[-1]
    parts = read_node(node)
    inputs = tuple(_inputs(node, _variables(arguments.get("non_sequences"))))
    ours = tuple(_inputs(subject.build().node, None)) if isinstance(subject, Loop) else ()
    outputs = tuple(_outputs(parts, node))
    return Canonical(said, len(received), with_names, inputs, outputs, ours)


def _plain(value: Variable) -> str:
    """``x0[t−1]``: an argument of the step by the name that PyTensor gives it."""
    return str(value.name or "an unnamed value").replace("-", "−")


def _given(arguments: Mapping[str, object]) -> Iterator[Given]:
    """What was said, argument by argument, and what was filled in."""
    for name in GIVEN:
        value = arguments.get(name)
        if name in ("sequences", "outputs_info", "non_sequences"):
            entries = value if isinstance(value, list | tuple) else [] if value is None else [value]
            yield from (_entry(name, entry) for entry in entries)
        elif name == "n_steps":
            told = "as many as the shortest sequence" if value is None else str(value)
            yield Given(name, told, value is None)
        else:
            default = DEFAULTS[name]
            yield Given(name, str(arguments.get(name, default)), name not in arguments)


def _entry(name: str, entry: object) -> Given:
    """One sequence, state or parameter of the call."""
    if entry is None:
        return Given(name, "None: an output that feeds nothing back")
    variable, taps = entry, None
    if isinstance(entry, dict):
        variable, taps = entry.get("input", entry.get("initial")), entry.get("taps")
    called = _named(variable) if isinstance(variable, Variable) else str(variable)
    if taps is not None:
        word = "tap" if len(taps) == 1 else "taps"
        return Given(name, f"{called}, {word} {signed(*taps)}", variable=called)
    is_numeric = hasattr(getattr(variable, "type", None), "dtype")
    default = {"sequences": ", tap 0", "outputs_info": ", tap −1"}.get(name, "")
    tap = default if is_numeric or not isinstance(variable, Variable) else ""
    return Given(name, f"{called}{tap}", bool(tap), called)


def _named(variable: Variable) -> str:
    return str(variable.name) if variable.name else written(variable)


def _variables(entries: object) -> set[Variable]:
    listed = entries if isinstance(entries, list | tuple) else [entries]
    return {entry for entry in listed if isinstance(entry, Variable)}


def _inputs(node: Apply, known: set[Variable] | None) -> Iterator[Input]:
    """The arguments of a Scan, in its order; `known` are the parameters that were named."""
    parts = read_node(node)
    writer = Writer(system(node))
    steps = written(parts.n_steps)
    is_plain = parts.n_steps.owner is None
    yield Input(0, None, "n_steps", steps if is_plain else f"n = {steps}")
    n = None if is_plain else parts.n_steps
    for number, part in enumerate(parts.variables, start=1):
        leaves = [Leaf(part.name, tap, number - 1) for tap in part.tape.reads if part.inner_inputs]
        inner, note = tuple(map(writer.term, leaves)), ""
        if part.kind.is_state:
            reach = part.tape.origin
            rows = "row 0" if reach == 1 else f"rows 0 to {reach - 1}"
            outer = f"a buffer of {_rows(parts, reach)}"
            note = f"{rows} filled with {written(initial_of(part.outer_input))}"
        elif part.kind is Kind.NIT_SOT:
            outer = f"{part.name}, {_rows(parts, 0)}"
        else:
            outer = written(part.outer_input, n)
        if part.kind is Kind.SEQUENCE:
            cut = cut_of(part.outer_input)
            if cut.first >= 0 and cut.way == 1:
                note = f"in older texts {written(cut.base)}[{cut.first}:]"
        elif part.kind is Kind.PARAMETER and known is not None and part.outer_input not in known:
            note = "found in the step"
        elif part.kind is Kind.UNTRACED:
            inner = (f"{part.name}[t−1]",)
        yield Input(number, part.kind, part.name, outer, inner, note)


def _rows(parts: ScanParts, more: int) -> str:
    steps = constant_value(parts.n_steps)
    if steps is not None:
        return f"{steps + more:,} rows"
    return f"n + {more} rows" if more else "n rows"


def _outputs(parts: ScanParts, node: Apply) -> Iterator[Output]:
    """The results of the Scan, in its order."""
    for number, part in enumerate(outer_outputs(parts, node)):
        if part.kind is Kind.UNTRACED:
            yield Output(number, part.kind, part.name, "the last one", "returned as it is")
            continue
        reach = part.tape.origin if part.kind.is_state else 0
        back = f"returned from row {reach} on" if reach else "returned whole"
        yield Output(number, part.kind, part.name, _rows(parts, reach), back)


def written(variable: Variable, n: Variable | None = None) -> str:
    """How `variable` was made, as it stands in the graph: ``u[0:-4][:n]``; `n` is called n."""
    node = variable.owner
    if n is not None and variable is n:
        return "n"
    if node is None:
        return str(variable.data) if isinstance(variable, Constant) else str(variable.name)
    if plain_name(node) == "Subtensor":
        base, _, indices = index_parts(node)
        inside = ", ".join(index_text(index, n) for index in indices)
        return f"{written(base, n)}[{inside}]"
    if plain_name(node) in ("ScalarFromTensor", "TensorFromScalar"):
        return written(node.inputs[0], n)
    return text(formulas([variable], {})[0], lambda leaf: leaf.variable)


def index_text(index: Variable | slice, n: Variable | None = None) -> str:
    """An index of a Subtensor: a number, or a slice as ``1:-2``."""
    if not isinstance(index, slice):
        return written(index, n)
    ends = [index.start, index.stop, *([] if index.step is None else [index.step])]
    return ":".join("" if end is None else written(end, n) for end in ends)
