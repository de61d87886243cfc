"""The choices of a page: loops, taps, orders, costs, and rules, each of them checked.

Start with `Grid`; a `Combination` has one of each.  A loop's taps are a `Pattern`; the other
choices are declared in `CHOICES`, each as several of a choice in `visual.options`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from types import MappingProxyType
from typing import TypeVar

from lab.errors import ArgumentError, check_sequence, listing, quote
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Sequence, State, Takes
from lab.notation import integers
from lab.reports.breaking.breakage import Breakage, break_rule
from visual.drawing.draw import cached_study
from visual.drawing.study import Study, choose
from visual.options import COST, ORDER, RULE, Argument, Choice, Value, check_integer, numbers, words

# For steps that take any number of taps, and for those that take one or two.
ANY = ((-1,), (-2, -1), (-3, -1), (-2,))
ONE = ((-1,), (-2,))
TWO = ((-2, -1), (-3, -1), (-3, -2))
LOOPS = ("square", "fibonacci", "gap", "coupled", "logistic", "rnn")
TITLE = "Loops, their derivatives, and their tapes"
CORRECT = "correct"  # the name of the correct rule
Cost = str | tuple[float, ...]
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Pattern:
    """The taps of states and sequences, by name."""

    taps: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def chosen(self) -> dict[str, tuple[int, ...]]:
        """As `visual.draw` takes them."""
        return dict(self.taps)

    @property
    def key(self) -> str:
        """As in ``x:-2,-1``; several are parted by a semicolon."""
        return ";".join(f"{name}:{','.join(map(str, taps))}" for name, taps in self.taps)

    @property
    def names(self) -> str:
        """Whose taps they are, for a reader."""
        return f"taps of {listing(name for name, _ in self.taps)}" if self.taps else "taps"

    @property
    def words(self) -> str:
        """For a reader; a single variable needs no name."""
        if len(self.taps) == 1:
            return _written(self.taps[0][1])
        return " · ".join(f"{name} {_written(taps)}" for name, taps in self.taps) or "none"


def _written(taps: tuple[int, ...]) -> str:
    return ", ".join(map(integers, taps))


def own(loop: Loop) -> Pattern:
    """The pattern that a loop was declared with."""
    return Pattern(tuple((state.name, state.taps) for state in loop.states))


def pattern(loop: Loop, given: Value, names: Iterable[str] = ()) -> Pattern:
    """A pattern as a person gives it: taps of the first state, or taps by name.

    It has the taps of all states, and of the variables that are in `names` besides.
    ArgumentError if the loop cannot have them.
    """
    given = loop.named_taps(given)
    variables = loop.with_taps(given).variables
    chosen = {n: v.taps for n, v in variables.items() if isinstance(v, State | Sequence)}
    all_names = dict.fromkeys([*own(loop).chosen, *names, *given])
    return Pattern(tuple((name, chosen[name]) for name in all_names))


def offered(loop: Loop) -> tuple[Pattern, ...]:
    """A loop's own taps, and others that its step can take, one state at a time."""
    return tuple(dict.fromkeys(_offered(loop)))


def _offered(loop: Loop) -> Iterator[Pattern]:
    yield own(loop)
    for state in loop.states:
        for taps in _fitting(state):
            yield pattern(loop, {state.name: taps})


def _fitting(state: State) -> tuple[tuple[int, ...], ...]:
    counted: Mapping[Takes, tuple[tuple[int, ...], ...]] = {None: ANY, 1: ONE, 2: TWO}
    return counted.get(state.takes, ())


def each(
    name: str, given: object, usual: tuple[object, ...], one_of: Callable[[Value], Kept]
) -> tuple[Kept, ...]:
    """What `one_of` makes of all that was given, or else of what is usual; every one once."""
    if given is None:
        given = usual
    if isinstance(given, str | Loop) or not isinstance(given, Iterable):
        given = (given,)
    given = check_sequence(name, given, "one, or several")
    kept = tuple(dict.fromkeys(map(one_of, given)))
    if not kept:
        raise ArgumentError(f"{name} = {given!r:.60}: expected one at least.")
    return kept


def loops_of(given: object, usual: tuple[str, ...]) -> tuple[Loop, ...]:
    """Loops, by name or themselves, whose names differ."""
    loops = each("loops", given, usual, _loop)
    names = [loop.name for loop in loops]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"loops: two are called {quote(name)}; on a page every loop has a name of its "
                "own, as in lab.Loop(…, name='decay')."
            )
    return loops


def _loop(given: object) -> Loop:
    if isinstance(given, Loop):
        return given
    if not isinstance(given, str) or given not in gallery.loops:
        raise ArgumentError(
            f"loops: {quote(given)} is no lab.Loop, and the gallery has {listing(gallery.loops)}."
        )
    return gallery.loops[given]


