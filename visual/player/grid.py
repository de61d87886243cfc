"""The choices of a page: loops, taps, orders, costs, and rules, all of them checked.

Start with `choice_grid`; a `Combination` has one value of each choice. A loop's taps are a
`Pattern`. `CHOICES` declares the others, each as several values of a choice in `visual.options`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import TypeVar

from lab.errors import ArgumentError, argument_error, check_choice, check_sequence, listing, quote
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Sequence, State, Takes
from lab.notation import integers
from lab.reports.breaking.breakage import Breakage, break_rule
from visual.drawing.draw import cached_study
from visual.drawing.study import Study, choose
from visual.options import COST, ORDER, RULE, Argument, Choice, Value, numbers, words

# Tap patterns for steps that take any number of taps, one tap, or two.
ANY = ((-1,), (-2, -1), (-3, -1), (-2,))
ONE = ((-1,), (-2,))
TWO = ((-2, -1), (-3, -1), (-3, -2))
LOOPS = ("square", "fibonacci", "gap", "coupled", "logistic", "rnn")
TITLE = "Loops, their derivatives, and their tapes"
CORRECT = "correct"  # the name of the correct rule
WEIGHTED = "visual.Workbench(loop, cost=(0, 0, 1, 0.5))"
Checked = TypeVar("Checked")


@dataclass(frozen=True)
class Pattern:
    """The taps of states and sequences, by name."""

    taps: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def chosen(self) -> dict[str, tuple[int, ...]]:
        """The taps as an argument of `visual.draw`."""
        return dict(self.taps)

    @property
    def names(self) -> str:
        """The label: ``taps of`` and the names of the variables."""
        return f"taps of {listing(name for name, _ in self.taps)}" if self.taps else "taps"

    @property
    def words(self) -> str:
        """The taps for a reader, without the name of a single variable."""
        if len(self.taps) == 1:
            return _written(self.taps[0][1])
        return " · ".join(f"{name} {_written(taps)}" for name, taps in self.taps) or "none"


def _written(taps: tuple[int, ...]) -> str:
    return ", ".join(map(integers, taps))


def declared_pattern(loop: Loop) -> Pattern:
    """Return the pattern of a loop's declaration."""
    return Pattern(tuple((state.name, state.taps) for state in loop.states))


def pattern(loop: Loop, given: Value, names: Iterable[str] = ()) -> Pattern:
    """Return the pattern for taps of the first state, or for taps by name.

    It contains the taps of all states and of the other variables in `names`. Raises ArgumentError
    if the loop does not accept the taps.
    """
    given = loop.named_taps(given)
    variables = loop.with_taps(given).variables
    chosen = {n: v.taps for n, v in variables.items() if isinstance(v, State | Sequence)}
    all_names = dict.fromkeys([*declared_pattern(loop).chosen, *names, *given])
    return Pattern(tuple((name, chosen[name]) for name in all_names))


def default_patterns(loop: Loop) -> tuple[Pattern, ...]:
    """Return a loop's own taps, and patterns in which a single state has other taps."""
    by_count: Mapping[Takes, tuple[tuple[int, ...], ...]] = {None: ANY, 1: ONE, 2: TWO}
    others = (
        pattern(loop, {state.name: taps})
        for state in loop.states
        for taps in by_count.get(state.takes, ())
    )
    return tuple(dict.fromkeys((declared_pattern(loop), *others)))


def checked_values(
    name: str, given: object, default: tuple[object, ...], check: Callable[[Value], Checked]
) -> tuple[Checked, ...]:
    """Return the checked values, without repetitions; for None, those of `default`."""
    if given is None:
        given = default
    if isinstance(given, str | Loop) or not isinstance(given, Iterable):
        given = (given,)
    given = check_sequence(name, given, "one, or several")
    values = tuple(dict.fromkeys(map(check, given)))
    if not values:
        raise ArgumentError(f"{name} = {given!r:.60}: expected at least one.")
    return values


def loops_of(given: object, default: tuple[str, ...]) -> tuple[Loop, ...]:
    """Return loops, given as Loops or by their names in the gallery; the names differ."""
    loops = checked_values("loops", given, default, _loop)
    names = [loop.name for loop in loops]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"loops: two loops have the name {quote(name)}. Give each loop of a page a unique "
                "name, as in lab.Loop(…, name='decay')."
            )
    return loops


def _loop(given: object) -> Loop:
    if isinstance(given, Loop):
        return given
    if not isinstance(given, str) or given not in gallery.loops:
        raise ArgumentError(
            f"loops = {quote(given)}: expected a lab.Loop, or a name of the gallery: "
            f"{listing(gallery.loops)}."
        )
    return gallery.loops[given]


def taps_of(loops: tuple[Loop, ...], given: object) -> Mapping[str, tuple[Pattern, ...]]:
    """Return the patterns of every loop, by its name."""
    if not isinstance(given, Mapping):
        raise argument_error("taps", given, "expected patterns by the names of loops.")
    names = [loop.name for loop in loops]
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"taps of {quote(name)}: the loops of this page are {listing(names)}."
            )
    return MappingProxyType({loop.name: _patterns(loop, given.get(loop.name)) for loop in loops})


