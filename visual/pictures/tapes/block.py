"""What is drawn of a backward Scan: its steps, its tapes, and what they are called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from string import ascii_lowercase

from lab.equations.spelling import Speller
from lab.notation import below, indexed
from lab.records import cached_property
from lab.traces.trace import Formula, SequenceTrace, TapeTrace
from visual.layout.canvas import Columns
from visual.layout.cells import PARTS
from visual.layout.columns import Gap, Timeline
from visual.layout.names import NamedScan, counted
from visual.pictures.tapes.lanes import Lane, View
from visual.scene.fonts import text_width

TALL, LOWER, LOW, SMALL = 40, 34, 22, 11  # a cell, one in close rows, one in a line; letters
ROOMY, USUAL, CLOSE, SHORT, TIGHT = range(5)  # rows, which have ever less room


@dataclass(frozen=True, eq=False)
class Block:
    """What is drawn of a backward Scan: its steps, tapes and totals, and in which columns."""

    named: NamedScan
    columns: Columns
    time: Timeline
    view: View
    steps: Sequence[int | Gap]
    lanes: tuple[Lane, ...]
    totals: tuple[tuple[TapeTrace, float], ...]
    room: float  # up to which x it may reach
    idle: bool = False  # whether outputs that nobody asked for are drawn as well
    rows: int = ROOMY  # from that of `SHORT` on all but one are lines; `TIGHT` has no arrows

    @property
    def layout(self) -> tuple[object, ...]:
        """What two plans have in common that lay it out alike."""
        shown = (tuple(lane.tape.argument for lane in self.lanes), *self.steps, len(self.totals))
        return *shown, self.columns.cell, *self.columns.left, self.rows

    @property
    def is_roomy(self) -> bool:
        """Whether factors, of numbers, have room on the arrows between tapes."""
        return self.rows == ROOMY and not any(lane.tape.initial[0].ndim for lane in self.lanes)

    @cached_property
    def whole(self) -> int | None:
        """The one step whose row is no line, if there are lines."""
        shown = [step for step in self.steps if not isinstance(step, Gap)]
        chosen = [step for step in self.view.unfold if step in shown]
        return [*shown[:1], *chosen][-1] if shown and self.rows >= SHORT else None

    @property
    def height(self) -> float:
        """That of a cell."""
        return (LOWER if self.rows >= CLOSE else TALL) + (PARTS if self.view.contributions else 0)

    @property
    def line(self) -> float:
        """That of a cell in rows that are no steps, lower if those of steps are."""
        return LOW if self.rows >= SHORT else self.height

    @property
    def labels(self) -> float:
        """Where columns begin."""
        return self.view.sheet.labels

    @property
    def apart(self) -> float:
        """Between two columns."""
        return self.columns.cell * 0.22

    @property
    def folds(self) -> list[int]:
        """The first step of each fold that can be opened; of steps that were chosen, none can."""
        if self.view.step is not None or self.view.sheet.steps is not None:
            return []
        held = pairwise((-1, *self.steps))
        return [a + 1 for a, b in held if isinstance(b, Gap) and not isinstance(a, Gap)]

    @cached_property
    def opened(self) -> dict[int, int]:
        """The steps that somebody opened beside the usual ones: the first of each, and the last."""
        shown = [step for step in self.steps if not isinstance(step, Gap)]
        known = set(shown if self.view.usual is None else self.view.usual)
        found, first = dict[int, int](), -1
        for step in (one for one in shown if one not in known):
            first = first if step - 1 in shown and step - 1 not in known else step
            found[first] = step
        return found

    @property
    def closes(self) -> int | None:
        """The step whose row somebody opened in the place of the usual one, if there are lines."""
        usual = self.view.usual
        return self.whole if usual and self.whole != min(usual) and not self.opened else None

    def is_short(self, step: int | Gap) -> bool:
        """Whether the row of a step has one line: its tapes, and neither arrows nor formulas."""
        return self.rows >= SHORT and step != self.whole and not isinstance(step, Gap)

    @property
    def opens(self) -> str:
        """How the row of a step that has one line is opened; empty where there is none."""
        other = next((step for step in self.steps if self.is_short(step)), None)
        how = f"unfold={other} opens step {other}", "a click on its name opens a step"
        return "" if other is None else self.view.sheet.hint(*how, before="")

    @cached_property
    def spell(self) -> Speller:
        """What writes its formulas."""
        return Speller(self.named)

    @cached_property
    def told(self) -> Callable[[int, int], tuple[str, str]]:
        """One of the formulas at a step, and the same in numbers; both are made once."""
        known, spell = self.formulas, self.spell
        return cache(lambda n, step: (spell.at(known[n], step), spell.numbers(known[n], step)))

    @property
    def has_several(self) -> bool:
        """Whether its rows have more than one tape."""
        return len([tape for tape in self.named.scan.tapes if not tape.is_total]) > 1

    @cached_property
    def in_short(self) -> dict[int, tuple[str, str]]:
        """The variables whose cells have no room for what they are called: a name, and that."""
        named, scan, room = self.named, self.named.scan, self.columns.cell + self.apart - 4
        known: list[TapeTrace | SequenceTrace]
        known = [*scan.tapes, *self.outputs, *scan.sequences]
        names: dict[str, list[str]] = {}
        for variable in known:
            wholes = names.setdefault(variable.name, [])
            wholes += [named.row_name(variable)] * (named.row_name(variable) not in wholes)
        found = {}
        for variable in known:
            longest = 0 if variable.axis is None else int(max(variable.axis.index, default=0))
            whole, wholes, is_tape = (
                named.row_name(variable),
                names[variable.name],
                variable in scan.tapes,
            )
            letter = ascii_lowercase[wholes.index(whole)] if len(wholes) > 1 else ""
            own, last = f"{variable.name}{letter}", "" if variable.axis is None else below(longest)
            widths = [text_width(f"{name}{last}", SMALL, mono=not is_tape) for name in (own, whole)]
            if widths[0] < widths[1] > room - (0 if is_tape else 10):
                found[variable.argument] = own, whole
        return found

    @property
    def told_in_short(self) -> list[str]:
        """What is said of them below the picture."""
        told = ", ".join(dict.fromkeys(" is ".join(pair) for pair in self.in_short.values()))
        return [f"in short: {told}"] * bool(told)

    def short(self, variable: TapeTrace | SequenceTrace, index: int | None, label: str) -> str:
        """What a cell is called: its label, or the name of its variable where there is no room."""
        found = self.in_short.get(variable.argument)
        return indexed(found[0], index) if found else label

    @cached_property
    def outputs(self) -> list[TapeTrace]:
        """The outputs that are drawn."""
        return [o for o in self.named.scan.outputs if self.idle or self.named.is_passed_on(o)]

    @cached_property
    def formulas(self) -> list[Formula]:
        """The formulas of what is drawn."""
        scan = self.named.scan
        left = {output.argument for output in scan.outputs if output not in self.outputs}
        return [formula for formula in scan.formulas if formula.target.argument not in left]

    @cached_property
    def hidden(self) -> str:
        """What of the Scan is not drawn, in words."""
        scan = self.named.scan
        tapes = [tape for tape in scan.tapes if not tape.is_total]
        counts = (
            (len(tapes) - len(self.lanes), "more tape"),
            (len(scan.tapes) - len(tapes) - len(self.totals), "more running total"),
            (len(scan.outputs) - len(self.outputs), "unwanted output"),
        )
        told = [counted(n, word) for n, word in counts if n > 0]
        how = self.view.sheet.all_shows()
        if len(tapes) > len(self.lanes):
            how = self.view.sheet.hint("all=True shows everything", "a click opens all tapes")
        return f"⋯ {', '.join(told)}{how}" if told else ""