def taps_of(loops: tuple[Loop, ...], given: object) -> Mapping[str, tuple[Pattern, ...]]:
    """The patterns of every loop."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"taps = {quote(given)}: expected patterns by the names of loops.")
    names = [loop.name for loop in loops]
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"taps of {quote(name)}: the loops of this page are {listing(names)}."
            )
    return MappingProxyType({loop.name: _patterns(loop, given.get(loop.name)) for loop in loops})


def _patterns(loop: Loop, given: object) -> tuple[Pattern, ...]:
    """The patterns of a loop; each of them tells of all variables that one of them names."""
    if given is None:
        return offered(loop)
    several_given = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    listed = tuple(given) if isinstance(given, Iterable) else ()
    if not several_given or not all(isinstance(one, Iterable) for one in listed):
        raise ArgumentError(
            f"taps of loop {loop.name} = {quote(given)}: expected several patterns, as in "
            "[(-1,), (-2, -1)]."
        )
    patterns = [pattern(loop, one) for one in listed]
    names = dict.fromkeys(name for one in patterns for name in one.chosen)
    return each(
        f"taps of loop {loop.name}", patterns, (), lambda one: pattern(loop, one.chosen, names)
    )


@dataclass(frozen=True)
class Several(Choice):
    """Several of what can be chosen, of which a page offers one at a time.

    `check_one` checks one of them, if not as what it is several `of`; `listed` are those of a text
    of the command line.
    """

    _: KW_ONLY
    of: Choice
    usual: tuple[object, ...]
    check_one: Callable[[Value], object] | None = None
    listed: Callable[[str], Iterable[object]] = words

    @property
    def argument(self) -> Argument:
        """An option whose help ends with what is usual."""
        usual = ",".join(map(str, self.usual))
        return {"metavar": f"{self.of.metavar},…", "help": f"{self.help} ({usual})"}

    def check(self, value: object) -> tuple[object, ...]:
        """All that were given, or else what is usual."""
        return each(self.name, value, self.usual, self.check_one or self.of.check)

    def read(self, text: Value, loop: object) -> Value:
        """What a text lists; None for nothing."""
        return [*self.listed(text or "")] or None


def _order(value: object) -> int:
    order = check_integer("orders", value)
    if order < ORDER.least:
        raise ArgumentError(f"orders: {order} is no order of a derivative; expected 0, 1, 2, …")
    return order


def _orders(text: str) -> Iterable[int]:
    return numbers(f"--orders {text}", words(text), "whole numbers, as in 1,2")


def _cost(value: object) -> Cost:
    """The name of a cost, or the weights of the steps."""
    if value in COST.known if isinstance(value, str) else isinstance(value, Iterable):
        return COST.check(value)
    raise ArgumentError(
        f"costs: {quote(value)} is no cost; expected {listing(COST.known)}, or one weight for "
        "each step, as in ['last', (0, 0, 1, 0.5)]."
    )


def _costs(text: str) -> Iterator[str | tuple[float, ...]]:
    """``last,sum`` or ``last/0,0,1``: weights go together between the slashes."""
    for part in text.split("/"):
        if all(word in COST.known for word in words(part)):
            yield from words(part)
        else:
            expected = f"{', '.join(COST.known)}, or weights as in 0,0,1,0.5"
            yield numbers(f"--costs {part}", words(part), expected, float)


CHOICES = (
    Several(
        "orders",
        "of the derivative",
        f"{ORDER.label} of the derivative",
        of=ORDER,
        usual=(1, 2),
        check_one=_order,
        listed=_orders,
    ),
    Several(
        "costs",
        "last, sum, or a weight for each step",
        COST.label,
        of=COST,
        usual=COST.known,
        check_one=_cost,
        listed=_costs,
    ),
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
    cost: Cost
    rule: str

    @property
    def study(self) -> Study:
        """The derivative by the correct rule, and its run."""
        chosen = choose(taps=self.taps.chosen, order=self.order, cost=self.cost)
        return cached_study(self.loop, chosen)

    @property
    def breakage(self) -> Breakage | None:
        """The runs by both rules; None for the correct one."""
        if self.rule == CORRECT:
            return None
        loop = self.loop.with_taps(self.taps.chosen)
        return break_rule(loop, self.rule, max(self.order, 1), cost=self.cost)

    @property
    def words(self) -> str:
        """The choices for a reader."""
        rule = "" if self.rule == CORRECT else f", rule {self.rule}"
        return (
            f"{self.loop.name}, taps {self.taps.words}, order {self.order}, "
            f"cost {key_of(self.cost)}{rule}"
        )


def key_of(chosen: object) -> str:
    """Return a choice as it is written in a link: a name, a number, or weights."""
    if isinstance(chosen, tuple):
        return ",".join(repr(weight).removesuffix(".0") for weight in chosen)
    return str(chosen)


@dataclass(frozen=True)
class Grid:
    """All choices of a page in their order; see `visual.Page`."""

    loops: Value = None
    taps: Value = field(default=None, hash=False)
    orders: Value = None
    costs: Value = None
    rules: Value = None
    title: str = TITLE
    named: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        given = ("loops", *(choice.name for choice in CHOICES))
        put(self, "named", frozenset(name for name in given if getattr(self, name) is not None))
        put(self, "loops", loops_of(self.loops, LOOPS))
        put(self, "taps", taps_of(self.loops, {} if self.taps is None else self.taps))
        for choice in CHOICES:
            put(self, choice.name, choice.check(getattr(self, choice.name)))
        if not isinstance(self.title, str) or not self.title.strip():
            raise ArgumentError(f"title = {quote(self.title)}: expected a text, not empty.")

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """Every loop with each of its taps, orders and costs."""
        return tuple(
            Combination(loop, *one)
            for loop in self.loops
            for one in product(self.taps[loop.name], self.orders, self.costs, self.rules)
        )
