"""Local derivatives on the arrows between gradients, such as ``∂x₄/∂x₃ = 2·x₃ = 1.327``."""

from dataclasses import dataclass

from lab.equations.events.events import Events
from lab.equations.events.records import Write
from lab.equations.factors import ONE, sum_of, without_names
from lab.equations.numbers import value_of
from lab.gradients.symbols import derivative_symbol
from lab.notation import Leaf, Let, body_of, leaves_of, number_text, render, summands_of
from lab.traces.flow import SlotWrite
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.names import NamedScan
from visual.pictures.unrolled.graph import Unrolling

UNIT = "1", 1.0  # the formula and the number of the factor 1


@dataclass(frozen=True)
class Factor:
    """The local derivative of a quantity wrt another quantity, as a name, a formula, and a number.

    For arrays, the number is None. If `is_applied`, the formula contains ▢ for the gradient that
    the derivative receives.
    """

    name: str
    formula: str
    number: float | None
    is_applied: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The name and the number."""
        number = "" if self.number is None else number_text(self.number)
        return tuple(filter(None, (self.name, number)))

    @property
    def title(self) -> str:
        """The name, the formula, and the number, with ``=`` between them."""
        return " = ".join(dict.fromkeys(filter(None, (self.name, self.formula, *self.labels[-1:]))))


def factor_along(run: Events, graph: Unrolling, edge: tuple[int, int]) -> Factor | None:
    """Return the factor of an edge, or None for the factor 1 and an edge without gradients."""
    terms, is_applied = list[tuple[str, float | None]](), False
    for value, read in graph.uses.get(edge, ()):
        write = graph.flow.writes[value]
        leaf, target = write.formula.leaves[write.sources.index(read)], write.formula.target
        named = NamedScan(run.trace, value.scan)
        if named.parent is None or named.scan.tape(leaf.argument) is None:
            return None
        written = run.step(value.scan, write.step).write(target.argument, target.tap)
        term = written.term(leaf.argument, leaf.tap)
        if written.adds_old and leaf == target:
            terms.append(UNIT)
        elif term is None or term.factor is None:
            terms.append(_effect(named, write, written, leaf))
            is_applied |= terms[-1][1] is None
        else:
            number = None if term.value.ndim else float(term.factor)
            terms.append(UNIT if term.expression == ONE else (term.symbols, number))
    formula = " + ".join(formula for formula, _ in terms)
    if not formula or terms == [UNIT]:
        return None
    known = [number for _, number in terms if number is not None]
    number = sum(known) if len(known) == len(terms) else None
    return Factor(_name(graph, edge), formula, number, is_applied)


def _effect(
    named: NamedScan, write: SlotWrite, written: Write, read: Leaf
) -> tuple[str, float | None]:
    """Return the summands of a formula that read a slot, as a text and a number.

    The slot contains 1, and other gradients are 0. If the formula reads arrays, the slot is ▢, as
    in ``Wᵀ @ ▢``, and the number is None.
    """
    whole = without_names(write.formula.expression) or write.formula.expression
    bindings = whole.bindings if isinstance(whole, Let) else ()
    terms = [term for term in summands_of(whole) if read in leaves_of(Let(bindings, term))]
    effect = Let(bindings, sum_of("Add", terms) or body_of(whole))
    values = {(each.argument, each.tap): each.value for each in written.reads}
    texts, numbers = dict[Leaf, str](), dict[Leaf, float]()
    for leaf in leaves_of(effect):
        variable, value = named.scan.variable(leaf), values.get((leaf.argument, leaf.tap))
        is_seed = isinstance(variable, SequenceTrace) and variable.is_outer_gradient
        is_gradient = is_seed or isinstance(variable, TapeTrace)
        texts[leaf] = "0" if is_gradient else named.leaf_at(leaf, write.step)
        if value is not None and not value.ndim:
            numbers[leaf] = 0.0 if is_gradient else float(value)
    is_scalar = not written.new.ndim and numbers.keys() == texts.keys()
    number = value_of(effect, {**numbers, read: 1.0}.__getitem__) if is_scalar else None
    return render(effect, {**texts, read: "▢" if number is None else "1"}.__getitem__), number


def _name(graph: Unrolling, edge: tuple[int, int]) -> str:
    """Return the name of the local derivative of an edge, such as ``∂x₄/∂x₃``, or "" if unknown."""
    names = list[str]()
    for node in (graph.nodes[number] for number in edge):
        named = NamedScan(graph.trace, node.lane.scan)
        tape = named.scan.tape(node.lane.argument)
        if tape is None or tape.gradient_of is None or named.parent is None:
            return ""
        names.append(named.parent.quantity_name(tape.gradient_of, node.index))
    of, wrt = names
    return derivative_symbol(of, wrt, direct=True)
