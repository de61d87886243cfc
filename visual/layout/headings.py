"""What stands above the tapes of a backward Scan: what it is, and what each tape holds."""

from collections.abc import Sequence

from lab.equations.quantities import cost_name
from lab.traces.trace import TapeTrace
from visual.layout.canvas import kind_text
from visual.layout.names import NamedScan


def block_heading(
    named: NamedScan, outputs: Sequence[TapeTrace] | None = None
) -> tuple[str, list[str]]:
    """The title of a Scan, and the lines that explain it, with all its `outputs` or some."""
    scan, parent = named.scan, named.parent
    if scan.carries:
        title = f"{named.number + 1} · {scan.name}: the loop, and what it carries"
        lines = ["forward: a step reads what the one before it made, so that no value is stored"]
    elif parent is None:
        title = f"{named.number + 1} · {scan.name}: a loop of tapes"
        lines = ["in buffer order: its rows belong to no time axis"]
    else:
        title = f"{named.number + 1} · {scan.name}: the tape, order {scan.order}"
        through = f"backward through {parent.number + 1} · {parent.scan.name}"
        if scan.steps < parent.scan.steps:
            through += f", its last {scan.steps} of {parent.scan.steps} steps only"
        lines = [f"{through} · gradient of {cost_name(scan.order)}"]
    for tape in scan.held:
        if outputs is not None and tape in scan.outputs and tape not in outputs:
            continue
        meaning = named.tape_label(tape, None)
        name = f"{tape.name} = {meaning}" if meaning != tape.name else tape.name
        if named.is_share(tape) and not tape.collects:
            name += f", a part of {named.whole_label(tape, None)}"
        line = f"{name} · {kind_text(tape)}"
        if line not in lines:  # one gradient for each tap of a sequence
            lines.append(line)
    return title, lines
