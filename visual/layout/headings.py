"""What stands above the tapes of a backward Scan: what it is, and what each tape holds."""

from visual.layout.canvas import kind_text
from visual.layout.names import NamedScan, cost_name


def block_heading(named: NamedScan) -> tuple[str, list[str]]:
    """The title of a Scan, and the lines that explain it."""
    scan, parent = named.scan, named.parent
    if parent is None:
        title = f"{named.number + 1} · {scan.name}: a loop of tapes"
        lines = ["in buffer order: its rows belong to no time axis"]
    else:
        title = f"{named.number + 1} · {scan.name}: the tape, order {scan.order}"
        through = f"backward through {parent.number + 1} · {parent.scan.name}"
        if scan.steps < parent.scan.steps:
            through += f", its last {scan.steps} of {parent.scan.steps} steps only"
        lines = [f"{through} · gradient of {cost_name(scan.order)}"]
    for tape in scan.held:
        meaning = named.tape_name(tape, None)
        name = f"{tape.name} = {meaning}" if meaning else tape.name
        if meaning and named.is_share(tape):
            name += f", a part of {named.gradient_name(tape.gradient_of, None)}"
        line = f"{name} · {kind_text(tape)}"
        if line not in lines:  # one gradient for each tap of a sequence
            lines.append(line)
    return title, lines
