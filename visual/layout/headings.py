"""The heading of a Scan in a picture of tapes: its purpose, and the content of each tape."""

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
    """Return the title of a Scan, and lines about its purpose and its tapes.

    `outputs` are the outputs to describe (default: all). `in_short` omits the kinds and taps of
    tapes. `in_full` adds the definition of the differentiated cost.
    """
    scan, parent = named.scan, named.parent
    if scan.carries:
        title = f"{named.numbered_name}: the loop and its carried values"
        lines = ["forward: a step reads the results of the previous step; no value is stored"]
    elif parent is None:
        title = f"{named.numbered_name}: a loop of tapes"
        lines = ["in buffer order: its rows have no time axis"]
    else:
        title = f"{named.numbered_name}: the tape, order {scan.order}"
        through = f"backward through {parent.numbered_name}"
        if scan.steps < parent.scan.steps:
            through += f", only its last {scan.steps} of {parent.scan.steps} steps"
        cost = named.differentiated if in_full else cost_name(scan.order)
        lines = [f"{through} · gradient of {cost}"]
    tapes: dict[tuple[str, str, str], list[str]] = {}  # a sequence has an output for each tap
    for tape in scan.held:
        if outputs is None or tape not in scan.outputs or tape in outputs:
            is_part = named.share(tape) is not None and not tape.collects
            whole = named.whole_label(tape, None) if is_part else ""
            label = named.tape_label(tape, None)
            tapes.setdefault((tape.name, whole, kind_text(tape, in_short)), []).append(label)
    for (name, whole, kind), labels in tapes.items():
        meaning = f" = {listing(labels)}" if labels != [name] else ""
        part = f", {'a part' if len(labels) == 1 else 'parts'} of {whole}" if whole else ""
        lines.append(f"{name}{meaning}{part}{kind and f' · {kind}'}")
    return title, lines
