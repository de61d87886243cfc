"""Questions for what a derivative is made of: its taps, and the number of its Scans."""

from collections.abc import Iterator, Sequence
from functools import partial

from lab.notation import signed
from lab.tape import Kind, Tape
from lab.traces.trace import TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.candidates import Candidate, listed, tapes_of
from visual.layout.canvas import BETWEEN, LABELS, MARGIN, Canvas
from visual.pictures.taps import conversions
from visual.pictures.taps import taps as taps_picture
from visual.scene.shapes import Box, Group, Scene, Text, shortened
from visual.scene.theme import Role

BESIDE = 2
WIDTH, HEIGHT = 190, 40


def taps(trace: Trace) -> Iterator[Candidate]:
    """Questions for the taps of a gradient's tape."""
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        if scan.parent is None or tape.kind is not Kind.MIT_MOT:
            continue
        for source in trace.scans[scan.parent].tapes:
            if source.name == tape.gradient_of and not source.is_total:
                for reads in (True, False):
                    yield Candidate(scan.order, partial(_taps_task, source, tape, reads))


def _taps_task(source: TapeTrace, gradient: TapeTrace, reads: bool, theme: str) -> Task:
    tape, back = source.tape, gradient.tape
    right = back.reads if reads else back.writes
    does = "read" if reads else "write"
    low, high = min(*back.taps, *tape.taps) - BESIDE, max(*back.taps, *tape.taps) + BESIDE
    if reads:
        rule = (
            "Backwards the signs of the taps turn. What was written has a gradient to be read; "
            "what was read has one to be added to, which is read, too."
        )
    else:
        rule = (
            "Backwards the signs of the taps turn. A gradient is written where the loop read; "
            "where it only wrote, there is nothing to pass on."
        )
    rules = "; ".join(conversion.words for conversion in conversions(tape))
    answer = Answer(
        Form.TAPS,
        tuple(map(float, right)),
        rule=rule,
        working=f"Tap by tap: {rules}. So the gradient's step {does}s at {listed(right)}.",
        otherwise=f"No tap of {source.name} becomes that one.",
        incomplete="That is right, but taps are missing.",
        mistakes=tuple(
            Mistake(tap, _tap_reason(tape, tap, reads))
            for tap in range(low, high + 1)
            if tap not in right
        ),
    )
    pattern = f"reads at {listed(tape.reads)} and writes at {listed(tape.writes)}"
    question = f"{source.name} {pattern}. At which taps does the step of its gradient {does}?"
    return Task(
        question,
        taps_picture(tape, 0, theme, source.name),
        taps_picture(tape, 1, theme, source.name),
        answer,
    )


def _tap_reason(tape: Tape, tap: int, reads: bool) -> str:
    """Why a gradient's tape has no such tap."""
    if not reads and -tap in tape.writes:
        return (
            f"At {signed(-tap)} the loop only writes: that gradient is read at {signed(tap)}, "
            "and then done with."
        )
    if tap in tape.taps:
        return f"{signed(tap)} is a tap of the loop itself; its gradient's tap is another."
    return f"At {signed(-tap)}, the loop neither reads nor writes."


def scans(trace: Trace) -> Iterator[Candidate]:
    """Questions for the number of Scans."""
    last = max((scan.order for scan in trace.scans), default=0)
    for order in range(1, last + 1):
        yield Candidate(order, partial(_scans_task, trace, order))


def _scans_task(trace: Trace, order: int, theme: str) -> Task:
    counts = [sum(scan.order == n for scan in trace.scans) for n in range(order + 1)]
    right, before = sum(counts), sum(counts[:order])
    each = ", ".join(f"{count} of order {n}" for n, count in enumerate(counts))
    reasons = {
        before: "So many there were already before this derivative.",
        counts[order]: "So many are new; those that were there before stay.",
        order: "That is the order, not the number of Scans.",
        order + 1: "That counts one Scan for each order.",
    }
    answer = Answer(
        Form.COUNT,
        (float(right),),
        rule=(
            "Every Scan that the last derivative was computed with is differentiated in its turn, "
            "if the result goes through it; and all earlier ones are still needed."
        ),
        working=f"{each}: {right} in all.",
        otherwise="That is not the number of Scans of this trace.",
        mistakes=tuple(Mistake(n, words) for n, words in reasons.items() if n != right),
    )
    loop = trace.scans[0].name
    nth = {1: "first", 2: "second", 3: "third"}.get(order, f"{order}th")
    question = (
        f"How many Scans compute {loop} with its derivatives up to the {nth}, the loop itself "
        "included?"
    )
    return Task(
        question,
        _family(trace, range(order), order, theme),
        _family(trace, range(order + 1), order, theme),
        answer,
    )


def _family(trace: Trace, shown: Sequence[int], last: int, theme: str) -> Scene:
    """The Scans of the orders that are shown, in a line for each; the others stay open."""
    canvas = Canvas()
    canvas.heading(f"The Scans of {trace.scans[0].name}", ["each differentiates the one it names"])
    for order in range(last + 1):
        canvas.row_label(f"order {order}", canvas.y + HEIGHT / 2 + 4)
        x: float = LABELS
        members = [(n, scan) for n, scan in enumerate(trace.scans) if scan.order == order]
        if order not in shown:
            canvas.add(Text(x + 6, canvas.y + HEIGHT / 2 + 4, "?", 16, bold=True))
            members = []
        for number, scan in members:
            if number and x > LABELS + 3 * (WIDTH + BETWEEN):
                x, canvas.y = LABELS, canvas.y + HEIGHT + 8
            role = Role.INTERMEDIATE if scan.order else Role.INPUT
            box, middle = Box(x, canvas.y, WIDTH, HEIGHT, role), x + WIDTH / 2
            of = "the loop" if scan.parent is None else f"differentiates {scan.parent + 1}"
            name = shortened(f"{number + 1} · {scan.name}", WIDTH - 12, 12, bold=True)
            words = (
                Text(middle, canvas.y + 16, name, 12, "middle", bold=True, role=role),
                Text(middle, canvas.y + 32, of, 10.5, "middle", role=role),
            )
            title = f"{number + 1} · {scan.name}: {of}"
            canvas.add(Group((box, *words), cell=f"{number}:scan", title=title))
            x += WIDTH + BETWEEN
            canvas.right = max(canvas.right, x)
        canvas.y += HEIGHT + 16
    title = f"The Scans of {trace.scans[0].name}"
    description = f"The Scans of the orders {', '.join(map(str, shown))}."
    return canvas.finished({}, canvas.right + MARGIN, title, description, theme, below=0)
