"""The picture of a step of a tape and of its transpose, both as routing, and the traced gradient.

A step reads slots (`narrow`) and writes slots (`set_subtensor`). In the transpose, the gradient wrt
a written slot moves to the written value, and zero remains in the slot. The gradient wrt a value
that the step reads is added to the gradient of its slot. Therefore, the gradient of an overwritten
slot does not reach earlier steps, and the gradient of a preserved slot is a sum. The last block
shows the same numbers on the tape of the backward Scan.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.equations.events.events import events
from lab.equations.events.records import SlotRole
from lab.errors import GraphError, argument_error, check_integer, listing
from lab.notation import integers
from lab.traces.trace import TapeTrace, Trace
from visual.layout.arrows import Edge
from visual.layout.columns import numbers, shown_numbers
from visual.layout.names import NamedScan
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Fold, Key, Line, Row, Table, TablePart
from visual.options import check_step
from visual.pictures.tapes.slots import ROLES
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

MOST_SLOTS = 6  # a tape with more slots has gaps
WORDS: Mapping[Role, str] = {
    Role.INTERMEDIATE: "value on a tape, or computed by the step",
    Role.PRESERVED: "read, unchanged; its gradients are added",
    Role.OVERWRITTEN: "replaced; the gradient of the old value ends here",
    Role.READ: "value that the step reads, and its gradient",
    Role.RESULT: "gradient of the tape before the step",
    Role.UNNEEDED: "zero",
    Role.SPENT: "unchanged; no later step reads this slot",
}
Values = Mapping[int, np.ndarray | None]  # the values in slots, by row; None is uninitialized
# The contents of lines: the name, the values, a note, and roles and old values by row.
Contents = Sequence[tuple[str, Values | np.ndarray, str, Mapping[int, Role], Values]]
Arrows = Sequence[tuple[str, str, Collection[int]]]  # two names of lines, the slots with arrows


@picture_function
def transposed(trace: Trace, scan: int | None = None, step: int = 0) -> Scene:
    """Draw a step of a Scan as routing, its transpose, and the same step of the backward Scan.

    `scan` is the index of a differentiated Scan in ``trace.scans``. The default is the first such
    Scan that overwrites a slot (from order 2), otherwise the first differentiated Scan. `step` is a
    step of this Scan. Raises GraphError if no Scan is differentiated, and ArgumentError for an
    invalid `scan` or `step`.
    """
    if not (known := differentiated_scans(trace)):
        raise GraphError("order = 0: expected a derivative. Trace the loop with order=1 or higher.")
    overwriting = [n for n, (tape, *_) in known.items() if tape.tape.overwritten]
    number = [*overwriting, *known][0] if scan is None else scan
    if check_integer("scan", number) not in known:
        raise argument_error("scan", scan, f"expected a differentiated Scan: {listing(known)}.")
    source = trace.scans[number]
    check_step(source, step)
    tape, later, reverse = known[number]
    return table_scene(
        StepTable(trace, tape, later, reverse, step),
        WORDS,
        title=f"Step {step} of {source.name}, transposed",
        description=(
            f"The slots of {tape.name} that step {step} reads and writes, the transpose of this "
            f"routing, and the same step of {trace.scans[later].name}, with the same numbers."
        ),
    )


def differentiated_scans(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Map each differentiated Scan to a tape, the backward Scan, and the tape of the gradient.

    If several tapes have a gradient, the first that overwrites a slot is preferred.
    """
    result: dict[int, tuple[TapeTrace, int, TapeTrace]] = {}
    for later, scan in enumerate(trace.scans):
        if scan.parent is None or scan.steps != trace.scans[scan.parent].steps or not scan.steps:
            continue
        pairs = [
            (tape, later, reverse)
            for tape in trace.scans[scan.parent].tapes
            for reverse in scan.tapes
            if reverse.gradient_of == tape.name
            and not tape.is_total
            and not reverse.is_total
            and len(tape.initial) >= len(reverse.initial)
        ]
        if pairs:
            first = max(pairs, key=lambda pair: bool(pair[0].tape.overwritten))
            result.setdefault(scan.parent, first)
    return result


