"""The way from the graph that was written to the one that runs, as a walk: `lab.rewrites`.

    >>> print(lab.rewrites(cost, x0, given={x0: 0.9}))
    1 · scan_push_out_seq, gradient of loop
        It computes for all steps at once what needs no state.
        …

Every rewrite that put something in the place of a Scan is a step of the walk.  What it changed is
found by holding both graphs against one another while they stand there, never by its name; with
values `given`, both are run as well.
"""

from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from lab.equations.reading import ELSEWHERE, system
from lab.equations.system import Quantity, Role, System, Writer
from lab.errors import ArgumentError, LabError, expect
from lab.notation import Leaf, signed, tapped, text
from lab.reports.compile.circular_buffers import Rows, rows, rows_asked, step_count
from lab.reports.compile.compile import gradient_of
from lab.reports.compile.idle import idle
from lab.reports.compile.rewriting import (
    REVERT,
    PytensorMode,
    Replacement,
    inputs_of,
    mode_words,
    rewritten,
)
from lab.reports.compile.walk import NO_SCAN, Argument, Side, Step, Walk
from lab.reports.explain.timing import seconds_of
from lab.scans.buffers import destroys
from lab.scans.formula import step_formulas
from lab.scans.names import unique_names
from lab.scans.node import LoopVariable, ScanParts, is_scan, read_node
from lab.scans.operations import plain_name
from lab.scans.replacing import require_scan
from lab.tape import Kind
from lab.traces.run import Values, checked_values, run
from lab.traces.step_values import argument_leaves


def rewrites(
    cost: Variable,
    wrt: Variable | None = None,
    mode: PytensorMode = "FAST_RUN",
    given: Values | None = None,
    timed: bool = False,
) -> Walk:
    """The rewrites of a `mode` that touch the Scans of a graph, one after another.

    With `wrt`, PyTensor's own gradient of the cost is in the graph as well.  With the values of all
    inputs `given`, what stood there before each rewrite and after it is run, sizes are known, and
    so is which reads of the gradient nobody needs;
    if it is `timed`, a function is compiled without each of the rewrites, which takes minutes.  The
    graph is not altered.  Raises GraphError if there is no Scan, or a rewrite fails.
    """
    outputs = [expect("cost", cost, Variable, "a PyTensor variable")]
    expect("timed", timed, bool, "True or False")
    values = checked_values({} if given is None else given)
    if wrt is not None:
        if cost.type.ndim:
            raise ArgumentError(f"cost = {cost} ({cost.type}): a gradient is taken of a scalar.")
        outputs.append(gradient_of(outputs, wrt)[1])
    require_scan(outputs)
    missing = [v for v in inputs_of(outputs) if v not in values and not hasattr(v, "get_value")]
    if timed and missing:
        raise ArgumentError(f"given: to be timed, a graph needs a value for {missing[0]}.")
    seen = _Seen([values.get(v) for v in inputs_of(outputs)], bool(values) and not missing)
    rewritten(outputs, mode, heard=seen.heard)
    steps = _timed(seen.steps, outputs, mode, values) if timed else seen.steps
    with_zeros = seen.can_run and wrt is not None
    left = idle(outputs[-1], values, mode, timed) if with_zeros else ()
    return Walk(tuple(steps), mode_words(mode), tuple(seen.reverted), left)


