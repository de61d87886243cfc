"""The arrows of a tape picture, with the factors of the values."""

from collections.abc import Hashable, Iterator

from lab.equations.events.records import Read, Slot, Write
from lab.notation import number_text
from lab.tape import Kind
from lab.traces.trace import ScanTrace
from visual.layout.arrows import Edge


def edges_of(scan: ScanTrace, write: Write, step: int) -> Iterator[Edge]:
    """Yield arrows from the slots that a write reads to the slot that the step writes."""
    tape = scan.tape(write.slot.argument)
    reads = {read.slot: read for read in write.reads if read.is_own and read.slot}
    sources = [read for slot, read in reads.items() if slot != write.slot]
    if tape is None or tape.kind is Kind.NIT_SOT:
        return
    if tape.is_total:
        sources = [read for read in sources if read.argument != tape.argument]
    for read in sources:
        alike = sum(other.argument == read.argument for other in sources)
        is_only = len(sources) == 1 and not tape.is_total
        is_numbered = not is_only and (alike == 1 or tape.is_total)
        yield Edge(
            _id(step, read.slot),
            _id(step, write.slot),
            _labels(write, read) if is_only else (),
            _factor(write, read) if is_numbered else "",
            faint=tape.is_total,
        )


def _id(step: int, slot: Slot | None) -> Hashable:
    return None if slot is None else (slot.scan, step, slot.argument, slot.row)


def _factor(write: Write, read: Read) -> str:
    """Return the factor of a term as a number; empty for an array."""
    term = write.term(read.argument, read.tap)
    is_number = term is not None and term.factor is not None and not term.value.ndim
    return f"·{number_text(term.factor)}" if term is not None and is_number else ""


def _labels(write: Write, read: Read) -> tuple[str, ...]:
    """Return labels of an arrow, the longest first: ``·2·x₃ + old``, or only the factor."""
    term = write.term(read.argument, read.tap)
    if term is None or term.factor is None or term.source is None:
        return ()
    plus = " + old" if write.adds_old and len(write.terms) == 1 else ""
    if term.symbols == "1":
        return (plus.strip(),) if plus else ()
    symbols = term.text.removeprefix(term.source.name)
    if term.value.ndim:
        return symbols + plus, symbols
    numbers = [f"·{number_text(term.factor, digits)}" for digits in (4, 3, 2, 1)]
    return symbols + plus, numbers[0] + plus, *numbers
