"""The connections picture: which inputs of which Scan get a gradient, which do not, and why.

Every Scan that was differentiated has a table: a row for each of its inputs, a column for each
order at which its derivative was taken, and beside it the reason in words.  `LOOKS` tells how the
decisions of a derivation look, here and in the picture of the phases.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from types import MappingProxyType

from lab.errors import ArgumentError, LabError, quoted
from lab.gradients.derivation import Derivation, derivation_of
from lab.gradients.derivative import Derivative
from lab.gradients.record import DerivationRecord, Outcome, Verdict
from lab.reports.explain.explanation import Explanation
from lab.scans.graphs import scan_nodes
from visual.layout.canvas import MARGIN, Canvas
from visual.scene.shapes import Box, Group, Scene, Text, fitted, shortened
from visual.scene.theme import Role

NAME, CELL, BETWEEN, HEIGHT, PITCH = 190, 132, 12, 36, 44
CELLS = MARGIN + NAME + 20
REASON, LETTERS, LINE = 12, 76, 15
STEPS = Outcome(
    "number of steps", None, Verdict.DISCONNECTED, "a count of steps cannot change a little"
)
LOOKS: Mapping[Verdict, Role] = MappingProxyType(
    {
        Verdict.NOTED: Role.PANEL,
        Verdict.ABSENT: Role.UNNEEDED,
        Verdict.READ: Role.READ,
        Verdict.REUSED: Role.REUSED,
        Verdict.ACCUMULATED: Role.PRESERVED,
        Verdict.OVERWRITTEN: Role.OVERWRITTEN,
        Verdict.CLEARED: Role.SPENT,
        Verdict.SUMMED: Role.INTERMEDIATE,
        Verdict.PER_STEP: Role.INTERMEDIATE,
        Verdict.CONNECTED: Role.RESULT,
        Verdict.ZERO: Role.UNNEEDED,
        Verdict.DISCONNECTED: Role.UNNEEDED,
        Verdict.UNDEFINED: Role.UNDEFINED,
        Verdict.UNTRACED: Role.UNTRACED,
    }
)
WORDS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.READ: "a forward value",
        Verdict.REUSED: "a forward result",
        Verdict.ACCUMULATED: "the gradient is added to what is there",
        Verdict.OVERWRITTEN: "nothing is added",
        Verdict.ABSENT: "not there",
        Verdict.CLEARED: "cleared",
        Verdict.SUMMED: "summed over the steps",
        Verdict.PER_STEP: "one at every step",
        Verdict.ZERO: "zero",
        Verdict.CONNECTED: "a gradient arrives",
        Verdict.DISCONNECTED: "disconnected, without a gradient",
        Verdict.UNDEFINED: "no derivative is known",
        Verdict.UNTRACED: "no record to go back through",
    }
)


@dataclass(frozen=True)
class Block:
    """One Scan that was differentiated, and the outcomes for all its inputs, by column."""

    title: str
    outcomes: dict[str, tuple[Outcome, ...]]

    def rows(self) -> Iterator[dict[str, Outcome]]:
        """For every input, what became of its gradient, by column."""
        for outcomes in zip(*self.outcomes.values(), strict=True):
            yield dict(zip(self.outcomes, outcomes, strict=True))


def connections(
    source: Derivative | Derivation | DerivationRecord | Explanation, theme: str = "light"
) -> Scene:
    """What became of the gradient of every input of every Scan that was differentiated.

    `source` is a derivative of order 1 or more, the (stored) derivation of a single Scan, or the
    explanation of a graph.
    Raises LabError for a derivative of order 0, for which no Scan was differentiated.
    """
    blocks = list(_blocks(source))
    if not blocks:
        raise LabError("order = 0: no Scan was differentiated; connections need order 1 or more.")
    columns = _columns(blocks)
    canvas = Canvas()
    for block in blocks:
        _draw(canvas, block, columns)
    used = {row[c].verdict for block in blocks for row in block.rows() for c in row}
    width = canvas.right + MARGIN
    canvas.y -= 6
    return canvas.finished(
        legend_of(used),
        width=width,
        title=f"Connections of {blocks[0].title}",
        description=" ".join(_told(block) for block in blocks),
        theme=theme,
    )


def _blocks(source: object) -> Iterator[Block]:
    if isinstance(source, Derivation):
        name = source.forward.called
        yield Block(name, {f"order {source.order}": (STEPS, *source.outcomes)})
    elif isinstance(source, DerivationRecord):
        yield Block(source.forward, {f"order {source.order}": (STEPS, *source.outcomes)})
    elif isinstance(source, Derivative):
        yield from _family(source)
    elif isinstance(source, Explanation):
        for scan in source.scans:
            if scan.outcomes:
                yield Block(f"{scan.number} · {scan.name}", {"order 1": (STEPS, *scan.outcomes)})
    else:
        raise ArgumentError(
            f"source = {quoted(source)}: expected a Derivative, a Derivation, or its record."
        )


def _family(source: Derivative) -> Iterator[Block]:
    """A block for every Scan that was differentiated, in the order in which they run."""
    nodes = scan_nodes(list(source.values))
    known = [derivation_of(node) for node in nodes]
    derivations = sorted((d for d in known if d is not None), key=lambda d: d.order)
    for number, node in enumerate(nodes, start=1):
        outcomes: dict[str, tuple[Outcome, ...]] = {}
        for derivation in derivations:
            if derivation.parent is node:
                column = f"order {derivation.order}"
                while column in outcomes:
                    column += ", again"
                outcomes[column] = (STEPS, *derivation.outcomes)
                name = derivation.forward.called
        if outcomes:
            yield Block(f"{number} · {name}", outcomes)


def _columns(blocks: Sequence[Block]) -> list[str]:
    """The columns of all blocks, by order, and those that come again after the first."""
    columns = {column for block in blocks for column in block.outcomes}
    return sorted(columns, key=lambda column: (int(column.split(",")[0].split()[1]), column))


def _told(block: Block) -> str:
    """How many inputs get a gradient, in a sentence."""
    counts = [
        f"{sum(o.verdict is Verdict.CONNECTED for o in outcomes)} of {len(outcomes)} inputs get a "
        f"gradient at {column}"
        for column, outcomes in block.outcomes.items()
    ]
    return f"{block.title}: {', '.join(counts)}."


def _draw(canvas: Canvas, block: Block, columns: Sequence[str]) -> None:
    """The table of one Scan."""
    canvas.heading(block.title, [_told(block).removeprefix(f"{block.title}: ").rstrip(".")])
    for number, column in enumerate(columns):
        middle = CELLS + number * (CELL + BETWEEN) + CELL / 2
        canvas.add(Text(middle, canvas.y + 10, column, 11.5, "middle", bold=True))
    canvas.y += 20
    named: Counter[str] = Counter()  # two sequences may be called alike
    for row in block.rows():
        name = next(iter(row.values())).variable
        named[name] += 1
        key = f"{block.title}:{name}" + (f" ({named[name]})" if named[name] > 1 else "")
        canvas.y = _row(canvas, key, row, columns)
    canvas.y += 34


def _row(canvas: Canvas, key: str, row: dict[str, Outcome], columns: Sequence[str]) -> float:
    """One input; and where the next row begins."""
    top, first = canvas.y, next(iter(row.values()))
    right = MARGIN + NAME
    baseline = top + (22 if first.kind is None else 16)
    canvas.add(fitted(right, baseline, first.variable, NAME - 8, 13, "end", bold=True))
    if first.kind is not None:
        canvas.add(Text(right, top + 30, str(first.kind), 10.5, "end", muted=True))
    for number, column in enumerate(columns):
        if column in row:
            x = CELLS + number * (CELL + BETWEEN)
            canvas.add(_cell(row[column], x, top, f"{key}:{column}"))
    x = CELLS + len(columns) * (CELL + BETWEEN) + 8
    lines = list(_reasons(row))
    y = top + 22 - (len(lines) - 1) * LINE / 2
    for line, whole in lines:
        canvas.write(Text(x, y, line, REASON, title=whole))
        y += LINE
    return max(top + PITCH, y + 4)


def _cell(outcome: Outcome, x: float, y: float, key: str) -> Group:
    """What became of one gradient: its verdict, and where it is found."""
    role: Role = LOOKS[outcome.verdict]
    middle = x + CELL / 2
    words = [Text(middle, y + 15, str(outcome.verdict), 11, "middle", role=role)]
    if outcome.gradient:
        short = shortened(outcome.gradient, CELL - 12, 12, mono=True)
        words.append(Text(middle, y + 29, short, 12, "middle", mono=True, bold=True, role=role))
    else:
        words = [Text(middle, y + 22, str(outcome.verdict), 12, "middle", role=role)]
    title = f"{outcome.variable}: {outcome.verdict}, {outcome.reason}"
    title += f": {outcome.gradient}" if outcome.gradient else ""
    return Group((Box(x, y, CELL, HEIGHT, role), *words), cell=key, title=title)


def _reasons(row: dict[str, Outcome]) -> Iterator[tuple[str, str]]:
    """The reasons, in two lines at most each, and the whole of what was shortened."""
    by_reason: dict[str, list[str]] = {}
    for column, outcome in row.items():
        by_reason.setdefault(outcome.reason, []).append(column)
    for reason, columns in by_reason.items():
        sentence = reason if len(by_reason) == 1 else f"{', '.join(columns)}: {reason}"
        lines = wrap(sentence, LETTERS, max_lines=2, placeholder=" …")
        for line in lines:
            yield line, sentence if lines[-1].endswith("…") else ""


def legend_of(verdicts: Iterable[Verdict]) -> dict[Role, str]:
    """The words for every look that occurs; those that look the same share a line."""
    used, legend = set(verdicts), dict[Role, str]()
    for verdict in Verdict:
        if verdict in used and verdict in WORDS:
            role, words = LOOKS[verdict], WORDS[verdict]
            legend[role] = f"{legend[role]}, or {words}" if role in legend else words
    return legend
