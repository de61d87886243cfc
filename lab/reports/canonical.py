"""Report the arguments of ``pytensor.scan``, and the arguments of the Scan that it builds.

    >>> print(canonical(gallery.loops["window"]))
    >>> print(canonical(step, sequences=[{"input": u, "taps": [0, 4]}], outputs_info=[x0]))

PyTensor calls the step function once, with variables for the values of one step, to build the inner
function.  Every tap of a sequence becomes a separate sequence, and every state becomes a buffer
that begins with the initial values.  Missing arguments receive their defaults.

PyTensor's "Internal documentation of the scan op" distinguishes four names of a variable.  They are
its names in the call of the step function (*slices*), in the *inner* function, in the *outer*
graph, and in the Scan of the gradient.

For a constant `n_steps` of 1, PyTensor builds no Scan: it inserts the step into the outer graph.
The report on a loop therefore has a section on the graphs for −1, 0, 1, and 2 steps.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytensor
from pytensor.graph.basic import Apply, Variable

from lab.equations.reading import system
from lab.equations.system import System, VariableRole
from lab.equations.tables import ReportTable
from lab.errors import ArgumentError, argument_error, first_line, listing
from lab.gradients.derivative import differentiate
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.notation import Leaf, integers, render, value_symbol
from lab.reports.breaking.breakage import precise
from lab.reports.tables import Report, Section
from lab.scans.buffers import initial_of
from lab.scans.formula import formulas
from lab.scans.node import LoopVariable, ScanParts, outer_outputs, read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import constant_value, cut_of
from lab.tape import Kind
from lab.traces.run import run

DEFAULTS = {
    "n_steps": "length of the shortest sequence",
    **{"go_backwards": False, "truncate_gradient": -1, "strict": False, "name": None},
}
NOTHING = "–"
COLUMNS = ("name", "kind", "_slices", "_inner", "gradient", "_outer")
LEGEND = (
    "_slices: in the call of the step. _inner: number among the arguments or results of the inner "
    "function. _outer: in the outer graph."
)
NAMES = {  # PyTensor's words for an input and an output
    Kind.SEQUENCE: ("sequence", ""),
    Kind.PARAMETER: ("parameter", ""),
    Kind.NIT_SOT: ("", "output"),
    Kind.UNTRACED: ("non-numeric input state", "non-numeric output state"),
    **dict.fromkeys((Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT), ("input state", "output state")),
}

GRADIENTS = {  # variables of the gradient Scan for inputs and outputs that are not states
    Kind.SEQUENCE: "nit-sot",
    Kind.PARAMETER: "sit-sot, a running sum",
    Kind.NIT_SOT: "sequence, reversed",
}
MEANINGS = {  # meanings of a constant number of steps
    -1: "PyTensor builds the graph, and raises IndexError when it runs",
    0: "the step never runs: every result is empty, every sum 0",
    1: "no Scan: a constant 1 inserts the step into the outer graph",
    2: "a Scan, whose gradient is a Scan",
}
FEW_STEPS_HEADER = ("n_steps", "Scans", "in gradient", "rows", "sum", "gradient", "meaning")


@dataclass(frozen=True)
class ScanVariable:
    """Input or output `number` of the Scan; `kind` is None for the number of steps.

    `word` is the term in PyTensor's documentation for this kind of variable.  `slices` are the
    values in the call of the step, and `inner` their numbers among the arguments or results of the
    inner function.  `outer` is the variable, or the number of rows, in the outer graph, with a
    `note`.  `gradient` describes its variable in the gradient Scan.
    """

    number: int
    kind: Kind | None
    name: str
    word: str
    outer: str
    slices: tuple[str, ...] = ()
    inner: tuple[int, ...] = ()
    gradient: str = NOTHING
    note: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the variable's row in the table."""
        outer = f"{self.outer} ({self.note})" if self.note else self.outer
        kind, slices = str(self.kind or NOTHING), ", ".join(self.slices) or NOTHING
        inner = " to ".join(str(n) for n in dict.fromkeys((*self.inner[:1], *self.inner[-1:])))
        return str(self.number), self.word, kind, slices, inner or NOTHING, self.gradient, outer


