"""Local derivatives on the arrows between gradients, such as ``∂x₄/∂x₃ = 2·x₃ = 1.327``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.equations.events.events import Events
from lab.equations.events.records import Write
from lab.equations.factors import ONE, sum_of, without_names
from lab.equations.numbers import value_of
from lab.notation import Leaf, Let, body_of, leaves_of, number_text, render, summands_of
from lab.traces.flow import SlotWrite
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.arrows import Point, labels_on, place_labels, points_along
from visual.layout.canvas import HEIGHT
from visual.layout.names import NamedScan
from visual.pictures.unrolled.graph import Unrolling
from visual.scene.combinators import Envelope, Piece, piece
from visual.scene.shapes import Arrow, Shape, Text, text_width

SIZE, LINE, NEAR = 11.0, 13.0, 3.0  # font size, height of a line, and margin of a label
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
    def title(self) -> str:
        """The name, the formula, and the number, with ``=`` between them."""
        parts = (self.name, self.formula, "" if self.number is None else number_text(self.number))
        return " = ".join(dict.fromkeys(part for part in parts if part))


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
        name = named.parent.quantity_name(tape.gradient_of, node.index)
        names.append(f"∂({name})" if "/" in name else f"∂{name}")
    return "/".join(names)


def factor_labels(
    arrows: Sequence[Arrow], factors: Mapping[int, Factor], boxes: Iterable[Envelope]
) -> dict[int, tuple[Shape, ...]]:
    """Return the labels that fit, by the number of their arrow. They touch no other shapes.

    If the name of a factor does not fit, the label shows only the number.
    """
    numbers = sorted(factors, key=lambda number: len(arrows[number].points))
    candidates = {n: _candidates(points_along(arrows[n]), factors[n]) for n in numbers}
    labels = place_labels(candidates, [arrow.points for arrow in arrows], boxes)
    return {number: label.shapes for number, label in labels.items()}


def _candidates(path: Sequence[Point], factor: Factor) -> Iterator[Piece]:
    """Yield possible labels: above and below the arrow, on the arrow, then below its two boxes."""
    number = "" if factor.number is None else number_text(factor.number)
    both = [part for part in (factor.name, number) if part]
    (x, y), (_, below) = path[len(path) // 2], path[len(path) // 2 - 1]
    if y == below:
        yield _label(both, x, y if len(both) == 2 else y - LINE / 2 - 3, factor, apart=5)
    for line in (" = ".join(both), number or factor.name):
        yield from labels_on(path, line, title=factor.title)
    if path[0][1] == path[-1][1] == y:
        yield _label(both, x, y + HEIGHT / 2 + LINE + 3, factor)


def _label(lines: Sequence[str], x: float, y: float, factor: Factor, apart: float = 0.0) -> Piece:
    """Return a label with its center at (x, y), and with `apart` pixels between its lines."""
    wide = max(text_width(line, SIZE) for line in lines) + 2 * NEAR
    top = y - (LINE * len(lines) + apart) / 2
    texts = list[Text]()
    for n, line in enumerate(lines):
        baseline = top + n * (LINE + apart) + 0.8 * LINE
        texts.append(Text(x, baseline, line, SIZE, "middle", title=factor.title))
    room = Envelope(x - wide / 2, top, x + wide / 2, 2 * y - top)
    return replace(piece(*texts), envelope=room)
