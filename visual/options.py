"""Options of derivatives, each declared once: name, allowed values, and description.

A `Choice` serves Python (`check`), the command line (`argument`, `read`), and forms (`control`,
`typed`).  `visual.drawing.catalogue` declares the options of pictures.  Scan numbers start at 1:
``2 · gradient of square`` is ``trace.scans[1]``.  Step numbers start at 0.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from lab.errors import (
    ArgumentError,
    Registry,
    check_integer,
    check_sequence,
    check_type,
    listing,
    quote,
    shorten,
)
from lab.gradients.derivative import MODES
from lab.loops.build import as_weights
from lab.loops.loop import Loop
from lab.loops.text.source import by_name, identifier
from lab.reports.breaking.rules import BROKEN
from lab.tape import check_taps
from lab.traces.trace import ScanTrace, Trace
from lab.traces.window import check_keep, keep_text
from visual.scene.shapes import MM
from visual.scene.theme import THEMES

Value = Any  # what is chosen: of a number, a text, a mapping, what the choice says
Argument = Mapping[str, Value]  # what `argparse` is to know about an option, by name
Control = dict[str, object]  # what a form is to know about a control, as JSON
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Choice:
    """Something that can be chosen: here the name of something, below what else there is.

    `name` is the argument in Python, and the option of the command line, where `help` explains it
    and `metavar` stands for a value.  `label` stands beside its control on a form; what has none
    is not on it.  What is not chosen is `default`.
    """

    name: str
    help: str
    label: str = ""
    _: KW_ONLY
    metavar: str = "NAME"
    default: Value = None
    read_as: ClassVar[Argument] = {}  # by argparse

    @property
    def option(self) -> str:
        """The option of the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def argument(self) -> Argument:
        """What `argparse` is to know about the option."""
        return {"help": self.help, "metavar": self.metavar, "default": self.default, **self.read_as}

    def check(self, value: object) -> Value:
        """The value as it is kept; ArgumentError for what can be none."""
        if value is not None:
            check_type(self.name, value, str, "a name")
        return identifier(value)

    def read(self, text: Value, loop: Loop) -> Value:
        """The value that the command line, read by `argparse`, names about a loop."""
        return text

    def control(self, value: Value, names: Iterable[str] = ()) -> Control:
        """The control that shows a value: a list of `names`, or what fits the kind."""
        return self._control("select", value, options=[[name, name] for name in names])

    def _control(self, kind: str, value: object, **more: object) -> Control:
        return {"kind": kind, "label": self.label, "value": value, **more}

    def typed(self, written: object) -> object:
        """The value that was handed in on a form."""
        return written


@dataclass(frozen=True)
class OneOf(Choice):
    """One of several by its name."""

    _: KW_ONLY
    known: Registry[object]

    def check(self, value: object) -> Value:
        """The name."""
        if value is not None or self.default is not None:
            self.known[value]  # refuses what is none
        return value

    def control(self, value: object, names: Iterable[str] = ()) -> Control:
        """A list of all."""
        return super().control(value, names or self.known)


@dataclass(frozen=True)
class Whole(Choice):
    """A whole number from `least` to `most`; without `most`, only a trace or a loop knows."""

    _: KW_ONLY
    metavar: str = "N"
    least: int = 0
    most: int | None = None
    read_as = {"type": int}  # noqa: RUF012 (see `Choice`)

    def check(self, value: object) -> int | None:
        """The number; None stands for what is not chosen."""
        if self.most is None:
            return whole_or_none(self.name, value)
        if value is None:
            return self.default
        expected = f"a whole number, {self.least} to {self.most}"
        number = check_integer(self.name, value, expected)
        if number == self.default or self.least <= number <= self.most:
            return number
        raise ArgumentError(f"{self.name} = {quote(value)}: expected {expected}.")

    def control(self, value: object, names: Iterable[str] = ()) -> Control:
        """A field for a number, empty where none is chosen; or a button for each of a few."""
        most = self.most or MOST
        if most < 9 and not self._may_be_empty:
            return self._control("buttons", value, options=[*range(self.least, most + 1)])
        shown = "" if value is None or (value == self.default and self._may_be_empty) else value
        return self._control("number", shown, min=self.least, max=most)

    def typed(self, written: object) -> object:
        """The number; what is none is kept, to be refused, and an empty field is no choice."""
        text = str(written).strip()
        if not text and self._may_be_empty:
            return None
        return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else text

    @property
    def _may_be_empty(self) -> bool:
        """Whether nothing is another choice than every number that can be typed."""
        return self.default is None or self.default < self.least