@dataclass(frozen=True)
class Canonical(Report):
    """A call of ``pytensor.scan``, and the Scan that it builds.

    `given` are pairs of an argument and its value.  PyTensor calls the step `calls` times, with
    the variables `call_arguments`.  `first_rows` names the first value in each result.  `inputs`,
    `outputs`, and `first_rows` are empty if PyTensor builds no Scan (a constant n_steps of 1).
    `few_steps` is None for a step function, and for some loops (see `_few_steps`).
    """

    given: tuple[tuple[str, str], ...]
    calls: int
    call_arguments: tuple[str, ...]
    inputs: tuple[ScanVariable, ...] = ()
    outputs: tuple[ScanVariable, ...] = ()
    first_rows: tuple[str, ...] = ()
    few_steps: Section | None = None

    @property
    def document(self) -> Section:
        """Sections on the call, the Scan's inputs and outputs, and the graphs for few steps."""
        return Section("The arguments of pytensor.scan, and its Scan", tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        times = "once" if self.calls == 1 else f"{self.calls} times"
        arguments = ", ".join(self.call_arguments) or "no arguments"
        call = f"PyTensor calls the step {times}, to build the inner function, with {arguments}."
        yield Section("Call", (ReportTable(("argument", "value"), self.given), call))
        if self.inputs:
            cells = tuple(each.cells for each in self.inputs)
            yield Section("Inputs of the Scan", (ReportTable(("input", *COLUMNS), cells), LEGEND))
            cells = tuple(each.cells for each in self.outputs)
            rows = (f"{row} is xs[0], if xs is the result of scan." for row in self.first_rows)
            yield Section("Outputs of the Scan", (ReportTable(("output", *COLUMNS), cells), *rows))
        else:
            yield Section("Scan", ("none: for a constant n_steps of 1, the step is in the graph.",))
        if self.few_steps is not None:
            yield self.few_steps


def canonical(subject: Loop | Callable[..., object], **arguments: Any) -> Canonical:
    """Call ``pytensor.scan``, and report its arguments and its Scan.

    `subject` is a loop, or a step function with the `arguments` of ``pytensor.scan``.  The report
    on a loop includes its graphs for −1, 0, 1, and 2 steps.

    Raises ArgumentError for another `subject`, for `arguments` with a loop, and if PyTensor or the
    step raises an error.
    """
    if isinstance(subject, Loop):
        if arguments:
            raise ArgumentError(f"{listing(arguments)}: expected none, because a Loop has its own.")
        arguments = dict(scan_call(subject).arguments)
        function = arguments.pop("fn")
    elif callable(subject):
        function = subject
    else:
        raise argument_error("subject", subject, "expected a Loop or a step function.")
    received: list[tuple[str, ...]] = []

    def step(*values: Variable) -> object:
        names = (str(v.name or "unnamed").rpartition("[t-") for v in values)  # as in x[t-1]
        received.append(tuple(f"{n}[t−{tap}" if sign else tap for n, sign, tap in names))
        return function(*values)

    given = tuple(_argument_rows(arguments))
    try:
        results = pytensor.scan(step, **{"return_updates": False, **arguments, "return_list": True})
    except Exception as error:  # any error of PyTensor or of the step
        raise ArgumentError(f"pytensor.scan raised an error: {first_line(error)}") from error
    nodes = scan_nodes([v for v in results if isinstance(v, Variable)])
    call_arguments = received[0] if received else ()
    steps = _few_steps(subject) if isinstance(subject, Loop) else None
    report = Canonical(given, len(received), call_arguments, few_steps=steps)
    if not nodes:
        return report
    node, parts = nodes[-1], read_node(nodes[-1])
    equations, parameters = system(node), _listed(arguments.get("non_sequences"))
    written = equations.of_role(VariableRole.STATE, VariableRole.OUTPUT)
    return replace(
        report,
        inputs=tuple(_inputs(parts, equations, call_arguments, parameters)),
        outputs=tuple(_outputs(parts, node, equations)),
        first_rows=tuple(value_symbol(each.symbol, each.tape.origin) for each in written),
    )


def _listed(entries: object) -> list[object]:
    if isinstance(entries, list | tuple):
        return list(entries)
    return [] if entries is None else [entries]


def _argument_rows(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each argument of the call, including defaults."""
    for name in ("sequences", "outputs_info", "non_sequences"):
        yield from ((name, _entry_text(name, entry)) for entry in _listed(arguments.get(name)))
    for name, default in DEFAULTS.items():
        value = arguments.get(name)
        yield name, f"{default} (default)" if value is None else str(value)


def _entry_text(name: str, entry: object) -> str:
    """Write a sequence, state, or parameter of the call with its taps."""
    if entry is None:
        return "None: an output that no step reads"
    variable, taps = entry, None
    if isinstance(entry, dict):
        variable, taps = entry.get("input", entry.get("initial")), entry.get("taps")
    called = str(variable)
    if isinstance(variable, Variable):
        called = str(variable.name or outer_expression(variable))
    if taps is not None:
        return f"{called}, tap{'s' * (len(taps) != 1)} {integers(*taps)}"
    is_numeric = hasattr(getattr(variable, "type", None), "dtype")
    default = {"sequences": ", tap 0 (default)", "outputs_info": ", tap −1 (default)"}.get(name, "")
    return called + (default if is_numeric or not isinstance(variable, Variable) else "")


def _inputs(
    parts: ScanParts, equations: System, call_arguments: tuple[str, ...], parameters: list[object]
) -> Iterator[ScanVariable]:
    """Yield a `ScanVariable` for each input; `parameters` are the non-sequences of the call.

    PyTensor calls the step with the sequences first, in the order of the Scan.
    """
    steps = outer_expression(parts.n_steps)
    n = None if parts.n_steps.owner is None else parts.n_steps
    yield ScanVariable(0, None, "n_steps", "n_steps", steps if n is None else f"n = {steps}")
    numbers = {v: number for number, v in enumerate(parts.inner_inputs)}
    for number, part in enumerate(parts.variables, start=1):
        leaves = [Leaf(part.name, tap, number - 1) for tap in part.tape.reads if part.inner_inputs]
        slices, note = tuple(map(equations.leaf_label, leaves)), ""
        outer = outer_expression(part.outer_input, n) if part.kind is not Kind.NIT_SOT else ""
        match part.kind:
            case Kind.SEQUENCE:
                slices = call_arguments[number - 1 : number]
                cut = cut_of(part.outer_input)
                if cut.first >= 0 and cut.stride == 1:
                    note = f"older documents write {outer_expression(cut.base)}[{cut.first}:]"
            case Kind.PARAMETER:
                note = "" if part.outer_input in parameters else "captured by the step"
            case Kind.UNTRACED:
                slices = (f"{part.name}[t−1]",)
            case Kind.NIT_SOT:
                outer = f"{part.name}, {_rows(parts, 0)}"
            case _:
                reach = part.tape.origin
                rows = "row 0" if reach == 1 else f"rows 0 to {reach - 1}"
                outer = f"a buffer of {_rows(parts, reach)}"
                note = f"{rows} filled with {outer_expression(initial_of(part.outer_input))}"
        yield ScanVariable(
            number,
            part.kind,
            part.name,
            NAMES[part.kind][0] or NOTHING,
            outer,
            slices,
            tuple(numbers[v] for v in part.inner_inputs),
            _gradient(part, part.name),
            note,
        )


def _rows(parts: ScanParts, more: int) -> str:
    steps = constant_value(parts.n_steps)
    if steps is not None:
        return f"{steps + more:,} rows"
    return f"n + {more} rows" if more else "n rows"


def _outputs(parts: ScanParts, node: Apply, equations: System) -> Iterator[ScanVariable]:
    """Yield a `ScanVariable` for each output of the Scan."""
    first = 0
    for number, part in enumerate(outer_outputs(parts, node)):
        argument = parts.variables.index(part)
        symbol = equations.quantities[argument].symbol
        leaves = (Leaf(symbol, tap, argument) for tap in part.tape.writes)
        slices = tuple(map(equations.leaf_label, leaves))
        reach = part.tape.origin if part.kind.is_state else 0
        outer, note = _rows(parts, reach), f"returned from row {reach} on" if reach else ""
        if part.kind is Kind.UNTRACED:
            slices, outer, note = (f"{symbol}[t]",), "1 value", ""
        inner = tuple(range(first, first + len(part.inner_outputs)))
        first += len(part.inner_outputs)
        word, gradient = NAMES[part.kind][1], _gradient(part, symbol, is_output=True)
        yield ScanVariable(number, part.kind, symbol, word, outer, slices, inner, gradient, note)


def _gradient(part: LoopVariable, name: str, is_output: bool = False) -> str:
    """Describe the variable of the gradient Scan that belongs to an input or output."""
    row = (part.inner_inputs or part.inner_outputs)[0]
    has_none = part.kind is Kind.UNTRACED or (part.kind is Kind.NIT_SOT and not is_output)
    if has_none or not hasattr(row.type, "dtype"):
        return NOTHING
    if row.type.dtype[0] not in "fc":
        return NOTHING if is_output else "none: integer"
    if part.kind in GRADIENTS:
        return f"d{name}: {GRADIENTS[part.kind]}"
    reverse = part.tape.reverse()
    verb, taps = ("reads", reverse.reads) if is_output else ("writes", reverse.writes)
    return f"d{name}: mit-mot, {verb} {integers(*taps)}"


def _few_steps(loop: Loop) -> Section | None:
    """Return a section on the graphs of `loop` for −1, 0, 1, and 2 steps.

    The cost is the sum of the first result, and the gradient is wrt the first variable.  Returns
    None for a loop that stops on a condition or has no variable, and for too short sequences.
    """
    lengths = [sequence.steps for sequence in loop.sequences]
    if not loop.values or min(lengths, default=2) < max(MEANINGS) or loop.build().stops_early:
        return None
    wrt, rows = next(iter(loop.values)), []
    single: tuple[str, ...] = ()
    for steps, meaning in MEANINGS.items():
        call = scan_call(loop)
        results = pytensor.scan(**{**call.arguments, "n_steps": steps})[0]
        cost = results.sum()
        gradient = differentiate(cost, call.inputs[wrt])
        scans = (f"{len(scan_nodes([v]))}" for v in (cost, gradient))
        if steps == 1:
            single = (
                f"One step: sum = {outer_expression(cost, is_simple=True)}",
                f"Its gradient wrt {wrt} = {outer_expression(gradient, is_simple=True)}",
            )
        numbers: tuple[str, ...] = (NOTHING, "", "")
        if steps >= 0:
            values = run([results, cost, gradient], call.given)[0]
            rows_of_result = str(len(np.asarray(values[results])))
            numbers = (rows_of_result, *(precise(np.asarray(values[v])) for v in (cost, gradient)))
        rows.append((integers(steps), *scans, *numbers, meaning))
    title = f"Few steps: the sum of the results, and its gradient wrt {wrt}"
    return Section(title, (ReportTable(FEW_STEPS_HEADER, tuple(rows)), *single))


def outer_expression(
    variable: Variable, n: Variable | None = None, name: str = "n", is_simple: bool = False
) -> str:
    """Write the expression of `variable`, such as ``u[0:-4][:n]``, with a `name` for `n`."""
    leaves = {} if n is None else {n: Leaf(name, None, -1)}
    return render(formulas([variable], leaves, is_simple)[0], lambda leaf: leaf.variable)
