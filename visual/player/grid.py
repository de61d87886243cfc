"""The checked choices of a page: loops, taps, orders, costs, and rules.

Start with `ChoiceGrid`. `CHOICES` declares the orders, costs, and rules.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple, TypeVar

from lab.errors import argument_error, check_choice, check_sequence, check_type, listing
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Sequence, State, Takes
from lab.notation import integers
from visual.options import ANY_RULE, CORRECT, COST, ORDER, Choice, Value, words
from visual.player.state import as_text

# Default tap patterns for steps that take any number of taps, one tap, or two taps.
USUAL_TAPS: Mapping[Takes, tuple[tuple[int, ...], ...]] = {
    None: ((-1,), (-2, -1), (-3, -1), (-2,)),
    1: ((-1,), (-2,)),
    2: ((-2, -1), (-3, -1), (-3, -2)),
}
LOOPS = ("square", "fibonacci", "gap", "coupled", "logistic", "rnn")
ORDERS, RULES = (1, 2), (CORRECT,)  # by default; the first loop has more
FULL = {"orders": (*ORDERS, 3), "rules": (*RULES, "accumulate-overwritten")}
OMITTED = f"This page has order 3 and the faulty rule only for {LOOPS[0]}."
TITLE = "Loops, their derivatives, and their tapes"
Pattern = Mapping[str, tuple[int, ...]]  # the taps of states and sequences, by name
Checked = TypeVar("Checked")


class Combination(NamedTuple):
    """The choices of a machine of a page, in the order of a link."""

    loop: Loop
    taps: Pattern
    order: int
    cost: str
    rule: str


def pattern_text(pattern: Pattern) -> str:
    """Return a pattern as text for a reader; omit the name if there is only one variable."""
    texts = {name: ", ".join(map(integers, taps)) for name, taps in pattern.items()}
    labels = texts.values() if len(texts) == 1 else (f"{n} {text}" for n, text in texts.items())
    return " · ".join(labels) or "none"


def checked_values(
    name: str, given: object, default: tuple[object, ...], check: Callable[[Value], Checked]
) -> tuple[Checked, ...]:
    """Return the values of `given`, or for None of `default`, checked and without repetitions."""
    given = default if given is None else given
    if isinstance(given, str | Loop) or not isinstance(given, Iterable):
        given = (given,)
    values = [*map(check, check_sequence(name, given, "one, or several"))]
    if not values:
        raise argument_error(name, (), "expected at least one.")
    return tuple(value for n, value in enumerate(values) if value not in values[:n])


def loops_of(given: object, default: tuple[str, ...]) -> tuple[Loop, ...]:
    """Return the loops for `Loop` objects or names; raise ArgumentError for bad or equal names."""
    loops = checked_values("loops", given, default, _loop)
    names = [loop.name for loop in loops]
    for name in names:
        if names.count(name) > 1:
            advice = "Give each loop of a page a unique name, as in lab.Loop(…, name='decay')."
            raise argument_error("loops", name, f"two loops have this name. {advice}")
    return loops


def _loop(given: object) -> Loop:
    if isinstance(given, Loop):
        return given
    expected = "expected a lab.Loop, or a name of the gallery: {}."
    return gallery.loops[check_choice("loops", given, gallery.loops, expected)]


def tap_patterns(loop: Loop, given: object = None) -> tuple[Pattern, ...]:
    """Return the tap patterns of a loop, checked and without repetitions.

    A pattern in `given` contains the taps of the first state, or taps by name. By default, these
    are the declared pattern, and patterns with other taps of one state. Each returned pattern
    contains the taps of all states, and of the variables in any pattern of `given`.
    """
    if given is None:
        given = [{}, *({s.name: taps} for s in loop.states for taps in USUAL_TAPS.get(s.takes, ()))]
    argument = f"taps of loop {loop.name}"
    patterns = tuple(given) if isinstance(given, Iterable) else (None,)
    if isinstance(given, str | Mapping) or not all(isinstance(p, Iterable) for p in patterns):
        raise argument_error(argument, given, "expected several patterns, as in [(-1,), (-2, -1)].")
    named = [loop.named_taps(pattern) for pattern in patterns]
    names = dict.fromkeys([*(state.name for state in loop.states), *chain(*named)])

    def pattern_of(taps: Value) -> Pattern:
        variables = loop.with_taps(taps).variables
        shown = ((name, variables[name]) for name in names if name in variables)
        return {name: v.taps for name, v in shown if isinstance(v, State | Sequence)}

    return checked_values(argument, named, (), pattern_of)


def _several(name: str, about: str, one: Choice, usual: tuple[object, ...]) -> Choice:
    """Return an option for one or several values of the option `one`, by default `usual`."""
    check = replace(one, name=name).check
    return Choice(
        name,
        about,
        metavar=f"{one.metavar},…",
        default=",".join(map(str, usual)),
        checker=lambda argument, given: checked_values(argument, given, usual, check),
        reader=lambda text: [int(w) if w.isdecimal() else w for w in words(text)] or None,
    )


CHOICES = (
    _several("orders", "orders of the derivative", ORDER, ORDERS),
    # A page accepts no weights per step. With "sum", more steps add to a nonzero seed.
    _several("costs", "sum and last", replace(COST, checker=None), ("sum", "last")),
    _several("rules", ANY_RULE.help, ANY_RULE, RULES),
)


class ChoiceGrid:
    """All choices of a page, in order. A choice None means its default.

    Raises ArgumentError for an invalid choice.
    """

    def __init__(self, loops: Value, taps: Value, title: str, **chosen: Value) -> None:
        self.is_usual = all(each is None for each in (loops, chosen["orders"], chosen["rules"]))
        chosen |= FULL if self.is_usual else {}
        self.loops = loops_of(loops, LOOPS)
        expected = "a dictionary from loop names to tap patterns, such as {'square': [(-1,)]}"
        given = check_type("taps", {} if taps is None else taps, Mapping, expected)
        for name in given:
            names = [loop.name for loop in self.loops]
            check_choice("taps", name, names, "the loops of this page are {}.")
        self.taps = {loop.name: tap_patterns(loop, given.get(loop.name)) for loop in self.loops}
        checked = (choice.check(chosen[choice.name]) for choice in CHOICES)
        self.orders, self.costs, self.rules = checked
        if not isinstance(title, str) or not title.strip():
            raise argument_error("title", title, "expected a text, not empty.")
        self.title = title

    @property
    def combinations(self) -> Mapping[str, Combination]:
        """The combinations by link, such as ``loop=square&taps.x=-1,&order=1&cost=sum``."""
        result = {}
        for loop in self.loops:
            orders, rules = self.orders, self.rules
            if self.is_usual and loop.name != LOOPS[0]:
                orders, rules = ORDERS, RULES
            for values in product(self.taps[loop.name], orders, self.costs, rules):
                links = map(_link, Combination._fields, (loop.name, *values))
                result["&".join(filter(None, links))] = Combination(loop, *values)
        return result

    @property
    def options(self) -> dict[str, list[dict[str, object]]]:
        """The options of each field, with labels and parts of links; a loop contains its taps."""
        loops = _options("loop", [loop.name for loop in self.loops])
        for option, loop in zip(loops, self.loops, strict=True):
            patterns = self.taps[loop.name]
            label = f"taps of {listing(patterns[0])}" if patterns[0] else "taps"
            taps = _options("taps", patterns, pattern_text)
            option |= {"about": loop.reason, "taps": taps, "taps_label": label}
        lists = {"order": self.orders, "cost": self.costs, "rule": self.rules}
        return {"loop": loops, **{name: _options(name, values) for name, values in lists.items()}}


def _options(
    field: str, values: Iterable[Checked], label: Callable[[Checked], str] = str
) -> list[dict[str, object]]:
    return [{"label": label(value), "link": _link(field, value)} for value in values]


def _link(field: str, value: object) -> str:
    """Return the part of a link for a choice. A link without a rule chooses the correct rule."""
    return "" if (field, value) == ("rule", CORRECT) else as_text({field: value})
