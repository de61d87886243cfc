"""The headings of Scans in pictures of tapes, and the kinds of their tapes."""

from collections.abc import Iterable, Iterator

from lab.errors import listing
from lab.notation import integers
from lab.tape import Kind
from lab.traces.trace import TapeTrace
from visual.layout.names import NamedScan


def scan_heading(named: NamedScan, in_full: bool = False) -> tuple[str, str]:
    """Return the title of a Scan, and a line about the purpose of the Scan.

    With `in_full`, the line contains the definition of the differentiated cost.
    """
    scan, parent, name = named.scan, named.parent, named.numbered_name
    if scan.is_pushforward:
        line = "forward: a step reads the results of the previous step; no value is stored"
        return f"{name}: the loop and its carried values", line
    if parent is None:
        return f"{name}: a loop of tapes", "in buffer order: its rows have no time axis"
    through = f"backward through {parent.numbered_name}"
    if scan.steps < parent.scan.steps:
        through += f", only its last {scan.steps} of {parent.scan.steps} steps"
    cost = named.differentiated if in_full else named.cost
    return f"{name}: the tape, order {scan.order}", f"{through} · gradient of {cost}"


def tape_lines(named: NamedScan, tapes: Iterable[TapeTrace], in_short: bool) -> Iterator[str]:
    """Yield a line for each name of `tapes`, with the quantities and the kind of the tapes."""
    groups: dict[tuple[str, str, str], list[str]] = {}  # a sequence has an output for each tap
    for tape in tapes:
        is_part = named.part_number(tape) is not None and not tape.collects
        whole = named.whole_label(tape, None) if is_part else ""
        label = named.tape_label(tape, None)
        groups.setdefault((tape.name, whole, kind_text(tape, in_short)), []).append(label)
    for (name, whole, kind), labels in groups.items():
        meaning = f" = {listing(labels)}" if labels != [name] else ""
        part = f", {'a part' if len(labels) == 1 else 'parts'} of {whole}" if whole else ""
        yield f"{name}{meaning}{part}{kind and f' · {kind}'}"


def kind_text(tape: TapeTrace, in_short: bool = False) -> str:
    """Return the purpose of a tape, or its kind and taps: ``mit-mot · reads 0, 1 · writes 1``.

    With `in_short`, omit the kind and the taps.
    """
    if tape.is_total:
        return "running total over the steps"
    if tape.gradient_of is not None and tape.kind is Kind.NIT_SOT:
        return f"{'' if in_short else 'nit-sot: '}one value at every step"
    if in_short:
        return ""
    reads, writes = (integers(*taps) or "nothing" for taps in (tape.tape.reads, tape.tape.writes))
    return f"{tape.kind} · reads {reads} · writes {writes}"
