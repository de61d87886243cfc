"""What becomes of the Scans of a graph when PyTensor compiles it, without compiling it.

    >>> print(lab.compiled(xs[-1]))                  # the loop alone: its buffer is shortened
    >>> print(lab.compiled(xs[-1], wrt=x0))          # with its gradient, which needs all rows
    >>> print(lab.compiled(function))                # a function that exists already

The rewrites of the compilation mode are applied to a copy of the graph; nothing is linked, so
that it costs tenths of a second.  Two rewrites are left out, which change no Scan: the fusion
of elementwise operations, and with it what would make the numbers of rows unreadable.

The listener of `rewriting` has noted who took whose place.  A buffer that nobody outside of the
loop reads leaves no trace there; it is found by its place among those of its kind and taps.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pytensor
from pytensor.compile import Function
from pytensor.gradient import DisconnectedInputError
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from lab.errors import ArgumentError, GradientError, GraphError, first_line, one_of, refused
from lab.gradients.status import pytensor_gradient
from lab.loops.loop import Loop
from lab.loops.text.source import identifier
from lab.reports.compile.circular_buffers import (
    Rows,
    all_rows,
    buffer,
    rows,
    rows_asked,
    step_count,
)
from lab.reports.compile.compiled import Change, Compiled, Fate, ScanAfter, ScanBefore
from lab.reports.compile.rewriting import REVERT, PytensorMode, Rewriting, mode_words, rewritten
from lab.reports.explain.finders import called
from lab.scans.buffers import is_freshly_allocated
from lab.scans.node import LoopVariable, ScanParts, inner_graph, is_scan, read_node, scan_name
from lab.scans.operations import plain_name
from lab.scans.replacing import scan_nodes
from lab.tape import Kind
from lab.traces.run import Values, checked_values

FUSION = ("fusion",)


def compiled(
    subject: Variable | Sequence[Variable] | Loop | Function,
    wrt: Variable | str | None = None,
    mode: PytensorMode = None,
    given: Values | None = None,
) -> Compiled:
    """What is left of the Scans in a graph when a function is compiled of it.

    `subject` is a variable, several, a `lab.Loop`, or a compiled function.  With `wrt`, the
    gradient of a scalar variable is compiled along with it.  `mode` is one of PyTensor's, by name
    or as it is, and the default unless given.  `given` are values of inputs, by which numbers of
    rows become known; those of a compiled function are told apart by their names.  The graph is not
    altered, and nothing is compiled.

    Raises ArgumentError for another subject, and for a `wrt` beside a compiled function.
    """
    values = checked_values({} if given is None else given)
    if isinstance(subject, Function):
        if wrt is not None or mode is not None:
            raise ArgumentError("wrt, mode: a compiled function has its outputs and mode already.")
        return _of_function(subject, values)
    if isinstance(subject, Loop):
        outputs, wrt, known = _of_loop(subject, wrt)
        values = {**known, **values}
    else:
        outputs = [subject] if isinstance(subject, Variable) else _listed(subject)
    if wrt is None:
        return rewritten_scans(outputs, mode, values)
    by, gradient = gradient_of(outputs, wrt)
    alone = rewritten_scans(outputs, mode, values)
    return rewritten_scans([*outputs, gradient], mode, values, by, alone)


def _listed(subject: object) -> list[Variable]:
    items = subject if isinstance(subject, list | tuple) else ()
    variables = [item for item in items if isinstance(item, Variable)]
    if variables and len(variables) == len(items):
        return variables
    raise refused("subject", subject, "expected a variable, several, a Loop or a function.")


def _of_loop(
    loop: Loop, wrt: Variable | str | None
) -> tuple[list[Variable], Variable | None, Values]:
    graph, by = loop.build(), None
    if wrt is not None:
        by = graph.inputs[one_of("wrt", identifier(wrt), graph.inputs, "this loop has {}.")]
    return [loop.cost(graph)], by, graph.given


def gradient_of(outputs: Sequence[Variable], wrt: object) -> tuple[Variable, Variable]:
    """What to differentiate by, and the gradient."""
    if not isinstance(wrt, Variable):
        raise refused("wrt", wrt, "expected a PyTensor variable.")
    if len(outputs) != 1 or outputs[0].type.ndim:
        raise ArgumentError(f"subject = {outputs}: a gradient is taken of one scalar.")
    try:
        return wrt, pytensor_gradient(outputs[0], wrt)
    except DisconnectedInputError as error:
        raise GraphError(f"wrt = {wrt}: the cost does not depend on it.") from error
    except Exception as error:  # whatever a pullback stumbles over
        raise GradientError(f"wrt = {wrt}: there is no gradient. {first_line(error)}") from error


def rewritten_scans(
    outputs: Sequence[Variable],
    mode: PytensorMode,
    given: Values,
    wrt: Variable | None = None,
    alone: Compiled | None = None,
    without: tuple[str, ...] = FUSION,
) -> Compiled:
    """What is left of the Scans that `outputs` depend on; the last one is a gradient, if by `wrt`.

    `without` are rewrites that are left out, by name or tag.
    """
    made = rewritten(outputs, mode, without)
    known = {copy: given[v] for v, copy in made.inputs if v in given}
    numbers = {node: number for number, node in enumerate(made.after, start=1)}
    before = tuple(
        scan_before(number, node, copy, made, numbers, given)
        for number, (node, copy) in enumerate(zip(made.before, made.copies, strict=True), start=1)
    )
    after = tuple(
        scan_after(numbers[node], node, made.graph, Sources(made, node, given), known)
        for node in made.after
    )
    by = "" if wrt is None else called(wrt, "the variable")
    names = (*_names(outputs[:1]), "its gradient") if by else _names(outputs)
    return Compiled(names, by, mode_words(mode), pytensor.__version__, before, after, alone)


def _names(outputs: Sequence[Variable]) -> tuple[str, ...]:
    """What the results are called; without names, which one it is."""
    if len(outputs) == 1:
        return (str(outputs[0].name or "the result"),)
    return tuple(str(v.name or f"result {number}") for number, v in enumerate(outputs, start=1))


def _of_function(function: Function, given: dict[Variable, object]) -> Compiled:
    """The Scans of a function; of what they were before it keeps no record."""
    graph = function.maker.fgraph
    inputs, known = _by_name(graph.inputs), _by_name(given)
    given = {inputs[name]: given[known[name]] for name in inputs if name in known}
    after = tuple(
        scan_after(number, node, graph, None, given)
        for number, node in enumerate(scan_nodes(graph.outputs), start=1)
    )
    mode = mode_words(function.maker.mode)
    return Compiled(_names(graph.outputs), "", mode, pytensor.__version__, (), after)


def _by_name(variables: Collection[Variable]) -> dict[str, Variable]:
    """Variables by their names, without those that have none, or one that others have."""
    names = [variable.name for variable in variables]
    return {v.name: v for v in variables if v.name and names.count(v.name) == 1}


def scan_before(
    number: int,
    node: Apply,
    copy: Apply,
    made: Rewriting,
    numbers: Mapping[Apply, int],
    given: Values,
) -> ScanBefore:
    """What became of a Scan."""
    stood = made.history.successors(copy)
    into = [last for last in numbers if last in stood]
    path = [change for last in into for change in made.history.path(copy, last)]
    if not into:
        path = [change for change in made.history.replacements if change.old in stood]
    changes = []
    for change in path:
        if change.reason != REVERT and is_scan(change.new):
            changes.append(Change(change.reason, _moved(change.old, change.new)))
    gone = [c.reason for c in path if c.reason == REVERT]
    if gone:  # tried, and taken back
        changes = [c for c in changes if "inplace" not in c.rewrite]
    changes = list(dict.fromkeys(changes))
    instead = tuple(sorted({plain_name(n) for n in stood if not is_scan(n)}))
    fate = Fate.CHANGED if changes else Fate.KEPT
    if not into:
        fate = Fate.REPLACED if instead else Fate.REMOVED
    elif any(_sources(made, last) > 1 for last in into):
        fate = Fate.MERGED
    return ScanBefore(
        number,
        scan_name(node.op),
        step_count(node.inputs[0], given),
        fate,
        tuple(numbers[last] for last in into),
        () if into else instead,
        tuple(changes),
    )


def _sources(made: Rewriting, last: Apply) -> int:
    """How many Scans became `last`."""
    return sum(last in made.history.successors(copy) for copy in made.copies)


def _moved(old: Apply, new: Apply) -> tuple[str, ...]:
    """The operations that the step of `old` has and that of `new` has not."""

    def operations(node: Apply) -> Counter[str]:
        return Counter(plain_name(n) for n in toposort(inner_graph(node.op)[1]))

    return tuple(sorted((operations(old) - operations(new)).elements()))


class Sources:
    """The buffers of the Scans that became one, to be found again by what became of them."""

    def __init__(self, made: Rewriting, node: Apply, given: Values) -> None:
        self.made, self.node, self.given = made, node, given
        self.numbers, self.parts = [], []
        for number, (old, copy) in enumerate(zip(made.before, made.copies, strict=True), start=1):
            if node in made.history.successors(copy):
                self.numbers.append(number)
                self.parts.append((copy, read_node(old)))

    def before(self, wanted: Mapping[LoopVariable, int]) -> dict[LoopVariable, LoopVariable]:
        """For buffers of the Scan that is left, what they were before.

        That is followed through the rewrites, or else told by place, kind and taps.
        """
        known: dict[LoopVariable, LoopVariable] = {}
        for copy, parts in self.parts:
            for part, place in _results(parts).items():
                became = self.made.history.outputs(copy, place)
                for new, place_now in wanted.items():
                    if new not in known and (self.node, place_now) in became:
                        known[new] = part
        taken = set(map(id, known.values()))
        for new in wanted:
            for _, parts in self.parts:
                for part in _results(parts):
                    if new not in known and id(part) not in taken and _alike(part, new):
                        known[new] = part
                        taken.add(id(part))
        return known

    def rows(self, part: LoopVariable) -> Rows:
        """How many rows a buffer had before."""
        parts = next(parts for _, parts in self.parts if part in parts.variables)
        steps = step_count(parts.n_steps, self.given)
        asked = rows_asked(part)
        if (
            asked is None
            or part.kind in (Kind.MIT_MOT, Kind.NIT_SOT)
            or is_freshly_allocated(part.outer_input, parts.n_steps, part.tape.origin)
        ):
            return all_rows(part, steps)
        return rows(asked, parts.n_steps, self.given)


def _results(parts: ScanParts) -> dict[LoopVariable, int]:
    """What a Scan gives out, and which of its outputs that is."""
    filled = {part: v for part in parts.variables if (v := part.outer_output) is not None}
    return {part: v.owner.outputs.index(v) for part, v in filled.items()}


def _alike(old: LoopVariable, new: LoopVariable) -> bool:
    """Whether a buffer may have become another; a state may lose its buffer on the way."""
    kinds = (old.kind, new.kind)
    same = old.kind is new.kind or kinds == (Kind.SIT_SOT, Kind.UNTRACED)
    types = [part.inner_outputs[0].type for part in (old, new)]
    return same and old.tape == new.tape and types[0].is_super(types[1])


def scan_after(
    number: int, node: Apply, graph: FunctionGraph, sources: Sources | None, given: Values
) -> ScanAfter:
    """A Scan that is left, with all its buffers."""
    parts = read_node(node)
    wanted = _results(parts)
    was = sources.before(wanted) if sources is not None else {}
    found = []
    for new in wanted:
        old = was.get(new)
        before = sources.rows(old) if sources is not None and old is not None else None
        found.append(buffer(old, new, before, parts, node, graph, given))
    return ScanAfter(
        number,
        scan_name(node.op),
        step_count(parts.n_steps, given),
        tuple(sources.numbers) if sources is not None else (),
        tuple(found),
        parts.until is not None,
    )
