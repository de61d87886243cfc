"""A strip with a card for each Scan of a trace. A frame marks the Scan drawn below the strip."""

from lab.notation import counted, ranges_text
from lab.tape import Kind
from lab.traces.trace import ScanTrace, Trace
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.combinators import Piece, above, beside, gap, over, shifted, sized
from visual.scene.shapes import Box, Group, Text, fitted, folded, outline
from visual.scene.theme import Role

NARROWEST, APART = 150.0, 24.0
HIGH, MOST_CARDS = 46.0, 8
ANOTHER = "scan=1 shows the first"
EVERYTHING = f"{ANOTHER}, all=True shows all"


def overview(trace: Trace, opened: int, hint: str = EVERYTHING, sheet: Sheet = SCREEN) -> Piece:
    """Draw a card for each Scan in execution order. The card of the `opened` Scan has a frame.

    With more than two Scans, a thin frame marks each Scan that computes an argument of the `opened`
    Scan. With more than eight Scans, the strip shows only the first, the final, and the `opened`
    Scan, and the Scan that the `opened` Scan differentiates.
    """
    scans = list(NamedScan.each(trace))
    kept = {0, opened, len(scans) - 1, scans[opened].scan.parent or 0}
    shown = [of for of in scans if len(scans) <= MOST_CARDS or of.number in kept]
    hidden = len(scans) - len(shown)
    words = [f"{counted(len(scans), 'Scan')}{f', {hidden} of them not shown' if hidden else ''}"]
    words.append(f"below: Scan {opened + 1}")
    if len(scans) > 2 and (read := [n + 1 for n in feeding(scans[opened].scan)]):
        words[-1] += f", which reads {ranges_text(read)} (thin frames)"
    if option := sheet.hint(hint, ""):
        words.append(option)
    across = int((sheet.line + APART) / (NARROWEST + APART))
    wide = (sheet.line + APART) / across - APART
    cards = [card(of, opened, wide) for of in shown]
    rows = (cards[start : start + across] for start in range(0, len(cards), across))
    lines = (beside(*row, apart=APART) for row in rows)
    heads = folded(" · ".join(words), sheet.line, 12)
    texts = [Text(0, 12 + 17 * n, line, 12, muted=True) for n, line in enumerate(heads)]
    strip = above(sized(sheet.line, 5 + 17 * len(texts), *texts), *lines, apart=8)
    return over(gap(sheet.width - sheet.margin), shifted(strip, sheet.margin, 0))


def feeding(scan: ScanTrace) -> list[int]:
    """Return the indices of the Scans that compute arguments of a Scan."""
    return sorted({feed.scan for feed in scan.feeds})


def goes_back(of: NamedScan) -> bool:
    """Return whether a Scan runs backward in time, such as the gradient of a forward Scan.

    The tangent of a gradient has no parent, but has the same tapes and direction as the gradient.
    """
    if of.parent is None:
        return any(tape.kind is Kind.MIT_MOT for tape in of.scan.tapes)
    return not goes_back(of.parent)


def card(of: NamedScan, opened: int, wide: float) -> Piece:
    """Draw a card with the number, the name, the direction, and the number of steps of a Scan."""
    is_open, name = of.number == opened, of.numbered_name
    first, count = of.scan.first, of.scan.steps
    words = f"step {first:,}" if first and count == 1 else counted(count, "step")
    is_read = len(of.trace.scans) > 2 and of.number in feeding(of.trace.scans[opened])
    lines = 2 if is_open else int(is_read)
    frame = [outline(n, n, wide - 2 * n, HIGH - 2 * n) for n in range(lines)]
    title = fitted(10, 19, name, wide - 16, 12, bold=is_open)
    steps = Text(10, 36, f"{'←' if goes_back(of) else '→'} {words}", 11, muted=True)
    ground = Box(0, 0, wide, HIGH, Role.PANEL)
    cell = Group((ground, *frame, title, steps), cell=f"scan:{of.number + 1}", title=name)
    return sized(wide, HIGH, cell)
