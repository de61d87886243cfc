"""The words of PyTensor's documentation for one Scan: what each variable is called, and where.

    >>> print(vocabulary(gallery.loops["window"]))

The documentation tells four places apart: the call, where the function that builds the step
gets *slices*; the *inner* function, which runs at every step; the *outer* graph, in which
the Scan stands; and the gradient, which is a Scan again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Variable

from lab.equations.reading import system, the_scan
from lab.equations.system import Role, Writer
from lab.loops.loop import Loop
from lab.notation import Leaf, signed
from lab.scans.node import LoopVariable, ScanParts, outer_outputs, read_node
from lab.tape import Kind

COLUMNS = {
    "variable": "variable",
    "word": "is called",
    "slices": "at the call (_slices)",
    "inner": "inside (_inner)",
    "outer": "outside (_outer)",
    "gradient": "in the gradient",
}
NOTHING = "–"


@dataclass(frozen=True)
class Entry:
    """One word for one variable, and what stands for it at the four places."""

    variable: str
    word: str
    slices: str
    inner: str
    outer: str
    gradient: str


@dataclass(frozen=True)
class Vocabulary:
    """The words for all variables of a Scan."""

    scan: str
    entries: tuple[Entry, ...]
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = [(*COLUMNS.values(),)]
        rows += [tuple(getattr(e, name) for name in COLUMNS) for e in self.entries]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{word:{width}}" for word, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:], *self.rows])


def vocabulary(subject: Loop | Variable | Apply) -> Vocabulary:
    """What the variables of a Scan are called; `subject` is a loop, or as for `system`."""
    node = subject.build().node if isinstance(subject, Loop) else the_scan(subject)
    parts = read_node(node)
    writer = Writer(system(node))
    return Vocabulary(parts.called, tuple(_entries(parts, node, writer)), tuple(_rows(writer)))


def _rows(writer: Writer) -> Iterator[str]:
    """What the rows of a result are: ``scan`` leaves out what it was given."""
    quantities = writer.system.of_role(Role.STATE, Role.OUTPUT)
    for quantity in (q for q in quantities if q.kind is not Kind.MIT_MOT):
        first, name = writer.at(quantity, quantity.tape.origin), quantity.symbol
        yield f"{first} is xs[0], if xs is what scan returns for {name}."


def _entries(parts: ScanParts, node: Apply, writer: Writer) -> Iterator[Entry]:
    arguments = {v: number for number, v in enumerate(parts.inner_inputs)}
    results: dict[LoopVariable, int] = {}
    made_by: dict[LoopVariable, range] = {}
    first = 0
    for place, part in enumerate(outer_outputs(parts, node)):
        results[part], made_by[part] = place, range(first, first + len(part.inner_outputs))
        first += len(part.inner_outputs)
    for number, part in enumerate(parts.variables, start=1):
        symbol = writer.system.quantities[number - 1].symbol
        if part.kind is not Kind.NIT_SOT:
            leaves = [Leaf(symbol, tap, number - 1) for tap in part.tape.reads]
            slices = ", ".join(map(writer.term, leaves))
            if part.kind is Kind.UNTRACED:
                slices = f"{symbol}[t−1]"
            inner = f"argument {_span(arguments[v] for v in part.inner_inputs)}"
            word, back = WORDS[part.kind][0], _back_in(part, symbol)
            yield Entry(symbol, word, slices, inner, f"input {number}", back)
        if part in results:
            made = [Leaf(symbol, tap, number - 1) for tap in part.tape.writes]
            slices = ", ".join(map(writer.term, made))
            if part.kind is Kind.UNTRACED:
                slices = f"{symbol}[t]"
            inner = f"result {_span(made_by[part])}"
            word, back = WORDS[part.kind][-1], _back_out(part, symbol)
            outer = f"output {results[part]}"
            yield Entry(symbol, word, f"returns {slices}", inner, outer, back)


WORDS = {
    Kind.SEQUENCE: ("input",),
    Kind.PARAMETER: ("parameter",),
    Kind.NIT_SOT: ("output",),
    Kind.UNTRACED: ("non-numeric input state", "non-numeric output state"),
    **dict.fromkeys((Kind.MIT_MOT, Kind.MIT_SOT, Kind.SIT_SOT), ("input state", "output state")),
}


def _is_whole(part: LoopVariable) -> bool:
    row = (part.inner_inputs or part.inner_outputs)[0]
    return getattr(row.type, "dtype", "float")[0] not in "fc"


def _back_in(part: LoopVariable, symbol: str) -> str:
    """What the gradient makes of a variable that goes into the step."""
    if part.kind is Kind.UNTRACED or not hasattr(part.outer_input.type, "dtype"):
        return NOTHING
    if _is_whole(part):
        return "no gradient: whole numbers"
    if part.kind is Kind.SEQUENCE:
        return f"d{symbol}: nit-sot"
    if part.kind is Kind.PARAMETER:
        return f"d{symbol}: sit-sot, a running total"
    return f"d{symbol}: mit-mot, writes {signed(*part.tape.reverse().writes)}"


def _back_out(part: LoopVariable, symbol: str) -> str:
    """What the gradient makes of a variable that comes out of the step."""
    if part.kind is Kind.UNTRACED or _is_whole(part):
        return NOTHING
    if part.kind is Kind.NIT_SOT:
        return f"d{symbol}: sequence, reversed"
    return f"d{symbol}: mit-mot, reads {signed(*part.tape.reverse().reads)}"


def _span(found: Iterable[int]) -> str:
    """``3``, or ``3 to 5``."""
    numbers = list(found)
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
