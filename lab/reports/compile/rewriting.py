"""Graphs as PyTensor rewrites them for a function, without compiling one, and how they got there.

    >>> made = rewritten([xs[-1]], "CVM")
    >>> made.after, made.history.reasons(made.before[0], made.after[0])

A copy of the graph is rewritten, and a listener notes which Scan was replaced by what, and by
which rewrite.  Only public interfaces are used: the rewrites of a mode, and the listeners
(``Feature``) that a FunctionGraph calls.  Names of rewrites are quoted, never relied on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
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
from lab.gradients.verify import mode_named
from lab.records import reached
from lab.scans.names import VIEWS
from lab.scans.node import is_scan
from lab.scans.replacing import scan_nodes

PytensorMode = Mode | str | None
REVERT = "Revert"
_ONE_AT_A_TIME = RLock()  # the mode that is set is one for all threads


@dataclass(frozen=True, eq=False)
class Replacement:
    """One thing that a rewrite, `reason`, put in the place of what Scan `old` gave out.

    `new` is the Scan that gives it out now, or the operation that does.  `output` and `into` are
    the numbers of the outputs of both Scans.
    """

    old: Apply
    output: int
    new: Apply
    into: int
    reason: str


Heard = Callable[[Replacement, Variable, Variable, FunctionGraph], None]


@dataclass(frozen=True)
class Known:
    """What a rewrite with this `part` in its name is for, and what goes badly with it."""

    part: str
    purpose: str
    beware: str = ""


SHORTER = Known(
    "reduce_trace",
    "keeps no more rows of a buffer than somebody reads",
    "a gradient that is taken afterwards: the rows that it reads are gone. Take it first.",
)
MORE = "little memory: what is moved out is kept for all steps at once."
KNOWN = (
    SHORTER,
    replace(SHORTER, part="save_mem"),
    Known("reduce_nsteps", "leaves out steps whose results nobody reads"),
    Known("push_out_dot", "makes one product of matrices of those of all steps", MORE),
    Known("push_out_add", "adds up once, after the loop, what every step would add", MORE),
    Known("push_out_seq", "computes for all steps at once what needs no state", MORE),
    Known("push_out_non_seq", "computes once, before the loop, what is the same at every step"),
    Known("merge_inouts", "reads once what came in twice, and gives out once what did so twice"),
    Known(
        "remove_unused", "drops arguments that are unused or constant, and those that come in twice"
    ),
    Known(
        "scan_merge",
        "makes one loop of those that go through the same steps",
        "a loop that reads the results of the other: they would wait for one another.",
    ),
    Known("erge", "makes one of what is there twice"),
    Known(
        "inplace",
        "lets the loop write into the buffers that it is handed, instead of copies",
        "anything else that reads those buffers: where somebody does, PyTensor takes it back.",
    ),
    Known(
        "sit_sot_to_untraced",
        "hands a state on from step to step without a buffer, since one value of it is kept",
        "a gradient that is taken afterwards: none goes through an untraced state. Take it first.",
    ),
    Known(
        "inner_graph",
        "rewrites the step itself as a graph of its own",
        "a gradient that is taken afterwards: operations that were joined have none. Take it "
        "first.",
    ),
)
NOTHING = Known("", "")


def known(rewrite: str) -> Known:
    """What is known of a rewrite by its name; of others nothing is said."""
    return next((one for one in KNOWN if one.part in rewrite), NOTHING)


class History(Feature):
    """A listener: what was put in the place of Scans while a graph was rewritten.

    Whoever wants to look at both while they stand there is told: `heard`.
    """

    def __init__(self, heard: Heard | None = None) -> None:
        self.heard = heard
        self.replacements: list[Replacement] = []
        self.changes: dict[Apply, list[Replacement]] = {}  # the same, by who was replaced

    def clone(self) -> "History":
        """A listener for another graph, which has seen nothing yet."""
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
        """Note what `node` reads from now on, if it has read from a Scan so far."""
        old, new = _scan_behind(var), _scan_behind(new_var)
        if old is None or new_var.owner is None or (new is not None and new.owner is old.owner):
            return
        made = new if new is not None else new_var
        told = reason if isinstance(reason, str) else getattr(reason, "name", None)
        if isinstance(reason, tuple):
            told = REVERT
        found = Replacement(
            old.owner,
            old.owner.outputs.index(old),
            made.owner,
            made.owner.outputs.index(made),
            str(told or reason),
        )
        self.replacements.append(found)
        self.changes.setdefault(found.old, []).append(found)
        if self.heard is not None:
            self.heard(found, var, new_var, fgraph)

    def successors(self, node: Apply) -> set[Apply]:
        """A Scan, and all that ever stood in its place."""
        return {*reached([node], lambda one: [c.new for c in self.changes.get(one, ())])}

    def path(self, first: Apply, last: Apply) -> list[Replacement]:
        """The replacements on all ways from one Scan to another."""
        after = self.successors(first)
        return [
            change
            for change in self.replacements
            if change.old in after
            and change.old is not last
            and last in self.successors(change.new)
        ]

    def outputs(self, first: Apply, output: int) -> set[tuple[Apply, int]]:
        """An output of a Scan, and all that ever stood in its place."""

        def after(place: tuple[Apply, int]) -> list[tuple[Apply, int]]:
            changes = self.changes.get(place[0], ())
            return [(c.new, c.into) for c in changes if c.output == place[1]]

        return {*reached([(first, output)], after)}


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A graph before and after rewriting; `given` are its inputs, and what they are in the copy."""

    before: tuple[Apply, ...]
    copies: tuple[Apply, ...]
    graph: FunctionGraph
    history: History = field(repr=False)
    inputs: tuple[tuple[Variable, Variable], ...] = ()

    @property
    def after(self) -> tuple[Apply, ...]:
        """The Scans that are left, each after those that it depends on."""
        return tuple(scan_nodes(self.graph.outputs))


