"""Apply PyTensor's rewrites for a function to a graph, and record each replacement.

    >>> result = rewrite_graph([xs[-1]], "CVM")
    >>> result.after, result.history.replacements

PyTensor rewrites a copy of the graph.  A listener records each replaced output of a Scan, the new
variable, and the name of the rewrite.  This module uses only public interfaces: the rewrites of a
mode, and the listeners (``Feature``) of a FunctionGraph.
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

from lab.errors import GraphError, first_line
from lab.gradients.decisions import scan_names
from lab.gradients.verify import find_mode
from lab.records import cached_property, find_reachable
from lab.scans.node import is_scan
from lab.scans.operations import viewed
from lab.scans.replacing import scan_nodes

PytensorMode = Mode | str | None
REVERT = "Revert"
_MODE_LOCK = RLock()  # `config.mode` is shared by all threads


class History(Feature):
    """A listener that records the replacements of Scan outputs while a graph is rewritten.

    An entry of `replacements` contains the Scan, the operation that replaces it, and the name of
    the rewrite.
    """

    def __init__(self) -> None:
        self.replacements: list[tuple[Apply, Apply, str]] = []
        self.by_old: dict[Variable, list[Variable]] = {}

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
        name = getattr(reason, "name", None) or str(reason)
        name = REVERT if isinstance(reason, tuple) else name
        self.replacements.append((old.owner, new.owner, name))
        self.by_old.setdefault(old, []).append(new)

    def successors(self, *outputs: Variable) -> set[Variable]:
        """Return outputs of a Scan, and all variables that replaced them."""
        return {*find_reachable(outputs, lambda old: self.by_old.get(old, ()))}

    def successor_nodes(self, old: Apply) -> set[Apply]:
        """Return the Scan `old`, and the operations that compute replacements of its outputs."""
        return {old, *(v.owner for v in self.successors(*old.outputs) if v.owner is not None)}


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A graph before and after rewriting.

    `before` are the original Scans, and `copies` the copies that were rewritten.  `inputs` are
    pairs of an input and its copy.
    """

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
        if sources:
            return self.names[sources[0] - 1]
        return dict(zip(self.after, scan_names(self.after), strict=True))[node]

    def sources(self, node: Apply) -> tuple[int, ...]:
        """Return the numbers, from 1, of the original Scans that became `node`."""
        copies = enumerate(self.copies, start=1)
        return tuple(n for n, copy in copies if node in self.history.successor_nodes(copy))


def rewrite_graph(
    outputs: Sequence[Variable], mode: PytensorMode = None, without: Sequence[str] = ()
) -> Rewriting:
    """Rewrite a copy of the graph of `outputs` as `mode` does for a function.

    `without` are the tags or names of rewrites to omit.

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
        message = f"mode = {linker_name(chosen)}: rewriting failed. {first_line(error)}"
        raise GraphError(message) from error
    return Rewriting(before, copies, graph, history, tuple(zip(inputs, graph.inputs, strict=True)))


def inputs_of(outputs: Sequence[Variable]) -> list[Variable]:
    """Return the inputs of the graph of `outputs`, in the order of PyTensor's `ancestors`."""
    return [v for v in ancestors(outputs) if v.owner is None and not isinstance(v, Constant)]


def linker_name(mode: PytensorMode) -> str:
    """Return the name of the linker of a mode, such as ``numba`` or ``cvm``."""
    name = type(find_mode(mode).linker).__name__.removesuffix("Linker").lower()
    return {"vm": "cvm"}.get(name, name)


def _scan_output(variable: Variable) -> Variable | None:
    """Return the Scan output of which `variable` is a view, or None."""
    base = viewed(variable)
    return base if is_scan(base.owner) else None
