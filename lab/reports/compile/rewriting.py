"""Apply PyTensor's rewrites for a function to a graph, and record each replacement.

    >>> result = rewritten([xs[-1]], "CVM")
    >>> result.after, result.history.replacements

A copy of the graph is rewritten.  A listener records which Scan was replaced, by which operation,
and by which rewrite.  Only public interfaces are used: the rewrites of a mode, and the listeners
(``Feature``) of a FunctionGraph.  Nothing depends on the names of rewrites; reports quote them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import RLock

from pytensor import config
from pytensor.compile import FunctionMaker, In, Mode
from pytensor.compile.io import Out
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.features import Feature
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.subtensor import IncSubtensor

from lab.errors import GraphError, first_line
from lab.gradients.decisions import scan_names
from lab.gradients.verify import find_mode
from lab.records import cached_property, find_reachable
from lab.scans.names import VIEWS
from lab.scans.node import is_scan, scan_name
from lab.scans.replacing import scan_nodes

PytensorMode = Mode | str | None
REVERT = "Revert"
_MODE_LOCK = RLock()  # `config.mode` is shared by all threads


@dataclass(frozen=True, eq=False)
class Replacement:
    """A rewrite, `reason`, that replaced output number `output` of the Scan `old`.

    Output number `into` of `new`, a Scan or another operation, replaced it.
    """

    old: Apply
    output: int
    new: Apply
    into: int
    reason: str


class History(Feature):
    """A listener that records the replacements of Scans while a graph is rewritten."""

    def __init__(self) -> None:
        self.replacements: list[Replacement] = []
        self.by_old: dict[Apply, list[Replacement]] = {}

    def clone(self) -> "History":
        """Return an empty listener for a copy of the graph."""
        return History()

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: object = None,
    ) -> None:
        """Record the new input of `node` if the old input is an output of a Scan."""
        old, new = _scan_output(var), _scan_output(new_var)
        if old is None or new_var.owner is None or (new is not None and new.owner is old.owner):
            return
        new = new_var if new is None else new
        name = reason if isinstance(reason, str) else getattr(reason, "name", None) or str(reason)
        replacement = Replacement(
            old.owner,
            old.owner.outputs.index(old),
            new.owner,
            new.owner.outputs.index(new),
            REVERT if isinstance(reason, tuple) else name,
        )
        self.replacements.append(replacement)
        self.by_old.setdefault(old.owner, []).append(replacement)

    def successors(self, node: Apply) -> set[Apply]:
        """Return a Scan and all operations that replaced it."""
        return {*find_reachable([node], lambda old: [r.new for r in self.by_old.get(old, ())])}

    def outputs(self, node: Apply, output: int) -> set[tuple[Apply, int]]:
        """Return an output of a Scan and all outputs that replaced it."""

        def after(old: tuple[Apply, int]) -> list[tuple[Apply, int]]:
            return [(r.new, r.into) for r in self.by_old.get(old[0], ()) if r.output == old[1]]

        return {*find_reachable([(node, output)], after)}


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A graph before and after rewriting; `inputs` are pairs of an input and its copy."""

    before: tuple[Apply, ...]
    copies: tuple[Apply, ...]
    graph: FunctionGraph
    history: History = field(repr=False)
    inputs: tuple[tuple[Variable, Variable], ...] = ()

    @property
    def after(self) -> tuple[Apply, ...]:
        """The remaining Scans, in topological order."""
        return tuple(scan_nodes(self.graph.outputs))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the original Scans."""
        return scan_names(self.before)

    def name(self, node: Apply) -> str:
        """Return the name of the original Scan that became `node`, or else the name of `node`."""
        sources = self.sources(node)
        return self.names[sources[0] - 1] if sources else scan_name(node.op)

    def sources(self, node: Apply) -> tuple[int, ...]:
        """Return the numbers, from 1, of the original Scans that became `node`."""
        copies = enumerate(self.copies, start=1)
        return tuple(n for n, copy in copies if node in self.history.successors(copy))


def rewritten(
    outputs: Sequence[Variable], mode: PytensorMode = None, without: Sequence[str] = ()
) -> Rewriting:
    """Rewrite a copy of the graph of `outputs` as `mode` does for a function.

    `without` are tags or names of rewrites that are not applied.

    Raises ArgumentError for an unknown mode, and GraphError if a rewrite fails.
    """
    chosen = find_mode(mode)
    chosen = chosen.excluding(*without) if without else chosen  # a mode of one rewrite has no tags
    inputs, before = inputs_of(outputs), tuple(scan_nodes(outputs))
    graph, _ = FunctionMaker.create_fgraph(
        [In(v) for v in inputs], [Out(v) for v in outputs], force_clone=True
    )
    copies, history = tuple(scan_nodes(graph.outputs)), History()
    graph.attach_feature(history)
    try:
        # PyTensor rewrites inner graphs for the mode in `config`.
        with _MODE_LOCK, config.change_flags(mode=chosen):
            chosen.optimizer.rewrite(graph)
    except Exception as error:  # any error of a rewrite
        raise GraphError(
            f"mode = {linker_name(chosen)}: rewriting failed. {first_line(error)}"
        ) from error
    return Rewriting(before, copies, graph, history, tuple(zip(inputs, graph.inputs, strict=True)))


def inputs_of(outputs: Sequence[Variable]) -> list[Variable]:
    """Return the inputs of the graph of `outputs`, in the order of its copies."""
    return [v for v in ancestors(outputs) if v.owner is None and not isinstance(v, Constant)]


def linker_name(mode: PytensorMode) -> str:
    """Return the linker of a mode, on which its rewrites depend: ``numba``, ``cvm``."""
    name = type(find_mode(mode).linker).__name__.removesuffix("Linker").lower()
    return {"vm": "cvm"}.get(name, name)


def _scan_output(variable: Variable) -> Variable | None:
    """Return the Scan output that `variable` is a view of, if any."""
    while variable.owner is not None and not is_scan(variable.owner):
        if not isinstance(variable.owner.op, VIEWS) or isinstance(variable.owner.op, IncSubtensor):
            return None
        variable = variable.owner.inputs[0]
    return variable if variable.owner is not None else None
