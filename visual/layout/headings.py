"""What stands above the tapes of a backward Scan: what it is, and what each tape holds."""

from lab.traces.trace import Trace
from visual.layout.canvas import kind_text
from visual.layout.names import cost_name, gradient_name, is_share


def block_heading(trace: Trace, number: int) -> tuple[str, list[str]]:
    """The title of the Scan with a number, and the lines that explain it."""
    scan = trace.scans[number]
    if scan.parent is None:
        title = f"{number + 1} · {scan.name}: a loop of tapes"
        lines = ["in buffer order: its rows belong to no time axis"]
    else:
        parent = trace.scans[scan.parent]
        title = f"{number + 1} · {scan.name}: the tape, order {scan.order}"
        through = f"backward through {scan.parent + 1} · {parent.name}"
        if scan.steps < parent.steps:
            through += f", its last {scan.steps} of {parent.steps} steps only"
        lines = [f"{through} · gradient of {cost_name(scan.order)}"]
    for tape in (*scan.tapes, *scan.outputs):
        meaning = gradient_name(trace, scan, tape.gradient_of, None)
        name = f"{tape.name} = {meaning}" if meaning else tape.name
        if meaning and is_share(trace, number, tape):
            name = f"{tape.name}: share of {meaning}"
        line = f"{name} · {kind_text(tape)}"
        if line not in lines:  # one gradient for each tap of a sequence
            lines.append(line)
    return title, lines
