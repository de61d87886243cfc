"""The connections picture: which inputs of which Scan get a gradient, which do not, and why.

A Scan that was differentiated has a table: a row for each of its inputs, a column for each order
at which its derivative was taken, and beside it the reason in words.  Of several Scans one is open;
the others stand above it with a small box for every input.  `LOOKS` tells how the decisions of a
derivation look, here and in the picture of the phases.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lab.equations.quantities import back_through
from lab.errors import ArgumentError, LabError, listing, quoted, whole
from lab.gradients.derivation import Derivation, derivation_of
from lab.gradients.derivative import Derivative
from lab.gradients.record import DerivationRecord, Outcome, Verdict
from lab.reports.explain.explanation import Explanation
from lab.scans.replacing import scan_nodes
from visual.layout.canvas import finished, heading
from visual.layout.names import counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import switch
from visual.scene.combinators import Piece, above, beside, gap, over, padded, sized, words
from visual.scene.shapes import (
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    outline,
    shortened,
    text_width,
)
from visual.scene.theme import Role

NAME, CELL, WIDER, HEIGHT, SPACE = 130, 120, 150, 36, 8  # wider where there are few orders
REASON, NARROWEST, MOST_LINES = 12, 250, 4
WIDE, HIGH, APART, MOST_CARDS = 150, 54, 24, 8  # of the overview
NAMES = "dx, d2x: the tape of the gradient of x of order 1, of order 2"
ENDS = {"[::-1]": "[::-1]: read from its end", "[-1]": "[-1]: its last row"}
NO_PULLBACK = "no Scan is the pullback of another, as those of mode = 'reverse' are"
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
        Verdict.READ: "a forward value, by this step",
        Verdict.REUSED: "forward result, not computed again",
        Verdict.ACCUMULATED: "read, left as it is",
        Verdict.OVERWRITTEN: "read, then replaced",
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
    number: int | None = None  # of the Scan

    def rows(self) -> Iterator[dict[str, Outcome]]:
        """For every input, what became of its gradient, by column."""
        for outcomes in zip(*self.outcomes.values(), strict=True):
            yield dict(zip(self.outcomes, outcomes, strict=True))


def connections(
    source: Derivative | Derivation | DerivationRecord | Explanation,
    theme: str = "light",
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """What became of the gradient of every input of a Scan that was differentiated.

    `source` is a derivative of order 1 or more, the (stored) derivation of a single Scan, or the
    explanation of a graph.  Of several Scans one is open, number `scan`, or else the first, whose
    gradient is the result; with `all` every one is, in a picture of any size.
    Raises LabError for a derivative of order 0, for which no Scan was differentiated.
    """
    check_sheet(sheet)
    blocks, all = list(_blocks(source)), switch("all", all)
    if not blocks:
        none = "order = 0: no Scan was differentiated; connections need order 1 or more."
        is_forward = isinstance(source, Derivative) and source.order > 0
        raise LabError(f"connections: {NO_PULLBACK}." if is_forward else none)
    opened = blocks if all else [blocks[0] if scan is None else _numbered(blocks, scan)]
    parts = [_overview(blocks, opened[0], sheet)] if len(blocks) > len(opened) else []
    for block in opened:
        told = _told(block).removeprefix(f"{block.title}: ").rstrip(".")
        parts.append(above(heading(block.title, [told], sheet), _table(block, all, sheet)))
    return finished(
        over(gap(sheet.line), above(*parts, apart=20)),
        legend_of(o.verdict for block in blocks for row in block.rows() for o in row.values()),
        sheet=sheet,
        title=f"Connections of {blocks[0].title}",
        description=" ".join(_told(block) for block in blocks),
        theme=theme,
        said=_names(opened),
        close=True,
    )


def _names(blocks: Sequence[Block]) -> list[str]:
    """What the tapes are called that gradients are read from, and how they are read."""
    names = [o.gradient for block in blocks for row in block.rows() for o in row.values()]
    ends = [words for end, words in ENDS.items() if any(name.endswith(end) for name in names)]
    return ["; ".join([NAMES, *ends])] if ends else []


def _numbered(blocks: Sequence[Block], scan: object) -> Block:
    number = whole("scan", scan)
    for block in blocks:
        if block.number == number:
            return block
    known = listing(block.title for block in blocks)
    raise ArgumentError(f"scan = {quoted(scan)}: the Scans that were differentiated are {known}.")


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
                yield Block(
                    f"{scan.number} · {scan.name}",
                    {"order 1": (STEPS, *scan.outcomes)},
                    scan.number,
                )
    else:
        raise ArgumentError(
            f"source = {quoted(source)}: expected a Derivative, a Derivation, or its record."
        )


def _family(source: Derivative) -> Iterator[Block]:
    """A block for every Scan that was differentiated, in the order in which they run."""
    nodes = scan_nodes(list(source.values))
    known = {node: derivation_of(node) for node in nodes}
    numbers = {node: number for number, node in enumerate(nodes, start=1)}
    derivations = sorted((d for d in known.values() if d is not None), key=lambda d: d.order)
    for node, number in numbers.items():
        outcomes: dict[str, tuple[Outcome, ...]] = {}
        for derivation in derivations:
            if derivation.parent is node:
                column = f"order {derivation.order}"
                while column in outcomes:
                    column += ", again"
                outcomes[column] = (STEPS, *derivation.outcomes)
                name = derivation.forward.called
                own = known[node]
                if own is not None and own.parent in numbers:
                    name = back_through(own.order, numbers[own.parent])
        if outcomes:
            yield Block(f"{number} · {name}", outcomes, number)


def _told(block: Block) -> str:
    """Which inputs get a gradient, and which do not, in a sentence."""
    by_inputs: dict[str, list[str]] = {}
    for order, outcomes in block.outcomes.items():
        arrive, others = list[str](), list[str]()
        for one in outcomes:
            name = one.variable if one.kind else f"the {one.variable}"
            (arrive if one.verdict is Verdict.CONNECTED else others).append(name)
        told = f"{listing(arrive)} {'get' if arrive[1:] else 'gets'} a gradient"
        told += f", {listing(others)} {'do' if others[1:] else 'does'} not" if others else ""
        by_inputs.setdefault(told, []).append(order)
    orders = by_inputs.items()
    told = "; ".join(f"{listing(at)}: {told}" if len(orders) > 1 else told for told, at in orders)
    return f"{block.title}: {told}."


def _overview(blocks: Sequence[Block], opened: Block, sheet: Sheet) -> Piece:
    """All Scans that were differentiated, in lines of up to four, a box for every input."""
    shown = list(blocks)
    said = [f"{len(blocks)} Scans are differentiated, a small box for each input"]
    if len(blocks) > MOST_CARDS:
        shown = [*blocks[: MOST_CARDS - 1], blocks[-1]]
        shown = shown if opened in shown else [*shown[:-2], opened, shown[-1]]
        said[0] += f", {len(blocks) - len(shown)} are not shown"
    code = f"scan={blocks[1].number} opens another, all=True shows everything"
    said += filter(None, [sheet.hint(code, "“Scan, by its number”, in the options", "")])
    across = int((sheet.line + APART) / (WIDE + APART))
    wide = (sheet.line + APART) / across - APART
    cards = [_card(block, block is opened, wide) for block in shown]
    lines = [
        beside(*cards[start : start + across], apart=APART)
        for start in range(0, len(cards), across)
    ]
    told = (words(line, 12, muted=True) for line in folded(" · ".join(said), sheet.line, 12))
    return above(*told, *lines, apart=8)


def _card(block: Block, is_open: bool, wide: float) -> Piece:
    """A Scan, and what became of the gradients of its inputs when it was last differentiated."""
    *_, outcomes = block.outcomes.values()
    room = int((wide - 20) / 16)
    many = len(outcomes) > room
    shapes: list[Shape] = [Box(0, 0, wide, HIGH, Role.PANEL)]
    if is_open:
        shapes += [outline(n, n, wide - 2 * n, HIGH - 2 * n) for n in (0, 1)]
    title = shortened(block.title, wide - 20, 12, bold=is_open)
    shapes.append(Text(10, 19, title, 12, bold=is_open))
    shapes += [
        Box(10 + 16 * n, 30, 13, 14, LOOKS[outcome.verdict])
        for n, outcome in enumerate(outcomes[: room - many])
    ]
    if many:
        shapes.append(Text(wide - 8, 42, "⋯", 12, "end", muted=True))
    return sized(wide, HIGH, Group(tuple(shapes), title=_told(block)))


def _table(block: Block, all: bool, sheet: Sheet) -> Piece:
    """The table of one Scan; of many orders the first and the last ones.

    Reasons stand beside its rows, on a narrow sheet below them.
    """
    named: Counter[str] = Counter()  # two sequences may be called alike
    wide_name = NAME if not sheet.is_narrow else sheet.labels
    room = int((sheet.line - wide_name - NARROWEST * (not sheet.is_narrow)) / (CELL + SPACE))
    orders = list(block.outcomes)
    shown = orders if all or len(orders) <= room else [orders[0], *orders[1 - room :]]
    wide = WIDER if len(shown) <= 2 and not sheet.is_narrow else CELL
    left = sheet.line - wide_name - len(shown) * (wide + SPACE) - 2 * SPACE
    heads = [
        sized(wide, 18, Text(wide / 2, 11, order, 11.5, "middle", bold=True)) for order in shown
    ]
    hidden = len(orders) - len(shown)
    told = (
        f"⋯ {counted(hidden, 'more order')}{sheet.hint('all=True', 'see the options')}"
        if hidden
        else ""
    )
    more = words(told, 11, muted=True)
    table = [more] if told and sheet.is_narrow else []
    table.append(beside(gap(wide_name + SPACE), *heads, gap() if table else more, apart=SPACE))
    for row in block.rows():
        name = next(iter(row.values())).variable
        named[name] += 1
        key = f"{block.title}:{name}" + (f" ({named[name]})" if named[name] > 1 else "")
        cells = [_cell(row[order], f"{key}:{order}", wide) for order in shown]
        line = beside(_name(row, wide_name), *cells, apart=SPACE, align=0.5)
        if sheet.is_narrow:
            table += [line, above(*_reasons(row, sheet.line))]
            continue
        why = padded(above(*_reasons(row, max(left, NARROWEST))), 4, 0)
        table.append(beside(line, why, apart=SPACE, align=0.5))
    return above(*table, apart=SPACE)


def _name(row: Mapping[str, Outcome], wide: float) -> Piece:
    """What an input is called, and of what kind it is."""
    first, right = next(iter(row.values())), wide - SPACE
    name = first.variable if first.kind or wide >= NAME else "steps"
    called = fitted(right, 16 if first.kind else 22, name, right, 13, "end", bold=True)
    kind = [Text(right, 31, str(first.kind), 11, "end", muted=True)] if first.kind else []
    return sized(wide, HEIGHT, called, *kind)


def _cell(outcome: Outcome, key: str, wide: float) -> Piece:
    """What became of one gradient: its verdict, and where it is found."""
    role: Role = LOOKS[outcome.verdict]
    told = [Text(wide / 2, 22, str(outcome.verdict), 12, "middle", role=role)]
    if outcome.gradient:
        whole = outcome.gradient
        if text_width(whole, 12, bold=True, mono=True) > wide - 8:
            whole = whole.removesuffix("[::-1]").removesuffix("[-1]")
        short = shortened(whole, wide - 8, 12, bold=True, mono=True)
        told = [
            Text(wide / 2, 15, str(outcome.verdict), 11, "middle", role=role),
            Text(wide / 2, 29, short, 12, "middle", mono=True, bold=True, role=role),
        ]
    title = f"{outcome.variable}: {outcome.verdict}, {outcome.reason}"
    title += f": {outcome.gradient}" if outcome.gradient else ""
    box = Box(0, 0, wide, HEIGHT, role)
    return sized(wide, HEIGHT, Group((box, *told), cell=key, title=title))


def _reasons(row: Mapping[str, Outcome], room: float) -> Iterator[Piece]:
    """The reasons, each once, with the whole of what was shortened as tooltip."""
    by_reason: dict[str, list[str]] = {}
    for column, outcome in row.items():
        by_reason.setdefault(outcome.reason, []).append(column)
    for reason, columns in by_reason.items():
        sentence = reason if len(by_reason) == 1 else f"{', '.join(columns)}: {reason}"
        lines = folded(sentence, room, REASON)
        cut = len(lines) > MOST_LINES
        lines = [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]} …"] if cut else lines
        yield from (words(line, REASON, title=sentence if cut else "") for line in lines)


def legend_of(verdicts: Iterable[Verdict]) -> dict[Role, str]:
    """The words for every look that occurs; those that look the same share a line."""
    used, legend = set(verdicts), dict[Role, str]()
    for verdict in Verdict:
        if verdict in used and verdict in WORDS:
            role, words = LOOKS[verdict], WORDS[verdict]
            legend[role] = f"{legend[role]}, or {words}" if role in legend else words
    return legend
