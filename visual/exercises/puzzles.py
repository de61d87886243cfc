"""Tape puzzles: a loop with something missing, and its tape; find taps, cost or step.

    >>> puzzles().save("puzzles.html")

There are six, each harder than the one before.  Every wrong answer is computed in advance: a page
without Python reports the tape that it would leave.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from lab.notation import number_text, tap_symbol, value_symbol
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.exercise import Exercises
from visual.exercises.questions import listed, taps_text
from visual.exercises.sheet import Asked
from visual.layout.canvas import CELL, HEIGHT, finished, heading
from visual.layout.cells import cell
from visual.scene.combinators import above, columns, gap, sized, words
from visual.scene.shapes import Box, Scene, Text
from visual.scene.theme import Role

Values = Sequence[float]
NAME = 76  # the room of a row's name, in the picture


class Missing(StrEnum):
    """What is to be found."""

    TAPS = "taps"
    COST = "cost"
    STEP = "step"


@dataclass(frozen=True)
class Rule:
    """A step: as it is written, what it makes of the values read, and its slope by each of them."""

    written: str
    make: Callable[..., float]
    slopes: Callable[..., Values]

    def text(self, names: Sequence[str]) -> str:
        """The step with `names` for the values read."""
        return self.written.format(*names)


DOUBLE = Rule("2·{0}", lambda a: 2 * a, lambda a: (2.0,))
TRIPLE = Rule("3·{0}", lambda a: 3 * a, lambda a: (3.0,))
SQUARE = Rule("{0}²", lambda a: a * a, lambda a: (2 * a,))
CUBE = Rule("{0}³", lambda a: a**3, lambda a: (3 * a * a,))
ADD = Rule("{0} + {1}", lambda a, b: a + b, lambda a, b: (1.0, 1.0))
LINE = Rule("2·{0} − {1}", lambda a, b: 2 * a - b, lambda a, b: (2.0, -1.0))
BACK = Rule("2·{1} − {0}", lambda a, b: 2 * b - a, lambda a, b: (-1.0, 2.0))
TIMES = Rule("{0}·{1}", lambda a, b: a * b, lambda a, b: (b, a))
MIXED = Rule("{0}·{1} + {0}", lambda a, b: a * b + a, lambda a, b: (b + 1, a))
RULES = {1: (DOUBLE, TRIPLE, SQUARE, CUBE), 2: (ADD, LINE, BACK, TIMES, MIXED)}


@dataclass(frozen=True)
class Puzzle(Asked):
    """A loop of `steps` steps from the `start`, and the sum of some states as its cost.

    `taps` are as many as the rule reads; `cost` has the indices of states.  What is `missing` is to
    be found from the tape.
    """

    missing: Missing
    rule: Rule
    taps: tuple[int, ...]
    start: tuple[float, ...]
    steps: int
    cost: tuple[int, ...] = ()

    @property
    def costs(self) -> tuple[int, ...]:
        """The states in the cost: the last one unless others are named."""
        return self.cost or (len(self.start) + self.steps - 1,)

    def states(self) -> list[float]:
        """All values of the loop, those given first."""
        x = list(self.start)
        for _ in range(self.steps):
            x.append(self.rule.make(*(x[tap] for tap in self.taps)))
        return x

    def tape(self) -> list[float]:
        """The gradients of all values, in the order of time."""
        x, tape = self.states(), [0.0] * (len(self.start) + self.steps)
        for state in self.costs:
            tape[state] = 1.0
        for t in reversed(range(len(self.start), len(tape))):
            for tap, slope in zip(self.taps, self._slopes(x, t), strict=True):
                tape[t + tap] += slope * tape[t]
        return tape

    def _slopes(self, x: Values, t: int) -> Values:
        return self.rule.slopes(*(x[t + tap] for tap in self.taps))

    def others(self) -> Iterator["Puzzle"]:
        """The same loop with everything else in the place of what is missing."""
        given = len(self.start)
        if self.missing is Missing.STEP:
            for rule in RULES[len(self.taps)]:
                yield self._with(rule=rule)
        elif self.missing is Missing.TAPS:
            for taps in combinations(range(-given, 0), len(self.taps)):
                yield self._with(taps=taps)
        else:
            made = range(given, given + self.steps)
            for count in range(1, self.steps + 1):
                for cost in combinations(made, count):
                    yield self._with(cost=cost)

    def _with(self, **other: object) -> "Puzzle":
        return Puzzle(**{**vars(self), **other})

    @property
    def task(self) -> Task:
        """Question, picture and answer."""
        return Task(self._question(), self._picture(), None, self._answer())

    def _question(self) -> str:
        is_open = self.missing is Missing.TAPS
        names = ["x[?]" if is_open else tap_symbol("x", tap) for tap in self.taps]
        step = self.rule.text(names) if self.missing is not Missing.STEP else "?"
        start = ", ".join(
            f"{value_symbol('x', n)} = {number_text(value)}" for n, value in enumerate(self.start)
        )
        cost = " + ".join(value_symbol("x", n) for n in self.costs)
        cost = "?" if self.missing is Missing.COST else cost
        reads = f", reading at {taps_text(self.taps)}" if self.missing is Missing.STEP else ""
        wanted = {
            Missing.STEP: "Which step leaves this tape?",
            Missing.TAPS: "At which taps does it read?",
            Missing.COST: "Which states are in the cost? Answer with their numbers.",
        }[self.missing]
        return (
            f"x[t] = {step}{reads}, {self.steps} steps from {start}; the cost is {cost}. {wanted}"
        )

    def _answer(self) -> Answer:
        others = list(self.others())
        hints = (HINTS[self.missing], self._first())
        if self.missing is Missing.STEP:
            return Answer(
                Form.CHOICE,
                (1.0 + [other.rule for other in others].index(self.rule),),
                hints,
                self._working(),
                otherwise="",
                mistakes=tuple(
                    Mistake(number, other._beside(self)) for number, other in enumerate(others, 1)
                ),
                choices=tuple(other._step for other in others),
            )
        is_taps = self.missing is Missing.TAPS
        return Answer(
            Form.TAPS if is_taps else Form.NUMBERS,
            tuple(map(float, self._sought)),
            hints,
            self._working(),
            otherwise=f"It reads {len(self.taps)} of the {len(self.start)} values given."
            if is_taps
            else "The steps make no such state.",
            together={
                ",".join(map(str, other._sought)): other._beside(self)
                for other in others
                if other._sought != self._sought
            },
        )

    @property
    def _sought(self) -> tuple[int, ...]:
        return self.taps if self.missing is Missing.TAPS else self.costs

    @property
    def _step(self) -> str:
        return self.rule.text([tap_symbol("x", tap) for tap in self.taps])

    def _beside(self, right: "Puzzle") -> str:
        """What the tape would hold where it differs first, coming from its end."""
        for n, (mine, target) in reversed(
            list(enumerate(zip(self.tape(), right.tape(), strict=True)))
        ):
            if mine != target:
                held, wanted = number_text(mine), number_text(target)
                return f"Then {_slot(n)} would hold {held}, and not {wanted}."
        return ""

    def _first(self) -> str:
        """The first slot that is worth a look."""
        last = max(n for n, value in enumerate(self.tape()[:-1]) if value)
        return f"Look at {_slot(last)}: where does its {number_text(self.tape()[last])} come from?"

    def _working(self) -> str:
        """The whole tape, slot by slot from the last one."""
        x, tape = self.states(), self.tape()
        shares: list[list[str]] = [[] for _ in tape]
        for t in reversed(range(len(self.start), len(tape))):
            for tap, slope in zip(self.taps, self._slopes(x, t), strict=True):
                shares[t + tap] += [f"{_factor(slope)}·{_factor(tape[t])}"] * bool(tape[t])
        lines = []
        for n in reversed(range(len(tape))):
            seed = ["1"] * (n in self.costs)
            made = " + ".join([*seed, *shares[n]]) or "0"
            value = number_text(tape[n])
            lines.append(f"{_slot(n)} {made}" + (f" = {value}" if made != value else ""))
        answer = self._step if self.missing is Missing.STEP else listed(self._sought)
        return f"{answer}. Backwards: {'; '.join(lines)}."

    def _picture(self) -> Scene:
        """The tape as it is at the end; where the cost is sought, the states as well."""
        rows = {"gradient": (self.tape(), Role.INTERMEDIATE)}
        if self.missing is Missing.COST:
            rows = {"state": (self.states(), Role.INPUT), **rows}
        heads = (words(value_symbol("x", n), 11, muted=True) for n in range(len(self.tape())))
        table = [[gap(NAME), *(above(gap(CELL), head, align=0.5) for head in heads)]]
        for label, (values, role) in rows.items():
            box = Box(0, 0, CELL, HEIGHT, role)
            cells = (
                cell(box, np.array(value), f"{label} {value_symbol('x', n)}")
                for n, value in enumerate(values)
            )
            name = sized(NAME, HEIGHT, Text(NAME - 12, 27, label, 13, "end", bold=True))
            table.append([name, *(sized(CELL, HEIGHT, drawn) for drawn in cells)])
        drawn = above(heading("The tape after the last step", []), columns(table, 6, 8))
        told = "The gradients of all values of a loop, in the order of time."
        return finished(drawn, {}, "A tape", told, below=4)


HINTS = {
    Missing.TAPS: "The last state has passed its gradient on to the slots at its taps only.",
    Missing.COST: "A state in the cost has 1 on the tape from the beginning; all else came later.",
    Missing.STEP: "A slot holds what came after it, times the slope of the step.",
}
PUZZLES = (
    Puzzle(Missing.STEP, SQUARE, (-1,), (2.0,), 2),
    Puzzle(Missing.COST, TRIPLE, (-1,), (1.0,), 4, (2, 3)),
    Puzzle(Missing.TAPS, ADD, (-3, -1), (1.0, 2.0, 3.0), 4),
    Puzzle(Missing.STEP, LINE, (-2, -1), (1.0, 2.0), 4),
    Puzzle(Missing.COST, TIMES, (-2, -1), (2.0, 1.0), 4, (2, 4)),
    Puzzle(Missing.TAPS, TIMES, (-4, -1), (1.0, 2.0, 1.0, 3.0), 5, (6, 8)),
)


def puzzles() -> Exercises:
    """Return the six puzzles, the easiest first."""
    return Exercises(PUZZLES)


def _factor(value: float) -> str:
    return number_text(value) if value >= 0 else f"({number_text(value)})"


def _slot(n: int) -> str:
    return f"the slot of {value_symbol('x', n)}"
