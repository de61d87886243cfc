"""Texts for contributors to PyTensor: printed Scans, slices in sequences, buffers, and taps."""

from lab.equations.quantities import Quantities
from lab.notation import shifted
from lab.traces.trace import TapeTrace


def access_of(named: Quantities, tape: TapeTrace) -> str:
    """Return a text: a buffer in time order, and its taps: ``= buf[::-1] · reads t``."""
    way = 1 if tape.axis is None else tape.axis.direction[1]
    values = "[-1]" if tape.is_total else "[::-1]" if way < 0 else ""
    access = ("reads", tape.tape.reads), ("writes", tape.tape.writes)
    texts = [f"{verb} {', '.join(shifted('t', t) for t in taps)}" for verb, taps in access if taps]
    return " · ".join([f"= {named.buffer(tape)}{values}", *texts])


def about_scan(named: Quantities, sign: str) -> str:
    """Return the printed Scan and its sequences: ``x[:-1][::-1] of Scan 1`` if `sign` is ""."""
    texts: dict[str, dict[str, None]] = {}  # the slices of each Scan
    for sequence in named.scan.sequences if named.scan.steps else ():
        first, last = (named.value_read(sequence, n) for n in (0, named.scan.steps - 1))
        source, (low, high) = Quantities(named.trace, first.scan), sorted((first.row, last.row))
        tape = source.scan.tape(first.argument)
        stop = high + 1 - (len(tape.final) if tape else 0) or ""
        name = source.buffer(tape) if tape and source.parent else first.variable
        ends = f"[{low or ''}:{stop}]" if low or stop else ""
        way = abs(sequence.axis.direction[1]) * (1 if first.row == low else -1)
        place = f" of Scan {sign}{first.scan + 1}" if tape else ""
        texts.setdefault(place, {})[f"{name}{ends}{f'[::{way}]' if way != 1 else ''}"] = None
    each = "; ".join(f"{', '.join(names)}{place}" for place, names in texts.items())
    id_and_sequences = named.scan.id, each and f"· sequences: {each}"
    return " ".join(filter(None, (named.scan.printed, *id_and_sequences)))
