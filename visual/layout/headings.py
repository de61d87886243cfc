"""What stands above the tapes of a backward Scan: what it is, and what each tape holds."""

from collections.abc import Sequence

from lab.equations.quantities import cost_name
from lab.errors import listing
from lab.traces.trace import TapeTrace
from visual.layout.canvas import kind_text
from visual.layout.names import NamedScan


def block_heading(
    named: NamedScan,
    outputs: Sequence[TapeTrace] | None = None,
    in_short: bool = False,
    in_full: bool = False,
) -> tuple[str, list[str]]:
    """The title of a Scan, and the lines that explain it, with all its `outputs` or some.

    `in_short`, they do without PyTensor's words for tapes, and their taps; `in_full`, they say what
    is differentiated, where nothing else in a picture does.
    """
    scan, parent = named.scan, named.parent
    if scan.carries:
        title = f"{named.number + 1} · {named.called}: the loop, and what it carries"
        lines = ["forward: a step reads what the one before it made, so that no value is stored"]
    elif parent is None:
        title = f"{named.number + 1} · {named.called}: a loop of tapes"
        lines = ["in buffer order: its rows belong to no time axis"]
    else:
        title = f"{named.number + 1} · {named.called}: the tape, order {scan.order}"
        through = f"backward through {parent.number + 1} · {parent.called}"
        if scan.steps < parent.scan.steps:
            through += f", its last {scan.steps} of {parent.scan.steps} steps only"
        of = named.differentiated if in_full else cost_name(scan.order)
        lines = [f"{through} · gradient of {of}"]
    told: dict[tuple[str, str, str], list[str]] = {}  # a sequence has one gradient for each tap
    for tape in scan.held:
        if outputs is None or tape not in scan.outputs or tape in outputs:
            is_part = named.share(tape) is not None and not tape.collects
            whole = named.whole_label(tape, None) if is_part else ""
            label = named.tape_label(tape, None)
            told.setdefault((tape.name, whole, kind_text(tape, in_short)), []).append(label)
    for (name, whole, kind), labels in told.items():
        meaning = f" = {listing(labels)}" if labels != [name] else ""
        part = f", {'a part' if len(labels) == 1 else 'parts'} of {whole}" if whole else ""
        lines.append(f"{name}{meaning}{part}{kind and f' · {kind}'}")
    return title, lines