class _Seen:
    """What was seen while a graph was rewritten, whose inputs have these `values`."""

    def __init__(self, values: Sequence[object], can_run: bool) -> None:
        self.values, self.can_run = values, can_run
        self.found: dict[Apply, tuple[set[Apply], Step]] = {}  # by what took the place
        self.reverted: list[str] = []
        self.systems: dict[Apply, System] = {}
        self.known: dict[Variable, object] = {}  # what Scans gave out, each of which is run once

    @property
    def steps(self) -> list[Step]:
        """The steps so far."""
        return [step for _, step in self.found.values()]

    def heard(self, made: Replacement, was: Variable, now: Variable, graph: FunctionGraph) -> None:
        """Look at a Scan and at what takes its place, and run both."""
        if made.reason == REVERT:
            if made.old in self.found:
                self.reverted.append(self.found.pop(made.old)[1].rewrite)
            return
        if not is_scan(made.new) and "scan" not in made.reason:
            return  # somebody reads it no longer
        pairs = zip(graph.inputs, self.values, strict=True)
        given = {v: value for v, value in pairs if value is not None}
        if self.can_run:
            for node in (made.old, made.new):
                if node.outputs[0] not in self.known:
                    found = _values(node.outputs, given | self.known)
                    self.known |= {v: found[v] for v in node.outputs if v in found}
            given |= self.known
        sources, step = self.found.get(made.new, (set(), None))
        if step is None:
            name = made.reason.partition("(")[2].rstrip(")").replace(",", ", ") or made.reason
            step = Step(name, (), NO_SCAN)
        if made.old not in sources:
            sources |= {made.old}
            step = replace(
                step,
                before=(*step.before, self._side(made.old, was, given)),
                after=self._side(made.new, now, given, sources),
            )
        if self.can_run:
            both = step.difference, _difference(was, now, given)
            apart = max((one for one in both if one is not None), default=None)
            step = replace(step, difference=apart)
        self.found[made.new] = sources, step

    def _side(
        self, node: Apply, shown: Variable, given: Values, sources: Collection[Apply] = ()
    ) -> Side:
        """A Scan as it stands, with the names of its `sources`; `shown` is what it gives out."""
        if not is_scan(node):
            return replace(NO_SCAN, around=sum(not is_scan(one) for one in toposort([shown])))
        if sources or node not in self.systems:
            old = [(one, self.systems[one]) for one in sources]
            found = system(node)
            self.systems[node] = _named(node, found, old) if old else found
        return _side(node, self.systems[node], given)


def _named(node: Apply, found: System, sources: Sequence[tuple[Apply, System]]) -> System:
    """The equations of a Scan with the names of those that it was made of.

    What is handed over as before keeps what is known of it.  Of the other states and outputs the
    names follow their order, where there are as many.
    """
    parts = read_node(node)
    before = [
        (part, quantity)
        for one, system in sources
        for part, quantity in zip(read_node(one).variables, system.quantities, strict=True)
    ]
    named: dict[int, Quantity] = {}
    for number, part in enumerate(parts.variables):
        same = (
            pair
            for pair in before
            if pair[0].kind is part.kind
            and pair[0].outer_input is part.outer_input
            and part.kind is not Kind.NIT_SOT  # the number of its rows is no array of its own
        )
        if pair := next(same, None):
            before.remove(pair)
            named[number] = replace(pair[1], argument=number)
    held = (Kind.UNTRACED, Kind.NIT_SOT)
    left = [quantity for part, quantity in before if part.kind.is_state or part.kind in held]
    new = [
        quantity
        for quantity, part in zip(found.quantities, parts.variables, strict=True)
        if quantity.argument not in named and (part.kind.is_state or part.kind in held)
    ]
    if len(left) == len(new):
        for old, one in zip(left, new, strict=True):
            named[one.argument] = replace(one, symbol=old.symbol)
    taken = list(dict.fromkeys(quantity.symbol for quantity in named.values()))
    for one in found.quantities:
        if one.argument not in named:
            symbol = unique_names([*taken, one.symbol])[-1]
            named[one.argument] = replace(one, symbol=symbol)
            taken.append(symbol)
    return replace(found, quantities=tuple(named[n] for n in sorted(named)))


def _side(node: Apply, found: System, given: Values) -> Side:
    parts = read_node(node)
    values = _values([*node.inputs, *node.outputs], given)
    return Side(
        parts.called,
        step_count(parts.n_steps, given),
        tuple(
            _argument(part, q, Writer(found), parts, values, given)
            for part, q in zip(parts.variables, found.quantities, strict=True)
        ),
        tuple(_equations(node, parts, found)),
        tuple(plain_name(one) for one in toposort(parts.inner_outputs)),
        len(list(toposort(node.inputs))),
        len(destroys(node)),
    )