class StepTable(Table):
    """A step of `tape`, its transpose, and the same step of Scan `later` on the tape `reverse`.

    A column is a slot. All values have the rows of `tape`. `read` are the values in the slots that
    the step reads, and `written` the values in the slots that the step writes. The gradients wrt
    these values are `gradient_read` and `gradient_written`. `gradient_rest` is the gradient wrt the
    slots that the step does not write, with zero for the other slots. `spent` are the slots that no
    later step reads: their gradients remain on the `traced` tape of the gradient.
    """

    parts = (TablePart(narrow=50, height=44),)

    def __init__(
        self, trace: Trace, tape: TapeTrace, later: int, reverse: TapeTrace, step: int
    ) -> None:
        from lab import structural  # only this picture imports the package

        self.tape, self.reverse, self.step, taps = tape, reverse, step, tape.tape
        self.backward = NamedScan(trace, later)
        self.named, steps = self.backward.parent or self.backward, self.backward.scan.steps
        self.back = steps - 1 - step
        reads = [taps.row(step, tap) for tap in taps.reads]
        writes = [taps.row(step, tap) for tap in taps.writes]
        self.gradient_after = reverse.contents(self.back - 1)[::-1]
        before = tape.contents(step - 1)[: len(self.gradient_after)]  # shorter after an early stop
        written = np.stack([access.values[step] for access in tape.writes])
        run = events(trace)
        event, number = run.step(later, self.back), self.named.number
        roles = (run.tap_role(number, step, tape.argument, tap) for tap in taps.reads)
        self.used = dict(zip(reads, map(ROLES.__getitem__, roles), strict=True))
        gradient_read = np.zeros((len(reads), *before.shape[1:]), before.dtype)
        for n, (row, tap) in enumerate(zip(reads, taps.reads, strict=True)):
            write = event.write(reverse.argument, -tap)
            total = sum(term.value for term in write.terms)
            gradient_read[n] = write.new if self.used[row] is Role.OVERWRITTEN else total
        results, pullback = structural.vjp(structural.tape_step(taps, step), [before, written])
        zero = np.zeros_like(gradient_read)
        self.gradient_rest, gradient_written = pullback(np.concatenate([zero, self.gradient_after]))
        self.gradient_before, _ = pullback(np.concatenate([gradient_read, self.gradient_after]))
        self.read = dict(zip(reads, results[: len(reads)], strict=True))
        self.written = dict(zip(writes, written, strict=True))
        self.gradient_read = dict(zip(reads, gradient_read, strict=True))
        self.gradient_written = dict(zip(writes, gradient_written, strict=True))
        self.traced = reverse.contents(self.back)[::-1]
        self.spent = {
            taps.row(n, tap)
            for n in range(step, steps)
            for tap in taps.writes
            if run.tap_role(later, steps - 1 - n, reverse.argument, -tap) is SlotRole.PRESERVED
        }

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the step, its transpose, and the step of the backward Scan.

        If the tape is long, only its ends, the slots of the step, and their neighbors are shown.
        """
        named, tape, size = self.named, self.tape, len(self.gradient_before)
        quantity = named.quantity(tape.name)
        near = {row + d for row in (*self.read, *self.written) for d in (-1, 0, 1)}
        rows = numbers(shown_numbers(size, MOST_SLOTS, near & {*range(size)}))
        labels = {row: named.tape_label(tape, row) or tape.name for row in rows}
        heads = {(0, n): (name, f"pos {integers(tape.position(n))}") for n, name in labels.items()}
        for number, (moment, words, contents, arrows) in enumerate(self._blocks(labels)):
            prefix = "g of " * (number > 0)  # blocks 1 and 2 contain gradients
            lines, edges = list[Line](), list[Edge]()
            for name, content, note, roles, old in contents:
                values = content if isinstance(content, Mapping) else dict(enumerate(content))
                cells = list[Cell]()
                for row in (row for row in labels if row in values):
                    role = roles.get(row, Role.INTERMEDIATE)
                    title = f"{prefix}{labels[row]}: {name}"
                    key = named.row_key(tape, len(tape.initial) - 1 - row if number else row)
                    cell = Cell(role, title, values[row], column=(0, row), key=key)
                    cell = replace(cell, quantity=f"{prefix}{quantity}", old=old.get(row))
                    cells.append(replace(cell, id=(number, name, row)))
                lines.append(Line(cells, [note] if note else [], heads, name))
                heads = {}
            for first, second, slots in arrows:
                edges += [Edge((number, first, row), (number, second, row)) for row in slots]
            head = Row(title=f"{moment}: {words[0]}", about=words[1:])
            yield replace(head, lines=lines, edges=edges, moment=(number, moment))
            named, tape = self.backward, self.reverse

    def _blocks(self, slots: Collection[int]) -> Iterator[tuple[str, list[str], Contents, Arrows]]:
        """Yield the name, the heading, the lines, and the arrows of each block, for the `slots`."""
        tape, read, written = self.tape, self.read, self.written
        old_tape, new_tape = (
            {n: tape.value_before(n, step) for n in slots} for step in (self.step, self.step + 1)
        )
        old = {row: old_tape[row] for row in written if row in read}
        note = f"set_subtensor at pos {integers(*map(tape.position, written))}"
        title = f"step {self.step} of {self.named.scan.name}, as routing"
        yield (
            "forward",
            [title, f"{tape.name}: {tape.tape}"],
            [
                ("tape before", old_tape, "", self.used, {}),
                ("read", read, "narrow: a copy", dict.fromkeys(read, Role.READ), {}),
                ("written", written, "the step computes it", {}, {}),
                ("tape after", new_tape, note, dict.fromkeys(old, Role.OVERWRITTEN), old),
            ],
            [("tape before", "read", read), ("written", "tape after", written)],
        )
        read, written, after = self.gradient_read, self.gradient_written, self.gradient_after
        scattered = {**dict.fromkeys(slots, np.zeros_like(after[0])), **read}
        roles = dict.fromkeys(slots, Role.UNNEEDED) | dict.fromkeys(read, Role.READ)
        old, result = {row: after[row] for row in written}, dict.fromkeys(read, Role.RESULT)
        ended = dict.fromkeys(old, Role.OVERWRITTEN)
        yield (
            "transposed",
            [
                "the same step backward, as routing",
                "from the gradient of the tape after the step to its gradient before the step",
            ],
            [
                ("gradient after", after, "from later steps", {}, {}),
                ("wrt written", written, "moves to the value", {}, {}),
                ("wrt the rest", self.gradient_rest, "zero remains", ended, old),
                ("+ wrt read", scattered, "narrow transposed: a scatter", roles, {}),
                ("gradient before", self.gradient_before, "the sum of the two above", result, {}),
            ],
            [("gradient after", "wrt written", written), ("+ wrt read", "gradient before", read)],
        )
        alive = [row for row in range(len(self.traced)) if row not in self.spent]
        distance = np.max(np.abs(self.traced - self.gradient_before)[alive], initial=0)
        roles = self.used | dict.fromkeys(self.spent, Role.SPENT)
        old = {row: after[row] for row in read}
        yield (
            "traced",
            [
                f"step {self.back} of {self.backward.scan.name}",
                f"{self.reverse.name}: {self.reverse.tape}; its slots have the order from above",
                f"largest difference from the gradient before, above: {float(distance):.2g}",
            ],
            [
                ("tape before", after, "the gradient after, from above", {}, {}),
                ("tape after", self.traced, "preserved: old + new value", roles, old),
            ],
            [],
        )
