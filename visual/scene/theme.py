"""How roles look: colours, lines and letters, in light, dark and print.

Every role differs from the others by more than its colour: by its line (dashed, doubled,
heavy), by what is written in it, or both, so that the pictures can be read in black and
white and by colour-blind eyes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from lab.errors import ArgumentError, listing


class Role(StrEnum):
    """What a box stands for; the value is how the legend explains it."""

    INPUT = "input: given"
    SEED = "output or seed: the cost acts here"
    INTERMEDIATE = "intermediate: computed"
    UNNEEDED = "not needed for the result"
    WAITING = "waiting: external gradient, not read yet"
    PRESERVED = "preserved: read, kept for later"
    OVERWRITTEN = "overwritten: read, then replaced"
    SPENT = "spent: not touched again"
    UNWRITTEN = "unwritten: memory nobody has filled"
    READ = "forward value read by this step"
    RESULT = "result: gradient that is passed on"
    REUSED = "reused: forward result, not computed again"
    AGAIN = "computed again, as in the forward loop"
    BACKWARD = "computed while gradients were sent"
    UNDEFINED = "undefined: no derivative is known"
    UNTRACED = "untraced: no record to go back through"
    WRONG = "wrong: not the true value"
    PANEL = "what belongs together"
    FIRST = "first: from the first input"
    SECOND = "second: from the second input"
    THIRD = "third: from the third input"


class Line(StrEnum):
    """How the edge of a box is drawn."""

    PLAIN = "plain"
    HEAVY = "heavy"
    DOUBLE = "double"
    DASHED = "dashed"
    DOTTED = "dotted"


# The least contrast of a text with what lies behind it (WCAG 2.1, 1.4.3).
LEGIBLE = 4.5


@dataclass(frozen=True)
class Look:
    """The colours and the line of a role."""

    fill: str
    stroke: str
    text: str
    line: Line = Line.PLAIN


@dataclass(frozen=True)
class Theme:
    """All colours of a picture."""

    name: str
    background: str
    text: str
    muted: str
    arrow: str
    looks: Mapping[Role, Look]
    faded: Mapping[Role, Look]

    def look(self, role: Role, faded: bool = False) -> Look:
        """How a role looks, and how it looks washed out, where it is not needed."""
        return self.faded[role] if faded else self.looks[role]


LINES: Mapping[Role, Line] = MappingProxyType(
    {
        Role.INPUT: Line.PLAIN,
        Role.SEED: Line.PLAIN,
        Role.INTERMEDIATE: Line.PLAIN,
        Role.UNNEEDED: Line.DOTTED,
        Role.WAITING: Line.DASHED,
        Role.PRESERVED: Line.DOUBLE,
        Role.OVERWRITTEN: Line.HEAVY,
        Role.SPENT: Line.PLAIN,
        Role.UNWRITTEN: Line.DOTTED,
        Role.READ: Line.PLAIN,
        Role.RESULT: Line.DOUBLE,
        Role.REUSED: Line.DOUBLE,
        Role.AGAIN: Line.DASHED,
        Role.BACKWARD: Line.HEAVY,
        Role.UNDEFINED: Line.HEAVY,
        Role.UNTRACED: Line.DOTTED,
        Role.WRONG: Line.HEAVY,
        Role.PANEL: Line.PLAIN,
        Role.FIRST: Line.PLAIN,
        Role.SECOND: Line.DOUBLE,
        Role.THIRD: Line.DASHED,
    }
)


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two ``#rrggbb`` colours, 1 to 21 (WCAG 2.1, 1.4.3)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _theme(
    name: str, background: str, text: str, muted: str, arrow: str, colours: Mapping[Role, str]
) -> Theme:
    """A theme from "fill stroke text" for each role."""
    looks = {}
    for role in Role:
        fill, stroke, letters = colours[role].split()
        looks[role] = Look(fill, stroke, letters, LINES[role])
    faded = {role: _washed(look, background) for role, look in looks.items()}
    return Theme(
        name, background, text, muted, arrow, MappingProxyType(looks), MappingProxyType(faded)
    )


def _washed(look: Look, background: str) -> Look:
    """A look on its way to the background; its text only as far as it stays legible."""
    fill, letters = mixed(look.fill, background, 0.6), look.text
    for share in (0.5, 0.4, 0.3, 0.2, 0.1):
        paler = mixed(look.text, background, share)
        if contrast(paler, fill) >= LEGIBLE:
            letters = paler
            break
    return Look(fill, mixed(look.stroke, background, 0.5), letters, Line.DOTTED)


def mixed(start: str, end: str, share: float) -> str:
    """The colour a `share` of the way from `start` to `end`, both ``#rrggbb``."""
    pairs = ((int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


LIGHT = _theme(
    "light",
    background="#ffffff",
    text="#1f2937",
    muted="#6b7280",
    arrow="#9a3412",
    colours={
        Role.INPUT: "#dbeafe #2563eb #1e3a8a",
        Role.SEED: "#fee2e2 #dc2626 #7f1d1d",
        Role.INTERMEDIATE: "#ffffff #6b7280 #1f2937",
        Role.UNNEEDED: "#fafafa #b8bec8 #6b7280",
        Role.WAITING: "#ffffff #6b7280 #6b7280",
        Role.PRESERVED: "#d1fae5 #047857 #064e3b",
        Role.OVERWRITTEN: "#fed7aa #c2410c #431407",
        Role.SPENT: "#eef0f3 #9ca3af #4b5563",
        Role.UNWRITTEN: "#ffffff #b8bec8 #6b7280",
        Role.READ: "#eff6ff #93b4ee #1e3a8a",
        Role.RESULT: "#dbeafe #1d4ed8 #1e3a8a",
        Role.REUSED: "#cffafe #0e7490 #164e63",
        Role.AGAIN: "#fefce8 #a16207 #713f12",
        Role.BACKWARD: "#ecfccb #4d7c0f #365314",
        Role.UNDEFINED: "#fce7f3 #be185d #831843",
        Role.UNTRACED: "#f3e8ff #7e22ce #581c87",
        Role.WRONG: "#7f1d1d #450a0a #ffffff",
        Role.PANEL: "#fbfcfd #d1d5db #1f2937",
        Role.FIRST: "#e0eaff #1d4ed8 #1e2a78",
        Role.SECOND: "#fef3c7 #b45309 #5c2d0a",
        Role.THIRD: "#ede9fe #6d28d9 #4c1d95",
    },
)

DARK = _theme(
    "dark",
    background="#111827",
    text="#e5e7eb",
    muted="#9ca3af",
    arrow="#fdba74",
    colours={
        Role.INPUT: "#1e3a8a #60a5fa #dbeafe",
        Role.SEED: "#7f1d1d #f87171 #fee2e2",
        Role.INTERMEDIATE: "#111827 #9ca3af #f3f4f6",
        Role.UNNEEDED: "#151d2c #4b5563 #9ca3af",
        Role.WAITING: "#111827 #9ca3af #9ca3af",
        Role.PRESERVED: "#064e3b #34d399 #d1fae5",
        Role.OVERWRITTEN: "#7c2d12 #fb923c #ffedd5",
        Role.SPENT: "#1f2937 #4b5563 #b6bcc6",
        Role.UNWRITTEN: "#111827 #4b5563 #9ca3af",
        Role.READ: "#172554 #3b6fd1 #dbeafe",
        Role.RESULT: "#1e3a8a #93c5fd #dbeafe",
        Role.REUSED: "#164e63 #22d3ee #cffafe",
        Role.AGAIN: "#3b2f0b #eab308 #fef9c3",
        Role.BACKWARD: "#23360b #84cc16 #ecfccb",
        Role.UNDEFINED: "#831843 #f472b6 #fce7f3",
        Role.UNTRACED: "#3b0764 #c084fc #f3e8ff",
        Role.WRONG: "#fecaca #ef4444 #450a0a",
        Role.PANEL: "#151d2c #374151 #e5e7eb",
        Role.FIRST: "#1d3470 #7aa7fb #e0eaff",
        Role.SECOND: "#4d3305 #fbbf24 #fef3c7",
        Role.THIRD: "#3a2071 #a78bfa #ede9fe",
    },
)

PRINT = _theme(
    "print",
    background="#ffffff",
    text="#000000",
    muted="#444444",
    arrow="#000000",
    colours={
        Role.INPUT: "#ececec #000000 #000000",
        Role.SEED: "#d0d0d0 #000000 #000000",
        Role.INTERMEDIATE: "#ffffff #000000 #000000",
        Role.UNNEEDED: "#ffffff #aaaaaa #666666",
        Role.WAITING: "#ffffff #555555 #555555",
        Role.PRESERVED: "#ffffff #000000 #000000",
        Role.OVERWRITTEN: "#dddddd #000000 #000000",
        Role.SPENT: "#f4f4f4 #aaaaaa #555555",
        Role.UNWRITTEN: "#ffffff #aaaaaa #666666",
        Role.READ: "#f4f4f4 #777777 #000000",
        Role.RESULT: "#ececec #000000 #000000",
        Role.REUSED: "#d6d6d6 #000000 #000000",
        Role.AGAIN: "#e4e4e4 #555555 #000000",
        Role.BACKWARD: "#f8f8f8 #333333 #000000",
        Role.UNDEFINED: "#b4b4b4 #000000 #000000",
        Role.UNTRACED: "#ffffff #000000 #000000",
        Role.WRONG: "#333333 #000000 #ffffff",
        Role.PANEL: "#ffffff #999999 #000000",
        Role.FIRST: "#f0f0f0 #000000 #000000",
        Role.SECOND: "#cccccc #000000 #000000",
        Role.THIRD: "#e8e8e8 #000000 #000000",
    },
)

THEMES: Mapping[str, Theme] = MappingProxyType({t.name: t for t in (LIGHT, DARK, PRINT)})


def theme_named(name: str) -> Theme:
    """The theme ``light``, ``dark`` or ``print``; ArgumentError for another name."""
    if name not in THEMES:
        raise ArgumentError(f"theme = {name!r}: expected {listing(THEMES)}.")
    return THEMES[name]
