"""Options of derivatives and of all pictures: name, allowed values, and description.

Python uses `check` of a `Choice`, the command line also uses `argument` and `parse`, and forms
`control`. `visual.drawing.catalogue` declares the options of specific pictures.
Scan numbers start at 1: ``2 · gradient of square`` is ``trace.scans[1]``. Step numbers start at 0.
"""

import json
import re
from argparse import SUPPRESS
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

from lab import errors
from lab.errors import ArgumentError, argument_error, check_integer, check_type, listing
from lab.gradients.derivative import MODES
from lab.loops.build import as_weights
from lab.loops.text.source import identifier, values_by_name
from lab.reports.breaking.rules import BROKEN
from lab.tape import check_taps
from lab.traces.trace import ScanTrace, Trace
from lab.traces.window import check_keep, keep_text
from visual.scene.shapes import MM
from visual.scene.theme import THEMES

Value = Any  # the value of an option
Control = dict[str, object]  # the description of a form's control, as JSON


@dataclass(frozen=True)
class Choice:
    """An option; its value is a name (one of `known`, if any), or any value that `checker` accepts.

    `name` is the argument in Python and, with dashes, the option of the command line. `help`,
    `default`, and `metavar` appear in the help of the command line. `label` is the text next to the
    control in a form; forms omit an option without a label. `checker` returns the standard form of
    a value, or raises an error that contains the name. `reader` returns the value of a
    command-line text, or raises ValueError; `expected` describes valid texts. `action` is the
    action of argparse; with "append", the reader returns a name and a value. `kind` is the kind of
    the form control, and `known` contains the entries of its list.
    """

    name: str
    help: str
    label: str = ""
    _: KW_ONLY
    metavar: str = "NAME"
    default: Value = None
    checker: Callable[[str, object], Value] | None = None
    reader: Callable[[str], Value] = str
    expected: str = ""
    action: str = "store"
    kind: str = "select"
    known: Mapping[str, object] | tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def argument(self) -> Mapping[str, Value]:
        """The keyword arguments of `ArgumentParser.add_argument`."""
        form = {} if self.action == "store_true" else {"metavar": self.metavar}
        words = f"{self.help} (default: {self.default})" if self.default else self.help
        return {"action": self.action, "help": words, "default": SUPPRESS, **form}

    def check(self, value: object) -> Value:
        """Return a valid value in its standard form; raise ArgumentError for an invalid value."""
        if self.checker is not None:
            return self.checker(self.name, value)
        if value is None and self.default is None:
            return None
        if self.known:
            return errors.check_choice(self.name, value, self.known)
        return identifier(check_type(self.name, value, str, "a name"))

    def parse(self, text: Value) -> Value:
        """Parse a command-line value; raise ArgumentError if the value is invalid.

        For a list, the texts of a repeated option, return a dictionary from names to values.
        """
        if isinstance(text, list):
            pairs = [*map(self.parse, text)]
            if len(values := dict(pairs)) < len(pairs):
                raise option_error(self.option, listing(text), "set each variable only once.")
            return values
        try:
            return self.reader(text)
        except (ValueError, RecursionError):
            raise option_error(self.option, text, f"expected {self.expected}.") from None

    def control(self, value: Value, names: Iterable[str] = (), **more: Value) -> Control:
        """Return the form control of `value`; `names` replace `known`, and `more` adds fields."""
        control = {"key": [self.name], "kind": self.kind, "label": self.label, "value": value}
        if self.kind == "select":
            control["options"] = [[name, name] for name in names or self.known]
        return control | more


@dataclass(frozen=True)
class Whole(Choice):
    """An option whose value is an integer, from `least` to `most` unless `most` is None."""

    _: KW_ONLY
    metavar: str = "N"
    reader: Callable[[str], Value] = int
    expected: str = "an integer"
    kind: str = "number"
    least: int = 0
    most: int | None = None

    def check(self, value: object) -> int | None:
        """Return the number, or the default for None; outside the limits, raise ArgumentError."""
        if value is None:
            return self.default
        expected = "an integer" if self.most is None else f"an integer, {self.least} to {self.most}"
        limits = () if self.most is None else (self.least, self.most)
        return check_integer(self.name, value, expected, *limits)

    def control(self, value: object, names: Iterable[str] = (), **more: Value) -> Control:
        """Return buttons if `most` is at most 8, otherwise a number field (empty for None)."""
        control, most = super().control("" if value is None else value, **more), self.most or MOST
        if most < 9:
            return control | {"kind": "buttons", "options": [*range(self.least, most + 1)]}
        return control | {"min": self.least, "max": most}