@dataclass(frozen=True)
class Wholes(Choice):
    """Several whole numbers."""

    _: KW_ONLY
    metavar: str = "N,N"

    def check(self, value: object) -> Value:
        """The numbers: a trace knows which there are."""
        return None if value is None else wholes(self.name, value)

    def read(self, text: Value, loop: Loop) -> tuple[int, ...]:
        """Numbers between commas."""
        return numbers(f"{self.option} {shorten(text)}", words(text))

    def typed(self, written: object) -> object:
        """The numbers between commas."""
        return numbers(self.name, words(str(written)))


@dataclass(frozen=True)
class Path(Wholes):
    """A way into Scans inside steps: the number of a Scan, that of a step, and so on."""

    _: KW_ONLY
    metavar: str = "SCAN,STEP"

    def check(self, value: object) -> Value:
        """The numbers, two for each level; none for the outermost one."""
        path = tuple(super().check(value) or ())
        if len(path) % 2:
            raise ArgumentError(
                f"{self.name} = {quote(value)}: expected a Scan's number and a step's, as in 2,0."
            )
        return path or None


@dataclass(frozen=True)
class Steps(Whole):
    """How many steps there are; or which of them are shown, which `Shown` reads."""

    read_as = {}  # noqa: RUF012 (see `Choice`)

    def read(self, text: Value, loop: Loop) -> int | str | None:
        """A number, or what has a colon."""
        if text is None or ":" in text:
            return text
        return numbers(f"{self.option} {shorten(text)}", [text], STEPS_OR_SOME)[0]


@dataclass(frozen=True)
class Shown(Choice):
    """Some steps, as Python cuts them out: ``2:5`` for 2, 3 and 4."""

    def check(self, value: object) -> range:
        """The steps: a trace knows which there are."""
        text = value if isinstance(value, str) else ""
        found = re.fullmatch("([0-9]{0,9}):([0-9]{1,9})", text)
        shown = range(int(found[1] or 0), int(found[2])) if found else value
        if not isinstance(shown, range) or shown.step != 1 or not 0 <= shown.start < shown.stop:
            raise ArgumentError(f"{self.name} = {quote(value)}: expected {STEPS_OR_SOME}.")
        return shown


@dataclass(frozen=True)
class Keep(Choice):
    """Which steps of a long loop are kept: a text that `lab.trace` takes."""

    def check(self, value: object) -> str:
        """``all``, ``last``, ``500:510``, or ``100000`` for every so many."""
        return keep_text(check_keep(value))

    def control(self, value: object, names: Iterable[str] = ()) -> Control:
        """A text."""
        return self._control("text", value)


@dataclass(frozen=True)
class Length:
    """A length as it is written, and in CSS pixels; on paper, or on a screen."""

    written: str
    pixels: float
    on_paper: bool


@dataclass(frozen=True)
class Width(Choice):
    """A length with a unit, or by the name that papers have for it."""

    def check(self, value: object) -> Length:
        """The length; a number is one of pixels."""
        if isinstance(value, Length):
            return value
        is_short = not isinstance(value, int) or abs(value) <= MOST_WIDTH
        told = isinstance(value, str | int | float) and not isinstance(value, bool) and is_short
        written = NAMED_WIDTHS.get(str(value), str(value)) if told else ""
        found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(mm|cm|in|px|)", written)
        unit = UNITS[found[2]] if found else 0.0
        pixels = float(found[1]) * unit if found else 0.0
        on_paper = found is not None and found[2] not in ("", "px")
        if not (NARROWEST if on_paper else FEWEST) <= pixels <= BROADEST:
            raise ArgumentError(
                f"{self.name} = {quote(value)}: expected 50mm to 1000mm, column (85mm), page "
                f"(170mm), inches (3.4in), or {FEWEST} pixels or more."
            )
        return Length(written, pixels, on_paper)


MOST_WIDTH = 10**9  # of an integer: a longer one may have more digits than Python writes
UNITS = {"mm": 1 / MM, "cm": 10 / MM, "in": 96.0, "px": 1.0, "": 1.0}
NAMED_WIDTHS = {"column": "85mm", "page": "170mm"}
NARROWEST, FEWEST, BROADEST = 50 / MM, 240, 1000 / MM + 0.01


