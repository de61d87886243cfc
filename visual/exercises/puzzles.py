"""Tape puzzles: find the taps, the cost, or the step of a loop from its tape.

    >>> puzzles().save("puzzles.html")

The last of the six puzzles is the most difficult. A page contains the feedback to each wrong
answer, so that the page can quote the tape of the wrong answer without Python.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

import numpy as np

from lab.notation import number_text, tap_symbol, value_symbol
from visual.exercises.answers import Answer, AnswerForm, ExerciseTask
from visual.exercises.exercise import Exercises
from visual.exercises.questions import listed, taps_text
from visual.exercises.tables import FixedTable
from visual.layout.placing import table_scene
from visual.layout.table import Cell, Head, Line, Row, TableHeading
from visual.scene.shapes import Scene
from visual.scene.theme import Role


class Missing(StrEnum):
    """The missing part of a loop."""

    TAPS = "taps"
    COST = "cost"
    STEP = "step"


@dataclass(frozen=True)
class PuzzleRule:
    """A step: its text, its value, and its local derivatives, as functions of the values read."""

    text: str
    compute: Callable[..., float]
    derivatives: Callable[..., Sequence[float]]


DOUBLE = PuzzleRule("2·{0}", lambda a: 2 * a, lambda a: (2.0,))
TRIPLE = PuzzleRule("3·{0}", lambda a: 3 * a, lambda a: (3.0,))
SQUARE = PuzzleRule("{0}²", lambda a: a * a, lambda a: (2 * a,))
CUBE = PuzzleRule("{0}³", lambda a: a**3, lambda a: (3 * a * a,))
ADD = PuzzleRule("{0} + {1}", lambda a, b: a + b, lambda a, b: (1.0, 1.0))
LINE = PuzzleRule("2·{0} − {1}", lambda a, b: 2 * a - b, lambda a, b: (2.0, -1.0))
BACK = PuzzleRule("2·{1} − {0}", lambda a, b: 2 * b - a, lambda a, b: (-1.0, 2.0))
TIMES = PuzzleRule("{0}·{1}", lambda a, b: a * b, lambda a, b: (b, a))
MIXED = PuzzleRule("{0}·{1} + {0}", lambda a, b: a * b + a, lambda a, b: (b + 1, a))
RULES = {1: (DOUBLE, TRIPLE, SQUARE, CUBE), 2: (ADD, LINE, BACK, TIMES, MIXED)}
QUESTIONS = {
    Missing.STEP: "Which step produces this tape?",
    Missing.TAPS: "At which taps does the step read?",
    Missing.COST: "Which states are in the cost? Answer with their numbers.",
}
HINTS = {
    Missing.TAPS: "The last state sends its gradient only to the slots at its taps.",
    Missing.COST: "The slot of a state in the cost starts with 1. Later steps add the rest.",
    Missing.STEP: "A slot contains the gradient of a later state, times the local derivative.",
}


@dataclass(frozen=True)
class Puzzle:
    """A loop of `steps` steps from the initial values `start`; the reader finds the part `missing`.

    The cost is the sum of the states whose numbers are in `cost` (default: the last state).
    """

    missing: Missing
    rule: PuzzleRule
    taps: tuple[int, ...]
    start: tuple[float, ...]
    steps: int
    cost: tuple[int, ...] = ()

    @property
    def costs(self) -> tuple[int, ...]:
        """The numbers of the states in the cost."""
        return self.cost or (len(self.start) + self.steps - 1,)

    def states(self) -> list[float]:
        """Return all values of the loop."""
        x = list(self.start)
        for _ in range(self.steps):
            x.append(self.rule.compute(*(x[tap] for tap in self.taps)))
        return x

    def contributions(self) -> tuple[list[float], list[list[tuple[float, float]]]]:
        """Return the tape, and the factors of each contribution to each slot."""
        x = self.states()
        tape = [float(n in self.costs) for n in range(len(x))]
        factors: list[list[tuple[float, float]]] = [[] for _ in x]
        for t in reversed(range(len(self.start), len(x))):
            derivatives = self.rule.derivatives(*(x[t + tap] for tap in self.taps))
            for tap, derivative in zip(self.taps, derivatives, strict=True):
                tape[t + tap] += derivative * tape[t]
                factors[t + tap].append((derivative, tape[t]))
        return tape, factors

    def tape(self) -> list[float]:
        """Return the gradients of all values, in the order of time."""
        return self.contributions()[0]

    def alternatives(self) -> Iterator["Puzzle"]:
        """Yield the loop with each candidate for the missing part."""
        given = len(self.start)
        if self.missing is Missing.STEP:
            for rule in RULES[len(self.taps)]:
                yield replace(self, rule=rule)
        elif self.missing is Missing.TAPS:
            for taps in combinations(range(-given, 0), len(self.taps)):
                yield replace(self, taps=taps)
        else:
            for count in range(1, self.steps + 1):
                for cost in combinations(range(given, given + self.steps), count):
                    yield replace(self, cost=cost)

    @property
    def task(self) -> ExerciseTask:
        """The puzzle as a question."""
        return ExerciseTask(self._question(), self._picture(), None, self._answer())

    def _step(self) -> str:
        return self.rule.text.format(*(tap_symbol("x", tap) for tap in self.taps))

    def _question(self) -> str:
        step, cost, reads = self._step(), " + ".join(value_symbol("x", n) for n in self.costs), ""
        if self.missing is Missing.TAPS:
            step = self.rule.text.format(*["x[?]"] * len(self.taps))
        elif self.missing is Missing.STEP:
            step, reads = "?", f", reading at {taps_text(self.taps)}"
        else:
            cost = "?"
        start = ", ".join(
            f"{value_symbol('x', n)} = {number_text(value)}" for n, value in enumerate(self.start)
        )
        return (
            f"x[t] = {step}{reads}, {self.steps} steps from {start}; the cost is {cost}. "
            f"{QUESTIONS[self.missing]}"
        )

    def _answer(self) -> Answer:
        wrong = [other for other in self.alternatives() if other != self]
        form, choices = AnswerForm.NUMBERS, tuple[str, ...]()
        otherwise = "The steps compute no such state."
        if self.missing is Missing.STEP:
            form, otherwise = AnswerForm.CHOICE, ""
            choices = tuple(other._step() for other in self.alternatives())
        elif self.missing is Missing.TAPS:
            form = AnswerForm.TAPS
            otherwise = f"The step reads {len(self.taps)} of the {len(self.start)} initial values."
        return Answer(
            form,
            tuple(map(float, self._numbers())),
            (HINTS[self.missing], self._hint()),
            self._working(),
            otherwise,
            together={",".join(map(str, o._numbers())): self._compare(o) for o in wrong},
            choices=choices,
        )

    def _numbers(self) -> tuple[int, ...]:
        """Return the right numbers: taps, states, or the number of a choice, from 1."""
        if self.missing is Missing.STEP:
            return (1 + RULES[len(self.taps)].index(self.rule),)
        return self.taps if self.missing is Missing.TAPS else self.costs

    def _compare(self, wrong: "Puzzle") -> str:
        """Describe the last slot that the tape of a wrong answer changes."""
        pairs = enumerate(zip(wrong.tape(), self.tape(), strict=True))
        *_, (n, value, right) = ((n, *pair) for n, pair in pairs if pair[0] != pair[1])
        return (
            f"{_slot_name(n)} would contain {number_text(value)} instead of {number_text(right)}."
        )

    def _hint(self) -> str:
        """Ask for the last slot whose value a step computes."""
        tape = self.tape()
        last = max(n for n, value in enumerate(tape[:-1]) if value)
        return f"Why does {_slot_name(last).lower()} contain {number_text(tape[last])}?"

    def _working(self) -> str:
        """Return the answer and all sums of the tape, the last slot first."""
        tape, factors = self.contributions()
        sums = []
        for n in reversed(range(len(tape))):
            terms = ["1"] * (n in self.costs)
            terms += [f"{_factor(a)}·{_factor(b)}" for a, b in factors[n] if b]
            total, value = " + ".join(terms) or "0", number_text(tape[n])
            sums.append(f"{value_symbol('dC/dx', n)} = {total}" + f" = {value}" * (total != value))
        answer = self._step() if self.missing is Missing.STEP else listed(self._numbers())
        return f"{answer}. Backward: {'; '.join(sums)}."

    def _picture(self) -> Scene:
        """Draw the tape after the last step, below the states if the cost is missing."""
        rows = {"gradient": (self.tape(), Role.INTERMEDIATE)}
        if self.missing is Missing.COST:
            rows = {"state": (self.states(), Role.INPUT), **rows}
        columns = [(0, n) for n in range(len(self.tape()))]
        heads = {(0, n): Head("", value_symbol("x", n)) for _, n in columns}
        table = [Row(heading=TableHeading("The tape after the last step"))]
        for label, (values, role) in rows.items():
            names = (f"{label} {value_symbol('x', n)}" for _, n in columns)
            quantities = zip(columns, names, values, strict=True)
            cells = [(key, Cell(role, name, np.array(value))) for key, name, value in quantities]
            table.append(Row(label, [Line(cells, heads=heads)]))
            heads = {}
        description = "The gradients of all values of a loop, in the order of time."
        return table_scene(FixedTable(table, label_width=76.0), {}, "A tape", description)


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
    return Exercises([puzzle.task for puzzle in PUZZLES])


def _factor(value: float) -> str:
    return number_text(value) if value >= 0 else f"({number_text(value)})"


def _slot_name(n: int) -> str:
    return f"The slot of {value_symbol('x', n)}"