def _values(outputs: Sequence[Variable], given: Values) -> dict[Variable, object]:
    """All values on the way to `outputs`; none where something is not given, or does not run.

    What is given is copied: operations in place write over it.
    """
    try:
        copies = {variable: deepcopy(value) for variable, value in given.items()}
        return {**run(outputs, copies, record=False)[0]} if given else {}
    except LabError:
        return {}


def _argument(
    part: LoopVariable,
    quantity: Quantity,
    writer: Writer,
    parts: ScanParts,
    values: Values,
    given: Values,
) -> Argument:
    array = part.outer_output if part.kind is Kind.NIT_SOT else part.outer_input
    found = values.get(array) if array is not None else None
    size = found.nbytes if isinstance(found, np.ndarray | np.generic) else None
    told = "" if quantity.given in (None, ELSEWHERE) else text(quantity.given, writer.term)
    kind, counted = str(part.kind), None
    if part.kind not in (Kind.SEQUENCE, Kind.PARAMETER, Kind.UNTRACED):
        if part.kind is not Kind.NIT_SOT:
            kind += f" ({signed(*part.tape.reads)} → {signed(*part.tape.writes)})"
        asked = rows_asked(part)
        counted = rows(asked, parts.n_steps, given)
        if asked is None and isinstance(found, np.ndarray):
            counted = Rows("?", len(found))
    is_read = quantity.role is Role.INPUT
    name = writer.term(Leaf(part.name, 0, quantity.argument)) if is_read else quantity.symbol
    return Argument(name, kind, counted, size, told)


def _equations(node: Apply, parts: ScanParts, found: System) -> Iterator[str]:
    """What a step makes: its equations, and those of numbers that are handed on untraced."""
    yield from found.lines()
    writer, leaves = Writer(found), argument_leaves(parts)
    untraced = {q.argument: q.symbol for q in found.of_role(Role.NON_NUMERIC)}

    def term(leaf: Leaf) -> str:
        name = untraced.get(leaf.argument)
        return writer.term(leaf) if name is None else tapped(name, -1)

    made = step_formulas(node.op.fgraph, [leaves[v] for v in parts.inner_inputs])
    by_result = dict(zip(parts.inner_outputs, made, strict=True))
    for number, part in enumerate(parts.variables):
        if part.kind is Kind.UNTRACED and hasattr(part.inner_inputs[0].type, "dtype"):
            formula = text(by_result[part.inner_outputs[0]], term)
            yield f"{tapped(untraced[number], 0)} = {formula}"


def _difference(was: Variable, now: Variable, given: Values) -> float | None:
    """The largest one between two variables; None where they cannot be run."""
    first, second = (np.asarray(_values([v], given).get(v)) for v in (was, now))
    if not all(np.issubdtype(value.dtype, np.number) for value in (first, second)):
        return None
    if first.shape != second.shape:
        return float("inf")
    apart = np.abs(first - second)
    return float(np.max(np.where(np.isnan(first) & np.isnan(second), 0.0, apart), initial=0.0))


def _timed(
    steps: Sequence[Step], outputs: Sequence[Variable], mode: PytensorMode, given: Values
) -> list[Step]:
    """The steps, with the time of a call without each rewrite that can be left out."""
    whole = seconds_of(outputs, given, mode)
    without: dict[str, float | None] = {}
    for name in dict.fromkeys(step.rewrite for step in steps):
        tags = name.split(", ")
        made = rewritten(outputs, mode, tags).history.replacements
        left = any(name.replace(", ", ",") in one.reason for one in made)
        without[name] = None if left else seconds_of(outputs, given, mode, tags)
    return [
        step if (alone := without[step.rewrite]) is None else replace(step, seconds=(alone, whole))
        for step in steps
    ]