@dataclass(frozen=True)
class Switch(Choice):
    """True or False."""

    _: KW_ONLY
    default: bool = False

    @property
    def argument(self) -> Argument:
        """A flag."""
        return {"action": "store_true", "help": self.help}

    def check(self, value: object) -> bool:
        """True or False, and nothing like it."""
        return switch(self.name, value)

    def control(self, value: object, names: Iterable[str] = ()) -> Control:
        """A box to tick."""
        return self._control("check", bool(value))


@dataclass(frozen=True)
class Cost(Choice):
    """What a loop is differentiated of: a word, or a weight for each step."""

    _: KW_ONLY
    known: tuple[str, ...]

    def check(self, value: object) -> str | tuple[float, ...]:
        """A word, of which the loop knows whether it has such a cost, or weights."""
        return value if isinstance(value, str) else tuple(as_weights(value).tolist())

    def read(self, text: Value, loop: Loop) -> Value:
        """A word, or weights between commas."""
        expected = f"{', '.join(self.known)}, or a weight for each step, as in 0,0,1,0.5"
        said = f"{self.option} {shorten(text)}"
        return text if text in self.known else list(numbers(said, text.split(","), expected, float))


@dataclass(frozen=True)
class ByName(Choice):
    """A value for each of several variables; on the command line, one with every option."""

    read_as = {"action": "append", "default": []}  # noqa: RUF012 (see `Choice`)

    def check(self, value: object) -> Mapping[str, Value]:
        """Values by the names of variables."""
        given = check_type(self.name, value, Mapping, "a dictionary, such as {'x': …}")
        return by_name(self.name, given.items())

    def read(self, text: Value, loop: Loop) -> dict[str, Value]:
        """``x=0.95`` or ``x=[1,2]``."""
        return self.values(text)

    def values(self, texts: Iterable[str]) -> dict[str, Value]:
        """``x=0.95`` or ``x=[1,2]``, of any graph."""
        return dict(map(self._named, texts))

    def _named(self, text: str) -> tuple[str, object]:
        name, equals, value = text.partition("=")
        try:
            if not equals:
                raise ValueError
            return name.strip(), json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ArgumentError(
                f"{self.option} {shorten(text)}: expected NAME=NUMBER or NAME=[NUMBER,…]."
            ) from error


@dataclass(frozen=True)
class Taps(ByName):
    """The taps of states and sequences, by their names; without one, of the first state."""

    def check(self, value: object) -> Mapping[str, Value]:
        """Tuples of taps, of which the loop knows whether it can have them."""
        alone = isinstance(value, Iterable) and not isinstance(value, Mapping)
        given = super().check({"": value} if alone else value).items()
        said = {name: f"{self.name} of {name}" if name else self.name for name, _ in given}
        return {n: None if t is None else check_taps(t, said[n]) for n, t in given}

    def read(self, text: Value, loop: Loop) -> dict[str, tuple[int, ...]]:
        """``-2,-1``, which are those of the first state, or ``x:-2,-1``."""
        return dict(map(self.named, text))

    def named(self, text: str) -> tuple[str, tuple[int, ...]]:
        """``x:-2,-1``; without a name they are those of the first state."""
        name, _, taps = text.rpartition(":")
        said = f"{self.option} {shorten(text)}"
        return name.strip(), numbers(said, words(taps) or [""], "taps as in -2,-1")