def _patterns(loop: Loop, given: object) -> tuple[Pattern, ...]:
    """Return the patterns of a loop, all with the variables that any of them names."""
    if given is None:
        return default_patterns(loop)
    several_given = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    listed = tuple(given) if isinstance(given, Iterable) else ()
    if not several_given or not all(isinstance(item, Iterable) for item in listed):
        raise ArgumentError(
            f"taps of loop {loop.name} = {quote(given)}: expected several patterns, as in "
            "[(-1,), (-2, -1)]."
        )
    patterns = [pattern(loop, item) for item in listed]
    names = dict.fromkeys(name for item in patterns for name in item.chosen)
    return checked_values(
        f"taps of loop {loop.name}", patterns, (), lambda item: pattern(loop, item.chosen, names)
    )


@dataclass(frozen=True)
class Several(Choice):
    """Several values of the choice `of`, among which the reader of a page chooses.

    `check_one` checks a value, instead of `of`; `split` reads the values from a text on the
    command line.
    """

    _: KW_ONLY
    of: Choice
    usual: tuple[object, ...]
    check_one: Callable[[Value], object] | None = None
    split: Callable[[str], Iterable[object]] = words

    @property
    def argument(self) -> Argument:
        """An option whose help ends with the default."""
        usual = ",".join(map(str, self.usual))
        return {"metavar": f"{self.of.metavar},…", "help": f"{self.help} (default: {usual})"}

    def check(self, value: object) -> Value:
        """Return the checked values; for None, the default."""
        return checked_values(self.name, value, self.usual, self.check_one or self.of.check)

    def parse(self, text: Value) -> Value:
        """Return the values in a text; None if it is empty."""
        return [*self.split(text or "")] or None


def _orders(text: str) -> Iterable[int]:
    return numbers(f"--orders {text}", words(text), "integers, as in 1,2")


def _cost(value: object) -> str:
    """Return the name of a cost; a workbench also takes weights of the steps."""
    return check_choice("costs", value, COST.known, f"expected {{}}. Weights: {WEIGHTED}.")


CHOICES = (
    Several(
        "orders",
        "orders of the derivative",
        f"{ORDER.label} of the derivative",
        of=ORDER,
        usual=(1, 2),
        check_one=replace(ORDER, name="orders").check,
        split=_orders,
    ),
    Several("costs", "last and sum", COST.label, of=COST, usual=COST.known, check_one=_cost),
    Several(
        "rules",
        f"correct, {RULE.help}",
        "rule",
        of=RULE,
        usual=(CORRECT,),
        check_one=lambda rule: rule if rule == CORRECT else RULE.check(rule),
    ),
)


@dataclass(frozen=True)
class Combination:
    """A loop, its taps, the order of its derivative, the cost, and the rule."""

    loop: Loop
    taps: Pattern
    order: int
    cost: str
    rule: str

    @property
    def study(self) -> Study:
        """The derivative by the correct rule, and its run."""
        chosen = choose(taps=self.taps.chosen, order=self.order, cost=self.cost)
        return cached_study(self.loop, chosen)

    @property
    def breakage(self) -> Breakage | None:
        """The runs with the correct and the faulty rule; None if the selected rule is correct."""
        if self.rule == CORRECT:
            return None
        loop = self.loop.with_taps(self.taps.chosen)
        return break_rule(loop, self.rule, max(self.order, 1), cost=self.cost)

    @property
    def words(self) -> str:
        """The choices for a reader."""
        rule = "" if self.rule == CORRECT else f", rule {self.rule}"
        return (
            f"{self.loop.name}, taps {self.taps.words}, order {self.order}, cost {self.cost}{rule}"
        )


@dataclass(frozen=True)
class ChoiceGrid:
    """All choices of a page in their order; `named` are the choices that its author made."""

    loops: tuple[Loop, ...]
    taps: Mapping[str, tuple[Pattern, ...]]
    orders: tuple[int, ...]
    costs: tuple[str, ...]
    rules: tuple[str, ...]
    title: str
    named: frozenset[str] = field(compare=False)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """Every combination of a loop with its taps, the orders, the costs, and the rules."""
        return tuple(
            Combination(loop, *choices)
            for loop in self.loops
            for choices in product(self.taps[loop.name], self.orders, self.costs, self.rules)
        )


def choice_grid(loops: Value, taps: Value, title: str, **chosen: Value) -> ChoiceGrid:
    """Return the checked choices of a page; see `visual.Page`. None stands for the default."""
    given = {"loops": loops, **chosen}
    named = frozenset(name for name, value in given.items() if value is not None)
    loops = loops_of(loops, LOOPS)
    taps = taps_of(loops, {} if taps is None else taps)
    checked = {choice.name: choice.check(chosen[choice.name]) for choice in CHOICES}
    if not isinstance(title, str) or not title.strip():
        raise argument_error("title", title, "expected a text, not empty.")
    return ChoiceGrid(loops, taps, title=title, named=named, **checked)