def rewritten(
    outputs: Sequence[Variable],
    mode: PytensorMode = None,
    without: Sequence[str] = (),
    heard: Heard | None = None,
) -> Rewriting:
    """The graph of `outputs` as `mode` rewrites it for a function; the graph is not altered.

    `without` are tags or names of rewrites that are left out; `heard` is told of every replacement
    of a Scan, as `History` is.  Raises ArgumentError for a mode
    that PyTensor does not know, GraphError if a rewrite fails.
    """
    chosen = mode_named(mode)
    chosen = chosen.excluding(*without) if without else chosen  # a mode of one rewrite has none
    inputs = inputs_of(outputs)
    before = tuple(scan_nodes(outputs))
    graph, _ = FunctionMaker.create_fgraph(
        [In(v) for v in inputs], [Out(v) for v in outputs], force_clone=True
    )
    copies = tuple(scan_nodes(graph.outputs))
    history = History(heard)
    graph.attach_feature(history)
    try:
        # Steps are rewritten by the mode that is set.
        with _ONE_AT_A_TIME, config.change_flags(mode=chosen):
            chosen.optimizer.rewrite(graph)
    except Exception as error:  # whatever a rewrite stumbles over
        raise GraphError(
            f"mode = {mode_words(chosen)}: rewriting failed. {first_line(error)}"
        ) from error
    return Rewriting(before, copies, graph, history, tuple(zip(inputs, graph.inputs, strict=True)))


def inputs_of(outputs: Sequence[Variable]) -> list[Variable]:
    """What `outputs` are computed from, in the order in which a copy of their graph has it."""
    return [v for v in ancestors(outputs) if v.owner is None and not isinstance(v, Constant)]


def mode_words(mode: PytensorMode) -> str:
    """``numba``, ``cvm``: the linker of a mode, on which its rewrites depend."""
    mode = mode_named(mode)
    linker = type(mode.linker).__name__.removesuffix("Linker").lower()
    return {"vm": "cvm"}.get(linker, linker)


def _scan_behind(variable: Variable) -> Variable | None:
    """The output of a Scan that `variable` is, or is a part of or has in another shape."""
    while variable.owner is not None and not is_scan(variable.owner):
        if not isinstance(variable.owner.op, VIEWS) or isinstance(variable.owner.op, IncSubtensor):
            return None
        variable = variable.owner.inputs[0]
    return variable if variable.owner is not None else None