def boolean(name: str, help: str, label: str = "") -> Choice:
    """Return an option that is False unless the command line contains it."""
    as_switch: Mapping[str, Any] = {"reader": bool, "kind": "check", "action": "store_true"}
    is_boolean = partial(check_type, kind=bool, expected="True or False")
    return Choice(name, help, label, default=False, checker=is_boolean, **as_switch)


def check_entries(name: str, value: object) -> Mapping[str, Value]:
    """Return a dictionary from variable names to values; raise ArgumentError if invalid."""
    given = check_type(name, value, Mapping, "a dictionary, such as {'x': …}")
    return values_by_name(name, given.items())


def _read_entry(text: str) -> tuple[str, Value]:
    """Return the name and the value in ``x=0.95``, ``x=[1,2]``, or, as in a link, ``x=nan``."""
    name, _, value = text.rpartition("=")
    if not name.strip() or "_" in value:  # float accepts 1_0
        raise ValueError
    with suppress(json.JSONDecodeError):
        return name.strip(), json.loads(value)
    return name.strip(), float(value)


def _check_taps_by_name(argument: str, value: object) -> Mapping[str, Value]:
    """Return taps by variable (first state: ""); the loop checks the number of taps of each."""
    is_unnamed = isinstance(value, Iterable) and not isinstance(value, Mapping)
    given = check_entries(argument, {"": value} if is_unnamed else value)
    labels = {name: f"{argument} of {name}" if name else argument for name in given}
    return {n: taps if taps is None else check_taps(taps, labels[n]) for n, taps in given.items()}