def words(text: str | None) -> list[str]:
    """What stands between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def numbers(
    said: str,
    listed: Iterable[str],
    expected: str = "whole numbers, as in -2,-1",
    kind: Callable[[str], Number] = int,
) -> tuple[Number, ...]:
    """Words of the command line as numbers; `said` is quoted in errors."""
    try:
        return tuple(map(kind, listed))
    except ValueError:
        raise ArgumentError(f"{said}: expected {expected}.") from None


STEPS_OR_SOME = "a whole number, or 2:5 to show the steps 2 to 4"
MOST = 10_000  # the greatest number that a form offers
TAPS = Taps(
    "taps", "taps of the first state (-2,-1) or of another (x:-2,-1)", "taps", metavar="TAPS"
)
STEPS = Steps("steps", "number of steps, or the steps to show (2:5)", "steps", least=1, most=MOST)
ORDER = Whole("order", "derivative order (default: 1)", "order", default=1, most=6)
WRT = Choice(
    "wrt",
    "variable to differentiate wrt (default: the first state)",
    "differentiate by",
)
COST = Cost(
    "cost",
    "last, sum, or one weight per step (default: last)",
    "cost",
    metavar="COST",
    default="last",
    known=("last", "sum"),
)
OF = Choice("of", "state or output that defines the cost (default: the first state)", "cost of")
AT = ByName("at", "value of a variable: x=0.95 or x=[1,2]", "values", metavar="NAME=VALUE")
MODE = OneOf(
    "mode",
    f"construction of higher orders: {listing(MODES)} (default: reverse)",
    default="reverse",
    known=Registry("mode", MODES),
)
KEEP = Keep(
    "keep",
    "steps of a long loop to record: all, last, or 500:510 (default: all)",
    "keep of a long loop",
    metavar="STEPS",
    default="all",
)
# All that can be said about the derivative of a loop; of a graph, it is in the graph.
DERIVATIVE = {choice.name: choice for choice in (TAPS, ORDER, WRT, OF, STEPS, COST, AT, MODE, KEEP)}
INSIDE = Path("inside", "Scan and step whose inner Scans are drawn")
TRUNCATE = Whole(
    "truncate",
    "number of steps that the gradient goes back",
    "truncate after steps",
    default=-1,
    least=1,
    most=MOST,
)
WIDTH = Width(
    "width", "width of a figure: column (85mm), page (170mm), 3.4in, or 600 pixels", metavar="WIDTH"
)
SHOWN = Shown(STEPS.name, STEPS.help, metavar="A:B")
NO_LEGEND = Switch("no_legend", "leave out the legend")
COLORS = "light, dark, or print (default: light)"
THEME = OneOf("theme", COLORS, "colours", default="light", known=THEMES)
RULE = OneOf("rule", listing(BROKEN), "rule of the pullback", metavar="RULE", known=BROKEN)


def wholes(name: str, values: object) -> tuple[int, ...]:
    """Several whole numbers; ArgumentError for all else."""
    listed = check_sequence(name, values, "some numbers, as in (1, 2)")
    return tuple(check_integer(name, number) for number in listed)


def whole_or_none(name: str, value: object) -> int | None:
    """A whole number, or None where none was chosen."""
    return None if value is None else check_integer(name, value)


def switch(name: str, value: object) -> bool:
    """True or False; ArgumentError for all else."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} = {quote(value)}: expected True or False.")
    return value


def scan_index(trace: Trace, scan: object, argument: str = "scan") -> int:
    """The index in ``trace.scans`` of the Scan with a heading's number."""
    of_trace(trace)
    number = check_integer(argument, scan)
    if number not in range(1, len(trace.scans) + 1):
        raise ArgumentError(f"{argument} = {quote(scan)}: {_known(trace)}")
    return number - 1


def opened(trace: Trace, scan: object = None, among: Sequence[int] = ()) -> int:
    """The index of the Scan that a picture of one opens: with a heading's number, or by the rule.

    The rule is: the one that the last output, the result, comes from; `among` those of which
    there is something to be seen, it or else their last.
    """
    if scan is not None:
        return scan_index(trace, scan)
    known = among or range(len(trace.scans))
    last = [feed.scan for feed in trace.feeds if feed.into == len(trace.outputs) - 1]
    return max(set(last) & set(known), default=known[-1])


def scan_indices(trace: Trace, scans: object) -> tuple[int, ...]:
    """The indices in ``trace.scans`` of the Scans with the headings' numbers, in their order."""
    numbers = wholes("scans", scans)
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"scans = {quote(scans)}: a Scan can be drawn only once.")
    if not numbers or not set(numbers) <= set(range(1, len(trace.scans) + 1)):
        raise ArgumentError(f"scans = {quote(scans)}: {_known(trace)}")
    return tuple(number - 1 for number in sorted(numbers))


def of_trace(trace: object) -> None:
    """KindError for a `trace` that is none."""
    check_type("trace", trace, Trace, "a Trace, as lab.trace and Loop.trace give it")


def step_of(scan: ScanTrace, step: object, argument: str = "step") -> int:
    """Check the number of a step of a Scan."""
    number = check_integer(argument, step)
    if number not in range(scan.steps):
        steps = f"steps 0 to {scan.steps - 1}" if scan.steps else "0 steps"
        raise ArgumentError(f"{argument} = {quote(step)}: {scan.name} runs {steps}.")
    return number


def _known(trace: Trace) -> str:
    named = [f"{number} · {scan.name}" for number, scan in enumerate(trace.scans, start=1)]
    shown = listing(named) if len(named) <= 8 else f"1 to {len(named)}"
    return f"the Scans of this trace are {shown}."