def _read_taps(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name and the taps in ``x:-2,-1``; in ``-2,-1``, the name is empty."""
    name, _, taps = text.rpartition(":")
    return name.strip(), tuple(map(int, taps.split(",")))


def check_shown(name: str, value: object) -> range:
    """Return the steps to show, such as ``2:5``, as a range; `Sheet.steps_of` checks the bounds."""
    bounds = re.fullmatch("([0-9]{0,9}):([0-9]{1,9})", value if isinstance(value, str) else "")
    shown = range(int(bounds[1] or 0), int(bounds[2])) if bounds else value
    if not isinstance(shown, range) or shown.step != 1 or not 0 <= shown.start < shown.stop:
        raise argument_error(name, value, f"expected {STEPS_OR_SOME}.")
    return shown


@dataclass(frozen=True)
class Length:
    """A length as text and in CSS pixels. `on_paper` is True if the unit is not a pixel."""

    written: str
    pixels: float
    on_paper: bool


UNITS = {"mm": 1 / MM, "cm": 10 / MM, "in": 96.0, "px": 1.0, "": 1.0}
NARROWEST, FEWEST, BROADEST = 50 / MM, 240, 1000 / MM + 0.01


def check_width(name: str, value: object) -> Length:
    """Return the `Length` of a width, such as 85mm or column; without a unit, in pixels."""
    if isinstance(value, Length):
        return value
    text = str(value) if isinstance(value, str) or errors.is_finite_number(value) else ""
    written = {"column": "85mm", "page": "170mm"}.get(text, text)
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(mm|cm|in|px|)", written)
    pixels = float(match[1]) * UNITS[match[2]] if match else 0.0
    on_paper = match is not None and match[2] not in ("", "px")
    if not (NARROWEST if on_paper else FEWEST) <= pixels <= BROADEST:
        expected = "50mm to 1000mm, column (85mm), page (170mm), inches (3.4in)"
        raise argument_error(name, value, f"expected {expected}, or {FEWEST} pixels or more.")
    return Length(written, pixels, on_paper)


def words(text: str | None) -> list[str]:
    """Return the parts of `text` between commas, without blanks around them; omit empty parts."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def option_error(option: str, text: str, reason: str) -> ArgumentError:
    """Return the error about `text`, the value of `option` on the command line."""
    return ArgumentError(f"{option} {errors.shorten(text)}: {reason}")


STEPS_OR_SOME = "an integer, or 2:5 to show the steps 2 to 4"
MOST = 10_000  # the largest number that a form accepts
COSTS = ("last", "sum")
TAPS = Choice(
    "taps",
    "taps of the first state (-2,-1) or of another (x:-2,-1)",
    "taps",
    metavar="TAPS",
    checker=_check_taps_by_name,
    reader=_read_taps,
    expected="taps as in -2,-1",
    action="append",
)
STEPS = Whole(
    "steps",
    "number of steps, or a range of steps to show (2:5)",
    "steps",
    reader=lambda text: text if ":" in text else int(text),
    expected=STEPS_OR_SOME,
    least=1,
    most=MOST,
)
ORDER = Whole("order", "order of the derivative", "order", default=1, most=6)
WRT = Choice("wrt", "variable to differentiate wrt (default: the first state)", "differentiate wrt")
COST = Choice(
    "cost",
    "last, sum, or one weight per step",
    "cost",
    metavar="COST",
    default="last",
    checker=lambda _, value: value if isinstance(value, str) else (*as_weights(value).tolist(),),
    reader=lambda text: text if text in COSTS else [*map(float, text.split(","))],
    expected=f"{', '.join(COSTS)}, or a weight for each step, as in 0,0,1,0.5",
    known=COSTS,
)
OF = Choice("of", "state or output that defines the cost (default: the first state)", "cost of")
AT = Choice(
    "at",
    "value of a variable: x=0.95 or x=[1,2]",
    "values",
    metavar="NAME=VALUE",
    checker=check_entries,
    reader=_read_entry,
    expected="NAME=NUMBER or NAME=[NUMBER,…]",
    action="append",
)
MODE = Choice(
    "mode", f"construction of higher orders: {listing(MODES, 'or')}", default="reverse", known=MODES
)
KEEP = Choice(
    "keep",
    "steps of a long loop to record: all, last, or 500:510",
    "steps to record",
    metavar="STEPS",
    default="all",
    checker=lambda _, value: keep_text(check_keep(value)),
    kind="text",
)
# The options of a loop's derivative; the `lab.Derivative` of a graph already fixes them.
DERIVATIVE = {choice.name: choice for choice in (TAPS, ORDER, WRT, OF, STEPS, COST, AT, MODE, KEEP)}
WIDTH = Choice(
    "width",
    "width of a figure: column (85mm), page (170mm), 3.4in, or 600 pixels",
    metavar="WIDTH",
    checker=check_width,
)
SHOWN = Choice(STEPS.name, STEPS.help, metavar="A:B", checker=check_shown)
NO_LEGEND = boolean("no_legend", "leave out the legend")
THEME = Choice("theme", "colors: light, dark, or print", "colors", default="light", known=THEMES)
SCALE = Choice(
    "scale",
    "scale of a .png or .gif; 3.125 is 300 dpi",
    metavar="S",
    default=1,
    reader=float,
    expected="a number",
)
CORRECT = "correct"  # the name of the correct rule
RULE = Choice("rule", listing(BROKEN), "rule of the pullback", metavar="RULE", known=BROKEN)
ANY_RULE = replace(RULE, help=f"correct, {RULE.help}", default=CORRECT, known=(CORRECT, *BROKEN))


def scan_index(trace: Trace, scan: object, argument: str = "scan") -> int:
    """Return the index in ``trace.scans`` of the Scan with the number `scan` in headings."""
    named = [f"{number} · {each.name}" for number, each in enumerate(trace.scans, start=1)]
    shown = listing(named, "or") if len(named) <= 8 else f"1 to {len(named)}"
    return check_integer(argument, scan, f"a Scan of this trace: {shown}", 1, len(named)) - 1


def selected_scan(trace: Trace, scan: object = None, among: Sequence[int] = ()) -> int:
    """Return the index of the Scan with the number `scan`, or the index of the default Scan.

    The default is the Scan that computes the final output of the trace, if its index is in `among`
    (default: all indices). Otherwise, the default is the final index in `among`.
    """
    if scan is not None:
        return scan_index(trace, scan)
    allowed = among or range(len(trace.scans))
    last = [feed.scan for feed in trace.feeds if feed.into == len(trace.outputs) - 1]
    return max(set(last) & set(allowed), default=allowed[-1])


def scan_indices(trace: Trace, scans: object) -> tuple[int, ...]:
    """Return the sorted indices in ``trace.scans`` of one or two Scans with the numbers `scans`."""
    numbers = errors.check_sequence("scans", scans, "some numbers, as in (1, 2)")
    if not 0 < len(numbers) <= 2:
        raise argument_error("scans", scans, "expected one or two Scans.")
    indices = {scan_index(trace, number, "scans") for number in numbers}
    if len(indices) < len(numbers):
        raise argument_error("scans", scans, "expected each Scan only once.")
    return tuple(sorted(indices))


def check_step(scan: ScanTrace, step: object) -> int:
    """Return the number `step`; raise ArgumentError if the Scan does not run this step."""
    steps = f"0 to {scan.steps - 1}" if scan.steps else "which runs 0 steps"
    return check_integer("step", step, f"a step of {scan.name}, {steps}", 0, scan.steps - 1)
